/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches that were asked about.  If a launch agrees with an earlier one in all parameters that the bounds were made
 * from, it has the same spans, moved with its pointers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "footprint/launch/spans/spans.h"

/* ---- pointers that spans move with */

/*
 * The parameters that the bounds of a launch are made from.
 *
 * Pointers that only are added to: whatever they are, the addresses made from them move with them and nothing else
 * changes, so the spans of one launch serve the next one with tensors elsewhere.  A pointer that is compared, masked
 * (is it aligned?), chosen by or read in halves is a number, but for whether it is null.
 *
 * And the rest of the parameter block, as far as it counts: PyTorch's index arithmetic has room for 25 dimensions, most
 * of which hold what was left in memory before.
 */

/* No parameter block has so many bytes: a term that reads beyond it reads nothing. */
#define MOST_BYTES ((int64_t)1 << 16)

/* The bytes of the parameter block that a term itself reads: [*lo, *hi).  False: it reads none. */
static bool bytes_read(const struct sw_term *t, int64_t *lo, int64_t *hi)
{
	bool table = t->op == SW_TERM_ELEMENT;
	if (!table && (t->op != SW_OP_PARAM || t->imm < 0 || t->imm >= MOST_BYTES))
		return false;
	*lo = table ? t->b : t->imm;
	*hi = table ? t->c : t->imm + (t->width + 7) / 8;
	*hi = *hi < MOST_BYTES ? *hi : MOST_BYTES;
	return *lo < *hi;
}

void sw_span_note_word(struct sw_spans *s, uint32_t number)
{
	const struct sw_term *t = &s->f->term[number];
	int64_t lo, hi;
	uint32_t i = 0;
	s->word[number] = SW_SPAN_NO_POINTER;
	if (!bytes_read(t, &lo, &hi))
		return;
	while (s->read.n < (size_t)hi)
		*sw_vec_push(&s->read) = false;
	if (t->op != SW_OP_PARAM || t->width != 64)
		return;
	while (i < s->pointer.n && s->pointer.at[i].at != lo)
		i++;
	if (i == SW_SPAN_MOST_POINTERS)
		return;
	if (i == s->pointer.n)
		*sw_vec_push(&s->pointer) = (struct sw_span_pointer){.at = (uint32_t)lo};
	s->word[number] = i;
}

void sw_span_begin_reads(struct sw_spans *s)
{
	if (s->read.n)
		memset(s->read.at, false, s->read.n * sizeof *s->read.at);
	for (size_t i = 0; i < s->pointer.n; i++)
		s->pointer.at[i] = (struct sw_span_pointer){.at = s->pointer.at[i].at, .tied = (uint32_t)i};
}

/* The pointer that stands for all that are tied to this one (moved by the same distance). */
static uint32_t first_of(const struct sw_spans *s, uint32_t pointer)
{
	while (s->pointer.at[pointer].tied != pointer)
		pointer = s->pointer.at[pointer].tied;
	return pointer;
}

/* Notes that a pointer counts as a number: spans of a launch in which it is another one are not the same, moved. */
static void pin_pointer(struct sw_spans *s, uint32_t pointer)
{
	if (pointer != SW_SPAN_NO_POINTER)
		s->pointer.at[first_of(s, pointer)].pinned = true;
}

/* Notes that spans move with two pointers, which must move by the same distance. */
static void tie_pointers(struct sw_spans *s, uint32_t x, uint32_t y)
{
	struct sw_span_pointer *p = &s->pointer.at[first_of(s, x)], *q = &s->pointer.at[first_of(s, y)];
	if (p < q) {
		struct sw_span_pointer *swap = p;
		p = q;
		q = swap;
	}
	p->tied = (uint32_t)(q - s->pointer.at);
	q->pinned |= p->pinned;
}

void sw_span_pin(struct sw_spans *s, uint32_t number)
{
	if (number < s->f->terms)
		pin_pointer(s, s->value[number].pointer);
}

/* Notes that the bounds of this launch depend on what the term reads of the parameter block; returns the pointer
   that it is. */
static uint32_t read_parameters(struct sw_spans *s, const struct sw_term *t, uint32_t number)
{
	uint32_t pointer = s->word[number];
	int64_t lo, hi;
	if (pointer != SW_SPAN_NO_POINTER)
		s->pointer.at[pointer].read = true;
	else if (bytes_read(t, &lo, &hi))
		memset(s->read.at + lo, true, (size_t)(hi - lo) * sizeof *s->read.at);
	return pointer;
}

/* Joins one more way of a choice to those before (`first`: there are none).  The choice moves with *pointer if all
   ways move with it, or with pointers that move by the same distance; a way that is a number pins them. */
static void join_ways(struct sw_spans *s, uint32_t way, bool first, uint32_t *pointer)
{
	uint32_t own = s->value[way].pointer;
	if (!first && own == SW_SPAN_NO_POINTER)
		pin_pointer(s, *pointer);
	else if (!first && *pointer == SW_SPAN_NO_POINTER)
		pin_pointer(s, own);
	else if (!first)
		tie_pointers(s, own, *pointer);
	*pointer = own;
}

/* The pointer that the result of a choice moves with.  The conditions are pinned: which way is taken does not depend
   on where a pointer leads.  Ways that this launch cannot take were not bounded, and are left out. */
static uint32_t choice_moves_with(struct sw_spans *s, const struct sw_term *t)
{
	const uint32_t *way = s->f->alternative + t->a, *condition = way + t->b;
	uint32_t pointer = SW_SPAN_NO_POINTER;
	bool first = true;
	if (t->op == SW_OP_SELECT) {
		struct sw_bounds which = sw_span_exact(s, t->a, 1, false);
		sw_span_pin(s, t->a);
		if (which.hi)
			join_ways(s, t->b, true, &pointer);
		if (!which.lo)
			join_ways(s, t->c, !which.hi, &pointer);
		return pointer;
	}
	for (uint32_t i = 0; i < t->b; i++) {
		if (t->imm2)
			sw_span_pin(s, condition[i]);
		if (t->imm2 && !sw_span_exact(s, condition[i], 1, false).hi)
			continue;
		join_ways(s, way[i], first, &pointer);
		first = false;
	}
	return pointer;
}

/* Is a pointer compared with null?  Only that counts of it then. */
static bool asks_for_null(const struct sw_spans *s, const struct sw_term *t)
{
	const struct sw_term *term = s->f->term;
	return t->op == SW_OP_COMPARE && (t->imm == SW_EQ || t->imm == SW_NE) && t->imm2 == 64 &&
	       s->word[t->a] != SW_SPAN_NO_POINTER && term[t->b].op == SW_OP_CONST && !term[t->b].imm;
}

/* The pointer that a sum moves with.  The operand with the larger number is the pointer, the other one is a number
   that is added; one that is subtracted, or added in each iteration, is one in any case. */
static uint32_t sum_moves_with(struct sw_spans *s, const struct sw_term *t)
{
	uint32_t base = t->a, offset = t->b;
	if (t->op == SW_OP_ADD && s->value[t->b].pointer != SW_SPAN_NO_POINTER &&
	    (s->value[t->a].pointer == SW_SPAN_NO_POINTER || s->value[t->a].range.lo < s->value[t->b].range.lo)) {
		base = t->b;
		offset = t->a;
	}
	sw_span_pin(s, offset);
	return s->value[base].pointer;
}

uint32_t sw_span_moves_with(struct sw_spans *s, uint32_t number)
{
	const struct sw_term *t = &s->f->term[number];
	const uint32_t operand[3] = {t->a, t->b, t->c};
	uint32_t pointer;
	switch (t->op) {
	case SW_OP_PARAM:
		return read_parameters(s, t, number);
	case SW_TERM_ELEMENT:
		read_parameters(s, t, number);
		break;
	case SW_OP_MOV:
		if (t->width == 64)
			return s->value[t->a].pointer;
		break;
	case SW_OP_ADD:
	case SW_OP_SUB:
	case SW_TERM_STEP:
		if (t->width == 64)
			return sum_moves_with(s, t);
		break;
	case SW_OP_SELECT:
	case SW_TERM_ANY:
		pointer = choice_moves_with(s, t);
		if (pointer == SW_SPAN_NO_POINTER || t->width == 64)
			return pointer;
		pin_pointer(s, pointer);
		return SW_SPAN_NO_POINTER;
	case SW_TERM_LOADED: /* whatever memory holds */
		return SW_SPAN_NO_POINTER;
	default:
		break;
	}
	for (uint32_t i = 0, n = asks_for_null(s, t) ? 0 : sw_term_operands(t); i < n; i++)
		sw_span_pin(s, operand[i]);
	return SW_SPAN_NO_POINTER;
}

/* Lists the runs of bytes that are marked as read. */
static void add_bytes(struct sw_span_shape *shape, const bool *read, uint32_t n)
{
	for (uint32_t lo = 0, hi; lo < n; lo = hi + 1) {
		for (hi = lo; hi < n && read[hi];)
			hi++;
		if (hi > lo)
			*sw_vec_push(&shape->read) = (struct sw_span_bytes){lo, hi};
	}
}

/* The parts of the parameters that the bounds of this launch were made from.  The caller frees it. */
static struct sw_span_shape shape_of_reads(struct sw_spans *s)
{
	struct sw_span_shape shape = {0};
	for (uint32_t i = 0; i < s->pointer.n; i++) {
		struct sw_span_pointer *p = &s->pointer.at[i];
		p->number = SW_SPAN_NO_POINTER;
		if (!p->read)
			continue;
		uint32_t first = first_of(s, i);
		if (s->pointer.at[first].pinned) {
			memset(s->read.at + p->at, true, 8 * sizeof *s->read.at);
			continue;
		}
		p->number = (uint32_t)shape.pointer.n;
		*sw_vec_push(&shape.pointer) = (struct sw_span_word){p->at, s->pointer.at[first].number};
	}
	add_bytes(&shape, s->read.at, (uint32_t)s->read.n);
	return shape;
}

/* ---- launches that were asked about */

/* Remembered are those of kernels that take longer than to remember them. */
#define FEW_TERMS      16u
#define MOST_KEY_BYTES 8192u

/* The 8 bytes of the parameter block at an offset; 0: beyond its end. */
static uint64_t word_at(const struct sw_geometry *g, uint32_t at)
{
	uint64_t word = 0;
	if (at + sizeof word <= g->param_bytes)
		memcpy(&word, (const char *)g->params + at, sizeof word);
	return word;
}

/* Writes the key of a launch: the parameters that the bounds of its shape were made from, pointers by their distances
   only. */
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

/* Was this remembered for the key in hand? */
static bool has_key(const struct sw_spans *s, const struct sw_span_memory *memory)
{
	return memory->bytes == s->key.n && !memcmp(memory->key, s->key.at, s->key.n);
}

/* The places where the key may be, the one used last first. */
static struct sw_span_memory *memories_of_key(struct sw_spans *s)
{
	return &s->memory[sw_hash_words(s->key.at, s->key.n) % SW_SPAN_SETS * SW_SPAN_WAYS];
}

/* Index of the place in the set that has the key, else of the one that was not used longest. */
static uint32_t way_of_key(const struct sw_spans *s, const struct sw_span_memory *set)
{
	uint32_t way = 0;
	while (way < SW_SPAN_WAYS - 1 && !has_key(s, &set[way]))
		way++;
	return way;
}

/* Moves a place to the front of its set: it was used last. */
static void use_first(struct sw_span_memory *set, uint32_t way)
{
	struct sw_span_memory used = set[way];
	memmove(set + 1, set, way * sizeof *set);
	set[0] = used;
}

/* Remembers the spans that were found for the key. */
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

/* Moves remembered spans as far as the pointers of this launch lie from the remembered ones.  False: that leaves the
   address space, or nothing is bounded. */
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

/* Finds the remembered spans for the key in hand, moved to this launch's pointers.  False: there are none. */
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

/* Frees the parts of the parameters that a shape lists. */
static void free_shape(struct sw_span_shape *shape)
{
	free(shape->read.at);
	free(shape->pointer.at);
}

/* Are the same parts of the parameters read in the same way? */
static bool same_shape(const struct sw_span_shape *a, const struct sw_span_shape *b)
{
	return a->read.n == b->read.n && a->pointer.n == b->pointer.n &&
	       (!a->read.n || !memcmp(a->read.at, b->read.at, a->read.n * sizeof *a->read.at)) &&
	       (!a->pointer.n || !memcmp(a->pointer.at, b->pointer.at, a->pointer.n * sizeof *a->pointer.at));
}

/* Makes shape i the first one, which is tried first. */
static void bring_to_front(struct sw_spans *s, uint32_t i)
{
	struct sw_span_shape used = s->shape[i];
	memmove(s->shape + 1, s->shape, i * sizeof *s->shape);
	s->shape[0] = used;
}

/* Makes the shape of this launch's reads the first one. */
static void note_shape(struct sw_spans *s)
{
	struct sw_span_shape shape = shape_of_reads(s);
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
	if (s->terms < FEW_TERMS || geometry->param_bytes > MOST_KEY_BYTES) {
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
