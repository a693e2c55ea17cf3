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

/* Gives a launch or parameter block, known by its hash, a new number. */
static __attribute__((noinline)) uint32_t add_number(struct sw_writer *w, uint64_t hash)
{
	sw_thread_busy(&sw_thread, 1);
	const uint32_t id = sw_intern_add(&w->launch_ids, hash);
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

/* Writes how the block (`words` of 4 bytes) differs from the last new one of its kernel: how many words, where, and
   their values.  Returns the bytes written after the short record; 0: too many differ. */
static uint32_t block_differences(const struct sw_last_launch *memo, const uint32_t *block, uint32_t words,
				  uint32_t *out)
{
	uint8_t at[SW_LAUNCH_CHANGES + 1] = {0};
	uint32_t n = 0, value[SW_LAUNCH_CHANGES];
	for (uint32_t i = 0; i < words; i++)
		if (memo->word[i] != block[i]) {
			if (n == SW_LAUNCH_CHANGES)
				return 0;
			value[n++] = block[i];
			at[n] = (uint8_t)i;
		}
	at[0] = (uint8_t)n;
	const uint32_t head = sw_launch_changes_head(n);
	memset(out, 0, SW_LAUNCH_CHANGES_BYTES);
	memcpy(out, at, n + 1);
	memcpy(out + head / 4, value, n * sizeof *value);
	return (head + n * 4 + 7) & ~7u;
}

/* A full LAUNCH record, under number `like`; `params`: number of its parameter block, of which `inlined` bytes
   follow. */
static void whole_record(struct sw_launch_tail *tail, uint32_t like, uint32_t params, size_t inlined)
{
	tail->bytes = sizeof tail->launch - HEADER;
	tail->block = (uint32_t)inlined;
	tail->launch.params = params;
	tail->launch.param_bytes = (uint16_t)inlined;
	tail->launch.flags |= inlined ? SW_LAUNCH_INLINE : 0;
	tail->launch.launch = like;
}

/* A record that refers to the launch `like` and the block `params`; `base`: number of the block that the changes are
   relative to, 0: none. */
static inline void short_record(struct sw_launch_tail *tail, uint32_t like, uint32_t params, uint32_t base)
{
	tail->bytes = sizeof tail->again - HEADER;
	tail->block = 0;
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

/* Are 8 bytes at any addresses equal? */
static inline bool same_word(const void *a, const void *b)
{
	uint64_t x, y;
	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return x == y;
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

/* Is the parameter block equal to the last new one of the kernel? */
static inline bool same_block(const struct sw_last_launch *memo, const char *block, size_t bytes)
{
	return memo->bytes == bytes && same_value((const char *)memo->word, block, bytes);
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
	if (memo->bytes != values->bytes)
		return false;
	for (uint32_t i = 0; i < values->params; i++) {
		const char *mine = (const char *)memo->word + values->layout[i].offset, *at = values->at[i];
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
		memo->params = 0;
	atomic_signal_fence(memory_order_seq_cst);
	memcpy(memo->launch, &tail->words[HEADER / 8], sizeof memo->launch);
	atomic_signal_fence(memory_order_seq_cst);
	memo->like = like;
}

/* From now on the thread's memo of the kernel has this parameter block, as number `params`. */
static void remember_block(struct sw_last_launch *memo, const void *block, size_t bytes, uint32_t params)
{
	memo->params = 0;
	atomic_signal_fence(memory_order_seq_cst);
	memo->bytes = (uint32_t)bytes;
	memcpy(memo->word, block, bytes);
	atomic_signal_fence(memory_order_seq_cst);
	memo->params = params;
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

/* Chooses the record of a launch whose parameter block is not the one of the memo: with the number of an older block,
   with the differences, or with the whole block. */
static __attribute__((noinline)) void other_block(struct sw_writer *w, struct sw_last_launch *memo,
						  struct sw_launch_tail *tail, uint32_t like, const void *block,
						  size_t bytes, bool whole)
{
	const uint64_t hash = tail->hash ? tail->hash : hash_block(block, bytes);
	uint32_t params = sw_intern_find(&w->launch_ids, hash), more = 0;
	if (params) {
		if (whole)
			whole_record(tail, like, params, 0);
		else
			short_record(tail, like, params, 0);
		return;
	}
	params = add_number(w, hash);
	const bool fits = bytes <= sizeof memo->word && bytes % 4 == 0;
	const uint32_t base = memo->params;
	if (!whole && fits && base && memo->bytes == bytes && in_chunk(w, base) && is_live(w, base)) {
		uint32_t words[SW_BLOCK_WORDS]; /* the block may lie at any address */
		memcpy(words, block, bytes);
		more = block_differences(memo, words, (uint32_t)(bytes / 4), tail->changes);
	}
	if (more) {
		short_record(tail, like, params, base);
		tail->bytes += more;
	} else {
		whole_record(tail, like, params, bytes);
	}
	if (fits)
		remember_block(memo, block, bytes, params);
}

/* Writes the record of a launch in full or, where the thread launched the same function in the same way before, as a
   short one that refers to that record; parameters in the same manner. */
__attribute__((cold)) void sw_launch_tail(struct sw_launch_tail *tail, const void *block, size_t bytes, bool whole)
{
	const struct sw_thread *t = &sw_thread;
	struct sw_writer *w = t->writer;
	if (__builtin_expect(!w || t->busy, 0)) {
		whole_record(tail, 0, 0, 0);
		return;
	}
	struct sw_last_launch *memo = &w->memos[tail->launch.function % SW_LAUNCH_MEMOS];
	uint32_t like = memo->like, params = 0;
	whole |= tail->fresh;
	if (__builtin_expect(!like || !in_chunk(w, like) || !is_live(w, like) || !same_launch(memo, tail), 0))
		like = number_launch(w, memo, tail, &whole);
	if (bytes) {
		params = memo->params;
		if (!params || !is_live(w, params) || !same_block(memo, block, bytes)) {
			other_block(w, memo, tail, like, block, bytes, whole);
			return;
		}
	}
	if (__builtin_expect(whole, 0))
		whole_record(tail, like, params, 0);
	else
		short_record(tail, like, params, 0);
}

/* Fills a launch's record behind its header: its words, then the block of parameters. */
void sw_launch_tail_write(struct sw_rec *rec, const struct sw_launch_tail *tail, const void *block)
{
	if (__builtin_expect(!rec, 0)) {
		if (sw_thread.writer)
			sw_writer_forget_launches(sw_thread.writer);
		return;
	}
	uint64_t *to = (uint64_t *)(void *)(rec + 1);
	for (uint32_t i = 0; i < tail->bytes / 8; i++)
		to[i] = tail->words[HEADER / 8 + i];
	if (tail->block)
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
	const uint32_t params = seen_before(w, tail, values);
	char block[SW_LAUNCH_CHANGED_MAX];
	if (params && !tail->fresh && write_again(call, like, params))
		return true;
	if (values->bytes > sizeof block)
		return false;
	sw_launch_gather(values, block);
	other_block(w, memo, tail, like, block, values->bytes, tail->fresh);
	struct sw_rec *r =
		sw_call_record(call, SW_REC_LAUNCH, sizeof(struct sw_rec) + tail->bytes + (size_t)tail->block);
	sw_launch_tail_write(r, tail, block);
	sw_call_publish(call);
	return true;
}

/* The fast path for a launch in a loop: compares with the memo of the thread's last launch of this function, and writes
   a short record.  False: sw_launch_tail() must write it. */
SW_OFTEN bool sw_launch_again(struct sw_call *call, struct sw_launch_tail *tail, const struct sw_launch_values *values)
{
	struct sw_writer *w = call->writer;
	struct sw_last_launch *memo = &w->memos[tail->launch.function % SW_LAUNCH_MEMOS];
	uint32_t like = memo->like, params = memo->params;
	if (__builtin_expect(sw_thread.busy || sw_companion_hooked(), 0))
		return false;
	if (__builtin_expect(!like || !in_chunk(w, like) || !is_live(w, like) || !same_launch(memo, tail), 0)) {
		like = number_launch(w, memo, tail, &tail->fresh);
		params = memo->params;
	}
	if (__builtin_expect(!values->bytes, 0))
		params = like;
	else if (__builtin_expect(!params || !is_live(w, params) || !same_values(memo, values), 0))
		return other_values(call, memo, tail, like, values);
	return __builtin_expect(!tail->fresh, 1) && write_again(call, like, params);
}
