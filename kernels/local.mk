# CUDA programs, one for each case, each with its fixed twin.  Built where nvcc is, for the tests of tests/kernels.
KERNELS_SHARED = \
	raw_kernel_kernel raw_copy_kernel raw_kernel_copy raw_copy_copy \
	war_kernel_copy war_copy_copy waw_copy_set waw_kernel_kernel \
	streams copies sets symbol symbol_kernels arrays slices columns boxes \
	event_early event_late event_wrong_stream event_replaced event_never event_recreated event_ring event_fork_join event_interprocess launch_event wait_first \
	host_wait host_function host_produce host_read_early host_free_in_flight host_code host_staging host_library host_two_copies zero_copy staging_refill staging_bounce host_refill host_far_end user_object \
	use_after_free free_in_flight free_async_early use_before_alloc alloc_order_measured stream_destroyed \
	threads threads_default default_stream \
	pipeline double_buffer chunks chunks_offset suballocator assumed struct_parameter \
	chunks_pointer chunks_halo column_tiles even_odd scatter bounded_scatter read_shared atomic_shared atomic_block warp_rows index_shapes triangles cooperative flag_poll spin_lock mapped_flag stale_pointer many_readers \
	pointer_batch page_table pointer_struct pointer_variable pointer_layers pointer_graph \
	sync_copy pageable_async sync_memset legacy_between alloc_in_loop alloc_while_busy pin_in_loop lazy_load set_limit \
	pipeline_wait \
	graph_branches graph_against_stream graph_two_execs graph_update graph_device_update graph_memcpy_nodes graph_nodes graph_free graph_runtime capture_unjoined \
	pool_reuse pool_free_other_stream pool_use_after_free annotate_blocks \
	managed_streams managed_discard \
	device_reset peer_copy device_event peer_free legacy_devices ipc \
	strict_host \
	pdl_pair pdl_chain pdl_graph \
	wide_sync redundant_sync busy_poll many_calls demo_pipeline forbidden windows
# The same programs built in other ways.
KERNELS_STATIC = raw_copy_copy raw_kernel_kernel threads
KERNELS_PER_THREAD = threads_default default_stream
# Programs that use the driver API alone.
KERNELS_DRIVER = context_loop driver_api vmm_unmap_in_flight vmm_two_addresses vmm_import batch_copies wait_value value_to_host \
	graph_conditional graph_mem_nodes graph_batch_memop graph_child graph_event_part graph_external_wait \
	newer_calls pool_memory green_contexts

# Programs that use cuBLAS, cuFFT and cuSOLVER, where the toolkit has them.
KERNELS_CUBLAS = blas_batched blas_result blas_workspace fft_work_area solver_workspace

KERNELS_PYTORCH = array_interface case cupy_pool ddp_hook default_stream dlpack event_early graph_input \
	graphs_one_pool half_gemm hidden_sync inplace_reader jax_dlpack kv_swap no_record_stream no_wait_back offload \
	pinned_refill prefetcher record_stream_needless side_input to_cpu_numpy triton_side

EXTRA_DIST += kernels/case.h kernels/devices.h kernels/graph.h kernels/graph_driver.h kernels/driver.h kernels/options.h kernels/pdl.h kernels/processes.h $(KERNELS_SHARED:%=kernels/%.cu) $(KERNELS_DRIVER:%=kernels/%.cpp) \
	kernels/libraries/library.h $(KERNELS_CUBLAS:%=kernels/libraries/%.cu)

# The well-known mistakes of Python programs, run on a GPU by tests/gpu/run.
EXTRA_DIST += kernels/pytorch/expected.tsv $(KERNELS_PYTORCH:%=kernels/pytorch/%.py)

# The path of libcudart is a RUNPATH: LD_LIBRARY_PATH must be able to put the simulated CUDA before it.
KERNELS_NVCCFLAGS = -I$(srcdir)/include -std=c++17 -O1 -g -lineinfo -Xcompiler -Wall,-Wextra \
	-gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=sm_90
KERNELS_LINK_SHARED = -cudart shared -Xlinker --enable-new-dtags,-rpath,$(CUDA_HOME)/lib64
kernels_headers = kernels/case.h kernels/devices.h kernels/graph.h kernels/options.h kernels/pdl.h kernels/processes.h
kernels_nvcc = $(AM_V_GEN)$(MKDIR_P) $(@D) && $(NVCC) $(KERNELS_NVCCFLAGS)

kernels_built = $(KERNELS_SHARED:%=kernels/%) $(KERNELS_STATIC:%=kernels/static/%) \
	$(KERNELS_PER_THREAD:%=kernels/per-thread/%) $(KERNELS_DRIVER:%=kernels/driver/%)
if HAVE_CUDA_LIBRARIES
kernels_built += $(KERNELS_CUBLAS:%=kernels/libraries/%)
endif

kernels/static/%: kernels/%.cu $(kernels_headers)
	$(kernels_nvcc) -cudart static -o $@ $<
kernels/per-thread/%: kernels/%.cu $(kernels_headers)
	$(kernels_nvcc) $(KERNELS_LINK_SHARED) -default-stream per-thread -o $@ $<
# The simulation exports what a driver does, so programs that link the driver need no other stub.
kernels/driver/%: kernels/%.cpp kernels/options.h kernels/driver.h kernels/graph_driver.h sim/libcuda.so.1
	$(kernels_nvcc) -cudart none -o $@ $< -Xlinker sim/libcuda.so.1
kernels/libraries/%: kernels/libraries/%.cu kernels/libraries/library.h $(kernels_headers)
	$(kernels_nvcc) $(KERNELS_LINK_SHARED) -o $@ $< -lcublas -lcublasLt -lcufft -lcusolver
kernels/%: kernels/%.cu $(kernels_headers)
	$(kernels_nvcc) $(KERNELS_LINK_SHARED) -o $@ $<

# What there is to run, for tests/kernels/run-table.
kernels/programs: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && printf '%s\n' $(kernels_built:kernels/%=%) >$@

.PHONY: kernels
if HAVE_NVCC
kernels: $(kernels_built) kernels/programs
check_DATA += $(kernels_built) kernels/programs
CLEANFILES += $(kernels_built) kernels/programs
else
kernels:
	@echo "nvcc is missing: the programs of kernels/ are not built"; exit 1
endif
