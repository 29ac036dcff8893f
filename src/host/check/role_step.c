/* The shipped role loops, bound to the ring model. */
#include "binding.h"

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#endif
#include "tmaring/abi/roles.h"

TMARING__ROLE_STEP(tmaring__role_step);
