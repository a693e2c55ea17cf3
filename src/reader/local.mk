# reader: traces as records in order
noinst_LIBRARIES += libswreader.a
libswreader_a_SOURCES = \
	src/reader/reader.c src/reader/reader.h \
	src/reader/merge.c src/reader/writer.h \
	src/reader/source.c src/reader/source.h \
	src/reader/kinds.c src/reader/kinds.h src/reader/traits.def \
	src/reader/clock.c src/reader/clock.h \
	src/reader/dictionary.c src/reader/dictionary.h \
	src/reader/ranks.c src/reader/ranks.h src/base/ranks.def \
	src/reader/packed.c src/reader/packed.h
libswreader_a_CPPFLAGS = $(AM_CPPFLAGS) $(ZSTD_CFLAGS)
