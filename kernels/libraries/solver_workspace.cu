/* SPDX-License-Identifier: Apache-2.0 */
#include <cusolverDn.h>

#include "library.h"

constexpr int ORDER = 512;

static void identity(float *matrix, cudaStream_t stream)
{
	float *host = pinned_buffer(sizeof(float) * ORDER * ORDER);

	for (int i = 0; i < ORDER; i++)
		host[i * (ORDER + 1)] = 1;
	CHECK(cudaMemcpyAsync(matrix, host, sizeof(float) * ORDER * ORDER, cudaMemcpyHostToDevice, stream));
}

static cusolverDnHandle_t new_solver(cudaStream_t stream)
{
	cusolverDnHandle_t handle;

	DONE(cusolverDnCreate(&handle));
	DONE(cusolverDnSetStream(handle, stream));
	return handle;
}

static void factorize(cusolverDnHandle_t handle, float *matrix, float *workspace, int words, float *info)
{
	DONE(cusolverDnSpotrf(handle, CUBLAS_FILL_MODE_LOWER, ORDER, matrix, ORDER, workspace, words,
			      reinterpret_cast<int *>(info)));
}

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 to SW103 in a workspace that two factorizations of cuSOLVER share",
	       "two factorizations on two streams work in one buffer, and nothing orders them",
	       "each stream has a workspace of its own");
	float *first = device_buffer(sizeof(float) * ORDER * ORDER), *second = device_buffer(sizeof(float) * ORDER * ORDER);
	float *info = device_buffer(4096), *info2 = device_buffer(4096);
	cudaStream_t a = new_stream(), b = new_stream();
	cusolverDnHandle_t one = new_solver(a), two = new_solver(b);
	int words;

	DONE(cusolverDnSpotrf_bufferSize(one, CUBLAS_FILL_MODE_LOWER, ORDER, first, ORDER, &words));
	float *shared = device_buffer(sizeof(float) * words), *other = c.fixed ? device_buffer(sizeof(float) * words) : shared;
	identity(first, a);
	identity(second, b);
	factorize(one, first, shared, words, info);
	factorize(two, second, other, words, info2);
	finish({a, b}, {}, {first, second, info, info2});
}
