/* SPDX-License-Identifier: Apache-2.0 */
/* Machine instructions whose results are unknown numbers, and unknown instructions. */
#include "footprint/instructions/sass/sass_lower.h"

/* An instruction that neither touches memory nor makes a number: NOP, fences, waits for scoreboards. */
void sw_sass_lower_nothing(struct sw_sass *s)
{
	(void)s;
}

/* ACQBULK: waits for the launches that this one depends on; ptxas makes it of griddepcontrol.wait (seen with nvcc
   13.0). */
void sw_sass_lower_grid_wait(struct sw_sass *s)
{
	sw_sass_guarded(s, SW_OP_GRID_WAIT, 32, SW_GENERIC);
}

/* PREEXIT: launches that depend on this one may begin; ptxas makes it of griddepcontrol.launch_dependents. */
void sw_sass_lower_grid_trigger(struct sw_sass *s)
{
	sw_sass_guarded(s, SW_OP_GRID_TRIGGER, 32, SW_GENERIC);
}

/* BAR.  77-79: 0 .SYNC, 1 .ARV, which waits for nobody, 2 .RED.  b1d and 51d have the number of threads in 42-53, 0
   for all of the block; 31d and 91d in a register. */
void sw_sass_lower_bar(struct sw_sass *s)
{
	unsigned form = (unsigned)sw_sass_bits(s, 9, 3);
	bool all = (form == 5 || form == 2) && !sw_sass_bits(s, 42, 12);
	if (sw_sass_bits(s, 77, 3) != 1)
		sw_sass_guarded(s, SW_OP_BARRIER, 32, SW_GENERIC)->imm = all;
}

/* UCGABAR, the barrier of a cluster: 9c7 arrives, dc7 waits. */
void sw_sass_lower_ucgabar(struct sw_sass *s)
{
	if (sw_sass_bits(s, 9, 3) == 6)
		sw_sass_guarded(s, SW_OP_BARRIER, 32, SW_GENERIC);
}

/* WARPSYNC: threads of one warp wait for each other, which orders no others of the block. */
void sw_sass_lower_warp_barrier(struct sw_sass *s)
{
	sw_sass_guarded(s, SW_OP_BARRIER, 32, SW_GENERIC);
}

/* Opcodes, bits 0 to 8, as in sass_ops.def. */
#define VOTE  0x006
#define VOTEU 0x086
#define QSPC  0x1aa

/* An unknown number that at least one thread has: a condition on it does not make the access that it guards uncertain
   (see MIX in ops.def).  Of a number that perhaps no thread has this would be a false "certain": sw_sass_anything(). */
static struct sw_operand number_of_some_thread(struct sw_sass *s, unsigned width)
{
	return sw_sass_value(s, SW_OP_MIX, width, 0, 0, NULL);
}

/* The predicates that an instruction of sass_ops.def gives besides its register, as unknown numbers. */
static void write_predicates(struct sw_sass *s)
{
	/* QSPC asks which space an address lies in: the access to global memory that it guards is made where an address
	   lies there. */
	bool some_thread = (s->low & 0x1ff) == QSPC;
	if (s->op->flags & (SW_PREDICATE | SW_PREDICATES) && sw_sass_predicate_out(s, SW_AT_OUT) != SW_NO_REG)
		sw_sass_set(s, sw_sass_predicate_out(s, SW_AT_OUT), 1,
			    some_thread ? number_of_some_thread(s, 1) : sw_sass_anything(s, 1));
	if (s->op->flags & SW_PREDICATES && sw_sass_predicate_out(s, SW_AT_OUT2) != SW_NO_REG)
		sw_sass_set(s, sw_sass_predicate_out(s, SW_AT_OUT2), 1, sw_sass_anything(s, 1));
}

/* Gives Rd, and the registers after it that the instruction writes, a value each from `make`; then the predicates.
   SW_WEAK (0x80) in sass_ops.def: registers after Rd may also keep their old values. */
static void write_words(struct sw_sass *s, struct sw_operand (*make)(struct sw_sass *s))
{
	sw_reg rd = sw_sass_reg(s, 16, sw_sass_uniform(s));
	for (uint32_t k = 0; rd != SW_NO_REG && k < SW_WORDS_OF(s->op->words); k++) {
		if ((rd & 0xff) + k > 254)
			break;
		if (k && s->op->words & 0x80)
			sw_sass_blur(s, rd + k, 32);
		else
			sw_sass_set(s, rd + k, 32, make(s));
	}
	write_predicates(s);
}

/* Bits 87-89, inverted by 90, are the predicate whose ballot VOTE and VOTEU take.  Of PT that is the mask of active
   lanes, which has a bit: "is this lane the leader?" holds for one.  Of any other predicate it may be 0. */
static bool gives_active_lanes(const struct sw_sass *s)
{
	const uint32_t op = s->low & 0x1ff;
	return (op == VOTE || op == VOTEU) && sw_sass_bits(s, 87, 4) == 7;
}

/* The result of an instruction that is not modelled. */
static struct sw_operand unknown_word(struct sw_sass *s)
{
	return gives_active_lanes(s) ? number_of_some_thread(s, 32) : sw_sass_anything(s, 32);
}

/* An instruction whose result is a number that no address is made from, and that touches no memory. */
void sw_sass_lower_number(struct sw_sass *s)
{
	write_words(s, unknown_word);
}

/* FLO, BREV: a function of Rb, which finds the leader in a mask of lanes, as certain as the mask.  FLO gives -1 for
   0.  Bits 24-31 are no register. */
void sw_sass_lower_bits_of(struct sw_sass *s)
{
	sw_sass_result(s, sw_sass_unary(s, SW_OP_MIX, 32, sw_sass_plain(s, SW_SASS_B)));
	write_predicates(s);
}

/* GMMA: results of a matrix product.  53-57: columns of the result, in eights; each makes four registers, or two of
   half precision. */
void sw_sass_lower_gmma(struct sw_sass *s)
{
	sw_reg rd = sw_sass_reg(s, 16, false);
	bool known = (s->low & 0x1ff) == 0x1f0 || (s->low & 0x1ff) == 0x1f3;
	uint32_t eights = known ? (uint32_t)sw_sass_bits(s, 53, 5) + 1 : 32;
	for (uint32_t k = 0; rd != SW_NO_REG && k < 4 * eights && (rd & 0xff) + k <= 254; k++) {
		s->temps = 0; /* each value goes to its register at once */
		if (known && k < 2 * eights)
			sw_sass_set(s, rd + k, 32, sw_sass_anything(s, 32));
		else
			sw_sass_blur(s, rd + k, 32);
	}
}

/* F2F, F2I, I2F, FRND: a number made of or into a float, of one or two registers.  75-76: bytes of the result, 3 for
   two registers. */
void sw_sass_lower_convert(struct sw_sass *s)
{
	sw_reg rd = sw_sass_reg(s, 16, false);
	for (uint32_t k = 0; rd != SW_NO_REG && k < (sw_sass_bits(s, 75, 2) == 3 ? 2 : 1) && (rd & 0xff) + k <= 254;
	     k++)
		sw_sass_set(s, rd + k, 32, sw_sass_anything(s, 32));
}

/* LDTM: loads tensor memory.  80-82: shape, 4 and 6 one register each (32x32b, 16x64b), others four at most; 83-86:
   times 2^n.  Half of them where two values are packed into one. */
void sw_sass_lower_ldtm(struct sw_sass *s)
{
	sw_reg rd = sw_sass_reg(s, 16, false);
	unsigned shape = (unsigned)sw_sass_bits(s, 80, 3);
	uint32_t most = (shape == 4 || shape == 6 ? 1u : 4u) << sw_sass_bits(s, 83, 4);
	for (uint32_t k = 0; rd != SW_NO_REG && k < most && (rd & 0xff) + k <= 254; k++) {
		s->temps = 0; /* each value goes to its register at once */
		sw_sass_blur(s, rd + k, 32);
	}
}

/* A result that may be any function of the operands, and hold parts of addresses among them. */
static struct sw_operand mixed_word(struct sw_sass *s)
{
	struct sw_operand src[3];
	unsigned n = 0;
	for (unsigned k = 0; k < 3; k++) {
		struct sw_operand v = sw_sass_plain(s, (enum sw_sass_operand)k);
		if (v.reg != SW_NO_REG)
			src[n++] = v;
	}
	return sw_sass_value(s, SW_OP_MIX, 32, 0, n, src);
}

/* An instruction that is not modelled, whose result is some function of its operands. */
void sw_sass_lower_mix(struct sw_sass *s)
{
	write_words(s, mixed_word);
}

/* SHFL: another thread's Ra; of one that does not take part PTX promises nothing. */
void sw_sass_lower_shfl(struct sw_sass *s)
{
	struct sw_operand a = sw_sass_or_zero(sw_sass_reg(s, 24, false)), other = sw_sass_unary(s, SW_OP_MIX, 32, a);
	s->insn.at[s->insn.n - 1].imm = 1;
	sw_sass_result(s, other);
	write_predicates(s);
}

/* POPC: a number of bits. */
void sw_sass_lower_popc(struct sw_sass *s)
{
	sw_sass_result(s, sw_sass_leaf(s, SW_OP_RANGE, 32, 0, 32));
}

/* REDUX: some function of the operands of all threads of the warp, in a uniform register. */
void sw_sass_lower_redux(struct sw_sass *s)
{
	sw_sass_set(s, sw_sass_reg(s, 16, true), 32, mixed_word(s));
}

/* ELECT: the mask's leader, in a uniform register, and whether this thread is it. */
void sw_sass_lower_elect(struct sw_sass *s)
{
	sw_sass_set(s, sw_sass_reg(s, 16, true), 32, sw_sass_anything(s, 32));
	/* Some lane is elected whenever control comes here. */
	if (sw_sass_predicate_out(s, SW_AT_OUT) != SW_NO_REG)
		sw_sass_set(s, sw_sass_predicate_out(s, SW_AT_OUT), 1, number_of_some_thread(s, 1));
}

/* R2UR: a register's value as it is in some threads, in a uniform register. */
void sw_sass_lower_r2ur(struct sw_sass *s)
{
	sw_reg from = sw_sass_reg(s, 24, false);
	sw_sass_set(s, sw_sass_reg(s, 16, true), 32, from == SW_NO_REG ? sw_operand_imm(0) : sw_operand_reg(from));
	sw_sass_give_predicate(s); /* which threads have that number: loops go on until all had their turn */
}

/* Bits 72-104 choose a byte of the register (.B1, .B2, .B3) and more that was not seen: 0 is the plain form. */
static bool moves_low_byte(const struct sw_sass *s)
{
	return !sw_sass_bits(s, 72, 32);
}

/* P2R: P0 to P6 as bits 0 to 6, those that the mask names.  Seen with RZ for the rest of the bits; what another
   register would leave there is not known. */
void sw_sass_lower_p2r(struct sw_sass *s)
{
	struct sw_operand mask = sw_sass_plain(s, SW_SASS_B), v = sw_operand_imm(0);
	if (mask.reg != SW_NO_REG || mask.imm & ~INT64_C(0x7f) || sw_sass_reg(s, 24, false) != SW_NO_REG ||
	    !moves_low_byte(s)) {
		sw_sass_result(s, sw_sass_anything(s, 32));
		return;
	}
	for (uint32_t p = 0; p < 7; p++) {
		if (!(mask.imm >> p & 1))
			continue;
		struct sw_operand more[2] = {v, sw_operand_imm(1 << p)};
		struct sw_operand either[3] = {sw_operand_reg(SW_SASS_P + p),
					       sw_sass_value(s, SW_OP_OR, 32, 0, 2, more), v};
		v = sw_sass_value(s, SW_OP_SELECT, 32, 0, 3, either);
	}
	sw_sass_result(s, v);
}

/* Is this bit of v set? */
static struct sw_operand has_bit(struct sw_sass *s, struct sw_operand v, uint32_t bit)
{
	struct sw_operand masked = sw_sass_binary(s, SW_OP_AND, 32, v, sw_operand_imm(1 << bit));
	return sw_sass_compare(s, SW_NE, 32, false, masked, sw_operand_imm(0));
}

/* R2P: predicates from bits of a register, those that the mask names. */
void sw_sass_lower_r2p(struct sw_sass *s)
{
	struct sw_operand mask = sw_sass_plain(s, SW_SASS_B), from = sw_sass_or_zero(sw_sass_reg(s, 24, false));
	bool known = mask.reg == SW_NO_REG && !sw_sass_uniform(s) && moves_low_byte(s) && s->guard == SW_NO_REG;
	for (uint32_t p = 0; p < 7; p++) {
		if (mask.reg == SW_NO_REG && !(mask.imm >> p & 1))
			continue;
		sw_sass_set(s, p + (sw_sass_uniform(s) ? SW_SASS_UP : SW_SASS_P), 1,
			    known ? has_bit(s, from, p) : sw_sass_anything(s, 1));
	}
}

/* Bits 72-79. None of the other special registers says anything about addresses. */
static const struct {
	uint8_t number, special;
} specials[] = {{0x00, SW_LANEID},  {0x21, SW_TID_X},	{0x22, SW_TID_Y},  {0x23, SW_TID_Z},
		{0x25, SW_CTAID_X}, {0x26, SW_CTAID_Y}, {0x27, SW_CTAID_Z}};
#define SPECIAL_ZERO	     0xff
#define SPECIAL_SHARED_UPPER 0x2f /* upper half of the window of shared memory */
#define SPECIAL_LOCAL_UPPER  0x30 /* ... of local memory */

/* SR_CLOCKLO to SR_GLOBALTIMERHI.  A loop that waits for a time ends, so what comes after it is executed: the number
   counts as data, not as something that is not understood. */
static bool is_clock(unsigned number)
{
	return number >= 0x50 && number <= 0x53;
}

/* 32 bits of a special register that says nothing about addresses. */
static struct sw_operand half_of_special(struct sw_sass *s, unsigned number)
{
	return is_clock(number) ? number_of_some_thread(s, 32) : sw_sass_anything(s, 32);
}

/* S2R, CS2R: a special register.  CS2R writes two registers, but one with bit 80 clear (.32). */
void sw_sass_lower_s2r(struct sw_sass *s)
{
	unsigned number = (unsigned)sw_sass_bits(s, 72, 8);
	sw_reg rd = sw_sass_reg(s, 16, sw_sass_uniform(s));
	struct sw_operand v = {SW_NO_REG, -1};
	for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
		if (specials[i].number == number)
			v = sw_sass_leaf(s, SW_OP_SPECIAL, 32, specials[i].special, 0);
	if (number == SPECIAL_ZERO || number == SPECIAL_LOCAL_UPPER)
		v = sw_operand_imm(0);
	else if (number == SPECIAL_SHARED_UPPER)
		v = sw_sass_leaf(s, SW_OP_SHARED_ADDRESS, 32, 0, 0);
	else if (v.reg == SW_NO_REG)
		v = half_of_special(s, number);
	sw_sass_set(s, rd, 32, v);
	if (s->op->words == 2 && sw_sass_bit(s, 80) && rd != SW_NO_REG && (rd & 0xff) < 254)
		sw_sass_set(s, rd + 1, 32, number == SPECIAL_ZERO ? sw_operand_imm(0) : half_of_special(s, number));
}

/* The base of the window of local memory, whose addresses are counted from 0: it adds nothing. */
void sw_sass_lower_window(struct sw_sass *s)
{
	sw_sass_result64(s, sw_operand_imm(0));
}

void sw_sass_lower_unknown(struct sw_sass *s)
{
	static const uint8_t at[] = {24, 32, 64};
	struct sw_operand src[SW_MAX_SRC];
	unsigned n = 0;
	for (unsigned k = 0; k < 3; k++) {
		sw_reg r = sw_sass_reg(s, at[k], false), u = sw_sass_reg(s, at[k], true);
		src[n++] = sw_sass_pair(s, r);
		src[n++] = sw_sass_pair(s, u);
	}
	struct sw_operand t = sw_sass_value(s, SW_OP_OPAQUE, 64, 0, n, src);
	struct sw_insn *i = &s->insn.at[s->insn.n - 1];
	i->guard = s->guard;
	i->flags |= s->guard_not ? SW_GUARD_NOT : 0;
	for (uint32_t k = 0; k < 4; k++)
		for (int uniform = 0; uniform < 2; uniform++) {
			sw_reg rd = sw_sass_reg(s, 16, uniform);
			if (rd == SW_NO_REG || (rd & 0xff) + k > 254)
				continue;
			rd += k;
			sw_sass_set(
				s, rd, 32,
				sw_sass_value(s, SW_OP_MIX, 32, 0, 2, (struct sw_operand[]){sw_operand_reg(rd), t}));
		}
	for (unsigned k = 81; k <= 84; k += 3)
		for (int uniform = 0; uniform < 2; uniform++) {
			uint32_t p = (uint32_t)sw_sass_bits(s, k, 3);
			if (p != 7)
				sw_sass_set(s, p + (uniform ? SW_SASS_UP : SW_SASS_P), 1, sw_sass_anything(s, 1));
		}
	s->unknown++;
}
