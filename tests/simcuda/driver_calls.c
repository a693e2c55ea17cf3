/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every row of driver-calls.tsv: the simulated runtime reaches the driver through exactly the entry points, versions
 * and numbers of calls that the real one was measured with.  Built a second time with the per-thread default stream,
 * where the same rows must go through the per-thread variants.
 */
#include "device_code.h"

#include <dlfcn.h>
#include <string.h>

#include "counting.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define PER_THREAD true
#else
#define PER_THREAD false
#endif

static int (*entries)(struct counted **);
static void (*reset)(void);
static int rows, failures;
static bool no_variant; /* libcudart exports one form of the call only, which is the legacy one */

/* Compares the calls since the last reset with a row, as the table writes it; several names in the table's order. */
static void compare(const char *row, const char *expected)
{
	struct counted *e;
	char wanted[512], *rest = wanted;
	long calls = 0;
	int n = entries(&e);
	snprintf(wanted, sizeof wanted, "%s", expected);
	bool same = true;
	for (char *item; (item = strsep(&rest, " "));) {
		char name[64];
		int version;
		long times, found = 0;
		if (!*item)
			continue;
		if (sscanf(item, "%63[^(](v%d)x%ld", name, &version, &times) != 3) {
			fprintf(stderr, "driver-calls.tsv: %s: '%s' can't be read\n", row, item);
			exit(1);
		}
		for (int i = 0; i < n; i++)
			if (!strcmp(e[i].name, name) && e[i].version == version)
				found += e[i].calls;
		same = same && found == times;
		calls += times;
	}
	for (int i = 0; i < n; i++) {
		calls -= e[i].calls;
		if (e[i].calls && e[i].has_variants && e[i].per_thread != (PER_THREAD && !no_variant)) {
			fprintf(stderr, "%s: %s went through the wrong default stream's variant\n", row, e[i].name);
			failures++;
		}
	}
	rows++;
	if (same && !calls)
		return;
	failures++;
	fprintf(stderr, "%s: measured %s, here", row, *expected ? expected : "nothing");
	for (int i = 0; i < n; i++)
		if (e[i].calls)
			fprintf(stderr, " %s(v%d)x%ld", e[i].name, e[i].version, e[i].calls);
	fprintf(stderr, "\n");
}

static FILE *facts;

/* The next row of the table must be this one. */
static void step(const char *row)
{
	char line[512];
	do {
		if (!fgets(line, sizeof line, facts)) {
			fprintf(stderr, "driver-calls.tsv ends before %s\n", row);
			exit(1);
		}
	} while (*line == '#' || !strncmp(line, "runtime_call\t", 13));
	line[strcspn(line, "\n")] = 0;
	char *calls = strchr(line, '\t');
	if (calls)
		*calls++ = 0;
	if (strcmp(line, row)) {
		fprintf(stderr, "driver-calls.tsv: row '%s' where '%s' was expected\n", line, row);
		exit(1);
	}
	compare(row, calls ? calls : "");
	reset();
}

/* One row: the call as the table writes it. */
#define STEP(call)                                                                                                     \
	do {                                                                                                           \
		CHECK(call);                                                                                           \
		step(#call);                                                                                           \
	} while (0)
/* One row under another name. */
#define STEP_AS(name, call)                                                                                            \
	do {                                                                                                           \
		CHECK(call);                                                                                           \
		step(name);                                                                                            \
	} while (0)

static const dim3 one = {1, 1, 1};
static int *p_arg;
static int n_arg;
static void *a[] = {&p_arg, &n_arg};
static void *d, *d2, *p, *m, *q;
static cudaStream_t s, t;
static cudaEvent_t e, e2;
static void *am, *h2, *pd;

static void nothing(void *arg)
{
	(void)arg;
}

static void callback(cudaStream_t stream, cudaError_t error, void *arg)
{
	(void)stream, (void)error, (void)arg;
}

static void creation(void)
{
	/* The text of each call is its row in driver-calls.tsv, as it was measured. */
	/* clang-format off */
	STEP(cudaMalloc(&d,1<<20));
	STEP(cudaMalloc(&d2,1<<20));
	STEP(cudaMallocHost(&p,1<<20));
	STEP_AS("cudaMallocManaged(&m,4096)", cudaMallocManaged(&m, 4096, cudaMemAttachGlobal));
	STEP(cudaStreamCreate(&s));
	STEP(cudaStreamCreateWithFlags(&t,cudaStreamNonBlocking));
	CHECK(cudaStreamDestroy(t));
	reset();
	STEP(cudaStreamCreateWithPriority(&t,cudaStreamNonBlocking,-1));
	STEP(cudaEventCreate(&e));
	STEP(cudaEventCreateWithFlags(&e2,cudaEventDisableTiming));
}

static void launches(void)
{
	unsigned long long structure[2] = {0, 0};
	void *struct_args[] = {structure};
	const void *tiny = quick_stub;
	STEP_AS("launch s first", cudaLaunchKernel(tiny, one, one, a, 0, s));
	STEP_AS("launch s", cudaLaunchKernel(tiny, one, one, a, 0, s));
	STEP_AS("launch legacy", cudaLaunchKernel(tiny, one, one, a, 0, cudaStreamLegacy));
	STEP_AS("launch perthread", cudaLaunchKernel(tiny, one, one, a, 0, cudaStreamPerThread));
	STEP_AS("launch struct", cudaLaunchKernel(struct_stub, one, one, struct_args, 0, s));
	cudaLaunchConfig_t c = {one, one, 0, s, NULL, 0};
	STEP(cudaLaunchKernelExC(&c,(const void*)tiny,a));
	STEP_AS("cudaLaunchCooperativeKernel((const void*)tiny,1,1,a,0,s)",
		cudaLaunchCooperativeKernel(tiny, one, one, a, 0, s));
}

static void ordering(void)
{
	float ms;
	CHECK(cudaEventCreate(&e));
	reset();
	STEP(cudaEventRecord(e,s));
	STEP(cudaEventRecordWithFlags(e,s,0));
	STEP(cudaStreamWaitEvent(t,e,0));
	CHECK(cudaDeviceSynchronize());
	reset();
	STEP(cudaEventQuery(e));
	STEP(cudaEventSynchronize(e));
	STEP(cudaStreamQuery(s));
	STEP(cudaStreamSynchronize(s));
	STEP(cudaStreamSynchronize(0));
	STEP(cudaDeviceSynchronize());
	STEP(cudaEventElapsedTime(&ms,e,e));
}

static void copies(void)
{
	const void *sym = symbol;
	STEP(cudaMemcpy(d,q,1024,cudaMemcpyHostToDevice));
	STEP(cudaMemcpy(q,d,1024,cudaMemcpyDeviceToHost));
	STEP(cudaMemcpy(d,d2,1024,cudaMemcpyDeviceToDevice));
	STEP(cudaMemcpy(q,p,1024,cudaMemcpyHostToHost));
	STEP(cudaMemcpy(d,q,1024,cudaMemcpyDefault));
	STEP(cudaMemcpyAsync(d,p,1024,cudaMemcpyHostToDevice,s));
	STEP(cudaMemcpyAsync(p,d,1024,cudaMemcpyDeviceToHost,s));
	STEP(cudaMemcpyAsync(d,d2,1024,cudaMemcpyDeviceToDevice,s));
	STEP(cudaMemcpyAsync(d,p,1024,cudaMemcpyDefault,s));
	STEP(cudaMemcpyAsync(d,q,1024,cudaMemcpyHostToDevice,0));
	STEP(cudaMemcpy2D(d,256,q,256,128,8,cudaMemcpyHostToDevice));
	STEP(cudaMemcpy2DAsync(d,256,p,256,128,8,cudaMemcpyHostToDevice,s));
	no_variant = true;
	STEP(cudaMemcpyPeer(d,0,d2,0,1024));
	STEP(cudaMemcpyPeerAsync(d,0,d2,0,1024,s));
	no_variant = false;
	STEP_AS("cudaMemcpyToSymbol(sym,q,1024)", cudaMemcpyToSymbol(sym, q, 1024, 0, cudaMemcpyHostToDevice));
	STEP_AS("cudaMemcpyFromSymbol(q,sym,1024)", cudaMemcpyFromSymbol(q, sym, 1024, 0, cudaMemcpyDeviceToHost));
	STEP(cudaMemcpyToSymbolAsync(sym,p,1024,0,cudaMemcpyHostToDevice,s));
	void *address;
	STEP_AS("cudaGetSymbolAddress(&a,sym)", cudaGetSymbolAddress(&address, sym));
	STEP(cudaMemset(d,0,1024));
	STEP(cudaMemsetAsync(d,0,1024,s));
	STEP(cudaMemset2D(d,256,0,128,8));
	STEP(cudaMemset2DAsync(d,256,0,128,8,s));
}

static void memory(void)
{
	cudaMemPool_t pl;
	struct cudaMemPoolProps pool_of = {.allocType = cudaMemAllocationTypePinned,
					   .location = {.type = cudaMemLocationTypeDevice, .id = 0}};
	struct cudaMemPoolProps *pp_ = &pool_of;
	size_t pt;
	STEP(cudaMallocAsync(&am,4096,s));
	STEP(cudaFreeAsync(am,s));
	STEP_AS("cudaMemPoolCreate(&pl,&pp)", cudaMemPoolCreate(&pl, pp_));
	STEP(cudaMallocFromPoolAsync(&am,4096,pl,s));
	STEP(cudaFree(am));
	STEP(cudaMemPoolDestroy(pl));
	STEP(cudaHostAlloc(&h2,4096,cudaHostAllocMapped));
	STEP(cudaHostGetDevicePointer(&am,h2,0));
	STEP(cudaFreeHost(h2));
	STEP(cudaHostRegister(q,1<<16,0));
	STEP(cudaHostUnregister(q));
	STEP(cudaMallocPitch(&pd,&pt,100,10));
	STEP(cudaFree(pd));
}

static void volumes(void)
{
	struct cudaPitchedPtr pp;
	struct cudaExtent ex = {64, 4, 2};
	STEP(cudaMalloc3D(&pp,ex));
	STEP(cudaMemset3D(pp,0,ex));
	struct cudaMemcpy3DParms c3 = {
		.srcPtr = {q, 64, 64, 4}, .dstPtr = pp, .extent = ex, .kind = cudaMemcpyHostToDevice};
	STEP(cudaMemcpy3D(&c3));
	c3.srcPtr.ptr = p;
	STEP(cudaMemcpy3DAsync(&c3,s));
	STEP_AS("cudaLaunchHostFunc(s,[](void*){},nullptr)", cudaLaunchHostFunc(s, nothing, NULL));
	STEP_AS("cudaStreamAddCallback(s,[](cudaStream_t,cudaError_t,void*){},nullptr,0)",
		cudaStreamAddCallback(s, callback, NULL, 0));
	struct cudaMemLocation l = {.type = cudaMemLocationTypeDevice, .id = 0};
	STEP(cudaMemPrefetchAsync(m,4096,l,0,s));
	STEP(cudaStreamAttachMemAsync(s,m,0,cudaMemAttachSingle));
}

static void graphs(void)
{
	cudaGraph_t g, g2;
	cudaGraphExec_t x;
	enum cudaStreamCaptureStatus cs;
	size_t n;
	cudaGraphNode_t n1, n2;
	STEP(cudaStreamBeginCapture(s,cudaStreamCaptureModeGlobal));
	STEP_AS("captured launch", cudaLaunchKernel(quick_stub, one, one, a, 0, s));
	STEP(cudaEventRecord(e,s));
	STEP(cudaStreamWaitEvent(t,e,0));
	STEP(cudaEventRecord(e2,t));
	STEP(cudaStreamWaitEvent(s,e2,0));
	STEP(cudaMemcpyAsync(d,d2,64,cudaMemcpyDeviceToDevice,s));
	STEP(cudaStreamIsCapturing(s,&cs));
	STEP(cudaStreamEndCapture(s,&g));
	STEP(cudaGraphInstantiate(&x,g,0));
	STEP(cudaGraphUpload(x,s));
	STEP(cudaGraphLaunch(x,s));
	STEP_AS("cudaGraphGetNodes(g,nullptr,&n)", cudaGraphGetNodes(g, NULL, &n));
	STEP(cudaGraphExecDestroy(x));
	STEP(cudaGraphDestroy(g));
	STEP(cudaGraphCreate(&g2,0));
	struct cudaMemsetParams mp = {.dst = d, .value = 0, .elementSize = 1, .width = 64, .height = 1};
	struct cudaKernelNodeParams kp = {.func = quick_stub, .gridDim = one, .blockDim = one, .kernelParams = a};
	STEP_AS("cudaGraphAddMemsetNode(&n1,g2,nullptr,0,&mp)", cudaGraphAddMemsetNode(&n1, g2, NULL, 0, &mp));
	STEP(cudaGraphAddKernelNode(&n2,g2,&n1,1,&kp));
	STEP(cudaGraphInstantiate(&x,g2,0));
	STEP(cudaGraphLaunch(x,s));
}

static void functions_and_end(void)
{
	const void *tiny = quick_stub;
	struct cudaFuncAttributes fa;
	enum cudaDriverEntryPointQueryResult qr;
	void *fp;
	int nb;
	no_variant = true;
	STEP(cudaFuncSetAttribute(tiny,cudaFuncAttributePreferredSharedMemoryCarveout,0));
	no_variant = false;
	STEP(cudaFuncGetAttributes(&fa,tiny));
	STEP(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb,tiny,32,0));
	STEP_AS("cudaGetDriverEntryPointByVersion(\"cuStreamSynchronize\",&fp,12000,cudaEnableDefault,&qr)",
		cudaGetDriverEntryPointByVersion("cuStreamSynchronize", &fp, 12000, cudaEnableDefault, &qr));
	STEP(cudaStreamDestroy(t));
	STEP(cudaEventDestroy(e));
	STEP(cudaFree(d));
	STEP(cudaSetDevice(0));
	STEP(cudaDeviceReset());
	/* clang-format on */
}

int main(void)
{
	char path[4096], line[512];
	const char *top = getenv("top_builddir");
	snprintf(path, sizeof path, "%s/tests/simcuda/counting/libcuda.so.1", top ? top : ".");
	/* Loaded before the runtime asks for "libcuda.so.1". */
	void *counting = dlopen(path, RTLD_NOW);
	if (!counting) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&entries = dlsym(counting, "counted_entries");
	*(void **)&reset = dlsym(counting, "counted_reset");
	facts = open_facts("driver-calls.tsv");
	register_device_code();
	q = calloc(1, 1 << 20);
	CHECK(cudaFree(NULL)); /* a context */
	reset();
	creation();
	launches();
	ordering();
	copies();
	memory();
	volumes();
	graphs();
	functions_and_end();
	while (fgets(line, sizeof line, facts)) {
		fprintf(stderr, "driver-calls.tsv: row without a call: %s", line);
		failures++;
	}
	printf("%d rows, %d failures\n", rows, failures);
	return failures != 0;
}
