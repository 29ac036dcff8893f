/* The map of shared memory, drawn. */
#include <stdio.h>

#include "plan_view.h"

#define INNER 58

static void print_edge(uint32_t offset)
{
  printf("  %8u +", offset);
  for (int i = 0; i < INNER; ++i) putchar('-');
  printf("+\n");
}

static void print_line(const char *text, uint32_t bytes)
{
  printf("  %8s | %-*s %9u bytes |\n", "", INNER - 18, text, bytes);
}

/* Slots of one stage: the inputs, and the outputs that are not staged over an input. */
static void print_slots(const tmaring__plan_view *view)
{
  const tmaring_args *const a = &view->args;
  char text[INNER];
  for (int32_t i = 0; i < a->input_count; ++i) {
    snprintf(text, sizeof text, "  input %d at +%u%s", i, a->input[i].slot,
             i == 0 && view->info.in_place ? ", results over it" : "");
    print_line(text, a->input[i].slot_bytes);
  }
  for (int32_t i = 0; i < a->output_count && view->info.store == TMARING_STORE_BULK; ++i) {
    if (view->info.in_place && a->output[i].slot == a->input[0].slot) continue;
    snprintf(text, sizeof text, "  output %d at +%u", i, a->output[i].slot);
    print_line(text, a->output[i].slot_bytes);
  }
}

void tmaring__plan_print_smem(const tmaring__plan_view *view)
{
  const tmaring_args *const a = &view->args;
  char text[INNER];
  printf("shared memory: %u of %d bytes\n", a->smem.total, view->job->machine.smem_per_block_bytes);
  for (int i = 0; i < TMARING__REGIONS - 1; ++i) {
    if (view->region[i].bytes == 0) continue;
    print_edge(view->region[i].offset);
    print_line(view->region[i].name, view->region[i].bytes);
  }
  print_edge(a->smem.stages);
  print_line("stage 0", a->smem.stage_bytes);
  print_slots(view);
  if (a->stages > 1) {
    print_edge(a->smem.stages + a->smem.stage_bytes);
    snprintf(text, sizeof text, a->stages == 2 ? "stage 1, alike" : "stages 1 to %u, alike", a->stages - 1);
    print_line(text, (a->stages - 1) * a->smem.stage_bytes);
  }
  print_edge(a->smem.total);
}
