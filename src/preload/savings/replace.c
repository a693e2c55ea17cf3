/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that the recorder's wrappers call instead of the driver's. */
#include <string.h>

#include "preload/platform/lock.h"
#include "preload/recorder/writer.h"
#include "preload/savings/savings.h"

static bool limits_hold(const struct sw_plan_site *site, CUlimit limit, size_t value);

/*
 * Memory that is not freed but kept for the next allocation of that size.  All later work comes after the work that was
 * there when it was freed; pinned memory, which the host writes at once, is used again when that work is done.
 */

#define BLOCKS	   1024u
#define MOST_BYTES (4ull << 30)

struct block {
	uint64_t address, bytes;
	uint32_t kind; /* id of the entry point that allocated it, 0: free slot */
	unsigned flags;
	bool kept;
	struct sw_fence fence; /* its event stays with the slot */
};
static struct sw_lock kept_lock;
static struct block blocks[BLOCKS];
static uint32_t n_blocks; /* slots that were ever used */
static uint64_t kept_bytes;

/* The first that may touch memory after its allocation: work that is enqueued later, or the host, at once. */
enum first_use { BY_WORK, BY_HOST };

/* Takes a block that the program freed and that was kept: of that kind, size and flags, the one kept first, as its work
   ends first; NULL: none.  BY_HOST: only if its work has ended.  Under the lock. */
static struct block *take_block(uint32_t kind, uint64_t bytes, unsigned flags, enum first_use use)
{
	static uint32_t from;
	for (uint32_t i = 0; i < n_blocks; i++) {
		struct block *b = &blocks[(from + i) % n_blocks];
		if (b->kind != kind || !b->kept || b->bytes != bytes || b->flags != flags ||
		    (use == BY_HOST && !sw_fence_passed(&b->fence)))
			continue;
		from = (from + i + 1) % n_blocks;
		return b;
	}
	return NULL;
}

/* Takes a kept block of that kind (id of the entry point that allocates it), size and flags.  BY_HOST: only one whose
   work has ended; BY_WORK: all later work is ordered after the block's.  False: there is none. */
static bool kept_take(uint32_t kind, uint64_t bytes, unsigned flags, enum first_use use, uint64_t *address)
{
	const uint64_t mask = sw_lock_enter(&kept_lock);
	struct block *b = take_block(kind, bytes, flags, use);
	const bool good = b && (use == BY_HOST || sw_fence_order(&b->fence));
	if (good) {
		b->kept = false;
		kept_bytes -= b->bytes;
		*address = b->address;
	}
	sw_lock_leave(&kept_lock, mask);
	return good;
}

/* Notes a block that was allocated, which may be kept when the program frees it. */
static void kept_made(uint32_t kind, uint64_t bytes, unsigned flags, uint64_t address)
{
	const uint64_t mask = sw_lock_enter(&kept_lock);
	struct block *slot = NULL;
	for (uint32_t i = 0; i < n_blocks; i++) {
		if (blocks[i].address == address)
			blocks[i].kind = 0; /* freed where we do not look */
		if (!blocks[i].kind)
			slot = &blocks[i];
	}
	if (!slot && n_blocks < BLOCKS)
		slot = &blocks[n_blocks++];
	if (slot) {
		slot->address = address;
		slot->bytes = bytes;
		slot->flags = flags;
		slot->kept = false;
		slot->kind = kind;
	}
	sw_lock_leave(&kept_lock, mask);
}

/* Keeps a block that the program frees for a later allocation, behind a fence of all work so far.  False: it must be
   freed. */
static bool kept_give(uint64_t address)
{
	const uint64_t mask = sw_lock_enter(&kept_lock);
	bool good = false;
	for (uint32_t i = 0; i < n_blocks && !good; i++) {
		struct block *b = &blocks[i];
		if (!b->kind || b->kept || b->address != address)
			continue;
		if (kept_bytes + b->bytes > MOST_BYTES || !sw_fence_put(&b->fence))
			break;
		b->kept = good = true;
		kept_bytes += b->bytes;
	}
	sw_lock_leave(&kept_lock, mask);
	return good;
}

/* Before a block is freed: forgets it, since another one may have its address soon. */
static void kept_gone(uint64_t address)
{
	const uint64_t mask = sw_lock_enter(&kept_lock);
	for (uint32_t i = 0; i < n_blocks; i++) {
		struct block *b = &blocks[i];
		if (!b->kind || b->address != address)
			continue;
		kept_bytes -= b->kept ? b->bytes : 0;
		b->kind = 0;
	}
	sw_lock_leave(&kept_lock, mask);
}

/* The device is full: frees the blocks that were kept there.  False: there were none. */
static bool kept_drop(void)
{
	__typeof__(&cuMemFree_v2) release = SW_SAVINGS_REAL(cuMemFree_v2);
	const uint64_t mask = sw_lock_enter(&kept_lock);
	bool any = false;
	for (uint32_t i = 0; i < n_blocks && release; i++) {
		struct block *b = &blocks[i];
		if (b->kind != SW_ID_cuMemAlloc_v2 || !b->kept)
			continue;
		any |= release(b->address) == CUDA_SUCCESS;
		kept_bytes -= b->bytes;
		b->kind = 0;
	}
	sw_lock_leave(&kept_lock, mask);
	return any;
}

/* The device was reset: blocks that were kept for later allocations are gone with it. */
void sw_kept_forget(void)
{
	const uint64_t mask = sw_lock_enter(&kept_lock);
	for (uint32_t i = 0; i < n_blocks; i++)
		blocks[i] = (struct block){0};
	kept_bytes = 0;
	sw_lock_leave(&kept_lock, mask);
}

/*
 * Work of planned sites on the legacy default stream goes to a stream of ours, in the order in which it comes.  That
 * nothing needs the order that goes away has been judged; here is seen to it that it touches no memory of the host,
 * which a wait for the legacy stream would cover.
 */

static struct sw_lock stream_lock;
static CUstream own;
static CUcontext stream_home;
static __thread bool of_host __attribute__((tls_model("initial-exec"))); /* the launch to come gets such an address */

/* Which memory CUDA takes the address for; 0: none that it knows. */
static CUmemorytype type_of(uint64_t address)
{
	__typeof__(&cuPointerGetAttribute) ask = SW_SAVINGS_REAL(cuPointerGetAttribute);
	CUmemorytype type = 0;
	return ask && ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)address) == CUDA_SUCCESS ? type : 0;
}

/* Is this managed memory?  If the driver does not say, yes. */
static bool is_managed(uint64_t address)
{
	__typeof__(&cuPointerGetAttribute) ask = SW_SAVINGS_REAL(cuPointerGetAttribute);
	unsigned managed = 1;
	return !ask || ask(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, (CUdeviceptr)address) != CUDA_SUCCESS || managed;
}

/* Is the address in device memory that the host cannot reach? */
bool sw_own_stream_device(uint64_t address)
{
	return type_of(address) == CU_MEMORYTYPE_DEVICE && !is_managed(address);
}

/* Does the plan move work to a stream of ours? */
static bool plans_launches(void)
{
	for (uint32_t i = 0; i < sw_confirm_plan.changes.sites; i++)
		if (sw_confirm_plan.changes.site[i].change == SW_CHANGE_OWN)
			return true;
	return false;
}

/* Notes whether the kernel's parameters lead to memory that the host can reach.  Any word that the driver knows as an
   address counts as a pointer. */
void sw_own_stream_parameters(const void *block, size_t bytes)
{
	uint64_t word;
	of_host = false;
	if (!plans_launches())
		return;
	for (size_t at = 0; at + sizeof word <= bytes && !of_host; at += sizeof word) {
		memcpy(&word, (const char *)block + at, sizeof word);
		of_host = word > 0xffff && type_of(word) && !sw_own_stream_device(word);
	}
}

/* May the launch that comes next go to another stream?  Not if a parameter leads to memory of the host. */
static bool own_stream_launch_may_move(void)
{
	return !of_host;
}

/* The stream of ours that default-stream work of this site goes to: one for all, in the context that it was made in.
   False: the work stays where it is. */
bool sw_own_stream(const struct sw_plan_site *site, CUstream from, CUstream *out)
{
	__typeof__(&cuStreamCreate) make = SW_SAVINGS_REAL(cuStreamCreate);
	__typeof__(&cuCtxGetCurrent) ask = SW_SAVINGS_REAL(cuCtxGetCurrent);
	CUcontext now = NULL;
	if (site->change != SW_CHANGE_OWN || (from && from != CU_STREAM_LEGACY) || !make || !ask ||
	    ask(&now) != CUDA_SUCCESS)
		return false;
	const uint64_t mask = sw_lock_enter(&stream_lock);
	if (!own && make(&own, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS)
		stream_home = now;
	const bool good = own && now == stream_home;
	*out = own;
	sw_lock_leave(&stream_lock, mask);
	return good;
}

/*
 * Memory that the program registers with CUDA and that is not: copies of it go through the ring of pinned buffers.  A
 * kernel that gets its address reaches it directly, so it is registered after all.
 */

#define RANGES 256u

static struct sw_lock unpinned_lock;
static struct range {
	uint64_t at, bytes; /* bytes 0: free */
	unsigned flags;
	bool pinned; /* after all */
} ranges[RANGES];
static _Atomic uint32_t n_ranges; /* in use, those that are pinned after all left out */

/* Notes memory that the program wants to register and that stays pageable.  False: it must be registered. */
static bool unpinned_add(void *at, size_t bytes, unsigned flags)
{
	bool good = false;
	/* Mapped for the device, or memory of a device: not what a copy alone uses. */
	if (!bytes || flags & ~(unsigned)CU_MEMHOSTREGISTER_PORTABLE)
		return false;
	const uint64_t mask = sw_lock_enter(&unpinned_lock);
	for (uint32_t i = 0; i < RANGES && !good; i++)
		if (!ranges[i].bytes) {
			ranges[i] = (struct range){(uintptr_t)at, bytes, flags, false};
			atomic_fetch_add(&n_ranges, 1);
			good = true;
		}
	sw_lock_leave(&unpinned_lock, mask);
	return good;
}

/* The noted range that holds the address; under the lock. */
static struct range *find_unpinned(uint64_t address)
{
	for (uint32_t i = 0; i < RANGES; i++)
		if (ranges[i].bytes && address - ranges[i].at < ranges[i].bytes)
			return &ranges[i];
	return NULL;
}

/* The program unregisters memory.  True: there was nothing to release, as it was never registered. */
static bool unpinned_drop(void *at)
{
	const uint64_t mask = sw_lock_enter(&unpinned_lock);
	struct range *range = find_unpinned((uintptr_t)at);
	bool good = false;
	if (range && range->at == (uintptr_t)at) {
		good = !range->pinned;
		range->bytes = 0;
		if (good)
			atomic_fetch_sub(&n_ranges, 1);
	}
	sw_lock_leave(&unpinned_lock, mask);
	return good;
}

/* Is this memory that the program wanted pinned, and the plan left pageable to see what pinning costs and brings? */
bool sw_unpinned_has(uint64_t address)
{
	if (!atomic_load(&n_ranges))
		return false;
	const uint64_t mask = sw_lock_enter(&unpinned_lock);
	const struct range *range = find_unpinned(address);
	const bool has = range && !range->pinned;
	sw_lock_leave(&unpinned_lock, mask);
	return has;
}

/* Registers memory after all, since a kernel gets its address. */
static void pin_left_out(uint64_t address)
{
	__typeof__(&cuMemHostRegister_v2) enlist = SW_SAVINGS_REAL(cuMemHostRegister_v2);
	const uint64_t mask = sw_lock_enter(&unpinned_lock);
	struct range *range = find_unpinned(address);
	if (range && !range->pinned && enlist &&
	    enlist((void *)(uintptr_t)range->at, range->bytes, range->flags) == CUDA_SUCCESS) {
		range->pinned = true;
		atomic_fetch_sub(&n_ranges, 1);
	}
	sw_lock_leave(&unpinned_lock, mask);
}

/* Pins memory after all to which the kernel's parameters point: a kernel may only use pinned memory. */
void sw_unpinned_parameters(const void *block, size_t bytes)
{
	uint64_t word;
	for (size_t at = 0; atomic_load(&n_ranges) && at + sizeof word <= bytes; at += sizeof word) {
		memcpy(&word, (const char *)block + at, sizeof word);
		if (sw_unpinned_has(word))
			pin_left_out(word);
	}
}

void *sw_savings_real[SW_ID_COUNT];

/* The driver's function, behind those that the plan replaces. */
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

/* Allocates, or takes a kept block of that size. */
static CUresult CUDAAPI change_cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
	__typeof__(&cuMemAlloc_v2) real = SW_SAVINGS_REAL(cuMemAlloc_v2);
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuMemAlloc_v2);
	uint64_t at = 0;
	const bool kept = site && out && kept_take(SW_ID_cuMemAlloc_v2, bytes, 0, BY_WORK, &at);
	if (kept)
		*out = at;
	CUresult status = kept ? CUDA_SUCCESS : real(out, bytes);
	/* Without what is kept there would have been room. */
	if (status == CUDA_ERROR_OUT_OF_MEMORY && kept_drop())
		status = real(out, bytes);
	if (site && !kept && status == CUDA_SUCCESS)
		kept_made(SW_ID_cuMemAlloc_v2, bytes, 0, *out);
	if (site)
		sw_savings_leave(site, kept);
	return status;
}

/* Frees, or keeps the block for the next allocation. */
static CUresult CUDAAPI change_cuMemFree_v2(CUdeviceptr at)
{
	__typeof__(&cuMemFree_v2) real = SW_SAVINGS_REAL(cuMemFree_v2);
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuMemFree_v2);
	const bool kept = site && at && kept_give(at);
	if (!kept)
		kept_gone(at);
	const CUresult status = kept ? CUDA_SUCCESS : real(at);
	if (site)
		sw_savings_leave(site, kept);
	return status;
}

/* Allocates pinned memory, or takes a kept block whose work has ended. */
static CUresult CUDAAPI change_cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
	__typeof__(&cuMemHostAlloc) real = SW_SAVINGS_REAL(cuMemHostAlloc);
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuMemHostAlloc);
	uint64_t at = 0;
	const bool kept = site && out && kept_take(SW_ID_cuMemHostAlloc, bytes, flags, BY_HOST, &at);
	if (kept)
		*out = (void *)(uintptr_t)at;
	const CUresult status = kept ? CUDA_SUCCESS : real(out, bytes, flags);
	if (site && !kept && status == CUDA_SUCCESS)
		kept_made(SW_ID_cuMemHostAlloc, bytes, flags, (uintptr_t)*out);
	if (site)
		sw_savings_leave(site, kept);
	return status;
}

/* Frees pinned memory, or keeps it. */
static CUresult CUDAAPI change_cuMemFreeHost(void *at)
{
	__typeof__(&cuMemFreeHost) real = SW_SAVINGS_REAL(cuMemFreeHost);
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuMemFreeHost);
	const bool kept = site && at && kept_give((uintptr_t)at);
	if (!kept)
		kept_gone((uintptr_t)at);
	const CUresult status = kept ? CUDA_SUCCESS : real(at);
	if (site)
		sw_savings_leave(site, kept);
	return status;
}

/* Registers memory, or leaves it pageable where the plan says so. */
static CUresult CUDAAPI change_cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags)
{
	__typeof__(&cuMemHostRegister_v2) real = SW_SAVINGS_REAL(cuMemHostRegister_v2);
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuMemHostRegister_v2);
	const bool left_out = site && site->change == SW_CHANGE_UNPIN && unpinned_add(at, bytes, flags);
	sw_pinned_release(at, bytes);
	const CUresult status = left_out ? CUDA_SUCCESS : real(at, bytes, flags);
	if (site)
		sw_savings_leave(site, left_out);
	return status;
}

/* For every site: memory that was not pinned cannot be released. */
static CUresult CUDAAPI change_cuMemHostUnregister(void *at)
{
	__typeof__(&cuMemHostUnregister) real = SW_SAVINGS_REAL(cuMemHostUnregister);
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuMemHostUnregister);
	const bool left_out = unpinned_drop(at);
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

/* Launches, on a stream of ours where the plan says so and the parameters allow it. */
static CUresult CUDAAPI change_cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
					      unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params,
					      void **extra)
{
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuLaunchKernel);
	const bool changed = site && own_stream_launch_may_move() && sw_own_stream(site, stream, &stream);
	const CUresult status =
		SW_SAVINGS_REAL(cuLaunchKernel)(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
	if (site)
		sw_savings_leave(site, changed);
	return status;
}

/* As change_cuLaunchKernel(), with the stream in the configuration. */
static CUresult CUDAAPI change_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
	const struct sw_plan_site *site = config ? sw_savings_enter(SW_ID_cuLaunchKernelEx) : NULL;
	CUlaunchConfig other = config ? *config : (CUlaunchConfig){0};
	const bool changed = site && own_stream_launch_may_move() && sw_own_stream(site, other.hStream, &other.hStream);
	const CUresult status = SW_SAVINGS_REAL(cuLaunchKernelEx)(changed ? &other : config, f, params, extra);
	if (site)
		sw_savings_leave(site, changed);
	return status;
}

/* ---- limits ------------------------------------------------------------------------------------------------------ */

/* Sets a limit, or leaves it as it is where sw_limits_prepare() has set it large enough. */
static CUresult CUDAAPI change_cuCtxSetLimit(CUlimit limit, size_t value)
{
	const struct sw_plan_site *site = sw_savings_enter(SW_ID_cuCtxSetLimit);
	const bool left_out = site && limits_hold(site, limit, value);
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

/* Does the plan change calls of this entry point, or make one of the changes `also`? */
static bool is_planned(uint32_t id, uint32_t also)
{
	for (uint32_t i = 0; i < sw_confirm_plan.changes.sites; i++) {
		const struct sw_plan_site *site = &sw_confirm_plan.changes.site[i];
		if (site->api == id || also & 1u << site->change)
			return true;
	}
	return false;
}

/* Puts our functions before the driver's, for entry points that the plan changes only, so that the others cost what
   they always do. */
void sw_savings_install(void)
{
	for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
		const uint32_t id = replaced[i].id;
		/* Known before ours can be called. */
		sw_savings_real[id] = is_planned(id, replaced[i].also) ? sw_confirm_recorder->driver(id) : NULL;
		if (sw_savings_real[id])
			sw_confirm_recorder->replace(id, replaced[i].function);
	}
}

/* A limit of the device that is set once, to the largest value that the program asks for, before its first work. */

static _Atomic bool set;

/* Sets the stack size of the plan in advance, so that the program's own call, which would change it later, has nothing
   to do. */
void sw_limits_prepare(void)
{
	__typeof__(&cuCtxSetLimit) now = SW_SAVINGS_REAL(cuCtxSetLimit);
	for (uint32_t i = 0; i < sw_confirm_plan.changes.sites && !sw_confirm_plan.changes.dry; i++) {
		const struct sw_plan_site *site = &sw_confirm_plan.changes.site[i];
		if (site->change != SW_CHANGE_LIMIT || !now)
			continue;
		const CUresult status = now(CU_LIMIT_STACK_SIZE, site->value);
		atomic_store(&set, status == CUDA_SUCCESS);
		if (status != CUDA_SUCCESS)
			sw_result("failed limit %d", (int)status);
	}
}

/* Is the limit that the site wants to set already as large? */
static bool limits_hold(const struct sw_plan_site *site, CUlimit limit, size_t value)
{
	return site->change == SW_CHANGE_LIMIT && atomic_load(&set) && limit == CU_LIMIT_STACK_SIZE &&
	       value <= site->value;
}
