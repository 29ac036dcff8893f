#include "multicast.h"

#include "tuning.h"

static const char *obstacle(const tmaring__facts *facts, const tmaring__decision *d)
{
  if (tmaring__decision_shares(d)) return "the CTAs of a cluster share a row already";
  if (facts->program->vector_count == 0) return "the formula has no [N] input";
  if (facts->vector_bytes > TUNING_VECTOR_BYTES) return "[N] inputs of this size stay in global memory";
  if (!facts->vectors_aligned) return "an [N] input is not aligned to 16 bytes";
  return NULL;
}

int64_t tmaring__multicast_workers(int64_t workers, int32_t ctas, int up)
{
  const int64_t clusters = up ? tmaring_ceil_div(workers, ctas) : workers / ctas;
  return tmaring_max_i64(1, clusters) * ctas;
}

void tmaring__multicast_decide(tmaring__decision *decision, const tmaring_plan_options *options,
                               const tmaring__facts *facts, const tmaring_machine *machine, tmaring__notes *notes)
{
  tmaring__decision *d = decision;
  const char *why = obstacle(facts, d);
  d->multicast = 1;
  if (options->multicast == TMARING_AUTO || options->multicast == 1) return;
  if (why) {
    tmaring__note_add(notes, "multicast: left out: %s", why);
    return;
  }
  d->multicast = options->multicast;
  while (d->multicast > machine->sm_count) d->multicast /= 2;
  if (d->multicast < options->multicast)
    tmaring__note_add(notes, "multicast %d -> %d: there are %d SMs", options->multicast, d->multicast,
                      machine->sm_count);
  if (d->workers == TMARING_AUTO || d->multicast == 1) return;
  const int32_t whole = (int32_t)tmaring__multicast_workers(d->workers, d->multicast, 1);
  if (whole != d->workers)
    tmaring__note_add(notes, "workers %d -> %d: whole clusters of %d CTAs", d->workers, whole, d->multicast);
  d->workers = whole;
}
