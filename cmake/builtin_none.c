/* The table of built-in kernels when nothing was compiled ahead: formulas are compiled at run time. */
#include "../src/host/jit/code_store.h"

const struct tmaring__builtin tmaring__builtins[1] = {{{0, 0}, NULL, 0, 0}};
const size_t tmaring__builtin_count = 0;
