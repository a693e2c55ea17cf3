/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a kernel with the machine's arithmetic. */
#include "base/hash.h"
#include "footprint/launch/linear/linear_form.h"
#include "oracle.h"

#define MAX_STEPS 600 /* iterations of a loop; kernels that need more are left out */

__extension__ typedef unsigned __int128 unsigned_wide;

struct oracle_thread {
	const struct oracle_kernel *k;
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

static uint64_t run_special(const struct oracle_thread *th, int64_t which)
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

/* A value that no data goes into was made before all loops: a thread has it once. */
static uint64_t made_once(const struct oracle_thread *th, uint32_t number)
{
	uint64_t hash = number;
	for (int i = 0; i < 3; i++)
		hash = sw_hash_u64(hash << 1 ^ (uint64_t)th->tid[i] << 32 ^ th->ctaid[i]);
	return hash;
}

/* false: undefined on the machine (division by zero): the kernel is left out. */
static bool run_term(struct oracle_thread *th, uint32_t number)
{
	const struct sw_term *t = &th->k->t->term[number];
	unsigned w = t->width, half = w / 2;
	bool is_signed = t->flags & SW_SIGNED;
	uint64_t a = t->a < number ? th->result[t->a] : 0, b = t->b < number ? th->result[t->b] : 0, r = 0;
	int64_t x = as_signed(a, w), y = as_signed(b, w);
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
		r = (uint64_t)t->imm + (t->b == 1 ? made_once(th, number) : oracle_random(UINT64_MAX)) %
					       ((uint64_t)(t->imm2 - t->imm) + 1);
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
		r = is_signed ? (uint64_t)((sw_wide)x * y >> w) : (uint64_t)((unsigned_wide)a * b >> w);
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

static bool run_terms(struct oracle_thread *th)
{
	for (uint32_t i = 0; i < th->k->t->f.terms; i++) {
		if (!run_term(th, i))
			return false;
	}
	return true;
}

static bool facts_hold(const struct oracle_thread *th, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct sw_fact *f = &th->k->t->fact[from + i];
		if ((th->result[f->term] != 0) != f->truth)
			return false;
	}
	return true;
}

/* Runs the sites in a loop (+ 1), or after all loops. */
static bool run_sites(struct oracle_thread *th, uint32_t loop, struct oracle_touched *out)
{
	const struct terms *t = th->k->t;
	for (uint32_t i = 0; i < t->f.sites; i++) {
		const struct sw_access_site *s = &t->site[i];
		if (s->loop != loop || !facts_hold(th, s->fact, s->facts))
			continue;
		for (uint32_t j = 0; j < s->bytes; j++) {
			if (out->n == ORACLE_BYTES)
				return false;
			out->at[out->n++] = (struct oracle_touch){th->result[s->address] + j, s->role};
		}
	}
	return true;
}

/* The sites are in the innermost loop, or (where there is one) after it. */
static bool run_loop(struct oracle_thread *th, uint32_t number, struct oracle_touched *out)
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

bool oracle_run(const struct oracle_kernel *k, struct oracle_touched *out)
{
	static struct oracle_thread th;
	const struct sw_geometry *g = &k->t->geometry;
	uint32_t blocks = g->grid[0] * g->grid[1], threads = g->block[0] * g->block[1];
	out->n = 0;
	for (uint32_t i = 0; i < blocks * threads; i++) {
		uint32_t block = i / threads, thread = i % threads;
		memset(&th, 0, offsetof(struct oracle_thread, result));
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
