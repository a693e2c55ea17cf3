/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between memory of any kind, for the calls that make them. */
#ifndef SW_SIMCUDA_MEMORY_COPY_H
#define SW_SIMCUDA_MEMORY_COPY_H

#include "simcuda/sim.h"

/* Source access orders of batches as they were measured (waits() in copy.c). */
enum sw_sim_source {
	SW_SIM_SOURCE_PLAIN,	 /* no batch, or as other asynchronous copies */
	SW_SIM_SOURCE_STREAM,	 /* in stream order: pageable memory is not staged */
	SW_SIM_SOURCE_DURING,	 /* during the call: pageable memory is staged */
	SW_SIM_SOURCE_DURING_3D, /* during the call: nothing is staged */
};

/* One end of a copy. */
struct sw_sim_side {
	CUmemorytype type;
	uint64_t address; /* first byte */
	size_t pitch, slice;
	CUarray array; /* CU_MEMORYTYPE_ARRAY: with the position there, in bytes, rows, slices */
	size_t at[3];
	enum sw_sim_source source; /* of a batch: when it is read */
	enum sw_sim_memory memory; /* found out */
};

/* Enqueues a copy of `width` bytes, rows and slices, and waits where the measured rules say so. */
CUresult sw_sim_copy(CUstream stream, bool async, struct sw_sim_side dst, struct sw_sim_side src, size_t width,
		     size_t height, size_t depth);

#endif
