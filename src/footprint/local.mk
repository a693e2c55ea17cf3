# footprint: what kernels touch, from their code. Includes base and image.
noinst_LIBRARIES += libswfootprint.a
libswfootprint_a_SOURCES = \
	src/footprint/code.h src/footprint/code.c src/footprint/ops.def src/footprint/whys.def \
	src/footprint/footprint.h src/footprint/library.h
libswfootprint_a_CFLAGS = $(AM_CFLAGS)
# Whoever links libswfootprint.a adds these.
SW_FOOTPRINT_LIBS = libswfootprint.a $(SW_IMAGE_LIBS)
