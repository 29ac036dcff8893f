/* Kernel classes of tile programs (tile_program.h) for the ring: copy and transpose; the matrix product is in
 * product.cuh. What a plan fixes is a struct of constants:
 *
 *   struct my_program {
 *     static constexpr int kInputs = 1, kLoad = TMARING_LOAD_TILE; // path of every input
 *     static constexpr bool kStaged = false, kTiledStore = false;  // results through shared memory; by tensor maps
 *     static constexpr bool kEdges = false;                        // rows may end between multiples of 16 bytes
 *     static constexpr bool kDebug = false;
 *     static constexpr int kUnit = 16; // copy: bytes that every address and length is a multiple of
 *     // transpose and matmul:
 *     static constexpr int kElement = 4;                          // bytes of an input's
 *     static constexpr int kSide0 = 64, kSide1 = 64, kSide2 = 64; // box of the output; matmul: n, m, k
 *     static __device__ tmaring_layout layout(int t);             // of the panels of each tensor in their slots
 *   };
 *
 * Panels, origins and rows: abi/panel.h. */
#ifndef TMARING_DEVICE_TILE_CUH
#define TMARING_DEVICE_TILE_CUH

#include "../abi/panel.h"
#include "memory.cuh"
#include "ring.cuh"

/* What all tile programs say to the ring, and the parts of it that they have no use for. */
template <class P> struct tmaring_tile_class {
  static constexpr int kInputs = P::kInputs, kOutputs = P::kStaged ? 1 : 0, kReductions = 0, kPasses = 1;
  static constexpr bool kGroup = true, kCluster = false, kStaged = P::kStaged, kTiledStore = P::kTiledStore;
  static constexpr bool kEdges = P::kEdges, kPieces = false, kDebug = P::kDebug, kGrid = true;
  static constexpr int kLoad[TMARING_MAX_STREAMS] = {P::kLoad, P::kLoad, P::kLoad, P::kLoad};

  static __device__ __forceinline__ void specialise(tmaring_args *a)
  {
    a->input_count = kInputs;
    a->output_count = kOutputs;
    a->scope.lanes_log2 = 5;
    a->scope.unit_rows = 1;
    a->walk.tile_rows = a->walk.pieces = a->walk.passes = a->walk.cluster = 1;
    a->walk.spread = 0;
  }

  template <class E> __device__ __forceinline__ void begin(E *) {}
  template <class E> __device__ __forceinline__ void partial(E *, const tmaring_fill *, int, int) {}
  template <class E> __device__ __forceinline__ void finish(E *, const tmaring_fill *, int, int) {}
  template <class E> __device__ __forceinline__ void row_store(E *, const tmaring_fill *, int) {}
};

/* Offset from tmaring_shared of byte `byte` of row `row` of a slot. The engine swizzles by the bits of the address. */
template <class E>
static __device__ __forceinline__ tmaring_u32 tmaring_slot_place(const E *e, tmaring_u32 slot,
                                                                 const tmaring_layout &layout, tmaring_i32 row,
                                                                 tmaring_u32 byte)
{
  tmaring_layout plain = layout;
  plain.swizzle = 0;
  const tmaring_u32 address = e->smem + slot + tmaring_layout_offset(&plain, row, byte);
  return tmaring_swizzled(layout.swizzle, address) - e->smem;
}

/* Offsets of a stage's slots. */
template <class E>
static __device__ __forceinline__ tmaring_u32 tmaring_input_slot(const E *e, tmaring_u32 stage, int t)
{
  return e->stage(stage) + e->view.input[t].slot;
}

/* y = x. Staged, the storing thread does all of it: results lie where they were loaded. */
template <class P> struct tmaring_tile_copy : tmaring_tile_class<P> {
  static constexpr bool kColumns = false;

  template <class E>
  __device__ __forceinline__ void accumulate(E *e, const tmaring_fill *fill, tmaring_u32 stage, int, int)
  {
    if (P::kStaged || !fill->valid) return;
    const tmaring_panel *y = &e->tiles->panel[1];
    const tmaring_layout layout = e->tiles->panel[0].layout; /* any box, one kernel */
    const tmaring_u32 slot = tmaring_input_slot(e, stage, 0);
    tmaring_origin origin;
    tmaring_panel_origin(y, &e->tiles->grid, fill, &origin);
    for (tmaring_i32 row = e->warp; row < tmaring_panel_rows(y); row += tmaring_cta_consumer_warps(&e->view.cta)) {
      const tmaring_run run = tmaring_panel_row(y, e->view.output[0].base, &origin, row);
      for (tmaring_u32 byte = (tmaring_u32)e->lane * P::kUnit; byte < run.bytes; byte += 32 * P::kUnit) {
        tmaring_u32 w[4];
        tmaring_read<P::kUnit, TMARING_SHARED>(w, tmaring_shared + tmaring_slot_place(e, slot, layout, row, byte));
        tmaring_write<P::kUnit, TMARING_GLOBAL>(reinterpret_cast<unsigned char *>(run.address + byte), w);
      }
    }
  }
};

/* Element i of a vector's words, as the low bits of two words. */
template <int BYTES> TMARING_DEVICE void tmaring_word_at(tmaring_u32 *to, const tmaring_u32 *w, int i)
{
  to[0] = w[i * BYTES / 4];
  if (BYTES == 8) to[1] = w[i * BYTES / 4 + 1];
  if (BYTES < 4) to[0] >>= 8 * BYTES * (i % (4 / BYTES));
}

/* y[n, m] = x[m, n]. A lane per row of x reads 16 bytes of it: eight rows' units lie in different banks where the slot
 * is swizzled, or its rows have gaps. Lanes then write neighbours along m, column after column. */
template <class P> struct tmaring_tile_transpose : tmaring_tile_class<P> {
  static constexpr bool kColumns = false;
  static constexpr int kAlongM = P::kSide0, kAlongN = P::kSide1, kVec = 16 / P::kElement;

  /* Element (n, m) of the tile: to global memory where it is inside y, or to its place in the output's slot. */
  template <class E>
  __device__ __forceinline__ void put(E *e, const tmaring_panel *y, const tmaring_origin &origin, tmaring_u32 stage,
                                      int n, int m, const tmaring_u32 *w)
  {
    if constexpr (P::kStaged) {
      const tmaring_layout layout = P::layout(1);
      const tmaring_u32 slot = e->stage(stage) + e->view.output[0].slot;
      const tmaring_u32 place = tmaring_slot_place(e, slot, layout, n, (tmaring_u32)m * P::kElement);
      tmaring_write<P::kElement, TMARING_SHARED>(tmaring_shared + place, w);
    } else {
      const tmaring_i64 column = origin.at[0] + m, row = origin.at[1] + n;
      if (column >= y->dims[0] || row >= y->dims[1]) return;
      const tmaring_u64 address = e->view.output[0].base + (tmaring_u64)(row * y->stride[1]);
      tmaring_write<P::kElement, TMARING_GLOBAL>(
          reinterpret_cast<unsigned char *>(address + (tmaring_u64)column * P::kElement), w);
    }
  }

  template <class E>
  __device__ __forceinline__ void accumulate(E *e, const tmaring_fill *fill, tmaring_u32 stage, int, int)
  {
    constexpr int groups = (kAlongM + 31) / 32, units = kAlongN / kVec;
    const tmaring_panel *y = &e->tiles->panel[1];
    const tmaring_layout layout = P::layout(0);
    const tmaring_u32 slot = tmaring_input_slot(e, stage, 0);
    tmaring_origin origin;
    if (!fill->valid) return;
    tmaring_panel_origin(y, &e->tiles->grid, fill, &origin);
    for (int item = e->warp; item < groups * units; item += tmaring_cta_consumer_warps(&e->view.cta)) {
      const int m = item % groups * 32 + e->lane, unit = item / groups;
      tmaring_u32 w[4], one[2];
      if (m >= kAlongM) continue;
      tmaring_read<16, TMARING_SHARED>(w, tmaring_shared + tmaring_slot_place(e, slot, layout, m, unit * 16u));
#pragma unroll
      for (int i = 0; i < kVec; ++i) {
        tmaring_word_at<P::kElement>(one, w, i);
        put(e, y, origin, stage, unit * kVec + i, m, one);
      }
    }
  }
};

#endif
