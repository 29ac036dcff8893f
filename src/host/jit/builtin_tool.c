/* Compiles the built-in kernels while the library is built, by the same way as a user's formula at run time.
 *
 *   tmaring-builtin OUTPUT.c          writes the table, and the kernels to OUTPUT.bin, which it takes in
 *   tmaring-builtin --cubins FOLDER   writes one file per kernel instead, to look at
 *   tmaring-builtin --sizes           prints kernels and bytes of each op, and bytes as packed
 *
 * Kernels that are in the cache (TMARING_CACHE_DIR) are taken from there, the others are compiled by as many processes
 * as there are processors. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builtin_list.h"
#include "code_cache.h"
#include "code_store.h"
#include "nvrtc.h"
#include "pack.h"
#include "tmaring/ops.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define MAX_KERNELS  400

static struct kernel {
  uint64_t key[2];
  tmaring__text source;
  const char *origin; /* what asked for it first: an op, or a formula */
  tmaring__cache_entry code;
  void *packed;
  size_t packed_bytes;
} kernel[MAX_KERNELS];
static size_t kernel_count;

/* ---- which kernels ---- */

static int is_known(const uint64_t key[2])
{
  for (size_t i = 0; i < kernel_count; ++i) {
    if (kernel[i].key[0] == key[0] && kernel[i].key[1] == key[1]) return 1;
  }
  return 0;
}

/* Takes the source over. */
static tmaring_status add_source(tmaring__text *source, const char *origin)
{
  struct kernel k = {.source = *source, .origin = origin};
  tmaring__code_key(source->data, k.key);
  if (is_known(k.key)) {
    tmaring__text_free(source);
    return TMARING_OK;
  }
  if (kernel_count == MAX_KERNELS)
    return tmaring__fail(TMARING_ERROR_CAPACITY, "built-in kernels: more than %d", MAX_KERNELS);
  kernel[kernel_count++] = k;
  return TMARING_OK;
}

static tmaring_tensor describe(const tmaring_parameter *p, tmaring_dtype dtype, const builtin_shape *shape)
{
  const uint32_t element = tmaring_dtype_bytes((tmaring_i32)dtype);
  tmaring_tensor tensor = TMARING_TENSOR_INIT;
  tensor.dtype = dtype;
  tensor.rows = p->shape == TMARING_SHAPE_ROW ? 1 : shape->rows;
  tensor.cols = shape->cols;
  if (p->shape == TMARING_SHAPE_COLUMN) tensor.cols = 1;
  if (p->shape == TMARING_SHAPE_DOUBLE) tensor.cols = 2 * shape->cols;
  if (p->shape == TMARING_SHAPE_GROUP) tensor.cols = tmaring_ceil_div(shape->cols, p->group_cols);
  tensor.alignment = shape->alignment < element ? element : shape->alignment;
  return tensor;
}

static tmaring_status add_plan(const tmaring_formula *formula, const tmaring_tensor *tensor, int32_t count,
                               const char *origin)
{
  tmaring_machine machine;
  tmaring_plan *plan = NULL;
  tmaring__text source = {0};
  tmaring_machine_h200(&machine);
  TMARING__TRY(tmaring_plan_create(&plan, formula, tensor, count, &machine, NULL));
  tmaring_status status = tmaring__plan_source(plan, &source);
  if (status == TMARING_OK) status = add_source(&source, origin);
  tmaring_plan_free(plan);
  return status;
}

/* ---- formulas: [M] outputs are f32, everything else has the one type ---- */

static tmaring_status add_formula_plan(const tmaring_formula *formula, tmaring_dtype dtype, const builtin_shape *shape)
{
  tmaring_tensor tensor[TMARING__MAX_TENSORS];
  const int32_t count = tmaring_formula_tensor_count(formula);
  for (int32_t i = 0; i < count; ++i) {
    tmaring_parameter p = {.size = sizeof p};
    TMARING__TRY(tmaring_formula_tensor(formula, i, &p));
    const int per_row = p.is_output && p.shape == TMARING_SHAPE_COLUMN;
    tensor[i] = describe(&p, per_row ? TMARING_F32 : dtype, shape);
  }
  return add_plan(formula, tensor, count, "formulas");
}

static tmaring_status add_formula(const char *text)
{
  tmaring_formula *formula = NULL;
  tmaring_status status;
  TMARING__TRY(tmaring_formula_parse(&formula, text));
  for (size_t d = 0; d < COUNT(builtin_dtype); ++d) {
    for (size_t s = 0; s < COUNT(formula_shape); ++s) {
      TMARING__TRY_GOTO(add_formula_plan(formula, builtin_dtype[d], &formula_shape[s]), done);
    }
  }
  status = TMARING_OK;
done:
  tmaring_formula_free(formula);
  return status;
}

/* ---- ops: tensors have their usual types, or the call's ---- */

/* A formula's tensors are inputs, then outputs; an op's outputs, then inputs. */
static tmaring_status add_op_plan(const tmaring_op_info *op, const tmaring_formula *formula, tmaring_dtype call,
                                  tmaring_dtype output, const builtin_shape *shape)
{
  tmaring_tensor tensor[TMARING_OP_MAX_TENSORS];
  const int32_t inputs = op->tensor_count - op->output_count;
  for (int32_t i = 0; i < op->tensor_count; ++i) {
    const tmaring_dtype any = op->tensor[i].is_output ? output : call;
    const tmaring_dtype dtype = op->dtype[i] == TMARING_OP_ANY_TYPE ? any : (tmaring_dtype)op->dtype[i];
    const int32_t place = i < op->output_count ? inputs + i : i - op->output_count;
    tensor[place] = describe(&op->tensor[i], dtype, shape);
  }
  return add_plan(formula, tensor, op->tensor_count, op->name);
}

static int has_word(const char *list, const char *word)
{
  const size_t length = strlen(word);
  for (const char *at = strstr(list, word); at; at = strstr(at + 1, word)) {
    if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return 1;
  }
  return 0;
}

static tmaring_status add_op_sizes(const tmaring_op_info *op, const tmaring_formula *formula, tmaring_dtype call,
                                   tmaring_dtype output)
{
  for (size_t s = 0; s < COUNT(op_sizes); ++s) {
    const builtin_sizes *sizes = &op_sizes[s];
    if (!has_word(sizes->ops, op->group) && !has_word(sizes->ops, op->name)) continue;
    for (const int64_t *cols = sizes->cols; *cols > 0; ++cols) {
      const builtin_shape shape = {0, *cols, sizes->alignment};
      TMARING__TRY(add_op_plan(op, formula, call, output, &shape));
    }
  }
  return TMARING_OK;
}

static tmaring_status add_op_types(const tmaring_op_info *op, const tmaring_formula *formula)
{
  for (int32_t d = 0; d < TMARING_DTYPE_COUNT; ++d) {
    if (op->ahead >> d & 1) TMARING__TRY(add_op_sizes(op, formula, (tmaring_dtype)d, (tmaring_dtype)d));
  }
  for (size_t c = 0; c < COUNT(builtin_cast) && strcmp(op->name, "cast") == 0; ++c)
    TMARING__TRY(add_op_sizes(op, formula, builtin_cast[c][0], builtin_cast[c][1]));
  return TMARING_OK;
}

static tmaring_status add_op(int32_t index)
{
  tmaring_op_info op = {.size = sizeof op};
  tmaring_formula *formula = NULL;
  TMARING__TRY(tmaring_op_describe(index, &op));
  TMARING__TRY(tmaring_formula_parse(&formula, op.formula));
  const tmaring_status status = add_op_types(&op, formula);
  tmaring_formula_free(formula);
  return status;
}

static tmaring_status add_all(void)
{
  for (size_t i = 0; i < COUNT(builtin_formula); ++i) TMARING__TRY(add_formula(builtin_formula[i]));
  for (int32_t i = 0; i < tmaring_op_count(); ++i) TMARING__TRY(add_op(i));
  return TMARING_OK;
}

/* ---- compiling, through the cache ---- */

/* Compiles every kernel that no other process has begun. */
static int work(atomic_size_t *next)
{
  for (size_t i; (i = atomic_fetch_add(next, 1)) < kernel_count;) {
    tmaring__machine_code code;
    if (tmaring__machine_code_find(kernel[i].source.data, 0, &code) != TMARING_OK) {
      fprintf(stderr, "tmaring-builtin: %s: %s\n", kernel[i].origin, tmaring_last_detail());
      return 1;
    }
    tmaring__machine_code_free(&code);
  }
  return 0;
}

static int processors(void)
{
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int compile_all(void)
{
  int good = 1, status;
  atomic_size_t *next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (next == MAP_FAILED) return 0;
  atomic_init(next, 0);
  for (int i = processors(); i > 0; --i) {
    const pid_t child = fork();
    if (child == 0) _exit(work(next));
    if (child < 0) good = 0;
  }
  while (wait(&status) > 0) good = good && status == 0;
  munmap(next, sizeof *next);
  return good;
}

static int pack_kernel(struct kernel *k)
{
  k->packed = malloc(pack_bound(k->code.bytes));
  if (k->packed) k->packed_bytes = pack(k->code.cubin, k->code.bytes, k->packed);
  return k->packed_bytes > 0;
}

static int read_all(void)
{
  for (size_t i = 0; i < kernel_count; ++i) {
    if (tmaring__cache_read(kernel[i].key, kernel[i].source.data, &kernel[i].code) && pack_kernel(&kernel[i])) continue;
    fprintf(stderr, "tmaring-builtin: %s: a kernel is not in the cache; needs a folder that can be written\n",
            kernel[i].origin);
    return 0;
  }
  return 1;
}

/* Without a cache, one for the time being. */
static int compile_and_read(void)
{
  char folder[] = "/tmp/tmaring-builtin.XXXXXX", command[64];
  const char *named = getenv("TMARING_CACHE_DIR");
  unsetenv("TMARING_CACHE");
  if (named && *named) return compile_all() && read_all();
  if (!mkdtemp(folder) || setenv("TMARING_CACHE_DIR", folder, 1) != 0) return 0;
  const int good = compile_all() && read_all();
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) == 0 && good;
}

/* ---- output ---- */

static int write_code(const char *path)
{
  FILE *file = fopen(path, "wb");
  if (!file) return 0;
  for (size_t i = 0; i < kernel_count; ++i) fwrite(kernel[i].packed, 1, kernel[i].packed_bytes, file);
  const int good = !ferror(file);
  return fclose(file) == 0 && good;
}

/* The assembler takes the bytes in: as initialisers they would keep a compiler busy for long. */
static void write_head(FILE *file, const char *code_path)
{
  fprintf(file,
          "#include <stddef.h>\n#include <stdint.h>\n\n"
          "struct tmaring__builtin {\n  uint64_t key[2];\n  const unsigned char *packed;\n"
          "  size_t packed_bytes, bytes;\n};\n"
          "extern const struct tmaring__builtin tmaring__builtins[];\nextern const size_t tmaring__builtin_count;\n"
          "extern const unsigned char tmaring__builtin_code[] __attribute__((visibility(\"hidden\")));\n\n"
          "__asm__(\".pushsection .rodata\\n.globl tmaring__builtin_code\\n.hidden tmaring__builtin_code\\n\"\n"
          "        \"tmaring__builtin_code:\\n.incbin \\\"%s\\\"\\n.popsection\\n\");\n\n",
          code_path);
}

static int write_table(const char *path)
{
  char code_path[4096];
  size_t offset = 0;
  const size_t stem = strlen(path) - 2;
  if (snprintf(code_path, sizeof code_path, "%.*s.bin", (int)stem, path) >= (int)sizeof code_path) return 0;
  if (!write_code(code_path)) return 0;
  FILE *file = fopen(path, "w");
  if (!file) return 0;
  write_head(file, code_path);
  fprintf(file, "const struct tmaring__builtin tmaring__builtins[] = {\n");
  for (size_t i = 0; i < kernel_count; ++i) {
    const struct kernel *k = &kernel[i];
    fprintf(file, "    {{0x%llxull, 0x%llxull}, tmaring__builtin_code + %zu, %zu, %zu},\n",
            (unsigned long long)k->key[0], (unsigned long long)k->key[1], offset, k->packed_bytes, k->code.bytes);
    offset += k->packed_bytes;
  }
  fprintf(file, "};\nconst size_t tmaring__builtin_count = %zu;\n", kernel_count);
  return fclose(file) == 0;
}

static int write_cubins(const char *folder)
{
  for (size_t i = 0; i < kernel_count; ++i) {
    const tmaring__cache_entry *c = &kernel[i].code;
    char path[4096];
    snprintf(path, sizeof path, "%s/%016llx%016llx.cubin", folder, (unsigned long long)kernel[i].key[0],
             (unsigned long long)kernel[i].key[1]);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(c->cubin, 1, c->bytes, file) != c->bytes || fclose(file) != 0) return 0;
  }
  return 1;
}

typedef struct totals {
  size_t kernels, bytes, packed_bytes;
} totals;

static totals add_up(size_t first, size_t end)
{
  totals t = {end - first, 0, 0};
  for (size_t i = first; i < end; ++i) {
    t.bytes += kernel[i].code.bytes;
    t.packed_bytes += kernel[i].packed_bytes;
  }
  return t;
}

/* Kernels of one origin lie together. */
static int print_sizes(void)
{
  for (size_t i = 0, next; i < kernel_count; i = next) {
    for (next = i; next < kernel_count && kernel[next].origin == kernel[i].origin;) ++next;
    const totals t = add_up(i, next);
    printf("%-32s %4zu kernels %9zu bytes %9zu packed\n", kernel[i].origin, t.kernels, t.bytes, t.packed_bytes);
  }
  return 1;
}

static int write_output(int argc, char **argv)
{
  if (strcmp(argv[1], "--sizes") == 0) return print_sizes();
  if (argc == 3 ? write_cubins(argv[2]) : write_table(argv[1])) return 1;
  fprintf(stderr, "tmaring-builtin: could not write %s\n", argv[argc - 1]);
  return 0;
}

static int is_usage(int argc, char **argv)
{
  if (argc == 3) return strcmp(argv[1], "--cubins") == 0;
  if (argc != 2) return 0;
  const size_t length = strlen(argv[1]);
  return strcmp(argv[1], "--sizes") == 0 || (length > 2 && strcmp(argv[1] + length - 2, ".c") == 0);
}

int main(int argc, char **argv)
{
  int major, minor;
  const char *file;
  if (!is_usage(argc, argv)) {
    fprintf(stderr, "usage: tmaring-builtin OUTPUT.c | --cubins FOLDER | --sizes\n");
    return 1;
  }
  tmaring_status status = tmaring__nvrtc_version(&major, &minor, &file);
  if (status == TMARING_OK) status = add_all();
  if (status != TMARING_OK) {
    fprintf(stderr, "tmaring-builtin: %s: %s\n", tmaring_status_name(status), tmaring_last_detail());
    return 1;
  }
  if (!compile_and_read() || !write_output(argc, argv)) return 1;
  const totals t = add_up(0, kernel_count);
  printf("%zu kernels, %zu bytes of cubins, %zu packed, NVRTC %d.%d\n", t.kernels, t.bytes, t.packed_bytes, major,
         minor);
  return 0;
}
