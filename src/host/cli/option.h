/* One option of the command line: how its value is read, where it goes, and what --help says of it. */
#ifndef TMARING_HOST_OPTION_H
#define TMARING_HOST_OPTION_H

#include <stddef.h>

#include "request.h"

typedef struct tmaring__option tmaring__option;

/* Reads text into the request. 0, or an exit code after a message. */
typedef int (*tmaring__option_reader)(tmaring__request *request, const tmaring__option *option, const char *text);

struct tmaring__option {
  const char *name;
  const char *value; /* as --help shows it; NULL: a flag */
  unsigned commands; /* TMARING__FOR_... */
  tmaring__option_reader read;
  size_t field;               /* offset of the field in tmaring__request */
  const tmaring__word *words; /* of a word */
  int64_t low, high;          /* of a number */
  const char *help;
};

int tmaring__read_flag(tmaring__request *request, const tmaring__option *option, const char *text);
int tmaring__read_word(tmaring__request *request, const tmaring__option *option, const char *text);
/* An int32 in [low, high]. */
int tmaring__read_number(tmaring__request *request, const tmaring__option *option, const char *text);
/* A double >= 0. */
int tmaring__read_real(tmaring__request *request, const tmaring__option *option, const char *text);
int tmaring__read_mode(tmaring__request *request, const tmaring__option *option, const char *text);
/* M,N */
int tmaring__read_shape(tmaring__request *request, const tmaring__option *option, const char *text);
/* Numbers apart by commas into int32 fields: three for consumers (missing ones are 1), two for registers. */
int tmaring__read_consumers(tmaring__request *request, const tmaring__option *option, const char *text);
int tmaring__read_registers(tmaring__request *request, const tmaring__option *option, const char *text);

/* A name of the catalogue: sets the formula too. */
int tmaring__read_op(tmaring__request *request, const tmaring__option *option, const char *text);
int tmaring__read_in(tmaring__request *request, const tmaring__option *option, const char *text);
int tmaring__read_out(tmaring__request *request, const tmaring__option *option, const char *text);
int tmaring__read_tensor(tmaring__request *request, const tmaring__option *option, const char *text);
/* PATH of all inputs, or NAME=PATH of one. */
int tmaring__read_load(tmaring__request *request, const tmaring__option *option, const char *text);
int tmaring__read_scalar(tmaring__request *request, const tmaring__option *option, const char *text);

/* An integer in [low, high] that ends at `end`: 1 when it is one. */
int tmaring__integer(const char *begin, const char *end, int64_t low, int64_t high, int64_t *value);

#endif
