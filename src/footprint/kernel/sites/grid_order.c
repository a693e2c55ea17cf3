/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which accesses of a kernel come after its griddepcontrol.wait, and which may follow its trigger.
 *
 * The wait holds the executing thread alone (PTX ISA, "griddepcontrol"), so an access comes after it if each way to the
 * access passes a wait, or a barrier of the block in front of which some thread of the block waited.  Where threads
 * signal each other in other ways (mbarriers, named barriers, flags) nothing is sure.
 */
#include "footprint/kernel/sites/emit.h"

#include <stdlib.h>
#include <string.h>

/* An instruction that orders: where it stands, and under which conditions. */
struct place {
	uint32_t insn, block;
	uint32_t list; /* path conditions, its guard among them; SW_NO_CONDITION: none */
	bool guarded;
};

/* The places of the code behind certain instructions (waits, say): the start of a block, or from an instruction of
   it on.  Either only ever becomes true along a way. */
struct passed {
	bool *at_start;
	uint32_t *from; /* first instruction of the block after which it holds; UINT32_MAX: none */
};

/* A wait that not every thread comes to. */
struct condition {
	uint32_t wait;	    /* number in waits */
	struct passed here; /* of a thread that takes the ways that lead to the wait */
	bool *reached;	    /* blocks that such a thread may come to */
	struct passed some; /* after a barrier that such a thread came to after its wait */
	struct passed near; /* after an instruction by which it may signal: true on some way */
};

struct trigger {
	struct place at;
	struct passed after;	     /* on some way */
	struct passed after_barrier; /* of the block, the last one that each thread passes before: on some way */
	bool barrier, early;
};

struct sw_grid_order {
	struct sw_ssa *ssa;
	struct sw_path_conditions *guards;
	SW_VEC(struct place) wait;
	SW_VEC(struct trigger) trigger;
	SW_VEC(struct place) barrier; /* of the whole block */
	SW_VEC(struct place) signal;  /* those, and whatever else may make threads wait for each other */
	struct passed always;
	SW_VEC(struct condition) condition;
	struct passed unsure; /* after a call that is not followed: on some way */
	bool too_many;	      /* conditional waits */
};

static uint32_t blocks_of(const struct sw_grid_order *o)
{
	return (uint32_t)o->ssa->flow.block.n;
}

/* A set of no places. */
static struct passed passed_new(const struct sw_grid_order *o)
{
	struct passed p;
	p.at_start = sw_calloc(blocks_of(o), sizeof *p.at_start);
	p.from = sw_alloc(blocks_of(o) * sizeof *p.from);
	memset(p.from, 0xff, blocks_of(o) * sizeof *p.from);
	return p;
}

static void passed_free(struct passed *p)
{
	free(p->at_start);
	free(p->from);
}

/* Notes an instruction: what follows it in its block lies behind it. */
static void pass_at(struct passed *p, const struct place *at)
{
	if (at->insn < p->from[at->block])
		p->from[at->block] = at->insn;
}

/* Does this instruction lie behind one of those noted, on some or each way, as the set was settled? */
static bool has_passed(const struct passed *p, uint32_t block, uint32_t insn)
{
	return p->at_start[block] || p->from[block] < insn;
}

/* Does the end of the block lie behind one of those noted? */
static bool at_end(const struct passed *p, uint32_t block)
{
	return p->at_start[block] || p->from[block] != UINT32_MAX;
}

/* ---- ways ------------------------------------------------------------------------------------------------------- */

/* Completes a set for "behind one of those noted on some way": a block's start is so if the end of any block before
   it is. */
static void settle_some(const struct sw_grid_order *o, struct passed *p)
{
	const struct sw_flow *flow = &o->ssa->flow;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t b = 1; b < blocks_of(o); b++) {
			const struct sw_basic_block *block = &flow->block.at[b];
			bool any = false;
			for (uint32_t i = 0; i < block->preds; i++)
				any |= at_end(p, flow->edge.at[block->pred + i]);
			changed |= any && !p->at_start[b];
			p->at_start[b] |= any;
		}
	}
}

/* The only successor by which the block `to` can be reached from a block that dominates it; SW_NO_BLOCK: several. */
static uint32_t way_to(const struct sw_flow *flow, uint32_t from, uint32_t to)
{
	const struct sw_basic_block *b = &flow->block.at[from];
	for (uint32_t s = 0; s < b->succs; s++) {
		uint32_t next = flow->edge.at[b->succ + s];
		if (flow->block.at[next].preds == 1 && sw_flow_dominates(flow, next, to))
			return next;
	}
	return SW_NO_BLOCK;
}

/* By block: the successor that a thread takes which comes to `to`; SW_NO_BLOCK: any. */
static uint32_t *ways_to(const struct sw_grid_order *o, uint32_t to)
{
	const struct sw_flow *flow = &o->ssa->flow;
	uint32_t *way = sw_alloc(blocks_of(o) * sizeof *way);
	memset(way, 0xff, blocks_of(o) * sizeof *way);
	for (uint32_t b = to; b && b != SW_NO_BLOCK; b = flow->block.at[b].idom)
		if (flow->block.at[b].idom != SW_NO_BLOCK)
			way[flow->block.at[b].idom] = way_to(flow, flow->block.at[b].idom, to);
	return way;
}

/* Completes a set for "behind one of those noted on each way": a block's start is so if the ends of all blocks
   before it are.  way: by block, the only successor that counts, NULL: all count.  reached: gets the blocks that
   these lead to. */
static void settle_all(const struct sw_grid_order *o, struct passed *p, const uint32_t *way, bool *reached)
{
	const struct sw_flow *flow = &o->ssa->flow;
	for (uint32_t b = 1; b < blocks_of(o); b++)
		p->at_start[b] = true;
	reached[0] = true;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t b = 1; b < blocks_of(o); b++) {
			const struct sw_basic_block *block = &flow->block.at[b];
			bool all = true, reach = false;
			for (uint32_t i = 0; i < block->preds; i++) {
				uint32_t from = flow->edge.at[block->pred + i];
				if (!reached[from] || (way && way[from] != SW_NO_BLOCK && way[from] != b))
					continue;
				reach = true;
				all &= at_end(p, from);
			}
			changed |= reach != reached[b] || (reach && all != p->at_start[b]);
			reached[b] = reach;
			p->at_start[b] = all;
		}
	}
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* Does the text contain this word? */
static bool contains_word(const char *text, const char *word)
{
	return text && strstr(text, word);
}

/* May threads wait here for others?  At volatile and acquiring accesses, waits for an mbarrier ("mbarrier.try_wait",
   "SYNCS"), barriers, calls. */
static bool may_wait_for_others(const struct sw_insn *x)
{
	return x->op == SW_OP_BARRIER || x->op == SW_OP_CALL || x->flags & SW_VOLATILE ||
	       contains_word(x->text, "mbarrier") || contains_word(x->text, "SYNCS");
}

/* Finds the barriers of the whole block, and all that else may make threads wait for each other. */
static void find_barriers(struct sw_grid_order *o)
{
	for (uint32_t b = 0; b < blocks_of(o); b++) {
		const struct sw_basic_block *block = &o->ssa->flow.block.at[b];
		for (uint32_t i = block->first; i < block->end; i++) {
			const struct sw_insn *x = &o->ssa->body.insn.at[i];
			const struct place at = {i, b, SW_NO_CONDITION, x->guard != SW_NO_REG};
			if (!may_wait_for_others(x))
				continue;
			*sw_vec_push(&o->signal) = at;
			if (x->op == SW_OP_BARRIER && x->imm == 1 && !at.guarded)
				*sw_vec_push(&o->barrier) = at;
			if (x->op == SW_OP_CALL)
				pass_at(&o->unsure, &at);
		}
	}
}

/* Where a use stands, and the conditions that hold there. */
static struct place place_of(struct sw_grid_order *o, const struct sw_memory_op *use)
{
	uint32_t list = o->ssa->flat ? SW_NO_CONDITION : o->guards->of[use->block];
	if (use->guard != SW_NO_NODE && !o->ssa->flat)
		list = sw_path_conditions_add(o->ssa, o->guards, list, use->guard);
	return (struct place){use->insn, use->block, list, use->guard != SW_NO_NODE};
}

/* Does each way to b come to a first? */
static bool place_dominates(const struct sw_grid_order *o, const struct place *a, const struct place *b)
{
	if (a->block == b->block)
		return a->insn < b->insn;
	return sw_flow_dominates(&o->ssa->flow, a->block, b->block);
}

/* Does each condition of one list, `part`, hold where the other list holds? */
static bool is_part_of(const struct sw_path_conditions *guards, uint32_t part, uint32_t list)
{
	for (; part != SW_NO_CONDITION; part = guards->guard.at[part].next) {
		uint32_t k = list;
		if (guards->unknown && guards->guard.at[part].node == guards->unknown - 1)
			return false; /* it stands for several */
		while (k != SW_NO_CONDITION && guards->guard.at[k].node != guards->guard.at[part].node)
			k = guards->guard.at[k].next;
		if (k == SW_NO_CONDITION)
			return false;
	}
	return true;
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

/*
 * Fills the sets of struct condition for one wait.  `here` begins at this wait and at waits that every thread of the
 * way passes.  `some` begins at these and at barriers behind them, by which one thread's wait counts for its block.
 * `near` begins at signals that do not always come before the wait: what was signalled before it is what it waits for.
 */
static void add_condition(struct sw_grid_order *o, uint32_t number)
{
	const struct place *wait = &o->wait.at[number];
	struct condition c = {.wait = number, .here = passed_new(o), .some = passed_new(o), .near = passed_new(o)};
	bool *anywhere = sw_calloc(blocks_of(o), sizeof *anywhere); /* blocks that any thread comes to: not asked for */
	uint32_t *way = ways_to(o, wait->block);
	c.reached = sw_calloc(blocks_of(o), sizeof *c.reached);
	pass_at(&c.here, wait);
	for (size_t i = 0; i < o->wait.n; i++)
		if (!o->wait.at[i].guarded) {
			pass_at(&c.here, &o->wait.at[i]);
			pass_at(&c.some, &o->wait.at[i]);
		}
	settle_all(o, &c.here, way, c.reached);
	for (size_t i = 0; i < o->barrier.n; i++) {
		const struct place *b = &o->barrier.at[i];
		if (c.reached[b->block] && has_passed(&c.here, b->block, b->insn))
			pass_at(&c.some, b);
	}
	settle_all(o, &c.some, NULL, anywhere);
	for (size_t i = 0; i < o->signal.n; i++)
		if (!place_dominates(o, &o->signal.at[i], wait))
			pass_at(&c.near, &o->signal.at[i]);
	if (o->ssa->flow.block.at[wait->block].loop != SW_NO_LOOP)
		pass_at(&c.near, wait); /* how many turns there are is not looked at */
	settle_some(o, &c.near);
	*sw_vec_push(&o->condition) = c;
	free(anywhere);
	free(way);
}

/* Finds where each thread has waited, and describes each wait that not every thread comes to. */
static void find_waits(struct sw_grid_order *o)
{
	bool *reached = sw_calloc(blocks_of(o), sizeof *reached);
	for (size_t i = 0; i < o->wait.n; i++)
		if (!o->wait.at[i].guarded)
			pass_at(&o->always, &o->wait.at[i]);
	settle_all(o, &o->always, NULL, reached);
	free(reached);
	for (uint32_t i = 0; i < o->wait.n && !o->ssa->flat; i++) {
		const struct place *w = &o->wait.at[i];
		if (has_passed(&o->always, w->block, w->insn))
			continue; /* one before it holds each thread already */
		if (o->condition.n == SW_MAX_GRID_WAITS)
			o->too_many = true;
		else
			add_condition(o, i);
	}
}

/* Finds where a thread may be that made the trigger, and the last barrier that it passed before. */
static void find_after(const struct sw_grid_order *o, struct trigger *t)
{
	const struct place *last = NULL;
	pass_at(&t->after, &t->at);
	settle_some(o, &t->after);
	for (size_t i = 0; i < o->barrier.n; i++) {
		const struct place *b = &o->barrier.at[i];
		if (place_dominates(o, b, &t->at) && (!last || place_dominates(o, last, b)))
			last = b;
	}
	t->barrier = last;
	if (last)
		pass_at(&t->after_barrier, last);
	settle_some(o, &t->after_barrier);
}

struct sw_grid_order *sw_grid_order_find(struct sw_ssa *ssa, struct sw_path_conditions *guards)
{
	if (!ssa->grid.n)
		return NULL;
	struct sw_grid_order *o = sw_calloc(1, sizeof *o);
	o->ssa = ssa;
	o->guards = guards;
	o->always = passed_new(o);
	o->unsure = passed_new(o);
	for (size_t i = 0; i < ssa->grid.n; i++) {
		struct place at = place_of(o, &ssa->grid.at[i]);
		if (ssa->body.insn.at[at.insn].op == SW_OP_GRID_WAIT)
			*sw_vec_push(&o->wait) = at;
		else
			*sw_vec_push(&o->trigger) =
				(struct trigger){.at = at, .after = passed_new(o), .after_barrier = passed_new(o)};
	}
	find_barriers(o);
	/* Functions that are called and not copied: who calls them when is not known. */
	for (size_t i = 1; i < ssa->body.entry.n; i++)
		for (uint32_t b = 1; b < blocks_of(o); b++)
			if (ssa->flow.block.at[b].first == ssa->body.entry.at[i])
				o->unsure.at_start[b] = true;
	settle_some(o, &o->unsure);
	find_waits(o);
	for (size_t i = 0; i < o->trigger.n; i++)
		find_after(o, &o->trigger.at[i]);
	return o;
}

void sw_grid_order_free(struct sw_grid_order *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->condition.n; i++) {
		passed_free(&o->condition.at[i].here);
		passed_free(&o->condition.at[i].some);
		passed_free(&o->condition.at[i].near);
		free(o->condition.at[i].reached);
	}
	for (size_t i = 0; i < o->trigger.n; i++) {
		passed_free(&o->trigger.at[i].after);
		passed_free(&o->trigger.at[i].after_barrier);
	}
	passed_free(&o->always);
	passed_free(&o->unsure);
	free(o->wait.at);
	free(o->trigger.at);
	free(o->barrier.at);
	free(o->signal.at);
	free(o->condition.at);
	free(o);
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

/* SW_ORDER_* of a place: how it lies to the kernel's waits for what the launch depends on. */
static uint32_t order_at(const struct sw_grid_order *o, const struct place *at)
{
	uint32_t order = 0;
	if (o->ssa->flat)
		return o->wait.n ? SW_ORDER_UNSURE : 0;
	if (has_passed(&o->always, at->block, at->insn))
		return SW_ORDER_AFTER;
	for (uint32_t i = 0; i < o->condition.n; i++) {
		const struct condition *c = &o->condition.at[i];
		bool here = c->reached[at->block] && has_passed(&c->here, at->block, at->insn);
		if (here && is_part_of(o->guards, o->wait.at[c->wait].list, at->list))
			return SW_ORDER_AFTER;
		order |= (uint32_t)here << i << SW_ORDER_IF_ALL_SHIFT;
		order |= (uint32_t)has_passed(&c->some, at->block, at->insn) << i << SW_ORDER_IF_SOME_SHIFT;
		order |= (uint32_t)has_passed(&c->near, at->block, at->insn) << i << SW_ORDER_PERHAPS_SHIFT;
	}
	bool called = o->wait.n && has_passed(&o->unsure, at->block, at->insn);
	return order | (o->too_many || called ? SW_ORDER_UNSURE : 0);
}

/* May another thread have made the trigger before this access is made?  Not if a barrier lies between, or if each
   thread that makes the access makes the trigger after it. */
static bool may_follow(const struct sw_grid_order *o, const struct trigger *t, const struct place *at)
{
	if (o->ssa->flat || has_passed(&t->after, at->block, at->insn))
		return true;
	if (is_part_of(o->guards, t->at.list, at->list))
		return false;
	return !t->barrier || has_passed(&t->after_barrier, at->block, at->insn);
}

uint32_t sw_grid_order_of(struct sw_grid_order *o, const struct sw_memory_op *use)
{
	if (!o)
		return 0;
	const struct place at = place_of(o, use);
	for (size_t i = 0; i < o->trigger.n; i++)
		o->trigger.at[i].early |= may_follow(o, &o->trigger.at[i], &at);
	return order_at(o, &at);
}

/* Appends a wait or trigger with its conditions. */
static void emit_op(struct sw_grid_order *o, struct sw_emit *e, const struct place *at, struct sw_grid_op grid)
{
	const struct sw_insn *x = &o->ssa->body.insn.at[at->insn];
	uint32_t list = at->list;
	if (o->ssa->flat)
		list = sw_path_conditions_unknown(o->ssa, o->guards, list);
	struct sw_array_span facts = sw_emit_facts(e, list, SW_NO_CONDITION);
	grid.fact = facts.first;
	grid.facts = facts.n;
	grid.place = x->place;
	grid.text = sw_emit_string(e, x->text ? x->text : sw_op_text(x->op));
	*sw_vec_push(&e->grid) = grid;
}

void sw_grid_order_emit(struct sw_grid_order *o, struct sw_emit *e)
{
	for (uint32_t i = 0; o && i < o->wait.n; i++) {
		struct sw_grid_op grid = {.kind = SW_GRID_WAIT};
		for (uint32_t k = 0; k < o->condition.n; k++)
			grid.number = o->condition.at[k].wait == i ? (uint16_t)(k + 1) : grid.number;
		emit_op(o, e, &o->wait.at[i], grid);
	}
	for (uint32_t i = 0; o && i < o->trigger.n; i++) {
		const struct trigger *t = &o->trigger.at[i];
		struct sw_grid_op grid = {.kind = SW_GRID_TRIGGER, .early = t->early, .order = order_at(o, &t->at)};
		emit_op(o, e, &t->at, grid);
	}
}
