#include "code_store.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "code_cache.h"
#include "embedded.h"
#include "emit.h"
#include "nvrtc.h"
#include "unpack.h"

/* Part of the key beside the sources: what the code is compiled for. */
static const char target[] = "tmaring " TMARING_VERSION_STRING " sm_90a";

void tmaring__code_key(const char *source, uint64_t key[2])
{
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  XXH3_128bits_update(&state, target, sizeof target);
  for (int i = 0; i < TMARING__NVRTC_OPTIONS; ++i)
    XXH3_128bits_update(&state, tmaring__nvrtc_option[i], strlen(tmaring__nvrtc_option[i]) + 1);
  for (size_t i = 0; i < tmaring__source_count; ++i) {
    XXH3_128bits_update(&state, tmaring__sources[i].name, strlen(tmaring__sources[i].name) + 1);
    XXH3_128bits_update(&state, tmaring__sources[i].text, tmaring__sources[i].bytes + 1);
  }
  XXH3_128bits_update(&state, source, strlen(source));
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  key[0] = hash.high64;
  key[1] = hash.low64;
}

static tmaring_status emit(const tmaring_plan *plan, const tmaring_formula *names, tmaring__text *source)
{
  tmaring__kernel_spec spec;
  tmaring__kernel_spec_of(&spec, plan);
  spec.names = names;
  tmaring__emit(source, &spec);
  if (tmaring__text_failed(source))
    return tmaring__fail(TMARING_ERROR_MEMORY, "source: could not allocate the generated text");
  return TMARING_OK;
}

tmaring_status tmaring__plan_source(const tmaring_plan *plan, tmaring__text *source)
{
  return emit(plan, NULL, source);
}

tmaring_status tmaring__plan_listing(const tmaring_plan *plan, tmaring__text *source)
{
  return emit(plan, plan->formula, source);
}

static const struct tmaring__builtin *find_builtin(const uint64_t key[2])
{
  for (size_t i = 0; i < tmaring__builtin_count; ++i) {
    const struct tmaring__builtin *b = &tmaring__builtins[i];
    if (b->key[0] == key[0] && b->key[1] == key[1]) return b;
  }
  return NULL;
}

static tmaring_status take_builtin(const struct tmaring__builtin *builtin, tmaring__machine_code *code)
{
  void *cubin = malloc(builtin->bytes);
  if (!cubin) return tmaring__fail(TMARING_ERROR_MEMORY, "cubin: could not allocate %zu bytes", builtin->bytes);
  *code = (tmaring__machine_code){cubin, builtin->bytes, TMARING__CODE_BUILTIN, cubin};
  if (tmaring__unpack(cubin, builtin->bytes, builtin->packed, builtin->packed_bytes)) return TMARING_OK;
  free(cubin);
  return tmaring__fail(TMARING_ERROR_INTERNAL, "built-in kernel: cannot be unpacked; the library's file is damaged");
}

/* An entry of another NVRTC than this machine's is compiled anew; without one any entry serves. The library is opened
 * only where there is an entry to compare: 3 to 8 ms, once per process. */
static int find_cached(const uint64_t key[2], const char *source, tmaring__machine_code *code)
{
  tmaring__cache_entry entry;
  if (!tmaring__cache_read(key, source, &entry)) return 0;
  const int present = tmaring__nvrtc_present();
  if (present != 0 && present != entry.compiler) {
    free(entry.cubin);
    return 0;
  }
  *code = (tmaring__machine_code){entry.cubin, entry.bytes, TMARING__CODE_CACHE, entry.cubin};
  return 1;
}

tmaring_status tmaring__machine_code_find(const char *source, int debug, tmaring__machine_code *code)
{
  uint64_t key[2];
  tmaring__cache_entry made = {0};
  tmaring__code_key(source, key);
  const struct tmaring__builtin *builtin = find_builtin(key);
  if (builtin) return take_builtin(builtin, code);
  if (find_cached(key, source, code)) return TMARING_OK;
  TMARING__TRY(tmaring__nvrtc_compile(source, debug, &made.cubin, &made.bytes));
  made.compiler = tmaring__nvrtc_present();
  tmaring__cache_write(key, source, &made);
  *code = (tmaring__machine_code){made.cubin, made.bytes, TMARING__CODE_COMPILED, made.cubin};
  return TMARING_OK;
}

tmaring_status tmaring__machine_code_of(const tmaring_plan *plan, tmaring__machine_code *code)
{
  tmaring__text source = {0};
  if (plan->source) return tmaring__machine_code_find(plan->source, plan->code.debug, code);
  tmaring_status status = tmaring__plan_source(plan, &source);
  if (status == TMARING_OK) status = tmaring__machine_code_find(source.data, plan->code.debug, code);
  tmaring__text_free(&source);
  return status;
}

void tmaring__machine_code_free(tmaring__machine_code *code)
{
  free(code->owned);
  *code = (tmaring__machine_code){0};
}
