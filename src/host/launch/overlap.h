/* Which bytes the tensors of a launch take, and whether an output's bytes are another tensor's too. */
#ifndef TMARING_HOST_OVERLAP_H
#define TMARING_HOST_OVERLAP_H

#include "../plan/plan_state.h"

/* The bytes of one tensor parameter: runs of `width` bytes, `pitch` apart (0: one run); where rows come in groups,
 * these lie in runs of `group_width` bytes, `group_pitch` apart. */
typedef struct tmaring__span {
  uint64_t begin, end; /* hull */
  int64_t pitch, width;
  int64_t group_pitch, group_width; /* 0: no groups */
  int32_t group_rows;
  int32_t dtype;
  int32_t kind;   /* tmaring__slot_kind */
  int32_t halves; /* 1: an [M,2N] tensor, which no output may replace */
} tmaring__span;

/* 0 where every output is apart from all other tensors, or is exactly an [M,N] input (same address, dtype, pitch and
 * groups of rows); inputs may share bytes. Else 1, and the two offending parameters. No allocation. */
int tmaring__overlap_find(const tmaring__span *extents, int32_t count, int32_t *output, int32_t *other);

#endif
