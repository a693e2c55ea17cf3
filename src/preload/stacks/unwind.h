/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the frames of the calling thread: with libunwind once it is loaded, until then by the unwind tables of the
 * loaded objects, slower and with the same result (unwind_tables.c).
 *
 * libunwind is loaded at run time and RTLD_LOCAL: linked into a preloaded object, its _Unwind_* symbols would capture
 * the C++ exceptions of the whole program.
 */
#ifndef SW_PRELOAD_STACKS_UNWIND_H
#define SW_PRELOAD_STACKS_UNWIND_H

#include "config.h"

#include <stdbool.h>
#include <stdint.h>

/* Functions of aarch64 keep a chain of frame records (AAPCS64, 6.4.6), which needs neither libunwind nor tables. */
#ifndef __x86_64__
#undef HAVE_LIBUNWIND
#endif
#ifdef HAVE_LIBUNWIND
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#endif

/*
 * A frame, and what the walk read from the stack to find it.  Where the return address lies follows from the code (a
 * fixed distance from the last one) or, in functions that use a frame pointer, from a saved frame pointer as well.
 */
struct sw_unwind_frame {
	uint64_t slot;		/* address of the stack slot that holds the return address; 0: it lies in no slot */
	uint64_t ip;		/* return address */
	uint64_t base_slot;	/* address of the slot that held the frame pointer which led here; 0: none did */
	uint64_t base;		/* that frame pointer */
	uint64_t rbp, rbp_slot; /* the frame pointer register at this frame, and where it was saved */
};

struct sw_unwind {
	const uint64_t *frame; /* of the wrapper; along frame pointers: the current frame */
	uintptr_t top;	       /* end of the thread's stack */
	uint64_t sp;	       /* by tables: stack pointer of the last frame */
	bool first, with_library;
	struct sw_unwind_frame last;
#ifdef HAVE_LIBUNWIND
	unw_cursor_t cursor;
	unw_context_t context;
#endif
};

/* Loads libunwind; takes the loader's lock. False: it cannot be had. */
bool sw_unwind_load(void);
bool sw_unwind_loaded(void);

/* Code was unmapped: libunwind must forget what it knows of it. */
void sw_unwind_flush(void);

/* End of the calling thread's stack, for walks without libunwind; 0 unknown. May allocate. */
uintptr_t sw_unwind_stack_top(void);

/* Starts at the caller of the function with this frame address (which must keep a frame pointer). */
void sw_unwind_start(struct sw_unwind *u, const void *frame, uintptr_t top);

/* 1: *out is the next frame, innermost first; 0: no more; -1: the walk can't continue. */
int sw_unwind_next(struct sw_unwind *u, struct sw_unwind_frame *out);

/* The next frame by the unwind tables; never the first. */
int sw_unwind_by_tables(struct sw_unwind *u, struct sw_unwind_frame *out);

#endif
