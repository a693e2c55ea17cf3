# interception: the ways in, and the wrappers
libsyncwatch_so_SOURCES += \
	src/api/names.c src/api/names.h src/api/ids.h src/api/cuda.def \
	src/preload/annotate.c \
	src/preload/batch.c \
	src/preload/boxes.c src/preload/boxes.h \
	src/preload/objects.c src/preload/objects.h \
	src/preload/code.c \
	src/preload/contexts.c src/preload/contexts.h \
	src/preload/cuda_types.h \
	src/preload/custom.h \
	src/preload/dlsym.c src/preload/dlsym.h \
	src/preload/driver.c src/preload/driver.h \
	src/preload/entry.S \
	src/preload/fill.h \
	src/preload/functions.c src/preload/functions.h \
	src/preload/hook.c src/preload/hook.h \
	src/preload/graphs.c src/preload/origins.c src/preload/graphs.h \
	src/preload/host_func.c \
	src/preload/nodes.c src/preload/nodes.h \
	src/preload/image.c src/preload/image.h \
	src/preload/launch.c src/preload/launch.h \
	src/preload/procaddress.c \
	src/preload/requesters.c src/preload/requesters.h \
	src/preload/signature.h \
	src/preload/state.c src/preload/state.h \
	src/preload/table.c src/preload/table.h \
	src/preload/trampoline.c src/preload/trampoline.h \
	src/preload/wrappers.c src/preload/wrappers.h
