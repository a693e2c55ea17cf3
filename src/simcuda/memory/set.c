/* SPDX-License-Identifier: Apache-2.0 */
/* Sets: cuMemsetD{8,16,32}, linear and pitched, synchronous in name and asynchronous. */
#include "simcuda/sim.h"

#define LATENCY_NS 2000u
#define RATE	   1000u /* bytes a ns */

static CUresult set_work(struct sw_sim_set what, struct sw_sim_work **out)
{
	uint64_t row = (uint64_t)what.width * what.element;
	if (sw_sim_memory_of(what.dst) == SW_SIM_PAGEABLE || (what.height > 1 && what.pitch < row) ||
	    what.dst % what.element || !sw_sim_alloc_holds(what.dst, (what.height - 1) * what.pitch + row))
		return CUDA_ERROR_INVALID_VALUE;
	*out = sw_sim_work_new(CU_GRAPH_NODE_TYPE_MEMSET, LATENCY_NS + row * what.height / RATE);
	(*out)->set = what;
	return CUDA_SUCCESS;
}

CUresult sw_sim_set_work(const void *params, struct sw_sim_work **out)
{
	const CUDA_MEMSET_NODE_PARAMS *p = params;
	if (!p->width || !p->height || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
		return CUDA_ERROR_INVALID_VALUE;
	return set_work((struct sw_sim_set){p->dst, p->pitch, p->width, p->height, p->value, p->elementSize}, out);
}

/* Sets of device memory do not keep the host, those of pinned memory do (measured on H200, driver 580.159.04,
   CUDA 13.0: "cudaMemset dev", "cudaMemset pinned"; CUDA Runtime API, "API synchronization behavior", says the same).
 */
static CUresult set_memory(CUstream handle, bool async, struct sw_sim_set what)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_stream *s;
	struct sw_sim_op *op;
	CUresult result = sw_sim_stream_find(handle, &s);
	if (!result && !async)
		result = sw_sim_capture_unsafe();
	if (result || !what.width || !what.height)
		return result;
	struct sw_sim_work *work;
	if ((result = set_work(what, &work)))
		return result;
	result = sw_sim_submit(s, work, &op);
	if (!result && !async && sw_sim_memory_of(what.dst) != SW_SIM_DEVICE)
		sw_sim_op_wait(op);
	return result;
}

/* NAME, value type: the four forms of one element size. */
#define SETS(bits, type)                                                                                               \
	CUresult cuMemsetD##bits##_v2(CUdeviceptr dst, type value, size_t n)                                           \
	{                                                                                                              \
		return set_memory(0, false, (struct sw_sim_set){dst, 0, n, 1, value, bits / 8});                       \
	}                                                                                                              \
	CUresult cuMemsetD##bits##Async(CUdeviceptr dst, type value, size_t n, CUstream stream)                        \
	{                                                                                                              \
		return set_memory(stream, true, (struct sw_sim_set){dst, 0, n, 1, value, bits / 8});                   \
	}                                                                                                              \
	CUresult cuMemsetD2D##bits##_v2(CUdeviceptr dst, size_t pitch, type value, size_t width, size_t height)        \
	{                                                                                                              \
		return set_memory(0, false, (struct sw_sim_set){dst, pitch, width, height, value, bits / 8});          \
	}                                                                                                              \
	CUresult cuMemsetD2D##bits##Async(CUdeviceptr dst, size_t pitch, type value, size_t width, size_t height,      \
					  CUstream stream)                                                             \
	{                                                                                                              \
		return set_memory(stream, true, (struct sw_sim_set){dst, pitch, width, height, value, bits / 8});      \
	}
SETS(8, unsigned char)
SETS(16, unsigned short)
SETS(32, unsigned)
