/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "preload/stacks/stack.h"

#include <errno.h>
#include <string.h>

#include "preload/stacks/modules.h"
#include "preload/recorder/options.h"
#include "preload/platform/sys.h"
#include "preload/stacks/unwind.h"

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
	bool whole;		 /* the walk reached the outermost frame */
	bool failed;		 /* it ended for lack of unwind information */
	struct remembered *next; /* what came after it last time */
	uint64_t ip[FRAMES];
	struct place { /* distances from `frame`, in 8 bytes */
		uint32_t slot;
		uint32_t base_slot, base; /* the frame pointer that led here and where it was saved; NONE: none did */
	} at[FRAMES];
};
#define NONE UINT32_MAX

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

/*
 * Would a walk from here, frame `first` of the remembered stack, read the same values again?  Then it finds the same
 * frames: by induction, the code at each return address and the frame pointer determine where the next one lies.
 * (Return addresses alone would not do: where a function has a frame of variable size, an old return address may be
 * left in what is now unused memory of it.)  Read from the inside out: a stack that ends earlier than the remembered
 * one differs before its end is reached.
 */
static bool still_there(const struct remembered *m, unsigned first)
{
	const uint64_t *stack = (const uint64_t *)m->frame;
	for (unsigned i = first; i < m->frames; i++) {
		const struct place *at = &m->at[i];
		if (stack[at->slot] != m->ip[i])
			return false;
		if (at->base_slot != NONE && stack[at->base_slot] != (uintptr_t)(stack + at->base))
			return false;
	}
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

/* Distance of an address from the frame, in 8 bytes; NONE if it does not lie above on the same stack. */
static uint32_t distance(const struct remembered *m, uint64_t address)
{
	uint64_t away = address - (uintptr_t)m->frame;
	return address && away % 8 == 0 && away / 8 < NONE ? (uint32_t)(away / 8) : NONE;
}

static uint64_t slot_of(const struct remembered *m, unsigned i)
{
	return (uintptr_t)m->frame + m->at[i].slot * 8ull;
}

/* Which frame of the donor is this one?  Its number of frames when none is. */
static unsigned find_frame(const struct remembered *donor, const struct sw_unwind_frame *f)
{
	unsigned i = 0;
	while (i < donor->frames && slot_of(donor, i) < f->slot)
		i++;
	return i < donor->frames && slot_of(donor, i) == f->slot && donor->ip[i] == f->ip ? i : donor->frames;
}

/* A frame pointer that an outer frame of the donor depends on may have been saved further in than frame `first`,
   where the stacks differ: then it must be the one that frame has now. */
static bool same_pointer(const struct remembered *donor, unsigned first, const struct sw_unwind_frame *f)
{
	for (unsigned i = first + 1; i < donor->frames; i++)
		if (donor->at[i].base_slot != NONE && donor->at[i].base_slot < donor->at[first].slot &&
		    (uintptr_t)donor->frame + donor->at[i].base * 8ull != f->rbp)
			return false;
	return true;
}

/* `f` is the last frame of `m`: appends what lies beyond it from `donor`, if the donor has that frame too and a walk
   would find the same. */
static bool take_over(struct remembered *m, const struct remembered *donor, const struct sw_unwind_frame *f,
		      uint32_t depth)
{
	if (!donor || !donor->frame)
		return false;
	unsigned first = find_frame(donor, f), i = first + 1;
	if (first == donor->frames)
		return false;
	if (!donor->whole && !donor->failed && m->frames + (donor->frames - i) < depth)
		return false; /* it was cut off too early for this one */
	if (!still_there(donor, i) || !same_pointer(donor, first, f))
		return false;
	uint32_t shift = (uint32_t)((donor->frame - m->frame) / 8); /* modulo 2^32, and so are the sums */
	for (; i < donor->frames && m->frames < depth + MARGIN; i++, m->frames++) {
		struct place at = donor->at[i];
		bool inner = at.base_slot < donor->at[first].slot;
		m->ip[m->frames] = donor->ip[i];
		m->at[m->frames] = (struct place){
			.slot = at.slot + shift,
			.base_slot = at.base_slot == NONE ? NONE
				     : inner		  ? distance(m, f->rbp_slot)
							  : at.base_slot + shift,
			.base = at.base + shift,
		};
	}
	m->whole = donor->whole && i == donor->frames;
	m->failed = donor->failed && i == donor->frames;
	return true;
}

/* Adds a frame. False: what led to it can't be remembered (a signal frame, another stack). */
static bool append(struct remembered *m, const struct sw_unwind_frame *f)
{
	unsigned i = m->frames++;
	struct place at = {distance(m, f->slot), NONE, 0};
	m->ip[i] = f->ip;
	if (f->base_slot) {
		at.base_slot = distance(m, f->base_slot);
		at.base = distance(m, f->base);
		if (at.base_slot == NONE || at.base == NONE)
			return false;
	}
	m->at[i] = at;
	return at.slot != NONE && *(const uint64_t *)f->slot == f->ip && (!i || at.slot > m->at[i - 1].slot);
}

/* Walks the stack into *m. False: it can't be remembered. */
static bool walk(struct remembered *m, const void *frame, uintptr_t top, const struct remembered *donor, uint32_t depth)
{
	struct sw_unwind u;
	struct sw_unwind_frame f;
	int got = 0;
	bool keep = true;
	m->frame = frame;
	m->frames = 0;
	sw_unwind_start(&u, frame, top);
	while (m->frames < depth + MARGIN && (got = sw_unwind_next(&u, &f)) > 0) {
		keep = append(m, &f) && keep;
		if (keep && take_over(m, donor, &f, depth))
			return true;
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

void sw_stack_free(struct sw_writer *w)
{
	if (w->stacks)
		sw_sys_unmap(w->stacks, sizeof *w->stacks);
	w->stacks = NULL;
}

static uint32_t intern(struct sw_writer *w, const struct remembered *m, uint32_t depth)
{
	bool fresh;
	uint32_t frames = m->frames < depth ? m->frames : depth;
	uint64_t hash = sw_hash_words(m->ip, frames * 8ull);
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

/*
 * Walks a stack that is not remembered, and remembers it. NULL: it could not be, but has an id.
 * Signals are blocked: a handler that jumps out of libunwind or the loader would leave their locks taken.
 */
static __attribute__((noinline)) struct remembered *remember(struct sw_writer *w, unsigned set, const void *frame,
							     uint32_t *id)
{
	struct sw_stack_cache *c = w->stacks;
	int saved = errno; /* libunwind asks the kernel which addresses can be read */
	uint64_t mask = sw_sys_block_signals();
	struct remembered *m = &c->sets[set][c->oldest[set]++ % WAYS];
	struct remembered *donor = c->last == m ? NULL : c->last;
	c->used[set] = true;
	m->next = NULL;
	bool keep = walk(m, frame, c->top, donor, sw_stack_depth);
	m->id = *id = intern(w, m, sw_stack_depth);
	if (!keep || !m->id) {
		m->frame = NULL;
		if (c->last == m)
			c->last = NULL;
		m = NULL;
	}
	sw_sys_set_signals(mask);
	errno = saved;
	return m;
}

uint32_t sw_stack_frames(const uint64_t **ips)
{
	const struct sw_stack_cache *c = sw_thread.writer->stacks;
	if (!c || !c->last || c->last->frame != sw_thread.guard)
		return 0;
	*ips = c->last->ip;
	return c->last->frames;
}

uint32_t sw_stack_walk(struct sw_writer *w, const void *frame)
{
	struct sw_stack_cache *c = cache_of(w);
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
		uint32_t id;
		m = remember(w, set, frame, &id);
		if (!m)
			return id;
	}
	if (c->last)
		c->last->next = m;
	c->last = m;
	return m->id;
}
