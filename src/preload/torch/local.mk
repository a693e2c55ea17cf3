# libsyncwatch-torch.so: blocks of PyTorch's allocator.  Preloaded by `syncwatch run`.
preload_PROGRAMS += libsyncwatch-torch.so
libsyncwatch_torch_so_SOURCES = src/preload/torch/allocator.c
libsyncwatch_torch_so_CPPFLAGS = $(AM_CPPFLAGS)
libsyncwatch_torch_so_CFLAGS = $(SW_CFLAGS) -fPIC -fvisibility=hidden -foptimize-sibling-calls
libsyncwatch_torch_so_LDFLAGS = -shared -Wl,-soname,libsyncwatch-torch.so -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
libsyncwatch_torch_so_LDADD =
