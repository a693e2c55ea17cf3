# base: errors, memory, maps, hashes. Includes nothing of ours.
noinst_LIBRARIES += libswbase.a
libswbase_a_SOURCES = \
	src/base/arch.h src/base/counted.c src/base/counted.h src/base/error.c src/base/error.h \
	src/base/memory.c src/base/memory.h \
	src/base/map.c src/base/map.h \
	src/base/name_pattern.c src/base/name_pattern.h src/base/ranks.def \
	src/base/process.c src/base/process.h src/base/saturate.h src/base/signal_stack.c src/base/signal_stack.h \
	src/base/trusted_file.c src/base/trusted_file.h \
	src/base/crc32c.c src/base/hash.c src/base/hash.h src/base/python_name.h src/base/stored_images.h
