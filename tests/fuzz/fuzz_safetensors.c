/* Bytes as a .safetensors file: the first line is the name of the tensor that is asked for, the rest is the file.
 * Without a line's end no name is asked for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../src/host/cli/safetensors.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const uint8_t *file, size_t bytes, const char *name)
{
  tmaring__array array;
  size_t measured;
  const tmaring_status status = tmaring__safetensors_parse(&array, file, bytes, name);
  if (status != TMARING_OK) {
    FUZZ_NEED(status == TMARING_ERROR_FORMAT && tmaring_last_detail()[0]);
    return;
  }
  FUZZ_NEED(name != NULL);
  FUZZ_NEED(tmaring__array_measure(&array, &measured) && measured == array.bytes);
  FUZZ_NEED((const uint8_t *)array.data >= file && (const uint8_t *)array.data + array.bytes <= file + bytes);
  fuzz_touch(array.data, array.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const uint8_t *const end = size ? memchr(data, '\n', size) : NULL;
  const size_t length = end ? (size_t)(end - data) : 0, rest = end ? size - length - 1 : size;
  char *const name = end ? fuzz_text(data, length) : NULL;
  uint8_t *const file = fuzz_exact(end ? end + 1 : data, rest);
  ask(file, rest, name);
  free(file);
  free(name);
  return 0;
}
