/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches that are remembered against launches that are evaluated: the same results, wherever the pointer lies and
 * whatever else changes.
 *
 *     test_launch_memo [FIRST [COUNT]]     seeds of the oracle's random kernels
 *
 * A floor on what is remembered keeps the test from passing on a memo that remembers nothing.
 */
#include <inttypes.h>
#include <stdio.h>

#include "footprint/launch_memo.h"
#include "oracle.h"

/* Where the pointer of a kernel lies, one launch after the other: 0 means anywhere. */
static const uint64_t places[] = {ORACLE_BASE,
				  ORACLE_BASE + 8,
				  ORACLE_BASE - 4096,
				  0x7e0000000000,
				  ORACLE_BASE,
				  UINT64_C(1) << 32,
				  (UINT64_C(1) << 32) + 64,
				  (UINT64_C(1) << 32) - 8,
				  (UINT64_C(1) << 62) - 8,
				  UINT64_C(1) << 62,
				  UINT64_MAX - 64,
				  8,
				  0,
				  ORACLE_BASE + 0x123450,
				  0};
#define PLACES (sizeof places / sizeof *places)

static bool same_reach(const struct sw_reach *a, const struct sw_reach *b)
{
	return a->role == b->role && a->extent == b->extent && a->polls == b->polls && a->why == b->why &&
	       a->site == b->site && a->root.kind == b->root.kind && a->root.weak == b->root.weak &&
	       a->root.param == b->root.param && a->root.span == b->root.span && a->root.symbol == b->root.symbol &&
	       a->address == b->address && a->width == b->width && a->pitch == b->pitch && a->rows == b->rows &&
	       a->slice == b->slice && a->slices == b->slices && a->below == b->below;
}

static bool same(const struct sw_reaches *a, const struct sw_reaches *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		if (!same_reach(&a->at[i], &b->at[i]))
			return false;
	}
	return true;
}

static void print(const char *what, const struct sw_reaches *reaches)
{
	fprintf(stderr, "  %s:\n", what);
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_reach *r = &reaches->at[i];
		fprintf(stderr,
			"    role %u extent %u why %u param %u at %" PRIx64 " width %" PRIu64 " rows %" PRIu64
			"/%" PRIu64 " slices %" PRIu64 "/%" PRIu64 " below %d\n",
			r->role, r->extent, r->why, r->root.param, r->address, r->width, r->rows, r->pitch, r->slices,
			r->slice, r->below);
	}
}

/* One launch; false: it is remembered wrongly. */
static bool check(struct sw_launch_memo *memo, const struct oracle_kernel *k)
{
	struct sw_reaches remembered = {0}, evaluated = {0};
	sw_launch_memo_evaluate(memo, &k->t->f, &k->t->geometry, &remembered);
	sw_footprint_evaluate(&k->t->f, &k->t->geometry, &evaluated);
	bool good = same(&remembered, &evaluated);
	if (!good) {
		fprintf(stderr, "pointer %" PRIx64 " params %" PRId64 " %" PRId64 " grid %u\n", k->t->value[0],
			(int64_t)k->t->value[1], (int64_t)k->t->value[2], k->t->geometry.grid[0]);
		print("remembered", &remembered);
		print("evaluated", &evaluated);
	}
	free(remembered.at);
	free(evaluated.at);
	return good;
}

static bool check_kernel(struct oracle_kernel *k, uint64_t seed, struct sw_launch_memo_totals *totals)
{
	/* Small: what is forgotten must not change results. */
	struct sw_launch_memo *memo = sw_launch_memo_open(seed % 7 ? 1 << 20 : 1);
	uint64_t value[3] = {k->t->value[0], k->t->value[1], k->t->value[2]};
	bool good = true;
	for (uint32_t i = 0; i < PLACES && good; i++) {
		k->t->value[0] = places[i] ? places[i] : oracle_random(UINT64_MAX);
		good = check(memo, k);
	}
	for (uint32_t i = 0; i < 8 && good; i++) {
		k->t->value[0] = ORACLE_BASE + 512 * oracle_random(1000);
		k->t->value[1 + i % 2] = oracle_random(2) ? value[1 + i % 2] : oracle_random(100);
		k->t->geometry.grid[0] = 1 + (uint32_t)oracle_random(3);
		good = check(memo, k);
	}
	struct sw_launch_memo_totals own = sw_launch_memo_totals(memo);
	totals->asked += own.asked;
	totals->evaluated += own.evaluated;
	sw_launch_memo_close(memo);
	if (!good)
		fprintf(stderr, "seed %" PRIu64 ": not the same\n", seed);
	return good;
}

/* Steps back from the pointer, farther than some pointers lie from address 0: there it wraps around. */
static bool check_ends(struct sw_launch_memo_totals *totals)
{
	static const uint64_t far[] = {ORACLE_BASE, UINT64_C(1) << 32, ORACLE_BASE + 64, UINT64_C(1) << 43,
				       (UINT64_C(1) << 43) - 4096};
	struct oracle_kernel k = {.t = terms_new()};
	struct sw_launch_memo *memo = sw_launch_memo_open(1 << 20);
	bool good = true;
	uint32_t back = mul(k.t, 64, extend(k.t, 64, 32, 0, special(k.t, SW_CTAID_X)), constant(k.t, 64, 4096));
	site(k.t, SW_TOUCH_WRITE, 0, op(k.t, SW_OP_SUB, 64, 0, param(k.t, 64, 0), back), 4, 0);
	k.t->geometry.grid[0] = UINT32_C(1) << 31;
	for (uint32_t i = 0; i < sizeof far / sizeof *far && good; i++) {
		k.t->value[0] = far[i];
		good = check(memo, &k);
	}
	struct sw_launch_memo_totals own = sw_launch_memo_totals(memo);
	totals->asked += own.asked;
	totals->evaluated += own.evaluated;
	sw_launch_memo_close(memo);
	free(k.t);
	return good;
}

/* A pointer some way back from a base is tested for null, which it is for one base alone. */
static bool check_null(struct sw_launch_memo_totals *totals)
{
	static const uint64_t bases[] = {ORACLE_BASE,
					 ORACLE_BASE + 64,
					 UINT64_C(1) << 43,
					 UINT64_C(1) << 44,
					 UINT64_C(1) << 43,
					 UINT64_C(1) << 32,
					 0,
					 ORACLE_BASE + 8,
					 (UINT64_C(1) << 43) + 4096};
	bool good = true;
	for (int from = 0; from < 3; from++) {
		struct oracle_kernel k = {.t = terms_new()};
		struct sw_launch_memo *memo = sw_launch_memo_open(1 << 20);
		uint32_t back = op(k.t, SW_OP_SUB, 64, 0, param(k.t, 64, 0), constant(k.t, 64, INT64_C(1) << 43));
		uint32_t blocks = mul(k.t, 64, extend(k.t, 64, 32, 0, special(k.t, SW_CTAID_X)), constant(k.t, 64, 64));
		uint32_t tested = from == 0 ? param(k.t, 64, 0) : from == 1 ? back : add(k.t, 64, back, blocks);
		fact(k.t, compare(k.t, SW_NE, 64, 0, tested, constant(k.t, 64, 0)), true);
		site(k.t, SW_TOUCH_WRITE, 0, add(k.t, 64, back, blocks), 4, 1);
		k.t->geometry.grid[0] = 4;
		for (uint32_t i = 0; i < sizeof bases / sizeof *bases && good; i++) {
			k.t->value[0] = bases[i];
			good = check(memo, &k);
		}
		struct sw_launch_memo_totals own = sw_launch_memo_totals(memo);
		good = good && own.evaluated < own.asked;
		totals->asked += own.asked;
		totals->evaluated += own.evaluated;
		sw_launch_memo_close(memo);
		free(k.t);
	}
	return good;
}

/* A pointer that is tested for null has no bound, or one in some cases only: a counter, an index that is loaded.  Most
   pointers are far from where the test would say something else. */
static uint32_t make_unbounded(struct terms *t, int kind)
{
	uint32_t start = op(t, SW_OP_SUB, 64, 0, param(t, 64, 0), constant(t, 64, kind & 1 ? INT64_C(1) << 43 : 0));
	uint32_t counter = step(t, 64, constant(t, 64, 0), constant(t, 64, 1), 0);
	uint32_t data = value(t, SW_OP_RANGE, 64, 0, 0, kind & 4 ? INT64_C(1) << 40 : -1);
	fact(t, compare(t, SW_LT, 64, SW_SIGNED, counter, constant(t, 64, 100)), true);
	t->loop[0] = (struct sw_loop){UINT32_MAX, t->f.facts - 1, 0, t->f.facts - 1, kind & 8 ? 0 : 1};
	t->f.loops = 1;
	return add(t, 64, start, mul(t, 64, kind & 2 ? counter : data, constant(t, 64, 1024)));
}

/* A launch with the pointer at some place, most of them far from where anything would be decided in another way. */
static bool check_some_place(struct sw_launch_memo *memo, struct oracle_kernel *k, uint32_t i)
{
	static const uint64_t near[] = {ORACLE_BASE, UINT64_C(1) << 32, UINT64_C(1) << 43, UINT64_C(1) << 62, 0};
	uint64_t from = near[oracle_random(sizeof near / sizeof *near)];
	k->t->value[0] = i % 4	 ? ORACLE_BASE + oracle_random(1 << 30)
			 : i % 8 ? from + 1024 * oracle_random(200) - 102400
				 : oracle_random(UINT64_MAX);
	return check(memo, k);
}

/* At so many places; false: wrong, or fewer than three of four are remembered. */
static bool check_places(const char *what, int kind, struct oracle_kernel *k, struct sw_launch_memo_totals *totals)
{
	struct sw_launch_memo *memo = sw_launch_memo_open(1 << 20);
	bool good = true;
	for (uint32_t i = 0; i < 200 && good; i++)
		good = check_some_place(memo, k, i);
	struct sw_launch_memo_totals own = sw_launch_memo_totals(memo);
	good = good && own.evaluated * 4 <= own.asked;
	if (!good)
		fprintf(stderr, "%s, kind %d: %" PRIu64 " evaluations\n", what, kind, own.evaluated);
	totals->asked += own.asked;
	totals->evaluated += own.evaluated;
	sw_launch_memo_close(memo);
	return good;
}

static bool check_unbounded_null(struct sw_launch_memo_totals *totals)
{
	bool good = true;
	for (int kind = 0; kind < 32 && good; kind++) {
		struct oracle_kernel k = {.t = terms_new()};
		uint32_t tested = make_unbounded(k.t, kind);
		uint32_t null = compare(k.t, SW_EQ, 64, 0, tested, constant(k.t, 64, 0));
		uint32_t index = select_term(k.t, 64, null, constant(k.t, 64, 256), constant(k.t, 64, 64));
		uint32_t facts = k.t->f.facts;
		fact(k.t, null, kind & 16);
		site(k.t, SW_TOUCH_WRITE, 0, add(k.t, 64, tested, index), 4, 1)->loop = 1;
		site(k.t, SW_TOUCH_READ, 0, add(k.t, 64, param(k.t, 64, 0), index), 4, k.t->f.facts - facts);
		good = check_places("test for null", kind, &k, totals);
		free(k.t);
	}
	return good;
}

/* A sum with more variables than a form has is any number, and so is what is added to it. */
static bool check_overfull(struct sw_launch_memo_totals *totals)
{
	bool good = true;
	for (int kind = 0; kind < 8 && good; kind++) {
		struct oracle_kernel k = {.t = terms_new()};
		uint32_t sum = kind & 1 ? param(k.t, 64, 0) : constant(k.t, 64, 0);
		for (int i = 0; i < 11; i++)
			sum = add(k.t, 64, sum, value(k.t, SW_OP_RANGE, 64, 0, 0, kind & 4 ? 1 << 20 : -1));
		sum = kind & 1 ? sum : add(k.t, 64, param(k.t, 64, 0), sum);
		for (int i = 0; i < 4; i++) {
			uint32_t address =
				add_constant(k.t, 64, sum, kind & 2 && i == 1 ? -(INT64_C(1) << 43) : 64 * i);
			struct sw_access_site *one = site(k.t, SW_TOUCH_WRITE, 0, address, 4, 0);
			k.t->root[k.t->f.roots++] = (struct sw_root){.kind = SW_ROOT_PARAM, .param = 8, .span = 8};
			one->roots = i & 1 ? 2 : 1;
		}
		k.t->value[1] = ORACLE_BASE + (1 << 29);
		good = check_places("sum of many", kind, &k, totals);
		free(k.t);
	}
	return good;
}

/* May an access made from one pointer, by an index that is loaded, lie below another pointer?  That counts, and not how
   far apart the two are. */
static bool check_order(struct sw_launch_memo_totals *totals)
{
	static const int64_t apart[] = {0, 8, -8, 4096, -4096, 4095, 4097, INT64_C(1) << 41, -(INT64_C(1) << 41), 16};
	struct oracle_kernel k = {.t = terms_new()};
	struct sw_launch_memo *memo = sw_launch_memo_open(1 << 20);
	bool good = true;
	uint32_t index = value(k.t, SW_OP_RANGE, 64, 0, 0, INT64_C(1) << 40);
	uint32_t start = add(k.t, 64, param(k.t, 64, 0), constant(k.t, 64, 4096));
	struct sw_access_site *one = site(k.t, SW_TOUCH_WRITE, 0, add(k.t, 64, start, index), 4, 0);
	k.t->root[k.t->f.roots++] = (struct sw_root){.kind = SW_ROOT_PARAM, .param = 8, .span = 8};
	one->roots = 2;
	for (uint32_t i = 0; i < 40 && good; i++) {
		k.t->value[0] = ORACLE_BASE + (i % 7 << 20);
		k.t->value[1] = k.t->value[0] + (uint64_t)apart[i % (sizeof apart / sizeof *apart)];
		good = check(memo, &k);
	}
	struct sw_launch_memo_totals own = sw_launch_memo_totals(memo);
	if (own.evaluated > 4)
		fprintf(stderr, "order of two pointers: %" PRIu64 " evaluations\n", own.evaluated);
	good = good && own.evaluated <= 4;
	totals->asked += own.asked;
	totals->evaluated += own.evaluated;
	sw_launch_memo_close(memo);
	free(k.t);
	return good;
}

/* An index read from anywhere in the block, pointers included: what lies there does not count. */
static bool check_all_over(struct sw_launch_memo_totals *totals)
{
	struct oracle_kernel k = {.t = terms_new()};
	struct sw_launch_memo *memo = sw_launch_memo_open(1 << 20);
	bool good = true;
	uint32_t index = op(k.t, SW_TERM_ELEMENT, 64, 0, value(k.t, SW_OP_RANGE, 64, 0, 0, 1 << 20), 0);
	k.t->term[index].c = sizeof k.t->value;
	k.t->term[index].imm = 1;
	site(k.t, SW_TOUCH_WRITE, 0, add(k.t, 64, param(k.t, 64, 0), mul(k.t, 64, index, constant(k.t, 64, 4))), 4, 0);
	for (uint32_t i = 0; i < 20 && good; i++) {
		for (uint32_t word = 0; word < 8; word++)
			k.t->value[word] = word ? oracle_random(UINT64_MAX) : ORACLE_BASE + 64 * i;
		good = check(memo, &k);
	}
	struct sw_launch_memo_totals own = sw_launch_memo_totals(memo);
	if (own.evaluated != 1)
		fprintf(stderr, "elements all over the block: %" PRIu64 " evaluations\n", own.evaluated);
	good = good && own.evaluated == 1;
	totals->asked += own.asked;
	totals->evaluated += own.evaluated;
	sw_launch_memo_close(memo);
	free(k.t);
	return good;
}

/* ---- pointers out of tables, and one of two */

/* Blocks 0 to 3 write through the words 0 to 3, where those are aligned; threads read through word 4 or 5, by their
   number and by what they load; all up to word 6. */
static void make_tables(struct terms *t)
{
	uint32_t tid = special(t, SW_TID_X), block = special(t, SW_CTAID_X);
	uint32_t some =
		add(t, 64, constant(t, 64, 32), mul(t, 64, value(t, SW_OP_RANGE, 64, 0, 0, 1), constant(t, 64, 8)));
	uint32_t word[2] = {
		op(t, SW_TERM_ELEMENT, 64, 0, mul(t, 64, extend(t, 64, 32, 0, block), constant(t, 64, 8)), 0),
		op(t, SW_TERM_ELEMENT, 64, 0, some, 32)};
	for (int i = 0; i < 2; i++) {
		t->term[word[i]].c = i ? 48 : 32;
		t->term[word[i]].imm = 8;
	}
	uint32_t index = mul(t, 64, extend(t, 64, 32, 0, tid), constant(t, 64, 4));
	uint32_t inside = compare(t, SW_LT, 32, 0, tid, param(t, 32, 6));
	uint32_t low = op(t, SW_OP_AND, 64, 0, add(t, 64, word[0], constant(t, 64, 4096)), constant(t, 64, 15));
	fact(t, inside, true);
	fact(t, compare(t, SW_EQ, 64, 0, low, constant(t, 64, 0)), true);
	t->root[site(t, SW_TOUCH_WRITE, 0, add(t, 64, word[0], index), 4, 2)->root].span = 32;
	uint32_t either =
		select_term(t, 64, compare(t, SW_LT, 32, 0, tid, constant(t, 32, 5)), param(t, 64, 4), param(t, 64, 5));
	fact(t, inside, true);
	struct sw_access_site *two = site(t, SW_TOUCH_READ, 4, add(t, 64, either, index), 4, 1);
	t->root[t->f.roots++] = (struct sw_root){.kind = SW_ROOT_PARAM, .param = 40, .span = 8};
	two->roots = 2;
	fact(t, inside, true);
	t->root[site(t, SW_TOUCH_READ, 4, add(t, 64, word[1], index), 4, 1)->root].span = 16;
	t->geometry.grid[0] = 4;
	t->geometry.block[0] = 32;
}

/* Some places, so that words are at times equal; some are no pointers, or not aligned. */
static uint64_t place_of(uint32_t word)
{
	static const uint64_t odd[] = {0, 8, ORACLE_BASE + 4, UINT64_MAX - 8, UINT64_C(1) << 32};
	if (word < 4 && !oracle_random(12))
		return odd[oracle_random(sizeof odd / sizeof *odd)];
	return ORACLE_BASE + (word < 4 ? 0 : word << 20) + 4096 * oracle_random(60);
}

static bool check_tables(struct sw_launch_memo_totals *totals)
{
	struct terms *t = terms_new();
	struct sw_launch_memo *memo = sw_launch_memo_open(1 << 20);
	bool good = true;
	make_tables(t);
	for (uint32_t i = 0; i < 4000 && good; i++) {
		struct sw_reaches remembered = {0}, evaluated = {0};
		for (uint32_t word = 0; word < 6; word++)
			t->value[word] = oracle_random(3) ? t->value[word] : place_of(word);
		if (i > 3950 && !oracle_random(3)) /* then it does not count which of them is loaded */
			t->value[5] = t->value[4];
		t->value[6] = oracle_random(8) ? 32 : oracle_random(7);
		sw_launch_memo_evaluate(memo, &t->f, &t->geometry, &remembered);
		sw_footprint_evaluate(&t->f, &t->geometry, &evaluated);
		good = same(&remembered, &evaluated);
		if (!good) {
			fprintf(stderr,
				"tables, launch %u: %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " / %" PRIx64
				" %" PRIx64 "\n",
				i, t->value[0], t->value[1], t->value[2], t->value[3], t->value[4], t->value[5]);
			print("remembered", &remembered);
			print("evaluated", &evaluated);
		}
		free(remembered.at);
		free(evaluated.at);
	}
	*totals = sw_launch_memo_totals(memo);
	sw_launch_memo_close(memo);
	free(t);
	return good;
}

static enum sw_memory_content pointer_in_memory(void *arg, uint64_t address, uint32_t bytes, void *out)
{
	const uint64_t pointer = ORACLE_BASE + (1 << 20);
	(void)arg;
	memcpy(out, &pointer, bytes);
	return address ? SW_CONTENT_KNOWN : SW_CONTENT_UNKNOWN;
}

/* A store to a pointer that lies in memory, or, as the second parameter says, to one that does not: what memory holds
   counts for the first alone, at the first launch of a shape and at others. */
static bool check_memory(void)
{
	struct terms *t = terms_new();
	struct sw_launch_memo *memo = sw_launch_memo_open(1 << 20);
	bool good = true;
	uint32_t in_memory = op(t, SW_TERM_LOADED, 64, 0, param(t, 64, 0), SW_FROM_DATA);
	t->term[in_memory].bytes = 8;
	t->term[in_memory].c = SW_WHY_LOADED;
	t->term[in_memory].imm2 = -1;
	uint32_t loads = compare(t, SW_NE, 32, 0, param(t, 32, 1), constant(t, 32, 0));
	struct sw_access_site *one =
		site(t, SW_TOUCH_WRITE, 2, select_term(t, 64, loads, in_memory, param(t, 64, 2)), 4, 0);
	t->root[t->f.roots++] = (struct sw_root){.kind = SW_ROOT_INDIRECT, .span = 8};
	one->roots = 2;
	for (uint32_t i = 0; i < 8 && good; i++) {
		struct sw_reaches remembered = {0}, known = {0};
		t->value[0] = ORACLE_BASE + 64 * i;
		t->value[1] = i / 2 % 2;
		t->value[2] = ORACLE_BASE + 8192 + 64 * i;
		t->geometry.content = NULL;
		bool counts = sw_launch_memo_evaluate(memo, &t->f, &t->geometry, &remembered);
		t->geometry.content = pointer_in_memory;
		sw_footprint_evaluate(&t->f, &t->geometry, &known);
		good = counts == (i / 2 % 2 != 0) && same(&remembered, &known) == !counts;
		if (!good)
			fprintf(stderr, "memory: launch %u: counts %d\n", i, counts);
		free(remembered.at);
		free(known.at);
	}
	good = good && sw_launch_memo_totals(memo).evaluated < 4;
	sw_launch_memo_close(memo);
	free(t);
	return good;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
		 count = argc > 2 ? strtoull(argv[2], NULL, 0) : 1500, failed = 0;
	struct sw_launch_memo_totals totals = {0}, tables = {0};
	static struct oracle_kernel k;
	failed += !check_ends(&totals);
	failed += !check_null(&totals);
	failed += !check_order(&totals);
	failed += !check_all_over(&totals);
	failed += !check_memory();
	for (uint64_t seed = first; seed < first + count && failed < 3; seed++) {
		oracle_make(&k, seed);
		failed += !check_kernel(&k, seed, &totals);
		free(k.t);
	}
	failed += !check_tables(&tables);
	failed += !check_unbounded_null(&totals);
	failed += !check_overfull(&totals);
	printf("%" PRIu64 " launches, %" PRIu64 " evaluated, %" PRIu64 " kernels wrong\n", totals.asked,
	       totals.evaluated, failed);
	printf("tables: %" PRIu64 " launches, %" PRIu64 " evaluated\n", tables.asked, tables.evaluated);
	if (tables.evaluated * 10 > tables.asked * 3) {
		fprintf(stderr, "fewer than seven in ten launches with tables are remembered\n");
		failed++;
	}
	if (totals.evaluated * 3 > totals.asked * 2) {
		fprintf(stderr, "fewer than a third of the launches are remembered\n");
		failed++;
	}
	return failed != 0;
}
