/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include "preload/platform/lock.h"
#include "preload/platform/sys.h"

#define STACK_BYTES (64u << 10)
#define LOCAL_BYTES (2048u << 10) /* below the thread pointer: errno lies somewhere in it */
#define TCB_BYTES   4096u
#define ALL_BYTES   ((size_t)STACK_BYTES + LOCAL_BYTES + TCB_BYTES)
#define PATIENCE_NS 10000000u

enum job_state { NO_JOB, JOB_WAITS, JOB_RUNS, JOB_DONE };

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
} apart;

static bool lives(void)
{
	return __atomic_load_n(&apart.thread, __ATOMIC_ACQUIRE) != 0;
}

static bool on_its_stack(void)
{
	return apart.memory && (uintptr_t)__builtin_frame_address(0) - (uintptr_t)apart.memory < STACK_BYTES;
}

bool sw_apart_here(void)
{
	return on_its_stack() && atomic_load(&apart.own_descriptors);
}

uint32_t sw_apart_thread(void)
{
	return __atomic_load_n(&apart.thread, __ATOMIC_ACQUIRE);
}

bool sw_apart_entered(void)
{
	return atomic_load(&apart.entered) || !lives();
}

void sw_apart_enter(void)
{
	atomic_store(&apart.entered, 1);
	sw_sys_wake((const uint32_t *)&apart.entered, INT32_MAX);
}

void sw_apart_wait_entered(const struct timespec *most)
{
	sw_sys_wait((const uint32_t *)&apart.entered, 0, most);
}

static int enter(void *unused)
{
	(void)unused;
	atomic_store(&apart.own_descriptors, sw_sys_own_descriptors() == 0);
	return apart.body();
}

int sw_apart_start(int (*body)(void))
{
#ifdef __x86_64__
	int error = 0;
	if (!apart.memory)
		apart.memory = sw_sys_map(-1, 0, ALL_BYTES, &error);
	if (!apart.memory)
		return error;
	/* What the ABI wants at the thread pointer: its own address (System V psABI, Thread-Local Storage). */
	uint8_t *tcb = apart.memory + STACK_BYTES + LOCAL_BYTES;
	((void **)(void *)tcb)[0] = tcb;
	((void **)(void *)tcb)[2] = tcb;
	apart.body = body;
	uintptr_t away = (uintptr_t)__builtin_thread_pointer() - (uintptr_t)&errno;
	if (away >= LOCAL_BYTES) /* a program with that much static TLS */
		return -ENOMEM;
	return sw_sys_clone(enter, apart.memory + STACK_BYTES, tcb, &apart.thread);
#else
	(void)body;
	return -ENOSYS;
#endif
}

/* True: the job is done.  False: it will not be done. */
static bool wait_for_job(void)
{
	const uint64_t until = sw_sys_monotonic() + PATIENCE_NS;
	for (;;) {
		uint32_t now = atomic_load(&apart.state);
		if (now == JOB_DONE)
			return true;
		bool late = sw_sys_monotonic() > until || !lives();
		if (now == JOB_WAITS && late && atomic_compare_exchange_strong(&apart.state, &now, NO_JOB))
			return false;
		if (now == JOB_RUNS && !lives()) /* ended in the middle, by a seccomp filter */
			return false;
		sw_sys_wait((const uint32_t *)&apart.state, now, &(struct timespec){.tv_nsec = PATIENCE_NS});
	}
}

void sw_apart_run(void (*job)(void *), void *with)
{
	if (on_its_stack() || !lives()) {
		job(with);
		return;
	}
	uint64_t mask = sw_lock_enter(&apart.lock);
	apart.job = job;
	apart.with = with;
	atomic_store(&apart.state, JOB_WAITS);
	sw_sys_wake((const uint32_t *)&apart.state, 1);
	bool done = wait_for_job();
	atomic_store(&apart.state, NO_JOB);
	sw_lock_leave(&apart.lock, mask);
	if (!done)
		job(with);
}

void sw_apart_serve(uint64_t ns)
{
	const uint64_t until = sw_sys_monotonic() + ns;
	for (;;) {
		uint32_t state = JOB_WAITS;
		if (atomic_compare_exchange_strong(&apart.state, &state, JOB_RUNS)) {
			apart.job(apart.with);
			atomic_store(&apart.state, JOB_DONE);
			sw_sys_wake((const uint32_t *)&apart.state, 1);
			return;
		}
		const uint64_t now = sw_sys_monotonic();
		if (now >= until)
			return;
		sw_sys_wait((const uint32_t *)&apart.state, state, &(struct timespec){.tv_nsec = (long)(until - now)});
	}
}

int sw_apart_open(const char *path, int flags, unsigned mode)
{
	static const int from[] = {1000, 200, 3};
	int low = sw_sys_open(path, flags, mode), high = -EMFILE;
	if (low < 0 || sw_apart_here())
		return low;
	for (unsigned i = 0; i < sizeof from / sizeof *from && high < 0; i++)
		high = sw_sys_fcntl(low, F_DUPFD_CLOEXEC, from[i]);
	if (high < 0 && low >= 3)
		return low;
	sw_sys_close(low);
	return high;
}

void sw_apart_forget(void)
{
	apart.lock = (struct sw_lock){0};
	atomic_store(&apart.state, NO_JOB);
	atomic_store(&apart.own_descriptors, false);
	atomic_store(&apart.entered, 0);
	apart.thread = 0;
}
