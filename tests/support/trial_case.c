/* Making and naming trials. */
#include "trial.h"

#include <stdio.h>
#include <string.h>

trial trial_begin(recipe_name formula, tmaring_dtype dtype, int64_t rows, int64_t cols)
{
  trial t;
  memset(&t, 0, sizeof t);
  t.formula = formula;
  t.dtype = dtype;
  t.output_dtype = dtype;
  t.rows = rows;
  t.cols = cols;
  t.seed = 1;
  t.hint = -1;
  tmaring_plan_options_init(&t.options);
  return t;
}

void trial_lay_out(trial *t, trial_layout layout)
{
  const tmaring_dtype dtype[2] = {t->dtype, t->output_dtype};
  for (int side = 0; side < 2; ++side) {
    const int64_t bytes = tmaring_dtype_bytes(dtype[side]);
    const int64_t wide = (int64_t)tmaring_round_up((tmaring_u64)(t->cols * bytes), 16) / bytes + 16 / bytes;
    t->shift[side] = layout == LAYOUT_SHIFTED ? (size_t)bytes : 0;
    t->pitch[side] = 0;
    if (layout == LAYOUT_PITCHED) t->pitch[side] = wide;
    if (layout == LAYOUT_ODD) t->pitch[side] = (t->cols | 1) + 2;
  }
}

static const char *mode_word(const tmaring_plan_options *o)
{
  static const char *const specialized[] = {"ws-x", "ws-y", "ws-z"};
  if (o->mode == TMARING_MODE_WARP_SPECIALIZED)
    return o->role_axis >= 0 && o->role_axis < 3 ? specialized[o->role_axis] : "ws";
  if (o->mode != TMARING_MODE_PIPELINED) return "auto";
  return o->war == TMARING_WAR_MBARRIER ? "pipelined-mbarrier" : "pipelined-cta";
}

static const char *word(int32_t value, const char *const *words, int32_t count)
{
  return value >= 0 && value < count ? words[value] : "auto";
}

static void add_number(char *text, size_t size, const char *name, int32_t value)
{
  const size_t used = strlen(text);
  if (value != TMARING_AUTO) snprintf(text + used, size - used, " %s%d", name, (int)value);
}

void trial_name(const trial *t, char *text, size_t size)
{
  static const char *const orders[] = {"split", "blocked", "cyclic", "ticket"};
  static const char *const policies[] = {"wrap", "skip", "exact", "unsafe"};
  static const char *const scopes[] = {"auto", "flat", "lanes", "warp", "group", "cta", "cluster"};
  static const char *const stores[] = {"direct", "bulk", "tile"};
  const tmaring_plan_options *o = &t->options;
  snprintf(text, size, "%s %s->%s [%lld,%lld] pitch %lld,%lld shift %zu,%zu %s order %s policy %s scope %s store %s",
           recipe_find(t->formula)->name, tmaring_dtype_name(t->dtype), tmaring_dtype_name(t->output_dtype),
           (long long)t->rows, (long long)t->cols, (long long)t->pitch[0], (long long)t->pitch[1], t->shift[0],
           t->shift[1], mode_word(o), word(o->order, orders, 4), word(o->policy, policies, 4),
           word(o->scope, scopes, 7), word(o->store, stores, 3));
  add_number(text, size, "S", o->stages);
  add_number(text, size, "P", o->prefetch);
  add_number(text, size, "R", o->tile_rows);
  add_number(text, size, "piece ", o->piece_cols);
  add_number(text, size, "workers ", o->workers);
  add_number(text, size, "cluster ", o->cluster);
  add_number(text, size, "load ", o->load);
  for (int i = 0; i < TMARING_MAX_STREAMS; ++i) add_number(text, size, i ? "," : "loads ", o->loads[i]);
  if (t->in_place) add_number(text, size, "in place ", 1);
}
