/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the frames of the calling thread: with libunwind when it could be loaded, else along frame pointers.
 *
 * libunwind is loaded at run time and RTLD_LOCAL: linked into a preloaded object, its _Unwind_* symbols would capture
 * the C++ exceptions of the whole program.
 */
#ifndef SW_PRELOAD_UNWIND_H
#define SW_PRELOAD_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#ifdef HAVE_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

struct sw_unwind {
	const uint64_t *frame;  /* frame pointers: the current frame */
	uintptr_t top;          /* end of the thread's stack */
	bool first;
#ifdef HAVE_LIBUNWIND
	unw_cursor_t cursor;
	unw_context_t context;
#endif
};

struct sw_frame {
	uint64_t slot; /* address of the stack slot that holds the return address; 0: it lies in no slot */
	uint64_t ip;   /* return address */
};

/* Loads libunwind; takes the loader's lock. False: frame pointers it is. */
bool sw_unwind_load(void);
bool sw_unwind_loaded(void);

/* Code was unmapped: libunwind must forget what it knows of it. */
void sw_unwind_flush(void);

/* End of the calling thread's stack, for walks along frame pointers; 0 unknown. May allocate. */
uintptr_t sw_unwind_stack_top(void);

/* Starts at the caller of the function with this frame address (which must keep a frame pointer). */
void sw_unwind_start(struct sw_unwind *u, const void *frame, uintptr_t top);

/* 1: *out is the next frame, innermost first; 0: no more; -1: the walk can't go on. */
int sw_unwind_next(struct sw_unwind *u, struct sw_frame *out);

#endif
