#include "emit_expression.h"

#define P spec->program

static int is_reduction(const tmaring__node *n)
{
  return n->op == TMARING__OP_REDUCE_SUM || n->op == TMARING__OP_REDUCE_MAX || n->op == TMARING__OP_REDUCE_MIN;
}

/* A per-row value that lives in a member: everything that is not a literal. */
static int is_row_value(const tmaring__node *n)
{
  return !n->per_col && n->op != TMARING__OP_CONSTANT && n->op != TMARING__OP_SCALAR && n->op != TMARING__OP_COLUMNS;
}

static int is_reduced_in(const tmaring__node *n, int pass)
{
  return is_reduction(n) && n->level == pass + 1;
}

static int is_output_pass(const tmaring__kernel_spec *spec, int pass)
{
  return P->output_count > 0 && pass == P->passes - 1;
}

void tmaring__kernel_spec_of(tmaring__kernel_spec *spec, const tmaring_plan *plan)
{
  *spec = (tmaring__kernel_spec){0};
  spec->program = tmaring__formula_program(plan->formula);
  spec->code = plan->code;
  spec->dense = spec->whole = 1;
  for (int32_t i = 0; i < plan->variant_count; ++i) {
    const tmaring_args *a = &plan->variant[i].args;
    spec->whole = spec->whole && a->walk.pieces == 1;
    for (int32_t k = 0; k < a->input_count; ++k) spec->dense = spec->dense && a->input[k].dense;
    for (int32_t k = 0; k < a->output_count; ++k) spec->dense = spec->dense && a->output[k].dense;
  }
  for (int32_t i = 0; i < plan->tensor_count; ++i) {
    const tmaring__slot slot = tmaring__formula_slot(plan->formula, i);
    const tmaring_dtype dtype = plan->tensor[i].dtype;
    switch (slot.kind) {
    case TMARING__SLOT_INPUT: spec->input[slot.index] = dtype; break;
    case TMARING__SLOT_VECTOR: spec->vector[slot.index] = dtype; break;
    case TMARING__SLOT_ROW_SCALAR: spec->row_scalar[slot.index] = dtype; break;
    case TMARING__SLOT_OUTPUT: spec->output[slot.index] = dtype; break;
    case TMARING__SLOT_ROW_OUTPUT: spec->row_output[slot.index] = dtype; break;
    }
  }
}

static void emit_traits(tmaring__text *out, const tmaring__kernel_spec *spec)
{
  const tmaring__code *c = &spec->code;
  tmaring__text_add(out,
                    "  static constexpr int kInputs = %d, kOutputs = %d, kReductions = %d, kPasses = %d, kVec = %d;\n",
                    (int)P->input_count, (int)P->output_count, (int)P->reduction_passes, (int)P->passes, (int)c->vec);
  tmaring__text_add(
      out, "  static constexpr bool kGroup = %d, kStaged = %d, kEdges = %d, kPieces = %d, kFlat = %d, kDebug = %d;\n",
      (int)c->group, (int)c->staged, !c->aligned, (int)c->pieces, (int)c->flat, (int)c->debug);
}

static void emit_stream_facts(tmaring__text *out, const tmaring__kernel_spec *spec, const char *name, int count,
                              const tmaring_dtype *dtype)
{
  tmaring__text_add(out, "    a->%s_count = %d;\n", name, count);
  for (int i = 0; i < count; ++i) {
    tmaring__text_add(out, "    a->%s[%d].elem_bytes = %u;\n", name, i, (unsigned)tmaring_dtype_bytes(dtype[i]));
    if (spec->dense) tmaring__text_add(out, "    a->%s[%d].dense = 1;\n", name, i);
  }
}

/* What the kernel knows of its arguments. */
static void emit_specialise(tmaring__text *out, const tmaring__kernel_spec *spec)
{
  tmaring__text_add(out, "\n  static __device__ __forceinline__ void specialise(tmaring_args *a)\n  {\n");
  emit_stream_facts(out, spec, "input", P->input_count, spec->input);
  emit_stream_facts(out, spec, "output", P->output_count, spec->output);
  tmaring__text_add(out, "    a->scope.vec = kVec;\n    a->scope.kind = %s;\n",
                    spec->code.flat ? "TMARING_SCOPE_FLAT" : "TMARING_SCOPE_WARP");
  if (spec->code.flat || spec->code.group) tmaring__text_add(out, "    a->scope.lanes_log2 = 5;\n");
  if (!spec->code.group) tmaring__text_add(out, "    a->scope.warps_per_row = 1;\n");
  if (spec->whole) tmaring__text_add(out, "    a->walk.pieces = a->walk.passes = 1;\n    a->walk.spread = 0;\n");
  tmaring__text_add(out, "  }\n");
}

static void emit_members(tmaring__text *out, const tmaring__kernel_spec *spec)
{
  for (int i = 0; i < P->node_count; ++i) {
    if (is_row_value(&P->node[i]))
      tmaring__text_add(out, "  float r%d; /* %s */\n", i, tmaring__op_text(P->node[i].op));
  }
  tmaring__text_add(out, "  int flip;\n");
}

static void emit_begin(tmaring__text *out)
{
  tmaring__text_add(out, "\n  template <class E> __device__ __forceinline__ void begin(E *e)\n  {\n    flip = 0;\n"
                         "    tmaring_vectors_stage(e);\n  }\n");
}

/* Per-row values of one level, in order; reductions of that level are there already. */
static void emit_row_values(tmaring__text *out, const tmaring__kernel_spec *spec, int level, const char *indent)
{
  for (int i = 0; i < P->node_count; ++i) {
    const tmaring__node *n = &P->node[i];
    if (!is_row_value(n) || is_reduction(n) || n->level != level) continue;
    tmaring__text_add(out, "%sr%d = ", indent, i);
    if (n->op == TMARING__OP_ROW_SCALAR) {
      tmaring__text_add(out, "s.active ? tmaring_load_row_scalar<%s>(e, %d, fill->row + s.row) : 0.0f",
                        tmaring__emit_dtype(spec->row_scalar[n->index]), (int)n->index);
    } else {
      tmaring__emit_expression(out, P, i);
    }
    tmaring__text_add(out, ";\n");
  }
}

static void emit_row_pointers(tmaring__text *out, const tmaring__kernel_spec *spec, const tmaring__node_set *set,
                              int pass)
{
  for (int i = 0; i < P->node_count; ++i) {
    if (!set->has[i] || P->node[i].op != TMARING__OP_INPUT) continue;
    tmaring__text_add(out,
                      "      const unsigned char *px%d = tmaring_row_staged(e, &e->view.input[%d], fill, stage, s);\n",
                      (int)P->node[i].index, (int)P->node[i].index);
  }
  if (!is_output_pass(spec, pass)) return;
  for (int i = 0; i < P->output_count; ++i) {
    tmaring__text_add(out, "      unsigned char *py%d = ", i);
    tmaring__text_add(out,
                      spec->code.staged ? "tmaring_row_staged(e, &e->view.output[%d], fill, stage, s);\n"
                                        : "tmaring_row_global(&e->view.output[%d], fill, s);\n",
                      i);
  }
}

static void emit_loads(tmaring__text *out, const tmaring__kernel_spec *spec, const tmaring__node_set *set)
{
  for (int i = 0; i < P->node_count; ++i) {
    const tmaring__node *n = &P->node[i];
    if (!set->has[i]) continue;
    if (n->op == TMARING__OP_INPUT) {
      tmaring__text_add(
          out,
          "        float x%d[kVec];\n        tmaring_load<%s, kVec, !kEdges, TMARING_SHARED>(x%d, px%d, c, s.n);\n",
          (int)n->index, tmaring__emit_dtype(spec->input[n->index]), (int)n->index, (int)n->index);
    } else if (n->op == TMARING__OP_VECTOR) {
      tmaring__text_add(
          out, "        float w%d[kVec];\n        tmaring_load_vector<%s, kVec, !kEdges>(e, w%d, %d, fill->col + c);\n",
          (int)n->index, tmaring__emit_dtype(spec->vector[n->index]), (int)n->index, (int)n->index);
    }
  }
}

static void emit_elements(tmaring__text *out, const tmaring__kernel_spec *spec, const tmaring__node_set *set)
{
  for (int i = 0; i < P->node_count; ++i) {
    const tmaring__node *n = &P->node[i];
    if (!set->has[i] || n->op == TMARING__OP_INPUT || n->op == TMARING__OP_VECTOR) continue;
    tmaring__text_add(out, "          const float e%d = ", i);
    tmaring__emit_expression(out, P, i);
    tmaring__text_add(out, ";\n");
  }
}

/* What a loop leaves per element: terms of this pass's reductions, results. */
static void emit_element_results(tmaring__text *out, const tmaring__kernel_spec *spec, int pass)
{
  for (int i = 0; i < P->node_count; ++i) {
    if (!is_reduced_in(&P->node[i], pass)) continue;
    tmaring__text_add(out, "          t%d[v] = kEdges && (c + v < 0 || c + v >= s.n) ? %s::identity() : ", i,
                      tmaring__emit_reduction(P->node[i].op));
    tmaring__emit_operand(out, P, P->node[i].arg[0]);
    tmaring__text_add(out, ";\n");
  }
  if (!is_output_pass(spec, pass)) return;
  for (int i = 0; i < P->output_count; ++i) {
    tmaring__text_add(out, "          y%d[v] = ", i);
    tmaring__emit_operand(out, P, P->output[i]);
    tmaring__text_add(out, ";\n");
  }
}

static void emit_result_arrays(tmaring__text *out, const tmaring__kernel_spec *spec, int pass)
{
  for (int i = 0; i < P->node_count; ++i) {
    if (is_reduced_in(&P->node[i], pass)) tmaring__text_add(out, "        float t%d[kVec];\n", i);
  }
  if (!is_output_pass(spec, pass)) return;
  for (int i = 0; i < P->output_count; ++i) tmaring__text_add(out, "        float y%d[kVec];\n", i);
}

static void emit_vector_results(tmaring__text *out, const tmaring__kernel_spec *spec, int pass)
{
  for (int i = 0; i < P->node_count; ++i) {
    if (!is_reduced_in(&P->node[i], pass)) continue;
    const char *op = tmaring__emit_reduction(P->node[i].op);
    tmaring__text_add(out, "        r%d = %s::join(r%d, tmaring_join_vector<%s, kVec>(t%d));\n", i, op, i, op, i);
  }
  if (!is_output_pass(spec, pass)) return;
  for (int i = 0; i < P->output_count; ++i) {
    tmaring__text_add(out, "        %stmaring_store<%s, kVec, !kEdges, %s>(py%d, y%d, c, s.n);\n",
                      spec->code.staged ? "" : "if (fill->valid) ", tmaring__emit_dtype(spec->output[i]),
                      spec->code.staged ? "TMARING_SHARED" : "TMARING_GLOBAL", i, i);
  }
}

static tmaring__node_set loop_nodes(const tmaring__kernel_spec *spec, int pass)
{
  tmaring__node_set set = {{0}};
  for (int i = 0; i < P->node_count; ++i) {
    if (is_reduced_in(&P->node[i], pass)) tmaring__node_set_add(&set, P, P->node[i].arg[0]);
  }
  for (int i = 0; is_output_pass(spec, pass) && i < P->output_count; ++i) tmaring__node_set_add(&set, P, P->output[i]);
  return set;
}

static void emit_loop(tmaring__text *out, const tmaring__kernel_spec *spec, int pass)
{
  const tmaring__node_set set = loop_nodes(spec, pass);
  emit_row_pointers(out, spec, &set, pass);
  tmaring__text_add(out,
                    "#pragma unroll %d\n      for (int i = s.start; i < s.end; i += s.stride) {\n"
                    "        const int c = i * kVec - s.phase;\n",
                    spec->code.aligned ? 4 : 1);
  emit_loads(out, spec, &set);
  emit_result_arrays(out, spec, pass);
  tmaring__text_add(out, "#pragma unroll\n        for (int v = 0; v < kVec; ++v) {\n");
  emit_elements(out, spec, &set);
  emit_element_results(out, spec, pass);
  tmaring__text_add(out, "        }\n");
  emit_vector_results(out, spec, pass);
  tmaring__text_add(out, "      }\n");
}

static int has_loop(const tmaring__kernel_spec *spec, int pass)
{
  return pass < P->reduction_passes || is_output_pass(spec, pass);
}

static void emit_pass(tmaring__text *out, const tmaring__kernel_spec *spec, int pass)
{
  tmaring__text_add(out, "    if (pass == %d) {\n      if (fill->first_piece) {\n", pass);
  if (pass == 0) emit_row_values(out, spec, 0, "        ");
  for (int i = 0; i < P->node_count; ++i) {
    if (!is_reduced_in(&P->node[i], pass)) continue;
    tmaring__text_add(out, "        r%d = %s::identity();\n", i, tmaring__emit_reduction(P->node[i].op));
  }
  tmaring__text_add(out, "      }\n");
  if (has_loop(spec, pass)) emit_loop(out, spec, pass);
  tmaring__text_add(out, "    }\n");
}

static void emit_accumulate(tmaring__text *out, const tmaring__kernel_spec *spec)
{
  tmaring__text_add(
      out, "\n  template <class E>\n  __device__ __forceinline__ void accumulate(E *e, const tmaring_fill *fill, "
           "tmaring_u32 stage, int iteration, int pass)\n  {\n"
           "    const tmaring_span s = tmaring_row_span<kFlat, kEdges>(e, fill, iteration);\n");
  for (int pass = 0; pass < P->passes; ++pass) emit_pass(out, spec, pass);
  tmaring__text_add(out, "  }\n");
}

static void emit_partial(tmaring__text *out, const tmaring__kernel_spec *spec)
{
  tmaring__text_add(
      out, "\n  template <class E> __device__ __forceinline__ void partial(E *e, const tmaring_fill *, int, int pass)\n"
           "  {\n");
  for (int pass = 0; pass < P->reduction_passes; ++pass) {
    int number = 0;
    tmaring__text_add(out, "    if (pass == %d) {\n", pass);
    for (int i = 0; i < P->node_count; ++i) {
      if (!is_reduced_in(&P->node[i], pass)) continue;
      tmaring__text_add(out,
                        "      r%d = tmaring_join_lanes<%s>(e, r%d);\n"
                        "      if (e->lane == 0) *tmaring_scratch(e, flip, %d, e->warp) = r%d;\n",
                        i, tmaring__emit_reduction(P->node[i].op), i, number++, i);
    }
    tmaring__text_add(out, "    }\n");
  }
  tmaring__text_add(out, "  }\n");
}

static void emit_finish(tmaring__text *out, const tmaring__kernel_spec *spec)
{
  tmaring__text_add(
      out, "\n  template <class E>\n  __device__ __forceinline__ void finish(E *e, const tmaring_fill *, int, int "
           "pass)\n  {\n");
  for (int pass = 0; pass < P->reduction_passes; ++pass) {
    int number = 0;
    tmaring__text_add(out, "    if (pass == %d) {\n", pass);
    for (int i = 0; i < P->node_count; ++i) {
      if (!is_reduced_in(&P->node[i], pass)) continue;
      const char *op = tmaring__emit_reduction(P->node[i].op);
      if (spec->code.group) {
        tmaring__text_add(out, "      r%d = tmaring_join_warps<%s>(e, flip, %d);\n", i, op, number++);
      } else {
        tmaring__text_add(out, "      r%d = tmaring_join_lanes<%s>(e, r%d);\n", i, op, i);
      }
    }
    emit_row_values(out, spec, pass + 1, "      ");
    tmaring__text_add(out, "    }\n");
  }
  tmaring__text_add(out, "    flip ^= 1;\n  }\n");
}

static void emit_row_store(tmaring__text *out, const tmaring__kernel_spec *spec)
{
  tmaring__text_add(
      out, "\n  template <class E> __device__ __forceinline__ void row_store(E *e, const tmaring_fill *fill, int "
           "iteration)\n  {\n");
  if (P->row_output_count > 0) {
    tmaring__text_add(out, "    const tmaring_span s = tmaring_row_span<kFlat, kEdges>(e, fill, iteration);\n"
                           "    if (!s.active || e->seat.start != 0) return;\n");
  }
  for (int i = 0; i < P->row_output_count; ++i) {
    const char *dtype = tmaring__emit_dtype(spec->row_output[i]);
    tmaring__text_add(
        out,
        "    tmaring_store_one<%s, TMARING_GLOBAL>(reinterpret_cast<unsigned char *>(e->args->row_output[%d].base) + "
        "(fill->row + s.row) * tmaring_bytes<%s>(), ",
        dtype, i, dtype);
    tmaring__emit_operand(out, P, P->row_output[i]);
    tmaring__text_add(out, ");\n");
  }
  tmaring__text_add(out, "  }\n");
}

static void emit_kernel(tmaring__text *out, const tmaring__code *c)
{
  tmaring__text_add(
      out,
      "\nextern \"C\" __global__ void __launch_bounds__(%d, %d) tmaring_kernel(const __grid_constant__ tmaring_args "
      "args)\n{\n  tmaring_formula formula;\n  tmaring_ring_run<%s, %d, %d>(&args, &formula);\n}\n",
      (int)c->max_threads, (int)c->min_ctas, c->mode == TMARING_MODE_WARP_SPECIALIZED ? "true" : "false",
      (int)c->registers[0], (int)c->registers[1]);
}

void tmaring__emit(tmaring__text *out, const tmaring__kernel_spec *spec)
{
  tmaring__text_add(out, "#include \"tmaring/device/row.cuh\"\n\nstruct tmaring_formula {\n");
  emit_traits(out, spec);
  emit_members(out, spec);
  emit_specialise(out, spec);
  emit_begin(out);
  emit_accumulate(out, spec);
  emit_partial(out, spec);
  emit_finish(out, spec);
  emit_row_store(out, spec);
  tmaring__text_add(out, "};\n");
  emit_kernel(out, &spec->code);
}
