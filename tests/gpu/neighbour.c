/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for tests/gpu/neighbours, by the driver's interface alone, so that any compiler, sanitizer and loader can
 * be tried with it:  neighbour [deepbind | dlmopen]
 *
 * Prints what a copy brought back.  `deepbind`: this program's object that uses CUDA is loaded with RTLD_DEEPBIND;
 * `dlmopen`: into a namespace of its own.  The object is this source again, compiled with -DOBJECT.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 25
#define BYTES  65536

#ifdef OBJECT
#define CALL(name, types, ...)                                                                                         \
	do {                                                                                                           \
		CUresult(*function) types;                                                                             \
		*(void **)&function = dlsym(driver, #name);                                                            \
		const CUresult result = function ? function(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND;                       \
		if (result != CUDA_SUCCESS) {                                                                          \
			fprintf(stderr, "%s: %d\n", #name, result);                                                    \
			return 1;                                                                                      \
		}                                                                                                      \
	} while (0)

static const char code[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry add_one(.param .u64 p)\n{\n.reg .b32 %r<5>;\n.reg .b64 %d<4>;\n"
	"ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d2, %r1, 4;\nadd.s64 %d3, %d1, %d2;\n"
	"ld.global.u32 %r2, [%d3];\nadd.u32 %r3, %r2, 1;\nst.global.u32 [%d3], %r3;\nret;\n}\n";

int use_cuda(void)
{
	CUcontext context;
	CUstream stream;
	CUmodule module;
	CUfunction add_one;
	CUdeviceptr p;
	static unsigned host[BYTES / 4];
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	CALL(cuInit, (unsigned), 0);
	CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0);
	CALL(cuCtxSetCurrent, (CUcontext), context);
	CALL(cuModuleLoadData, (CUmodule *, const void *), &module, code);
	CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &add_one, module, "add_one");
	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &p, BYTES);
	CALL(cuStreamCreate, (CUstream *, unsigned), &stream, CU_STREAM_NON_BLOCKING);
	void *arguments[] = {&p};
	for (int i = 0; i < ROUNDS; i++) {
		CALL(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream), p, 0, BYTES, stream);
		CALL(cuLaunchKernel,
		     (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
		      void **, void **),
		     add_one, 1, 1, 1, 256, 1, 1, 0, stream, arguments, NULL);
		CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), host, p, BYTES, stream);
		CALL(cuStreamSynchronize, (CUstream), stream);
	}
	char *copy = malloc(BYTES); /* for the allocators */
	memcpy(copy, host, BYTES);
	printf("%u %u\n", ((unsigned *)copy)[0], ((unsigned *)copy)[300]);
	free(copy);
	return 0;
}
#else
int main(int count, char **words)
{
	char path[4096];
	const char *how = count > 1 ? words[1] : "";
	snprintf(path, sizeof path, "%s.so", words[0]);
	void *object = strcmp(how, "dlmopen") == 0 ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW)
						   : dlopen(path, RTLD_NOW | (*how ? RTLD_DEEPBIND : 0));
	int (*use_cuda)(void);
	if (!object) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&use_cuda = dlsym(object, "use_cuda");
	return use_cuda();
}
#endif
