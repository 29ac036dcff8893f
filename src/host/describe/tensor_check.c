#include "tensor_check.h"

#include "../base/detail.h"

static tmaring_status check_type(const tmaring_parameter *parameter, tmaring_tensor *tensor)
{
  const uint32_t elem_bytes = tmaring_dtype_bytes((tmaring_i32)tensor->dtype);
  if (elem_bytes == 0) {
    return tmaring__fail(TMARING_ERROR_TYPE, "%s.dtype: got %d, needs TMARING_F32, TMARING_F16 or TMARING_BF16",
                         parameter->name, (int)tensor->dtype);
  }
  if (tensor->alignment == 0) tensor->alignment = 16;
  const uint32_t alignment = tensor->alignment;
  if ((alignment & (alignment - 1)) != 0 || alignment < elem_bytes) {
    return tmaring__fail(TMARING_ERROR_ALIGNMENT,
                         "%s.alignment: got %u, needs a power of two of at least the element size %u; 0 stands for 16",
                         parameter->name, (unsigned)alignment, (unsigned)elem_bytes);
  }
  return TMARING_OK;
}

static tmaring_status check_range(const tmaring_parameter *parameter, const tmaring_tensor *tensor)
{
  if (tensor->cols < 1 || tensor->cols > 2147483647) {
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.cols: got %lld, needs 1 .. 2147483647; split longer rows",
                         parameter->name, (long long)tensor->cols);
  }
  if (tensor->rows < 0 || tensor->rows > TMARING__MAX_ROWS) {
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.rows: got %lld, needs 0 .. %lld; 0 leaves M to the launch",
                         parameter->name, (long long)tensor->rows, (long long)TMARING__MAX_ROWS);
  }
  return TMARING_OK;
}

static tmaring_status check_pitch(const tmaring_parameter *parameter, tmaring_tensor *tensor)
{
  if (tensor->pitch == 0) tensor->pitch = tensor->cols;
  if (tensor->pitch < tensor->cols) {
    return tmaring__fail(TMARING_ERROR_SHAPE,
                         "%s.pitch: got %lld, needs at least cols = %lld elements; 0 stands for dense rows",
                         parameter->name, (long long)tensor->pitch, (long long)tensor->cols);
  }
  const int64_t limit = TMARING__MAX_PITCH_BYTES / tmaring_dtype_bytes((tmaring_i32)tensor->dtype);
  if (tensor->pitch > limit) {
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.pitch: got %lld, needs at most %lld elements; pass a smaller view",
                         parameter->name, (long long)tensor->pitch, (long long)limit);
  }
  if (parameter->shape == TMARING_SHAPE_COLUMN && tensor->pitch != 1) {
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.pitch: got %lld, needs 1: the values of an [M] tensor are contiguous",
                         parameter->name, (long long)tensor->pitch);
  }
  return TMARING_OK;
}

static tmaring_status agree_cols(const tmaring_parameter *parameter, const tmaring_tensor *tensor,
                                 tmaring__extent *extent)
{
  if (parameter->shape == TMARING_SHAPE_COLUMN) {
    if (tensor->cols == 1) return TMARING_OK;
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.cols: got %lld, needs 1: the formula has %s[M], one value per row",
                         parameter->name, (long long)tensor->cols, parameter->name);
  }
  if (extent->cols == 0) {
    extent->cols = tensor->cols;
    extent->cols_owner = parameter->name;
  }
  if (tensor->cols == extent->cols) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE,
                       "%s.cols: got %lld, needs %lld: N of %s; all rows of a formula are equally long",
                       parameter->name, (long long)tensor->cols, (long long)extent->cols, extent->cols_owner);
}

static tmaring_status agree_rows(const tmaring_parameter *parameter, const tmaring_tensor *tensor,
                                 tmaring__extent *extent)
{
  if (parameter->shape == TMARING_SHAPE_ROW) {
    if (tensor->rows == 1) return TMARING_OK;
    return tmaring__fail(TMARING_ERROR_SHAPE, "%s.rows: got %lld, needs 1: the formula has %s[N], one value per column",
                         parameter->name, (long long)tensor->rows, parameter->name);
  }
  if (extent->rows == 0) {
    extent->rows = tensor->rows;
    extent->rows_owner = parameter->name;
  }
  if (tensor->rows == 0 || tensor->rows == extent->rows) return TMARING_OK;
  return tmaring__fail(TMARING_ERROR_SHAPE, "%s.rows: got %lld, needs %lld: M of %s; 0 leaves M to the launch",
                       parameter->name, (long long)tensor->rows, (long long)extent->rows, extent->rows_owner);
}

tmaring_status tmaring__tensor_check(const tmaring_parameter *parameter, tmaring_tensor *tensor,
                                     tmaring__extent *extent)
{
  if (tensor->size != sizeof *tensor) {
    return tmaring__fail(TMARING_ERROR_ARGUMENT, "%s.size: got %zu, needs %zu; start from TMARING_TENSOR_INIT",
                         parameter->name, tensor->size, sizeof *tensor);
  }
  TMARING__TRY(check_type(parameter, tensor));
  TMARING__TRY(check_range(parameter, tensor));
  TMARING__TRY(agree_cols(parameter, tensor, extent));
  TMARING__TRY(agree_rows(parameter, tensor, extent));
  return check_pitch(parameter, tensor);
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
