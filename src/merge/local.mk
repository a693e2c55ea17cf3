# merge: what several processes of a job did, as one report
noinst_LIBRARIES += libswmerge.a
libswmerge_a_SOURCES = \
	src/merge/merged.c src/merge/merged.h src/merge/merged_json.c src/merge/merged_read.c src/merge/merged_text.c \
	src/merge/merged_json.h src/merge/between.c src/merge/between.h src/merge/stragglers.c src/merge/findings.def \
	src/merge/collectives.c src/merge/collectives.h src/merge/collectives_trace.c src/merge/collectives_json.c \
	src/merge/collectives_read.c src/merge/collectives_read.h \
	src/merge/shared_memory.c src/merge/shared_memory.h src/merge/shared_uses.c src/merge/shared_uses.h src/merge/shared_json.c \
	src/merge/rank_checks.c
libswmerge_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
