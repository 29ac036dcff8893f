#include "tensor_map_check.h"

#include <string.h>

#include "../base/detail.h"

static tmaring__map_view view_of(const tmaring_tensor_map_tiled *map)
{
  const tmaring__map_view view = {map->dtype,           map->rank, 1,           map->address, map->dims, map->strides,
                                  map->element_strides, "box[0]",  map->box[0], map->swizzle, map->fill, map->l2_bytes};
  return view;
}

static tmaring_status check_box(const tmaring_tensor_map_tiled *map)
{
  for (int32_t d = 0; d < map->rank; ++d) {
    if (map->box[d] >= 1 && map->box[d] <= TMARING_MAX_BOX) continue;
    return tmaring__fail(TMARING_ERROR_SHAPE,
                         "box[%d]: got %u, needs 1 .. %d elements; several boxes make up a larger one "
                         "(tmaring_tensor_map_split)",
                         (int)d, (unsigned)map->box[d], TMARING_MAX_BOX);
  }
  return TMARING_OK;
}

static uint64_t rows_of(const tmaring_tensor_map_tiled *map)
{
  uint64_t rows = 1;
  for (int32_t d = 1; d < map->rank; ++d) rows *= tmaring__box_count(map, d);
  return rows; /* at most 2^32 */
}

static uint32_t row_bytes_of(const tmaring_tensor_map_tiled *map)
{
  return map->box[0] * tmaring_dtype_bytes((tmaring_i32)map->dtype);
}

tmaring_status tmaring_tensor_map_check_tiled(const tmaring_tensor_map_tiled *map)
{
  TMARING__NEED_SIZE(map);
  const tmaring__map_view view = view_of(map);
  TMARING__TRY(tmaring__map_view_check(&view));
  TMARING__TRY(check_box(map));
  TMARING__TRY(tmaring__map_inner_check(&view));
  return tmaring__map_shared_check("box", rows_of(map) * tmaring__map_row_pitch(row_bytes_of(map), map->swizzle));
}

uint32_t tmaring_tensor_map_tiled_bytes(const tmaring_tensor_map_tiled *map)
{
  if (tmaring_tensor_map_check_tiled(map) != TMARING_OK) return 0;
  return (uint32_t)rows_of(map) * row_bytes_of(map);
}

uint32_t tmaring_tensor_map_tiled_room(const tmaring_tensor_map_tiled *map)
{
  if (tmaring_tensor_map_check_tiled(map) != TMARING_OK) return 0;
  return (uint32_t)rows_of(map) * tmaring__map_row_pitch(row_bytes_of(map), map->swizzle);
}

/* ---- boxes that are too large ---- */

static int is_part(const tmaring_tensor_map_tiled *map, int32_t d, uint32_t part)
{
  const uint32_t span = tmaring__swizzle_span(map->swizzle);
  const uint32_t bytes = part * tmaring_dtype_bytes((tmaring_i32)map->dtype);
  if (map->box[d] % part != 0) return 0;
  if (part < map->box[d] && part % tmaring__map_step(map->element_strides, d) != 0) return 0;
  return d > 0 || (bytes % TMARING__MAP_UNIT_BYTES == 0 && (span == 0 || bytes <= span));
}

/* The largest part that the hardware takes and that divides the box; 0: there is none. */
static uint32_t part_of(const tmaring_tensor_map_tiled *map, int32_t d)
{
  uint32_t part = map->box[d] < TMARING_MAX_BOX ? map->box[d] : TMARING_MAX_BOX;
  while (part > 0 && !is_part(map, d, part)) --part;
  return part;
}

static tmaring_status split_axis(tmaring_tensor_map_tiled *map, int32_t d, uint32_t *count)
{
  const uint32_t part = part_of(map, d);
  if (part == 0) {
    return tmaring__fail(TMARING_ERROR_SHAPE,
                         "box[%d]: got %u elements, needs a multiple of equal parts of at most %d elements%s; choose "
                         "another extent",
                         (int)d, (unsigned)map->box[d], TMARING_MAX_BOX,
                         d == 0 ? ", each of a multiple of 16 bytes and within the swizzle's span" : "");
  }
  *count = map->box[d] / part;
  map->box[d] = part;
  return TMARING_OK;
}

tmaring_status tmaring_tensor_map_split(tmaring_tensor_map_tiled *map, uint32_t counts[TMARING_MAX_RANK])
{
  TMARING__NEED_SIZE(map);
  TMARING__NEED(counts);
  tmaring_tensor_map_tiled part = *map;
  tmaring_tensor_map_tiled probe = *map; /* all but the box is checked first: the parts follow from it */
  uint32_t number[TMARING_MAX_RANK] = {1, 1, 1, 1, 1};
  for (int32_t d = 0; d < TMARING_MAX_RANK; ++d) probe.box[d] = 1;
  probe.box[0] = TMARING__MAP_UNIT_BYTES;
  if (tmaring_dtype_bytes((tmaring_i32)map->dtype) > 0) probe.box[0] /= tmaring_dtype_bytes((tmaring_i32)map->dtype);
  TMARING__TRY(tmaring_tensor_map_check_tiled(&probe));
  for (int32_t d = 0; d < map->rank; ++d) TMARING__TRY(split_axis(&part, d, &number[d]));
  TMARING__TRY(tmaring_tensor_map_check_tiled(&part));
  *map = part;
  memcpy(counts, number, sizeof number);
  return TMARING_OK;
}
