#include "tensor_check.h"

#include "../base/detail.h"

#define DTYPE_SPACED(name, value, text, bytes) " " text

static int64_t elem_bytes_of(const tmaring_tensor *tensor)
{
  return (int64_t)tmaring_dtype_bytes((tmaring_i32)tensor->dtype);
}

/* ---- type and alignment ---- */

static tmaring_status check_type(const tmaring_parameter *parameter, const tmaring_tensor *tensor)
{
  if (elem_bytes_of(tensor) == 0) {
    return tmaring__fail(TMARING_ERROR_TYPE,
                         "%s.dtype: got %d, needs the enumerator of one of" TMARING_DTYPE_LIST(DTYPE_SPACED),
                         parameter->name, (int)tensor->dtype);
  }
  if (tensor->dtype == TMARING_I64 && parameter->shape != TMARING_SHAPE_COLUMN) {
    return tmaring__fail(TMARING_ERROR_TYPE,
                         "%s.dtype: got i64, needs another type: i64 is for [M] tensors (labels, column numbers); use "
                         "i32 or f64",
                         parameter->name);
  }
  return TMARING_OK;
}

static tmaring_status check_alignment(const tmaring_parameter *parameter, tmaring_tensor *tensor)
{
  const uint32_t elem_bytes = (uint32_t)elem_bytes_of(tensor);
  if (tensor->alignment == 0) tensor->alignment = 16;
  const uint32_t alignment = tensor->alignment;
  if ((alignment & (alignment - 1)) == 0 && alignment >= elem_bytes) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ALIGNMENT,
                       "%s.alignment: got %u, needs a power of two of at least the element size %u; 0 stands for 16",
                       parameter->name, (unsigned)alignment, (unsigned)elem_bytes);
}

/* ---- extents ---- */

static tmaring_status check_range(const tmaring_parameter *parameter, const tmaring_tensor *tensor)
{
  const int64_t most = parameter->shape == TMARING_SHAPE_DOUBLE ? 2 * (int64_t)2147483647 : 2147483647;
  if (tensor->cols < 1 || tensor->cols > most) {
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.cols: got %lld, needs 1 .. %lld; split longer rows", parameter->name,
                         (long long)tensor->cols, (long long)most);
  }
  if (tensor->rows < 0 || tensor->rows > TMARING__MAX_ROWS) {
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.rows: got %lld, needs 0 .. %lld; 0 leaves M to the launch",
                         parameter->name, (long long)tensor->rows, (long long)TMARING__MAX_ROWS);
  }
  return TMARING_OK;
}

/* Matrices and row vectors tell N, and must agree on it. */
static tmaring_status agree_plain(const tmaring_parameter *parameter, const tmaring_tensor *tensor,
                                  tmaring__extent *extent)
{
  if (extent->cols == 0) {
    extent->cols = tensor->cols;
    extent->cols_owner = parameter->name;
  }
  if (tensor->cols == extent->cols) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE,
                       "%s.cols: got %lld, needs %lld: N of %s; all rows of a formula are equally long",
                       parameter->name, (long long)tensor->cols, (long long)extent->cols, extent->cols_owner);
}

static tmaring_status agree_double(const tmaring_parameter *parameter, const tmaring_tensor *tensor,
                                   tmaring__extent *extent)
{
  if (extent->cols == 0 && tensor->cols % 2 == 0) {
    extent->cols = tensor->cols / 2;
    extent->cols_owner = parameter->name;
  }
  if (extent->cols == 0) {
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.cols: got %lld, needs an even number: the formula has %s[M,2N]",
                         parameter->name, (long long)tensor->cols, parameter->name);
  }
  if (tensor->cols == 2 * extent->cols) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE,
                       "%s.cols: got %lld, needs %lld: 2N with N = %lld of %s; the formula has %s[M,2N]",
                       parameter->name, (long long)tensor->cols, (long long)(2 * extent->cols), (long long)extent->cols,
                       extent->cols_owner, parameter->name);
}

static tmaring_status agree_groups(const tmaring_parameter *parameter, const tmaring_tensor *tensor,
                                   const tmaring__extent *extent)
{
  const int64_t due = tmaring_ceil_div(extent->cols, parameter->group_cols);
  if (tensor->cols == due) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE,
                       "%s.cols: got %lld, needs %lld: a value per group of %d columns, N is %lld of %s",
                       parameter->name, (long long)tensor->cols, (long long)due, parameter->group_cols,
                       (long long)extent->cols, extent->cols_owner);
}

static tmaring_status agree_cols(const tmaring_parameter *parameter, const tmaring_tensor *tensor,
                                 tmaring__extent *extent)
{
  switch (parameter->shape) {
  case TMARING_SHAPE_DOUBLE: return agree_double(parameter, tensor, extent);
  case TMARING_SHAPE_GROUP: return agree_groups(parameter, tensor, extent);
  case TMARING_SHAPE_COLUMN: break;
  default: return agree_plain(parameter, tensor, extent);
  }
  if (tensor->cols == 1) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE, "%s.cols: got %lld, needs 1: the formula has %s[M], one value per row",
                       parameter->name, (long long)tensor->cols, parameter->name);
}

static tmaring_status agree_rows(const tmaring_parameter *parameter, const tmaring_tensor *tensor,
                                 tmaring__extent *extent)
{
  if (parameter->shape == TMARING_SHAPE_ROW) {
    if (tensor->rows == 1) return TMARING_OK;
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.rows: got %lld, needs 1: the formula has %s[N], one value per column",
                         parameter->name, (long long)tensor->rows, parameter->name);
  }
  if (tensor->rows == 1 && tensor->pitch == TMARING_ONE_VALUE)
    return TMARING_OK; /* as the scale tensor itself has it */
  if (extent->rows == 0) {
    extent->rows = tensor->rows;
    extent->rows_owner = parameter->name;
  }
  if (tensor->rows == 0 || tensor->rows == extent->rows) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE, "%s.rows: got %lld, needs %lld: M of %s; 0 leaves M to the launch",
                       parameter->name, (long long)tensor->rows, (long long)extent->rows, extent->rows_owner);
}

/* ---- strides ---- */

static tmaring_status check_stride(const tmaring_parameter *parameter, const char *field, const tmaring_tensor *tensor,
                                   int64_t got)
{
  const int64_t most = TMARING__MAX_PITCH_BYTES / elem_bytes_of(tensor);
  if (got < 1) {
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.%s: got %lld, needs at least 1 element; 0 stands for dense values",
                         parameter->name, field, (long long)got);
  }
  if (got > most) {
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.%s: got %lld, needs at most %lld elements; pass a smaller view",
                         parameter->name, field, (long long)got, (long long)most);
  }
  return TMARING_OK;
}

static int is_matrix(const tmaring_parameter *parameter)
{
  return parameter->shape == TMARING_SHAPE_MATRIX || parameter->shape == TMARING_SHAPE_DOUBLE;
}

static tmaring_status check_pitch(const tmaring_parameter *parameter, tmaring_tensor *tensor)
{
  const int one_per_row = parameter->shape == TMARING_SHAPE_COLUMN;
  if (tensor->pitch == TMARING_ONE_VALUE && one_per_row) {
    if (!parameter->is_output) return TMARING_OK;
    return tmaring__fail(TMARING_ERROR_SHAPE,
                         "%s.pitch: got TMARING_ONE_VALUE, needs 1 or more: an output has a value for every row",
                         parameter->name);
  }
  if (tensor->pitch == 0) tensor->pitch = tensor->cols;
  if (!one_per_row && parameter->shape != TMARING_SHAPE_GROUP && tensor->pitch < tensor->cols) {
    return tmaring__fail(TMARING_ERROR_SHAPE,
                         "%s.pitch: got %lld, needs at least cols = %lld elements; 0 stands for dense rows",
                         parameter->name, (long long)tensor->pitch, (long long)tensor->cols);
  }
  return check_stride(parameter, "pitch", tensor, tensor->pitch);
}

static tmaring_status check_step(const tmaring_parameter *parameter, tmaring_tensor *tensor)
{
  const int64_t elem_bytes = elem_bytes_of(tensor);
  if (parameter->shape != TMARING_SHAPE_GROUP) {
    if (tensor->step == 0) return TMARING_OK;
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.step: got %lld, needs 0: only [M,N/k] tensors have a step",
                         parameter->name, (long long)tensor->step);
  }
  if (tensor->step == 0) tensor->step = 1;
  TMARING__TRY(check_stride(parameter, "step", tensor, tensor->step));
  const int64_t most = tmaring_max_i64(1, TMARING__MAX_ROW_BYTES / elem_bytes / tensor->cols);
  if (tensor->step <= most) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE, "%s.step: got %lld, needs at most %lld elements with %lld groups per row",
                       parameter->name, (long long)tensor->step, (long long)most, (long long)tensor->cols);
}

/* Rows of a group lie within what the next group begins after. Divides: the product may pass 64 bits. */
static tmaring_status check_group_pitch(const tmaring_parameter *parameter, const tmaring_tensor *tensor)
{
  const int64_t others = tensor->group_rows - 1;
  if (others > (INT64_MAX - tensor->cols) / tensor->pitch) {
    return tmaring__fail(TMARING_ERROR_SHAPE,
                         "%s.group_rows: got %lld rows of pitch %lld, needs groups of less than 2^63 elements",
                         parameter->name, (long long)tensor->group_rows, (long long)tensor->pitch);
  }
  const int64_t span = others * tensor->pitch + tensor->cols;
  if (tensor->group_pitch < span) {
    return tmaring__fail(
        TMARING_ERROR_SHAPE,
        "%s.group_pitch: got %lld, needs at least the %lld elements that a group of %lld rows of pitch "
        "%lld spans",
        parameter->name, (long long)tensor->group_pitch, (long long)span, (long long)tensor->group_rows,
        (long long)tensor->pitch);
  }
  return check_stride(parameter, "group_pitch", tensor, tensor->group_pitch);
}

static tmaring_status check_groups(const tmaring_parameter *parameter, const tmaring_tensor *tensor)
{
  if (tensor->group_rows == 0 && tensor->group_pitch == 0) return TMARING_OK;
  if (!is_matrix(parameter)) {
    return tmaring__fail(TMARING_ERROR_SHAPE,
                         "%s.group_rows: got %lld (group_pitch %lld), needs 0: only rows of matrices come in groups",
                         parameter->name, (long long)tensor->group_rows, (long long)tensor->group_pitch);
  }
  if (tensor->group_rows < 1 || tensor->group_rows > TMARING__MAX_GROUP_ROWS) {
    return tmaring__fail(TMARING_ERROR_SHAPE,
                         "%s.group_rows: got %lld with group_pitch %lld, needs 1 .. %lld rows per group; 0 in both: "
                         "none",
                         parameter->name, (long long)tensor->group_rows, (long long)tensor->group_pitch,
                         (long long)TMARING__MAX_GROUP_ROWS);
  }
  return check_group_pitch(parameter, tensor);
}

tmaring_status tmaring__tensor_check(const tmaring_parameter *parameter, tmaring_tensor *tensor,
                                     tmaring__extent *extent)
{
  if (tensor->size != sizeof *tensor) {
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "%s.size: got %zu, needs %zu; start from TMARING_TENSOR_INIT",
                         parameter->name, tensor->size, sizeof *tensor);
  }
  TMARING__TRY(check_type(parameter, tensor));
  TMARING__TRY(check_alignment(parameter, tensor));
  TMARING__TRY(check_range(parameter, tensor));
  TMARING__TRY(agree_cols(parameter, tensor, extent));
  TMARING__TRY(agree_rows(parameter, tensor, extent));
  TMARING__TRY(check_pitch(parameter, tensor));
  TMARING__TRY(check_step(parameter, tensor));
  return check_groups(parameter, tensor);
}

static tmaring_status machine_field(const char *field, int64_t got, int64_t low, int64_t high)
{
  if (got >= low && got <= high) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_ARGUMENT,
                       "machine.%s: got %lld, needs %lld .. %lld; start from tmaring_machine_h200", field,
                       (long long)got, (long long)low, (long long)high);
}

/* Upper bounds keep products of two fields within 31 bits. */
tmaring_status tmaring__machine_check(const tmaring_machine *machine)
{
  TMARING__TRY(machine_field("sm_count", machine->sm_count, 1, 65536));
  TMARING__TRY(machine_field("smem_reserved_bytes", machine->smem_reserved_bytes, 0, 1 << 20));
  TMARING__TRY(machine_field("smem_per_block_bytes", machine->smem_per_block_bytes, 1, 1 << 24));
  TMARING__TRY(machine_field("smem_per_sm_bytes", machine->smem_per_sm_bytes, 1, 1 << 24));
  TMARING__TRY(machine_field("threads_per_sm", machine->threads_per_sm, 64, 1 << 16));
  return machine_field("registers_per_sm", machine->registers_per_sm, 4096, 1 << 20);
}
