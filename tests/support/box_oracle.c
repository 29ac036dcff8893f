#include "box_oracle.h"

#include <string.h>

static uint64_t ceil_of(uint64_t a, uint64_t b)
{
  return a / b + (a % b != 0);
}

size_t box_oracle_place(int32_t swizzle, size_t offset, size_t row, size_t row_bytes, size_t byte)
{
  static const size_t spans[] = {0, 32, 64, 128};
  const size_t span = spans[swizzle];
  if (span == 0) return offset + row * row_bytes + byte;
  const size_t place = offset + row * span + byte, units = span / 16;
  const size_t line = place / 128, unit = place / 16 % units;
  return place / span * span + (unit ^ line % units) * 16 + place % 16;
}

static void fill_element(const tmaring_tensor_map_tiled *map, unsigned char *to, size_t bytes)
{
  static const unsigned char nan[8] = {0xf7, 0x7f, 0xf7, 0x7f, 0xf7, 0x7f, 0xf7, 0x7f};
  static const unsigned char zero[8] = {0};
  memcpy(to, map->fill == TMARING_FILL_NAN ? nan : zero, bytes);
}

uint64_t box_oracle_count(const tmaring_tensor_map_tiled *map)
{
  uint64_t count = 1;
  for (int32_t d = 0; d < map->rank; ++d)
    count *= ceil_of(map->box[d], map->element_strides[d] ? map->element_strides[d] : 1);
  return count;
}

box_element box_oracle_element(const box_case *c, uint64_t number)
{
  const tmaring_tensor_map_tiled *map = &c->map;
  const size_t bytes = tmaring_dtype_bytes((tmaring_i32)map->dtype);
  box_element e = {1, 1, 0, number / map->box[0], map->box[0] * bytes, number % map->box[0] * bytes};
  const int64_t first = c->coordinates[0] + (int64_t)(e.byte / 16 * 16 / bytes); /* of its unit */
  for (int32_t d = 0; d < map->rank; ++d) {
    const uint64_t step = map->element_strides[d] ? map->element_strides[d] : 1, count = ceil_of(map->box[d], step);
    const int64_t at = c->coordinates[d] + (int64_t)(number % count * step);
    number /= count;
    const int64_t met = d == 0 ? first : at;
    e.inside = e.inside && at >= 0 && at < (int64_t)map->dims[d];
    e.stored = e.stored && met >= 0 && met < (int64_t)map->dims[d];
    e.tensor_byte += (size_t)at * (d == 0 ? bytes : map->strides[d]);
  }
  return e;
}

void box_oracle_load(const box_case *c, const unsigned char *tensor, unsigned char *shared)
{
  const size_t bytes = tmaring_dtype_bytes((tmaring_i32)c->map.dtype);
  for (uint64_t i = 0; i < box_oracle_count(&c->map); ++i) {
    const box_element e = box_oracle_element(c, i);
    unsigned char value[8];
    fill_element(&c->map, value, bytes);
    if (e.inside) memcpy(value, tensor + e.tensor_byte, bytes);
    memcpy(shared + box_oracle_place(c->map.swizzle, c->offset, e.row, e.row_bytes, e.byte), value, bytes);
  }
}

void box_oracle_store(const box_case *c, unsigned char *tensor, const unsigned char *shared)
{
  const size_t bytes = tmaring_dtype_bytes((tmaring_i32)c->map.dtype);
  for (uint64_t i = 0; i < box_oracle_count(&c->map); ++i) {
    const box_element e = box_oracle_element(c, i);
    if (!e.stored) continue;
    memcpy(tensor + e.tensor_byte, shared + box_oracle_place(c->map.swizzle, c->offset, e.row, e.row_bytes, e.byte),
           bytes);
  }
}

/* Pixel p: the p-th position behind the start, by division. */
void box_oracle_pixels(const pixel_case *c, const unsigned char *tensor, unsigned char *shared)
{
  const tmaring_tensor_map_im2col *map = &c->map;
  const size_t bytes = tmaring_dtype_bytes((tmaring_i32)map->dtype);
  int64_t stride[3] = {1, 1, 1}, positions[3] = {1, 1, 1}, start = 0, weight = 1;
  for (int32_t i = 0; i < map->rank - 2; ++i) {
    if (map->element_strides[1 + i] > 1) stride[i] = map->element_strides[1 + i];
    positions[i] =
        ((int64_t)map->dims[1 + i] + 2 * c->padding[i] - (c->window[i] - 1) * c->dilation[i] - 1) / stride[i] + 1;
    start += (c->coordinates[1 + i] + c->padding[i]) / stride[i] * weight;
    weight *= positions[i];
  }
  start += c->coordinates[map->rank - 1] * weight;
  for (uint64_t e = 0; e < (uint64_t)map->pixels * map->channels; ++e) {
    const uint64_t p = e / map->channels, channel = e % map->channels;
    const int64_t at_channel = c->coordinates[0] + (int64_t)channel;
    const int64_t image = (start + (int64_t)p) / weight;
    int64_t rest = (start + (int64_t)p) % weight;
    int inside = at_channel >= 0 && at_channel < (int64_t)map->dims[0] && image < (int64_t)map->dims[map->rank - 1];
    size_t byte = (size_t)at_channel * bytes + (size_t)image * map->strides[map->rank - 1];
    for (int32_t i = 0; i < map->rank - 2; ++i) {
      const int64_t at = rest % positions[i] * stride[i] - c->padding[i] + c->offsets[i];
      rest /= positions[i];
      inside = inside && at >= 0 && at < (int64_t)map->dims[1 + i];
      byte += (size_t)at * map->strides[1 + i];
    }
    tmaring_tensor_map_tiled fill = TMARING_TENSOR_MAP_TILED_INIT;
    unsigned char value[8];
    fill.fill = map->fill;
    fill_element(&fill, value, bytes);
    if (inside) memcpy(value, tensor + byte, bytes);
    memcpy(shared + box_oracle_place(map->swizzle, c->offset, p, map->channels * bytes, channel * bytes), value, bytes);
  }
}
