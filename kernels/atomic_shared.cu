/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

__global__ void spin_count(float *sum, unsigned ns)
{
	spin_for(ns);
	atomicAdd(sum, 1.0f);
}

__global__ void spin_add(float *sum, unsigned ns)
{
	spin_for(ns);
	if (blockIdx.x == 0 && threadIdx.x == 0)
		*sum += 1;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "a race (SW101 to SW103) on a sum that two streams update, by the code of the kernels",
	       "one of the kernels does not update it atomically", "both kernels update it atomically");
	float *sum = device_buffer(sizeof(float));
	cudaStream_t a = new_stream(), b = new_stream();

	c.load(spin_count, spin_add);
	spin_count<<<1, BLOCK, 0, a>>>(sum, SPIN_NS);
	if (c.fixed)
		spin_count<<<1, BLOCK, 0, b>>>(sum, SPIN_NS);
	else
		spin_add<<<1, BLOCK, 0, b>>>(sum, SPIN_NS);
	CHECK_LAUNCH();
	finish({a, b}, {}, {sum});
}
