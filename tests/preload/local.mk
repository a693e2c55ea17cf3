# tests of preload
include tests/preload/recorder.mk
include tests/preload/intercept.mk
