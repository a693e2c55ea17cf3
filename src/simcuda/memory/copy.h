/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between memory of any kind, for the calls that make them. */
#ifndef SW_SIMCUDA_MEMORY_COPY_H
#define SW_SIMCUDA_MEMORY_COPY_H

#include "simcuda/sim.h"

/* One end of a copy. */
struct sw_sim_side {
	CUmemorytype type;
	uint64_t address; /* first byte */
	size_t pitch, slice;
	CUarray array; /* CU_MEMORYTYPE_ARRAY: with the position there, in bytes, rows, slices */
	size_t at[3];
	bool during;		   /* a source that is read before the call returns */
	enum sw_sim_memory memory; /* found out */
};

/* Enqueues a copy of `width` bytes, rows and slices, and waits where the measured rules say so. */
CUresult sw_sim_copy(CUstream stream, bool async, struct sw_sim_side dst, struct sw_sim_side src, size_t width,
		     size_t height, size_t depth);

#endif
