#include "emit_columns.h"

#define ADD(...) tmaring__text_add(m->out, __VA_ARGS__)

static const char *operation_of(const tmaring__emitter *m, int32_t output)
{
  return tmaring__emit_operation((tmaring__op)m->program->column_output[output].op);
}

void tmaring__emit_column_members(const tmaring__emitter *m)
{
  for (int32_t i = 0; i < m->program->column_output_count; ++i) {
    ADD(m->spec->held_steps > 0 ? "  real a%d[kHeld][kVec];" : "  tmaring_column_place c%d;", (int)i);
    ADD(" // accumulators of column output %d\n", (int)i);
  }
}

static void emit_begin(const tmaring__emitter *m, int32_t output)
{
  const int i = (int)output;
  if (m->spec->held_steps > 0) {
    ADD("    tmaring_held_clear<%s>(a%d);\n", operation_of(m, output), i);
  } else {
    ADD("    c%d = tmaring_column_at<real>(e, fill, %d);\n    tmaring_columns_clear<%s, kPieces, kVec>(e, fill, "
        "c%d);\n",
        i, i, operation_of(m, output), i);
  }
}

void tmaring__emit_columns(const tmaring__emitter *m)
{
  const int32_t count = m->program->column_output_count;
  if (count == 0) return;
  ADD("\n  template <class E> __device__ __forceinline__ void columns_begin(E *e, const tmaring_fill *fill)\n  {\n");
  for (int32_t i = 0; i < count; ++i) emit_begin(m, i);
  ADD("  }\n\n  template <class E> __device__ __forceinline__ void columns_end(E *e, const tmaring_fill *fill)\n  {\n");
  for (int32_t i = 0; i < count; ++i) {
    if (m->spec->held_steps > 0) {
      ADD("    tmaring_held_leave(e, fill, %d, a%d);\n", (int)i, (int)i);
    } else {
      ADD("    tmaring_columns_leave<real, kPieces, kVec>(e, fill, c%d);\n", (int)i);
    }
  }
  ADD("  }\n");
}

void tmaring__emit_columns_kernel(const tmaring__emitter *m)
{
  const tmaring__program *p = m->program;
  if (p->column_output_count == 0) return;
  ADD("\n/* Joins the partial results of column reductions. */\n"
      "extern \"C\" __global__ void __launch_bounds__(32 * TMARING_COLUMN_STRANDS)\n"
      "tmaring_columns_kernel(const __grid_constant__ tmaring_args args)\n{\n"
      "  const tmaring_walk walk = tmaring_columns_wait(&args);\n");
  for (int32_t i = 0; i < p->column_output_count; ++i) {
    ADD("  tmaring_columns_finish<%s, %s, %s%s>(&args, &walk, %d);\n",
        tmaring__emit_operation((tmaring__op)p->column_output[i].op), p->column_output[i].mean ? "true" : "false",
        tmaring__emit_dtype(m->spec->column_output[i]), m->spec->code.squads > 1 ? ", 2" : "", (int)i);
  }
  ADD("}\n");
}
