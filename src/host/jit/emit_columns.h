/* Parts of the emitter: reductions over the rows. */
#ifndef TMARING_HOST_EMIT_COLUMNS_H
#define TMARING_HOST_EMIT_COLUMNS_H

#include "emit_expression.h"

/* Members: the accumulators, or where they are. */
void tmaring__emit_column_members(const tmaring__emitter *m);
/* The members columns_begin and columns_end. */
void tmaring__emit_columns(const tmaring__emitter *m);
/* The kernel that joins partial results. */
void tmaring__emit_columns_kernel(const tmaring__emitter *m);

#endif
