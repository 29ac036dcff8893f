#include "emit_columns.h"
#include "emit_loop.h"
#include "emit_rows.h"

#include <string.h>

#define ADD(...) tmaring__text_add(m->out, __VA_ARGS__)

/* ---- what the kernel knows ---- */

static int some_load_is(const tmaring__emitter *m, int wanted, int32_t path)
{
  int some = 0;
  for (int32_t i = 0; i < m->program->input_count; ++i) some |= (m->spec->code.load[i] == path) == wanted;
  return some;
}

static void emit_box_ranks(const tmaring__emitter *m)
{
  const int32_t *rank = m->spec->code.box_rank;
  if (!(rank[0] | rank[1] | rank[2] | rank[3])) return;
  ADD("  static constexpr int kBoxRank[TMARING_MAX_STREAMS] = {");
  for (int32_t i = 0; i < m->program->input_count; ++i) ADD("%s%d", i ? ", " : "", (int)rank[i]);
  ADD("};\n");
}

/* Kernels whose inputs come by bulk copies alone do not say so. */
static void emit_path_traits(const tmaring__emitter *m)
{
  static const char *const path[] = {"BULK", "TILE", "ASYNC", "ORDINARY", "DIRECT"};
  const tmaring__code *c = &m->spec->code;
  if (some_load_is(m, 0, TMARING_LOAD_BULK)) {
    ADD("  static constexpr int kLoad[TMARING_MAX_STREAMS] = {");
    for (int32_t i = 0; i < m->program->input_count; ++i) ADD("%sTMARING_LOAD_%s", i ? ", " : "", path[c->load[i]]);
    ADD("};\n");
  }
  emit_box_ranks(m);
  if (c->tiled_store) ADD("  static constexpr bool kTiledStore = 1;\n");
  if (c->strips) ADD("  static constexpr bool kStrips = 1;\n");
}

static void emit_traits(const tmaring__emitter *m)
{
  const tmaring__program *p = m->program;
  const tmaring__code *c = &m->spec->code;
  ADD("  static constexpr int kInputs = %d, kOutputs = %d, kReductions = %d, kPasses = %d, kVec = %d;\n",
      (int)p->input_count, (int)p->output_count, (int)p->reduction_passes, (int)p->passes, (int)c->vec);
  ADD("  static constexpr bool kGroup = %d, kCluster = %d, kStaged = %d, kEdges = %d, kPieces = %d, kColumns = %d;\n",
      (int)c->group, (int)c->cluster, (int)c->staged, !c->aligned, (int)c->pieces, p->column_output_count > 0);
  if (c->multicast) ADD("  static constexpr bool kMulticast = 1;\n");
  if (c->squads > 1) ADD("  static constexpr int kSquads = %d;\n", (int)c->squads);
  if (m->spec->held_steps > 0) ADD("  static constexpr int kHeld = %d;\n", (int)m->spec->held_steps);
  ADD("  static constexpr bool kFlat = %d, kDebug = %d;\n", (int)c->flat, (int)c->debug);
  emit_path_traits(m);
}

static void emit_stream_facts(const tmaring__emitter *m, const char *name, int32_t count, const tmaring_dtype *dtype,
                              const int32_t *paired)
{
  ADD("    a->%s_count = %d;\n", name, (int)count);
  for (int32_t i = 0; i < count; ++i) {
    const int two = paired && paired[i];
    ADD("    a->%s[%d].elem_bytes = %u;\n", name, (int)i, (unsigned)tmaring_dtype_bytes((tmaring_i32)dtype[i]) << two);
    if (m->spec->dense) ADD("    a->%s[%d].dense = 1;\n", name, (int)i);
    if (!m->spec->code.grouped) ADD("    a->%s[%d].group_rows = 0;\n", name, (int)i);
  }
}

static void emit_scope_facts(const tmaring__emitter *m)
{
  const tmaring__code *c = &m->spec->code;
  ADD("    a->scope.vec = kVec;\n    a->scope.fixed = %d;\n    a->scope.kind = %s;\n", (int)c->fixed,
      c->flat ? "TMARING_SCOPE_FLAT" : "TMARING_SCOPE_WARP");
  if (c->flat || c->group) ADD("    a->scope.lanes_log2 = 5;\n");
  if (!c->group) ADD("    a->scope.warps_per_row = 1;\n");
  if (!c->cluster) ADD("    a->walk.cluster = 1;\n");
  if (m->spec->whole) ADD("    a->walk.pieces = a->walk.passes = 1;\n    a->walk.spread = 0;\n");
}

/* Constants among the arguments. */
static void emit_specialise(const tmaring__emitter *m)
{
  const tmaring__program *p = m->program;
  ADD("\n  static __device__ __forceinline__ void specialise(tmaring_args *a)\n  {\n");
  emit_stream_facts(m, "input", p->input_count, m->spec->input, p->paired);
  emit_stream_facts(m, "output", p->output_count, m->spec->output, NULL);
  emit_scope_facts(m);
  if (p->column_output_count == 0) {
    if (m->spec->code.squads < 2) ADD("    a->walk.chunk = 1;\n");
  } else {
    ADD("    a->column_output_count = %d;\n", (int)p->column_output_count);
    if (m->spec->columns_staged >= 0) ADD("    a->columns_staged = %d;\n", (int)m->spec->columns_staged);
  }
  ADD("  }\n");
}

static void emit_members(const tmaring__emitter *m)
{
  ADD("\n");
  tmaring__emit_row_members(m);
  tmaring__emit_column_members(m);
  ADD("  int flip; // buffer of partial results\n");
}

static void emit_begin(const tmaring__emitter *m)
{
  ADD("\n  template <class E> __device__ __forceinline__ void begin(E *e)\n  {\n    flip = 0;\n");
  const int staged = m->spec->vectors_staged != 0 && !m->spec->code.multicast;
  for (int32_t i = 0; staged && i < m->program->vector_count; ++i)
    ADD("    tmaring_stage_vector<%s>(e, %d);\n", tmaring__emit_dtype(m->spec->vector[i]), (int)i);
  tmaring__emit_launch_values(m);
  ADD("  }\n");
}

/* ---- from threads to rows ---- */

static void emit_partial(const tmaring__emitter *m)
{
  const tmaring__program *p = m->program;
  ADD("\n  template <class E> __device__ __forceinline__ void partial(E *e, const tmaring_fill *, int, int pass)\n  "
      "{\n");
  for (int32_t pass = 0; pass < p->reduction_passes; ++pass) {
    int slot = 0;
    ADD("    if (pass == %d) {\n", (int)pass);
    for (int32_t i = 0; i < p->node_count; ++i) {
      const char *operation = tmaring__emit_operation(p->node[i].op);
      if (!tmaring__is_joined_in(p, i, pass)) continue;
      ADD("      tmaring_leave_partial<%s>(e, flip, %d, tmaring_join_lanes<%s>(e, q%d));\n", operation, slot, operation,
          (int)i);
      slot += (int)tmaring__op_partials(p->node[i].op);
    }
    ADD("    }\n");
  }
  ADD("  }\n");
}

/* A gathered element may be overwritten by a lane that runs ahead, where results are staged over the input. */
static void emit_gather_end(const tmaring__emitter *m, int32_t pass)
{
  int gathers = 0;
  for (int32_t i = 0; i < m->program->node_count; ++i)
    gathers |= m->program->node[i].op == TMARING__OP_GATHER && tmaring__is_reduced_in(&m->program->node[i], pass);
  if (gathers && m->spec->code.staged) ADD("      __syncwarp();\n");
}

static void emit_result(const tmaring__emitter *m, int32_t node, int slot)
{
  const char *operation = tmaring__emit_operation(m->program->node[node].op);
  const int32_t maximum = tmaring__maximum_of(m->program, node);
  if (m->spec->code.group) {
    ADD("      q%d = tmaring_join_%s<%s>(e, flip, %d);\n", (int)node, m->spec->code.cluster ? "cluster" : "warps",
        operation, slot);
  } else {
    ADD("      q%d = tmaring_join_lanes<%s>(e, q%d);\n", (int)node, operation, (int)node);
  }
  ADD("      r%d = %s::result(q%d);\n", (int)node, operation, (int)node);
  if (maximum >= 0) ADD("      r%d = q%d.top;\n", (int)maximum, (int)node);
}

static void emit_finish_pass(const tmaring__emitter *m, int32_t pass)
{
  const tmaring__program *p = m->program;
  int slot = 0;
  ADD("    if (pass == %d) {\n", (int)pass);
  for (int32_t i = 0; i < p->node_count; ++i) {
    if (!tmaring__is_joined_in(p, i, pass)) continue;
    emit_result(m, i, slot);
    slot += (int)tmaring__op_partials(p->node[i].op);
  }
  emit_gather_end(m, pass);
  tmaring__emit_row_values(m, pass + 1, "      ");
  ADD("    }\n");
}

static void emit_finish(const tmaring__emitter *m)
{
  ADD("\n  template <class E>\n  __device__ __forceinline__ void finish(E *e, const tmaring_fill *, int, int pass)\n"
      "  {\n");
  for (int32_t pass = 0; pass < m->program->reduction_passes; ++pass) emit_finish_pass(m, pass);
  ADD("    flip ^= 1;\n  }\n");
}

static void emit_row_store(const tmaring__emitter *m)
{
  const tmaring__program *p = m->program;
  ADD("\n  template <class E> __device__ __forceinline__ void row_store(E *e, const tmaring_fill *fill, int "
      "iteration)\n"
      "  {\n");
  if (p->row_output_count > 0) {
    ADD("    const tmaring_span s = tmaring_row_span<kFlat, kEdges>(e, fill, iteration);\n"
        "    if (!s.active || s.start != 0) return;\n");
  }
  for (int32_t i = 0; i < p->row_output_count; ++i) {
    ADD("    tmaring_store_value<%s, real>(&e->args->row_output[%d], fill->row + s.row, ",
        tmaring__emit_dtype(m->spec->row_output[i]), (int)i);
    tmaring__emit_value(m, NULL, p->row_output[i]);
    ADD(");%s%s\n", m->spec->names ? " // " : "", tmaring__emit_name(m, TMARING__SLOT_ROW_OUTPUT, i));
  }
  ADD("  }\n");
}

/* ---- the whole ---- */

static void emit_kernel(const tmaring__emitter *m)
{
  const tmaring__code *c = &m->spec->code;
  const int tiled = c->tiled_store || some_load_is(m, 1, TMARING_LOAD_TILE);
  ADD("\nextern \"C\" __global__ void __launch_bounds__(%d, %d) tmaring_kernel(const __grid_constant__ tmaring_args "
      "args%s)\n{\n  tmaring_formula formula;\n  tmaring_ring_run<%s, %d, %d>(&args, %s&formula);\n}\n",
      (int)c->max_threads, (int)c->min_ctas, tiled ? ",\n    const __grid_constant__ tmaring_tiles tiles" : "",
      c->mode == TMARING_MODE_WARP_SPECIALIZED ? "true" : "false", (int)c->registers[0], (int)c->registers[1],
      tiled ? "&tiles, " : "");
}

/* The formula's text, line by line. */
static void emit_title(const tmaring__emitter *m)
{
  if (!m->spec->names) return;
  const char *text = tmaring__formula_text(m->spec->names);
  while (*text) {
    const size_t length = strcspn(text, "\n");
    ADD("// %.*s\n", (int)length, text);
    text += length + (text[length] == '\n');
  }
  ADD("\n");
}

void tmaring__emit(tmaring__text *out, const tmaring__kernel_spec *spec)
{
  tmaring__emitter emitter, *m = &emitter;
  memset(m, 0, sizeof *m);
  m->out = out;
  m->spec = spec;
  m->program = spec->program;
  tmaring__rows_plan(m);
  emit_title(m);
  ADD("#include \"tmaring/device/column.cuh\"\n\ntypedef %s real; // of all arithmetic\n\nstruct tmaring_formula {\n",
      spec->code.wide ? "double" : "float");
  emit_traits(m);
  emit_members(m);
  emit_specialise(m);
  emit_begin(m);
  tmaring__emit_accumulate(m);
  emit_partial(m);
  emit_finish(m);
  emit_row_store(m);
  tmaring__emit_columns(m);
  ADD("};\n");
  emit_kernel(m);
  tmaring__emit_columns_kernel(m);
}
