# tests of image
check_PROGRAMS += tests/image/image_list
tests_image_image_list_SOURCES = tests/image/image_list.c tests/image/demangled.h
tests_image_image_list_LDADD = $(SW_IMAGE_LIBS) $(DEMANGLE_LIBS)
dist_check_SCRIPTS += tests/image/test_samples tests/image/test_libraries
TESTS += tests/image/test_samples tests/image/test_libraries
EXTRA_DIST += \
	tests/image/samples/sample.cu tests/image/samples/expected.txt \
	tests/image/samples/three-archs.zstd.fatbin \
	tests/image/samples/ptx-only.lz4.fatbin tests/image/samples/ptx-only.raw.fatbin

if HAVE_CHECK
check_PROGRAMS += tests/image/test_image
TESTS += tests/image/test_image
tests_image_test_image_LDADD = $(SW_IMAGE_LIBS) $(DEMANGLE_LIBS) $(CHECK_LIBS)
endif
