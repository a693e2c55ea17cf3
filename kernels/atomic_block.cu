/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

__global__ void spin_count_block(unsigned *sum, unsigned ns)
{
	spin_for(ns);
	atomicAdd_block(sum, 1u);
}

__global__ void spin_count(unsigned *sum, unsigned ns)
{
	spin_for(ns);
	atomicAdd(sum, 1u);
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "a race (SW101 to SW103) on a sum that two streams update, by the code of the kernels",
	       "the updates are atomic within a block alone", "the updates are atomic on the whole device");
	unsigned *sum = (unsigned *)device_buffer(sizeof(unsigned));
	cudaStream_t a = new_stream(), b = new_stream();
	auto kernel = c.fixed ? spin_count : spin_count_block;

	c.load(spin_count_block, spin_count);
	kernel<<<1, BLOCK, 0, a>>>(sum, SPIN_NS);
	kernel<<<1, BLOCK, 0, b>>>(sum, SPIN_NS);
	CHECK_LAUNCH();
	finish({a, b}, {}, {(float *)sum});
}
