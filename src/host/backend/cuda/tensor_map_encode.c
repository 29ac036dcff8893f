#include "tensor_map_encode.h"

#include <string.h>

#include "../../base/detail.h"

/* The copy engine reads a map from a multiple of 64; cuda.h aligns its type to 64 (12.x) or 128 (13.x). Maps are encoded
 * in a variable of that type and copied, so that 64 is enough for the caller whatever the headers say. */
static tmaring_status check_storage(const void *storage)
{
  TMARING__NEED(storage);
  const unsigned rest = (unsigned)((uintptr_t)storage % TMARING_TENSOR_MAP_ALIGNMENT);
  if (rest == 0) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ALIGNMENT,
                       "storage: got %p, %u bytes behind a multiple of %d, needs a multiple of %d; use tmaring_map or "
                       "aligned_alloc",
                       storage, rest, TMARING_TENSOR_MAP_ALIGNMENT, TMARING_TENSOR_MAP_ALIGNMENT);
}

static tmaring_status check_base(uint64_t address)
{
  if (address != 0 && address % 16 == 0) return TMARING_OK;
  return tmaring__fail(address == 0 ? TMARING_ERROR_ARGUMENT : TMARING_ERROR_ALIGNMENT,
                       "address: got 0x%llx, needs an address in global memory, a multiple of 16",
                       (unsigned long long)address);
}

#if TMARING_WITH_CUDA

static CUtensorMapDataType type_of(tmaring_dtype dtype)
{
  switch (dtype) {
  case TMARING_F32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  case TMARING_F16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  case TMARING_BF16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  case TMARING_F64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  case TMARING_I32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
  case TMARING_I64: return CU_TENSOR_MAP_DATA_TYPE_INT64;
  default: return CU_TENSOR_MAP_DATA_TYPE_UINT8; /* fp8 and i8: bytes are bytes */
  }
}

static CUtensorMapL2promotion promotion_of(int32_t bytes)
{
  switch (bytes) {
  case 64: return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
  case 128: return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
  case 256: return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
  default: return CU_TENSOR_MAP_L2_PROMOTION_NONE;
  }
}

static CUtensorMapFloatOOBfill fill_of(int32_t fill)
{
  return fill == TMARING_FILL_NAN ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                  : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
}

/* The driver's own copies: other types than ours, 0 for 1 resolved. */
typedef struct map_arrays {
  cuuint64_t dims[TMARING_MAX_RANK], strides[TMARING_MAX_RANK];
  cuuint32_t steps[TMARING_MAX_RANK];
} map_arrays;

static map_arrays arrays_of(int32_t rank, const uint64_t *dims, const uint64_t *strides, const uint32_t *steps)
{
  map_arrays a;
  memset(&a, 0, sizeof a);
  for (int32_t d = 0; d < rank; ++d) {
    a.dims[d] = dims[d];
    if (d > 0) a.strides[d - 1] = strides[d]; /* the innermost is implied */
    a.steps[d] = d == 0 || steps[d] == 0 ? 1 : steps[d];
  }
  return a;
}

static tmaring_status finish(const tmaring__driver *driver, tmaring_map *map, const CUtensorMap *made, CUresult result,
                             const char *call)
{
  memcpy(map, made, sizeof *map);
  if (result == CUDA_SUCCESS) return TMARING_OK;
  memset(map, 0, sizeof *map);
  return tmaring__driver_fail(driver, result, call);
}

tmaring_status tmaring__tensor_map_encode(const tmaring__driver *driver, tmaring_map *map,
                                          const tmaring_tensor_map_tiled *desc)
{
  const map_arrays a = arrays_of(desc->rank, desc->dims, desc->strides, desc->element_strides);
  CUtensorMap made;
  memset(&made, 0, sizeof made);
  const CUresult result = driver->cuTensorMapEncodeTiled(
      &made, type_of(desc->dtype), (cuuint32_t)desc->rank, (void *)(uintptr_t)desc->address, a.dims, a.strides,
      desc->box, a.steps, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)desc->swizzle,
      promotion_of(desc->l2_bytes), fill_of(desc->fill));
  return finish(driver, map, &made, result, "cuTensorMapEncodeTiled");
}

tmaring_status tmaring__tensor_map_encode_pixels(const tmaring__driver *driver, tmaring_map *map,
                                                 const tmaring_tensor_map_im2col *desc)
{
  const map_arrays a = arrays_of(desc->rank, desc->dims, desc->strides, desc->element_strides);
  CUtensorMap made;
  memset(&made, 0, sizeof made);
  const CUresult result = driver->cuTensorMapEncodeIm2col(
      &made, type_of(desc->dtype), (cuuint32_t)desc->rank, (void *)(uintptr_t)desc->address, a.dims, a.strides,
      desc->lower, desc->upper, desc->channels, desc->pixels, a.steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      (CUtensorMapSwizzle)desc->swizzle, promotion_of(desc->l2_bytes), fill_of(desc->fill));
  return finish(driver, map, &made, result, "cuTensorMapEncodeIm2col");
}

tmaring_status tmaring_tensor_map_encode_tiled(void *storage, const tmaring_tensor_map_tiled *map)
{
  const tmaring__driver *driver;
  TMARING__TRY(check_storage(storage));
  TMARING__TRY(tmaring_tensor_map_check_tiled(map));
  TMARING__TRY(check_base(map->address));
  TMARING__TRY(tmaring__driver_get(&driver));
  return tmaring__tensor_map_encode(driver, storage, map);
}

tmaring_status tmaring_tensor_map_encode_im2col(void *storage, const tmaring_tensor_map_im2col *map)
{
  const tmaring__driver *driver;
  TMARING__TRY(check_storage(storage));
  TMARING__TRY(tmaring_tensor_map_check_im2col(map));
  TMARING__TRY(check_base(map->address));
  TMARING__TRY(tmaring__driver_get(&driver));
  return tmaring__tensor_map_encode_pixels(driver, storage, map);
}

tmaring_status tmaring_tensor_map_replace_address(void *storage, uint64_t address)
{
  const tmaring__driver *driver;
  CUtensorMap made;
  TMARING__TRY(check_storage(storage));
  TMARING__TRY(check_base(address));
  TMARING__TRY(tmaring__driver_get(&driver));
  memcpy(&made, storage, sizeof made);
  TMARING__CU(cuTensorMapReplaceAddress(&made, (void *)(uintptr_t)address));
  memcpy(storage, &made, sizeof made);
  return TMARING_OK;
}

#else

tmaring_status tmaring_tensor_map_encode_tiled(void *storage, const tmaring_tensor_map_tiled *map)
{
  TMARING__TRY(check_storage(storage));
  TMARING__TRY(tmaring_tensor_map_check_tiled(map));
  TMARING__TRY(check_base(map->address));
  return tmaring__driver_absent();
}

tmaring_status tmaring_tensor_map_encode_im2col(void *storage, const tmaring_tensor_map_im2col *map)
{
  TMARING__TRY(check_storage(storage));
  TMARING__TRY(tmaring_tensor_map_check_im2col(map));
  TMARING__TRY(check_base(map->address));
  return tmaring__driver_absent();
}

tmaring_status tmaring_tensor_map_replace_address(void *storage, uint64_t address)
{
  TMARING__TRY(check_storage(storage));
  TMARING__TRY(check_base(address));
  return tmaring__driver_absent();
}

#endif
