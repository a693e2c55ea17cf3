/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses that have no bounds by their form alone: made at random, what spans call endless is open in each
 * evaluation, and what they leave out is touched by none.
 *
 *     test_endless [FIRST [COUNT]]     seeds; the default is what `make check` has time for
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "footprint/launch_spans.h"
#include "terms.h"

static unsigned found, idle, wrong;

static uint32_t anywhere(struct terms *t)
{
	return value(t, SW_OP_RANGE, 64, 0, 0, -1);
}

static uint32_t some(const struct terms *t, uint64_t *random, unsigned width)
{
	uint32_t i;
	do
		i = (uint32_t)((*random = sw_hash_u64(*random)) % t->f.terms);
	while (t->term[i].width != width);
	return i;
}

/* Something is made from what is there. */
static void make_some(struct terms *t, uint64_t *random)
{
	static const uint8_t ops[] = {SW_OP_ADD,    SW_OP_ADD,	 SW_OP_ADD,    SW_OP_SUB,   SW_OP_MOV,
				      SW_OP_MUL,    SW_OP_AND,	 SW_OP_MIN,    SW_OP_SHR,   SW_OP_NEG,
				      SW_OP_SELECT, SW_TERM_ANY, SW_TERM_STEP, SW_OP_EXTEND};
	uint8_t made = ops[(*random = sw_hash_u64(*random)) % sizeof ops];
	struct sw_term term = {.op = made, .width = 64};
	term.a = some(t, random, made == SW_OP_SELECT ? 1 : 64);
	term.b = some(t, random, 64);
	term.c = some(t, random, 64);
	term.imm = made == SW_OP_EXTEND ? 64 - (int64_t)(*random & 32) : 0;
	if (made == SW_TERM_STEP)
		term.c = 0;
	if (made == SW_TERM_ANY) {
		t->alternative[t->f.alternatives] = term.b;
		t->alternative[t->f.alternatives + 1] = term.c;
		term.a = t->f.alternatives;
		term.b = 2;
		t->f.alternatives += 2;
	}
	terms_add(t, term);
	if (*random >> 32 & 3)
		return;
	terms_add(t, (struct sw_term){.op = SW_OP_COMPARE,
				      .width = 1,
				      .flags = *random >> 34 & 1 ? SW_SIGNED : 0,
				      .a = some(t, random, 64),
				      .b = some(t, random, 64),
				      .imm = SW_EQ + (int64_t)(*random >> 35) % 6,
				      .imm2 = 64});
}

/* An address without bounds by its form alone is open in each evaluation, and what spans leave out, since no thread
   comes there, is not touched. */
static void check(uint64_t seed)
{
	uint64_t random = sw_hash_u64(seed);
	struct terms *t = terms_new();
	const struct sw_span *span;
	struct sw_reaches reaches = {0};
	uint32_t n, tid = op(t, SW_OP_EXTEND, 64, 0, special(t, SW_TID_X), 0), from;
	t->term[tid].imm = 32;
	param(t, 64, 0);
	constant(t, 64, (int64_t)(random & 63) - 8);
	anywhere(t);
	anywhere(t);
	terms_add(t, (struct sw_term){.op = SW_OP_COMPARE, .width = 1, .a = tid, .b = tid, .imm = SW_LE, .imm2 = 64});
	t->loop[0] = (struct sw_loop){.parent = UINT32_MAX};
	t->f.loops = 1;
	from = t->f.terms;
	for (unsigned i = 0; i < 3 + random % 12; i++)
		make_some(t, &random);
	do
		random = sw_hash_u64(random);
	while (t->term[from + random % (t->f.terms - from)].width != 64);
	t->root[0] = (struct sw_root){.kind = SW_ROOT_PARAM, .span = 8};
	t->site[0] = (struct sw_access_site){.role = SW_TOUCH_WRITE,
					     .bytes = 4,
					     .address = from + (uint32_t)(random % (t->f.terms - from)),
					     .size = SW_NO_TERM,
					     .roots = 1};
	t->f.roots = t->f.sites = 1;
	for (uint32_t i = 0; i < t->f.terms && t->f.facts < 2; i++)
		if (t->term[i].width == 1 && (random = sw_hash_u64(random)) & 1)
			t->fact[t->f.facts++] = (struct sw_fact){i, random >> 1 & 1};
	t->site[0].facts = t->f.facts;
	t->geometry.block[0] = 8;
	t->value[0] = UINT64_C(0x7f0000000000);
	struct sw_spans *s = sw_spans_new(&t->f);
	bool bounded = sw_spans_find(s, &t->geometry, &span, &n);
	if (bounded && (!n || span->endless)) {
		sw_footprint_evaluate(&t->f, &t->geometry, &reaches);
		found += reaches.n > 0;
		idle += !n;
		bool right = n ? n == 1 && span->lo == 0 && span->hi == 8 : !reaches.n;
		for (size_t i = 0; i < reaches.n; i++)
			right = right && reaches.at[i].extent == SW_EXTENT_OPEN;
		if (!right && wrong++ < 10)
			fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, n ? "bounded" : "not idle");
	}
	free(reaches.at);
	sw_spans_free(s);
	free(t);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
		 count = argc > 2 ? strtoull(argv[2], NULL, 0) : 20000;
	for (uint64_t seed = first; seed < first + count; seed++)
		check(seed);
	printf("%llu programs, %u endless and open, %u idle, %u wrong\n", (unsigned long long)count, found, idle,
	       wrong);
	return wrong || found < count / 100 || idle < count / 100;
}
