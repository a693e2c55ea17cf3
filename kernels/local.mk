# CUDA programs, one for each case, each with its fixed twin.  Built where nvcc is, for the tests of tests/kernels.
KERNELS_ALL = \
	raw_kernel_kernel raw_copy_kernel raw_kernel_copy raw_copy_copy \
	war_kernel_copy war_copy_copy \
	waw_copy_set waw_kernel_kernel \
	streams
# The same programs built in other ways.
KERNELS_STATIC = raw_copy_copy raw_kernel_kernel
KERNELS_PER_THREAD = 

EXTRA_DIST += kernels/case.h $(KERNELS_ALL:%=kernels/%.cu)

# The path of libcudart is a RUNPATH: LD_LIBRARY_PATH must be able to put the simulated CUDA before it.
KERNEL_NVCCFLAGS = -std=c++17 -O1 -g -lineinfo -Xcompiler -Wall,-Wextra \
	-gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=sm_90
KERNEL_SHARED = -cudart shared -Xlinker --enable-new-dtags,-rpath,$(CUDA_HOME)/lib64
kernel_nvcc = $(AM_V_GEN)$(MKDIR_P) $(@D) && $(NVCC) $(KERNEL_NVCCFLAGS)

kernels_built = $(KERNELS_ALL:%=kernels/bin/%) $(KERNELS_STATIC:%=kernels/bin/static/%) \
	$(KERNELS_PER_THREAD:%=kernels/bin/per-thread/%)

kernels/bin/static/%: kernels/%.cu kernels/case.h
	$(kernel_nvcc) -cudart static -o $@ $<
kernels/bin/per-thread/%: kernels/%.cu kernels/case.h
	$(kernel_nvcc) $(KERNEL_SHARED) -default-stream per-thread -o $@ $<
kernels/bin/%: kernels/%.cu kernels/case.h
	$(kernel_nvcc) $(KERNEL_SHARED) -o $@ $<

.PHONY: kernels
if HAVE_NVCC
kernels: $(kernels_built)
check_DATA += $(kernels_built)
CLEANFILES += $(kernels_built)
else
kernels:
	@echo "nvcc is missing: the programs of kernels/ are not built"; exit 1
endif
