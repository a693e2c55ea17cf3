/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels: from the parameter block to ranges.  The code says it (launch_plan.c) as far as it is known; of the words
 * that it says nothing of, the mangled name says what a pointer is for, else what points into memory is taken as used.
 */
#include "detect/kernels/launches.h"

#include <stdlib.h>
#include <string.h>

#include "detect/hazards/host_functions.h"
#include "detect/hazards/shared_uses.h"
#include "detect/hazards/stored_values.h"
#include "detect/hazards/touch.h"
#include "detect/kernels/annotated_launches.h"
#include "detect/kernels/collectives.h"
#include "detect/kernels/deferrable.h"
#include "detect/kernels/first_uses.h"
#include "detect/kernels/kernels.h"
#include "detect/kernels/launch_plan.h"
#include "detect/libraries/library_calls.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/model/call.h"
#include "detect/model/handlers.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/waits.h"
#include "detect/waits/wide_syncs.h"

/* ---- the allocations of a range */

/*
 * Which allocations a computed range means.
 *
 * A range that lies in one allocation is taken as it is.  One that does not is too large: no correct program leaves an
 * allocation, so a guard was not understood.  What is left of it inside the allocation of its pointer is loose then;
 * one that sticks out on both sides says no more than the pointer.
 */

/* Allocations that one range of an unknown pointer is spread over. */
#define SW_MAX_SPREAD 64u

/* address + bytes, at most UINT64_MAX. */
static uint64_t end_of(uint64_t address, uint64_t bytes)
{
	return bytes > UINT64_MAX - address ? UINT64_MAX : address + bytes;
}

/* May a range whose pointer leads to `owner` (NULL: to none) touch this block?  Virtual memory is mapped piece by
   piece, one allocation of the program over many of ours. */
static bool may_mean(const struct sw_block *owner, const struct sw_block *block)
{
	return !owner || block == owner || (owner->memory == SW_MEM_MAPPED && block->memory == SW_MEM_MAPPED);
}

/* Touches each of the blocks that a range spans, as far as the range may mean it.  False: it touched none. */
static bool touch_parts(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
			const struct sw_block *owner)
{
	uint64_t lo = range->address, hi = end_of(lo, sw_range_span(range)), start;
	bool any = false;
	if (!sw_is_nowhere(lo) && hi > SW_NOWHERE)
		hi = SW_NOWHERE;
	const struct sw_block *block = sw_space_from(&m->space, lo, &start);
	for (unsigned i = 0; i < SW_MAX_SPREAD && block && start < hi; i++) {
		uint64_t end = end_of(start, block->bytes), from = lo > start ? lo : start;
		struct sw_range part = *range;
		if (from != lo || end < hi) {
			part = sw_range_bytes(from, (hi < end ? hi : end) - from, range->role, range->evidence);
			part.base = range->base;
			part.param = range->param;
			part.evidence_detail = range->evidence_detail;
			part.polls = range->polls;
			part.unplaced = range->unplaced;
			part.phase = range->phase;
			part.loose = true;
			part.vague = lo < start && end < hi;
		}
		if (may_mean(owner, block))
			any |= sw_model_touch(m, what, &part, &(struct sw_touch){.guess = true});
		block = sw_space_from(&m->space, end, &start);
	}
	return any;
}

/* Touches a range with bounds: as it is where it lies in one allocation, else its parts in the allocation of its
   pointer, else its parts wherever they lie.  False: it touched nothing. */
static bool touch_box(struct sw_model *m, const struct sw_access *what, const struct sw_plan_touch *touch)
{
	const struct sw_range *range = &touch->range;
	uint64_t offset, span = sw_range_span(range);
	struct sw_touch how = {.guess = touch->guess};
	const struct sw_block *block = sw_space_find(&m->space, range->address, &offset);
	if (block && span <= block->bytes - offset)
		return sw_model_touch(m, what, range, &how);
	const struct sw_block *owner = sw_space_find(&m->space, range->base, &offset);
	if (owner && touch_parts(m, what, range, owner))
		return true;
	/* Freed memory lies where nothing lives; sw_model_touch() knows. */
	return (block && touch_parts(m, what, range, block)) || touch_parts(m, what, range, NULL) ||
	       sw_model_touch(m, what, range, &how);
}

/* Touches an array through a texture or surface: all of it, of a level of a mipmapped array all of that; where the code
   says which, only some layers.  False: the array is not known. */
static bool touch_array(struct sw_model *m, const struct sw_access *what, const struct sw_plan_touch *touch)
{
	const struct sw_block *block = sw_space_find_array(&m->space, touch->array);
	struct sw_range range = touch->range;
	if (!block)
		return false;
	bool level = touch->array != block->address;
	range.address = range.base = sw_space_level(&m->space, touch->array);
	if (touch->layers) {
		range.address += touch->layer * SW_ARRAY_SLICE;
		range.width = touch->layers * SW_ARRAY_SLICE;
		range.pitch = range.slice = SW_ARRAY_LEVEL;
		range.rows = level || !block->mipmapped ? 1 : SW_ARRAY_ROOM / SW_ARRAY_LEVEL;
		range.base = range.address;
	} else {
		range.width = range.pitch = range.slice = level ? SW_ARRAY_LEVEL : sw_block_room(block);
	}
	return sw_model_touch(m, what, &range, &(struct sw_touch){.array = true, .handle = touch->array});
}

/* Does the access lie, by its bounds, outside the allocation that its pointer leads to? */
static bool leads_elsewhere(const struct sw_model *m, const struct sw_plan_touch *touch)
{
	uint64_t offset;
	const struct sw_block *block = sw_space_find(&m->space, touch->range.address, &offset);
	return m->scope && touch->hi && block &&
	       (touch->hi <= block->address || touch->lo >= end_of(block->address, block->bytes));
}

/* Touches whatever lives within the bounds of an access that lie outside the allocation of its pointer.  False: nothing
   does. */
static bool touch_elsewhere(struct sw_model *m, const struct sw_access *what, const struct sw_plan_touch *touch)
{
	struct sw_range range = touch->range;
	range.address = touch->lo;
	range.width = range.pitch = range.slice = touch->hi - touch->lo;
	range.bounded = range.loose = range.vague = true;
	return touch_parts(m, what, &range, NULL);
}

/* The current launch touches a range that its code computed: cut to the allocations that it may belong to. False: there
   is none. */
static bool place_touch(struct sw_model *m, const struct sw_access *what, const struct sw_plan_touch *touch)
{
	if (touch->array)
		return touch_array(m, what, touch);
	if (touch->range.bounded)
		return touch_box(m, what, touch);
	if (leads_elsewhere(m, touch))
		return touch_elsewhere(m, what, touch);
	return sw_model_touch(m, what, &touch->range,
			      &(struct sw_touch){.guess = touch->guess, .lo = touch->lo, .hi = touch->hi});
}

/* ---- memory that a library call touches by its documentation, for kernels whose code does not show everything */

static const struct sw_evidence_detail workspace = {.via = SW_VIA_WORKSPACE, .extent = SW_EXTENT_HULL};
static const struct sw_evidence_detail operand = {.via = SW_VIA_OPERAND, .extent = SW_EXTENT_BOX};

/* Ends of what is known, in which an open access begins. */
struct reach {
	uint64_t from, lo, hi;
	bool below;
};

/* Widens the bounds by this buffer if the pointer leads into it.  False: it does not. */
static bool widen_reach(struct reach *reach, uint64_t address, uint64_t bytes)
{
	if (reach->from < address || reach->from - address >= bytes)
		return false;
	reach->lo = reach->below && address < reach->lo ? address : reach->lo;
	reach->hi = address + bytes > reach->hi ? address + bytes : reach->hi;
	return true;
}

/* Gives an access of a library's kernel that begins at a pointer and has no known end the end of the operand, or of the
   workspace, that holds the pointer.  Returns `touch` itself, or `room` filled. */
static const struct sw_plan_touch *library_bound(const struct sw_model *m, const struct sw_access *what,
						 const struct sw_plan_touch *touch, struct sw_plan_touch *room)
{
	const struct sw_range *open = &touch->range;
	if (!what->library || open->bounded || touch->array)
		return touch;
	const struct sw_operand_set *set = sw_library_operand_set(m, what->operands);
	const struct sw_library_call *call = &m->j->library_calls.at[what->library - 1];
	struct reach reach = {open->address, open->address, 0, open->below};
	/* In place it leads into several.  A write does not end where it is documented to be none: that is not
	   understood. */
	for (uint32_t i = 0; i < set->n; i++)
		if (sw_role_writes(set->at[i].role) || !sw_role_writes(open->role))
			widen_reach(&reach, set->at[i].address, sw_range_span(&set->at[i]));
	bool works = widen_reach(&reach, call->workspace, call->workspace_bytes);
	if (reach.hi <= reach.lo)
		return touch;
	*room = *touch;
	room->range = sw_range_bytes(reach.lo, reach.hi - reach.lo, open->role, open->evidence);
	room->range.base = open->base;
	room->range.param = open->param;
	room->range.polls = open->polls;
	room->range.own_flags = open->own_flags;
	room->range.perhaps = open->perhaps;
	room->range.evidence_detail = open->evidence_detail;
	room->range.loose = true;
	/* One pointer into a workspace says nothing of its other parts (cudnnRNNForward(), H200, cuDNN 9). */
	room->range.vague = works;
	return room;
}

/* For a kernel of a library (cuBLAS, cuDNN, cuFFT) whose code does not show everything: touches all operands of the
   library call, and its workspace, as its documents allow.  A node of a graph may have got other parameters since its
   call was captured: its operands touch nothing by themselves.  How much of a workspace a call uses depends on the
   algorithm that the library takes: never more than likely. */
static void library_contract(struct sw_model *m, const struct sw_wait *w)
{
	const struct sw_library_call *call = w->what.library ? &m->j->library_calls.at[w->what.library - 1] : NULL;
	const struct sw_operand_set *set = sw_library_operand_set(m, w->what.node ? 0 : w->what.operands);
	for (uint32_t i = 0; i < set->n; i++) {
		struct sw_range range = set->at[i];
		range.param = -1;
		range.evidence_detail = &operand;
		sw_model_touch(m, &w->what, &range, &(struct sw_touch){.guess = true});
	}
	if (!call || !call->workspace_bytes)
		return;
	struct sw_range range = sw_range_bytes(call->workspace, call->workspace_bytes, SW_READ_WRITE, SW_EV_DIRECTION);
	range.param = -1;
	range.loose = true;
	range.evidence_detail = &workspace;
	sw_model_touch(m, &w->what, &range, &(struct sw_touch){.guess = true});
}

/* ---- launches */

struct walk {
	struct sw_model *m;
	struct sw_wait *w;
	const struct sw_trace_function *function; /* NULL unknown */
	struct sw_kernel *kernel;
	const unsigned char *block;
	uint32_t bytes;
	enum sw_evidence weakest;
	uint32_t pointers;
	bool complete;	/* the code says all about the words that it uses */
	bool elsewhere; /* it reaches memory that we can't name */
};

/* Counts an access of the launch, and the weakest evidence among them. */
static void note_touch(struct walk *walk, enum sw_evidence evidence)
{
	if (evidence < walk->weakest)
		walk->weakest = evidence;
	walk->pointers++;
}

/* Touches the memory that a word of the parameter block points to, with unknown extent.  Nothing for words that lead
   nowhere, or that the code is known to use. */
static void touch_word(struct walk *walk, uint32_t offset, int32_t param, enum sw_role role, enum sw_evidence evidence)
{
	struct sw_model *m = walk->m;
	uint64_t address;
	if (offset > walk->bytes || walk->bytes - offset < sizeof address)
		return;
	memcpy(&address, walk->block + offset, sizeof address);
	if (address < m->space.lowest || address >= m->space.highest)
		return;
	if (walk->complete && sw_kernel_mentions(walk->kernel, walk->function, offset))
		return;
	struct sw_range range = sw_range_open(address, role, evidence, param);
	range.phase = SW_PERHAPS_AFTER_WAIT;
	range.evidence_detail = walk->kernel ? sw_kernel_no_evidence(m, walk->kernel) : NULL;
	if (sw_model_touch(m, &walk->w->what, &range, &(struct sw_touch){0}))
		note_touch(walk, evidence);
}

/* Touches each aligned word of a parameter that points into allocated memory: structures passed by value hold
   undeclared pointers. */
static void scan_words(struct walk *walk, uint32_t offset, uint32_t bytes, int32_t param)
{
	uint32_t first = (offset + 7) & ~7u;
	for (uint32_t at = first; at - offset + 8 <= bytes && at < walk->bytes; at += 8)
		touch_word(walk, at, param, SW_READ_WRITE, SW_EV_ASSUMED);
}

/* Touches what a kernel whose code shows no accesses may access: by the types of its parameters, else by each word that
   is an address. */
static void walk_parameters(struct walk *walk, const struct sw_trace_function *f)
{
	const struct sw_kernel *kernel = walk->kernel;
	if (!walk->block)
		return;
	if (!kernel || !f->params || f->flags & SW_FUNCTION_NO_LAYOUT) {
		scan_words(walk, 0, walk->bytes, -1);
		return;
	}
	for (uint32_t i = 0; i < f->params; i++) {
		const struct sw_param *p = &f->param[i];
		enum sw_signature what = kernel->signed_ ? kernel->signature[i] : SW_SIG_UNKNOWN;
		if (p->bytes == 8 && what == SW_SIG_POINTER_CONST)
			touch_word(walk, p->offset, (int32_t)i, SW_READ, SW_EV_SIGNATURE);
		else if (p->bytes == 8 && what == SW_SIG_POINTER)
			touch_word(walk, p->offset, (int32_t)i, SW_WRITE, SW_EV_SIGNATURE);
		else if (p->bytes > 8 || what != SW_SIG_VALUE)
			scan_words(walk, p->offset, p->bytes, (int32_t)i);
	}
}

/* Evaluates the launch and judges its accesses.  scope: where it lies, NULL: not known.  Other launches may be
   evaluated on the way.  The caller frees the plan. */
static struct sw_plan *work_out(struct walk *walk, const struct sw_trace_function *f, struct sw_touch_scope *scope)
{
	struct sw_model *m = walk->m;
	struct sw_plan *plan = sw_plan_make(m, f, walk->kernel);
	m->j->coverage.launches_evaluated++;
	m->scope = scope;
	for (uint32_t i = 0; i < plan->touches; i++) {
		struct sw_plan_touch room;
		if (place_touch(m, &walk->w->what, library_bound(m, &walk->w->what, &plan->touch[i], &room)))
			note_touch(walk, plan->touch[i].range.evidence);
	}
	m->scope = NULL;
	return plan;
}

void sw_launch_work_out(struct sw_model *m, const struct sw_deferred *deferred)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)deferred->record.rec;
	const struct sw_trace_function *f = sw_reader_function(m->reader, l->function);
	struct sw_kernel *kernel = sw_kernel_of(m, f);
	struct sw_plan *plan = sw_plan_make(m, f, kernel);
	m->j->coverage.launches_evaluated++;
	for (uint32_t i = 0; i < plan->touches; i++) {
		struct sw_plan_touch room;
		place_touch(m, &deferred->what, library_bound(m, &deferred->what, &plan->touch[i], &room));
	}
	free(plan);
}

/* Counts the evidence of a launch that may be deferred, now: the same as if it were evaluated. */
static void say_of_kernel(struct walk *walk, const struct sw_pointed *pointed)
{
	walk->weakest = pointed->weakest;
	walk->pointers = pointed->blocks;
	walk->complete = true;
}

/* Defers the launch if nothing can conflict with it so far.  With a single lane there are no conflicts; else it helps
   to know where it may access memory.  False: it must be evaluated now. */
static bool put_off(struct sw_model *m, const struct sw_access *what, struct sw_kernel *kernel,
		    struct sw_pointed *pointed)
{
	bool alone = sw_deferred_one_lane(m, what->point.lane);
	if (m->options->evaluate_all || m->view)
		return false;
	enum sw_where where = sw_pointed_where(m, kernel, what->point, pointed, alone && !m->sharing);
	if (where == SW_IN_DOUBT)
		return false;
	bool within = !alone && pointed->place.ranges && sw_may_defer(m, what->point, &pointed->place);
	if (!within && !sw_may_defer(m, what->point, NULL))
		return false;
	if (where != SW_WITHIN)
		sw_sharing_unclear(m);
	sw_defer(m, what, m->record, within ? &pointed->place : NULL);
	return true;
}

/* After a kernel that may have written anywhere: drops what is known of the content of memory (in a list of a graph's
   accesses: notes that it does). */
static void forget_uploads(struct sw_model *m)
{
	if (m->listing)
		m->listing->blind = true;
	else
		sw_uploads_forget(m);
}

/* Adds the accesses that the code of the kernel shows: now, or, if nothing can conflict with them yet, when something
   may (deferral).  True: these are all that it makes. */
static bool walk_code(struct walk *walk, const struct sw_trace_function *f)
{
	struct sw_model *m = walk->m;
	struct sw_coverage *coverage = &m->j->coverage;
	struct sw_kernel *kernel = walk->kernel;
	struct sw_pointed pointed;
	if (!kernel || !kernel->footprint) {
		forget_uploads(m);
		return false;
	}
	if (!m->listing && sw_pointed_find(m, kernel, walk->w->what.point, &pointed)) {
		struct sw_touch_scope scope = {0};
		sw_deferred_arrive(m, walk->w->what.point);
		if (m->view)
			sw_deferred_arrive(m, (struct sw_point){m->view->lane, 0});
		if (!put_off(m, &walk->w->what, kernel, &pointed))
			free(work_out(walk, f, &scope));
		say_of_kernel(walk, &pointed);
		return true;
	}
	struct sw_plan *plan = work_out(walk, f, NULL);
	if (m->listing) {
		m->listing->follows = plan->indirect;
	} else {
		coverage->indirect_kernels += plan->indirect;
		coverage->followed_kernels += plan->followed && !plan->indirect;
	}
	if (plan->writes_anywhere)
		forget_uploads(m);
	coverage->symbol_kernels += plan->symbols;
	coverage->object_kernels += plan->objects;
	coverage->wild_kernels += kernel->wild || plan->unknown;
	walk->elsewhere = plan->indirect || plan->symbols || plan->objects;
	walk->complete = !kernel->wild && !plan->unknown && plan->whole;
	free(plan);
	return walk->complete && kernel->ran;
}

/* How the accesses of the launch are known, for the coverage.  all: the code shows all of them; by_code: how many it
   shows. */
static enum sw_evidence_source_kind evidence_source(const struct walk *walk, bool all, uint32_t by_code)
{
	const struct sw_kernel *kernel = walk->kernel;
	/* Accesses by the name's signature, or assumed ones, count for the launch. */
	if (!all && walk->pointers > by_code)
		return walk->weakest == SW_EV_ASSUMED ? SW_BY_ASSUMED : SW_BY_SIGNATURE;
	if (!kernel || !kernel->footprint)
		return SW_BY_NOTHING;
	if (!kernel->ran)
		return SW_BY_OTHER_CODE;
	return kernel->footprint->source == SW_SOURCE_SASS ? SW_BY_SASS : SW_BY_PTX;
}

/* May the kernel tell the host, through memory, that it is done?  Not if all of its code is known and no store in it is
   volatile or of system scope, wherever the stores go. */
static bool may_signal(const struct sw_kernel *kernel)
{
	return !kernel || !kernel->footprint || !kernel->ran || kernel->wild || kernel->signals;
}

/* Judges all accesses of a launch: those that its code shows, then those by the types or values of its parameters.
   Notes how they are known, and what may happen beyond them. */
static void walk_launch(struct walk *walk, const struct sw_trace_function *f)
{
	struct sw_model *m = walk->m;
	struct sw_coverage *coverage = &m->j->coverage;
	bool all = walk_code(walk, f);
	uint32_t by_code = walk->pointers;
	if (!all)
		walk_parameters(walk, f);
	coverage->kernels_by_source[evidence_source(walk, all, by_code)]++;
	if (walk->pointers)
		coverage->kernels_by_evidence[walk->weakest]++;
	if (!all || walk->weakest < SW_EV_DIRECTION)
		sw_sharing_unclear(m);
	if (walk->kernel && m->library && !walk->kernel->footprint) {
		coverage->unreadable_kernels += walk->kernel->unreadable;
		coverage->codeless_kernels += !walk->kernel->unreadable;
	}
	/* A wait cannot be called too wide where it is unknown what is used.  A kernel that touches
	   nothing is launched for something else: its time, what it prints, a trap. */
	bool known = walk->pointers && (all ? !walk->elsewhere : walk->weakest != SW_EV_ASSUMED);
	if (!all || walk->elsewhere) {
		library_contract(m, walk->w);
		sw_asked_order_unclear(m, &walk->w->what);
	}
	if (!known && m->listing) {
		m->listing->unknown = true;
	} else if (!known) {
		sw_host_unclear(m, walk->w->what.point, may_signal(walk->kernel));
		sw_wide_poison(m);
	}
}

/* Does the call need the code of a kernel itself, so that the driver loads it now?  Handles of libraries, modules and
   their kernels are given out without it: getting one (every CUDA runtime does so by itself) loads nothing. */
static bool needs_code(const struct sw_trace_api *api)
{
	static const char *const families[] = {"cuFunc", "cuKernel", "cuOccupancy"};
	for (size_t i = 0; api && i < sizeof families / sizeof *families; i++)
		if (strncmp(api->driver, families[i], strlen(families[i])) == 0)
			return true;
	return false;
}

/* Handles a loaded module, and a call that needs the code of a function and may have loaded it. */
void sw_on_code_load(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_code *c = (const struct sw_rec_code *)(const void *)r->rec;
	if (r->rec->kind == SW_REC_CODE_LOAD)
		sw_variables_loaded(m->variables, c->handle, c->image);
	if (r->rec->kind == SW_REC_CODE_TOUCH && needs_code(sw_reader_api(m->reader, r->rec->api)))
		sw_first_use(m, w, c->handle, r->rec->ctx, UINT32_MAX);
}

/* Judges what a kernel launch touches. */
void sw_launch_touches(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)r->rec;
	const struct sw_trace_function *f = sw_reader_function(m->reader, l->function);
	struct walk walk = {.m = m, .w = w, .block = r->params, .bytes = r->param_bytes, .weakest = SW_EV_EXACT};
	m->j->coverage.launches++;
	walk.function = f;
	walk.kernel = f ? sw_kernel_of(m, f) : NULL;
	if (m->library)
		sw_footprint_library_launched(m->library);
	walk_launch(&walk, f);
}

bool sw_launch_follow(struct sw_model *m, bool perhaps)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)m->record->rec;
	const struct sw_trace_function *f = sw_reader_function(m->reader, l->function);
	struct sw_kernel *kernel = f ? sw_kernel_of(m, f) : NULL;
	if (!kernel || !kernel->footprint || !kernel->ran || kernel->wild)
		return false;
	struct sw_plan *plan = sw_plan_make(m, f, kernel);
	const bool follows =
		plan->followed && !plan->indirect && !plan->symbols && !plan->objects && !plan->unknown && plan->whole;
	for (uint32_t i = 0; follows && i < plan->touches; i++) {
		struct sw_plan_touch touch = plan->touch[i];
		touch.range.perhaps |= perhaps;
		place_touch(m, &m->wait->what, &touch);
	}
	if (follows && plan->writes_anywhere)
		sw_uploads_forget(m);
	free(plan);
	return follows;
}

/* Waits and triggers of the launch, for the kernels before and after it on its stream.  Kernels whose code is not known
   may do anything. */
struct launch_grid {
	struct sw_hb_grid order;
	bool early; /* some of its accesses may come before its wait */
};

/* The part that a launch plays in programmatic dependent launches: does it overlap the kernel before, trigger the next,
   wait? A kernel that was not understood may do all of that. */
static struct launch_grid launch_grid_of(const struct sw_record *r, const struct sw_kernel *kernel)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)r->rec;
	struct launch_grid grid = {.order = {.overlaps = l->flags & SW_LAUNCH_PROGRAMMATIC}};
	const struct sw_footprint *f = kernel ? kernel->footprint : NULL;
	struct sw_grid_state state = {0};
	if (!f || kernel->wild || !kernel->ran) {
		grid.order.unsure = grid.order.triggers = grid.order.triggers_first = grid.early = true;
		return grid;
	}
	if (!f->grids && !grid.order.overlaps)
		return grid;
	const struct sw_geometry geometry = sw_launch_geometry(r);
	sw_footprint_grid(f, &geometry, &state);
	grid.order.triggers = state.triggers;
	grid.order.triggers_first = state.triggers_first;
	grid.order.late = state.triggers && !state.early;
	grid.order.waits = state.waits;
	for (uint32_t i = 0; i < f->sites && grid.order.overlaps; i++)
		grid.early |= sw_grid_phase(&state, f->site[i].order) != SW_AFTER_WAIT;
	return grid;
}

struct sw_hb_grid sw_launch_grid(struct sw_model *m, const struct sw_record *r)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)r->rec;
	const struct sw_trace_function *f = sw_reader_function(m->reader, l->function);
	return launch_grid_of(r, f ? sw_kernel_of(m, f) : NULL).order;
}

/* Handles a launch: enqueues its work, and judges what it touches by the program's annotation, by the arguments of its
   library call, or by its code. */
void sw_on_launch(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)r->rec;
	const struct sw_trace_function *f = sw_reader_function(m->reader, l->function);
	struct sw_hb_at at = sw_model_at(m, r, l->stream);
	uint32_t lane;
	w->what.function = l->function;
	if (f && !sw_model_captured(m, &at)) {
		sw_model_lane(m, &at, &lane);
		sw_first_use(m, w, f->handle, r->rec->ctx, lane);
	}
	struct sw_hb_view view;
	struct launch_grid grid = launch_grid_of(r, f ? sw_kernel_of(m, f) : NULL);
	if (!sw_model_enqueue_with(m, r, l->stream, &(struct sw_others){.grid = &grid.order, .view = &view}))
		return;
	m->j->coverage.unsure_overlaps += view.unsure;
	/* The program knows best, then the arguments of a library whose contract is known. */
	if (sw_note_launch(m, w) || sw_collective_launch(m, r, w)) {
		sw_sharing_unclear(m);
		m->j->coverage.launches++;
		m->j->coverage.kernels_by_source[SW_BY_ANNOTATION]++;
		m->j->coverage.kernels_by_evidence[SW_EV_EXACT]++;
		return;
	}
	m->view = grid.early && view.lane != w->what.point.lane ? &view : NULL;
	sw_launch_touches(m, r, w);
	m->view = NULL;
}
