#include "box_copy.h"

#include "../base/detail.h"
#include "map_row.h"
#include "tensor_map_check.h"
#include "tmaring/tensor.h"

/* The rows of a box, one after the other or several at once. */
typedef struct box_rows {
  const tmaring_tensor_map_tiled *map;
  tmaring__map_row row;
  tmaring__map_clip clip; /* of every row, in bytes */
  uint32_t count[TMARING_MAX_RANK], step[TMARING_MAX_RANK], index[TMARING_MAX_RANK];
  int64_t coordinate[TMARING_MAX_RANK];
  size_t at;     /* offset of the row in shared memory before swizzling */
  int joined;    /* rows along axis 1 follow each other without gaps on both sides */
  uint32_t rows; /* of this step: 1, or those that are joined */
} box_rows;

static int may_join(const box_rows *r)
{
  const tmaring_tensor_map_tiled *map = r->map;
  return map->rank > 1 && r->row.units == 1 && r->clip.run == r->row.bytes && map->strides[1] == r->row.bytes &&
         r->step[1] == 1;
}

static void begin(box_rows *r, const tmaring_tensor_map_tiled *map, const int32_t *coordinates, size_t offset)
{
  const uint32_t elem_bytes = tmaring_dtype_bytes((tmaring_i32)map->dtype);
  r->map = map;
  r->row = tmaring__map_row_of(map->box[0], map->dtype, map->swizzle, map->fill);
  r->clip = tmaring__map_clip_of(coordinates[0], map->box[0], map->dims[0]);
  r->clip.lead *= elem_bytes;
  r->clip.run *= elem_bytes;
  for (int32_t d = 0; d < map->rank; ++d) {
    r->count[d] = tmaring__box_count(map, d);
    r->step[d] = tmaring__map_step(map->element_strides, d);
    r->index[d] = 0;
    r->coordinate[d] = coordinates[d];
  }
  r->at = offset;
  r->joined = may_join(r);
  r->rows = 1;
}

/* Address of the row in global memory, of its first element inside; NULL: none is inside. Sets r->rows. */
static unsigned char *global_row(box_rows *r)
{
  const tmaring_tensor_map_tiled *map = r->map;
  uint64_t address = map->address; /* wraps like the hardware's */
  r->rows = 1;
  if (r->clip.run == 0) return NULL;
  if (r->coordinate[0] > 0) address += (uint64_t)r->coordinate[0] * tmaring_dtype_bytes((tmaring_i32)map->dtype);
  for (int32_t d = 1; d < map->rank; ++d) {
    if (r->coordinate[d] < 0 || (uint64_t)r->coordinate[d] >= map->dims[d]) return NULL;
    address += (uint64_t)r->coordinate[d] * map->strides[d];
  }
  if (r->joined) {
    const uint64_t inside = map->dims[1] - (uint64_t)r->coordinate[1];
    const uint32_t left = r->count[1] - r->index[1];
    r->rows = inside < left ? (uint32_t)inside : left;
  }
  return (unsigned char *)(uintptr_t)address;
}

/* 0 behind the last row. */
static int next(box_rows *r)
{
  uint32_t rows = r->rows;
  r->at += (size_t)r->row.pitch * rows;
  for (int32_t d = 1; d < r->map->rank; ++d) {
    r->index[d] += rows;
    r->coordinate[d] += (int64_t)r->step[d] * rows;
    if (r->index[d] < r->count[d]) return 1;
    r->coordinate[d] -= (int64_t)r->step[d] * r->count[d];
    r->index[d] = 0;
    rows = 1;
  }
  return 0;
}

/* As if the joined rows were one. */
static tmaring__map_row whole_row(const box_rows *r)
{
  tmaring__map_row row = r->row;
  row.bytes *= r->rows;
  return row;
}

void tmaring__box_load(const tmaring_tensor_map_tiled *map, const int32_t *coordinates, void *shared, size_t offset)
{
  box_rows r;
  begin(&r, map, coordinates, offset);
  do {
    const unsigned char *source = global_row(&r);
    const tmaring__map_row row = whole_row(&r);
    tmaring__map_row_load(&row, shared, r.at, source, source ? r.clip.lead : r.row.bytes,
                          source ? r.clip.run * r.rows : 0);
  } while (next(&r));
}

void tmaring__box_store(const tmaring_tensor_map_tiled *map, const int32_t *coordinates, const void *shared,
                        size_t offset)
{
  box_rows r;
  begin(&r, map, coordinates, offset);
  do {
    unsigned char *target = global_row(&r);
    const tmaring__map_row row = whole_row(&r);
    if (target) tmaring__map_row_store(&row, shared, r.at, target, r.clip.lead, r.clip.run * r.rows);
  } while (next(&r));
}

/* The copy engine moves whole units of a row: at any other inner coordinate a kernel ends with an illegal instruction. */
static tmaring_status check_inner(int64_t coordinate, tmaring_dtype dtype)
{
  const int64_t elem_bytes = tmaring_dtype_bytes((tmaring_i32)dtype), unit = TMARING__MAP_UNIT_BYTES / elem_bytes;
  const int64_t behind = (coordinate % unit + unit) % unit; /* elements from the unit's first */
  if (behind == 0) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ALIGNMENT,
                       "coordinates[0]: got %lld, which is %lld bytes of %s, needs a multiple of 16 bytes, that is of "
                       "%lld elements; begin at %lld with a wider box",
                       (long long)coordinate, (long long)(coordinate * elem_bytes), tmaring_dtype_name(dtype),
                       (long long)unit, (long long)(coordinate - behind));
}

tmaring_status tmaring__box_copy_check(uint64_t address, tmaring_dtype dtype, const int32_t *coordinates,
                                       const void *shared, size_t offset)
{
  TMARING__NEED(coordinates);
  TMARING__NEED(shared);
  if (address == 0) return tmaring__fail(TMARING_ERROR_ARGUMENT, "address: got 0, needs the host address of element 0");
  if (offset % 128 == 0) return check_inner(coordinates[0], dtype);
  return tmaring__fail(
      TMARING_ERROR_ALIGNMENT,
      "offset: got %zu, needs a multiple of 128: the copy engine takes no other place in shared memory", offset);
}

/* The manual asks stores for it, and a kernel that does otherwise ends with an error. */
static tmaring_status check_begin(const int32_t *coordinates, int32_t rank)
{
  for (int32_t d = 0; d < rank; ++d) {
    if (coordinates[d] >= 0) continue;
    return tmaring__fail(TMARING_ERROR_UNSUPPORTED,
                         "coordinates[%d]: got %d, a store needs 0 or more; begin at 0 with a smaller box", (int)d,
                         (int)coordinates[d]);
  }
  return TMARING_OK;
}

tmaring_status tmaring_tensor_map_load(const tmaring_tensor_map_tiled *map, const int32_t *coordinates, void *shared,
                                       size_t offset)
{
  TMARING__TRY(tmaring_tensor_map_check_tiled(map));
  TMARING__TRY(tmaring__box_copy_check(map->address, map->dtype, coordinates, shared, offset));
  tmaring__box_load(map, coordinates, shared, offset);
  return TMARING_OK;
}

tmaring_status tmaring_tensor_map_store(const tmaring_tensor_map_tiled *map, const int32_t *coordinates,
                                        const void *shared, size_t offset)
{
  TMARING__TRY(tmaring_tensor_map_check_tiled(map));
  TMARING__TRY(tmaring__box_copy_check(map->address, map->dtype, coordinates, shared, offset));
  TMARING__TRY(check_begin(coordinates, map->rank));
  tmaring__box_store(map, coordinates, shared, offset);
  return TMARING_OK;
}
