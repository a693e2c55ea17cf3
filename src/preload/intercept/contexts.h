/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts as records name them: an id a generation of a handle (a handle that is used again after its context was
 * destroyed gets a new id), described when first seen.  0: unknown.
 *
 * All of it only between sw_call_enter() and the end of a call.
 */
#ifndef SW_PRELOAD_INTERCEPT_CONTEXTS_H
#define SW_PRELOAD_INTERCEPT_CONTEXTS_H

#include <stdint.h>

#include "preload/intercept/cuda_types.h"
#include "preload/recorder/recorder.h"

uint8_t sw_context_of(CUcontext context);
/* Gives a context an id: one that cuCtxCreate just made, a device's primary one, or a green one. */
uint8_t sw_context_made(CUcontext context);
uint8_t sw_context_made_primary(CUcontext context, CUdevice device);
uint8_t sw_context_of_green(CUgreenCtx green);
/* The primary context of a device, if it was seen; else 0. */
uint8_t sw_context_of_primary(CUdevice device);
/* The thread's current context. Queries the driver each time: cudart also changes the context through private
   tables. */
uint8_t sw_context_here(void);
CUcontext sw_context_current(void);
/* A stream belongs to the context in which it was made; the default streams (0, 1, 2) to the current one. */
uint8_t sw_context_of_stream(uint64_t stream);

void sw_context_stream_made(uint64_t stream, uint8_t id);
/* Before a stream is destroyed: forgets its context, as the driver may reuse its handle in another one. Returns its
 * context. */
uint8_t sw_context_stream_gone(uint64_t stream);

/* After a successful call that made, destroyed or reset a context: updates the table of ids.  `handle` as in struct
   sw_rec_context_op. */
void sw_context_changed(enum sw_context_op op, uint64_t handle);

#endif
