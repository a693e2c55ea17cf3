/* SPDX-License-Identifier: Apache-2.0 */
#include "library.h"

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 to SW103 on operands of cuBLAS: the finding names the function and its handle",
	       "what a product on one stream reads or writes is used on another stream without an order",
	       "the second stream waits for an event recorded after the first call",
	       {"result-copied", "operand-refilled", "result-used", "axpy", "default-workspace"});
	Product first, second;
	float *host = pinned_buffer(sizeof(float) * ROWS * ROWS);
	cudaStream_t a = new_stream(), b = new_stream();
	cudaEvent_t done = new_event();
	cublasHandle_t handle = new_handle(a, nullptr), other = new_handle(b, nullptr);
	const float one = 1;

	if (c.is("axpy"))
		DONE(cublasSaxpy(handle, ROWS * ROWS, &one, first.a, 1, first.c, 1));
	else
		multiply(handle, first);
	CHECK(cudaEventRecord(done, a));
	if (c.fixed)
		CHECK(cudaStreamWaitEvent(b, done, 0));
	if (c.is("result-copied") || c.is("axpy"))
		CHECK(cudaMemcpyAsync(host, first.c, sizeof(float) * ROWS * ROWS, cudaMemcpyDeviceToHost, b));
	else if (c.is("operand-refilled"))
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
