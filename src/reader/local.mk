# reader: traces as records in order
noinst_LIBRARIES += libswreader.a
libswreader_a_SOURCES = \
	src/reader/reader.c src/reader/reader.h \
	src/reader/source.c src/reader/source.h \
	src/reader/expand.c src/reader/expand.h \
	src/reader/writer.c src/reader/writer.h \
	src/reader/merge.c src/reader/merge.h \
	src/reader/kinds.c src/reader/kinds.h \
	src/reader/clock.c src/reader/clock.h \
	src/reader/damage.c src/reader/damage.h \
	src/reader/dictionary.c src/reader/dictionary.h \
	src/reader/ranks.c src/reader/ranks.h src/base/ranks.def \
	src/reader/stacks.c src/reader/modules.c \
	src/reader/images.c src/reader/images.h src/reader/packed.c src/reader/packed.h
libswreader_a_CPPFLAGS = $(AM_CPPFLAGS) $(ZSTD_CFLAGS)
