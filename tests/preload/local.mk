# tests of preload
include tests/preload/recorder.mk
