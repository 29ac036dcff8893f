#include "box_case.h"

#include <stdio.h>
#include <string.h>

static _Thread_local char text[400];

/* ---- boxes ---- */

static const tmaring_dtype types[] = {TMARING_F32,  TMARING_F16, TMARING_BF16, TMARING_F64, TMARING_E4M3,
                                      TMARING_E5M2, TMARING_I8,  TMARING_I32,  TMARING_I64};

static uint32_t size_of(tmaring_dtype dtype)
{
  return tmaring_dtype_bytes((tmaring_i32)dtype);
}

/* The unit that the copy engine moves, in elements. */
static int32_t unit_of(tmaring_dtype dtype)
{
  return (int32_t)(16 / size_of(dtype));
}

/* The last multiple of `unit` that is not above `at`. */
static int32_t floor_to(int32_t at, int32_t unit)
{
  const int32_t rest = at % unit;
  return at - (rest < 0 ? rest + unit : rest);
}

static int is_float(tmaring_dtype dtype)
{
  return dtype == TMARING_F32 || dtype == TMARING_F16 || dtype == TMARING_BF16 || dtype == TMARING_F64;
}

static size_t bytes_of(int32_t rank, tmaring_dtype dtype, const uint64_t *dims, const uint64_t *strides)
{
  uint64_t bytes = dims[0] * size_of(dtype);
  for (int32_t d = 1; d < rank; ++d) bytes += (dims[d] - 1) * strides[d];
  return (size_t)bytes;
}

static uint64_t any_prime(noise *n, int32_t limit)
{
  static const uint64_t primes[] = {1, 2, 3, 5, 7, 11, 13, 17, 31, 37, 61};
  uint64_t prime;
  do prime = primes[noise_below(n, 11)];
  while (prime > (uint64_t)limit);
  return prime;
}

static void any_tensor(noise *n, tmaring_tensor_map_tiled *map)
{
  const int dense = noise_below(n, 3) == 0; /* rows that follow each other without gaps */
  map->dims[0] = any_prime(n, 61);
  if (dense) map->dims[0] *= 16 / size_of(map->dtype);
  uint64_t stride = tmaring_round_up(map->dims[0] * size_of(map->dtype), 16);
  for (int32_t d = 1; d < map->rank; ++d) {
    map->dims[d] = any_prime(n, d == 1 ? 37 : 7);
    map->strides[d] = stride + (dense ? 0 : 16 * (uint64_t)noise_below(n, 3));
    stride = map->strides[d] * map->dims[d];
  }
}

static void any_box(noise *n, tmaring_tensor_map_tiled *map)
{
  const uint32_t unit = 16 / size_of(map->dtype), span = map->swizzle ? 1u << map->swizzle : 8;
  map->box[0] = unit * (1 + (uint32_t)noise_below(n, (int32_t)span));
  if (!map->swizzle && noise_below(n, 2) && map->dims[0] % unit == 0 && map->dims[0] <= 256)
    map->box[0] = (uint32_t)map->dims[0];
  for (int32_t d = 1; d < map->rank; ++d) {
    map->box[d] = 1 + (uint32_t)noise_below(n, d == 1 ? 17 : 4);
    if (noise_below(n, 3) == 0) map->element_strides[d] = (uint32_t)noise_below(n, 9);
  }
}

box_case box_case_random(noise *n)
{
  box_case c = {.map = TMARING_TENSOR_MAP_TILED_INIT};
  tmaring_tensor_map_tiled *map = &c.map;
  do {
    memset(map, 0, sizeof *map);
    map->size = sizeof *map;
    map->dtype = types[noise_below(n, 9)];
    map->rank = 1 + noise_below(n, TMARING_MAX_RANK);
    map->swizzle = noise_below(n, 2) ? noise_below(n, 4) : 0;
    map->fill = is_float(map->dtype) && noise_below(n, 2) ? TMARING_FILL_NAN : TMARING_FILL_ZERO;
    any_tensor(n, map);
    any_box(n, map);
    c.tensor_bytes = bytes_of(map->rank, map->dtype, map->dims, map->strides);
  } while (tmaring_tensor_map_tiled_room(map) - 1u >= 32768 || c.tensor_bytes > 1 << 20); /* 0: refused */
  c.offset = 128 * (size_t)noise_below(n, 9);
  if (map->swizzle && noise_below(n, 2)) c.offset = 1024;
  for (int32_t d = 0; d < map->rank; ++d) {
    const int32_t unit = d == 0 ? unit_of(map->dtype) : 1, reach = (int32_t)map->dims[d] + 3 * unit;
    const int32_t at = noise_below(n, 4) == 0 ? noise_below(n, reach + (int32_t)map->box[d]) - (int32_t)map->box[d]
                                              : noise_below(n, (int32_t)map->dims[d]);
    c.coordinates[d] = floor_to(at, unit);
  }
  return c;
}

size_t box_case_room(const box_case *c)
{
  return c->offset + tmaring_tensor_map_tiled_room(&c->map);
}

int box_case_below_zero(const box_case *c)
{
  for (int32_t d = 0; d < c->map.rank; ++d) {
    if (c->coordinates[d] < 0) return 1;
  }
  return 0;
}

static size_t list(char *to, size_t size, const char *name, int32_t count, const int64_t *value)
{
  size_t used = (size_t)snprintf(to, size, ", %s", name);
  for (int32_t i = 0; i < count && used < size; ++i)
    used += (size_t)snprintf(to + used, size - used, "%c%lld", i == 0 ? ' ' : ',', (long long)value[i]);
  return used < size ? used : size - 1;
}

const char *box_case_text(const box_case *c)
{
  const tmaring_tensor_map_tiled *map = &c->map;
  int64_t value[5][TMARING_MAX_RANK];
  static const char *const names[5] = {"dims", "strides", "box", "steps", "at"};
  for (int32_t d = 0; d < map->rank; ++d) {
    value[0][d] = (int64_t)map->dims[d];
    value[1][d] = (int64_t)map->strides[d];
    value[2][d] = map->box[d];
    value[3][d] = map->element_strides[d];
    value[4][d] = c->coordinates[d];
  }
  size_t used = (size_t)snprintf(text, sizeof text, "type %d, swizzle %d, fill %d, offset %zu", (int)map->dtype,
                                 (int)map->swizzle, (int)map->fill, c->offset);
  for (int i = 0; i < 5; ++i) used += list(text + used, sizeof text - used, names[i], map->rank, value[i]);
  return text;
}

/* ---- the conformance list ---- */

const box_shape box_shapes[BOX_SHAPES] = {
    {"2^20", 1, {1 << 20}, {256}, {1}},
    {"1024x128", 2, {128, 1024}, {64, 32}, {1, 1}},
    {"1024x8x128", 3, {128, 8, 1024}, {32, 4, 8}, {1, 1, 1}},
    {"4x8x1024x1024", 4, {1024, 1024, 8, 4}, {64, 8, 2, 2}, {1, 1, 1, 1}},
    {"4x8x1024x32x128", 5, {128, 32, 1024, 8, 4}, {32, 4, 4, 2, 2}, {1, 1, 1, 1, 1}},
    {"tile 3", 2, {72, 997}, {16, 3}, {1, 1}},
    {"tile 5", 2, {72, 997}, {24, 5}, {1, 1}},
    {"tiles (3,5)", 3, {40, 103, 101}, {16, 3, 5}, {1, 1, 1}},
    {"1024x1x128", 3, {128, 1, 1024}, {32, 1, 8}, {1, 1, 1}},
    {"97x1", 2, {1, 97}, {16, 7}, {1, 1}},
    {"element stride 2", 3, {128, 31, 64}, {32, 8, 6}, {1, 2, 2}},
    {"element strides 2 and 3", 4, {64, 37, 41, 5}, {16, 7, 5, 2}, {1, 2, 3, 1}},
};

/* box: a multiple of `unit`. */
static int32_t place_of(int64_t dim, int64_t box, int32_t unit, int place)
{
  const int64_t last = (dim - 1) / box * box;
  switch (place) {
  case 1: return (int32_t)(dim > box ? box : 0);
  case 2: return (int32_t)last;
  case 3: return (int32_t)last + floor_to((int32_t)(box + 1) / 2 + unit - 1, unit);
  case 4: return -unit;
  case 5: return floor_to((int32_t)dim + 5 + unit - 1, unit);
  default: return 0;
  }
}

box_case box_case_of(const box_shape *shape, tmaring_dtype dtype, int32_t swizzle, int place)
{
  box_case c = {.map = TMARING_TENSOR_MAP_TILED_INIT};
  uint64_t stride = tmaring_round_up(shape->dims[0] * (uint64_t)size_of(dtype), 16);
  c.map.dtype = dtype;
  c.map.rank = shape->rank;
  c.map.swizzle = swizzle;
  for (int32_t d = 0; d < shape->rank; ++d) {
    c.map.dims[d] = shape->dims[d];
    c.map.box[d] = shape->box[d];
    c.map.element_strides[d] = shape->element_strides[d];
    if (d > 0) c.map.strides[d] = stride;
    if (d > 0) stride *= shape->dims[d];
    if (d == 0 && swizzle) c.map.box[0] = (16u << swizzle) / size_of(dtype);
    c.coordinates[d] = place_of(shape->dims[d], c.map.box[d], d == 0 ? unit_of(dtype) : 1, place);
  }
  c.tensor_bytes = bytes_of(c.map.rank, dtype, c.map.dims, c.map.strides);
  return c;
}

/* ---- pixels ---- */

static void any_window(noise *n, pixel_case *c)
{
  tmaring_tensor_map_im2col *map = &c->map;
  for (int32_t i = 0; i < map->rank - 2; ++i) {
    c->window[i] = 1 + noise_below(n, 3);
    c->dilation[i] = 1 + noise_below(n, 3);
    c->padding[i] = noise_below(n, 3);
    const int32_t extent = (c->window[i] - 1) * c->dilation[i] + 1;
    map->dims[1 + i] = (uint64_t)extent + (uint64_t)noise_below(n, 7);
    map->lower[i] = -c->padding[i];
    map->upper[i] = c->padding[i] - (extent - 1);
    map->element_strides[1 + i] = (uint32_t)noise_below(n, 4);
    c->offsets[i] = (uint16_t)(noise_below(n, c->window[i]) * c->dilation[i]);
    /* a position: the stride's multiple behind the first one */
    const int32_t stride = map->element_strides[1 + i] ? (int32_t)map->element_strides[1 + i] : 1;
    const int32_t positions = ((int32_t)map->dims[1 + i] + map->upper[i] - map->lower[i] - 1) / stride + 1;
    c->coordinates[1 + i] = map->lower[i] + stride * noise_below(n, positions);
  }
}

pixel_case pixel_case_random(noise *n)
{
  pixel_case c = {.map = TMARING_TENSOR_MAP_IM2COL_INIT};
  tmaring_tensor_map_im2col *map = &c.map;
  map->dtype = types[noise_below(n, 9)];
  map->rank = 3 + noise_below(n, 3);
  map->swizzle = noise_below(n, 4);
  map->fill = is_float(map->dtype) && noise_below(n, 2) ? TMARING_FILL_NAN : TMARING_FILL_ZERO;
  const uint32_t unit = 16 / size_of(map->dtype);
  map->channels = unit * (1 + (uint32_t)noise_below(n, map->swizzle ? 1 << map->swizzle : 5));
  map->pixels = 1 + (uint32_t)noise_below(n, 160);
  map->dims[0] = noise_below(n, 2) ? map->channels : any_prime(n, 61);
  any_window(n, &c);
  map->dims[map->rank - 1] = 1 + (uint64_t)noise_below(n, 4);
  const int32_t inner = (int32_t)unit;
  if (noise_below(n, 2)) /* two units below 0 .. two behind the last one */
    c.coordinates[0] = inner * (noise_below(n, (int32_t)map->dims[0] / inner + 5) - 2);
  c.coordinates[map->rank - 1] = noise_below(n, (int32_t)map->dims[map->rank - 1]);
  uint64_t stride = tmaring_round_up(map->dims[0] * size_of(map->dtype), 16);
  for (int32_t d = 1; d < map->rank; ++d) {
    map->strides[d] = stride + 16 * (uint64_t)noise_below(n, 2);
    stride = map->strides[d] * map->dims[d];
  }
  c.tensor_bytes = bytes_of(map->rank, map->dtype, map->dims, map->strides);
  c.offset = map->swizzle ? 1024 * (size_t)noise_below(n, 2) : 128 * (size_t)noise_below(n, 9);
  return c;
}

size_t pixel_case_room(const pixel_case *c)
{
  return c->offset + tmaring_tensor_map_im2col_room(&c->map);
}

const char *pixel_case_text(const pixel_case *c)
{
  const tmaring_tensor_map_im2col *map = &c->map;
  int64_t value[7][TMARING_MAX_RANK] = {{0}};
  static const char *const names[7] = {"dims", "steps", "at", "window", "dilation", "padding", "offsets"};
  for (int32_t d = 0; d < map->rank; ++d) {
    value[0][d] = (int64_t)map->dims[d];
    value[1][d] = map->element_strides[d];
    value[2][d] = c->coordinates[d];
    if (d >= 3) continue;
    value[3][d] = c->window[d], value[4][d] = c->dilation[d], value[5][d] = c->padding[d], value[6][d] = c->offsets[d];
  }
  size_t used = (size_t)snprintf(text, sizeof text, "type %d, swizzle %d, fill %d, offset %zu, channels %u, pixels %u",
                                 (int)map->dtype, (int)map->swizzle, (int)map->fill, c->offset, (unsigned)map->channels,
                                 (unsigned)map->pixels);
  for (int i = 0; i < 7; ++i)
    used += list(text + used, sizeof text - used, names[i], i < 3 ? map->rank : map->rank - 2, value[i]);
  return text;
}
