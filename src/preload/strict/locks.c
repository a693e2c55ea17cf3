/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes, spin locks and rwlocks, and C11's names for them. */
#include <errno.h>

#include "preload/strict/strict.h"

/* EOWNERDEAD: the owner of a robust mutex died, and it is ours now. */
static bool locked(int result)
{
	return result == 0 || result == EOWNERDEAD;
}

#define LOCK(name, object_kind, type, parameters, arguments)                                                           \
	SW_EXPORT int name parameters                                                                                  \
	{                                                                                                              \
		const int result = sw_real()->name arguments;                                                          \
		if (locked(result))                                                                                    \
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
		if (locked(result)) {                                                                                  \
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
