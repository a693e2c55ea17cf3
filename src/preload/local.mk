# preload: libsyncwatch.so, the object that is preloaded.  It depends on nothing but libc: what it needs of other
# modules is compiled in, and no sanitizer is ever put into it.
preload_PROGRAMS += libsyncwatch.so
libsyncwatch_so_SOURCES = src/base/crc32c.c src/base/hash.c src/base/name_pattern.c src/base/name_pattern.h src/base/ranks.def
libsyncwatch_so_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
libsyncwatch_so_CFLAGS = $(SW_CFLAGS) $(SW_SMALL_CODE) $(SW_PREFIX_MAP) -fPIC -ffunction-sections -fdata-sections -fvisibility=hidden -ftls-model=initial-exec -fno-omit-frame-pointer
libsyncwatch_so_CCASFLAGS = -fPIC $(SW_PREFIX_MAP)
# A libunwind that lies next to the object, as in the Python wheel, is found before any other.
libsyncwatch_so_LDFLAGS = -shared -Wl,-soname,libsyncwatch.so -Wl,-Bsymbolic -Wl,--gc-sections $(SW_ONE_SEGMENT) -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed \
	'-Wl,-rpath,$$ORIGIN'
libsyncwatch_so_LDADD =

include src/preload/intercept/local.mk
include src/preload/recorder/local.mk
include src/preload/gate/local.mk
include src/preload/strict/local.mk
include src/preload/session/local.mk

# Companion objects: what is off by default.
include src/preload/gpu/local.mk
include src/preload/nccl/local.mk
include src/preload/libraries/local.mk
include src/preload/nvtx/local.mk
include src/preload/python/local.mk
include src/preload/pools/local.mk
include src/preload/confirm/local.mk
