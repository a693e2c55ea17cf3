/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules and libraries: named kernels and variables of a code image.
 *
 * Loading is lazy as in the driver since CUDA 12.2: code goes to the device at the first use of a kernel, and that
 * holds back the other streams (measured on H200, driver 580.159.04, CUDA 13.0: "first launch of a kernel, on nb2 (lazy
 * load)", "first cudaFuncGetAttributes of a kernel").  CUDA_MODULE_LOADING=EAGER loads at once.
 */
#include "simcuda/modules/module.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sw_sim_function *sw_sim_function_get(const void *handle)
{
	return sw_sim_object_get(handle, SW_SIM_FUNCTION);
}

void sw_sim_function_load(struct sw_sim_function *f, struct sw_sim_ctx *ctx)
{
	if (f->loaded)
		return;
	f->loaded = true;
	if (sw_sim.eager)
		return;
	/* The host's share of it: 0.10 to 0.15 ms in the measurements named above. */
	nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	sw_sim_ctx_barrier(ctx);
}

static struct sw_sim_function *function_add(struct sw_sim_module *m, const char *name)
{
	struct sw_sim_function *f = sw_calloc(1, sizeof *f);
	f->name = sw_strdup(name);
	f->module = m;
	f->ns = sw_sim_duration_of(name);
	f->max_dynamic_shared = 48 << 10;
	f->carveout = -1;
	sw_sim_object_add(f, SW_SIM_FUNCTION, NULL);
	*sw_vec_push(&m->functions) = f;
	return f;
}

void sw_sim_module_kernel(struct sw_sim_module *m, const char *name, size_t params, const struct sw_param *param,
			  size_t param_bytes)
{
	struct sw_sim_function *f = function_add(m, name);
	f->known = true;
	f->params = params;
	f->param_bytes = param_bytes;
	f->param = sw_calloc(params + 1, sizeof *f->param);
	if (params)
		memcpy(f->param, param, params * sizeof *param);
}

static struct sw_sim_module *load_module(enum sw_sim_kind kind, struct sw_sim_ctx *ctx, const void *image)
{
	struct sw_sim_module *m = sw_calloc(1, sizeof *m);
	sw_sim_object_add(m, kind, ctx);
	m->readable = sw_sim_image_read(m, image);
	return m;
}

static void unload_module(struct sw_sim_module *m)
{
	for (size_t i = 0; i < m->functions.n; i++) {
		sw_sim_object_remove(m->functions.at[i]);
		/* Graph nodes and pending launches may still name the function: the object stays, only its handle ends.
		 */
	}
	for (size_t i = 0; i < m->variables.n; i++) {
		struct sw_sim_variable *v = &m->variables.at[i];
		for (int d = 0; d < sw_sim.devices; d++) {
			struct sw_sim_alloc *a = v->address[d] ? sw_sim_alloc_find(v->address[d]) : NULL;
			if (a && a->fixed && a->base == v->address[d])
				sw_sim_alloc_release(a);
		}
		free(v->name);
		free(v->bytes);
	}
	free(m->functions.at);
	free(m->variables.at);
	sw_sim_object_remove(m);
	free(m);
}

static void unload_each(void *object, void *arg)
{
	(void)arg;
	unload_module(object);
}

static void forget_loaded(void *object, void *arg)
{
	struct sw_sim_module *m = object;
	const struct sw_sim_ctx *ctx = arg;
	for (size_t i = 0; i < m->functions.n; i++)
		m->functions.at[i]->loaded = false;
	/* The context's allocations are released with it, variables included. */
	for (size_t i = 0; i < m->variables.n; i++)
		m->variables.at[i].address[ctx->device->index] = 0;
}

void sw_sim_module_clear(struct sw_sim_ctx *ctx)
{
	sw_sim_object_each(SW_SIM_MODULE, ctx, unload_each, NULL);
	sw_sim_object_each(SW_SIM_LIBRARY, NULL, forget_loaded, ctx);
}

/* A kernel by name; where the image could not be read any name is believed. */
static struct sw_sim_function *find_kernel(struct sw_sim_module *m, const char *name)
{
	for (size_t i = 0; i < m->functions.n; i++)
		if (!strcmp(m->functions.at[i]->name, name))
			return m->functions.at[i];
	return m->readable ? NULL : function_add(m, name);
}

struct sw_sim_variable *sw_sim_module_variable(struct sw_sim_module *m, const char *name)
{
	for (size_t i = 0; i < m->variables.n; i++)
		if (!strcmp(m->variables.at[i].name, name))
			return &m->variables.at[i];
	return NULL;
}

static CUresult find_variable(struct sw_sim_module *m, const char *name, struct sw_sim_ctx *ctx, CUdeviceptr *address,
			      size_t *bytes)
{
	struct sw_sim_variable *v = sw_sim_module_variable(m, name);
	if (!v)
		return CUDA_ERROR_NOT_FOUND;
	uint64_t *placed = &v->address[ctx->device->index];
	if (!*placed) {
		struct sw_sim_alloc *a = sw_sim_alloc_device(ctx->device, v->size);
		if (!a)
			return CUDA_ERROR_OUT_OF_MEMORY;
		a->fixed = true;
		*placed = a->base;
		if (v->bytes)
			memcpy(sw_sim_backing(a->base), v->bytes, v->size);
	}
	if (address)
		*address = *placed;
	if (bytes)
		*bytes = v->size;
	return CUDA_SUCCESS;
}

/* ---- modules ---- */

CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	if (!out || !image)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUmodule)load_module(SW_SIM_MODULE, sw_sim_ctx_current(), image);
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, CUjit_option *options, void **values)
{
	(void)n, (void)options, (void)values;
	return cuModuleLoadData(out, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
	return cuModuleLoadData(out, image);
}

CUresult cuModuleLoad(CUmodule *out, const char *path)
{
	void *image = path ? sw_sim_image_file(path) : NULL;
	if (!image)
		return path ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
	CUresult result = cuModuleLoadData(out, image);
	free(image);
	return result;
}

CUresult cuModuleUnload(CUmodule handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_MODULE);
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	sw_sim_ctx_wait(sw_sim_ctx_current());
	unload_module(m);
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_MODULE);
	if (!m || !out || !name)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	struct sw_sim_function *f = find_kernel(m, name);
	if (!f)
		return CUDA_ERROR_NOT_FOUND;
	*out = (CUfunction)f;
	return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule handle, const char *name)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_MODULE);
	if (!m || !name)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	return find_variable(m, name, sw_sim_ctx_current(), address, bytes);
}

/* ---- libraries: modules without a context ---- */

CUresult cuLibraryLoadData(CUlibrary *out, const void *image, CUjit_option *jit, void **jit_values, unsigned jit_n,
			   CUlibraryOption *options, void **values, unsigned n)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	(void)jit, (void)jit_values, (void)jit_n, (void)options, (void)values, (void)n;
	if (!out || !image)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUlibrary)load_module(SW_SIM_LIBRARY, NULL, image);
	return CUDA_SUCCESS;
}

CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *jit, void **jit_values, unsigned jit_n,
			       CUlibraryOption *options, void **values, unsigned n)
{
	void *image = path ? sw_sim_image_file(path) : NULL;
	if (!image)
		return path ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
	CUresult result = cuLibraryLoadData(out, image, jit, jit_values, jit_n, options, values, n);
	free(image);
	return result;
}

CUresult cuLibraryUnload(CUlibrary handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_LIBRARY);
	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	unload_module(m);
	return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary handle, const char *name)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_LIBRARY);
	if (!m || !out || !name)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	struct sw_sim_function *f = find_kernel(m, name);
	if (!f)
		return CUDA_ERROR_NOT_FOUND;
	*out = (CUkernel)f;
	return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_LIBRARY);
	if (!m || !count)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*count = (unsigned)m->functions.n;
	return CUDA_SUCCESS;
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned n, CUlibrary handle)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	const struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_LIBRARY);
	if (!m || !kernels)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	for (size_t i = 0; i < n && i < m->functions.n; i++)
		kernels[i] = (CUkernel)m->functions.at[i];
	return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary handle, const char *name)
{
	SW_SIM_ENTER(SW_SIM_NEEDS_CTX);
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_LIBRARY);
	if (!m || !name)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	return find_variable(m, name, sw_sim_ctx_current(), address, bytes);
}

/* A managed variable: one allocation for all devices, made at the first question. */
CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary handle, const char *name)
{
	CUdeviceptr fresh;
	size_t size = 0;
	sw_sim_lock();
	struct sw_sim_module *m = sw_sim_object_get(handle, SW_SIM_LIBRARY);
	struct sw_sim_variable *v = m && name ? sw_sim_module_variable(m, name) : NULL;
	bool placed = v && v->managed;
	if (v)
		size = v->size;
	sw_sim_unlock();
	if (!v)
		return m ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
	CUresult result = placed ? CUDA_SUCCESS : cuMemAllocManaged(&fresh, size, CU_MEM_ATTACH_GLOBAL);
	if (result)
		return result;
	SW_SIM_ENTER(SW_SIM_NEEDS_INIT);
	if (!placed) {
		v->managed = fresh;
		if (v->bytes)
			memcpy((void *)(uintptr_t)fresh, v->bytes, size);
	}
	if (address)
		*address = v->managed;
	if (bytes)
		*bytes = size;
	return CUDA_SUCCESS;
}
