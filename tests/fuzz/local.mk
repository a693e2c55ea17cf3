# tests of fuzz: targets for libFuzzer (tests/fuzz/run), replayed here over their corpora under the sanitizers
check_LIBRARIES += tests/fuzz/libfuzzed.a
tests_fuzz_libfuzzed_a_SOURCES = \
	$(libswbase_a_SOURCES) $(libswreader_a_SOURCES) $(libswimage_a_SOURCES) \
	$(libswhb_a_SOURCES) $(libswschedule_a_SOURCES) $(libswdetect_a_SOURCES) $(libswfootprint_a_SOURCES) \
	$(libswreport_a_SOURCES) $(libswpack_a_SOURCES)
tests_fuzz_libfuzzed_a_CFLAGS = $(SW_CFLAGS) $(FUZZ_CFLAGS) $(ZSTD_CFLAGS) $(LZ4_CFLAGS) \
	$(DW_CFLAGS) $(ZLIB_CFLAGS) $(JANSSON_CFLAGS) -pthread

SW_FUZZ_FLAGS = $(SW_CFLAGS) $(FUZZ_CFLAGS)
SW_FUZZ_LIBS = tests/fuzz/libfuzzed.a $(ZSTD_LIBS) $(LZ4_LIBS) -lpthread
check_PROGRAMS += \
	tests/fuzz/replay_reader tests/fuzz/replay_fatbin tests/fuzz/replay_cubin tests/fuzz/replay_ptx \
	tests/fuzz/replay_signature tests/fuzz/replay_judge \
	tests/fuzz/replay_ptx_code
tests_fuzz_replay_reader_SOURCES = tests/fuzz/fuzz_reader.c tests/fuzz/replay.c tests/fuzz/fuzz.h tests/fuzz/memory_file.h
tests_fuzz_replay_reader_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_reader_LDADD = $(SW_FUZZ_LIBS)
tests_fuzz_replay_fatbin_SOURCES = tests/fuzz/fuzz_fatbin.c tests/fuzz/replay.c
tests_fuzz_replay_fatbin_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_fatbin_LDADD = $(SW_FUZZ_LIBS)
tests_fuzz_replay_cubin_SOURCES = tests/fuzz/fuzz_cubin.c tests/fuzz/replay.c tests/fuzz/touch.h
tests_fuzz_replay_cubin_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_cubin_LDADD = $(SW_FUZZ_LIBS)
tests_fuzz_replay_ptx_SOURCES = tests/fuzz/fuzz_ptx.c tests/fuzz/replay.c tests/fuzz/touch.h
tests_fuzz_replay_ptx_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_ptx_LDADD = $(SW_FUZZ_LIBS)
tests_fuzz_replay_signature_SOURCES = tests/fuzz/fuzz_signature.c tests/fuzz/replay.c
tests_fuzz_replay_signature_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_signature_LDADD = $(SW_FUZZ_LIBS)
tests_fuzz_replay_judge_SOURCES = tests/fuzz/fuzz_judge.c tests/fuzz/replay.c tests/fuzz/memory_file.h
tests_fuzz_replay_judge_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_judge_LDADD = $(SW_FUZZ_LIBS)

tests_fuzz_replay_ptx_code_SOURCES = tests/fuzz/fuzz_ptx_code.c tests/fuzz/replay.c
tests_fuzz_replay_ptx_code_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_ptx_code_LDADD = $(SW_FUZZ_LIBS)

check_PROGRAMS += tests/fuzz/replay_footprint
tests_fuzz_replay_footprint_SOURCES = tests/fuzz/fuzz_footprint.c tests/fuzz/replay.c
tests_fuzz_replay_footprint_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_footprint_LDADD = $(SW_FUZZ_LIBS)
EXTRA_DIST += tests/fuzz/corpus-footprint

dist_check_SCRIPTS += tests/fuzz/test_corpus
TESTS += tests/fuzz/test_corpus
EXTRA_DIST += tests/fuzz/run tests/fuzz/build tests/fuzz/run-all tests/fuzz/pack-fuzzers \
	tests/fuzz/corpus-reader tests/fuzz/corpus-fatbin tests/fuzz/corpus-cubin tests/fuzz/corpus-ptx \
	tests/fuzz/corpus-signature tests/fuzz/corpus-judge \
	tests/fuzz/corpus-ptx_code

check_PROGRAMS += tests/fuzz/replay_sass
tests_fuzz_replay_sass_SOURCES = tests/fuzz/fuzz_sass.c tests/fuzz/replay.c
tests_fuzz_replay_sass_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_sass_LDADD = $(SW_FUZZ_LIBS)
EXTRA_DIST += tests/fuzz/corpus-sass

check_PROGRAMS += tests/fuzz/replay_launch
tests_fuzz_replay_launch_SOURCES = tests/fuzz/fuzz_launch.c tests/fuzz/replay.c
tests_fuzz_replay_launch_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_launch_LDADD = $(SW_FUZZ_LIBS)
EXTRA_DIST += tests/fuzz/corpus-launch

check_PROGRAMS += tests/fuzz/replay_behaviour
tests_fuzz_replay_behaviour_SOURCES = tests/fuzz/fuzz_behaviour.c tests/fuzz/replay.c
tests_fuzz_replay_behaviour_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_behaviour_LDADD = $(SW_FUZZ_LIBS)
EXTRA_DIST += tests/fuzz/corpus-behaviour

check_PROGRAMS += tests/fuzz/replay_reduce tests/fuzz/replay_pack
tests_fuzz_replay_reduce_SOURCES = tests/fuzz/fuzz_reduce.c tests/fuzz/replay.c
tests_fuzz_replay_reduce_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_reduce_LDADD = $(SW_FUZZ_LIBS)
tests_fuzz_replay_pack_SOURCES = tests/fuzz/fuzz_pack.c tests/fuzz/fake_objects.c tests/fuzz/replay.c tests/fuzz/memory_file.h
tests_fuzz_replay_pack_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_pack_LDADD = $(SW_FUZZ_LIBS) $(DW_LIBS) $(DEMANGLE_LIBS)
EXTRA_DIST += tests/fuzz/corpus-reduce tests/fuzz/corpus-pack

check_PROGRAMS += tests/fuzz/replay_digest
tests_fuzz_replay_digest_SOURCES = tests/fuzz/fuzz_digest.c tests/fuzz/replay.c
tests_fuzz_replay_digest_CFLAGS = $(SW_FUZZ_FLAGS)
tests_fuzz_replay_digest_LDADD = $(SW_FUZZ_LIBS) $(DW_LIBS) $(ZLIB_LIBS) $(DEMANGLE_LIBS) $(JANSSON_LIBS)
EXTRA_DIST += tests/fuzz/corpus-digest
