#include <criterion/criterion.h>

#include "../../src/host/plan/plan_state.h"
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cells ---- */

/* The first note that tells of a change; "" where none does. */
static const char *change_of(const tmaring_plan *plan)
{
  const char *note;
  for (int32_t i = 0; (note = tmaring_plan_note(plan, i)); ++i)
    if (strstr(note, " -> ") || strstr(note, "left out")) return note;
  return "";
}

/* The code is made for the paths that the arguments say, and what goes by tensor map has boxes. */
static int has_paths(const op_state *s, char *text, size_t size)
{
  const tmaring__variant *variant = tmaring__plan_variant(s->plan, s->trial->rows);
  for (int32_t t = 0; t < s->result.args.input_count; ++t) {
    const int32_t path = s->result.args.input[t].path, boxes = variant->boxes.used >> t & 1;
    if (s->plan->code.load[t] == path && boxes == (path == TMARING_LOAD_TILE)) continue;
    snprintf(text, size, "input %d: path %d, code for path %d, %s", (int)t, (int)path, (int)s->plan->code.load[t],
             boxes ? "boxes" : "no boxes");
    return 0;
  }
  return 1;
}

static int holds(op_state *s)
{
  char text[200];
  const tmaring_plan_options *asked = &s->trial->options;
  if (conformance_holds(asked, &s->result.args, &s->result.info, text, sizeof text) && has_paths(s, text, sizeof text))
    return 1;
  s->result.outcome = TRIAL_REFUSED;
  s->result.status = TMARING_OK;
  snprintf(s->result.text, sizeof s->result.text, "normalised: %s (%s)", text, change_of(s->plan));
  return 0;
}

trial_result conformance_run(const op_trial *t, const venue *v)
{
  op_state s;
  if (op_open(&s, t, v) && holds(&s) && op_launch(&s)) {
    if (t->tamper) t->tamper(&s);
    op_judge(&s);
  }
  op_close(&s);
  return s.result;
}

int conformance_compile(const op_trial *whole, const venue *v, trial_result *result)
{
  op_state s;
  if (!getenv("TMARING_TEST_COMPILE")) return 1;
  const int planned = op_begin(&s, whole, v) && op_plan(&s);
  op_close(&s);
  if (!planned) *result = s.result;
  return planned;
}

int conformance_by_hardware(const trial_result *result)
{
  static const char *const reasons[] = {"shared memory: needs ", "registers: "};
  if (result->outcome != TRIAL_REFUSED || result->status != TMARING_ERROR_CAPACITY) return 0;
  for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; ++i)
    if (strstr(result->text, reasons[i])) return 1;
  return 0;
}

/* ---- the table ---- */

conformance conformance_begin(int32_t section, const char *program, const venue *v)
{
  conformance c;
  memset(&c, 0, sizeof c);
  c.sum = tally_begin(program, v->name);
  c.section = section;
  return c;
}

int conformance_takes(conformance *c)
{
  return tally_takes(&c->sum);
}

void conformance_count(conformance *c, const trial_result *result)
{
  tally_count(&c->sum, result);
  if (result->outcome != TRIAL_REFUSED || conformance_by_hardware(result)) return;
  if (c->baseless++ == 0) snprintf(c->first_baseless, sizeof c->first_baseless, "%s", result->text);
}

void conformance_cell(conformance *c, const op_trial *t, const venue *v)
{
  if (!conformance_takes(c)) return;
  const trial_result result = conformance_run(t, v);
  conformance_count(c, &result);
}

const char *conformance_close(const conformance *c)
{
  static char text[720];
  tally_close(&c->sum);
  tally_row(&c->sum, c->section);
  if (c->sum.failed > 0) return strcpy(text, c->sum.first_failure);
  if (c->baseless > 0) {
    snprintf(text, sizeof text, "%d refused for no reason of the hardware, the first: %s", (int)c->baseless,
             c->first_baseless);
    return text;
  }
  const int32_t taken = (c->sum.seen + c->sum.step - 1) / c->sum.step;
  if (c->sum.passed > 0 && c->sum.passed + c->sum.refused == taken) return NULL;
  return "cells were left out";
}

/* ---- programs over the grid ---- */

static int is_right(const conformance_program *p, const conformance_set *set, trial_result *result)
{
  if (result->outcome != TRIAL_PASSED || !p->right || p->right(set, &result->args, &result->info)) return 1;
  result->outcome = TRIAL_FAILED;
  snprintf(result->text, sizeof result->text, "set %d: the plan is not upstream's program", (int)set->index);
  return 0;
}

/* All ways of a set; the first that does not pass decides. */
static trial_result run_set(const conformance_program *p, const conformance_set *set, const venue *v)
{
  trial_result result;
  memset(&result, 0, sizeof result);
  for (int32_t way = 0; way < p->ways && result.outcome == TRIAL_PASSED; ++way) {
    const op_trial t = p->make(set, way);
    result = conformance_run(&t, v);
    if (!is_right(p, set, &result)) break;
  }
  return result;
}

void conformance_run_program(conformance *c, const conformance_program *program, const venue *v)
{
  for (int32_t i = 0; i < CONFORMANCE_SETS; ++i) {
    if (!conformance_takes(c)) continue;
    const trial_result result = run_set(program, &conformance_sets[i], v);
    conformance_count(c, &result);
  }
}
