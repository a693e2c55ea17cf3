# pack: one file with all that judging a trace needs
noinst_LIBRARIES += libswpack.a
libswpack_a_SOURCES = \
	src/pack/pack.c src/pack/pack.h \
	src/pack/gather.c src/pack/gather.h \
	src/pack/reduce.h src/pack/reduce_image.c src/pack/reduce_check.c src/pack/reduce_cubin.c src/pack/reduce_ptx.c \
	src/pack/records.c src/pack/records.h src/pack/tables.c src/pack/chunks.c src/pack/chunks.h \
	src/pack/copy.c src/pack/copy.h src/pack/stream.c src/pack/stream.h
libswpack_a_CFLAGS = $(AM_CFLAGS) $(ZSTD_CFLAGS)
