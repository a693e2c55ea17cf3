/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/calls/batch_copies.h"

#include <stdlib.h>

#include "base/memory.h"
#include "detect/hazards/hazards.h"
#include "detect/hazards/touch.h"
#include "detect/memory/access.h"
#include "detect/memory/shadow.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/contexts.h"
#include "detect/model/model.h"

/* Elements of a call that are compared, and pairs that are reported of it: all have the same call site. */
#define SW_MAX_ELEMENTS 1000000u
#define SW_MAX_PAIRS	64u

struct element {
	struct sw_access access;
	struct sw_range range; /* in its allocation */
	uint64_t end;	       /* offset after the last byte */
	uint64_t most;	       /* of all writes up to this one */
	uint32_t allocation;   /* its number; 0: host memory that CUDA does not know of */
	bool array;
	uint64_t address; /* or handle of the array */
};
typedef SW_VEC(struct element) element_vec;

struct batch {
	uint32_t thread;
	element_vec reads, writes;
};

struct sw_batches {
	SW_VEC(struct batch) at; /* threads are few */
};

struct sw_batches *sw_batches_new(void)
{
	return sw_calloc(1, sizeof(struct sw_batches));
}

void sw_batches_free(struct sw_batches *batches)
{
	for (size_t i = 0; i < batches->at.n; i++) {
		free(batches->at.at[i].reads.at);
		free(batches->at.at[i].writes.at);
	}
	free(batches->at.at);
	free(batches);
}

static struct batch *batch_of(struct sw_model *m)
{
	uint32_t thread = sw_model_thread(m, m->record->thread);
	for (size_t i = 0; i < m->batches->at.n; i++)
		if (m->batches->at.at[i].thread == thread)
			return &m->batches->at.at[i];
	struct batch *batch = sw_vec_push(&m->batches->at);
	*batch = (struct batch){.thread = thread};
	return batch;
}

void sw_batch_begin(struct sw_model *m)
{
	struct batch *batch = batch_of(m);
	batch->writes.n = batch->reads.n = 0;
}

void sw_batches_forget(struct sw_batches *batches)
{
	for (size_t i = 0; i < batches->at.n; i++)
		batches->at.at[i].writes.n = batches->at.at[i].reads.n = 0;
}

static struct sw_block *block_of(struct sw_model *m, bool array, uint64_t address, uint64_t *offset)
{
	struct sw_block *block =
		array ? sw_space_find_array(&m->space, address) : sw_space_find_outer(&m->space, address, offset);
	if (array)
		*offset = 0;
	else if (!block)
		*offset = address;
	return block ? block : &m->space.pageable;
}

void sw_batch_touch(struct sw_model *m, const struct sw_range *range, const struct sw_touch *how)
{
	struct batch *batch = batch_of(m);
	element_vec *into = sw_role_writes(range->role) ? &batch->writes : &batch->reads;
	uint64_t offset, address = how->array ? how->handle : range->address;
	if (!range->width || !range->bounded || into->n == SW_MAX_ELEMENTS)
		return;
	struct sw_block *block = block_of(m, how->array, address, &offset);
	struct sw_range inside = *range;
	if (!how->array)
		inside.address = inside.base = offset;
	struct sw_shadow_use *use = sw_model_use(m, &m->wait->what, &inside, block, address);
	*sw_vec_push(into) = (struct element){.access = use->access,
					      .range = inside,
					      .end = use->end,
					      .allocation = block->number,
					      .array = how->array,
					      .address = address};
	sw_use_drop(&m->space.uses, use);
}

static int by_place(const void *x, const void *y)
{
	const struct element *a = x, *b = y;
	if (a->allocation != b->allocation)
		return a->allocation < b->allocation ? -1 : 1;
	return (a->range.address > b->range.address) - (a->range.address < b->range.address);
}

static void report(struct sw_model *m, const struct element *a, const struct element *b)
{
	uint64_t offset;
	const struct element *first = a->access.seq < b->access.seq ? a : b, *second = first == a ? b : a;
	struct sw_access side[2] = {first->access, second->access};
	struct sw_finding seen = {
		.id = SW_FINDING_BATCH_COPY_RACE,
		.severity = SW_ERROR,
		.confidence = SW_CERTAIN,
		.basis = SW_BASIS_DOCUMENTED,
		.accesses = 2,
		.access = {&side[0], &side[1]},
		.fix = SW_FIX_OWN_BATCH,
	};
	sw_hazard_lower(m, &seen, m->record->rec->ctx);
	if (sw_hazard_is_dropped(m, &seen))
		return;
	struct sw_block *block = block_of(m, second->array, second->address, &offset);
	side[0].allocation = side[1].allocation = sw_model_mention(m, block);
	sw_collect_add(&m->collect, &seen, NULL);
}

/* The writes that overlap the element, from the last one that begins before its end. */
static unsigned compare(struct sw_model *m, const element_vec *writes, const struct element *x, unsigned pairs)
{
	size_t lo = 0, hi = writes->n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct element *w = &writes->at[mid];
		if (w->allocation < x->allocation || (w->allocation == x->allocation && w->range.address < x->end))
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- && pairs < SW_MAX_PAIRS) {
		const struct element *w = &writes->at[lo];
		if (w->allocation != x->allocation || w->most <= x->range.address)
			break;
		bool once = w->access.seq != x->access.seq && (x->range.role == SW_READ || w < x);
		if (once && sw_range_overlap(&w->range, &x->range)) {
			report(m, w, x);
			pairs++;
		}
	}
	return pairs;
}

void sw_batch_end(struct sw_model *m)
{
	struct batch *batch = batch_of(m);
	element_vec *writes = &batch->writes;
	unsigned pairs = 0;
	if (writes->n)
		qsort(writes->at, writes->n, sizeof *writes->at, by_place);
	for (size_t i = 0; i < writes->n; i++) {
		struct element *w = &writes->at[i];
		bool more = i && w[-1].allocation == w->allocation && w[-1].most > w->end;
		w->most = more ? w[-1].most : w->end;
	}
	for (size_t i = 0; i < writes->n && pairs < SW_MAX_PAIRS; i++)
		pairs = compare(m, writes, &writes->at[i], pairs);
	for (size_t i = 0; i < batch->reads.n && pairs < SW_MAX_PAIRS; i++)
		pairs = compare(m, writes, &batch->reads.at[i], pairs);
	batch->writes.n = batch->reads.n = 0;
}
