/* SPDX-License-Identifier: Apache-2.0 */
/* The path of every call. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash.h"
#include "preload/platform/sys.h"
#include "preload/python/stacks.h"

/* Chains of frames seen before. A call finds its own by comparing; only a new chain is written to the trace. */

/* ---- what ended -------------------------------------------------------------------------------------------------- */

/* Two bits for a code object: which chains (remembered sequences of Python frames) may have it. */
static uint64_t bits_of(const void *code)
{
	const uint64_t hash = sw_hash_u64((uintptr_t)code);
	return 1ull << (hash & 63) | 1ull << (hash >> 6 & 63);
}

/* The one place that a code object may have in the writer's table. */
static struct sw_python_code *code_place(struct sw_python_stacks *s, const void *code)
{
	return &s->code[(sw_hash_u64((uintptr_t)code) >> 12) % SW_PYTHON_CODES];
}

/* The first of all remembered chains of frames, in the order of the arena that they lie in; NULL: none. */
static struct sw_python_chain *first_chain(struct sw_python_stacks *s)
{
	return s->used ? sw_python_chain_at(s, 1) : NULL;
}

/* The chain after this one in the arena; NULL: it is the last. */
static struct sw_python_chain *chain_after(struct sw_python_stacks *s, struct sw_python_chain *chain)
{
	char *next = (char *)chain + chain->bytes;
	return next < s->arena + s->used ? (struct sw_python_chain *)(void *)next : NULL;
}

/* Drops what refers to a code object: its entry, and all chains of frames that may hold it. */
static void drop_code(struct sw_python_stacks *s, const void *code)
{
	const uint64_t bits = bits_of(code);
	struct sw_python_code *known = code_place(s, code);
	if (known->code == code)
		known->code = NULL;
	for (struct sw_python_chain *c = first_chain(s); c; c = chain_after(s, c))
		if ((c->codes & bits) == bits)
			c->links = 0;
}

/* Drops all entries and chains. */
static void drop_all(struct sw_python_stacks *s)
{
	for (struct sw_python_chain *c = first_chain(s); c; c = chain_after(s, c))
		c->links = 0;
	for (uint32_t i = 0; i < SW_PYTHON_CODES; i++)
		s->code[i].code = NULL;
}

/* Drops what refers to code objects that have ended, as others may get their addresses. */
static void python_stacks_refresh(struct sw_python_stacks *s)
{
	const uint64_t now = sw_python_freed();
	for (uint64_t n = s->freed; n < now; n++) {
		const void *code = sw_python_freed_at(n);
		if (!code) {
			drop_all(s);
			break;
		}
		drop_code(s, code);
	}
	s->freed = now; /* last: a signal handler may jump out of here */
}

/* ---- code objects ------------------------------------------------------------------------------------------------ */

/* Writes a PYTHON_CODE record unless the writer has one. 0: no room. */
static uint32_t intern_code(struct sw_writer *w, const struct sw_python_source *source)
{
	bool fresh;
	const uint64_t head[2] = {source->file_bytes, source->first_line};
	const uint32_t bytes = source->file_bytes + source->function_bytes;
	struct sw_intern *ids = &w->python->code_ids;
	const uint64_t hash = sw_hash_bytes(sw_hash_bytes(SW_FNV_START, head, sizeof head), source->text, bytes) | 1;
	const uint32_t id = sw_intern(ids, hash, &fresh);
	if (!fresh)
		return id;
	struct sw_rec_python_code *r = (struct sw_rec_python_code *)sw_python.recorder->writer_describe(
		w, SW_REC_PYTHON_CODE, sizeof *r + bytes, false);
	if (!r) {
		sw_intern_undo(ids, hash);
		return 0;
	}
	r->id = id;
	r->first_line = source->first_line;
	r->file_bytes = source->file_bytes;
	r->function_bytes = source->function_bytes;
	memcpy(r + 1, source->text, bytes);
	sw_python.recorder->writer_commit(w);
	return id;
}

/* Is the id so old that readers may have forgotten it? */
static bool is_old(const struct sw_writer *w, uint32_t id)
{
	return id && w->python->code_ids.last - id > SW_PYTHON_OLD;
}

/* Does a thread wait in this function of PyTorch for its backward pass?  backward() and grad() wait in
   autograd/graph.py, those of older versions in autograd/__init__.py. */
static bool is_engine(const struct sw_python_source *source)
{
	static const char *const files[] = {"/torch/autograd/graph.py", "/torch/autograd/__init__.py"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const size_t length = strlen(files[i]);
		if (source->file_bytes >= length &&
		    memcmp(source->text + source->file_bytes - length, files[i], length) == 0)
			return true;
	}
	return false;
}

/* Finds the entry of a code object, or reads the object and makes one. NULL: it is no code object, or no room is left.
 */
static struct sw_python_code *know_code(struct sw_writer *w, const void *code)
{
	struct sw_python_source source;
	struct sw_python_code *known = code_place(w->python, code);
	if (known->code == code && !is_old(w, known->id))
		return known;
	known->code = NULL;
	sw_python_freed_watch(code);
	switch (sw_python_source_read(&sw_python.at, &sw_python.types, code, &source)) {
	case SW_PYTHON_UNREADABLE:
		return NULL;
	case SW_PYTHON_INTERNAL:
		known->id = 0;
		break;
	case SW_PYTHON_SOURCE:
		known->id = intern_code(w, &source);
		if (!known->id)
			return NULL;
	}
	known->engine = known->id && is_engine(&source);
	known->read = ++w->python->reads;
	known->last = (struct sw_python_entry){0};
	known->table = source.table;
	known->first_line = source.first_line;
	known->code = code;
	return known;
}

/* ---- chains ------------------------------------------------------------------------------------------------------ */

/* The code object of a frame; bits of its pointer that are flags are removed. */
static const void *code_of(const struct sw_python_link *link)
{
	return (const void *)(uintptr_t)(link->code & ~7ull);
}

/* Where in its code object a frame stands, in bytes. */
static int64_t offset_of(const struct sw_python_link *link)
{
	const struct sw_python_layout *at = &sw_python.at;
	if (!at->bytecode)
		return (int64_t)(int32_t)link->instruction * at->unit;
	return (int64_t)(link->instruction - (uint64_t)(uintptr_t)code_of(link) - at->bytecode);
}

/* Does a frame of the interpreter itself end the frames that its evaluation loop runs? */
static bool is_shim(const char *frame)
{
	const struct sw_python_layout *at = &sw_python.at;
	return at->style == SW_PYTHON_SHIMS && *(const uint8_t *)(frame + at->mark) >= at->shim;
}

/* A chain in the making: frames of s->found. */
struct reading {
	uint32_t frames, oldest_code;
	bool engine; /* of the innermost one */
};

/* The frame read last began an evaluation loop of its own: the C stack has a frame for it, by which both stacks are
   joined. */
static void end_loop(struct sw_python_stacks *s, const struct reading *r)
{
	if (r->frames)
		s->found[r->frames - 1].line |= SW_PYTHON_ENTRY;
}

/* The line in which a frame stands; lines are remembered, as line tables have no index. */
static uint32_t line_of(struct sw_python_stacks *s, struct sw_python_code *known, const struct sw_python_link *link)
{
	const uint64_t place = sw_hash_u64(link->instruction + known->read);
	struct sw_python_known_line *line = &s->line[place % SW_PYTHON_LINES];
	if (line->read == known->read && line->instruction == link->instruction)
		return line->line;
	const uint32_t read =
		sw_python_line(sw_python.at.format, &known->table, known->first_line, offset_of(link), &known->last);
	line->read = 0;
	line->instruction = link->instruction;
	line->line = (read ? read : known->first_line) & ~SW_PYTHON_ENTRY;
	line->read = known->read;
	return line->line;
}

/* Adds the Python frame of one link.  False: it is no code object, or its text was lost. */
static bool add_frame(struct sw_writer *w, struct reading *r, const struct sw_python_link *link)
{
	struct sw_python_stacks *s = w->python;
	struct sw_python_code *known = know_code(w, code_of(link));
	if (!known)
		return false;
	if (known->id) {
		if (!r->frames)
			r->engine = known->engine;
		s->found[r->frames++] = (struct sw_python_frame){known->id, line_of(s, known, link)};
		r->oldest_code = known->id < r->oldest_code ? known->id : r->oldest_code;
	}
	if (sw_python.at.style == SW_PYTHON_OBJECTS || (sw_python.at.style == SW_PYTHON_FLAG && (link->code & 1)))
		end_loop(s, r);
	return true;
}

/* The frames that the walked links stand for.  Returns how many links that took; 0: they are none. */
static uint32_t read_frames(struct sw_writer *w, struct reading *r, uint32_t links)
{
	struct sw_python_stacks *s = w->python;
	uint32_t i = 0;
	for (; i < links && r->frames < SW_PYTHON_FRAMES; i++) {
		if (is_shim(s->frame[i]))
			end_loop(s, r);
		else if (!add_frame(w, r, &s->walked[i]))
			return 0;
	}
	end_loop(s, r);
	return i;
}

/* Room for a chain of frames; signals are blocked. */
static struct sw_python_chain *take_room(struct sw_python_stacks *s, uint32_t bytes)
{
	if (s->used + bytes > SW_PYTHON_ARENA || s->chains >= SW_PYTHON_SLOTS / 4 * 3) {
		memset(s->slot, 0, sizeof s->slot);
		s->last = NULL;
		s->used = s->chains = 0;
	}
	struct sw_python_chain *chain = (struct sw_python_chain *)(void *)(s->arena + s->used);
	chain->links = 0;
	chain->bytes = bytes;
	s->used += bytes;
	return chain;
}

/* Makes a chain of frames findable by its hash. */
static void put_slot(struct sw_python_stacks *s, const struct sw_python_chain *chain)
{
	uint32_t i = (uint32_t)chain->hash % SW_PYTHON_SLOTS;
	while (s->slot[i])
		i = (i + 1) % SW_PYTHON_SLOTS;
	s->slot[i] = (uint32_t)(((const char *)chain - s->arena) / 8) + 1;
	s->chains++;
}

/* Reads `links` frames that were walked into a new chain, by which this sequence is known from now on; signals are
   blocked.  NULL: it is none, or no room is left in the trace. */
static struct sw_python_chain *python_chain_add(struct sw_writer *w, uint32_t links, bool cut, bool waiting,
						uint64_t hash)
{
	struct sw_python_stacks *s = w->python;
	struct reading r = {.oldest_code = UINT32_MAX};
	const uint32_t read = read_frames(w, &r, links);
	if (!read)
		return NULL;
	if (waiting && !r.engine)
		r.frames = 0; /* the first thread does something else meanwhile */
	struct sw_python_chain *chain =
		take_room(s, (uint32_t)(sizeof *chain + links * sizeof *chain->link + r.frames * sizeof *s->found));
	*chain = (struct sw_python_chain){.bytes = chain->bytes,
					  .frames = r.frames,
					  .oldest_code = r.oldest_code,
					  .waiting = waiting,
					  .cut = cut,
					  .deeper = cut || read < links,
					  .hash = hash,
					  .serial = ++s->serials};
	memcpy(chain->link, s->walked, links * sizeof *chain->link);
	memcpy(chain->link + links, s->found, r.frames * sizeof *s->found);
	for (uint32_t i = 0; i < links; i++)
		chain->codes |= bits_of(code_of(&chain->link[i]));
	put_slot(s, chain);
	chain->links = links;
	return chain;
}

/* Makes room for what a thread's writer remembers of Python frames.  NULL: no memory. */
static struct sw_python_stacks *python_stacks_of(struct sw_writer *w)
{
	int error;
	if (!w->python) {
		struct sw_python_stacks *s = sw_sys_map(-1, 0, sizeof *s, &error);
		if (s)
			s->freed = sw_python_freed();
		w->python = s;
	}
	return w->python;
}

/*
 * The first thread of the process, as other threads may read it while it waits for them.
 *
 * PyTorch runs backward passes on threads of its own, without any Python frame; the thread that called backward() waits
 * for them and keeps its frames.  If it does not wait after all, what is read may be nonsense, but it can be read:
 * frames lie in chunks of memory, the first of which is freed when Python ends, and (those of the interpreter itself)
 * on the stack of the thread, which is never unmapped.  Whatever lies elsewhere is not followed.
 */

#define STACK_BYTES (1u << 20) /* looked at, of its outermost calls: less than any limit of the stack */
#define CHUNKS	    64u	       /* more than any thread has */

/* Reads a pointer of the first thread's structures. */
static const char *pointer_waiting(const char *at)
{
	return (const char *)(uintptr_t)sw_python_word(at);
}

/* While the first thread is not known: is the caller the one? */
static void python_main_note(const char *thread)
{
	struct sw_python_main *m = &sw_python.main;
	const char *chunk, *end = (const char *)(uintptr_t)getauxval(AT_RANDOM); /* lies where the stack begins */
	if (!sw_python.at.chunk || !end || syscall(SYS_gettid) != getpid())
		return;
	chunk = pointer_waiting(thread + sw_python.at.chunk);
	for (unsigned n = 0; chunk && pointer_waiting(chunk) && n < CHUNKS; n++)
		chunk = pointer_waiting(chunk);
	uint64_t bytes = 0;
	if (!chunk || !sw_python_read(chunk + 8, &bytes, sizeof bytes) || bytes > STACK_BYTES)
		return;
	m->frames = chunk;
	m->end_of_frames = chunk + bytes;
	m->stack = end - STACK_BYTES;
	m->end_of_stack = end;
	__atomic_store_n(&m->thread, thread, __ATOMIC_RELEASE);
}

/* The innermost frame of the first thread, for another one; NULL: none that may be read. */
static const char *python_main_frame(const char *own)
{
	const struct sw_python_layout *at = &sw_python.at;
	const char *thread = __atomic_load_n(&sw_python.main.thread, __ATOMIC_ACQUIRE);
	if (!thread || thread == own)
		return NULL;
	const char *holder = at->holder ? pointer_waiting(thread + at->holder) : NULL;
	if (at->holder && !sw_python_main_has(holder, at->held + 8))
		return NULL;
	return at->holder ? pointer_waiting(holder + at->held) : pointer_waiting(thread + at->frame);
}

#define ALWAYS_INLINE static inline __attribute__((always_inline))

struct sw_python sw_python;

/* ---- notices ----------------------------------------------------------------------------------------------------- */

/* Writes a notice through the writer of the thread; the usual way would begin another record. */
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

/* The interpreter cannot be read safely: from now on there are native frames only, and the report says why. */
uint32_t sw_python_refuse(struct sw_writer *w, uint32_t native)
{
	const char *notice = __atomic_exchange_n(&sw_python.notice, NULL, __ATOMIC_ACQ_REL);
	sw_python.recorder->stacks(NULL);
	if (notice)
		write_notice(w, notice);
	return native;
}

/* The interpreter's frames are not as its version has them: no more are read. */
static __attribute__((noinline)) uint32_t give_up(struct sw_writer *w, uint32_t native)
{
	__atomic_store_n(&sw_python.notice,
			 "Python lines: not recorded, the frames of this interpreter are not as its version has them",
			 __ATOMIC_RELEASE);
	return sw_python_refuse(w, native);
}

/* The call was made in a sub-interpreter, whose frames are not read. */
static __attribute__((noinline)) uint32_t several(struct sw_writer *w, uint32_t native)
{
	if (!__atomic_exchange_n(&sw_python.several, true, __ATOMIC_ACQ_REL))
		write_notice(w, "Python lines: missing for calls that were made while there were sub-interpreters");
	return native;
}

/* ---- walking ----------------------------------------------------------------------------------------------------- */

/* Reads a pointer of the thread's own structures. */
static inline const char *pointer_join(const char *at)
{
	return (const char *)(uintptr_t)sw_python_word(at);
}

/* The code object and instruction of a frame. */
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

/* Is the chain (a remembered sequence of code objects and instructions) just the Python frames that begin at
   `frame`? */
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
		frame = pointer_join(frame + at->back);
	}
	return links && i == links && (frame != NULL) == chain->cut && chain->waiting == waiting;
}

/* The chain of the Python frames that begin at this one, remembered or read; NULL: they cannot be read. */
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
		frame = pointer_join(frame + sw_python.at.back);
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
		python_main_note(thread);
	struct sw_python_chain *chain = python_chain_add(w, n, frame != NULL, waiting, hash);
	errno = saved;
	sw_sys_set_signals(mask);
	return chain;
}

/* The first stack of the process is read with care: are there code objects where they should be?  Later loads rely on
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

/* Reads the thread's innermost frame by system calls.  False: what should hold it cannot be read. */
static bool frame_with_care(const char *thread, const char **frame)
{
	const struct sw_python_layout *at = &sw_python.at;
	if (!at->holder)
		return sw_python_read(thread + at->frame, frame, sizeof *frame);
	return sw_python_read(thread + at->holder, frame, sizeof *frame) &&
	       sw_python_read(*frame + at->held, frame, sizeof *frame);
}

/* Before the first stack: checks that the interpreter's structures are what they should be.  False: they are not. */
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

/* The thread's innermost Python frame, NULL: none that is safe to read.  The interpreter's own structures are read, so
   other interpreters, Python's end, and unknown layouts are looked at first. */
const char *sw_python_innermost(void)
{
	const struct sw_python_layout *at = &sw_python.at;
	const char *thread = sw_python.thread_state();
	if (!thread || sw_python_word(sw_python.runtime + at->finalizing) ||
	    pointer_join(thread + at->interpreter) != pointer_join(sw_python.runtime + at->interpreters))
		return NULL;
	if (!__atomic_load_n(&sw_python.sound, __ATOMIC_RELAXED) && (!begin(thread) || !sw_python.sound))
		return NULL;
	return at->holder ? pointer_join(pointer_join(thread + at->holder) + at->held)
			  : pointer_join(thread + at->frame);
}

/* ---- joining ----------------------------------------------------------------------------------------------------- */

/* Writes the PYTHON_STACK record, which joins a chain of Python frames to a native stack. */
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

/* The id of a chain of Python frames on this native stack; a new pair is written.  0: lost. */
static uint32_t intern_chain(struct sw_writer *w, struct sw_python_chain *chain, uint32_t native)
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

/* The id of a chain and native stack that were not met together lately.  A chain whose code ids have grown old is read
   again next time. */
static __attribute__((noinline)) uint32_t join_new(struct sw_writer *w, struct sw_python_chain *chain, uint32_t native,
						   struct sw_python_joined *place)
{
	const uint64_t mask = sw_sys_block_signals();
	if (w->python->code_ids.last - chain->oldest_code > SW_PYTHON_OLD) {
		chain->links = 0; /* it is read again next time, with codes that get new ids */
		sw_sys_set_signals(mask);
		return native;
	}
	const uint32_t id = intern_chain(w, chain, native);
	place->key = 0;
	place->id = id;
	place->key = id ? (uint64_t)native << 32 | chain->serial : 0;
	sw_sys_set_signals(mask);
	return id ? id : native;
}

/* The id of a chain of Python frames and a native stack together: from the table of pairs, which nearly always has
   it. */
ALWAYS_INLINE uint32_t join_chain(struct sw_writer *w, struct sw_python_chain *chain, uint32_t native)
{
	struct sw_python_stacks *s = w->python;
	const uint64_t key = (uint64_t)native << 32 | chain->serial;
	struct sw_python_joined *place = &s->joined[(native * 31 + chain->serial) % SW_PYTHON_JOINS];
	if (__builtin_expect(place->key == key && w->stack_ids.last - place->id < SW_PYTHON_OLD, 1))
		return place->id;
	return join_new(w, chain, native, place);
}

/* Joins a call's native stack with its Python frames: finds the chain of these, by what followed the last one if that
   fits.  Returns the id of both, or `native`. */
ALWAYS_INLINE uint32_t join_frames(struct sw_writer *w, uint32_t native, const char *thread, const char *frame,
				   enum sw_python_style style, bool waiting)
{
	struct sw_python_stacks *s = w->python;
	if (__builtin_expect(!s, 0)) {
		s = python_stacks_of(w);
		if (!s)
			return native;
	}
	if (__builtin_expect(s->freed != sw_python_freed(), 0))
		python_stacks_refresh(s);
	struct sw_python_chain *last = s->last, *chain = last ? last->next : NULL;
	if (!chain || !fits(chain, frame, style, waiting)) {
		chain = look_up(w, thread, frame, style, waiting);
		if (!chain)
			return native;
		if (s->last)
			s->last->next = chain;
	}
	s->last = chain;
	__builtin_prefetch(chain->next);
	__builtin_prefetch(chain->next + 1);
	return chain->frames ? join_chain(w, chain, native) : native;
}

/* A thread that runs no Python, such as PyTorch's for backward passes: what does the first thread wait in? */
static __attribute__((noinline)) uint32_t join_waiting(struct sw_writer *w, uint32_t native, const char *thread,
						       enum sw_python_style style)
{
	const char *frame = style == SW_PYTHON_OBJECTS ? NULL : python_main_frame(thread);
	if (!frame)
		return native;
	return style == SW_PYTHON_FLAG ? join_frames(w, native, thread, frame, SW_PYTHON_FLAG, true)
				       : join_frames(w, native, thread, frame, SW_PYTHON_SHIMS, true);
}

/* Joins the native stack with the thread's Python frames; `style` is constant in each copy of this function. */
ALWAYS_INLINE uint32_t join(struct sw_writer *w, uint32_t native, enum sw_python_style style)
{
	const struct sw_python_layout *at = &sw_python.at;
	const char *thread = sw_python.thread_state();
	if (!thread || sw_python_word(sw_python.runtime + at->finalizing))
		return native;
	if (__builtin_expect(
		    pointer_join(thread + at->interpreter) != pointer_join(sw_python.runtime + at->interpreters), 0))
		return several(w, native);
	if (__builtin_expect(!__atomic_load_n(&sw_python.sound, __ATOMIC_RELAXED), 0)) {
		if (!begin(thread))
			return give_up(w, native);
		if (!sw_python.sound)
			return native; /* no frames yet */
	}
	const char *frame = at->holder ? pointer_join(pointer_join(thread + at->holder) + at->held)
				       : pointer_join(thread + at->frame);
	return frame ? join_frames(w, native, thread, frame, style, false) : join_waiting(w, native, thread, style);
}

/* As the recorder calls it: join() for each layout of frames. */
static uint32_t join_objects(struct sw_writer *w, uint32_t native)
{
	return join(w, native, SW_PYTHON_OBJECTS);
}

/* Joins Python's frames with native ones in Python 3.11, where a frame says whether an evaluation loop was started for
   it. */
static uint32_t join_flags(struct sw_writer *w, uint32_t native)
{
	return join(w, native, SW_PYTHON_FLAG);
}

/* Joins Python's frames with native ones from Python 3.12 on, where a frame of the loop itself ends those that it
   runs. */
static uint32_t join_shims(struct sw_writer *w, uint32_t native)
{
	return join(w, native, SW_PYTHON_SHIMS);
}

/* The function that joins stacks for this layout of frames. */
static sw_python_join *python_join_of(enum sw_python_style style)
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

/* How the recorder finds the interpreter.  Runs on a thread of the recorder's, while the first CUDA call waits. */

static char refused[200];

#define EXPORT __attribute__((visibility("default")))
EXPORT void syncwatch_python_start(const struct sw_companion *recorder);

/* A function or object that the interpreter exports; NULL: none. */
static void *find_function(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

/* Python frames will not be read: the notice says why.  `version`: "3.11.7 (main, ...)", of which the first word
   matters. */
static void refuse_python(const char *version, const char *why)
{
	const char *end = strchr(version, ' ');
	snprintf(refused, sizeof refused, "Python lines: not recorded, Python %.*s: %s",
		 (int)(end ? end - version : (long)strlen(version)), version, why);
	__atomic_store_n(&sw_python.notice, refused, __ATOMIC_RELEASE);
	sw_python.recorder->stacks(sw_python_refuse);
}

/* Is this the type object with that name, by the layout?  If not, objects are laid out otherwise. */
static bool is_type(const void *type, const char *name)
{
	const char *at;
	char text[16] = "";
	return type && sw_python_read((const char *)type + sw_python.at.type_name, &at, sizeof at) &&
	       sw_python_read(at, text, strlen(name) + 1) && strcmp(text, name) == 0;
}

/* Finds the interpreter's structures and checks that they are as its version has them.  NULL: done; else why not. */
static const char *prepare_layout(const char *version)
{
	if (!sw_python_readable())
		return "the kernel does not let a process read its own memory with process_vm_readv";
	sw_python.runtime = find_function("_PyRuntime");
	sw_python.thread_state = (void *(*)(void))(uintptr_t)find_function("PyGILState_GetThisThreadState");
	sw_python.types = (struct sw_python_types){find_function("PyCode_Type"), find_function("PyUnicode_Type"),
						   find_function("PyBytes_Type")};
	const char *why = sw_python_layout_find(&sw_python.at, version, sw_python.runtime);
	if (why)
		return why;
	if (!sw_python.runtime || !sw_python.thread_state)
		return "it does not export what is needed";
	if (!is_type(sw_python.types.code, "code") || !is_type(sw_python.types.text, "str") ||
	    !is_type(sw_python.types.bytes, "bytes"))
		return "its objects are not laid out as in a release build";
	if (!sw_python_freed_start((void *)(uintptr_t)sw_python.types.code, sw_python.at.type_free))
		return "it is not known when its code objects end";
	return NULL;
}

#define REPORT "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE" /* preload/pools/torch.c */

/* PyTorch's allocator is recorded through a function that its version may not have. */
static void look_at_torch(const struct sw_companion *recorder)
{
	void *allocator = dlopen("libc10_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
	void *base = allocator ? dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD) : NULL;
	if (base && !dlsym(base, REPORT))
		recorder->notice("tensors: not recorded, this version of PyTorch does not report its blocks");
	if (base)
		dlclose(base);
	if (allocator)
		dlclose(allocator);
}

/* Called by libsyncwatch.so when the process is an interpreter; again in each child of fork() that calls CUDA. */
void syncwatch_python_start(const struct sw_companion *recorder)
{
	const char *(*version)(void) = (const char *(*)(void))(uintptr_t)find_function("Py_GetVersion");
	if (!recorder || !version)
		return;
	look_at_torch(recorder);
	sw_python.recorder = recorder;
	sw_python.several = false;
	if (sw_python.main.process != getpid())
		sw_python.main = (struct sw_python_main){.process = getpid()};
	const char *why = prepare_layout(version());
	if (why)
		refuse_python(version(), why);
	else
		recorder->stacks(python_join_of(sw_python.at.style));
	if (!why && recorder->options()->windows == SW_WINDOW_PYTHON)
		recorder->windows.ask_python(sw_python_inside);
}
