/* Compiles the built-in kernels while the library is built, by the same way as a user's formula at run time.
 *
 *   tmaring-builtin OUTPUT.c          writes the table
 *   tmaring-builtin --cubins FOLDER   writes one file per kernel instead, to look at */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin_list.h"
#include "code_store.h"
#include "nvrtc.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MAX_KERNELS  400

static struct kernel {
  uint64_t key[2];
  void *cubin;
  size_t bytes;
} kernel[MAX_KERNELS];
static size_t kernel_count;

static int is_known(const uint64_t key[2])
{
  for (size_t i = 0; i < kernel_count; ++i) {
    if (kernel[i].key[0] == key[0] && kernel[i].key[1] == key[1]) return 1;
  }
  return 0;
}

static tmaring_status add_source(const char *source)
{
  struct kernel *k = &kernel[kernel_count];
  tmaring__code_key(source, k->key);
  if (is_known(k->key)) return TMARING_OK;
  if (kernel_count == MAX_KERNELS)
    return tmaring__fail(TMARING_ERROR_CAPACITY, "built-in kernels: more than %d", MAX_KERNELS);
  TMARING__TRY(tmaring__nvrtc_compile(source, 0, &k->cubin, &k->bytes));
  ++kernel_count;
  return TMARING_OK;
}

/* [M] outputs are f32, everything else has the one type. */
static tmaring_status describe(const tmaring_formula *formula, tmaring_dtype dtype, const struct builtin_shape *shape,
                               tmaring_tensor *tensor, int32_t count)
{
  for (int32_t i = 0; i < count; ++i) {
    tmaring_parameter p = {.size = sizeof p};
    TMARING__TRY(tmaring_formula_tensor(formula, i, &p));
    tensor[i] = (tmaring_tensor)TMARING_TENSOR_INIT;
    tensor[i].dtype = p.is_output && p.shape == TMARING_SHAPE_COLUMN ? TMARING_F32 : dtype;
    tensor[i].rows = p.shape == TMARING_SHAPE_ROW ? 1 : shape->rows;
    tensor[i].cols = p.shape == TMARING_SHAPE_COLUMN ? 1 : shape->cols;
    const uint32_t element = tmaring_dtype_bytes(tensor[i].dtype);
    tensor[i].alignment = shape->alignment < element ? element : shape->alignment;
  }
  return TMARING_OK;
}

static tmaring_status add_plan(const tmaring_formula *formula, tmaring_dtype dtype, const struct builtin_shape *shape)
{
  tmaring_tensor tensor[TMARING__MAX_TENSORS];
  const int32_t count = tmaring_formula_tensor_count(formula);
  tmaring_machine machine;
  tmaring_plan *plan = NULL;
  tmaring__text source = {0};
  tmaring_machine_h200(&machine);
  TMARING__TRY(describe(formula, dtype, shape, tensor, count));
  TMARING__TRY(tmaring_plan_create(&plan, formula, tensor, count, &machine, NULL));
  tmaring_status status = tmaring__plan_source(plan, &source);
  if (status == TMARING_OK) status = add_source(source.data);
  tmaring__text_free(&source);
  tmaring_plan_free(plan);
  return status;
}

static tmaring_status add_formula(const char *text)
{
  tmaring_formula *formula = NULL;
  tmaring_status status;
  TMARING__TRY(tmaring_formula_parse(&formula, text));
  for (size_t d = 0; d < COUNT(builtin_dtype); ++d) {
    for (size_t s = 0; s < COUNT(builtin_shape); ++s) {
      TMARING__TRY_GOTO(add_plan(formula, builtin_dtype[d], &builtin_shape[s]), done);
    }
  }
  status = TMARING_OK;
done:
  tmaring_formula_free(formula);
  return status;
}

static void write_bytes(FILE *file, size_t number)
{
  const unsigned char *bytes = kernel[number].cubin;
  fprintf(file, "static const unsigned char cubin_%zu[] = {", number);
  for (size_t i = 0; i < kernel[number].bytes; ++i) fprintf(file, "%s%u,", i % 32 ? "" : "\n", bytes[i]);
  fprintf(file, "\n};\n");
}

static int write_table(const char *path)
{
  FILE *file = fopen(path, "w");
  if (!file) return 0;
  fprintf(file,
          "#include <stddef.h>\n#include <stdint.h>\n\n"
          "struct tmaring__builtin {\n  uint64_t key[2];\n  const unsigned char *cubin;\n  size_t bytes;\n};\n"
          "extern const struct tmaring__builtin tmaring__builtins[];\nextern const size_t tmaring__builtin_count;\n\n");
  for (size_t i = 0; i < kernel_count; ++i) write_bytes(file, i);
  fprintf(file, "\nconst struct tmaring__builtin tmaring__builtins[] = {\n");
  for (size_t i = 0; i < kernel_count; ++i) {
    fprintf(file, "    {{0x%llxull, 0x%llxull}, cubin_%zu, sizeof cubin_%zu},\n", (unsigned long long)kernel[i].key[0],
            (unsigned long long)kernel[i].key[1], i, i);
  }
  fprintf(file, "};\nconst size_t tmaring__builtin_count = %zu;\n", kernel_count);
  return fclose(file) == 0;
}

static int write_cubins(const char *folder)
{
  for (size_t i = 0; i < kernel_count; ++i) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%016llx%016llx.cubin", folder, (unsigned long long)kernel[i].key[0],
             (unsigned long long)kernel[i].key[1]);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(kernel[i].cubin, 1, kernel[i].bytes, file) != kernel[i].bytes || fclose(file) != 0) return 0;
  }
  return 1;
}

static size_t total_bytes(void)
{
  size_t bytes = 0;
  for (size_t i = 0; i < kernel_count; ++i) bytes += kernel[i].bytes;
  return bytes;
}

int main(int argc, char **argv)
{
  const int cubins = argc == 3 && strcmp(argv[1], "--cubins") == 0;
  int major, minor;
  const char *file;
  if (argc != 2 && !cubins) {
    fprintf(stderr, "usage: tmaring-builtin OUTPUT.c | tmaring-builtin --cubins FOLDER\n");
    return 1;
  }
  tmaring_status status = tmaring__nvrtc_version(&major, &minor, &file);
  for (size_t i = 0; status == TMARING_OK && i < COUNT(builtin_formula); ++i) status = add_formula(builtin_formula[i]);
  if (status != TMARING_OK) {
    fprintf(stderr, "tmaring-builtin: %s: %s\n", tmaring_status_name(status), tmaring_last_detail());
    return 1;
  }
  if (!(cubins ? write_cubins(argv[2]) : write_table(argv[1]))) {
    fprintf(stderr, "tmaring-builtin: could not write %s\n", argv[argc - 1]);
    return 1;
  }
  printf("%zu kernels, %zu bytes of cubins, NVRTC %d.%d\n", kernel_count, total_bytes(), major, minor);
  return 0;
}
