/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-nccl.so: records the collectives of NCCL.
 *
 * It defines NCCL's functions, so that objects that link libnccl.so reach it first, and calls those of the library that
 * is loaded:  Python loads it RTLD_LOCAL, where RTLD_NEXT does not look.  A look-up by dlsym() (JAX, ctypes) gets ours
 * as well (preload/platform/named_function.h).
 */
#ifndef SW_PRELOAD_NCCL_NCCL_H
#define SW_PRELOAD_NCCL_NCCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/recorder/companion.h"

/* ncclUniqueId: passed by value. */
struct sw_nccl_id {
	char internal[128];
};

enum { SW_NCCL_SYSTEM_ERROR = 2, SW_NCCL_IN_PROGRESS = 7 };

/* ---- the library ------------------------------------------------------------------------------------------------- */

#define SW_NCCL_OBJECT "libnccl.so"

enum sw_nccl_function {
#define MOVES(name, ...) SW_##name,
#define TAKES(name, ...) SW_##name,
#include "preload/nccl/functions.def"
#undef MOVES
#undef TAKES
	SW_NCCL_FUNCTIONS
};

/* The real one, for a call that returns to this address; NULL: the library has none, or is not loaded.  Any thread. */
void *sw_nccl_real(enum sw_nccl_function function, const void *caller);
/* Another function of the same library, by name. */
void *sw_nccl_other(const char *name, const void *caller);

/* ---- communicators ----------------------------------------------------------------------------------------------- */

struct sw_nccl_comm {
	uint64_t identity; /* the same in all processes of the communicator; 0 unknown */
	uint32_t rank, size;
	uint64_t calls;	 /* collectives so far */
	uint32_t splits; /* communicators made of it so far */
};

/* Remembers a communicator; size 0: the library is asked for rank and size when they are needed. */
void sw_nccl_comm_add(void *handle, uint64_t identity, uint32_t rank, uint32_t size, const void *caller);
/* What is known of it, all zero: nothing.  `call`: counts a collective, `split`: a communicator made of it. */
struct sw_nccl_comm sw_nccl_comm_get(void *handle, bool call, bool split);
void sw_nccl_comm_remove(void *handle);

/* ---- records ----------------------------------------------------------------------------------------------------- */

/* The recorder; NULL: there is none. */
const struct sw_companion *sw_nccl_recorder(void);

/* One call that is recorded: what is inside is recorded by itself. */
struct sw_nccl_call {
	bool on;
	uint64_t seq, t0;
	void *frame;
};

/* Fills `r` (all but its header) into a BEGIN record. */
void sw_nccl_begin(struct sw_nccl_call *call, const struct sw_rec_collective *r, void *frame);
void sw_nccl_end(struct sw_nccl_call *call, int result);

#endif
