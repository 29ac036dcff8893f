/* What copies by tensor map are, by the definition: every element by itself, with divisions. Shares nothing with the
 * library. */
#ifndef TMARING_TESTS_BOX_ORACLE_H
#define TMARING_TESTS_BOX_ORACLE_H

#include "box_case.h"

/* One element of a box. */
typedef struct box_element {
  int inside;
  int stored;         /* a store writes it: it is inside, or shares a 16-byte unit of its row with one that is */
  size_t tensor_byte; /* its offset from the tensor's first element, where it is inside or stored */
  size_t row, row_bytes, byte; /* its row in shared memory, and its offset in the row */
} box_element;

/* Elements of a box, and one of them. */
uint64_t box_oracle_count(const tmaring_tensor_map_tiled *map);
box_element box_oracle_element(const box_case *c, uint64_t number);
/* Place in shared memory of a byte of a row: rows of swizzled boxes are as long as the span, and the 16-byte units of a
 * span are numbered by an exclusive or with the number of the 128-byte line. */
size_t box_oracle_place(int32_t swizzle, size_t offset, size_t row, size_t row_bytes, size_t byte);

/* shared: from a multiple of 1024 bytes on. The maps' addresses are not looked at. */
void box_oracle_load(const box_case *c, const unsigned char *tensor, unsigned char *shared);
void box_oracle_store(const box_case *c, unsigned char *tensor, const unsigned char *shared);
/* The window positions in the order w, h, d, image. */
void box_oracle_pixels(const pixel_case *c, const unsigned char *tensor, unsigned char *shared);

#endif
