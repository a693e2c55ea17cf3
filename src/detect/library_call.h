/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of cuBLAS, cuFFT and others, as findings name them. */
#ifndef SW_DETECT_LIBRARY_CALL_H
#define SW_DETECT_LIBRARY_CALL_H

#include <stdint.h>

enum sw_cuda_library {
	SW_CUDA_NONE,
	SW_CUDA_CUBLAS,
	SW_CUDA_CUBLASLT,
	SW_CUDA_CUFFT,
	SW_CUDA_CUSPARSE,
	SW_CUDA_CUSOLVER,
	SW_CUDA_CUDNN,
	SW_CUDA_LIBRARIES
};

/* A call of one of these libraries, one for all that are alike. */
struct sw_library_call {
	const char *function; /* as exported: "cublasSgemm_v2" */
	enum sw_cuda_library library;
	uint32_t number; /* of its handle among those of the library; 0: it has none */
	uint64_t handle;
	uint64_t workspace, workspace_bytes; /* the memory that the program gave it to work in; bytes 0: none */
};

#endif
