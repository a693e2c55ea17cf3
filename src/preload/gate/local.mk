# libsyncwatch-gate.so: calls that the program forbids itself; loaded by libsyncwatch.so when it first does
preload_PROGRAMS += libsyncwatch-gate.so
libsyncwatch_gate_so_SOURCES = src/preload/gate/gate.c src/preload/recorder/companion.h
libsyncwatch_gate_so_CFLAGS = $(SW_CFLAGS) $(SW_PREFIX_MAP) -fPIC -fvisibility=hidden -fno-omit-frame-pointer
libsyncwatch_gate_so_LDFLAGS = -shared -Wl,-soname,libsyncwatch-gate.so -Wl,-Bsymbolic -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,--as-needed
libsyncwatch_gate_so_LDADD =
