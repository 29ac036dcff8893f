/* Copies of pixels: positions of a filter's window, in the order of the convolution's output. */
#include "../base/detail.h"
#include "box_copy.h"
#include "map_row.h"
#include "tensor_map_check.h"

/* Largest offset of a filter's position: the instruction has 16 bits for all of them. */
static uint32_t offset_limit(int32_t rank)
{
  return rank == 3 ? 65535 : rank == 4 ? 255 : 31;
}

static tmaring_status check_position(const tmaring_tensor_map_im2col *map, const int32_t *coordinates,
                                     const uint16_t *offsets)
{
  static const char axis[] = "whd";
  for (int32_t i = 0; i < map->rank - 2; ++i) {
    const long long end = tmaring__pixel_end(map, i);
    if (coordinates[1 + i] < map->lower[i] || coordinates[1 + i] >= end) {
      return tmaring__fail(TMARING_ERROR_ARGUMENT,
                           "coordinates[%d]: got %d, needs %d .. %lld: a position of the window on axis %c", (int)i + 1,
                           (int)coordinates[1 + i], (int)map->lower[i], end - 1, axis[i]);
    }
    if (offsets[i] > offset_limit(map->rank)) {
      return tmaring__fail(TMARING_ERROR_ARGUMENT, "offsets[%d]: got %u, needs 0 .. %u with rank %d", (int)i,
                           (unsigned)offsets[i], (unsigned)offset_limit(map->rank), (int)map->rank);
    }
  }
  return TMARING_OK;
}

/* Address of channel 0 of the pixel under the filter's position; NULL: outside the tensor. */
static const unsigned char *pixel_at(const tmaring_tensor_map_im2col *map, const int64_t *window,
                                     const uint16_t *offsets)
{
  uint64_t address = map->address;
  for (int32_t d = 1; d < map->rank; ++d) {
    const int64_t at = window[d] + (d < map->rank - 1 ? offsets[d - 1] : 0);
    if (at < 0 || (uint64_t)at >= map->dims[d]) return NULL;
    address += (uint64_t)at * map->strides[d];
  }
  return (const unsigned char *)(uintptr_t)address;
}

/* To the next position: along w, at the end of a row to the next, and so on to the next image. */
static void advance(const tmaring_tensor_map_im2col *map, int64_t *window)
{
  const int32_t images = map->rank - 1;
  for (int32_t d = 1; d < images; ++d) {
    window[d] += tmaring__map_step(map->element_strides, d);
    if (window[d] < tmaring__pixel_end(map, d - 1)) return;
    window[d] = map->lower[d - 1];
  }
  window[images] += tmaring__map_step(map->element_strides, images);
}

static void load_pixels(const tmaring_tensor_map_im2col *map, const int32_t *coordinates, const uint16_t *offsets,
                        unsigned char *shared, size_t offset)
{
  const uint32_t elem_bytes = tmaring_dtype_bytes((tmaring_i32)map->dtype);
  const tmaring__map_row row = tmaring__map_row_of(map->channels, map->dtype, map->swizzle, map->fill);
  const tmaring__map_clip clip = tmaring__map_clip_of(coordinates[0], map->channels, map->dims[0]);
  const size_t first = coordinates[0] > 0 ? (size_t)coordinates[0] * elem_bytes : 0;
  int64_t window[TMARING_MAX_RANK];
  for (int32_t d = 0; d < map->rank; ++d) window[d] = coordinates[d];
  for (uint32_t p = 0; p < map->pixels; ++p) {
    const unsigned char *pixel = clip.run > 0 ? pixel_at(map, window, offsets) : NULL;
    if (pixel)
      tmaring__map_row_load(&row, shared, offset, pixel + first, clip.lead * elem_bytes, clip.run * elem_bytes);
    else
      tmaring__map_row_load(&row, shared, offset, NULL, row.bytes, 0);
    offset += row.pitch;
    advance(map, window);
  }
}

tmaring_status tmaring_tensor_map_load_im2col(const tmaring_tensor_map_im2col *map, const int32_t *coordinates,
                                              const uint16_t *offsets, void *shared, size_t offset)
{
  TMARING__TRY(tmaring_tensor_map_check_im2col(map));
  TMARING__TRY(tmaring__box_copy_check(map->address, map->dtype, coordinates, shared, offset));
  TMARING__NEED(offsets);
  TMARING__TRY(check_position(map, coordinates, offsets));
  load_pixels(map, coordinates, offsets, shared, offset);
  return TMARING_OK;
}
