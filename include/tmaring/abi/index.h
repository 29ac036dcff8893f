/* Indexes that are 32-bit where they fit and 64-bit where they must be: what host code and kernels share. Which of the
 * two a launch needs says tmaring_index_width (tmaring/index.h); what is here holds for either.
 *
 * An index type fits where the number of elements and the largest reachable offset of every tensor that it addresses
 * are below TMARING_INDEX_LIMIT. */
#ifndef TMARING_ABI_INDEX_H
#define TMARING_ABI_INDEX_H

#include "base.h"

#define TMARING_INDEX_LIMIT 2147483647LL

/* Runs the statements with `index_t` standing for the signed integer type of a width: 32, or any other value for 64.
 * They are compiled once per type. In C and in C++, on either side:
 *
 *     TMARING_INDEX_SWITCH(report.width, start(sizeof(index_t)); copy_rows<index_t>(x, y, n);); */
#define TMARING_INDEX_SWITCH(width, ...)                                                                               \
  do {                                                                                                                 \
    if ((width) == 32) {                                                                                               \
      typedef tmaring_i32 index_t;                                                                                     \
      __VA_ARGS__                                                                                                      \
    } else {                                                                                                           \
      typedef tmaring_i64 index_t;                                                                                     \
      __VA_ARGS__                                                                                                      \
    }                                                                                                                  \
  } while (0)

/* ---- the way of one thread through [0, count): first, first + step, ...
 *
 * `first` and `step` are products of a grid's extents and may pass 32 bits: they are taken in 64, once, before the loop.
 * Within it `at` never passes count: what is left is compared with the step before that is added. So the last step wraps
 * in neither width. ---- */

#define TMARING_STRIDE_OF(name, index)                                                                                 \
  typedef struct tmaring_stride_##name {                                                                               \
    index at, step, count;                                                                                             \
    tmaring_i32 live; /* 0: past the end, `at` is no index */                                                          \
  } tmaring_stride_##name;                                                                                             \
                                                                                                                       \
  TMARING_FN void tmaring_stride_begin_##name(tmaring_stride_##name *s, tmaring_i64 first, tmaring_i64 step,           \
                                              index count)                                                             \
  {                                                                                                                    \
    s->live = first < count;                                                                                           \
    s->at = s->live ? (index)first : 0;                                                                                \
    s->step = (index)tmaring_min_i64(step, count);                                                                     \
    s->count = count;                                                                                                  \
  }                                                                                                                    \
                                                                                                                       \
  TMARING_FN void tmaring_stride_next_##name(tmaring_stride_##name *s)                                                 \
  {                                                                                                                    \
    s->live = s->count - s->at > s->step;                                                                              \
    if (s->live) s->at += s->step;                                                                                     \
  }

TMARING_STRIDE_OF(i32, tmaring_i32)
TMARING_STRIDE_OF(i64, tmaring_i64)

/* ---- division of an index by a number that stays the same for a launch ---- */

/* 32-bit: a multiplication and a shift, no division at all. quotient = (high word of n * magic, plus n) >> shift with
 * shift = ceil(log2 d) and magic = 2^32 * (2^shift - d) / d + 1, exact for n below 2^31 (Granlund and Montgomery,
 * "Division by invariant integers using multiplication", 1994). */
typedef struct tmaring_divisor_i32 {
  tmaring_u32 divisor, magic, shift;
} tmaring_divisor_i32;

typedef struct tmaring_divisor_i64 {
  tmaring_i64 divisor;
} tmaring_divisor_i64;

/* divisor: 1 .. 2^31 - 1. Once per launch, on the host or by each thread before its loop: it divides. */
TMARING_FN void tmaring_divisor_make_i32(tmaring_divisor_i32 *d, tmaring_i32 divisor)
{
  const tmaring_u64 by = (tmaring_u64)divisor;
  d->divisor = (tmaring_u32)divisor;
  d->shift = 0;
  while (((tmaring_u64)1 << d->shift) < by) d->shift += 1;
  d->magic = (tmaring_u32)(((((tmaring_u64)1 << d->shift) - by) << 32) / by + 1);
}

/* n: 0 .. 2^31 - 1. */
TMARING_FN tmaring_i32 tmaring_divisor_quotient_i32(const tmaring_divisor_i32 *d, tmaring_i32 n)
{
  const tmaring_u32 high = (tmaring_u32)(((tmaring_u64)(tmaring_u32)n * d->magic) >> 32);
  return (tmaring_i32)((high + (tmaring_u32)n) >> d->shift);
}

TMARING_FN void tmaring_divisor_make_i64(tmaring_divisor_i64 *d, tmaring_i64 divisor)
{
  d->divisor = divisor;
}

TMARING_FN tmaring_i64 tmaring_divisor_quotient_i64(const tmaring_divisor_i64 *d, tmaring_i64 n)
{
  return n / d->divisor;
}

#endif
