# tests of gpu
EXTRA_DIST += tests/gpu/run tests/gpu/cupti_agent.c tests/gpu/completeness.py \
	tests/gpu/python/side_stream.py tests/gpu/python/prefetch.py tests/gpu/python/amp.py tests/gpu/python/graph.py \
	tests/gpu/python/shared_weights.py tests/gpu/python/loader.py tests/gpu/python/compiled.py \
	tests/gpu/python/cupy_streams.py tests/gpu/python/jax_step.py tests/gpu/python/cudnn_cublas.py

# The truth test.  The recorder is built where it runs, by the script: it needs compute-sanitizer's headers.
truth = tests/gpu/truth
EXTRA_DIST += $(truth)/torch_kernels.py $(truth)/run $(truth)/patches.cu $(truth)/recorder.c $(truth)/observed.h
if HAVE_CHECK
check_PROGRAMS += tests/gpu/truth/test_truth
TESTS += tests/gpu/truth/test_truth
tests_gpu_truth_test_truth_SOURCES = tests/gpu/truth/test_truth.c \
	tests/gpu/truth/lines.c tests/gpu/truth/lines.h tests/gpu/truth/observed.h \
	tests/gpu/truth/accesses.c tests/gpu/truth/accesses.h tests/gpu/truth/cover.c tests/gpu/truth/cover.h
tests_gpu_truth_test_truth_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_gpu_truth_test_truth_LDADD = libswbase.a $(CHECK_LIBS)
endif
