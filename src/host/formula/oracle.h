/* The oracle: the syntax tree in double. It knows nothing of the lowered program, not even its levels. Its driver, rows
 * and sweeps over them, is oracle.c; values of nodes are oracle_values.c. */
#ifndef TMARING_HOST_ORACLE_H
#define TMARING_HOST_ORACLE_H

#include "formula_state.h"

/* Columns evaluated together: one dispatch per node and chunk, and every row length in the same memory. */
enum { TMARING__ORACLE_CHUNK = 128 };

typedef struct tmaring__oracle {
  const tmaring_formula *formula;
  int64_t rows, cols;
  double *const *data;
  const double *scalars;
  const tmaring_dtype *dtypes; /* may be NULL */
  double *value;               /* a chunk per node; the first one holds what is the same for the whole row */
  double **group;              /* per node: the values of a row's groups, for reductions of groups; else NULL */
  double **held;       /* per tensor: outputs that are written when the row is over, [M,N/k], or all rows, [N] */
  int32_t *stands_for; /* the node whose value a node has: itself, or the expression of an assigned name */
  int32_t *level;      /* sweeps over the row that must be over before a node has a value */
  char *swept;         /* [sweep * nodes + node]: evaluated column by column in this sweep */
  int32_t sweeps;
} tmaring__oracle;

/* A run of columns of a row. */
typedef struct tmaring__oracle_span {
  int64_t row, col;
  int32_t count;
} tmaring__oracle_span;

const tmaring__syntax_node *tmaring__oracle_node(const tmaring__oracle *o, int32_t node);
/* 1 if the node has a value per column. */
int tmaring__oracle_varies(const tmaring__oracle *o, int32_t node);
double *tmaring__oracle_value(const tmaring__oracle *o, int32_t node);
/* Number of a node's groups in a row. */
int64_t tmaring__oracle_groups(const tmaring__oracle *o, int32_t group_cols);

/* Values of a node from those of its operands: of a span, or the row's or launch's one value. */
void tmaring__oracle_evaluate(const tmaring__oracle *o, int32_t node, const tmaring__oracle_span *span);

/* Row and group reductions: before a sweep, with every span, after it. */
void tmaring__oracle_reduction_start(const tmaring__oracle *o, int32_t node);
void tmaring__oracle_reduction_add(const tmaring__oracle *o, int32_t node, const tmaring__oracle_span *span);
void tmaring__oracle_reduction_end(const tmaring__oracle *o, int32_t node);

/* What a reduction of this kind, of rows, groups or columns, starts from, and how it takes one more value. */
double tmaring__oracle_identity(tmaring__syntax kind);
double tmaring__oracle_join(tmaring__syntax kind, double total, double value);

#endif
