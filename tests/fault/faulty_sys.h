/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's system calls, with one that fails on demand. Linked in place of src/preload/platform/sys.c. */
#ifndef SW_TESTS_FAULTY_SYS_H
#define SW_TESTS_FAULTY_SYS_H

#include <stdbool.h>
#include <stdint.h>

enum fault {
	FAULT_OPEN,
	FAULT_ALLOCATE,
	FAULT_MAP,
	FAULT_MADVISE,
	FAULT_THREAD,
	FAULT_FSTAT,
	FAULT_CLONE,
	FAULT_OWN_DESCRIPTORS,
	FAULT_WRITE,
	FAULT_FCNTL,
	FAULT_RESERVE,
	FAULT_RESIZE,
	FAULT_READ,
	FAULT_TRUNCATE,
	FAULT_MEMORY,
	FAULT_READ_AT,
	FAULT_WRITE_AT,
	FAULT_NEXT_DATA,
	FAULT_PUNCH,
	FAULTS
};

/* From now on the n-th call (1-based) of that kind fails with -error; `for_ever`: and so do all after it. 0: none. */
void fault_set(enum fault kind, unsigned n, int error, bool for_ever);

/* How many calls of the kind were made since then. */
unsigned fault_calls(enum fault kind);

/*
 * The process sends itself that signal before the n-th system call of the recorder, of any kind.  After it the
 * recorder's clock is a minute later: SIGSTOP and SIGCONT look like a long stop.  0: never.
 */
#define STOPPED_S 61
void step_set(unsigned n, int signal);
unsigned steps_made(void);

/*
 * From now on waits of the program's threads are measured while they have all signals blocked: how long those that
 * timed out lasted in one such time, and how many had no time limit.  The recorder's own thread stands still, as on a
 * machine that has no time for it, from its next wait on until `still` is false again.
 */
void waits_measure(bool still);
bool waits_still(void); /* does it stand still? */
uint64_t waits_longest_ns(void);
unsigned waits_endless(void);

/* The recorder's own thread begins once threads have begun to wait `waits` times. */
void fault_begin_after_waits(unsigned waits);

/* The next mapping is made once threads have begun to wait `waits` times. */
void fault_map_after_waits(unsigned waits);

#endif
