/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

static const struct {
	const char *name;
	unsigned weight;
} kinds[] = {
#define X(name, weight) {#name, weight},
#include "program.def"
#undef X
};

/* splitmix64, Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014. */
uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static unsigned below(uint64_t *state, unsigned n)
{
	return (unsigned)(random_next(state) % n);
}

static uint8_t random_kind(uint64_t *state)
{
	unsigned total = 0, i = 0;
	for (i = 0; i < OP_KINDS; i++)
		total += kinds[i].weight;
	unsigned at = below(state, total);
	for (i = 0; at >= kinds[i].weight; i++)
		at -= kinds[i].weight;
	return (uint8_t)i;
}

void program_random(struct program *program, uint64_t seed)
{
	uint64_t state = seed;
	/* Narrow programs meet the same handles more often, wide ones have more lanes. */
	unsigned contexts = 1 + below(&state, MAX_CONTEXTS), threads = 1 + below(&state, MAX_THREADS);
	unsigned streams = 2 + below(&state, MAX_STREAMS - 1), events = 1 + below(&state, MAX_EVENTS);
	unsigned tokens = 1 + below(&state, MAX_TOKENS);
	unsigned nonblocking = below(&state, 5), measured = below(&state, 4);
	program->strict_host = below(&state, 3) == 0;
	program->n = 4 + below(&state, MAX_OPS - 3);
	for (size_t i = 0; i < program->n; i++) {
		struct op *op = &program->op[i];
		*op = (struct op){.kind = random_kind(&state)};
		op->ctx = (uint8_t)below(&state, contexts);
		op->thread = (uint8_t)(1 + below(&state, threads));
		op->stream = (uint8_t)below(&state, streams);
		op->event = (uint8_t)below(&state, events);
		op->token = (uint8_t)below(&state, tokens);
		op->flag = below(&state, 5) < (op->kind == OP_STREAM_CREATE ? nonblocking : 1);
		op->grid = (uint8_t)(below(&state, 64) | below(&state, 4));
		op->basis = below(&state, 4) < measured ? SW_ORDER_MEASURED : SW_ORDER_DOCUMENTED;
	}
}

void program_print(const struct program *program, FILE *out)
{
	fprintf(out, "%s host, %zu calls\n", program->strict_host ? "strict" : "single", program->n);
	for (size_t i = 0; i < program->n; i++) {
		const struct op *op = &program->op[i];
		fprintf(out, "%3zu %-15s ctx %u thread %u stream %u%s event %u token %u grid %u%s\n", i + 1,
			kinds[op->kind].name, op->ctx, op->thread, op->stream,
			op->flag ? " (per-thread, non-blocking)" : "", op->event, op->token, op->grid,
			op->basis == SW_ORDER_MEASURED ? " measured" : "");
	}
}

struct sw_hb_at program_at(const struct op *op, uint64_t seq)
{
	return (struct sw_hb_at){
		.stream = program_stream(op), .seq = seq, .thread = op->thread, .ctx = op->ctx, .per_thread = op->flag};
}
