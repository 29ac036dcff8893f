/* tmaring plan, tmaring check: what a plan is, and whether it holds. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "json_text.h"
#include "plan_view.h"

static int print_plan(const tmaring__job *job)
{
  tmaring__plan_view view;
  const tmaring_status status = tmaring__plan_view_make(&view, job);
  if (status != TMARING_OK) return tmaring__complain(status, "plan");
  if (job->request->json) return tmaring__plan_print_json(&view);
  tmaring__plan_print_text(&view, job->request->explain);
  return 0;
}

int tmaring__plan_command(const tmaring__request *request)
{
  tmaring__job job;
  int code = tmaring__job_make_plan(&job, request);
  if (!code) code = print_plan(&job);
  tmaring__job_end(&job);
  return code;
}

static int print_report_json(const tmaring_check_report *r, tmaring_status status)
{
  json_t *const json = json_pack("{sb,sI,sI,sI,sI,sI}", "ok", status == TMARING_OK, "tiles", (json_int_t)r->tiles,
                                 "fills", (json_int_t)r->fills, "surplus_slots", (json_int_t)r->surplus_slots, "copies",
                                 (json_int_t)r->copies, "steps", (json_int_t)r->steps);
  if (json && status != TMARING_OK) json_object_set_new(json, "fault", json_string(tmaring_last_detail()));
  return tmaring__json_print(json);
}

static void print_report(const tmaring__job *job, const tmaring_check_report *r)
{
  printf("ok: %" PRId64 " x %" PRId64 "\n", job->rows, job->cols);
  printf("  tiles          %" PRId64 ", each stored exactly once\n", r->tiles);
  printf("  fills          %" PRId64 ", with %" PRId64 " surplus slots\n", r->fills, r->surplus_slots);
  printf("  bulk copies    %" PRId64 ", aligned and inside their hulls\n", r->copies);
  printf("  ring model     %" PRId64 " steps, every wait ends\n", r->steps);
}

static int check(const tmaring__job *job)
{
  tmaring_check_report report;
  memset(&report, 0, sizeof report);
  report.size = sizeof report;
  const tmaring_status status = tmaring_check(job->plan, job->rows, &report);
  if (job->request->json && (status == TMARING_OK || status == TMARING_ERROR_CHECK)) {
    const int code = print_report_json(&report, status);
    if (code) return code;
  } else if (status == TMARING_OK) {
    print_report(job, &report);
  }
  return status == TMARING_OK ? 0 : tmaring__complain(status, "check");
}

int tmaring__check_command(const tmaring__request *request)
{
  tmaring__job job;
  int code = tmaring__job_make_plan(&job, request);
  if (!code) code = check(&job);
  tmaring__job_end(&job);
  return code;
}
