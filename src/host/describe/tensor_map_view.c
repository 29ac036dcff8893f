/* Limits that tiled maps and maps of pixels have in common. */
#include "../base/detail.h"
#include "tensor_map_check.h"
#include "tmaring/tensor.h"

#define DTYPE_SPACED(name, value, text, bytes) " " text

static tmaring_status check_rank(const tmaring__map_view *v)
{
  if (tmaring_dtype_bytes((tmaring_i32)v->dtype) == 0) {
    return tmaring__fail(TMARING_ERROR_TYPE,
                         "dtype: got %d, needs the enumerator of one of" TMARING_DTYPE_LIST(DTYPE_SPACED),
                         (int)v->dtype);
  }
  if (v->rank >= v->lowest_rank && v->rank <= TMARING_MAX_RANK) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE,
                       "rank: got %d, needs %d .. %d; fold dimensions that follow each other densely, or add some of "
                       "size 1",
                       (int)v->rank, (int)v->lowest_rank, TMARING_MAX_RANK);
}

static tmaring_status check_address(const tmaring__map_view *v)
{
  const unsigned rest = (unsigned)(v->address % TMARING__MAP_UNIT_BYTES);
  if (rest == 0) return TMARING_OK;
  return tmaring__fail(
      TMARING_ERROR_ALIGNMENT,
      "address: got 0x%llx, %u bytes behind a multiple of 16, needs a multiple of 16; begin the tensor "
      "at such an address, or copy it there",
      (unsigned long long)v->address, rest);
}

static tmaring_status check_dims(const tmaring__map_view *v)
{
  for (int32_t d = 0; d < v->rank; ++d) {
    if (v->dims[d] >= 1 && v->dims[d] <= TMARING__MAP_MAX_DIM) continue;
    return tmaring__fail(TMARING_ERROR_SHAPE, "dims[%d]: got %llu, needs 1 .. 2^32 elements; %s", (int)d,
                         (unsigned long long)v->dims[d],
                         v->dims[d] == 0 ? "copy nothing of an empty tensor" : "cut the tensor into smaller ones");
  }
  return TMARING_OK;
}

static tmaring_status check_inner_stride(const tmaring__map_view *v)
{
  const unsigned elem_bytes = (unsigned)tmaring_dtype_bytes((tmaring_i32)v->dtype);
  if (v->strides[0] == 0 || v->strides[0] == elem_bytes) return TMARING_OK;
  return tmaring__fail(
      TMARING_ERROR_UNSUPPORTED,
      "strides[0]: got %llu bytes, needs %u, the size of an %s, or 0: elements of the innermost "
      "dimension lie next to each other; permute the dimensions so that one with a stride of 1 element "
      "comes first",
      (unsigned long long)v->strides[0], elem_bytes, tmaring_dtype_name(v->dtype));
}

static tmaring_status check_strides(const tmaring__map_view *v)
{
  for (int32_t d = 1; d < v->rank; ++d) {
    const uint64_t got = v->strides[d];
    if (got >= TMARING__MAP_MAX_STRIDE) {
      return tmaring__fail(TMARING_ERROR_SHAPE, "strides[%d]: got %llu bytes, needs less than 2^40; cut the tensor",
                           (int)d, (unsigned long long)got);
    }
    if (got % TMARING__MAP_UNIT_BYTES == 0) continue;
    return tmaring__fail(
        TMARING_ERROR_ALIGNMENT,
        "strides[%d]: got %llu bytes, needs a multiple of 16; pad it to %llu, or load it by another path", (int)d,
        (unsigned long long)got, (unsigned long long)tmaring_round_up(got, TMARING__MAP_UNIT_BYTES));
  }
  return check_inner_stride(v);
}

static tmaring_status check_element_strides(const tmaring__map_view *v)
{
  for (int32_t d = 0; d < v->rank; ++d) {
    const unsigned got = (unsigned)v->element_strides[d];
    if (got > TMARING__MAP_MAX_STEP) {
      return tmaring__fail(TMARING_ERROR_SHAPE,
                           "element_strides[%d]: got %u, needs 1 .. 8 (0: 1); a larger step is a larger strides[%d]",
                           (int)d, got, (int)d);
    }
    if (d > 0 || got <= 1) continue;
    return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                         "element_strides[0]: got %u, needs 1: the copy engine takes every element of the innermost "
                         "dimension; load all, or use an outer dimension",
                         got);
  }
  return TMARING_OK;
}

tmaring_status tmaring__map_inner_check(const tmaring__map_view *v)
{
  const uint32_t elem_bytes = tmaring_dtype_bytes((tmaring_i32)v->dtype), bytes = v->inner * elem_bytes;
  const uint32_t span = tmaring__swizzle_span(v->swizzle);
  if (bytes % TMARING__MAP_UNIT_BYTES != 0) {
    return tmaring__fail(
        TMARING_ERROR_ALIGNMENT,
        "%s: got %u elements of %u bytes, %u bytes, needs a multiple of 16 bytes; take a multiple of %u "
        "elements: the tensor's edge clips it",
        v->inner_name, (unsigned)v->inner, (unsigned)elem_bytes, (unsigned)bytes,
        (unsigned)(TMARING__MAP_UNIT_BYTES / elem_bytes));
  }
  if (span == 0 || bytes <= span) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE,
                       "%s: got %u bytes, needs at most %u, the span of the swizzle; take %u elements, or a wider "
                       "swizzle, or none",
                       v->inner_name, (unsigned)bytes, (unsigned)span, (unsigned)(span / elem_bytes));
}

static tmaring_status check_modes(const tmaring__map_view *v)
{
  if (v->swizzle < TMARING_SWIZZLE_NONE || v->swizzle > TMARING_SWIZZLE_128B) {
    return tmaring__fail(TMARING_ERROR_ARGUMENT,
                         "swizzle: got %d, needs TMARING_SWIZZLE_NONE, 32B, 64B or 128B (0 .. 3)", (int)v->swizzle);
  }
  if (v->fill != TMARING_FILL_ZERO && v->fill != TMARING_FILL_NAN) {
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "fill: got %d, needs TMARING_FILL_ZERO or TMARING_FILL_NAN",
                         (int)v->fill);
  }
  if (v->l2_bytes != 0 && v->l2_bytes != 64 && v->l2_bytes != 128 && v->l2_bytes != 256) {
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "l2_bytes: got %d, needs 0, 64, 128 or 256", (int)v->l2_bytes);
  }
  if (v->fill == TMARING_FILL_ZERO || v->dtype == TMARING_F32 || v->dtype == TMARING_F16 || v->dtype == TMARING_BF16 ||
      v->dtype == TMARING_F64)
    return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_TYPE,
                       "fill: got TMARING_FILL_NAN with %s, needs f32, f16, bf16 or f64; fill with zeros",
                       tmaring_dtype_name(v->dtype));
}

tmaring_status tmaring__map_view_check(const tmaring__map_view *v)
{
  TMARING__TRY(check_rank(v));
  TMARING__TRY(check_address(v));
  TMARING__TRY(check_dims(v));
  TMARING__TRY(check_strides(v));
  TMARING__TRY(check_element_strides(v));
  return check_modes(v);
}

tmaring_status tmaring__map_shared_check(const char *field, uint64_t bytes)
{
  if (bytes <= TMARING__MAP_MAX_SHARED) return TMARING_OK;
  return tmaring__fail(
      TMARING_ERROR_CAPACITY,
      "%s: got a box of %llu bytes, needs at most the %u bytes of shared memory that a block may have; "
      "take a smaller box",
      field, (unsigned long long)bytes, TMARING__MAP_MAX_SHARED);
}
