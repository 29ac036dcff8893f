/* Words for the numbers of plans and options: one table each, for reading and for printing. */
#ifndef TMARING_HOST_WORDS_H
#define TMARING_HOST_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "tmaring/formula.h"

typedef struct tmaring__word {
  const char *text; /* NULL ends a table */
  int32_t value;
} tmaring__word;

extern const tmaring__word tmaring__words_mode[]; /* values: tmaring_mode; the axis has a table of its own */
extern const tmaring__word tmaring__words_axis[];
extern const tmaring__word tmaring__words_war[];
extern const tmaring__word tmaring__words_policy[];
extern const tmaring__word tmaring__words_order[];
extern const tmaring__word tmaring__words_scope[];
extern const tmaring__word tmaring__words_store[];
extern const tmaring__word tmaring__words_load[];
extern const tmaring__word tmaring__words_turns[];
extern const tmaring__word tmaring__words_release[];
extern const tmaring__word tmaring__words_type[];
extern const tmaring__word tmaring__words_backend[];
extern const tmaring__word tmaring__words_machine[];
extern const tmaring__word tmaring__words_shape[];

#define TMARING__BACKEND_AUTO   (-1)
#define TMARING__MACHINE_H200   0
#define TMARING__MACHINE_DEVICE 1

/* Word of a value; "?" for one that is not in the table. */
const char *tmaring__word_text(const tmaring__word *words, int32_t value);
/* "[M,N]", "[M,N/128]". */
const char *tmaring__shape_word(const tmaring_parameter *parameter, char out[24]);
/* Value of a word: 1 when found. `length` characters of text. */
int tmaring__word_find(const tmaring__word *words, const char *text, size_t length, int32_t *value);
/* "a, b or c" into out, cut where it does not fit. */
void tmaring__word_list(const tmaring__word *words, char *out, size_t capacity);

#endif
