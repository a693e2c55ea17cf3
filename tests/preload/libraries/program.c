/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of cuBLAS and other libraries in one program: program STEP...  With -DOBJECT it is run() of a shared object, as
 * Python's extensions are; with -DNAMED, named.h.
 *
 *     a b        the stream that later steps use
 *     1 2        the cuBLAS handle that later steps use
 *     w W        its workspace becomes w, W: cublasSetWorkspace()
 *     wait       stream b waits for stream a
 *     gemm       cublasSgemm on the handle
 *     ex         cublasGemmEx, which calls cublasSgemm
 *     axpy       cublasSaxpy: x is each second float of A, y is D
 *     scal       cublasSscal: x is D
 *     copy       cublasScopy, which needs no workspace
 *     fail       cublasDgemm, which fails
 *     lt LT      cublasLtMatmul with workspace w, W
 *     fft FFT    cufftExecC2C of the first plan, of the second
 *     area       the work area of both plans is w
 *     areas      w and W
 *     norm       a function of cuDNN
 *     set        a memset of w
 *     A+N:BYTES  a memset from byte N of an operand of stream a on, A to D
 *     in out     a memset of the last byte that fft reads, of the first that it writes
 *     destroy    destroys the handle, and makes it again
 */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int cublasCreate_v2(void **handle);
int cublasDestroy_v2(void *handle);
int cublasSetStream_v2(void *handle, void *stream);
int cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes);
int cublasSgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda,
		   const float *b, int ldb, const float *beta, float *c, int ldc);
int cublasDgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const double *alpha, const double *a, int lda,
		   const double *b, int ldb, const double *beta, double *c, int ldc);
int cublasScopy_v2(void *handle, int n, const float *x, int incx, float *y, int incy);
int cublasSaxpy_v2(void *handle, int n, const float *alpha, const float *x, int incx, float *y, int incy);
int cublasSscal_v2(void *handle, int n, const float *alpha, float *x, int incx);
int cublasGemmEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int at, int lda,
		 const void *b, int bt, int ldb, const void *beta, void *c, int ct, int ldc, int compute, int algo);
int cublasLtMatmul(void *handle, void *desc, const void *alpha, const void *a, void *ad, const void *b, void *bd,
		   const void *beta, const void *c, void *cd, void *d, void *dd, const void *algo, void *workspace,
		   size_t bytes, CUstream stream);
int cufftPlan1d(int *plan, int nx, int type, int batch);
int cufftSetStream(int plan, CUstream stream);
int cufftSetWorkArea(int plan, void *area);
int cufftExecC2C(int plan, void *in, void *out, int direction);
int cudnnCreate(void **handle);
int cudnnBatchNormalizationForwardInference(void *handle, int mode, const void *alpha, const void *beta, void *xd,
					    const void *x, void *yd, void *y, void *bd, const void *scale,
					    const void *bias, const void *mean, const void *variance, double epsilon);

#ifdef NAMED
#include "../named.h"
#define cublasCreate_v2				NAMED_FUNCTION(cublasCreate_v2)
#define cublasDestroy_v2			NAMED_FUNCTION(cublasDestroy_v2)
#define cublasSetStream_v2			NAMED_FUNCTION(cublasSetStream_v2)
#define cublasSetWorkspace_v2			NAMED_FUNCTION(cublasSetWorkspace_v2)
#define cublasSgemm_v2				NAMED_FUNCTION(cublasSgemm_v2)
#define cublasDgemm_v2				NAMED_FUNCTION(cublasDgemm_v2)
#define cublasScopy_v2				NAMED_FUNCTION(cublasScopy_v2)
#define cublasSaxpy_v2				NAMED_FUNCTION(cublasSaxpy_v2)
#define cublasSscal_v2				NAMED_FUNCTION(cublasSscal_v2)
#define cublasGemmEx				NAMED_FUNCTION(cublasGemmEx)
#define cublasLtMatmul				NAMED_FUNCTION(cublasLtMatmul)
#define cufftPlan1d				NAMED_FUNCTION(cufftPlan1d)
#define cufftSetStream				NAMED_FUNCTION(cufftSetStream)
#define cufftSetWorkArea			NAMED_FUNCTION(cufftSetWorkArea)
#define cufftExecC2C				NAMED_FUNCTION(cufftExecC2C)
#define cudnnCreate				NAMED_FUNCTION(cudnnCreate)
#define cudnnBatchNormalizationForwardInference NAMED_FUNCTION(cudnnBatchNormalizationForwardInference)
#endif

#define BYTES (1u << 20)
/* Operands of products, in `data`. */
#define OPERAND_A 0x40000u
#define OPERAND_B 0x60000u
#define OPERAND_C 0x80000u
#define OPERAND_D 0xa0000u

static CUdeviceptr w, W, data;
static CUstream a, b, stream;
static CUevent event;
static void *blas[2], *dnn;
static int plan[2], which;

static void *at(CUdeviceptr address)
{
	return (void *)(uintptr_t)address;
}

/* Each stream has operands of its own. */
static CUdeviceptr mine(void)
{
	return data + (stream == b ? 0x8000u : 0);
}

static int gemm(const char *step)
{
	static const float alpha = 2, beta = 3;
	static const double zero;
	if (strcmp(step, "gemm") == 0)
		return cublasSgemm_v2(blas[which], 0, 1, 64, 32, 16, &alpha, at(mine() + OPERAND_A), 65,
				      at(mine() + OPERAND_B), 33, &beta, at(mine() + OPERAND_C), 66);
	if (strcmp(step, "ex") == 0)
		return cublasGemmEx(blas[which], 0, 1, 64, 32, 16, &alpha, at(mine() + OPERAND_A), 1, 65,
				    at(mine() + OPERAND_B), 2, 33, &beta, at(mine() + OPERAND_C), 3, 66, 68, -1);
	if (strcmp(step, "axpy") == 0)
		return cublasSaxpy_v2(blas[which], 16, &alpha, at(mine() + OPERAND_A), 2, at(mine() + OPERAND_D), -1);
	if (strcmp(step, "scal") == 0)
		return cublasSscal_v2(blas[which], 16, &alpha, at(mine() + OPERAND_D), 1);
	if (strcmp(step, "fail") == 0)
		return cublasDgemm_v2(blas[which], 0, 0, 1, 1, 1, &zero, NULL, 1, NULL, 1, &zero, NULL, 1) != 13;
	if (strcmp(step, "copy") == 0)
		return cublasScopy_v2(blas[which], 2, at(data + which * 16384u), 1, at(data + which * 16384u + 8192),
				      1);
	if (strcmp(step, "lt") == 0 || strcmp(step, "LT") == 0)
		return cublasLtMatmul(blas[which], NULL, &alpha, NULL, NULL, NULL, NULL, &beta, NULL, NULL, NULL, NULL,
				      NULL, at(step[0] == 'l' ? w : W), BYTES, stream);
	return -1;
}

static int others(const char *step)
{
	if (strcmp(step, "fft") == 0 || strcmp(step, "FFT") == 0) {
		const int one = plan[step[0] == 'F'];
		cufftSetStream(one, stream);
		return cufftExecC2C(one, at(mine()), at(mine() + 0x20000u), -1);
	}
	if (strcmp(step, "area") == 0 || strcmp(step, "areas") == 0) {
		cufftSetWorkArea(plan[0], at(w));
		return cufftSetWorkArea(plan[1], at(step[4] ? W : w));
	}
	if (strcmp(step, "norm") == 0)
		return cudnnBatchNormalizationForwardInference(dnn, 1, NULL, NULL, NULL, at(data), NULL, at(data), NULL,
							       NULL, NULL, NULL, (void *)14, 1e-5);
	if (strcmp(step, "destroy") == 0) {
		cublasDestroy_v2(blas[which]);
		return cublasCreate_v2(&blas[which]) || cublasSetStream_v2(blas[which], stream);
	}
	return -1;
}

static int state(const char *step)
{
	if (strcmp(step, "a") == 0 || strcmp(step, "b") == 0) {
		stream = step[0] == 'a' ? a : b;
		return cublasSetStream_v2(blas[which], stream);
	}
	if (strcmp(step, "1") == 0 || strcmp(step, "2") == 0) {
		which = step[0] - '1';
		return cublasSetStream_v2(blas[which], stream);
	}
	if (strcmp(step, "w") == 0 || strcmp(step, "W") == 0)
		return cublasSetWorkspace_v2(blas[which], at(step[0] == 'w' ? w : W), BYTES);
	unsigned from, bytes;
	if (sscanf(step + 1, "+%u:%u", &from, &bytes) == 2) {
		const CUdeviceptr operand = data + 0x20000u * (unsigned)(step[0] - 'A' + 2);
		return (int)cuMemsetD8Async(operand + from, 0, bytes, stream);
	}
	if (strcmp(step, "in") == 0 || strcmp(step, "out") == 0)
		return (int)cuMemsetD8Async(step[0] == 'i' ? data + 2 * 1024 * 8 - 1 : data + 0x20000u, 0, 1, stream);
	if (strcmp(step, "set") == 0)
		return (int)cuMemsetD8Async(w, 0, BYTES, stream);
	if (strcmp(step, "wait") == 0)
		return cuEventRecord(event, a) || cuStreamWaitEvent(b, event, 0);
	return -1;
}

static int start(void)
{
	CUdevice device;
	CUcontext context;
	if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
	    cuCtxSetCurrent(context) || cuMemAlloc(&w, BYTES) || cuMemAlloc(&W, BYTES) || cuMemAlloc(&data, BYTES) ||
	    cuStreamCreate(&a, CU_STREAM_NON_BLOCKING) || cuStreamCreate(&b, CU_STREAM_NON_BLOCKING) ||
	    cuEventCreate(&event, CU_EVENT_DISABLE_TIMING))
		return 98;
	stream = a;
	return cublasCreate_v2(&blas[0]) || cublasCreate_v2(&blas[1]) || cublasSetStream_v2(blas[0], a) ||
	       cufftPlan1d(&plan[0], 1024, 0x29, 2) || cufftPlan1d(&plan[1], 1024, 0x29, 2) || cudnnCreate(&dnn);
}

#ifdef OBJECT
__attribute__((visibility("default"))) int run(int argc, char **argv);
int run(int argc, char **argv)
#else
int main(int argc, char **argv)
#endif
{
	int status = start();
	for (int i = 1; i < argc && !status; i++) {
		int result = gemm(argv[i]);
		result = result < 0 ? others(argv[i]) : result;
		result = result < 0 ? state(argv[i]) : result;
		if (result < 0)
			fprintf(stderr, "unknown step %s\n", argv[i]);
		status = result;
	}
	cuCtxSynchronize();
	return status;
}
