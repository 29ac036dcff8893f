/* The functions a formula may call. */
#ifndef TMARING_HOST_FUNCTION_TABLE_H
#define TMARING_HOST_FUNCTION_TABLE_H

#include "syntax.h"

#define TMARING__MAX_OPERANDS 3

/* 1 if the word is the name of a function. */
int tmaring__function_exists(const tmaring__word *name);

/* What a function's name means, whatever its operands: the kind of its first entry; TMARING__SYNTAX_COUNT if there is
 * no such function. */
tmaring__syntax tmaring__function_kind(const tmaring__word *name);

/* What a call of `name` with `operands` operands means. ERROR_SYNTAX, with the place, for an unknown name (and the one
 * that may have been meant) or another number of operands. */
tmaring_status tmaring__function_find(const tmaring__source *source, const tmaring__word *name, int32_t operands,
                                      tmaring__syntax *kind);

#endif
