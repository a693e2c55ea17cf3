# cost of a record; run by hand: tests/bench/bench_recorder
check_PROGRAMS += tests/bench/bench_recorder
tests_bench_bench_recorder_CFLAGS = $(SW_CFLAGS) -fno-omit-frame-pointer
tests_bench_bench_recorder_LDFLAGS =
tests_bench_bench_recorder_LDADD = libswrecorder.a
