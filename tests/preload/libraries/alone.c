/* SPDX-License-Identifier: Apache-2.0 */
/* Asks whether cuBLAS and cuFFT are there, without any library: prints what a function returns that is none. */
#include <stdio.h>

int cublasCreate_v2(void **handle) __attribute__((weak));
int cufftExecC2C(int plan, void *in, void *out, int direction) __attribute__((weak));

int main(void)
{
	void *handle = NULL;
	if (!cublasCreate_v2 || !cufftExecC2C) {
		puts("none");
		return 0;
	}
	printf("%d %d %d\n", cublasCreate_v2(&handle), cufftExecC2C(1, NULL, NULL, -1), handle != NULL);
	return 0;
}
