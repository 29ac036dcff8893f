/* Reading and writing .npy files. */
#define _POSIX_C_SOURCE 200809L
#include "npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC       "\x93NUMPY"
#define MAGIC_BYTES 6
#define ALIGNMENT   64

static tmaring_status truncated(const char *part, size_t got, size_t needed)
{
  return tmaring__fail(TMARING_ERROR_FORMAT, "%s: got %zu bytes, needs %zu; the file is truncated, write it again",
                       part, got, needed);
}

static tmaring_status read_exactly(FILE *file, void *to, size_t bytes, const char *part)
{
  const size_t got = bytes ? fread(to, 1, bytes, file) : 0;
  if (got == bytes) return TMARING_OK;
  if (ferror(file))
    return tmaring__fail(TMARING_ERROR_IO, "%s: got '%s', needs a readable file; check the disk and the path", part,
                         strerror(errno));
  return truncated(part, got, bytes);
}

/* Reads magic, version and header length. */
static tmaring_status read_preamble(FILE *file, size_t *header_bytes)
{
  unsigned char b[8], n[4] = {0, 0, 0, 0};
  TMARING__TRY(read_exactly(file, b, sizeof b, "npy preamble"));
  if (memcmp(b, MAGIC, MAGIC_BYTES) != 0)
    return tmaring__fail(TMARING_ERROR_FORMAT, "magic: got other bytes, needs \\x93NUMPY; the file is no .npy file, "
                                               "write it with numpy.save");
  if (b[6] < 1 || b[6] > 3 || b[7] != 0)
    return tmaring__fail(TMARING_ERROR_FORMAT, "version: got %d.%d, needs 1.0, 2.0 or 3.0; write it with numpy.save",
                         b[6], b[7]);
  TMARING__TRY(read_exactly(file, n, b[6] == 1 ? 2 : 4, "npy header length"));
  *header_bytes = (size_t)n[0] | (size_t)n[1] << 8 | (size_t)n[2] << 16 | (size_t)n[3] << 24;
  if (*header_bytes > TMARING__NPY_MAX_HEADER_BYTES)
    return tmaring__fail(TMARING_ERROR_FORMAT,
                         "header length: got %zu bytes, needs at most %d; write the file again with "
                         "numpy.save",
                         *header_bytes, TMARING__NPY_MAX_HEADER_BYTES);
  return TMARING_OK;
}

static tmaring_status read_header(tmaring__npy *array, FILE *file, int32_t type)
{
  size_t bytes = 0;
  TMARING__TRY(read_preamble(file, &bytes));
  char *const header = malloc(bytes + 1);
  if (!header) return tmaring__fail(TMARING_ERROR_MEMORY, "header: got no memory, needs %zu bytes; free some", bytes);
  tmaring_status status;
  TMARING__TRY_GOTO(read_exactly(file, header, bytes, "npy header"), done);
  status = tmaring__npy_parse(array, header, bytes, type);
done:
  free(header);
  return status;
}

/* Refuses a regular file that is too short before memory for its claim is taken. */
static tmaring_status check_length(FILE *file, size_t bytes)
{
  struct stat info;
  const off_t at = ftello(file);
  if (at < 0 || fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode)) return TMARING_OK;
  const size_t left = info.st_size > at ? (size_t)(info.st_size - at) : 0;
  return left < bytes ? truncated("elements", left, bytes) : TMARING_OK;
}

static tmaring_status read_elements(tmaring__npy *array, FILE *file)
{
  TMARING__TRY(check_length(file, array->bytes));
  TMARING__TRY(tmaring__npy_allocate(array));
  tmaring_status status = read_exactly(file, array->data, array->bytes, "elements");
  if (status == TMARING_OK && fgetc(file) != EOF)
    status = tmaring__fail(TMARING_ERROR_FORMAT,
                           "elements: got more than the %zu bytes of the shape, needs one array per "
                           "file; save them apart",
                           array->bytes);
  if (status != TMARING_OK) tmaring__npy_free(array);
  return status;
}

/* Puts the path in front of the detail. */
static tmaring_status at_path(tmaring_status status, const char *path)
{
  char detail[768];
  snprintf(detail, sizeof detail, "%s", tmaring_last_detail());
  return tmaring__fail(status, "%s: %s", path, detail);
}

static tmaring_status cannot(const char *path, const char *verb)
{
  const char *const reason = strerror(errno);
  return tmaring__fail(TMARING_ERROR_IO,
                       "%s: got '%s', needs a file that can be %s; check the path and its permissions", path, reason,
                       verb);
}

tmaring_status tmaring__npy_read(tmaring__npy *array, const char *path, int32_t type)
{
  memset(array, 0, sizeof *array);
  FILE *const file = fopen(path, "rb");
  if (!file) return cannot(path, "read");
  tmaring_status status;
  TMARING__TRY_GOTO(read_header(array, file, type), done);
  status = read_elements(array, file);
done:
  fclose(file);
  return status == TMARING_OK ? status : at_path(status, path);
}

tmaring_status tmaring__npy_allocate(tmaring__npy *array)
{
  const int64_t element = (int64_t)tmaring_dtype_bytes((tmaring_i32)array->dtype);
  const int64_t rows = array->shape[0], cols = array->dims == 1 ? 1 : array->shape[1];
  if (rows != 0 && cols > (INT64_MAX - ALIGNMENT) / element / rows)
    return tmaring__fail(TMARING_ERROR_CAPACITY,
                         "shape: got (%lld, %lld), needs fewer than 2^63 bytes; use a smaller array", (long long)rows,
                         (long long)cols);
  array->bytes = (size_t)(rows * cols * element);
  /* Never an empty block: an array of no elements has an address too. */
  array->data = aligned_alloc(ALIGNMENT, (array->bytes / ALIGNMENT + 1) * ALIGNMENT);
  if (!array->data)
    return tmaring__fail(TMARING_ERROR_MEMORY, "array: got no memory, needs %zu bytes; use a smaller array",
                         array->bytes);
  return TMARING_OK;
}

void tmaring__npy_free(tmaring__npy *array)
{
  free(array->data);
  array->data = NULL;
}

void tmaring__npy_frame(tmaring__text *out, const char *dictionary, size_t length)
{
  size_t preamble = MAGIC_BYTES + 4;
  size_t total = (size_t)tmaring_round_up(preamble + length + 1, ALIGNMENT);
  const int version = total - preamble > 65535 ? 2 : 1;
  if (version == 2) preamble += 2, total = (size_t)tmaring_round_up(preamble + length + 1, ALIGNMENT);
  const size_t header = total - preamble;
  const char start[12] = {(char)0x93,
                          'N',
                          'U',
                          'M',
                          'P',
                          'Y',
                          (char)version,
                          0,
                          (char)(header & 255),
                          (char)(header >> 8 & 255),
                          (char)(header >> 16 & 255),
                          (char)(header >> 24 & 255)};
  tmaring__text_append(out, start, preamble);
  tmaring__text_append(out, dictionary, length);
  for (size_t i = preamble + length; i + 1 < total; ++i) tmaring__text_append(out, " ", 1);
  tmaring__text_append(out, "\n", 1);
}

static void add_dictionary(tmaring__text *out, const tmaring__npy *array)
{
  static const char *const descr[TMARING_DTYPE_COUNT] = {"<f4", "<f2", "<V2"};
  tmaring__text_add(out, "{'descr': '%s', 'fortran_order': False, 'shape': (%lld,", descr[array->dtype],
                    (long long)array->shape[0]);
  if (array->dims == 2) tmaring__text_add(out, " %lld", (long long)array->shape[1]);
  tmaring__text_add(out, "), }");
}

static tmaring_status write_all(const tmaring__npy *array, const tmaring__text *header, const char *path)
{
  FILE *const file = fopen(path, "wb");
  if (!file) return cannot(path, "written");
  int fine = fwrite(header->data, 1, header->length, file) == header->length;
  fine = fine && (array->bytes == 0 || fwrite(array->data, 1, array->bytes, file) == array->bytes);
  const int error = errno;
  if (fclose(file) == 0 && fine) return TMARING_OK;
  if (!fine) errno = error;
  return cannot(path, "written");
}

tmaring_status tmaring__npy_write(const tmaring__npy *array, const char *path)
{
  tmaring__text dictionary = {NULL, 0, 0, 0}, header = {NULL, 0, 0, 0};
  add_dictionary(&dictionary, array);
  if (!tmaring__text_failed(&dictionary)) tmaring__npy_frame(&header, dictionary.data, dictionary.length);
  tmaring_status status = tmaring__fail(TMARING_ERROR_MEMORY, "%s: got no memory, needs a header; free some", path);
  if (header.data) status = write_all(array, &header, path);
  tmaring__text_free(&dictionary);
  tmaring__text_free(&header);
  return status;
}
