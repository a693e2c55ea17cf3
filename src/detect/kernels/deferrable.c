/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/kernels/deferrable.h"

#include <stdlib.h>
#include <string.h>

#include "detect/hazards/shared_uses.h"
#include "detect/hazards/touch.h"
#include "detect/hazards/stored_values.h"
#include "detect/kernels/kernels.h"
#include "detect/kernels/kernel_objects.h"
#include "detect/memory/physical_memory.h"
#include "detect/model/model.h"
#include "footprint/launch_spans.h"

#define SW_MOST_WORDS 64u
/* After so many launches of a kernel without known bounds, no more of its launches are tried. */
#define SW_MOST_FAILED 16u

/* Part of the parameter block that addresses are made from: a pointer, or a table. */
struct word {
	uint32_t at, bytes;
};

struct sw_deferrable {
	const struct sw_footprint *footprint;
	struct sw_spans *spans; /* of the footprint, when first wanted */
	bool never;
	enum sw_evidence weakest;
	bool may_load;	 /* some of its pointers, unless the launch shows that it does not */
	bool vague;	 /* of some sites nothing is known but the pointers */
	unsigned failed; /* to find where it lies, so many times in a row */
	uint32_t words;
	struct word word[SW_MOST_WORDS];
	uint32_t maps;
	uint32_t map[SW_MOST_MAPS]; /* tensor maps in the parameter block */
};

void sw_deferrable_free(struct sw_deferrable *deferrable)
{
	free(deferrable);
}

/* ---- of the kernel ----------------------------------------------------------------------------------------------- */

/* Adds the parameter that this pointer root stands for, which may be a structure (span, in bytes) with pointers. False:
   there are too many. */
static bool add_word(struct sw_deferrable *d, const struct sw_root *root)
{
	uint32_t bytes = root->span > 8 ? root->span : 8;
	for (uint32_t i = 0; i < d->words; i++)
		if (d->word[i].at == root->param && d->word[i].bytes == bytes)
			return true;
	if (d->words == SW_MOST_WORDS)
		return false;
	d->word[d->words++] = (struct word){root->param, bytes};
	return true;
}

/* Adds the tensor map in the parameter block that this root stands for.  False: a table of maps, or too many of
   them. */
static bool add_map(struct sw_deferrable *d, const struct sw_root *root)
{
	if (root->span > SW_TENSOR_MAP_BYTES)
		return false;
	for (uint32_t i = 0; i < d->maps; i++)
		if (d->map[i] == root->param)
			return true;
	if (d->maps == SW_MOST_MAPS)
		return false;
	d->map[d->maps++] = root->param;
	return true;
}

/* Is the site reached by tensor maps alone? */
static bool is_mapped(const struct sw_footprint *f, const struct sw_access_site *site)
{
	uint32_t i = 0;
	while (i < site->roots && f->root[site->root + i].kind == SW_ROOT_MAP)
		i++;
	return site->roots && i == site->roots;
}

/* For each term of the footprint: is it made from a loaded value of which nothing is known?  The caller frees the
   array. */
static bool *made_from_data(const struct sw_footprint *f)
{
	bool *made = sw_calloc(f->terms + 1u, sizeof *made);
	for (uint32_t i = 0; i < f->terms; i++) {
		const struct sw_term *t = &f->term[i];
		uint32_t operand[3] = {t->a, t->b, t->c}, n = sw_term_operands(t);
		if (sw_term_is_unknown(t))
			made[i] = t->b != SW_NO_DATA && (uint64_t)t->imm2 - (uint64_t)t->imm >= UINT16_MAX;
		for (uint32_t k = t->op == SW_OP_SELECT; k < n && t->width > 1; k++)
			made[i] |= operand[k] < i && made[operand[k]];
		for (uint32_t k = 0; t->op == SW_TERM_ANY && k < t->b; k++)
			made[i] |= made[f->alternative[t->a + k]];
	}
	return made;
}

/* The weakest evidence that a launch of the kernel can have, whatever its arguments. */
static enum sw_evidence weakest_of(const struct sw_footprint *f)
{
	bool *made = made_from_data(f), data = false;
	for (uint32_t i = 0; i < f->sites; i++)
		data |= !is_mapped(f, &f->site[i]) && (f->site[i].address == SW_NO_TERM || made[f->site[i].address]);
	free(made);
	return data ? SW_EV_DIRECTION : SW_EV_FOOTPRINT;
}

/* Adds a root of a site.  False: it may lead anywhere. */
static bool add_root(struct sw_deferrable *d, const struct sw_access_site *site, const struct sw_root *root)
{
	switch (root->kind) {
	case SW_ROOT_PARAM:
		return add_word(d, root);
	case SW_ROOT_MAP:
		return add_map(d, root);
	case SW_ROOT_INDIRECT:
		d->may_load = true;
		return site->address != SW_NO_TERM;
	default:
		return root->kind == SW_ROOT_ENVIRONMENT;
	}
}

/* Collects the pointers and tensor maps of the parameter block that all sites start from.  False: some site may start
   anywhere else, so nothing bounds a launch. */
static bool look_at_sites(struct sw_deferrable *d)
{
	const struct sw_footprint *f = d->footprint;
	for (uint32_t i = 0; i < f->sites; i++) {
		const struct sw_access_site *site = &f->site[i];
		if (!site->roots)
			return false;
		for (uint32_t k = 0; k < site->roots; k++)
			if (!add_root(d, site, &f->root[site->root + k]))
				return false;
		d->vague |= site->address == SW_NO_TERM && !is_mapped(f, site);
	}
	return d->words + d->maps > 0;
}

/* Have all devices one architecture?  Else a kernel depends on the device that it runs on (sw_kernel_of), and nothing
   can be said of all its launches. */
static bool one_architecture(const struct sw_model *m)
{
	const struct sw_trace_device *first = sw_reader_device(m->reader, 0), *device;
	for (size_t i = 1; (device = sw_reader_device(m->reader, i)); i++)
		if (device->major != first->major || device->minor != first->minor)
			return false;
	return true;
}

/* Gets or makes the knowledge that is the same for all launches of the kernel: which words of its parameters lead to
   memory, and whether its launches can be deferred at all. */
static struct sw_deferrable *deferrable_of(const struct sw_model *m, struct sw_kernel *kernel)
{
	struct sw_deferrable *d = kernel->deferrable;
	if (d && d->footprint == kernel->footprint)
		return d;
	sw_deferrable_free(d);
	kernel->deferrable = d = sw_calloc(1, sizeof *d);
	d->footprint = kernel->footprint;
	d->weakest = weakest_of(d->footprint);
	d->never = !kernel->ran || kernel->moved || kernel->wild || !look_at_sites(d) || !one_architecture(m);
	return d;
}

/* ---- of a launch ------------------------------------------------------------------------------------------------- */

/* May launches that touch this block be deferred?  Not where its memory has other names, or where an access may come
   before the allocation: that is a finding by itself (sw_hazard_unborn()), whatever comes later. */
static bool is_plain(const struct sw_model *m, struct sw_block *block, struct sw_point point)
{
	enum sw_memory memory = sw_block_memory(block);
	if (memory != SW_MEM_DEVICE && memory != SW_MEM_ASYNC && memory != SW_MEM_IPC && memory != SW_MEM_MAPPED)
		return false;
	if (block->within || block->blocks || sw_physical_alias(block, 0) || sw_sharing_watches(m, block))
		return false;
	return block->born_passed || sw_hb_ordered(m->hb, block->born.point, point.lane) == SW_ORDER_DOCUMENTED;
}

struct search {
	struct sw_model *m;
	struct sw_point point;
	struct sw_pointed *out;
	struct sw_block *last; /* found last */
};

/* Adds an allocation that the launch may access.  False: there are too many, or its launches must be evaluated at
   once. */
static bool add_block(struct search *s, struct sw_block *block)
{
	for (uint32_t i = 0; i < s->out->blocks; i++)
		if (s->out->block[i] == block)
			return true;
	if (s->out->blocks == SW_MOST_POINTED || !is_plain(s->m, block, s->point))
		return false;
	s->out->block[s->out->blocks++] = block;
	return true;
}

/* Adds the allocation that the pointer leads to, and notes that an array starts there, which holds also if the launch
   is evaluated later or never.  A number that leads nowhere is no pointer in this launch, or one to memory that is not
   judged.  False: it leads to freed memory, or to more allocations than are kept. */
static bool follow_pointer(struct search *s, uint64_t address)
{
	struct sw_address_space *space = &s->m->space;
	uint64_t offset;
	if (address < space->lowest || address >= space->highest)
		return true;
	struct sw_block *block = s->last;
	if (block && !block->mapping && address >= block->address && address - block->address < block->bytes)
		offset = address - block->address;
	else
		block = sw_space_find(space, address, &offset);
	if (!block)
		return !sw_space_find_freed(space, address, &offset);
	if (!add_block(s, block))
		return false;
	s->last = block;
	sw_block_start(block, offset, s->m->step);
	return true;
}

/* Follows a pointer of the parameter block, or each aligned word of a structure that is passed by value.  False: the
   launch cannot be deferred. */
static bool follow_word(struct search *s, const struct word *word)
{
	const struct sw_record *r = s->m->record;
	const char *block = r->params;
	uint32_t at = word->bytes > 8 ? (word->at + 7) & ~7u : word->at, end = word->at + word->bytes;
	for (; at + 8 <= end && at + 8 <= r->param_bytes; at += 8) {
		uint64_t address;
		memcpy(&address, block + at, sizeof address);
		if (!follow_pointer(s, address))
			return false;
	}
	return true;
}

/* Does all of it lie in one of the allocations, or where nothing ever was? */
static bool lies_within(const struct sw_model *m, const struct sw_pointed *pointed, uint64_t lo, uint64_t hi)
{
	if (hi <= m->space.lowest || lo >= m->space.highest)
		return true;
	for (uint32_t i = 0; i < pointed->blocks; i++) {
		const struct sw_block *block = pointed->block[i];
		uint64_t from = lo - block->address, to = hi - block->address;
		if (lo >= block->address && to <= block->bytes &&
		    (!block->mapping || sw_block_mapped(block, from) >= to))
			return true;
	}
	return false;
}

/* Adds the tensor of a map in the parameter block, which lies in one allocation.  False: it is not known. */
static bool follow_map(struct search *s, uint32_t arch, uint32_t at)
{
	const struct sw_record *r = s->m->record;
	uint64_t lo, hi, offset;
	if (at > r->param_bytes ||
	    !sw_handles_lasting_map(s->m->handles, arch, (const char *)r->params + at, r->param_bytes - at, &lo, &hi))
		return false;
	struct sw_block *block = lo < hi ? sw_space_find(&s->m->space, lo, &offset) : NULL;
	if (!block || !add_block(s, block) || !lies_within(s->m, s->out, lo, hi))
		return lo == hi;
	s->out->map[s->out->maps++] = (struct sw_mapped_tensor){lo, hi, at};
	sw_block_start(block, offset, s->m->step);
	return true;
}

/* Is there memory of which more is said than what is done there: freed, perhaps not allocated yet?  What was mapped
   once and stays is none: launches that were deferred are evaluated before more is mapped. */
static bool may_err(const struct sw_model *m)
{
	return m->space.freed_n || m->space.perhaps;
}

/* Adds the allocations that lie in [lo, hi).  Most of them only threads would reach that have nothing to do.
   SW_ANYWHERE: they are too many; SW_IN_DOUBT: more lies there than memory that lives. */
static enum sw_where add_overlapped(struct search *s, uint64_t lo, uint64_t hi)
{
	const struct sw_address_space *space = &s->m->space;
	enum sw_where where = SW_WITHIN;
	uint64_t start;
	if (sw_space_freed_in(space, lo, hi))
		return SW_IN_DOUBT;
	struct sw_block *block = sw_space_from(space, lo, &start);
	for (unsigned i = 0; block && start < hi; i++) {
		bool mapped_again = block->mapping && block->perhaps;
		if (i == SW_MOST_POINTED || mapped_again || !is_plain(s->m, block, s->point))
			return SW_IN_DOUBT;
		if (!add_block(s, block))
			where = SW_ANYWHERE;
		block = sw_space_from(space, start + block->bytes, &start);
	}
	return where;
}

/* Bounds the addresses that each site of this launch may touch (footprint/launch/spans), without evaluating the launch.
   False: it cannot be done. */
static bool find_spans(const struct sw_model *m, struct sw_deferrable *d, const struct sw_span **span, uint32_t *n)
{
	const struct sw_geometry geometry = sw_launch_geometry(m->record);
	if (!d->spans)
		d->spans = sw_kernels_spans(m->kernels, d->footprint);
	return sw_spans_find(d->spans, &geometry, span, n);
}

/* The parameter that most accesses of the span start from, as an offset in the parameter block; UINT32_MAX: none. */
static uint32_t word_of(const struct sw_deferrable *d, const struct sw_span *span)
{
	const struct sw_access_site *site = &d->footprint->site[span->site];
	for (uint32_t i = 0; i < site->roots; i++) {
		const struct sw_root *root = &d->footprint->root[site->root + i];
		if (root->kind == SW_ROOT_PARAM && !root->weak)
			return root->param;
	}
	return UINT32_MAX;
}

/* Adds a range where the launch may access memory, joined with another of the same pointer in the same allocation, as
   the evaluation joins what it finds there.  False: there are too many. */
static bool add_range(struct sw_pointed *out, uint32_t *words, uint32_t word, struct sw_deferred_range range)
{
	uint32_t i = 0;
	while (i < out->place.ranges && (out->range[i].block != range.block || words[i] != word))
		i++;
	if (i == SW_MOST_RANGES)
		return false;
	struct sw_deferred_range *old = &out->range[i];
	words[i] = word;
	if (i == out->place.ranges) {
		out->place.ranges++;
		*old = range;
	}
	old->lo = range.lo < old->lo ? range.lo : old->lo;
	old->hi = range.hi > old->hi ? range.hi : old->hi;
	return true;
}

/* Adds, for an access without bounds, the allocation parts that the pointers in these bytes of the parameter block lead
   to.  False: there are too many. */
static bool add_endless(const struct sw_model *m, const struct sw_span *span, const struct sw_block *block,
			uint32_t *words, struct sw_pointed *out)
{
	const struct sw_record *r = m->record;
	uint32_t at = (uint32_t)span->lo;
	if (span->hi - span->lo > 8)
		at = (at + 7) & ~7u;
	for (; at + 8 <= span->hi && at + 8 <= r->param_bytes; at += 8) {
		struct sw_deferred_range range = {.block = out->place.blocks};
		uint64_t address;
		memcpy(&address, (const char *)r->params + at, sizeof address);
		if (address < block->address || address - block->address >= block->bytes)
			continue;
		sw_model_open_extent(m, block, address - block->address, &range.lo, &range.hi);
		if (!add_range(out, words, at, range))
			return false;
	}
	return true;
}

/* Adds the ranges of those tensors of the launch's maps that lie in the block.  False: there are too many. */
static bool add_maps(const struct sw_block *block, uint32_t *words, struct sw_pointed *out)
{
	for (uint32_t i = 0; i < out->maps; i++) {
		uint64_t lo = out->map[i].lo - block->address, hi = out->map[i].hi - block->address;
		if (lo < block->bytes &&
		    !add_range(out, words, out->map[i].at, (struct sw_deferred_range){lo, hi, out->place.blocks}))
			return false;
	}
	return true;
}

/* For each block: the ranges in it that the spans and tensor maps bound.  False: there are too many. */
static bool add_ranges(const struct sw_model *m, const struct sw_deferrable *d, const struct sw_span *span, uint32_t n,
		       struct sw_pointed *out)
{
	uint32_t words[SW_MOST_RANGES];
	for (uint32_t i = 0; i < out->blocks; i++) {
		const struct sw_block *block = out->block[i];
		uint64_t end = block->address + block->bytes;
		uint32_t before = out->place.ranges;
		if (!add_maps(block, words, out))
			return false;
		for (uint32_t k = 0; k < n; k++) {
			uint64_t lo = span[k].lo > block->address ? span[k].lo : block->address;
			uint64_t hi = span[k].hi < end ? span[k].hi : end;
			if (span[k].endless && !add_endless(m, &span[k], block, words, out))
				return false;
			if (!span[k].endless && lo < hi &&
			    !add_range(out, words, word_of(d, &span[k]),
				       (struct sw_deferred_range){lo - block->address, hi - block->address,
								  out->place.blocks}))
				return false;
		}
		if (out->place.ranges > before)
			out->placed[out->place.blocks++] = out->block[i];
	}
	return true;
}

/* Fills in where the launch may access memory: the ranges that its spans bound, or all of each block if there are too
   many or some site is not bounded. */
static void place_span(const struct sw_model *m, const struct sw_deferrable *d, const struct sw_span *span, uint32_t n,
		       struct sw_pointed *out)
{
	out->place = (struct sw_deferred_place){.block = out->placed, .range = out->range};
	if (!d->vague && add_ranges(m, d, span, n, out))
		return;
	out->place.blocks = out->place.ranges = out->blocks;
	for (uint32_t i = 0; i < out->blocks; i++) {
		out->placed[i] = out->block[i];
		out->range[i] = (struct sw_deferred_range){0, UINT64_MAX, i};
	}
}

/* Finds where the launch may access memory.  *bounded: spans bound it; if not, it may be anywhere.  After several
   failures in a row no spans are computed for the kernel any more. */
static enum sw_where where_reached(struct search *s, struct sw_deferrable *d, bool *bounded)
{
	const struct sw_model *m = s->m;
	enum sw_where where = SW_WITHIN;
	const struct sw_span *span;
	uint32_t n;
	*bounded = d->failed < SW_MOST_FAILED && find_spans(m, d, &span, &n);
	d->failed += d->failed < SW_MOST_FAILED;
	if (!*bounded)
		return may_err(m) ? SW_IN_DOUBT : SW_ANYWHERE;
	for (uint32_t i = 0; i < n && where != SW_IN_DOUBT; i++) {
		if (span[i].endless || lies_within(m, s->out, span[i].lo, span[i].hi))
			continue;
		enum sw_where one = add_overlapped(s, span[i].lo, span[i].hi);
		where = one > where ? one : where;
	}
	if (where != SW_WITHIN)
		return where;
	d->failed = 0;
	place_span(m, d, span, n, s->out);
	return where;
}

/* May the addresses of the span start from this word of the parameter block? */
static bool may_be_made_from(const struct sw_deferrable *d, const struct sw_span *span, uint32_t word)
{
	const struct sw_footprint *f = d->footprint;
	const struct sw_access_site *site = &f->site[span->site];
	for (uint32_t i = 0; i < site->roots; i++) {
		const struct sw_root *root = &f->root[site->root + i];
		if (root->kind == SW_ROOT_PARAM && word - root->param < (root->span > 8 ? root->span : 8))
			return true;
	}
	return false;
}

bool sw_deferrable_reach(struct sw_model *m, struct sw_kernel *kernel, uint32_t word, uint64_t *lo, uint64_t *hi)
{
	struct sw_deferrable *d = deferrable_of(m, kernel);
	const struct sw_span *span;
	uint32_t n;
	*lo = UINT64_MAX;
	*hi = 0;
	if (d->never || d->vague || !find_spans(m, d, &span, &n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!may_be_made_from(d, &span[i], word))
			continue;
		if (span[i].endless)
			return false;
		*lo = span[i].lo < *lo ? span[i].lo : *lo;
		*hi = span[i].hi > *hi ? span[i].hi : *hi;
	}
	if (*lo > *hi)
		*lo = *hi = 0;
	return true;
}

bool sw_pointed_find(struct sw_model *m, struct sw_kernel *kernel, struct sw_point point, struct sw_pointed *out)
{
	struct sw_deferrable *d = deferrable_of(m, kernel);
	struct search search = {.m = m, .point = point, .out = out};
	const struct sw_record *r = m->record;
	out->blocks = out->maps = 0;
	out->place = (struct sw_deferred_place){0};
	out->weakest = d->weakest;
	/* The content of memory is known now and not later; deferred writes end that knowledge first. */
	if (kernel->follows && sw_uploads_known(m))
		return false;
	if (d->never || !r->params || r->param_bytes < d->footprint->param_bytes)
		return false;
	for (uint32_t i = 0; i < d->words; i++)
		if (!follow_word(&search, &d->word[i]))
			return false;
	for (uint32_t i = 0; i < d->maps; i++)
		if (!follow_map(&search, kernel->arch, d->map[i]))
			return false;
	/* A loaded pointer leads to unknown memory unless spans bound each one that is used. */
	bool bounded = false;
	out->known = d->may_load && out->blocks;
	out->where = out->known ? where_reached(&search, d, &bounded) : SW_IN_DOUBT;
	return out->blocks && (!d->may_load || (bounded && out->where != SW_IN_DOUBT));
}

enum sw_where sw_pointed_where(struct sw_model *m, struct sw_kernel *kernel, struct sw_point point,
			       struct sw_pointed *pointed, bool alone)
{
	struct search search = {.m = m, .point = point, .out = pointed};
	bool bounded;
	if (pointed->known)
		return pointed->where;
	return alone && !may_err(m) ? SW_ANYWHERE : where_reached(&search, kernel->deferrable, &bounded);
}
