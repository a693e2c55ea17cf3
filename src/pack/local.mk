# pack: one file with all that judging a trace needs
noinst_LIBRARIES += libswpack.a
libswpack_a_SOURCES = \
	src/pack/image_store.c src/pack/image_store.h \
	src/pack/pack.c src/pack/pack.h \
	src/pack/reduce.h src/pack/reduce_image.c \
	src/pack/stream.c src/pack/stream.h
libswpack_a_CFLAGS = $(AM_CFLAGS) $(ZSTD_CFLAGS)
