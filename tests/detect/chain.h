/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole chain against a brute-force oracle: random programs, written as traces, and what is true of them.
 *
 * The order comes from tests/hb/oracle.c (a graph with its transitive closure), memory is sets of bytes, and every two
 * operations are compared.  Every program means something, whatever calls are taken out of it.
 */
#ifndef TESTS_DETECT_CHAIN_H
#define TESTS_DETECT_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "detect/detect.h"
#include "hb/oracle.h"
#include "reader/trace_builder.h"

/* Calls and their weights. */
#define CHAIN_KINDS(X)                                                                                                 \
	X(COPY, 22)                                                                                                    \
	X(COPY_2D, 12)                                                                                                 \
	X(SET, 12)                                                                                                     \
	X(KERNEL, 14)                                                                                                  \
	X(KERNEL_UNNAMED, 4)                                                                                           \
	X(KERNEL_VARIABLE, 6)                                                                                          \
	X(ASK, 2)                                                                                                      \
	X(MAP, 4)                                                                                                      \
	X(ALLOC, 6)                                                                                                    \
	X(FREE, 4)                                                                                                     \
	X(STREAM_RENEW, 2)                                                                                             \
	X(STREAM_END, 1)                                                                                               \
	X(EVENT_RENEW, 1)                                                                                              \
	X(EVENT_END, 1)                                                                                                \
	X(RECORD, 12)                                                                                                  \
	X(STREAM_WAIT, 12)                                                                                             \
	X(SYNC_EVENT, 3)                                                                                               \
	X(SYNC_STREAM, 4)                                                                                              \
	X(SYNC_CONTEXT, 1)                                                                                             \
	X(QUERY_EVENT, 3)                                                                                              \
	X(QUERY_STREAM, 2)                                                                                             \
	X(WAIT_BEGIN, 2)                                                                                               \
	X(WAIT_FINISH, 3)                                                                                              \
	X(CALLBACK, 2)                                                                                                 \
	X(CALLBACK_RUN, 3)                                                                                             \
	X(CAPTURE, 4)                                                                                                  \
	X(CAPTURE_DONE, 4)                                                                                             \
	X(NODE, 22)                                                                                                    \
	X(GRAPH_DONE, 3)                                                                                               \
	X(GRAPH_END, 1)                                                                                                \
	X(LAUNCH, 13)

enum chain_kind {
#define X(name, weight) CHAIN_##name,
	CHAIN_KINDS(X)
#undef X
		CHAIN_KINDS_N
};

enum {
	CHAIN_OPS = 40,
	SLOT_BYTES = 512,
	SLOT_WORDS = SLOT_BYTES / 64,
	MAX_TOUCHES = 2 * CHAIN_OPS * CHAIN_OPS,
	MAX_PAIRS = 6400
};

/* Memory: places that allocations come and go at, a module variable, which kernels use by its name,
   and memory that is mapped at two addresses now and then. */
enum slot { SLOT_DEVICE, SLOT_DEVICE2, SLOT_PINNED, SLOT_PAGEABLE, SLOT_POOL, SLOT_VARIABLE, SLOT_MAPPED, SLOTS };

struct chain_range {
	uint8_t slot;
	bool alias; /* pinned memory by its device address, mapped memory by its other one */
	uint16_t at, pitch;
};
struct chain_op {
	uint8_t kind, thread, stream, event;
	struct chain_range dst, src; /* pitch: 2D only */
	uint16_t bytes, rows;
	bool synchronous, flag; /* flag: non-blocking; of stream 0: the per-thread one; queries: done */
};
struct chain {
	uint64_t seed;
	size_t n;
	struct chain_op op[CHAIN_OPS];
};
void chain_random(struct chain *chain, uint64_t seed);
void chain_print(const struct chain *chain, FILE *out);

/* One access. */
struct touch {
	int op, node, block;
	int function; /* node of the host function that makes it, + 1; 0: none */
	enum sw_role role;
	enum sw_evidence evidence;
	bool bounded, host, may;
	int alias; /* of mapped memory: which of its other addresses, 0 the one that stays */
	unsigned start, width, pitch, rows;
	uint64_t bytes[SLOT_WORDS];
};

/* Two call sites with a hazard between them. */
struct pair {
	int id, a, b;	/* SW101 ...; indices of operations */
	int strength;	/* severity * 3 + confidence */
	bool measured;	/* ordered, but only by measurement */
	bool unsure;	/* or a possible one: a kernel may have signalled the host through memory */
	bool droppable; /* every byte was taken over by later accesses: see hidden() */
};

struct truth {
	struct oracle order;
	uint64_t seq[CHAIN_OPS + 1]; /* sequence number before the first record of an operation */
	size_t touches, pairs;
	struct touch touch[MAX_TOUCHES];
	struct pair pair[MAX_PAIRS];
	struct allocation {
		bool alive, freed; /* freed: and nothing came to its place yet */
		enum sw_memory memory;
		int block, born, born_op, freed_op;
		int given_back;		    /* node of a stream-ordered free, -1 none */
		bool starts[2][SLOT_BYTES]; /* where something is known to start, at each address of mapped memory */
	} slot[SLOTS];
	int blocks;
	int kernels;
	int aliases;		       /* other addresses that the mapped memory had */
	int unordered;		       /* pairs that no document orders */
	const struct nodes *releasing; /* what a release under way waits for, NULL: none */
};

/* Writes the program as a trace that the caller closes, and says what is true of it. */
void chain_run(const struct chain *chain, struct tb *tb, struct truth *truth);

/* ---- chain_memory.c ---- */
/* Two nodes of one graph that nothing orders: what they do to the same bytes. */
void memory_beside(struct truth *truth, const struct chain_op *a, int a_op, const struct chain_op *b, int b_op);
uint64_t slot_address(const struct chain_range *range);
bool slot_is_device(uint8_t slot);
bool slot_is_pinned(const struct truth *truth, uint8_t slot);
/* A module variable: there from the beginning. */
void memory_variable(struct truth *truth, uint8_t slot);
/* The other address of the mapped memory ends. */
void memory_unmap(struct truth *truth, int op, int node);
void memory_alloc(struct truth *truth, int op, int node, uint8_t slot);
/* `ordered`: at a point of a stream. */
void memory_free(struct truth *truth, int op, int node, uint8_t slot, bool ordered);
/* Exact: rows of bytes.  `like` says how (op, node, role, host, may). */
void memory_box(struct truth *truth, const struct touch *like, const struct chain_range *range, unsigned bytes,
		unsigned rows);
/* Open: a kernel's pointer (evidence too). */
void memory_pointer(struct truth *truth, const struct touch *like, const struct chain_range *range);

#endif
