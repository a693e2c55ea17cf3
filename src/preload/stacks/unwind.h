/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the frames of the calling thread: by the unwind tables of the loaded objects (unwind_tables.c), or with
 * libunwind, which also knows ways through code without tables.
 *
 * libunwind is loaded at run time and RTLD_LOCAL: linked into a preloaded object, its _Unwind_* symbols would capture
 * the C++ exceptions of the whole program.
 */
#ifndef SW_PRELOAD_STACKS_UNWIND_H
#define SW_PRELOAD_STACKS_UNWIND_H

#include "config.h"

#include <stdbool.h>
#include <stddef.h>
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

/* Objects that rules were looked up in: until code is unmapped. */
struct sw_unwind_objects {
	struct sw_unwind_object {
		uint64_t start, bytes; /* of the segment with code; 0: none */
		const uint8_t *header; /* .eh_frame_hdr, NULL: none */
		size_t header_bytes;
	} at[8];
	unsigned oldest;
};

struct sw_unwind_stack {
	uintptr_t low, top;
};

struct sw_unwind {
	const uint64_t *frame; /* of the wrapper; along frame pointers: the current frame */
	uintptr_t top;	       /* end of the thread's stack; 0: the frame lies on another one */
	uint64_t sp;	       /* by tables: stack pointer of the last frame */
	bool first, with_library;
	struct sw_unwind_frame last;
	struct sw_unwind_objects *objects;
#ifdef HAVE_LIBUNWIND
	unw_cursor_t cursor;
	unw_context_t context;
#endif
};

/* Loads libunwind; takes the loader's lock. False: it cannot be had. */
bool sw_unwind_load(void);
bool sw_unwind_loaded(void);

/* A walk ended early.  True: libunwind could not be tried; when it comes, stacks that ended early are walked again. */
bool sw_unwind_lacks_library(void);

/* After code was unmapped: forgets what is known of it, since other code may come to lie there;
   sw_unwind_forget_rules(): our own table only. */
void sw_unwind_flush(void);
void sw_unwind_forget_rules(void); /* a part of that */

/* The calling thread's stack; zeros: unknown. May allocate. */
struct sw_unwind_stack sw_unwind_find_stack(void);

/* Starts at the caller of the function with this frame address (which must keep a frame pointer).  `library`: with
   libunwind, which is loaded. */
void sw_unwind_start(struct sw_unwind *u, const void *frame, struct sw_unwind_stack stack,
		     struct sw_unwind_objects *objects, bool library);

/* 1: *out is the next frame, innermost first; 0: no more; -1: the walk can't continue. */
int sw_unwind_next(struct sw_unwind *u, struct sw_unwind_frame *out);

/* The next frame by the unwind tables; never the first. */
int sw_unwind_by_tables(struct sw_unwind *u, struct sw_unwind_frame *out);

#endif
