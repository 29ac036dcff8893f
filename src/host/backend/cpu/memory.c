#include "memory.h"

#include <stdlib.h>
#include <string.h>

tmaring_status tmaring__memory_make(tmaring__memory *memory, size_t bytes, int32_t actors)
{
  memset(memory, 0, sizeof *memory);
  memory->bytes = bytes;
  memory->block = malloc(bytes + 1024);
  memory->groups = calloc((size_t)actors, sizeof *memory->groups);
  if (!memory->block || !memory->groups) {
    return tmaring__fail(TMARING_ERROR_MEMORY, "cpu backend: got no memory, needs %zu bytes for a worker; free some",
                         bytes);
  }
  memory->shared = (unsigned char *)(((uintptr_t)memory->block + 1023) & ~(uintptr_t)1023);
  tmaring__memory_reset(memory, actors);
  return TMARING_OK;
}

void tmaring__memory_release(tmaring__memory *memory)
{
  free(memory->block);
  free(memory->groups);
  free(memory->late);
  memset(memory, 0, sizeof *memory);
}

void tmaring__memory_reset(tmaring__memory *memory, int32_t actors)
{
  tmaring__memory_poison(memory, 0, (uint32_t)memory->bytes);
  memset(memory->groups, 0, (size_t)actors * sizeof *memory->groups);
  memory->late_count = 0;
}

void tmaring__memory_poison(tmaring__memory *memory, uint32_t offset, uint32_t bytes)
{
  memset(memory->shared + offset, 0xff, bytes);
}

void tmaring__memory_copy(tmaring__memory *memory, uint64_t address, uint32_t offset, uint32_t bytes)
{
  memcpy(memory->shared + offset, (const void *)(uintptr_t)address, bytes);
}

void tmaring__memory_store(tmaring__memory *memory, uint64_t address, uint32_t offset, uint32_t bytes)
{
  memcpy((void *)(uintptr_t)address, memory->shared + offset, bytes);
}

/* Room for one more of the actor's open group; NULL without memory. */
static tmaring__late_store *add_late(tmaring__memory *memory, int32_t actor)
{
  tmaring__late_store *late = memory->late;
  if (memory->late_count == memory->late_capacity) {
    const size_t capacity = memory->late_capacity ? 2 * memory->late_capacity : 64;
    late = realloc(memory->late, capacity * sizeof *late);
    if (!late) {
      memory->failed = 1;
      return NULL;
    }
    memory->late = late;
    memory->late_capacity = capacity;
  }
  late += memory->late_count++;
  memset(late, 0, sizeof *late);
  late->group = memory->groups[actor];
  late->actor = actor;
  return late;
}

void tmaring__memory_store_late(tmaring__memory *memory, int32_t actor, uint64_t address, uint32_t offset,
                                uint32_t bytes)
{
  tmaring__late_store *late = add_late(memory, actor);
  if (!late) return;
  late->address = address;
  late->offset = offset;
  late->bytes = bytes;
}

void tmaring__memory_load_box(tmaring__memory *memory, const tmaring_tensor_map_tiled *map, const int32_t *coordinate,
                              uint32_t offset)
{
  if (tmaring_tensor_map_load(map, coordinate, memory->shared, offset) != TMARING_OK) memory->failed = 1;
}

void tmaring__memory_store_box(tmaring__memory *memory, const tmaring_tensor_map_tiled *map, const int32_t *coordinate,
                               uint32_t offset)
{
  if (tmaring_tensor_map_store(map, coordinate, memory->shared, offset) != TMARING_OK) memory->failed = 1;
}

void tmaring__memory_store_box_late(tmaring__memory *memory, int32_t actor, const tmaring_tensor_map_tiled *map,
                                    const int32_t *coordinate, uint32_t offset)
{
  tmaring__late_store *late = add_late(memory, actor);
  if (!late) return;
  late->map = map;
  late->offset = offset;
  memcpy(late->coordinate, coordinate, sizeof late->coordinate);
}

static void store_now(tmaring__memory *memory, const tmaring__late_store *late)
{
  if (late->map) {
    tmaring__memory_store_box(memory, late->map, late->coordinate, late->offset);
  } else {
    tmaring__memory_store(memory, late->address, late->offset, late->bytes);
  }
}

void tmaring__memory_commit(tmaring__memory *memory, int32_t actor)
{
  memory->groups[actor] += 1;
}

void tmaring__memory_drain(tmaring__memory *memory, int32_t actor, uint32_t pending)
{
  const uint32_t closed = memory->groups[actor], over = closed > pending ? closed - pending : 0;
  size_t kept = 0;
  for (size_t i = 0; i < memory->late_count; ++i) {
    const tmaring__late_store *late = &memory->late[i];
    if (late->actor == actor && late->group < over) {
      store_now(memory, late);
    } else {
      memory->late[kept++] = *late;
    }
  }
  memory->late_count = kept;
}
