/* SPDX-License-Identifier: Apache-2.0 */
/* Machine instructions that touch memory. */
#include "footprint/sass_lower.h"

/* Bits 73-75 of loads and stores.  7: 256 bits, in two groups of registers (sm_100 and later). */
static const struct {
	uint8_t bytes, count, is_signed;
} sizes[8] = {{1, 1, 0}, {1, 1, 1}, {2, 1, 0}, {2, 1, 1}, {4, 1, 0}, {4, 2, 0}, {4, 4, 0}, {4, 8, 0}};

/*
 * Bits 77-80: 0 weak, 4 constant, 5 .STRONG.SM, 7 .STRONG.GPU, 10 .STRONG.SYS; on sm_75 two fields, scope and then 0
 * constant, 1 weak, 2 strong, 3 mmio.
 */
static unsigned volatile_of(const struct sw_sass *s)
{
	unsigned order = (unsigned)sw_sass_bits(s, 77, 4);
	if (s->cubin->arch < 80)
		return order >> 2 >= 2 ? SW_VOLATILE : 0;
	return order == 0 || order == 4 ? 0 : SW_VOLATILE;
}

/* An instruction that only some threads execute, of the file that its guard is in. */
static struct sw_insn *guarded(struct sw_sass *s, enum sw_op op, unsigned width, unsigned space)
{
	struct sw_insn *i = sw_sass_emit(s, op, width);
	i->guard = s->guard;
	i->flags = s->guard_not ? SW_GUARD_NOT : 0;
	i->space = (uint8_t)space;
	return i;
}

static void give_predicate(struct sw_sass *s)
{
	if (s->op->flags & SW_PREDICATE && sw_sass_predicate_out(s, 81) != SW_NO_REG)
		sw_sass_set(s, sw_sass_predicate_out(s, 81), 1, sw_sass_anything(s, 1));
}

static struct sw_operand or_zero(sw_reg reg)
{
	return reg == SW_NO_REG ? sw_operand_imm(0) : sw_operand_reg(reg);
}

/*
 * The address of global and generic accesses.  72: 64 bits (all of CUDA's); 91: a uniform register at `uniform_at`, on
 * sm_80 and later the descriptor (cache policy, not part of the address); 90: Ra is a pair.  Another form with a
 * uniform base was not met on sm_80 and later: whatever may be its base counts.
 */
static struct sw_operand global_address(struct sw_sass *s, unsigned uniform_at)
{
	sw_reg ra = sw_sass_reg(s, 24, false), ur = sw_sass_reg(s, uniform_at, true);
	struct sw_operand base = sw_sass_pair(s, ra);
	if (!sw_sass_bit(s, 91) || (sw_sass_bit(s, 90) && s->cubin->arch >= 80) || ur == SW_NO_REG)
		return base;
	if (s->cubin->arch < 80) {
		if (!sw_sass_bit(s, 90))
			base = sw_sass_extend(s, 64, 32, false, or_zero(ra));
		return sw_sass_binary(s, SW_OP_ADD, 64, base, sw_sass_pair(s, ur));
	}
	struct sw_operand src[3] = {base, sw_sass_pair(s, ur), sw_sass_pair(s, (ur & 0xff) < 252 ? ur + 2 : SW_NO_REG)};
	return sw_sass_value(s, SW_OP_MIX, 64, 0, 3, src);
}

/* Local and shared memory: 32 bits; 78-79: Ra times 4, 8, 16; 91: a uniform register on top. */
static struct sw_operand near_address(struct sw_sass *s, unsigned uniform_at)
{
	struct sw_operand a = or_zero(sw_sass_reg(s, 24, false));
	unsigned scale = (unsigned)sw_sass_bits(s, 78, 2);
	if (scale && SW_SPACE_OF(s->op->flags) == SW_SHARED)
		a = sw_sass_binary(s, SW_OP_SHL, 32, a, sw_operand_imm(scale + 1));
	sw_reg ur = sw_sass_bit(s, 91) ? sw_sass_reg(s, uniform_at, true) : SW_NO_REG;
	return ur == SW_NO_REG ? a : sw_sass_binary(s, SW_OP_ADD, 32, a, sw_operand_reg(ur));
}

static bool near_space(unsigned space)
{
	return space == SW_LOCAL || space == SW_SHARED;
}

static struct sw_operand address(struct sw_sass *s, unsigned uniform_at)
{
	return near_space(SW_SPACE_OF(s->op->flags)) ? near_address(s, uniform_at) : global_address(s, uniform_at);
}

/* Pointers come in elements of 64 bits out of global memory; local memory is kept in words, as spills may take either.
 */
void sw_sass_lower_load(struct sw_sass *s)
{
	unsigned space = SW_SPACE_OF(s->op->flags), size = (unsigned)sw_sass_bits(s, 73, 3);
	bool pairs = sizes[size].count > 1 && !near_space(space);
	unsigned count = sizes[size].count >> pairs, width = pairs ? 64 : 32;
	sw_reg rd = sw_sass_reg(s, 16, false), second = sw_sass_reg(s, 64, false);
	struct sw_operand at = address(s, 32), value[8] = {{0, 0}};
	for (unsigned k = 0; k < count; k++)
		value[k] = sw_sass_temp(s);
	struct sw_insn *i = guarded(s, SW_OP_LOAD, width, space);
	i->dst = value[0].reg;
	i->bytes = (uint16_t)(pairs ? 8 : sizes[size].bytes);
	i->count = (uint8_t)count;
	i->n = 1;
	i->src[0] = at;
	i->imm = sw_sass_signed(s, 40, 24);
	i->flags |=
		(uint8_t)(volatile_of(s) & (near_space(space) ? 0 : 0xff)) | (sizes[size].is_signed ? SW_SIGNED : 0);
	for (unsigned k = 0; k < count && rd != SW_NO_REG; k++) {
		sw_reg reg = size == 7 && k >= count / 2 ? second : rd;
		uint32_t step = (k - (size == 7 && k >= count / 2 ? count / 2 : 0)) << pairs;
		if (reg == SW_NO_REG || (reg & 0xff) + step + pairs > 254)
			continue;
		if (pairs)
			sw_sass_halves(s, reg + step, value[k]);
		else
			sw_sass_set(s, reg + step, 32, value[k]);
	}
	give_predicate(s);
}

void sw_sass_lower_store(struct sw_sass *s)
{
	unsigned space = SW_SPACE_OF(s->op->flags), size = (unsigned)sw_sass_bits(s, 73, 3);
	unsigned count = sizes[size].count;
	sw_reg rb = sw_sass_reg(s, 32, false), second = sw_sass_reg(s, 16, false);
	struct sw_operand at = address(s, 64);
	struct sw_insn *i = guarded(s, SW_OP_STORE, 32, space);
	i->bytes = sizes[size].bytes;
	i->count = (uint8_t)count;
	i->n = (uint8_t)(1 + count);
	i->src[0] = at;
	i->imm = sw_sass_signed(s, 40, 24);
	i->flags |= (uint8_t)(volatile_of(s) & (near_space(space) ? 0 : 0xff));
	for (unsigned k = 0; k < count; k++) {
		sw_reg reg = k < 4 ? rb : second;
		i->src[1 + k] = reg == SW_NO_REG || (reg & 0xff) + (k & 3) > 254 ? sw_operand_imm(0)
										 : sw_operand_reg(reg + (k & 3));
	}
}

/* Bits 73-75 of atomics: 32 bits unsigned and signed, 64, float, two halves, 64 signed, double. */
static const uint8_t atomic_bytes[8] = {4, 4, 8, 4, 4, 8, 8, 16};
/* ... of those that only add floating-point numbers (sm_90 and later): two halves, float, pairs and quads of either,
 * double. */
static const uint8_t float_bytes[8] = {4, 4, 4, 8, 8, 16, 16, 8};

static void atomic(struct sw_sass *s, unsigned bytes, bool result)
{
	unsigned space = SW_SPACE_OF(s->op->flags);
	bool cas = (s->low & 0x1ff) == 0x18b || (s->low & 0x1ff) == 0x1a9;
	/* From sm_100 on bit 63 is no part of the displacement of those that give the old value. */
	unsigned bits = s->cubin->arch >= 100 && result && !cas ? 23 : 24;
	sw_reg rd = result ? sw_sass_reg(s, 16, false) : SW_NO_REG;
	struct sw_operand at = global_address(s, 64), rb = or_zero(sw_sass_reg(s, 32, false)), old = sw_sass_temp(s);
	struct sw_operand rc = cas ? or_zero(sw_sass_reg(s, 64, false)) : rb;
	unsigned width = bytes == 8 ? 64 : 32;
	if (width == 64) {
		rb = sw_sass_pair(s, rb.reg);
		rc = cas ? sw_sass_pair(s, rc.reg) : rb;
	}
	struct sw_insn *i = guarded(s, SW_OP_ATOMIC, width, space);
	i->dst = rd == SW_NO_REG ? SW_NO_REG : old.reg;
	i->bytes = (uint16_t)bytes;
	i->n = cas ? 3 : 2;
	i->src[0] = at;
	i->src[1] = rb;
	i->src[2] = rc;
	i->imm = sw_sass_signed(s, 40, bits);
	i->flags |= (uint8_t)(sw_sass_bits(s, 77, 4) == 10 ? SW_VOLATILE : 0);
	if (rd != SW_NO_REG && width == 64)
		sw_sass_halves(s, rd, old);
	else if (rd != SW_NO_REG)
		sw_sass_set(s, rd, 32, old);
	for (uint32_t k = 1; k < bytes / 4 && rd != SW_NO_REG && bytes > 8; k++)
		sw_sass_set(s, (rd & 0xff) + k > 254 ? SW_NO_REG : rd + k, 32, sw_sass_anything(s, 32));
	give_predicate(s);
}

void sw_sass_lower_atomic(struct sw_sass *s)
{
	atomic(s, atomic_bytes[sw_sass_bits(s, 73, 3)], true);
}

void sw_sass_lower_atomic_float(struct sw_sass *s)
{
	atomic(s, float_bytes[sw_sass_bits(s, 73, 3)], true);
}

void sw_sass_lower_reduce(struct sw_sass *s)
{
	atomic(s, atomic_bytes[sw_sass_bits(s, 73, 3)], false);
}

void sw_sass_lower_reduce_float(struct sw_sass *s)
{
	atomic(s, float_bytes[sw_sass_bits(s, 73, 3)], false);
}

/* Loads and reductions through multicast addresses: 16 bytes at most. */
void sw_sass_lower_multimem(struct sw_sass *s)
{
	sw_reg rd = sw_sass_reg(s, 16, false);
	struct sw_insn *i;
	struct sw_operand at = global_address(s, 32);
	i = guarded(s, SW_OP_LOAD, 32, SW_GLOBAL);
	i->dst = sw_sass_temp(s).reg;
	i->bytes = 16;
	i->n = 1;
	i->src[0] = at;
	i->imm = sw_sass_signed(s, 40, 24);
	i->flags |= SW_VOLATILE;
	for (uint32_t k = 0; k < 4 && rd != SW_NO_REG && (rd & 0xff) + k <= 254; k++)
		sw_sass_blur(s, rd + k, 32);
}

/* Rd: shared memory, at 16 times bits 48-63; Ra: global memory, displaced by bits 32-47. */
void sw_sass_lower_ldgsts(struct sw_sass *s)
{
	struct sw_operand at = global_address(s, 64);
	unsigned size = (unsigned)sw_sass_bits(s, 73, 3);
	if (sw_sass_bits(s, 32, 16))
		at = sw_sass_binary(s, SW_OP_ADD, 64, at, sw_operand_imm(sw_sass_signed(s, 32, 16)));
	struct sw_insn *i = guarded(s, SW_OP_BULK, 32, SW_GLOBAL);
	i->flags |= SW_READS;
	i->n = 2;
	i->src[0] = at;
	i->src[1] = sw_operand_imm(sizes[size].bytes * sizes[size].count);
}

/* A bulk copy of URc & 0xffff units of 16 bytes; 73: into shared memory, 74: out of it. */
static void bulk(struct sw_sass *s, unsigned writes)
{
	sw_reg from = sw_sass_reg(s, 24, true), to = sw_sass_reg(s, 32, true), units = sw_sass_reg(s, 64, true);
	bool in = sw_sass_bit(s, 73), out = sw_sass_bit(s, 74);
	struct sw_operand n = sw_sass_extend(s, 64, 16, false, or_zero(units));
	n = sw_sass_binary(s, SW_OP_SHL, 64, n, sw_operand_imm(4));
	struct sw_operand source = sw_sass_pair(s, from), target = sw_sass_pair(s, to);
	for (int side = 0; side < 2; side++) {
		if (side ? in && !out : out && !in) /* this side is shared memory */
			continue;
		struct sw_insn *i = guarded(s, SW_OP_BULK, 32, SW_GLOBAL);
		i->flags |= (uint8_t)(side ? writes : SW_READS);
		i->n = 2;
		i->src[0] = side ? target : source;
		i->src[1] = n;
	}
}

void sw_sass_lower_ublkcp(struct sw_sass *s)
{
	bulk(s, SW_WRITES);
}

void sw_sass_lower_ublkred(struct sw_sass *s)
{
	bulk(s, SW_READS | SW_WRITES);
}

static void object(struct sw_sass *s, enum sw_op op, struct sw_operand handle, unsigned flags)
{
	struct sw_insn *i = guarded(s, op, 32, SW_GLOBAL);
	i->flags |= (uint8_t)flags;
	i->n = 1;
	i->src[0] = handle;
}

/* URa: address of the tensor map. */
static void tensor(struct sw_sass *s, unsigned flags)
{
	struct sw_operand map = sw_sass_pair(s, sw_sass_reg(s, 24, true));
	object(s, SW_OP_TENSOR, map, flags);
}

void sw_sass_lower_tensor_read(struct sw_sass *s)
{
	tensor(s, SW_READS);
}

void sw_sass_lower_tensor_write(struct sw_sass *s)
{
	tensor(s, SW_WRITES);
}

void sw_sass_lower_tensor_both(struct sw_sass *s)
{
	tensor(s, SW_READS | SW_WRITES);
}

/* The handle: in a uniform register at 40 (form 7), a word of bank 0 (40-53, form 5), or two registers at 32 (form 1).
 */
static struct sw_operand handle(struct sw_sass *s)
{
	unsigned form = (unsigned)sw_sass_bits(s, 9, 3);
	if (form == 7)
		return or_zero(sw_sass_reg(s, 40, true));
	if (form == 5)
		return sw_sass_constant(s, 0, (uint32_t)sw_sass_bits(s, 40, 14) * 4, 4, false);
	struct sw_operand src[3] = {or_zero(sw_sass_reg(s, 24, false)), or_zero(sw_sass_reg(s, 32, false)),
				    or_zero(sw_sass_reg(s, 64, false))};
	return sw_sass_value(s, SW_OP_MIX, 32, 0, 3, src);
}

static void through(struct sw_sass *s, enum sw_op op, unsigned flags)
{
	struct sw_operand h = handle(s);
	object(s, op, h, flags);
	for (unsigned at = 16; at <= 64; at += 48) { /* results in up to two groups of registers */
		sw_reg rd = sw_sass_reg(s, at, false);
		for (uint32_t k = 0; k < SW_WORDS_OF(s->op->words) && rd != SW_NO_REG && (rd & 0xff) + k <= 254; k++)
			sw_sass_blur(s, rd + k, 32);
	}
	give_predicate(s);
}

void sw_sass_lower_texture(struct sw_sass *s)
{
	through(s, SW_OP_TEXTURE, SW_READS);
}

void sw_sass_lower_surface_read(struct sw_sass *s)
{
	through(s, SW_OP_SURFACE, SW_READS);
}

void sw_sass_lower_surface_write(struct sw_sass *s)
{
	through(s, SW_OP_SURFACE, SW_WRITES);
}

void sw_sass_lower_surface_both(struct sw_sass *s)
{
	through(s, SW_OP_SURFACE, SW_READS | SW_WRITES);
}

/* Barriers in shared memory; the result may be in either file. */
void sw_sass_lower_syncs(struct sw_sass *s)
{
	sw_sass_blur(s, sw_sass_reg(s, 16, false), 32);
	sw_sass_blur(s, sw_sass_reg(s, 16, true), 32);
	give_predicate(s);
}

/* 38-53: displacement; 54-58: bank; an index at 24, of the other file for those of the uniform datapath. */
void sw_sass_lower_ldc(struct sw_sass *s)
{
	unsigned size = (unsigned)sw_sass_bits(s, 73, 3), bytes = sizes[size].bytes;
	unsigned low = (s->low & 0x1ff) == 0x1ac ? 37 : 38; /* LDCU has one bit more */
	unsigned bank = (unsigned)sw_sass_bits(s, 54, 5), offset = (unsigned)sw_sass_bits(s, low, 54 - low);
	bool uniform = sw_sass_uniform(s), indexed = (s->low & 0x1ff) != 0x0b9;
	sw_reg rd = sw_sass_reg(s, 16, uniform), index = indexed ? sw_sass_reg(s, 24, uniform) : SW_NO_REG;
	unsigned words = sizes[size].count;
	if (!uniform && sw_sass_bit(s, 91))
		bank = 31; /* bank whose address is in a uniform register: none that CUDA's compiler makes */
	for (unsigned k = 0; rd != SW_NO_REG && k<words; k += words> 1 ? 2 : 1) {
		if ((rd & 0xff) + k + (words > 1) > 254)
			break;
		unsigned part = words > 1 ? 8 : bytes;
		struct sw_operand v;
		if (index == SW_NO_REG)
			v = sw_sass_constant(s, bank, offset + 4 * k, part, sizes[size].is_signed);
		else
			v = sw_sass_constant_at(s, bank, offset + 4 * k, index, part, sizes[size].is_signed);
		if (words > 1)
			sw_sass_halves(s, rd + k, v);
		else
			sw_sass_set(s, rd + k, 32, v);
	}
}
