/* What is around the calls of ready ops: errors by name, what may overlap, M from memory, strides, workspaces. */
#include <stdlib.h>

#include "support/op_stand.h"

/* ---- errors ---- */

OP_TEST(op_call, bad_views_are_named)
{
  op_stand d;
  op_stand_open(&d, v, "rmsnorm", TMARING_F32, 6, 256);
  const op_stand good = d;
  tmaring_view *y = &d.v[0], *x = &d.v[1], *w = &d.v[2];
  EXPECT_REFUSAL(tmaring_rmsnorm(y, NULL, w, 1e-6, &d.call, v->stream), TMARING_ERROR_ARGUMENT, "x");
  x->size -= 8;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_ARGUMENT, "x.size");
  d = good;
  x->rows = 5;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_SHAPE, "x.rows");
  d = good;
  y->rows = x->rows = -1;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_SHAPE, "y.rows");
  d = good;
  w->rows = 6;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_SHAPE, "w.rows");
  d = good;
  w->cols = 255;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_SHAPE, "w.cols");
  d = good;
  x->pitch = 255;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_SHAPE, "x.pitch");
  d = good;
  x->group_pitch = 512;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_SHAPE, "x.group_rows");
  d = good;
  w->group_pitch = 512;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_SHAPE, "w.group_rows");
  d = good;
  x->step = 1;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_SHAPE, "x.step");
  d = good;
  w->step = 2;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_SHAPE, "w.step");
  d = good;
  x->dtype = TMARING_E4M3;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_TYPE, "x.dtype");
  x->dtype = (tmaring_dtype)99;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_TYPE, "x.dtype");
  d = good;
  x->data = (char *)x->data + 2;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_ALIGNMENT, "x.data");
  x->data = NULL;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_ARGUMENT, "x");
  d = good;
  op_stand_expect_right(&d); /* refusals leave nothing behind */
  op_stand_close(&d);
}

OP_TEST(op_call, bad_calls_are_named)
{
  op_stand d;
  const tmaring_view *list[3];
  const double eps = 1e-6;
  op_stand_open(&d, v, "rmsnorm", TMARING_F32, 6, 256);
  const op_stand good = d;
  const int32_t index = tmaring_op_find("rmsnorm");
  for (int i = 0; i < 3; ++i) list[i] = &d.v[i];
  EXPECT_REFUSAL(tmaring_op_launch(-1, list, 3, &eps, &d.call, v->stream), TMARING_ERROR_ARGUMENT, "index");
  EXPECT_REFUSAL(tmaring_op_launch(index, list, 2, &eps, &d.call, v->stream), TMARING_ERROR_ARGUMENT, "count");
  EXPECT_REFUSAL(tmaring_op_launch(index, NULL, 3, &eps, &d.call, v->stream), TMARING_ERROR_ARGUMENT, "views");
  d.call.size = 0;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_ARGUMENT, "call");
  d = good;
  d.call.backend = (tmaring_backend)7;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_ARGUMENT, "backend");
  d = good;
  d.call.flags = 0x100;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_ARGUMENT, "flags");
  d = good;
  cr_expect_eq(tmaring_op_launch(index, list, 3, &eps, &d.call, v->stream), TMARING_OK);
  cr_expect_eq(tmaring_op_launch(index, list, 3, NULL, &d.call, v->stream), TMARING_OK, "eps has a default");
  list[0] = &d.v[1];
  EXPECT_REFUSAL(tmaring_op_launch(tmaring_op_find("scale"), list, 2, NULL, &d.call, v->stream), TMARING_ERROR_ARGUMENT,
                 "scalars");
  cr_expect(venue_settle(v));
  op_stand_close(&d);
}

/* Exactly in place is right, as ops_api_test.c shows; every other overlap is refused. */
OP_TEST(op_call, partial_overlap_is_refused)
{
  op_stand d;
  op_stand_open(&d, v, "rmsnorm", TMARING_F32, 6, 256);
  char *x = d.v[1].data;
  for (int32_t shift = 16; shift < 6 * 1024; shift += 1008) {
    d.v[0].data = x + shift;
    EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_ALIAS, "y");
  }
  d.v[0].data = d.v[2].data; /* w */
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_ALIAS, "y");
  op_stand_close(&d);
}

/* Rows of an input, as the call left them, are those that the output had elsewhere. */
static int same_rows(op_state *s, int32_t input, int32_t output)
{
  const guarded *in = &op_input_tensor(s, input)->memory, *out = &op_output(s, output)->memory;
  for (int64_t r = 0; r < in->rows; ++r)
    if (memcmp(guarded_row_after(in, r), guarded_row_after(out, r), in->row_bytes) != 0) return 0;
  return 1;
}

/* h over r and y over x, as servers keep the residual. */
OP_TEST(op_call, both_outputs_may_lie_over_inputs)
{
  static const char *const ops[] = {"add_rmsnorm", "add_rmsnorm_f32sum"};
  for (int i = 0; i < 4; ++i) {
    op_stand d;
    op_stand_open(&d, v, ops[i / 2], TMARING_BF16, 9, i % 2 ? 257 : 4096);
    op_stand_expect_right(&d);
    d.v[0].data = d.v[3].data;
    d.v[1].data = d.v[2].data;
    cr_assert_eq(op_stand_call(&d), TMARING_OK, "%s", tmaring_last_detail());
    cr_assert(venue_settle(v) && op_download(&d.s));
    cr_expect(same_rows(&d.s, 0, 1) && same_rows(&d.s, 1, 0), "%s", ops[i / 2]);
    op_stand_close(&d);
  }
}

OP_TEST(op_call, outputs_of_other_types_are_no_place_for_inputs)
{
  op_stand d;
  op_stand_open(&d, v, "rmsnorm", TMARING_BF16, 6, 256);
  d.v[0].dtype = TMARING_F16;
  d.v[0].data = d.v[1].data;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_ALIAS, "y");
  op_stand_close(&d);
}

/* ---- M, scalars, strides ---- */

OP_TEST(op_call, rows_come_from_memory)
{
  static const int64_t counts[] = {0, 1, 9, 20};
  op_stand d;
  int64_t *rows = v->place->take(sizeof *rows);
  op_stand_open(&d, v, "rmsnorm", TMARING_BF16, 20, 128);
  d.call.rows_device = rows;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
    op_tensor *y = op_output(&d.s, 0);
    cr_assert(guarded_upload(&y->memory) && v->place->upload(rows, &counts[i], sizeof counts[i]));
    cr_assert(op_call_make(&d.s, d.v, &d.call), "%s", d.s.result.text);
    for (int64_t r = 0; r < 20; ++r) {
      const int written = memcmp(guarded_row(&y->memory, r), guarded_row_after(&y->memory, r), 256) != 0;
      cr_expect_eq(written, r < counts[i], "row %d of %d", (int)r, (int)counts[i]);
    }
  }
  cr_expect(op_judge(&d.s), "%s", d.s.result.text); /* all 20 rows, at last */
  v->place->give(rows);
  op_stand_close(&d);
}

static void *first_rows(const venue *v, const char *op, int64_t rows, int64_t cols, int64_t count)
{
  op_stand d;
  unsigned char *kept = malloc((size_t)(count * cols) * 2);
  op_stand_open(&d, v, op, TMARING_BF16, rows, cols);
  cr_assert(op_call_make(&d.s, d.v, &d.call), "%s", d.s.result.text);
  const guarded *y = &op_output(&d.s, 0)->memory;
  for (int64_t r = 0; r < count; ++r) memcpy(kept + r * cols * 2, guarded_row_after(y, r), (size_t)cols * 2);
  op_stand_close(&d);
  return kept;
}

/* A row has the same bits in a batch of few and of many rows: both have one plan, though not one variant of it. */
OP_TEST(op_call, rows_do_not_depend_on_their_number)
{
  static const struct {
    const char *op;
    int64_t cols, many;
  } cases[] = {{"rmsnorm", 4096, 700}, {"layernorm", 2880, 900}, {"softmax", 769, 3000}, {"softmax", 40001, 70}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const int64_t cols = cases[i].cols;
    void *few = first_rows(v, cases[i].op, 3, cols, 3), *many = first_rows(v, cases[i].op, cases[i].many, cols, 3);
    cr_expect_eq(memcmp(few, many, (size_t)cols * 6), 0, "%s, N = %d", cases[i].op, (int)cols);
    free(few);
    free(many);
  }
}

/* F19: heads inside of a wider buffer, [tokens, heads, d]. */
OP_TEST(op_call, heads_of_a_fused_buffer)
{
  enum { TOKENS = 3, HEADS = 32, WIDTH = 128, PITCH = 6144 };
  static uint16_t buffer[TOKENS * PITCH], after[TOKENS * PITCH], w[WIDTH], y[TOKENS * HEADS * WIDTH];
  tmaring_call call = TMARING_CALL_INIT;
  call.backend = v->backend;
  for (int i = 0; i < TOKENS * PITCH; ++i)
    number_write(TMARING_BF16, &buffer[i], i % PITCH >= HEADS * WIDTH ? 10000.0 : i % WIDTH < 64 ? 1.0 : 3.0);
  for (int i = 0; i < WIDTH; ++i) number_write(TMARING_BF16, &w[i], 1.0);
  void *in = v->place->take(sizeof buffer), *weight = v->place->take(sizeof w), *out = v->place->take(sizeof y);
  cr_assert(v->place->upload(in, buffer, sizeof buffer) && v->place->upload(weight, w, sizeof w));
  tmaring_view q = tmaring_view_matrix(in, TMARING_BF16, TOKENS * HEADS, WIDTH);
  const tmaring_view to = tmaring_view_matrix(out, TMARING_BF16, TOKENS * HEADS, WIDTH);
  const tmaring_view scale = tmaring_view_row(weight, TMARING_BF16, WIDTH);
  q.group_rows = HEADS;
  q.group_pitch = PITCH;
  cr_assert_eq(tmaring_rmsnorm(&to, &q, &scale, 1e-6, &call, v->stream), TMARING_OK, "%s", tmaring_last_detail());
  cr_assert(venue_settle(v) && v->place->download(y, out, sizeof y) && v->place->download(after, in, sizeof after));
  cr_expect_arr_eq(after, buffer, sizeof buffer);
  for (int i = 0; i < TOKENS * HEADS * WIDTH; ++i)
    cr_assert_float_eq(number_read(TMARING_BF16, &y[i]), i % WIDTH < 64 ? 0.44721 : 1.34164, 0.004, "%d", i);
  v->place->give(in);
  v->place->give(weight);
  v->place->give(out);
}

/* ---- workspaces ---- */

OP_TEST(op_call, column_reductions_need_a_workspace)
{
  op_stand d;
  op_stand_open(&d, v, "col_sum", TMARING_F32, 300, 64);
  const tmaring_call good = d.call;
  cr_expect_gt(good.workspace_bytes, 0);
  d.call.workspace = NULL;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_ARGUMENT, "workspace");
  d.call = good;
  d.call.workspace_bytes -= 1;
  EXPECT_REFUSAL(op_stand_call(&d), TMARING_ERROR_ARGUMENT, "workspace_bytes");
  d.call = good;
  op_stand_expect_right(&d);
  op_stand_expect_right(&d); /* it is left ready */
  op_stand_close(&d);
}

/* One workspace goes from op to op. */
OP_TEST(op_call, ops_share_a_workspace)
{
  static const char *const ops[] = {"col_sum", "rmsnorm", "layernorm_backward", "softmax", "col_mean", "col_sum"};
  op_stand wide;
  op_stand_open(&wide, v, "layernorm_backward", TMARING_F32, 300, 256);
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; ++i) {
    op_stand d;
    op_stand_open(&d, v, ops[i], TMARING_F32, 300, 256);
    d.call.workspace = wide.call.workspace;
    d.call.workspace_bytes = wide.call.workspace_bytes;
    op_stand_expect_right(&d);
    op_stand_close(&d);
  }
  op_stand_close(&wide);
}

OP_TEST(op_call, bad_workspaces_are_named)
{
  char *memory = v->place->take(64);
  EXPECT_REFUSAL(tmaring_op_workspace_init(NULL, 64, v->backend, v->stream), TMARING_ERROR_ARGUMENT, "workspace");
  EXPECT_REFUSAL(tmaring_op_workspace_init(memory + 8, 56, v->backend, v->stream), TMARING_ERROR_ALIGNMENT,
                 "workspace");
  EXPECT_REFUSAL(tmaring_op_workspace_init(memory, 8, v->backend, v->stream), TMARING_ERROR_ARGUMENT, "bytes");
  cr_expect_eq(tmaring_op_workspace_init(memory, 64, v->backend, v->stream), TMARING_OK);
  cr_expect(venue_settle(v));
  v->place->give(memory);
}
