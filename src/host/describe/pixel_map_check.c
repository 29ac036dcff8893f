#include "../base/detail.h"
#include "tensor_map_check.h"

/* Corners of a map of pixels: range by rank, as the instruction encodes offsets. */
static tmaring_status check_corner(const tmaring_tensor_map_im2col *map, const char *name, const int32_t *corner)
{
  const int32_t limit = map->rank == 3 ? 32768 : map->rank == 4 ? 128 : 16;
  for (int32_t i = 0; i < map->rank - 2; ++i) {
    if (corner[i] >= -limit && corner[i] < limit) continue;
    return tmaring__fail(TMARING_ERROR_SHAPE,
                         "%s[%d]: got %d, needs %d .. %d with rank %d; pad less, or take a smaller window", name,
                         (int)i, (int)corner[i], (int)-limit, (int)limit - 1, (int)map->rank);
  }
  return TMARING_OK;
}

static tmaring_status check_window(const tmaring_tensor_map_im2col *map)
{
  TMARING__TRY(check_corner(map, "lower", map->lower));
  TMARING__TRY(check_corner(map, "upper", map->upper));
  for (int32_t i = 0; i < map->rank - 2; ++i) {
    const long long positions = tmaring__pixel_end(map, i) - map->lower[i];
    if (positions >= 1) continue;
    return tmaring__fail(TMARING_ERROR_SHAPE,
                         "upper[%d]: got %d with dims[%d] = %llu and lower[%d] = %d, %lld window positions, needs at "
                         "least 1; the window is larger than the padded image",
                         (int)i, (int)map->upper[i], (int)i + 1, (unsigned long long)map->dims[i + 1], (int)i,
                         (int)map->lower[i], positions);
  }
  return TMARING_OK;
}

static tmaring_status check_counts(const tmaring_tensor_map_im2col *map)
{
  if (map->channels < 1 || map->channels > TMARING_MAX_BOX) {
    return tmaring__fail(TMARING_ERROR_SHAPE, "channels: got %u, needs 1 .. %d; several copies take more",
                         (unsigned)map->channels, TMARING_MAX_BOX);
  }
  if (map->pixels < 1 || map->pixels > TMARING__MAP_MAX_PIXELS) {
    return tmaring__fail(TMARING_ERROR_SHAPE, "pixels: got %u, needs 1 .. %d; several copies take more",
                         (unsigned)map->pixels, TMARING__MAP_MAX_PIXELS);
  }
  return TMARING_OK;
}

tmaring_status tmaring_tensor_map_check_im2col(const tmaring_tensor_map_im2col *map)
{
  TMARING__NEED_SIZE(map);
  const tmaring__map_view view = {
      map->dtype,    map->rank,    3,         map->address, map->dims, map->strides, map->element_strides, "channels",
      map->channels, map->swizzle, map->fill, map->l2_bytes};
  TMARING__TRY(tmaring__map_view_check(&view));
  TMARING__TRY(check_counts(map));
  TMARING__TRY(tmaring__map_inner_check(&view));
  TMARING__TRY(check_window(map));
  const uint32_t row_bytes = map->channels * tmaring_dtype_bytes((tmaring_i32)map->dtype);
  return tmaring__map_shared_check("pixels", (uint64_t)map->pixels * tmaring__map_row_pitch(row_bytes, map->swizzle));
}

uint32_t tmaring_tensor_map_im2col_bytes(const tmaring_tensor_map_im2col *map)
{
  if (tmaring_tensor_map_check_im2col(map) != TMARING_OK) return 0;
  return map->pixels * map->channels * tmaring_dtype_bytes((tmaring_i32)map->dtype);
}

uint32_t tmaring_tensor_map_im2col_room(const tmaring_tensor_map_im2col *map)
{
  if (tmaring_tensor_map_check_im2col(map) != TMARING_OK) return 0;
  return map->pixels *
         tmaring__map_row_pitch(map->channels * tmaring_dtype_bytes((tmaring_i32)map->dtype), map->swizzle);
}
