/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches that were asked about.  One that agrees with an earlier one in all that its bounds were made from has the
 * same spans, moved with its pointers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "footprint/launch/spans/spans.h"

/* Remembered are those of kernels that take longer than to remember them. */
#define FEW_TERMS  16u
#define MOST_BYTES 8192u

static uint64_t word_at(const struct sw_geometry *g, uint32_t at)
{
	uint64_t word = 0;
	if (at + sizeof word <= g->param_bytes)
		memcpy(&word, (const char *)g->params + at, sizeof word);
	return word;
}

static void make_key(struct sw_spans *s, const struct sw_span_shape *shape, const struct sw_geometry *g)
{
	const uint32_t head[10] = {shape->id,	g->grid[0],  g->grid[1], g->grid[2],	  g->block[0],
				   g->block[1], g->block[2], g->cluster, g->shared_bytes, g->param_bytes};
	const char *params = g->params;
	sw_vec_reserve(&s->key, sizeof head + shape->pointer.n * (1 + sizeof(uint64_t)) + g->param_bytes);
	memcpy(s->key.at, head, sizeof head);
	s->key.n = sizeof head;
	s->where.n = 0;
	for (size_t i = 0; i < shape->pointer.n; i++) {
		uint64_t word = word_at(g, shape->pointer.at[i].at), apart;
		s->key.at[s->key.n++] = word != 0;
		*sw_vec_push(&s->where) = word;
		apart = word - s->where.at[shape->pointer.at[i].tied];
		memcpy(s->key.at + s->key.n, &apart, sizeof apart);
		s->key.n += shape->pointer.at[i].tied != i ? sizeof apart : 0;
	}
	for (size_t i = 0; i < shape->read.n; i++) {
		uint32_t lo = shape->read.at[i].lo,
			 hi = shape->read.at[i].hi < g->param_bytes ? shape->read.at[i].hi : g->param_bytes;
		if (lo >= hi)
			break;
		memcpy(s->key.at + s->key.n, params + lo, hi - lo);
		s->key.n += hi - lo;
	}
}

static bool has_key(const struct sw_spans *s, const struct sw_span_memory *memory)
{
	return memory->bytes == s->key.n && !memcmp(memory->key, s->key.at, s->key.n);
}

/* The places where the key may be, the one used last first. */
static struct sw_span_memory *memories_of_key(struct sw_spans *s)
{
	return &s->memory[sw_hash_words(s->key.at, s->key.n) % SW_SPAN_SETS * SW_SPAN_WAYS];
}

/* The one that has the key, else the one that was not used longest. */
static uint32_t way_of_key(const struct sw_spans *s, const struct sw_span_memory *set)
{
	uint32_t way = 0;
	while (way < SW_SPAN_WAYS - 1 && !has_key(s, &set[way]))
		way++;
	return way;
}

static void use_first(struct sw_span_memory *set, uint32_t way)
{
	struct sw_span_memory used = set[way];
	memmove(set + 1, set, way * sizeof *set);
	set[0] = used;
}

static struct sw_span_memory *remember_spans(struct sw_spans *s, bool bounded)
{
	struct sw_span_memory *memory = memories_of_key(s);
	use_first(memory, way_of_key(s, memory));
	size_t bytes = s->found.n * sizeof *s->found.at, pointers = (s->key.n + 7) & ~(size_t)7;
	size_t from = pointers + s->where.n * sizeof *s->where.at;
	if (from + bytes > memory->room) {
		free(memory->key);
		memory->room = 2 * (from + bytes);
		memory->key = sw_alloc(memory->room);
	}
	memory->bytes = s->key.n;
	memory->bounded = bounded;
	memory->far = !bounded && s->far;
	memory->n = (uint32_t)s->found.n;
	memcpy(memory->key, s->key.at, s->key.n);
	if (s->where.n)
		memcpy((char *)memory->key + pointers, s->where.at, from - pointers);
	if (bytes)
		memcpy((char *)memory->key + from, s->found.at, bytes);
	memory->pointer = (const uint64_t *)(const void *)((char *)memory->key + pointers);
	memory->span = (const struct sw_span *)(const void *)((char *)memory->key + from);
	return memory;
}

/* A launch that differs in pointers alone: the spans move.  False: past the end of all addresses, perhaps. */
static bool move_spans(struct sw_spans *s, const struct sw_span_memory *memory)
{
	s->found.n = 0;
	for (uint32_t i = 0; memory->bounded && i < memory->n; i++) {
		struct sw_span *span = sw_vec_push(&s->found);
		*span = memory->span[i];
		if (span->pointer == SW_SPAN_NO_POINTER)
			continue;
		sw_wide by = (sw_wide)s->where.at[span->pointer] - (sw_wide)memory->pointer[span->pointer];
		if (span->lo + by < 0 || span->hi + by > INT64_MAX)
			return false;
		span->lo = (uint64_t)(span->lo + by);
		span->hi = (uint64_t)(span->hi + by);
	}
	return memory->bounded;
}

/* Leaves in *out what the key's launch has. */
static bool recall_spans(struct sw_spans *s, const struct sw_span **out, uint32_t *n, bool *bounded)
{
	struct sw_span_memory *memory = memories_of_key(s);
	uint32_t way = way_of_key(s, memory);
	size_t pointers = s->where.n * sizeof *s->where.at;
	if (!has_key(s, &memory[way]))
		return false;
	use_first(memory, way);
	bool same = !pointers || !memcmp(memory->pointer, s->where.at, pointers);
	bool moved = !same && move_spans(s, memory);
	*out = moved ? s->found.at : memory->span;
	*n = memory->n;
	*bounded = memory->bounded;
	return same || moved || memory->far;
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

static void free_shape(struct sw_span_shape *shape)
{
	free(shape->read.at);
	free(shape->pointer.at);
}

static bool same_shape(const struct sw_span_shape *a, const struct sw_span_shape *b)
{
	return a->read.n == b->read.n && a->pointer.n == b->pointer.n &&
	       (!a->read.n || !memcmp(a->read.at, b->read.at, a->read.n * sizeof *a->read.at)) &&
	       (!a->pointer.n || !memcmp(a->pointer.at, b->pointer.at, a->pointer.n * sizeof *a->pointer.at));
}

static void bring_to_front(struct sw_spans *s, uint32_t i)
{
	struct sw_span_shape used = s->shape[i];
	memmove(s->shape + 1, s->shape, i * sizeof *s->shape);
	s->shape[0] = used;
}

/* Of what was read: the first one now. */
static void note_shape(struct sw_spans *s)
{
	struct sw_span_shape shape = sw_span_shape_of_reads(s);
	uint32_t i = 0;
	while (i < s->shapes && !same_shape(&s->shape[i], &shape))
		i++;
	if (i < s->shapes) {
		free_shape(&shape);
		bring_to_front(s, i);
		return;
	}
	shape.id = ++s->last_shape;
	if (s->shapes == SW_SPAN_SHAPES)
		free_shape(&s->shape[--s->shapes]);
	s->shape[s->shapes] = shape;
	bring_to_front(s, s->shapes++);
}

/* Spans name their pointer by its number in the shape, those whose pointer turned out to be a number name none. */
static void name_pointers(struct sw_spans *s)
{
	for (size_t i = 0; i < s->found.n; i++)
		if (s->found.at[i].pointer != SW_SPAN_NO_POINTER)
			s->found.at[i].pointer = s->pointer.at[s->found.at[i].pointer].number;
}

bool sw_spans_find(struct sw_spans *s, const struct sw_geometry *geometry, const struct sw_span **out, uint32_t *n)
{
	bool bounded;
	if (s->hopeless)
		return false;
	if (s->terms < FEW_TERMS || geometry->param_bytes > MOST_BYTES) {
		bounded = sw_spans_bound(s, geometry);
		*out = s->found.at;
		*n = (uint32_t)s->found.n;
		return bounded;
	}
	for (uint32_t i = 0; i < s->shapes; i++) {
		make_key(s, &s->shape[i], geometry);
		if (!recall_spans(s, out, n, &bounded))
			continue;
		bring_to_front(s, i);
		return bounded;
	}
	bounded = sw_spans_bound(s, geometry);
	note_shape(s);
	name_pointers(s);
	make_key(s, &s->shape[0], geometry);
	const struct sw_span_memory *memory = remember_spans(s, bounded);
	*out = memory->span;
	*n = memory->n;
	return bounded;
}

void sw_spans_forget(struct sw_spans *s)
{
	for (uint32_t i = 0; i < s->shapes; i++)
		free_shape(&s->shape[i]);
	for (uint32_t i = 0; i < SW_SPAN_SETS * SW_SPAN_WAYS; i++)
		free(s->memory[i].key);
	free(s->where.at);
	free(s->key.at);
}
