# detect: what each record does to order and memory, hazards, waits. Includes base, reader, hb, image, footprint.
noinst_LIBRARIES += libswdetect.a
libswdetect_a_SOURCES = \
	src/detect/detect.h src/detect/findings.def src/detect/coverage.def src/detect/host_waits.def src/detect/findings.c \
	src/detect/memory/intervals.c src/detect/memory/intervals.h \
	src/detect/memory/access.c src/detect/memory/access.h \
	src/detect/memory/shadow.c src/detect/memory/shadow.h \
	src/detect/memory/address_space.c src/detect/memory/address_space.h src/detect/memory/reservations.c \
	src/detect/hazards/confidence.c src/detect/hazards/confidence.h \
	src/detect/model/collect.c src/detect/model/collect.h \
	src/detect/model/model.c src/detect/model/model.h \
	src/detect/model/streams.c src/detect/model/threads.c src/detect/memory/copies.c src/detect/kernels/launches.c \
	src/detect/kernels/kernels.c \
	src/detect/kernels/launch_plan.c src/detect/kernels/launch_plan.h \
	src/detect/kernels/range_placement.c \
	src/detect/kernels/kernel_code.c src/detect/kernels/kernel_code.h \
	src/detect/memory/module_variables.c src/detect/memory/module_variables.h \
	src/detect/kernels/texture_handles.c src/detect/kernels/texture_handles.h \
	src/detect/graphs/graphs.c src/detect/graphs/graphs.h src/detect/graphs/graph_launches.c src/detect/graphs/node_order.c src/detect/graphs/branch_races.c src/detect/graphs/capture_isolation.c \
	src/detect/hazards/host_access.c \
	src/detect/model/nvtx.c src/detect/model/nvtx.h \
	src/detect/memory/allocations.c src/detect/memory/pools.c src/detect/memory/stream_values.c src/detect/model/annotations.c src/detect/waits/syncs.c \
	src/detect/waits/schedule_feed.c src/detect/waits/schedule_feed.h src/detect/waits/gains.c \
	src/detect/model/device.c src/detect/model/unmodelled.c src/detect/waits/polls.c \
	src/detect/waits/stalls.c src/detect/waits/duration_histogram.c src/detect/waits/duration_histogram.h \
	src/detect/waits/waits.c src/detect/hazards/hazards.c src/detect/hazards/intended_order.c src/detect/waits/legacy_stream.c src/detect/waits/wide_syncs.c \
	src/detect/waits/behaviour.c src/detect/waits/behaviour.h src/detect/waits/behaviour.def src/detect/waits/wait_rules.c src/detect/waits/wait_rules.h \
	src/detect/waits/device_times.c src/detect/waits/device_times.h src/detect/waits/device_times_clock.c src/detect/waits/device_times_join.c \
	src/detect/model/judge.c
EXTRA_DIST += doc/findings.md doc/waits.md
