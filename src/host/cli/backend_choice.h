/* Where a job runs. */
#ifndef TMARING_HOST_BACKEND_CHOICE_H
#define TMARING_HOST_BACKEND_CHOICE_H

#include "job.h"

/* Picks the backend the request asks for, and the machine to plan for: device 0 for cuda, the built-in one for cpu.
 * `auto` is cuda where a driver and a device of compute capability 9.0 are, else cpu, with the reason on stderr. 0, or
 * an exit code after a message. */
int tmaring__backend_choose(tmaring__job *job, int32_t *backend);

/* Prepares job->plan. Where the request says auto and cuda has no code for it, the backend becomes cpu, with the reason
 * on stderr. *kernel is the caller's. 0, or an exit code after a message. */
int tmaring__backend_prepare(const tmaring__job *job, int32_t *backend, tmaring_kernel **kernel);

#endif
