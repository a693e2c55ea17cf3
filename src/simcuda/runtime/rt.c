/* SPDX-License-Identifier: Apache-2.0 */
/* Start of the runtime, the current device, and errors. */
#include "simcuda/runtime/rt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#define MAX_DEVICES 16

static struct sw_rt_driver legacy, per_thread;
__thread const struct sw_rt_driver *sw_rt_d = &legacy;
extern const struct sw_rt_driver *const sw_rt_per_thread;
const struct sw_rt_driver *const sw_rt_per_thread = &per_thread;
extern const struct sw_rt_driver *const sw_rt_legacy;
const struct sw_rt_driver *const sw_rt_legacy = &legacy;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cudaError_t loaded;
static struct {
	CUcontext ctx;
	bool retained;
} primary[MAX_DEVICES];
static unsigned generation = 1; /* of the primary contexts: a device reset starts a new one */

static __thread cudaError_t last_error;
static __thread int device;
static __thread unsigned ready_in; /* generation in which this thread got its context */

static const struct request {
	const char *name;
	int version;
	size_t offset;
} requests[] = {
#define SW_RT_ENTRY(name, version) {#name, version, offsetof(struct sw_rt_driver, name)},
#include "simcuda/runtime/driver.def"
};

static bool resolve(PFN_cuGetProcAddress_v12000 get, struct sw_rt_driver *to, cuuint64_t flags)
{
	bool all = true;
	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
		CUdriverProcAddressQueryResult status;
		void **slot = (void **)((char *)to + requests[i].offset);
		if (get(requests[i].name, slot, requests[i].version, flags, &status))
			all = false;
	}
	return all;
}

static void load(void)
{
	PFN_cuGetProcAddress_v12000 get;
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	*(void **)&get = driver ? dlsym(driver, "cuGetProcAddress_v2") : NULL;
	if (!get) {
		loaded = cudaErrorInsufficientDriver;
		return;
	}
	if (!resolve(get, &legacy, CU_GET_PROC_ADDRESS_DEFAULT) ||
	    !resolve(get, &per_thread, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)) {
		loaded = cudaErrorInsufficientDriver;
		return;
	}
	loaded = (cudaError_t)legacy.cuInit(0);
}

cudaError_t sw_rt_load(void)
{
	pthread_once(&once, load);
	return loaded;
}

cudaError_t sw_rt_primary(int ordinal, CUcontext *out)
{
	if (ordinal < 0 || ordinal >= MAX_DEVICES)
		return cudaErrorInvalidDevice;
	cudaError_t result = cudaSuccess;
	pthread_mutex_lock(&lock);
	if (!primary[ordinal].retained) {
		result = (cudaError_t)legacy.cuDevicePrimaryCtxRetain(&primary[ordinal].ctx, ordinal);
		primary[ordinal].retained = !result;
	}
	pthread_mutex_unlock(&lock);
	*out = primary[ordinal].ctx;
	return result;
}

/* A context that the program made current by the driver API is respected. */
cudaError_t sw_rt_ready(void)
{
	CUcontext ctx = NULL;
	if (ready_in == __atomic_load_n(&generation, __ATOMIC_ACQUIRE))
		return cudaSuccess;
	cudaError_t result = sw_rt_load();
	if (!result)
		result = (cudaError_t)legacy.cuCtxGetCurrent(&ctx);
	if (!result && !ctx) {
		result = sw_rt_primary(device, &ctx);
		if (!result)
			result = (cudaError_t)legacy.cuCtxSetCurrent(ctx);
	}
	if (!result)
		ready_in = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
	return result;
}

cudaError_t sw_rt_result(cudaError_t error)
{
	if (error)
		last_error = error;
	return error;
}

int sw_rt_device(void)
{
	return device;
}

cudaError_t sw_rt_unsupported(const char *name)
{
	static const char *reported[512];
	size_t i = 0;
	pthread_mutex_lock(&lock);
	while (i < sizeof reported / sizeof *reported - 1 && reported[i] && reported[i] != name)
		i++;
	bool first = !reported[i];
	reported[i] = name;
	pthread_mutex_unlock(&lock);
	if (first)
		fprintf(stderr, "syncwatch: simulated CUDA does not support %s\n", name);
	return sw_rt_result(cudaErrorNotSupported);
}

/* ---- the API ---- */

cudaError_t cudaGetLastError(void)
{
	cudaError_t error = last_error;
	last_error = cudaSuccess;
	return error;
}

cudaError_t cudaPeekAtLastError(void)
{
	return last_error;
}

cudaError_t cudaGetDeviceCount(int *count)
{
	cudaError_t result = sw_rt_load();
	if (result)
		return sw_rt_result(result);
	SW_RT_CALL(legacy.cuDeviceGetCount(count));
}

cudaError_t cudaGetDevice(int *out)
{
	SW_RT_ENTER;
	if (!out)
		return sw_rt_result(cudaErrorInvalidValue);
	*out = device;
	return cudaSuccess;
}

cudaError_t cudaSetDevice(int ordinal)
{
	CUcontext ctx;
	int count;
	cudaError_t result = sw_rt_load();
	if (!result && !primary[ordinal >= 0 && ordinal < MAX_DEVICES ? ordinal : 0].retained) {
		result = (cudaError_t)legacy.cuDeviceGetCount(&count);
		if (!result && (ordinal < 0 || ordinal >= count))
			result = cudaErrorInvalidDevice;
	}
	if (!result)
		result = sw_rt_primary(ordinal, &ctx);
	if (!result)
		result = (cudaError_t)legacy.cuCtxSetCurrent(ctx);
	if (!result) {
		device = ordinal;
		ready_in = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
	}
	return sw_rt_result(result);
}

cudaError_t cudaInitDevice(int ordinal, unsigned device_flags, unsigned flags)
{
	CUcontext ctx;
	cudaError_t result = sw_rt_load();
	(void)device_flags, (void)flags;
	return sw_rt_result(result ? result : sw_rt_primary(ordinal, &ctx));
}

cudaError_t cudaDeviceReset(void)
{
	SW_RT_ENTER;
	CUcontext ctx = NULL;
	unsigned version;
	cudaError_t result = (cudaError_t)legacy.cuDevicePrimaryCtxReset(device);
	legacy.cuCtxGetCurrent(&ctx);
	legacy.cuCtxGetApiVersion(ctx, &version);
	pthread_mutex_lock(&lock);
	primary[device].retained = false;
	pthread_mutex_unlock(&lock);
	__atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
	return sw_rt_result(result);
}

cudaError_t cudaDeviceSynchronize(void)
{
	SW_RT_ENTER;
	CUcontext ctx;
	cudaError_t result = (cudaError_t)legacy.cuCtxGetCurrent(&ctx);
	return sw_rt_result(result ? result : (cudaError_t)legacy.cuCtxSynchronize(ctx));
}

cudaError_t cudaDriverGetVersion(int *version)
{
	if (sw_rt_load())
		return version ? (*version = 0, cudaSuccess) : sw_rt_result(cudaErrorInvalidValue);
	SW_RT_CALL(legacy.cuDriverGetVersion(version));
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	if (!version)
		return sw_rt_result(cudaErrorInvalidValue);
	*version = SW_CUDART_VERSION;
	return cudaSuccess;
}
