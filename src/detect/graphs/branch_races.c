/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SW107: two nodes of one graph that no path joins, and that conflict.
 *
 * Which nodes come before which is held as a set of bits a node, filled in an order in which each node follows what it
 * depends on.  A child graph is part of the graph: its nodes follow what the child graph's node depends on, and that
 * node is its end.
 */
#include "detect/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "detect/graphs/graphs.h"
#include "detect/hazards/confidence.h"
#include "detect/hazards/hazards.h"
#include "detect/hazards/listing.h"
#include "detect/hazards/touch.h"
#include "detect/memory/address_space.h"
#include "detect/memory/shadow.h"
#include "detect/model/collect.h"
#include "detect/model/contexts.h"

/* Beyond these, branches are not compared (128 MiB of bits), or not all of them. */
#define SW_MAX_BRANCH_NODES 32768u
#define SW_MAX_BRANCH_PAIRS (1u << 22)

typedef SW_VEC(uint32_t) index_vec;

/* What node i depends on, in numbers; false: a node that is not part of the graph. */
static bool depends_on(const struct sw_exec *x, size_t i, index_vec *out)
{
	const struct sw_graph_node *node = &x->nodes.at[i];
	out->n = 0;
	for (const struct sw_graph_node *at = node; at;) {
		for (uint32_t k = 0; k < at->n; k++) {
			uint64_t place = sw_map_get(&x->index, at->before[k]);
			if (!place)
				return false;
			*sw_vec_push(out) = (uint32_t)(place - 1);
		}
		/* Parents are described before what they hold, so this ends. */
		uint64_t parent = at->parent ? sw_map_get(&x->index, at->parent) : 0;
		if (at->parent && (!parent || &x->nodes.at[parent - 1] >= at))
			return false;
		at = parent ? &x->nodes.at[parent - 1] : NULL;
	}
	return true;
}

struct degree {
	index_vec *after; /* node -> nodes that depend on it */
	uint32_t *open;	  /* dependencies that are not placed yet */
};

static bool degrees(const struct sw_exec *x, struct degree *d)
{
	index_vec on = {0};
	bool known = true;
	for (size_t i = 0; known && i < x->nodes.n; i++) {
		const struct sw_graph_node *node = &x->nodes.at[i];
		known = depends_on(x, i, &on);
		for (size_t k = 0; known && k < on.n; k++) {
			*sw_vec_push(&d->after[on.at[k]]) = (uint32_t)i;
			d->open[i]++;
		}
		if (known && node->parent) { /* the end of the child graph follows all in it */
			size_t parent = sw_map_get(&x->index, node->parent) - 1;
			*sw_vec_push(&d->after[i]) = (uint32_t)parent;
			d->open[parent]++;
		}
	}
	free(on.at);
	return known;
}

static void pass_on(const struct sw_paths *p, uint32_t from, uint32_t to)
{
	const uint64_t *row = p->before + from * p->words;
	uint64_t *into = p->before + to * p->words;
	for (size_t w = 0; w < p->words; w++)
		into[w] |= row[w];
	into[from / 64] |= 1ull << (from % 64);
}

/* False: there is a cycle, or a node is missing; then nothing can be said. */
static bool follow(const struct sw_exec *x, struct sw_paths *p)
{
	struct degree d = {sw_calloc(p->n, sizeof *d.after), sw_calloc(p->n, sizeof *d.open)};
	index_vec ready = {0};
	size_t placed = 0;
	bool known = degrees(x, &d);
	for (size_t i = 0; known && i < p->n; i++)
		if (!d.open[i])
			*sw_vec_push(&ready) = (uint32_t)i;
	while (known && ready.n) {
		uint32_t from = ready.at[--ready.n];
		p->sorted[placed++] = from;
		for (size_t k = 0; k < d.after[from].n; k++) {
			uint32_t to = d.after[from].at[k];
			pass_on(p, from, to);
			if (!--d.open[to])
				*sw_vec_push(&ready) = to;
		}
	}
	for (size_t i = 0; i < p->n; i++)
		free(d.after[i].at);
	free(d.after);
	free(d.open);
	free(ready.at);
	return known && placed == p->n;
}

static const struct sw_graph_node *parent_of(const struct sw_exec *x, const struct sw_graph_node *node)
{
	uint64_t place = node->parent ? sw_map_get(&x->index, node->parent) : 0;
	return place ? &x->nodes.at[place - 1] : NULL;
}

/* CUgraphDependencyType and CU_GRAPH_KERNEL_NODE_PORT_* of cuda.h. */
enum { PROGRAMMATIC = 1, PORT_PROGRAMMATIC = 1, PORT_LAUNCH_ORDER = 2 };

static void join_row(uint64_t *into, const uint64_t *row, size_t words)
{
	for (size_t w = 0; w < words; w++)
		into[w] |= row[w];
}

/* By one dependency, on node `from`.  False: the start of the node comes after less than the rest of it, for want of
   a trigger after the last access, too. */
static bool begin_after(const struct sw_exec *x, struct sw_paths *p, uint32_t node, uint32_t from, uint64_t edge)
{
	uint64_t *begin = p->begin + node * p->words;
	const struct sw_hb_grid *grid = &x->nodes.at[from].grid;
	bool at_start = SW_EDGE_FROM_PORT(edge) == PORT_LAUNCH_ORDER;
	bool full = SW_EDGE_TYPE(edge) != PROGRAMMATIC || (!at_start && !grid->triggers);
	bool first = at_start || grid->triggers_first;
	join_row(begin, (first && !full ? p->begin : p->before) + from * p->words, p->words);
	if (full)
		begin[from / 64] |= 1ull << (from % 64);
	return full || (grid->late && !at_start);
}

void sw_paths_find_starts(const struct sw_exec *x, struct sw_paths *p)
{
	bool any = false;
	for (size_t i = 0; i < p->n; i++)
		any |= x->nodes.at[i].overlaps && !x->nodes.at[i].disabled;
	if (!any)
		return;
	p->begin = sw_alloc(p->n * p->words * sizeof *p->begin);
	p->late = sw_calloc(p->n, sizeof *p->late);
	memcpy(p->begin, p->before, p->n * p->words * sizeof *p->begin);
	for (size_t i = 0; i < p->n; i++) {
		const uint32_t number = p->sorted[i];
		const struct sw_graph_node *node = &x->nodes.at[number];
		const struct sw_graph_node *parent = parent_of(x, node);
		uint64_t *begin = p->begin + number * p->words;
		if (!node->overlaps || node->disabled)
			continue;
		memset(begin, 0, p->words * sizeof *begin);
		/* All that the child graph's node depends on. */
		if (parent)
			join_row(begin, p->before + (size_t)(parent - x->nodes.at) * p->words, p->words);
		p->late[number] = true;
		for (uint32_t k = 0; k < node->n; k++) {
			uint64_t from = sw_map_get(&x->index, node->before[k]);
			if (from)
				p->late[number] &=
					begin_after(x, p, number, (uint32_t)from - 1, node->before[node->n + k]);
		}
	}
}

bool sw_paths_too_many(const struct sw_exec *exec)
{
	return exec->nodes.n > SW_MAX_BRANCH_NODES;
}

bool sw_paths_find(const struct sw_exec *exec, struct sw_paths *paths)
{
	struct sw_paths p = {.n = exec->nodes.n, .words = (exec->nodes.n + 63) / 64};
	if (p.n < 2 || sw_paths_too_many(exec))
		return false;
	p.before = sw_calloc(p.n * p.words, sizeof *p.before);
	p.sorted = sw_alloc(p.n * sizeof *p.sorted);
	bool known = follow(exec, &p);
	if (known)
		*paths = p;
	else
		sw_paths_free(&p);
	return known;
}

void sw_paths_free(struct sw_paths *paths)
{
	free(paths->before);
	free(paths->begin);
	free(paths->late);
	free(paths->sorted);
	*paths = (struct sw_paths){0};
}

/* In two bodies of one conditional node: at most one of them runs at a time (CUDA driver API, CUgraphConditionalNode-
   Type), and inside a loop one pass follows the other. */
static bool exclude(const struct sw_exec *x, const struct sw_graph_node *a, const struct sw_graph_node *b)
{
	if (!a->perhaps || !b->perhaps)
		return false;
	for (; a; a = parent_of(x, a))
		for (const struct sw_graph_node *at = b; a->body && at; at = parent_of(x, at))
			if (at->body && at != a && at->parent == a->parent)
				return true;
	return false;
}

static bool unordered(const struct sw_exec *x, const struct sw_paths *p, uint32_t a, uint32_t b)
{
	return a != b && !sw_paths_before(p, a, b) && !sw_paths_before(p, b, a) &&
	       !exclude(x, &x->nodes.at[a], &x->nodes.at[b]);
}

/* Node a comes before the rest of node b, but not before what b does here, at its start: before its wait. */
static bool start_unordered(const struct sw_exec *x, const struct sw_paths *p, const struct sw_listed *a,
			    const struct sw_listed *b)
{
	return p->begin && x->nodes.at[b->node].overlaps && b->range.phase != SW_AFTER_WAIT &&
	       sw_paths_before(p, a->node, b->node) && !sw_paths_before_start(p, a->node, b->node);
}

/* How sure it is that the start of a kernel may overlap the other one. */
static struct sw_verdict weigh_start(const struct sw_exec *x, const struct sw_paths *p, const struct sw_listed *a,
				     const struct sw_listed *b, struct sw_verdict verdict)
{
	if (x->nodes.at[a->node].grid.unsure || x->nodes.at[b->node].grid.unsure ||
	    b->range.phase == SW_PERHAPS_AFTER_WAIT)
		return (struct sw_verdict){SW_NOTE, SW_POSSIBLE};
	if (p->late[b->node] && verdict.severity == SW_ERROR)
		verdict.severity = SW_WARNING;
	return verdict;
}

/* p: the start of the second one is unordered; NULL: both are. */
static void branch_race(struct sw_model *m, const struct sw_exec *x, const struct sw_paths *p,
			const struct sw_listed *a, const struct sw_listed *b)
{
	struct sw_block *block = a->use->block;
	struct sw_verdict verdict = sw_matrix(&a->use->range, &b->use->range, sw_block_crowding(block));
	if (p)
		verdict = weigh_start(x, p, a, b, verdict);
	struct sw_access side[2] = {a->use->access, b->use->access};
	struct sw_finding seen = {
		.id = SW_FINDING_GRAPH_BRANCH_RACE,
		.severity = verdict.severity,
		.confidence = verdict.confidence,
		.basis = SW_BASIS_DOCUMENTED,
		.accesses = 2,
		.access = {&side[0], &side[1]},
		.fix = SW_FIX_DEPEND,
	};
	sw_hazard_lower(m, &seen, m->record->rec->ctx);
	if (sw_hazard_is_dropped(m, &seen))
		return;
	/* Nodes of a capture come with the streams that they were captured on. */
	if (side[0].stream && side[1].stream && side[0].stream != side[1].stream) {
		seen.fix = SW_FIX_EVENT_CAPTURED;
		seen.fix_stream = side[0].stream;
		seen.fix_call.seq = side[0].seq;
	}
	if (p) {
		seen.id = SW_FINDING_PROGRAMMATIC_RACE;
		seen.fix = SW_FIX_GRID_WAIT;
		seen.measured_order = p->late[b->node];
		seen.basis = seen.measured_order ? SW_BASIS_MEASURED : SW_BASIS_DOCUMENTED;
	}
	side[0].allocation = side[1].allocation = sw_model_mention(m, block);
	sw_collect_add(&m->collect, &seen, NULL);
}

static int by_place(const void *x, const void *y)
{
	const struct sw_shadow_use *a = (*(const struct sw_listed *const *)x)->use,
				   *b = (*(const struct sw_listed *const *)y)->use;
	if (a->block != b->block)
		return a->block->number < b->block->number ||
				       (a->block->number == b->block->number && a->block->address < b->block->address)
			       ? -1
			       : 1;
	if (a->range.address != b->range.address)
		return a->range.address < b->range.address ? -1 : 1;
	return 0;
}

static void compare(struct sw_model *m, const struct sw_exec *x, const struct sw_paths *p, const struct sw_listed **at,
		    size_t n)
{
	size_t pairs = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n && pairs < SW_MAX_BRANCH_PAIRS; j++, pairs++) {
			const struct sw_listed *a = at[i], *b = at[j];
			if (a->use->block != b->use->block || b->use->range.address >= a->use->end)
				break;
			/* In the order of their descriptions. */
			if (a->node > b->node)
				a = at[j], b = at[i];
			if (unordered(x, p, a->node, b->node) && sw_use_conflicts(a->use, b->use))
				branch_race(m, x, NULL, a, b);
			else if (start_unordered(x, p, a, b) && sw_use_conflicts(a->use, b->use))
				branch_race(m, x, p, a, b);
			else if (start_unordered(x, p, b, a) && sw_use_conflicts(b->use, a->use))
				branch_race(m, x, p, b, a);
		}
	m->j->coverage.uncompared_graphs += pairs == SW_MAX_BRANCH_PAIRS;
}

void sw_branches_judge(struct sw_model *m, const struct sw_exec *exec, const struct sw_paths *paths,
		       const struct sw_listing *listing)
{
	SW_VEC(const struct sw_listed *) at = {0};
	for (size_t i = 0; i < listing->at.n; i++)
		if (listing->at.at[i].use)
			*sw_vec_push(&at) = &listing->at.at[i];
	if (at.n > 1) {
		qsort(at.at, at.n, sizeof *at.at, by_place);
		compare(m, exec, paths, at.at, at.n);
	}
	free(at.at);
}
