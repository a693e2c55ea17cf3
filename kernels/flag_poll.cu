/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

/* Ends after a second even when the flag never comes. */
__global__ void spin_until(volatile int *flag)
{
	unsigned long long start = now_ns();

	while (*flag == 0 && now_ns() - start < 1000000000)
		;
}

__global__ void spin_signal(volatile int *flag, unsigned ns)
{
	spin_for(ns);
	__threadfence();
	*flag = 1;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101, possible, where two kernels signal through memory: that may well be meant",
	       "a kernel polls a flag that a kernel on another stream sets",
	       "the kernel that looks at the flag waits for an event recorded after the other one");
	int *flag = (int *)device_buffer(sizeof(int));
	cudaStream_t a = new_stream(), b = new_stream();
	cudaEvent_t set = new_event();

	c.load(spin_until, spin_signal);
	CHECK(cudaMemset(flag, 0, sizeof(int)));
	CHECK(cudaDeviceSynchronize());
	spin_signal<<<1, 1, 0, a>>>(flag, SPIN_NS);
	if (c.fixed) {
		CHECK(cudaEventRecord(set, a));
		CHECK(cudaStreamWaitEvent(b, set, 0));
	}
	spin_until<<<1, 1, 0, b>>>(flag);
	CHECK_LAUNCH();
	finish({a, b}, {set}, {(float *)flag});
}
