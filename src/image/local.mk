# image: fatbins, cubins, PTX, kernel names
noinst_LIBRARIES += libswimage.a
libswimage_a_SOURCES = \
	src/image/image.h src/image/bytes.h src/image/formats.h \
	src/image/fatbin.c src/image/fatbin.h \
	src/image/cubin.c \
	src/image/ptx.h src/image/ptx.c \
	src/image/kernels.c \
	src/image/mangled.c 
libswimage_a_CFLAGS = $(AM_CFLAGS) $(ZSTD_CFLAGS) $(LZ4_CFLAGS)
# Whoever links libswimage.a adds these.
SW_IMAGE_LIBS = libswimage.a libswbase.a $(ZSTD_LIBS) $(LZ4_LIBS)
