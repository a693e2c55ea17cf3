# image: fatbins, cubins, PTX, kernel names
noinst_LIBRARIES += libswimage.a
libswimage_a_SOURCES = \
	src/image/image.h src/image/bytes.h src/image/formats.h \
	src/image/kind.c \
	src/image/fatbin.c src/image/fatbin.h \
	src/image/extract.c \
	src/image/cubin.c \
	src/image/ptx_lexer.c src/image/ptx_lexer.h src/image/ptx.c \
	src/image/kernels.c \
	src/image/signature.c src/image/mangled.c src/image/mangled.h
libswimage_a_CFLAGS = $(AM_CFLAGS) $(ZSTD_CFLAGS) $(LZ4_CFLAGS)
# Whoever links libswimage.a adds these.
SW_IMAGE_LIBS = libswimage.a libswbase.a $(ZSTD_LIBS) $(LZ4_LIBS)
