/* SPDX-License-Identifier: Apache-2.0 */
#ifndef __clang__
#pragma GCC optimize("omit-frame-pointer")
#endif

#include "base/hash.h"
#include "preload/stacks/stack.h"

#include <errno.h>
#include <string.h>

#include "base/arch.h"
#include "preload/stacks/modules.h"
#include "preload/recorder/options.h"
#include "preload/platform/often.h"
#include "preload/platform/sys.h"
#include "preload/stacks/unwind.h"

#define SETS 128u
#define WAYS 8u
/* Frames remembered beyond those recorded, so that a stack can take over outer frames from one that was deeper. */
#define MARGIN 16u
#define FRAMES (SW_STACK_FRAMES + MARGIN)
#define GROUP  4u /* words of the stack that are compared before the next branch back */
#define WORDS  (2 * FRAMES + GROUP - 1)

uint32_t sw_stack_depth;

struct remembered {
	const char *frame; /* of the wrapper; NULL: free */
	uint32_t id;
	uint16_t frames;
	uint16_t words;			     /* what the walk read: the last one is repeated up to a whole group */
	uint16_t padded;		     /* with those */
	bool whole;			     /* the walk reached the outermost frame */
	bool failed;			     /* it ended for lack of unwind information */
	bool cut;			     /* libunwind, which was not there, might have come further */
	struct remembered *next;	     /* what came after it last time */
	uint64_t pointer[(WORDS + 63) / 64]; /* bit i: word i is a frame pointer */
	/* Each return address, and then the frame pointer that led to it if one did.  Packed: read at every call. */
	struct __attribute__((packed)) word {
		uint64_t is;
		uint32_t slot; /* where it lies: distance from `frame`, in 8 bytes */
	} at[WORDS];
};
#define NONE UINT32_MAX

struct sw_stack_cache {
	struct remembered *last;
	struct sw_unwind_stack stack; /* of the thread */
	struct sw_unwind_objects objects;
	uint64_t ips[FRAMES]; /* of the stack that is written */
	uint8_t oldest[SETS];
	uint8_t filled[SETS]; /* so many of a set hold a stack; memory of the others stays untouched */
	struct remembered sets[SETS][WAYS];
};

/* From now on calls are recorded with their stacks: a depth of 0 means none. */
void sw_stack_start(void)
{
	__atomic_store_n(&sw_stack_depth, sw_preload_options()->depth, __ATOMIC_RELEASE);
}

/* Empties the thread's cache of call stacks, whose entries hold only for the stack memory and the ids that they were
   made with. */
__attribute__((cold)) void sw_stack_forget(struct sw_writer *w)
{
	struct sw_stack_cache *c = w->stacks;
	if (!c)
		return;
	for (unsigned i = 0; i < SETS; i++) {
		for (unsigned k = 0; k < c->filled[i]; k++)
			c->sets[i][k].frame = NULL;
		c->filled[i] = c->oldest[i] = 0;
	}
	c->last = NULL;
	c->stack.top = 0;
	memset(&c->objects, 0, sizeof c->objects);
}

/* Does the remembered word's place on the stack still hold it? */
static inline bool holds_word(const struct remembered *m, const struct word *at)
{
	return ((const uint64_t *)(const void *)m->frame)[at->slot] == at->is;
}

/* Would a walk read the same values again that the remembered one read?  Then it finds the same
   frames: by induction, the code at each return address and the frame pointer determine where the next one lies.
   (Return addresses alone would not do: where a function has a frame of variable size, an old return address may be
   left in what is now unused memory of it.)  Read from the inside out: a stack that ends earlier than the remembered
   one differs before its end is reached. */
static inline __attribute__((always_inline)) bool still_there(const struct remembered *m)
{
	for (const struct word *at = m->at, *end = at + m->padded; at < end; at += GROUP)
		if (!holds_word(m, at) || !holds_word(m, at + 1) || !holds_word(m, at + 2) || !holds_word(m, at + 3))
			return false;
	return true;
}

/* Are the remembered words from number `i` on still those that were read? */
static bool rest_there(const struct remembered *m, unsigned i)
{
	while (i < m->words && holds_word(m, &m->at[i]))
		i++;
	return i >= m->words;
}

/* The remembered stack of the wrapper's frame that is the current one; NULL: none is. */
static struct remembered *find_remembered(struct sw_stack_cache *c, unsigned set, const void *frame)
{
	for (unsigned k = 0; k < c->filled[set]; k++) {
		struct remembered *m = &c->sets[set][k];
		if (m->frame == frame && still_there(m))
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

/* Is word `i` a frame pointer?  Else it is a return address. */
static inline bool is_pointer(const struct remembered *m, unsigned i)
{
	return m->pointer[i / 64] >> i % 64 & 1;
}

/* Adds a word that the walk read, and where it lies. */
static void remember_word(struct remembered *m, uint32_t slot, uint64_t word, bool pointer)
{
	const unsigned i = m->words++;
	m->at[i] = (struct word){word, slot};
	m->pointer[i / 64] &= ~(1ull << i % 64);
	m->pointer[i / 64] |= (uint64_t)pointer << i % 64;
}

/* The return addresses alone, innermost first; until the next call of the writer's thread. */
static const uint64_t *addresses(struct sw_stack_cache *c, const struct remembered *m)
{
	unsigned n = 0;
	for (unsigned i = 0; i < m->words && n < FRAMES; i++)
		if (!is_pointer(m, i))
			c->ips[n++] = sw_arch_return_address(m->at[i].is);
	return c->ips;
}

/* Which word of a remembered stack is this frame's return address?  *number: which frame it is.  The number of words:
   none is. */
static unsigned find_frame(const struct remembered *donor, const struct sw_unwind_frame *f, unsigned *number)
{
	*number = 0;
	for (unsigned i = 0; i < donor->words; i++) {
		const uint64_t slot = (uintptr_t)donor->frame + donor->at[i].slot * 8ull;
		if (is_pointer(donor, i))
			continue;
		if (slot >= f->slot)
			return slot == f->slot && donor->at[i].is == f->ip ? i : donor->words;
		++*number;
	}
	return donor->words;
}

/* A frame pointer that an outer frame of the donor depends on may have been saved further in than the frame at word
   `first`, where the stacks differ: then it must be the one that frame has now. */
static bool same_pointer(const struct remembered *donor, unsigned first, unsigned next, const struct sw_unwind_frame *f)
{
	for (unsigned i = next; i < donor->words; i++)
		if (is_pointer(donor, i) && donor->at[i].slot < donor->at[first].slot && donor->at[i].is != f->rbp)
			return false;
	return true;
}

/* Ends a walk early: `f` is the last frame of `m` so far, and where `donor`, a remembered stack, has that frame too and
   a walk would find the same, its outer frames are appended.  `depth` frames are recorded; MARGIN more are only
   remembered.  False: the walk must go on. */
static bool take_over(struct remembered *m, const struct remembered *donor, const struct sw_unwind_frame *f,
		      uint32_t depth)
{
	unsigned number;
	if (!donor || !donor->frame)
		return false;
	const unsigned first = find_frame(donor, f, &number);
	if (first == donor->words)
		return false;
	unsigned i = first + 1;
	i += i < donor->words && is_pointer(donor, i); /* this frame's own */
	if (!donor->whole && !donor->failed && m->frames + (donor->frames - number - 1u) < depth)
		return false; /* it was cut off too early for this one */
	if (!rest_there(donor, i) || !same_pointer(donor, first, i, f))
		return false;
	const uint32_t shift = (uint32_t)((donor->frame - m->frame) / 8); /* modulo 2^32, and so are the sums */
	for (; i < donor->words; i++) {
		uint32_t slot = donor->at[i].slot + shift;
		if (!is_pointer(donor, i)) {
			if (m->frames >= depth + MARGIN)
				break;
			m->frames++;
		} else if (donor->at[i].slot < donor->at[first].slot) {
			/* Saved further in, where the stacks differ: this one has the same value elsewhere. */
			slot = distance(m, f->rbp_slot);
		}
		if (slot != NONE) /* else it is saved nowhere on this stack */
			remember_word(m, slot, donor->at[i].is, is_pointer(donor, i));
	}
	m->whole = donor->whole && i == donor->words;
	m->failed = donor->failed && i == donor->words;
	m->cut = donor->cut && m->failed;
	return true;
}

/* Adds a frame. False: what led to it can't be remembered (a signal frame, another stack). */
static bool append(struct remembered *m, const struct sw_unwind_frame *f)
{
	const uint32_t slot = distance(m, f->slot), pointer = distance(m, f->base_slot);
	unsigned last = m->words;
	m->frames++;
	while (last && is_pointer(m, last - 1))
		last--;
	const bool above = !last || slot > m->at[last - 1].slot;
	remember_word(m, slot, f->ip, false);
	if (f->base_slot) {
		if (pointer == NONE || distance(m, f->base) == NONE)
			return false;
		remember_word(m, pointer, f->base, true);
	}
	return slot != NONE && *(const uint64_t *)f->slot == f->ip && above;
}

/* Walks the stack into *m. False: it can't be remembered. */
static bool walk_once(struct remembered *m, struct sw_stack_cache *c, const void *frame, uint32_t depth, bool library)
{
	const struct remembered *donor = c->last == m ? NULL : c->last;
	struct sw_unwind u;
	struct sw_unwind_frame f;
	int got = 0;
	bool keep = true;
	m->frame = frame;
	m->frames = m->words = 0;
	m->cut = false;
	sw_unwind_start(&u, frame, c->stack, &c->objects, library);
	while (m->frames < depth + MARGIN && (got = sw_unwind_next(&u, &f)) > 0) {
		keep = append(m, &f) && keep;
		if (keep && take_over(m, donor, &f, depth))
			return true;
	}
	m->whole = m->frames < depth + MARGIN && got == 0;
	m->failed = got < 0;
	return keep;
}

/* Walks by the unwind tables, and where those do not lead on with libunwind from the beginning.  False: the stack
   cannot be remembered. */
static bool walk_stack(struct remembered *m, struct sw_stack_cache *c, const void *frame, uint32_t depth)
{
	const bool keep = walk_once(m, c, frame, depth, false);
	if (!m->failed)
		return keep;
	m->cut = sw_unwind_lacks_library();
	return m->cut ? keep : walk_once(m, c, frame, depth, true);
}

/* Writes the STACK record: at most `depth` return addresses, innermost first.  False: lost. */
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
	r->flags = m->cut ? SW_STACK_CUT : 0;
	memcpy(r + 1, w->stacks->ips, frames * 8ull);
	sw_writer_commit(w);
	return true;
}

/* Frees the cache of call stacks of a writer that is given up. */
void sw_stack_free(struct sw_writer *w)
{
	if (w->stacks)
		sw_sys_unmap(w->stacks, sizeof *w->stacks);
	w->stacks = NULL;
}

/* The id of a stack by its return addresses; a new one is written first.  0: it could not be. */
static uint32_t intern_stack(struct sw_writer *w, const struct remembered *m, uint32_t depth)
{
	bool fresh;
	uint32_t frames = m->frames < depth ? m->frames : depth;
	uint64_t hash = sw_hash_words(addresses(w->stacks, m), frames * 8ull);
	uint32_t id = sw_intern(&w->stack_ids, hash, &fresh);
	if (!fresh)
		return id;
	if (write_stack(w, m, id, depth)) {
		if (id % (SW_FORMAT_LIVE_IDS / 4) == 0)
			sw_stack_forget(w); /* the ids of what is remembered grow too old to be referred to */
		return id;
	}
	sw_intern_undo(&w->stack_ids, hash);
	return 0;
}

/* The writer's cache, made at its first stack; NULL: no memory. */
static struct sw_stack_cache *cache_of(struct sw_writer *w)
{
	int error;
	if (!w->stacks)
		w->stacks = sw_sys_map(-1, 0, sizeof *w->stacks, &error);
	return w->stacks;
}

/* Walks a stack that is not remembered, and remembers it.  NULL: it could not be, but has an id.  Signals are blocked:
   a handler that jumps out of libunwind or the loader would leave their locks taken. */
static __attribute__((noinline, cold)) struct remembered *remember(struct sw_writer *w, unsigned set, const void *frame,
								   uint32_t *id)
{
	struct sw_stack_cache *c = w->stacks;
	int saved = errno; /* libunwind asks the kernel which addresses can be read */
	uint64_t mask = sw_sys_block_signals();
	if (!c->stack.top)
		c->stack = sw_unwind_find_stack();
	struct remembered *m = &c->sets[set][c->oldest[set]++ % WAYS];
	c->filled[set] += c->filled[set] < WAYS;
	m->next = NULL;
	sw_modules_refresh(
		w); /* other code may lie at an address whose rules are known, or code that nobody described */
	if (w->modules != sw_modules_generation())
		memset(&c->objects, 0, sizeof c->objects);
	bool keep = walk_stack(m, c, frame, sw_stack_depth);
	for (m->padded = m->words; m->padded % GROUP; m->padded++)
		m->at[m->padded] = m->at[m->words - 1];
	m->id = *id = intern_stack(w, m, sw_stack_depth);
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

/* The return addresses of the call in progress, which are those of the stack that was remembered last; 0: there is
   none. */
uint32_t sw_stack_frames(const uint64_t **ips)
{
	struct sw_stack_cache *c = sw_thread.writer->stacks;
	if (!c || !c->last || c->last->frame != sw_thread.guard)
		return 0;
	*ips = addresses(c, c->last);
	return c->last->frames;
}

/* The thread's last stack.  What came after it last time is loaded into the caches meanwhile. */
static inline void set_last(struct sw_stack_cache *c, struct remembered *m)
{
	c->last = m;
	for (unsigned line = 0; line < 4; line++)
		__builtin_prefetch((const char *)m->next + line * 64ul);
}

/* The stack is not the one that came after the last one before: looks for it among those that are remembered, else
   walks it.  Returns its id, 0: none. */
static SW_OFTEN __attribute__((noinline)) uint32_t find_stack(struct sw_writer *w, const void *frame)
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
	struct remembered *m = find_remembered(c, set, frame);
	if (!m) {
		uint32_t id;
		m = remember(w, set, frame, &id);
		if (!m)
			return id;
	}
	if (c->last)
		c->last->next = m;
	set_last(c, m);
	return m->id;
}

/* The id of the call stack that begins at this frame.  Guesses that the stack is the one that followed the last one the
   time before, as in a loop; else it is looked up, or walked. */
SW_OFTEN uint32_t sw_stack_walk(struct sw_writer *w, const void *frame)
{
	struct sw_stack_cache *c = w->stacks;
	if (__builtin_expect(c && c->last && w->modules == sw_modules_generation(), 1)) {
		struct remembered *guess = c->last->next;
		if (__builtin_expect(guess && guess->frame == frame && still_there(guess), 1)) {
			set_last(c, guess);
			return guess->id;
		}
	}
	return find_stack(w, frame);
}
