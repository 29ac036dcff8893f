/* Conformance list, section 6: copies by tensor map, loads and stores, of every rank, in f16, f32 and f64, without a
 * swizzle and with spans of 32, 64 and 128 bytes; odd tiles, a dimension of size 1, element strides. Six places of each:
 * the first box, the second, the last, half behind it, one before the first, and one outside, each beginning at a
 * 16-byte unit of its rows.
 *
 * The host's copies are compared with the definition, a GPU's with the host's. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/box_oracle.h"
#include "support/copy_stand.h"

static const tmaring_dtype types[] = {TMARING_F16, TMARING_F32, TMARING_F64};

enum { TYPES = 3, SWIZZLES = 4, COPIES = SWIZZLES * BOX_PLACES };

static box_case copy_of(const box_shape *shape, int type, int copy)
{
  return box_case_of(shape, types[type], copy / BOX_PLACES, copy % BOX_PLACES);
}

/* ---- the host ---- */

/* New bytes for what the box holds of the tensor: large tensors stay pages of zeros elsewhere. */
static void refresh(const box_case *c, unsigned char *tensor, noise *n)
{
  const size_t elem = tmaring_dtype_bytes((tmaring_i32)c->map.dtype);
  for (uint64_t i = 0; i < box_oracle_count(&c->map); ++i) {
    const box_element e = box_oracle_element(c, i);
    const uint64_t word = noise_next(n) | 0x0101010101010101ull;
    if (e.inside) memcpy(tensor + e.tensor_byte, &word, elem);
  }
}

static int load_is_right(const box_case *c, const unsigned char *tensor, unsigned char *shared)
{
  const size_t room = box_case_room(c);
  unsigned char *want = copy_host_take(room);
  memset(shared, COPY_POISON, room);
  memset(want, COPY_POISON, room);
  const tmaring_status status = tmaring_tensor_map_load(&c->map, c->coordinates, shared, c->offset);
  box_oracle_load(c, tensor, want);
  const int right = status == TMARING_OK && memcmp(shared, want, room) == 0;
  free(want);
  return right;
}

/* Every element of the box that is stored is in the tensor what it is in shared memory: those inside, and what shares a
 * 16-byte unit of a row with one of them. A store that begins below 0 is refused. */
static int store_is_right(const box_case *c, const unsigned char *tensor, unsigned char *shared, noise *n)
{
  const size_t elem = tmaring_dtype_bytes((tmaring_i32)c->map.dtype);
  int right;
  for (size_t i = 0; i < box_case_room(c); ++i) shared[i] = (unsigned char)noise_next(n);
  const tmaring_status status = tmaring_tensor_map_store(&c->map, c->coordinates, shared, c->offset);
  if (box_case_below_zero(c)) return status == TMARING_ERROR_UNSUPPORTED;
  right = status == TMARING_OK;
  for (uint64_t i = 0; i < box_oracle_count(&c->map); ++i) {
    const box_element e = box_oracle_element(c, i);
    const size_t place = box_oracle_place(c->map.swizzle, c->offset, e.row, e.row_bytes, e.byte);
    if (e.stored) right = right && memcmp(tensor + e.tensor_byte, shared + place, elem) == 0;
  }
  return right;
}

static void run_host_shape(tally *sum, const box_shape *shape, int type, noise *n)
{
  const box_case first = copy_of(shape, type, 0);
  unsigned char *memory = calloc(first.tensor_bytes + 512, 1), *shared = copy_host_take(65536);
  cr_assert_not_null(memory, "%zu bytes", first.tensor_bytes);
  unsigned char *tensor = memory + (256 - (uintptr_t)memory % 256) % 256;
  for (int i = 0; i < COPIES; ++i) {
    box_case c = copy_of(shape, type, i);
    char text[640];
    c.map.address = (uint64_t)(uintptr_t)tensor;
    cr_assert(box_case_room(&c) > 0 && box_case_room(&c) <= 65536, "%s", box_case_text(&c));
    refresh(&c, tensor, n);
    const int load = load_is_right(&c, tensor, shared), store = store_is_right(&c, tensor, shared, n);
    snprintf(text, sizeof text, "%s: load %d, store %d: %s", shape->name, load, store, box_case_text(&c));
    tally_note(sum, load && store, text);
  }
  free(memory);
  free(shared);
}

Test(conformance, copies_cpu, .timeout = 120)
{
  tally sum = tally_begin("copies by tensor map", "cpu");
  noise n = noise_seed(47);
  for (int s = 0; s < BOX_SHAPES; ++s) {
    for (int type = 0; type < TYPES; ++type) {
      if (tally_takes(&sum)) run_host_shape(&sum, &box_shapes[s], type, &n);
    }
  }
  tally_close(&sum);
  tally_row(&sum, 6);
  cr_expect_eq(sum.failed, 0, "%s", sum.first_failure);
  cr_expect_eq(sum.passed, (sum.seen + sum.step - 1) / sum.step * COPIES);
}

/* ---- a GPU ---- */

/* All loads of one tensor, then all stores into one. */
static void run_device_shape(copy_stand *b, const box_shape *shape, int type)
{
  const box_case first = copy_of(shape, type, 0);
  const char *why = NULL;
  copy_twin t = copy_twin_take(b->v.place, first.tensor_bytes);
  copy_twin_fill(&t, &b->n, 0);
  for (int i = 0; i < COPIES; ++i) {
    const box_case c = copy_of(shape, type, i);
    copy_compare_load(b, &c, &t);
  }
  copy_twin_fill(&t, &b->n, 1);
  for (int i = 0; i < COPIES && !why; ++i) {
    const box_case c = copy_of(shape, type, i);
    if (!box_case_below_zero(&c)) why = copy_store_both(b, &c, &t);
  }
  copy_compare_tensor(b, &t, why, shape->name);
  copy_twin_give(&t);
}

Test(conformance, copies_cuda, .timeout = 300)
{
  copy_stand b;
  copy_stand_open(&b, "copies by tensor map", 73);
  for (int s = 0; s < BOX_SHAPES; ++s) {
    for (int type = 0; type < TYPES; ++type) {
      if (tally_takes(&b.sum)) run_device_shape(&b, &box_shapes[s], type);
    }
  }
  tally_row(&b.sum, 6);
  copy_stand_close(&b);
}
