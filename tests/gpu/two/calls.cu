/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which call waits for what on two GPUs: the rows of tests/simcuda/two-devices.tsv, and more, measured.  A kernel spins
 * for SPIN_MS on one stream while the call is made with device 0 current; what is not done after LOOK_MS waits for it.
 *
 * usage: calls [TABLE]   with the table: a row of it that comes out otherwise is a failure, reported on stderr
 * Status 1: something differs; 77: there are not two GPUs.
 */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		cudaError_t check_status = (call);                                                                     \
		if (check_status != cudaSuccess) {                                                                     \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(check_status)); \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

constexpr double SPIN_MS = 40, LOOK_MS = 15;

__global__ void spin(unsigned ms)
{
	unsigned long long start, now;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
	do
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	while (now - start < ms * 1000000ull);
}

__global__ void quick(int *out)
{
	if (out)
		*out = 1;
}

__global__ void read_peer(const int *in, int *out)
{
	*out = *in;
}

static void launch_quick(cudaStream_t stream)
{
	quick<<<1, 1, 0, stream>>>(nullptr);
	CHECK(cudaPeekAtLastError());
}

#include "../../simcuda/two_calls.h"

static cudaStream_t blk2[2];
static void *pinned;

static void pin_on(int device)
{
	on(device);
	CHECK(cudaMallocHost(&object, BYTES));
	on(0);
}

static void register_on(int device)
{
	on(device);
	CHECK(cudaHostRegister(pageable, BYTES, cudaHostRegisterPortable));
	on(0);
}

static void free_from_other(void)
{
	on(1);
	CHECK(cudaFree(object));
	on(0);
}

/* Measured only: what the simulation does not claim to know. */
#define MORE_CALLS(CALL)                                                                                               \
	CALL("current=1: cudaFree of device-0 memory", allocate_on(0), , free_from_other(), NULL)                      \
	CALL("current=0: cudaFreeHost of memory pinned with device 1 current", pin_on(1), , CHECK(cudaFreeHost(object)), NULL) \
	CALL("current=0: cudaHostUnregister of memory registered with device 1 current", register_on(1), ,             \
	     CHECK(cudaHostUnregister(pageable)), NULL)                                                                \
	CALL("cudaMemcpyPeerAsync 0->1 on the default stream", , , COPY_ASYNC(cudaStreamLegacy), cudaStreamLegacy)     \
	CALL("cudaMemcpyAsync D2D default-kind 0->1 on the default stream", , ,                                        \
	     CHECK(cudaMemcpyAsync(mem[1], mem[0], BYTES, cudaMemcpyDefault, cudaStreamLegacy)), cudaStreamLegacy)     \
	CALL("cudaMemcpy2D D2D 0->1", , ,                                                                              \
	     CHECK(cudaMemcpy2D(mem[1], 2048, mem[0], 2048, 1024, 256, cudaMemcpyDeviceToDevice)), cudaStreamLegacy)   \
	CALL("cudaMemcpyPeer 1->1", , , CHECK(cudaMemcpyPeer(mem[1], 1, (char *)mem[1] + BYTES / 2, 1, BYTES / 2)),    \
	     cudaStreamLegacy)                                                                                         \
	CALL("cudaMemcpy D2D within device 1", , ,                                                                     \
	     CHECK(cudaMemcpy(mem[1], (char *)mem[1] + BYTES / 2, BYTES / 2, cudaMemcpyDeviceToDevice)), cudaStreamLegacy) \
	CALL("cudaMemcpy D2H of device-1 memory", , , CHECK(cudaMemcpy(pageable, mem[1], 1024, cudaMemcpyDeviceToHost)), \
	     cudaStreamLegacy)                                                                                         \
	CALL("cudaMemcpy H2D pinned to device-1 memory", , ,                                                           \
	     CHECK(cudaMemcpy(mem[1], pinned, 1024, cudaMemcpyHostToDevice)), cudaStreamLegacy)                        \
	CALL("cudaMemcpyAsync D2H pinned of device-1 memory on nb2[0]", , ,                                            \
	     CHECK(cudaMemcpyAsync(pinned, mem[1], 1024, cudaMemcpyDeviceToHost, nb2[0])), nb2[0])                     \
	CALL("cudaMemcpyAsync D2H pinned of device-1 memory on the default stream", , ,                                \
	     CHECK(cudaMemcpyAsync(pinned, mem[1], 1024, cudaMemcpyDeviceToHost, cudaStreamLegacy)), cudaStreamLegacy) \
	CALL("cudaMemset of device-1 memory (peer access on)", enable(), , CHECK(cudaMemset(mem[1], 0, 1024)), cudaStreamLegacy) \
	CALL("launch on the default stream that reads device-1 memory (peer access on)", enable(), ,                   \
	     (read_peer<<<1, 1>>>((int *)mem[1], (int *)mem[0])), cudaStreamLegacy)                                    \
	CALL("cudaMemcpyAsync within device 0 on nb2[1]", , ,                                                          \
	     CHECK(cudaMemcpyAsync(mem[0], (char *)mem[0] + BYTES / 2, BYTES / 2, cudaMemcpyDeviceToDevice, nb2[1])), nb2[1])

static const struct row {
	const char *name;
} known[] = {CALLS(CALL_NAME) MORE_CALLS(CALL_NAME)};

static cudaStream_t run(const char *name, enum step step)
{
	CALLS(CALL_STEP)
	MORE_CALLS(CALL_STEP)
	return NULL;
}

static double now_ms()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

/* Is the stream still busy LOOK_MS after `start`? */
static bool waits(cudaStream_t stream, double start)
{
	cudaError_t status;

	while ((status = cudaStreamQuery(stream)) == cudaErrorNotReady && now_ms() - start < LOOK_MS)
		;
	(void)cudaGetLastError();
	return status == cudaErrorNotReady;
}

struct cell {
	bool blocks, known;
	char own, next[4]; /* non-blocking streams of device 0, 1, blocking streams of device 0, 1 */
};

static cell measure(const char *row, int device, cudaStream_t spinner)
{
	cell c = {false, true, '-', {'0', '0', '0', '0'}};
	cudaStream_t others[] = {nb3[0], nb3[1], blk2[0], blk2[1]};

	run(row, SETUP);
	on(device);
	spin<<<1, 1, 0, spinner>>>((unsigned)SPIN_MS);
	CHECK(cudaPeekAtLastError());
	double start = now_ms();
	on(0);
	run(row, BETWEEN);
	cudaStream_t own = run(row, MAKE_CALL);
	c.blocks = now_ms() - start > 0.8 * SPIN_MS;
	/* A call that took its time itself leaves too little to judge the rest. */
	c.known = c.blocks || now_ms() - start < LOOK_MS / 2;
	if (c.blocks && own)
		c.own = '1';
	if (!c.blocks) {
		if (own)
			c.own = waits(own, start) ? '1' : '0';
		for (int i = 0; i < 4; i++) {
			on(i % 2);
			launch_quick(others[i]);
		}
		for (int i = 0; i < 4; i++) {
			on(i % 2);
			c.next[i] = waits(others[i], start) ? '1' : '0';
		}
	}
	for (int d = 1; d >= 0; d--) {
		on(d);
		CHECK(cudaDeviceSynchronize());
	}
	return c;
}

/* The row of the table as it is written there, "" if it is not. */
static std::string expected_of(const char *table, const char *row)
{
	char line[512];
	FILE *in = table ? fopen(table, "r") : nullptr;
	std::string found;

	while (in && fgets(line, sizeof line, in)) {
		line[strcspn(line, "\n")] = 0;
		if (!strncmp(line, row, strlen(row)) && line[strlen(row)] == '\t')
			found = line;
	}
	if (in)
		fclose(in);
	return found;
}

static std::string measure_row(const char *row, std::string *more)
{
	std::string line = row;

	*more = row;
	for (int g = 0; g < 6; g++) {
		const cudaStream_t spinners[] = {nb[g / 3], blk[g / 3], cudaStreamLegacy};
		cell c = measure(row, g / 3, spinners[g % 3]);
		if (!c.known)
			c = measure(row, g / 3, spinners[g % 3]);
		const char told[] = {'\t', c.blocks ? '1' : '0', '\t', c.next[0], '\t', c.next[1], '\t', c.own, 0};
		const char blocking[] = {'\t', c.next[2], '\t', c.next[3], c.known ? '\0' : '?', 0};
		line += told;
		*more += blocking;
	}
	return line;
}

int main(int argc, char **argv)
{
	int there = 0, differ = 0, compared = 0;
	const char *table = argc > 1 ? argv[1] : nullptr;
	std::string blocking;

	if (cudaGetDeviceCount(&there) != cudaSuccess || there < 2) {
		fprintf(stderr, "two GPUs are needed\n");
		return 77;
	}
	make_objects();
	CHECK(cudaMallocHost(&pinned, BYTES));
	for (int d = 1; d >= 0; d--) {
		on(d);
		CHECK(cudaStreamCreate(&blk2[d]));
		spin<<<1, 1, 0, nb[d]>>>(1);
		launch_and_wait();
		CHECK(cudaDeviceSynchronize());
	}
	puts("# b: the call blocks; 0, 1: a kernel issued next on an unrelated non-blocking stream of device 0, 1 waits; o: the call's stream waits");
	for (const row &r : known) {
		std::string more, line = measure_row(r.name, &more), expected = expected_of(table, r.name);
		puts(line.c_str());
		blocking += more + "\n";
		compared += !expected.empty();
		if (!expected.empty() && expected != line) {
			differ++;
			fprintf(stderr, "differs: %s\nmeasured %s\n", expected.c_str(), line.c_str());
		}
	}
	printf("# the same calls: a kernel issued next on an unrelated blocking stream of device 0, 1 waits\n%s", blocking.c_str());
	fprintf(stderr, "%d passed, %d failed, 0 skipped\n", compared - differ, differ);
	return differ != 0;
}
