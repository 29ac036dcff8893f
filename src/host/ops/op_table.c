#include "op_table.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../base/detail.h"
#include "../base/text.h"

#define BIT(type) (1u << TMARING_##type)

/* A code: types that a tensor may have, and from bit USUAL on its usual one. */
#define USUAL             16
#define CODE_OF(bits, to) ((bits) | ((uint32_t)(to) << USUAL))
#define CALL_TYPE         0xffu
enum {
  FLOATS = BIT(F32) | BIT(F16) | BIT(BF16) | BIT(F64),
  WHOLE = BIT(I32) | BIT(I64),
};
#define T     CODE_OF(FLOATS, CALL_TYPE)
#define ANY   CODE_OF(FLOATS | BIT(E4M3) | BIT(E5M2) | BIT(I8) | BIT(I32), CALL_TYPE)
#define VALUE CODE_OF(FLOATS | WHOLE, TMARING_F32)  /* of a row */
#define TOTAL CODE_OF(FLOATS | BIT(I32), CALL_TYPE) /* of a column */
#define LOSS  CODE_OF(FLOATS, TMARING_F32)
#define INDEX CODE_OF(BIT(F32) | WHOLE, TMARING_I64)
#define LABEL CODE_OF(WHOLE, TMARING_I64)
#define SCALE CODE_OF(BIT(F32), TMARING_F32)
#define E4M3  CODE_OF(BIT(E4M3), TMARING_E4M3)
#define FP8   CODE_OF(BIT(E4M3) | BIT(E5M2), TMARING_E4M3)
#define I8    CODE_OF(BIT(I8), TMARING_I8)
#define CODE  CODE_OF(BIT(E4M3) | BIT(E5M2) | BIT(I8), TMARING_E4M3)

/* Types of the call that are compiled ahead of time. */
#define HALF (BIT(F16) | BIT(BF16))
#define ALL  (HALF | BIT(F32))

typedef struct row {
  const char *name, *group, *formula, *alias;
  uint32_t ahead;
  uint32_t code[TMARING_OP_MAX_TENSORS];
} row;

#define TYPES(...)                                                                                                     \
  {                                                                                                                    \
    __VA_ARGS__                                                                                                        \
  }
#define ROW(name, group, types, ahead, formula, alias) {#name, group, formula, alias, ahead, types},
static const row table[] = {TMARING__READY_LIST(ROW)};

/* ---- states ---- */

static _Atomic(tmaring__op_state *) known[TMARING__READY_COUNT];

const tmaring__op_state *tmaring__op_state_find(int32_t index)
{
  if (index < 0 || index >= TMARING__READY_COUNT) return NULL;
  return atomic_load_explicit(&known[index], memory_order_acquire);
}

/* Formulas number inputs first, calls take outputs first. */
int32_t tmaring__op_formula_index(const tmaring__op_state *state, int32_t tensor)
{
  const int32_t inputs = state->tensor_count - state->output_count;
  return tensor < state->output_count ? inputs + tensor : tensor - state->output_count;
}

static tmaring_status read_formula(tmaring__op_state *state)
{
  state->tensor_count = tmaring_formula_tensor_count(state->formula);
  state->scalar_count = tmaring_formula_scalar_count(state->formula);
  state->sums_columns = tmaring__formula_program(state->formula)->column_output_count > 0;
  for (int32_t i = 0; i < state->tensor_count; ++i)
    state->output_count += tmaring__slot_writes(tmaring__formula_slot(state->formula, i));
  for (int32_t i = 0; i < state->tensor_count; ++i) {
    state->tensor[i].size = sizeof state->tensor[i];
    TMARING__TRY(tmaring_formula_tensor(state->formula, tmaring__op_formula_index(state, i), &state->tensor[i]));
  }
  return TMARING_OK;
}

static tmaring_status make_state(int32_t index, tmaring__op_state **state)
{
  tmaring__op_state *made = calloc(1, sizeof *made);
  tmaring_status status;
  if (!made) return tmaring__fail(TMARING_ERROR_MEMORY, "%s: out of host memory", table[index].name);
  made->index = index;
  made->name = table[index].name;
  TMARING__TRY_GOTO(tmaring_formula_parse(&made->formula, table[index].formula), failed);
  TMARING__TRY_GOTO(read_formula(made), failed);
  *state = made;
  return TMARING_OK;
failed:
  tmaring_formula_free(made->formula);
  free(made);
  return status;
}

tmaring_status tmaring__op_state_get(int32_t index, const tmaring__op_state **state)
{
  tmaring__op_state *made = NULL, *other = NULL;
  if (index < 0 || index >= TMARING__READY_COUNT)
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "index: got %d, needs 0 .. %d; see tmaring_op_find", (int)index,
                         TMARING__READY_COUNT - 1);
  if ((*state = tmaring__op_state_find(index))) return TMARING_OK;
  TMARING__TRY(make_state(index, &made));
  if (atomic_compare_exchange_strong(&known[index], &other, made)) {
    *state = made;
    return TMARING_OK;
  }
  tmaring_formula_free(made->formula); /* another thread was first */
  free(made);
  *state = other;
  return TMARING_OK;
}

/* ---- the catalogue ---- */

int32_t tmaring_op_count(void)
{
  return TMARING__READY_COUNT;
}

int32_t tmaring_op_find(const char *name)
{
  for (int32_t i = 0; name && i < TMARING__READY_COUNT; ++i)
    if (strcmp(name, table[i].name) == 0) return i;
  return -1;
}

static tmaring_status describe_tensors(const tmaring__op_state *state, tmaring_op_info *info)
{
  for (int32_t i = 0; i < state->tensor_count; ++i) {
    const uint32_t code = table[state->index].code[i], usual = code >> USUAL;
    info->tensor[i] = state->tensor[i];
    info->dtypes[i] = code & ((1u << USUAL) - 1);
    info->dtype[i] = usual == CALL_TYPE ? TMARING_OP_ANY_TYPE : (int32_t)usual;
  }
  for (int32_t i = 0; i < state->scalar_count; ++i) {
    info->scalar[i].size = sizeof info->scalar[i];
    TMARING__TRY(tmaring_formula_scalar(state->formula, i, &info->scalar[i]));
  }
  return TMARING_OK;
}

tmaring_status tmaring_op_describe(int32_t index, tmaring_op_info *info)
{
  const tmaring__op_state *state;
  TMARING__NEED_SIZE(info);
  TMARING__TRY(tmaring__op_state_get(index, &state));
  memset(info, 0, sizeof *info);
  info->size = sizeof *info;
  info->name = table[index].name;
  info->group = table[index].group;
  info->formula = table[index].formula;
  info->alias = table[index].alias;
  info->ahead = table[index].ahead;
  info->output_count = state->output_count;
  info->tensor_count = state->tensor_count;
  info->scalar_count = state->scalar_count;
  return describe_tensors(state, info);
}

/* ---- types ---- */

static tmaring_status refuse_type(const char *name, uint32_t allowed, tmaring_dtype dtype)
{
  const char *got = tmaring_dtype_name(dtype);
  tmaring__text list = {0};
  for (int32_t d = 0; d < TMARING_DTYPE_COUNT; ++d) {
    if (allowed >> d & 1)
      tmaring__text_add(&list, "%s%s", list.length ? ", " : "", tmaring_dtype_name((tmaring_dtype)d));
  }
  tmaring__fail(TMARING_ERROR_TYPE, "%s.dtype: got %s, needs %s%s", name, got ? got : "no type of the library",
                allowed & (allowed - 1) ? "one of " : "", list.data ? list.data : "another");
  tmaring__text_free(&list);
  return TMARING_ERROR_TYPE;
}

tmaring_status tmaring__op_type_check(const tmaring__op_state *state, int32_t tensor, tmaring_dtype dtype)
{
  const uint32_t allowed = table[state->index].code[tensor] & ((1u << USUAL) - 1);
  if ((uint32_t)dtype < TMARING_DTYPE_COUNT && (allowed >> dtype & 1)) return TMARING_OK;
  return refuse_type(state->tensor[tensor].name, allowed, dtype);
}
