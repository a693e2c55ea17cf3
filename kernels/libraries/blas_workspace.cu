/* SPDX-License-Identifier: Apache-2.0 */
#include <cublasLt.h>

#include "library.h"

/* cublasLtMatmul() with the workspace as an argument. */
struct Lt {
	cublasLtHandle_t handle;
	cublasLtMatmulDesc_t product;
	cublasLtMatrixLayout_t operand, result;
	cublasLtMatmulPreference_t preference;
	cublasLtMatmulHeuristicResult_t best;

	Lt()
	{
		const cublasOperation_t transposed = CUBLAS_OP_T;
		const size_t most = WORKSPACE;
		int found;

		DONE(cublasLtCreate(&handle));
		DONE(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
		DONE(cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSB, &transposed, sizeof transposed));
		DONE(cublasLtMatrixLayoutCreate(&operand, CUDA_R_32F, ROWS, LONG, ROWS));
		DONE(cublasLtMatrixLayoutCreate(&result, CUDA_R_32F, ROWS, ROWS, ROWS));
		DONE(cublasLtMatmulPreferenceCreate(&preference));
		DONE(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most,
							  sizeof most));
		DONE(cublasLtMatmulAlgoGetHeuristic(handle, product, operand, operand, result, result, preference, 1, &best,
						    &found));
	}

	void multiply(const Product &p, float *workspace, cudaStream_t stream) const
	{
		const float one = 1, zero = 0;

		DONE(cublasLtMatmul(handle, product, &one, p.a, operand, p.b, operand, &zero, p.c, result, p.c, result,
				    &best.algo, workspace, WORKSPACE, stream));
	}
};

int main(int argc, char **argv)
{
	Case c(argc, argv, "SW101 to SW103 in a workspace that two calls of cuBLAS share",
	       "two products on two streams work in one buffer, and nothing orders them",
	       "each stream has a workspace of its own", {"two-handles", "one-handle", "lt"});
	Product first, second;
	float *shared = device_buffer(WORKSPACE), *other = c.fixed ? device_buffer(WORKSPACE) : shared;
	cudaStream_t a = new_stream(), b = new_stream();

	if (c.is("lt")) {
		Lt lt;
		lt.multiply(first, shared, a);
		lt.multiply(second, other, b);
	} else if (c.is("one-handle")) {
		cublasHandle_t handle = new_handle(a, shared);
		multiply(handle, first);
		DONE(cublasSetStream(handle, b));
		DONE(cublasSetWorkspace(handle, other, WORKSPACE));
		multiply(handle, second);
	} else {
		cublasHandle_t one = new_handle(a, shared), two = new_handle(b, other);
		multiply(one, first);
		multiply(two, second);
	}
	finish({a, b}, {}, {shared, first.a, first.b, first.c, second.a, second.b, second.c});
}
