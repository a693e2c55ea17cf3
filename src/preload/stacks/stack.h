/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks, interned by their writer.
 *
 * Walking 30 frames costs more than a record may, so each writer remembers stacks together with the addresses of the
 * slots that held their return addresses.  A remembered stack is the current one when every such slot still holds the
 * same return address; that takes one load a frame.  A stack that is new in its inner frames takes over the outer
 * ones of the last stack on the same terms.
 */
#ifndef SW_PRELOAD_STACKS_STACK_H
#define SW_PRELOAD_STACKS_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/recorder/writer.h"

extern uint32_t sw_stack_depth
	__attribute__((visibility("hidden"))); /* frames kept; 0: stacks are off, or the unwinder is not loaded yet */

/* Switches stacks on. After sw_unwind_load(), if that was tried. */
void sw_stack_start(void);

uint32_t sw_stack_walk(struct sw_writer *w, const void *frame);

/* Forgets the writer's cache of stacks: when another thread gets the writer, whose stack lies elsewhere, or when
   the ids in it have grown too old. */
void sw_stack_forget(struct sw_writer *w);

/* Frees what the writer remembers. */
void sw_stack_free(struct sw_writer *w);

/* Return addresses of the call that the calling thread is in, innermost first.  Returns how many, which may be more
   than are recorded; 0: its stack could not be remembered. */
uint32_t sw_stack_frames(const uint64_t **ips);

/* Id of the calling thread's stack; the innermost frame is the caller of the function with this frame address.
   0: none.  Writes a STACK record first when the stack is new. */
static inline uint32_t sw_stack_capture(struct sw_writer *w, const void *frame)
{
	return __builtin_expect(__atomic_load_n(&sw_stack_depth, __ATOMIC_ACQUIRE) != 0, 1) ? sw_stack_walk(w, frame)
											    : 0;
}

#endif
