# interception: the ways in, and the wrappers
libsyncwatch_so_SOURCES += \
	src/api/names.c src/api/names.h src/api/ids.h src/api/cuda.def src/api/newer_types.h \
	src/preload/calls/annotate.c \
	src/preload/calls/batch.c \
	src/preload/calls/content.c src/preload/calls/content.h \
	src/preload/calls/copy_boxes.c src/preload/calls/copy_boxes.h \
	src/preload/calls/texture_objects.c \
	src/preload/calls/code_loads.c \
	src/preload/intercept/contexts.c src/preload/intercept/contexts.h \
	src/preload/intercept/cuda_types.h \
	src/preload/calls/custom.h \
	src/preload/intercept/driver.c src/preload/intercept/driver.h \
	src/preload/intercept/entry_x86_64.S src/preload/intercept/entry_aarch64.S \
	src/preload/calls/fill.h \
	src/preload/intercept/function_table.c src/preload/intercept/function_table.h \
	src/preload/intercept/hook.c src/preload/intercept/hook.h src/preload/intercept/hook_enter.h \
	src/preload/calls/graphs.c src/preload/calls/node_origins.c src/preload/calls/graphs.h \
	src/preload/calls/host_func.c \
	src/preload/calls/nodes.c \
	src/preload/calls/code_image.c src/preload/calls/code_image.h \
	src/preload/calls/launch.c src/preload/calls/launch.h \
	src/preload/intercept/requesters.c src/preload/intercept/requesters.h \
	src/api/signature.h \
	src/preload/intercept/hook_state.c src/preload/intercept/hook_state.h \
	src/preload/intercept/identity_table.c src/preload/intercept/identity_table.h \
	src/preload/intercept/trampoline.c src/preload/intercept/trampoline.h \
	src/preload/calls/wrappers.c src/preload/intercept/wrappers.h
