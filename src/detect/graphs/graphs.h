/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executable graphs as they were described: nodes, what each depends on, what each does.
 *
 * What the nodes touch is computed at the first launch after a description, listed, and judged again at every launch
 * without looking at the kernels again.  Not thread-safe.
 */
#ifndef SW_DETECT_GRAPHS_GRAPHS_H
#define SW_DETECT_GRAPHS_GRAPHS_H

#include "base/map.h"
#include "detect/hazards/touch.h"

struct sw_access;
struct sw_graphs;
struct sw_model;
struct sw_record;
struct sw_shadow_use;

struct sw_graph_node {
	uint64_t handle;
	uint64_t parent;
	uint64_t *before; /* handles, and from `n` on SW_EDGE_OF each; a copy of the record */
	uint32_t n;
	uint32_t type;
	struct sw_rec *work;	/* NULL: nothing that is known */
	uint32_t work_bytes;	/* several memory operations lie one after the other */
	struct sw_access made;	/* the call that made it; seq 0 unknown */
	struct sw_hb_grid grid; /* of a kernel, while the exec is listed */
	bool overlaps;		/* the kinds of its dependencies are there, and some are programmatic */
	bool disabled;
	bool body;		      /* of a conditional node: stands for all that it holds */
	bool perhaps;		      /* it may not run: it is such a body or lies in one */
	bool unknown, blind, follows; /* as in struct sw_listing, while the exec is listed */
};

/* A node's turn in a launch, and which part of it: waits come before, records after what they are bound to. */
enum { SW_ORDERED_WAIT = 1, SW_ORDERED_WORK = 2, SW_ORDERED_RECORD = 4, SW_ORDERED_ALL = 7 };
struct sw_ordered_node {
	uint32_t node;
	uint32_t parts;
};

struct sw_exec {
	uint64_t handle;
	SW_VEC(struct sw_graph_node) nodes;
	struct sw_map index; /* handle of a node -> index + 1 */
	uint32_t expected;   /* number of nodes that the description announced */
	bool unknown;	     /* some nodes were not described */
	bool listed;	     /* `touches` are those of the nodes as they are */
	struct sw_listing touches;
	struct sw_branch_order *branches;	   /* valid while `listed`; NULL: all nodes count as ordered */
	SW_VEC(struct sw_ordered_node) node_order; /* uses of a launch; valid while `listed` */
	uint32_t bound;	       /* safety edges that events bound to the whole graph cost at each launch */
	uint32_t flags;	       /* CUgraphInstantiate_flags */
	struct sw_access made; /* the call that made the exec, or updated it */
};

/* The node of a child graph, or of a conditional body, that holds the node; NULL: none does. */
static inline const struct sw_graph_node *sw_node_parent(const struct sw_exec *x, const struct sw_graph_node *node)
{
	uint64_t place = node->parent ? sw_map_get(&x->index, node->parent) : 0;
	return place ? &x->nodes.at[place - 1] : NULL;
}

/* Which nodes come before which. */
struct sw_paths {
	size_t n, words;
	uint64_t *before; /* n x words: bit j of row i: j comes before i */
	uint32_t *sorted; /* each node after all that come before it */
	/* Nodes before the start of a node, before its griddepcontrol.wait; NULL: as `before`.  late: only as measured,
	   it comes after those of `before` as well. */
	uint64_t *begin;
	bool *late;
};
/* Does node a come before node b? */
static inline bool sw_paths_before(const struct sw_paths *p, uint32_t a, uint32_t b)
{
	return p->before[b * p->words + a / 64] >> (a % 64) & 1;
}

/* Does node a come before the start of node b? */
static inline bool sw_paths_before_start(const struct sw_paths *p, uint32_t a, uint32_t b)
{
	const uint64_t *before = p->begin ? p->begin : p->before;
	return before[b * p->words + a / 64] >> (a % 64) & 1;
}

/* ---- graphs.c ---- */
struct sw_exec *sw_exec_of(struct sw_model *m, uint64_t handle); /* created if unknown */
/* Drops the lists of what the nodes touch, which a change of a node has made wrong. */
void sw_exec_unlist(struct sw_model *m, struct sw_exec *exec);
/* Records were lost: drops all executable graphs, which calls that are missing may have changed. */
void sw_graphs_forget(struct sw_model *m);
/* Has the graph, whose nodes were compared, a node that allocates this address?  exec NULL: no. */
bool sw_exec_allocates(const struct sw_exec *x, uint64_t address);
/* Reports nodes that use the graph's own memory and do not come after the node that allocates it (SW106); while the
   uses of its listing are there. */
void sw_exec_judge_allocations(struct sw_model *m, const struct sw_exec *x, const struct sw_paths *paths);
/* Returns between which nodes the dependency is missing: a and b, or those that hold them in the graph that both are
   in; in the order in which the program made them. */
struct sw_node_pair sw_exec_find_dependency(const struct sw_exec *x, uint32_t a, uint32_t b);
struct sw_graphs *sw_graphs_new(void);
void sw_graphs_free(struct sw_model *m);

/* ---- graphs.c ---- */
void sw_branch_order_make(struct sw_exec *exec, const struct sw_paths *paths);
/* Are they made by two unordered nodes of the launch that is played?  (arg: struct sw_model.) */
bool sw_branches_apart(void *arg, const struct sw_shadow_use *earlier, const struct sw_shadow_use *later);

/* ---- graphs.c ---- */
/* Fills exec->node_order; paths NULL: which node comes before which is not known. */
void sw_node_order_make(struct sw_exec *exec, const struct sw_paths *paths);

/* ---- graph_launches.c ---- */
/* The work of a node as if it were a record of its own. */

/* ---- graph_launches.c ---- */
/* Launches of one exec follow each other: an event of ours stands for the last. */
uint64_t sw_exec_node_order(const struct sw_exec *exec);

/* Calls that a capture forbids (SW204). */

/* After a call that failed: reports SW204 where its status says that a capture in progress refused it. */
void sw_isolation_failed(struct sw_model *m, const struct sw_record *r, const struct sw_access *call);

#endif
