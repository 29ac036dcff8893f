#include "tmaring/tensor.h"

#include <string.h>

#include "../base/detail.h"

#define DTYPE_TEXT(name, value, text, bytes)   [value] = text,
#define DTYPE_SPACED(name, value, text, bytes) " " text

static const char *const names[TMARING_DTYPE_COUNT] = {TMARING_DTYPE_LIST(DTYPE_TEXT)};

const char *tmaring_dtype_name(tmaring_dtype dtype)
{
  const int index = (int)dtype;
  return index >= 0 && index < TMARING_DTYPE_COUNT ? names[index] : NULL;
}

tmaring_status tmaring_dtype_parse(const char *name, tmaring_dtype *dtype)
{
  TMARING__NEED(name);
  TMARING__NEED(dtype);
  for (int i = 0; i < TMARING_DTYPE_COUNT; ++i) {
    if (strcmp(name, names[i]) != 0) continue;
    *dtype = (tmaring_dtype)i;
    return TMARING_OK;
  }
  return tmaring__fail(TMARING_ERROR_TYPE, "dtype: got \"%.32s\", needs one of" TMARING_DTYPE_LIST(DTYPE_SPACED), name);
}
