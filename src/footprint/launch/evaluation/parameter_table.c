/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of the parameter block at an offset that is a form, and of memory whose content is known, at an address.
 *
 * The block is known, so that a table in it is no mystery: where the offset is one, its value is; where it differs by
 * block of the grid only, few blocks are evaluated together, such that all find the same or count up by one; otherwise
 * it is one of the elements that the offset can select, and never another: what lies next to them is what an earlier
 * launch left there.
 */
#include <stdlib.h>
#include <string.h>

#include "footprint/footprint.h"
#include "footprint/launch/evaluation/operate.h"

/* ---- the layout of the block */

/* Moves parameters from where the driver has them to where the analysed code has them. */

/* Does the parameter lie in a block of so many bytes? */
static bool param_fits(size_t bytes, const struct sw_param *p)
{
	return p->offset <= bytes && p->bytes <= bytes - p->offset;
}

bool sw_footprint_place_params(const struct sw_footprint *footprint, const struct sw_param *from, const void *block,
			       size_t bytes, void *out)
{
	bool whole = true;
	memset(out, 0, footprint->param_bytes);
	for (uint32_t i = 0; i < footprint->params; i++) {
		const struct sw_param *to = &footprint->param[i];
		bool there = from[i].bytes == to->bytes && param_fits(bytes, &from[i]) &&
			     param_fits(footprint->param_bytes, to);
		whole &= there;
		if (there && to->bytes)
			memcpy((unsigned char *)out + to->offset, (const unsigned char *)block + from[i].offset,
			       to->bytes);
	}
	return whole;
}

/* ---- elements */

/* Elements that are read for one value; the block has 32764 bytes at most (CUDA programming guide, 12.1). */
#define MAX_ELEMENTS 4096
/* Numbers that large are distinguished as pointers are; smaller ones are counts and indices: bounds suffice. */
#define POINTERS ((sw_wide)1 << 32)
/* Tables that lead to tables: batches of problems that are structures of pointers have two or three. */
#define MAX_LEVELS 3
/* A table in memory, between its first and its last element. */
#define MAX_SPREAD ((sw_wide)1 << 16)

/* Is the table in device memory, not in the parameter block? */
static bool in_memory(const struct sw_term *t)
{
	return t->op == SW_TERM_LOADED;
}

/* The size of the table's elements. */
static uint32_t bytes_of(const struct sw_term *t)
{
	return in_memory(t) ? t->bytes : (uint32_t)t->imm;
}

/* Which of two ways in which content is known is the less sure one?  UNKNOWN: nothing was read. */
static enum sw_memory_content weaker_content(enum sw_memory_content a, enum sw_memory_content b)
{
	return !a || (b && b < a) ? b : a;
}

/* Reads an element from device memory whose content is known, and notes how well; false: it is not known. */
static bool word_in_memory(struct sw_eval *e, const struct sw_term *t, sw_wide at, uint64_t *word)
{
	if (at < 0 || at > UINT64_MAX)
		return false;
	enum sw_memory_content found = e->g->content(e->g->arg, (uint64_t)at, t->bytes, word);
	if (!found)
		return false;
	e->content = weaker_content(e->content, found);
	if (t->bytes == sizeof *word && e->pointers.n < MAX_ELEMENTS)
		*sw_vec_push(&e->pointers) = *word;
	if (!e->site)
		e->content_ever = weaker_content(e->content_ever, found);
	return true;
}

/* Reads an element from the parameter block; false: it lies outside of what the table may be, or of the block. */
static bool word_in_block(const struct sw_eval *e, const struct sw_term *t, sw_wide at, uint64_t *word)
{
	uint32_t bytes = bytes_of(t), end = t->c < e->g->param_bytes ? t->c : e->g->param_bytes;
	if (at < t->b || at > end || end - at < bytes)
		return false;
	memcpy(word, (const char *)e->g->params + (uint32_t)at, bytes);
	return true;
}

/* The element at an offset, as a signed number modulo 2^width; false: it is not known.  A caller that uses its value
   says so: read_element(). */
static bool element_at(struct sw_eval *e, const struct sw_term *t, sw_wide at, sw_wide *value)
{
	uint32_t bytes = bytes_of(t);
	uint64_t word = 0;
	if (!(in_memory(t) ? word_in_memory(e, t, at, &word) : word_in_block(e, t, at, &word)))
		return false;
	*value = sw_wide_wrap((sw_wide)word, 8 * bytes);
	if (!(t->flags & SW_SIGNED) && *value < 0)
		*value += (sw_wide)1 << 8 * bytes;
	*value = sw_wide_wrap(*value, t->width);
	return true;
}

/* The term's number in the footprint. */
static uint32_t number_of(const struct sw_eval *e, const struct sw_term *t)
{
	return (uint32_t)(t - e->f->term);
}

/* Is the element a pointer that addresses are made from, so that its value does not count? */
static bool is_wanted_base(const struct sw_eval *e, const struct sw_term *t, sw_wide value)
{
	return sw_reads_wants_base(e->reads, number_of(e, t)) && sw_reads_is_base((uint64_t)value);
}

/* Records that the term's value is that of the element at this offset.  Reads of memory are recorded where memory
   answers. */
static void read_element(const struct sw_eval *e, const struct sw_term *t, sw_wide at, sw_wide value)
{
	if (in_memory(t))
		return;
	sw_reads_element(e->reads, number_of(e, t), (uint32_t)at, (uint32_t)t->imm, (uint64_t)value);
}

/* Records that an element's value decided something, so that launches with another value are evaluated anew. */
static void read_number(const struct sw_eval *e, const struct sw_term *t, sw_wide at)
{
	if (!in_memory(t))
		sw_reads_bytes(e->reads, (uint32_t)at, (uint32_t)t->imm);
}

/* Any value that an element of the table can have. */
static struct sw_form any_value(struct sw_eval *e, const struct sw_term *t, uint64_t depends)
{
	if (in_memory(t))
		return sw_term_range(e, t);
	struct sw_bounds range = sw_type_range((unsigned)t->imm * 8, t->flags & SW_SIGNED);
	return sw_eval_opaque(e, range.lo, range.hi, depends, SW_WHY_TABLE);
}

/* ---- blocks of the grid */

/* Ends this evaluation: it is repeated for the blocks up to `last` along the axis, and for the others apart. */
static void ask_for_fewer(struct sw_eval *e, int axis, uint32_t last)
{
	if (e->split.wanted)
		return;
	e->split.wanted = true;
	e->reads = NULL; /* whatever is found from here on is void */
	e->split.axis = (uint8_t)axis;
	e->split.last = last;
}

/* The axis that a variable is the block's number on; -1. */
static int axis_of(const struct sw_eval *e, uint32_t var)
{
	for (int i = 0; i < 3; i++) {
		if (e->special[SW_CTAID_X + i] == var + 1)
			return i;
	}
	return -1;
}

/* How the elements continue from the first block of an interval. */
struct run {
	sw_wide last;	    /* block; after it they continue in another way, or the interval ends */
	bool known, counts; /* known: they lie in the block of parameters; counts: each is one more than that before */
	sw_wide value;	    /* the first */
};

/* The longest run of blocks, from the first one on, whose elements are alike (one value, or counting up), and so
   need one case.  A pointer that is not the next one's is evaluated separately: that they differ need not be
   remembered. */
static struct run find_run(struct sw_eval *e, const struct sw_term *t, const struct sw_form *offset)
{
	bool counts = !sw_reads_wants_base(e->reads, number_of(e, t));
	const struct sw_variable *v = &e->variable.at[offset->var[0]];
	sw_wide by = offset->by[0], at = offset->constant + by * v->lo, value;
	struct run run = {.last = v->lo};
	run.known = element_at(e, t, at, &run.value);
	if (run.known && counts)
		read_number(e, t, at);
	for (uint32_t i = 1; v->lo + i <= v->hi; i++) {
		at += by;
		/* Once after the end there is no way back. */
		if (!run.known && (in_memory(t) || (by > 0 ? at >= t->c : at < 0)))
			run.last = v->hi;
		if (run.last == v->hi || i == MAX_ELEMENTS * 16)
			break;
		bool known = element_at(e, t, at, &value);
		if (known && counts)
			read_number(e, t, at);
		if (i == 1)
			run.counts = known && run.known && bytes_of(t) < 8 && value == run.value + 1;
		if (known != run.known || (known && value != run.value + (run.counts ? i : 0)))
			break;
		run.last = v->lo + i;
	}
	return run;
}

/* Records that all elements of the run are equal to the first one. */
static void read_run(const struct sw_eval *e, const struct sw_term *t, const struct sw_form *offset,
		     const struct run *run)
{
	const struct sw_variable *v = &e->variable.at[offset->var[0]];
	sw_wide by = offset->by[0], at = offset->constant + by * v->lo;
	if (!sw_reads_wants_base(e->reads, number_of(e, t)))
		return;
	read_element(e, t, at, run->value);
	for (sw_wide block = v->lo; block++ < run->last;) {
		at += by;
		sw_reads_same(e->reads, number_of(e, t), (uint32_t)at, (uint32_t)t->imm, (uint64_t)run->value);
	}
}

/* The value of an element whose offset differs by the block's number on one axis alone: for blocks that find the
   same, or elements that count up; else fewer blocks are asked for. */
static struct sw_form by_block(struct sw_eval *e, const struct sw_term *t, const struct sw_form *offset, int axis)
{
	struct sw_variable v = e->variable.at[offset->var[0]];
	struct run run = find_run(e, t, offset);
	e->case_local |= v.lo != v.lo_ever || v.hi != v.hi_ever;
	if (run.last != v.hi) {
		ask_for_fewer(e, axis, (uint32_t)(run.last < v.lo_ever ? v.lo_ever : run.last));
		return any_value(e, t, v.depends);
	}
	if (!run.known)
		return any_value(e, t, v.depends);
	read_run(e, t, offset, &run);
	struct sw_form form = sw_form_constant(run.value), number = sw_form_variable(offset->var[0]);
	if (!run.counts)
		return form;
	e->counting = (uint32_t)axis + 1;
	form.constant -= v.lo;
	sw_form_sum(&form, &form, &number, 1, 0);
	return form;
}

/* Asks for fewer blocks, in halves, if the offset differs between them in other ways; true: it did. */
static bool split_by_block(struct sw_eval *e, const struct sw_form *offset)
{
	for (uint32_t i = 0; i < offset->n; i++) {
		for (int axis = 0; axis < 3; axis++) {
			uint32_t lo = e->blocks.lo[axis], hi = e->blocks.hi[axis];
			if (lo != hi && e->variable.at[offset->var[i]].depends & SW_DEPEND_CTAID(axis)) {
				ask_for_fewer(e, axis, lo + (hi - lo) / 2);
				return true;
			}
		}
	}
	return false;
}

void sw_eval_refine(struct sw_eval *e)
{
	if (!e->splitting)
		return;
	e->split_is_useless |= !e->counting;
	if (e->counting && e->may_split_for_hull) {
		uint32_t axis = e->counting - 1, lo = e->blocks.lo[axis];
		ask_for_fewer(e, (int)axis, lo + (e->blocks.hi[axis] - lo) / 2);
	}
}

/* ---- any of several */

/* Offsets from first to last, in steps. */
struct several {
	sw_wide first, last, step;
};

/* The offsets that a form can take in this case, of those in the table: what lies beyond is no pointer of anybody's.
 *cut: it can take others as well.  False: they are too many. */
static bool offsets_of(struct sw_eval *e, const struct sw_term *t, const struct sw_form *offset, struct several *out,
		       bool *cut)
{
	struct sw_bounds range = sw_bound(e, offset);
	uint64_t step = sw_form_divisor(offset);
	sw_wide first = in_memory(t) ? range.lo : t->b, last = in_memory(t) ? range.hi : (sw_wide)t->c - t->imm;
	if (in_memory(t) && (range.lo < 0 || range.hi > UINT64_MAX || range.hi - range.lo > MAX_SPREAD))
		return false;
	out->step = step && step <= UINT16_MAX ? (sw_wide)step : 1;
	*cut = range.lo < first || range.hi > last;
	first = range.lo > first ? range.lo : first;
	out->first = offset->constant - sw_wide_floor(offset->constant - first, out->step) * out->step;
	out->last = range.hi < last ? range.hi : last;
	return (out->last - out->first) / out->step < MAX_ELEMENTS;
}

/* Makes a case of each offset that the element may be read at: in it the offset is fixed, and *value is the
   element's.  False: there are too many or none, or this case has no element or no room. */
static bool choose_offset(struct sw_eval *e, const struct sw_term *t, uint32_t number, const struct sw_form *offset,
			  const struct several *s, sw_wide *value)
{
	sw_wide options = s->last < s->first ? 0 : (s->last - s->first) / s->step + 1;
	struct sw_form more = *offset, less, zero = {0};
	if (options < 1 || options > SW_MAX_CASES)
		return false;
	uint32_t taken = sw_eval_case_choose(e, number | UINT64_C(3) << 32, (uint32_t)options);
	if (taken == SW_NONE)
		return false;
	sw_wide at = s->first + taken * s->step;
	more.constant -= at;
	if (!element_at(e, t, at, value) || !sw_form_sum(&less, &zero, &more, -1, 0))
		return false;
	read_element(e, t, at, *value);
	e->has_uninterpreted_fact |= sw_eval_why(e, offset) != SW_WHY_NONE;
	sw_eval_hold(e, &more);
	sw_eval_hold(e, &less);
	return true;
}

/* May an offset lead all over the parameter block, to other words than those of the table?  These are pointers or parts
   of them: bounds of all say nothing, and would make a number of each pointer. */
static bool is_all_over(const struct sw_eval *e, const struct sw_term *t, const struct several *s, bool cut)
{
	for (uint32_t i = 0; cut && !in_memory(t) && i < e->f->roots; i++) {
		const struct sw_root *root = &e->f->root[i];
		if (root->kind == SW_ROOT_PARAM && root->span <= 8 && (sw_wide)root->param + 8 > s->first &&
		    root->param <= s->last)
			return (s->last - s->first) / s->step >= SW_MAX_CASES;
	}
	return false;
}

/* The element at an offset that several can be: each a case of its own if they are pointers, else a number between
   the smallest and the largest of them. */
static struct sw_form any_of(struct sw_eval *e, const struct sw_term *t, uint32_t number, const struct sw_form *offset)
{
	sw_wide lo = SW_INFINITE, hi = -SW_INFINITE, lowest = 0, highest = 0, value;
	uint64_t depends = sw_eval_depends(e, offset);
	struct several s;
	bool cut, bases = true;
	e->case_local = true;
	if (!offsets_of(e, t, offset, &s, &cut))
		return any_value(e, t, depends);
	e->has_uninterpreted_fact |= cut;
	if (is_all_over(e, t, &s, cut))
		return any_value(e, t, depends);
	for (sw_wide at = s.first; at <= s.last; at += s.step) {
		if (!element_at(e, t, at, &value))
			return any_value(e, t, depends);
		lowest = value < lo ? at : lowest;
		highest = value > hi ? at : highest;
		lo = value < lo ? value : lo;
		hi = value > hi ? value : hi;
		bases &= is_wanted_base(e, t, value);
	}
	if (lo > hi)
		return any_value(e, t, depends);
	for (sw_wide at = s.first; at <= s.last && !bases; at += s.step)
		read_number(e, t, at);
	if (lo != hi && !in_memory(t)) /* if all are the same, it does not count which */
		sw_reads_unequal(e->reads, (uint32_t)lowest, (uint32_t)highest);
	if (lo != hi && hi >= POINTERS && choose_offset(e, t, number, offset, &s, &value))
		return sw_form_constant(value);
	for (sw_wide at = s.first; at <= s.last && bases; at += s.step)
		read_number(e, t, at);
	/* Between two pointers lies what belongs to neither. */
	return hi < POINTERS || lo == hi ? sw_eval_opaque(e, lo, hi, depends, SW_WHY_TABLE) : any_value(e, t, depends);
}

/* The table's offset (in memory: the address), with variables of only one value moved into the constant. */
static struct sw_form offset_form(struct sw_eval *e, const struct sw_term *t)
{
	struct sw_form offset = sw_eval_exact(e, t->a, 64, !in_memory(t));
	for (uint32_t i = offset.n; i-- > 0;) {
		uint32_t var = offset.var[i];
		if (!sw_eval_fixed(e, var))
			continue;
		e->case_local |= e->variable.at[var].lo_ever != e->variable.at[var].hi_ever;
		offset.constant += e->variable.at[var].lo * sw_form_take(&offset, var);
	}
	return offset;
}

/* Are both ends of what the offset can select known?  Else it is not worthwhile to take fewer blocks. */
static bool has_ends(struct sw_eval *e, const struct sw_term *t, const struct sw_form *offset)
{
	struct several s;
	sw_wide value;
	bool cut;
	return offsets_of(e, t, offset, &s, &cut) && element_at(e, t, s.first, &value) &&
	       element_at(e, t, s.last, &value);
}

/* The value of an element of a table, from what is known of its offset in this case. */
static struct sw_form table_value(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	struct sw_form offset = offset_form(e, t);
	sw_wide value;
	if (!offset.n && !element_at(e, t, offset.constant, &value))
		return any_value(e, t, SW_DEPEND_OTHER);
	if (!offset.n) {
		read_element(e, t, offset.constant, value);
		return sw_form_constant(value);
	}
	if (in_memory(t) && !has_ends(e, t, &offset))
		return any_value(e, t, 0);
	int axis = offset.n == 1 ? axis_of(e, offset.var[0]) : -1;
	if (e->splitting && axis >= 0)
		return by_block(e, t, &offset, axis);
	if (e->splitting && split_by_block(e, &offset))
		return any_value(e, t, sw_eval_depends(e, &offset));
	return any_of(e, t, number, &offset);
}

struct sw_form sw_eval_table_value(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	return table_value(e, t, number);
}

struct sw_form sw_eval_memory_value(struct sw_eval *e, const struct sw_term *t, uint32_t number)
{
	if (e->reads)
		e->reads->memory = true;
	if (!e->g->content || e->level == MAX_LEVELS)
		return sw_term_range(e, t);
	e->level++;
	sw_eval_take(e, (uint32_t)(t - e->f->term), t->a);
	struct sw_form form = table_value(e, t, number);
	e->level--;
	e->case_local = true; /* the loops that it depends on are entered again in each case */
	return form;
}

/* ---- words */

/* Adds an offset to the sorted list, unless it is there; false: there is no room. */
static bool add_word(struct sw_words *out, uint32_t at)
{
	uint32_t i = out->n;
	while (i && out->at[i - 1] > at)
		i--;
	if (i && out->at[i - 1] == at)
		return true;
	if (out->n == SW_MAX_WORDS)
		return false;
	memmove(out->at + i + 1, out->at + i, (out->n - i) * sizeof *out->at);
	out->at[i] = at;
	out->n++;
	return true;
}

/* Adds the offsets of all elements that the term may be in this case; false: not all are known. */
static bool add_words(struct sw_eval *e, const struct sw_term *t, struct sw_words *out)
{
	struct sw_form offset = sw_eval_exact(e, t->a, 64, true);
	struct several s;
	sw_wide value;
	bool cut;
	if (!offsets_of(e, t, &offset, &s, &cut))
		return false;
	for (sw_wide at = s.first; at <= s.last; at += s.step) {
		/* A block that is shorter than the kernel's does not hold it. */
		if (!element_at(e, t, at, &value) || !add_word(out, (uint32_t)at))
			return false;
	}
	return true;
}

/* May the value, which was not followed, be a whole word of the table? */
static bool hides_words(const struct sw_term *t)
{
	enum sw_why why = sw_term_why(t);
	return sw_term_is_unknown(t) && t->width == 64 && why != SW_WHY_FLOAT && why != SW_WHY_ATOMIC;
}

/* Does no more than half of a word that goes into it come out? */
static bool cuts_words(const struct sw_term *t)
{
	return t->width <= 32 || (t->op == SW_OP_EXTEND && t->imm <= 32);
}

/* Queues a term whose words are looked for; cut: it is cut to fewer bits on the way to the address. */
static void push_word(struct sw_eval *e, uint32_t term, bool cut)
{
	*sw_vec_push(&e->work) = term << 1 | cut;
}

/* Queues the operands that the term's value is made of; conditions choose it, but are no part of it. */
static void push_word_operands(struct sw_eval *e, const struct sw_term *t, bool cut)
{
	uint32_t operand[3] = {t->a, t->b, t->c}, n = t->op == SW_OP_COMPARE ? 0 : sw_term_operands(t);
	for (uint32_t i = 0; t->op == SW_TERM_ANY && i < t->b; i++)
		push_word(e, e->f->alternative[t->a + i], cut);
	for (uint32_t i = t->op == SW_OP_SELECT; i < n; i++)
		push_word(e, operand[i], cut);
}

/* Lists the words of the parameter block that the address may be made of; false: not all are known, or there is none.
   halves: also words of which only a half goes into it.  Without it these count where there is no whole word. */
bool sw_eval_words(struct sw_eval *e, uint32_t address, bool halves, struct sw_words *out)
{
	size_t base = e->work.n;
	bool all = true, skipped = false;
	out->n = 0;
	e->round += 2;
	push_word(e, address, false);
	while (e->work.n > base) {
		uint32_t at = e->work.at[--e->work.n] >> 1;
		bool cut = e->work.at[e->work.n] & 1;
		const struct sw_term *t = &e->f->term[at];
		if (e->stamp[at] >= e->round - cut)
			continue;
		e->stamp[at] = e->round - cut;
		all &= !hides_words(t);
		/* Next to whole words, smaller elements are indices, as in emit_roots() (build.c); so is the offset. */
		if (t->op == SW_TERM_ELEMENT && cut && !halves)
			skipped |= t->imm == 8;
		else if (t->op == SW_TERM_ELEMENT)
			all &= t->imm < 8 || add_words(e, t, out);
		else
			push_word_operands(e, t, cut || cuts_words(t));
	}
	if (all && !out->n && skipped)
		return sw_eval_words(e, address, true, out);
	return all && out->n;
}
