/* Parts of the emitter: values per row. */
#ifndef TMARING_HOST_EMIT_ROWS_H
#define TMARING_HOST_EMIT_ROWS_H

#include "emit_expression.h"

/* Finds uses and readers, the launch's values, what is inlined, and the divisors; m->spec must be set. */
void tmaring__rows_plan(tmaring__emitter *m);

/* Their members. */
void tmaring__emit_row_members(const tmaring__emitter *m);
/* Statements: values that are the same for all rows; those of one level, in order. */
void tmaring__emit_launch_values(const tmaring__emitter *m);
void tmaring__emit_row_values(const tmaring__emitter *m, int32_t level, const char *indent);

#endif
