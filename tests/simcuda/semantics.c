/* SPDX-License-Identifier: Apache-2.0 */
/* Promises that programs rely on: bytes arrive, in order; graphs replay; errors are the right ones; exits and forks do
 * not hang. */
#include "device_code.h"
#include "expect.h"

#include <cuda.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern int syncwatch_simulated_cuda;
void syncwatch_simulated_finish(void);

#define N 4096

static const dim3 one = {1, 1, 1};

static void launch(const void *stub, cudaStream_t s)
{
	void *p = NULL;
	int n = 0;
	void *args[] = {&p, &n};
	CHECK(cudaLaunchKernel(stub, one, one, args, 0, s));
}

/* The spinner may not have started yet: it is ended until the stream is idle. */
static void let_go(cudaStream_t s)
{
	while (cudaStreamQuery(s) == cudaErrorNotReady)
		syncwatch_simulated_finish();
	cudaGetLastError();
	CHECK(cudaStreamSynchronize(s));
}

static char *device(void)
{
	void *p;
	CHECK(cudaMalloc(&p, N));
	return p;
}

static bool all(const char *p, int value)
{
	for (int i = 0; i < N; i++)
		if (p[i] != value)
			return false;
	return true;
}

static void bytes_move_in_stream_order(void)
{
	char *d = device(), *d2 = device(), *h, back[N];
	cudaStream_t a, b;
	cudaEvent_t e;
	CHECK(cudaMallocHost((void **)&h, N));
	CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&e));
	launch(quick_stub, a);
	CHECK(cudaStreamSynchronize(a));
	memset(h, 1, N);
	launch(spin_stub, a); /* holds a back */
	CHECK(cudaMemcpyAsync(d, h, N, cudaMemcpyHostToDevice, a));
	CHECK(cudaEventRecord(e, a));
	CHECK(cudaStreamWaitEvent(b, e, 0));
	CHECK(cudaMemcpyAsync(d2, d, N, cudaMemcpyDeviceToDevice, b));
	memset(h, 2, N); /* before the copy is executed: a race that this one wins */
	EXPECT(cudaStreamQuery(b) == cudaErrorNotReady && cudaEventQuery(e) == cudaErrorNotReady);
	let_go(b);
	CHECK(cudaMemcpy(back, d2, N, cudaMemcpyDeviceToHost));
	EXPECT(all(back, 2));
	EXPECT(cudaEventQuery(e) == cudaSuccess);
	CHECK(cudaMemset(d, 3, N));
	CHECK(cudaMemcpy2D(back, 64, d, 64, 32, N / 64, cudaMemcpyDeviceToHost));
	EXPECT(back[0] == 3 && back[31] == 3 && back[32] == 2);
	CHECK(cudaFreeHost(h));
	CHECK(cudaStreamDestroy(a));
	CHECK(cudaStreamDestroy(b));
	EXPECT(cudaStreamSynchronize(a) == cudaErrorInvalidResourceHandle);
	CHECK(cudaFree(d));
	CHECK(cudaFree(d2));
	EXPECT(cudaFree(d) == cudaErrorInvalidValue);
	EXPECT(cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess);
}

/* A pageable source is staged at the call: the caller may change it at once. */
static void pageable_sources_are_staged(void)
{
	char *d = device(), h[N], back[N];
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	memset(h, 1, N);
	launch(spin_stub, s);
	CHECK(cudaMemcpyAsync(d, h, N, cudaMemcpyHostToDevice, s));
	memset(h, 2, N);
	let_go(s);
	CHECK(cudaMemcpy(back, d, N, cudaMemcpyDeviceToHost));
	EXPECT(all(back, 1));
	CHECK(cudaFree(d));
}

static void never_recorded_events_are_done(void)
{
	cudaEvent_t e, end;
	float ms;
	CHECK(cudaEventCreate(&e));
	CHECK(cudaEventCreate(&end));
	EXPECT(cudaEventQuery(e) == cudaSuccess && cudaEventSynchronize(e) == cudaSuccess);
	CHECK(cudaStreamWaitEvent(0, e, 0));
	EXPECT(cudaEventElapsedTime(&ms, e, end) == cudaErrorInvalidResourceHandle);
	CHECK(cudaEventRecord(e, 0));
	launch(quick_stub, 0);
	CHECK(cudaEventRecord(end, 0));
	CHECK(cudaEventSynchronize(end));
	CHECK(cudaEventElapsedTime(&ms, e, end));
	EXPECT(ms >= 0.005f && ms < 1000);
	CHECK(cudaEventDestroy(e));
	EXPECT(cudaEventRecord(e, 0) == cudaErrorInvalidResourceHandle);
}

static void count(void *arg)
{
	++*(int *)arg;
	EXPECT(cudaMalloc((void **)&arg, 1) == cudaErrorNotPermitted);
}

static void host_functions_run_in_order(void)
{
	static int calls;
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	launch(spin_stub, s);
	CHECK(cudaLaunchHostFunc(s, count, &calls));
	EXPECT(!calls && cudaStreamQuery(s) == cudaErrorNotReady);
	let_go(s);
	EXPECT(calls == 1);
}

static void captured_work_replays(void)
{
	char *d = device(), *d2 = device(), back[N];
	cudaStream_t s, t;
	cudaEvent_t fork, join;
	cudaGraph_t g;
	cudaGraphExec_t x;
	size_t nodes = 0, edges = 0;
	static int calls;
	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaEventCreate(&fork));
	CHECK(cudaEventCreate(&join));
	CHECK(cudaMemset(d, 1, N));
	CHECK(cudaMemset(d2, 1, N));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	CHECK(cudaMemsetAsync(d, 5, N, s));
	CHECK(cudaEventRecord(fork, s));
	CHECK(cudaStreamWaitEvent(t, fork, 0));
	CHECK(cudaMemcpyAsync(d2, d, N, cudaMemcpyDeviceToDevice, t));
	CHECK(cudaLaunchHostFunc(s, count, &calls));
	EXPECT(cudaEventQuery(fork) == cudaErrorCapturedEvent);
	CHECK(cudaEventRecord(join, t));
	CHECK(cudaStreamWaitEvent(s, join, 0));
	launch(quick_stub, s);
	CHECK(cudaStreamEndCapture(s, &g));
	CHECK(cudaGraphGetNodes(g, NULL, &nodes));
	CHECK(cudaGraphGetEdges(g, NULL, NULL, NULL, &edges));
	EXPECT(nodes == 4 && edges == 4);
	CHECK(cudaMemcpy(back, d2, N, cudaMemcpyDeviceToHost));
	EXPECT(all(back, 1) && !calls); /* captured, not run */
	CHECK(cudaGraphInstantiate(&x, g, 0));
	CHECK(cudaGraphLaunch(x, s));
	CHECK(cudaGraphLaunch(x, s));
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaMemcpy(back, d2, N, cudaMemcpyDeviceToHost));
	EXPECT(all(back, 5) && calls == 2);
	CHECK(cudaGraphExecDestroy(x));
	CHECK(cudaGraphDestroy(g));
	CHECK(cudaFree(d));
	CHECK(cudaFree(d2));
}

static void bad_captures_are_refused(void)
{
	cudaStream_t s, t, blocking;
	cudaEvent_t e;
	cudaGraph_t g;
	void *p;
	CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaStreamCreate(&blocking));
	CHECK(cudaEventCreate(&e));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	EXPECT(cudaMalloc(&p, 1) == cudaErrorStreamCaptureUnsupported);
	EXPECT(cudaStreamEndCapture(s, &g) == cudaErrorStreamCaptureInvalidated && !g);
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	CHECK(cudaEventRecord(e, s));
	CHECK(cudaStreamWaitEvent(t, e, 0));
	launch(quick_stub, t);
	EXPECT(cudaStreamEndCapture(s, &g) == cudaErrorStreamCaptureUnjoined);
	CHECK(cudaEventRecord(e, t));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	EXPECT(cudaStreamWaitEvent(s, e, 0) == cudaErrorStreamCaptureIsolation);
	EXPECT(cudaStreamEndCapture(s, &g) == cudaErrorStreamCaptureInvalidated);
	CHECK(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeRelaxed));
	void *args[] = {&p, &p};
	EXPECT(cudaLaunchKernel(quick_stub, one, one, args, 0, cudaStreamLegacy) == cudaErrorStreamCaptureImplicit);
	EXPECT(cudaStreamEndCapture(blocking, &g) == cudaErrorStreamCaptureInvalidated);
	EXPECT(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeRelaxed) ==
	       cudaErrorStreamCaptureUnsupported);
	cudaGetLastError();
}

static void pools_free_in_stream_order(void)
{
	void *p, *q;
	cudaStream_t s;
	cudaMemPool_t pool;
	unsigned long long used;
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
	CHECK(cudaMallocAsync(&p, N, s));
	launch(spin_stub, s);
	CHECK(cudaFreeAsync(p, s));
	CHECK(cudaMallocAsync(&q, N, s));
	EXPECT(p != q); /* the first is still in use */
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
	EXPECT(used == 2 * N);
	let_go(s);
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
	EXPECT(used == N);
	CHECK(cudaFree(q));
}

static void errors_are_the_documented_ones(void)
{
	void *p;
	char *d = device();
	struct cudaDeviceProp prop;
	dim3 huge = {2048, 1, 1};
	void *args[] = {&p, &p};
	EXPECT(syncwatch_simulated_cuda == 1);
	CHECK(cudaGetDeviceProperties(&prop, 0));
	EXPECT(!strcmp(prop.name, "Simulated CUDA device (syncwatch)"));
	EXPECT(cudaSetDevice(7) == cudaErrorInvalidDevice);
	EXPECT(cudaMalloc(&p, 1ull << 50) == cudaErrorMemoryAllocation);
	EXPECT(cudaLaunchKernel(quick_stub, one, huge, args, 0, 0) == cudaErrorInvalidConfiguration);
	EXPECT(cudaLaunchKernel(&failures, one, one, args, 0, 0) == cudaErrorInvalidDeviceFunction);
	EXPECT(cudaMemcpy(d, d, 2 * N, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
	EXPECT(cudaMemcpy(d, d, N, (enum cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
	EXPECT(cudaGetSymbolSize((size_t *)&p, &failures) == cudaErrorInvalidSymbol);
	EXPECT(cudaHostUnregister(&p) == cudaErrorHostMemoryNotRegistered);
	EXPECT(cudaDeviceGraphMemTrim(0) == cudaErrorNotSupported);
	EXPECT(cudaGetLastError() == cudaErrorNotSupported);
	EXPECT(!strcmp(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady"));
	CHECK(cudaFree(d));
}

/* A kernel's parameters can be asked for: the recorder does. */
static void parameters_have_their_layout(void)
{
	size_t offset, bytes;
	CHECK(cudaFuncGetParamInfo(quick_stub, 1, &offset, &bytes));
	EXPECT(offset == 8 && bytes == 4);
	EXPECT(cudaFuncGetParamInfo(quick_stub, 2, &offset, &bytes) == cudaErrorInvalidValue);
	CHECK(cudaFuncGetParamInfo(struct_stub, 0, &offset, &bytes));
	EXPECT(offset == 0 && bytes == 16);
	cudaGetLastError();
}

static void reset_ends_everything(void)
{
	void *p, *q;
	cudaStream_t s;
	CHECK(cudaMalloc(&p, N));
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaDeviceReset());
	EXPECT(cudaStreamQuery(s) == cudaErrorInvalidResourceHandle);
	EXPECT(cudaFree(p) == cudaErrorInvalidValue);
	CHECK(cudaMalloc(&q, N));
	launch(quick_stub, 0);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(q));
	cudaGetLastError();
}

static void child_exits_with(int wanted, const char *what, void (*body)(void))
{
	int status;
	fflush(NULL);
	pid_t child = fork();
	if (!child) {
		alarm(20);
		body();
		exit(failures != 0);
	}
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != wanted) {
		fprintf(stderr, "%s: status %#x\n", what, (unsigned)status);
		failures++;
	}
}

/* CUDA in the child of a process that used it: refused, as by the real driver. */
static void use_after_fork(void)
{
	void *p;
	EXPECT(cudaMalloc(&p, N) == cudaErrorInitializationError);
}

static void exit_with_pending_work(void)
{
	cudaStream_t s;
	register_device_code();
	CHECK(cudaStreamCreate(&s));
	launch(spin_stub, s);
}

static void host_dereference_faults(void)
{
	void *p;
	CHECK(cudaMalloc(&p, N));
	int fds[2];
	EXPECT(!pipe(fds) && write(fds[1], p, 1) < 0); /* EFAULT, as device memory is for the host */
}

int main(void)
{
	setenv("SYNCWATCH_SIM_KERNEL_TIME", "spin=1000s", 1);
	child_exits_with(0, "exit with pending work, CUDA first used in a child", exit_with_pending_work);
	child_exits_with(0, "host access to device memory", host_dereference_faults);
	register_device_code();
	CHECK(cudaFree(NULL));
	child_exits_with(0, "CUDA after fork", use_after_fork);
	launch(quick_stub, 0);
	launch(spin_stub, 0);
	let_go(0); /* first launches load code */
	bytes_move_in_stream_order();
	pageable_sources_are_staged();
	never_recorded_events_are_done();
	host_functions_run_in_order();
	captured_work_replays();
	bad_captures_are_refused();
	pools_free_in_stream_order();
	errors_are_the_documented_ones();
	parameters_have_their_layout();
	reset_ends_everything();
	printf("%d failures\n", failures);
	return failures != 0;
}
