/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of two-devices.tsv on two simulated devices; the method is that of behaviour.c. */
#include <string.h>

#include "spinner.h"

#define BYTES (1u << 20)

static cudaStream_t nb[2], nb2[2], nb3[2], blk[2];
static cudaEvent_t far; /* recorded on nb[1] */
static void *mem[2], *object, *pageable;

static void on(int device)
{
	CHECK(cudaSetDevice(device));
}

static void allocate_on(int device)
{
	on(device);
	CHECK(cudaMalloc(&object, BYTES));
	on(0);
}

static void launch_and_wait(void)
{
	launch(quick_stub, cudaStreamLegacy);
	CHECK(cudaStreamSynchronize(cudaStreamLegacy));
}

static void record_far(void)
{
	on(1);
	CHECK(cudaEventRecord(far, nb[1]));
	on(0);
}

static void wait_far(void)
{
	CHECK(cudaStreamWaitEvent(nb2[0], far, 0));
	CHECK(cudaStreamSynchronize(nb2[0]));
}

static void enable(void)
{
	if (cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled)
		cudaGetLastError();
}

static void disable(void)
{
	if (cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled)
		cudaGetLastError();
}

#define COPY_ASYNC(stream) CHECK(cudaMemcpyPeerAsync(mem[1], 1, mem[0], 0, BYTES, stream))
/* CALL(row, set-up, after the spinner started but before the call, call, stream whose end is watched) */
#define CALLS(CALL)                                                                                                    \
	CALL("cudaMemcpyPeer 0->1 1MiB", , , CHECK(cudaMemcpyPeer(mem[1], 1, mem[0], 0, BYTES)), cudaStreamLegacy)     \
	CALL("cudaMemcpyPeerAsync 0->1 on nb2[0]", , , COPY_ASYNC(nb2[0]), nb2[0])                                     \
	CALL("cudaMemcpyPeerAsync 0->1 on nb2[1]", , , COPY_ASYNC(nb2[1]), nb2[1])                                     \
	CALL("cudaMemcpyAsync D2D default-kind 0->1 nb2[0]", , ,                                                       \
	     CHECK(cudaMemcpyAsync(mem[1], mem[0], BYTES, cudaMemcpyDefault, nb2[0])), nb2[0])                         \
	CALL("cudaMemcpy D2D 0->1", , , CHECK(cudaMemcpy(mem[1], mem[0], BYTES, cudaMemcpyDeviceToDevice)),            \
	     cudaStreamLegacy)                                                                                         \
	CALL("current=0: cudaDeviceSynchronize", , , CHECK(cudaDeviceSynchronize()), NULL)                             \
	CALL("current=0: cudaMalloc 1MiB", , , CHECK(cudaMalloc(&object, BYTES)), NULL)                                \
	CALL("current=0: cudaFree of device-0 memory", allocate_on(0), , CHECK(cudaFree(object)), NULL)                \
	CALL("current=0: cudaFree of device-1 memory", allocate_on(1), , CHECK(cudaFree(object)), NULL)                \
	CALL("current=0: cudaMallocHost 1MiB", , , CHECK(cudaMallocHost(&object, BYTES)), NULL)                        \
	CALL("current=0: cudaFreeHost 1MiB", CHECK(cudaMallocHost(&object, BYTES)), , CHECK(cudaFreeHost(object)), NULL) \
	CALL("current=0: cudaMemcpy D2H legacy", , ,                                                                   \
	     CHECK(cudaMemcpy(pageable, mem[0], 1024, cudaMemcpyDeviceToHost)), NULL)                                  \
	CALL("current=0: launch legacy + sync", , , launch_and_wait(), NULL)                                           \
	CALL("current=0: cudaStreamWaitEvent nb2[0] on event of nb[1] + sync", , record_far(), wait_far(), nb2[0])     \
	CALL("cudaDeviceEnablePeerAccess(1) from 0", disable(), , CHECK(cudaDeviceEnablePeerAccess(1, 0)), NULL)       \
	CALL("cudaMemcpyPeer 0->1 1MiB (peer access on)", enable(), ,                                                  \
	     CHECK(cudaMemcpyPeer(mem[1], 1, mem[0], 0, BYTES)), cudaStreamLegacy)                                     \
	CALL("cudaMemcpyPeerAsync 0->1 on nb2[0] (peer access on)", enable(), , COPY_ASYNC(nb2[0]), nb2[0])            \
	CALL("cudaMemcpyPeerAsync 0->1 on nb2[1] (peer access on)", enable(), , COPY_ASYNC(nb2[1]), nb2[1])            \
	CALL("cudaMemcpyAsync D2D default-kind 0->1 nb2[0] (peer access on)", enable(), ,                              \
	     CHECK(cudaMemcpyAsync(mem[1], mem[0], BYTES, cudaMemcpyDefault, nb2[0])), nb2[0])                         \
	CALL("cudaMemcpy D2D 0->1 (peer access on)", enable(), ,                                                       \
	     CHECK(cudaMemcpy(mem[1], mem[0], BYTES, cudaMemcpyDeviceToDevice)), cudaStreamLegacy)                     \
	CALL("cudaMalloc with peer access on", enable(), , CHECK(cudaMalloc(&object, BYTES)), NULL)                    \
	CALL("cudaFree with peer access on", enable(); allocate_on(0), , CHECK(cudaFree(object)), NULL)                \
	CALL("cudaDeviceDisablePeerAccess", enable(), , CHECK(cudaDeviceDisablePeerAccess(1)), NULL)

static const struct row {
	const char *name;
} known[] = {
#define CALL(row, setup, between, call, own) {row},
	CALLS(CALL)
#undef CALL
};

enum step { SETUP, BETWEEN, MAKE_CALL };

static cudaStream_t run(const char *name, enum step step)
{
#define CALL(row, setup, between, call, own)                                                                           \
	if (!strcmp(name, row)) {                                                                                      \
		if (step == SETUP) {                                                                                   \
			setup;                                                                                         \
		} else if (step == BETWEEN) {                                                                          \
			between;                                                                                       \
		} else {                                                                                               \
			call;                                                                                          \
		}                                                                                                      \
		return own;                                                                                            \
	}
	CALLS(CALL)
#undef CALL
	return NULL;
}

static void cell(const char *row, const char *group, int device, cudaStream_t spinner, const char *expected)
{
	run(row, SETUP);
	on(device);
	launch(spin_stub, spinner);
	on(0);
	run(row, BETWEEN);
	arm(expected[0] == '1' ? HOLD_MS : WATCHDOG_MS);
	cudaStream_t own = run(row, MAKE_CALL);
	bool blocked = disarm();
	judge(row, group, "blocks", expected[0], blocked);
	if (!blocked) {
		if (own && expected[3] != '-')
			judge(row, group, "own stream waits", expected[3], held_back(own, expected[3]));
		for (int d = 0; d < 2; d++) {
			on(d);
			launch(quick_stub, nb3[d]);
			judge(row, group, d ? "next launch on device 1 waits" : "next launch on device 0 waits",
			      expected[1 + d], held_back(nb3[d], expected[1 + d]));
		}
	}
	syncwatch_simulated_finish();
	for (int d = 1; d >= 0; d--) {
		on(d);
		CHECK(cudaDeviceSynchronize());
	}
}

static void start(void)
{
	setenv("SYNCWATCH_SIM_KERNEL_TIME", "spin=1000s", 1);
	setenv("SYNCWATCH_SIM_DEVICES", "2", 1);
	register_device_code();
	pageable = calloc(1, BYTES);
	for (int d = 1; d >= 0; d--) {
		on(d);
		CHECK(cudaStreamCreateWithFlags(&nb[d], cudaStreamNonBlocking));
		CHECK(cudaStreamCreateWithFlags(&nb2[d], cudaStreamNonBlocking));
		CHECK(cudaStreamCreateWithFlags(&nb3[d], cudaStreamNonBlocking));
		CHECK(cudaStreamCreate(&blk[d]));
		CHECK(cudaMalloc(&mem[d], BYTES));
		if (d)
			CHECK(cudaEventCreate(&far));
		launch_and_wait();
		launch(spin_stub, nb[d]);
		syncwatch_simulated_finish();
		CHECK(cudaDeviceSynchronize());
	}
	start_releaser();
}

int main(void)
{
	char line[512];
	FILE *facts = open_facts("two-devices.tsv");
	size_t rows = 0;
	start();
	while (fgets(line, sizeof line, facts)) {
		char *tab = strchr(line, '\t');
		if (*line == '#' || !tab || !strncmp(line, "call\t", 5))
			continue;
		*tab = 0;
		if (rows == sizeof known / sizeof *known || strcmp(line, known[rows++].name)) {
			fprintf(stderr, "two-devices.tsv: row '%s' is not known\n", line);
			return 1;
		}
		for (int g = 0; g < 6; g++) { /* four columns of one character in each group */
			static const char *const groups[] = {"a non-blocking stream of device 0", "a blocking stream of device 0",
							     "the legacy stream of device 0", "a non-blocking stream of device 1",
							     "a blocking stream of device 1", "the legacy stream of device 1"};
			const cudaStream_t spinners[] = {nb[g / 3], blk[g / 3], cudaStreamLegacy};
			const char *c = tab + 1 + 8 * g, expected[] = {c[0], c[2], c[4], c[6]};
			cell(line, groups[g], g / 3, spinners[g % 3], expected);
		}
	}
	fclose(facts);
	printf("%zu rows, %d cells, %d differ\n", rows, cells, failures);
	return failures || rows != sizeof known / sizeof *known;
}
