/* Tensor maps just beyond each limit, and what a refusal has to say. */
#ifndef TMARING_TESTS_MAP_LIMITS_H
#define TMARING_TESTS_MAP_LIMITS_H

#include "tmaring/tensor_map.h"

/* An f32 matrix of 100 rows of 64, in boxes of 32 x 4. */
tmaring_tensor_map_tiled map_limits_plain(void);
/* f16 images, 8 x 11 pixels of 64 channels, 3 of them; a 3 x 3 window with padding 1. */
tmaring_tensor_map_im2col map_limits_pixels(void);

#define MAP_LIMIT_WORDS 5

/* A map just beyond a limit. words: what the message has to say. ours: a limit that the driver's call cannot show. */
typedef struct map_limit {
  const char *change;
  tmaring_tensor_map_tiled map;
  tmaring_status status;
  int ours;
  const char *word[MAP_LIMIT_WORDS];
} map_limit;

void map_limits_each(void (*judge)(const map_limit *c, void *state), void *state);

/* Expects a status of the call just made, and words in its message. */
void map_limits_says(const char *change, tmaring_status got, tmaring_status status, const char *const *word);

#endif
