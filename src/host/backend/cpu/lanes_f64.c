/* Wide programs: every op is computed in double. */
#define REAL       double
#define MATH(name) tmaring__math.name
#define LOAD       tmaring__dtype_load_wide
#define STORE      tmaring__dtype_store_wide
#define ARG_SCALAR wide_scalar
#define CALLS      tmaring__lanes_f64
#include "lanes_body.h"
