/* Operands of a measurement: sizes, places and contents. */
#include "bench.h"

#include <string.h>

#define PLACE 256u

static int is_output(const tmaring__slot slot)
{
  return slot.kind == TMARING__SLOT_OUTPUT || slot.kind == TMARING__SLOT_ROW_OUTPUT;
}

static int follows_rows(const tmaring__slot slot)
{
  return slot.kind != TMARING__SLOT_VECTOR;
}

/* First to last byte of a tensor with `rows` rows; -1 where that passes 2^62. */
static int64_t extent_bytes(const tmaring_tensor *t, int64_t rows)
{
  const int64_t element = (int64_t)tmaring_dtype_bytes((tmaring_i32)t->dtype);
  const int64_t pitch = t->pitch > t->cols ? t->pitch : t->cols;
  const int64_t limit = (INT64_MAX >> 1) / element;
  if (rows == 0) return 0;
  if (pitch > limit / rows) return -1;
  return ((rows - 1) * pitch + t->cols) * element;
}

tmaring_status tmaring__layout_make(tmaring__layout *layout, const tmaring_plan *plan, int64_t rows)
{
  memset(layout, 0, sizeof *layout);
  for (int32_t i = 0; i < plan->tensor_count; ++i) {
    const tmaring_tensor *const t = &plan->tensor[i];
    const tmaring__slot slot = tmaring__formula_slot(plan->formula, i);
    const int64_t lines = follows_rows(slot) ? rows : 1;
    const int64_t bytes = extent_bytes(t, lines);
    if (bytes < 0 || layout->total > (size_t)(INT64_MAX >> 1) - (size_t)bytes)
      return tmaring__fail(TMARING_ERROR_CAPACITY,
                           "shape: got %lld rows, needs operands below 2^62 bytes; use a smaller M", (long long)rows);
    /* Off a multiple of 256 by the alignment that was promised, so that a lesser promise is put to the test. */
    layout->offset[i] = layout->total + (t->alignment < PLACE ? t->alignment : 0);
    layout->bytes[i] = (size_t)bytes;
    layout->total = (size_t)tmaring_round_up(layout->offset[i] + layout->bytes[i], PLACE);
    const int64_t dense = lines * t->cols * (int64_t)tmaring_dtype_bytes((tmaring_i32)t->dtype);
    if (is_output(slot))
      layout->written_bytes += dense;
    else
      layout->read_bytes += dense;
  }
  return TMARING_OK;
}

/* splitmix64 */
static uint64_t mix(uint64_t z)
{
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Sign, exponent of 1 or of 1/2, and fraction from random bits, in each type's own layout. */
void tmaring__fill_random(void *data, tmaring_dtype dtype, size_t count, uint64_t seed)
{
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = mix(seed + i);
    const uint32_t low = (uint32_t)bits & 1u;
    if (dtype == TMARING_F32) {
      const uint32_t word = (uint32_t)(bits >> 32 & 0x807fffffu) | (126u + low) << 23;
      memcpy((char *)data + 4 * i, &word, 4);
    } else {
      const int half = dtype == TMARING_F16;
      const uint16_t word =
          (uint16_t)((bits >> 32 & (half ? 0x83ffu : 0x807fu)) | (half ? (14u + low) << 10 : (126u + low) << 7));
      memcpy((char *)data + 2 * i, &word, 2);
    }
  }
}
