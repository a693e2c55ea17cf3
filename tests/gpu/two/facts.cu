/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CUDA does with streams, events and memory of another device or context, with green contexts, and when a context
 * ends with work pending: one line a fact, "name TAB what came out".  The rules of src/hb and src/detect rest on them.
 *
 * usage: facts [one|two|fault]   one: what needs one GPU; two (default): all; fault WHICH: what kills its context
 */
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		cudaError_t check_status = (call);                                                                     \
		if (check_status != cudaSuccess) {                                                                     \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(check_status)); \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)
#define CU(call)                                                                                                       \
	do {                                                                                                           \
		CUresult cu_status = (call);                                                                           \
		if (cu_status != CUDA_SUCCESS) {                                                                       \
			printf("%s\terror %d\n", #call, cu_status);                                                    \
			return;                                                                                        \
		}                                                                                                      \
	} while (0)

constexpr unsigned SPIN_MS = 40;
constexpr size_t BYTES = 1 << 20;

__global__ void spin(unsigned ms)
{
	unsigned long long start, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - start < ms * 1000000ull);
}

__global__ void read_word(const int *in, int *out)
{
	*out = *in;
}

static double now_ms()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static void tell(const char *name, cudaError_t status)
{
	printf("%s\t%s\n", name, cudaGetErrorName(status));
	fflush(stdout);
	(void)cudaGetLastError();
}

static void spin_on(cudaStream_t stream)
{
	spin<<<1, 1, 0, stream>>>(SPIN_MS);
	CHECK(cudaPeekAtLastError());
}

/* How long a call takes after SPIN_MS of work on a stream. */
#define TELL_MS(name, stream, call)                                                                                    \
	do {                                                                                                           \
		spin_on(stream);                                                                                       \
		double begun = now_ms();                                                                               \
		int status = (int)(call);                                                                              \
		printf("%s\t%.1f of %u ms, status %d\n", name, now_ms() - begun, SPIN_MS, status);                     \
		fflush(stdout);                                                                                        \
	} while (0)

/* ---- the wrong device ----------------------------------------------------------------------------------------- */

static void CUDART_CB nothing(void *)
{
}

static void wrong_device()
{
	cudaStream_t one, zero;
	cudaEvent_t of_zero, of_one;
	void *mem[2], *pinned, *async;
	cudaPointerAttributes attributes;
	float ms;

	CHECK(cudaSetDevice(1));
	CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&of_one));
	CHECK(cudaMalloc(&mem[1], BYTES));
	CHECK(cudaSetDevice(0));
	CHECK(cudaStreamCreateWithFlags(&zero, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&of_zero));
	CHECK(cudaMalloc(&mem[0], BYTES));
	CHECK(cudaMallocHost(&pinned, BYTES));

	spin<<<1, 1, 0, one>>>(1);
	tell("current 0: launch on a stream of device 1", cudaGetLastError());
	tell("current 0: H2D to device 0 on a stream of device 1", cudaMemcpyAsync(mem[0], pinned, BYTES, cudaMemcpyHostToDevice, one));
	tell("current 0: H2D to device 1 on a stream of device 1", cudaMemcpyAsync(mem[1], pinned, BYTES, cudaMemcpyHostToDevice, one));
	tell("current 0: memset of device 0 on a stream of device 1", cudaMemsetAsync(mem[0], 0, BYTES, one));
	tell("current 0: memset of device 1 on a stream of device 0", cudaMemsetAsync(mem[1], 0, BYTES, zero));
	tell("current 0: memset of device 1 on a stream of device 1", cudaMemsetAsync(mem[1], 0, BYTES, one));
	tell("without peer access: cudaMemcpyPeerAsync", cudaMemcpyPeerAsync(mem[1], 1, mem[0], 0, BYTES, zero));
	tell("current 0: host function on a stream of device 1", cudaLaunchHostFunc(one, nothing, NULL));
	tell("current 0: record event of device 0 on a stream of device 1", cudaEventRecord(of_zero, one));
	tell("current 0: record event of device 1 on a stream of device 1", cudaEventRecord(of_one, one));
	tell("current 0: record event of device 0 on a stream of device 0", cudaEventRecord(of_zero, zero));
	tell("stream of device 0 waits for event of device 1", cudaStreamWaitEvent(zero, of_one, 0));
	CHECK(cudaStreamSynchronize(one));
	CHECK(cudaStreamSynchronize(zero));
	tell("elapsed time between events of two devices", cudaEventElapsedTime(&ms, of_zero, of_one));
	tell("current 0: cudaMallocAsync on a stream of device 1", cudaMallocAsync(&async, BYTES, one));
	CHECK(cudaPointerGetAttributes(&attributes, async));
	printf("its device\t%d\n", attributes.device);
	tell("current 0: free it on a stream of device 0", cudaFreeAsync(async, zero));
	CHECK(cudaStreamSynchronize(zero));
	tell("current 0: destroy a stream of device 1", cudaStreamDestroy(one));
	tell("current 0: destroy an event of device 1", cudaEventDestroy(of_one));
}

/* In a process of its own: the context is lost. */
static int fault(const char *which)
{
	int *out, *in;
	cudaStream_t one;

	CHECK(cudaSetDevice(1));
	CHECK(cudaStreamCreate(&one));
	if (!strcmp(which, "pool"))
		CHECK(cudaMallocAsync((void **)&in, BYTES, one));
	else
		CHECK(cudaMalloc((void **)&in, BYTES));
	CHECK(cudaStreamSynchronize(one));
	CHECK(cudaSetDevice(0));
	CHECK(cudaMalloc((void **)&out, BYTES));
	if (!strcmp(which, "pool"))
		CHECK(cudaDeviceEnablePeerAccess(1, 0));
	read_word<<<1, 1>>>(in, out);
	tell(which, cudaDeviceSynchronize());
	return 0;
}

static void run_fault(const char *self, const char *which, const char *name)
{
	char command[4096];

	printf("%s: ", name);
	fflush(stdout);
	snprintf(command, sizeof command, "'%s' fault %s", self, which);
	if (system(command))
		puts("(failed)");
}

/* ---- contexts ------------------------------------------------------------------------------------------------- */

static void user_contexts()
{
	CUcontext primary, other;
	CUdevice device;
	CUdeviceptr mem, of_other;
	CUstream s;
	cudaStream_t busy;

	CHECK(cudaSetDevice(0));
	CHECK(cudaFree(0));
	CHECK(cudaStreamCreateWithFlags(&busy, cudaStreamNonBlocking));
	CU(cuCtxGetCurrent(&primary));
	CU(cuCtxGetDevice(&device));
	CU(cuMemAlloc(&mem, BYTES));
#if CUDA_VERSION >= 13000
	CU(cuCtxCreate(&other, NULL, 0, device));
#else
	CU(cuCtxCreate(&other, 0, device));
#endif
	CU(cuMemAlloc(&of_other, BYTES));
	CU(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	TELL_MS("user context: cuMemFree of the primary context's memory behind its own kernel", s, cuMemFree(mem));
	CU(cuCtxSynchronize());
	TELL_MS("user context: cuMemFree of its memory behind its own kernel", s, cuMemFree(of_other));
	CU(cuCtxSynchronize());
	TELL_MS("user context: cuStreamSynchronize(NULL) of the primary context", s,
		(cuCtxPushCurrent(primary), cuStreamSynchronize(NULL), cuCtxPopCurrent(NULL)));
	CU(cuCtxSynchronize());
	TELL_MS("cuCtxDestroy with work pending", s, cuCtxDestroy(other));
	CU(cuCtxSetCurrent(primary));
	CHECK(cudaStreamDestroy(busy));
}

static void green_contexts()
{
#if CUDA_VERSION >= 12050
	CUdevResource all, group, rest;
	CUdevResourceDesc description;
	CUgreenCtx green;
	CUcontext primary, of_green, of_stream;
	CUdevice device;
	CUstream s, blocking = NULL;
	CUevent event, context_event;
	CUdeviceptr mem;
	unsigned groups = 1;

	CHECK(cudaSetDevice(0));
	CHECK(cudaFree(0));
	CU(cuCtxGetCurrent(&primary));
	CU(cuCtxGetDevice(&device));
	CU(cuDeviceGetDevResource(device, &all, CU_DEV_RESOURCE_TYPE_SM));
	CU(cuDevSmResourceSplitByCount(&group, &groups, &all, &rest, 0, 16));
	CU(cuDevResourceGenerateDesc(&description, &group, 1));
	CU(cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
	CU(cuCtxFromGreenCtx(&of_green, green));
	printf("green context: its CUcontext is the primary one\t%d\n", of_green == primary);
	printf("green context: its handle is its CUcontext\t%d\n", (void *)of_green == (void *)green);
	CU(cuGreenCtxStreamCreate(&s, green, CU_STREAM_NON_BLOCKING, 0));
	printf("green context: cuGreenCtxStreamCreate without CU_STREAM_NON_BLOCKING\tstatus %d\n",
	       cuGreenCtxStreamCreate(&blocking, green, 0, 0));
	CU(cuStreamGetCtx(s, &of_stream));
	printf("green context: cuStreamGetCtx of its stream\t%s\n",
	       of_stream == primary ? "primary" : of_stream == of_green ? "its CUcontext" : "another");
	CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	TELL_MS("green context: cuCtxSynchronize of the primary context", s, cuCtxSynchronize());
	CU(cuStreamSynchronize(s));
	TELL_MS("green context: cuStreamSynchronize(NULL) of the primary context", s, cuStreamSynchronize(NULL));
	CU(cuStreamSynchronize(s));
	TELL_MS("green context: cuCtxRecordEvent of the primary context, cuEventSynchronize", s,
		(cuCtxRecordEvent(primary, event), cuEventSynchronize(event)));
	CU(cuStreamSynchronize(s));
	TELL_MS("green context: cuGreenCtxRecordEvent with an event of the primary context, cuEventSynchronize", s,
		(cuGreenCtxRecordEvent(green, event) ? 1 : cuEventSynchronize(event)));
	CU(cuStreamSynchronize(s));
	CU(cuMemAlloc(&mem, BYTES));
	TELL_MS("green context: cuMemFree in the primary context", s, cuMemFree(mem));
	CU(cuStreamSynchronize(s));
	CU(cuCtxPushCurrent(of_green));
	CU(cuEventCreate(&context_event, CU_EVENT_DISABLE_TIMING));
	TELL_MS("green context current: cuCtxSynchronize", s, cuCtxSynchronize());
	CU(cuStreamSynchronize(s));
	TELL_MS("green context current: cuStreamSynchronize(NULL)", s, cuStreamSynchronize(NULL));
	CU(cuStreamSynchronize(s));
	TELL_MS("green context: cuGreenCtxRecordEvent, cuEventSynchronize", s,
		(cuGreenCtxRecordEvent(green, context_event) ? 1 : cuEventSynchronize(context_event)));
	CU(cuStreamSynchronize(s));
	CU(cuCtxPopCurrent(NULL));
	TELL_MS("green context: cuGreenCtxDestroy with work pending", s, cuGreenCtxDestroy(green));
	printf("green context destroyed: cuStreamSynchronize of its stream\tstatus %d\n", cuStreamSynchronize(s));
	CHECK(cudaDeviceSynchronize());
#endif
}

static void reset()
{
	cudaStream_t s;
	void *pinned, *async;
	cudaPointerAttributes attributes;

	CHECK(cudaSetDevice(0));
	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaMallocHost(&pinned, BYTES));
	CHECK(cudaMallocAsync(&async, BYTES, s));
	CHECK(cudaStreamSynchronize(s));
	TELL_MS("cudaDeviceReset with work pending", s, cudaDeviceReset());
	cudaStream_t again;
	CHECK(cudaStreamCreateWithFlags(&again, cudaStreamNonBlocking));
	printf("after the reset: the next stream has the old one's handle\t%d\n", again == s);
	cudaError_t status = cudaPointerGetAttributes(&attributes, async);
	printf("after the reset: memory of cudaMallocAsync is\t%s, type %d\n", cudaGetErrorName(status), status ? -1 : attributes.type);
	status = cudaPointerGetAttributes(&attributes, pinned);
	printf("after the reset: memory of cudaMallocHost is\t%s, type %d\n", cudaGetErrorName(status), status ? -1 : attributes.type);
	tell("after the reset: cudaFree of memory of cudaMallocAsync", cudaFree(async));
}

int main(int argc, char **argv)
{
	int there = 0;
	bool two = argc < 2 || !strcmp(argv[1], "two");

	if (argc > 2 && !strcmp(argv[1], "fault"))
		return fault(argv[2]);
	if (cudaGetDeviceCount(&there) != cudaSuccess || there < (two ? 2 : 1)) {
		fprintf(stderr, "%s needed\n", two ? "two GPUs are" : "a GPU is");
		return 77;
	}
	for (int d = two ? 1 : 0; d >= 0; d--) {
		CHECK(cudaSetDevice(d));
		spin<<<1, 1>>>(1);
		CHECK(cudaDeviceSynchronize());
	}
	if (two) {
		run_fault(argv[0], "plain", "kernel of device 0 reads cudaMalloc memory of device 1, no peer access");
		run_fault(argv[0], "pool", "kernel of device 0 reads cudaMallocAsync memory of device 1, cudaDeviceEnablePeerAccess only");
		wrong_device();
	}
	user_contexts();
	green_contexts();
	reset();
}
