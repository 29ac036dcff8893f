/* The shipped role loops, bound to the ring model. */
#include "binding.h"
#include "tmaring/abi/roles.h"

TMARING__ROLE_STEP(tmaring__role_step);
