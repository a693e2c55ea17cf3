# detect: what each record does to order and memory, hazards, waits. Includes base, reader, hb, image, footprint.
# A folder includes those above it in this list; tests/tree/layers.sh checks it.
noinst_LIBRARIES += libswdetect.a
libswdetect_a_SOURCES = \
	src/detect/behaviour/behaviour.c src/detect/behaviour/behaviour.def src/detect/behaviour/behaviour.h \
	src/detect/memory/access.c src/detect/memory/access.h src/detect/memory/address_space.c \
	src/detect/memory/address_space.h \
	src/detect/memory/physical_memory.c src/detect/memory/physical_memory.h \
	src/detect/memory/contents.c src/detect/memory/contents.h \
	src/detect/memory/shadow.c src/detect/memory/shadow.h src/detect/memory/pool_blocks.c src/detect/memory/pool_blocks.h \
	src/detect/model/call.h \
	src/detect/model/collect.c src/detect/model/collect.h \
	src/detect/model/handlers.h src/detect/model/lanes.c \
	src/detect/model/lanes.h src/detect/model/model.c \
	src/detect/model/model.h src/detect/model/parts.def src/detect/model/forbidden.c src/detect/model/forbidden.h src/detect/model/nvtx.c src/detect/model/nvtx.h \
	src/detect/libraries/library_arguments.def \
	src/detect/libraries/library_calls.c src/detect/libraries/library_calls.h \
	src/detect/waits/device_times.c src/detect/waits/device_times.h \
	src/detect/waits/schedule_feed.c src/detect/waits/schedule_feed.h \
	src/detect/waits/waits.c src/detect/waits/waits.h \
	src/detect/waits/wide_syncs.c src/detect/waits/wide_syncs.h \
	src/detect/hazards/deferred.c src/detect/hazards/deferred.h src/detect/hazards/hazards.c src/detect/hazards/matrix.c \
	src/detect/hazards/hazards.h src/detect/hazards/host_functions.c \
	src/detect/hazards/host_functions.h \
	src/detect/shared_use.h src/detect/hazards/shared_uses.c src/detect/hazards/shared_uses.h src/detect/hazards/touch.c src/detect/hazards/touch.h \
	src/detect/kernels/collectives.c src/detect/kernels/collectives.h src/detect/libraries/library_operands.def \
	src/detect/hazards/stored_values.c src/detect/hazards/stored_values.h \
	src/detect/kernels/annotated_launches.c src/detect/kernels/annotated_launches.h \
	src/detect/kernels/deferrable.c src/detect/kernels/deferrable.h \
	src/detect/kernels/kernel_code.c src/detect/kernels/kernel_code.h src/detect/kernels/kernels.c \
	src/detect/kernels/kernels.h src/detect/kernels/launch_plan.c src/detect/kernels/launch_plan.h \
	src/detect/kernels/launches.c src/detect/kernels/launches.h src/detect/kernels/first_uses.c src/detect/kernels/first_uses.h \
	src/detect/kernels/kernel_objects.c \
	src/detect/kernels/kernel_objects.h \
	src/detect/calls/allocations.c src/detect/calls/allocations.h \
	src/detect/calls/copies.c src/detect/calls/copies.h src/detect/calls/device.c \
	src/detect/calls/streams.c src/detect/calls/streams.h \
	src/detect/graphs/graph_launches.c src/detect/graphs/graphs.c \
	src/detect/graphs/graphs.h \
	src/detect/coverage.def src/detect/detect.h src/detect/gate.c src/detect/gate.h src/detect/dispatch.c src/detect/dispatch.h \
	src/detect/model/findings.c src/detect/findings.def src/detect/host_waits.def src/detect/judge.c
EXTRA_DIST += doc/findings.md doc/waits.md doc/no-waits.md
