/* SPDX-License-Identifier: Apache-2.0 */
/* The real file, its functions under other names, its system calls through step() ... */
#include <unistd.h>

static long step(long number, long a, long b, long c, long d, long e, long f);
#define syscall(number, a, b, c, d, e, f) step(number, a, b, c, d, e, f)
#define sw_sys_open			  real_open
#define sw_sys_allocate			  real_allocate
#define sw_sys_map			  real_map
#define sw_sys_madvise			  real_madvise
#define sw_sys_thread			  real_thread
#define sw_sys_fstat			  real_fstat
#define sw_sys_clone			  real_clone
#define sw_sys_own_descriptors		  real_own_descriptors
#define sw_sys_write			  real_write
#define sw_sys_write_now		  real_write_now
#define sw_sys_fcntl			  real_fcntl
#define sw_sys_reserve			  real_reserve
#define sw_sys_resize			  real_resize
#define sw_sys_read			  real_read
#define sw_sys_truncate			  real_truncate
#define sw_sys_wait			  real_wait
#define sw_sys_memory			  real_memory
#define sw_sys_read_at			  real_read_at
#define sw_sys_write_at			  real_write_at
#define sw_sys_next_data		  real_next_data
#define sw_sys_punch			  real_punch
#include "preload/platform/sys.c"
#undef syscall
#undef sw_sys_open
#undef sw_sys_allocate
#undef sw_sys_map
#undef sw_sys_madvise
#undef sw_sys_thread
#undef sw_sys_fstat
#undef sw_sys_clone
#undef sw_sys_own_descriptors
#undef sw_sys_write
#undef sw_sys_write_now
#undef sw_sys_fcntl
#undef sw_sys_reserve
#undef sw_sys_resize
#undef sw_sys_read
#undef sw_sys_truncate
#undef sw_sys_wait
#undef sw_sys_memory
#undef sw_sys_read_at
#undef sw_sys_write_at
#undef sw_sys_next_data
#undef sw_sys_punch

/* ... and functions of the right names that may fail first. */
#include "faulty_sys.h"
#include "preload/platform/isolated_thread.h"

#include <sched.h>
#include <stdatomic.h>

int sw_sys_open(const char *path, int flags, unsigned mode);
int sw_sys_allocate(int fd, uint64_t offset, uint64_t bytes);
void *sw_sys_map(int fd, uint64_t offset, size_t bytes, int *error);
int sw_sys_madvise(void *at, size_t bytes, int advice);
int sw_sys_thread(void *(*body)(void *), size_t stack_bytes);
int sw_sys_fstat(int fd, struct stat *out);
int sw_sys_clone(int (*body)(void *), void *stack_top, void *thread_pointer, uint32_t *thread);
int sw_sys_own_descriptors(void);
long sw_sys_write(int fd, const void *data, size_t bytes);
long sw_sys_write_now(int fd, const void *data, size_t bytes);
int sw_sys_fcntl(int fd, int command, long argument);
int sw_sys_reserve(int fd, uint64_t offset, uint64_t bytes);
int sw_sys_resize(const char *path, uint64_t bytes);
long sw_sys_read(int fd, void *data, size_t bytes);
int sw_sys_truncate(int fd, uint64_t bytes);
int sw_sys_wait(const uint32_t *word, uint32_t value, const struct timespec *timeout);
int sw_sys_memory(const char *name);
long sw_sys_read_at(int fd, void *data, size_t bytes, uint64_t offset);
long sw_sys_write_at(int fd, const void *data, size_t bytes, uint64_t offset);
int64_t sw_sys_next_data(int fd, uint64_t offset);
int sw_sys_punch(int fd, uint64_t offset, uint64_t bytes);

static _Atomic unsigned calls[FAULTS];
static unsigned wanted[FAULTS];
static int errors[FAULTS];
static bool lasting[FAULTS];

void fault_set(enum fault kind, unsigned n, int error, bool for_ever)
{
	atomic_store(&calls[kind], 0);
	wanted[kind] = n;
	errors[kind] = error;
	lasting[kind] = for_ever;
}

unsigned fault_calls(enum fault kind)
{
	return atomic_load(&calls[kind]);
}

static bool fails(enum fault kind)
{
	unsigned n = atomic_fetch_add(&calls[kind], 1) + 1;
	return wanted[kind] && (lasting[kind] ? n >= wanted[kind] : n == wanted[kind]);
}

static _Atomic unsigned steps, stop_at;
static int stop_with;
static _Atomic bool stopped;

void step_set(unsigned n, int signal)
{
	atomic_store(&steps, 0);
	stop_with = signal;
	atomic_store(&stop_at, n);
}

unsigned steps_made(void)
{
	return atomic_load(&steps);
}

static struct {
	_Atomic bool on, stands;
	_Atomic uint32_t still;
	_Atomic uint64_t longest;
	_Atomic unsigned endless;
} measured;
static __thread bool blocked; /* not touched on the isolated thread */
static __thread uint64_t waited;

void waits_measure(bool still)
{
	atomic_store(&measured.on, true);
	atomic_store(&measured.still, still);
	if (!still)
		syscall(SYS_futex, &measured.still, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool waits_still(void)
{
	return atomic_load(&measured.stands);
}

uint64_t waits_longest_ns(void)
{
	return atomic_load(&measured.longest);
}

unsigned waits_endless(void)
{
	return atomic_load(&measured.endless);
}

static void stand_still(void)
{
	while (atomic_load(&measured.still)) {
		atomic_store(&measured.stands, true);
		syscall(SYS_futex, &measured.still, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
	}
}

static void measure_wait(const struct timespec *timeout, bool late)
{
	if (!timeout)
		atomic_fetch_add(&measured.endless, 1);
	else if (late)
		waited += (uint64_t)timeout->tv_sec * 1000000000u + (uint64_t)timeout->tv_nsec;
	for (uint64_t seen = atomic_load(&measured.longest);
	     seen < waited && !atomic_compare_exchange_weak(&measured.longest, &seen, waited);)
		;
}

/* After the system call. */
static void measure(long number, long a, long b, long d, bool late)
{
	if (number == SYS_rt_sigprocmask && a == SIG_SETMASK && b) {
		const bool all = *(const uint64_t *)b == ~0ull;
		waited = all && !blocked ? 0 : waited;
		blocked = all;
	}
	if (number == SYS_futex && (b & FUTEX_CMD_MASK) == FUTEX_WAIT && blocked && atomic_load(&measured.on))
		measure_wait((const struct timespec *)d, late);
}

/* On any thread of the recorder, the isolated one as well: nothing of libc but syscall(2). */
static long step(long number, long a, long b, long c, long d, long e, long f)
{
	const unsigned n = atomic_fetch_add(&steps, 1) + 1;
	if (n == atomic_load(&stop_at)) {
		atomic_store(&stopped, true);
		syscall(SYS_kill, syscall(SYS_getpid), stop_with);
	}
	const bool is_apart = sw_isolated_here();
	if (is_apart && number == SYS_futex && (b & FUTEX_CMD_MASK) == FUTEX_WAIT)
		stand_still();
	const long got = syscall(number, a, b, c, d, e, f);
	if (!is_apart)
		measure(number, a, b, d, got == -1 && errno == ETIMEDOUT);
	if (got == 0 && number == SYS_clock_gettime && a == CLOCK_MONOTONIC && atomic_load(&stopped))
		((struct timespec *)b)->tv_sec += STOPPED_S;
	return got;
}

static _Atomic unsigned waits, hold_for, hold_begin;

void fault_begin_after_waits(unsigned n)
{
	atomic_store(&waits, 0);
	atomic_store(&hold_begin, n);
}

int sw_sys_open(const char *path, int flags, unsigned mode)
{
	return fails(FAULT_OPEN) ? -errors[FAULT_OPEN] : real_open(path, flags, mode);
}

int sw_sys_allocate(int fd, uint64_t offset, uint64_t bytes)
{
	return fails(FAULT_ALLOCATE) ? -errors[FAULT_ALLOCATE] : real_allocate(fd, offset, bytes);
}

void fault_map_after_waits(unsigned n)
{
	atomic_store(&waits, 0);
	atomic_store(&hold_for, n);
}

int sw_sys_wait(const uint32_t *word, uint32_t value, const struct timespec *timeout)
{
	atomic_fetch_add(&waits, 1);
	return real_wait(word, value, timeout);
}

void *sw_sys_map(int fd, uint64_t offset, size_t bytes, int *error)
{
	for (const unsigned n = atomic_exchange(&hold_for, 0); atomic_load(&waits) < n;)
		sched_yield();
	if (!fails(FAULT_MAP))
		return real_map(fd, offset, bytes, error);
	*error = -errors[FAULT_MAP];
	return NULL;
}

int sw_sys_madvise(void *at, size_t bytes, int advice)
{
	return fails(FAULT_MADVISE) ? -errors[FAULT_MADVISE] : real_madvise(at, bytes, advice);
}

int sw_sys_thread(void *(*body)(void *), size_t stack_bytes)
{
	return fails(FAULT_THREAD) ? -errors[FAULT_THREAD] : real_thread(body, stack_bytes);
}

int sw_sys_fstat(int fd, struct stat *out)
{
	return fails(FAULT_FSTAT) ? -errors[FAULT_FSTAT] : real_fstat(fd, out);
}

int sw_sys_clone(int (*body)(void *), void *stack_top, void *thread_pointer, uint32_t *thread)
{
	return fails(FAULT_CLONE) ? -errors[FAULT_CLONE] : real_clone(body, stack_top, thread_pointer, thread);
}

int sw_sys_own_descriptors(void)
{
	for (const unsigned n = atomic_load(&hold_begin); atomic_load(&waits) < n;)
		syscall(SYS_sched_yield); /* on the isolated thread */
	return fails(FAULT_OWN_DESCRIPTORS) ? -errors[FAULT_OWN_DESCRIPTORS] : real_own_descriptors();
}

long sw_sys_write(int fd, const void *data, size_t bytes)
{
	return fails(FAULT_WRITE) ? -errors[FAULT_WRITE] : real_write(fd, data, bytes);
}

long sw_sys_write_now(int fd, const void *data, size_t bytes)
{
	return fails(FAULT_WRITE) ? -errors[FAULT_WRITE] : real_write_now(fd, data, bytes);
}

int sw_sys_fcntl(int fd, int command, long argument)
{
	return fails(FAULT_FCNTL) ? -errors[FAULT_FCNTL] : real_fcntl(fd, command, argument);
}

int sw_sys_reserve(int fd, uint64_t offset, uint64_t bytes)
{
	return fails(FAULT_RESERVE) ? -errors[FAULT_RESERVE] : real_reserve(fd, offset, bytes);
}

int sw_sys_resize(const char *path, uint64_t bytes)
{
	return fails(FAULT_RESIZE) ? -errors[FAULT_RESIZE] : real_resize(path, bytes);
}

long sw_sys_read(int fd, void *data, size_t bytes)
{
	return fails(FAULT_READ) ? -errors[FAULT_READ] : real_read(fd, data, bytes);
}

int sw_sys_truncate(int fd, uint64_t bytes)
{
	return fails(FAULT_TRUNCATE) ? -errors[FAULT_TRUNCATE] : real_truncate(fd, bytes);
}

int sw_sys_memory(const char *name)
{
	return fails(FAULT_MEMORY) ? -errors[FAULT_MEMORY] : real_memory(name);
}

long sw_sys_read_at(int fd, void *data, size_t bytes, uint64_t offset)
{
	return fails(FAULT_READ_AT) ? -errors[FAULT_READ_AT] : real_read_at(fd, data, bytes, offset);
}

/* Some of it, as on a disk that is full in the middle. */
long sw_sys_write_at(int fd, const void *data, size_t bytes, uint64_t offset)
{
	if (!fails(FAULT_WRITE_AT))
		return real_write_at(fd, data, bytes, offset);
	return bytes > 1 && !errors[FAULT_WRITE_AT] ? real_write_at(fd, data, bytes / 2, offset)
						    : -errors[FAULT_WRITE_AT];
}

int64_t sw_sys_next_data(int fd, uint64_t offset)
{
	return fails(FAULT_NEXT_DATA) ? -errors[FAULT_NEXT_DATA] : real_next_data(fd, offset);
}

int sw_sys_punch(int fd, uint64_t offset, uint64_t bytes)
{
	return fails(FAULT_PUNCH) ? -errors[FAULT_PUNCH] : real_punch(fd, offset, bytes);
}
