#define _POSIX_C_SOURCE 200809L
#include "copy_stand.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void copy_stand_open(copy_stand *b, const char *title, uint64_t seed)
{
  const char *why;
  VENUE_NEED_CUDA(&b->v);
  why = copy_kernel_open(&b->kernel, &b->v);
  cr_assert_null(why, "%s", why);
  b->sum = tally_begin(title, b->v.name);
  b->n = noise_seed(seed);
}

void copy_stand_close(copy_stand *b)
{
  tally_close(&b->sum);
  copy_kernel_close(&b->kernel);
  venue_close(&b->v);
  cr_expect_gt(b->sum.passed, 0);
  cr_expect_eq(b->sum.failed, 0, "%s", b->sum.first_failure);
}

void *copy_host_take(size_t bytes)
{
  void *memory = NULL;
  cr_assert_eq(posix_memalign(&memory, 1024, bytes), 0);
  return memory;
}

copy_twin copy_twin_take(const memory_place *place, size_t tensor_bytes)
{
  copy_twin t = {place, tensor_bytes + 2 * COPY_BAND, NULL, NULL};
  t.host = copy_host_take(t.bytes);
  t.device = place->take(t.bytes);
  cr_assert_not_null(t.device, "%zu bytes", t.bytes);
  return t;
}

void copy_twin_give(copy_twin *t)
{
  free(t->host);
  t->place->give(t->device);
}

void copy_twin_fill(copy_twin *t, noise *n, int poison)
{
  if (poison) {
    memset(t->host, COPY_POISON, t->bytes);
  } else {
    for (size_t i = 0; i + 8 <= t->bytes; i += 8) { /* odd bytes: none is 0 */
      const uint64_t word = noise_next(n) | 0x0101010101010101ull;
      memcpy(t->host + i, &word, 8);
    }
  }
  cr_assert(t->place->upload(t->device, t->host, t->bytes));
}

static size_t first_difference(const unsigned char *a, const unsigned char *b, size_t bytes)
{
  size_t i = 0;
  if (memcmp(a, b, bytes) == 0) return bytes;
  while (a[i] == b[i]) ++i;
  return i;
}

copy_job copy_job_of(const box_case *c, copy_direction direction)
{
  copy_job job;
  memset(&job, 0, sizeof job);
  job.direction = (tmaring_i32)direction;
  job.rank = c->map.rank;
  memcpy(job.coordinates, c->coordinates, sizeof job.coordinates);
  job.at = (tmaring_u32)c->offset;
  job.room = (tmaring_u32)box_case_room(c);
  job.bytes = tmaring_tensor_map_tiled_bytes(&c->map);
  return job;
}

tmaring_tensor_map_tiled copy_map_at(const tmaring_tensor_map_tiled *map, const unsigned char *tensor)
{
  tmaring_tensor_map_tiled placed = *map;
  placed.address = (uint64_t)(uintptr_t)(tensor + COPY_BAND);
  return placed;
}

void copy_judge(copy_stand *b, const char *what, const char *why, const unsigned char *got, const unsigned char *want,
                size_t bytes, const char *text)
{
  char line[640];
  const size_t at = why ? bytes : first_difference(got, want, bytes);
  if (why)
    snprintf(line, sizeof line, "%s: %s: %s", what, why, text);
  else
    snprintf(line, sizeof line, "%s, byte %zu of %zu: GPU %02x, host %02x: %s", what, at, bytes,
             at < bytes ? got[at] : 0, at < bytes ? want[at] : 0, text);
  tally_note(&b->sum, !why && at == bytes, line);
}

void copy_compare_load(copy_stand *b, const box_case *c, const copy_twin *t)
{
  const tmaring_tensor_map_tiled here = copy_map_at(&c->map, t->host), there = copy_map_at(&c->map, t->device);
  const copy_job job = copy_job_of(c, COPY_LOAD);
  unsigned char *got = copy_host_take(job.room), *want = copy_host_take(job.room);
  tmaring_map map;
  memset(want, COPY_POISON, job.room);
  cr_assert_eq(tmaring_tensor_map_load(&here, c->coordinates, want, c->offset), TMARING_OK, "%s",
               tmaring_last_detail());
  cr_assert_eq(tmaring_tensor_map_encode_tiled(&map, &there), TMARING_OK, "%s: %s", tmaring_last_detail(),
               box_case_text(c));
  const char *why = copy_kernel_run(&b->kernel, &map, job, got);
  copy_judge(b, "load", why, got, want, job.room, box_case_text(c));
  free(got);
  free(want);
}

const char *copy_store_both(copy_stand *b, const box_case *c, const copy_twin *t)
{
  const tmaring_tensor_map_tiled here = copy_map_at(&c->map, t->host), there = copy_map_at(&c->map, t->device);
  const copy_job job = copy_job_of(c, COPY_STORE);
  unsigned char *shared = copy_host_take(job.room + 8);
  tmaring_map map;
  for (tmaring_u32 i = 0; i < job.room; i += 8) {
    const uint64_t word = noise_next(&b->n);
    memcpy(shared + i, &word, 8);
  }
  cr_assert_eq(tmaring_tensor_map_store(&here, c->coordinates, shared, c->offset), TMARING_OK, "%s",
               tmaring_last_detail());
  cr_assert_eq(tmaring_tensor_map_encode_tiled(&map, &there), TMARING_OK, "%s: %s", tmaring_last_detail(),
               box_case_text(c));
  const char *why = copy_kernel_run(&b->kernel, &map, job, shared);
  free(shared);
  return why;
}

void copy_compare_tensor(copy_stand *b, const copy_twin *t, const char *why, const char *text)
{
  unsigned char *got = copy_host_take(t->bytes);
  cr_assert(t->place->download(got, t->device, t->bytes));
  copy_judge(b, "store", why, got, t->host, t->bytes, text);
  free(got);
}
