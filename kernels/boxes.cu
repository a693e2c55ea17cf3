/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

static void copy_box(cudaPitchedPtr volume, float *host, size_t x, size_t width, size_t side, cudaStream_t stream)
{
	cudaMemcpy3DParms p = {};

	p.srcPtr = make_cudaPitchedPtr(host, side, side, side);
	p.dstPtr = volume;
	p.dstPos = make_cudaPos(x, 0, 0);
	p.extent = make_cudaExtent(width, side, side);
	p.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3DAsync(&p, stream));
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 race-write-after-write between copies of boxes",
	       "two streams fill two halves of a volume; the first half is one column of voxels too wide",
	       "the halves share no byte");
	constexpr size_t SIDE = 32;
	float *host = pinned_buffer(SIDE * SIDE * SIDE);
	cudaStream_t a = new_stream(), b = new_stream();
	cudaPitchedPtr volume;

	CHECK(cudaMalloc3D(&volume, make_cudaExtent(SIDE, SIDE, SIDE)));
	spin<<<1, 1, 0, a>>>(SPIN_NS);
	copy_box(volume, host, 0, c.fixed ? SIDE / 2 : SIDE / 2 + 1, SIDE, a);
	copy_box(volume, host, SIDE / 2, SIDE / 2, SIDE, b);
	finish({a, b}, {}, {(float *)volume.ptr}, {host});
}
