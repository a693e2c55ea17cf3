/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A code image reduced to the kernels that a run launched: what footprints are made of stays, the rest is removed or
 * zero.
 *
 * Of a fatbin the entries stay that hold such a kernel, for the architectures of the run's devices: machine code and
 * all PTX, since PTX of another architecture is read where the machine code is not understood.  In machine code and PTX
 * all other kernels are blanked, in their place, so that offsets and lines are what they were.
 */
#ifndef SW_PACK_REDUCE_H
#define SW_PACK_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "image/image.h"

struct sw_reduce {
	const struct sw_map *launched; /* sw_reduce_name() of each kernel -> not 0 */
	const uint32_t *arch;	       /* of the devices; none: the newest machine code of a fatbin */
	size_t archs;
	bool no_ptx; /* machine code alone */
	bool wrap;   /* machine code that is in no fatbin is put into one, compressed: most of it is zeros */
	int level;   /* of zstd */
};

/* The hash by which a kernel's name stands in sw_reduce.launched. */
static inline uint64_t sw_reduce_name(const char *kernel, size_t bytes)
{
	return sw_hash_bytes(SW_FNV_START, kernel, bytes);
}

/* The reduced image, malloc'ed.  Never fails: an image that can't be read stays as it is.  *out_bytes is 0 only if
   the image has no launched kernel. */
void *sw_reduce_image(const struct sw_reduce *what, const void *image, size_t bytes, size_t *out_bytes);

#endif
