/* Operands of a measurement: sizes, places and contents. */
#include "bench.h"

#include <string.h>

#include "../plan/extent.h"

#define PLACE 256u

/* First to last byte of a tensor at `rows` rows, which the plan serves: below 2^62. */
static int64_t extent_bytes(const tmaring_plan *plan, int32_t index, int64_t rows)
{
  tmaring_args args = plan->variant[0].args;
  const tmaring__slot slot = tmaring__formula_slot(plan->formula, index);
  const tmaring_tensor *const t = &plan->tensor[index];
  const int64_t elem_bytes = (int64_t)tmaring_dtype_bytes((tmaring_i32)t->dtype);
  const tmaring_stream *const s = slot.kind == TMARING__SLOT_INPUT ? &args.input[slot.index] : &args.output[slot.index];
  if (tmaring__slot_per_column(slot)) return t->cols * elem_bytes;
  if (tmaring__slot_vector(&args, slot)) return tmaring__vector_bytes(tmaring__slot_vector(&args, slot), rows, t->cols);
  return tmaring__stream_bytes(s, rows, t->cols * elem_bytes / s->elem_bytes); /* both halves of an [M,2N] tensor */
}

/* What a launch has to move of it: every value once, gaps left out. Values may lie over one another, so that they are
 * more than the tensor's extent: the product stops at 2^57, and sums of all tensors stay within 64 bits. */
static int64_t compulsory_bytes(const tmaring_plan *plan, int32_t index, int64_t rows)
{
  const tmaring_tensor *const t = &plan->tensor[index];
  const int once =
      tmaring__slot_per_column(tmaring__formula_slot(plan->formula, index)) || t->pitch == TMARING_ONE_VALUE;
  const int64_t most = INT64_MAX >> 6, row = t->cols * (int64_t)tmaring_dtype_bytes((tmaring_i32)t->dtype);
  return once ? row : rows > most / row ? most : rows * row;
}

static tmaring_status check_rows(const tmaring_plan *plan, int64_t rows)
{
  const int64_t most = plan->variant[plan->variant_count - 1].rows_limit;
  if (rows <= most) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_CAPACITY,
                       "shape: got %lld rows, needs operands below 2^62 bytes and at most %lld rows; use a smaller M",
                       (long long)rows, (long long)most);
}

tmaring_status tmaring__layout_make(tmaring__layout *layout, const tmaring_plan *plan, int64_t rows)
{
  memset(layout, 0, sizeof *layout);
  TMARING__TRY(check_rows(plan, rows));
  for (int32_t i = 0; i < plan->tensor_count; ++i) {
    const tmaring_tensor *const t = &plan->tensor[i];
    const int64_t bytes = extent_bytes(plan, i, rows);
    if (layout->total > (size_t)(INT64_MAX >> 1) - (size_t)bytes)
      return tmaring__fail(TMARING_ERROR_CAPACITY,
                           "shape: got %lld rows, needs operands below 2^62 bytes; use a smaller M", (long long)rows);
    /* Off a multiple of 256 by the alignment that was promised, so that a lesser promise is put to the test. */
    layout->offset[i] = layout->total + (t->alignment < PLACE ? t->alignment : 0);
    layout->bytes[i] = (size_t)bytes;
    layout->total = (size_t)tmaring_round_up(layout->offset[i] + layout->bytes[i], PLACE);
    if (tmaring__slot_writes(tmaring__formula_slot(plan->formula, i)))
      layout->written_bytes += compulsory_bytes(plan, i, rows);
    else
      layout->read_bytes += compulsory_bytes(plan, i, rows);
  }
  return TMARING_OK;
}

/* ---- contents ---- */

/* splitmix64 */
static uint64_t mix(uint64_t z)
{
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Bits of the sign, of the exponent, of the fraction, and the exponent of 1. */
typedef struct float_layout {
  int exponent_bits, fraction_bits, one;
} float_layout;

static const float_layout float_layouts[TMARING_DTYPE_COUNT] = {
    [TMARING_F32] = {8, 23, 127},   [TMARING_F16] = {5, 10, 15}, [TMARING_BF16] = {8, 7, 127},
    [TMARING_F64] = {11, 52, 1023}, [TMARING_E4M3] = {4, 3, 7},  [TMARING_E5M2] = {5, 2, 15},
};

/* Sign, exponent of 1 or of 1/2, and fraction from random bits. */
static uint64_t random_float(const float_layout *f, uint64_t bits)
{
  const uint64_t fraction = bits >> 8 & (((uint64_t)1 << f->fraction_bits) - 1);
  const uint64_t exponent = (uint64_t)f->one - (bits & 1);
  const uint64_t sign = bits >> 1 & 1;
  return sign << (f->exponent_bits + f->fraction_bits) | exponent << f->fraction_bits | fraction;
}

/* Magnitudes 1 to 127, either sign. */
static int64_t random_integer(uint64_t bits)
{
  const int64_t magnitude = 1 + (int64_t)((bits >> 8) % 127);
  return bits & 1 ? -magnitude : magnitude;
}

/* The low bytes of a word: x86-64 and arm64 hosts are little-endian, and so is the device. */
static void put(void *data, size_t index, uint32_t bytes, uint64_t word)
{
  memcpy((char *)data + index * bytes, &word, bytes);
}

void tmaring__fill_random(void *data, tmaring_dtype dtype, size_t count, uint64_t seed)
{
  const float_layout *const f = &float_layouts[dtype];
  const uint32_t bytes = tmaring_dtype_bytes((tmaring_i32)dtype);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = mix(seed + i);
    put(data, i, bytes, f->exponent_bits > 0 ? random_float(f, bits) : (uint64_t)random_integer(bits));
  }
}

void tmaring__fill_operand(void *data, const tmaring_plan *plan, int32_t index, size_t count)
{
  const tmaring_dtype dtype = plan->tensor[index].dtype;
  const uint64_t seed = (uint64_t)index << 48, cols = (uint64_t)plan->variant[0].args.walk.cols;
  const int label = tmaring__formula_slot(plan->formula, index).kind == TMARING__SLOT_ROW_SCALAR &&
                    (dtype == TMARING_I32 || dtype == TMARING_I64);
  if (!label) {
    tmaring__fill_random(data, dtype, count, seed);
    return;
  }
  for (size_t i = 0; i < count; ++i) put(data, i, tmaring_dtype_bytes((tmaring_i32)dtype), mix(seed + i) % cols);
}
