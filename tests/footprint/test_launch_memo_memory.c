/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of random kernels that look at known memory, remembered against evaluated: the same results, wherever tables
 * and pointers lie and whatever memory holds.
 *
 *     test_launch_memo_memory [FIRST [COUNT]]     seeds of the kernels
 */
#include <inttypes.h>
#include <stdio.h>

#include "footprint/launch_memo.h"
#include "terms.h"

#define MEMORY	 UINT64_C(0x7e0000000000)
#define POINTERS UINT64_C(0x7f0000000000)
#define WORDS	 64u
#define LAUNCHES 24

static uint64_t state;

static uint64_t below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % n;
}

struct memory {
	uint64_t word[WORDS];
	uint8_t content[WORDS];
};

static enum sw_memory_content content(void *arg, uint64_t address, uint32_t bytes, void *out)
{
	const struct memory *m = arg;
	uint64_t at = address - MEMORY;
	if (address < MEMORY || at >= sizeof m->word || bytes > 8 - at % 8)
		return SW_CONTENT_UNKNOWN;
	memcpy(out, (const char *)m->word + at, bytes);
	return (enum sw_memory_content)m->content[at / 8];
}

/* Pointers into the memory, elsewhere, and small numbers. */
static void write_word(struct memory *m)
{
	uint64_t i = below(WORDS), kind = below(4);
	m->word[i] = kind == 0	 ? MEMORY + 8 * below(WORDS)
		     : kind == 1 ? below(16)
				 : POINTERS + 65536 * below(8) + 4 * below(3);
	m->content[i] = below(8) ? SW_CONTENT_KNOWN : (uint8_t)below(3);
}

/* ---- kernels: parameters 0 and 1 are tables, 2 and 3 pointers, 4 to 7 numbers */

/* One term for each, as in footprints of code: they are the first. */
static uint32_t word(uint64_t parameter)
{
	return (uint32_t)parameter;
}

static uint32_t loaded(struct terms *t, uint32_t address, unsigned bytes)
{
	uint32_t at = op(t, SW_TERM_LOADED, 64, 0, address, SW_FROM_DATA);
	t->term[at].bytes = (uint8_t)bytes;
	t->term[at].c = SW_WHY_LOADED;
	t->term[at].imm2 = bytes == 8 ? -1 : (int64_t)UINT32_MAX;
	return at;
}

static uint32_t index_of(struct terms *t)
{
	switch (below(4)) {
	case 0:
		return constant(t, 32, (int64_t)below(4));
	case 1:
		return special(t, SW_CTAID_X);
	case 2:
		return special(t, SW_TID_X);
	default:
		return param(t, 32, 4 + (int)below(4));
	}
}

static uint32_t pointer(struct terms *t, int depth);

/* Where a table begins: a parameter, cut to a multiple, or found in memory. */
static uint32_t table(struct terms *t, int depth)
{
	uint32_t at = word(below(4));
	switch (below(6)) {
	case 0:
		return op(t, SW_OP_AND, 64, 0, at, constant(t, 64, -64));
	case 1:
		return depth ? pointer(t, depth - 1) : at;
	default:
		return at;
	}
}

static uint32_t load(struct terms *t, int depth, unsigned bytes)
{
	uint32_t i = extend(t, 64, 32, 0, index_of(t));
	return loaded(t, add(t, 64, table(t, depth), mul(t, 64, i, constant(t, 64, 8))), bytes);
}

static uint32_t pointer(struct terms *t, int depth)
{
	uint32_t mode = compare(t, SW_EQ, 32, 0, param(t, 32, 4), constant(t, 32, (int64_t)below(2)));
	switch (below(6)) {
	case 0:
		return word(below(4));
	case 1:
		return select_term(t, 64, mode, load(t, depth, 8), word(2 + below(2)));
	case 2:
		return add(t, 64, word(2), load(t, depth, below(2) ? 4 : 8));
	default:
		return load(t, depth, 8);
	}
}

static void add_site(struct terms *t)
{
	uint32_t facts = t->f.facts, at = pointer(t, 2);
	uint32_t i = mul(t, 64, extend(t, 64, 32, 0, index_of(t)), constant(t, 64, 4));
	if (!below(3))
		fact(t,
		     compare(t, below(2) ? SW_LT : SW_NE, 64, 0, below(2) ? load(t, 1, 4) : load(t, 1, 8),
			     constant(t, 64, (int64_t)below(8))),
		     below(2));
	if (!below(3))
		at = add(t, 64, at, value(t, SW_OP_RANGE, 64, 0, 0, below(2) ? 100 : INT64_C(1) << 62));
	struct sw_access_site *s =
		site(t, 1u << below(2), below(3) ? 2 : (int)below(4), add(t, 64, at, i), 4, t->f.facts - facts);
	struct sw_root indirect = {.kind = SW_ROOT_INDIRECT, .param = 8 * (uint32_t)below(2), .span = 8};
	if (below(2)) {
		t->root[t->f.roots++] = indirect;
		s->roots = 2;
	} else if (below(2)) {
		t->root[s->root] = indirect;
	}
}

/* ---- */

static bool same_reach(const struct sw_reach *a, const struct sw_reach *b)
{
	return a->role == b->role && a->extent == b->extent && a->polls == b->polls && a->why == b->why &&
	       a->site == b->site && a->root.kind == b->root.kind && a->root.param == b->root.param &&
	       a->root.span == b->root.span && a->address == b->address && a->width == b->width &&
	       a->pitch == b->pitch && a->rows == b->rows && a->slice == b->slice && a->slices == b->slices &&
	       a->below == b->below && a->content == b->content && a->pointer == b->pointer;
}

static bool same(const struct sw_reaches *a, const struct sw_reaches *b)
{
	for (size_t i = 0; a->n == b->n && i < a->n; i++)
		if (!same_reach(&a->at[i], &b->at[i]))
			return false;
	return a->n == b->n;
}

static void print(const char *what, const struct sw_reaches *reaches)
{
	fprintf(stderr, "  %s:\n", what);
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_reach *r = &reaches->at[i];
		fprintf(stderr,
			"    site %u role %u extent %u why %u root %u %u at %" PRIx64 " width %" PRIu64 " rows %" PRIu64
			"/%" PRIu64 " below %d content %u pointer %" PRIx64 "\n",
			r->site, r->role, r->extent, r->why, r->root.kind, r->root.param, r->address, r->width, r->rows,
			r->pitch, r->below, r->content, r->pointer);
	}
}

static bool check(struct sw_launch_memo *memo, const struct terms *t)
{
	struct sw_reaches remembered = {0}, evaluated = {0};
	sw_launch_memo_evaluate(memo, &t->f, &t->geometry, &remembered);
	sw_footprint_evaluate(&t->f, &t->geometry, &evaluated);
	bool good = same(&remembered, &evaluated);
	if (!good) {
		print("remembered", &remembered);
		print("evaluated", &evaluated);
	}
	free(remembered.at);
	free(evaluated.at);
	return good;
}

static void change(struct terms *t, struct memory *m)
{
	for (int i = 0; i < 2; i++) {
		if (!below(8))
			t->value[i] = MEMORY + 8 * below(WORDS - 4);
		if (below(2))
			t->value[2 + i] = below(2) ? POINTERS + 64 * below(1 << 16) : MEMORY + 8 * below(WORDS);
	}
	if (!below(6))
		t->value[4 + below(4)] = below(4);
	if (!below(3))
		write_word(m);
	if (!below(8))
		t->geometry.grid[0] = 1 + (uint32_t)below(3);
	t->geometry.content = below(8) ? content : NULL;
}

static bool check_kernel(uint64_t seed, struct sw_launch_memo_totals *totals)
{
	struct terms *t = terms_new();
	struct sw_launch_memo *memo = sw_launch_memo_open(1 << 20);
	struct memory m = {0};
	bool good = true;
	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (uint32_t i = 0; i < 8 * WORDS; i++)
		write_word(&m);
	for (int i = 0; i < 4; i++)
		param(t, 64, i);
	for (uint64_t n = 1 + below(3); n; n--)
		add_site(t);
	for (int i = 0; i < 4; i++)
		t->value[i] = (i < 2 ? MEMORY : POINTERS) + 64 * below(4);
	t->geometry.block[0] = 1u << below(4);
	t->geometry.arg = &m;
	for (int i = 0; i < LAUNCHES && good; i++) {
		change(t, &m);
		good = check(memo, t);
	}
	struct sw_launch_memo_totals own = sw_launch_memo_totals(memo);
	totals->asked += own.asked;
	totals->evaluated += own.evaluated;
	sw_launch_memo_close(memo);
	free(t);
	if (!good)
		fprintf(stderr, "seed %" PRIu64 ": not the same\n", seed);
	return good;
}

/* An access made from one parameter is said to be made from another; the first stays where it is, as something else is
   said to be made from no parameter. */
static bool check_named(void)
{
	struct terms *t = terms_new();
	struct sw_launch_memo *memo = sw_launch_memo_open(1 << 20);
	bool good = true;
	for (int i = 0; i < 4; i++)
		param(t, 64, i);
	site(t, SW_TOUCH_WRITE, 2, word(2), 4, 0);
	site(t, SW_TOUCH_WRITE, 2, word(3), 4, 0);
	site(t, SW_TOUCH_WRITE, 3, add_constant(t, 64, word(3), 128), 4, 0);
	t->root[site(t, SW_TOUCH_READ, 2, add_constant(t, 64, word(3), 64), 4, 0)->root].kind = SW_ROOT_INDIRECT;
	for (uint64_t i = 0; i < 4 && good; i++) {
		t->value[2] = POINTERS + 256 * i;
		t->value[3] = POINTERS + 65536 * (1 + i / 2);
		good = check(memo, t);
	}
	sw_launch_memo_close(memo);
	free(t);
	return good;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
		 count = argc > 2 ? strtoull(argv[2], NULL, 0) : 2000, failed = 0;
	struct sw_launch_memo_totals totals = {0};
	failed += !check_named();
	for (uint64_t seed = first; seed < first + count && failed < 3; seed++)
		failed += !check_kernel(seed, &totals);
	printf("%" PRIu64 " launches, %" PRIu64 " evaluated, %" PRIu64 " kernels wrong\n", totals.asked,
	       totals.evaluated, failed);
	if (totals.evaluated * 4 > totals.asked * 3) {
		fprintf(stderr, "fewer than a quarter of the launches are remembered\n");
		failed++;
	}
	return failed != 0;
}
