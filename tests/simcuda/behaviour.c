/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every row of behaviour.tsv on the simulated CUDA: who blocks, who is held back.
 *
 * The spinning kernel ends when the test says so (syncwatch_simulated_finish), never by itself, so nothing depends on
 * the speed of the machine: a call that must not block returns while the kernel spins, one that must block is let go by
 * another thread and may not have returned before.  The limit of WATCHDOG_MS only ends a test that has failed.
 */
#include "device_code.h"

#include <string.h>

#include "spinner.h"

#define LARGE (16u << 20)

static cudaStream_t nb1, nb2, nb3, blk, fresh_stream;
static cudaEvent_t event, spin_end;
static char *dev, *dev2, *pinned, *pageable, *pageable2;
static void *object; /* what the set-up of a row made */
static void *host_pages;
static cudaGraph_t graph;
static cudaGraphExec_t exec;
static int fresh;

/* ---- calls ---- */

static void on_host(void *arg)
{
	(void)arg;
}

static void make_graph(void)
{
	CHECK(cudaStreamBeginCapture(nb3, cudaStreamCaptureModeRelaxed));
	launch(quick_stub, nb3);
	CHECK(cudaStreamEndCapture(nb3, &graph));
}

static void make_exec(void)
{
	make_graph();
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphLaunch(exec, nb3));
	CHECK(cudaStreamSynchronize(nb3));
}

static void make_pool_memory(void)
{
	CHECK(cudaMallocAsync(&object, 1 << 20, nb2));
	CHECK(cudaStreamSynchronize(nb2));
}

static void make_pending_stream(void)
{
	CHECK(cudaStreamCreateWithFlags(&fresh_stream, cudaStreamNonBlocking));
	launch(spin_stub, fresh_stream);
}

static size_t free_bytes, total_bytes;
static struct cudaPointerAttributes pointer;
static struct cudaDeviceProp properties;
static struct cudaFuncAttributes attributes;
static cudaStream_t made_stream;
static cudaEvent_t made_event;

static cudaMemPool_t default_pool(void)
{
	cudaMemPool_t pool;
	CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
	return pool;
}

static void launch_and_wait(cudaStream_t s)
{
	launch(quick_stub, s);
	CHECK(cudaStreamSynchronize(s));
}

/* CALL(row, set-up before the spinner, call, stream whose end is watched or NULL) */
#define CALLS(CALL)                                                                                                    \
	CALL("cudaMalloc 256B", , CHECK(cudaMalloc(&object, 256)), NULL)                                               \
	CALL("cudaFree 256B", CHECK(cudaMalloc(&object, 256)), CHECK(cudaFree(object)), NULL)                          \
	CALL("cudaMalloc 1GiB", , CHECK(cudaMalloc(&object, 1u << 30)), NULL)                                          \
	CALL("cudaFree 1GiB", CHECK(cudaMalloc(&object, 1u << 30)), CHECK(cudaFree(object)), NULL)                     \
	CALL("cudaFree(NULL)", , CHECK(cudaFree(NULL)), NULL)                                                          \
	CALL("cudaMallocAsync 1MiB nb2", , CHECK(cudaMallocAsync(&object, 1 << 20, nb2)), nb2)                         \
	CALL("cudaFreeAsync nb2", make_pool_memory(), CHECK(cudaFreeAsync(object, nb2)), nb2)                          \
	CALL("cudaFree of async ptr", make_pool_memory(), CHECK(cudaFree(object)), NULL)                               \
	CALL("cudaMallocHost 1MiB", , CHECK(cudaMallocHost(&object, 1 << 20)), NULL)                                   \
	CALL("cudaFreeHost 1MiB", CHECK(cudaMallocHost(&object, 1 << 20)), CHECK(cudaFreeHost(object)), NULL)          \
	CALL("cudaHostAlloc 64MiB", , CHECK(cudaHostAlloc(&object, 64 << 20, 0)), NULL)                                \
	CALL("cudaFreeHost 64MiB", CHECK(cudaHostAlloc(&object, 64 << 20, 0)), CHECK(cudaFreeHost(object)), NULL)      \
	CALL("cudaHostRegister 1MiB", , CHECK(cudaHostRegister(host_pages, 1 << 20, 0)), NULL)                         \
	CALL("cudaHostUnregister", CHECK(cudaHostRegister(host_pages, 1 << 20, 0)),                                    \
	     CHECK(cudaHostUnregister(host_pages)), NULL)                                                              \
	CALL("cudaMallocManaged 1MiB", , CHECK(cudaMallocManaged(&object, 1 << 20, cudaMemAttachGlobal)), NULL)        \
	CALL("cudaFree managed", CHECK(cudaMallocManaged(&object, 1 << 20, cudaMemAttachGlobal)),                      \
	     CHECK(cudaFree(object)), NULL)                                                                            \
	CALL("cudaMemcpy2D H2D pageable", ,                                                                            \
	     CHECK(cudaMemcpy2D(dev, 256, pageable, 256, 128, 8, cudaMemcpyHostToDevice)), NULL)                       \
	CALL("cudaMemcpyToSymbol pageable 1KiB", ,                                                                     \
	     CHECK(cudaMemcpyToSymbol(symbol, pageable, 1024, 0, cudaMemcpyHostToDevice)), NULL)                       \
	CALL("cudaMemcpyFromSymbol pageable 1KiB", ,                                                                   \
	     CHECK(cudaMemcpyFromSymbol(pageable, symbol, 1024, 0, cudaMemcpyDeviceToHost)), NULL)                     \
	CALL("cudaMemcpyToSymbolAsync pageable nb2", ,                                                                 \
	     CHECK(cudaMemcpyToSymbolAsync(symbol, pageable, 1024, 0, cudaMemcpyHostToDevice, nb2)), nb2)              \
	CALL("cudaStreamCreate", , CHECK(cudaStreamCreate(&made_stream)), NULL)                                        \
	CALL("cudaStreamCreateNonBlocking", , CHECK(cudaStreamCreateWithFlags(&made_stream, cudaStreamNonBlocking)),   \
	     NULL)                                                                                                     \
	CALL("cudaStreamDestroy idle", CHECK(cudaStreamCreate(&made_stream)), CHECK(cudaStreamDestroy(made_stream)),   \
	     NULL)                                                                                                     \
	CALL("cudaStreamDestroy pending", make_pending_stream(), CHECK(cudaStreamDestroy(fresh_stream)), NULL)         \
	CALL("cudaEventCreate", , CHECK(cudaEventCreate(&made_event)), NULL)                                           \
	CALL("cudaEventDestroy", CHECK(cudaEventCreate(&made_event)), CHECK(cudaEventDestroy(made_event)), NULL)       \
	CALL("cudaEventRecord legacy", , CHECK(cudaEventRecord(event, cudaStreamLegacy)), NULL)                        \
	CALL("cudaEventQuery", , cudaEventQuery(event), NULL)                                                          \
	CALL("cudaStreamQuery nb1", , cudaStreamQuery(nb1), NULL)                                                      \
	CALL("cudaStreamQuery legacy", , cudaStreamQuery(cudaStreamLegacy), NULL)                                      \
	CALL("cudaStreamSynchronize nb2", , CHECK(cudaStreamSynchronize(nb2)), nb2)                                    \
	CALL("cudaStreamSynchronize legacy", , CHECK(cudaStreamSynchronize(cudaStreamLegacy)), NULL)                   \
	CALL("cudaDeviceSynchronize", , CHECK(cudaDeviceSynchronize()), NULL)                                          \
	CALL("launch legacy + sync legacy", , launch_and_wait(cudaStreamLegacy), NULL)                                 \
	CALL("launch blk + sync blk", , launch_and_wait(blk), NULL)                                                    \
	CALL("launch perthread + sync", , launch_and_wait(cudaStreamPerThread), NULL)                                  \
	CALL("first launch of a kernel, on nb2 (lazy load)", , launch(&fresh_stub[fresh++], nb2), nb2)                 \
	CALL("later launch of a kernel, on nb2", , launch(quick_stub, nb2), nb2)                                       \
	CALL("first cudaFuncGetAttributes of a kernel (lazy load)", ,                                                  \
	     CHECK(cudaFuncGetAttributes(&attributes, &fresh_stub[fresh++])), NULL)                                    \
	CALL("cudaFuncSetAttribute", ,                                                                                 \
	     CHECK(cudaFuncSetAttribute(quick_stub, cudaFuncAttributePreferredSharedMemoryCarveout, 0)), NULL)         \
	CALL("cudaMemGetInfo", , CHECK(cudaMemGetInfo(&free_bytes, &total_bytes)), NULL)                               \
	CALL("cudaDeviceSetLimit heap", , CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8 << 20)), NULL)           \
	CALL("cudaDeviceSetLimit stack, larger than before", CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 1024)),      \
	     CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096)), NULL)                                                \
	CALL("cudaDeviceSetLimit stack, same value", CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 2048)),              \
	     CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 2048)), NULL)                                                \
	CALL("cudaDeviceSetCacheConfig", , CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone)), NULL)             \
	CALL("cudaPointerGetAttributes", , CHECK(cudaPointerGetAttributes(&pointer, dev)), NULL)                       \
	CALL("cudaGetDeviceProperties", , CHECK(cudaGetDeviceProperties(&properties, 0)), NULL)                        \
	CALL("cudaGraphInstantiate", make_graph(), CHECK(cudaGraphInstantiate(&exec, graph, 0)), NULL)                 \
	CALL("cudaGraphUpload nb2", make_exec(), CHECK(cudaGraphUpload(exec, nb2)), nb2)                               \
	CALL("cudaGraphLaunch nb2", make_exec(), CHECK(cudaGraphLaunch(exec, nb2)), nb2)                               \
	CALL("cudaGraphExecDestroy", make_exec(), CHECK(cudaGraphExecDestroy(exec)), NULL)                             \
	CALL("cudaMemPoolTrimTo", , CHECK(cudaMemPoolTrimTo(default_pool(), 0)), NULL)                                 \
	CALL("cudaLaunchHostFunc nb2", , CHECK(cudaLaunchHostFunc(nb2, on_host, NULL)), nb2)                           \
	CALL("cudaStreamAttachMemAsync", CHECK(cudaMallocManaged(&object, 4096, cudaMemAttachGlobal)),                 \
	     CHECK(cudaStreamAttachMemAsync(nb2, object, 0, cudaMemAttachSingle)), NULL)                               \
	CALL("cudaMemPrefetchAsync->dev nb2", CHECK(cudaMallocManaged(&object, 1 << 20, cudaMemAttachGlobal)),         \
	     CHECK(cudaMemPrefetchAsync(                                                                               \
		     object, 1 << 20, (struct cudaMemLocation){.type = cudaMemLocationTypeDevice, .id = 0}, 0, nb2)),  \
	     nb2)

/* ---- copies and sets: the row says what to do ---- */

struct copy {
	bool async, set;
	enum cudaMemcpyKind kind;
	void *dst, *src;
	size_t bytes;
	cudaStream_t stream;
};

/* "cudaMemcpyAsync H2D pageable 1024B ->nb2", "cudaMemset pinned 65536B" */
static bool parse_copy(const char *row, struct copy *c)
{
	char function[32], direction[16], memory[16];
	const char *size = strrchr(row, 'B'), *to = strstr(row, "->");
	if (sscanf(row, "%31s %15s %15s", function, direction, memory) != 3 || !size)
		return false;
	bool pinned_host = !strcmp(memory, "pinned");
	char *host = pinned_host ? pinned : pageable;
	memset(c, 0, sizeof *c);
	c->async = strstr(function, "Async");
	c->set = !strncmp(function, "cudaMemset", 10);
	if (!c->set && strcmp(function, "cudaMemcpy") && strcmp(function, "cudaMemcpyAsync"))
		return false;
	while (size > row && size[-1] >= '0' && size[-1] <= '9')
		size--;
	c->bytes = strtoul(size, NULL, 10);
	c->stream = to && !strcmp(to, "->nb2") ? nb2 : to ? blk : cudaStreamLegacy;
	if (c->set)
		c->dst = !strcmp(direction, "pinned") ? pinned : dev;
	else if (!strcmp(direction, "H2D"))
		*c = (struct copy){c->async, false, cudaMemcpyHostToDevice, dev, host, c->bytes, c->stream};
	else if (!strcmp(direction, "D2H"))
		*c = (struct copy){c->async, false, cudaMemcpyDeviceToHost, host, dev, c->bytes, c->stream};
	else if (!strcmp(direction, "D2D"))
		*c = (struct copy){c->async, false, cudaMemcpyDeviceToDevice, dev2, dev, c->bytes, c->stream};
	else if (!strcmp(direction, "H2H"))
		*c = (struct copy){c->async, false, cudaMemcpyHostToHost, pageable2, pageable, c->bytes, c->stream};
	else
		return false;
	return c->bytes > 0;
}

static void do_copy(const struct copy *c)
{
	if (c->set && c->async)
		CHECK(cudaMemsetAsync(c->dst, 1, c->bytes, c->stream));
	else if (c->set)
		CHECK(cudaMemset(c->dst, 1, c->bytes));
	else if (c->async)
		CHECK(cudaMemcpyAsync(c->dst, c->src, c->bytes, c->kind, c->stream));
	else
		CHECK(cudaMemcpy(c->dst, c->src, c->bytes, c->kind));
}

/* ---- rows ---- */

static void prepare(const char *row)
{
#define CALL(name, setup, call, own)                                                                                   \
	if (!strcmp(row, name)) {                                                                                      \
		setup;                                                                                                 \
	}
	CALLS(CALL)
#undef CALL
}

/* False: the row is not known.  *own: the stream whose end is watched, NULL: none. */
static bool make_call(const char *row, cudaStream_t *own)
{
	struct copy copy;
	*own = NULL;
	if (parse_copy(row, &copy)) {
		if (strstr(row, "->nb2"))
			*own = nb2;
		do_copy(&copy);
		return true;
	}
#define CALL(name, setup, call, stream)                                                                                \
	if (!strcmp(row, name)) {                                                                                      \
		*own = stream;                                                                                         \
		call;                                                                                                  \
		return true;                                                                                           \
	}
	CALLS(CALL)
#undef CALL
	return false;
}

static void cell(const char *row, const char *group, cudaStream_t spinner, const char *expected)
{
	cudaStream_t own;
	prepare(row);
	launch(spin_stub, spinner);
	CHECK(cudaEventRecord(spin_end, spinner));
	arm(expected[0] == '1' ? HOLD_MS : WATCHDOG_MS);
	if (!make_call(row, &own)) {
		fprintf(stderr, "behaviour.tsv: row '%s' is not known\n", row);
		exit(1);
	}
	bool blocked = disarm();
	if (expected[0] != '-')
		judge(row, group, "blocks", expected[0], blocked);
	if (!blocked) {
		if (own && expected[2] != '-')
			judge(row, group, "own stream waits", expected[2], held_back(own, expected[2]));
		launch(quick_stub, nb3);
		if (expected[1] != '-')
			judge(row, group, "next launch waits", expected[1], held_back(nb3, expected[1]));
	}
	syncwatch_simulated_finish();
	CHECK(cudaEventSynchronize(spin_end));
	cudaHostUnregister(host_pages); /* fails in all rows but one */
	syncwatch_simulated_finish();
	CHECK(cudaDeviceSynchronize());
	cudaGetLastError();
}

static void start(void)
{
	setenv("SYNCWATCH_SIM_KERNEL_TIME", "spin=1000s", 1);
	register_device_code();
	CHECK(cudaStreamCreateWithFlags(&nb1, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&nb2, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&nb3, cudaStreamNonBlocking));
	CHECK(cudaStreamCreate(&blk));
	CHECK(cudaEventCreate(&event));
	CHECK(cudaEventCreate(&spin_end));
	CHECK(cudaMalloc((void **)&dev, LARGE));
	CHECK(cudaMalloc((void **)&dev2, LARGE));
	CHECK(cudaMallocHost((void **)&pinned, LARGE));
	pageable = calloc(1, LARGE);
	pageable2 = calloc(1, LARGE);
	host_pages = aligned_alloc(4096, 1 << 20);
	launch_and_wait(nb2); /* loaded before anything spins */
	launch(spin_stub, nb2);
	syncwatch_simulated_finish();
	CHECK(cudaEventRecord(event, nb2));
	CHECK(cudaStreamSynchronize(nb2));
	start_releaser();
}

int main(void)
{
	char line[512];
	FILE *facts = open_facts("behaviour.tsv");
	start();
	for (bool header = true; fgets(line, sizeof line, facts);) {
		char *columns[10], *rest = line;
		int n = 0;
		line[strcspn(line, "\n")] = 0;
		for (char *column; *line != '#' && n < 10 && (column = strsep(&rest, "\t"));)
			columns[n++] = column;
		if (n != 10 || header) {
			header = header && n != 10;
			continue;
		}
		static const char *const groups[] = {"a non-blocking stream", "a blocking stream", "the legacy stream"};
		const cudaStream_t spinners[] = {nb1, blk, cudaStreamLegacy};
		for (int g = 0; g < 3; g++) {
			const char expected[] = {*columns[1 + 3 * g], *columns[2 + 3 * g], *columns[3 + 3 * g]};
			cell(columns[0], groups[g], spinners[g], expected);
		}
	}
	fclose(facts);
	printf("%d cells, %d differ\n", cells, failures);
	return failures || cells < 500;
}
