/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

/* On an H100 or H200 a kernel of the name nvjet, which finds its matrices by tensor maps. */
static void multiply_halves(cublasHandle_t handle, const Product &p, float *result)
{
	constexpr int SIDE = 1024;
	const float one = 1, zero = 0;

	DONE(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, p.a, CUDA_R_16F, SIDE, p.b,
			  CUDA_R_16F, SIDE, &zero, result, CUDA_R_16F, SIDE, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 to SW103 on operands of cuBLAS: the finding names the function and its handle",
	       "what a product on one stream reads or writes is used on another stream without an order",
	       "the second stream waits for an event recorded after the first call",
	       {"result-copied", "operand-refilled", "result-used", "axpy", "default-workspace", "half-copied",
		"half-refilled"});
	Product first, second;
	float *host = pinned_buffer(sizeof(float) * ROWS * ROWS);
	cudaStream_t a = new_stream(), b = new_stream();
	cudaEvent_t done = new_event();
	cublasHandle_t handle = new_handle(a, nullptr), other = new_handle(b, nullptr);
	const float one = 1;
	const bool half = c.is("half-copied") || c.is("half-refilled");
	float *result = half ? second.a : first.c;

	if (c.is("axpy"))
		DONE(cublasSaxpy(handle, ROWS * ROWS, &one, first.a, 1, first.c, 1));
	else if (half)
		multiply_halves(handle, first, result);
	else
		multiply(handle, first);
	CHECK(cudaEventRecord(done, a));
	if (c.fixed)
		CHECK(cudaStreamWaitEvent(b, done, 0));
	if (c.is("result-copied") || c.is("axpy") || c.is("half-copied"))
		CHECK(cudaMemcpyAsync(host, result, sizeof(float) * ROWS * ROWS, cudaMemcpyDeviceToHost, b));
	else if (c.is("operand-refilled") || c.is("half-refilled"))
		CHECK(cudaMemsetAsync(first.b, 0, sizeof(float) * ROWS * LONG, b));
	else if (c.is("result-used"))
		DONE(cublasSaxpy(other, ROWS * ROWS, &one, first.c, 1, second.c, 1));
	else if (!c.fixed)
		CHECK(cudaMemcpyAsync(host, first.c, sizeof(float) * ROWS * ROWS, cudaMemcpyDeviceToHost, b));
	/* One handle on two streams without a workspace of the program: the library's own pool is safe. */
	if (c.is("default-workspace")) {
		DONE(cublasSetStream(handle, b));
		multiply(handle, second);
	}
	finish({a, b}, {done}, {first.a, first.b, first.c, second.a, second.b, second.c}, {host});
}
