# tests: one folder a module, and the suites that cut across
EXTRA_DIST += tests/run_suite.h tests/bare/run
include tests/base/local.mk
include tests/api/local.mk
include tests/preload/local.mk
include tests/reader/local.mk
include tests/hb/local.mk
include tests/schedule/local.mk
include tests/image/local.mk
include tests/footprint/local.mk
include tests/detect/local.mk
include tests/report/local.mk
include tests/query/local.mk
include tests/merge/local.mk
include tests/simcuda/local.mk
include tests/guard/local.mk
include tests/tools/local.mk
include tests/packaging/local.mk
include tests/arch/local.mk
include tests/kernels/local.mk
include tests/golden/local.mk
include tests/fuzz/local.mk
include tests/fault/local.mk
include tests/bench/local.mk
include tests/gpu/local.mk
include tests/browser/local.mk
include tests/tree/local.mk
