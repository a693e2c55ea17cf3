# tests of footprint

# Prints the footprint of a kernel as text.
check_PROGRAMS += tests/footprint/footprint_dump
tests_footprint_footprint_dump_SOURCES = tests/footprint/footprint_dump.c tests/footprint/dump.c tests/footprint/dump.h
tests_footprint_footprint_dump_LDADD = $(SW_FOOTPRINT_LIBS)
if HAVE_CHECK
check_PROGRAMS += tests/footprint/test_engine
TESTS += tests/footprint/test_engine
tests_footprint_test_engine_SOURCES = tests/footprint/test_engine.c tests/footprint/engine.h tests/footprint/dump.c tests/footprint/dump.h
tests_footprint_test_engine_LDADD = $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/footprint/test_divisions
TESTS += tests/footprint/test_divisions
tests_footprint_test_divisions_SOURCES = tests/footprint/test_divisions.c tests/footprint/engine.h tests/footprint/dump.c tests/footprint/dump.h
tests_footprint_test_divisions_LDADD = $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/footprint/test_values
TESTS += tests/footprint/test_values
tests_footprint_test_values_SOURCES = tests/footprint/test_values.c tests/footprint/engine.h tests/footprint/dump.c tests/footprint/dump.h
tests_footprint_test_values_LDADD = $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/footprint/test_instructions
TESTS += tests/footprint/test_instructions
tests_footprint_test_instructions_SOURCES = tests/footprint/test_instructions.c tests/footprint/dump.c tests/footprint/dump.h
tests_footprint_test_instructions_LDADD = $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
endif

# The library with readers that a test controls: its sources are compiled again, with fake.c in place of the readers.
if HAVE_CHECK
check_LIBRARIES += tests/footprint/libfaked.a
tests_footprint_libfaked_a_SOURCES = tests/footprint/fake.c tests/footprint/fake.h \
	src/footprint/kernel/store/library.c src/footprint/kernel/store/containers.c src/footprint/kernel/store/unit_contents.c \
	src/footprint/kernel/store/disk_store.c src/footprint/kernel/store/serialize.c src/footprint/code.c
tests_footprint_libfaked_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/footprint
tests_footprint_libfaked_a_CFLAGS = $(AM_CFLAGS) -pthread
SW_FAKED_LIBS = tests/footprint/libfaked.a $(SW_IMAGE_LIBS) $(CHECK_LIBS) -lpthread
check_PROGRAMS += tests/footprint/test_code_choice tests/footprint/test_disk_store tests/footprint/test_threads
TESTS += tests/footprint/test_code_choice tests/footprint/test_disk_store tests/footprint/test_threads
check_PROGRAMS += tests/footprint/test_serialize
TESTS += tests/footprint/test_serialize
tests_footprint_test_serialize_LDADD = libswfootprint.a libswbase.a $(CHECK_LIBS)
check_PROGRAMS += tests/footprint/test_spare_memory
TESTS += tests/footprint/test_spare_memory
tests_footprint_test_spare_memory_LDADD = $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/footprint/test_sparse_copy
TESTS += tests/footprint/test_sparse_copy
tests_footprint_test_sparse_copy_LDADD = $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
tests_footprint_test_code_choice_LDADD = $(SW_FAKED_LIBS)
tests_footprint_test_disk_store_LDADD = $(SW_FAKED_LIBS)
tests_footprint_test_threads_LDADD = $(SW_FAKED_LIBS)
endif

if HAVE_CHECK
check_PROGRAMS += tests/footprint/test_evaluate
TESTS += tests/footprint/test_evaluate
tests_footprint_test_evaluate_SOURCES = tests/footprint/test_evaluate.c tests/footprint/terms.h tests/footprint/reaches.h
tests_footprint_test_evaluate_LDADD = $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/footprint/test_evaluate_cases
TESTS += tests/footprint/test_evaluate_cases
tests_footprint_test_evaluate_cases_SOURCES = tests/footprint/test_evaluate_cases.c tests/footprint/terms.h tests/footprint/reaches.h
tests_footprint_test_evaluate_cases_LDADD = $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/footprint/test_evaluate_tables
TESTS += tests/footprint/test_evaluate_tables
tests_footprint_test_evaluate_tables_SOURCES = tests/footprint/test_evaluate_tables.c tests/footprint/terms.h tests/footprint/reaches.h
tests_footprint_test_evaluate_tables_LDADD = $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/footprint/test_evaluate_memory
TESTS += tests/footprint/test_evaluate_memory
tests_footprint_test_evaluate_memory_SOURCES = tests/footprint/test_evaluate_memory.c tests/footprint/terms.h tests/footprint/reaches.h
tests_footprint_test_evaluate_memory_LDADD = $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
endif

check_PROGRAMS += tests/footprint/test_spans
TESTS += tests/footprint/test_spans
tests_footprint_test_spans_SOURCES = tests/footprint/test_spans.c tests/footprint/spans_check.c tests/footprint/spans_check.h \
	tests/footprint/oracle.h tests/footprint/oracle_kernels.c tests/footprint/oracle_run.c tests/footprint/terms.h
tests_footprint_test_spans_LDADD = $(SW_FOOTPRINT_LIBS)
check_PROGRAMS += tests/footprint/test_span_pointers
TESTS += tests/footprint/test_span_pointers
tests_footprint_test_span_pointers_SOURCES = tests/footprint/test_span_pointers.c tests/footprint/spans_check.c \
	tests/footprint/spans_check.h tests/footprint/oracle.h tests/footprint/terms.h
tests_footprint_test_span_pointers_LDADD = $(SW_FOOTPRINT_LIBS)
check_PROGRAMS += tests/footprint/test_endless
TESTS += tests/footprint/test_endless
tests_footprint_test_endless_SOURCES = tests/footprint/test_endless.c tests/footprint/terms.h
tests_footprint_test_endless_LDADD = $(SW_FOOTPRINT_LIBS)
check_PROGRAMS += tests/footprint/test_evaluate_oracle
TESTS += tests/footprint/test_evaluate_oracle
tests_footprint_test_evaluate_oracle_SOURCES = \
	tests/footprint/test_evaluate_oracle.c tests/footprint/oracle.h tests/footprint/oracle_kernels.c \
	tests/footprint/oracle_run.c tests/footprint/terms.h
tests_footprint_test_evaluate_oracle_LDADD = $(SW_FOOTPRINT_LIBS)

if HAVE_CHECK
check_PROGRAMS += tests/footprint/test_ptx
TESTS += tests/footprint/test_ptx
EXTRA_DIST += tests/footprint/ptx
tests_footprint_test_ptx_LDADD = $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
endif

# The corpus: kernels with what they touch.  The images are committed, so that no nvcc is needed.
corpus_table = \
	tests/footprint/corpus/table.c tests/footprint/corpus/table.h tests/footprint/corpus/table_parts.h \
	tests/footprint/corpus/table_text.c tests/footprint/corpus/table_text.h \
	tests/footprint/corpus/arguments.c tests/footprint/corpus/buffers.c tests/footprint/corpus/content.c
check_PROGRAMS += tests/footprint/corpus/test_corpus
tests_footprint_corpus_test_corpus_SOURCES = \
	tests/footprint/corpus/test_corpus.c tests/footprint/corpus/compare.c tests/footprint/corpus/compare.h \
	tests/footprint/corpus/take.c tests/footprint/corpus/touched.h $(corpus_table)
tests_footprint_corpus_test_corpus_LDADD = $(SW_FOOTPRINT_LIBS)
# Which special rule is needed for what: for people, not for `make check`.
EXTRA_DIST += tests/footprint/ablation
dist_check_SCRIPTS += tests/footprint/corpus/run tests/footprint/corpus/build
dist_check_SCRIPTS += tests/footprint/architectures
TESTS += tests/footprint/corpus/run
TESTS += tests/footprint/architectures
EXTRA_DIST += tests/footprint/compilers.pins
EXTRA_DIST += tests/footprint/corpus/expected.txt tests/footprint/corpus/launch.c tests/footprint/corpus/images/compiler \
	$(corpus_files:%=tests/footprint/corpus/%.cu) $(corpus_files:%=tests/footprint/corpus/images/%.fatbin)
corpus_files = linear loops planes digits divisions blocks atomics vectors pointers tables structs gather flow calls symbols signals async hopper overlap

# What the reader of machine code makes of each instruction, for tests/gpu/sass_check.
check_PROGRAMS += tests/footprint/sass_registers
tests_footprint_sass_registers_LDADD = $(SW_FOOTPRINT_LIBS)

EXTRA_DIST += tests/footprint/sass
if HAVE_CHECK
check_PROGRAMS += tests/footprint/test_sass
TESTS += tests/footprint/test_sass
tests_footprint_test_sass_LDADD = $(SW_FOOTPRINT_LIBS) $(CHECK_LIBS)
endif

check_PROGRAMS += tests/footprint/test_launch_memo
TESTS += tests/footprint/test_launch_memo
tests_footprint_test_launch_memo_SOURCES = \
	tests/footprint/test_launch_memo.c tests/footprint/oracle.h tests/footprint/oracle_kernels.c tests/footprint/terms.h
tests_footprint_test_launch_memo_LDADD = $(SW_FOOTPRINT_LIBS)

check_PROGRAMS += tests/footprint/test_launch_memo_memory
TESTS += tests/footprint/test_launch_memo_memory
tests_footprint_test_launch_memo_memory_SOURCES = tests/footprint/test_launch_memo_memory.c tests/footprint/terms.h
tests_footprint_test_launch_memo_memory_LDADD = $(SW_FOOTPRINT_LIBS)
