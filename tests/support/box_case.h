/* Copies by tensor map: random ones, and those of a list of shapes, for the host's copy engine and for a GPU's. */
#ifndef TMARING_TESTS_BOX_CASE_H
#define TMARING_TESTS_BOX_CASE_H

#include "noise.h"
#include "tmaring/tensor_map.h"

/* map.address is 0: who has the memory enters it. */
typedef struct box_case {
  tmaring_tensor_map_tiled map;
  int32_t coordinates[TMARING_MAX_RANK];
  size_t offset;       /* of the box in shared memory */
  size_t tensor_bytes; /* from the first element to the last one, gaps between rows included; stores may write up to 15
                          bytes more */
} box_case;

/* Ranks 1 .. 5, all types, prime sizes, padded strides, coordinates inside and outside (the inner one at multiples of 16
 * bytes), element strides, swizzles. At most 32 KiB of shared memory, 1 MiB of tensor. */
box_case box_case_random(noise *n);
/* Bytes of shared memory from the start to the end of the box. */
size_t box_case_room(const box_case *c);
/* 1 where a coordinate is below 0: what no store may have. */
int box_case_below_zero(const box_case *c);
/* In one line, for messages. Static until the thread's next call. */
const char *box_case_text(const box_case *c);

/* Shapes of the conformance list. box[0] is for copies without a swizzle; with one the box is as wide as the span. */
typedef struct box_shape {
  const char *name;
  int32_t rank;
  uint32_t dims[TMARING_MAX_RANK], box[TMARING_MAX_RANK], element_strides[TMARING_MAX_RANK];
} box_shape;

#define BOX_SHAPES 12
extern const box_shape box_shapes[BOX_SHAPES];
/* First box, second, last, half behind the last, one before the first, outside; along dimension 0 all of them at multiples
 * of 16 bytes. */
#define BOX_PLACES 6

/* Rows are padded to multiples of 16 bytes. */
box_case box_case_of(const box_shape *shape, tmaring_dtype dtype, int32_t swizzle, int place);

/* A convolution's window over images, w h d: what a map of pixels and its copies follow from. */
typedef struct pixel_case {
  tmaring_tensor_map_im2col map;
  int32_t coordinates[TMARING_MAX_RANK];
  uint16_t offsets[3];
  size_t offset, tensor_bytes;
  int32_t window[3], dilation[3], padding[3];
} pixel_case;

/* Windows of 1 .. 3 on each axis with stride, dilation and padding; a random start among the positions, a random place
 * in the window, as many pixels as go over rows and images; channels from a multiple of 16 bytes, also outside. */
pixel_case pixel_case_random(noise *n);
size_t pixel_case_room(const pixel_case *c);
const char *pixel_case_text(const pixel_case *c);

#endif
