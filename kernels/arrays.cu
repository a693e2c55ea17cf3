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

/* A texel of level 1 for each two. */
__global__ void spin_fetch_level(float *out, cudaTextureObject_t texture, unsigned ns)
{
	int x = threadIdx.x, y = blockIdx.x;

	spin_for(ns);
	out[y * WIDTH + x] = tex2DLod<float>(texture, (x + 0.5f) / WIDTH, (y + 0.5f) / HEIGHT, 1);
}

__global__ void spin_draw(cudaSurfaceObject_t surface, unsigned ns)
{
	int x = threadIdx.x, y = blockIdx.x;

	spin_for(ns);
	surf2Dwrite(1.0f, surface, x * (int)sizeof(float), y);
}

/* One layer of a layered array. */
__global__ void spin_draw_layer(cudaSurfaceObject_t surface, int layer, unsigned ns)
{
	int x = threadIdx.x, y = blockIdx.x;

	spin_for(ns);
	surf2DLayeredwrite(1.0f, surface, x * (int)sizeof(float), y, layer);
}

__global__ void spin_fetch_layer(float *out, cudaTextureObject_t texture, int layer, unsigned ns)
{
	int x = threadIdx.x, y = blockIdx.x;

	spin_for(ns);
	out[y * WIDTH + x] = tex2DLayered<float>(texture, x + 0.5f, y + 0.5f, layer);
}

/* Linear memory. */
__global__ void spin_fetch_linear(float *out, cudaTextureObject_t texture, unsigned ns)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	spin_for(ns);
	out[i] = tex1Dfetch<float>(texture, i);
}

/* Rows of the array from the host, or to it. */
static void copy_rows(cudaArray_t array, float *host, bool in, int row, int rows, cudaStream_t stream)
{
	if (in)
		CHECK(cudaMemcpy2DToArrayAsync(array, 0, row, host, ROW, ROW, rows, cudaMemcpyHostToDevice, stream));
	else
		CHECK(cudaMemcpy2DFromArrayAsync(host, ROW, array, 0, row, ROW, rows, cudaMemcpyDeviceToHost, stream));
}

static cudaArray_t new_array(cudaChannelFormatDesc format, int depth, unsigned flags)
{
	cudaArray_t array;

	CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(WIDTH, HEIGHT, depth), flags));
	return array;
}

/* 64 by 64 texels from column and row 64 on, by a batch: its extents and offsets are in texels. */
static void copy_tile(cudaArray_t array, float *host, cudaStream_t stream)
{
	cudaMemcpy3DBatchOp op = {};

	op.src.type = cudaMemcpyOperandTypePointer;
	op.src.op.ptr.ptr = host;
	op.dst.type = cudaMemcpyOperandTypeArray;
	op.dst.op.array.array = array;
	op.dst.op.array.offset.x = op.dst.op.array.offset.y = 64;
	op.extent = make_cudaExtent(64, 64, 1);
	op.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
#if CUDART_VERSION >= 13000
	CHECK(cudaMemcpy3DBatchAsync(1, &op, 0, stream));
#else
	size_t failed;
	CHECK(cudaMemcpy3DBatchAsync(1, &op, &failed, 0, stream));
#endif
}

/* Two layers from `layer` on. */
static void copy_layers(cudaArray_t array, float *host, int layer, cudaStream_t stream)
{
	cudaMemcpy3DParms p = {};

	p.srcPtr = make_cudaPitchedPtr(host, ROW, WIDTH, HEIGHT);
	p.dstArray = array;
	p.dstPos = make_cudaPos(0, 0, layer);
	p.extent = make_cudaExtent(WIDTH, HEIGHT, 2);
	p.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3DAsync(&p, stream));
}

/* The last texel of the tile, or the one after it; a layer that both copies write, or not. */
static void copy_on_copy(const Case &c, float *host, cudaStream_t first, cudaStream_t second)
{
	cudaArray_t array = new_array(cudaCreateChannelDesc<float>(), c.is("layers") ? 4 : 0,
				      c.is("layers") ? cudaArrayLayered : cudaArrayDefault);

	spin<<<1, 1, 0, first>>>(SPIN_NS);
	CHECK_LAUNCH();
	if (c.is("rows")) {
		copy_rows(array, host, true, 64, 64, first);
		copy_rows(array, host, true, c.fixed ? 128 : 127, 64, second);
	} else if (c.is("batch")) {
		copy_tile(array, host, first);
		CHECK(cudaMemcpy2DToArrayAsync(array, (c.fixed ? 128 : 127) * sizeof(float), 127, host, ROW, 64, 1,
					       cudaMemcpyHostToDevice, second));
	} else {
		copy_layers(array, host, 0, first);
		copy_layers(array, host, c.fixed ? 2 : 1, second);
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFreeArray(array));
}

static cudaTextureObject_t new_texture(const cudaResourceDesc &what)
{
	cudaTextureDesc how = {};
	cudaTextureObject_t texture;

	how.normalizedCoords = what.resType == cudaResourceTypeMipmappedArray; /* they need it */
	CHECK(cudaCreateTextureObject(&texture, &what, &how, nullptr));
	return texture;
}

/* The copy waits for the kernel, or not. */
static void copy_after_kernel(const Case &c, cudaArray_t array, float *host, cudaStream_t first, cudaStream_t second)
{
	cudaEvent_t done = new_event();

	CHECK_LAUNCH();
	if (c.fixed) {
		CHECK(cudaEventRecord(done, first));
		CHECK(cudaStreamWaitEvent(second, done, 0));
	}
	copy_rows(array, host, !c.is("surface"), 100, 1, second);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaEventDestroy(done));
}

static void kernel_and_copy(const Case &c, float *out, float *host, cudaStream_t first, cudaStream_t second)
{
	cudaArray_t array = new_array(cudaCreateChannelDesc<float>(), 0, cudaArraySurfaceLoadStore);
	cudaResourceDesc what = {};
	cudaTextureObject_t texture;
	cudaSurfaceObject_t surface;

	what.resType = cudaResourceTypeArray;
	what.res.array.array = array;
	texture = new_texture(what);
	CHECK(cudaCreateSurfaceObject(&surface, &what));
	if (c.is("texture"))
		spin_fetch<<<HEIGHT, WIDTH, 0, first>>>(out, texture, SPIN_NS);
	else
		spin_draw<<<HEIGHT, WIDTH, 0, first>>>(surface, SPIN_NS);
	copy_after_kernel(c, array, host, first, second);
	CHECK(cudaDestroySurfaceObject(surface));
	CHECK(cudaDestroyTextureObject(texture));
	CHECK(cudaFreeArray(array));
}

/* One level is overwritten; the texture covers all of them. */
static void kernel_and_level(const Case &c, float *out, float *host, cudaStream_t first, cudaStream_t second)
{
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
	cudaMipmappedArray_t levels;
	cudaArray_t level;
	cudaResourceDesc what = {};
	cudaTextureObject_t texture;

	CHECK(cudaMallocMipmappedArray(&levels, &format, make_cudaExtent(2 * WIDTH, 2 * HEIGHT, 0), 2));
	CHECK(cudaGetMipmappedArrayLevel(&level, levels, 1));
	what.resType = cudaResourceTypeMipmappedArray;
	what.res.mipmap.mipmap = levels;
	texture = new_texture(what);
	spin_fetch_level<<<HEIGHT, WIDTH, 0, first>>>(out, texture, SPIN_NS);
	copy_after_kernel(c, level, host, first, second);
	CHECK(cudaDestroyTextureObject(texture));
	CHECK(cudaFreeMipmappedArray(levels));
}

/* A kernel writes (draw) or reads (fetch) layer 1, a layer is overwritten: the same one, or layer 2. */
static void kernel_and_layer(const Case &c, float *out, float *host, cudaStream_t first, cudaStream_t second)
{
	cudaArray_t array = new_array(cudaCreateChannelDesc<float>(), 4, cudaArrayLayered | cudaArraySurfaceLoadStore);
	cudaResourceDesc what = {};
	cudaTextureObject_t texture;
	cudaSurfaceObject_t surface;

	what.resType = cudaResourceTypeArray;
	what.res.array.array = array;
	texture = new_texture(what);
	CHECK(cudaCreateSurfaceObject(&surface, &what));
	if (c.is("draw-layer"))
		spin_draw_layer<<<HEIGHT, WIDTH, 0, first>>>(surface, 1, SPIN_NS);
	else
		spin_fetch_layer<<<HEIGHT, WIDTH, 0, first>>>(out, texture, 1, SPIN_NS);
	CHECK_LAUNCH();
	copy_layers(array, host, c.fixed ? 2 : 1, second);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaDestroySurfaceObject(surface));
	CHECK(cudaDestroyTextureObject(texture));
	CHECK(cudaFreeArray(array));
}

/* The last row of pitched memory, or the end of linear memory, is overwritten; or what lies after it. */
static void kernel_and_end(const Case &c, float *out, float *host, cudaStream_t first, cudaStream_t second)
{
	constexpr int ROWS = HEIGHT - 1;
	char *memory;
	size_t pitch = ROW;
	cudaResourceDesc what = {};
	cudaTextureObject_t texture;

	if (c.is("pitched")) {
		CHECK(cudaMallocPitch(&memory, &pitch, ROW, HEIGHT));
		what.resType = cudaResourceTypePitch2D;
		what.res.pitch2D.devPtr = memory;
		what.res.pitch2D.desc = cudaCreateChannelDesc<float>();
		what.res.pitch2D.width = WIDTH;
		what.res.pitch2D.height = ROWS;
		what.res.pitch2D.pitchInBytes = pitch;
	} else {
		CHECK(cudaMalloc(&memory, HEIGHT * ROW));
		what.resType = cudaResourceTypeLinear;
		what.res.linear.devPtr = memory;
		what.res.linear.desc = cudaCreateChannelDesc<float>();
		what.res.linear.sizeInBytes = ROWS * ROW;
	}
	texture = new_texture(what);
	if (c.is("pitched"))
		spin_fetch<<<ROWS, WIDTH, 0, first>>>(out, texture, SPIN_NS);
	else
		spin_fetch_linear<<<ROWS, WIDTH, 0, first>>>(out, texture, SPIN_NS);
	CHECK_LAUNCH();
	CHECK(cudaMemcpyAsync(memory + (c.fixed ? ROWS : ROWS - 1) * pitch, host, ROW, cudaMemcpyHostToDevice, second));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaDestroyTextureObject(texture));
	CHECK(cudaFree(memory));
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 to SW103 on a CUDA array, by regions, layers, textures and surfaces",
	       "two streams copy to overlapping rows (rows), tiles (batch) or layers (layers); rows are overwritten "
	       "that a "
	       "kernel still reads by a texture (texture), also in a level of a mipmapped array (level), or read that "
	       "a kernel "
	       "still writes by a surface (surface); a layer is overwritten that a kernel still writes (draw-layer) or "
	       "reads (fetch-layer); so is the last row of pitched memory (pitched), or of linear memory (linear), "
	       "under a "
	       "texture",
	       "what is copied is apart; the copy waits for an event recorded after the kernel",
	       {"rows", "batch", "layers", "texture", "level", "surface", "draw-layer", "fetch-layer", "pitched",
		"linear"});
	float *out = device_buffer(), *host = pinned_buffer(2 * HEIGHT * ROW);
	cudaStream_t first = new_stream(), second = new_stream();

	Case::load(spin_fetch, spin_fetch_level, spin_draw, spin_draw_layer, spin_fetch_layer, spin_fetch_linear);
	if (c.is("texture") || c.is("surface"))
		kernel_and_copy(c, out, host, first, second);
	else if (c.is("level"))
		kernel_and_level(c, out, host, first, second);
	else if (c.is("draw-layer") || c.is("fetch-layer"))
		kernel_and_layer(c, out, host, first, second);
	else if (c.is("pitched") || c.is("linear"))
		kernel_and_end(c, out, host, first, second);
	else
		copy_on_copy(c, host, first, second);
	finish({first, second}, {}, {out}, {host});
}
