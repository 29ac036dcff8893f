/* A worker's memory: its shared memory, and the bulk stores that have not read their source yet. */
#ifndef TMARING_HOST_MEMORY_H
#define TMARING_HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "../../base/detail.h"
#include "tmaring/tensor_map.h"

/* A bulk store, or one of a box: then `map` is set, and stays the caller's. */
typedef struct tmaring__late_store {
  uint64_t address;
  uint32_t offset, bytes, group;
  int32_t actor;
  const tmaring_tensor_map_tiled *map;
  int32_t coordinate[TMARING_MAX_RANK];
} tmaring__late_store;

typedef struct tmaring__memory {
  unsigned char *shared; /* from a multiple of 1024, poisoned: NaN in every type that has one */
  void *block;           /* what was allocated for it */
  size_t bytes;
  tmaring__late_store *late;
  size_t late_count, late_capacity;
  uint32_t *groups; /* closed by each actor */
  int failed;       /* out of memory, or a map was refused: results are not complete */
} tmaring__memory;

/* ERROR_MEMORY; release also after a failure. */
tmaring_status tmaring__memory_make(tmaring__memory *memory, size_t bytes, int32_t actors);
void tmaring__memory_release(tmaring__memory *memory);
/* For the next worker: poisons, and forgets groups. */
void tmaring__memory_reset(tmaring__memory *memory, int32_t actors);

/* Makes bytes NaN in every type that has one, -1 in the others. */
void tmaring__memory_poison(tmaring__memory *memory, uint32_t offset, uint32_t bytes);
void tmaring__memory_copy(tmaring__memory *memory, uint64_t address, uint32_t offset, uint32_t bytes);
void tmaring__memory_store(tmaring__memory *memory, uint64_t address, uint32_t offset, uint32_t bytes);
/* A bulk store: read in tmaring__memory_drain. */
void tmaring__memory_store_late(tmaring__memory *memory, int32_t actor, uint64_t address, uint32_t offset,
                                uint32_t bytes);
/* Boxes: a load, and a store at once or in tmaring__memory_drain. */
void tmaring__memory_load_box(tmaring__memory *memory, const tmaring_tensor_map_tiled *map, const int32_t *coordinate,
                              uint32_t offset);
void tmaring__memory_store_box(tmaring__memory *memory, const tmaring_tensor_map_tiled *map, const int32_t *coordinate,
                               uint32_t offset);
void tmaring__memory_store_box_late(tmaring__memory *memory, int32_t actor, const tmaring_tensor_map_tiled *map,
                                    const int32_t *coordinate, uint32_t offset);
void tmaring__memory_commit(tmaring__memory *memory, int32_t actor);
void tmaring__memory_drain(tmaring__memory *memory, int32_t actor, uint32_t pending);

#endif
