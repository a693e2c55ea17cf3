/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes which bytes of global memory every kernel launch touches, as compute-sanitizer's patching API reports them.
 *
 * Loaded by the driver (CUDA_INJECTION64_PATH=this object), or with LD_PRELOAD when SW_TRUTH_PRELOAD is set.
 *   SW_TRUTH_PATCHES     the compiled patches.cu
 *   SW_TRUTH_OUT         file to write, see lines.h
 *   SW_TRUTH_PER_KERNEL  launches of one kernel that are watched, the first ones; default 4
 *   SW_TRUTH_PLACES      places of the hash set, as a power of two; default 20, of 32 bytes of touched memory each
 *
 * One launch at a time: the lock is taken when a launch begins and returned when its work is done, so that the one
 * hash set belongs to one launch.  Only calls of the sanitizer's own memory API are allowed inside its call-backs.
 */
#include <pthread.h>
#include <sanitizer.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines.h"
#include "observed.h"

#define MAX_CONTEXTS 16

/* One context: its patches are loaded once, its hash set serves all launches. */
struct context {
	CUcontext handle;
	struct observed *set;  /* on the device */
	struct observed *head; /* pinned copy; only pinned memory may be a destination inside a launch call-back */
	struct observed_sector *table; /* on the device */
	struct observed_sector *copy;  /* pinned */
	bool ready;
};

static struct {
	pthread_mutex_t lock; /* of a launch, from begin to end */
	pthread_mutex_t patching;
	struct context context[MAX_CONTEXTS];
	unsigned contexts, places_log2, per_kernel;
	const char *patches;
	/* The current launch, under `lock`. */
	pid_t owner;
	struct launch launch;
	struct context *at;
	uint64_t errors;
} r = {.lock = PTHREAD_MUTEX_INITIALIZER, .patching = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool inside; /* loading patches is loading a module */

static bool worked(SanitizerResult result, const char *call)
{
	const char *text = "?";
	if (result == SANITIZER_SUCCESS)
		return true;
	sanitizerGetResultString(result, &text);
	/* The first ones tell; thousands alike would fill the disk. */
	if (__atomic_add_fetch(&r.errors, 1, __ATOMIC_RELAXED) <= 100)
		lines_note("error", "%s: %s (%d)", call, text, (int)result);
	return false;
}
#define TRY(call) worked(call, #call)

/* ---- contexts and modules ---------------------------------------------------------------------------------------- */

static struct context *context_of(CUcontext handle)
{
	for (unsigned i = 0; i < r.contexts; i++)
		if (r.context[i].handle == handle)
			return &r.context[i];
	if (r.contexts == MAX_CONTEXTS)
		return NULL;
	struct context *c = &r.context[r.contexts++];
	*c = (struct context){.handle = handle};
	inside = true;
	if (!TRY(sanitizerAddPatchesFromFile(r.patches, handle)))
		lines_note("error", "no patches from %s", r.patches);
	inside = false;
	return c;
}

static void on_module(const Sanitizer_ResourceModuleData *m)
{
	static const struct {
		Sanitizer_InstructionId id;
		const char *patch;
	} patches[] = {
		{SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS, "sw_truth_global"},
		{SANITIZER_INSTRUCTION_MEMCPY_ASYNC, "sw_truth_copy_async"},
		{SANITIZER_INSTRUCTION_BULK_COPY_GLOBAL_TO_SHARED, "sw_truth_bulk_in"},
		{SANITIZER_INSTRUCTION_BULK_COPY_SHARED_TO_GLOBAL, "sw_truth_bulk_out"},
		{SANITIZER_INSTRUCTION_BULK_REDUCTION_SHARED_TO_GLOBAL, "sw_truth_bulk_reduce"},
	};
	if (inside)
		return;
	pthread_mutex_lock(&r.patching);
	if (context_of(m->context)) {
		for (size_t i = 0; i < sizeof patches / sizeof *patches; i++)
			TRY(sanitizerPatchInstructions(patches[i].id, m->module, patches[i].patch));
		TRY(sanitizerPatchModule(m->module));
	}
	pthread_mutex_unlock(&r.patching);
}

static bool prepare(struct context *c)
{
	size_t places = (size_t)1 << r.places_log2, bytes = places * sizeof *c->table;
	if (c->ready)
		return true;
	void *set, *head, *table, *copy;
	if (!TRY(sanitizerAlloc(c->handle, &set, sizeof *c->set)) || !TRY(sanitizerAlloc(c->handle, &table, bytes)) ||
	    !TRY(sanitizerAllocHost(c->handle, &head, sizeof *c->head)) ||
	    !TRY(sanitizerAllocHost(c->handle, &copy, bytes)))
		return false;
	c->set = set;
	c->head = head;
	c->table = table;
	c->copy = copy;
	c->ready = true;
	return true;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static void on_launch_begin(const Sanitizer_LaunchData *l)
{
	pid_t self = gettid();
	/* A launch that failed may never end: its own thread continues. */
	if (__atomic_load_n(&r.owner, __ATOMIC_ACQUIRE) != self)
		pthread_mutex_lock(&r.lock);
	else
		lines_note("note", "a launch of %s did not end", r.launch.name);
	__atomic_store_n(&r.owner, self, __ATOMIC_RELEASE);
	pthread_mutex_lock(&r.patching);
	r.at = context_of(l->context);
	pthread_mutex_unlock(&r.patching);
	r.launch = (struct launch){.grid = {l->gridDim_x, l->gridDim_y, l->gridDim_z},
				   .block = {l->blockDim_x, l->blockDim_y, l->blockDim_z},
				   .tid = (unsigned)self};
	snprintf(r.launch.name, sizeof r.launch.name, "%s", l->functionName ? l->functionName : "?");
	r.launch.number = lines_count(&r.launch, &r.launch.seen);
	r.launch.watched = r.launch.seen <= r.per_kernel && r.at && prepare(r.at);
	if (r.launch.watched) {
		struct context *c = r.at;
		*c->head = (struct observed){.table = c->table, .last = ((uint64_t)1 << r.places_log2) - 1};
		r.launch.watched =
			TRY(sanitizerMemset(c->table, 0, sizeof *c->table << r.places_log2, l->hStream)) &&
			TRY(sanitizerMemcpyHostToDeviceAsync(c->set, c->head, sizeof *c->head, l->hStream)) &&
			TRY(sanitizerStreamSynchronize(l->hStream));
	}
	TRY(sanitizerSetLaunchCallbackData(l->hLaunch, l->function, l->hStream, r.launch.watched ? r.at->set : NULL));
}

static void on_launch_end(const Sanitizer_LaunchData *l)
{
	if (__atomic_load_n(&r.owner, __ATOMIC_ACQUIRE) != gettid())
		return;
	struct context *c = r.at;
	/* A kernel that faults is the program's affair. */
	if (r.launch.watched && sanitizerStreamSynchronize(l->hStream) != SANITIZER_SUCCESS) {
		lines_note("note", "a launch of %s failed", r.launch.name);
		r.launch.watched = false;
	}
	if (r.launch.watched && TRY(sanitizerMemcpyDeviceToHost(c->head, c->set, sizeof *c->head, l->hStream)) &&
	    (!c->head->used ||
	     TRY(sanitizerMemcpyDeviceToHost(c->copy, c->table, sizeof *c->table << r.places_log2, l->hStream))))
		lines_launch(&r.launch, c->head, c->copy);
	else
		lines_launch(&r.launch, NULL, NULL);
	__atomic_store_n(&r.owner, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&r.lock);
}

/* ---- subscription ------------------------------------------------------------------------------------------------ */

static void SANITIZERAPI on_callback(void *arg, Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id,
				     const void *data)
{
	(void)arg;
	if (domain == SANITIZER_CB_DOMAIN_RESOURCE && id == SANITIZER_CBID_RESOURCE_MODULE_LOADED)
		on_module(data);
	else if (domain == SANITIZER_CB_DOMAIN_LAUNCH && id == SANITIZER_CBID_LAUNCH_BEGIN)
		on_launch_begin(data);
	else if (domain == SANITIZER_CB_DOMAIN_LAUNCH && id == SANITIZER_CBID_LAUNCH_END)
		on_launch_end(data);
}

static unsigned number_of(const char *name, unsigned otherwise, unsigned most)
{
	const char *text = getenv(name);
	unsigned long value = text ? strtoul(text, NULL, 10) : otherwise;
	return value && value <= most ? (unsigned)value : otherwise;
}

static void subscribe(void)
{
	static bool done;
	Sanitizer_SubscriberHandle subscriber;
	if (done)
		return;
	done = true;
	r.patches = getenv("SW_TRUTH_PATCHES");
	r.per_kernel = number_of("SW_TRUTH_PER_KERNEL", 4, 1000000);
	r.places_log2 = number_of("SW_TRUTH_PLACES", 20, 28);
	if (!r.patches || !lines_open(getenv("SW_TRUTH_OUT"))) {
		fprintf(stderr, "truth: set SW_TRUTH_PATCHES and SW_TRUTH_OUT\n");
		return;
	}
	if (TRY(sanitizerSubscribe(&subscriber, on_callback, NULL))) {
		TRY(sanitizerEnableDomain(1, subscriber, SANITIZER_CB_DOMAIN_RESOURCE));
		TRY(sanitizerEnableDomain(1, subscriber, SANITIZER_CB_DOMAIN_LAUNCH));
	}
}

/* The driver looks this up in the object that CUDA_INJECTION64_PATH names. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void)
{
	subscribe();
	return 1;
}

__attribute__((constructor)) static void at_load(void)
{
	if (getenv("SW_TRUTH_PRELOAD"))
		subscribe();
}
