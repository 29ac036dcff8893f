/* Built-in kernels lie packed in the library, to a third of their size: machine code repeats itself.
 *
 * A packed text is a row of steps: copy some bytes that follow, then some that were written before.
 *     control       high nibble: literals, low nibble: match length - 4; 15: bytes follow that add up, up to one below 255
 *     literals
 *     distance      two bytes, low first: how far back the match begins, at least 1; it may overlap what it writes
 * The last step ends with its literals. */
#ifndef TMARING_HOST_UNPACK_H
#define TMARING_HOST_UNPACK_H

#include <stddef.h>

#define TMARING__PACK_LEAST 4 /* length of a match */
#define TMARING__PACK_REACH 65535

/* 1 where `from` holds exactly `bytes` bytes of text, which are written; 0 where it is damaged. */
int tmaring__unpack(void *to, size_t bytes, const void *from, size_t packed_bytes);

#endif
