/* SPDX-License-Identifier: Apache-2.0 */
/* The path of every call. */
#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "preload/platform/sys.h"
#include "preload/python/stacks.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

struct sw_python sw_python;

/* ---- notices ----------------------------------------------------------------------------------------------------- */

static void write_notice(struct sw_writer *w, const char *text)
{
	const size_t length = strlen(text);
	struct sw_rec_notice *r = (struct sw_rec_notice *)sw_python.recorder->writer_describe(
		w, SW_REC_NOTICE, sizeof *r + length, false);
	if (!r)
		return;
	r->text_bytes = (uint32_t)length;
	memcpy(r + 1, text, length);
	sw_python.recorder->writer_commit(w);
}

uint32_t sw_python_refuse(struct sw_writer *w, uint32_t native)
{
	const char *notice = __atomic_exchange_n(&sw_python.notice, NULL, __ATOMIC_ACQ_REL);
	sw_python.recorder->stacks(NULL);
	if (notice)
		write_notice(w, notice);
	return native;
}

static __attribute__((noinline)) uint32_t give_up(struct sw_writer *w, uint32_t native)
{
	__atomic_store_n(&sw_python.notice,
			 "Python lines: not recorded, the frames of this interpreter are not as its version has them",
			 __ATOMIC_RELEASE);
	return sw_python_refuse(w, native);
}

static __attribute__((noinline)) uint32_t several(struct sw_writer *w, uint32_t native)
{
	if (!__atomic_exchange_n(&sw_python.several, true, __ATOMIC_ACQ_REL))
		write_notice(w, "Python lines: missing for calls that were made while there were sub-interpreters");
	return native;
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

static inline const char *pointer(const char *at)
{
	return (const char *)(uintptr_t)sw_python_word(at);
}

ALWAYS_INLINE struct sw_python_link link_of(const struct sw_python_layout *at, const char *frame,
					    enum sw_python_style style)
{
	struct sw_python_link link = {.code = sw_python_word(frame + at->code)};
	if (style == SW_PYTHON_OBJECTS) {
		link.instruction = *(const uint32_t *)(frame + at->instruction);
		return link;
	}
	link.instruction = sw_python_word(frame + at->instruction);
	if (style == SW_PYTHON_FLAG)
		link.code |= *(const uint8_t *)(frame + at->mark) & 1u;
	else
		link.code &= at->code_mask;
	return link;
}

#define FRAME_BYTES 96u /* all that is read of a frame, in versions whose frames may be another thread's */

/* Is this the chain that begins at the frame? */
ALWAYS_INLINE bool fits(const struct sw_python_chain *chain, const char *frame, enum sw_python_style style,
			bool waiting)
{
	const struct sw_python_layout *at = &sw_python.at;
	const uint32_t links = chain->links;
	uint32_t i = 0;
	for (; i < links && frame; i++) {
		if (waiting && !sw_python_main_has(frame, FRAME_BYTES))
			return false;
		const struct sw_python_link link = link_of(at, frame, style);
		if (chain->link[i].code != link.code || chain->link[i].instruction != link.instruction)
			return false;
		frame = pointer(frame + at->back);
	}
	return links && i == links && (frame != NULL) == chain->cut && chain->waiting == waiting;
}

/* The chain that begins at the frame, remembered or read; NULL: it cannot be read. */
ALWAYS_INLINE struct sw_python_chain *look_up(struct sw_writer *w, const char *thread, const char *frame,
					      enum sw_python_style style, bool waiting)
{
	struct sw_python_stacks *s = w->python;
	uint64_t hash = 0;
	uint32_t n = 0;
	for (; frame && n < SW_PYTHON_LINKS; n++) {
		if (waiting && !sw_python_main_has(frame, FRAME_BYTES))
			break; /* a generator's, or too deep: the frames within it are known */
		const struct sw_python_link link = link_of(&sw_python.at, frame, style);
		s->walked[n] = link;
		s->frame[n] = frame;
		hash = (hash ^ link.code ^ link.instruction << 20) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
		frame = pointer(frame + sw_python.at.back);
	}
	if (!n)
		return NULL;
	for (uint32_t i = (uint32_t)hash % SW_PYTHON_SLOTS; s->slot[i]; i = (i + 1) % SW_PYTHON_SLOTS) {
		struct sw_python_chain *known = sw_python_chain_at(s, s->slot[i]);
		if (known->hash == hash && known->links == n && known->cut == (frame != NULL) &&
		    known->waiting == waiting && memcmp(known->link, s->walked, n * sizeof *s->walked) == 0)
			return known;
	}
	const uint64_t mask = sw_sys_block_signals();
	const int saved = errno;
	if (!waiting && !__atomic_load_n(&sw_python.main.thread, __ATOMIC_RELAXED))
		sw_python_main_note(thread);
	struct sw_python_chain *chain = sw_python_chain_add(w, n, frame != NULL, waiting, hash);
	errno = saved;
	sw_sys_set_signals(mask);
	return chain;
}

/* The first chain of the process is read with care: are there code objects where they should be?  Later loads rely on
   that. */
static bool is_sound(const char *frame)
{
	const struct sw_python_layout *at = &sw_python.at;
	struct sw_python_source source;
	for (uint32_t n = 0; frame && n < SW_PYTHON_LINKS; n++) {
		uint64_t code = 0;
		uint8_t owner = 0;
		if (((uintptr_t)frame & 7) || !sw_python_read(frame + at->code, &code, sizeof code) ||
		    (at->shim && !sw_python_read(frame + at->mark, &owner, sizeof owner)))
			return false;
		code &= at->code_mask;
		if ((!at->shim || owner < at->shim) &&
		    !sw_python_source_read(at, &sw_python.types, (const void *)(uintptr_t)code, &source))
			return false;
		if (!sw_python_read(frame + at->back, &frame, sizeof frame))
			return false;
	}
	return true;
}

/* False: what should hold the frame cannot be read. */
static bool frame_with_care(const char *thread, const char **frame)
{
	const struct sw_python_layout *at = &sw_python.at;
	if (!at->holder)
		return sw_python_read(thread + at->frame, frame, sizeof *frame);
	return sw_python_read(thread + at->holder, frame, sizeof *frame) &&
	       sw_python_read(*frame + at->held, frame, sizeof *frame);
}

/* False: the structures are not what they should be. */
static __attribute__((noinline)) bool begin(const char *thread)
{
	const uint64_t mask = sw_sys_block_signals();
	const char *frame = NULL;
	bool sound = frame_with_care(thread, &frame);
	if (sound && frame) {
		sound = is_sound(frame);
		__atomic_store_n(&sw_python.sound, sound, __ATOMIC_RELAXED);
	}
	sw_sys_set_signals(mask);
	return sound;
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

static bool write_stack(struct sw_writer *w, const struct sw_python_chain *chain, uint32_t native, uint32_t id)
{
	const size_t bytes = chain->frames * sizeof(struct sw_python_frame);
	struct sw_rec_python_stack *r = (struct sw_rec_python_stack *)sw_python.recorder->writer_describe(
		w, SW_REC_PYTHON_STACK, sizeof *r + bytes, false);
	if (!r)
		return false;
	r->id = id;
	r->native = native;
	r->depth = chain->frames;
	r->flags = (chain->deeper ? SW_PYTHON_CUT : 0u) | (chain->waiting ? SW_PYTHON_WAITING : 0u);
	memcpy(r + 1, sw_python_frames(chain), bytes);
	sw_python.recorder->writer_commit(w);
	return true;
}

static uint32_t intern(struct sw_writer *w, struct sw_python_chain *chain, uint32_t native)
{
	bool fresh;
	const uint64_t frames = sw_hash_words(sw_python_frames(chain), chain->frames * sizeof(struct sw_python_frame));
	const uint64_t hash = sw_hash_u64(frames ^ (uint64_t)native << 32 ^ 0x5079ull ^ chain->waiting) | 1;
	const uint32_t id = sw_intern(&w->stack_ids, hash, &fresh);
	if (!fresh || write_stack(w, chain, native, id))
		return id;
	sw_intern_undo(&w->stack_ids, hash);
	return 0;
}

static __attribute__((noinline)) uint32_t join_new(struct sw_writer *w, struct sw_python_chain *chain, uint32_t native,
						   struct sw_python_joined *place)
{
	const uint64_t mask = sw_sys_block_signals();
	if (w->python->code_ids.last - chain->oldest_code > SW_PYTHON_OLD) {
		chain->links = 0; /* it is read again next time, with codes that get new ids */
		sw_sys_set_signals(mask);
		return native;
	}
	const uint32_t id = intern(w, chain, native);
	place->key = 0;
	place->id = id;
	place->key = id ? (uint64_t)native << 32 | chain->serial : 0;
	sw_sys_set_signals(mask);
	return id ? id : native;
}

ALWAYS_INLINE uint32_t join_chain(struct sw_writer *w, struct sw_python_chain *chain, uint32_t native)
{
	struct sw_python_stacks *s = w->python;
	const uint64_t key = (uint64_t)native << 32 | chain->serial;
	struct sw_python_joined *place = &s->joined[(native * 31 + chain->serial) % SW_PYTHON_JOINS];
	if (__builtin_expect(place->key == key && w->stack_ids.last - place->id < SW_PYTHON_OLD, 1))
		return place->id;
	return join_new(w, chain, native, place);
}

ALWAYS_INLINE uint32_t join_frames(struct sw_writer *w, uint32_t native, const char *thread, const char *frame,
				   enum sw_python_style style, bool waiting)
{
	struct sw_python_stacks *s = w->python;
	if (__builtin_expect(!s, 0)) {
		s = sw_python_stacks_of(w);
		if (!s)
			return native;
	}
	if (__builtin_expect(s->freed != sw_python_freed(), 0))
		sw_python_stacks_refresh(s);
	struct sw_python_chain *last = s->last, *chain = last ? last->next : NULL;
	if (!chain || !fits(chain, frame, style, waiting)) {
		chain = look_up(w, thread, frame, style, waiting);
		if (!chain)
			return native;
		if (s->last)
			s->last->next = chain;
	}
	s->last = chain;
	return chain->frames ? join_chain(w, chain, native) : native;
}

/* A thread that runs no Python, such as PyTorch's for backward passes: what does the first thread wait in? */
static __attribute__((noinline)) uint32_t join_waiting(struct sw_writer *w, uint32_t native, const char *thread,
						       enum sw_python_style style)
{
	const char *frame = style == SW_PYTHON_OBJECTS ? NULL : sw_python_main_frame(thread);
	if (!frame)
		return native;
	return style == SW_PYTHON_FLAG ? join_frames(w, native, thread, frame, SW_PYTHON_FLAG, true)
				       : join_frames(w, native, thread, frame, SW_PYTHON_SHIMS, true);
}

ALWAYS_INLINE uint32_t join(struct sw_writer *w, uint32_t native, enum sw_python_style style)
{
	const struct sw_python_layout *at = &sw_python.at;
	const char *thread = sw_python.thread_state();
	if (!thread || sw_python_word(sw_python.runtime + at->finalizing))
		return native;
	if (__builtin_expect(pointer(thread + at->interpreter) != pointer(sw_python.runtime + at->interpreters), 0))
		return several(w, native);
	if (__builtin_expect(!__atomic_load_n(&sw_python.sound, __ATOMIC_RELAXED), 0)) {
		if (!begin(thread))
			return give_up(w, native);
		if (!sw_python.sound)
			return native; /* no frames yet */
	}
	const char *frame = at->holder ? pointer(pointer(thread + at->holder) + at->held) : pointer(thread + at->frame);
	return frame ? join_frames(w, native, thread, frame, style, false) : join_waiting(w, native, thread, style);
}

static uint32_t join_objects(struct sw_writer *w, uint32_t native)
{
	return join(w, native, SW_PYTHON_OBJECTS);
}

static uint32_t join_flags(struct sw_writer *w, uint32_t native)
{
	return join(w, native, SW_PYTHON_FLAG);
}

static uint32_t join_shims(struct sw_writer *w, uint32_t native)
{
	return join(w, native, SW_PYTHON_SHIMS);
}

sw_python_join *sw_python_join_of(enum sw_python_style style)
{
	switch (style) {
	case SW_PYTHON_OBJECTS:
		return join_objects;
	case SW_PYTHON_FLAG:
		return join_flags;
	case SW_PYTHON_SHIMS:
		return join_shims;
	}
	return NULL;
}
