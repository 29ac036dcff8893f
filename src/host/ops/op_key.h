/* What a call is: the views and options that decide its plan (the key), and the rest. */
#ifndef TMARING_HOST_OP_KEY_H
#define TMARING_HOST_OP_KEY_H

#include "op_table.h"

/* Two calls with the same key share a plan. Compared byte by byte: made from zeroes. */
typedef struct tmaring__op_key {
  int32_t index; /* op */
  int32_t backend;
  int32_t tickets; /* 1: there is a workspace for them */
  int32_t count;
  const void *context;                           /* NULL: cpu, or no context is current */
  tmaring_tensor tensor[TMARING_OP_MAX_TENSORS]; /* in the formula's order, rows 0 but for [N] */
} tmaring__op_key;

/* A call whose views have been looked at. */
typedef struct tmaring__op_request {
  const tmaring__op_state *state;
  const tmaring_call *call; /* never NULL */
  tmaring__op_key key;      /* context is the caller's to fill in */
  uint64_t hash;
  int64_t rows; /* M of the views */
  void *data[TMARING_OP_MAX_TENSORS];
} tmaring__op_request;

/* Enters views and call. Checks only what a plan does not depend on: null and size of each view, and that all have one
 * M; the rest is for tmaring__op_request_check. ERROR_ARGUMENT, ERROR_SHAPE. */
tmaring_status tmaring__op_request_make(tmaring__op_request *request, const tmaring__op_state *state,
                                        const tmaring_view *const *views, int32_t count, const tmaring_call *call);
/* Once the context is entered. */
void tmaring__op_request_hash(tmaring__op_request *request);
/* What a plan's own checks do not say in the words of a call: types of the catalogue, addresses that are no multiple of
 * the element size. ERROR_TYPE, ERROR_ALIGNMENT. */
tmaring_status tmaring__op_request_check(const tmaring__op_request *request);

int tmaring__op_key_same(const tmaring__op_key *a, const tmaring__op_key *b);

#endif
