/* Step 4 of a tile plan: CUDA C that names the kernel class (include/tmaring/device) and gives it its constants. The text
 * depends on what is compiled alone, so that plans of other sizes find the same code. */
#include "tile_state.h"

#define ADD(...) tmaring__text_add(out, __VA_ARGS__)

static const char *dtype_word(int32_t dtype)
{
  switch (dtype) {
#define DTYPE_WORD(name, value, text, bytes)                                                                           \
  case value: return "TMARING_" #name;
    TMARING_DTYPE_LIST(DTYPE_WORD)
#undef DTYPE_WORD
  }
  return "TMARING_DTYPE_COUNT";
}

/* Bytes that every row's address and length inside the output are a multiple of, and every span of its slot. */
static uint32_t store_unit(const tmaring__tile_draft *w)
{
  const tmaring_panel *y = &w->boxes.panel[w->output];
  const uint32_t row = (uint32_t)y->box[0] * y->elem_bytes, span = w->boxes.panel[0].layout.span_bytes;
  uint32_t unit = 16;
  for (; unit > y->elem_bytes; unit /= 2) {
    int whole = w->tensor[w->output].alignment % unit == 0 && row % unit == 0 && span % unit == 0 &&
                (uint64_t)y->dims[0] * y->elem_bytes % unit == 0;
    for (int32_t d = 1; d < y->rank; ++d) whole &= y->dims[d] == 1 || y->stride[d] % unit == 0;
    if (whole) break;
  }
  return unit;
}

static void add_layouts(tmaring__text *out, const tmaring__tile_draft *w)
{
  ADD("  static __device__ __forceinline__ tmaring_layout layout(int t)\n  {\n    tmaring_layout l[%d] = {", w->count);
  for (int32_t t = 0; t < w->count; ++t) {
    const tmaring_layout *l = &w->boxes.panel[t].layout;
    ADD("%s{%d, %uu, %uu, %uu}", t ? ", " : "", l->swizzle, l->span_bytes, l->row_bytes, l->box_pitch);
  }
  ADD("};\n    return l[t];\n  }\n");
}

/* Two results are stored together where rows of c keep them aligned. */
static int pairs(const tmaring__tile_draft *w)
{
  const tmaring_panel *c = &w->boxes.panel[2];
  const uint32_t both = 2 * c->elem_bytes;
  return w->tensor[2].alignment % both == 0 && (c->dims[1] == 1 || c->stride[1] % both == 0);
}

static void add_product(tmaring__text *out, const tmaring__tile_draft *w)
{
  ADD("  static constexpr int kSide0 = %d, kSide1 = %d, kSide2 = %d, kWarpsM = %d, kWarpsN = %d;\n", w->box[0],
      w->box[1], w->box[2], w->work.warps[0], w->work.warps[1]);
  ADD("  static constexpr int kIn = %s, kOut = %s;\n", dtype_word(w->work.dtype[0]), dtype_word(w->work.dtype[2]));
  ADD("  static constexpr bool kMasked = %d, kPairs = %d;\n", w->work.masked, pairs(w));
}

static void add_constants(tmaring__text *out, const tmaring__tile_draft *w)
{
  ADD("struct tmaring_program {\n  static constexpr int kInputs = %d;\n", w->output);
  ADD("  static constexpr int kLoad = %s;\n", w->load == TMARING_LOAD_TILE ? "TMARING_LOAD_TILE" : "TMARING_LOAD_BULK");
  ADD("  static constexpr bool kStaged = %d, kTiledStore = %d, kEdges = %d, kDebug = %d;\n", w->code.staged,
      w->code.tiled_store, !w->code.aligned, w->code.debug);
  if (w->op == TMARING_TILE_COPY) {
    ADD("  static constexpr int kUnit = %u;\n};\n\n", w->code.staged ? 16 : store_unit(w));
    return;
  }
  ADD("  static constexpr int kElement = %u;\n", w->boxes.panel[0].elem_bytes);
  if (w->op == TMARING_TILE_TRANSPOSE) ADD("  static constexpr int kSide0 = %d, kSide1 = %d;\n", w->box[0], w->box[1]);
  if (w->op == TMARING_TILE_MATMUL) add_product(out, w);
  add_layouts(out, w);
  ADD("};\n\n");
}

void tmaring__tile_source(tmaring__text *out, const tmaring__tile_draft *w)
{
  static const char *const name[] = {"copy", "transpose", "matmul"};
  ADD("#include \"tmaring/device/%s.cuh\"\n\n", w->op == TMARING_TILE_MATMUL ? "product" : "tile");
  add_constants(out, w);
  ADD("extern \"C\" __global__ void __launch_bounds__(%d, %d)\n"
      "    tmaring_kernel(const __grid_constant__ tmaring_args args, const __grid_constant__ tmaring_tiles tiles)\n{\n"
      "  tmaring_tile_%s<tmaring_program> kernel;\n"
      "  tmaring_ring_run<%s, %d, %d>(&args, &tiles, &kernel);\n}\n",
      w->code.max_threads, w->code.min_ctas, name[w->op],
      w->code.mode == TMARING_MODE_WARP_SPECIALIZED ? "true" : "false", w->code.registers[0], w->code.registers[1]);
}
