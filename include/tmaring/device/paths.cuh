/* Load and store paths of a kernel class: what it says of them, and the primitives that take a whole warp or a tensor map.
 * Part of ring.cuh: E is its tmaring_env. */
#ifndef TMARING_DEVICE_PATHS_CUH
#define TMARING_DEVICE_PATHS_CUH

#include "../abi/frames.h"
#include "ptx.cuh"

/* ---- what a class says ---- */

template <class T> struct tmaring_void {
  typedef void type;
};

/* What a class may leave out: all inputs by bulk copies, stores without maps, rows. */
template <class K, class = void> struct tmaring_path_codes {
  static constexpr tmaring_u32 packed = 0;
};
template <class K> struct tmaring_path_codes<K, typename tmaring_void<decltype(K::kLoad)>::type> {
  static constexpr tmaring_u32 packed =
      (tmaring_u32)K::kLoad[0] | (K::kInputs > 1 ? (tmaring_u32)K::kLoad[1] << 4 : 0u) |
      (K::kInputs > 2 ? (tmaring_u32)K::kLoad[2] << 8 : 0u) | (K::kInputs > 3 ? (tmaring_u32)K::kLoad[3] << 12 : 0u);
};
template <class K, class = void> struct tmaring_store_path {
  static constexpr bool tiled = false;
};
template <class K> struct tmaring_store_path<K, typename tmaring_void<decltype(K::kTiledStore)>::type> {
  static constexpr bool tiled = K::kTiledStore;
};
template <class K, class = void> struct tmaring_box_ranks {
  static constexpr int common = 0;
};
/* The rank that every tiled input has; 0: they differ. */
template <class K> struct tmaring_box_ranks<K, typename tmaring_void<decltype(K::kBoxRank)>::type> {
  /* Of input 0 .. 3; -1: it is not tiled, or there is none. Values, no functions: NVRTC takes those for host code. */
  static constexpr int r0 = K::kInputs > 0 && K::kLoad[0] == TMARING_LOAD_TILE ? K::kBoxRank[0] : -1;
  static constexpr int r1 = K::kInputs > 1 && K::kLoad[1] == TMARING_LOAD_TILE ? K::kBoxRank[1] : -1;
  static constexpr int r2 = K::kInputs > 2 && K::kLoad[2] == TMARING_LOAD_TILE ? K::kBoxRank[2] : -1;
  static constexpr int r3 = K::kInputs > 3 && K::kLoad[3] == TMARING_LOAD_TILE ? K::kBoxRank[3] : -1;
  static constexpr int most = r0 > r1 ? r0 : r1, more = r2 > r3 ? r2 : r3;
  static constexpr int rank = most > more ? most : more;
  static constexpr bool same =
      (r0 == -1 || r0 == rank) && (r1 == -1 || r1 == rank) && (r2 == -1 || r2 == rank) && (r3 == -1 || r3 == rank);
  static constexpr int common = rank > 0 && same ? rank : 0;
};
template <class K, class = void> struct tmaring_grid_path {
  static constexpr bool grid = false;
};
template <class K> struct tmaring_grid_path<K, typename tmaring_void<decltype(K::kGrid)>::type> {
  static constexpr bool grid = K::kGrid;
};

template <class K> struct tmaring_paths {
  static constexpr tmaring_u32 codes = tmaring_path_codes<K>::packed;
  static constexpr tmaring_u32 taken = (K::kInputs > 0 ? 1u << (codes & 15) : 0u) |
                                       (K::kInputs > 1 ? 1u << (codes >> 4 & 15) : 0u) |
                                       (K::kInputs > 2 ? 1u << (codes >> 8 & 15) : 0u) |
                                       (K::kInputs > 3 ? 1u << (codes >> 12 & 15) : 0u); // a bit per path
  static constexpr bool tiled_loads = (taken >> TMARING_LOAD_TILE & 1) != 0;
  static constexpr bool tiled_stores = tmaring_store_path<K>::tiled;
  static constexpr bool tiled = tiled_loads || tiled_stores;
  static constexpr bool async = (taken >> TMARING_LOAD_ASYNC & 1) != 0;
  static constexpr bool wide = async || (taken >> TMARING_LOAD_ORDINARY & 1) != 0;
  static constexpr bool grid = tmaring_grid_path<K>::grid;
  static constexpr bool second = tiled || grid; // the kernel has a second parameter
  /* Path of input t, an index at run time: a constant where all inputs take the same. */
  static __device__ __forceinline__ tmaring_i32 of(tmaring_i32 t)
  {
    constexpr tmaring_u32 first = codes & 15;
    if constexpr (taken == 1u << first) return (tmaring_i32)first;
    return (tmaring_i32)(codes >> 4 * t & 15u);
  }
};

/* The second parameter, in kernels that have it. */
template <bool TILED> struct tmaring_env_tiles {
  const tmaring_tiles *tiles;
};
template <> struct tmaring_env_tiles<false> {
};

/* ---- primitives ---- */

/* The at most 15 bytes at an end of a run. */
static __device__ void tmaring_copy_bytes(unsigned char *to, const unsigned char *from, tmaring_u32 bytes)
{
  for (tmaring_u32 i = 0; i < bytes; ++i) to[i] = from[i];
}

/* ---- wide kernels: all lanes of the feeding warp ---- */

/* Does this lane do what one thread does? In kernels that are not wide only one gets here. */
template <class E> static __device__ __forceinline__ bool tmaring_elected(const E *e)
{
  return !tmaring_paths<typename E::kernel_class>::wide || e->lane == 0;
}

/* 16 bytes, behind the wait for the preceding kernel like all reads of global memory; never a .nc load (memory.cuh). */
static __device__ __forceinline__ uint4 tmaring_read_unit(tmaring_u64 address)
{
  uint4 q;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(q.x), "=r"(q.y), "=r"(q.z), "=r"(q.w) : "l"(address));
  return q;
}

/* Any number of bytes to shared memory, by all lanes; `to` and `from` have the same place modulo 16. Four units of a lane
 * are under way together. */
static __device__ __forceinline__ void tmaring_copy_wide(unsigned char *to, tmaring_u64 from, tmaring_u32 bytes,
                                                         tmaring_i32 lane)
{
  const tmaring_u32 ahead = (tmaring_u32)(0 - from) & 15u, head = ahead < bytes ? ahead : bytes;
  const tmaring_u32 units = (bytes - head) / 16, tail = (bytes - head) % 16;
  const unsigned char *source = reinterpret_cast<const unsigned char *>(from);
  uint4 *unit = reinterpret_cast<uint4 *>(to + head);
  tmaring_u32 i = (tmaring_u32)lane;
  if (i < head) to[i] = source[i];
  if (i < tail) to[bytes - tail + i] = source[bytes - tail + i];
  from += head;
  for (; i + 96 < units; i += 128) {
    uint4 q[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) q[k] = tmaring_read_unit(from + 16ull * (i + 32 * k));
#pragma unroll
    for (int k = 0; k < 4; ++k) unit[i + 32 * k] = q[k];
  }
  for (; i < units; i += 32) unit[i] = tmaring_read_unit(from + 16ull * i);
}

/* Multiples of 4 bytes by cp.async: 16 at a time from the first multiple of 16 on, before and after it 4 and 8. */
static __device__ __forceinline__ void tmaring_async_wide(tmaring_u32 to, tmaring_u64 from, tmaring_u32 bytes,
                                                          tmaring_i32 lane)
{
  const tmaring_u32 ahead = (tmaring_u32)(0 - from) & 15u, head = ahead < bytes ? ahead : bytes;
  const tmaring_u32 units = (bytes - head) / 16, tail = (bytes - head) % 16;
  if (head == 8 && (from & 7) == 0) {
    if (lane == 31) tmaring_async_copy<8>(to, from);
  } else if ((tmaring_u32)lane < head / 4) {
    tmaring_async_copy<4>(to + 4 * lane, from + 4 * lane);
  }
  to += head;
  from += head;
  for (tmaring_u32 i = (tmaring_u32)lane; i < units; i += 32) tmaring_async_copy<16>(to + 16 * i, from + 16ull * i);
  to += 16 * units;
  from += 16ull * units;
  if (lane == 30 && tail >= 8) tmaring_async_copy<8>(to, from);
  if (lane == 29 && tail % 8 == 4) tmaring_async_copy<4>(to + tail - 4, from + tail - 4);
}

/* Ordinary loads: by all lanes, or the thread that feeds. */
template <class E>
static __device__ __forceinline__ void tmaring_load_ordinary(const E *e, unsigned char *to, tmaring_u64 from,
                                                             tmaring_u32 bytes)
{
  if constexpr (tmaring_paths<typename E::kernel_class>::wide) {
    tmaring_copy_wide(to, from, bytes, e->lane);
  } else {
    tmaring_copy_bytes(to, reinterpret_cast<const unsigned char *>(from), bytes);
  }
}

/* The next tile number, for every lane that feeds. */
template <class E> static __device__ __forceinline__ tmaring_i64 tmaring_claim_ticket(E *e)
{
  unsigned *counter = reinterpret_cast<unsigned *>(e->view.counter_address);
  if constexpr (tmaring_paths<typename E::kernel_class>::wide) {
    const unsigned ticket = e->lane == 0 ? atomicAdd(counter, 1u) : 0u;
    return e->walk.workers + (tmaring_i64)__shfl_sync(0xffffffffu, ticket, 0);
  } else {
    return e->walk.workers + (tmaring_i64)atomicAdd(counter, 1u);
  }
}

/* Bulk stores are read before lanes other than the storing one write over their source. A storer of a warp-specialized
 * CTA waits alone. */
template <class E> static __device__ __forceinline__ void tmaring_stores_read(E *e, tmaring_u32 pending)
{
  if constexpr (tmaring_paths<typename E::kernel_class>::wide) {
    if (e->lane == 0) tmaring_bulk_wait_read(pending);
    if (e->view.cta.mode == TMARING_MODE_PIPELINED) __syncwarp();
  } else {
    tmaring_bulk_wait_read(pending);
  }
}

/* ---- tiled streams ---- */

static __device__ __forceinline__ void tmaring_tensor_load_any(tmaring_i32 rank, tmaring_u32 shared, const void *map,
                                                               const tmaring_i32 *c, tmaring_u32 barrier)
{
  switch (rank) { /* the instruction names it */
  case 1: tmaring_tensor_load<1>(shared, map, c, barrier); break;
  case 2: tmaring_tensor_load<2>(shared, map, c, barrier); break;
  case 3: tmaring_tensor_load<3>(shared, map, c, barrier); break;
  case 4: tmaring_tensor_load<4>(shared, map, c, barrier); break;
  default: tmaring_tensor_load<5>(shared, map, c, barrier); break;
  }
}

static __device__ __forceinline__ void tmaring_tensor_store_any(tmaring_i32 rank, const void *map, const tmaring_i32 *c,
                                                                tmaring_u32 shared)
{
  switch (rank) {
  case 1: tmaring_tensor_store<1>(map, c, shared); break;
  case 2: tmaring_tensor_store<2>(map, c, shared); break;
  case 3: tmaring_tensor_store<3>(map, c, shared); break;
  case 4: tmaring_tensor_store<4>(map, c, shared); break;
  default: tmaring_tensor_store<5>(map, c, shared); break;
  }
}

template <class E> static __device__ __forceinline__ const tmaring_grid *tmaring_grid_at(const E *e)
{
  if constexpr (tmaring_paths<typename E::kernel_class>::grid) return &e->tiles->grid;
  return nullptr;
}

/* Panel of tensor t of a tile program; none in other kernels. */
template <class E> static __device__ __forceinline__ const tmaring_panel *tmaring_panel_at(const E *e, tmaring_i32 t)
{
  if constexpr (tmaring_paths<typename E::kernel_class>::grid) return &e->tiles->panel[t];
  return nullptr;
}

/* Descriptor of tiled stream `index` of tmaring_tiles; none in other kernels. */
template <class E> static __device__ __forceinline__ const tmaring_tile *tmaring_tile_at(const E *e, tmaring_i32 index)
{
  if constexpr (tmaring_paths<typename E::kernel_class>::tiled) return &e->tiles->tile[index];
  return nullptr;
}

/* The same of input t, an index at run time: constants fold that all tiled inputs have in common. */
template <class E> static __device__ __forceinline__ tmaring_tile tmaring_input_tile(const E *e, tmaring_i32 t)
{
  constexpr int rank = tmaring_box_ranks<typename E::kernel_class>::common;
  tmaring_tile tile = {};
  if constexpr (tmaring_paths<typename E::kernel_class>::tiled) tile = e->tiles->tile[t];
  if constexpr (rank > 0) {
    tile.rank = rank;
    tile.boxes = tile.along = 1;
    tile.by_row = 0;
    tile.box_step[0] = tile.box_step[1] = 0;
#pragma unroll
    for (int d = 0; d < TMARING_MAX_RANK; ++d)
      tile.follows[d] = d == rank - 1 ? TMARING_TILE_ROW : TMARING_TILE_NOTHING;
  }
  return tile;
}

template <class E>
static __device__ __forceinline__ void tmaring_load_tile(E *e, tmaring_i32 t, const tmaring_stream *s,
                                                         tmaring_u32 stage, const tmaring_fill *fill, tmaring_i32 i)
{
  if constexpr (tmaring_paths<typename E::kernel_class>::tiled_loads) {
    const tmaring_tile tile = tmaring_input_tile(e, t);
    tmaring_i32 c[TMARING_MAX_RANK];
    if (!tmaring_elected(e)) return;
    tmaring_tile_coordinates(&tile, tmaring_grid_at(e), fill, i, c);
    tmaring_tensor_load_any(tile.rank, e->smem + e->stage(stage) + s->slot + tmaring_tile_offset(&tile, s->slot_row, i),
                            &e->tiles->map[t], c, e->full(stage));
  }
}

template <class E>
static __device__ __forceinline__ void tmaring_store_tile(E *e, tmaring_i32 t, const tmaring_stream *s,
                                                          tmaring_u32 stage, const tmaring_fill *fill, tmaring_i32 i)
{
  if constexpr (tmaring_paths<typename E::kernel_class>::tiled_stores) {
    const tmaring_i32 index = TMARING_TILED_OUTPUTS + t;
    const tmaring_tile *tile = &e->tiles->tile[index];
    tmaring_i32 c[TMARING_MAX_RANK];
    if (!tmaring_elected(e)) return;
    tmaring_tile_coordinates(tile, tmaring_grid_at(e), fill, i, c);
    tmaring_tensor_store_any(tile->rank, &e->tiles->map[index], c,
                             e->smem + e->stage(stage) + s->slot + tmaring_tile_offset(tile, s->slot_row, i));
  }
}

/* Brings the maps into the cache of descriptors. By one thread, before it feeds. */
template <class E> static __device__ __forceinline__ void tmaring_prefetch_maps(const E *e)
{
  if constexpr (tmaring_paths<typename E::kernel_class>::tiled) {
#pragma unroll
    for (int t = 0; t < E::kernel_class::kInputs; ++t) {
      if (tmaring_paths<typename E::kernel_class>::of(t) == TMARING_LOAD_TILE)
        tmaring_tensor_prefetch(&e->tiles->map[t]);
    }
#pragma unroll
    for (int t = 0; t < E::kernel_class::kOutputs; ++t) {
      if (tmaring_paths<typename E::kernel_class>::tiled_stores)
        tmaring_tensor_prefetch(&e->tiles->map[TMARING_TILED_OUTPUTS + t]);
    }
  }
}

#endif
