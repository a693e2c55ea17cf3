# tests of the command
check_PROGRAMS += tests/tools/make_trace tests/tools/cuda_program
tests_tools_cuda_program_SOURCES = tests/tools/cuda_program.c
tests_tools_cuda_program_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
tests_tools_cuda_program_CFLAGS = $(SW_CFLAGS) -g
tests_tools_cuda_program_LDFLAGS =
tests_tools_cuda_program_LDADD = -ldl
tests_tools_make_trace_SOURCES = tests/tools/make_trace.c
tests_tools_make_trace_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests
tests_tools_make_trace_LDADD = tests/reader/libtracebuilder.a libswbase.a
check_PROGRAMS += tests/tools/crashing/libcuda.so.1
tests_tools_crashing_libcuda_so_1_SOURCES = tests/tools/crashing_driver.c
tests_tools_crashing_libcuda_so_1_CFLAGS = $(SW_CFLAGS) -fPIC
tests_tools_crashing_libcuda_so_1_LDFLAGS = -shared -Wl,-soname,libcuda.so.1
TESTS += tests/tools/test_command.sh tests/tools/test_pack.sh
dist_check_SCRIPTS += tests/tools/test_command.sh tests/tools/test_pack.sh
EXTRA_DIST += tests/tools/test_command.py tests/tools/test_pack.py tests/tools/installed
