#include "dims.h"

const char *tmaring__dims_text(tmaring__dims dims)
{
  static const char *const text[] = {"[]", "[N]", "[M]", "[M,N]", "[M,N/k]", "[M,2N]"};
  static const char *const groups[] = {"[M,N/2]",  "[M,N/4]",   "[M,N/8]",   "[M,N/16]",  "[M,N/32]",
                                       "[M,N/64]", "[M,N/128]", "[M,N/256]", "[M,N/512]", "[M,N/1024]"};
  int log2 = 0;
  if (dims.shape != TMARING_SHAPE_GROUP) return text[dims.shape];
  while (TMARING__MIN_GROUP_COLS << log2 < dims.group_cols) ++log2;
  return groups[log2];
}

int tmaring__dims_equal(tmaring__dims a, tmaring__dims b)
{
  return a.shape == b.shape && a.group_cols == b.group_cols;
}

int tmaring__dims_have_columns(tmaring__dims dims)
{
  return dims.shape == TMARING_SHAPE_GROUP || (dims.shape & TMARING_SHAPE_ROW) != 0;
}

/* The first four shapes' bits are what a value depends on: the column, the row. A group depends on both. */
static unsigned dependence(tmaring__dims dims)
{
  return dims.shape == TMARING_SHAPE_GROUP ? TMARING_SHAPE_MATRIX : (unsigned)dims.shape;
}

tmaring__dims tmaring__dims_join(tmaring__dims a, tmaring__dims b)
{
  const tmaring__dims joined = {(tmaring_shape)(dependence(a) | dependence(b)), 0};
  if (a.shape == TMARING_SHAPE_GROUP && (tmaring__dims_equal(a, b) || !tmaring__dims_have_columns(b))) return a;
  if (b.shape == TMARING_SHAPE_GROUP && !tmaring__dims_have_columns(a)) return b;
  return joined;
}

int tmaring__dims_group_fits(double cols)
{
  for (int32_t fits = TMARING__MIN_GROUP_COLS; fits <= TMARING__MAX_GROUP_COLS; fits *= 2)
    if (cols == fits) return 1;
  return 0;
}
