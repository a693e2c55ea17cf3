/* SPDX-License-Identifier: Apache-2.0 */
#include "case.h"

constexpr int PAGES = 4, PER = 8, PAGE = 1024; /* tables, pages of each, floats of a page */

/* Two levels of tables, both in device memory. */
__global__ void spin_pages(float *const *const *root, unsigned ns)
{
	float *page = root[blockIdx.x / PER][blockIdx.x % PER];

	spin_for(ns);
	page[threadIdx.x] = 1;
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW103 by pointers in device memory that lie behind others",
	       "a kernel writes pages that two levels of tables lead to, and another stream clears one of them",
	       "the other stream clears a page that no table leads to");
	float *data = device_buffer(), **lower[PAGES];
	float **tables = reinterpret_cast<float **>(device_buffer(PAGES * PER * sizeof(float *))), *list[PAGES * PER];
	float ***root = reinterpret_cast<float ***>(device_buffer(sizeof lower));
	cudaStream_t a = new_stream(), b = new_stream();

	c.load(spin_pages);
	for (int i = 0; i < PAGES * PER; i++)
		list[i] = data + i * PAGE;
	for (int i = 0; i < PAGES; i++)
		lower[i] = tables + i * PER;
	CHECK(cudaMemcpy(tables, list, sizeof list, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(root, lower, sizeof lower, cudaMemcpyHostToDevice));
	CHECK(cudaDeviceSynchronize());
	spin_pages<<<PAGES * PER, PAGE, 0, a>>>(root, SPIN_NS);
	CHECK_LAUNCH();
	CHECK(cudaMemsetAsync(data + (c.fixed ? PAGES * PER : 13) * PAGE, 0, PAGE * sizeof(float), b));
	finish({a, b}, {}, {data, reinterpret_cast<float *>(tables), reinterpret_cast<float *>(root)});
}
