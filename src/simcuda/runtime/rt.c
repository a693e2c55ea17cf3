/* SPDX-License-Identifier: Apache-2.0 */
/* Start of the runtime, the current device, and errors. */
#include "simcuda/runtime/rt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"

#define MAX_DEVICES 16

static struct sw_rt_driver legacy, per_thread;
__thread const struct sw_rt_driver *sw_rt_d = &legacy;
extern const struct sw_rt_driver *const sw_rt_per_thread;
const struct sw_rt_driver *const sw_rt_per_thread = &per_thread;
extern const struct sw_rt_driver *const sw_rt_legacy;
const struct sw_rt_driver *const sw_rt_legacy = &legacy;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t rt_lock = PTHREAD_MUTEX_INITIALIZER;
static cudaError_t loaded;
static struct {
	CUcontext ctx;
	bool retained;
} primary[MAX_DEVICES];
static unsigned generation = 1; /* of the primary contexts: a device reset starts a new one */

static __thread cudaError_t last_error;
static __thread int current_device;
static __thread unsigned ready_in; /* generation in which this thread got its context */

static const struct request {
	const char *name;
	int version;
	size_t offset;
} requests[] = {
#define SW_RT_ENTRY(name, version) {#name, version, offsetof(struct sw_rt_driver, name)},
#include "simcuda/runtime/driver_versions.def"
};

/* Asks the driver for all functions that the runtime uses.  False: it lacks one. */
static bool resolve_driver(PFN_cuGetProcAddress_v12000 get, struct sw_rt_driver *to, cuuint64_t flags)
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

/* Loads the driver and its functions, for both default streams. */
static void load_driver(void)
{
	PFN_cuGetProcAddress_v12000 get;
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	*(void **)&get = driver ? dlsym(driver, "cuGetProcAddress_v2") : NULL;
	if (!get) {
		loaded = cudaErrorInsufficientDriver;
		return;
	}
	if (!resolve_driver(get, &legacy, CU_GET_PROC_ADDRESS_DEFAULT) ||
	    !resolve_driver(get, &per_thread, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)) {
		loaded = cudaErrorInsufficientDriver;
		return;
	}
	loaded = (cudaError_t)legacy.cuInit(0);
}

/* Loads the driver, once, as the runtime library does it: by dlopen(). */
cudaError_t sw_rt_load(void)
{
	pthread_once(&once, load_driver);
	return loaded;
}

/* Retains the context at its first use. */
cudaError_t sw_rt_primary(int ordinal, CUcontext *out)
{
	if (ordinal < 0 || ordinal >= MAX_DEVICES)
		return cudaErrorInvalidDevice;
	cudaError_t result = cudaSuccess;
	pthread_mutex_lock(&rt_lock);
	if (!primary[ordinal].retained) {
		result = (cudaError_t)legacy.cuDevicePrimaryCtxRetain(&primary[ordinal].ctx, ordinal);
		primary[ordinal].retained = !result;
	}
	pthread_mutex_unlock(&rt_lock);
	*out = primary[ordinal].ctx;
	return result;
}

/* A context that the program made current by the driver API is respected; else the primary one of this thread's device
   becomes current. */
cudaError_t sw_rt_ready(void)
{
	CUcontext ctx = NULL;
	if (ready_in == __atomic_load_n(&generation, __ATOMIC_ACQUIRE))
		return cudaSuccess;
	cudaError_t result = sw_rt_load();
	if (!result)
		result = (cudaError_t)legacy.cuCtxGetCurrent(&ctx);
	if (!result && !ctx) {
		result = sw_rt_primary(current_device, &ctx);
		if (!result)
			result = (cudaError_t)legacy.cuCtxSetCurrent(ctx);
	}
	if (!result)
		ready_in = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
	return result;
}

/* Remembers an error for cudaGetLastError() and returns it. */
cudaError_t sw_rt_result(cudaError_t error)
{
	if (error)
		last_error = error;
	return error;
}

int sw_rt_device(void)
{
	return current_device;
}

/* Says once for each name that the simulation lacks it, and fails. */
cudaError_t sw_rt_unsupported(const char *name)
{
	static const char *reported[512];
	size_t i = 0;
	pthread_mutex_lock(&rt_lock);
	while (i < sizeof reported / sizeof *reported - 1 && reported[i] && reported[i] != name)
		i++;
	bool first = !reported[i];
	reported[i] = name;
	pthread_mutex_unlock(&rt_lock);
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
	*out = current_device;
	return cudaSuccess;
}

/* Makes the device's primary context current. */
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
		current_device = ordinal;
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

/* All threads get the new primary context, at their next call. */
cudaError_t cudaDeviceReset(void)
{
	SW_RT_ENTER;
	CUcontext ctx = NULL;
	unsigned version;
	cudaError_t result = (cudaError_t)legacy.cuDevicePrimaryCtxReset(current_device);
	legacy.cuCtxGetCurrent(&ctx);
	legacy.cuCtxGetApiVersion(ctx, &version);
	pthread_mutex_lock(&rt_lock);
	primary[current_device].retained = false;
	pthread_mutex_unlock(&rt_lock);
	__atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
	return sw_rt_result(result);
}

/* CUDA's own runtime also asks for the current context first, and passes it on. */
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

/*
 * What nvcc's start-up code registers: code images, kernels and variables.  An image is loaded at the first use of one
 * of its kernels or variables (lazy loading), by one cuLibraryLoadData.
 */

struct managed {
	void **host; /* the program's pointer to the variable */
	const char *name;
};

struct image {
	void *handle[1]; /* what nvcc's code keeps: its address */
	const void *wrapper;
	CUlibrary library;
	SW_VEC(struct managed) managed;
	bool initialised; /* managed variables have their addresses */
};

struct entry {
	struct image *image;
	const char *name; /* on the device */
	CUkernel kernel;
	bool variable;
};

/* Host address of a stub function or variable: its entry.  Recursive: the driver may load on behalf of a registered
 * call. */
static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sw_map entries;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
			    uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
		       int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t bytes,
			      int constant, int global);
void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *function);

/* The image that nvcc's code names by its handle. */
static struct image *image_of(void **handle)
{
	return (struct image *)(void *)((char *)handle - offsetof(struct image, handle));
}

/* Called by nvcc's start-up code for each image; nothing is loaded yet. */
void **__cudaRegisterFatBinary(void *wrapper)
{
	struct image *image = sw_calloc(1, sizeof *image);
	image->wrapper = wrapper;
	image->handle[0] = wrapper;
	return image->handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* Runs from atexit(): the driver may be unloaded, and nothing that it holds has to be returned. */
void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

/* Remembers what a stub function or host variable stands for. */
static void add_entry(void **handle, const void *host, const char *name, bool variable)
{
	struct entry *e = sw_calloc(1, sizeof *e);
	e->image = image_of(handle);
	e->name = name;
	e->variable = variable;
	pthread_mutex_lock(&register_lock);
	sw_map_put_ptr(&entries, (uintptr_t)host, e);
	pthread_mutex_unlock(&register_lock);
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
			    uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp)
{
	(void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	add_entry(handle, host, name, false);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
		       int constant, int global)
{
	(void)device, (void)external, (void)bytes, (void)constant, (void)global;
	add_entry(handle, host, name, true);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t bytes,
			      int constant, int global)
{
	(void)device, (void)external, (void)bytes, (void)constant, (void)global;
	*sw_vec_push(&image_of(handle)->managed) = (struct managed){host, name};
	add_entry(handle, host, name, true);
}

void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
	(void)handle, (void)name, (void)host, (void)bytes; /* only kernels would read it */
}

/* The image's library, loaded at its first use.  Called with the lock held. */
static cudaError_t load_library(struct image *image, CUlibrary *out)
{
	cudaError_t result = cudaSuccess;
	if (!image->library)
		result = (cudaError_t)sw_rt_d->cuLibraryLoadData(&image->library, image->wrapper, NULL, NULL, 0, NULL,
								 NULL, 0);
	*out = image->library;
	return result;
}

/* The kernel that a stub stands for, looked up once. */
static cudaError_t kernel_of(struct entry *e, CUkernel *out)
{
	CUlibrary lib;
	cudaError_t result = cudaSuccess;
	pthread_mutex_lock(&register_lock);
	if (!e->kernel) {
		result = load_library(e->image, &lib);
		if (!result)
			result = (cudaError_t)sw_rt_d->cuLibraryGetKernel(&e->kernel, lib, e->name);
	}
	*out = e->kernel;
	pthread_mutex_unlock(&register_lock);
	return result == cudaErrorSymbolNotFound ? cudaErrorInvalidDeviceFunction : result;
}

/* The function or variable that a host address stands for; NULL: nothing registered. */
static struct entry *find_entry(const void *host)
{
	pthread_mutex_lock(&register_lock);
	struct entry *e = sw_map_ptr(&entries, (uintptr_t)host);
	pthread_mutex_unlock(&register_lock);
	return e;
}

/* The driver's kernel of a host function by which the program launches it, or of a cudaKernel_t. */
cudaError_t sw_rt_kernel(const void *function, CUkernel *out)
{
	struct entry *e = find_entry(function);
	if (!function || (e && e->variable))
		return cudaErrorInvalidDeviceFunction;
	if (e)
		return kernel_of(e, out);
	*out = (CUkernel)(uintptr_t)function; /* a cudaKernel_t: the driver knows whether it is one */
	return cudaSuccess;
}

/* Address and size of a variable of the device that the program names by the address of its shadow on the host. */
cudaError_t sw_rt_symbol(const void *symbol, CUdeviceptr *address, size_t *bytes)
{
	CUlibrary lib;
	const struct entry *e = find_entry(symbol);
	if (!e || !e->variable)
		return cudaErrorInvalidSymbol;
	pthread_mutex_lock(&register_lock);
	cudaError_t result = load_library(e->image, &lib);
	pthread_mutex_unlock(&register_lock);
	if (!result)
		result = (cudaError_t)sw_rt_d->cuLibraryGetGlobal(address, bytes, lib, e->name);
	return result == cudaErrorSymbolNotFound ? cudaErrorInvalidSymbol : result;
}

cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *function)
{
	SW_RT_ENTER;
	CUkernel kernel;
	cudaError_t result = sw_rt_kernel(function, &kernel);
	if (!result)
		*out = (cudaKernel_t)kernel;
	return sw_rt_result(result);
}

/* nvcc's code calls it before the program's first use of a managed variable of that image. */
char __cudaInitModule(void **handle)
{
	struct image *image = image_of(handle);
	if (sw_rt_result(sw_rt_ready()))
		return 0;
	CUlibrary lib;
	pthread_mutex_lock(&register_lock);
	bool ok = !load_library(image, &lib);
	for (size_t i = 0; ok && !image->initialised && i < image->managed.n; i++) {
		CUdeviceptr address;
		size_t bytes;
		ok = !sw_rt_d->cuLibraryGetManaged(&address, &bytes, lib, image->managed.at[i].name);
		if (ok)
			*image->managed.at[i].host = (void *)(uintptr_t)address;
	}
	image->initialised = ok;
	pthread_mutex_unlock(&register_lock);
	return ok;
}

/* Launches: nvcc's call configuration, and the three ways into cuLaunchKernel. */

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes,
			       cudaStream_t stream);

#define CONFIGURATIONS 16 /* nested: arguments of a launch may launch */
static __thread struct {
	dim3 grid, block;
	size_t shared_bytes;
	cudaStream_t stream;
} configuration[CONFIGURATIONS];
static __thread unsigned depth;

/* Called for `<<<...>>>`, before the launch's arguments are evaluated. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, struct CUstream_st *stream)
{
	if (depth == CONFIGURATIONS)
		return 1;
	configuration[depth].grid = grid;
	configuration[depth].block = block;
	configuration[depth].shared_bytes = shared_bytes;
	configuration[depth++].stream = stream;
	return 0;
}

/* "kernel<<<...>>>()" is compiled to a push of the configuration and a call of the stub, which takes it back here. */
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
	if (!depth)
		return sw_rt_result(cudaErrorMissingConfiguration);
	*grid = configuration[--depth].grid;
	*block = configuration[depth].block;
	*shared_bytes = configuration[depth].shared_bytes;
	*(cudaStream_t *)stream = configuration[depth].stream;
	return cudaSuccess;
}

/* The runtime's error for that of the driver: bad geometry is a bad configuration here; an invalid handle may be the
   function or the stream, and only then it is asked which. */
static cudaError_t launch_error(CUkernel kernel, CUresult result)
{
	const char *name;
	if (result == CUDA_ERROR_INVALID_HANDLE && sw_rt_d->cuKernelGetName(&name, kernel))
		return sw_rt_result(cudaErrorInvalidDeviceFunction);
	return sw_rt_result(result == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration : (cudaError_t)result);
}

/* nvcc's code calls it with a kernel that it has looked up. */
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes,
			       cudaStream_t stream)
{
	SW_RT_ENTER;
	if (!kernel)
		return sw_rt_result(cudaErrorInvalidDeviceFunction);
	return launch_error((CUkernel)kernel,
			    sw_rt_d->cuLaunchKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x, block.y,
						    block.z, (unsigned)shared_bytes, stream, args, NULL));
}

/* `function` is the host's stub, which stands for the kernel. */
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args, size_t shared_bytes,
			     cudaStream_t stream)
{
	SW_RT_ENTER;
	CUkernel kernel;
	cudaError_t result = sw_rt_kernel(function, &kernel);
	return result ? sw_rt_result(result)
		      : __cudaLaunchKernel((cudaKernel_t)kernel, grid, block, args, shared_bytes, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
	SW_RT_ENTER;
	CUkernel kernel;
	if (!config)
		return sw_rt_result(cudaErrorInvalidValue);
	cudaError_t result = sw_rt_kernel(function, &kernel);
	if (result)
		return sw_rt_result(result);
	CUlaunchConfig c = {config->gridDim.x,
			    config->gridDim.y,
			    config->gridDim.z,
			    config->blockDim.x,
			    config->blockDim.y,
			    config->blockDim.z,
			    (unsigned)config->dynamicSmemBytes,
			    config->stream,
			    (CUlaunchAttribute *)config->attrs,
			    config->numAttrs};
	return launch_error(kernel, sw_rt_d->cuLaunchKernelEx(&c, (CUfunction)kernel, args, NULL));
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **args, size_t shared_bytes,
					cudaStream_t stream)
{
	SW_RT_ENTER;
	CUkernel kernel;
	cudaError_t result = sw_rt_kernel(function, &kernel);
	if (result)
		return sw_rt_result(result);
	return launch_error(kernel,
			    sw_rt_d->cuLaunchCooperativeKernel((CUfunction)kernel, grid.x, grid.y, grid.z, block.x,
							       block.y, block.z, (unsigned)shared_bytes, stream, args));
}
