/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans of random kernels, executed thread by thread: every byte that is touched lies in one of them.
 *
 *     test_spans [FIRST [COUNT]]     seeds; the default is what `make check` has time for; ORACLE_KERNELS: another
 * count
 *
 * And by hand: indices that are taken apart by magic numbers, loops that count up, down and until, tables of pointers
 * and numbers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "footprint/launch_spans.h"
#include "footprint/launch/linear/linear_form.h"
#include "oracle.h"
#include "spans_check.h"

struct totals {
	uint64_t kernels, bounded, wrong, touched, spanned;
};

static bool lies(const struct sw_span *span, uint32_t n, uint64_t address)
{
	for (uint32_t i = 0; i < n; i++)
		if (address >= span[i].lo && address < span[i].hi)
			return true;
	return false;
}

static void check_kernel(uint64_t seed, struct oracle_touched *touched, struct totals *totals)
{
	static struct oracle_kernel k;
	const struct sw_span *span;
	uint32_t n;
	oracle_make(&k, seed);
	struct sw_spans *spans = sw_spans_new(&k.t->f);
	if (oracle_run(&k, touched)) {
		/* The spans remembered of a launch serve another one if that differs in pointers alone. */
		if (!spans_serve_moved(spans, k.t) && totals->wrong++ < 10)
			fprintf(stderr, "seed %" PRIu64 ": other spans after other launches\n", seed);
		bool bounded = sw_spans_find(spans, &k.t->geometry, &span, &n);
		totals->kernels++;
		totals->bounded += bounded;
		for (size_t i = 0; bounded && i < touched->n; i++) {
			if (lies(span, n, touched->at[i].address))
				continue;
			if (totals->wrong++ < 10)
				fprintf(stderr, "seed %" PRIu64 ": base%+" PRId64 " is in no span\n", seed,
					(int64_t)(touched->at[i].address - ORACLE_BASE));
			break;
		}
	}
	sw_spans_free(spans);
	free(k.t);
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

/* The only span of a launch of 1000 threads is [lo, hi) from parameter 0 on. */
static bool spans(struct terms *t, int64_t lo, int64_t hi)
{
	const struct sw_span *span;
	uint32_t n;
	t->value[0] = ORACLE_BASE;
	t->geometry.block[0] = 1000;
	struct sw_spans *s = sw_spans_new(&t->f);
	bool found = sw_spans_find(s, &t->geometry, &span, &n);
	bool same =
		found && n == 1 && (int64_t)(span->lo - ORACLE_BASE) == lo && (int64_t)(span->hi - ORACLE_BASE) == hi;
	sw_spans_free(s);
	free(t);
	return same;
}

/* x - 7 * ((umulhi(x, magic) + x) >> 3), as PyTorch divides. */
static void magic_numbers(void)
{
	int64_t magic = (int64_t)(((UINT64_C(1) << 32) * (8 - 7)) / 7 + 1);
	for (int wrong = 0; wrong < 2; wrong++) {
		struct terms *t = terms_new();
		uint32_t x = spans_thread(t),
			 high = op(t, SW_OP_MULHI, 32, 0, x, spans_number(t, 32, magic + wrong * 1000000000));
		uint32_t q = op(t, SW_OP_SHR, 32, 0, op(t, SW_OP_ADD, 32, 0, high, x), spans_number(t, 32, 3));
		spans_add_site(t, spans_element_at(t, op(t, SW_OP_SUB, 32, 0, x,
							 op(t, SW_OP_MUL, 32, 0, q, spans_number(t, 32, 7)))));
		CHECK(spans(t, 0, 28) == !wrong);
	}
	struct terms *t = terms_new();
	uint32_t x = spans_thread(t), q = op(t, SW_OP_SHR, 32, 0, x, spans_number(t, 32, 5));
	uint32_t back = op(t, SW_OP_MUL, 32, 0, q, spans_number(t, 32, -32));
	spans_add_site(t, spans_element_at(t, op(t, SW_OP_ADD, 32, 0, back, x)));
	CHECK(spans(t, 0, 128));
}

/* x - 5 * (3 * x / d / d / d / e): the product of the divisors has more than 128 bits, and in 128 bits it would be a
   number below 0. */
static void large_divisors(void)
{
	static const int64_t divisor[] = {(INT64_C(1) << 40) - 9, (INT64_C(1) << 40) - 9, (INT64_C(1) << 40) - 9,
					  INT64_C(651562446096)};
	struct terms *t = terms_new();
	uint32_t x = op(t, SW_OP_EXTEND, 64, 0, spans_thread(t), 0);
	t->term[x].imm = 32;
	uint32_t q = op(t, SW_OP_MUL, 64, 0, x, spans_number(t, 64, 3));
	for (int i = 0; i < 4; i++)
		q = op(t, SW_OP_DIV, 64, 0, q, spans_number(t, 64, divisor[i]));
	uint32_t rest = op(t, SW_OP_SUB, 64, 0, x, op(t, SW_OP_MUL, 64, 0, q, spans_number(t, 64, 5)));
	uint32_t base = terms_add(t, (struct sw_term){.op = SW_OP_PARAM, .width = 64});
	spans_add_site(t, op(t, SW_OP_ADD, 64, 0, base, op(t, SW_OP_MUL, 64, 0, rest, spans_number(t, 64, 4))));
	CHECK(spans(t, 0, 4000));
}

/* x - ((x + more) & -32), C's remainder of a signed number: more is 31 below 0, else 0.  Code may leave the bits out
   that x has not. */
static void signed_remainders(void)
{
	for (int cut = 0; cut < 2; cut++)
		for (int64_t less = 0; less <= 500; less += 500) {
			struct terms *t = terms_new();
			uint32_t x = op(t, SW_OP_SUB, 32, 0, spans_thread(t), spans_number(t, 32, less));
			uint32_t sign = op(t, SW_OP_SHR, 32, SW_SIGNED, x, spans_number(t, 32, 31));
			uint32_t more = op(t, SW_OP_SHR, 32, 0, sign, spans_number(t, 32, 27));
			uint32_t mask = spans_number(t, 32, cut ? 0x1fffffe0 : -32);
			uint32_t whole = op(t, SW_OP_AND, 32, 0, op(t, SW_OP_ADD, 32, 0, x, more), mask);
			spans_add_site(t, spans_element_at(t, op(t, SW_OP_SUB, 32, 0, x, whole)));
			t->term[t->f.terms - 2].flags = SW_SIGNED;
			/* Bits of a number below 0 that are left out count. */
			CHECK(spans(t, less ? -4 * 31 : 0, 4 * 32) == !(cut && less));
		}
}

/* CUTLASS's division: d == 1 ? y : (y * magic) >> 32 >> shift in 64 bits, of y = x + more; what is touched is
   [x - d * that], in whatever order it is written. */
static void check_division(uint64_t seed, unsigned *bounded)
{
	uint64_t random = sw_hash_u64(seed), threads = 1 + (random >> 8) % 1000, more = random >> 20 & 31;
	uint32_t d = 1 + (uint32_t)(random >> 30) % 70, shift = 31 - (uint32_t)__builtin_clz(d);
	uint64_t magic = ((UINT64_C(1) << (32 + shift)) + d - 1) / d; /* of 32 bits, but for powers of two */
	struct terms *t = terms_new();
	const struct sw_span *span;
	uint32_t n, x = spans_thread(t), y = more ? op(t, SW_OP_ADD, 32, 0, x, spans_number(t, 32, (int64_t)more)) : x;
	uint32_t wide = op(t, SW_OP_EXTEND, 64, 0, y, 0), by, q, back;
	bool twice = random >> 43 & 1; /* PyTorch's: (y * magic + (y << 32)) >> 32 */
	if (twice && d > 1 && d != UINT32_C(1) << shift)
		magic = ((UINT64_C(1) << (33 + shift)) + d - 1) / d, shift++;
	if (random >> 40 & 1) /* any number: no division */
		magic = random >> 32;
	magic &= UINT32_MAX;
	t->term[wide].imm = 32;
	q = op(t, SW_OP_MUL, 64, 0, wide, param(t, 64, 1));
	if (twice)
		q = op(t, SW_OP_ADD, 64, 0, op(t, SW_OP_MUL, 64, 0, wide, spans_number(t, 64, INT64_C(1) << 32)), q);
	q = op(t, SW_OP_SHR, 64, 0, q, spans_number(t, 32, 32));
	q = op(t, SW_OP_EXTEND, 32, 0, q, 0);
	t->term[q].imm = 32;
	q = op(t, SW_OP_SHR, 32, 0, q, spans_number(t, 32, shift));
	by = param(t, 32, 2);
	q = terms_add(t, (struct sw_term){.op = SW_OP_SELECT,
					  .width = 32,
					  .a = terms_add(t, (struct sw_term){.op = SW_OP_COMPARE,
									     .width = 1,
									     .a = by,
									     .b = spans_number(t, 32, 1),
									     .imm = SW_EQ,
									     .imm2 = 32}),
					  .b = y,
					  .c = q});
	back = random >> 41 & 1 ? op(t, SW_OP_MUL, 32, 0, by, op(t, SW_OP_NEG, 32, 0, q, 0))
				: op(t, SW_OP_NEG, 32, 0, op(t, SW_OP_MUL, 32, 0, q, by), 0);
	back = op(t, SW_OP_ADD, 32, 0, random >> 42 & 1 ? back : x, random >> 42 & 1 ? x : back);
	spans_add_site(t,
		       add(t, 64, param(t, 64, 0), op(t, SW_OP_MULWIDE, 64, SW_SIGNED, back, spans_number(t, 32, 4))));
	t->geometry.block[0] = (uint32_t)threads;
	t->value[0] = ORACLE_BASE;
	t->value[1] = magic;
	t->value[2] = d;
	struct sw_spans *s = sw_spans_new(&t->f);
	if (sw_spans_find(s, &t->geometry, &span, &n)) {
		*bounded += span->hi - span->lo <= 4 * (d + threads / 16 + 64);
		for (uint32_t i = 0; i < threads; i++) {
			uint32_t part = i + (uint32_t)more;
			uint64_t product = part * magic + (twice ? (uint64_t)part << 32 : 0);
			uint32_t of = d == 1 ? part : (uint32_t)(product >> 32) >> shift;
			CHECK(lies(span, n, ORACLE_BASE + 4 * (uint64_t)(int64_t)(int32_t)(i - d * of)));
		}
	}
	sw_spans_free(s);
	free(t);
}

static void divisions(void)
{
	unsigned bounded = 0;
	for (uint64_t seed = 1; seed <= 2000; seed++)
		check_division(seed, &bounded);
	CHECK(bounded > 600);
}

/* for (i = from; by * i <condition> to; i += step) touches [i] */
static struct terms *scaled_loop(int64_t from, int64_t step, int64_t by, enum sw_condition condition, int64_t to)
{
	struct terms *t = terms_new();
	uint32_t i = terms_add(t, (struct sw_term){.op = SW_TERM_STEP,
						   .width = 32,
						   .a = spans_number(t, 32, from),
						   .b = spans_number(t, 32, step)});
	uint32_t next = op(t, SW_OP_ADD, 32, 0, i, spans_number(t, 32, step)), limit = spans_number(t, 32, to);
	next = by == 1 ? next : op(t, SW_OP_MUL, 32, 0, next, spans_number(t, 32, by));
	uint32_t goes_on = terms_add(t, (struct sw_term){.op = SW_OP_COMPARE,
							 .width = 1,
							 .flags = SW_SIGNED,
							 .a = next,
							 .b = limit,
							 .imm = condition,
							 .imm2 = 32});
	t->fact[0] = (struct sw_fact){goes_on, 1};
	t->f.facts = 1;
	t->loop[0] = (struct sw_loop){.parent = UINT32_MAX, .back = 0, .backs = 1};
	t->f.loops = 1;
	spans_add_site(t, spans_element_at(t, i));
	return t;
}

static struct terms *loop(int64_t from, int64_t step, enum sw_condition condition, int64_t to)
{
	return scaled_loop(from, step, 1, condition, to);
}

static void loops(void)
{
	CHECK(spans(scaled_loop(0, 1, 4, SW_LT, 40), 0, 40));
	CHECK(spans(scaled_loop(0, 1, 4, SW_LT, 41), 0, 44));
	CHECK(spans(scaled_loop(9, -1, 4, SW_GE, 0), 0, 40));
	CHECK(spans(scaled_loop(0, 1, -4, SW_GT, -40), 0, 40));
	/* 4 * i wraps around before it is as large. */
	CHECK(!spans(scaled_loop(0, 1, 4, SW_LT, INT32_MAX), 0, INT32_MAX));
	CHECK(!spans(scaled_loop(0, INT32_MAX / 4, 4, SW_LT, 5), 0, 4));
	CHECK(spans(loop(0, 1, SW_LT, 10), 0, 40));
	CHECK(spans(loop(0, 3, SW_LT, 10), 0, 40));
	CHECK(spans(loop(0, 1, SW_LE, 10), 0, 44));
	CHECK(spans(loop(9, -1, SW_GE, 0), 0, 40));
	CHECK(spans(loop(0, 2, SW_NE, 10), 0, 36));
	CHECK(spans(loop(10, -2, SW_NE, 0), 8, 44));
	CHECK(!spans(loop(0, 3, SW_NE, 10), 0, 40));
	CHECK(!spans(loop(0, 1, SW_GT, -1), 0, 40));
	/* One more step wraps around: no bound. */
	CHECK(!spans(loop(0, 4, SW_LT, INT32_MAX), 0, INT64_C(4) * INT32_MAX));
}

/* ---- tables in the parameter block ------------------------------------------------------------------------------- */

/* Offset of the element that a thread picks, in bytes: at + scale * tid. */
static uint32_t pick(struct terms *t, int64_t at, int64_t scale, uint8_t bytes, bool is_signed)
{
	uint32_t tid = op(t, SW_OP_EXTEND, 64, 0, spans_thread(t), 0);
	t->term[tid].imm = 32;
	uint32_t part = op(t, SW_OP_MUL, 64, 0, tid, spans_number(t, 64, scale));
	return terms_add(t, (struct sw_term){.op = SW_TERM_ELEMENT,
					     .width = 64,
					     .flags = is_signed ? SW_SIGNED : 0,
					     .a = op(t, SW_OP_ADD, 64, 0, part, spans_number(t, 64, at)),
					     .c = sizeof t->value,
					     .imm = bytes});
}

static uint64_t picked(const struct terms *t, uint64_t at, unsigned bytes, bool is_signed)
{
	uint64_t word = 0;
	memcpy(&word, (const char *)t->value + at, bytes);
	return is_signed ? (uint64_t)sw_wide_wrap((sw_wide)word, 8 * bytes) : word;
}

/* A list of tensors: threads 0 to 3 write [list[tid + 1] + 4 * tid - below]. */
static struct sw_spans *list(struct terms *t, int64_t below, const struct sw_span **span, uint32_t *n)
{
	uint32_t tid = op(t, SW_OP_EXTEND, 64, 0, spans_thread(t), 0);
	t->term[tid].imm = 32;
	uint32_t offset = op(t, SW_OP_MUL, 64, 0, tid, spans_number(t, 64, 4));
	uint32_t from = op(t, SW_OP_SUB, 64, 0, pick(t, 8, 8, 8, false), spans_number(t, 64, below));
	spans_add_site(t, op(t, SW_OP_ADD, 64, 0, from, offset));
	t->geometry.block[0] = 4;
	for (uint64_t i = 0; i < 8; i++)
		t->value[i] = (i + 1) * ORACLE_BASE;
	t->value[3] = 0;
	struct sw_spans *s = sw_spans_new(&t->f);
	if (!sw_spans_find(s, &t->geometry, span, n))
		*n = 0;
	return s;
}

/* Each pointer of the list alone, and none that is not on it. */
static void lists(void)
{
	for (int64_t below = 0; below < 64; below += 32) {
		struct terms *t = terms_new();
		const struct sw_span *span;
		uint32_t n;
		struct sw_spans *s = list(t, below, &span, &n);
		CHECK(n >= 4);
		for (uint64_t i = 1; i < 5; i++)
			for (uint64_t k = 0; k < 16 && n; k++)
				CHECK(lies(span, n, t->value[i] - (uint64_t)below + k));
		for (uint64_t i = 1; i < 5; i++)
			CHECK(!lies(span, n, t->value[i] + 64) && !lies(span, n, t->value[i] - 64));
		CHECK(!lies(span, n, t->value[0]) && !lies(span, n, t->value[5]));
		sw_spans_free(s);
		free(t);
	}
}

/* Whatever the place and the size of elements: what the threads pick is bounded. */
static void check_table(uint64_t seed, unsigned *bounded)
{
	uint64_t random = sw_hash_u64(seed);
	unsigned bytes = 1u << (random & 3), threads = 1 + (unsigned)(random >> 2 & 3);
	uint64_t scale = UINT64_C(1) << (random >> 4 & 3), at = 8 + (random >> 6 & 15);
	bool is_signed = random >> 10 & 1, pointer = bytes == 8 && random >> 11 & 1;
	struct terms *t = terms_new();
	const struct sw_span *span;
	uint32_t n, x = pick(t, (int64_t)at, (int64_t)scale, (uint8_t)bytes, is_signed);
	if (!pointer)
		x = op(t, SW_OP_ADD, 64, 0, terms_add(t, (struct sw_term){.op = SW_OP_PARAM, .width = 64}), x);
	spans_add_site(t, x);
	t->geometry.block[0] = threads;
	for (uint64_t i = 0; i < 8; i++)
		t->value[i] = ORACLE_BASE + (sw_hash_u64(seed + i) >> 30);
	struct sw_spans *s = sw_spans_new(&t->f);
	if (sw_spans_find(s, &t->geometry, &span, &n)) {
		++*bounded;
		for (uint64_t i = 0; i < threads; i++)
			CHECK(lies(span, n, picked(t, at + scale * i, bytes, is_signed) + (pointer ? 0 : t->value[0])));
	}
	sw_spans_free(s);
	free(t);
}

static void tables(void)
{
	unsigned bounded = 0;
	for (uint64_t seed = 1; seed <= 4000; seed++)
		check_table(seed, &bounded);
	CHECK(bounded > 2000);
	/* Past the end of the block nothing is known. */
	for (int beyond = 0; beyond < 2; beyond++) {
		struct terms *t = terms_new();
		const struct sw_span *span;
		uint32_t n;
		spans_add_site(t, pick(t, beyond ? 48 : 40, 8, 8, false));
		t->geometry.block[0] = 3;
		struct sw_spans *s = sw_spans_new(&t->f);
		CHECK(sw_spans_find(s, &t->geometry, &span, &n) == !beyond);
		sw_spans_free(s);
		free(t);
	}
}

/* ---- accesses that no thread makes ------------------------------------------------------------------------------- */

/* [(parameter 1 > parameter 2) and more] on the way to an access anywhere in 4 GiB. */
static void idle(void)
{
	struct terms *t = terms_new();
	const struct sw_span *span;
	uint32_t n, anything = value(t, SW_OP_RANGE, 32, 0, 0, UINT32_MAX);
	uint32_t less = op(t, SW_OP_COMPARE, 1, 0, param(t, 32, 2), param(t, 32, 1));
	t->term[less].imm = SW_LT;
	t->term[less].imm2 = 32;
	uint32_t perhaps = value(t, SW_OP_RANGE, 1, 0, 0, 1);
	t->fact[0] = (struct sw_fact){op(t, SW_OP_AND, 1, 0, perhaps, less), 1};
	t->f.facts = 1;
	spans_add_site(t, spans_element_at(t, anything));
	t->site[0].facts = 1;
	t->value[0] = ORACLE_BASE;
	t->geometry.block[0] = 1000;
	struct sw_spans *s = sw_spans_new(&t->f);
	for (uint64_t i = 0; i < 8; i++) {
		t->value[1] = i & 3;
		t->value[2] = i >> 1 & 3;
		CHECK(sw_spans_find(s, &t->geometry, &span, &n) && n == (t->value[2] < t->value[1]));
		CHECK(spans_serve_moved(s, t));
	}
	/* Another access at the same address is made in any case. */
	t->site[t->f.sites] = t->site[0];
	t->site[t->f.sites++].facts = 0;
	struct sw_spans *both = sw_spans_new(&t->f);
	t->value[1] = 0;
	CHECK(sw_spans_find(both, &t->geometry, &span, &n) && n == 1);
	sw_spans_free(both);
	sw_spans_free(s);
	free(t);
}

int main(int argc, char **argv)
{
	const char *kernels = getenv("ORACLE_KERNELS");
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1, count = strtoull(argc > 2  ? argv[2]
										     : kernels ? kernels
											       : "4000",
										     NULL, 0);
	struct totals t = {0};
	struct oracle_touched touched = {.at = malloc(ORACLE_BYTES * sizeof *touched.at)};
	magic_numbers();
	signed_remainders();
	large_divisors();
	divisions();
	loops();
	lists();
	tables();
	idle();
	for (uint64_t seed = first; seed < first + count; seed++)
		check_kernel(seed, &touched, &t);
	free(touched.at);
	printf("%" PRIu64 " kernels, %" PRIu64 " bounded, %" PRIu64 " wrong\n", t.kernels, t.bounded, t.wrong);
	CHECK(!t.wrong);
	CHECK(t.bounded > t.kernels / 4);
	return spans_failed != 0;
}
