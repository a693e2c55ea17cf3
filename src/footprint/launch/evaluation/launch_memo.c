/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers launches by what their evaluation read. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "footprint/footprint.h"
#include "footprint/launch/evaluation/eval.h"
#include "footprint/launch_memo.h"

/* ---- questions to memory, and the answers */

/*
 * An evaluation asks in an order that its launch and the answers decide.  A launch that agrees in all that was read of
 * the parameters asks the same, as long as it is told the same.
 */

/* Different ones of one evaluation; one that asks more is not remembered. */
#define MOST_ANSWERS 256

struct memory_answer {
	uint64_t address, value;
	uint32_t bytes, content; /* enum sw_memory_content */
};

struct memory_answers {
	const struct sw_geometry *launch;
	SW_VEC(struct memory_answer) at; /* in order, each once */
	bool complete;
};

/* Asks the launch what it knows of the content of these bytes of device memory. */
static struct memory_answer ask_memory(const struct sw_geometry *g, uint64_t address, uint32_t bytes)
{
	struct memory_answer answer = {.address = address, .bytes = bytes};
	answer.content = (uint32_t)g->content(g->arg, address, bytes, &answer.value);
	return answer;
}

/* Says the launch the same of the memory?  Two answers "not known" are the same. */
static bool same_answer(const struct memory_answer *a, const struct memory_answer *b)
{
	return a->content == b->content && (!a->content || a->value == b->value);
}

/* The answer that memory gave for these bytes before; NULL: it was not asked. */
static const struct memory_answer *find_answer(const struct memory_answers *answers, uint64_t address, uint32_t bytes)
{
	for (size_t i = answers->at.n; i-- > 0;) {
		const struct memory_answer *old = &answers->at.at[i];
		if (old->address == address && old->bytes == bytes)
			return old;
	}
	return NULL;
}

/* sw_geometry.content of a launch whose evaluation is remembered: asks the real one, and notes the answer, each
   question once. */
static enum sw_memory_content record_read(void *arg, uint64_t address, uint32_t bytes, void *out)
{
	struct memory_answers *answers = arg;
	const struct sw_geometry *g = answers->launch;
	answers->complete &= bytes <= sizeof(uint64_t);
	if (!answers->complete)
		return g->content(g->arg, address, bytes, out);
	const struct memory_answer *old = find_answer(answers, address, bytes);
	struct memory_answer answer = old ? *old : ask_memory(g, address, bytes);
	if (!old && answers->at.n < MOST_ANSWERS)
		*sw_vec_push(&answers->at) = answer;
	else if (!old)
		answers->complete = false;
	if (answer.content)
		memcpy(out, &answer.value, bytes);
	return (enum sw_memory_content)answer.content;
}

/* sw_geometry.symbol: asks the real launch. */
static uint64_t symbol_of(void *arg, const char *name)
{
	const struct memory_answers *answers = arg;
	return answers->launch->symbol(answers->launch->arg, name);
}

/* A copy of the launch for an evaluation whose questions to memory are noted in *answers; it is valid as long as
   both are. */
static struct sw_geometry record_memory_reads(struct memory_answers *answers, const struct sw_geometry *launch)
{
	struct sw_geometry listened = *launch;
	answers->launch = launch;
	answers->at.n = 0;
	answers->complete = true;
	listened.content = record_read;
	listened.symbol = launch->symbol ? symbol_of : NULL;
	listened.arg = answers;
	return listened;
}

/* Would memory give this launch the same n answers? */
static bool memory_says_so(const struct sw_geometry *launch, const struct memory_answer *answer, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct memory_answer now = ask_memory(launch, answer[i].address, answer[i].bytes);
		if (!same_answer(&now, &answer[i]))
			return false;
	}
	return true;
}

/* ---- results that are kept */

/* Ways to read the block that are kept of a kernel; a new one takes the place of the one that was not used longest. */
#define MAX_SHAPES 16

/* Most entries of one key, each for other distances between its pointers. */
#define MAX_ENTRIES 8

/* A part of the block that evaluations read. */
struct read_part {
	uint32_t at, bytes;
	bool low; /* of the 16-bit word, the low bits alone */
};

/* A base, and another that lies as far from it; UINT32_MAX: none.  Offsets in the block. */
struct read_base {
	uint32_t at, tied;
};

/* Which parts one evaluation read.  Another that agrees in them takes the same way and reads no others. */
struct read_shape {
	SW_VEC(struct read_part) part;
	SW_VEC(uint32_t) symbol;
	SW_VEC(struct read_base) base;
	uint64_t id; /* of all shapes of this memo */
};

/* A kernel, or one whose launches know what some memory holds. */
struct memo_kernel {
	uint8_t *use; /* sw_base_words_find() */
	struct read_shape shape[MAX_SHAPES];
	uint32_t shapes; /* the one used last comes first */
};

/* How far a base of the shape may move; in the shape's order. */
struct base_move {
	uint64_t value;
	sw_wide least, most; /* distance */
};

struct memo_entry {
	struct memo_entry *next; /* of the same key, which serves where this one cannot be moved to */
	uint32_t after;		 /* so many come after it */
	bool memory;		 /* sw_reads.memory */
	uint32_t key_bytes, reaches, differences, answers;
	const void *key;
	const struct base_move *move;
	const struct sw_reach *reach;
	const struct sw_base_difference *difference;
	const struct memory_answer *answer;
	const uint16_t *moves; /* by reach: the base that it moves with, + 1; 0: it stays */
};

struct sw_launch_memo {
	size_t most;
	struct sw_map kernels; /* footprint, + 1 if some memory is known -> struct memo_kernel */
	struct sw_map entries; /* hash -> struct memo_entry */
	struct sw_arena arena; /* of all entries */
	SW_VEC(unsigned char) key;
	struct sw_reads reads;
	struct memory_answers answers;
	struct sw_known_bounds *known;
	uint64_t last_shape;
	struct sw_launch_memo_totals totals;
};

struct sw_launch_memo *sw_launch_memo_open(size_t most)
{
	struct sw_launch_memo *memo = sw_calloc(1, sizeof *memo);
	memo->most = most;
	memo->known = sw_known_bounds_new();
	return memo;
}

/* Frees what is kept of launches of one shape. */
static void free_shape(struct read_shape *shape)
{
	free(shape->part.at);
	free(shape->symbol.at);
	free(shape->base.at);
	*shape = (struct read_shape){0};
}

void sw_launch_memo_close(struct sw_launch_memo *memo)
{
	struct sw_map_slot slot;
	if (!memo)
		return;
	for (size_t i = 0; (i = sw_map_next(&memo->kernels, i, &slot));) {
		struct memo_kernel *k = (struct memo_kernel *)(uintptr_t)slot.value;
		for (uint32_t j = 0; j < MAX_SHAPES; j++)
			free_shape(&k->shape[j]);
		free(k->use);
		free(k);
	}
	sw_map_free(&memo->kernels);
	sw_map_free(&memo->entries);
	sw_arena_free(&memo->arena);
	free(memo->key.at);
	sw_reads_free(&memo->reads);
	free(memo->answers.at.at);
	sw_known_bounds_free(memo->known);
	free(memo);
}

/* All that is kept of a kernel's launches, made at its first one.  memory: launches that know the content of some
   memory are kept apart from those that know none. */
static struct memo_kernel *kernel_of(struct sw_launch_memo *memo, const struct sw_footprint *f, bool memory)
{
	uint64_t number = (uint64_t)(uintptr_t)f + memory;
	struct memo_kernel *k = sw_map_ptr(&memo->kernels, number);
	if (k)
		return k;
	k = sw_calloc(1, sizeof *k);
	k->use = sw_base_words_find(f, memory);
	sw_map_put_ptr(&memo->kernels, number, k);
	return k;
}

/* ---- the key of a launch for one shape */

/* Appends bytes to the key that is being made. */
static void add_key(struct sw_launch_memo *memo, const void *bytes, size_t n)
{
	sw_vec_reserve(&memo->key, memo->key.n + n);
	memcpy(memo->key.at + memo->key.n, bytes, n);
	memo->key.n += n;
}

/* The 8 bytes of the parameter block at an offset; 0 where it is shorter. */
static uint64_t word_at(const struct sw_geometry *g, uint32_t at)
{
	uint64_t word = 0;
	if (at <= g->param_bytes && g->param_bytes - at >= sizeof word)
		memcpy(&word, (const char *)g->params + at, sizeof word);
	return word;
}

/* Appends the bytes of the parameter block that the shape reads as numbers.  Of words whose low bits alone it reads it
   appends only these. */
static void add_parts(struct sw_launch_memo *memo, const struct read_shape *shape, const struct sw_geometry *g)
{
	for (size_t i = 0; i < shape->part.n; i++) {
		const struct read_part *part = &shape->part.at[i];
		uint16_t low;
		if (part->low) {
			memcpy(&low, (const char *)g->params + part->at, sizeof low);
			low &= (1 << SW_BASE_LOW_BITS) - 1;
			add_key(memo, &low, sizeof low);
		} else {
			add_key(memo, (const char *)g->params + part->at, part->bytes);
		}
	}
}

/* Makes the key of a launch in memo->key, with its hash: all that an evaluation of this shape reads as a number.
   False: no launch with these parameters has that shape. */
static bool make_key(struct sw_launch_memo *memo, const struct read_shape *shape, const struct sw_footprint *f,
		     const struct sw_geometry *g, uint64_t *hash)
{
	const uint32_t size[9] = {g->grid[0],  g->grid[1], g->grid[2],	    g->block[0],   g->block[1],
				  g->block[2], g->cluster, g->shared_bytes, g->param_bytes};
	memo->key.n = 0;
	add_key(memo, &shape->id, sizeof shape->id);
	add_key(memo, size, sizeof size);
	for (size_t i = 0; i < shape->part.n; i++) {
		const struct read_part *part = &shape->part.at[i];
		if (part->at > g->param_bytes || g->param_bytes - part->at < part->bytes)
			return false;
	}
	for (size_t i = 0; i < shape->base.n; i++) {
		const struct read_base *base = &shape->base.at[i];
		uint64_t word = word_at(g, base->at);
		if (!sw_reads_is_base(word))
			return false;
		if (base->tied == UINT32_MAX)
			continue;
		word -= word_at(g, base->tied);
		add_key(memo, &word, sizeof word);
	}
	add_parts(memo, shape, g);
	for (size_t i = 0; i < shape->symbol.n; i++) {
		const char *name = f->string + f->symbol[shape->symbol.at[i]].name;
		uint64_t address = g->symbol ? g->symbol(g->arg, name) : 0;
		add_key(memo, &address, sizeof address);
	}
	*hash = sw_hash_words(memo->key.at, memo->key.n);
	return true;
}

/* ---- entries */

/* Elements of one table that follow each other lie at most so many words apart, in the order of use. */
#define TABLE_STRIDE 16u

/* Are the same elements of tables equal as in the remembered launch?  Equal ones are evaluated as one, so a launch
   in which others are equal has another result. */
static bool same_are_equal(const struct memo_entry *entry, const struct read_shape *shape, const struct sw_geometry *g)
{
	for (size_t i = 1; i < shape->base.n; i++) {
		uint64_t word = word_at(g, shape->base.at[i].at);
		for (size_t k = i > TABLE_STRIDE ? i - TABLE_STRIDE : 0; k < i; k++) {
			bool equal = word == word_at(g, shape->base.at[k].at);
			if (equal != (entry->move[i].value == entry->move[k].value))
				return false;
		}
	}
	return true;
}

/* May the remembered result be moved to this launch: does each base move no farther than the evaluation allows, and
   do all relations between bases hold that it relied on? */
static bool may_move(const struct memo_entry *entry, const struct read_shape *shape, const struct sw_geometry *g)
{
	for (size_t i = 0; i < shape->base.n; i++) {
		const struct base_move *b = &entry->move[i];
		sw_wide distance = (sw_wide)word_at(g, shape->base.at[i].at) - (sw_wide)b->value;
		if (distance < b->least || distance > b->most)
			return false;
	}
	for (uint32_t i = 0; i < entry->differences; i++) {
		const struct sw_base_difference *d = &entry->difference[i];
		if (!sw_base_difference_holds(d, word_at(g, d->at[0]), word_at(g, d->at[1])))
			return false;
	}
	return same_are_equal(entry, shape, g);
}

/* Has the entry the key that was made last? */
static bool is_of_key(const struct sw_launch_memo *memo, const struct memo_entry *entry)
{
	return entry->key_bytes == memo->key.n && !memcmp(entry->key, memo->key.at, memo->key.n);
}

/* Is the entry's result, moved, that of this launch? */
static bool entry_serves(const struct sw_launch_memo *memo, const struct memo_entry *entry,
			 const struct read_shape *shape, const struct sw_geometry *g)
{
	return is_of_key(memo, entry) && may_move(entry, shape, g) && memory_says_so(g, entry->answer, entry->answers);
}

/* The remembered result that serves for this launch; NULL: none does.  The shape that found it is tried first from
   then on. */
static const struct memo_entry *find_entry(struct sw_launch_memo *memo, struct memo_kernel *k,
					   const struct sw_footprint *f, const struct sw_geometry *g)
{
	for (uint32_t i = 0; i < k->shapes; i++) {
		struct read_shape shape = k->shape[i];
		uint64_t hash;
		if (!make_key(memo, &shape, f, g, &hash))
			continue;
		const struct memo_entry *entry = sw_map_ptr(&memo->entries, hash);
		while (entry && !entry_serves(memo, entry, &shape, g))
			entry = entry->next;
		if (entry) {
			memmove(k->shape + 1, k->shape, i * sizeof *k->shape);
			k->shape[0] = shape;
			return entry;
		}
	}
	return NULL;
}

/* Appends the remembered reaches, each moved as far as its base lies from the remembered one. */
static void add_moved(const struct memo_kernel *k, const struct memo_entry *entry, const struct sw_geometry *g,
		      struct sw_reaches *out)
{
	const struct read_shape *shape = &k->shape[0];
	sw_vec_reserve(out, out->n + entry->reaches);
	for (uint32_t i = 0; i < entry->reaches; i++) {
		struct sw_reach *reach = sw_vec_push(out);
		uint32_t base = entry->moves[i];
		*reach = entry->reach[i];
		if (base)
			reach->address += word_at(g, shape->base.at[base - 1].at) - entry->move[base - 1].value;
	}
}

/* ---- what an evaluation read */

/* Do both shapes read the same parts of the block in the same way? */
static bool same_shape(const struct read_shape *a, const struct read_shape *b)
{
	if (a->base.n != b->base.n || a->part.n != b->part.n || a->symbol.n != b->symbol.n)
		return false;
	for (size_t i = 0; i < a->base.n; i++) {
		if (a->base.at[i].at != b->base.at[i].at || a->base.at[i].tied != b->base.at[i].tied)
			return false;
	}
	for (size_t i = 0; i < a->part.n; i++) {
		const struct read_part *x = &a->part.at[i], *y = &b->part.at[i];
		if (x->at != y->at || x->bytes != y->bytes || x->low != y->low)
			return false;
	}
	for (size_t i = 0; i < a->symbol.n; i++) {
		if (a->symbol.at[i] != b->symbol.at[i])
			return false;
	}
	return true;
}

/* May the base not move at all?  It counts as a number then. */
static bool is_pinned(const struct sw_base_read *b)
{
	return b->least == 0 && b->most == 0;
}

/* Which words of the block the evaluation read, and how: as bases of addresses, as numbers, or their low bits alone.
   Launches that agree in these share its result. */
static struct read_shape shape_of(struct sw_reads *reads)
{
	struct read_shape shape = {0};
	for (size_t i = 0; i < reads->base.n; i++) {
		const struct sw_base_read *b = &reads->base.at[i];
		if (b->used && is_pinned(b))
			sw_reads_bytes(reads, b->at, 8);
		else if (b->used)
			*sw_vec_push(&shape.base) =
				(struct read_base){b->at, b->tied ? reads->base.at[b->tied - 1].at : UINT32_MAX};
	}
	for (uint32_t i = 0; i < reads->bytes; i++) {
		struct read_part *last = shape.part.n ? &shape.part.at[shape.part.n - 1] : NULL;
		if (reads->byte[i] & SW_READ_NUMBER) {
			if (last && !last->low && last->at + last->bytes == i)
				last->bytes++;
			else
				*sw_vec_push(&shape.part) = (struct read_part){i, 1, false};
		}
	}
	for (uint32_t i = 0; i < reads->bytes; i++) {
		if (reads->byte[i] & SW_READ_LOW)
			*sw_vec_push(&shape.part) = (struct read_part){i, 2, true};
	}
	for (size_t i = 0; i < reads->symbol.n; i++)
		*sw_vec_push(&shape.symbol) = reads->symbol.at[i].symbol;
	return shape;
}

/* The kernel's shape that is like the last evaluation's, a new one if there is none. */
static const struct read_shape *keep_shape(struct sw_launch_memo *memo, struct memo_kernel *k)
{
	struct read_shape shape = shape_of(&memo->reads);
	for (uint32_t i = 0; i < k->shapes; i++) {
		if (same_shape(&k->shape[i], &shape)) {
			free_shape(&shape);
			return &k->shape[i];
		}
	}
	if (k->shapes < MAX_SHAPES)
		k->shapes++;
	else
		free_shape(&k->shape[MAX_SHAPES - 1]);
	memmove(k->shape + 1, k->shape, (k->shapes - 1u) * sizeof *k->shape);
	shape.id = ++memo->last_shape; /* entries of the shape that was there are never found again */
	k->shape[0] = shape;
	return &k->shape[0];
}

/* By base of the shape: its value, and how far it may move.  The order is that of shape_of(). */
static const struct base_move *keep_moves(struct sw_launch_memo *memo, size_t n)
{
	struct base_move *move = sw_arena_alloc(&memo->arena, n * sizeof *move + 1);
	for (size_t i = 0, at = 0; i < memo->reads.base.n; i++) {
		const struct sw_base_read *b = &memo->reads.base.at[i];
		if (b->used && !is_pinned(b))
			move[at++] = (struct base_move){b->value, b->least, b->most};
	}
	return move;
}

/* Copies the relations between bases that the evaluation relied on into the arena. */
static const struct sw_base_difference *keep_differences(struct sw_launch_memo *memo)
{
	size_t bytes = memo->reads.different.n * sizeof *memo->reads.different.at;
	struct sw_base_difference *kept = sw_arena_alloc(&memo->arena, bytes + 1);
	if (bytes)
		memcpy(kept, memo->reads.different.at, bytes);
	return kept;
}

/* Copies the answers of memory into the arena. */
static const struct memory_answer *keep_answers(struct sw_launch_memo *memo)
{
	size_t bytes = memo->answers.at.n * sizeof *memo->answers.at.at;
	struct memory_answer *kept = sw_arena_alloc(&memo->arena, bytes + 1);
	if (bytes)
		memcpy(kept, memo->answers.at.at, bytes);
	return kept;
}

/* By reach: the number, + 1, of the shape's base that it moves with; 0: it stays. */
static const uint16_t *keep_reach_moves(struct sw_launch_memo *memo, const struct sw_reach *reach, size_t n)
{
	uint16_t *moves = sw_arena_alloc(&memo->arena, n * sizeof *moves + 1);
	const struct sw_reads *reads = &memo->reads;
	uint16_t *number = sw_calloc(reads->base.n + 1, sizeof *number), last = 0;
	for (size_t i = 0; i < reads->base.n; i++) {
		if (reads->base.at[i].used && !is_pinned(&reads->base.at[i]))
			number[i + 1] = ++last;
	}
	for (size_t i = 0; i < n; i++) {
		const struct sw_root *root = &reach[i].root;
		bool is_word = root->kind == SW_ROOT_PARAM && root->span <= 8 && root->param < reads->bytes;
		moves[i] = is_word && reach[i].address >= SW_LEAST_BASE ? number[reads->base_at[root->param]] : 0;
	}
	free(number);
	return moves;
}

/* Remembers the result of the last evaluation, n reaches, for launches like g.  Where there is no more room, all
   earlier results are dropped first. */
static void keep_entry(struct sw_launch_memo *memo, struct memo_kernel *k, const struct sw_footprint *f,
		       const struct sw_geometry *g, const struct sw_reach *reach, size_t n)
{
	uint64_t hash;
	if (memo->arena.bytes > memo->most) {
		sw_arena_free(&memo->arena);
		sw_map_free(&memo->entries);
	}
	const struct read_shape *shape = keep_shape(memo, k);
	if (!make_key(memo, shape, f, g, &hash))
		return;
	struct memo_entry *entry = sw_arena_alloc(&memo->arena, sizeof *entry);
	void *key = sw_arena_alloc(&memo->arena, memo->key.n);
	struct sw_reach *copy = sw_arena_alloc(&memo->arena, n * sizeof *copy + 1);
	memcpy(key, memo->key.at, memo->key.n);
	if (n)
		memcpy(copy, reach, n * sizeof *copy);
	entry->key = key;
	entry->key_bytes = (uint32_t)memo->key.n;
	entry->move = keep_moves(memo, shape->base.n);
	entry->reach = copy;
	entry->moves = keep_reach_moves(memo, reach, n);
	entry->difference = keep_differences(memo);
	entry->differences = (uint32_t)memo->reads.different.n;
	entry->answer = keep_answers(memo);
	entry->answers = (uint32_t)memo->answers.at.n;
	entry->reaches = (uint32_t)n;
	entry->memory = memo->reads.memory;
	entry->next = sw_map_ptr(&memo->entries, hash);
	entry->after = entry->next ? entry->next->after + 1 : 0;
	if (entry->after == MAX_ENTRIES) { /* that cannot be moved so far: they give way */
		entry->next = NULL;
		entry->after = 0;
	}
	sw_map_put_ptr(&memo->entries, hash, entry);
}

/* Has the result reaches that start from pointers in memory? */
static bool is_indirect(const struct sw_reach *reach, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (reach[i].root.kind == SW_ROOT_INDIRECT)
			return true;
	return false;
}

bool sw_launch_memo_evaluate(struct sw_launch_memo *memo, const struct sw_footprint *f, const struct sw_geometry *g,
			     struct sw_reaches *out)
{
	struct memo_kernel *k = kernel_of(memo, f, g->content != NULL);
	memo->totals.asked++;
	const struct memo_entry *entry = find_entry(memo, k, f, g);
	if (entry) {
		add_moved(k, entry, g, out);
		return entry->memory;
	}
	size_t from = out->n;
	struct sw_geometry listened = g->content ? record_memory_reads(&memo->answers, g) : *g;
	memo->totals.evaluated++;
	sw_reads_reset(&memo->reads, f, k->use, g->param_bytes);
	sw_eval_launch(f, &listened, &memo->reads, memo->known, out);
	sw_reads_finish(&memo->reads);
	memo->reads.memory |= out->n > from && is_indirect(out->at + from, out->n - from);
	if (!g->content)
		memo->answers.at.n = 0;
	if (!g->content || memo->answers.complete)
		keep_entry(memo, k, f, g, out->n ? out->at + from : NULL, out->n - from);
	return memo->reads.memory;
}

struct sw_launch_memo_totals sw_launch_memo_totals(const struct sw_launch_memo *memo)
{
	struct sw_launch_memo_totals totals = memo->totals;
	totals.bytes = memo->arena.bytes;
	return totals;
}
