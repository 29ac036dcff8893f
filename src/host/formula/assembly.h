/* Nodes to program: what no output needs is left out, passes are counted, outputs are entered. */
#ifndef TMARING_HOST_ASSEMBLY_H
#define TMARING_HOST_ASSEMBLY_H

#include "formula_state.h"
#include "node_table.h"

/* Fills formula->program. `lowered` gives the node of every syntax node. Errors: CAPACITY, MEMORY. */
tmaring_status tmaring__assembly_run(tmaring_formula *formula, const tmaring__node_table *table,
                                     const int32_t *lowered);

#endif
