#include "emit_loop.h"

#define ADD(...) tmaring__text_add(m->out, __VA_ARGS__)

typedef struct step {
  const tmaring__emitter *m;
  const tmaring__loop *loop;
  int results; /* outputs are made */
} step;

static int is_literal_leaf(tmaring__op op)
{
  return tmaring__op_streams(op) || op == TMARING__OP_VECTOR || op == TMARING__OP_COL;
}

/* ---- loads ---- */

static void emit_stream_load(const tmaring__emitter *m, const tmaring__loop *loop, int32_t index)
{
  const tmaring__program *p = m->program;
  const char *dtype = tmaring__emit_dtype(m->spec->input[index]);
  const char *space = m->spec->code.load[index] == TMARING_LOAD_DIRECT ? "GLOBAL" : "SHARED";
  int plain = 0, pairs = 0;
  for (int32_t i = 0; i < p->node_count; ++i) {
    if (!loop->has[i] || p->node[i].index != index) continue;
    plain |= p->node[i].op == TMARING__OP_INPUT;
    pairs |= p->node[i].op == TMARING__OP_INPUT_EVEN || p->node[i].op == TMARING__OP_INPUT_ODD;
  }
  if (plain) {
    ADD("    real x%d[kVec];\n    tmaring_load<%s, kVec, WHOLE, TMARING_%s>(x%d, at.x[%d], c, s.n);\n", (int)index,
        dtype, space, (int)index, (int)index);
  } else if (pairs) {
    ADD("    real x%d[kVec], z%d[kVec];\n    tmaring_load_pairs<%s, kVec, WHOLE, TMARING_%s>(x%d, z%d, at.x[%d], "
        "c, s.n);\n",
        (int)index, (int)index, dtype, space, (int)index, (int)index, (int)index);
  }
}

static void emit_vector_load(const tmaring__emitter *m, int32_t index)
{
  const int32_t staged = m->spec->vectors_staged;
  const char *home = staged == 1 ? "SHARED" : staged == 0 ? "GLOBAL" : "ASK";
  const char *whole = staged == 0 && !m->spec->vector_aligned[index] ? "false" : "WHOLE && !kEdges";
  ADD("    real w%d[kVec];\n    tmaring_load_vector<%s, kVec, %s, TMARING_HOME_%s>(e, w%d, %d, fill->col + c);\n",
      (int)index, tmaring__emit_dtype(m->spec->vector[index]), whole, home, (int)index, (int)index);
}

static void emit_loads(const step *t)
{
  const tmaring__emitter *m = t->m;
  const tmaring__program *p = m->program;
  int col = 0;
  for (int32_t i = 0; i < p->input_count; ++i) emit_stream_load(m, t->loop, i);
  for (int32_t i = 0; i < p->node_count; ++i) {
    const tmaring__node *n = &p->node[i];
    if (!t->loop->has[i]) continue;
    col |= n->op == TMARING__OP_COL;
    if (n->op != TMARING__OP_VECTOR) continue;
    emit_vector_load(m, n->index);
  }
  if (col) ADD("    const real col = (real)(fill->col + c);\n");
}

/* ---- a segment ---- */

/* Value of the group of columns that the vector lies in. */
static void emit_group_scale(const tmaring__emitter *m, const tmaring__node *n)
{
  ADD("WHOLE || c < s.n ? "
      "tmaring_load_group<%s, %d, real>(&e->args->group_input[%d], at.group_in[%d], fill->col + c) : (real)0",
      tmaring__emit_dtype(m->spec->group_input[n->index]), (int)m->program->group_input_cols[n->index], (int)n->index,
      (int)n->index);
}

static void emit_definition(const step *t, int32_t node, const char *indent)
{
  const tmaring__emitter *m = t->m;
  const tmaring__node *n = &m->program->node[node];
  ADD(t->loop->kept[node] ? "%se%d[v] = " : "%sconst real e%d = ", indent, (int)node);
  if (n->op == TMARING__OP_GROUP_SCALE) {
    emit_group_scale(m, n);
  } else {
    tmaring__emit_expression(m, t->loop, node);
  }
  ADD(";\n");
}

/* What is the same for all elements of the vector, and the arrays of this segment. */
static void emit_head(const step *t, int32_t segment)
{
  const tmaring__emitter *m = t->m;
  const tmaring__loop *loop = t->loop;
  for (int32_t i = 0; i < m->program->node_count; ++i) {
    const tmaring__node *n = &m->program->node[i];
    if (!loop->has[i] || loop->segment[i] != segment || is_literal_leaf(n->op)) continue;
    if (loop->joint[i]) ADD("    real t%d[kVec];\n", (int)i);
    if (loop->kept[i]) ADD("    real e%d[kVec];\n", (int)i);
    if (loop->uniform[i] && !loop->joint[i] && !loop->inlined[i]) emit_definition(t, i, "    ");
  }
}

/* Operand of a joint; for a group what lies outside the row is left out. */
static void emit_joint_term(const step *t, int32_t node)
{
  const tmaring__emitter *m = t->m;
  const tmaring__node *n = &m->program->node[node];
  ADD("      t%d[v] = ", (int)node);
  if (!tmaring__op_groups(n->op)) {
    tmaring__emit_value(m, t->loop, n->arg[0]);
  } else {
    ADD("in ? ");
    tmaring__emit_operand(m, t->loop, n->arg[0]);
    ADD(" : %s::missing()", tmaring__emit_operation(n->op));
  }
  ADD(";\n");
}

static void emit_elements(const step *t, int32_t segment)
{
  const tmaring__program *p = t->m->program;
  const tmaring__loop *loop = t->loop;
  for (int32_t i = 0; i < p->node_count; ++i) {
    if (!loop->has[i] || loop->segment[i] != segment || is_literal_leaf(p->node[i].op)) continue;
    if (loop->joint[i]) {
      emit_joint_term(t, i);
    } else if (!loop->uniform[i] && !loop->inlined[i]) {
      emit_definition(t, i, "      ");
    }
  }
}

static void emit_joints(const step *t, int32_t segment)
{
  const tmaring__emitter *m = t->m;
  for (int32_t i = 0; i < m->program->node_count; ++i) {
    const tmaring__node *n = &m->program->node[i];
    if (!t->loop->has[i] || t->loop->segment[i] != segment || !t->loop->joint[i]) continue;
    if (tmaring__op_groups(n->op)) {
      ADD("    const real e%d = tmaring_join_group<%s, kVec, %d>(e, t%d);\n", (int)i, tmaring__emit_operation(n->op),
          (int)n->index, (int)i);
    } else if (m->program->node[n->arg[1]].per_col) {
      ADD("    tmaring_divide<kVec>(e%d, t%d, tmaring_divisor_of(", (int)i, (int)i);
      tmaring__emit_value(m, t->loop, n->arg[1]);
      ADD("));\n");
    } else {
      ADD("    tmaring_divide<kVec>(e%d, t%d, d%d);\n", (int)i, (int)i, (int)n->arg[1]);
    }
  }
}

/* ---- results ---- */

static int is_term(const step *t, int32_t node)
{
  return tmaring__is_joined_in(t->m->program, node, t->loop->pass);
}

static void emit_result_arrays(const step *t)
{
  const tmaring__emitter *m = t->m;
  const tmaring__program *p = m->program;
  for (int32_t i = 0; i < p->node_count; ++i) {
    if (is_term(t, i)) ADD("    real t%d[kVec];\n", (int)i);
  }
  for (int32_t i = 0; t->results && i < p->output_count; ++i) ADD("    real y%d[kVec];\n", (int)i);
  for (int32_t i = 0; t->results && i < p->column_output_count; ++i) ADD("    real k%d[kVec];\n", (int)i);
}

static void emit_masked(const step *t, const char *name, int32_t number, int32_t node, tmaring__op op)
{
  const tmaring__emitter *m = t->m;
  ADD("      %s%d[v] = in ? ", name, (int)number);
  tmaring__emit_operand(m, t->loop, node);
  ADD(" : %s::missing();\n", tmaring__emit_operation(op));
}

static void emit_plain(const step *t, const char *name, int32_t number, int32_t node)
{
  const tmaring__emitter *m = t->m;
  ADD("      %s%d[v] = ", name, (int)number);
  tmaring__emit_value(m, t->loop, node);
  ADD(";\n");
}

static void emit_element_results(const step *t)
{
  const tmaring__program *p = t->m->program;
  for (int32_t i = 0; i < p->node_count; ++i) {
    if (is_term(t, i)) emit_masked(t, "t", i, p->node[i].arg[0], p->node[i].op);
  }
  for (int32_t i = 0; t->results && i < p->output_count; ++i) emit_plain(t, "y", i, p->output[i]);
  for (int32_t i = 0; t->results && i < p->column_output_count; ++i)
    emit_masked(t, "k", i, p->column_output[i].node, (tmaring__op)p->column_output[i].op);
}

/* Stored by the lane that holds the group's first column; the same for the whole vector. */
static void emit_group_output(const step *t, int32_t output)
{
  const tmaring__emitter *m = t->m;
  const int32_t cols = m->program->group_output_cols[output];
  ADD("    if ((WHOLE || c < s.n) && (fill->col + c) %% %d == 0)\n"
      "      tmaring_store_group<%s, %d, real>(&e->args->group_output[%d], at.group_out[%d], fill->col + c, ",
      (int)cols, tmaring__emit_dtype(m->spec->group_output[output]), (int)cols, (int)output, (int)output);
  tmaring__emit_value(m, t->loop, m->program->group_output[output]);
  ADD(");\n");
}

static void emit_output(const step *t, int32_t output)
{
  const tmaring__emitter *m = t->m;
  const int staged = m->spec->code.staged;
  ADD("    tmaring_store<%s, kVec, WHOLE, %s>(at.y[%d], y%d, c, s.n);\n", tmaring__emit_dtype(m->spec->output[output]),
      staged ? "TMARING_SHARED" : "TMARING_GLOBAL", (int)output, (int)output);
}

/* Into the accumulators: in registers also what is missing, so that no lane is apart. */
static void emit_column_take(const step *t, int32_t output)
{
  const tmaring__emitter *m = t->m;
  const char *operation = tmaring__emit_operation((tmaring__op)m->program->column_output[output].op);
  if (m->spec->held_steps > 0) {
    ADD("    tmaring_held_take<%s>(a%d[k], k%d);\n", operation, (int)output, (int)output);
  } else {
    ADD("    if (WHOLE || c < s.n) tmaring_columns_take<%s, kVec>(e, c%d, k%d, fill->col + c);\n", operation,
        (int)output, (int)output);
  }
}

static void emit_vector_results(const step *t)
{
  const tmaring__emitter *m = t->m;
  const tmaring__program *p = m->program;
  for (int32_t i = 0; i < p->node_count; ++i) {
    if (!is_term(t, i)) continue;
    ADD("    %s::template take<kVec>(&q%d, t%d, fill->col, c, s.n);\n", tmaring__emit_operation(p->node[i].op), (int)i,
        (int)i);
  }
  for (int32_t i = 0; t->results && i < p->output_count; ++i) emit_output(t, i);
  for (int32_t i = 0; t->results && i < p->group_output_count; ++i) emit_group_output(t, i);
  for (int32_t i = 0; t->results && i < p->column_output_count; ++i) emit_column_take(t, i);
}

/* 1 where a segment asks of elements whether they lie in the row. */
static int asks_inside(const step *t, int32_t segment)
{
  const tmaring__program *p = t->m->program;
  int asks = 0;
  for (int32_t i = 0; i < p->node_count; ++i) {
    const int here = t->loop->has[i] && t->loop->segment[i] == segment;
    asks |= here && tmaring__op_groups(p->node[i].op);
    asks |= segment == t->loop->segments - 1 && is_term(t, i);
  }
  return asks || (segment == t->loop->segments - 1 && t->results && p->column_output_count > 0);
}

static void emit_segment(const step *t, int32_t segment)
{
  const tmaring__emitter *m = t->m;
  const int last = segment == t->loop->segments - 1;
  emit_head(t, segment);
  if (last) emit_result_arrays(t);
  ADD("#pragma unroll\n    for (int v = 0; v < kVec; ++v) {\n");
  if (asks_inside(t, segment)) ADD("      const bool in = WHOLE || (c + v >= 0 && c + v < s.n);\n");
  emit_elements(t, segment);
  if (last) emit_element_results(t);
  ADD("    }\n");
  emit_joints(t, segment);
}

void tmaring__emit_step(const tmaring__emitter *m, const tmaring__loop *loop)
{
  const step t = {m, loop, tmaring__is_output_pass(m->program, loop->pass)};
  ADD("\n  /* One vector of pass %d. */\n  template <bool WHOLE, class E>\n"
      "  __device__ __forceinline__ void step%d(E *e, const tmaring_fill *fill, const tmaring_span &s,\n"
      "                                        const tmaring_places &at, tmaring_index i%s)\n  {\n"
      "    const tmaring_index c = i * kVec - s.phase;\n",
      (int)loop->pass, (int)loop->pass, tmaring__loop_holds(m->spec, loop) ? ", int k" : "");
  emit_loads(&t);
  for (int32_t segment = 0; segment < loop->segments; ++segment) emit_segment(&t, segment);
  emit_vector_results(&t);
  ADD("  }\n");
}
