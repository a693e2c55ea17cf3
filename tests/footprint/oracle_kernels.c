/* SPDX-License-Identifier: Apache-2.0 */
/* Random kernels, some as compilers write them, some wild. */
#include "oracle.h"

static uint64_t state;

uint64_t oracle_random(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % n;
}

static unsigned width_of(int w)
{
	return 8u << w;
}

/* A number next to an end of some type, a power of two or the opposite of one. */
static int64_t extreme_number(unsigned width)
{
	static const uint8_t bits[] = {0, 1, 7, 8, 15, 16, 30, 31, 32, 33, 61, 62, 63};
	uint64_t number = UINT64_C(1) << bits[oracle_random(sizeof bits)];
	number = oracle_random(3) ? number : 0 - number;
	number += oracle_random(2) ? 0 : oracle_random(5) - 2;
	return (int64_t)(number << (64 - width)) >> (64 - width);
}

static uint32_t any(struct oracle_kernel *k, int w)
{
	if (k->extreme && !oracle_random(4))
		return constant(k->t, width_of(w), extreme_number(width_of(w)));
	if (!k->n[w] || !oracle_random(4))
		return constant(k->t, width_of(w),
				oracle_random(3) ? (int64_t)oracle_random(20) : (int64_t)oracle_random(400) - 200);
	return k->pool[w][oracle_random(k->n[w])];
}

static void keep(struct oracle_kernel *k, int w, uint32_t term)
{
	if (k->n[w] < 64)
		k->pool[w][k->n[w]++] = term;
}

static uint32_t condition(struct oracle_kernel *k, int w)
{
	enum sw_condition c = (enum sw_condition)oracle_random(6);
	if (k->plain && oracle_random(2))
		c = oracle_random(2) ? SW_LT : SW_GE;
	return compare(k->t, c, width_of(w), oracle_random(2) ? SW_SIGNED : 0, any(k, w), any(k, w));
}

static uint32_t bit(struct oracle_kernel *k)
{
	uint32_t a = condition(k, k->plain ? 2 : (int)oracle_random(4));
	switch (oracle_random(8)) {
	case 0:
		return op(k->t, SW_OP_AND, 1, 0, a, condition(k, 2));
	case 1:
		return op(k->t, SW_OP_OR, 1, 0, a, condition(k, 2));
	case 2:
		return op(k->t, SW_OP_NOT, 1, 0, a, SW_NO_TERM);
	default:
		return a;
	}
}

static void grow(struct oracle_kernel *k)
{
	static const uint8_t wild[] = {SW_OP_ADD, SW_OP_SUB, SW_OP_MUL, SW_OP_MULHI, SW_OP_DIV, SW_OP_REM,
				       SW_OP_MIN, SW_OP_MAX, SW_OP_NEG, SW_OP_ABS,   SW_OP_AND, SW_OP_OR,
				       SW_OP_XOR, SW_OP_NOT, SW_OP_SHL, SW_OP_SHR};
	struct terms *t = k->t;
	int w = k->plain ? 2 : (int)oracle_random(4);
	unsigned width = width_of(w), flags = oracle_random(2) ? SW_SIGNED : 0;
	if (k->plain) {
		static const uint8_t ops[] = {SW_OP_ADD, SW_OP_ADD, SW_OP_SUB, SW_OP_MUL, SW_OP_DIV,
					      SW_OP_REM, SW_OP_MIN, SW_OP_MAX, SW_OP_AND, SW_OP_SHR};
		uint8_t o = ops[oracle_random(sizeof ops)];
		uint32_t a = any(k, w), b = any(k, w);
		if (o == SW_OP_MUL || o == SW_OP_DIV || o == SW_OP_REM)
			b = constant(t, width, (int64_t)oracle_random(12) + 1);
		else if (o == SW_OP_AND)
			b = constant(t, width, (INT64_C(1) << oracle_random(5)) - 1);
		else if (o == SW_OP_SHR)
			b = constant(t, width, (int64_t)oracle_random(4));
		keep(k, w, op(t, o, width, flags, a, b));
		return;
	}
	switch (oracle_random(10)) {
	case 0:
	case 1: {
		int from = (int)oracle_random(4);
		unsigned bits = 1 + (unsigned)oracle_random(width_of(from));
		if (oracle_random(2))
			bits = width_of(from);
		keep(k, w, extend(t, width, bits, flags, any(k, from)));
		return;
	}
	case 2: {
		uint32_t c = bit(k), a = any(k, w), b = any(k, w);
		keep(k, w, select_term(t, width, c, a, b));
		return;
	}
	case 3:
		if (w) {
			uint32_t a = any(k, w - 1), b = any(k, w - 1);
			keep(k, w, op(t, SW_OP_MULWIDE, width, flags, a, b));
		}
		return;
	default: {
		uint8_t o = wild[oracle_random(oracle_random(2) ? 3 : sizeof wild)];
		uint32_t a = any(k, w), b = any(k, w);
		if (o == SW_OP_SHL || o == SW_OP_SHR)
			b = constant(t, 32, (int64_t)oracle_random(width + 2));
		if (o == SW_OP_MULHI && w == 2 && oracle_random(2))
			b = constant(t, 32, 0xCCCCCCCD);
		keep(k, w, op(t, o, width, flags, a, b));
	}
	}
}

static void make_loop(struct oracle_kernel *k, uint32_t number)
{
	struct terms *t = k->t;
	int w = k->plain ? 2 : (int)oracle_random(4);
	unsigned width = width_of(w), flags = oracle_random(2) ? SW_SIGNED : 0;
	uint32_t start = any(k, w),
		 by = constant(t, width,
			       oracle_random(6) ? (int64_t)oracle_random(9) + 1 : -(int64_t)oracle_random(5) - 1);
	uint32_t i = step(t, width, start, by, number), next = add(t, width, i, by), limit = any(k, w);
	if (k->extreme && oracle_random(4) == 0)
		t->term[by].imm = extreme_number(width);
	if (!k->plain && oracle_random(4) == 0) /* near the end of the type: the last step may wrap around */
		limit = constant(t, width, (flags ? INT64_MAX >> (64 - width) : -1) - (int64_t)oracle_random(9));
	enum sw_condition c = t->term[by].imm < 0 ? (oracle_random(2) ? SW_GT : SW_GE)
			      : oracle_random(6)  ? SW_LT
			      : oracle_random(2)  ? SW_LE
						  : SW_NE;
	struct sw_loop *loop = &t->loop[number];
	bool head = oracle_random(2);
	*loop = (struct sw_loop){.parent = number ? number - 1 : UINT32_MAX};
	loop->entry = t->f.facts;
	if (!head && oracle_random(8))
		fact(t, compare(t, c, width, flags, start, limit), true);
	if (!oracle_random(4))
		fact(t, bit(k), oracle_random(2));
	loop->entries = t->f.facts - loop->entry;
	keep(k, w, i);
	if (oracle_random(3) == 0)
		keep(k, w, next);
	loop->back = t->f.facts;
	fact(t, compare(t, c, width, flags, head ? i : next, limit), true);
	if (oracle_random(4) == 0)
		fact(t, condition(k, oracle_random(3) ? 2 : w), true);
	loop->backs = t->f.facts - loop->back;
	t->f.loops = k->loops = number + 1;
}

static void make_site(struct oracle_kernel *k)
{
	struct terms *t = k->t;
	uint32_t address, facts = (uint32_t)oracle_random(4), guards[4];
	for (uint32_t i = 0; i < facts; i++)
		guards[i] = bit(k);
	unsigned flags = oracle_random(2) ? SW_SIGNED : 0, bytes = 1u << oracle_random(4);
	unsigned scale = oracle_random(4) ? bytes : (unsigned)oracle_random(20);
	uint32_t index = k->n[2] ? k->pool[2][k->n[2] - 1 - oracle_random(k->n[2] < 4 ? k->n[2] : 4)] : any(k, 2);
	if (!k->plain && oracle_random(4) == 0)
		address = add(t, 64, param(t, 64, 0), any(k, 3));
	else
		address = element(t, 0, index, scale, flags);
	if (oracle_random(3) == 0)
		address = add(t, 64, address, mul(t, 64, extend(t, 64, 32, flags, any(k, 2)), constant(t, 64, 32)));
	uint32_t from = t->f.facts;
	/* The branches into the loops lead here as well. */
	for (uint32_t i = 0; i < k->loops; i++) {
		for (uint32_t j = 0; j < t->loop[i].entries; j++)
			fact(t, t->fact[t->loop[i].entry + j].term, t->fact[t->loop[i].entry + j].truth);
	}
	const struct sw_loop *only = &t->loop[0];
	bool behind = k->loops == 1 && only->backs == 1 && oracle_random(3) == 0, leaves = oracle_random(2);
	/* After a loop, guards are sound to use only together with the fact that ended it. */
	for (uint32_t j = 0; j < facts && (!behind || leaves); j++)
		fact(t, guards[j], oracle_random(2));
	for (uint32_t j = 0; j < k->outers && (!behind || leaves); j++)
		fact(t, k->outer[j], k->truths >> j & 1);
	if (behind && leaves)
		fact(t, t->fact[only->back].term, !t->fact[only->back].truth);
	facts = t->f.facts - from;
	site(t, oracle_random(2) ? SW_TOUCH_READ : SW_TOUCH_WRITE, 0, address, bytes, facts)->loop =
		behind ? 0 : k->loops;
}

static void make_terms(struct oracle_kernel *k, uint64_t seed, bool extreme)
{
	struct terms *t = terms_new();
	memset(k, 0, sizeof *k);
	k->t = t;
	k->extreme = extreme;
	state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
	for (int i = 0; i < 8; i++)
		oracle_random(2);
	k->plain = oracle_random(3) != 0 && !extreme;
	t->geometry.grid[0] = 1 + (uint32_t)oracle_random(6);
	t->geometry.block[0] = 1 + (uint32_t)oracle_random(20);
	if (oracle_random(2)) {
		t->geometry.grid[1] = 1 + (uint32_t)oracle_random(3);
		t->geometry.block[1] = 1 + (uint32_t)oracle_random(4);
	}
	t->value[0] = ORACLE_BASE;
	t->value[1] = oracle_random(2)	 ? oracle_random(100)
		      : oracle_random(8) ? oracle_random(300) - 150
					 : oracle_random(UINT64_MAX);
	t->value[2] = oracle_random(64);
	keep(k, 2, global_index(t));
	keep(k, 2, special(t, SW_TID_X));
	if (oracle_random(2)) {
		keep(k, 2, add(t, 32, mul(t, 32, special(t, SW_CTAID_Y), special(t, SW_NTID_Y)), special(t, SW_TID_Y)));
		keep(k, 2, special(t, SW_CTAID_X));
	}
	keep(k, 2, param(t, 32, 1));
	keep(k, 2, param(t, 32, 2));
	keep(k, 3, param(t, 64, 1));
	if (oracle_random(5) == 0) {
		uint32_t most = (uint32_t)oracle_random(100);
		uint32_t unknown = value(t, SW_OP_RANGE, 32, 0, 0, oracle_random(4) ? most : UINT32_MAX);
		t->term[unknown].b = (uint32_t)oracle_random(2);
		keep(k, 2, unknown);
		k->data = true;
	}
	for (uint64_t n = oracle_random(k->plain ? 4 : 8); n; n--)
		grow(k);
	for (uint32_t loops = (uint32_t)oracle_random(5) / 2, i = 0; i < loops; i++) {
		make_loop(k, i);
		for (uint64_t n = oracle_random(3); n; n--)
			grow(k);
	}
}

void oracle_make(struct oracle_kernel *k, uint64_t seed)
{
	make_terms(k, seed, false);
	for (uint64_t n = 1 + oracle_random(2); n; n--)
		make_site(k);
}

void oracle_make_extreme(struct oracle_kernel *k, uint64_t seed)
{
	make_terms(k, seed, true);
	for (uint64_t n = 1 + oracle_random(2); n; n--)
		make_site(k);
}

void oracle_make_guarded(struct oracle_kernel *k, uint64_t seed)
{
	make_terms(k, seed, false);
	k->outers = 1 + (uint32_t)oracle_random(3);
	for (uint32_t i = 0; i < k->outers; i++)
		k->outer[i] = bit(k);
	k->truths = (uint32_t)oracle_random(8);
	for (uint64_t n = 2 + oracle_random(5); n; n--) {
		make_site(k);
		if (oracle_random(3) == 0)
			grow(k);
	}
}

/* ---- addresses made from the digits of an index */

/* x / d by a magic number of 32 or 64 bits: rounded up where x has a bit less, else with the bit too many (Granlund and
   Montgomery, PLDI 1994). */
static uint32_t divide_by_magic(struct terms *t, uint32_t x, uint32_t d)
{
	unsigned width = oracle_random(2) ? 64 : 32, log = 32 - (unsigned)__builtin_clz(d - 1);
	__extension__ typedef unsigned __int128 wide;
	wide turn = (wide)1 << width;
	x = width == 64 ? extend(t, 64, 32, 0, x) : x;
	uint32_t q;
	if (oracle_random(2)) {
		uint32_t magic = constant(t, width, (int64_t)(((turn << (log - 1)) + d - 1) / d));
		q = op(t, SW_OP_MULHI, width, 0, x, magic);
	} else {
		uint32_t magic = constant(t, width, (int64_t)(turn * ((UINT64_C(1) << log) - d) / d + 1));
		q = op(t, SW_OP_MULHI, width, 0, x, magic);
		uint32_t rest = op(t, SW_OP_SHR, width, 0, op(t, SW_OP_SUB, width, 0, x, q), constant(t, 32, 1));
		q = add(t, width, rest, q);
	}
	q = op(t, SW_OP_SHR, width, 0, q, constant(t, 32, log - 1));
	return width == 64 ? extend(t, 32, 32, 0, q) : q;
}

/* A digit of x in base `size`, and what is left above it. */
static uint32_t next_digit(struct terms *t, uint32_t *x, uint32_t size, unsigned flags)
{
	unsigned bits = (unsigned)__builtin_ctz(size);
	uint32_t digit, above;
	if (size == 1u << bits && oracle_random(2)) {
		above = op(t, SW_OP_SHR, 32, flags, *x, constant(t, 32, bits));
		digit = bits && oracle_random(2) ? extend(t, 32, bits, 0, *x)
						 : op(t, SW_OP_AND, 32, 0, *x, constant(t, 32, size - 1));
	} else if (oracle_random(2)) {
		above = op(t, SW_OP_DIV, 32, flags, *x, constant(t, 32, size));
		digit = op(t, SW_OP_REM, 32, flags, *x, constant(t, 32, size));
	} else {
		bool magic = size > 1 && oracle_random(2);
		above = magic ? divide_by_magic(t, *x, size) : op(t, SW_OP_DIV, 32, flags, *x, constant(t, 32, size));
		digit = op(t, SW_OP_SUB, 32, 0, *x, mul(t, 32, above, constant(t, 32, size)));
	}
	*x = above;
	return digit;
}

/* Digits that together are other bits, or are added up. */
static uint32_t add_up(struct terms *t, uint32_t sum, uint32_t digit, uint32_t *stride, uint32_t size)
{
	static const int16_t strides[] = {0, 1, 2, 3, 4, 6, 8, 9, 16, 32, 64, 100, -1, -4, -16};
	uint32_t by = *stride;
	if (oracle_random(3))
		by = (uint32_t)(int32_t)strides[oracle_random(sizeof strides / sizeof *strides)];
	*stride *= size;
	uint32_t part = mul(t, 32, digit, constant(t, 32, (int32_t)by));
	if (!oracle_random(8)) { /* the bits of one next to those of the other, as machine code puts them together */
		uint32_t others = op(t, SW_OP_AND, 32, 0, op(t, SW_OP_NOT, 32, 0, part, SW_NO_TERM), sum);
		return op(t, SW_OP_OR, 32, 0, others, part);
	}
	return op(t, oracle_random(8) ? SW_OP_ADD : oracle_random(2) ? SW_OP_OR : SW_OP_XOR, 32, 0, sum, part);
}

/* Sites that differ in the index by so much, with all else the same. */
struct digit_shape {
	uint32_t dims, size[4];
	uint64_t seed;
	unsigned flags, bytes;
};

static void make_digit_site(struct oracle_kernel *k, const struct digit_shape *shape, uint32_t x, bool guarded)
{
	struct terms *t = k->t;
	uint32_t index = x, sum = constant(t, 32, 500), stride = 1, facts = 0;
	uint64_t left = state;
	state = shape->seed; /* each site makes the same choices */
	for (uint32_t d = 0; d < shape->dims; d++)
		sum = add_up(t, sum, next_digit(t, &x, shape->size[d], shape->flags), &stride, shape->size[d]);
	if (oracle_random(2))
		sum = add_up(t, sum, x, &stride, 1);
	if (!oracle_random(4)) /* a partner, as in sorting networks */
		sum = op(t, SW_OP_XOR, 32, 0, oracle_random(3) ? index : sum,
			 constant(t, 32, 1 + (int64_t)oracle_random(oracle_random(2) ? 8 : 100)));
	if (oracle_random(3) == 0)
		sum = add(t, 32, sum,
			  mul(t, 32, special(t, SW_CTAID_Y), constant(t, 32, 8 * (int64_t)oracle_random(60))));
	state = left;
	uint32_t from = t->f.facts;
	if (guarded) {
		fact(t, compare(t, SW_LT, 32, shape->flags, index, param(t, 32, 1)), true);
		facts = t->f.facts - from;
	}
	site(t, SW_TOUCH_WRITE, 0, element(t, 0, sum, shape->bytes, SW_SIGNED), shape->bytes, facts);
}

void oracle_make_digits(struct oracle_kernel *k, uint64_t seed)
{
	struct terms *t = terms_new();
	memset(k, 0, sizeof *k);
	k->t = t;
	state = seed * UINT64_C(0x9E3779B97F4A7C15) + 3;
	for (int i = 0; i < 8; i++)
		oracle_random(2);
	k->plain = true;
	uint32_t threads = oracle_random(2) ? 32 : 1 + (uint32_t)oracle_random(40),
		 sites = 1 + (uint32_t)oracle_random(4);
	bool guarded = oracle_random(3) != 0;
	t->geometry.block[0] = threads;
	t->geometry.grid[0] = 1 + (uint32_t)oracle_random(5);
	t->geometry.grid[1] = 1 + (uint32_t)oracle_random(3);
	struct digit_shape shape = {.dims = 1 + (uint32_t)oracle_random(4),
				    .flags = oracle_random(2) ? SW_SIGNED : 0,
				    .bytes = oracle_random(3) ? 4 : 1u << oracle_random(4)};
	uint64_t all = 1;
	for (uint32_t d = 0; d < 4; d++) {
		shape.size[d] = 1 + (uint32_t)oracle_random(9);
		all *= d < shape.dims ? shape.size[d] : 1;
	}
	t->value[0] = ORACLE_BASE;
	t->value[1] = oracle_random(2) ? all : oracle_random(200);
	shape.seed = state;
	uint32_t first =
		add(t, 32, mul(t, 32, special(t, SW_CTAID_X), constant(t, 32, threads * sites)), special(t, SW_TID_X));
	first = add_constant(t, 32, first, oracle_random(2) ? 0 : (int64_t)oracle_random(50));
	for (uint32_t i = 0; i < sites; i++)
		make_digit_site(k, &shape, add_constant(t, 32, first, i * threads), guarded);
}
