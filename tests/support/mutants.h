/* Mutants by name, of a test that has defined MUTANTS(X): a list of X(name, ...). The mutant that is on is read by what
 * the test interposes; without one the code is the shipped one. Include once, after MUTANTS. */
#ifndef TMARING_TESTS_MUTANTS_H
#define TMARING_TESTS_MUTANTS_H

#ifndef MUTANTS
#error "define MUTANTS(X), a list of X(name, ...), before support/mutants.h"
#endif

typedef enum mutant_id {
  mutant_control,
#define MUTANT_ID(name, ...) mutant_##name,
  MUTANTS(MUTANT_ID)
#undef MUTANT_ID
      mutant_count
} mutant_id;

static mutant_id mutant;

#endif
