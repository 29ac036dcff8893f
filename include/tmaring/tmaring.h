/* Everything, in flow order: describe, plan, check, prepare, launch; or ready ops. */
#ifndef TMARING_H
#define TMARING_H

#include "version.h"
#include "status.h"
#include "tensor.h"
#include "tensor_map.h"
#include "machine.h"
#include "index.h"
#include "formula.h"
#include "plan.h"
#include "launch.h"
#include "tile_program.h"
#include "ops.h"

#endif
