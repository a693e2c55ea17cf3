# schedule: what makes up the length of a run, and what is left of it without one of its waits. Includes base.
EXTRA_DIST += src/schedule/schedule.h
