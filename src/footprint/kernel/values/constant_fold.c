/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on constants. */
#include "footprint/kernel/values/simplify.h"

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

static bool fold_division(const struct sw_making *m, int64_t a, int64_t b, int64_t *result)
{
	uint64_t ua = sw_fold_unsigned(a, m->width), ub = sw_fold_unsigned(b, m->width);
	bool rem = m->op == SW_OP_REM;
	if (!b)
		return false;
	if (!(m->flags & SW_SIGNED))
		*result = (int64_t)(rem ? ua % ub : ua / ub);
	else if (b == -1) /* INT64_MIN / -1 traps */
		*result = rem ? 0 : (int64_t)(0 - (uint64_t)a);
	else
		*result = rem ? a % b : a / b;
	return true;
}

static int64_t fold_shift(const struct sw_making *m, int64_t a, int64_t count)
{
	uint64_t n = sw_fold_unsigned(count, 32);
	uint32_t w = m->width;
	if (m->op == SW_OP_SHL)
		return n >= w ? 0 : (int64_t)((uint64_t)a << n);
	if (m->flags & SW_SIGNED)
		return a >> (n >= w ? 63 : n);
	return n >= w ? 0 : (int64_t)(sw_fold_unsigned(a, w) >> n);
}

static int64_t fold_mulhi(const struct sw_making *m, int64_t a, int64_t b)
{
	if (m->flags & SW_SIGNED)
		return (int64_t)(((signed_wide)a * b) >> m->width);
	return (int64_t)(((wide)sw_fold_unsigned(a, m->width) * sw_fold_unsigned(b, m->width)) >> m->width);
}

static bool fold_compare(const struct sw_making *m, int64_t a, int64_t b)
{
	uint64_t ua = sw_fold_unsigned(a, (uint32_t)m->imm2), ub = sw_fold_unsigned(b, (uint32_t)m->imm2);
	bool less = m->flags & SW_SIGNED ? a < b : ua < ub, equal = ua == ub;
	switch (m->imm) {
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

static int64_t fold_extreme(const struct sw_making *m, int64_t a, int64_t b)
{
	bool less = m->flags & SW_SIGNED ? a < b : sw_fold_unsigned(a, m->width) < sw_fold_unsigned(b, m->width);
	return less == (m->op == SW_OP_MIN) ? a : b;
}

static int64_t fold_extend(const struct sw_making *m, int64_t a)
{
	uint32_t bits = (uint32_t)m->imm;
	if (m->flags & SW_SIGNED && bits > 1)
		return sw_fold_canonical(a, bits);
	if (m->flags & SW_SIGNED)
		return a & 1 ? -1 : 0;
	return (int64_t)sw_fold_unsigned(a, bits);
}

/* Sum of 32-bit operands, the last of an ADDX being a carry of one bit. */
static uint64_t fold_sum(const struct sw_making *m, const int64_t *imm)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < m->n; i++)
		total += (uint32_t)imm[i];
	return total;
}

bool sw_fold(const struct sw_making *m, const int64_t *imm, int64_t *result)
{
	int64_t a = m->n > 0 ? imm[0] : 0, b = m->n > 1 ? imm[1] : 0, r;
	uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
	switch (m->op) {
	case SW_OP_MOV:
		r = a;
		break;
	case SW_OP_ADD:
		r = (int64_t)(ua + ub);
		break;
	case SW_OP_SUB:
		r = (int64_t)(ua - ub);
		break;
	case SW_OP_MUL:
		r = (int64_t)(ua * ub);
		break;
	case SW_OP_MULHI:
		r = fold_mulhi(m, a, b);
		break;
	case SW_OP_NEG:
		r = (int64_t)(0 - ua);
		break;
	case SW_OP_ABS:
		r = a < 0 ? (int64_t)(0 - ua) : a;
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
	case SW_OP_MIN:
	case SW_OP_MAX:
		r = fold_extreme(m, a, b);
		break;
	case SW_OP_SHL:
	case SW_OP_SHR:
		r = fold_shift(m, a, b);
		break;
	case SW_OP_EXTEND:
		r = fold_extend(m, a);
		break;
	case SW_OP_SELECT:
		r = a & 1 ? b : imm[2];
		break;
	case SW_OP_COMPARE:
		r = fold_compare(m, a, b);
		break;
	case SW_OP_PAIR:
		r = (int64_t)((uint64_t)(uint32_t)a | ub << 32);
		break;
	case SW_OP_LOW:
		r = a;
		break;
	case SW_OP_HIGH:
		r = a >> 32;
		break;
	case SW_OP_CARRY:
		r = (int64_t)(fold_sum(m, imm) >> 32 != 0);
		break;
	case SW_OP_ADDX:
		r = (int64_t)fold_sum(m, imm);
		break;
	case SW_OP_DIV:
	case SW_OP_REM:
		if (!fold_division(m, a, b, &r))
			return false;
		break;
	default:
		return false;
	}
	*result = sw_fold_canonical(r, m->width);
	return true;
}
