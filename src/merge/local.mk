# merge: what several processes of a job did, as one report
noinst_LIBRARIES += libswmerge.a
libswmerge_a_SOURCES = \
	src/merge/merged.c src/merge/merged.h src/merge/merged_json.c src/merge/merged_read.c \
	src/merge/merged_text.c \
	src/merge/cross_rank.c src/merge/findings.def \
	src/merge/collectives.c src/merge/collectives.h \
	src/merge/shared_memory.c \
	src/merge/rank_checks.c
libswmerge_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
