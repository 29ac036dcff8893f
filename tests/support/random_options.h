/* Plan options at random: most can be planned, and what cannot is refused with a reason. */
#ifndef TMARING_TESTS_RANDOM_OPTIONS_H
#define TMARING_TESTS_RANDOM_OPTIONS_H

#include "noise.h"
#include "tmaring/plan.h"

int32_t random_pick(noise *n, const int32_t *from, int32_t count);

/* One of the values listed. */
#define PICK(n, ...)                                                                                                   \
  random_pick((n), (const int32_t[]){__VA_ARGS__}, (int32_t)(sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)))

/* CTA, ring, stores, walk and scope, for rows of `cols`. */
void random_options(tmaring_plan_options *options, noise *n, int32_t cols);

/* Load and store paths, of all inputs or of each; and squads. */
void random_paths(tmaring_plan_options *options, noise *n);

#endif
