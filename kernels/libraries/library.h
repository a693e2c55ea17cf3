/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the programs for cuBLAS and others share.  Matrices are of floats, by columns. */
#ifndef KERNELS_LIBRARIES_LIBRARY_H
#define KERNELS_LIBRARIES_LIBRARY_H

#include <cublas_v2.h>

#include "../case.h"

/* All libraries' functions return 0 where they succeed. */
#define DONE(call)                                                                                                     \
	do {                                                                                                           \
		int done_status = static_cast<int>(call);                                                              \
		if (done_status) {                                                                                     \
			fprintf(stderr, "%s:%d: %s: status %d\n", __FILE__, __LINE__, #call, done_status);             \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

/* A product with a long sum and a small result: the sum is split, and the parts lie in the workspace. */
constexpr int ROWS = 64;
constexpr int LONG = 1 << 16;
constexpr size_t WORKSPACE = 32 << 20;

struct Product {
	float *a = device_buffer(sizeof(float) * ROWS * LONG), *b = device_buffer(sizeof(float) * ROWS * LONG);
	float *c = device_buffer(sizeof(float) * ROWS * ROWS);
};

inline void multiply(cublasHandle_t handle, const Product &p)
{
	const float one = 1, zero = 0;

	DONE(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, ROWS, ROWS, LONG, &one, p.a, ROWS, p.b, ROWS, &zero, p.c,
			 ROWS));
}

inline cublasHandle_t new_handle(cudaStream_t stream, float *workspace)
{
	cublasHandle_t handle;

	DONE(cublasCreate(&handle));
	DONE(cublasSetStream(handle, stream));
	if (workspace)
		DONE(cublasSetWorkspace(handle, workspace, WORKSPACE));
	return handle;
}

#endif
