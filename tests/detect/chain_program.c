/* SPDX-License-Identifier: Apache-2.0 */
#include "chain.h"

static const struct {
	const char *name;
	unsigned weight;
} kinds[] = {
#define X(name, weight) {#name, weight},
	CHAIN_KINDS(X)
#undef X
};

static unsigned below(uint64_t *state, unsigned n)
{
	return (unsigned)(random_next(state) % n);
}

static uint8_t random_kind(uint64_t *state)
{
	unsigned total = 0, i;
	for (i = 0; i < CHAIN_KINDS_N; i++)
		total += kinds[i].weight;
	unsigned at = below(state, total);
	for (i = 0; at >= kinds[i].weight; i++)
		at -= kinds[i].weight;
	return (uint8_t)i;
}

/* Starts are few, so that ranges begin where others begin or end; lengths are one off now and then. */
enum { GRAIN = 20, STARTS = 20 };

static void random_range(uint64_t *state, struct chain_range *range, const struct chain_op *op, unsigned first,
			 unsigned slots)
{
	bool box = op->kind == CHAIN_COPY_2D || op->kind == CHAIN_SET || op->kind == CHAIN_NODE;
	range->slot = (uint8_t)((first + below(state, slots)) % SLOTS);
	range->alias = (range->slot == SLOT_PINNED || range->slot == SLOT_MAPPED) && below(state, 3) == 0;
	range->at = (uint16_t)(GRAIN * below(state, STARTS));
	range->pitch = (uint16_t)(op->bytes + GRAIN * below(state, 3));
	unsigned span = box ? op->bytes + range->pitch * (op->rows - 1u) : op->bytes;
	while (range->at + span > SLOT_BYTES)
		range->at = (uint16_t)(range->at > GRAIN ? range->at - GRAIN : 0);
}

void chain_random(struct chain *chain, uint64_t seed)
{
	uint64_t state = seed;
	/* Narrow programs meet the same bytes, streams and events more often. */
	unsigned slots = 1 + below(&state, SLOTS), streams = 2 + below(&state, 5), events = 1 + below(&state, 3);
	unsigned first = below(&state, 2) ? 3 : 0, rows = 1 + below(&state, 4), synchronous = below(&state, 4);
	unsigned threads = 1 + below(&state, 2), first_slot = below(&state, SLOTS);
	chain->seed = seed;
	chain->n = 4 + below(&state, CHAIN_OPS - 3);
	for (size_t i = 0; i < chain->n; i++) {
		struct chain_op *op = &chain->op[i];
		*op = (struct chain_op){.kind = random_kind(&state)};
		op->thread = (uint8_t)(1 + below(&state, threads));
		op->stream = (uint8_t)((first + below(&state, streams)) % 6);
		op->event = (uint8_t)below(&state, events);
		op->bytes = (uint16_t)(GRAIN * (1 + below(&state, 3)) + below(&state, 3) - 1);
		op->rows = (uint16_t)(1 + below(&state, rows));
		bool memory = op->kind == CHAIN_ALLOC || op->kind == CHAIN_FREE;
		op->synchronous = (op->kind <= CHAIN_SET || memory) && below(&state, 8) < synchronous;
		op->flag = below(&state, 2);
		random_range(&state, &op->dst, op, first_slot, memory ? SLOTS : slots);
		random_range(&state, &op->src, op, first_slot, slots);
	}
}

static void print_range(const struct chain_range *range, FILE *out)
{
	fprintf(out, " %u%s+%u/%u", range->slot, range->alias ? "'" : "", range->at, range->pitch);
}

void chain_print(const struct chain *chain, FILE *out)
{
	fprintf(out, "seed %llu, %zu calls\n", (unsigned long long)chain->seed, chain->n);
	for (size_t i = 0; i < chain->n; i++) {
		const struct chain_op *op = &chain->op[i];
		fprintf(out, "%3zu %-14s thread %u stream %u event %u, %u x %u bytes", i, kinds[op->kind].name,
			op->thread, op->stream, op->event, op->rows, op->bytes);
		print_range(&op->dst, out);
		print_range(&op->src, out);
		fprintf(out, "%s%s\n", op->synchronous ? " synchronous" : "", op->flag ? " flag" : "");
	}
}
