/* The catalogue at run time: its rows, and what follows from a row's formula. */
#ifndef TMARING_HOST_OP_TABLE_H
#define TMARING_HOST_OP_TABLE_H

#include "../formula/program.h"
#include "op_list.h"
#include "tmaring/ops.h"

/* A parsed row. Tensors are in the order of calls: outputs, then inputs. */
typedef struct tmaring__op_state {
  int32_t index;
  const char *name;
  int32_t output_count, tensor_count, scalar_count;
  int32_t sums_columns; /* 1: has column reductions: needs a workspace, and writes even with M = 0 */
  tmaring_formula *formula;
  tmaring_parameter tensor[TMARING_OP_MAX_TENSORS];
} tmaring__op_state;

/* State of an op, parsed at first use and kept for the process; NULL before. Takes no lock. */
const tmaring__op_state *tmaring__op_state_find(int32_t index);
/* The same, and makes it. ERROR_ARGUMENT for an index outside of the catalogue, ERROR_MEMORY. Any thread. */
tmaring_status tmaring__op_state_get(int32_t index, const tmaring__op_state **state);

/* Number of call tensor i among the formula's tensors. */
int32_t tmaring__op_formula_index(const tmaring__op_state *state, int32_t tensor);

/* Checks that a tensor of a call may have the type. ERROR_TYPE lists what it may have. */
tmaring_status tmaring__op_type_check(const tmaring__op_state *state, int32_t tensor, tmaring_dtype dtype);

#endif
