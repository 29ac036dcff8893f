/* Types and strides of an op's tensors. */
#ifndef TMARING_TESTS_OP_LAYOUT_H
#define TMARING_TESTS_OP_LAYOUT_H

#include "op_trial.h"

/* The type that a letter of op_reference.types stands for. */
tmaring_dtype op_type_of(const op_trial *t, char letter);
/* Describes a tensor whose shape is known. */
void op_lay_out(op_tensor *tensor, const op_trial *t, char letter);

#endif
