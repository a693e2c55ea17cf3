# libsyncwatch-gpu.so: GPU time stamps, loaded by libsyncwatch.so when asked for
gpu_sources = \
	src/preload/recorder/companion.h \
	src/preload/gpu/cupti.c src/preload/gpu/cupti.def src/preload/gpu/cupti.h \
	src/preload/gpu/gpu.c \
	src/preload/platform/sys.c src/preload/platform/sys.h
if HAVE_CUPTI
preload_PROGRAMS += libsyncwatch-gpu.so
libsyncwatch_gpu_so_SOURCES = $(gpu_sources)
libsyncwatch_gpu_so_CPPFLAGS = $(AM_CPPFLAGS) $(CUDA_CPPFLAGS) $(CUPTI_CPPFLAGS) -DSW_CUDA_HOME='"$(CUDA_HOME)"'
libsyncwatch_gpu_so_CFLAGS = $(SW_CFLAGS) $(SW_PREFIX_MAP) -fPIC -fvisibility=hidden
libsyncwatch_gpu_so_LDFLAGS = -shared -Wl,-soname,libsyncwatch-gpu.so -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
libsyncwatch_gpu_so_LDADD =
else
EXTRA_DIST += $(gpu_sources)
endif
