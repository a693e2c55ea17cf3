/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which synchronisation of host threads is worth a record: that which brings somebody news.
 *
 * Only what threads learn through CUDA counts (that work is done), so a lock taken a million times between two CUDA
 * calls need not be written down a million times.  Each thread keeps a vector of counters, one for each thread that
 * makes CUDA calls, and so does each object:
 *
 *   (1) Component s of a vector, with the value v, stands for all that thread s knew when its own counter was v; the
 * owner of the vector knows, in the order that the trace's records give, at least that. (2) What the owner knows in
 * truth (with every release and acquire, recorded or not) is no more than its components stand for, and for a thread
 * what it did since its counter was last raised.
 *
 * A thread raises its own counter when it is about to release and has made a CUDA call since the last time, or has
 * learnt something that no component stands for.  From (2), a release by a thread whose vector the object's vector
 * covers adds nothing to the object, and by (1) the trace says already all that it would say: it is left out.  So is
 * the acquire of an object whose vector the thread's covers.  All others are recorded, and the vector that learns
 * becomes the maximum of both, which keeps (1) and (2).
 *
 * Objects share buckets.  The first one that needs a bucket owns it; of the others the bucket keeps only `over`, which
 * covers all of them: enough to leave out an acquire, never a release.  A thread that acquires such an object learns
 * more than components can express and raises its own counter.  Threads beyond SW_SYNC_THREADS have no counter: all
 * that they do is recorded, and what they release makes the bucket `open`: nothing covers it any more.
 *
 * tests/preload/test_sync_filter.c compares what the records left tell with what all of them would, on random programs.
 */
#ifndef SW_PRELOAD_STRICT_SYNC_FILTER_H
#define SW_PRELOAD_STRICT_SYNC_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#ifndef SW_SYNC_THREADS
#define SW_SYNC_THREADS 16u /* threads that have made CUDA calls and are distinguished */
#endif
#ifndef SW_SYNC_BUCKETS
#define SW_SYNC_BUCKETS 8192u /* a power of two */
#endif

struct sw_sync_thread {
	uint32_t known[SW_SYNC_THREADS];
	uint32_t place; /* its own component + 1; 0: none yet */
	bool crowded;	/* there is none left for it */
	bool fresh;	/* it has learnt something since its counter was last raised */
};

/* The thread learnt something by itself: it made a CUDA call, or joined a thread. Any thread for itself. */
static inline void sw_sync_learn(struct sw_sync_thread *t)
{
	t->fresh = true;
}

/* Is a release worth a record?  If so, record it, and only then call sw_sync_released(). */
bool sw_sync_release(struct sw_sync_thread *t, uint64_t key);
void sw_sync_released(const struct sw_sync_thread *t, uint64_t key);
/* Is an acquire worth a record?  Afterwards the thread knows what the object holds: if so, record it at once. */
bool sw_sync_acquire(struct sw_sync_thread *t, uint64_t key);
/* A thread that is about to be created knows what its creator knows. */
void sw_sync_inherit(struct sw_sync_thread *child, struct sw_sync_thread *creator);

/* Forgets everything: for tests. */
void sw_sync_reset(void);

#endif
