/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/strict/sync_filter.h"

#include <string.h>

struct bucket {
	uint32_t lock;
	uint32_t open;			/* somebody released what no vector covers */
	uint64_t owner;			/* key, 0: none */
	uint32_t held[SW_SYNC_THREADS]; /* by the owner */
	uint32_t over[SW_SYNC_THREADS]; /* covers what all objects of the bucket hold */
};

static struct bucket buckets[SW_SYNC_BUCKETS];
static const uint32_t nothing[SW_SYNC_THREADS];
static uint32_t places; /* given out; may exceed SW_SYNC_THREADS */

/* How many components of the vectors are in use. */
static uint32_t places_used(void)
{
	uint32_t used = __atomic_load_n(&places, __ATOMIC_RELAXED);

	return used < SW_SYNC_THREADS ? used : SW_SYNC_THREADS;
}

/* The bucket that the object shares with others. */
static struct bucket *bucket_of(uint64_t key)
{
	return &buckets[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 51 & (SW_SYNC_BUCKETS - 1)];
}

/* Takes the bucket's lock, which is held for a few dozen instructions.  False: not taken, after a short while: a signal
   handler that calls sem_post() may have interrupted the holder. */
static bool lock_bucket(struct bucket *b)
{
	for (unsigned spin = 0; spin < 1000; spin++) {
		if (!__atomic_exchange_n(&b->lock, 1, __ATOMIC_ACQUIRE))
			return true;
#ifdef __x86_64__
		__builtin_ia32_pause();
#else
		__asm__ volatile("yield");
#endif
	}
	return false;
}

static void unlock_bucket(struct bucket *b)
{
	__atomic_store_n(&b->lock, 0, __ATOMIC_RELEASE);
}

/* Is no component of `less` above that of `more`?  Then whoever has `more` knows all that `less` stands for. */
static bool counts_cover(const uint32_t *more, const uint32_t *less)
{
	const uint32_t n = places_used();

	for (uint32_t i = 0; i < n; i++)
		if (less[i] > more[i])
			return false;
	return true;
}

/* The larger of each component: `into` knows both from now on. */
static void join_counts(uint32_t *into, const uint32_t *from)
{
	const uint32_t n = places_used();

	for (uint32_t i = 0; i < n; i++)
		if (from[i] > into[i])
			into[i] = from[i];
}

/* Before a release: if the thread learnt something by itself, its own component goes up.  A thread without a component,
   or whose numbers have run out, is `crowded`. */
static void raise_own(struct sw_sync_thread *t)
{
	if (!t->fresh || t->crowded)
		return;
	if (!t->place) {
		t->place = __atomic_fetch_add(&places, 1, __ATOMIC_RELAXED) + 1;
		t->crowded = t->place > SW_SYNC_THREADS;
	}
	if (!t->crowded && ++t->known[t->place - 1] == UINT32_MAX)
		t->crowded = true;
	t->fresh = t->crowded;
}

/* Is a release (an unlock, a post) worth a record?  Not if the object already holds all that the thread knows, since it
   would order nothing new. */
bool sw_sync_release(struct sw_sync_thread *t, uint64_t key)
{
	struct bucket *b = bucket_of(key);
	bool news = true;

	raise_own(t);
	if (!t->crowded && counts_cover(nothing, t->known))
		return false;
	if (t->crowded || !lock_bucket(b))
		return true;
	if (b->owner == key)
		news = !counts_cover(b->held, t->known);
	unlock_bucket(b);
	return news;
}

/* Notes that the object holds what the thread knows.  Objects share buckets: `over` bounds what any of them holds,
   `held` is exact for the first. */
void sw_sync_released(const struct sw_sync_thread *t, uint64_t key)
{
	struct bucket *b = bucket_of(key);

	if (t->crowded || !lock_bucket(b)) {
		__atomic_store_n(&b->open, 1, __ATOMIC_RELEASE);
		return;
	}
	if (!b->owner)
		b->owner = key;
	if (b->owner == key)
		join_counts(b->held, t->known);
	join_counts(b->over, t->known);
	unlock_bucket(b);
}

/* Is an acquire (a lock, a wait) worth a record?  Not if the thread already knows all that the object can hold. */
bool sw_sync_acquire(struct sw_sync_thread *t, uint64_t key)
{
	struct bucket *b = bucket_of(key);
	bool news = true, exact = false;

	if (__atomic_load_n(&b->open, __ATOMIC_ACQUIRE) || !lock_bucket(b)) {
		t->fresh = true;
		return true;
	}
	if (!t->crowded && counts_cover(t->known, b->over)) {
		news = false;
	} else if (b->owner == key && !b->open) {
		exact = true;
		news = t->crowded || !counts_cover(t->known, b->held);
		join_counts(t->known, b->held);
	}
	unlock_bucket(b);
	t->fresh |= news && !exact;
	return news;
}

/* A new thread knows what its creator knows. */
void sw_sync_inherit(struct sw_sync_thread *child, struct sw_sync_thread *creator)
{
	raise_own(creator);
	*child = (struct sw_sync_thread){.fresh = creator->fresh}; /* crowded: order that no component has */
	memcpy(child->known, creator->known, sizeof child->known);
}

/* Forgets everything: for tests. */
void sw_sync_reset(void)
{
	memset(buckets, 0, sizeof buckets);
	places = 0;
}
