/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a program, in the making.  Private to the chain's files. */
#ifndef TESTS_DETECT_CHAIN_CALL_H
#define TESTS_DETECT_CHAIN_CALL_H

#include "chain.h"

enum { CHAIN_CTX = 1, CHAIN_EVENTS = 3 };
/* Tokens of the order: two of the current call, the wait of the blocked thread, the host function. */
enum { BEFORE_CALL, CALL, BLOCKED, CALLBACK };

struct run {
	struct tb *tb;
	struct truth *truth;
	const struct chain_op *op;
	int index;
	unsigned thread;
	uint32_t kernel, unnamed, writer, reader;
	bool asked;	  /* the program knows where the variable is */
	bool aliased;	  /* the mapped memory has its other address */
	uint64_t blocked; /* BEGIN of thread 2's wait, 0: none */
	uint64_t callback, callback_stream;
	int callback_node;
	int captures, captured[MAX_STREAMS + 4]; /* by lane_key(): the capture it is part of, 0: none */
	int event_capture[CHAIN_EVENTS];	 /* the capture an event was recorded in */
	struct graph *graph;			 /* by capture; [0] is made node by node */
	uint64_t after[MAX_STREAMS + 4];	 /* what the next captured work of a lane depends on */
	uint64_t event_after[CHAIN_EVENTS];
	struct graph *exec; /* CHAIN_EXECS */
};

/* Nodes by their numbers, sets of them as bits. */
struct graph {
	unsigned n;
	bool there, judged; /* an executable one: it is, and was launched since it was described */
	unsigned marks;	    /* its nodes that record an event or wait for one: the judge promises to bind one exactly */
	struct {
		struct chain_op op;
		int index;
		uint64_t seq, before; /* `before`: what it depends on itself */
	} node[CHAIN_OPS];
};
/* Events of the order that stand for the last launch of an executable graph, after those of programs. */
enum { CHAIN_EXECS = MAX_EVENTS - CHAIN_EVENTS };

/* ---- chain_graph.c ---- */
/* The current call was captured, or is a node made by itself. */
void graph_node(struct run *run, struct graph *graph, uint64_t before);
void graph_done(struct run *run, struct graph *graph);
void graph_ends(struct run *run);
void graph_launch(struct run *run, bool captured);

/* The call in the terms of the order; its step there, -1 none. */
struct op call(const struct run *run, enum op_kind kind);
int place(struct run *run, struct op *op);
int happens(struct run *run, enum op_kind kind);
void wait_begins(struct run *run, enum op_kind kind, uint8_t token);
void wait_ends(struct run *run, uint8_t token, enum sw_order basis);
uint64_t stream_handle(struct run *run);
/* Index into run.captured; 0: the legacy stream. */
unsigned lane_key(const struct run *run);

/* Calls. */
void stream_ends(struct run *run);
void event_record(struct run *run);
void stream_wait(struct run *run);
void host_wait(struct run *run);
void callback(struct run *run);
void callback_runs(struct run *run);

#endif
