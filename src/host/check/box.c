#include "box.h"

static uint32_t step_of(const tmaring_tensor_map_tiled *map, int32_t d)
{
  return map->element_strides[d] > 0 ? map->element_strides[d] : 1;
}

/* Elements of a box on an axis: every step-th. */
static uint32_t extent_of(const tmaring_tensor_map_tiled *map, int32_t d)
{
  return (map->box[d] + step_of(map, d) - 1) / step_of(map, d);
}

uint32_t tmaring__box_bytes(const tmaring_tensor_map_tiled *map)
{
  uint32_t bytes = tmaring_dtype_bytes(map->dtype);
  for (int32_t d = 0; d < map->rank; ++d) bytes *= extent_of(map, d);
  return bytes;
}

/* Of those elements, how many have a coordinate in [0, dims). */
static uint32_t inside_of(const tmaring_tensor_map_tiled *map, int32_t d, int32_t from)
{
  uint32_t inside = 0;
  for (uint32_t i = 0; i < extent_of(map, d); ++i) {
    const int64_t at = from + (int64_t)(i * step_of(map, d));
    inside += at >= 0 && (uint64_t)at < map->dims[d];
  }
  return inside;
}

uint64_t tmaring__box_inside(const tmaring_tensor_map_tiled *map, const int32_t *coordinates)
{
  uint64_t bytes = tmaring_dtype_bytes(map->dtype);
  for (int32_t d = 0; d < map->rank; ++d) bytes *= inside_of(map, d, coordinates[d]);
  return bytes;
}

int64_t tmaring__box_begin(const tmaring_tensor_map_tiled *map, const int32_t *coordinates)
{
  return (int64_t)coordinates[0] * tmaring_dtype_bytes(map->dtype);
}

uint32_t tmaring__box_overrun(const tmaring_tensor_map_tiled *map, const int32_t *coordinates)
{
  const uint32_t inside = inside_of(map, 0, coordinates[0]) * tmaring_dtype_bytes(map->dtype);
  if (tmaring__box_inside(map, coordinates) == 0) return 0;
  return (TMARING_BULK - inside % TMARING_BULK) % TMARING_BULK;
}

void tmaring__boxes_enter(tmaring__boxes *boxes, const tmaring_args *args)
{
  for (int32_t i = 0; i < TMARING_MAX_TILED; ++i) {
    if (((uint32_t)boxes->used >> i & 1u) == 0) continue;
    const int output = i >= TMARING_TILED_OUTPUTS;
    const tmaring_stream *stream = output ? &args->output[i - TMARING_TILED_OUTPUTS] : &args->input[i];
    boxes->map[i].address = stream->base;
    for (int32_t d = 0; d < boxes->map[i].rank; ++d) {
      if (boxes->tile[i].follows[d] == TMARING_TILE_ROW) boxes->map[i].dims[d] = (uint64_t)args->walk.rows;
    }
  }
}
