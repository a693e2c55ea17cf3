/* SPDX-License-Identifier: Apache-2.0 */
#include <condition_variable>
#include <mutex>

#include "case.h"

/* The host refines what the stream copied, for the stream that waits for the signal. */
struct Product {
	std::mutex lock;
	std::condition_variable ready;
	bool made = false;
	float *values;
};

static void CUDART_CB refine(void *arg)
{
	Product *product = static_cast<Product *>(arg);

	for (int i = 0; i < N; i++)
		product->values[i] *= 2;
	std::lock_guard<std::mutex> guard(product->lock);
	product->made = true;
	product->ready.notify_one();
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 race-read-after-write: a host function refines what has not arrived",
	       "the host function that refines a buffer and signals \"ready\" is enqueued before the copy that fills the buffer",
	       "the host function is enqueued after the copy");
	float *data = device_buffer(), *result = device_buffer();
	cudaStream_t producer = new_stream(), consumer = new_stream();
	Product product;

	product.values = pinned_buffer();
	if (!c.fixed)
		CHECK(cudaLaunchHostFunc(producer, refine, &product));
	spin<<<1, 1, 0, producer>>>(SPIN_NS);
	CHECK(cudaMemcpyAsync(product.values, data, BYTES, cudaMemcpyDeviceToHost, producer));
	if (c.fixed)
		CHECK(cudaLaunchHostFunc(producer, refine, &product));
	{
		std::unique_lock<std::mutex> guard(product.lock);
		product.ready.wait(guard, [&] { return product.made; });
	}
	CHECK(cudaMemcpyAsync(result, product.values, BYTES, cudaMemcpyHostToDevice, consumer));
	finish({producer, consumer}, {}, {data, result}, {product.values});
}
