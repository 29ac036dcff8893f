#include "emit_rows.h"
#include "emit_loop.h"

#include <string.h>

#define ADD(...) tmaring__text_add(m->out, __VA_ARGS__)

/* ---- layout ---- */

static int is_launch_value(const tmaring__emitter *m, const tmaring__node *n)
{
  if (n->per_col || tmaring__op_reduces(n->op)) return 0;
  if (n->op == TMARING__OP_ROWS || tmaring__is_literal(n)) return 1;
  for (int32_t k = 0; k < tmaring__op_operands(n->op); ++k) {
    if (!m->rows.launch[n->arg[k]]) return 0;
  }
  return tmaring__op_operands(n->op) > 0;
}

/* Divisors of elements, whose reciprocal is made once. */
static void find_divisors(tmaring__emitter *m)
{
  const tmaring__program *p = m->program;
  const unsigned char none[TMARING__MAX_NODES] = {0};
  for (int32_t i = 0; i < p->node_count; ++i) {
    if (p->node[i].op == TMARING__OP_DIV && !p->node[p->node[i].arg[1]].per_col &&
        tmaring__is_shared_quotient(m->spec, &p->node[i], none))
      m->rows.divides[p->node[i].arg[1]] = 1;
  }
}

/* p - p reads p twice; results stand by themselves. */
static void find_uses(tmaring__emitter *m)
{
  const tmaring__program *p = m->program;
  memset(m->uses, 0, sizeof m->uses);
  memset(m->reader, -1, sizeof m->reader);
  for (int32_t i = 0; i < p->node_count; ++i) {
    for (int32_t k = 0; k < tmaring__op_operands(p->node[i].op); ++k) {
      m->uses[p->node[i].arg[k]] += 1;
      m->reader[p->node[i].arg[k]] = i;
    }
  }
  for (int32_t i = 0; i < p->output_count; ++i) m->uses[p->output[i]] += 1;
  for (int32_t i = 0; i < p->row_output_count; ++i) m->uses[p->row_output[i]] += 1;
  for (int32_t i = 0; i < p->group_output_count; ++i) m->uses[p->group_output[i]] += 1;
  for (int32_t i = 0; i < p->column_output_count; ++i) m->uses[p->column_output[i].node] += 1;
}

/* A node with one reader, evaluated at the same time, becomes part of its expression. */
static void inline_values(tmaring__emitter *m)
{
  const tmaring__program *p = m->program;
  unsigned char size[TMARING__MAX_NODES];
  memset(size, 1, sizeof size);
  for (int32_t i = 0; i < p->node_count; ++i) {
    const tmaring__node *n = &p->node[i];
    if (n->per_col || tmaring__op_operands(n->op) == 0 || tmaring__op_reduces(n->op)) continue;
    for (int32_t k = 0; k < tmaring__op_operands(n->op); ++k) {
      if (m->rows.inlined[n->arg[k]]) size[i] = (unsigned char)(size[i] + size[n->arg[k]]);
    }
    if (m->uses[i] != 1 || m->reader[i] < 0) continue;
    const tmaring__node *reader = &p->node[m->reader[i]];
    m->rows.inlined[i] = !m->rows.divides[i] && size[i] < TMARING__INLINED_MOST && !reader->per_col &&
                         !tmaring__op_reduces(reader->op) && reader->level == n->level &&
                         m->rows.launch[i] == m->rows.launch[m->reader[i]];
  }
}

void tmaring__rows_plan(tmaring__emitter *m)
{
  for (int32_t i = 0; i < m->program->node_count; ++i)
    m->rows.launch[i] = (unsigned char)is_launch_value(m, &m->program->node[i]);
  find_uses(m);
  find_divisors(m);
  inline_values(m);
}

/* ---- text ---- */

static void emit_member(const tmaring__emitter *m, int32_t node)
{
  const tmaring__node *n = &m->program->node[node];
  const char *operation = tmaring__emit_operation(n->op);
  if (*operation && tmaring__is_joined_in(m->program, node, n->level - 1))
    ADD("  %s::state q%d; // on the way to r%d\n", operation, (int)node, (int)node);
  if (!tmaring__is_literal(n)) {
    ADD("  real r%d; // %s", (int)node, tmaring__op_text(n->op));
    if (n->op == TMARING__OP_ROW_SCALAR) ADD(" %s", tmaring__emit_name(m, TMARING__SLOT_ROW_SCALAR, n->index));
    ADD("\n");
  }
  if (m->rows.divides[node]) ADD("  tmaring_divisor<real> d%d; // the same as divisor\n", (int)node);
}

void tmaring__emit_row_members(const tmaring__emitter *m)
{
  for (int32_t i = 0; i < m->program->node_count; ++i) {
    if (!m->program->node[i].per_col && !m->rows.inlined[i]) emit_member(m, i);
  }
}

static void emit_right_side(const tmaring__emitter *m, int32_t node)
{
  const tmaring__node *n = &m->program->node[node];
  if (n->op == TMARING__OP_ROW_SCALAR) {
    ADD("s.active ? tmaring_load_value<%s, real>(&e->args->row_scalar[%d], fill->row + s.row) : (real)0",
        tmaring__emit_dtype(m->spec->row_scalar[n->index]), (int)n->index);
  } else if (n->op == TMARING__OP_ROW) {
    ADD("(real)(fill->row + s.row)");
  } else if (n->op == TMARING__OP_ROWS) {
    ADD("(real)e->walk.rows");
  } else {
    tmaring__emit_expression(m, NULL, node);
  }
}

static void emit_divisor(const tmaring__emitter *m, int32_t node, const char *indent)
{
  if (!m->rows.divides[node]) return;
  ADD("%sd%d = tmaring_divisor_of(", indent, (int)node);
  tmaring__emit_value(m, NULL, node);
  ADD(");\n");
}

static void emit_value(const tmaring__emitter *m, int32_t node, const char *indent)
{
  const tmaring__node *n = &m->program->node[node];
  if (!tmaring__is_literal(n) && !tmaring__op_reduces(n->op)) {
    ADD("%sr%d = ", indent, (int)node);
    emit_right_side(m, node);
    ADD(";\n");
  }
  emit_divisor(m, node, indent);
}

void tmaring__emit_launch_values(const tmaring__emitter *m)
{
  for (int32_t i = 0; i < m->program->node_count; ++i) {
    if (m->rows.launch[i] && !m->rows.inlined[i]) emit_value(m, i, "    ");
  }
}

void tmaring__emit_row_values(const tmaring__emitter *m, int32_t level, const char *indent)
{
  for (int32_t i = 0; i < m->program->node_count; ++i) {
    const tmaring__node *n = &m->program->node[i];
    if (!n->per_col && n->level == level && !m->rows.launch[i] && !m->rows.inlined[i]) emit_value(m, i, indent);
  }
}
