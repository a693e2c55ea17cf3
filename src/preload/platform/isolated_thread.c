/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/platform/isolated_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include "preload/platform/lock.h"
#include "preload/platform/sys.h"

#define STACK_BYTES   (64u << 10)
#define LOCAL_BYTES   (2048u << 10) /* next to the thread pointer: errno lies somewhere in it */
#define TCB_BYTES     4096u
#define ALL_BYTES     ((size_t)STACK_BYTES + LOCAL_BYTES + TCB_BYTES)
#define PATIENCE_NS   10000000u
#define INSISTENCE_NS 1000000000u

enum job_state { NO_JOB, JOB_WAITS, JOB_RUNS, JOB_DONE, NUDGED };

static struct {
	struct sw_lock lock; /* one job at a time */
	_Atomic uint32_t state;
	void (*job)(void *);
	void *with;
	int (*body)(void);
	uint8_t *memory;
	uint32_t thread; /* the kernel clears it when the thread has ended */
	_Atomic bool own_descriptors;
	_Atomic uint32_t entered;
	_Atomic bool in_vain; /* to insist was */
} isolated;

/* Does the thread exist? */
static bool thread_lives(void)
{
	return __atomic_load_n(&isolated.thread, __ATOMIC_ACQUIRE) != 0;
}

/* Is the caller the isolated thread? */
static bool on_its_stack(void)
{
	return isolated.memory && (uintptr_t)__builtin_frame_address(0) - (uintptr_t)isolated.memory < STACK_BYTES;
}

/* Is the calling thread the isolated one, whose descriptors nobody else can touch? */
bool sw_isolated_here(void)
{
	return on_its_stack() && atomic_load(&isolated.own_descriptors);
}

uint32_t sw_isolated_thread(void)
{
	return __atomic_load_n(&isolated.thread, __ATOMIC_ACQUIRE);
}

/* Has the isolated thread begun, or is there none? */
bool sw_isolated_entered(void)
{
	return atomic_load(&isolated.entered) || !thread_lives();
}

/* The isolated thread has begun: wakes who waits for that. */
void sw_isolated_enter(void)
{
	atomic_store(&isolated.entered, 1);
	sw_sys_wake((const uint32_t *)&isolated.entered, INT32_MAX);
}

/* Waits at most so long until it has begun. */
void sw_isolated_wait_entered(const struct timespec *most)
{
	sw_sys_wait((const uint32_t *)&isolated.entered, 0, most);
}

/* Where the thread begins: takes a copy of the descriptor table, so that the program's closing and opening does not
   reach it. */
static int enter_thread(void *unused)
{
	(void)unused;
	atomic_store(&isolated.own_descriptors, sw_sys_own_descriptors() == 0);
	return isolated.body();
}

/* Starts the recorder's own thread, which libc does not know of; so its stack and thread-local variables are memory of
   ours. */
int sw_isolated_start(int (*body)(void))
{
	int error = 0;
	if (!isolated.memory)
		isolated.memory = sw_sys_map(-1, 0, ALL_BYTES, &error);
	if (!isolated.memory)
		return error;
	isolated.body = body;
#ifdef __x86_64__
	/* The ABI requires the thread pointer's own address where it points (System V psABI, Thread-Local Storage). */
	uint8_t *tcb = isolated.memory + STACK_BYTES + LOCAL_BYTES;
	((void **)(void *)tcb)[0] = tcb;
	((void **)(void *)tcb)[2] = tcb;
	uintptr_t away = (uintptr_t)__builtin_thread_pointer() - (uintptr_t)&errno;
#else
	/* Variables lie above the thread pointer (variant 1 of thread-local storage), libc's own data below it. */
	uint8_t *tcb = isolated.memory + STACK_BYTES + TCB_BYTES;
	uintptr_t away = (uintptr_t)&errno - (uintptr_t)__builtin_thread_pointer() + sizeof errno;
#endif
	if (away >= LOCAL_BYTES) /* a program with that much static TLS */
		return -ENOMEM;
	return sw_sys_clone(enter_thread, isolated.memory + STACK_BYTES, tcb, &isolated.thread);
}

/* Waits until the isolated thread has done the job.  False: it will not be done, as the thread is busy for too long or
   has ended. */
static bool wait_for_job(void)
{
	const uint64_t until = sw_sys_monotonic() + PATIENCE_NS;
	for (;;) {
		uint32_t now = atomic_load(&isolated.state);
		if (now == JOB_DONE)
			return true;
		bool late = sw_sys_monotonic() > until || !thread_lives();
		if (now == JOB_WAITS && late && atomic_compare_exchange_strong(&isolated.state, &now, NO_JOB))
			return false;
		if (now == JOB_RUNS && !thread_lives()) /* ended in the middle, by a seccomp filter */
			return false;
		sw_sys_wait((const uint32_t *)&isolated.state, now, &(struct timespec){.tv_nsec = PATIENCE_NS});
	}
}

/* Lets the isolated thread do a job and waits for it.  False: not done. */
static bool run_there(void (*job)(void *), void *with)
{
	if (on_its_stack() || !thread_lives())
		return false;
	uint64_t mask = sw_lock_enter(&isolated.lock);
	isolated.job = job;
	isolated.with = with;
	atomic_store(&isolated.state, JOB_WAITS);
	sw_sys_wake((const uint32_t *)&isolated.state, 1);
	const bool done = wait_for_job();
	atomic_store(&isolated.state, NO_JOB);
	sw_lock_leave(&isolated.lock, mask);
	return done;
}

/* Runs the job on the isolated thread and waits for it, or runs it here where that thread does not take it in time. */
bool sw_isolated_run(void (*job)(void *), void *with)
{
	const bool done = run_there(job, with);
	if (!done)
		job(with);
	return done || on_its_stack();
}

/* Tries again and again for a second; in between signals get to the calling thread, and others to ours. */
bool sw_isolated_insist(void (*job)(void *), void *with)
{
	const uint64_t until = sw_sys_monotonic() + INSISTENCE_NS;
	while (!atomic_load(&isolated.in_vain) && thread_lives() && !on_its_stack()) {
		if (run_there(job, with))
			return true;
		if (sw_sys_monotonic() > until)
			atomic_store(&isolated.in_vain, true);
	}
	return false;
}

/* On the isolated thread: waits so long for a job and runs it.  `state` says whose turn it is; a job is taken by
   compare-and-swap, since who brought it may take it back. */
void sw_isolated_serve(uint64_t ns)
{
	const uint64_t until = sw_sys_monotonic() + ns;
	for (;;) {
		uint32_t state = JOB_WAITS;
		if (atomic_compare_exchange_strong(&isolated.state, &state, JOB_RUNS)) {
			isolated.job(isolated.with);
			atomic_store(&isolated.state, JOB_DONE);
			sw_sys_wake((const uint32_t *)&isolated.state, 1);
			return;
		}
		if (state == NUDGED && atomic_compare_exchange_strong(&isolated.state, &state, NO_JOB))
			return;
		const uint64_t now = sw_sys_monotonic();
		if (now >= until)
			return;
		sw_sys_wait((const uint32_t *)&isolated.state, state,
			    &(struct timespec){.tv_nsec = (long)(until - now)});
	}
}

/* Ends the thread's wait at once; where a job is on its way the wait ends with it. */
void sw_isolated_nudge(void)
{
	uint32_t state = NO_JOB;
	if (atomic_compare_exchange_strong(&isolated.state, &state, NUDGED))
		sw_sys_wake((const uint32_t *)&isolated.state, 1);
}

/* Opens a file with a descriptor that is not in the program's way: on the isolated thread it is that thread's own,
   elsewhere one with a high number. */
int sw_isolated_open(const char *path, int flags, unsigned mode)
{
	static const int from[] = {1000, 200, 3};
	int low = sw_sys_open(path, flags, mode), high = -EMFILE;
	if (low < 0 || sw_isolated_here())
		return low;
	for (unsigned i = 0; i < sizeof from / sizeof *from && high < 0; i++)
		high = sw_sys_fcntl(low, F_DUPFD_CLOEXEC, from[i]);
	if (high < 0 && low >= 3)
		return low;
	sw_sys_close(low);
	return high;
}

/* In a fork child there is no isolated thread, and its lock may have been held when the process was copied: all of it
   begins anew. */
void sw_isolated_forget(void)
{
	isolated.lock = (struct sw_lock){0};
	atomic_store(&isolated.state, NO_JOB);
	atomic_store(&isolated.own_descriptors, false);
	atomic_store(&isolated.entered, 0);
	atomic_store(&isolated.in_vain, false);
	isolated.thread = 0;
}
