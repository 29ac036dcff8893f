/* A tensor in memory with guard bands around it.
 *
 *     memory       data = memory + band + shift                        memory + total
 *     | band | shift | row 0 | gap | row 1 | gap | ... | last row | band |
 *
 * Bands, shift and gaps hold a pattern; `image` is the host's copy of all of it, as it was uploaded. */
#ifndef TMARING_TESTS_GUARDED_H
#define TMARING_TESTS_GUARDED_H

#include <stddef.h>
#include <stdint.h>

#include "memory_place.h"

typedef struct guarded {
  const memory_place *place;
  size_t total, begin; /* bytes of the allocation; where the data begins in it */
  int64_t rows;
  size_t row_bytes, pitch_bytes;
  int64_t group_rows; /* rows may come in groups, each group_bytes after the one before; 0: one pitch */
  size_t group_bytes;
  unsigned char *image; /* contents as uploaded */
  unsigned char *after; /* contents as downloaded */
  void *memory;
  void *data;
} guarded;

#define GUARD_BAND_BYTES 512
/* Filler of bands and gaps: NaN in every type, so that what leaks out of them is seen. */
#define GUARD_PATTERN 0xffu
/* Filler of outputs before a run: no value that a formula gives. */
#define GUARD_POISON 0xa5u

/* Takes memory for rows x row_bytes with this pitch, data `shift` bytes past a multiple of 256. band 0: an allocation
 * of its own that ends with the last byte. The image is all pattern, the rows are all poison. 0: out of memory. */
int guarded_take(guarded *g, const memory_place *place, int64_t rows, size_t row_bytes, size_t pitch_bytes,
                 size_t shift, size_t band);
/* The same for rows in groups: row r begins (r / group_rows) * group_bytes + (r % group_rows) * pitch_bytes after row 0.
 */
int guarded_take_grouped(guarded *g, const memory_place *place, int64_t rows, size_t row_bytes, size_t pitch_bytes,
                         int64_t group_rows, size_t group_bytes, size_t shift, size_t band);
void guarded_give(guarded *g);

/* Row in the image before the run, and after it. */
unsigned char *guarded_row(const guarded *g, int64_t row);
const unsigned char *guarded_row_after(const guarded *g, int64_t row);

int guarded_upload(const guarded *g);
int guarded_download(guarded *g);
/* 1 if no byte changed outside the rows (with rows_too: none at all); else 0, and *at is the offset of the first one
 * from `data`. */
int guarded_intact(const guarded *g, int rows_too, ptrdiff_t *at);

#endif
