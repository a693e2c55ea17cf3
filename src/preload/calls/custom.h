/* SPDX-License-Identifier: Apache-2.0 */
/* Wrappers that leave more than one record, or whose record needs more than the table's row says. */
#ifndef SW_PRELOAD_CALLS_CUSTOM_H
#define SW_PRELOAD_CALLS_CUSTOM_H

#include "preload/intercept/hook.h"

/* launch.c */
CUresult sw_custom_launch_ex(const struct sw_site *site, const CUlaunchConfig *config, CUfunction f, void **params,
			     void **extra);
CUresult sw_custom_launch_multi_device(const struct sw_site *site, CUDA_LAUNCH_PARAMS *list, unsigned int devices,
				       unsigned int flags);
CUresult sw_custom_launch_old(const struct sw_site *site, CUfunction f);
CUresult sw_custom_launch_grid(const struct sw_site *site, CUfunction f, int width, int height);
CUresult sw_custom_launch_grid_async(const struct sw_site *site, CUfunction f, int width, int height, CUstream stream);

/* host_func.c */
CUresult sw_custom_launch_host_func(const struct sw_site *site, CUstream stream, CUhostFn fn, void *data);
CUresult sw_custom_launch_host_func_v2(const struct sw_site *site, CUstream stream, CUhostFn fn, void *data,
				       unsigned int mode);
CUresult sw_custom_add_callback(const struct sw_site *site, CUstream stream, CUstreamCallback fn, void *data,
				unsigned int flags);

/* batch.c */
CUresult sw_custom_copy_batch(const struct sw_site *site, CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
			      size_t count, CUmemcpyAttributes *attrs, size_t *attrs_idxs, size_t num_attrs,
			      size_t *fail_idx, CUstream stream);
CUresult sw_custom_copy_batch_v2(const struct sw_site *site, CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
				 size_t count, CUmemcpyAttributes *attrs, size_t *attrs_idxs, size_t num_attrs,
				 CUstream stream);
CUresult sw_custom_copy_3d_batch(const struct sw_site *site, size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
				 size_t *fail_idx, unsigned long long flags, CUstream stream);
CUresult sw_custom_copy_3d_batch_v2(const struct sw_site *site, size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
				    unsigned long long flags, CUstream stream);
CUresult sw_custom_copy_attributes(const struct sw_site *site, CUdeviceptr dst, CUdeviceptr src, size_t bytes,
				   CUmemcpyAttributes *attributes, CUstream stream);
CUresult sw_custom_copy_3d_attributes(const struct sw_site *site, CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags,
				      CUstream stream);
CUresult sw_custom_prefetch_batch(const struct sw_site *site, CUdeviceptr *at, size_t *sizes, size_t count,
				  CUmemLocation *locations, size_t *location_idxs, size_t num_locations,
				  unsigned long long flags, CUstream stream);
CUresult sw_custom_discard_batch(const struct sw_site *site, CUdeviceptr *at, size_t *sizes, size_t count,
				 unsigned long long flags, CUstream stream);
CUresult sw_custom_discard_prefetch_batch(const struct sw_site *site, CUdeviceptr *at, size_t *sizes, size_t count,
					  CUmemLocation *locations, size_t *location_idxs, size_t num_locations,
					  unsigned long long flags, CUstream stream);
CUresult sw_custom_stream_batch(const struct sw_site *site, CUstream stream, unsigned int count,
				CUstreamBatchMemOpParams *ops, unsigned int flags);

/* code_loads.c */
CUresult sw_custom_module_load(const struct sw_site *site, CUmodule *module, const char *path);
CUresult sw_custom_module_load_data(const struct sw_site *site, CUmodule *module, const void *image);
CUresult sw_custom_module_load_data_ex(const struct sw_site *site, CUmodule *module, const void *image,
				       unsigned int num_options, CUjit_option *options, void **values);
CUresult sw_custom_library_load_data(const struct sw_site *site, CUlibrary *library, const void *code,
				     CUjit_option *jit_options, void **jit_values, unsigned int num_jit,
				     CUlibraryOption *options, void **values, unsigned int num_options);
CUresult sw_custom_library_load_file(const struct sw_site *site, CUlibrary *library, const char *path,
				     CUjit_option *jit_options, void **jit_values, unsigned int num_jit,
				     CUlibraryOption *options, void **values, unsigned int num_options);
CUresult sw_custom_module_unload(const struct sw_site *site, CUmodule module);
CUresult sw_custom_library_unload(const struct sw_site *site, CUlibrary library);
CUresult sw_custom_library_get_kernel(const struct sw_site *site, CUkernel *kernel, CUlibrary library,
				      const char *name);
CUresult sw_custom_library_get_module(const struct sw_site *site, CUmodule *module, CUlibrary library);
CUresult sw_custom_kernel_get_function(const struct sw_site *site, CUfunction *function, CUkernel kernel);
CUresult sw_custom_library_enumerate(const struct sw_site *site, CUkernel *kernels, unsigned int count,
				     CUlibrary library);

/* texture_objects.c */
CUresult sw_custom_tensor_map_replace(const struct sw_site *site, CUtensorMap *map, void *address);
CUresult sw_custom_tensor_map_class(const struct sw_site *site, CUtensorMap *map, CUtensorMapAllocClass class,
				    CUtensorMapAllocClass *out);

/* annotate.c */
CUresult sw_custom_profiler_start(const struct sw_site *site);
CUresult sw_custom_profiler_stop(const struct sw_site *site);

/* host_func.c */
CUresult sw_custom_begin_recapture(const struct sw_site *site, CUstream stream, CUstreamCaptureMode mode, CUgraph graph,
				   CUgraphRecaptureCallback callback, void *data);

#endif
