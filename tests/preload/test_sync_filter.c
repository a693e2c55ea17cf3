/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left out of the trace must not be missed.  Random programs of threads and objects: in addition to what each
 * of them knows with every release and acquire, what it knows by the recorded ones alone; the two must be the same at
 * all times. Compiled with few buckets and few places for threads, so that objects share buckets and places run out.
 * SW_PROGRAMS: how many; SW_SEED: the first seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/strict/sync_filter.h"

enum { THREADS = 7, OBJECTS = 6, STEPS = 200, CALLS = 64 };

/* Sets of CUDA calls whose outcome the program learns. */
struct known {
	uint64_t truly, told;
};

struct program {
	struct sw_sync_thread news[THREADS];
	struct known thread[THREADS], object[OBJECTS];
	unsigned calls;
	unsigned long recorded, left_out;
};

static uint64_t state;

/* splitmix64, Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014. */
static unsigned below(unsigned n)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (unsigned)((z ^ z >> 31) % n);
}

static uint64_t key_of(unsigned object)
{
	return 0x7f0000000040u + 64u * object;
}

static void learn(struct known *into, const struct known *from, bool recorded)
{
	into->truly |= from->truly;
	if (recorded)
		into->told |= from->told;
}

static void count(struct program *p, bool recorded)
{
	p->recorded += recorded;
	p->left_out += !recorded;
}

static void call(struct program *p, unsigned t)
{
	uint64_t one = 1ull << p->calls % CALLS;
	if (p->calls >= CALLS)
		return;
	p->calls++;
	p->thread[t].truly |= one;
	p->thread[t].told |= one;
	sw_sync_learn(&p->news[t]);
}

static void release(struct program *p, unsigned t, unsigned o)
{
	bool record = sw_sync_release(&p->news[t], key_of(o));
	learn(&p->object[o], &p->thread[t], record);
	if (record)
		sw_sync_released(&p->news[t], key_of(o));
	count(p, record);
}

static void acquire(struct program *p, unsigned t, unsigned o)
{
	bool record = sw_sync_acquire(&p->news[t], key_of(o));
	learn(&p->thread[t], &p->object[o], record);
	count(p, record);
}

/* The slot of a thread is taken by a new one, which t creates: its former thread has ended. */
static void create(struct program *p, unsigned t, unsigned child)
{
	if (t == child)
		return;
	sw_sync_inherit(&p->news[child], &p->news[t]);
	p->thread[child] = p->thread[t];
}

static void join(struct program *p, unsigned t, unsigned gone)
{
	learn(&p->thread[t], &p->thread[gone], true);
	sw_sync_learn(&p->news[t]);
}

static bool same(const struct program *p)
{
	for (unsigned t = 0; t < THREADS; t++)
		if (p->thread[t].truly != p->thread[t].told)
			return false;
	for (unsigned o = 0; o < OBJECTS; o++)
		if (p->object[o].truly != p->object[o].told)
			return false;
	return true;
}

static bool run(struct program *p, uint64_t seed)
{
	memset(p, 0, sizeof *p);
	sw_sync_reset();
	state = seed;
	unsigned threads = 2 + below(THREADS - 1), objects = 1 + below(OBJECTS), calling = 1 + below(threads);
	for (unsigned i = 0; i < STEPS; i++) {
		unsigned t = below(threads), o = below(objects), what = below(40);
		if (what < 2)
			call(p, below(calling));
		else if (what < 3)
			create(p, t, below(threads));
		else if (what < 4)
			join(p, t, below(threads));
		else if (what < 20)
			release(p, t, o);
		else
			acquire(p, t, o);
		if (!same(p)) {
			printf("seed %lu: step %u: what was left out is missed\n", (unsigned long)seed, i);
			return false;
		}
	}
	return true;
}

/* Threads that alternate on a lock soon know the same. */
static bool alternating_is_silent(void)
{
	static struct program p;
	memset(&p, 0, sizeof p);
	sw_sync_reset();
	call(&p, 0);
	call(&p, 1);
	for (unsigned i = 0; i < 1000; i++) {
		acquire(&p, i % 2, 0);
		release(&p, i % 2, 0);
	}
	if (!same(&p) || p.recorded > 8)
		printf("1000 rounds of two threads left %lu records\n", p.recorded);
	return same(&p) && p.recorded <= 8;
}

static unsigned long number(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);
	return text && *text ? strtoul(text, NULL, 0) : otherwise;
}

int main(void)
{
	static struct program p;
	unsigned long programs = number("SW_PROGRAMS", 40000), seed = number("SW_SEED", 1), recorded = 0, left_out = 0;
	for (unsigned long i = 0; i < programs; i++) {
		if (!run(&p, seed + i))
			return 1;
		recorded += p.recorded;
		left_out += p.left_out;
	}
	printf("%lu programs: %lu records, %lu left out, none missed\n", programs, recorded, left_out);
	/* Where nothing is left out nothing can be missed. */
	return alternating_is_silent() && left_out > recorded / 4 ? 0 : 1;
}
