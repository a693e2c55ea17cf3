# tests of preload
include tests/preload/recorder.mk
include tests/preload/intercept.mk
TESTS += tests/preload/gpu.sh
EXTRA_DIST += tests/preload/gpu.sh tests/preload/gpu/fake_cupti.c tests/preload/gpu/fake_work.c tests/preload/gpu/program.c
