/* Bytes as a .npy file: the first one says which type is declared, the rest is the file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/host/cli/npy.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_array(const tmaring__array *array, const uint8_t *file, size_t bytes)
{
  size_t measured;
  FUZZ_NEED(tmaring__array_measure(array, &measured) && measured == array->bytes);
  FUZZ_NEED(array->bytes <= bytes);
  FUZZ_NEED((const uint8_t *)array->data + array->bytes == file + bytes);
  fuzz_touch(array->data, array->bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  tmaring__array array;
  if (size == 0) return 0;
  const int32_t declared = data[0] % (TMARING_DTYPE_COUNT + 1) - 1;
  uint8_t *const file = fuzz_exact(data + 1, size - 1);
  const tmaring_status status = tmaring__npy_parse(&array, file, size - 1, declared);
  if (status == TMARING_OK)
    check_array(&array, file, size - 1);
  else
    FUZZ_NEED(status == TMARING_ERROR_FORMAT && tmaring_last_detail()[0]);
  free(file);
  return 0;
}
