/* The nodes of a program while it is made: equal nodes are one, operations among constants are done. */
#ifndef TMARING_HOST_NODE_TABLE_H
#define TMARING_HOST_NODE_TABLE_H

#include "program.h"

/* The owner gives room for every node that may be made. */
typedef struct tmaring__node_table {
  tmaring__node *node;
  int32_t *origin; /* place of each in the text */
  int32_t count;
} tmaring__node_table;

/* Each gives the number of the node it asks for, made now or before. */
int32_t tmaring__node_leaf(tmaring__node_table *table, tmaring__op op, int32_t index, double value, int32_t origin);
int32_t tmaring__node_operation(tmaring__node_table *table, tmaring__op op, const int32_t arg[3], int32_t origin);
int32_t tmaring__node_unary(tmaring__node_table *table, tmaring__op op, int32_t a, int32_t origin);
int32_t tmaring__node_binary(tmaring__node_table *table, tmaring__op op, int32_t a, int32_t b, int32_t origin);
/* With an index besides its operand: casts and groups. */
int32_t tmaring__node_indexed(tmaring__node_table *table, tmaring__op op, int32_t a, int32_t index, int32_t origin);

#endif
