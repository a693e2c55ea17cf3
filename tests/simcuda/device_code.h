/* SPDX-License-Identifier: Apache-2.0 */
/* Device code as nvcc registers it, made by hand: the tests need no nvcc. */
#ifndef TESTS_SIMCUDA_DEVICE_CODE_H
#define TESTS_SIMCUDA_DEVICE_CODE_H

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
			    uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
		       int constant, int global);

#define FRESH 32 /* kernels for first launches */

static char spin_stub[1], quick_stub[1], struct_stub[1], fresh_stub[FRESH], symbol[1024];
static char device_code_text[8192];

/* .nvFatBinSegment: magic, version, code, nothing. */
static struct {
	int magic, version;
	const void *code, *none;
} device_code_wrapper = {0x466243b1, 1, device_code_text, NULL};

static inline void register_device_code(void)
{
	static char names[FRESH][16];
	size_t n = (size_t)snprintf(device_code_text, sizeof device_code_text,
				    ".version 8.0\n.target sm_90\n.address_size 64\n"
				    ".visible .global .align 4 .b8 symbol[1024];\n"
				    ".visible .entry spin(.param .u64 p, .param .u32 n) { ret; }\n"
				    ".visible .entry quick(.param .u64 p, .param .u32 n) { ret; }\n"
				    ".visible .entry structure(.param .align 8 .b8 s[16]) { ret; }\n");
	for (int i = 0; i < FRESH; i++) {
		snprintf(names[i], sizeof names[i], "fresh%d", i);
		n += (size_t)snprintf(device_code_text + n, sizeof device_code_text - n,
				      ".visible .entry %s() { ret; }\n", names[i]);
	}
	void **handle = __cudaRegisterFatBinary(&device_code_wrapper);
	__cudaRegisterFunction(handle, spin_stub, NULL, "spin", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(handle, quick_stub, NULL, "quick", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(handle, struct_stub, NULL, "structure", -1, NULL, NULL, NULL, NULL, NULL);
	for (int i = 0; i < FRESH; i++)
		__cudaRegisterFunction(handle, &fresh_stub[i], NULL, names[i], -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterVar(handle, symbol, NULL, "symbol", 0, sizeof symbol, 0, 0);
	__cudaRegisterFatBinaryEnd(handle);
}

/* A table of measured facts in the source tree. */
static inline FILE *open_facts(const char *name)
{
	char path[4096];
	const char *top = getenv("top_srcdir");
	snprintf(path, sizeof path, "%s/tests/simcuda/%s", top ? top : ".", name);
	FILE *facts = fopen(path, "r");
	if (!facts) {
		perror(path);
		exit(1);
	}
	return facts;
}

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		cudaError_t check_error = (call);                                                                      \
		if (check_error) {                                                                                     \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                                  \
				cudaGetErrorString(check_error));                                                      \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

#endif
