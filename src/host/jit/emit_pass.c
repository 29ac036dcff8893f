#include "emit_loop.h"
#include "emit_rows.h"

#define ADD(...) tmaring__text_add(m->out, __VA_ARGS__)

static void emit_starts(const tmaring__emitter *m, int32_t pass)
{
  const tmaring__program *p = m->program;
  for (int32_t i = 0; i < p->node_count; ++i) {
    const tmaring__node *n = &p->node[i];
    if (n->op == TMARING__OP_GATHER && tmaring__is_reduced_in(n, pass))
      ADD("        r%d = tmaring_nan<real>();\n", (int)i);
    if (tmaring__is_joined_in(p, i, pass))
      ADD("        q%d = %s::identity();\n", (int)i, tmaring__emit_operation(n->op));
  }
}

/* What starts with a row, where anything does. */
static void emit_row_start(const tmaring__emitter *m, int32_t pass)
{
  tmaring__text text = {0};
  tmaring__emitter inner = *m;
  inner.out = &text;
  if (pass == 0) tmaring__emit_row_values(&inner, 0, "        ");
  emit_starts(&inner, pass);
  if (text.length > 0) ADD("      if (fill->first_piece) {\n%s      }\n", text.data);
  m->out->failed |= text.failed;
  tmaring__text_free(&text);
}

static void emit_gathers(const tmaring__emitter *m, int32_t pass)
{
  const tmaring__program *p = m->program;
  for (int32_t i = 0; i < p->node_count; ++i) {
    const tmaring__node *n = &p->node[i];
    if (n->op != TMARING__OP_GATHER || !tmaring__is_reduced_in(n, pass)) continue;
    const int32_t input = p->node[n->arg[0]].index;
    ADD("      r%d = tmaring_gather<%s, real>(e, &e->view.input[%d], fill, stage, s, ", (int)i,
        tmaring__emit_dtype(m->spec->input[input]), (int)input);
    tmaring__emit_value(m, NULL, n->arg[1]);
    ADD(", r%d);\n", (int)i);
  }
}

static int reads_stream(const tmaring__emitter *m, const tmaring__loop *loop, int32_t index)
{
  int reads = 0;
  for (int32_t i = 0; i < m->program->node_count; ++i) {
    const tmaring__node *n = &m->program->node[i];
    reads |= loop->has[i] && n->index == index && tmaring__op_streams(n->op);
  }
  return reads;
}

static void emit_stream_places(const tmaring__emitter *m, const tmaring__loop *loop)
{
  const tmaring__program *p = m->program;
  for (int32_t i = 0; i < p->input_count; ++i) {
    if (!reads_stream(m, loop, i)) continue;
    ADD("      at.x[%d] = ", (int)i);
    ADD(m->spec->code.load[i] == TMARING_LOAD_DIRECT ? "tmaring_row_global(&e->view.input[%d], fill, s);"
                                                     : "tmaring_row_staged(e, &e->view.input[%d], fill, stage, s);",
        (int)i);
    ADD("%s%s\n", m->spec->names ? " // " : "", tmaring__emit_name(m, TMARING__SLOT_INPUT, i));
  }
  for (int32_t i = 0; tmaring__is_output_pass(p, loop->pass) && i < p->output_count; ++i) {
    ADD("      at.y[%d] = ", (int)i);
    ADD(m->spec->code.staged ? "tmaring_row_staged(e, &e->view.output[%d], fill, stage, s);"
                             : "tmaring_row_global(&e->view.output[%d], fill, s);",
        (int)i);
    ADD("%s%s\n", m->spec->names ? " // " : "", tmaring__emit_name(m, TMARING__SLOT_OUTPUT, i));
  }
}

static void emit_group_place(const tmaring__emitter *m, const char *place, const char *tensor, tmaring__slot_kind kind,
                             int32_t i)
{
  ADD("      at.%s[%d] = tmaring_vector_address(&e->args->%s[%d], fill->row + s.row, 0);%s%s\n", place, (int)i, tensor,
      (int)i, m->spec->names ? " // " : "", tmaring__emit_name(m, kind, i));
}

static void emit_places(const tmaring__emitter *m, const tmaring__loop *loop)
{
  const tmaring__program *p = m->program;
  ADD("      tmaring_places at;\n");
  emit_stream_places(m, loop);
  for (int32_t i = 0; i < p->node_count; ++i) {
    if (loop->has[i] && p->node[i].op == TMARING__OP_GROUP_SCALE)
      emit_group_place(m, "group_in", "group_input", TMARING__SLOT_GROUP_INPUT, p->node[i].index);
  }
  for (int32_t i = 0; tmaring__is_output_pass(p, loop->pass) && i < p->group_output_count; ++i)
    emit_group_place(m, "group_out", "group_output", TMARING__SLOT_GROUP_OUTPUT, i);
}

/* ---- the loop ---- */

/* What an operation costs in instructions, next to an addition. */
static int weight_of(tmaring__op op)
{
  switch (op) {
  case TMARING__OP_ERF:
  case TMARING__OP_TANH: return 8;
  case TMARING__OP_DIV:
  case TMARING__OP_EXP:
  case TMARING__OP_LOG:
  case TMARING__OP_SQRT:
  case TMARING__OP_RSQRT:
  case TMARING__OP_SIGMOID: return 3;
  default: return 1;
  }
}

/* Registers that the loads of a step fill. */
static int loaded_words(const tmaring__emitter *m, const tmaring__loop *loop)
{
  const tmaring__program *p = m->program;
  unsigned bytes = 0;
  for (int32_t i = 0; i < p->node_count; ++i) {
    const tmaring__node *n = &p->node[i];
    if (!loop->has[i]) continue;
    if (tmaring__op_streams(n->op)) bytes += tmaring_dtype_bytes((tmaring_i32)m->spec->input[n->index]);
    if (n->op == TMARING__OP_VECTOR) bytes += tmaring_dtype_bytes((tmaring_i32)m->spec->vector[n->index]);
  }
  if (tmaring__is_output_pass(p, loop->pass)) bytes += (unsigned)p->column_output_count * (m->spec->code.wide ? 8 : 4);
  return (int)bytes * m->spec->code.vec / 4;
}

/* Steps that are taken together: as many as leave room in 96 registers. */
static int steps_at_once(const tmaring__emitter *m, const tmaring__loop *loop)
{
  int weight = 0;
  for (int32_t i = 0; i < m->program->node_count; ++i) weight += loop->has[i] * weight_of(m->program->node[i].op);
  weight *= m->spec->code.vec * (m->spec->code.wide ? 2 : 1);
  const int words = loaded_words(m, loop);
  return weight <= 96 && words <= 8 ? 4 : weight <= 240 && words <= 24 ? 2 : 1;
}

/* A step that may be taken whole, of every stream in the loop. */
static void emit_alignment(const tmaring__emitter *m, const tmaring__loop *loop)
{
  const tmaring__program *p = m->program;
  ADD("      const bool aligned = true");
  for (int32_t i = 0; !m->spec->code.aligned && i < p->input_count; ++i) {
    if (!reads_stream(m, loop, i)) continue;
    const int two = p->paired[i] != 0;
    ADD(" &&\n        tmaring_is_aligned<%s, %skVec>(at.x[%d] - s.phase * %u)", tmaring__emit_dtype(m->spec->input[i]),
        two ? "2 * " : "", (int)i, (unsigned)tmaring_dtype_bytes((tmaring_i32)m->spec->input[i]) << two);
  }
  for (int32_t i = 0; !m->spec->code.aligned && tmaring__is_output_pass(p, loop->pass) && i < p->output_count; ++i) {
    ADD(" &&\n        tmaring_is_aligned<%s, kVec>(at.y[%d] - s.phase * %u)", tmaring__emit_dtype(m->spec->output[i]),
        (int)i, (unsigned)tmaring_dtype_bytes((tmaring_i32)m->spec->output[i]));
  }
  ADD(";\n");
}

static void emit_steps(const tmaring__emitter *m, const tmaring__loop *loop, const char *indent, const char *end)
{
  ADD("%sTMARING_STEPS_%d(i, %s, s.stride, step%d<true>(e, fill, s, at, i))\n", indent, steps_at_once(m, loop), end,
      (int)loop->pass);
}

/* Vectors without an end that is known before, whole ones apart from the others. */
static void emit_ragged_loop(const tmaring__emitter *m, const tmaring__loop *loop)
{
  ADD("      while (i < reach.end) {\n        if (i >= reach.begin) {\n");
  emit_steps(m, loop, "          ", "reach.whole");
  ADD("        }\n        if (i < reach.end) {\n          step%d<false>(e, fill, s, at, i);\n          i += s.stride;\n"
      "        }\n      }\n",
      (int)loop->pass);
}

/* Step k has accumulators of its own: all steps are written out. Where there are as many, none asks for the end. */
static void emit_counted_loop(const tmaring__emitter *m, const tmaring__loop *loop, int plain)
{
  const int pass = (int)loop->pass;
  const char *head = "#pragma unroll\n        for (int k = 0; k < kHeld; ++k) {\n";
  if (plain) {
    ADD("      if (s.start + (kHeld - 1) * s.stride < s.end) {\n%s"
        "          step%d<true>(e, fill, s, at, s.start + k * s.stride, k);\n        }\n      } else {\n%s"
        "          if (s.start + k * s.stride < s.end) step%d<true>(e, fill, s, at, s.start + k * s.stride, k);\n"
        "        }\n      }\n",
        head, pass, head, pass);
  } else {
    ADD("%s        const tmaring_index i = s.start + k * s.stride;\n        if (i >= reach.begin && i < reach.whole) "
        "{\n"
        "          step%d<true>(e, fill, s, at, i, k);\n        } else if (i < reach.end) {\n"
        "          step%d<false>(e, fill, s, at, i, k);\n        }\n      }\n",
        head, pass, pass);
  }
}

static void emit_loop(const tmaring__emitter *m, const tmaring__loop *loop)
{
  const int groups = tmaring__loop_groups(m->program, loop), plain = m->spec->code.aligned && !groups;
  emit_places(m, loop);
  if (!plain) {
    emit_alignment(m, loop);
    ADD("      const tmaring_reach reach = %s;\n",
        groups ? "tmaring_warp_reach<kVec>(e, fill, s, aligned)" : "tmaring_row_reach<kVec>(s, aligned)");
  }
  if (tmaring__loop_holds(m->spec, loop)) {
    emit_counted_loop(m, loop, plain);
    return;
  }
  ADD("      tmaring_index i = s.start;\n");
  if (plain) {
    emit_steps(m, loop, "      ", "s.end");
  } else {
    emit_ragged_loop(m, loop);
  }
}

/* Results of a surplus fill go nowhere. */
static void emit_pass_head(const tmaring__emitter *m, int32_t pass)
{
  const char *separator = " ";
  ADD(tmaring__is_output_pass(m->program, pass) ? "    if (pass == %d && fill->valid) { //"
                                                : "    if (pass == %d) { //",
      (int)pass);
  for (int32_t i = 0; i < m->program->node_count; ++i) {
    const tmaring__node *n = &m->program->node[i];
    if (!tmaring__is_reduced_in(n, pass)) continue;
    ADD("%s%s: r%d", separator, tmaring__op_text(n->op), (int)i);
    separator = ", ";
  }
  ADD(tmaring__is_output_pass(m->program, pass) ? "%sresults\n" : "\n", separator);
}

static void emit_pass(const tmaring__emitter *m, const tmaring__loop *loop)
{
  emit_pass_head(m, loop->pass);
  emit_row_start(m, loop->pass);
  emit_gathers(m, loop->pass);
  if (tmaring__loop_exists(m->program, loop->pass)) emit_loop(m, loop);
  ADD("    }\n");
}

void tmaring__emit_accumulate(const tmaring__emitter *m)
{
  tmaring__loop loop;
  for (int32_t pass = 0; pass < m->program->passes; ++pass) {
    tmaring__loop_plan(&loop, m->spec, pass);
    if (tmaring__loop_exists(m->program, pass)) tmaring__emit_step(m, &loop);
  }
  ADD("\n  template <class E>\n  __device__ __forceinline__ void accumulate(E *e, const tmaring_fill *fill, "
      "tmaring_u32 stage, int iteration, int pass)\n  {\n"
      "    const tmaring_span s = tmaring_row_span<kFlat, kEdges>(e, fill, iteration);\n");
  for (int32_t pass = 0; pass < m->program->passes; ++pass) {
    tmaring__loop_plan(&loop, m->spec, pass);
    emit_pass(m, &loop);
  }
  ADD("  }\n");
}
