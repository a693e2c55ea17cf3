/* SPDX-License-Identifier: Apache-2.0 */
/* The lock, the entry of every call, and the live handles. */
#include "simcuda/sim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Shows a recorder that it records the simulation. */
extern int syncwatch_simulated_cuda;
int syncwatch_simulated_cuda = 1;

struct sw_sim_state sw_sim;
extern pthread_mutex_t sw_sim_mutex;
pthread_mutex_t sw_sim_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct sw_map objects; /* handle: kind */
static bool initialised, forked, exiting;
static __thread bool is_callback;
static __thread uint64_t thread_id;

void sw_sim_lock(void)
{
	pthread_mutex_lock(&sw_sim_mutex);
}

void sw_sim_unlock(void)
{
	pthread_mutex_unlock(&sw_sim_mutex);
}

/* The thread's number, asked of the kernel once. */
uint64_t sw_sim_thread(void)
{
	if (!thread_id)
		thread_id = (uint64_t)syscall(SYS_gettid);
	return thread_id;
}

void sw_sim_thread_is_callback(void)
{
	is_callback = true;
}

/* A child inherits neither the engine thread nor the device: like the real driver, it may not continue with the
   parent's. */
static void in_child(void)
{
	forked = true;
}

/* Work that is pending when the process exits is dropped; destructors may unmap what it would touch. */
static void at_exit(void)
{
	if (forked) /* the lock may have been held by the parent's engine when the child began */
		return;
	sw_sim_lock();
	exiting = true;
	sw_sim_engine_stop();
	sw_sim_unlock();
}

CUresult sw_sim_start(void);
/* cuInit(): reads the environment, makes the devices and starts the engine, once.  A fork child cannot use CUDA. */
CUresult sw_sim_start(void)
{
	if (forked)
		return CUDA_ERROR_NOT_INITIALIZED;
	sw_sim_lock();
	CUresult result = CUDA_SUCCESS;
	if (exiting) {
		result = CUDA_ERROR_DEINITIALIZED;
	} else if (!initialised) {
		const char *loading = getenv("CUDA_MODULE_LOADING"), *count = getenv("SYNCWATCH_SIM_DEVICES");
		int devices = count && *count ? atoi(count) : 1;
		sw_sim.devices = devices < 0 ? 0 : devices > SW_SIM_MAX_DEVICES ? SW_SIM_MAX_DEVICES : devices;
		sw_sim.eager = loading && !strcmp(loading, "EAGER");
		sw_sim_duration_start();
		if (!sw_sim.devices)
			result = CUDA_ERROR_NO_DEVICE;
		for (int i = 0; !result && i < sw_sim.devices; i++) {
			struct sw_sim_device *d = &sw_sim.device[i];
			d->index = i;
			if (!sw_sim_memory_start(d))
				result = CUDA_ERROR_OUT_OF_MEMORY;
			d->default_pool = d->pool = sw_sim_pool_new(d);
			d->default_pool->is_default = true;
			d->primary = sw_calloc(1, sizeof *d->primary);
			d->primary->primary = true;
			d->primary->device = d;
		}
		if (!result && !sw_sim_engine_start())
			result = CUDA_ERROR_OUT_OF_MEMORY;
		if (!result) {
			initialised = true;
			pthread_atfork(NULL, NULL, in_child);
			atexit(at_exit);
			fprintf(stderr, "syncwatch: simulated CUDA: kernels take time, but their code does not run\n");
		}
	}
	sw_sim_unlock();
	return result;
}

/* For tests: from the N-th call on that needs a context each fails as after an illegal access of a kernel. */
static bool context_has_failed(enum sw_sim_need need)
{
	static uint64_t calls, after;
	if (need != SW_SIM_NEEDS_CTX)
		return false;
	if (!calls++) {
		const char *value = getenv("SYNCWATCH_SIM_ERROR_AFTER");
		after = value ? strtoull(value, NULL, 10) : 0;
	}
	return after && calls > after;
}

/* Begins each call of the driver: takes the lock, or says why the call fails (in a fork child, inside of a callback,
   before cuInit(), without a context, after a failed kernel). */
CUresult sw_sim_enter(enum sw_sim_need need)
{
	if (forked)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (is_callback && need != SW_SIM_NEEDS_NOTHING)
		return CUDA_ERROR_NOT_PERMITTED;
	sw_sim_lock();
	CUresult result = CUDA_SUCCESS;
	if (need == SW_SIM_NEEDS_NOTHING)
		return result;
	if (exiting)
		result = CUDA_ERROR_DEINITIALIZED;
	else if (!initialised)
		result = CUDA_ERROR_NOT_INITIALIZED;
	else if (need == SW_SIM_NEEDS_CTX && !sw_sim_ctx_current())
		result = CUDA_ERROR_INVALID_CONTEXT;
	else if (context_has_failed(need))
		result = CUDA_ERROR_ILLEGAL_ADDRESS;
	if (result)
		sw_sim_unlock();
	return result;
}

/* Ends each call of the driver, by the attribute of SW_SIM_ENTER's variable: gives the lock back if it was taken. */
void sw_sim_leave(const CUresult *entered)
{
	if (!*entered)
		sw_sim_unlock();
}

/* Makes an object's address a handle that calls accept; it ends with its context, if it has one. */
void sw_sim_object_add(void *object, enum sw_sim_kind kind, struct sw_sim_ctx *ctx)
{
	struct sw_sim_object *o = object;
	o->kind = kind;
	o->ctx = ctx;
	*sw_map_put(&objects, (uintptr_t)object) = kind;
}

void *sw_sim_object_get(const void *handle, enum sw_sim_kind kind)
{
	return handle && sw_map_get(&objects, (uintptr_t)handle) == kind ? (void *)(uintptr_t)handle : NULL;
}

void sw_sim_object_remove(void *object)
{
	sw_map_delete(&objects, (uintptr_t)object);
}

/* Calls each() for all objects of a kind (and of a context, if one is given). */
void sw_sim_object_each(enum sw_sim_kind kind, struct sw_sim_ctx *ctx, void (*each)(void *object, void *arg), void *arg)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&objects, i, &slot));) {
		struct sw_sim_object *o = (struct sw_sim_object *)(uintptr_t)slot.key;
		if (slot.value == (uint64_t)kind && (!ctx || o->ctx == ctx))
			each(o, arg);
	}
}

/* Says once for each name that the simulation lacks it, and fails as a driver without it would. */
CUresult sw_sim_unsupported(const char *name)
{
	static struct sw_map reported; /* by the name's address: one literal a function */
	sw_sim_lock();
	uint64_t *seen = sw_map_put(&reported, (uintptr_t)name);
	bool first = !*seen;
	*seen = 1;
	sw_sim_unlock();
	if (first)
		fprintf(stderr, "syncwatch: simulated CUDA does not support %s\n", name);
	return CUDA_ERROR_NOT_SUPPORTED;
}
