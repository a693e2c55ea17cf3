/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random kernels, executed thread by thread with the machine's arithmetic, against what evaluation says they touch.
 *
 *     test_evaluate_oracle [FIRST [COUNT]]     seeds; the default is what `make check` has time for
 *
 * Soundness: every byte touched lies in a reach of its role.  Precision: every byte of a box is touched.  Boxes, hulls
 * and open reaches are counted; a floor on the boxes keeps the test from passing on an evaluation that says "anything".
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "footprint/form.h"
#include "terms.h"

#define BASE	  UINT64_C(0x7f0000100000)
#define MAX_STEPS 600 /* iterations of a loop; kernels that need more are left out */
#define MAX_BYTES (1u << 20)

static uint64_t state;

static uint64_t rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % n;
}

/* ---- generation */

struct kernel {
	struct terms *t;
	uint32_t pool[4][64]; /* terms of 8, 16, 32, 64 bits */
	uint32_t n[4];
	uint32_t loops; /* 0 to 2, the second in the first */
	bool data;	/* something is loaded */
	bool plain;	/* only what compilers make of ordinary index arithmetic */
};

static unsigned width_of(int w)
{
	return 8u << w;
}

static uint32_t any(struct kernel *k, int w)
{
	if (!k->n[w] || !rnd(4))
		return constant(k->t, width_of(w), rnd(3) ? (int64_t)rnd(20) : (int64_t)rnd(400) - 200);
	return k->pool[w][rnd(k->n[w])];
}

static void keep(struct kernel *k, int w, uint32_t term)
{
	if (k->n[w] < 64)
		k->pool[w][k->n[w]++] = term;
}

static uint32_t condition(struct kernel *k, int w)
{
	enum sw_condition c = (enum sw_condition)rnd(6);
	if (k->plain && rnd(2))
		c = rnd(2) ? SW_LT : SW_GE;
	return compare(k->t, c, width_of(w), rnd(2) ? SW_SIGNED : 0, any(k, w), any(k, w));
}

static uint32_t bit(struct kernel *k)
{
	uint32_t a = condition(k, k->plain ? 2 : (int)rnd(4));
	switch (rnd(8)) {
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

static void grow(struct kernel *k)
{
	static const uint8_t wild[] = {SW_OP_ADD, SW_OP_SUB, SW_OP_MUL, SW_OP_MULHI, SW_OP_DIV, SW_OP_REM,
				       SW_OP_MIN, SW_OP_MAX, SW_OP_NEG, SW_OP_ABS,   SW_OP_AND, SW_OP_OR,
				       SW_OP_XOR, SW_OP_NOT, SW_OP_SHL, SW_OP_SHR};
	struct terms *t = k->t;
	int w = k->plain ? 2 : (int)rnd(4);
	unsigned width = width_of(w), flags = rnd(2) ? SW_SIGNED : 0;
	if (k->plain) {
		static const uint8_t ops[] = {SW_OP_ADD, SW_OP_ADD, SW_OP_SUB, SW_OP_MUL, SW_OP_DIV,
					      SW_OP_REM, SW_OP_MIN, SW_OP_MAX, SW_OP_AND, SW_OP_SHR};
		uint8_t o = ops[rnd(sizeof ops)];
		uint32_t a = any(k, w), b = any(k, w);
		if (o == SW_OP_MUL || o == SW_OP_DIV || o == SW_OP_REM)
			b = constant(t, width, (int64_t)rnd(12) + 1);
		else if (o == SW_OP_AND)
			b = constant(t, width, (INT64_C(1) << rnd(5)) - 1);
		else if (o == SW_OP_SHR)
			b = constant(t, width, (int64_t)rnd(4));
		keep(k, w, op(t, o, width, flags, a, b));
		return;
	}
	switch (rnd(10)) {
	case 0:
	case 1: {
		int from = (int)rnd(4);
		unsigned bits = 1 + (unsigned)rnd(width_of(from));
		if (rnd(2))
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
		uint8_t o = wild[rnd(rnd(2) ? 3 : sizeof wild)];
		uint32_t a = any(k, w), b = any(k, w);
		if (o == SW_OP_SHL || o == SW_OP_SHR)
			b = constant(t, 32, (int64_t)rnd(width + 2));
		if (o == SW_OP_MULHI && w == 2 && rnd(2))
			b = constant(t, 32, 0xCCCCCCCD);
		keep(k, w, op(t, o, width, flags, a, b));
	}
	}
}

static void make_loop(struct kernel *k, uint32_t number)
{
	struct terms *t = k->t;
	int w = k->plain ? 2 : (int)rnd(4);
	unsigned width = width_of(w), flags = rnd(2) ? SW_SIGNED : 0;
	uint32_t start = any(k, w), by = constant(t, width, rnd(6) ? (int64_t)rnd(9) + 1 : -(int64_t)rnd(5) - 1);
	uint32_t i = step(t, width, start, by, number), next = add(t, width, i, by), limit = any(k, w);
	if (!k->plain && rnd(4) == 0) /* near the end of the type: the last step may wrap around */
		limit = constant(t, width, (flags ? INT64_MAX >> (64 - width) : -1) - (int64_t)rnd(9));
	enum sw_condition c = t->term[by].imm < 0 ? (rnd(2) ? SW_GT : SW_GE) : rnd(6) ? SW_LT : rnd(2) ? SW_LE : SW_NE;
	struct sw_loop *loop = &t->loop[number];
	bool head = rnd(2);
	*loop = (struct sw_loop){.parent = number ? number - 1 : UINT32_MAX};
	loop->entry = t->f.facts;
	if (!head && rnd(8))
		fact(t, compare(t, c, width, flags, start, limit), true);
	if (!rnd(4))
		fact(t, bit(k), rnd(2));
	loop->entries = t->f.facts - loop->entry;
	keep(k, w, i);
	if (rnd(3) == 0)
		keep(k, w, next);
	loop->back = t->f.facts;
	fact(t, compare(t, c, width, flags, head ? i : next, limit), true);
	if (rnd(4) == 0)
		fact(t, condition(k, rnd(3) ? 2 : w), true);
	loop->backs = t->f.facts - loop->back;
	t->f.loops = k->loops = number + 1;
}

static void make_site(struct kernel *k)
{
	struct terms *t = k->t;
	uint32_t address, facts = (uint32_t)rnd(4), guards[4];
	for (uint32_t i = 0; i < facts; i++)
		guards[i] = bit(k);
	unsigned flags = rnd(2) ? SW_SIGNED : 0, bytes = 1u << rnd(4);
	unsigned scale = rnd(4) ? bytes : (unsigned)rnd(20);
	uint32_t index = k->n[2] ? k->pool[2][k->n[2] - 1 - rnd(k->n[2] < 4 ? k->n[2] : 4)] : any(k, 2);
	if (!k->plain && rnd(4) == 0)
		address = add(t, 64, param(t, 64, 0), any(k, 3));
	else
		address = element(t, 0, index, scale, flags);
	if (rnd(3) == 0)
		address = add(t, 64, address, mul(t, 64, extend(t, 64, 32, flags, any(k, 2)), constant(t, 64, 32)));
	uint32_t from = t->f.facts;
	/* The branches into the loops lead here as well. */
	for (uint32_t i = 0; i < k->loops; i++) {
		for (uint32_t j = 0; j < t->loop[i].entries; j++)
			fact(t, t->fact[t->loop[i].entry + j].term, t->fact[t->loop[i].entry + j].truth);
	}
	const struct sw_loop *only = &t->loop[0];
	bool behind = k->loops == 1 && only->backs == 1 && rnd(3) == 0, leaves = rnd(2);
	/* Behind a loop, guards are sound to look at only beside the fact that ended it. */
	for (uint32_t j = 0; j < facts && (!behind || leaves); j++)
		fact(t, guards[j], rnd(2));
	if (behind && leaves)
		fact(t, t->fact[only->back].term, !t->fact[only->back].truth);
	facts = t->f.facts - from;
	site(t, rnd(2) ? SW_TOUCH_READ : SW_TOUCH_WRITE, 0, address, bytes, facts)->loop = behind ? 0 : k->loops;
}

static void make_kernel(struct kernel *k, uint64_t seed)
{
	struct terms *t = terms_new();
	memset(k, 0, sizeof *k);
	k->t = t;
	state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
	for (int i = 0; i < 8; i++)
		rnd(2);
	k->plain = rnd(3) != 0;
	t->geometry.grid[0] = 1 + (uint32_t)rnd(6);
	t->geometry.block[0] = 1 + (uint32_t)rnd(20);
	if (rnd(2)) {
		t->geometry.grid[1] = 1 + (uint32_t)rnd(3);
		t->geometry.block[1] = 1 + (uint32_t)rnd(4);
	}
	t->value[0] = BASE;
	t->value[1] = rnd(2) ? rnd(100) : rnd(8) ? rnd(300) - 150 : rnd(UINT64_MAX);
	t->value[2] = rnd(64);
	keep(k, 2, global_index(t));
	keep(k, 2, special(t, SW_TID_X));
	if (rnd(2)) {
		keep(k, 2, add(t, 32, mul(t, 32, special(t, SW_CTAID_Y), special(t, SW_NTID_Y)), special(t, SW_TID_Y)));
		keep(k, 2, special(t, SW_CTAID_X));
	}
	keep(k, 2, param(t, 32, 1));
	keep(k, 2, param(t, 32, 2));
	keep(k, 3, param(t, 64, 1));
	if (rnd(5) == 0) {
		uint32_t most = (uint32_t)rnd(100);
		keep(k, 2, value(t, SW_OP_RANGE, 32, 0, 0, rnd(4) ? most : UINT32_MAX));
		k->data = true;
	}
	for (uint64_t n = rnd(k->plain ? 4 : 8); n; n--)
		grow(k);
	for (uint32_t loops = (uint32_t)rnd(5) / 2, i = 0; i < loops; i++) {
		make_loop(k, i);
		for (uint64_t n = rnd(3); n; n--)
			grow(k);
	}
	for (uint64_t n = 1 + rnd(2); n; n--)
		make_site(k);
}

/* ---- execution */

struct thread {
	const struct kernel *k;
	uint32_t tid[3], ctaid[3];
	uint64_t counter[2];
	uint64_t result[TERMS_ROOM];
};

static uint64_t cut(uint64_t x, unsigned width)
{
	return width >= 64 ? x : x & ((UINT64_C(1) << width) - 1);
}

static int64_t as_signed(uint64_t x, unsigned width)
{
	return width >= 64 ? (int64_t)x : (int64_t)(x << (64 - width)) >> (64 - width);
}

static uint64_t run_special(const struct thread *th, int64_t which)
{
	const struct sw_geometry *g = &th->k->t->geometry;
	return which <= SW_TID_Z     ? th->tid[which - SW_TID_X]
	       : which <= SW_NTID_Z  ? g->block[which - SW_NTID_X]
	       : which <= SW_CTAID_Z ? th->ctaid[which - SW_CTAID_X]
				     : g->grid[which - SW_NCTAID_X];
}

static bool holds(enum sw_condition c, bool less, bool equal)
{
	switch (c) {
	case SW_EQ:
		return equal;
	case SW_NE:
		return !equal;
	case SW_LT:
		return less;
	case SW_LE:
		return less || equal;
	case SW_GT:
		return !less && !equal;
	default:
		return !less;
	}
}

/* false: undefined on the machine (division by zero): the kernel is left out. */
static bool run_term(struct thread *th, uint32_t number)
{
	const struct sw_term *t = &th->k->t->term[number];
	unsigned w = t->width, half = w / 2;
	bool is_signed = t->flags & SW_SIGNED;
	uint64_t a = t->a < number ? th->result[t->a] : 0, b = t->b < number ? th->result[t->b] : 0, r = 0;
	int64_t x = as_signed(a, w), y = as_signed(b, w);
	sw_wide p;
	switch (t->op) {
	case SW_OP_CONST:
		r = (uint64_t)t->imm;
		break;
	case SW_OP_PARAM:
		r = th->k->t->value[t->imm / 8];
		break;
	case SW_OP_SPECIAL:
		r = run_special(th, t->imm);
		break;
	case SW_OP_RANGE:
		r = (uint64_t)t->imm + rnd((uint64_t)(t->imm2 - t->imm) + 1);
		break;
	case SW_OP_ADD:
		r = a + b;
		break;
	case SW_OP_SUB:
		r = a - b;
		break;
	case SW_OP_MUL:
		r = a * b;
		break;
	case SW_OP_MULHI:
		p = is_signed ? (sw_wide)x * y
			      : (sw_wide)a * (sw_wide)b; /* overflows into the sign: the shift undoes it */
		r = (uint64_t)(p >> w);
		break;
	case SW_OP_MULWIDE:
		r = is_signed ? (uint64_t)as_signed(a, half) * (uint64_t)as_signed(b, half) : a * b;
		break;
	case SW_OP_DIV:
	case SW_OP_REM:
		if (!b || (is_signed && y == -1))
			return false;
		r = t->op == SW_OP_DIV ? (is_signed ? (uint64_t)(x / y) : a / b)
		    : is_signed	       ? (uint64_t)(x % y)
				       : a % b;
		break;
	case SW_OP_MIN:
		r = (is_signed ? x < y : a < b) ? a : b;
		break;
	case SW_OP_MAX:
		r = (is_signed ? x > y : a > b) ? a : b;
		break;
	case SW_OP_NEG:
		r = 0 - a;
		break;
	case SW_OP_ABS:
		r = x < 0 ? 0 - a : a;
		break;
	case SW_OP_AND:
		r = a & b;
		break;
	case SW_OP_OR:
		r = a | b;
		break;
	case SW_OP_XOR:
		r = a ^ b;
		break;
	case SW_OP_NOT:
		r = ~a;
		break;
	case SW_OP_SHL:
		r = b >= w ? 0 : a << b;
		break;
	case SW_OP_SHR:
		r = is_signed ? (uint64_t)(x >> (b >= w ? w - 1 : b)) : b >= w ? 0 : a >> b;
		break;
	case SW_OP_EXTEND:
		r = (uint64_t)t->imm >= w ? a
		    : is_signed		  ? (uint64_t)as_signed(a, (unsigned)t->imm)
					  : cut(a, (unsigned)t->imm);
		break;
	case SW_OP_SELECT:
		r = a ? b : th->result[t->c];
		break;
	case SW_OP_COMPARE:
		w = (unsigned)t->imm2;
		r = holds((enum sw_condition)t->imm, is_signed ? as_signed(a, w) < as_signed(b, w) : a < b, a == b);
		w = 1;
		break;
	case SW_TERM_STEP:
		r = a + b * th->counter[t->c];
		break;
	default:
		abort();
	}
	th->result[number] = cut(r, w);
	return true;
}

static bool run_terms(struct thread *th)
{
	for (uint32_t i = 0; i < th->k->t->f.terms; i++) {
		if (!run_term(th, i))
			return false;
	}
	return true;
}

static bool facts_hold(const struct thread *th, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct sw_fact *f = &th->k->t->fact[from + i];
		if ((th->result[f->term] != 0) != f->truth)
			return false;
	}
	return true;
}

struct touched {
	struct touch {
		uint64_t address;
		uint32_t role;
	} * at;
	size_t n;
};

/* Those in a loop (+ 1), or behind all loops. */
static bool run_sites(struct thread *th, uint32_t loop, struct touched *out)
{
	const struct terms *t = th->k->t;
	for (uint32_t i = 0; i < t->f.sites; i++) {
		const struct sw_site *s = &t->site[i];
		if (s->loop != loop || !facts_hold(th, s->fact, s->facts))
			continue;
		for (uint32_t j = 0; j < s->bytes; j++) {
			if (out->n == MAX_BYTES)
				return false;
			out->at[out->n++] = (struct touch){th->result[s->address] + j, s->role};
		}
	}
	return true;
}

/* The sites are in the innermost loop, or (where there is one) behind it. */
static bool run_loop(struct thread *th, uint32_t number, struct touched *out)
{
	const struct terms *t = th->k->t;
	if (number == t->f.loops)
		return run_sites(th, number, out);
	const struct sw_loop *loop = &t->loop[number];
	th->counter[number] = 0;
	for (;;) {
		for (uint32_t inner = number + 1; inner < t->f.loops; inner++)
			th->counter[inner] = 0;
		if (!run_terms(th))
			return false;
		if (!th->counter[number] && !facts_hold(th, loop->entry, loop->entries))
			return true;
		if (!run_loop(th, number + 1, out))
			return false;
		if (!run_terms(th))
			return false;
		if (!facts_hold(th, loop->back, loop->backs))
			return t->f.loops > 1 || run_sites(th, 0, out);
		if (++th->counter[number] > MAX_STEPS)
			return false;
	}
}

static bool run_kernel(const struct kernel *k, struct touched *out)
{
	static struct thread th;
	const struct sw_geometry *g = &k->t->geometry;
	uint32_t blocks = g->grid[0] * g->grid[1], threads = g->block[0] * g->block[1];
	out->n = 0;
	for (uint32_t i = 0; i < blocks * threads; i++) {
		uint32_t block = i / threads, thread = i % threads;
		memset(&th, 0, offsetof(struct thread, result));
		th.k = k;
		th.ctaid[0] = block % g->grid[0];
		th.ctaid[1] = block / g->grid[0];
		th.tid[0] = thread % g->block[0];
		th.tid[1] = thread / g->block[0];
		if (!run_terms(&th) || !run_loop(&th, 0, out))
			return false;
	}
	return true;
}

/* ---- comparison */

static int by_address(const void *x, const void *y)
{
	const struct touch *a = x, *b = y;
	return a->address < b->address ? -1 : a->address > b->address ? 1 : (a->role > b->role) - (a->role < b->role);
}

static bool was_touched(const struct touched *touched, uint64_t address, uint32_t role)
{
	struct touch key = {address, role};
	return bsearch(&key, touched->at, touched->n, sizeof key, by_address) != NULL;
}

static bool inside(const struct sw_reach *r, uint64_t address)
{
	if (r->extent == SW_EXTENT_OPEN)
		return true;
	for (uint64_t s = 0; s < r->slices; s++) {
		uint64_t from = address - r->address - s * r->slice;
		uint64_t row = r->rows > 1 ? from / r->pitch : 0;
		/* rows do not overlap, but the last may be longer than what a pitch covers */
		row = row >= r->rows ? r->rows - 1 : row;
		if (address >= r->address + s * r->slice && from - row * r->pitch < r->width)
			return true;
	}
	return false;
}

static const char *check_sound(const struct touched *touched, const struct sw_reaches *reaches)
{
	static char text[200];
	for (size_t i = 0; i < touched->n; i++) {
		bool found = false;
		if (i && !by_address(&touched->at[i], &touched->at[i - 1]))
			continue;
		for (size_t j = 0; j < reaches->n && !found; j++)
			found = reaches->at[j].role == touched->at[i].role &&
				inside(&reaches->at[j], touched->at[i].address);
		if (found)
			continue;
		snprintf(text, sizeof text, "escape: base%+" PRId64 " (role %u) is in no reach",
			 (int64_t)(touched->at[i].address - BASE), touched->at[i].role);
		return text;
	}
	return NULL;
}

static const char *check_precise(const struct touched *touched, const struct sw_reaches *reaches)
{
	static char text[200];
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_reach *r = &reaches->at[i];
		if (r->extent != SW_EXTENT_BOX)
			continue;
		for (uint64_t s = 0; s < r->slices; s++) {
			for (uint64_t row = 0; row < r->rows; row++) {
				for (uint64_t x = 0; x < r->width; x++) {
					uint64_t at = r->address + s * r->slice + row * r->pitch + x;
					if (was_touched(touched, at, r->role))
						continue;
					snprintf(text, sizeof text,
						 "box %zu (%" PRIu64 " x %" PRIu64 " x %" PRIu64 ") has base%+" PRId64
						 ", which nothing touches",
						 i, r->slices, r->rows, r->width, (int64_t)(at - BASE));
					return text;
				}
			}
		}
	}
	return NULL;
}

static void print_kernel(const struct kernel *k, const struct sw_reaches *reaches)
{
	const struct terms *t = k->t;
	char text[400];
	fprintf(stderr, "grid %u,%u block %u,%u params", t->geometry.grid[0], t->geometry.grid[1], t->geometry.block[0],
		t->geometry.block[1]);
	fprintf(stderr, " %" PRId64 " %" PRId64 "\n", (int64_t)t->value[1], (int64_t)t->value[2]);
	for (uint32_t i = 0; i < t->f.terms; i++) {
		const struct sw_term *x = &t->term[i];
		fprintf(stderr, "  %u: %s%s w%u %d %d %d imm %" PRId64 " %" PRId64 "\n", i,
			x->op < SW_OPS ? sw_op_text((enum sw_op)x->op) : "step", x->flags ? ".s" : "", x->width,
			(int)x->a, (int)x->b, (int)x->c, x->imm, x->imm2);
	}
	for (uint32_t i = 0; i < t->f.loops; i++) {
		const struct sw_loop *l = &t->loop[i];
		for (uint32_t j = 0; j < l->entries + l->backs; j++)
			fprintf(stderr, "  loop %u %s %s%u\n", i, j < l->entries ? "entry" : "back",
				t->fact[l->entry + j].truth ? "" : "not ", t->fact[l->entry + j].term);
	}
	for (uint32_t i = 0; i < t->f.sites; i++) {
		sw_footprint_address_text(&t->f, i, text, sizeof text);
		fprintf(stderr, "  site %u role %u term %u: %s, %u bytes; ", i, t->site[i].role, t->site[i].address,
			text, t->site[i].bytes);
		for (uint32_t j = 0; j < t->site[i].facts; j++)
			fprintf(stderr, " %s%u", t->fact[t->site[i].fact + j].truth ? "" : "not ",
				t->fact[t->site[i].fact + j].term);
		sw_footprint_facts_text(&t->f, i, text, sizeof text);
		fprintf(stderr, "  (%s)\n", text);
	}
	for (size_t i = 0; i < reaches->n; i++) {
		const struct sw_reach *r = &reaches->at[i];
		fprintf(stderr,
			"  reach role %u extent %u base%+" PRId64 " width %" PRIu64 " pitch %" PRIu64 " rows %" PRIu64
			" slice %" PRIu64 " slices %" PRIu64 " %s\n",
			r->role, r->extent, (int64_t)(r->address - BASE), r->width, r->pitch, r->rows, r->slice,
			r->slices, sw_why_text(r->why));
	}
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
		 count = argc > 2 ? strtoull(argv[2], NULL, 0) : 4000;
	uint64_t kernels = 0, failed = 0, extents[2][3] = {{0}};
	double spent = 0, longest = 0;
	static struct kernel k;
	struct touched touched = {.at = malloc(MAX_BYTES * sizeof *touched.at)};
	for (uint64_t seed = first; seed < first + count; seed++) {
		make_kernel(&k, seed);
		if (run_kernel(&k, &touched)) {
			struct sw_reaches reaches = {0};
			qsort(touched.at, touched.n, sizeof *touched.at, by_address);
			double start = now();
			sw_footprint_evaluate(&k.t->f, &k.t->geometry, &reaches);
			double took = now() - start;
			spent += took;
			longest = took > longest ? took : longest;
			const char *wrong = check_sound(&touched, &reaches);
			if (!wrong && !k.data)
				wrong = check_precise(&touched, &reaches);
			if (wrong && failed++ < 10) {
				fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, wrong);
				if (failed <= 2)
					print_kernel(&k, &reaches);
			}
			for (size_t i = 0; i < reaches.n; i++)
				extents[k.plain][reaches.at[i].extent]++;
			kernels++;
			free(reaches.at);
		}
		free(k.t);
	}
	free(touched.at);
	printf("%" PRIu64 " kernels, %" PRIu64 " wrong; ordinary: %" PRIu64 " boxes, %" PRIu64 " hulls, %" PRIu64
	       " open; wild: %" PRIu64 " boxes, %" PRIu64 " hulls, %" PRIu64 " open; %.1f us each, at most %.0f us\n",
	       kernels, failed, extents[1][0], extents[1][1], extents[1][2], extents[0][0], extents[0][1],
	       extents[0][2], kernels ? spent / (double)kernels : 0, longest);
	if (argc < 2 && extents[1][0] < extents[1][1] + extents[1][2]) {
		fprintf(stderr, "fewer boxes than hulls and open reaches in ordinary kernels\n");
		return 1;
	}
	return failed != 0;
}
