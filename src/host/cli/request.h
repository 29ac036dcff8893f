/* The command line, read: one struct for all commands. */
#ifndef TMARING_HOST_REQUEST_H
#define TMARING_HOST_REQUEST_H

#include "../plan/plan_state.h"
#include "message.h"
#include "words.h"

/* Commands, as a set: which options belong to which. */
#define TMARING__FOR_RUN   1u
#define TMARING__FOR_PLAN  2u
#define TMARING__FOR_CHECK 4u
#define TMARING__FOR_BENCH 8u
#define TMARING__FOR_INFO  16u
#define TMARING__FOR_EMIT  32u
#define TMARING__FOR_OPS   64u

#define TMARING__MAX_NAME 64

/* NAME=FILE[:TYPE], NAME=FILE.safetensors:TENSOR, or NAME=TYPE and attributes; what is not said is 0. */
typedef struct tmaring__binding {
  char name[TMARING__MAX_NAME];
  char *path; /* owned by the request; NULL where there is no file */
  int is_safetensors;
  char *tensor;                    /* of a .safetensors file; owned; NULL: none named */
  int32_t type;                    /* tmaring_dtype, or -1: not said */
  int64_t pitch, step;             /* elements */
  int64_t group_rows, group_pitch; /* rows, elements */
  uint32_t alignment;              /* bytes */
} tmaring__binding;

typedef struct tmaring__named_value {
  char name[TMARING__MAX_NAME];
  double value;
} tmaring__named_value;

typedef struct tmaring__named_path {
  char name[TMARING__MAX_NAME];
  int32_t path; /* tmaring_load_path */
} tmaring__named_path;

typedef struct tmaring__request {
  const char *command; /* "run" */
  unsigned bit;        /* TMARING__FOR_RUN */
  const char *formula; /* of argv, or of the catalogue */
  int32_t op;          /* in the catalogue; -1: not said */
  int32_t in_count, out_count, tensor_count, scalar_count;
  tmaring__binding in[TMARING__MAX_TENSORS], out[TMARING__MAX_TENSORS], tensor[TMARING__MAX_TENSORS];
  tmaring__named_value scalar[TMARING_MAX_SCALARS];
  int32_t has_shape;
  int64_t rows, cols;
  int32_t type; /* of tensors that no --tensor names */
  int32_t machine, sm_count;
  int32_t backend;
  int32_t repetitions;
  int32_t json, explain, verify, help;
  int32_t load_count;
  tmaring__named_path load[TMARING__MAX_TENSORS]; /* --load NAME=PATH */
  double relative, absolute;                      /* --rtol, --atol; negative: derived */
  tmaring_plan_options plan;
} tmaring__request;

/* Reads argv after the command's name. 0, or an exit code after a message. tmaring__request_free in either case. */
int tmaring__request_parse(tmaring__request *request, const char *command, unsigned bit, int argc, char **argv);
void tmaring__request_free(tmaring__request *request);

/* Prints a command's options, from the same table that they are read with. */
void tmaring__request_print_options(unsigned bit);

#endif
