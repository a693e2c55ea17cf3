/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of launches that were asked about before: pointers move, and become numbers; the ways of the code change. */
#include <string.h>

#include "base/hash.h"
#include "oracle.h"
#include "spans_check.h"

/* Two pointers, one of which is rounded down: [p], [q & -256]. */
static void pointers(void)
{
	struct terms *t = terms_new();
	const struct sw_span *span;
	uint32_t n, q = terms_add(t, (struct sw_term){.op = SW_OP_PARAM, .width = 64, .imm = 8});
	spans_add_site(t, spans_element_at(t, spans_thread(t)));
	spans_add_site(t, op(t, SW_OP_AND, 64, 0, q, spans_number(t, 64, -256)));
	for (uint32_t i = 0; i < 16; i++) /* spans of small kernels are not remembered */
		spans_add_site(t,
			       spans_element_at(t, op(t, SW_OP_ADD, 32, 0, spans_thread(t), spans_number(t, 32, i))));
	t->geometry.block[0] = 8;
	t->value[0] = ORACLE_BASE;
	t->value[1] = 2 * ORACLE_BASE;
	struct sw_spans *s = sw_spans_new(&t->f);
	CHECK(spans_serve_moved(s, t));
	t->value[0] += 1000;
	t->value[1] += 1000;
	CHECK(sw_spans_find(s, &t->geometry, &span, &n) && n > 2);
	CHECK(n > 2 && span[0].lo == ORACLE_BASE + 1000 && span[1].lo == 2 * ORACLE_BASE + 768);
	sw_spans_free(s);
	free(t);
}

static uint32_t parameter(struct terms *t, unsigned width, int64_t at)
{
	return terms_add(t, (struct sw_term){.op = SW_OP_PARAM, .width = (uint8_t)width, .imm = at});
}

static uint32_t is(struct terms *t, unsigned condition, uint32_t a, uint32_t b)
{
	return terms_add(
		t, (struct sw_term){.op = SW_OP_COMPARE, .width = 1, .imm = condition, .imm2 = 32, .a = a, .b = b});
}

static uint32_t pick_one(struct terms *t, uint32_t condition, uint32_t yes, uint32_t no)
{
	return terms_add(t, (struct sw_term){.op = SW_OP_SELECT, .width = 64, .a = condition, .b = yes, .c = no});
}

/* One of two, each with the condition under which it is it. */
static uint32_t way(struct terms *t, uint32_t a, uint32_t when_a, uint32_t b, uint32_t when_b)
{
	uint32_t first = t->f.alternatives;
	const uint32_t all[] = {a, b, when_a, when_b};
	memcpy(t->alternative + first, all, sizeof all);
	t->f.alternatives += 4;
	return terms_add(t, (struct sw_term){.op = SW_TERM_ANY, .width = 64, .a = first, .b = 2, .imm2 = 1});
}

/* How the words p and q are used where `mode` (of 32 bits, the third word) says so. */
enum {
	BY_MODE,
	BY_THREAD,
	OR_FIXED,
	SUM,
	DIFFERENCE,
	STEPS,
	HALVES,
	LOW_HALF,
	WAYS,
	WAY_OF_HALVES,
	IF_NULL,
	FIXED_OR,
	TIED_NUMBER,
	MASKED_WAY,
	USES
};

static uint32_t use_pointers(struct terms *t, int use)
{
	uint32_t p = parameter(t, 64, 0), q = parameter(t, 64, 8), zero = spans_number(t, 32, 0), tid = spans_thread(t);
	uint32_t mode = parameter(t, 32, 16), off = is(t, SW_EQ, mode, zero), on = is(t, SW_NE, mode, zero);
	uint32_t low = op(t, SW_OP_EXTEND, 64, 0, parameter(t, 32, 0), 0);
	uint32_t high = op(t, SW_OP_EXTEND, 64, 0, parameter(t, 32, 4), 0);
	t->term[low].imm = t->term[high].imm = 32;
	uint32_t both = op(t, SW_OP_ADD, 64, 0, op(t, SW_OP_SHL, 64, 0, high, spans_number(t, 32, 32)), low);
	uint32_t tile = op(t, SW_OP_AND, 64, 0, q, spans_number(t, 64, -4096));
	switch (use) {
	case BY_MODE:
		return pick_one(t, off, p, q);
	case BY_THREAD:
		return pick_one(t, is(t, SW_LT, tid, spans_number(t, 32, 4)), p, q);
	case OR_FIXED:
		return pick_one(t, is(t, SW_LT, tid, spans_number(t, 32, 4)), p, spans_number(t, 64, ORACLE_BASE));
	case FIXED_OR:
		return pick_one(t, is(t, SW_LT, tid, spans_number(t, 32, 4)), spans_number(t, 64, ORACLE_BASE), p);
	case TIED_NUMBER: /* before it is chosen, q is masked */
		spans_add_site(t, tile);
		return pick_one(t, is(t, SW_LT, tid, spans_number(t, 32, 4)), p, q);
	case SUM:
		return op(t, SW_OP_ADD, 64, 0, p, q);
	case DIFFERENCE:
		return op(t, SW_OP_SUB, 64, 0, q, p);
	case STEPS:
		return terms_add(t, (struct sw_term){.op = SW_TERM_STEP, .width = 64, .a = p, .b = q, .c = 0});
	case HALVES:
		return both;
	case LOW_HALF:
		return op(t, SW_OP_ADD, 64, 0, q, low);
	case WAYS:
		return way(t, p, off, q, on);
	case WAY_OF_HALVES:
		return way(t, both, on, p, off);
	case IF_NULL: {
		uint32_t null = is(t, SW_EQ, p, spans_number(t, 64, 0));
		t->term[null].imm2 = 64;
		return pick_one(t, null, q, p);
	}
	default:
		return way(t, p, off, tile, on);
	}
}

/* Launches of one kernel in any order: pointers move, change places, are the same, and become other numbers; the way
   that is taken changes.  Each has the spans that it has alone. */
static void ways(int use)
{
	static const uint64_t word[] = {ORACLE_BASE, ORACLE_BASE + 5000, 2 * ORACLE_BASE, 2 * ORACLE_BASE + 8, 64, 0};
	struct terms *t = terms_new();
	uint32_t start = use_pointers(t, use);
	for (uint32_t i = 0; i < 16; i++)
		spans_add_site(t, op(t, SW_OP_ADD, 64, 0, start, spans_number(t, 64, 16 * i)));
	spans_add_site(t, parameter(t, 64, 0));
	if (use == STEPS) {
		t->loop[t->f.loops++] = (struct sw_loop){.parent = UINT32_MAX, .back = 0, .backs = 1};
		uint32_t k = terms_add(t, (struct sw_term){.op = SW_TERM_STEP,
							   .width = 32,
							   .a = spans_number(t, 32, 0),
							   .b = spans_number(t, 32, 1),
							   .c = 0});
		t->fact[t->f.facts++] = (struct sw_fact){is(t, SW_LT, k, spans_number(t, 32, 5)), 1};
	}
	t->geometry.block[0] = 8;
	struct sw_spans *s = sw_spans_new(&t->f);
	for (uint64_t i = 0; i < 600; i++) {
		uint64_t random = sw_hash_u64(i * USES + (uint64_t)use);
		t->value[0] = word[random % 6];
		t->value[1] = word[random / 6 % 6];
		t->value[2] = random >> 20 & 3 ? 0 : random >> 22 & 1;
		CHECK(spans_serve(s, t));
	}
	sw_spans_free(s);
	free(t);
}

int main(void)
{
	pointers();
	for (int use = 0; use < USES; use++)
		ways(use);
	return spans_failed != 0;
}
