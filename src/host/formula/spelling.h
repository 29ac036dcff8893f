/* "Did you mean": which known name a misspelt one is close to. */
#ifndef TMARING_HOST_SPELLING_H
#define TMARING_HOST_SPELLING_H

#include <stdint.h>

/* 1 if `known` is likely what was meant by the `length` bytes at `name`: one slip (a letter too many, too few, another,
 * or two swapped) in names of up to four letters, two in longer ones. Case is ignored. */
int tmaring__spelling_close(const char *name, int32_t length, const char *known);

#endif
