/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcublas.so, libcublasLt.so, libcufft.so and libcudnn.so for machines without them: they compute nothing, and use
 * CUDA so that only their documentation says what they touch.  Each kernel gets a pointer to its arguments in device
 * memory.  Functions of many arguments check that all of them came as the program passed them.
 */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
			  ".visible .entry gemm_kernel(.param .u64 a) {\n"
			  ".reg .b64 %rd<4>;\n"
			  "ld.param.u64 %rd1, [a];\n"
			  "ld.global.u64 %rd2, [%rd1];\n"
			  "ld.global.u64 %rd3, [%rd2];\n"
			  "st.global.u64 [%rd2+8], %rd3;\n"
			  "ret;\n}\n"
			  ".visible .entry copy_kernel(.param .u64 x, .param .u64 y) {\n"
			  ".reg .b64 %rd<4>;\n"
			  "ld.param.u64 %rd1, [x];\n"
			  "ld.param.u64 %rd2, [y];\n"
			  "ld.global.u64 %rd3, [%rd1];\n"
			  "st.global.u64 [%rd2], %rd3;\n"
			  "ret;\n}\n"
			  /* Where it writes depends on data. */
			  ".visible .entry scal_kernel(.param .u64 x) {\n"
			  ".reg .b32 %r<2>;\n"
			  ".reg .b64 %rd<4>;\n"
			  "ld.param.u64 %rd1, [x];\n"
			  "ld.global.u32 %r1, [%rd1];\n"
			  "mul.wide.u32 %rd2, %r1, 4;\n"
			  "add.u64 %rd3, %rd1, %rd2;\n"
			  "st.global.u32 [%rd3], %r1;\n"
			  "ret;\n}\n"
			  /* Where it writes depends on data, and it follows a pointer in memory. */
			  ".visible .entry axpy_kernel(.param .u64 a, .param .u64 y) {\n"
			  ".reg .b64 %rd<6>;\n"
			  "ld.param.u64 %rd1, [a];\n"
			  "ld.param.u64 %rd2, [y];\n"
			  "ld.global.u64 %rd3, [%rd1];\n"
			  "ld.global.u64 %rd4, [%rd3];\n"
			  "add.u64 %rd5, %rd2, %rd4;\n"
			  "st.global.u64 [%rd5], %rd4;\n"
			  "ret;\n}\n";

#define OK(call)                                                                                                       \
	do                                                                                                             \
		if ((call) != CUDA_SUCCESS) {                                                                          \
			fprintf(stderr, "fake library: %s failed\n", #call);                                           \
			_exit(99);                                                                                     \
		}                                                                                                      \
	while (0)

/* An argument did not come as it was passed. */
#define CAME(condition)                                                                                                \
	do                                                                                                             \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "fake library: %s: !(%s)\n", __func__, #condition);                            \
			_exit(98);                                                                                     \
		}                                                                                                      \
	while (0)

struct handle {
	CUstream stream;
	CUdeviceptr arguments, own;
	CUmodule module;
	const int *library; /* whose it is */
};
static int here;

static void *make(void)
{
	struct handle *handle = calloc(1, sizeof *handle);
	OK(cuModuleLoadData(&handle->module, ptx));
	OK(cuMemAlloc(&handle->arguments, 4096));
	handle->library = &here;
	return handle;
}

static int launch(void *p, const char *kernel, void **parameters)
{
	struct handle *handle = p;
	CUfunction function;
	if (handle->library != &here) {
		fputs("fake library: a handle of another copy\n", stderr);
		_exit(95);
	}
	OK(cuModuleGetFunction(&function, handle->module, kernel));
	OK(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, handle->stream, parameters, NULL));
	return 0;
}

static int opaque(void *handle)
{
	return launch(handle, "gemm_kernel", (void *[]){&((struct handle *)handle)->arguments});
}

/* ---- cuBLAS ------------------------------------------------------------------------------------------------------ */

int cublasCreate_v2(void **handle);
int cublasCreate_v2(void **handle)
{
	*handle = make();
	return 0;
}

int cublasDestroy_v2(void *handle);
int cublasDestroy_v2(void *handle)
{
	free(handle);
	return 0;
}

int cublasSetStream_v2(void *handle, void *stream);
int cublasSetStream_v2(void *handle, void *stream)
{
	((struct handle *)handle)->stream = stream;
	return 0;
}

int cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes);
int cublasSetWorkspace_v2(void *handle, void *workspace, size_t bytes)
{
	(void)handle;
	return (uintptr_t)workspace % 256 && bytes ? 7 : 0;
}

int cublasSgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda,
		   const float *b, int ldb, const float *beta, float *c, int ldc);
int cublasSgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda,
		   const float *b, int ldb, const float *beta, float *c, int ldc)
{
	CAME(ta == 0 && tb == 1 && m == 64 && n == 32 && k == 16 && *alpha == 2 && *beta == 3);
	CAME(a && lda == 65 && b && ldb == 33 && c && ldc == 66);
	return opaque(handle);
}

/* A call whose kernel's code shows everything. */
int cublasScopy_v2(void *handle, int n, const float *x, int incx, float *y, int incy);
int cublasScopy_v2(void *handle, int n, const float *x, int incx, float *y, int incy)
{
	CAME(n == 2 && incx == 1 && incy == 1);
	return launch(handle, "copy_kernel", (void *[]){&x, &y});
}

/* A call whose kernel's code shows only where an access begins. */
int cublasSaxpy_v2(void *handle, int n, const float *alpha, const float *x, int incx, float *y, int incy);
int cublasSaxpy_v2(void *handle, int n, const float *alpha, const float *x, int incx, float *y, int incy)
{
	CAME(n == 16 && *alpha == 2 && x && incx == 2 && incy == -1);
	return launch(handle, "axpy_kernel", (void *[]){&((struct handle *)handle)->arguments, &y});
}

int cublasSscal_v2(void *handle, int n, const float *alpha, float *x, int incx);
int cublasSscal_v2(void *handle, int n, const float *alpha, float *x, int incx)
{
	CAME(n == 16 && *alpha == 2 && incx == 1);
	return launch(handle, "scal_kernel", (void *[]){&x});
}

/* Fails. */
int cublasDgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const double *alpha, const double *a, int lda,
		   const double *b, int ldb, const double *beta, double *c, int ldc);
int cublasDgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const double *alpha, const double *a, int lda,
		   const double *b, int ldb, const double *beta, double *c, int ldc)
{
	(void)handle, (void)ta, (void)tb, (void)m, (void)n, (void)k, (void)alpha, (void)a, (void)lda, (void)b;
	(void)ldb, (void)beta, (void)c, (void)ldc;
	return 13;
}

/* Nineteen arguments, and calls another one of the library. */
int cublasGemmEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int at, int lda,
		 const void *b, int bt, int ldb, const void *beta, void *c, int ct, int ldc, int compute, int algo);
int cublasGemmEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a, int at, int lda,
		 const void *b, int bt, int ldb, const void *beta, void *c, int ct, int ldc, int compute, int algo)
{
	CAME(at == 1 && bt == 2 && ct == 3 && compute == 68 && algo == -1);
	return cublasSgemm_v2(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* ---- cuBLASLt ---------------------------------------------------------------------------------------------------- */

int cublasLtMatmul(void *handle, void *desc, const void *alpha, const void *a, void *ad, const void *b, void *bd,
		   const void *beta, const void *c, void *cd, void *d, void *dd, const void *algo, void *workspace,
		   size_t bytes, CUstream stream);
int cublasLtMatmul(void *handle, void *desc, const void *alpha, const void *a, void *ad, const void *b, void *bd,
		   const void *beta, const void *c, void *cd, void *d, void *dd, const void *algo, void *workspace,
		   size_t bytes, CUstream stream)
{
	(void)desc, (void)alpha, (void)a, (void)ad, (void)b, (void)bd, (void)beta, (void)c, (void)cd, (void)d;
	(void)dd, (void)algo;
	CAME(workspace && bytes == 1 << 20);
	((struct handle *)handle)->stream = stream;
	return opaque(handle);
}

/* ---- cuFFT: plans are numbers ------------------------------------------------------------------------------------ */

static struct handle *plans[16];
static int n_plans;

int cufftPlan1d(int *plan, int nx, int type, int batch);
int cufftPlan1d(int *plan, int nx, int type, int batch)
{
	CAME(nx == 1024 && type == 0x29 && batch == 2);
	plans[n_plans] = make();
	OK(cuMemAlloc(&plans[n_plans]->own, 1 << 16));
	*plan = n_plans++;
	return 0;
}

int cufftGetSize(int plan, size_t *bytes);
int cufftGetSize(int plan, size_t *bytes)
{
	(void)plan;
	*bytes = 1 << 16;
	return 0;
}

int cufftSetStream(int plan, CUstream stream);
int cufftSetStream(int plan, CUstream stream)
{
	plans[plan]->stream = stream;
	return 0;
}

int cufftSetWorkArea(int plan, void *area);
int cufftSetWorkArea(int plan, void *area)
{
	(void)plan, (void)area;
	return 0;
}

int cufftExecC2C(int plan, void *in, void *out, int direction);
int cufftExecC2C(int plan, void *in, void *out, int direction)
{
	CAME(in && out && direction == -1);
	return opaque(plans[plan]);
}

/* ---- cuDNN: an argument in a vector register --------------------------------------------------------------------- */

int cudnnCreate(void **handle);
int cudnnCreate(void **handle)
{
	*handle = make();
	return 0;
}

int cudnnBatchNormalizationForwardInference(void *handle, int mode, const void *alpha, const void *beta, void *xd,
					    const void *x, void *yd, void *y, void *bd, const void *scale,
					    const void *bias, const void *mean, const void *variance, double epsilon);
int cudnnBatchNormalizationForwardInference(void *handle, int mode, const void *alpha, const void *beta, void *xd,
					    const void *x, void *yd, void *y, void *bd, const void *scale,
					    const void *bias, const void *mean, const void *variance, double epsilon)
{
	(void)alpha, (void)beta, (void)xd, (void)x, (void)yd, (void)y, (void)bd, (void)scale, (void)bias, (void)mean;
	CAME(mode == 1 && variance == (void *)14 && epsilon == 1e-5);
	return opaque(handle);
}
