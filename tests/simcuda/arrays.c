/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays on the simulated CUDA: bytes arrive where they should, whatever moves them; textures, surfaces, tensor maps.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "expect.h"

#define WIDTH  16u /* elements of 4 bytes */
#define HEIGHT 8u
#define LAYERS 4u
#define ROW    (WIDTH * sizeof(int))
#define ALL    (WIDTH * HEIGHT)

static cudaStream_t stream;
static struct cudaChannelFormatDesc format;

#define OK(call) EXPECT((call) == 0)

static cudaArray_t array_2d(unsigned flags)
{
	cudaArray_t array = NULL;
	OK(cudaMallocArray(&array, &format, WIDTH, HEIGHT, flags));
	return array;
}

/* 1, 2, 3, ... */
static void count_up(int *to, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = i + 1;
}

static void rows_in_and_out(void)
{
	cudaArray_t a = array_2d(0), b = array_2d(0);
	int in[ALL], out[ALL] = {0};
	count_up(in, ALL);
	OK(cudaMemcpy2DToArray(a, 0, 0, in, ROW, ROW, HEIGHT, cudaMemcpyHostToDevice));
	/* Columns 4 to 7 of rows 2 and 3 go to columns 0 to 3 of rows 5 and 6. */
	OK(cudaMemcpy2DArrayToArray(b, 0, 5, a, 16, 2, 16, 2, cudaMemcpyDeviceToDevice));
	OK(cudaMemcpy2DFromArrayAsync(out, 16, b, 0, 5, 16, 2, cudaMemcpyDeviceToHost, stream));
	OK(cudaStreamSynchronize(stream));
	for (int i = 0; i < 8; i++)
		EXPECT(out[i] == in[(2 + i / 4) * (int)WIDTH + 4 + i % 4]);
	/* One element further than the row, one row further than the array. */
	EXPECT(cudaMemcpy2DToArray(a, 4, 0, in, ROW, ROW, 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
	EXPECT(cudaMemcpy2DToArray(a, 0, 1, in, ROW, ROW, HEIGHT, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
	OK(cudaFreeArray(a));
	EXPECT(cudaMemcpy2DToArray(a, 0, 0, in, ROW, ROW, 1, cudaMemcpyHostToDevice) != cudaSuccess);
	OK(cudaFreeArray(b));
	cudaGetLastError();
}

/* Bytes over the ends of rows: from column 12 of row 1 on, 4 elements, a row, 4 elements. */
static void runs_of_bytes(void)
{
	cudaArray_t a = array_2d(0), b = array_2d(0);
	const size_t bytes = ROW + 32;
	int in[ALL], out[ALL] = {0};
	count_up(in, ALL);
	OK(cudaMemcpy2DToArray(a, 0, 0, out, ROW, ROW, HEIGHT, cudaMemcpyHostToDevice));
	OK(cudaMemcpy2DToArray(b, 0, 0, out, ROW, ROW, HEIGHT, cudaMemcpyHostToDevice));
	OK(cudaMemcpyToArray(a, 48, 1, in, bytes, cudaMemcpyHostToDevice));
	OK(cudaMemcpyArrayToArray(b, 0, 4, a, 48, 1, bytes, cudaMemcpyDeviceToDevice));
	OK(cudaMemcpy2DFromArray(out, ROW, a, 0, 0, ROW, HEIGHT, cudaMemcpyDeviceToHost));
	for (int i = 0; i < (int)ALL; i++)
		EXPECT(out[i] == (i >= 28 && i < 52 ? i - 27 : 0));
	OK(cudaMemcpyFromArrayAsync(out, b, 0, 4, bytes, cudaMemcpyDeviceToHost, stream));
	OK(cudaStreamSynchronize(stream));
	EXPECT(!memcmp(in, out, bytes));
	EXPECT(cudaMemcpyToArray(a, 0, HEIGHT - 1, in, bytes, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
	cudaGetLastError();
	OK(cudaFreeArray(a));
	OK(cudaFreeArray(b));
}

/* Positions and extents are in elements of the array, those of pointers in bytes. */
static void boxes_in_layers(void)
{
	struct cudaExtent extent = {WIDTH, HEIGHT, LAYERS};
	cudaArray_t array = NULL;
	int in[ALL * LAYERS], out[ALL * LAYERS];
	OK(cudaMalloc3DArray(&array, &format, extent, cudaArrayLayered));
	memset(out, 0, sizeof out);
	count_up(in, ALL * LAYERS);
	struct cudaMemcpy3DParms whole = {.srcPtr = {in, ROW, WIDTH, HEIGHT},
					  .dstArray = array,
					  .extent = extent,
					  .kind = cudaMemcpyHostToDevice};
	OK(cudaMemcpy3D(&whole));
	struct cudaMemcpy3DParms box = {.srcArray = array,
					.srcPos = {3, 2, 1},
					.dstPtr = {out, ROW, WIDTH, HEIGHT},
					.dstPos = {4, 1, 0},
					.extent = {5, 2, 2},
					.kind = cudaMemcpyDeviceToHost};
	OK(cudaMemcpy3DAsync(&box, stream));
	OK(cudaStreamSynchronize(stream));
	EXPECT(out[WIDTH + 1] == in[ALL + 2 * WIDTH + 3] && out[WIDTH + 5] == in[ALL + 2 * WIDTH + 7]);
	EXPECT(out[ALL + 2 * WIDTH + 5] == in[2 * ALL + 3 * WIDTH + 7]);
	EXPECT(!out[WIDTH] && !out[WIDTH + 6] && !out[2 * ALL]);
	OK(cudaFreeArray(array));
}

static void levels_of_a_mipmapped_array(void)
{
	struct cudaExtent extent = {WIDTH, HEIGHT, 0}, level_extent;
	cudaMipmappedArray_t mipmapped = NULL;
	cudaArray_t level, again;
	int value = 7, back = 0;
	unsigned flags;
	OK(cudaMallocMipmappedArray(&mipmapped, &format, extent, 100, 0));
	OK(cudaGetMipmappedArrayLevel(&level, mipmapped, 4)); /* 16, 8, 4, 2, 1 */
	OK(cudaArrayGetInfo(NULL, &level_extent, &flags, level));
	EXPECT(level_extent.width == 1 && level_extent.height == 1 && level_extent.depth == 0 && !flags);
	EXPECT(cudaGetMipmappedArrayLevel(&again, mipmapped, 5) == cudaErrorInvalidValue);
	OK(cudaMemcpy2DToArray(level, 0, 0, &value, 4, 4, 1, cudaMemcpyHostToDevice));
	OK(cudaMemcpy2DFromArray(&back, 4, level, 0, 0, 4, 1, cudaMemcpyDeviceToHost));
	EXPECT(back == 7);
	EXPECT(cudaFreeArray(level) != cudaSuccess); /* it is the mipmapped array's */
	OK(cudaFreeMipmappedArray(mipmapped));
	EXPECT(cudaArrayGetInfo(NULL, &level_extent, NULL, level) != cudaSuccess);
	cudaGetLastError();
}

/* CUDA driver API, cuMemcpy3DBatchAsync: extents, offsets and row lengths in elements of the array. */
static void batches(void)
{
	cudaArray_t array = array_2d(0);
	int *in, out[ALL] = {0};
	OK(cudaMallocHost((void **)&in, sizeof out));
	count_up(in, ALL);
	OK(cudaMemcpy2DToArray(array, 0, 0, out, ROW, ROW, HEIGHT, cudaMemcpyHostToDevice));
	CUDA_MEMCPY3D_BATCH_OP op = {.extent = {4, 2, 1}, .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL};
	op.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
	op.src.op.ptr.ptr = (uintptr_t)in;
	op.src.op.ptr.rowLength = WIDTH;
	op.dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
	op.dst.op.array.array = (CUarray)array;
	op.dst.op.array.offset = (CUoffset3D){8, 3, 0};
	OK(cuMemcpy3DBatchAsync(1, &op, 0, (CUstream)stream));
	memset(in, 0, sizeof out); /* it was read before the call returned */
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy2DFromArray(out, ROW, array, 0, 0, ROW, HEIGHT, cudaMemcpyDeviceToHost));
	for (int i = 0; i < (int)ALL; i++) {
		int x = i % (int)WIDTH - 8, y = i / (int)WIDTH - 3;
		EXPECT(out[i] == (x >= 0 && x < 4 && y >= 0 && y < 2 ? y * (int)WIDTH + x + 1 : 0));
	}
	op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
	EXPECT(cuMemcpy3DBatchAsync(1, &op, 0, (CUstream)stream) == CUDA_ERROR_INVALID_VALUE);
	op.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
	EXPECT(cuMemcpy3DBatchAsync(1, &op, 0, NULL) == CUDA_ERROR_INVALID_VALUE);
	OK(cuMemcpy3DBatchAsync(1, &op, 0, (CUstream)stream));
	OK(cudaFreeArray(array));
	OK(cudaFreeHost(in));
}

static void nodes_name_the_array(void)
{
	cudaArray_t array = array_2d(0);
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t node;
	int in[4] = {1, 2, 3, 4}, out[4] = {0};
	struct cudaMemcpy3DParms p = {.srcPtr = {in, sizeof in, 4, 1},
				      .dstArray = array,
				      .dstPos = {2, 1, 0},
				      .extent = {4, 1, 1},
				      .kind = cudaMemcpyHostToDevice},
				 back;
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddMemcpyNode(&node, graph, NULL, 0, &p));
	OK(cudaGraphMemcpyNodeGetParams(node, &back));
	EXPECT(back.dstArray == array && back.dstPos.x == 2 && back.dstPos.y == 1 && back.extent.width == 4);
	EXPECT(back.srcPtr.ptr == in && !back.srcArray);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaMemcpy2DFromArray(out, sizeof out, array, 8, 1, sizeof out, 1, cudaMemcpyDeviceToHost));
	EXPECT(!memcmp(in, out, sizeof in));
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaFreeArray(array));
}

static void textures_and_surfaces(void)
{
	cudaArray_t array = array_2d(cudaArraySurfaceLoadStore), plain = array_2d(0);
	struct cudaResourceDesc what = {.resType = cudaResourceTypeArray, .res.array.array = array}, back;
	struct cudaTextureDesc how = {.normalizedCoords = 1, .addressMode[1] = cudaAddressModeClamp}, how_back;
	struct cudaResourceViewDesc view;
	cudaTextureObject_t texture;
	cudaSurfaceObject_t surface;
	OK(cudaCreateTextureObject(&texture, &what, &how, NULL));
	OK(cudaCreateSurfaceObject(&surface, &what));
	OK(cudaGetTextureObjectResourceDesc(&back, texture));
	EXPECT(back.resType == cudaResourceTypeArray && back.res.array.array == array);
	OK(cudaGetTextureObjectTextureDesc(&how_back, texture));
	EXPECT(how_back.normalizedCoords == 1 && how_back.addressMode[1] == cudaAddressModeClamp && !how_back.sRGB);
	EXPECT(cudaGetTextureObjectResourceViewDesc(&view, texture) == cudaErrorInvalidValue);
	OK(cudaGetSurfaceObjectResourceDesc(&back, surface));
	EXPECT(back.res.array.array == array);
	OK(cudaDestroyTextureObject(texture));
	EXPECT(cudaDestroyTextureObject(texture) != cudaSuccess);
	OK(cudaDestroySurfaceObject(surface));
	what.res.array.array = plain; /* not made for surfaces */
	EXPECT(cudaCreateSurfaceObject(&surface, &what) == cudaErrorInvalidValue);
	cudaGetLastError();
	OK(cudaFreeArray(array));
	OK(cudaFreeArray(plain));
}

static void tensor_maps(void)
{
	static CUtensorMap map, same, moved;
	const cuuint64_t extent[2] = {64, 64}, stride[1] = {256}, odd[1] = {250};
	const cuuint32_t box[2] = {16, 16}, step[2] = {1, 1};
	void *p = NULL;
	OK(cudaMalloc(&p, 64 * 256));
#define ENCODE(out, at, strides)                                                                                       \
	cuTensorMapEncodeTiled(out, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, at, extent, strides, box, step,                \
			       CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,                              \
			       CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
	OK(ENCODE(&map, p, stride));
	OK(ENCODE(&same, p, stride));
	EXPECT(!memcmp(&map, &same, sizeof map));
	EXPECT(ENCODE(&moved, (char *)p + 4, stride) == CUDA_ERROR_INVALID_VALUE); /* not aligned to 16 bytes */
	EXPECT(ENCODE(&moved, p, odd) == CUDA_ERROR_INVALID_VALUE);
	OK(ENCODE(&moved, (char *)p + 256, stride));
	EXPECT(memcmp(&map, &moved, sizeof map));
	OK(cuTensorMapReplaceAddress(&moved, p));
	EXPECT(!memcmp(&map, &moved, sizeof map));
	OK(cudaFree(p));
}

static void formats(void)
{
	struct cudaChannelFormatDesc half4 = cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat), back;
	struct cudaChannelFormatDesc three = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
	cudaArray_t array;
	OK(cudaMallocArray(&array, &half4, WIDTH, 0, 0));
	OK(cudaGetChannelDesc(&back, array));
	EXPECT(!memcmp(&half4, &back, sizeof back));
	OK(cudaFreeArray(array));
	EXPECT(cudaMallocArray(&array, &three, WIDTH, 0, 0) == cudaErrorInvalidValue);
	cudaGetLastError();
}

int main(void)
{
	format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	rows_in_and_out();
	runs_of_bytes();
	boxes_in_layers();
	levels_of_a_mipmapped_array();
	batches();
	nodes_name_the_array();
	textures_and_surfaces();
	tensor_maps();
	formats();
	(void)array_2d(0); /* ends with the context */
	OK(cudaDeviceReset());
	printf("%d failures\n", failures);
	return failures != 0;
}
