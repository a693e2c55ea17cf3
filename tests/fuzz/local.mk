# tests of fuzz: targets for libFuzzer (tests/fuzz/run), replayed here over their corpora; under the sanitizers where the
# tree is built with them (tools/check builds one)
fuzz_targets = behaviour cubin digest fatbin footprint judge kept launch pack ptx ptx_code reader reduce sass signature
check_PROGRAMS += tests/fuzz/replay_behaviour tests/fuzz/replay_cubin tests/fuzz/replay_digest tests/fuzz/replay_fatbin tests/fuzz/replay_footprint tests/fuzz/replay_judge tests/fuzz/replay_kept tests/fuzz/replay_launch \
	tests/fuzz/replay_pack tests/fuzz/replay_ptx tests/fuzz/replay_ptx_code tests/fuzz/replay_reader tests/fuzz/replay_reduce tests/fuzz/replay_sass tests/fuzz/replay_signature
dist_check_SCRIPTS += tests/fuzz/test_corpus
TESTS += tests/fuzz/test_corpus
EXTRA_DIST += tests/fuzz/run tests/fuzz/build tests/fuzz/run-all tests/fuzz/pack-fuzzers $(fuzz_targets:%=tests/fuzz/corpus-%)

# replay.c brings main(), the target what is called with each input.
fuzz_replay = tests/fuzz/replay.c tests/fuzz/fuzz.h tests/fuzz/memory_file.h tests/fuzz/touch.h
fuzz_libs = libswpack.a libswreport.a libswdetect.a libswschedule.a libswhb.a libswreader.a $(SW_FOOTPRINT_LIBS) \
	$(DW_LIBS) $(ZLIB_LIBS) $(DEMANGLE_LIBS) $(JANSSON_LIBS)
tests_fuzz_replay_behaviour_SOURCES = tests/fuzz/fuzz_behaviour.c $(fuzz_replay)
tests_fuzz_replay_behaviour_LDADD = $(fuzz_libs)
tests_fuzz_replay_cubin_SOURCES = tests/fuzz/fuzz_cubin.c $(fuzz_replay)
tests_fuzz_replay_cubin_LDADD = $(fuzz_libs)
tests_fuzz_replay_digest_SOURCES = tests/fuzz/fuzz_digest.c $(fuzz_replay)
tests_fuzz_replay_digest_LDADD = $(fuzz_libs)
tests_fuzz_replay_fatbin_SOURCES = tests/fuzz/fuzz_fatbin.c $(fuzz_replay)
tests_fuzz_replay_fatbin_LDADD = $(fuzz_libs)
tests_fuzz_replay_footprint_SOURCES = tests/fuzz/fuzz_footprint.c $(fuzz_replay)
tests_fuzz_replay_footprint_LDADD = $(fuzz_libs)
tests_fuzz_replay_judge_SOURCES = tests/fuzz/fuzz_judge.c $(fuzz_replay)
tests_fuzz_replay_judge_LDADD = $(fuzz_libs)
tests_fuzz_replay_kept_SOURCES = tests/fuzz/fuzz_kept.c tools/run/kept.c tools/run/kept.h tools/run/window.c tools/run/window.h \
	tools/run/chunk_output.c tools/run/chunk_output.h $(fuzz_replay)
tests_fuzz_replay_kept_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools
tests_fuzz_replay_kept_LDADD = $(fuzz_libs)
tests_fuzz_replay_launch_SOURCES = tests/fuzz/fuzz_launch.c $(fuzz_replay)
tests_fuzz_replay_launch_LDADD = $(fuzz_libs)
tests_fuzz_replay_pack_SOURCES = tests/fuzz/fuzz_pack.c tests/fuzz/fake_objects.c $(fuzz_replay)
tests_fuzz_replay_pack_LDADD = $(fuzz_libs)
tests_fuzz_replay_ptx_SOURCES = tests/fuzz/fuzz_ptx.c $(fuzz_replay)
tests_fuzz_replay_ptx_LDADD = $(fuzz_libs)
tests_fuzz_replay_ptx_code_SOURCES = tests/fuzz/fuzz_ptx_code.c $(fuzz_replay)
tests_fuzz_replay_ptx_code_LDADD = $(fuzz_libs)
tests_fuzz_replay_reader_SOURCES = tests/fuzz/fuzz_reader.c $(fuzz_replay)
tests_fuzz_replay_reader_LDADD = $(fuzz_libs)
tests_fuzz_replay_reduce_SOURCES = tests/fuzz/fuzz_reduce.c $(fuzz_replay)
tests_fuzz_replay_reduce_LDADD = $(fuzz_libs)
tests_fuzz_replay_sass_SOURCES = tests/fuzz/fuzz_sass.c $(fuzz_replay)
tests_fuzz_replay_sass_LDADD = $(fuzz_libs)
tests_fuzz_replay_signature_SOURCES = tests/fuzz/fuzz_signature.c $(fuzz_replay)
tests_fuzz_replay_signature_LDADD = $(fuzz_libs)
