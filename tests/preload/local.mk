# tests of preload
include tests/preload/recorder.mk
include tests/preload/intercept.mk
TESTS += tests/preload/gpu.sh
EXTRA_DIST += tests/preload/gpu.sh tests/preload/gpu/fake_cupti.c tests/preload/gpu/fake_work.c tests/preload/gpu/program.c
check_PROGRAMS += tests/preload/strict_program
TESTS += tests/preload/strict.sh
EXTRA_DIST += tests/preload/strict.sh
TESTS += tests/preload/libraries.sh
EXTRA_DIST += tests/preload/named.h tests/preload/libraries.sh tests/preload/libraries/fake_libraries.c tests/preload/libraries/program.c \
	tests/preload/libraries/alone.c tests/preload/libraries/check.py tests/preload/libraries/functions.py
TESTS += tests/preload/nccl.sh
EXTRA_DIST += tests/preload/nccl.sh tests/preload/nccl/fake_nccl.c tests/preload/nccl/program.c tests/preload/nccl/loader.c tests/preload/nccl/check.py
TESTS += tests/preload/gate.sh
EXTRA_DIST += tests/preload/gate.sh tests/preload/gate/program.c
TESTS += tests/preload/nvtx.sh
EXTRA_DIST += tests/preload/nvtx.sh tests/preload/nvtx/program.c
TESTS += tests/preload/awkward.sh
EXTRA_DIST += tests/preload/awkward.sh tests/preload/awkward/awkward.c tests/preload/awkward/awkward.h \
	tests/preload/awkward/threads.c tests/preload/awkward/driver.c \
	tests/preload/awkward/no_cfi.c tests/preload/awkward/own_clone.c
check_PROGRAMS += tests/preload/python_list
tests_preload_python_list_LDADD = libswreport.a libswreader.a libswbase.a $(ZSTD_LIBS)
check_PROGRAMS += tests/preload/python_lines
tests_preload_python_lines_SOURCES = tests/preload/python_lines.c src/preload/python/source.c src/preload/python/memory.c src/preload/python/python.h
if HAVE_CHECK
check_PROGRAMS += tests/preload/test_python
TESTS += tests/preload/test_python
tests_preload_test_python_SOURCES = tests/preload/test_python.c src/preload/python/source.c src/preload/python/memory.c \
	src/preload/python/layout.c src/preload/python/freed.c src/preload/python/python.h
tests_preload_test_python_LDADD = libswbase.a $(CHECK_LIBS)
endif
TESTS += tests/preload/python.sh
EXTRA_DIST += tests/preload/python.sh tests/preload/python/autograd.c tests/preload/python/autograd.py tests/preload/python/check.py tests/preload/python/frames.py tests/preload/python/lines.py \
	tests/preload/python/race.py tests/preload/python/sub.py \
	tests/preload/python/streams.py tests/preload/python/torch_like.py tests/preload/python/paste.py
TESTS += tests/preload/pools.sh
EXTRA_DIST += tests/preload/pools.sh tests/preload/pools/libc10.c tests/preload/pools/libc10_cuda.c tests/preload/pools/tensors.py \
	tests/preload/pools/cupy_like.c tests/preload/pools/arrays.py tests/preload/pools/rmm_like.c
