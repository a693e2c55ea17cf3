/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated CUDA runtime. It reaches the driver as the real one does: one dlsym("cuGetProcAddress_v2") on a
 * dlopen'ed libcuda.so.1, then one request per entry point, version and flag. Hooks at the real boundary therefore hook
 * this one too.
 */
#ifndef SW_SIMCUDA_RUNTIME_RT_H
#define SW_SIMCUDA_RUNTIME_RT_H

#include <cuda_runtime_api.h>

/* The driver's types, without the renaming macros. */
#define __CUDA_API_VERSION_INTERNAL 1
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sw_rt_driver {
#define SW_RT_ENTRY(name, version) PFN_##name##_v##version name;
#include "simcuda/runtime/driver_versions.def"
};

/* The entry points for this call: legacy or per-thread default stream (twins.c). */
extern __thread const struct sw_rt_driver *sw_rt_d;

/* Makes the driver ready and a context current in this thread. */
cudaError_t sw_rt_ready(void);
/* Loads the driver only, for calls that need no context. */
cudaError_t sw_rt_load(void);
/* Remembers an error as this thread's last one and returns it. */
cudaError_t sw_rt_result(cudaError_t error);
/* Says the name once and fails. */
cudaError_t sw_rt_unsupported(const char *name);
/* The device of this thread, and the primary context of any. */
int sw_rt_device(void);
cudaError_t sw_rt_primary(int device, CUcontext *out);

/* The device-side kernel of a host stub function, or of what is a handle already. */
cudaError_t sw_rt_kernel(const void *function, CUkernel *out);
/* Address and size of a registered variable; one cuLibraryGetGlobal. */
cudaError_t sw_rt_symbol(const void *symbol, CUdeviceptr *address, size_t *bytes);

/* The driver's form of a 3D copy. */
cudaError_t sw_rt_volume(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *out);
/* Memory types of the two ends of a copy of that kind; false: there is no such kind. */
bool sw_rt_kinds(enum cudaMemcpyKind kind, CUmemorytype *dst, CUmemorytype *src);

/* Bytes of an element; one cuArray3DGetDescriptor. */
cudaError_t sw_rt_element(cudaArray_const_t array, size_t *bytes);

#define SW_RT_ENTER                                                                                                    \
	do {                                                                                                           \
		cudaError_t sw_rt_entered = sw_rt_ready();                                                             \
		if (sw_rt_entered)                                                                                     \
			return sw_rt_result(sw_rt_entered);                                                            \
	} while (0)

/* Driver and runtime number the errors that they share alike (CUDA Runtime API, "Error Handling"). */
#define SW_RT_CALL(call) return sw_rt_result((cudaError_t)(call))

/* A function that is one driver call: enter, call, remember the error. */
#define SW_RT_FORWARD(name, params, call)                                                                              \
	cudaError_t name params                                                                                        \
	{                                                                                                              \
		SW_RT_ENTER;                                                                                           \
		SW_RT_CALL(sw_rt_d->call);                                                                             \
	}

#endif
