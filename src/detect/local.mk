# detect: what each record does to order and memory, hazards, waits. Includes base, reader, hb, image, footprint.
noinst_LIBRARIES += libswdetect.a
libswdetect_a_SOURCES = \
	src/detect/detect.h src/detect/findings.def src/detect/host_waits.def src/detect/findings.c \
	src/detect/intervals.c src/detect/intervals.h \
	src/detect/access.c src/detect/access.h \
	src/detect/shadow.c src/detect/shadow.h \
	src/detect/space.c src/detect/space.h src/detect/mapped.c \
	src/detect/matrix.c src/detect/matrix.h \
	src/detect/collect.c src/detect/collect.h \
	src/detect/model.c src/detect/model.h \
	src/detect/streams.c src/detect/threads.c src/detect/copies.c src/detect/launches.c \
	src/detect/kernels.c \
	src/detect/plans.c src/detect/plans.h \
	src/detect/places.c \
	src/detect/code.c src/detect/code.h \
	src/detect/variables.c src/detect/variables.h \
	src/detect/handles.c src/detect/handles.h \
	src/detect/graphs.c src/detect/graphs.h src/detect/runs.c src/detect/turns.c src/detect/branches.c src/detect/isolation.c \
	src/detect/host_access.c \
	src/detect/nvtx.c src/detect/nvtx.h \
	src/detect/blocks.c src/detect/pools.c src/detect/values.c src/detect/annotate.c src/detect/syncs.c \
	src/detect/timing.c src/detect/timing.h src/detect/gains.c \
	src/detect/device.c src/detect/gaps.c src/detect/polls.c \
	src/detect/stalls.c src/detect/spread.c src/detect/spread.h \
	src/detect/waits.c src/detect/hazards.c src/detect/ties.c src/detect/legacy.c src/detect/wide.c \
	src/detect/behaviour.c src/detect/behaviour.h src/detect/behaviour.def src/detect/may.c src/detect/may.h \
	src/detect/times.c src/detect/times.h src/detect/times_clock.c src/detect/times_join.c \
	src/detect/judge.c
EXTRA_DIST += doc/findings.md doc/waits.md
