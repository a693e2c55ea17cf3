/* SPDX-License-Identifier: Apache-2.0 */
/* Condition variables, semaphores, barriers, once. */
#include "preload/strict/strict.h"

/* ---- condition variables ----------------------------------------------------------------------------------------- */

/* A wait may be cancelled; the mutex is locked again before the program's clean-up runs (POSIX.1, pthread_cond_wait).
 */
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

/* What the routine did is released before the other callers may return. An exception leaves it undone. */
static void run_once(void)
{
	const struct once *mine = once;
	mine->routine();
	RELEASE(ONCE, mine->control);
}

SW_EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
	const struct once mine = {routine, control};
	once = &mine;
	const int result = sw_real()->pthread_once(control, run_once);
	if (result == 0)
		ACQUIRE(ONCE, control);
	return result;
}

SW_EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
	const struct once mine = {routine, flag};
	once = &mine;
	sw_real()->call_once(flag, run_once);
	ACQUIRE(ONCE, flag);
}
