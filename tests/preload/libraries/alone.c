/* SPDX-License-Identifier: Apache-2.0 */
/* Asks whether cuBLAS and cuFFT are there, without any library: prints whether a look-up finds one, with which error,
   and what a function returns that is none. */
#include <dlfcn.h>
#include <stdio.h>

int cublasCreate_v2(void **handle) __attribute__((weak));
int cufftExecC2C(int plan, void *in, void *out, int direction) __attribute__((weak));

int main(void)
{
	void *handle = NULL, *found = dlsym(RTLD_DEFAULT, "cublasSgemm_v2");
	const char *error = dlerror();
	printf("%s%s%s ", found ? "found" : "not found", error ? ", " : "", error ? "an error" : "");
	found = dlsym(dlopen(NULL, RTLD_NOW), "cublasSgemm_v2");
	printf("%s; ", found ? "found" : "not found");
	if (!cublasCreate_v2 || !cufftExecC2C) {
		puts("none");
		return 0;
	}
	printf("%d %d %d\n", cublasCreate_v2(&handle), cufftExecC2C(1, NULL, NULL, -1), handle != NULL);
	return 0;
}
