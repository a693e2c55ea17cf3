/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/stack.h"

#include <string.h>

#include "preload/modules.h"
#include "preload/options.h"
#include "preload/sys.h"
#include "preload/unwind.h"

#define SETS 128u
#define WAYS 8u
/* Frames remembered beyond those recorded, so that a stack can take over outer frames from one that was deeper. */
#define MARGIN 16u
#define FRAMES (SW_STACK_FRAMES + MARGIN)

uint32_t sw_stack_depth;

struct remembered {
	const char *frame; /* of the wrapper; NULL: free */
	uint32_t id;
	uint16_t frames;
	bool whole;       /* the walk reached the outermost frame */
	bool failed;      /* it ended for lack of unwind information */
	struct remembered *next; /* what came after it last time */
	uint64_t ip[FRAMES];
	uint32_t slot[FRAMES]; /* distance from `frame`, in 8 bytes */
};

struct sw_stack_cache {
	struct remembered *last;
	uintptr_t top;
	uint8_t oldest[SETS];
	bool used[SETS];
	struct remembered sets[SETS][WAYS];
};

void sw_stack_start(void)
{
	__atomic_store_n(&sw_stack_depth, sw_preload_options()->depth, __ATOMIC_RELEASE);
}

void sw_stack_forget(struct sw_writer *w)
{
	struct sw_stack_cache *c = w->stacks;
	if (!c)
		return;
	for (unsigned i = 0; i < SETS; i++) {
		for (unsigned k = 0; k < WAYS && c->used[i]; k++)
			c->sets[i][k].frame = NULL;
		c->used[i] = false; /* sets never used stay untouched memory */
	}
	c->last = NULL;
	c->top = 0;
}

/* Do all slots from the first-th on still hold their return addresses?  Read from the inside out: a stack that ends
   earlier than the remembered one differs before its end is reached. */
static bool still_there(const struct remembered *m, unsigned first)
{
	const uint64_t *at = (const uint64_t *)m->frame;
	for (unsigned i = first; i < m->frames; i++)
		if (at[m->slot[i]] != m->ip[i])
			return false;
	return true;
}

static struct remembered *find(struct sw_stack_cache *c, unsigned set, const void *frame)
{
	struct remembered *guess = c->last ? c->last->next : NULL;
	if (guess && guess->frame == frame && still_there(guess, 0))
		return guess;
	for (unsigned k = 0; k < WAYS; k++) {
		struct remembered *m = &c->sets[set][k];
		if (m->frame == frame && still_there(m, 0))
			return m;
	}
	return NULL;
}

/* Outer frames of `donor` from the one whose slot is `slot`, appended to `m`. */
static bool take_over(struct remembered *m, const struct remembered *donor, const struct sw_frame *at, uint32_t depth)
{
	unsigned i = 0;
	if (!donor || !donor->frame)
		return false;
	while (i < donor->frames && (uintptr_t)donor->frame + donor->slot[i] * 8ull < at->slot)
		i++;
	if (i == donor->frames || (uintptr_t)donor->frame + donor->slot[i] * 8ull != at->slot || donor->ip[i] != at->ip)
		return false;
	unsigned rest = donor->frames - i;
	if ((!donor->whole && !donor->failed && m->frames + rest < depth) || !still_there(donor, i))
		return false;
	uint64_t shift = ((uintptr_t)donor->frame - (uintptr_t)m->frame) / 8; /* modulo 2^64 */
	m->whole = donor->whole;
	m->failed = donor->failed;
	for (; i < donor->frames && m->frames < depth + MARGIN; i++, m->frames++) {
		m->ip[m->frames] = donor->ip[i];
		m->slot[m->frames] = (uint32_t)(donor->slot[i] + shift);
	}
	if (i < donor->frames)
		m->whole = m->failed = false;
	return true;
}

/* Walks the stack into *m. False: its slots can't be remembered (it leads through a signal frame or another stack). */
static bool walk(struct remembered *m, const void *frame, uintptr_t top, const struct remembered *donor, uint32_t depth)
{
	struct sw_unwind u;
	struct sw_frame f;
	int got = 0;
	bool keep = true;
	m->frame = frame;
	m->frames = 0;
	m->whole = m->failed = false;
	sw_unwind_start(&u, frame, top);
	while (m->frames < depth + MARGIN && (got = sw_unwind_next(&u, &f)) > 0) {
		uint64_t away = f.slot - (uintptr_t)frame;
		keep = keep && f.slot && f.slot % 8 == 0 && away / 8 <= UINT32_MAX && *(uint64_t *)f.slot == f.ip &&
		       (!m->frames || away / 8 > m->slot[m->frames - 1]);
		if (keep && m->frames && take_over(m, donor, &f, depth))
			return true;
		m->ip[m->frames] = f.ip;
		m->slot[m->frames++] = (uint32_t)(away / 8);
	}
	m->whole = m->frames < depth + MARGIN && got == 0;
	m->failed = got < 0;
	return keep;
}

static bool write_stack(struct sw_writer *w, const struct remembered *m, uint32_t id, uint32_t depth)
{
	uint32_t frames = m->frames < depth ? m->frames : depth;
	struct sw_rec_stack *r =
		(struct sw_rec_stack *)sw_writer_describe(w, SW_REC_STACK, sizeof *r + frames * 8ull, false);
	if (!r)
		return false;
	r->id = id;
	r->depth = frames;
	r->skipped = frames < m->frames && m->whole ? m->frames - frames : m->whole ? 0 : UINT32_MAX;
	memcpy(r + 1, m->ip, frames * 8ull);
	sw_writer_commit(w);
	return true;
}

static uint32_t intern(struct sw_writer *w, const struct remembered *m, uint32_t depth)
{
	bool fresh;
	uint32_t frames = m->frames < depth ? m->frames : depth;
	uint64_t hash = sw_intern_hash(m->ip, frames * 8ull);
	uint32_t id = sw_intern(&w->stack_ids, hash, &fresh);
	if (!fresh)
		return id;
	sw_modules_refresh(w); /* code that was never seen in a stack may lie in a module that was just loaded */
	if (write_stack(w, m, id, depth))
		return id;
	sw_intern_undo(&w->stack_ids, hash);
	return 0;
}

static struct sw_stack_cache *cache_of(struct sw_writer *w)
{
	int error;
	if (!w->stacks)
		w->stacks = sw_sys_map(-1, 0, sizeof *w->stacks, &error);
	if (w->stacks && !w->stacks->top && !sw_unwind_loaded())
		w->stacks->top = sw_unwind_stack_top();
	return w->stacks;
}

uint32_t sw_stack_walk(struct sw_writer *w, const void *frame)
{
	struct sw_stack_cache *c = cache_of(w);
	uint32_t depth = sw_stack_depth;
	if (!c)
		return 0;
	uint32_t modules = sw_modules_generation();
	if (w->modules != modules) { /* an address may mean another function now */
		w->modules = modules;
		sw_stack_forget(w);
		sw_intern_clear(&w->stack_ids);
	}
	uint64_t key = (uintptr_t)frame / 16 ^ ((const uint64_t *)frame)[1] * 0x9e3779b97f4a7c15ull >> 32;
	unsigned set = (unsigned)(key ^ key >> 7) % SETS;
	struct remembered *m = find(c, set, frame);
	if (!m) {
		m = &c->sets[set][c->oldest[set]++ % WAYS];
		struct remembered *donor = c->last == m ? NULL : c->last;
		c->used[set] = true;
		m->next = NULL;
		bool keep = walk(m, frame, c->top, donor, depth);
		m->id = intern(w, m, depth);
		if (!keep || !m->id) {
			uint32_t id = m->id;
			m->frame = NULL;
			if (c->last == m)
				c->last = NULL;
			return id;
		}
	}
	if (c->last)
		c->last->next = m;
	c->last = m;
	return m->id;
}
