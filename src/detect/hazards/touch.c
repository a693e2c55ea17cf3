/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An access, in the order of its steps:
 *
 *     place        which memory: the block, live or freed, and the offset in it
 *     in front     deferred launches that it may conflict with are evaluated (deferred.h)
 *     enter        its use goes into the shadow memory of the block, and where the memory is mapped again
 *     compare      the shadow memory gives each pair to sw_hazard_meet() (hazards.h)
 *
 * A deferred launch that is evaluated passes the same steps but the second, and compares nothing.
 */
#include "detect/hazards/touch.h"

#include <stdlib.h>

#include "detect/hazards/deferred.h"
#include "detect/hazards/hazards.h"
#include "detect/hazards/host_functions.h"
#include "detect/hazards/shared_uses.h"
#include "detect/hazards/stored_values.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/memory/shadow.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/wide_syncs.h"

static void use_mirror(struct sw_model *m, const struct sw_shadow_use *use);

/* Addresses that the program excludes from judging. */

struct sw_intervals *sw_ignored_new(void)
{
	return sw_calloc(1, sizeof(struct sw_intervals));
}

/* Ends the exclusion of each ignored range that overlaps [lo, hi). */
void sw_judge_range_again(struct sw_model *m, uint64_t lo, uint64_t hi)
{
	struct sw_interval *at;
	while ((at = sw_intervals_from(m->ignored, lo)) && at->lo < hi) {
		sw_intervals_remove(m->ignored, at);
		free(at);
	}
}

void sw_ignore_range(struct sw_model *m, uint64_t lo, uint64_t hi)
{
	sw_judge_range_again(m, lo, hi);
	struct sw_interval *at = sw_calloc(1, sizeof *at);
	at->lo = lo;
	at->hi = hi;
	sw_intervals_insert(m->ignored, at);
}

/* Does the whole range lie in ignored memory?  Of an unbounded one the start decides. */
static bool note_ignored(const struct sw_model *m, const struct sw_range *range)
{
	if (!m->ignored->n)
		return false;
	const struct sw_interval *at = sw_intervals_from(m->ignored, range->address);
	return at && at->lo <= range->address && (!range->bounded || sw_range_span(range) <= at->hi - range->address);
}

void sw_ignored_free(struct sw_model *m)
{
	sw_judge_range_again(m, 0, UINT64_MAX);
	free(m->ignored);
}

/* The accesses of a graph's nodes are listed instead of judged. */

/* Lists an access of a graph's node instead of judging it: it is judged at each launch of the graph.  Takes the
   reference to `use`, which is NULL where the memory has ended. */
static void listing_add(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
			const struct sw_touch *how, struct sw_shadow_use *use)
{
	struct sw_listed *listed = sw_vec_push(&m->listing->at);
	*listed = (struct sw_listed){
		.node = m->listing->node,
		.what = *what,
		.range = *range,
		.array = how->array,
		.guess = how->guess,
		.handle = how->handle,
		.use = use,
	};
	listed->range.perhaps = m->listing->perhaps;
	if (use)
		use->range.perhaps = m->listing->perhaps;
}

uint32_t sw_model_mention(struct sw_model *m, struct sw_block *block)
{
	if (block->mention || block->memory == SW_MEM_PAGEABLE)
		return block->mention;
	*sw_vec_push(&m->j->allocations) = (struct sw_allocation){
		.address = block->nowhere ? 0 : block->address,
		.bytes = sw_block_reach(block),
		.memory = block->memory,
		.device = block->device,
		.number = block->number,
		.api = block->born.api,
		.flags = block->born.flags,
		.stack = block->born.stack,
		.thread = block->born.thread,
		.seq = block->born.seq,
		.name = block->name,
	};
	return block->mention = (uint32_t)m->j->allocations.n;
}

uint32_t sw_model_mention_pool_block(struct sw_model *m, struct sw_block *block, struct sw_pool_block *pool_block)
{
	if (!pool_block)
		return sw_model_mention(m, block);
	if (pool_block->mention)
		return pool_block->mention;
	*sw_vec_push(&m->j->allocations) = (struct sw_allocation){
		.address = pool_block->at.lo,
		.bytes = pool_block->at.hi - pool_block->at.lo,
		.memory = block->memory,
		.device = block->device,
		.number = pool_block->number,
		.api = pool_block->allocated.api,
		.flags = pool_block->allocated.flags,
		.stack = pool_block->allocated.stack,
		.thread = pool_block->allocated.thread,
		.seq = pool_block->allocated.seq,
		.pool_block = true,
		.one_stream = pool_block->one_stream,
	};
	return pool_block->mention = (uint32_t)m->j->allocations.n;
}

/* The record number at which the access in hand was issued.  A deferred launch that is evaluated now keeps its own, so
   that it sees the memory as it was then. */
static uint64_t step_of(const struct sw_model *m)
{
	return m->scope && m->scope->late ? m->scope->late->step : m->step;
}

/* Fills in how shadow memory compares: by which order, and that it passes unordered pairs to sw_hazard_meet(). */
void sw_model_env(struct sw_model *m, struct sw_shadow_env *env)
{
	*env = (struct sw_shadow_env){.pool = &m->space.uses,
				      .hb = m->hb,
				      .serial = ++m->serial,
				      .ordered_too = sw_wide_watches(m),
				      .meet = sw_hazard_meet,
				      .apart = m->branches_apart,
				      .arg = m};
	sw_wide_keep(m, &env->keep_from, &env->keep_to);
}

/* The live block of a caching allocator that a pointer leads to. Memory that a graph's nodes were captured with may
   have been freed since, and belong to other tensors: the graph's own memory has no known owner.  NULL: there is
   none, or it is not known. */
static struct sw_pool_block *pool_block_of(const struct sw_model *m, const struct sw_access *what,
					   const struct sw_block *block, uint64_t offset)
{
	const struct sw_pool_blocks *pool_blocks = &m->space.pool_blocks;
	if (!pool_blocks->made || block->within || (block->memory != SW_MEM_DEVICE && block->memory != SW_MEM_MAPPED))
		return NULL;
	struct sw_pool_block *pool_block = sw_pool_block_at(pool_blocks, block->address + offset, step_of(m));
	/* A damaged trace may say that a block lies in other memory. */
	if (!pool_block || pool_block->at.lo < block->address || pool_block->at.hi - block->address > block->bytes)
		return NULL;
	return what->node && pool_block->allocated.seq > what->node ? NULL : pool_block;
}

/* Where an access of unknown extent ends, as an offset: at the end of its pool block, else where the next array is
   known to start. Starts seen in a pool block may have been a previous owner's: they end nothing. */
static uint64_t open_end(const struct sw_shadow_use *use)
{
	const struct sw_block *block = use->block;
	return use->pool_block ? use->pool_block->at.hi - block->address
			       : sw_block_extent(block, use->range.base, use->step);
}

/* Where an access of unknown extent may begin that also may go down from its pointer, as an offset.  From the first
 * byte of a pool block it goes down into the one before: a pointer to the end of an array is one to what lies after it.
 */
static uint64_t open_floor(const struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
			   const struct sw_block *block)
{
	const struct sw_pool_block *pool_block = range->base ? pool_block_of(m, what, block, range->base - 1) : NULL;
	return pool_block ? pool_block->at.lo - block->address : sw_block_floor(block, range->address, step_of(m));
}

void sw_model_open_extent(const struct sw_model *m, const struct sw_block *block, uint64_t offset, uint64_t *lo,
			  uint64_t *hi)
{
	const struct sw_access what = {.node = 0};
	const struct sw_range range = {.address = offset, .base = offset};
	const struct sw_pool_block *pool_block = pool_block_of(m, &what, block, offset);
	*lo = open_floor(m, &what, &range, block);
	*hi = pool_block ? pool_block->at.hi - block->address : sw_block_extent(block, offset, step_of(m));
}

struct sw_shadow_use *sw_model_use(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
				   struct sw_block *block, uint64_t address)
{
	struct sw_shadow_use *use = sw_use_new(&m->space.uses);
	uint64_t span = sw_range_span(range);
	use->range = *range;
	use->block = block;
	use->ctx = m->record->rec->ctx;
	use->node = m->scope && m->scope->late ? 0 : m->played_node;
	use->step = step_of(m);
	use->pool_block = sw_pool_block_keep(pool_block_of(m, what, block, range->base));
	if (!range->bounded)
		use->end = open_end(use);
	else
		use->end = span > sw_block_room(block) - range->address ? sw_block_room(block) : range->address + span;
	use->access = *what;
	use->access.role = range->role;
	use->access.param = range->param;
	use->access.evidence = range->evidence;
	use->access.evidence_detail = range->evidence_detail;
	use->access.signals = range->polls;
	use->access.extent_known = range->bounded;
	use->access.ranged = true;
	use->access.place = block->memory == SW_MEM_ARRAY ? range->address : 0;
	use->access.address = block->nowhere ? range->address : address;
	use->access.bytes = use->end - (range->bounded ? range->address : range->base);
	if (range->bounded && !sw_range_dense(range)) {
		use->access.width = range->width;
		use->access.pitch = range->rows > 1 ? range->pitch : range->slice;
	}
	return use;
}

/* Cuts the use to the offsets [lo, hi) of its block.  Which bytes a bounded range touches there is no longer known
   (`loose`). */
static void cut_touch(struct sw_shadow_use *use, uint64_t lo, uint64_t hi)
{
	struct sw_range *range = &use->range;
	uint64_t start = range->bounded || range->base < lo || range->base >= hi ? lo : range->base;
	range->address = lo;
	if (range->bounded) {
		range->width = range->pitch = range->slice = hi - lo;
		range->rows = range->slices = 1;
		range->loose = true;
	}
	use->end = hi;
	use->access.bytes = hi - start;
}

/* Cuts an access of unknown extent to the span [how->lo, how->hi) that its launch was shown to stay in.  A span that
   does not meet the use as placed replaces it: the next array that started nearby is then not what ends the access. */
static void clip_to_span(struct sw_shadow_use *use, const struct sw_touch *how)
{
	const struct sw_block *block = use->block;
	uint64_t room = sw_block_room(block), lo = how->lo > block->address ? how->lo - block->address : 0;
	uint64_t hi = how->hi > block->address ? how->hi - block->address : 0;
	if (!how->hi || use->range.bounded)
		return;
	hi = hi < room ? hi : room;
	if (lo < use->end && hi > use->range.address) {
		lo = lo > use->range.address ? lo : use->range.address;
		hi = hi < use->end ? hi : use->end;
	}
	if (lo < hi)
		cut_touch(use, lo, hi);
}

/* Enters an access of a deferred launch that is evaluated now, cut to the ranges that it was deferred with, without
   comparing it: a launch that could conflict, or show what the host knows, was not deferred (kernels/deferrable.h). */
static void touch_late(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
		       const struct sw_touch *how, struct sw_block *block, uint64_t address)
{
	struct sw_shadow_use *use = sw_model_use(m, what, range, block, address);
	uint32_t number = 0;
	clip_to_span(use, how);
	const uint64_t first = use->range.address, end = use->end;
	for (uint64_t lo = first, hi = end; sw_deferred_next_part(m->scope->late, block, &number, &lo, &hi);
	     lo = first, hi = end) {
		struct sw_shadow_env env;
		if (!use) {
			use = sw_model_use(m, what, range, block, address);
			clip_to_span(use, how);
		}
		if (lo > first || hi < end)
			cut_touch(use, lo, hi);
		sw_model_env(m, &env);
		sw_shadow_enter_late(&block->shadow, &env, use);
		sw_use_drop(&m->space.uses, use);
		use = NULL;
	}
	sw_use_drop(&m->space.uses, use);
	if (!sw_host_sees(block))
		sw_deferred_note(m, block, what);
}

/* Notes that a kernel with flags touched memory that the host sees: a flag there may tell the host something.  The
   kernel's code says whether this access may be to a flag.  Blocks that wait for each other by flags in the device's
   memory tell the host nothing. */
static void note_flag(struct sw_model *m, struct sw_point by, const struct sw_range *range)
{
	const struct sw_evidence_detail *detail = range->evidence_detail;
	if (!detail || range->evidence < SW_EV_FOOTPRINT || detail->polls)
		sw_host_signalled(m, by);
	if (detail && detail->polls && sw_role_writes(range->role))
		sw_host_flag_written(m, by);
	if (detail && detail->polls && sw_role_reads(range->role))
		sw_host_flag_read(m, by);
}

/* Notes for waits on values that the bytes may have changed; all of the allocation if they are not known. */
static void note_overwritten(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
			     struct sw_block *block)
{
	uint64_t lo = range->bounded ? range->address : 0, span = range->bounded ? sw_range_span(range) : block->bytes;
	if (sw_role_writes(range->role) && lo < block->bytes)
		sw_value_overwritten(m, what->point, block, block->address + lo,
				     block->address + lo + (span < block->bytes - lo ? span : block->bytes - lo),
				     step_of(m));
}

/* ---- place: which memory ----------------------------------------------------------------------------------------- */

struct place {
	struct sw_block *block; /* NULL: no known memory */
	struct sw_range range;	/* offsets in it */
	uint64_t address;
	bool freed; /* it has ended */
};

/* Finds the memory of an access: a live block or array, else a freed block at the address (not for an assumed pointer),
   else pageable memory for an access known exactly.  block NULL: no known memory. */
static struct place place_of(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
			     const struct sw_touch *how)
{
	struct place p = {.range = *range, .address = how->array ? how->handle : range->address};
	if (how->array)
		p.block = sw_space_find_array(&m->space, how->handle);
	else
		p.block = sw_space_find(&m->space, range->address, &p.range.address);
	/* A block that a suballocator freed is in an allocation that is still live. */
	if ((!p.block || p.block->blocks) && !how->array && !how->guess && range->evidence != SW_EV_ASSUMED) {
		uint64_t offset;
		struct sw_block *gone = sw_space_find_freed(&m->space, range->address, &offset);
		p.freed = gone;
		p.block = gone ? gone : p.block;
		p.range.address = gone ? offset : p.range.address;
	}
	if (!p.block && !how->array && range->evidence == SW_EV_EXACT)
		p.block = &m->space.pageable;
	if (p.block)
		p.range.base = range->base - (range->address - p.range.address);
	if (p.block && !range->bounded && range->below)
		p.range.address = open_floor(m, what, &p.range, p.block);
	return p;
}

/* ---- in front: what was deferred --------------------------------------------------------------------------------- */

/* Evaluates the deferred launches that the use may conflict with.  A kernel that has not yet waited for the kernel
   before it (programmatic launch) is ordered by the lane of its view, so launches unordered with that one count as
   well. */
static void evaluate_deferred(struct sw_model *m, struct sw_block *block, const struct sw_shadow_use *use)
{
	if (sw_host_sees(block))
		return;
	sw_deferred_meet(m, block, use->range.address, use->end, use->access.point);
	if (use->view)
		sw_deferred_meet(m, block, use->range.address, use->end, (struct sw_point){use->view - 1, 0});
}

/* ---- enter: the shadow memory, which compares -------------------------------------------------------------------- */

/* Notes what the host may learn from an access to memory that it sees: when its step is done, and through flags. */
static void note_host_memory(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
			     struct sw_block *block)
{
	if (block->memory != SW_MEM_PAGEABLE && !block->used && what->stream)
		m->j->coverage.host_buffers++;
	block->used |= what->stream != 0;
	sw_host_func_note(m, what->point);
	struct sw_lane_state *lane_state = sw_model_lane_state(m, what->point.lane);
	lane_state->visible = what->point.tick;
	lane_state->visible_seq = what->seq;
	if (range->polls)
		note_flag(m, what->point, range);
}

/* Enters the use in the shadow memory of a live block, which compares it with earlier uses, and at other addresses of
   the same memory. */
static void enter_live(struct sw_model *m, const struct place *p, struct sw_shadow_use *use)
{
	struct sw_shadow_env env;
	if (!p->block->born_passed)
		sw_hazard_unborn(m, p->block, use);
	if (sw_host_sees(p->block))
		note_host_memory(m, &use->access, &p->range, p->block);
	sw_sharing_touched(m, use);
	sw_model_env(m, &env);
	sw_shadow_enter(&p->block->shadow, &env, use);
	if (p->block->pieces)
		use_mirror(m, use);
}

/* Does the access show that an array begins at its base pointer?  Only a parameter or an exact pointer does; an address
   that a kernel computes from a pointer starts nothing, nor does the first byte that the host came by. */
static bool starts_an_array(const struct sw_model *m, const struct sw_access *what, const struct place *p)
{
	return !m->scope && what->kind != SW_REC_HOST_ACCESS &&
	       (p->range.evidence == SW_EV_EXACT || p->range.param >= 0) && p->range.base < p->block->bytes;
}

/* Judges an access to a block or to freed memory: evaluates the deferred launches that may conflict with it, compares
   it with earlier uses, and enters it into shadow memory. */
static void touch_now(struct sw_model *m, const struct sw_access *what, const struct place *p,
		      const struct sw_touch *how)
{
	struct sw_shadow_use *use = sw_model_use(m, what, &p->range, p->block, p->address);
	if (m->scope && !p->freed)
		clip_to_span(use, how);
	if (m->view && p->range.phase != SW_AFTER_WAIT) {
		use->view = m->view->lane + 1;
		use->unsure = m->view->unsure || p->range.phase == SW_PERHAPS_AFTER_WAIT;
	}
	if (!p->freed)
		evaluate_deferred(m, p->block, use);
	use->host = how->host;
	use->blocks = how->blocks;
	use->may_wait = how->may_wait;
	if (what->kind == SW_REC_HOST_ACCESS)
		use->function = sw_host_func_running(m, what->thread);
	if (p->freed) {
		sw_hazard_freed(m, p->block, use);
	} else {
		enter_live(m, p, use);
		if (!sw_host_sees(p->block))
			sw_deferred_note(m, p->block, what);
		if (starts_an_array(m, what, p))
			sw_block_start(p->block, p->range.base, m->step);
	}
	sw_use_drop(&m->space.uses, use);
}

/* Places a range that lies in one allocation and judges it; in a graph that is being listed it is only listed.  False:
   no known memory lies there. */
static bool touch_one(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
		      const struct sw_touch *how)
{
	const struct place p = place_of(m, what, range, how);
	if (!p.block)
		return false;
	if (m->listing) {
		listing_add(m, what, range, how, p.freed ? NULL : sw_model_use(m, what, &p.range, p.block, p.address));
		return true;
	}
	if (!p.freed && !how->array)
		note_overwritten(m, what, &p.range, p.block);
	if (!m->scope || !m->scope->late)
		touch_now(m, what, &p, how);
	else if (!p.freed && sw_deferred_lies_in(m->scope->late, p.block))
		touch_late(m, what, &p.range, how, p.block, p.address);
	return true;
}

/* The current call touches a range: it is compared with earlier uses and entered, piece by piece where it spans blocks
   of suballocators.  False: no known memory lies there. */
bool sw_model_touch(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
		    const struct sw_touch *how)
{
	if (range->bounded && !range->width)
		return false;
	sw_asked_order_touch(m, what, range, how->array);
	if (!m->listing && !how->array)
		sw_upload_written(m, range, step_of(m));
	if (m->paused && !m->listing)
		return false; /* what lies around it is not known */
	if (!how->array && note_ignored(m, range))
		return true;
	if (how->array || !m->space.inner.n || !range->bounded || !sw_range_dense(range))
		return touch_one(m, what, range, how);
	uint64_t lo = range->address, hi = range->width > UINT64_MAX - lo ? UINT64_MAX : lo + range->width;
	bool any = false;
	while (lo < hi) {
		uint64_t end = sw_space_cut(&m->space, lo, hi);
		struct sw_range part = sw_range_bytes(lo, end - lo, range->role, range->evidence);
		part.base = range->base;
		part.param = range->param;
		part.evidence_detail = range->evidence_detail;
		part.loose = range->loose;
		part.polls = range->polls;
		part.unplaced = range->unplaced;
		part.phase = range->phase;
		any |= touch_one(m, what, &part, how);
		lo = end;
	}
	return any;
}

/* Compares nothing: for uses that are entered at a second address and were compared with the others at their own. */
static void met_already(void *arg, struct sw_shadow_use *earlier, struct sw_shadow_use *later)
{
	(void)arg;
	(void)earlier;
	(void)later;
}

/* The part [lo, hi) of the range, as seen at another address of the same memory.  Rows that are cut (not `inside`)
   become the bytes from the first to the last of them. */
static struct sw_range cut_use(const struct sw_range *range, uint64_t lo, uint64_t hi, bool inside)
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

/* A copy of the use as seen at the other address that its memory is mapped at (`alias`); NULL: it does not reach
   there. */
static struct sw_shadow_use *use_at_alias(struct sw_model *m, const struct sw_shadow_use *use,
					  const struct sw_alias *alias)
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
	copy->blocks = use->blocks;
	copy->may_wait = use->may_wait;
	copy->mirrored = true;
	copy->block = alias->other;
	copy->range = cut_use(&use->range, lo, hi, lo == use->range.address && hi == use->end);
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

/* Enters the copy of a use at a second address without comparing it.  past: it is older than uses there, and replaces
   none. */
static void enter_mirrored(struct sw_model *m, struct sw_shadow_use *copy, bool past)
{
	struct sw_shadow_env env;
	sw_model_env(m, &env);
	env.meet = met_already;
	env.keep_all = past;
	sw_shadow_enter(&copy->block->shadow, &env, copy);
}

/* Enters a use, which was just entered in its block, at each other address that its memory is mapped at. */
static void use_mirror(struct sw_model *m, const struct sw_shadow_use *use)
{
	const struct sw_alias *alias;
	for (size_t i = 0; (alias = sw_physical_alias(use->block, i)); i++) {
		struct sw_shadow_use *copy = use_at_alias(m, use, alias);
		if (copy)
			enter_mirrored(m, copy, false);
		sw_use_drop(&m->space.uses, copy);
	}
}

/* Lists the uses of [lo, hi) in the block, with a reference to each: entering others may take them out of it. */
static void list_uses(struct sw_model *m, struct sw_block *block, uint64_t lo, uint64_t hi, sw_use_vec *out)
{
	struct sw_shadow_env env;
	sw_model_env(m, &env);
	sw_shadow_list(&block->shadow, &env, lo, hi, out);
	for (size_t i = 0; i < out->n; i++)
		out->at[i]->refs++; /* entering others may take them out */
}

/* Releases the references of list_uses(). */
static void list_free(struct sw_model *m, sw_use_vec *uses)
{
	for (size_t i = 0; i < uses->n; i++)
		sw_use_drop(&m->space.uses, uses->at[i]);
	free(uses->at);
}

/* Is the same access already among these uses? */
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

/* Enters the earlier uses of the block at the address where its memory is mapped now.  Uses by addresses that were
   unmapped remain as mirrored uses, perhaps at several places. */
void sw_uses_share(void *model, struct sw_block *block, const struct sw_alias *alias)
{
	struct sw_model *m = model;
	sw_use_vec uses = {0}, there = {0};
	sw_space_doubt(&m->space, block);
	sw_space_doubt(&m->space, alias->other);
	list_uses(m, block, alias->lo, alias->hi, &uses);
	list_uses(m, alias->other, alias->lo + alias->distance, alias->hi + alias->distance, &there);
	for (size_t i = 0; i < uses.n; i++) {
		struct sw_shadow_use *copy = use_at_alias(m, uses.at[i], alias);
		if (copy && !is_there(&there, copy))
			enter_mirrored(m, copy, true);
		sw_use_drop(&m->space.uses, copy);
	}
	list_free(m, &uses);
	list_free(m, &there);
}
