/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creation, end and join of threads.
 *
 * Each thread starts in a function of ours, also before the first CUDA call: its end must be seen by the thread that
 * joins it. What it needs to know lies in a page of its own, which it returns: creating a thread costs more than that,
 * and the program's allocator may be one that creates threads.
 */
#include "preload/strict/strict.h"

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>

#include "preload/strict/sync_filter.h"
#include "preload/recorder/writer.h"

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
} self __attribute__((tls_model("initial-exec")));

static struct {
	pthread_once_t once;
	pthread_key_t key;
	bool made;
} end = {.once = PTHREAD_ONCE_INIT};
static uint64_t births;

/* Our frames have a frame pointer: the return address lies above it. */
static bool foreign(const void *frame)
{
	const int saved = errno;
	const bool is = sw_strict_foreign(((void *const *)frame)[1]);

	errno = saved;
	return is;
}

/*
 * The driver's own threads take the driver's own locks, which are no promise to the program.  In a host function such a
 * thread does what the program wrote.
 */
bool sw_strict_watching(const void *frame)
{
	const struct sw_companion *companion = sw_strict_companion();

	if (!companion || !companion->recording() || companion->nested(frame))
		return false;
	if (self.driver && !companion->thread()->functions)
		return false;
	return !foreign(frame);
}

/*
 * The thread ends.  Destructors of other keys may still do something, so ours runs again until the last round; what is
 * done in the same round after it still reaches the thread that joins (sw_hb_thread_join).
 */
static void ended(void *unused)
{
	(void)unused;
	if (++self.rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
		pthread_setspecific(end.key, &self);
		return;
	}
	if (sw_strict_watching(__builtin_frame_address(0)))
		sw_strict_companion()->host_sync(SW_THREAD_END, SW_THROUGH_THREAD, (uint64_t)pthread_self());
}

static void make_key(void)
{
	end.made = pthread_key_create(&end.key, ended) == 0;
}

static struct sw_strict_birth *expect_thread(const void *frame)
{
	const struct sw_companion *companion = sw_strict_companion();
	const int saved = errno;
	struct sw_strict_birth *birth =
		companion ? mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;

	errno = saved;
	if (birth == MAP_FAILED)
		return NULL;
	birth->driver = self.driver || companion->nested(frame) || foreign(frame);
	if (sw_strict_watching(frame)) {
		const uint64_t id = __atomic_add_fetch(&births, 1, __ATOMIC_RELAXED);
		sw_sync_inherit(&birth->filter, sw_strict_filter());
		birth->id = companion->host_sync(SW_THREAD_CREATE, SW_THROUGH_THREAD, id) ? id : 0;
	}
	errno = saved;
	return birth;
}

/* The creation failed: there is no such thread. */
static void creation_failed(struct sw_strict_birth *birth)
{
	const int saved = errno;

	if (birth->id)
		sw_strict_companion()->host_sync(SW_THREAD_ABANDON, SW_THROUGH_THREAD, birth->id);
	munmap(birth, PAGE);
	errno = saved;
}

/* In the new thread. */
static void thread_started(struct sw_strict_birth *birth)
{
	const struct sw_companion *companion = sw_strict_companion();

	sw_real()->pthread_once(&end.once, make_key);
	if (end.made)
		pthread_setspecific(end.key, &self);
	self.driver = birth->driver;
	companion->thread()->born = birth->id;
	*sw_strict_filter() = birth->filter;
	munmap(birth, PAGE);
}

static void *start_posix(void *arg)
{
	const struct sw_strict_birth birth = *(struct sw_strict_birth *)arg;

	thread_started(arg);
	return birth.start.posix(birth.arg);
}

static int start_c11(void *arg)
{
	const struct sw_strict_birth birth = *(struct sw_strict_birth *)arg;

	thread_started(arg);
	return birth.start.c11(birth.arg);
}

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

/* What the thread knew is more than counters can say: the joiner's own counter represents it from now on. */
static void thread_joined(pthread_t thread, const void *frame)
{
	const int saved = errno;

	if (sw_strict_watching(frame)) {
		sw_sync_learn(sw_strict_filter());
		sw_strict_companion()->host_sync(SW_THREAD_JOIN, SW_THROUGH_THREAD, (uint64_t)thread);
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
