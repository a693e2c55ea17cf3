/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"
#include "processes.h"

/*
 * The pipe says how far the host of the other process is, not its device: work that is not complete is ordered by an
 * event of both, or by a wait of the host before it tells.
 */

constexpr int ROUNDS = 12;

/* A ring of one buffer: the exporter fills it, the importer reads it, each says so with an event of its own. */
static void ring_exporter(Pair &pair, const Options &c, float *data, cudaStream_t s, cudaEvent_t filled)
{
	cudaEvent_t read;

	CHECK(cudaIpcOpenEventHandle(&read, pair.receive<cudaIpcEventHandle_t>()));
	for (int i = 0; i < ROUNDS; i++) {
		if (c.fixed)
			CHECK(cudaStreamWaitEvent(s, read, 0));
		quick_write<<<GRID, BLOCK, 0, s>>>(data, N, i);
		CHECK_LAUNCH();
		CHECK(cudaEventRecord(filled, s));
		pair.tell();
		pair.wait(); /* its read is launched, and its event recorded */
	}
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaEventDestroy(read));
}

static void ring_importer(Pair &pair, float *result, float *data, cudaStream_t s, cudaEvent_t filled)
{
	cudaEvent_t read = new_event(cudaEventDisableTiming | cudaEventInterprocess);
	cudaIpcEventHandle_t handle;

	CHECK(cudaIpcGetEventHandle(&handle, read));
	pair.send(handle);
	for (int i = 0; i < ROUNDS; i++) {
		pair.wait();
		CHECK(cudaStreamWaitEvent(s, filled, 0));
		quick_copy<<<GRID, BLOCK, 0, s>>>(result, data, N);
		CHECK_LAUNCH();
		CHECK(cudaEventRecord(read, s));
		pair.tell();
	}
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaEventDestroy(read));
}

static void run_exporter(Pair &pair, const Options &c)
{
	float *data = device_buffer();
	cudaStream_t s = new_stream();
	cudaEvent_t ready = new_event(cudaEventDisableTiming | cudaEventInterprocess);
	cudaIpcMemHandle_t memory;
	cudaIpcEventHandle_t event;

	CHECK(cudaMemsetAsync(data, 0, BYTES, s));
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaIpcGetMemHandle(&memory, data));
	CHECK(cudaIpcGetEventHandle(&event, ready));
	pair.send(memory);
	pair.send(event);
	pair.wait(); /* it is open */
	if (c.is("free")) {
		if (c.fixed)
			pair.wait(); /* it is closed */
		CHECK(cudaFree(data));
		if (!c.fixed)
			pair.tell();
		data = nullptr;
	} else if (c.is("unordered")) {
		spin_write<<<GRID, BLOCK, 0, s>>>(data, N, 1, SPIN_NS);
		CHECK_LAUNCH();
		if (c.fixed)
			CHECK(cudaEventRecord(ready, s));
		pair.tell();
	} else if (c.is("wait-first")) {
		if (!c.fixed)
			pair.wait(); /* it waits for the event already */
		spin_write<<<GRID, BLOCK, 0, s>>>(data, N, 1, SPIN_NS);
		CHECK_LAUNCH();
		CHECK(cudaEventRecord(ready, s));
		pair.tell();
	} else if (c.is("ring")) {
		ring_exporter(pair, c, data, s, ready);
	} else {
		pair.wait(); /* it reads, or has read */
		CHECK(cudaMemsetAsync(data, 1, BYTES, s));
		pair.tell();
	}
	pair.wait(); /* it is closed */
	finish({s}, {ready}, {data});
}

static void run_importer(Pair &pair, const Options &c)
{
	const cudaIpcMemHandle_t memory = pair.receive<cudaIpcMemHandle_t>();
	const cudaIpcEventHandle_t event = pair.receive<cudaIpcEventHandle_t>();
	float *result = device_buffer(), *data;
	cudaStream_t s = new_stream();
	cudaEvent_t ready;
	void *opened;

	CHECK(cudaIpcOpenMemHandle(&opened, memory, cudaIpcMemLazyEnablePeerAccess));
	CHECK(cudaIpcOpenEventHandle(&ready, event));
	data = static_cast<float *>(opened);
	pair.tell();
	if (c.is("ring"))
		ring_importer(pair, result, data, s, ready);
	if (c.is("wait-first") && !c.fixed) {
		CHECK(cudaStreamWaitEvent(s, ready, 0));
		pair.tell();
	}
	if (!c.is("refill") && !c.is("ring") && !(c.is("free") && c.fixed))
		pair.wait();
	if (c.fixed && (c.is("unordered") || c.is("wait-first")))
		CHECK(cudaStreamWaitEvent(s, ready, 0));
	if (!c.is("ring"))
		spin_copy<<<GRID, BLOCK, 0, s>>>(result, data, N, SPIN_NS);
	CHECK_LAUNCH();
	if (c.is("refill")) {
		if (c.fixed)
			CHECK(cudaStreamSynchronize(s));
		pair.tell();
		pair.wait();
	}
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaIpcCloseMemHandle(data));
	if (c.is("free") && c.fixed)
		pair.tell();
	finish({s}, {ready}, {result});
	pair.tell();
}

int main(int argc, char **argv)
{
	Options c(argc, argv, "SW504 shared-memory-freed, SW505 shared-memory-race",
		  "memory of two processes: freed too early, read before it is written, written while it is read",
		  "the event is recorded and waited for; the other process closed the memory, or waited, and said so",
		  {"free", "unordered", "wait-first", "refill", "ring"});
	Pair pair;

	Case::load(spin_write, spin_copy, quick_write, quick_copy);
	if (pair.exporter)
		run_exporter(pair, c);
	else
		run_importer(pair, c);
	return pair.end();
}
