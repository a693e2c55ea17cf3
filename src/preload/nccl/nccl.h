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

/* ---- the library ------------------------------------------------------------------------------------------------ */

#define SW_NCCL_OBJECT "libnccl.so"

enum sw_nccl_function {
#define MOVES(name, ...) SW_##name,
#define TAKES(name, ...) SW_##name,
#include "preload/nccl/functions.def"
#undef MOVES
#undef TAKES
	SW_NCCL_FUNCTIONS
};

/* ---- communicators ---------------------------------------------------------------------------------------------- */

struct sw_nccl_comm {
	uint64_t identity; /* the same in all processes of the communicator; 0 unknown */
	uint32_t rank, size;
	uint64_t calls;	 /* collectives so far */
	uint32_t splits; /* communicators made of it so far */
};

/* ---- records ---------------------------------------------------------------------------------------------------- */

/* One call that is recorded: what is inside is recorded by itself. */
struct sw_nccl_call {
	bool on;
	uint64_t seq, t0;
	void *frame;
};

#endif
