/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/intercept/requesters.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "preload/recorder/recorder.h"
#include "preload/intercept/hook_state.h"

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

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

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

static void runtime_add(const struct sw_loaded_object *object)
{
	const uint32_t at = __atomic_fetch_add(&sw_runtimes.taken, 1, __ATOMIC_RELAXED);

	if (at >= SW_RUNTIMES)
		return;
	sw_runtimes.at[at].start = object->start;
	__atomic_store_n(&sw_runtimes.at[at].bytes, object->end - object->start, __ATOMIC_RELEASE);
}

static void runtime_drop(const struct sw_loaded_object *object)
{
	for (uint32_t i = 0; i < SW_RUNTIMES; i++) {
		if (sw_runtimes.at[i].start == object->start)
			__atomic_store_n(&sw_runtimes.at[i].bytes, 0, __ATOMIC_RELEASE);
	}
}

static int first_object(struct dl_phdr_info *info, size_t size, void *with)
{
	if (size > offsetof(struct dl_phdr_info, dlpi_subs))
		*(unsigned long long *)with = info->dlpi_subs;
	return 1;
}

/* Where a requester was unloaded another object may lie by now: it is not a profiler, or a runtime, for its address. */
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

bool sw_requester_tool_path(const char *path)
{
	bool tool = false;

	for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
		tool |= starts_with(file_name(path), tools[i]);
	return tool;
}

/* Two threads may add one object twice; the first is found from then on. */
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
	file = file_name(object.path);
	r->tool = sw_requester_tool_path(object.path);
	r->link = starts_with(file, "libcudart.") ? SW_CUDART_SHARED : SW_CUDART_OTHER;
	if (r->link == SW_CUDART_SHARED)
		runtime_add(&object);
	__atomic_store_n(&r->ready, 1, __ATOMIC_RELEASE);
	return r;
}

static struct requester *requester_meet(const void *caller)
{
	struct requester *r;

	requesters_refresh();
	r = requester_find((uintptr_t)caller);
	return r ? r : requester_add(caller);
}

bool sw_requester_is_tool(const void *caller)
{
	const struct requester *r = requester_meet(caller);

	return r && r->tool;
}

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

void sw_requester_version(const void *caller, uint32_t version)
{
	struct requester *r = requester_find((uintptr_t)caller);

	if (r && version > r->version)
		r->version = version;
}

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

void sw_requesters_describe(void)
{
	uint32_t *described = sw_state()->requests_described;
	uint32_t taken = __atomic_load_n(&requesters_taken, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < taken && i < REQUESTERS; i++) {
		const uint32_t requests = __atomic_load_n(&requesters[i].requests, __ATOMIC_RELAXED);
		const uint32_t before = __atomic_load_n(&described[i], __ATOMIC_RELAXED);

		/* Who looks up one name at a time is described a few times, not for each. */
		if (requests == 0 || requests < 2 * before)
			continue;
		__atomic_store_n(&described[i], requests, __ATOMIC_RELAXED);
		requester_describe(&requesters[i], requests);
	}
}
