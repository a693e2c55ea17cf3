# the programs of kernels/ under syncwatch, against the table of what must be found
TESTS += tests/kernels/test_run_table.py tests/kernels/run-table tests/kernels/ways/run
EXTRA_DIST += tests/kernels/run-table tests/kernels/expected.tsv tests/kernels/test_run_table.py tests/kernels/follow-advice

# the ways in which programs come to CUDA, each with and without syncwatch
ways = tests/kernels/ways
EXTRA_DIST += $(ways)/run $(ways)/ctypes_user.py $(ways)/work.cu $(ways)/driver.c $(ways)/dlopened.c \
	$(ways)/early_library.cpp $(ways)/early.c $(ways)/host_threads.cpp $(ways)/forked.cpp \
	$(ways)/execing.cpp $(ways)/probe.c $(ways)/unseen.c
ways_built = $(ways)/work_shared $(ways)/work_static $(ways)/work_per_thread $(ways)/driver $(ways)/dlopened \
	$(ways)/libearly.so $(ways)/early $(ways)/host_threads $(ways)/forked $(ways)/execing $(ways)/probe $(ways)/unseen
ways_nvcc = $(AM_V_GEN)$(MKDIR_P) $(@D) && $(NVCC) -std=c++17 -O1 -g -Xcompiler -Wall,-Wextra
ways_cc = $(AM_V_GEN)$(MKDIR_P) $(@D) && $(CC) $(AM_CPPFLAGS) $(CUDA_CPPFLAGS) -std=gnu17 -O1 -g -Wall -Wextra

$(ways)/work_shared: $(ways)/work.cu
	$(ways_nvcc) $(KERNELS_LINK_SHARED) -o $@ $<
$(ways)/work_static: $(ways)/work.cu
	$(ways_nvcc) -cudart static -o $@ $<
$(ways)/work_per_thread: $(ways)/work.cu
	$(ways_nvcc) $(KERNELS_LINK_SHARED) -default-stream per-thread -o $@ $<
$(ways)/host_threads: $(ways)/host_threads.cpp
	$(ways_nvcc) $(KERNELS_LINK_SHARED) -o $@ $<
$(ways)/forked: $(ways)/forked.cpp
	$(ways_nvcc) $(KERNELS_LINK_SHARED) -o $@ $<
$(ways)/execing: $(ways)/execing.cpp
	$(ways_nvcc) $(KERNELS_LINK_SHARED) -o $@ $<
$(ways)/libearly.so: $(ways)/early_library.cpp
	$(ways_nvcc) $(KERNELS_LINK_SHARED) -shared -Xcompiler -fPIC -Xlinker -soname,libearly.so -o $@ $<
$(ways)/early: $(ways)/early.c $(ways)/libearly.so
	$(ways_cc) -o $@ $< $(ways)/libearly.so -Wl,-rpath,'$$ORIGIN'
$(ways)/driver: $(ways)/driver.c sim/libcuda.so.1
	$(ways_cc) -o $@ $< sim/libcuda.so.1
$(ways)/dlopened: $(ways)/dlopened.c
	$(ways_cc) -o $@ $< -ldl
$(ways)/probe: $(ways)/probe.c $(ways)/unseen.c
	$(ways_cc) -o $@ $< -ldl
$(ways)/unseen: $(ways)/unseen.c
	$(ways_cc) -o $@ $< -ldl

if HAVE_NVCC
check_DATA += $(ways_built)
CLEANFILES += $(ways_built)
endif
