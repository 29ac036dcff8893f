/* The names of a formula. */
#ifndef TMARING_HOST_SYMBOL_TABLE_H
#define TMARING_HOST_SYMBOL_TABLE_H

#include "formula_state.h"

/* Index of a symbol; -1 if there is none. */
int32_t tmaring__symbol_find(const tmaring_formula *formula, const tmaring__word *word);

/* Adds a parameter. ERROR_CAPACITY past the limits of abi/args.h. */
tmaring_status tmaring__symbol_add_parameter(tmaring_formula *formula, const tmaring__word *word, tmaring__dims dims,
                                             int32_t *symbol);
/* Adds the name of a statement whose nodes are typed. ERROR_SYNTAX if the name is taken. */
tmaring_status tmaring__symbol_add_assigned(tmaring_formula *formula, const tmaring__statement *statement);
/* The parameters of the header. ERROR_SYNTAX for a name that comes twice. */
tmaring_status tmaring__symbol_add_declared(tmaring_formula *formula);

/* The symbol that a node's word stands for, made where a formula without header first uses it. ERROR_SYNTAX for a name
 * that the header does not declare and for one that is reduced over the rows, ERROR_SHAPE where the node says another
 * shape than the symbol has. */
tmaring_status tmaring__symbol_resolve(tmaring_formula *formula, tmaring__syntax_node *node);

#endif
