# tests of bench
EXTRA_DIST += tests/bench/bench_calls.cu tests/bench/compare.py tests/bench/torch_step.py
EXTRA_DIST += tests/bench/recording_cost.py tests/bench/paired_step.py
# Whole programs, bare and recorded in turn.
EXTRA_DIST += tests/bench/paired_programs.py tests/bench/window_cost.py
# First rounds, starts, code from memory, several threads: for a machine with a GPU.
EXTRA_DIST += tests/bench/torch_rounds.py
dist_check_SCRIPTS += tests/bench/first_use.py
TESTS += tests/bench/test_paired_programs.py
dist_check_SCRIPTS += tests/bench/test_paired_programs.py
# Code from memory of ten programs of PyTorch, first and second run; the test needs no PyTorch.
EXTRA_DIST += tests/bench/image_use.py
TESTS += tests/bench/test_image_use.py
dist_check_SCRIPTS += tests/bench/test_image_use.py
# Five of them, bare and recorded in turn.
EXTRA_DIST += tests/bench/pytorch_pairs.py
TESTS += tests/bench/test_pytorch_pairs.py
dist_check_SCRIPTS += tests/bench/test_pytorch_pairs.py
check_PROGRAMS += tests/bench/bench_hb
tests_bench_bench_hb_LDADD = libswhb.a libswbase.a
include tests/bench/recorder.mk

check_PROGRAMS += tests/bench/bench_reader
tests_bench_bench_reader_LDADD = tests/reader/libtracebuilder.a libswreader.a libswbase.a $(ZSTD_LIBS)
bench_loads = tests/bench/loads.c tests/bench/loads.h
bench_loads_cppflags = -DSW_ORDINARY='"$(abs_top_srcdir)/tests/bench/ordinary.fatbin"'
check_PROGRAMS += tests/bench/make_load
tests_bench_make_load_SOURCES = tests/bench/make_load.c tests/bench/load_libraries.c tools/code_files.c tools/code_files.h $(bench_loads)
tests_bench_make_load_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests -I$(top_srcdir)/tools $(bench_loads_cppflags)
tests_bench_make_load_LDADD = tests/reader/libtracebuilder.a libswreader.a $(SW_FOOTPRINT_LIBS)
check_PROGRAMS += tests/bench/bench_detect
tests_bench_bench_detect_SOURCES = tests/bench/bench_detect.c tests/detect/kernels.c tests/detect/kernels.h $(bench_loads)
tests_bench_bench_detect_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests $(bench_loads_cppflags)
tests_bench_bench_detect_LDADD = tests/reader/libtracebuilder.a libswdetect.a libswschedule.a libswhb.a libswreader.a $(SW_FOOTPRINT_LIBS)
check_PROGRAMS += tests/bench/bench_footprint
tests_bench_bench_footprint_SOURCES = tests/bench/bench_footprint.c tools/code_files.c tools/code_files.h
tests_bench_bench_footprint_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
tests_bench_bench_footprint_LDADD = $(SW_FOOTPRINT_LIBS)
check_PROGRAMS += tests/bench/bench_churn
tests_bench_bench_churn_SOURCES = tests/bench/bench_churn.c tests/detect/churn.c tests/detect/churn.h
tests_bench_bench_churn_LDADD = tests/reader/libtracebuilder.a libswdetect.a libswschedule.a libswhb.a libswreader.a $(SW_FOOTPRINT_LIBS)
check_PROGRAMS += tests/bench/bench_locks

check_PROGRAMS += tests/bench/guard_copies
dist_check_SCRIPTS += tests/bench/bench_guard
tests_bench_guard_copies_CPPFLAGS = $(simcuda_test_cppflags)
tests_bench_guard_copies_CFLAGS = $(SW_CFLAGS)
tests_bench_guard_copies_LDADD = sim/libcudart.so.13

check_PROGRAMS += tests/bench/bench_evaluate
tests_bench_bench_evaluate_SOURCES = tests/bench/bench_evaluate.c tests/bench/ordinary.c tests/bench/ordinary.h tools/code_files.c tools/code_files.h
tests_bench_bench_evaluate_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools -I$(top_srcdir)/tests/bench
tests_bench_bench_evaluate_LDADD = $(SW_FOOTPRINT_LIBS)
EXTRA_DIST += tests/bench/ordinary.cu tests/bench/ordinary.fatbin
check_PROGRAMS += tests/bench/bench_launches
tests_bench_bench_launches_SOURCES = tests/bench/bench_launches.c tests/gpu/truth/footprints.c tests/gpu/truth/footprints.h \
	tests/gpu/truth/contents.c tests/gpu/truth/contents.h
tests_bench_bench_launches_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/gpu -I$(top_srcdir)/tests/gpu/truth
tests_bench_bench_launches_LDADD = libswreader.a $(SW_FOOTPRINT_LIBS)
check_PROGRAMS += tests/bench/paired_calls
tests_bench_paired_calls_CPPFLAGS = $(simcuda_test_cppflags)
check_PROGRAMS += tests/bench/load_images
tests_bench_load_images_CPPFLAGS = $(simcuda_test_cppflags)
tests_bench_load_images_LDADD = sim/libcuda.so.1
