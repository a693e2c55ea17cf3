/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the fake driver that tests look at. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "preload/intercept/cuda_types.h"

#define EXPORT __attribute__((visibility("default")))

static _Atomic uint64_t next_handle = 0x1000;
static __thread CUcontext current;
static struct CUctx_st *const primary = (struct CUctx_st *)0x77000;

static void *handle(void)
{
	return (void *)(uintptr_t)atomic_fetch_add(&next_handle, 0x100);
}

/* A function that only newer drivers have: no table of ours knows its name. */
EXPORT CUresult cuFutureOrderEverything(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
					uint64_t g);
CUresult cuFutureOrderEverything(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g)
{
	/* All arguments arrive, also the one on the stack. */
	return a == 1 && b == 2 && c == 3 && d == 4 && e == 5 && f == 6 && g == 7 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

/* Every bit that the program passed, and which function it was. */
EXPORT CUresult cuMulticastUnbind(CUmemGenericAllocationHandle object, CUdevice device, size_t offset, size_t bytes)
{
	return object == 0x123456789abcdef0 && device == -7 && offset == 0xfedcba9876543210 && bytes == 1
		       ? CUDA_SUCCESS
		       : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream stream, CUgraphNode *nodes, size_t n, unsigned flags)
{
	return (uintptr_t)stream == 0x9000 && nodes && n == 2 && flags == 0xf0000001 ? CUDA_SUCCESS
										     : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuEGLStreamProducerPresentFrame(void *connection, struct sw_egl_frame frame, CUstream *stream)
{
	return *(int *)connection == 1 && frame.words[0] == 1 && frame.words[7] == 8 && !stream
		       ? CUDA_SUCCESS
		       : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
	*pool = (CUmemoryPool)0xc000;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuLaunchHostFunc_v2(CUstream stream, CUhostFn function, void *data, unsigned mode)
{
	function(data);
	return mode == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuGraphAddNode_v3(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
				  const CUgraphEdgeData *edges, size_t n, CUgraphNodeParams *params)
{
	*out = (CUgraphNode)0xd000;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuTensorMapSetAllocationClass(CUtensorMap *map, CUtensorMapAllocClass class, CUtensorMapAllocClass *out)
{
	map->opaque[0] = class;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDriverGetVersion(int *version)
{
	*version = 13000;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetCount(int *count)
{
	*count = 1;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	snprintf(name, (size_t)len, "fake %d", dev);
	return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	*ctx = current;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext ctx)
{
	(void)ctx;
	*device = 0;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxGetDevice(CUdevice *device)
{
	*device = 0;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext ctx)
{
	current = ctx;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned int flags, CUdevice dev)
{
	(void)flags;
	(void)dev;
	/* One address each time, as an allocator would do. */
	*ctx = current = (CUcontext)0x88000;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
	(void)dev;
	*ctx = primary;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	(void)flags;
	*stream = handle();
	return CUDA_SUCCESS;
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	(void)flags;
	*event = handle();
	return CUDA_SUCCESS;
}

EXPORT CUresult cuEventQuery(CUevent event)
{
	return event ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes)
{
	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	*at = (CUdeviceptr)(uintptr_t)handle();
	return CUDA_SUCCESS;
}

EXPORT CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *a, void **b, unsigned int c,
				  CUlibraryOption *d, void **e, unsigned int f)
{
	(void)code, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
	*library = handle();
	return CUDA_SUCCESS;
}

EXPORT CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
	(void)library, (void)name;
	*kernel = handle();
	return CUDA_SUCCESS;
}

EXPORT CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
	if (kernel == (CUkernel)0xbad)
		return CUDA_ERROR_INVALID_HANDLE;
	*name = "_Z4fakePfi";
	return CUDA_SUCCESS;
}

/* (float *, int, then a char at 16) */
EXPORT CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
	static const size_t layout[][2] = {{0, 8}, {8, 4}, {16, 1}};

	if (kernel == (CUkernel)0xbad)
		return CUDA_ERROR_INVALID_HANDLE;
	if (index > 2)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = layout[index][0];
	*bytes = layout[index][1];
	return CUDA_SUCCESS;
}

EXPORT CUresult cuFuncGetParamInfo(CUfunction f, size_t index, size_t *offset, size_t *bytes)
{
	(void)f, (void)index, (void)offset, (void)bytes;
	return CUDA_ERROR_INVALID_HANDLE;
}

EXPORT CUresult cuFuncGetName(const char **name, CUfunction f)
{
	(void)name, (void)f;
	return CUDA_ERROR_INVALID_HANDLE;
}

static CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;

EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
	(void)stream, (void)mode;
	capturing = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	(void)stream;
	capturing = CU_STREAM_CAPTURE_STATUS_NONE;
	*graph = handle();
	return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	(void)stream;
	*status = capturing;
	return CUDA_SUCCESS;
}

/* Runs at once, on the caller's thread unless it is nested in a call of ours: a thread of its own, as the driver has.
 */
struct task {
	CUhostFn fn;
	void *data;
};

static void *run(void *with)
{
	const struct task *task = with;

	task->fn(task->data);
	return NULL;
}

EXPORT CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data)
{
	struct task task = {fn, data};
	pthread_t thread;

	(void)stream;
	if (capturing)
		return CUDA_SUCCESS;
	pthread_create(&thread, NULL, run, &task);
	pthread_join(thread, NULL);
	return CUDA_SUCCESS;
}

/* Runs at once and on the caller's thread, so that what the function throws passes through all of us. */
EXPORT CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback fn, void *data, unsigned int flags)
{
	(void)flags;
	fn(stream, CUDA_SUCCESS, data);
	return CUDA_SUCCESS;
}

/* Handed out under a name whose exported function lies elsewhere. */
static CUresult event_record_inside(CUevent event, CUstream stream)
{
	(void)event, (void)stream;
	return CUDA_SUCCESS;
}

/* The real driver hands out for a name, a version and a flag: the newest not newer than asked for. */
static const struct {
	const char *name;
	int version;
	cuuint64_t flags; /* 2: per-thread default stream */
	void *function;
} entries[] = {
	{"cuGetProcAddress", 12000, 0, (void *)cuGetProcAddress_v2},
	{"cuGetProcAddress", 11030, 0, (void *)cuGetProcAddress},
	{"cuMemAlloc", 3020, 0, (void *)cuMemAlloc_v2},
	{"cuMemAlloc", 2000, 0, (void *)cuMemAlloc},
	{"cuLaunchKernel", 7000, 2, (void *)cuLaunchKernel_ptsz},
	{"cuLaunchKernel", 4000, 0, (void *)cuLaunchKernel},
	{"cuMemcpyHtoD", 7000, 2, (void *)cuMemcpyHtoD_v2_ptds},
	{"cuMemcpyHtoD", 3020, 0, (void *)cuMemcpyHtoD_v2},
	{"cuStreamSynchronize", 7000, 2, (void *)cuStreamSynchronize_ptsz},
	{"cuStreamSynchronize", 2000, 0, (void *)cuStreamSynchronize},
	{"cuEventRecord", 2000, 0, (void *)event_record_inside},
	{"cuDeviceGetCount", 2000, 0, (void *)cuDeviceGetCount},
	{"cuFutureOrderEverything", 13000, 0, (void *)cuFutureOrderEverything},
};

static void *entry(const char *name, int version, cuuint64_t flags)
{
#ifdef ASKS_ITSELF /* by dlsym, which is ours */
	char newer[100];
	void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), *found;
	snprintf(newer, sizeof newer, "%s_v2", name);
	found = dlsym(self, newer);
	found = found ? found : dlsym(self, name);
	dlclose(self);
	if (found)
		return found;
#endif
	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
		if (strcmp(entries[i].name, name) == 0 && entries[i].version <= version &&
		    (entries[i].flags == 0 || entries[i].flags == flags))
			return entries[i].function;
	}
	return NULL;
}

EXPORT CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
	*pfn = entry(symbol, version, flags);
	return *pfn ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
				    CUdriverProcAddressQueryResult *status)
{
	*pfn = entry(symbol, version, flags);
	if (status)
		*status = *pfn ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return CUDA_SUCCESS;
}
