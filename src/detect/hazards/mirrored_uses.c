/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/hazards/mirrored_uses.h"

#include <stdlib.h>

#include "detect/hazards/touch.h"
#include "detect/memory/access.h"
#include "detect/memory/shadow.h"
#include "detect/model/model.h"

/* An access by this address is compared with it here; it was compared with the others at its own address. */
static void met_already(void *arg, struct sw_shadow_use *earlier, struct sw_shadow_use *later)
{
	(void)arg;
	(void)earlier;
	(void)later;
}

/* Rows that leave the part that is shown twice are cut to the bytes from the first to the last. */
static struct sw_range cut(const struct sw_range *range, uint64_t lo, uint64_t hi, bool inside)
{
	struct sw_range part = *range;
	if (inside || !range->bounded) {
		part.address = lo;
		return part;
	}
	part = sw_range_bytes(lo, hi - lo, range->role, range->evidence);
	part.base = range->base;
	part.param = range->param;
	part.loose = range->loose || !sw_range_dense(range);
	part.vague = range->vague;
	part.perhaps = range->perhaps;
	part.polls = range->polls;
	part.own_flags = range->own_flags;
	part.unplaced = range->unplaced;
	part.evidence_detail = range->evidence_detail;
	return part;
}

/* The use at the other address; NULL: it does not reach there. */
static struct sw_shadow_use *mirror(struct sw_model *m, const struct sw_shadow_use *use, const struct sw_alias *alias)
{
	uint64_t lo = use->range.address > alias->lo ? use->range.address : alias->lo;
	uint64_t hi = use->end < alias->hi ? use->end : alias->hi;
	if (lo >= hi)
		return NULL;
	struct sw_shadow_use *copy = sw_use_new(&m->space.uses);
	copy->access = use->access;
	copy->function = use->function;
	copy->pool_block = sw_pool_block_keep(use->pool_block);
	copy->ctx = use->ctx;
	copy->host = use->host;
	copy->may_wait = use->may_wait;
	copy->mirrored = true;
	copy->block = alias->other;
	copy->range = cut(&use->range, lo, hi, lo == use->range.address && hi == use->end);
	copy->range.address += alias->distance;
	copy->range.base += alias->distance;
	copy->end = hi + alias->distance;
	if (!copy->access.used_at)
		copy->access.used_at = use->access.address + (lo - use->range.address);
	if (sw_range_dense(&copy->range))
		copy->access.width = copy->access.pitch = 0;
	copy->access.address = alias->other->address + copy->range.address;
	copy->access.bytes = hi - lo;
	return copy;
}

static void enter(struct sw_model *m, struct sw_shadow_use *copy, bool past)
{
	struct sw_shadow_env env;
	sw_model_env(m, &env);
	env.meet = met_already;
	env.keep_all = past;
	sw_shadow_enter(&copy->block->shadow, &env, copy);
}

void sw_use_mirror(struct sw_model *m, const struct sw_shadow_use *use)
{
	const struct sw_alias *alias;
	for (size_t i = 0; (alias = sw_physical_alias(use->block, i)); i++) {
		struct sw_shadow_use *copy = mirror(m, use, alias);
		if (copy)
			enter(m, copy, false);
		sw_use_drop(&m->space.uses, copy);
	}
}

static void list(struct sw_model *m, struct sw_block *block, uint64_t lo, uint64_t hi, sw_use_vec *out)
{
	struct sw_shadow_env env;
	sw_model_env(m, &env);
	sw_shadow_list(&block->shadow, &env, lo, hi, out);
	for (size_t i = 0; i < out->n; i++)
		out->at[i]->refs++; /* entering others may take them out */
}

static void list_free(struct sw_model *m, sw_use_vec *uses)
{
	for (size_t i = 0; i < uses->n; i++)
		sw_use_drop(&m->space.uses, uses->at[i]);
	free(uses->at);
}

static bool is_there(const sw_use_vec *uses, const struct sw_shadow_use *copy)
{
	for (size_t i = 0; i < uses->n; i++) {
		const struct sw_shadow_use *u = uses->at[i];
		if (u->access.seq == copy->access.seq && u->range.role == copy->range.role &&
		    u->range.address == copy->range.address && u->end == copy->end &&
		    u->access.node == copy->access.node)
			return true;
	}
	return false;
}

/* What was done by addresses that were unmapped remains as mirrored uses, perhaps at several places. */
void sw_uses_share(void *model, struct sw_block *block, const struct sw_alias *alias)
{
	struct sw_model *m = model;
	sw_use_vec uses = {0}, there = {0};
	sw_space_doubt(&m->space, block);
	sw_space_doubt(&m->space, alias->other);
	list(m, block, alias->lo, alias->hi, &uses);
	list(m, alias->other, alias->lo + alias->distance, alias->hi + alias->distance, &there);
	for (size_t i = 0; i < uses.n; i++) {
		struct sw_shadow_use *copy = mirror(m, uses.at[i], alias);
		if (copy && !is_there(&there, copy))
			enter(m, copy, true);
		sw_use_drop(&m->space.uses, copy);
	}
	list_free(m, &uses);
	list_free(m, &there);
}
