/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* A producer and a consumer share SLOTS buffers; two events a slot go round and round. */
int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write among many correct waits",
	       "the consumer waits for the event of the slot before: that slot is older, its wait covers too little",
	       "each stream waits for the event of the slot that it is about to use");
	constexpr int SLOTS = 4, ROUNDS = 24;
	float *host = pinned_buffer(), *slot[SLOTS], *result = device_buffer();
	cudaStream_t producer = new_stream(), consumer = new_stream();
	cudaEvent_t produced[SLOTS], consumed[SLOTS];

	for (int i = 0; i < SLOTS; i++) {
		slot[i] = device_buffer();
		produced[i] = new_event();
		consumed[i] = new_event();
	}
	spin<<<1, 1, 0, producer>>>(SPIN_NS);
	for (int round = 0; round < ROUNDS; round++) {
		int i = round % SLOTS;

		CHECK(cudaStreamWaitEvent(producer, consumed[i], 0)); /* does nothing in the first SLOTS rounds */
		CHECK(cudaMemcpyAsync(slot[i], host, BYTES, cudaMemcpyHostToDevice, producer));
		CHECK(cudaEventRecord(produced[i], producer));
		CHECK(cudaStreamWaitEvent(consumer, produced[c.fixed ? i : (i + SLOTS - 1) % SLOTS], 0));
		CHECK(cudaMemcpyAsync(result, slot[i], BYTES, cudaMemcpyDeviceToDevice, consumer));
		CHECK(cudaEventRecord(consumed[i], consumer));
	}
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < SLOTS; i++) {
		CHECK(cudaEventDestroy(produced[i]));
		CHECK(cudaEventDestroy(consumed[i]));
		CHECK(cudaFree(slot[i]));
	}
	finish({producer, consumer}, {}, {result}, {host});
}
