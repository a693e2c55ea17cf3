# libsyncwatch-nvtx.so: what the program says through NVTX.  Loaded by NVTX itself, by NVTX_INJECTION64_PATH.
nvtx_sources = \
	src/preload/nvtx/nvtx.h src/preload/nvtx/functions.c src/preload/nvtx/memory.c
if HAVE_NVTX
preload_PROGRAMS += libsyncwatch-nvtx.so
libsyncwatch_nvtx_so_SOURCES = $(nvtx_sources) src/preload/recorder/companion.h src/preload/platform/lock.h src/preload/platform/sys.c src/preload/platform/sys.h
libsyncwatch_nvtx_so_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS)
libsyncwatch_nvtx_so_CFLAGS = $(SW_CFLAGS) $(SW_PREFIX_MAP) -fPIC -fvisibility=hidden -fno-omit-frame-pointer
libsyncwatch_nvtx_so_LDFLAGS = -shared -Wl,-soname,libsyncwatch-nvtx.so -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
libsyncwatch_nvtx_so_LDADD =
else
EXTRA_DIST += $(nvtx_sources)
endif
