/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle: the rules of doc/order.md written down as a graph, with no thought for cost.
 *
 * A node is one step of a lane.  An edge says that a node ends before another begins; edges only ever lead to the node
 * just made, so that its ancestors are the union over its edges, by the documented edges alone and by all.
 */
#ifndef TESTS_HB_ORACLE_H
#define TESTS_HB_ORACLE_H

#include "program.h"

enum { MAX_NODES = 1024, MAX_LANES = 128 };

struct nodes { /* a set of nodes */
	uint64_t bits[MAX_NODES / 64];
};

struct node {
	int lane;
	bool work;
	bool pointed; /* the engine returned its point: */
	struct sw_point point;
	struct nodes before[3]; /* ancestors, itself included: documented, measured, observed */
	/* A launch: what it does, and what comes before its start; itself not included. */
	bool launch, linked; /* linked: it may begin before the kernel before it ends */
	bool unsure;	     /* that is not known */
	struct sw_hb_grid grid;
	struct nodes start[3];
};

struct oracle {
	bool strict_host;
	int nodes, lanes;
	struct node node[MAX_NODES];
	struct {
		enum sw_lane_kind kind;
		int last;  /* node, -1 none */
		int ctx;   /* -1: the context has ended, or a host */
		bool gone; /* a host thread that ended: what all others know is passed */
	} lane[MAX_LANES];
	struct {
		bool used, has_parts;
		int device;
		int whole;	    /* context that it is a part of, -1 none */
		struct nodes waits; /* what all its future work waits for */
		int legacy, per_thread[MAX_THREADS + 1];
	} context[MAX_CONTEXTS];
	int stream[MAX_STREAMS];   /* lane of a handle, -1 none */
	int host[MAX_THREADS + 1]; /* lane of a thread, -1 none; [0] is the single host */
	struct oracle_event {
		bool recorded, context_wide;
		int node, ctx;
		struct nodes covers;
		uint64_t seq;
		uint32_t waits;
	} event[MAX_EVENTS];
	struct {
		bool valid;
		struct nodes covers;
	} token[MAX_TOKENS];
	struct nodes sync[MAX_EVENTS]; /* what objects hold */
	int unborn[MAX_EVENTS];	       /* lane of a thread that was created and has not started, -1 none */
	int done[MAX_EVENTS];	       /* thread by its handle, -1 none */
	int acted;		       /* node of the last that any host did, -1 none */
	/* The last call: */
	int now;    /* its node, -1 none */
	bool ended; /* it ended a wait: */
	bool host_func_end;
	int pending_lanes;
	struct nodes pending;
};

void oracle_start(struct oracle *oracle, bool strict_host);
void oracle_call(struct oracle *oracle, const struct op *op, uint64_t seq);
enum sw_order oracle_ordered(const struct oracle *oracle, int earlier, int later);
/* Is `earlier` ordered before the start of a launch that is `linked`? */
enum sw_order oracle_ordered_to_start(const struct oracle *oracle, int earlier, int later);
/* Every host knows it, by documented order. */
bool oracle_passed(const struct oracle *oracle, int node);

static inline bool nodes_has(const struct nodes *set, int node)
{
	return set->bits[node / 64] >> (node % 64) & 1;
}

#endif
