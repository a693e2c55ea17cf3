/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs: sequences of calls of the order engine, valid or not, the same for the engine and its oracle. */
#ifndef TESTS_HB_PROGRAM_H
#define TESTS_HB_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hb/hb.h"

enum op_kind {
#define X(name, weight) OP_##name,
#include "program.def"
#undef X
	OP_KINDS
};

enum { MAX_OPS = 96, MAX_CONTEXTS = 3, MAX_THREADS = 4, MAX_EVENTS = 5, MAX_TOKENS = 5, MAX_STREAMS = 9 };

/* Streams 0, 1 and 2 are the default ones; the other handles are few, so that they are given out again and again. */
struct op {
	uint8_t kind, ctx, thread, stream, event, token;
	uint8_t grid;	     /* LAUNCH: bits of program_grid() */
	bool flag;	     /* per_thread, nonblocking */
	enum sw_order basis; /* WAIT_END */
};
struct program {
	bool strict_host;
	size_t n;
	struct op op[MAX_OPS];
};

/* ENQUEUE_ACROSS, ENQUEUE_BESIDE: the other context; CONTEXT_WITHIN: which context is whole. */
static inline uint8_t program_other(const struct op *op)
{
	return op->kind == OP_CONTEXT_WITHIN ? 1 : op->token % MAX_CONTEXTS;
}

/* LAUNCH: what the kernel does about those before and after it. */
static inline struct sw_hb_grid program_grid(const struct op *op)
{
	bool triggers = op->grid & 2;
	return (struct sw_hb_grid){.overlaps = op->grid & 1,
				   .triggers = triggers,
				   .triggers_first = triggers && op->grid & 4,
				   .late = triggers && op->grid & 8,
				   .waits = op->grid & 16,
				   .unsure = op->grid & 32};
}

uint64_t random_next(uint64_t *state);
/* seq of op i is i + 1, at all times. */
void program_random(struct program *program, uint64_t seed);
void program_print(const struct program *program, FILE *out);
struct sw_hb_at program_at(const struct op *op, uint64_t seq);
static inline uint64_t program_stream(const struct op *op)
{
	return op->stream <= 2 ? op->stream : 0x1000u * op->stream;
}
/* Objects of synchronisation, creations and handles of threads are few, like events. */
static inline uint64_t program_key(const struct op *op)
{
	return 0x88000u + op->event;
}
static inline uint64_t program_event(const struct op *op)
{
	return 0x77000u + op->event;
}
/* WAIT_COMMON: two events, or one twice. */
static inline int program_other_event(const struct op *op)
{
	return op->token % MAX_EVENTS;
}

#endif
