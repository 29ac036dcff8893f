/* Programs in fp32: every op is computed in fp32. */
#define REAL       float
#define MATH(name) tmaring__math.name##f
#define LOAD       tmaring__dtype_load
#define STORE      tmaring__dtype_store
#define ARG_SCALAR scalar
#define CALLS      tmaring__lanes_f32
#include "lanes_body.h"
