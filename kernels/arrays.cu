/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

constexpr int WIDTH = 256, HEIGHT = 256; /* texels of 4 bytes */
constexpr size_t ROW = WIDTH * sizeof(float);

__global__ void spin_fetch(float *out, cudaTextureObject_t texture, unsigned ns)
{
	int x = threadIdx.x, y = blockIdx.x;

	spin_for(ns);
	out[y * WIDTH + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

__global__ void spin_draw(cudaSurfaceObject_t surface, unsigned ns)
{
	int x = threadIdx.x, y = blockIdx.x;

	spin_for(ns);
	surf2Dwrite(1.0f, surface, x * (int)sizeof(float), y);
}

/* Rows of the array from the host, or to it. */
static void copy_rows(cudaArray_t array, float *host, bool in, int row, int rows, cudaStream_t stream)
{
	if (in)
		CHECK(cudaMemcpy2DToArrayAsync(array, 0, row, host, ROW, ROW, rows, cudaMemcpyHostToDevice, stream));
	else
		CHECK(cudaMemcpy2DFromArrayAsync(host, ROW, array, 0, row, ROW, rows, cudaMemcpyDeviceToHost, stream));
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 to SW103 on a CUDA array, by regions, textures and surfaces",
	       "two streams copy to overlapping rows (rows); rows are overwritten that a kernel still reads by a "
	       "texture (texture), or read that a kernel still writes by a surface (surface)",
	       "the rows are apart; the copy waits for an event recorded after the kernel",
	       {"rows", "texture", "surface"});
	float *out = device_buffer(), *host = pinned_buffer(HEIGHT * ROW);
	cudaStream_t first = new_stream(), second = new_stream();
	cudaEvent_t done = new_event();
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
	cudaResourceDesc what = {};
	cudaTextureDesc how = {};
	cudaTextureObject_t texture;
	cudaSurfaceObject_t surface;
	cudaArray_t array;

	Case::load(spin_fetch, spin_draw);
	CHECK(cudaMallocArray(&array, &format, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
	what.resType = cudaResourceTypeArray;
	what.res.array.array = array;
	CHECK(cudaCreateTextureObject(&texture, &what, &how, nullptr));
	CHECK(cudaCreateSurfaceObject(&surface, &what));
	if (c.is("rows")) {
		spin<<<1, 1, 0, first>>>(SPIN_NS);
		copy_rows(array, host, true, 64, 64, first);
		copy_rows(array, host, true, c.fixed ? 128 : 127, 64, second);
	} else {
		if (c.is("texture"))
			spin_fetch<<<HEIGHT, WIDTH, 0, first>>>(out, texture, SPIN_NS);
		else
			spin_draw<<<HEIGHT, WIDTH, 0, first>>>(surface, SPIN_NS);
		CHECK_LAUNCH();
		if (c.fixed) {
			CHECK(cudaEventRecord(done, first));
			CHECK(cudaStreamWaitEvent(second, done, 0));
		}
		copy_rows(array, host, c.is("texture"), 100, 1, second);
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaDestroySurfaceObject(surface));
	CHECK(cudaDestroyTextureObject(texture));
	CHECK(cudaFreeArray(array));
	finish({first, second}, {done}, {out}, {host});
}
