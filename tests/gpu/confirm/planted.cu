/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races that footprints cannot see, for `syncwatch confirm --explore`.
 *
 *   planted VARIANT [--fixed]
 *
 *     table     the writer finds its buffer in a table of pointers in device memory
 *     list      the writer follows a linked list
 *     nested    the pointer lies in a structure that another pointer leads to
 *     function  the writer is called through a function pointer in device memory
 *     index     the writer's buffer is chosen by an index that an earlier kernel computed
 *     device    the writer is launched by a kernel on the device
 */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		cudaError_t check_status = (call);                                                                     \
		if (check_status != cudaSuccess) {                                                                     \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                                  \
				cudaGetErrorString(check_status));                                                     \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

constexpr int N = 1 << 14;

struct Item {
	Item *next;
	int *data;
};
struct Box {
	Item *item;
};
typedef void (*Store)(int *at, int value);

__device__ void store(int *at, int value)
{
	*at = value;
}
__device__ Store stores[1];

__global__ void prepare(int **table, Item *items, Box *box, int *index, int *data)
{
	table[3] = data;
	items[0] = {&items[1], nullptr};
	items[1] = {nullptr, data};
	box->item = &items[1];
	*index = 3;
	stores[0] = store;
}

__global__ void fill(int *data, int value)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		data[i] = value;
}

__global__ void by_table(int **table, int value)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		table[3][i] = value;
}

__global__ void by_list(Item *item, int value)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	while (item->next)
		item = item->next;
	if (i < N)
		item->data[i] = value;
}

__global__ void by_box(Box *box, int value)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		box->item->data[i] = value;
}

__global__ void by_function(int **table, int value)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		stores[0](&table[3][i], value);
}

__global__ void by_index(int **table, const int *index, int value)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		table[*index][i] = value;
}

#ifdef __CUDACC_RDC__
__global__ void by_device(int *const *table, int value)
{
	fill<<<N / 256, 256>>>(table[3], value);
}
#endif

int main(int argc, char **argv)
{
	const char *variant = argc > 1 ? argv[1] : "";
	const bool fixed = argc > 2 && !strcmp(argv[2], "--fixed");
	int **table, *index, *data, *host, *result;
	Item *items;
	Box *box;
	cudaStream_t writer, reader;
	cudaEvent_t written;

	CHECK(cudaMalloc(&table, 8 * sizeof *table));
	CHECK(cudaMalloc(&items, 2 * sizeof *items));
	CHECK(cudaMalloc(&box, sizeof *box));
	CHECK(cudaMalloc(&index, sizeof *index));
	CHECK(cudaMalloc(&data, N * sizeof *data));
	CHECK(cudaMalloc(&result, N * sizeof *result));
	CHECK(cudaMallocHost(&host, N * sizeof *host));
	CHECK(cudaMemset(data, 0, N * sizeof *data));
	CHECK(cudaStreamCreateWithFlags(&writer, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&written, cudaEventDisableTiming));
	prepare<<<1, 1, 0, writer>>>(table, items, box, index, data);
	CHECK(cudaDeviceSynchronize());

	for (int round = 1; round <= 8; round++) {
		if (!strcmp(variant, "table"))
			by_table<<<N / 256, 256, 0, writer>>>(table, round);
		else if (!strcmp(variant, "list"))
			by_list<<<N / 256, 256, 0, writer>>>(items, round);
		else if (!strcmp(variant, "nested"))
			by_box<<<N / 256, 256, 0, writer>>>(box, round);
		else if (!strcmp(variant, "function"))
			by_function<<<N / 256, 256, 0, writer>>>(table, round);
		else if (!strcmp(variant, "index"))
			by_index<<<N / 256, 256, 0, writer>>>(table, index, round);
#ifdef __CUDACC_RDC__
		else if (!strcmp(variant, "device"))
			by_device<<<1, 1, 0, writer>>>(table, round);
#endif
		else
			return 77;
		CHECK(cudaGetLastError());
		if (fixed) {
			CHECK(cudaEventRecord(written, writer));
			CHECK(cudaStreamWaitEvent(reader, written, 0));
		} else {
			usleep(3000); /* without a hold the writer always wins */
		}
		CHECK(cudaMemcpyAsync(result, data, N * sizeof *data, cudaMemcpyDeviceToDevice, reader));
		CHECK(cudaStreamSynchronize(reader));
		CHECK(cudaMemcpyAsync(host, result, N * sizeof *host, cudaMemcpyDeviceToHost, reader));
		CHECK(cudaDeviceSynchronize());
	}
	return 0;
}
