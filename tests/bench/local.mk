# tests of bench
EXTRA_DIST += tests/bench/bench_calls.cu tests/bench/torch_step.py
