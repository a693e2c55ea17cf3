# schedule: what makes up the length of a run, and what is left of it without one of its waits. Includes base.
noinst_LIBRARIES += libswschedule.a
libswschedule_a_SOURCES = \
	src/schedule/schedule.h src/schedule/nodes.h \
	src/schedule/nodes.c src/schedule/estimate.c src/schedule/calibrate.c \
	src/schedule/runs.c \
	src/schedule/replay.c 
# replay.c: before GCC 12, -O2 makes no vectors of loops.
libswschedule_a_CFLAGS = $(AM_CFLAGS) -ftree-vectorize
