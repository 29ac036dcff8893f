/* What the copy engine does with tensor maps, on the host and without checks: for the emulator and the cpu backend, which
 * copy box after box of a map that was checked once. Arguments as in tensor_map.h. */
#ifndef TMARING_HOST_BOX_COPY_H
#define TMARING_HOST_BOX_COPY_H

#include <stddef.h>
#include <stdint.h>

#include "tmaring/tensor_map.h"

/* Any thread, as long as nobody else writes what is read or touches what is written. coordinates[0] is a multiple of 16
 * bytes. */
void tmaring__box_load(const tmaring_tensor_map_tiled *map, const int32_t *coordinates, void *shared, size_t offset);
void tmaring__box_store(const tmaring_tensor_map_tiled *map, const int32_t *coordinates, const void *shared,
                        size_t offset);

/* Refuses a copy on the host by name: no address, no memory, an offset that is no multiple of 128, an inner coordinate
 * that is no multiple of 16 bytes. */
tmaring_status tmaring__box_copy_check(uint64_t address, tmaring_dtype dtype, const int32_t *coordinates,
                                       const void *shared, size_t offset);

#endif
