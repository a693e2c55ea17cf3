/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocation in stream order as the earlier side: its record is written when it has been made, so the hold is put in
 * by the function that the recorder calls instead of the driver's.
 */
#include "preload/confirm/confirm.h"

static void *real[SW_ID_COUNT];
#define REAL(symbol) ((__typeof__(&symbol))real[SW_ID_##symbol])

#define ALLOCATES(symbol, stream_, parameters, arguments)                                                              \
	static CUresult CUDAAPI held_##symbol parameters                                                               \
	{                                                                                                              \
		const bool held = sw_calls_allocates(SW_ID_##symbol, stream_);                                         \
		const CUresult status = REAL(symbol) arguments;                                                        \
		if (held)                                                                                              \
			sw_calls_allocated(stream_, status);                                                           \
		return status;                                                                                         \
	}
/* Stream 0 of the variants for per-thread default streams. */
#define OWN(stream)    ((stream) ? (stream) : CU_STREAM_PER_THREAD)
#define COMMON(stream) ((stream) ? (stream) : CU_STREAM_LEGACY)
ALLOCATES(cuMemAllocAsync, COMMON(stream), (CUdeviceptr * out, size_t bytes, CUstream stream), (out, bytes, stream))
ALLOCATES(cuMemAllocAsync_ptsz, OWN(stream), (CUdeviceptr * out, size_t bytes, CUstream stream), (out, bytes, stream))
ALLOCATES(cuMemAllocFromPoolAsync, COMMON(stream),
	  (CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream), (out, bytes, pool, stream))
ALLOCATES(cuMemAllocFromPoolAsync_ptsz, OWN(stream),
	  (CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream), (out, bytes, pool, stream))

bool sw_allocations_held(void)
{
	return real[sw_confirm_plan.earlier.api] != NULL;
}

void sw_allocations_install(void)
{
	static const struct {
		uint32_t id;
		void *function;
	} replaced[] = {
#define REPLACED(symbol) {SW_ID_##symbol, (void *)held_##symbol}
		REPLACED(cuMemAllocAsync),
		REPLACED(cuMemAllocAsync_ptsz),
		REPLACED(cuMemAllocFromPoolAsync),
		REPLACED(cuMemAllocFromPoolAsync_ptsz),
	};
	for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
		if (sw_confirm_plan.earlier.api != replaced[i].id)
			continue;
		/* Known before ours can be called. */
		real[replaced[i].id] = sw_confirm_recorder->driver(replaced[i].id);
		if (real[replaced[i].id])
			sw_confirm_recorder->replace(replaced[i].id, replaced[i].function);
	}
}
