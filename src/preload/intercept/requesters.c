/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/intercept/requesters.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "api/names.h"
#include "preload/intercept/driver.h"
#include "preload/intercept/hook.h"
#include "preload/intercept/hook_state.h"
#include "preload/intercept/trampoline.h"
#include "preload/intercept/wrappers.h"
#include "preload/platform/bypass.h"
#include "preload/platform/loaded_object.h"
#include "preload/platform/sys.h"
#include "preload/recorder/recorder.h"

#define REQUESTERS SW_STATE_REQUESTERS
/* cudart asks for about 440 functions before its first call (measured, 13.0); other users of the driver need far
   fewer. */
#define RUNTIME_REQUESTS 100

struct requester {
	struct sw_loaded_object object;
	uint32_t ready; /* the fields above are valid */
	uint32_t tool;
	uint32_t link; /* enum sw_cudart_link */
	uint32_t requests;
	uint32_t version;
};

static struct requester requesters[REQUESTERS];
static uint32_t requesters_taken;
struct sw_runtimes sw_runtimes __attribute__((aligned(64)));

/* Objects whose own calls of the driver are not work of the program. */
static const char *const tools[] = {"libcuda.so", "libcudadebugger.",  "libcupti.",    "libnvperf",
				    "libnvidia-", "libToolsInjection", "libsyncwatch."};

/* The last part of a path. */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* The object that holds the address and asked for functions before; NULL: none. */
static struct requester *requester_find(uintptr_t address)
{
	uint32_t taken = __atomic_load_n(&requesters_taken, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < taken && i < REQUESTERS; i++) {
		struct requester *r = &requesters[i];

		if (__atomic_load_n(&r->ready, __ATOMIC_ACQUIRE) &&
		    address - r->object.start < r->object.end - r->object.start)
			return r;
	}
	return NULL;
}

/* Did the object at this address get functions through us?  For the search for calls past the recorder (bypass.h). */
static bool has_asked(const void *address)
{
	const struct requester *r = requester_find((uintptr_t)address);

	return r && __atomic_load_n(&r->requests, __ATOMIC_RELAXED);
}

/* From now on calls from this object count as made by a CUDA runtime. */
static void runtime_add(const struct sw_loaded_object *object)
{
	const uint32_t at = __atomic_fetch_add(&sw_runtimes.taken, 1, __ATOMIC_RELAXED);

	if (at >= SW_RUNTIMES)
		return;
	sw_runtimes.at[at].start = object->start;
	__atomic_store_n(&sw_runtimes.at[at].bytes, object->end - object->start, __ATOMIC_RELEASE);
}

/* The object was unloaded: calls from its place are a runtime's no more. */
static void runtime_drop(const struct sw_loaded_object *object)
{
	for (uint32_t i = 0; i < SW_RUNTIMES; i++) {
		if (sw_runtimes.at[i].start == object->start)
			__atomic_store_n(&sw_runtimes.at[i].bytes, 0, __ATOMIC_RELEASE);
	}
}

/* For dl_iterate_phdr(): how many objects were unloaded so far, as the loader counts. */
static int first_object(struct dl_phdr_info *info, size_t size, void *with)
{
	if (size > offsetof(struct dl_phdr_info, dlpi_subs))
		*(unsigned long long *)with = info->dlpi_subs;
	return 1;
}

/* Forgets requesters that were unloaded: another object may lie at their address by now, and is no profiler or runtime
   for that.  Cheap where nothing was unloaded. */
static void requesters_refresh(void)
{
	static unsigned long long known;
	unsigned long long unloaded = 0;
	struct sw_loaded_object object;

	dl_iterate_phdr(first_object, &unloaded);
	if (__atomic_exchange_n(&known, unloaded, __ATOMIC_RELAXED) == unloaded)
		return;
	for (uint32_t i = 0; i < REQUESTERS; i++) {
		struct requester *r = &requesters[i];

		if (!__atomic_load_n(&r->ready, __ATOMIC_ACQUIRE) ||
		    (sw_object_of((const void *)r->object.start, &object) && object.start == r->object.start &&
		     strcmp(object.path, r->object.path) == 0))
			continue;
		__atomic_store_n(&r->ready, 0, __ATOMIC_RELEASE);
		runtime_drop(&r->object);
	}
}

/* Is an object with this path a profiler's or the driver's, by its file name? */
static bool requester_tool_path(const char *path)
{
	bool tool = false;

	for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
		tool |= starts_with(file_name(path), tools[i]);
	return tool;
}

/* Adds the object that holds `caller`; NULL: none, or no room.  Two threads may add one object twice; the first is
   found from then on. */
static struct requester *requester_add(const void *caller)
{
	struct requester *r;
	struct sw_loaded_object object;
	const char *file;
	uint32_t at;

	if (!sw_object_of(caller, &object))
		return NULL;
	at = __atomic_fetch_add(&requesters_taken, 1, __ATOMIC_ACQ_REL);
	if (at >= REQUESTERS)
		return NULL;
	r = &requesters[at];
	r->object = object;
	__atomic_store_n(&sw_bypass_asked, has_asked, __ATOMIC_RELEASE);
	file = file_name(object.path);
	r->tool = requester_tool_path(object.path);
	r->link = starts_with(file, "libcudart.") ? SW_CUDART_SHARED : SW_CUDART_OTHER;
	if (r->link == SW_CUDART_SHARED)
		runtime_add(&object);
	__atomic_store_n(&r->ready, 1, __ATOMIC_RELEASE);
	return r;
}

/* The requester that `caller` lies in, added if it is new; NULL: unknown. */
static struct requester *requester_meet(const void *caller)
{
	struct requester *r;

	requesters_refresh();
	r = requester_find((uintptr_t)caller);
	return r ? r : requester_add(caller);
}

/* Is the caller in a profiler or in the driver itself?  Such calls are not the program's. */
bool sw_requester_is_tool(const void *caller)
{
	const struct requester *r = requester_meet(caller);

	return r && r->tool;
}

/* Counts who asks for functions of the driver: an object that asks for many holds a copy of the CUDA runtime (cudart),
   linked statically. */
bool sw_requester_count(const void *caller)
{
	struct requester *r = requester_meet(caller);

	if (!r)
		return true;
	if (r->tool)
		return false;
	if (__atomic_add_fetch(&r->requests, 1, __ATOMIC_RELAXED) == RUNTIME_REQUESTS && r->link == SW_CUDART_OTHER) {
		__atomic_store_n(&r->link, SW_CUDART_STATIC, __ATOMIC_RELEASE);
		runtime_add(&r->object);
	}
	return true;
}

/* Keeps the highest CUDA version that the object at `caller` asked for. */
static void requester_version(const void *caller, uint32_t version)
{
	struct requester *r = requester_find((uintptr_t)caller);

	if (r && version > r->version)
		r->version = version;
}

/* Writes the CUDART record: which object asked for functions, how it has a runtime, and which version. */
static void requester_describe(const struct requester *requester, uint32_t requests)
{
	const size_t bytes = strlen(requester->object.path);
	struct sw_rec_cudart *r = sw_describe(SW_REC_CUDART, sizeof *r + bytes, false);

	if (!r)
		return;
	r->module_base = requester->object.base;
	r->link = requester->link;
	r->version = requester->version;
	r->requests = requests;
	r->path_bytes = (uint32_t)bytes;
	memcpy(r + 1, requester->object.path, bytes);
	sw_describe_done(r);
}

/* Records which modules hold a CUDA runtime, so that the report says whose calls were seen. */
void sw_requesters_describe(void)
{
	uint32_t *described = sw_state()->requests_described;
	uint32_t taken = __atomic_load_n(&requesters_taken, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < taken && i < REQUESTERS; i++) {
		const uint32_t requests = __atomic_load_n(&requesters[i].requests, __ATOMIC_RELAXED);
		const uint32_t before = __atomic_load_n(&described[i], __ATOMIC_RELAXED);

		/* A requester that looks up one name at a time is described a few times, not for each name. */
		if (requests == 0 || requests < 2 * before)
			continue;
		__atomic_store_n(&described[i], requests, __ATOMIC_RELAXED);
		requester_describe(&requesters[i], requests);
	}
}

/*
 * Second way in: pointers that the driver returns itself. cudart, shared or static, gets all of its functions this way,
 * with flag 0 for the legacy and 2 for the per-thread default stream; the returned pointer identifies the function.
 */

#define EXPORT __attribute__((visibility("default")))

/* Replaces the pointer that the driver is about to return for `symbol` by our wrapper.  `from`: the driver's function
   that returned it. */
static void exchange_pointer(const char *symbol, void **pfn, int version, const void *caller, const void *from)
{
	if (!pfn || !*pfn || !symbol)
		return;
	*pfn = sw_driver_exchange(symbol, *pfn, caller, from);
	requester_version(caller, (uint32_t)version);
}

EXPORT CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags);
/* Stands before the driver's: the program gets our wrapper of the function that it asks for. */
CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
	__typeof__(&cuGetProcAddress) real = (__typeof__(real))sw_driver_function(SW_ID_cuGetProcAddress);
	CUresult status;

	if (!real)
		return SW_NO_DRIVER;
	status = real(symbol, pfn, cudaVersion, flags);
	if (status == CUDA_SUCCESS)
		exchange_pointer(symbol, pfn, cudaVersion, __builtin_return_address(0), (const void *)real);
	return status;
}

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
				    CUdriverProcAddressQueryResult *symbolStatus);
/* Stands before the driver's: the program gets our wrapper of the function that it asks for. */
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *symbolStatus)
{
	__typeof__(&cuGetProcAddress_v2) real = (__typeof__(real))sw_driver_function(SW_ID_cuGetProcAddress_v2);
	CUresult status;

	if (!real)
		return SW_NO_DRIVER;
	status = real(symbol, pfn, cudaVersion, flags, symbolStatus);
	if (status == CUDA_SUCCESS)
		exchange_pointer(symbol, pfn, cudaVersion, __builtin_return_address(0), (const void *)real);
	return status;
}

/*
 * Functions of the driver that an object is linked with and the table does not know: neither dlsym nor cuGetProcAddress
 * was asked for them, and we export no such name.  The slot that the loader filled leads to a trampoline instead.
 */

static unsigned long long objects_seen;

/* Looks at one slot that the loader filled for an object: if it holds a function of the driver that our table lacks, it
   leads to a counting trampoline from now on. */
static void redirect_slot(const char *name, void **slot, void *object)
{
	void *real, *now = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (name[0] != 'c' || name[1] != 'u' || name[2] < 'A' || name[2] > 'Z' || sw_api_find(name))
		return;
	real = sw_driver_unknown(name);
	/* A slot of somebody else's leads elsewhere; one that is not filled yet, into its own object. */
	if (real && now && (now == real || sw_object_has(object, now)))
		sw_object_set_import(slot, sw_trampoline(name, real));
}

/* For dl_iterate_phdr(): redirects the slots of each object; stops at the first one where none was loaded since the
   last time. */
static int visit_object(struct dl_phdr_info *info, size_t size, void *first)
{
	struct sw_loaded_object object;

	(void)size;
	if (*(bool *)first && info->dlpi_adds == objects_seen)
		return 1;
	*(bool *)first = false;
	objects_seen = info->dlpi_adds;
	sw_object_read(&object, info);
	if (!sw_object_has(&object, &objects_seen) && !requester_tool_path(object.path))
		sw_object_imports(&object, redirect_slot, &object);
	return 0;
}

/* Looks through all loaded objects for functions of the driver that they are linked with: before the first call, and
   after each load. */
void sw_driver_find_references(void)
{
	const uint64_t mask = sw_sys_block_signals();
	bool first = true;

	dl_iterate_phdr(visit_object, &first);
	sw_sys_set_signals(mask);
}
