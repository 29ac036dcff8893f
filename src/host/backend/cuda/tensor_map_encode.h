/* Tensor maps by the driver. */
#ifndef TMARING_HOST_TENSOR_MAP_ENCODE_H
#define TMARING_HOST_TENSOR_MAP_ENCODE_H

#include "driver.h"
#include "tmaring/tensor_map.h"

#if TMARING_WITH_CUDA

/* Encodes without checks of its own: for launches, where the plan has checked all but the address. Same struct, same 128
 * bytes. Needs no context, allocates nothing; any thread. ERROR_DRIVER, and then *map is zero. */
tmaring_status tmaring__tensor_map_encode(const tmaring__driver *driver, tmaring_map *map,
                                          const tmaring_tensor_map_tiled *desc);
tmaring_status tmaring__tensor_map_encode_pixels(const tmaring__driver *driver, tmaring_map *map,
                                                 const tmaring_tensor_map_im2col *desc);

#endif

#endif
