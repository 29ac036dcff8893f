/* Text to syntax tree. The grammar is in docs/formulas.md. */
#ifndef TMARING_HOST_PARSER_H
#define TMARING_HOST_PARSER_H

#include "syntax.h"

/* Fills a zeroed tree; node and statement are allocated, also on failure, and tmaring__syntax_tree_free releases them.
 * The tree points into source->text. Errors: SYNTAX, TYPE (a number beyond double, a
 * type that nothing is cast to), SHAPE (a group that is no power of two), CAPACITY, MEMORY. */
tmaring_status tmaring__parser_run(const tmaring__source *source, tmaring__syntax_tree *tree);
void tmaring__syntax_tree_free(tmaring__syntax_tree *tree);

#endif
