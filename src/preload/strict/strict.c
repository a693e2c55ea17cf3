/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-host.so: how host threads order each other (--strict-host).  Loaded after libsyncwatch.so; without it,
 * and until the first CUDA call, everything passes through.
 *
 * A wrapper records a release before the real call and an acquire after it, so that in the order of the trace a release
 * comes before the acquires that it let through.  errno and results are the real call's; nothing here locks, allocates
 * or makes a system call in steady state.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "base/arch.h"
#include "preload/recorder/companion.h"
#include "preload/recorder/writer.h"
#include "preload/strict/sync_filter.h"

/* The functions that we stand before. */
struct sw_strict_real {
#define STRICT(result, name, parameters, version) result(*name) parameters;
#include "preload/strict/functions.def"
#undef STRICT
};
extern struct sw_strict_real sw_strict_real;
extern bool sw_strict_ready;
/* Any thread, also in constructors that run before ours. */
static void strict_begin(void);

/* The functions that ours stand before, looked up at first use. */
static inline const struct sw_strict_real *sw_real(void)
{
	if (__builtin_expect(!__atomic_load_n(&sw_strict_ready, __ATOMIC_ACQUIRE), 0))
		strict_begin();
	return &sw_strict_real;
}

#define SW_EXPORT __attribute__((visibility("default")))

/* `frame`: of the wrapper. */
static void strict_release(enum sw_through kind, const void *object, const void *frame);
static void strict_acquire(enum sw_through kind, const void *object, const void *frame);
#define RELEASE(kind, object) strict_release(SW_THROUGH_##kind, object, __builtin_frame_address(0))
#define ACQUIRE(kind, object) strict_acquire(SW_THROUGH_##kind, object, __builtin_frame_address(0))

/* ---- threads ---- */

struct sw_strict_birth; /* what a new thread gets */

static bool strict_watching(const void *frame);

/*
 * Locks that CUDA's own libraries take are no promise to the program: they must not order its threads.  Most are taken
 * inside a recorded call; those of cudart and of calls that are not recorded are reported by whose code calls.
 *
 * The loader is not asked: its lock may be held by a thread that waits for the very lock that our caller holds.  What
 * the kernel says of an address (/proc/self/maps) is kept, since these libraries are never unloaded.  A static cudart
 * is part of the program and cannot be distinguished from it; its locks may then hide a race, never make one up.
 */

#define RANGES 256u

static struct range {
	uintptr_t start, end;
	bool foreign;
} ranges[RANGES];
static uint32_t known; /* of them, only ever more */
static uint32_t adding;

static const char *const names[] = {"libcuda.so", "libcudart.so", "libcupti.so", "libnvidia-", "libsyncwatch"};

/* Is this the path of one of CUDA's libraries, or ours? */
static bool is_foreign(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Reads a number and moves behind it. */
static uintptr_t read_hexadecimal(const char **text)
{
	uintptr_t value = 0;

	for (;; (*text)++) {
		const char c = **text;
		if (c >= '0' && c <= '9')
			value = value << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uintptr_t)(c - 'a' + 10);
		else
			return value;
	}
}

/* Reads a line of /proc/self/maps, "start-end perms offset dev inode path".  True: the address lies in its range. */
static bool read_line(const char *line, uintptr_t address, struct range *range)
{
	range->start = read_hexadecimal(&line);
	line += *line == '-';
	range->end = read_hexadecimal(&line);
	range->foreign = is_foreign(line);
	return address >= range->start && address < range->end;
}

/* Finds the mapping that holds an address.  By system calls, as libc's functions are cancellation points. */
static bool find_mapping(uintptr_t address, struct range *range)
{
	char text[4096 + 1];
	size_t n = 0;
	ssize_t got = 1;
	bool found = false;
	const long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && !found && (got = syscall(SYS_read, fd, text + n, sizeof text - 1 - n)) > 0) {
		char *line = text, *end;
		text[n += (size_t)got] = 0;
		while (!found && (end = strchr(line, '\n'))) {
			*end = 0;
			found = read_line(line, address, range);
			line = end + 1;
		}
		n -= (size_t)(line - text);
		memmove(text, line, n);
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	return found;
}

/* Is this address in code of CUDA's own libraries? errno is not kept. */
static bool strict_foreign(const void *caller)
{
	const uintptr_t address = (uintptr_t)caller;
	const uint32_t n = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
	struct range range;

	for (uint32_t i = 0; i < n; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return ranges[i].foreign;
	if (!find_mapping(address, &range))
		return false;
	/* A thread that comes while another adds does not wait: the next call will add it. */
	if (n < RANGES && !__atomic_exchange_n(&adding, 1, __ATOMIC_ACQUIRE)) {
		const uint32_t at = __atomic_load_n(&known, __ATOMIC_RELAXED);
		if (at < RANGES) {
			ranges[at] = range;
			__atomic_store_n(&known, at + 1, __ATOMIC_RELEASE);
		}
		__atomic_store_n(&adding, 0, __ATOMIC_RELEASE);
	}
	return range.foreign;
}

struct sw_strict_real sw_strict_real;
bool sw_strict_ready;

static const struct sw_companion *recorder_table;

/* Our state of a thread, in addition to the recorder's. */
static __thread struct {
	struct sw_thread *recorder;
	uint64_t calls; /* of it that the filter includes */
	struct sw_sync_thread filter;
} strict_self __attribute__((tls_model("initial-exec")));

/*
 * Each thread that comes here before it is done does it all: the results are the same.  Functions that this libc does
 * not have stay NULL, and cannot be called.
 */
static void strict_begin(void)
{
	const int saved = errno;
	const struct sw_companion *(*ask)(uint32_t) = NULL;

#define STRICT(result, name, parameters, version)                                                                      \
	*(void **)&sw_strict_real.name = (version)[0] ? dlvsym(RTLD_NEXT, #name, version) : dlsym(RTLD_NEXT, #name);
#include "preload/strict/functions.def"
#undef STRICT
	*(void **)&ask = dlsym(RTLD_DEFAULT, "syncwatch_companion");
	recorder_table = ask ? ask(SW_COMPANION_VERSION) : NULL;
	if (recorder_table)
		recorder_table->host_sync_on();
	__atomic_store_n(&sw_strict_ready, true, __ATOMIC_RELEASE);
	errno = saved;
}

/* The real functions are found before the program's threads need them. */
static __attribute__((constructor)) void start_early(void)
{
	sw_real();
}

/* The companion's table, NULL: libsyncwatch.so is not there. */
static const struct sw_companion *strict_companion(void)
{
	sw_real();
	return recorder_table;
}

/* The filter (sync_filter.h) of the calling thread: which order it has learnt; CUDA calls that it made since the last
   look count as learnt. */
static struct sw_sync_thread *strict_filter(void)
{
	if (!strict_self.recorder)
		strict_self.recorder = recorder_table->thread();
	if (strict_self.recorder->calls != strict_self.calls) {
		strict_self.calls = strict_self.recorder->calls;
		sw_sync_learn(&strict_self.filter);
	}
	return &strict_self.filter;
}

/* One number for an object and its kind: objects of different kinds at one address are different ones.  User addresses
   have 47 bits. */
static uint64_t key_of(enum sw_through kind, const void *object)
{
	return (uint64_t)(uintptr_t)object | (uint64_t)kind << 56;
}

/* Records that the thread passes on what it knows through this object, if that is news to anybody. */
static void strict_release(enum sw_through kind, const void *object, const void *frame)
{
	if (!strict_watching(frame))
		return;
	const int saved = errno;
	struct sw_sync_thread *filter = strict_filter();
	const uint64_t key = key_of(kind, object);

	if (sw_sync_release(filter, key) &&
	    recorder_table->host_sync(SW_THREAD_RELEASE, kind, (uint64_t)(uintptr_t)object))
		sw_sync_released(filter, key);
	errno = saved;
}

/* Records that the thread learns what was passed on through this object, if that is news to it. */
static void strict_acquire(enum sw_through kind, const void *object, const void *frame)
{
	if (!strict_watching(frame))
		return;
	const int saved = errno;

	if (sw_sync_acquire(strict_filter(), key_of(kind, object)))
		recorder_table->host_sync(SW_THREAD_ACQUIRE, kind, (uint64_t)(uintptr_t)object);
	errno = saved;
}

/* Mutexes, spin locks and rwlocks, and C11's names for them. */

/* Did the call lock?  EOWNERDEAD: the owner of a robust mutex died, and it is ours now. */
static bool was_locked(int result)
{
	return result == 0 || result == EOWNERDEAD;
}

#define LOCK(name, object_kind, type, parameters, arguments)                                                           \
	SW_EXPORT int name parameters                                                                                  \
	{                                                                                                              \
		const int result = sw_real()->name arguments;                                                          \
		if (was_locked(result))                                                                                \
			ACQUIRE(object_kind, (const void *)lock);                                                      \
		return result;                                                                                         \
	}
#define UNLOCK(name, object_kind, type)                                                                                \
	SW_EXPORT int name(type *lock)                                                                                 \
	{                                                                                                              \
		RELEASE(object_kind, (const void *)lock);                                                              \
		return sw_real()->name(lock);                                                                          \
	}

LOCK(pthread_mutex_lock, MUTEX, pthread_mutex_t, (pthread_mutex_t * lock), (lock))
LOCK(pthread_mutex_trylock, MUTEX, pthread_mutex_t, (pthread_mutex_t * lock), (lock))
LOCK(pthread_mutex_timedlock, MUTEX, pthread_mutex_t, (pthread_mutex_t * lock, const struct timespec *until),
     (lock, until))
LOCK(pthread_mutex_clocklock, MUTEX, pthread_mutex_t,
     (pthread_mutex_t * lock, clockid_t clock, const struct timespec *until), (lock, clock, until))
UNLOCK(pthread_mutex_unlock, MUTEX, pthread_mutex_t)

LOCK(pthread_spin_lock, MUTEX, pthread_spinlock_t, (pthread_spinlock_t * lock), (lock))
LOCK(pthread_spin_trylock, MUTEX, pthread_spinlock_t, (pthread_spinlock_t * lock), (lock))
UNLOCK(pthread_spin_unlock, MUTEX, pthread_spinlock_t)

/* C11: thrd_success is 0, and so is a failed thrd_busy not. */
LOCK(mtx_lock, MUTEX, mtx_t, (mtx_t * lock), (lock))
LOCK(mtx_trylock, MUTEX, mtx_t, (mtx_t * lock), (lock))
LOCK(mtx_timedlock, MUTEX, mtx_t, (mtx_t * lock, const struct timespec *until), (lock, until))
UNLOCK(mtx_unlock, MUTEX, mtx_t)

/* ---- rwlocks ----------------------------------------------------------------------------------------------------- */

/* Readers learn from writers, not from other readers; writers learn from both. */
#define READ_LOCK(name, parameters, arguments) LOCK(name, WRITERS, pthread_rwlock_t, parameters, arguments)
#define WRITE_LOCK(name, parameters, arguments)                                                                        \
	SW_EXPORT int name parameters                                                                                  \
	{                                                                                                              \
		const int result = sw_real()->name arguments;                                                          \
		if (was_locked(result)) {                                                                              \
			ACQUIRE(WRITERS, lock);                                                                        \
			ACQUIRE(READERS, lock);                                                                        \
		}                                                                                                      \
		return result;                                                                                         \
	}

READ_LOCK(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
READ_LOCK(pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock))
READ_LOCK(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const struct timespec *until), (lock, until))
READ_LOCK(pthread_rwlock_clockrdlock, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
	  (lock, clock, until))
WRITE_LOCK(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
WRITE_LOCK(pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock))
WRITE_LOCK(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *until), (lock, until))
WRITE_LOCK(pthread_rwlock_clockwrlock, (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),
	   (lock, clock, until))

/* While a reader holds the lock it has no writer; a writer unlocks its own. */
SW_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	if (__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED))
		RELEASE(WRITERS, lock);
	else
		RELEASE(READERS, lock);
	return sw_real()->pthread_rwlock_unlock(lock);
}

/* Condition variables, semaphores, barriers, once. */

/* ---- condition variables ----------------------------------------------------------------------------------------- */

/* Runs if a wait is cancelled: the mutex is locked again before the program's clean-up runs (POSIX.1,
   pthread_cond_wait). */
static void locked_again(void *mutex)
{
	ACQUIRE(MUTEX, mutex);
}

/*
 * The signal itself counts too: a program whose predicate is an atomic variable need not hold the mutex when it
 * signals.
 */
#define WAIT(name, cond_type, mutex_type, parameters, arguments)                                                       \
	SW_EXPORT int name parameters                                                                                  \
	{                                                                                                              \
		int result;                                                                                            \
		RELEASE(MUTEX, mutex);                                                                                 \
		pthread_cleanup_push(locked_again, mutex);                                                             \
		result = sw_real()->name arguments;                                                                    \
		pthread_cleanup_pop(0);                                                                                \
		ACQUIRE(MUTEX, mutex);                                                                                 \
		if (result == 0)                                                                                       \
			ACQUIRE(COND, cond);                                                                           \
		return result;                                                                                         \
	}
#define SIGNAL(name, type)                                                                                             \
	SW_EXPORT int name(type *cond)                                                                                 \
	{                                                                                                              \
		RELEASE(COND, cond);                                                                                   \
		return sw_real()->name(cond);                                                                          \
	}

WAIT(pthread_cond_wait, pthread_cond_t, pthread_mutex_t, (pthread_cond_t * cond, pthread_mutex_t *mutex), (cond, mutex))
WAIT(pthread_cond_timedwait, pthread_cond_t, pthread_mutex_t,
     (pthread_cond_t * cond, pthread_mutex_t *mutex, const struct timespec *until), (cond, mutex, until))
WAIT(pthread_cond_clockwait, pthread_cond_t, pthread_mutex_t,
     (pthread_cond_t * cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until),
     (cond, mutex, clock, until))
WAIT(cnd_wait, cnd_t, mtx_t, (cnd_t * cond, mtx_t *mutex), (cond, mutex))
WAIT(cnd_timedwait, cnd_t, mtx_t, (cnd_t * cond, mtx_t *mutex, const struct timespec *until), (cond, mutex, until))
SIGNAL(pthread_cond_signal, pthread_cond_t)
SIGNAL(pthread_cond_broadcast, pthread_cond_t)
SIGNAL(cnd_signal, cnd_t)
SIGNAL(cnd_broadcast, cnd_t)

/* ---- semaphores -------------------------------------------------------------------------------------------------- */

#define TAKE(name, parameters, arguments)                                                                              \
	SW_EXPORT int name parameters                                                                                  \
	{                                                                                                              \
		const int result = sw_real()->name arguments;                                                          \
		if (result == 0)                                                                                       \
			ACQUIRE(SEMAPHORE, sem);                                                                       \
		return result;                                                                                         \
	}

TAKE(sem_wait, (sem_t * sem), (sem))
TAKE(sem_trywait, (sem_t * sem), (sem))
TAKE(sem_timedwait, (sem_t * sem, const struct timespec *until), (sem, until))
TAKE(sem_clockwait, (sem_t * sem, clockid_t clock, const struct timespec *until), (sem, clock, until))

SW_EXPORT int sem_post(sem_t *sem)
{
	RELEASE(SEMAPHORE, sem);
	return sw_real()->sem_post(sem);
}

/* ---- barriers, once ---------------------------------------------------------------------------------------------- */

/* All that enter a barrier pass on what they know to all that leave it. */
SW_EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	RELEASE(BARRIER, barrier);
	const int result = sw_real()->pthread_barrier_wait(barrier);
	if (result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD)
		ACQUIRE(BARRIER, barrier);
	return result;
}

/*
 * The routine gets no argument: it is reported here which one it stands for, and looks as soon as it begins.  What an
 * exception of the routine (std::call_once) leaves here is never looked at again.
 */
struct once {
	void (*routine)(void);
	const void *control;
};
static __thread const struct once *once __attribute__((tls_model("initial-exec")));

/* Runs in place of the program's routine: its work is released before the other callers may return.  An exception
   leaves it undone. */
static void run_once(void)
{
	const struct once *mine = once;
	mine->routine();
	RELEASE(ONCE, mine->control);
}

/* The routine's end, wherever it runs, is a release; each return from here is an acquire. */
SW_EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
	const struct once mine = {routine, control};
	once = &mine;
	const int result = sw_real()->pthread_once(control, run_once);
	if (result == 0)
		ACQUIRE(ONCE, control);
	return result;
}

/* As pthread_once(), by C11's name. */
SW_EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
	const struct once mine = {routine, flag};
	once = &mine;
	sw_real()->call_once(flag, run_once);
	ACQUIRE(ONCE, flag);
}

/*
 * Creation, end and join of threads.
 *
 * Each thread starts in a function of ours, also before the first CUDA call: its end must be seen by the thread that
 * joins it. What it needs to know lies in a page of its own, which it returns: creating a thread costs more than that,
 * and the program's allocator may be one that creates threads.
 */

#define PAGE 4096u

struct sw_strict_birth {
	union {
		void *(*posix)(void *);
		thrd_start_t c11;
	} start;
	void *arg;
	uint64_t id; /* of the CREATE record, 0: none */
	struct sw_sync_thread filter;
	bool driver; /* made inside a call of CUDA: a thread of the driver's own */
};

static __thread struct {
	unsigned rounds; /* of destructors that came before ours */
	bool driver;
} thread_self __attribute__((tls_model("initial-exec")));

static struct {
	pthread_once_t once;
	pthread_key_t key;
	bool made;
} end = {.once = PTHREAD_ONCE_INIT};
static uint64_t births;

/* Was the wrapper with this frame called by one of CUDA's libraries?  Our frames have a frame pointer: the return
   address lies above it. */
static bool frame_is_foreign(const void *frame)
{
	const int saved = errno;
	const bool is = strict_foreign(sw_arch_caller(frame));

	errno = saved;
	return is;
}

/* Is what this thread does recorded at all?  A CUDA call was made, we are not inside of one, and it is no thread of the
   driver's own: those take the driver's own locks, which are no promise to the program.  In a host function such a
   thread does what the program wrote. */
static bool strict_watching(const void *frame)
{
	const struct sw_companion *companion = strict_companion();

	if (!companion || !companion->recording() || companion->nested(frame))
		return false;
	if (thread_self.driver && !companion->thread()->functions)
		return false;
	return !frame_is_foreign(frame);
}

/* A pthread key's destructor: the thread ends.  Destructors of other keys may still do something, so ours runs again
   until the last round; what is done in the same round after it still reaches the thread that joins
   (sw_hb_thread_join). */
static void thread_ended(void *unused)
{
	(void)unused;
	if (++thread_self.rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(end.key, &thread_self);
		return;
	}
	if (strict_watching(__builtin_frame_address(0)))
		strict_companion()->host_sync(SW_THREAD_END, SW_THROUGH_THREAD, (uint64_t)pthread_self());
}

/* The key by which ends of threads are seen, made once. */
static void make_key(void)
{
	end.made = pthread_key_create(&end.key, thread_ended) == 0;
}

/* Before a thread is created: what it will need to know, and a record of the creation.  NULL: no memory, it starts
   unwatched. */
static struct sw_strict_birth *expect_thread(const void *frame)
{
	const struct sw_companion *companion = strict_companion();
	const int saved = errno;
	struct sw_strict_birth *birth =
		companion ? mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;

	errno = saved;
	if (birth == MAP_FAILED)
		return NULL;
	birth->driver = thread_self.driver || companion->nested(frame) || frame_is_foreign(frame);
	if (strict_watching(frame)) {
		const uint64_t id = __atomic_add_fetch(&births, 1, __ATOMIC_RELAXED);
		sw_sync_inherit(&birth->filter, strict_filter());
		birth->id = companion->host_sync(SW_THREAD_CREATE, SW_THROUGH_THREAD, id) ? id : 0;
	}
	errno = saved;
	return birth;
}

/* A thread could not be created: drops what was said of it. */
static void creation_failed(struct sw_strict_birth *birth)
{
	const int saved = errno;

	if (birth->id)
		strict_companion()->host_sync(SW_THREAD_ABANDON, SW_THROUGH_THREAD, birth->id);
	munmap(birth, PAGE);
	errno = saved;
}

/* In a new thread, before its function: it knows what its creator knew. */
static void thread_started(struct sw_strict_birth *birth)
{
	const struct sw_companion *companion = strict_companion();

	sw_real()->pthread_once(&end.once, make_key);
	if (end.made)
		pthread_setspecific(end.key, &thread_self);
	thread_self.driver = birth->driver;
	companion->thread()->born = birth->id;
	*strict_filter() = birth->filter;
	munmap(birth, PAGE);
}

/* The first function of a thread that pthread_create() made. */
static void *start_posix(void *arg)
{
	const struct sw_strict_birth birth = *(struct sw_strict_birth *)arg;

	thread_started(arg);
	return birth.start.posix(birth.arg);
}

/* The first function of a thread that thrd_create() made. */
static int start_c11(void *arg)
{
	const struct sw_strict_birth birth = *(struct sw_strict_birth *)arg;

	thread_started(arg);
	return birth.start.c11(birth.arg);
}

/* The new thread comes after all that this one did before: the record of its birth says so. */
SW_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *arg)
{
	struct sw_strict_birth *birth = expect_thread(__builtin_frame_address(0));
	if (!birth)
		return sw_real()->pthread_create(thread, attributes, start, arg);
	birth->start.posix = start;
	birth->arg = arg;
	const int result = sw_real()->pthread_create(thread, attributes, start_posix, birth);
	if (result)
		creation_failed(birth);
	return result;
}

/* As pthread_create(), by C11's name. */
SW_EXPORT int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
	struct sw_strict_birth *birth = expect_thread(__builtin_frame_address(0));
	if (!birth)
		return sw_real()->thrd_create(thread, start, arg);
	birth->start.c11 = start;
	birth->arg = arg;
	const int result = sw_real()->thrd_create(thread, start_c11, birth);
	if (result != thrd_success)
		creation_failed(birth);
	return result;
}

/* ---- join -------------------------------------------------------------------------------------------------------- */

/* The ended thread may know more than counters can say: the joiner's own counter represents it from now on. */
static void thread_joined(pthread_t thread, const void *frame)
{
	const int saved = errno;

	if (strict_watching(frame)) {
		sw_sync_learn(strict_filter());
		strict_companion()->host_sync(SW_THREAD_JOIN, SW_THROUGH_THREAD, (uint64_t)thread);
	}
	errno = saved;
}

#define JOIN(name, parameters, arguments)                                                                              \
	SW_EXPORT int name parameters                                                                                  \
	{                                                                                                              \
		const int status = sw_real()->name arguments;                                                          \
		if (status == 0)                                                                                       \
			thread_joined(thread, __builtin_frame_address(0));                                             \
		return status;                                                                                         \
	}

JOIN(pthread_join, (pthread_t thread, void **result), (thread, result))
JOIN(pthread_tryjoin_np, (pthread_t thread, void **result), (thread, result))
JOIN(pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until), (thread, result, until))
JOIN(pthread_clockjoin_np, (pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
     (thread, result, clock, until))
JOIN(thrd_join, (thrd_t thread, int *result), (thread, result))
