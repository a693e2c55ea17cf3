/* SPDX-License-Identifier: Apache-2.0 */
#ifndef __clang__
#pragma GCC optimize("omit-frame-pointer", "no-tree-slp-vectorize", "no-tree-vectorize")
#endif

#include "preload/calls/launch_tail.h"

#include <string.h>

#include "preload/recorder/call_record.h"

#define HEADER sizeof(struct sw_rec)
#define FIRST  UINT64_C(0x2d358dccaa6c78a5)
#define SECOND UINT64_C(0x8bb84b93962eacc9)

static inline uint64_t load_u64(const char *at)
{
	uint64_t value;
	memcpy(&value, at, sizeof value);
	return value;
}

/* Both halves of a 128-bit product, xored: each bit of a and b changes about half of the result. */
static inline uint64_t fold_product(uint64_t a, uint64_t b)
{
	const unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * A hash of a parameter block: both halves of a product for each 16 bytes, after wyhash (public domain).  Sums of words
 * do not do: what differs are one or two words of a block, which must not cancel each other.  Never 0.
 */
static uint64_t hash_block(const char *at, size_t bytes)
{
	const char *end = at + bytes;
	uint64_t hash = FIRST ^ bytes, a = 0, b = 0;
	for (; end - at > 16; at += 16)
		hash = fold_product(load_u64(at) ^ SECOND, load_u64(at + 8) ^ hash);
	if (bytes >= 8) { /* of some bytes again */
		a = load_u64(end - 8 < at ? end - 8 : at);
		b = load_u64(end - 8);
	} else {
		memcpy(&a, at, bytes);
	}
	hash = fold_product(SECOND ^ bytes, fold_product(a ^ SECOND, b ^ hash));
	return hash ? hash : 1;
}

/* Gives a launch or parameter block, known by its hash, a new number; hash 0: it is not looked for later. */
static __attribute__((noinline)) uint32_t add_number(struct sw_writer *w, uint64_t hash)
{
	sw_thread_busy(&sw_thread, 1);
	const uint32_t id = hash ? sw_intern_add(&w->launch_ids, hash) : ++w->launch_ids.last;
	sw_thread_busy(&sw_thread, 0);
	return id;
}

/* Is the number one that this chunk defines?  A reference must not go to another chunk, with which it could be lost. */
static inline bool in_chunk(const struct sw_writer *w, uint32_t id)
{
	return w->launch_ids.last - id < w->launch_ids.last - w->chunk_ids;
}

/* Is the number young enough to be referred to?  Readers forget older ones. */
static inline bool is_live(const struct sw_writer *w, uint32_t id)
{
	return w->launch_ids.last - id < SW_INTERN_LIVE;
}

/* Are 8 bytes at any addresses equal? */
static inline bool same_word(const void *a, const void *b)
{
	uint64_t x, y;
	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return x == y;
}

/* Notes which eight bytes differ between two blocks, a bit for each, and returns how many. */
static __attribute__((noinline)) uint32_t note_changes(const char *old, const char *block, uint32_t bytes,
						       uint64_t *changed)
{
	uint32_t n = 0, at = 0;
	while (at < bytes) {
		const uint32_t end = bytes - at < 512 ? bytes : at + 512, whole = end & ~7u;
		uint64_t bits = 0, bit = 1;
		for (; at < whole; at += 8, bit <<= 1) {
			const uint64_t differs = !same_word(old + at, block + at);
			n += (uint32_t)differs;
			bits |= bit & -differs;
		}
		if (at < end && memcmp(old + at, block + at, end - at) != 0) {
			n++;
			bits |= bit;
		}
		at = end;
		*changed++ = bits;
	}
	return n;
}

/* Writes which words of four bytes differ between two blocks of up to 256 words: how many, where, and their values.
   Returns the bytes written after the short record; 0: too many differ. */
static __attribute__((noinline)) uint32_t few_words(const char *old, const char *block, const uint64_t *changed,
						    uint32_t bytes, uint32_t *out)
{
	uint8_t at[SW_LAUNCH_CHANGES + 1] = {0};
	uint32_t n = 0, value[SW_LAUNCH_CHANGES];
	for (uint32_t first = 0; first < bytes; first += 512)
		for (uint64_t bits = changed[first / 512]; bits; bits &= bits - 1) {
			uint32_t i = first + (uint32_t)__builtin_ctzll(bits) * 8;
			for (const uint32_t end = i + 8; i < end && i < bytes; i += 4) {
				if (memcmp(old + i, block + i, 4) == 0)
					continue;
				if (n == SW_LAUNCH_CHANGES)
					return 0;
				memcpy(&value[n++], block + i, 4);
				at[n] = (uint8_t)(i / 4);
			}
		}
	at[0] = (uint8_t)n;
	const uint32_t head = sw_launch_changes_head(n);
	memset(out, 0, SW_LAUNCH_CHANGES_BYTES);
	memcpy(out, at, n + 1);
	memcpy(out + head / 4, value, n * sizeof *value);
	return (head + n * 4 + 7) & ~7u;
}

/* Writes the changes of a block, behind a full record. */
static void put_changes(char *to, const struct sw_launch_tail *tail, const char *block, uint32_t bytes)
{
	const struct sw_launch_changes head = {.base = tail->base};
	const uint32_t bits_bytes = sw_launch_changes_bits(bytes);
	memcpy(to, &head, sizeof head);
	memcpy(to + sizeof head, tail->changed, bits_bytes);
	to += sizeof head + bits_bytes;
	for (uint32_t group = 0; group * 512 < bytes; group++)
		for (uint64_t bits = tail->changed[group]; bits; bits &= bits - 1, to += 8) {
			const uint32_t at = group * 512 + (uint32_t)__builtin_ctzll(bits) * 8;
			if (bytes - at >= 8) {
				memcpy(to, block + at, 8);
			} else {
				memset(to, 0, 8);
				memcpy(to, block + at, bytes - at);
			}
		}
}

/* A full LAUNCH record, under number `like`; `params`: number of its parameter block, of which `inlined` bytes follow
   or, where `base` is not 0, so many bytes of its changes since that block. */
static void whole_record(struct sw_launch_tail *tail, uint32_t like, uint32_t params, size_t inlined, uint32_t base)
{
	tail->bytes = sizeof tail->launch - HEADER;
	tail->block = (uint32_t)inlined;
	tail->base = base;
	tail->launch.params = params;
	tail->launch.param_bytes = (uint16_t)inlined;
	tail->launch.flags |= base ? SW_LAUNCH_CHANGED : inlined ? SW_LAUNCH_INLINE : 0;
	tail->launch.launch = like;
}

/* A record that refers to the launch `like` and the block `params`; `base`: number of the block that the changes are
   relative to, 0: none. */
static inline void short_record(struct sw_launch_tail *tail, uint32_t like, uint32_t params, uint32_t base)
{
	tail->bytes = sizeof tail->again - HEADER;
	tail->block = tail->base = 0;
	tail->again.like = like;
	tail->again.params = (int16_t)(params ? params - like : 0);
	tail->again.base = (uint16_t)(base ? params - base : 0);
}

/* Is everything but the parameters equal to the last launch of this kernel by this thread (stream, grid, block, shared
   memory, flags)?  Without branches. */
static inline bool same_launch(const struct sw_last_launch *memo, const struct sw_launch_tail *tail)
{
	const uint64_t *a = memo->launch, *b = &tail->words[HEADER / 8];
	_Static_assert(SW_LAUNCH_WORDS == 6, "all of them");
	return !((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]) | (a[4] ^ b[4]) | (a[5] ^ b[5]));
}

/* Are the bytes of a parameter equal?  In words of 8, the last of which may overlap the one before it. */
static inline bool same_value(const char *a, const char *b, size_t bytes)
{
	if (__builtin_expect(bytes < 8, 0)) {
		size_t i = 0;
		while (i < bytes && a[i] == b[i])
			i++;
		return i == bytes;
	}
	for (size_t i = 0; i + 8 < bytes; i += 8)
		if (!same_word(a + i, b + i))
			return false;
	return same_word(a + bytes - 8, b + bytes - 8); /* perhaps some bytes again */
}

/* Adds a parameter (its bytes, place and size) to the hash of a launch's parameters. */
static inline uint64_t hash_value(uint64_t hash, const char *at, const struct sw_param *param)
{
	const char *end = at + param->bytes;
	uint64_t a = 0, b = 0;
	uint32_t place, word; /* where it lies and its size */
	memcpy(&place, param, sizeof place);
	if (param->bytes == 4) {
		memcpy(&word, at, sizeof word);
		a = word;
	} else if (param->bytes >= 8) {
		for (; end - at > 16; at += 16)
			hash = fold_product(load_u64(at) ^ SECOND, load_u64(at + 8) ^ hash);
		a = load_u64(end - 8 < at ? end - 8 : at);
		b = load_u64(end - 8);
	} else {
		while (end > at)
			a = a << 8 | (unsigned char)*--end;
	}
	return fold_product(a ^ SECOND, b ^ hash ^ place);
}

/* Are all parameters equal to the kernel's last new block?  Compares each where the program has it: to put them
   together first would wait for the processor's store buffer. */
static inline bool same_values(const struct sw_last_launch *memo, const struct sw_launch_values *values)
{
	if (memo->last.bytes != values->bytes)
		return false;
	for (uint32_t i = 0; i < values->params; i++) {
		const char *mine = (const char *)memo->block + values->layout[i].offset, *at = values->at[i];
		const size_t bytes = values->layout[i].bytes;
		uint32_t a, b;
		if (__builtin_expect(!at, 0))
			return false;
		if (bytes == 4) {
			memcpy(&a, mine, sizeof a);
			memcpy(&b, at, sizeof b);
			if (a != b)
				return false;
		} else if (!same_value(mine, at, bytes)) {
			return false;
		}
	}
	return true;
}

/* From now on the thread's memo of the kernel, with which later launches are compared, has this launch, as number
   `like`. */
static void remember_launch(struct sw_last_launch *memo, const struct sw_launch_tail *tail, uint32_t like)
{
	const uint32_t function =
		((const struct sw_rec_launch *)(const void *)((const char *)memo->launch - HEADER))->function;
	memo->like = 0; /* a signal handler may jump away in between */
	if (function != tail->launch.function)
		memo->last.params = memo->news = 0;
	atomic_signal_fence(memory_order_seq_cst);
	memcpy(memo->launch, &tail->words[HEADER / 8], sizeof memo->launch);
	atomic_signal_fence(memory_order_seq_cst);
	memo->like = like;
}

/* From now on the writer has this parameter block, as number `params`, in `room`.  `whole`: the trace has it without
   reference to another one. */
static void remember_block(const struct sw_writer *w, struct sw_last_block *last, void *room, const void *block,
			   size_t bytes, uint32_t params, bool whole)
{
	last->params = 0; /* a signal handler may jump away in between */
	atomic_signal_fence(memory_order_seq_cst);
	last->bytes = (uint32_t)bytes;
	last->whole = whole ? w->index : last->whole;
	memcpy(room, block, bytes);
	atomic_signal_fence(memory_order_seq_cst);
	last->params = params;
}

#define PLACES 8u /* of a long block that are compared */
#define LIKE   4u /* so many equal ones make it worth to write what differs */

/* Where the writer has the bytes of a remembered long block. */
static char *long_data(const struct sw_writer *w, const struct sw_long_block *one)
{
	return w->long_data + (one - w->long_blocks) * (ptrdiff_t)SW_LAUNCH_BLOCK_MAX;
}

/* How much of a long block is as in a remembered one: so many of the places. */
static uint32_t likeness(const char *old, const char *block, uint32_t bytes)
{
	uint32_t same = 0;
	for (uint32_t at = 0; at + 8 <= bytes; at += bytes / PLACES & ~7u)
		same += same_word(old + at, block + at);
	return same;
}

/* The remembered long block of the kernel that is most like this one; if none is like it, a place for it.  NULL: no
   memory. */
static __attribute__((noinline, cold)) struct sw_long_block *long_block_like(struct sw_writer *w, uint32_t function,
									     const char *block, uint32_t bytes)
{
	struct sw_long_block *best = NULL, *oldest = w->long_blocks;
	uint32_t most = LIKE - 1;
	int error;
	if (!w->long_data)
		w->long_data = sw_sys_map(-1, 0, SW_LAUNCH_LONG * (size_t)SW_LAUNCH_BLOCK_MAX, &error);
	if (!w->long_data)
		return NULL;
	for (struct sw_long_block *one = w->long_blocks; one < w->long_blocks + SW_LAUNCH_LONG; one++) {
		oldest = one->last.params < oldest->last.params ? one : oldest;
		if (one->function != function || one->last.bytes != bytes || !one->last.params)
			continue;
		const uint32_t same = likeness(long_data(w, one), block, bytes);
		best = same > most ? one : best;
		most = same > most ? same : most;
	}
	if (best)
		return best;
	oldest->last.params = 0;
	oldest->function = function;
	return oldest;
}

/* Gives a launch that differs from the thread's memo of its kernel a number: that of an earlier one of this chunk, or a
   new one (then whole becomes true: the full record must be written). */
static SW_OFTEN __attribute__((noinline)) uint32_t number_launch(struct sw_writer *w, struct sw_last_launch *memo,
								 const struct sw_launch_tail *tail, bool *whole)
{
	const uint64_t hash = hash_block((const char *)&tail->launch + HEADER, sizeof memo->launch);
	uint32_t like = sw_intern_find(&w->launch_ids, hash);
	if (!like || !in_chunk(w, like)) {
		like = add_number(w, hash);
		*whole = true;
	}
	remember_launch(memo, tail, like);
	return like;
}

/* Makes the record of a launch whose block `params` is a remembered one with some bytes changed.  False: that one
   cannot be referred to, or the block itself is as short. */
static bool write_changes(const struct sw_writer *w, const struct sw_last_block *last, const void *old,
			  struct sw_launch_tail *tail, uint32_t like, uint32_t params, const char *block,
			  uint32_t bytes, bool whole)
{
	const uint32_t base = last->params;
	if (!base || last->bytes != bytes || w->index - last->whole >= SW_LAUNCH_CHAIN || !is_live(w, base))
		return false;
	const uint32_t changed = note_changes(old, block, bytes, tail->changed);
	if (!whole && changed <= SW_LAUNCH_CHANGES && bytes <= SW_LAUNCH_CHANGED_MAX && bytes % 4 == 0) {
		const uint32_t more = few_words(old, block, tail->changed, bytes, tail->changes);
		if (more) {
			short_record(tail, like, params, base);
			tail->bytes += more;
			return true;
		}
	}
	const size_t more = sizeof(struct sw_launch_changes) + sw_launch_changes_bits(bytes) + changed * 8;
	if (more >= bytes)
		return false;
	whole_record(tail, like, params, more, base);
	return true;
}

/* Chooses the record of a launch with a new parameter block: with what differs from a remembered one, or with the whole
   block. */
static __attribute__((noinline)) void new_block(struct sw_writer *w, struct sw_last_launch *memo,
						struct sw_launch_tail *tail, uint32_t like, uint32_t params,
						const void *block, size_t bytes, bool whole)
{
	struct sw_last_block *last = &memo->last;
	void *room = memo->block;
	if (bytes > sizeof memo->block) {
		struct sw_long_block *one = long_block_like(w, tail->launch.function, block, (uint32_t)bytes);
		last = one ? &one->last : NULL;
		room = one ? long_data(w, one) : NULL;
	}
	const bool changes = last && write_changes(w, last, room, tail, like, params, block, (uint32_t)bytes, whole);
	if (!changes)
		whole_record(tail, like, params, bytes, 0);
	if (last)
		remember_block(w, last, room, block, bytes, params, !changes);
}

/* Chooses the record of a launch by its parameter block: with the number of an older one, or with a new one. */
static __attribute__((noinline)) void other_block(struct sw_writer *w, struct sw_last_launch *memo,
						  struct sw_launch_tail *tail, uint32_t like, const void *block,
						  size_t bytes, bool whole)
{
	if (tail->unsought) {
		new_block(w, memo, tail, like, add_number(w, 0), block, bytes, whole);
		return;
	}
	const uint64_t hash = tail->hash ? tail->hash : hash_block(block, bytes);
	const uint32_t params = sw_intern_find(&w->launch_ids, hash);
	if (!params)
		new_block(w, memo, tail, like, add_number(w, hash), block, bytes, whole);
	else if (whole)
		whole_record(tail, like, params, 0, 0);
	else
		short_record(tail, like, params, 0);
}

/* Writes the record of a launch in full or, where the thread launched the same function in the same way before, as a
   short one that refers to that record; parameters in the same manner. */
__attribute__((cold)) void sw_launch_tail(struct sw_launch_tail *tail, const void *block, size_t bytes, bool whole)
{
	const struct sw_thread *t = &sw_thread;
	struct sw_writer *w = t->writer;
	if (__builtin_expect(!w || t->busy, 0)) {
		whole_record(tail, 0, 0, 0, 0);
		return;
	}
	struct sw_last_launch *memo = &w->memos[tail->launch.function % SW_LAUNCH_MEMOS];
	uint32_t like = memo->like;
	whole |= tail->fresh;
	if (__builtin_expect(!like || !in_chunk(w, like) || !is_live(w, like) || !same_launch(memo, tail), 0))
		like = number_launch(w, memo, tail, &whole);
	uint32_t params = memo->last.params;
	if (memo->last.bytes != bytes || !is_live(w, params) || memcmp(memo->block, block, bytes) != 0)
		params = 0;
	if (bytes && !params)
		other_block(w, memo, tail, like, block, bytes, whole);
	else if (whole)
		whole_record(tail, like, params, 0, 0);
	else
		short_record(tail, like, params, 0);
}

/* Fills a launch's record behind its header: its words, then the block of parameters. */
void sw_launch_tail_write(struct sw_rec *rec, const struct sw_launch_tail *tail, const void *block, size_t bytes)
{
	if (__builtin_expect(!rec, 0)) {
		if (sw_thread.writer)
			sw_writer_forget_launches(sw_thread.writer);
		return;
	}
	uint64_t *to = (uint64_t *)(void *)(rec + 1);
	for (uint32_t i = 0; i < tail->bytes / 8; i++)
		to[i] = tail->words[HEADER / 8 + i];
	if (tail->base)
		put_changes((char *)(to + tail->bytes / 8), tail, block, bytes);
	else if (tail->block)
		memcpy(to + tail->bytes / 8, block, tail->block);
}

/* Copies a parameter.  Nearly all are pointers, words and small arrays of them: not worth a call of memcpy(). */
static inline void copy_value(char *to, const char *from, size_t bytes)
{
	if (bytes == 4) {
		memcpy(to, from, 4);
	} else if (bytes - 8 <= 56) {
		for (size_t i = 0; i + 8 < bytes; i += 8)
			memcpy(to + i, from + i, 8);
		memcpy(to + bytes - 8, from + bytes - 8, 8); /* perhaps some bytes again */
	} else {
		memcpy(to, from, bytes);
	}
}

/* Makes the block of parameters: their values lie anywhere in the program's memory, the block has them at the offsets
   of the kernel's layout. */
void sw_launch_gather(const struct sw_launch_values *values, char *block)
{
	/* Bytes between parameters are padding: they must not make equal blocks differ. */
	if (values->gaps)
		memset(block, 0, values->bytes);
	for (uint32_t i = 0; i < values->params; i++) {
		const struct sw_param *p = &values->layout[i];
		if (values->at[i])
			copy_value(block + p->offset, values->at[i], p->bytes);
		else
			memset(block + p->offset, 0, p->bytes);
	}
}

/* Some kernels have new parameters at each launch: addresses, or what the program left uninitialised.  After many of
   these in a row, most are not looked for among the earlier ones, whose table is rarely in the processor's caches. */
static bool is_sought(const struct sw_last_launch *memo)
{
	return memo->news < 32 || memo->news % 8 == 0;
}

/* The number of parameters that were seen before, 0: they were not. */
static uint32_t seen_before(struct sw_writer *w, struct sw_launch_tail *tail, const struct sw_launch_values *values)
{
	uint64_t hash = FIRST ^ values->bytes;
	for (uint32_t i = 0; i < values->params; i++)
		if (values->at[i])
			hash = hash_value(hash, values->at[i], &values->layout[i]);
	tail->hash = hash;
	return hash ? sw_intern_find(&w->launch_ids, hash) : 0;
}

/* Writes the shortest record: launch `like` again, with block `params`.  False: something else is due first. */
static inline __attribute__((always_inline)) bool write_again(struct sw_call *call, uint32_t like, uint32_t params)
{
	return sw_call_write(call, SW_REC_LAUNCH, 1, like | (uint64_t)(uint16_t)(params - like) << 32, 0, 0);
}

/* Writes a launch whose parameters are not those of the memo.  False: not done, the block is too large. */
static SW_OFTEN __attribute__((noinline)) bool other_values(struct sw_call *call, struct sw_last_launch *memo,
							    struct sw_launch_tail *tail, uint32_t like,
							    const struct sw_launch_values *values)
{
	struct sw_writer *w = call->writer;
	char block[SW_LAUNCH_SHORT];
	const uint32_t params = is_sought(memo) ? seen_before(w, tail, values) : 0;
	tail->unsought = !is_sought(memo);
	memo->news = params ? 0 : memo->news + 1;
	if (params && !tail->fresh && write_again(call, like, params))
		return true;
	if (values->bytes > sizeof block)
		return false;
	sw_launch_gather(values, block);
	other_block(w, memo, tail, like, block, values->bytes, tail->fresh);
	struct sw_rec *r =
		sw_call_record(call, SW_REC_LAUNCH, sizeof(struct sw_rec) + tail->bytes + (size_t)tail->block);
	sw_launch_tail_write(r, tail, block, values->bytes);
	sw_call_publish(call);
	return true;
}

/* The fast path for a launch in a loop: compares with the memo of the thread's last launch of this function, and writes
   a short record.  False: sw_launch_tail() must write it. */
SW_OFTEN bool sw_launch_again(struct sw_call *call, struct sw_launch_tail *tail, const struct sw_launch_values *values)
{
	struct sw_writer *w = call->writer;
	struct sw_last_launch *memo = &w->memos[tail->launch.function % SW_LAUNCH_MEMOS];
	uint32_t like = memo->like, params = memo->last.params;
	if (__builtin_expect(sw_thread.busy || sw_companion_hooked(), 0))
		return false;
	if (__builtin_expect(!like || !in_chunk(w, like) || !is_live(w, like) || !same_launch(memo, tail), 0)) {
		like = number_launch(w, memo, tail, &tail->fresh);
		params = memo->last.params;
	}
	if (__builtin_expect(!values->bytes, 0))
		params = like;
	else if (__builtin_expect(!params || !is_live(w, params) || !same_values(memo, values), 0))
		return other_values(call, memo, tail, like, values);
	return __builtin_expect(!tail->fresh, 1) && write_again(call, like, params);
}
