# tests of fault
include tests/fault/recorder.mk
