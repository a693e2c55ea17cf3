# tests of preload
include tests/preload/recorder.mk
include tests/preload/intercept.mk
TESTS += tests/preload/gpu.sh
EXTRA_DIST += tests/preload/gpu.sh tests/preload/gpu/fake_cupti.c tests/preload/gpu/fake_work.c tests/preload/gpu/program.c
check_PROGRAMS += tests/preload/strict_program
tests_preload_strict_program_SOURCES = tests/preload/strict_program.c
TESTS += tests/preload/strict.sh
EXTRA_DIST += tests/preload/strict.sh
TESTS += tests/preload/nvtx.sh
EXTRA_DIST += tests/preload/nvtx.sh tests/preload/nvtx/program.c
TESTS += tests/preload/awkward.sh
EXTRA_DIST += tests/preload/awkward.sh tests/preload/awkward/awkward.c tests/preload/awkward/driver.c \
	tests/preload/awkward/no_cfi.c
