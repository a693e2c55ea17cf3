/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA arrays.  The layout of a real one is not known and does not matter: here rows follow each other without a gap,
 * layers and slices likewise, in device memory that no pointer of the program leads to.
 */
#ifndef SW_SIMCUDA_MEMORY_ARRAY_H
#define SW_SIMCUDA_MEMORY_ARRAY_H

#include "simcuda/sim.h"

struct sw_sim_array {
	struct sw_sim_object object;
	CUDA_ARRAY3D_DESCRIPTOR what; /* as it was asked for: 0 where a dimension is missing */
	size_t element, width, height, depth;
	struct sw_sim_alloc *memory;
	bool level; /* of a mipmapped array, which owns it */
};

/* NULL: no such array.  Under the lock. */
struct sw_sim_array *sw_sim_array_get(CUarray handle);
/* Address of a byte of row y of slice or layer z; 0 unless width bytes, height rows and depth slices lie within. */
uint64_t sw_sim_array_at(const struct sw_sim_array *array, const size_t at[3], const size_t extent[3]);
/* The array whose memory the address lies in, NULL: none, and its position there. */
struct sw_sim_array *sw_sim_array_of(uint64_t address, size_t at[3]);

/* Ends the arrays of a context; nothing waits. */
void sw_sim_array_clear(struct sw_sim_ctx *ctx);

/* Texture and surface objects. */

/* Ends the objects of a context. */
void sw_sim_texture_clear(struct sw_sim_ctx *ctx);

#endif
