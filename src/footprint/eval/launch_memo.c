/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers launches by what their evaluation read. */
#include "footprint/launch_memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "footprint/eval/eval.h"

/* Ways to read the block that are kept of a kernel; a new one takes the place of the oldest. */
#define MAX_SHAPES 8

/* A part of the block that evaluations read. */
struct read_part {
	uint32_t at, bytes;
	bool low; /* of the 16-bit word, the low bits alone */
};

/* Which parts one evaluation read.  Another that agrees in them takes the same way and reads no others. */
struct read_shape {
	SW_VEC(struct read_part) part;
	SW_VEC(uint32_t) symbol;
	uint64_t bases; /* bit set */
	uint64_t id;	/* of all shapes of this memo */
};

struct memo_kernel {
	struct sw_base_words words;
	struct read_shape shape[MAX_SHAPES];
	uint32_t shapes, oldest;
};

struct memo_entry {
	struct sw_base_read base[SW_BASE_WORDS];
	uint32_t key_bytes, reaches;
	const void *key;
	const struct sw_reach *reach;
};

struct sw_launch_memo {
	size_t most;
	struct sw_map kernels; /* footprint -> struct memo_kernel */
	struct sw_map entries; /* hash -> struct memo_entry */
	struct sw_arena arena; /* of all entries */
	SW_VEC(unsigned char) key;
	SW_VEC(uint8_t) byte;
	uint64_t last_shape;
	struct sw_launch_memo_totals totals;
};

struct sw_launch_memo *sw_launch_memo_open(size_t most)
{
	struct sw_launch_memo *memo = sw_calloc(1, sizeof *memo);
	memo->most = most;
	return memo;
}

static void free_shape(struct read_shape *shape)
{
	free(shape->part.at);
	free(shape->symbol.at);
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
		sw_base_words_free(&k->words);
		free(k);
	}
	sw_map_free(&memo->kernels);
	sw_map_free(&memo->entries);
	sw_arena_free(&memo->arena);
	free(memo->key.at);
	free(memo->byte.at);
	free(memo);
}

static struct memo_kernel *kernel_of(struct sw_launch_memo *memo, const struct sw_footprint *f)
{
	struct memo_kernel *k = sw_map_ptr(&memo->kernels, (uint64_t)(uintptr_t)f);
	if (k)
		return k;
	k = sw_calloc(1, sizeof *k);
	sw_base_words_find(f, &k->words);
	sw_map_put_ptr(&memo->kernels, (uint64_t)(uintptr_t)f, k);
	return k;
}

/* ---- the key of a launch for one shape */

static void add_key(struct sw_launch_memo *memo, const void *bytes, size_t n)
{
	sw_vec_reserve(&memo->key, memo->key.n + n);
	memcpy(memo->key.at + memo->key.n, bytes, n);
	memo->key.n += n;
}

static uint64_t word_at(const struct sw_geometry *g, uint32_t at)
{
	uint64_t word = 0;
	if (at <= g->param_bytes && g->param_bytes - at >= sizeof word)
		memcpy(&word, (const char *)g->params + at, sizeof word);
	return word;
}

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

/* Into memo->key, with a hash; false: no launch like this has that shape. */
static bool make_key(struct sw_launch_memo *memo, const struct memo_kernel *k, const struct read_shape *shape,
		     const struct sw_footprint *f, const struct sw_geometry *g, uint64_t *hash)
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
	for (uint64_t left = shape->bases; left; left &= left - 1) {
		if (!sw_reads_is_base(word_at(g, k->words.at[__builtin_ctzll(left)])))
			return false;
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

static bool may_move(const struct memo_kernel *k, const struct memo_entry *entry, const struct read_shape *shape,
		     const struct sw_geometry *g)
{
	for (uint64_t left = shape->bases; left; left &= left - 1) {
		uint32_t base = (uint32_t)__builtin_ctzll(left);
		sw_wide distance = (sw_wide)word_at(g, k->words.at[base]) - (sw_wide)entry->base[base].value;
		if (distance < entry->base[base].least || distance > entry->base[base].most)
			return false;
	}
	return true;
}

static const struct memo_entry *find(struct sw_launch_memo *memo, const struct memo_kernel *k,
				     const struct sw_footprint *f, const struct sw_geometry *g)
{
	for (uint32_t i = 0; i < k->shapes; i++) {
		const struct read_shape *shape = &k->shape[i];
		uint64_t hash;
		if (!make_key(memo, k, shape, f, g, &hash))
			continue;
		const struct memo_entry *entry = sw_map_ptr(&memo->entries, hash);
		if (entry && entry->key_bytes == memo->key.n && !memcmp(entry->key, memo->key.at, memo->key.n) &&
		    may_move(k, entry, shape, g))
			return entry;
	}
	return NULL;
}

static void add_moved(const struct memo_kernel *k, const struct memo_entry *entry, const struct sw_geometry *g,
		      struct sw_reaches *out)
{
	sw_vec_reserve(out, out->n + entry->reaches);
	for (uint32_t i = 0; i < entry->reaches; i++) {
		struct sw_reach *reach = sw_vec_push(out);
		*reach = entry->reach[i];
		uint32_t base = reach->root.kind == SW_ROOT_PARAM && reach->root.span <= 8 && reach->address
					? sw_base_word_at(&k->words, reach->root.param)
					: 0;
		if (base && entry->base[base - 1].used)
			reach->address += word_at(g, reach->root.param) - entry->base[base - 1].value;
	}
}

/* ---- what an evaluation read */

static bool same_shape(const struct read_shape *a, const struct read_shape *b)
{
	if (a->bases != b->bases || a->part.n != b->part.n || a->symbol.n != b->symbol.n)
		return false;
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

static struct read_shape shape_of(struct sw_reads *reads)
{
	struct read_shape shape = {0};
	for (uint32_t i = 0; i < reads->words->n; i++) {
		const struct sw_base_read *b = &reads->base[i];
		bool pinned = b->least == 0 && b->most == 0;
		if (b->used && pinned)
			sw_reads_bytes(reads, reads->words->at[i], 8);
		shape.bases |= (uint64_t)(b->used && !pinned) << i;
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

static const struct read_shape *keep_shape(struct sw_launch_memo *memo, struct memo_kernel *k, struct sw_reads *reads)
{
	struct read_shape shape = shape_of(reads);
	for (uint32_t i = 0; i < k->shapes; i++) {
		if (same_shape(&k->shape[i], &shape)) {
			free_shape(&shape);
			return &k->shape[i];
		}
	}
	uint32_t at = k->shapes < MAX_SHAPES ? k->shapes++ : k->oldest++ % MAX_SHAPES;
	free_shape(&k->shape[at]);
	shape.id = ++memo->last_shape; /* entries of the shape that was there are never found again */
	k->shape[at] = shape;
	return &k->shape[at];
}

static void keep(struct sw_launch_memo *memo, struct memo_kernel *k, const struct sw_footprint *f,
		 const struct sw_geometry *g, struct sw_reads *reads, const struct sw_reach *reach, size_t n)
{
	uint64_t hash;
	if (memo->arena.bytes > memo->most) {
		sw_arena_free(&memo->arena);
		sw_map_free(&memo->entries);
	}
	const struct read_shape *shape = keep_shape(memo, k, reads);
	if (!make_key(memo, k, shape, f, g, &hash))
		return;
	struct memo_entry *entry = sw_arena_alloc(&memo->arena, sizeof *entry);
	void *key = sw_arena_alloc(&memo->arena, memo->key.n);
	struct sw_reach *copy = sw_arena_alloc(&memo->arena, n * sizeof *copy + 1);
	memcpy(key, memo->key.at, memo->key.n);
	if (n)
		memcpy(copy, reach, n * sizeof *copy);
	memcpy(entry->base, reads->base, sizeof entry->base);
	entry->key = key;
	entry->key_bytes = (uint32_t)memo->key.n;
	entry->reach = copy;
	entry->reaches = (uint32_t)n;
	/* One that cannot be moved so far gives way. */
	sw_map_put_ptr(&memo->entries, hash, entry);
}

void sw_launch_memo_evaluate(struct sw_launch_memo *memo, const struct sw_footprint *f, const struct sw_geometry *g,
			     struct sw_reaches *out)
{
	struct memo_kernel *k = kernel_of(memo, f);
	memo->totals.asked++;
	const struct memo_entry *entry = find(memo, k, f, g);
	if (entry) {
		add_moved(k, entry, g, out);
		return;
	}
	struct sw_reads reads = {.words = &k->words, .bytes = g->param_bytes};
	size_t from = out->n;
	memo->totals.evaluated++;
	sw_vec_reserve(&memo->byte, g->param_bytes + 1u);
	memset(memo->byte.at, 0, g->param_bytes + 1u);
	reads.byte = memo->byte.at;
	sw_eval_launch(f, g, &reads, out);
	keep(memo, k, f, g, &reads, out->n ? out->at + from : NULL, out->n - from);
	free(reads.symbol.at);
}

struct sw_launch_memo_totals sw_launch_memo_totals(const struct sw_launch_memo *memo)
{
	struct sw_launch_memo_totals totals = memo->totals;
	totals.bytes = memo->arena.bytes;
	return totals;
}
