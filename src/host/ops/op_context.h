/* Where a call runs: the context of its stream, and whether a capture is going on. The cpu backend has neither. */
#ifndef TMARING_HOST_OP_CONTEXT_H
#define TMARING_HOST_OP_CONTEXT_H

#include "tmaring/launch.h"

/* The stream's context; for default streams the calling thread's current one, NULL where there is none. NO_DRIVER,
 * DEVICE, DRIVER. */
tmaring_status tmaring__op_context_of(tmaring_backend backend, struct CUstream_st *stream, const void **context);

/* 1 where the stream is being captured, or cannot be asked because another capture forbids it. */
int tmaring__op_context_captures(tmaring_backend backend, struct CUstream_st *stream);

/* Makes a context current; NULL: leaves things as they are. Pairs with leave. */
tmaring_status tmaring__op_context_enter(tmaring_backend backend, const void *context);
void tmaring__op_context_leave(tmaring_backend backend, const void *context);

/* What to plan for: the device of the current context, or device 0; cpu: an H200. */
tmaring_status tmaring__op_context_machine(tmaring_backend backend, tmaring_machine *machine);

/* Zeroes memory on the stream; cpu: at once. */
tmaring_status tmaring__op_context_zero(tmaring_backend backend, void *memory, size_t bytes,
                                        struct CUstream_st *stream);

#endif
