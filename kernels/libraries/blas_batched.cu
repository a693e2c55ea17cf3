/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

constexpr int PROBLEMS = 8, SIDE = 64, PART = SIDE * SIDE;

__global__ void move_tables(float **to, float *const *from)
{
	to[threadIdx.x] = from[threadIdx.x];
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 on memory that cuBLAS reaches by tables of pointers that the program uploaded",
	       "one result of a batch is copied on another stream while the batch may still be running",
	       "the second stream waits for an event recorded after the batch", {"gemm", "trsm", "table-by-kernel"});
	float *data = device_buffer(sizeof(float) * 3 * PROBLEMS * PART), *host = pinned_buffer(sizeof(float) * PART);
	float **table = reinterpret_cast<float **>(device_buffer(2 * 3 * PROBLEMS * sizeof(float *)));
	float *list[3 * PROBLEMS], *result = data + (2 * PROBLEMS + 3) * PART;
	cudaStream_t a = new_stream(), b = new_stream();
	cudaEvent_t done = new_event();
	cublasHandle_t handle = new_handle(a, nullptr);
	const float one = 1, zero = 0;

	for (int i = 0; i < 3 * PROBLEMS; i++)
		list[i] = data + i * PART;
	/* A kernel writes unknown pointers to the tables: nothing is reported, the launch is counted. */
	bool by_kernel = c.is("table-by-kernel");
	float **from = by_kernel ? table + 3 * PROBLEMS : table;
	CHECK(cudaMemcpyAsync(from, list, sizeof list, cudaMemcpyHostToDevice, a));
	if (by_kernel)
		move_tables<<<1, 3 * PROBLEMS, 0, a>>>(table, from);
	CHECK_LAUNCH();
	if (c.is("trsm"))
		DONE(cublasStrsmBatched(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT,
					SIDE, SIDE, &one, table, SIDE, table + 2 * PROBLEMS, SIDE, PROBLEMS));
	else
		DONE(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, table, SIDE,
					table + PROBLEMS, SIDE, &zero, table + 2 * PROBLEMS, SIDE, PROBLEMS));
	CHECK(cudaEventRecord(done, a));
	if (c.fixed)
		CHECK(cudaStreamWaitEvent(b, done, 0));
	CHECK(cudaMemcpyAsync(host, result, sizeof(float) * PART, cudaMemcpyDeviceToHost, b));
	finish({a, b}, {done}, {data, reinterpret_cast<float *>(table)}, {host});
}
