/* tmaring ops: the catalogue. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "json_text.h"
#include "tmaring/ops.h"

/* "f32, f16" of a set of types. */
static void types_text(uint32_t dtypes, char *out, size_t capacity)
{
  size_t used = 0;
  out[0] = 0;
  for (int32_t t = 0; t < TMARING_DTYPE_COUNT && used < capacity; ++t)
    if (dtypes >> t & 1u)
      used +=
          (size_t)snprintf(out + used, capacity - used, "%s%s", used ? ", " : "", tmaring_dtype_name((tmaring_dtype)t));
}

static void print_op(const tmaring_op_info *op)
{
  char types[96], shape[24];
  printf("%s (%s)\n  %s\n", op->name, op->group, op->formula);
  for (int32_t i = 0; i < op->tensor_count; ++i) {
    types_text(op->dtypes[i], types, sizeof types);
    printf("  %-3s %s%s: %s\n", op->tensor[i].is_output ? "out" : "in", op->tensor[i].name,
           tmaring__shape_word(&op->tensor[i], shape), types);
  }
  printf("  may share memory: %s\n", op->alias);
}

static json_t *tensor_json(const tmaring_op_info *op, int32_t index)
{
  char shape[24];
  json_t *const types = json_array();
  for (int32_t t = 0; t < TMARING_DTYPE_COUNT; ++t)
    if (op->dtypes[index] >> t & 1u) json_array_append_new(types, json_string(tmaring_dtype_name((tmaring_dtype)t)));
  json_t *const json =
      json_pack("{ss,ss,sb,so}", "name", op->tensor[index].name, "shape",
                tmaring__shape_word(&op->tensor[index], shape), "output", op->tensor[index].is_output, "types", types);
  if (op->dtype[index] != TMARING_OP_ANY_TYPE)
    json_object_set_new(json, "usual_type", json_string(tmaring_dtype_name((tmaring_dtype)op->dtype[index])));
  return json;
}

static json_t *op_json(const tmaring_op_info *op)
{
  json_t *const tensors = json_array(), *const scalars = json_array();
  for (int32_t i = 0; i < op->tensor_count; ++i) json_array_append_new(tensors, tensor_json(op, i));
  for (int32_t i = 0; i < op->scalar_count; ++i) {
    json_t *const scalar = json_pack("{ss}", "name", op->scalar[i].name);
    if (op->scalar[i].has_default) json_object_set_new(scalar, "default", json_real(op->scalar[i].default_value));
    json_array_append_new(scalars, scalar);
  }
  return json_pack("{ss,ss,ss,so,so,ss}", "name", op->name, "group", op->group, "formula", op->formula, "tensors",
                   tensors, "scalars", scalars, "alias", op->alias);
}

int tmaring__ops_command(const tmaring__request *request)
{
  json_t *const list = json_array();
  for (int32_t i = 0; i < tmaring_op_count(); ++i) {
    tmaring_op_info op;
    memset(&op, 0, sizeof op);
    op.size = sizeof op;
    const tmaring_status status = tmaring_op_describe(i, &op);
    if (status != TMARING_OK) {
      json_decref(list);
      return tmaring__complain(status, "ops");
    }
    if (request->json)
      json_array_append_new(list, op_json(&op));
    else
      print_op(&op);
  }
  if (request->json) return tmaring__json_print(list);
  json_decref(list);
  return 0;
}
