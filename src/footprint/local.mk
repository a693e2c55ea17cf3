# footprint: what kernels touch, from their code. Includes base and image.
noinst_LIBRARIES += libswfootprint.a
libswfootprint_a_SOURCES = \
	src/footprint/library.c \
	src/footprint/choose.c src/footprint/choose.h \
	src/footprint/units.c src/footprint/units.h \
	src/footprint/contents.c \
	src/footprint/pack.c \
	src/footprint/check.c src/footprint/check.h \
	src/footprint/code.h src/footprint/code.c src/footprint/ops.def src/footprint/whys.def \
	src/footprint/footprint.h src/footprint/library.h
libswfootprint_a_CFLAGS = $(AM_CFLAGS) -pthread
# Whoever links libswfootprint.a adds these.
SW_FOOTPRINT_LIBS = libswfootprint.a $(SW_IMAGE_LIBS) -pthread
