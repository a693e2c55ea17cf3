/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that the recorder's wrappers call instead of the driver's. */
#include "preload/savings/savings.h"

void *sw_savings_real[SW_ID_COUNT];

void *sw_savings_function(uint32_t id)
{
	return sw_savings_real[id] ? sw_savings_real[id] : sw_confirm_recorder->driver(id);
}

#define WAIT(symbol, parameters, arguments)                                                                            \
	static CUresult CUDAAPI change_##symbol parameters                                                             \
	{                                                                                                              \
		const struct sw_plan_site *site = sw_savings_enter(SW_ID_##symbol);                                    \
		CUresult status = CUDA_SUCCESS;                                                                        \
		const bool changed = site && sw_savings_wait(site, &status);                                           \
		if (!changed)                                                                                          \
			status = SW_SAVINGS_REAL(symbol) arguments;                                                    \
		if (site)                                                                                              \
			sw_savings_leave(site, changed);                                                               \
		return status;                                                                                         \
	}

WAIT(cuCtxSynchronize, (void), ())
WAIT(cuCtxSynchronize_v2, (CUcontext context), (context))
WAIT(cuStreamSynchronize, (CUstream stream), (stream))
WAIT(cuStreamSynchronize_ptsz, (CUstream stream), (stream))

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static CUresult CUDAAPI change_cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
	__typeof__(&cuMemAlloc_v2) real = SW_SAVINGS_REAL(cuMemAlloc_v2);
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuMemAlloc_v2);
	uint64_t at = 0;
	const bool kept = site && out && sw_kept_take(SW_ID_cuMemAlloc_v2, bytes, 0, false, &at);
	if (kept)
		*out = at;
	CUresult status = kept ? CUDA_SUCCESS : real(out, bytes);
	/* Without what is kept there would have been room. */
	if (status == CUDA_ERROR_OUT_OF_MEMORY && sw_kept_drop())
		status = real(out, bytes);
	if (site && !kept && status == CUDA_SUCCESS)
		sw_kept_made(SW_ID_cuMemAlloc_v2, bytes, 0, *out);
	if (site)
		sw_savings_leave(site, kept);
	return status;
}

static CUresult CUDAAPI change_cuMemFree_v2(CUdeviceptr at)
{
	__typeof__(&cuMemFree_v2) real = SW_SAVINGS_REAL(cuMemFree_v2);
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuMemFree_v2);
	const bool kept = site && at && sw_kept_give(at);
	if (!kept)
		sw_kept_gone(at);
	const CUresult status = kept ? CUDA_SUCCESS : real(at);
	if (site)
		sw_savings_leave(site, kept);
	return status;
}

static CUresult CUDAAPI change_cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
	__typeof__(&cuMemHostAlloc) real = SW_SAVINGS_REAL(cuMemHostAlloc);
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuMemHostAlloc);
	uint64_t at = 0;
	const bool kept = site && out && sw_kept_take(SW_ID_cuMemHostAlloc, bytes, flags, true, &at);
	if (kept)
		*out = (void *)(uintptr_t)at;
	const CUresult status = kept ? CUDA_SUCCESS : real(out, bytes, flags);
	if (site && !kept && status == CUDA_SUCCESS)
		sw_kept_made(SW_ID_cuMemHostAlloc, bytes, flags, (uintptr_t)*out);
	if (site)
		sw_savings_leave(site, kept);
	return status;
}

static CUresult CUDAAPI change_cuMemFreeHost(void *at)
{
	__typeof__(&cuMemFreeHost) real = SW_SAVINGS_REAL(cuMemFreeHost);
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuMemFreeHost);
	const bool kept = site && at && sw_kept_give((uintptr_t)at);
	if (!kept)
		sw_kept_gone((uintptr_t)at);
	const CUresult status = kept ? CUDA_SUCCESS : real(at);
	if (site)
		sw_savings_leave(site, kept);
	return status;
}

static CUresult CUDAAPI change_cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags)
{
	__typeof__(&cuMemHostRegister_v2) real = SW_SAVINGS_REAL(cuMemHostRegister_v2);
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuMemHostRegister_v2);
	const bool left_out = site && site->change == SW_CHANGE_UNPIN && sw_unpinned_add(at, bytes, flags);
	sw_pinned_release(at, bytes);
	const CUresult status = left_out ? CUDA_SUCCESS : real(at, bytes, flags);
	if (site)
		sw_savings_leave(site, left_out);
	return status;
}

/* Of every site: what was not pinned cannot be released. */
static CUresult CUDAAPI change_cuMemHostUnregister(void *at)
{
	__typeof__(&cuMemHostUnregister) real = SW_SAVINGS_REAL(cuMemHostUnregister);
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuMemHostUnregister);
	const bool left_out = sw_unpinned_drop(at);
	const CUresult status = left_out ? CUDA_SUCCESS : real(at);
	if (site)
		sw_savings_leave(site, left_out);
	return status;
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

#define WORD(x) ((uint64_t)(uintptr_t)(x))
#define COPY(symbol, to, from, stream_, parameters, arguments)                                                         \
	static CUresult CUDAAPI change_##symbol parameters                                                             \
	{                                                                                                              \
		const struct sw_savings_copy copy = {WORD(to), WORD(from), bytes, stream_};                            \
		if (sw_savings_copy(SW_ID_##symbol, &copy))                                                            \
			return CUDA_SUCCESS;                                                                           \
		return SW_SAVINGS_REAL(symbol) arguments;                                                              \
	}
/* Stream 0 of the variants for per-thread default streams. */
#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

COPY(cuMemcpyHtoDAsync_v2, dst, src, stream, (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream),
     (dst, src, bytes, stream))
COPY(cuMemcpyHtoDAsync_v2_ptsz, dst, src, OWN(stream),
     (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream), (dst, src, bytes, stream))
COPY(cuMemcpyDtoHAsync_v2, dst, src, stream, (void *dst, CUdeviceptr src, size_t bytes, CUstream stream),
     (dst, src, bytes, stream))
COPY(cuMemcpyDtoHAsync_v2_ptsz, dst, src, OWN(stream), (void *dst, CUdeviceptr src, size_t bytes, CUstream stream),
     (dst, src, bytes, stream))
COPY(cuMemcpyAsync, dst, src, stream, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream),
     (dst, src, bytes, stream))
COPY(cuMemcpyAsync_ptsz, dst, src, OWN(stream), (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream),
     (dst, src, bytes, stream))

#define PER_THREAD CU_STREAM_PER_THREAD
COPY(cuMemcpyHtoD_v2, dst, src, CU_STREAM_LEGACY, (CUdeviceptr dst, const void *src, size_t bytes), (dst, src, bytes))
COPY(cuMemcpyHtoD_v2_ptds, dst, src, PER_THREAD, (CUdeviceptr dst, const void *src, size_t bytes), (dst, src, bytes))
COPY(cuMemcpyDtoH_v2, dst, src, CU_STREAM_LEGACY, (void *dst, CUdeviceptr src, size_t bytes), (dst, src, bytes))
COPY(cuMemcpyDtoH_v2_ptds, dst, src, PER_THREAD, (void *dst, CUdeviceptr src, size_t bytes), (dst, src, bytes))
COPY(cuMemcpy, dst, src, CU_STREAM_LEGACY, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), (dst, src, bytes))
COPY(cuMemcpy_ptds, dst, src, PER_THREAD, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), (dst, src, bytes))

COPY(cuMemcpyDtoDAsync_v2, dst, src, stream, (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream),
     (dst, src, bytes, stream))
COPY(cuMemcpyDtoD_v2, dst, src, CU_STREAM_LEGACY, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), (dst, src, bytes))

#define SET(symbol, form, type, stream_)                                                                               \
	static CUresult CUDAAPI change_##symbol(CUdeviceptr dst, type value, size_t n)                                 \
	{                                                                                                              \
		__typeof__(&form) other = SW_SAVINGS_REAL(form);                                                       \
		const struct sw_plan_site *site = sw_savings_enter(SW_ID_##symbol);                                    \
		CUstream stream = stream_;                                                                             \
		const bool may = site && other &&                                                                      \
				 (sw_savings_may_be_asynchronous(site, dst, n * sizeof value) ||                       \
				  (sw_own_stream_device(dst) && sw_own_stream(site, stream, &stream)));                \
		const bool changed = may && other(dst, value, n, stream) == CUDA_SUCCESS;                              \
		const CUresult status = changed ? CUDA_SUCCESS : SW_SAVINGS_REAL(symbol)(dst, value, n);               \
		if (site)                                                                                              \
			sw_savings_leave(site, changed);                                                               \
		return status;                                                                                         \
	}

SET(cuMemsetD8_v2, cuMemsetD8Async, unsigned char, CU_STREAM_LEGACY)
SET(cuMemsetD8_v2_ptds, cuMemsetD8Async, unsigned char, PER_THREAD)
SET(cuMemsetD16_v2, cuMemsetD16Async, unsigned short, CU_STREAM_LEGACY)
SET(cuMemsetD16_v2_ptds, cuMemsetD16Async, unsigned short, PER_THREAD)
SET(cuMemsetD32_v2, cuMemsetD32Async, unsigned, CU_STREAM_LEGACY)
SET(cuMemsetD32_v2_ptds, cuMemsetD32Async, unsigned, PER_THREAD)

#define SET_ASYNC(symbol, type)                                                                                        \
	static CUresult CUDAAPI change_##symbol(CUdeviceptr dst, type value, size_t n, CUstream stream)                \
	{                                                                                                              \
		__typeof__(&symbol) real = SW_SAVINGS_REAL(symbol);                                                    \
		const struct sw_plan_site *site = sw_savings_enter(SW_ID_##symbol);                                    \
		const bool changed = site && sw_own_stream_device(dst) && sw_own_stream(site, stream, &stream);        \
		const CUresult status = real(dst, value, n, stream);                                                   \
		if (site)                                                                                              \
			sw_savings_leave(site, changed);                                                               \
		return status;                                                                                         \
	}
SET_ASYNC(cuMemsetD8Async, unsigned char)
SET_ASYNC(cuMemsetD16Async, unsigned short)
SET_ASYNC(cuMemsetD32Async, unsigned)

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static CUresult CUDAAPI change_cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
					      unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params,
					      void **extra)
{
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuLaunchKernel);
	const bool changed = site && sw_own_stream_launch_may_move() && sw_own_stream(site, stream, &stream);
	const CUresult status =
		SW_SAVINGS_REAL(cuLaunchKernel)(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
	if (site)
		sw_savings_leave(site, changed);
	return status;
}

static CUresult CUDAAPI change_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
	const struct sw_plan_site *site = config ? sw_savings_enter(SW_ID_cuLaunchKernelEx) : NULL;
	CUlaunchConfig other = config ? *config : (CUlaunchConfig){0};
	const bool changed =
		site && sw_own_stream_launch_may_move() && sw_own_stream(site, other.hStream, &other.hStream);
	const CUresult status = SW_SAVINGS_REAL(cuLaunchKernelEx)(changed ? &other : config, f, params, extra);
	if (site)
		sw_savings_leave(site, changed);
	return status;
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

static CUresult CUDAAPI change_cuCtxSetLimit(CUlimit limit, size_t value)
{
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuCtxSetLimit);
	const bool left_out = site && sw_limits_hold(site, limit, value);
	const CUresult status = left_out ? CUDA_SUCCESS : SW_SAVINGS_REAL(cuCtxSetLimit)(limit, value);
	if (site)
		sw_savings_leave(site, left_out);
	return status;
}

/* `also`: where a site has one of these changes, whatever its entry point. */
static const struct {
	uint32_t id;
	uint32_t also;
	void *function;
} replaced[] = {
#define REPLACED(symbol)                                                                                               \
	{                                                                                                              \
		SW_ID_##symbol, 0, (void *)change_##symbol                                                             \
	}
#define FOR(c) (1u << SW_CHANGE_##c)
#define REPLACED_FOR(symbol, also)                                                                                     \
	{                                                                                                              \
		SW_ID_##symbol, also, (void *)change_##symbol                                                          \
	}
	REPLACED(cuCtxSynchronize),
	REPLACED(cuCtxSynchronize_v2),
	REPLACED(cuStreamSynchronize),
	REPLACED(cuStreamSynchronize_ptsz),
	REPLACED_FOR(cuMemAlloc_v2, FOR(KEEP)),
	REPLACED(cuMemFree_v2),
	REPLACED(cuMemHostAlloc),
	REPLACED(cuMemFreeHost),
	REPLACED_FOR(cuMemHostRegister_v2, FOR(PIN)),
	REPLACED_FOR(cuMemHostUnregister, FOR(UNPIN)),
	REPLACED_FOR(cuMemcpyHtoDAsync_v2, FOR(UNPIN) | FOR(PIN)),
	REPLACED_FOR(cuMemcpyHtoDAsync_v2_ptsz, FOR(UNPIN) | FOR(PIN)),
	REPLACED_FOR(cuMemcpyDtoHAsync_v2, FOR(UNPIN) | FOR(PIN)),
	REPLACED_FOR(cuMemcpyDtoHAsync_v2_ptsz, FOR(UNPIN) | FOR(PIN)),
	REPLACED_FOR(cuMemcpyAsync, FOR(UNPIN) | FOR(PIN)),
	REPLACED_FOR(cuMemcpyAsync_ptsz, FOR(UNPIN) | FOR(PIN)),
	REPLACED(cuMemcpyHtoD_v2),
	REPLACED(cuMemcpyHtoD_v2_ptds),
	REPLACED(cuMemcpyDtoH_v2),
	REPLACED(cuMemcpyDtoH_v2_ptds),
	REPLACED(cuMemcpy),
	REPLACED(cuMemcpy_ptds),
	REPLACED(cuMemsetD8_v2),
	REPLACED(cuMemsetD8_v2_ptds),
	REPLACED(cuMemsetD16_v2),
	REPLACED(cuMemsetD16_v2_ptds),
	REPLACED(cuMemsetD32_v2),
	REPLACED(cuMemsetD32_v2_ptds),
	REPLACED(cuMemcpyDtoDAsync_v2),
	REPLACED(cuMemcpyDtoD_v2),
	REPLACED(cuMemsetD8Async),
	REPLACED(cuMemsetD16Async),
	REPLACED(cuMemsetD32Async),
	REPLACED(cuLaunchKernel),
	REPLACED(cuLaunchKernelEx),
	REPLACED(cuCtxSetLimit),
};

static bool planned(uint32_t id, uint32_t also)
{
	for (uint32_t i = 0; i < sw_confirm_plan.changes.sites; i++) {
		const struct sw_plan_site *site = &sw_confirm_plan.changes.site[i];
		if (site->api == id || also & 1u << site->change)
			return true;
	}
	return false;
}

void sw_savings_install(void)
{
	for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
		const uint32_t id = replaced[i].id;
		/* Known before ours can be called. */
		sw_savings_real[id] = planned(id, replaced[i].also) ? sw_confirm_recorder->driver(id) : NULL;
		if (sw_savings_real[id])
			sw_confirm_recorder->replace(id, replaced[i].function);
	}
}
