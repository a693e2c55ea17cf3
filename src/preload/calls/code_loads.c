/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and libraries: loads with their images, kernels as they are handed out. */
#include "preload/platform/seldom.h"

#include "preload/intercept/contexts.h"
#include "preload/calls/custom.h"
#include "preload/intercept/function_table.h"
#include "preload/calls/code_image.h"
#include "preload/recorder/counted.h"

/* After a load: the image first, so that the record can name it.  The caller may free the image when we return. */
static void record_load(struct sw_call *call, CUresult status, uint64_t handle, const void *image, const char *path)
{
	uint32_t id = 0;
	struct sw_rec_code *r;

	if (status == CUDA_SUCCESS)
		id = image ? sw_image_describe(image, handle) : sw_image_describe_file(path, handle);
	sw_call_context(call, sw_context_here());
	r = sw_call_record_after(call, SW_REC_CODE_LOAD, sizeof *r, status);
	if (r && status == CUDA_SUCCESS) {
		r->handle = handle;
		r->image = id;
	}
	sw_call_publish(call);
	sw_call_leave(call, status);
}

/* cuModuleLoad(): the driver reads the image from a file. */
CUresult sw_custom_module_load(const struct sw_site *site, CUmodule *module, const char *path)
{
	__typeof__(&cuModuleLoad) real = (__typeof__(real))site->real;
	struct sw_call call;
	const bool on = sw_site_enter(&call, site, 0);
	const CUresult status = real(module, path);

	if (on)
		record_load(&call, status, SW_WORD(status == CUDA_SUCCESS ? *module : NULL), NULL, path);
	return status;
}

/* cuModuleLoadData(): the image lies in memory. */
CUresult sw_custom_module_load_data(const struct sw_site *site, CUmodule *module, const void *image)
{
	__typeof__(&cuModuleLoadData) real = (__typeof__(real))site->real;
	struct sw_call call;
	const bool on = sw_site_enter(&call, site, 0);
	const CUresult status = real(module, image);

	if (on)
		record_load(&call, status, SW_WORD(status == CUDA_SUCCESS ? *module : NULL), image, NULL);
	return status;
}

/* cuModuleLoadDataEx(): in memory, with options of the compiler, which are not recorded. */
CUresult sw_custom_module_load_data_ex(const struct sw_site *site, CUmodule *module, const void *image,
				       unsigned int num_options, CUjit_option *options, void **values)
{
	__typeof__(&cuModuleLoadDataEx) real = (__typeof__(real))site->real;
	struct sw_call call;
	const bool on = sw_site_enter(&call, site, 0);
	const CUresult status = real(module, image, num_options, options, values);

	if (on)
		record_load(&call, status, SW_WORD(status == CUDA_SUCCESS ? *module : NULL), image, NULL);
	return status;
}

/* cuLibraryLoadData(): the image of a library lies in memory. */
CUresult sw_custom_library_load_data(const struct sw_site *site, CUlibrary *library, const void *code,
				     CUjit_option *jit_options, void **jit_values, unsigned int num_jit,
				     CUlibraryOption *options, void **values, unsigned int num_options)
{
	__typeof__(&cuLibraryLoadData) real = (__typeof__(real))site->real;
	struct sw_call call;
	const bool on = sw_site_enter(&call, site, 0);
	const CUresult status = real(library, code, jit_options, jit_values, num_jit, options, values, num_options);

	if (on)
		record_load(&call, status, SW_WORD(status == CUDA_SUCCESS ? *library : NULL), code, NULL);
	return status;
}

/* cuLibraryLoadFromFile(): the driver reads the image from a file. */
CUresult sw_custom_library_load_file(const struct sw_site *site, CUlibrary *library, const char *path,
				     CUjit_option *jit_options, void **jit_values, unsigned int num_jit,
				     CUlibraryOption *options, void **values, unsigned int num_options)
{
	__typeof__(&cuLibraryLoadFromFile) real = (__typeof__(real))site->real;
	struct sw_call call;
	const bool on = sw_site_enter(&call, site, 0);
	const CUresult status = real(library, path, jit_options, jit_values, num_jit, options, values, num_options);

	if (on)
		record_load(&call, status, SW_WORD(status == CUDA_SUCCESS ? *library : NULL), NULL, path);
	return status;
}

/*
 * Before an unload. The entries of the functions are removed whether or not the call is recorded: if a handle is reused
 * with another parameter layout, we would read beyond the arrays of its next launch.
 */
static bool record_unload(struct sw_call *call, const struct sw_site *site, uint64_t handle)
{
	const uint32_t image = sw_functions_unload(handle);
	struct sw_rec_code *r;

	if (!sw_site_enter(call, site, 0))
		return false;
	sw_call_context(call, sw_context_here());
	r = sw_call_record(call, SW_REC_CODE_UNLOAD, sizeof *r);
	if (r) {
		r->handle = handle;
		r->image = image;
	}
	sw_call_publish(call);
	return true;
}

/* cuModuleUnload(): its record comes before the call, as another thread may get the handle again before it returns. */
CUresult sw_custom_module_unload(const struct sw_site *site, CUmodule module)
{
	__typeof__(&cuModuleUnload) real = (__typeof__(real))site->real;
	struct sw_call call;
	const bool on = record_unload(&call, site, SW_WORD(module));
	const CUresult status = real(module);

	sw_counted_unloaded();
	if (on)
		sw_call_leave(&call, status);
	return status;
}

/* cuLibraryUnload(), as sw_custom_module_unload(). */
CUresult sw_custom_library_unload(const struct sw_site *site, CUlibrary library)
{
	__typeof__(&cuLibraryUnload) real = (__typeof__(real))site->real;
	struct sw_call call;
	const bool on = record_unload(&call, site, SW_WORD(library));
	const CUresult status = real(library);

	sw_counted_unloaded();
	if (on)
		sw_call_leave(&call, status);
	return status;
}

/* Records after the call that code was used in a way that may load it (lazy loading): that can wait for the device. */
static void record_touch(struct sw_call *call, CUresult status, uint64_t handle)
{
	struct sw_rec_code *r;

	sw_call_context(call, sw_context_here());
	r = sw_call_record_after(call, SW_REC_CODE_TOUCH, sizeof *r, status);
	if (r)
		r->handle = handle;
	sw_call_publish(call);
	sw_call_leave(call, status);
}

/* cuLibraryGetKernel(). */
CUresult sw_custom_library_get_kernel(const struct sw_site *site, CUkernel *kernel, CUlibrary library, const char *name)
{
	__typeof__(&cuLibraryGetKernel) real = (__typeof__(real))site->real;
	struct sw_call call;
	const bool on = sw_site_enter(&call, site, 0);
	const CUresult status = real(kernel, library, name);

	/* Also when it is not recorded: a launch must know what kind of handle this is. */
	if (status == CUDA_SUCCESS)
		sw_function_is_kernel(*kernel, library);
	if (on)
		record_touch(&call, status, SW_WORD(status == CUDA_SUCCESS ? *kernel : NULL));
	return status;
}

/* cuLibraryEnumerateKernels(): all kernels of a library, as handles. */
CUresult sw_custom_library_enumerate(const struct sw_site *site, CUkernel *kernels, unsigned int count,
				     CUlibrary library)
{
	__typeof__(&cuLibraryEnumerateKernels) real = (__typeof__(real))site->real;
	struct sw_call call;
	const bool on = sw_site_enter(&call, site, 0);
	const CUresult status = real(kernels, count, library);
	__typeof__(&cuLibraryGetKernelCount) ask = SW_REAL(cuLibraryGetKernelCount);
	unsigned int there = 0;

	/* The driver fills as much of the array as it has kernels: what lies beyond is no handle. */
	if (status != CUDA_SUCCESS || !ask || ask(&there, library) != CUDA_SUCCESS)
		there = 0;
	for (unsigned int i = 0; i < there && i < count; i++)
		sw_function_is_kernel(kernels[i], library);
	if (on)
		record_touch(&call, status, SW_WORD(library));
	return status;
}

/* cuLibraryGetModule(): from now on handles of the module belong to the library's image. */
CUresult sw_custom_library_get_module(const struct sw_site *site, CUmodule *module, CUlibrary library)
{
	__typeof__(&cuLibraryGetModule) real = (__typeof__(real))site->real;
	struct sw_call call;
	const bool on = sw_site_enter(&call, site, 0);
	const CUresult status = real(module, library);

	if (status == CUDA_SUCCESS)
		sw_functions_module_of(SW_WORD(*module), SW_WORD(library));
	if (on)
		record_touch(&call, status, SW_WORD(library));
	return status;
}

/* cuKernelGetFunction(): the function of a kernel in the current context; its module belongs to the kernel's
   library. */
CUresult sw_custom_kernel_get_function(const struct sw_site *site, CUfunction *function, CUkernel kernel)
{
	__typeof__(&cuKernelGetFunction) real = (__typeof__(real))site->real;
	__typeof__(&cuFuncGetModule) ask = SW_REAL(cuFuncGetModule);
	struct sw_call call;
	const bool on = sw_site_enter(&call, site, 0);
	if (on)
		sw_call_context(&call, sw_context_here());
	const bool known = on && sw_counted_knows(&call, SW_WORD(kernel));
	const CUresult status = real(function, kernel);
	CUmodule module = NULL;

	if (status == CUDA_SUCCESS && ask && ask(&module, *function) == CUDA_SUCCESS)
		sw_functions_module_of(SW_WORD(module), sw_functions_library_of(kernel));
	/* cudart asks for it in each question about occupancy. */
	if (known && status == CUDA_SUCCESS && sw_counted_question(&call, SW_WORD(kernel)))
		return status;
	if (on)
		record_touch(&call, status, SW_WORD(kernel));
	return status;
}
