/* SPDX-License-Identifier: Apache-2.0 */
/* Machine instructions that touch memory. */
#include "footprint/instructions/sass/sass_lower.h"

const struct sw_sass_size sw_sass_sizes[8] = {{1, 1, 0}, {1, 1, 1}, {2, 1, 0}, {2, 1, 1},
					      {4, 1, 0}, {4, 2, 0}, {4, 4, 0}, {4, 4, 0}};

/* Bits 77-80: how strong an access is, and for which threads.  7 is .STRONG.GPU.  On sm_75 two fields: scope (0 CTA, 2
   GPU, 3 system), then strength (0 constant, 1 weak, 2 strong, 3 mmio). */
enum { WEAK = 0, CONSTANT = 4, STRONG_SM = 5, STRONG_SYS = 10 };
enum { STRONG_OF_SM75 = 2, STRONG_CTA_OF_SM75 = STRONG_OF_SM75 << 2, STRONG_SYS_OF_SM75 = STRONG_OF_SM75 << 2 | 3 };

/* The strength and scope of the current instruction, as above. */
static unsigned order_of(const struct sw_sass *s)
{
	return (unsigned)sw_sass_bits(s, 77, 4);
}

/* SW_VOLATILE if a load or store may order or observe what another launch does.  Strong accesses of one block's scope
   count too, although only its own threads rely on them: marking too many is safe, as a mark only adds doubts. */
static unsigned volatile_of(const struct sw_sass *s)
{
	unsigned order = order_of(s);
	if (s->cubin->arch < 80)
		return order >> 2 >= STRONG_OF_SM75 ? SW_VOLATILE : 0;
	return order == WEAK || order == CONSTANT ? 0 : SW_VOLATILE;
}

/* SW_VOLATILE for an atomic that the host may also see: atomics are always strong, only these are distinguished. */
static unsigned system_scope(const struct sw_sass *s)
{
	return order_of(s) == (s->cubin->arch < 80 ? STRONG_SYS_OF_SM75 : STRONG_SYS) ? SW_VOLATILE : 0;
}

/* SW_READS and SW_WRITES for an atomic whose scope is one block: for other kernels it is a load and a store. */
static unsigned block_scope(const struct sw_sass *s)
{
	return order_of(s) == (s->cubin->arch < 80 ? STRONG_CTA_OF_SM75 : STRONG_SM) ? SW_READS | SW_WRITES : 0;
}

struct sw_insn *sw_sass_guarded(struct sw_sass *s, enum sw_op op, unsigned width, unsigned space)
{
	struct sw_insn *i = sw_sass_emit(s, op, width);
	i->guard = s->guard;
	i->flags = s->guard_not ? SW_GUARD_NOT : 0;
	i->space = (uint8_t)space;
	return i;
}

void sw_sass_give_predicate(struct sw_sass *s)
{
	if (s->op->flags & SW_PREDICATE && sw_sass_predicate_out(s, SW_AT_OUT) != SW_NO_REG)
		sw_sass_set(s, sw_sass_predicate_out(s, SW_AT_OUT), 1, sw_sass_value(s, SW_OP_MIX, 1, 0, 0, NULL));
}

/* The register as an operand; RZ is the constant 0. */
struct sw_operand sw_sass_or_zero(sw_reg reg)
{
	return reg == SW_NO_REG ? sw_operand_imm(0) : sw_operand_reg(reg);
}

/*
 * The address of global and generic accesses.  72: 64 bits (all of CUDA's); 91: a uniform register at `uniform_at`,
 * which is added unless `descriptor` is set (a cache policy then, no part of the address); 90: Ra is a pair, else 32
 * bits without sign.  A descriptor without a pair was not met: whatever may be its base counts.
 */
struct sw_operand sw_sass_global_address(struct sw_sass *s, unsigned uniform_at, bool descriptor)
{
	sw_reg ra = sw_sass_reg(s, 24, false), ur = sw_sass_reg(s, uniform_at, true);
	struct sw_operand base = sw_sass_pair(s, ra);
	if (!sw_sass_bit(s, 91) || ur == SW_NO_REG || (descriptor && sw_sass_bit(s, 90)))
		return base;
	if (descriptor) {
		struct sw_operand src[3] = {base, sw_sass_pair(s, ur),
					    sw_sass_pair(s, (ur & 0xff) < 252 ? ur + 2 : SW_NO_REG)};
		return sw_sass_value(s, SW_OP_MIX, 64, 0, 3, src);
	}
	if (ra == SW_NO_REG)
		return sw_sass_pair(s, ur);
	if (!sw_sass_bit(s, 90))
		base = sw_sass_extend(s, 64, 32, false, sw_sass_or_zero(ra));
	return sw_sass_binary(s, SW_OP_ADD, 64, base, sw_sass_pair(s, ur));
}

/* The address of an atomic: one that returns the old value has no bit 90, and the descriptor is encoded elsewhere. */
static struct sw_operand atomic_address(struct sw_sass *s, bool result)
{
	unsigned descriptor_bit = s->cubin->arch < 100 ? 71 : result ? 63 : 81;
	bool descriptor = s->cubin->arch >= 80 && sw_sass_bit(s, descriptor_bit);
	return result && descriptor ? sw_sass_pair(s, sw_sass_reg(s, 24, false))
				    : sw_sass_global_address(s, 64, descriptor);
}

/* The 32-bit address of an access to local or shared memory: Ra, times 4, 8 or 16 as bits 78-79 say, and with bit 91
   a uniform register on top. */
static struct sw_operand near_address(struct sw_sass *s, unsigned uniform_at)
{
	struct sw_operand a = sw_sass_or_zero(sw_sass_reg(s, 24, false));
	unsigned scale = (unsigned)sw_sass_bits(s, 78, 2);
	if (scale && SW_SPACE_OF(s->op->flags) == SW_SHARED)
		a = sw_sass_binary(s, SW_OP_SHL, 32, a, sw_operand_imm(scale + 1));
	sw_reg ur = sw_sass_bit(s, 91) ? sw_sass_reg(s, uniform_at, true) : SW_NO_REG;
	return ur == SW_NO_REG ? a : sw_sass_binary(s, SW_OP_ADD, 32, a, sw_operand_reg(ur));
}

/* Is it local or shared memory, whose addresses have 32 bits? */
static bool near_space(unsigned space)
{
	return space == SW_LOCAL || space == SW_SHARED;
}

/* The address of a load or store, without its displacement. */
static struct sw_operand access_address(struct sw_sass *s, unsigned uniform_at)
{
	return near_space(SW_SPACE_OF(s->op->flags))
		       ? near_address(s, uniform_at)
		       : sw_sass_global_address(s, uniform_at, s->cubin->arch >= 80 && sw_sass_bit(s, 76));
}

/* ST that has no room for a uniform register: generic, form 1. */
static bool plain_store(const struct sw_sass *s)
{
	return SW_SPACE_OF(s->op->flags) == SW_GENERIC && sw_sass_bits(s, 9, 3) == 1;
}

#define LD 0x180

/* Where no other register stands before it the displacement has 32 bits (seen with nvdisasm 13.5: ST of sm_75 and
   sm_80, LD without a uniform register of all architectures). */
static bool wide_displacement(const struct sw_sass *s)
{
	bool plain_load = SW_SPACE_OF(s->op->flags) == SW_GENERIC && !sw_sass_bit(s, 91) &&
			  (s->cubin->arch < 80 || (s->low & 0x1ff) == LD);
	return plain_store(s) || plain_load;
}

/* LD, LDG, LDS, LDL.  Pointers come in elements of 64 bits out of global memory; local memory is kept in words, as
   spills may take either. */
void sw_sass_lower_load(struct sw_sass *s)
{
	unsigned space = SW_SPACE_OF(s->op->flags), size = (unsigned)sw_sass_bits(s, 73, 3);
	bool pairs = sw_sass_sizes[size].count > 1 && !near_space(space);
	unsigned count = sw_sass_sizes[size].count >> pairs, width = pairs ? 64 : 32;
	sw_reg rd = sw_sass_reg(s, 16, false);
	struct sw_operand at = access_address(s, 32), value[4] = {{0, 0}};
	for (unsigned k = 0; k < count; k++)
		value[k] = sw_sass_temp(s);
	struct sw_insn *i = sw_sass_guarded(s, SW_OP_LOAD, width, space);
	i->dst = value[0].reg;
	i->bytes = (uint16_t)(pairs ? 8 : sw_sass_sizes[size].bytes);
	i->count = (uint8_t)count;
	i->n = 1;
	i->src[0] = at;
	i->imm = wide_displacement(s) ? sw_sass_signed(s, 32, 32) : sw_sass_signed(s, 40, 24);
	i->flags |= (uint8_t)(volatile_of(s) & (near_space(space) ? 0 : 0xff)) |
		    (sw_sass_sizes[size].is_signed ? SW_SIGNED : 0);
	for (unsigned k = 0; k < count && rd != SW_NO_REG; k++) {
		uint32_t step = k << pairs;
		if ((rd & 0xff) + step + pairs > 254)
			break;
		if (pairs)
			sw_sass_halves(s, rd + step, value[k]);
		else
			sw_sass_set(s, rd + step, 32, value[k]);
	}
	sw_sass_give_predicate(s);
}

/* ST, STG, STS, STL: a store of 1 to 16 bytes. */
void sw_sass_lower_store(struct sw_sass *s)
{
	unsigned space = SW_SPACE_OF(s->op->flags), size = (unsigned)sw_sass_bits(s, 73, 3);
	unsigned count = sw_sass_sizes[size].count;
	/* ST without a uniform register has its data where the others have that register. */
	sw_reg rb = sw_sass_reg(s, plain_store(s) ? 64 : 32, false);
	struct sw_operand at = access_address(s, 64);
	struct sw_insn *i = sw_sass_guarded(s, SW_OP_STORE, 32, space);
	i->bytes = sw_sass_sizes[size].bytes;
	i->count = (uint8_t)count;
	i->n = (uint8_t)(1 + count);
	i->src[0] = at;
	i->imm = wide_displacement(s) ? sw_sass_signed(s, 32, 32) : sw_sass_signed(s, 40, 24);
	i->flags |= (uint8_t)(volatile_of(s) & (near_space(space) ? 0 : 0xff));
	for (unsigned k = 0; k < count; k++) {
		i->src[1 + k] = rb == SW_NO_REG || (rb & 0xff) + k > 254 ? sw_operand_imm(0) : sw_operand_reg(rb + k);
	}
}

/* Bits 73-75 of atomics: 32 bits unsigned and signed, 64, float, two halves, 64 signed, double. */
static const uint8_t atomic_bytes[8] = {4, 4, 8, 4, 4, 8, 8, 16};
/* 73-76 of those that only add floating-point numbers (sm_90 and later): one, two or four pairs of halves of either
   kind, then one, two or four floats; 15: double. */
static const uint8_t float_bytes[16] = {4, 8, 16, 4, 8, 16, 16, 16, 16, 4, 8, 16, 16, 16, 16, 8};

/* The bytes that an atomic touches.  Since sm_90 pairs of halves are among those of floats, and their code means 128
   bits here. */
static unsigned bytes_of(const struct sw_sass *s)
{
	unsigned type = (unsigned)sw_sass_bits(s, 73, 3);
	return type == 4 && s->cubin->arch >= 90 ? 16 : atomic_bytes[type];
}

/* Emits an atomic operation on `bytes` bytes.  result: it gives the old value in Rd. */
static void lower_atomic(struct sw_sass *s, unsigned bytes, bool result)
{
	unsigned space = SW_SPACE_OF(s->op->flags);
	bool cas = (s->low & 0x1ff) == 0x18b || (s->low & 0x1ff) == 0x1a9;
	/* From sm_100 on bit 63 is no part of the displacement of those that give the old value. */
	unsigned bits = s->cubin->arch >= 100 && result && !cas ? 23 : 24;
	sw_reg rd = result ? sw_sass_reg(s, 16, false) : SW_NO_REG;
	struct sw_operand at = atomic_address(s, result), rb = sw_sass_or_zero(sw_sass_reg(s, 32, false)),
			  old = sw_sass_temp(s);
	struct sw_operand rc = cas ? sw_sass_or_zero(sw_sass_reg(s, 64, false)) : rb;
	unsigned width = bytes == 8 ? 64 : 32;
	if (width == 64) {
		rb = sw_sass_pair(s, rb.reg);
		rc = cas ? sw_sass_pair(s, rc.reg) : rb;
	}
	struct sw_insn *i = sw_sass_guarded(s, SW_OP_ATOMIC, width, space);
	i->dst = rd == SW_NO_REG ? SW_NO_REG : old.reg;
	i->bytes = (uint16_t)bytes;
	i->n = cas ? 3 : 2;
	i->src[0] = at;
	i->src[1] = rb;
	i->src[2] = rc;
	i->imm = sw_sass_signed(s, 40, bits);
	i->flags |= (uint8_t)(system_scope(s) | block_scope(s));
	if (rd != SW_NO_REG && width == 64)
		sw_sass_halves(s, rd, old);
	else if (rd != SW_NO_REG)
		sw_sass_set(s, rd, 32, old);
	for (uint32_t k = 1; k < bytes / 4 && rd != SW_NO_REG && bytes > 8; k++)
		sw_sass_set(s, (rd & 0xff) + k > 254 ? SW_NO_REG : rd + k, 32, sw_sass_anything(s, 32));
	sw_sass_give_predicate(s);
}

/* ATOM, ATOMG, ATOMS. */
void sw_sass_lower_atomic(struct sw_sass *s)
{
	lower_atomic(s, bytes_of(s), true);
}

/* ATOMG of floating-point numbers. */
void sw_sass_lower_atomic_float(struct sw_sass *s)
{
	lower_atomic(s, float_bytes[sw_sass_bits(s, 73, 4)], true);
}

/* RED: an atomic operation without a result. */
void sw_sass_lower_reduce(struct sw_sass *s)
{
	lower_atomic(s, bytes_of(s), false);
}

/* RED of floating-point numbers. */
void sw_sass_lower_reduce_float(struct sw_sass *s)
{
	lower_atomic(s, float_bytes[sw_sass_bits(s, 73, 4)], false);
}

/* LDG.256: two groups of four registers.  The displacement counts 32 bytes and has 17 bits, 19 in stores; above it
   stand masks of words. */
void sw_sass_lower_load_wide(struct sw_sass *s)
{
	sw_reg group[2] = {sw_sass_reg(s, 16, false), sw_sass_reg(s, 64, false)};
	struct sw_operand at = sw_sass_pair(s, sw_sass_reg(s, 24, false)), value[4];
	for (unsigned k = 0; k < 4; k++)
		value[k] = sw_sass_temp(s);
	struct sw_insn *i = sw_sass_guarded(s, SW_OP_LOAD, 64, SW_GLOBAL);
	i->dst = value[0].reg;
	i->bytes = 8;
	i->count = 4;
	i->n = 1;
	i->src[0] = at;
	i->imm = sw_sass_signed(s, 40, 17) * 32;
	i->flags |= (uint8_t)volatile_of(s);
	for (unsigned k = 0; k < 4; k++)
		if (group[k / 2] != SW_NO_REG && (group[k / 2] & 0xff) + 2 * (k % 2) < 254)
			sw_sass_halves(s, group[k / 2] + 2 * (k % 2), value[k]);
}

/* STG.256: as sw_sass_lower_load_wide(). */
void sw_sass_lower_store_wide(struct sw_sass *s)
{
	sw_reg group[2] = {sw_sass_reg(s, 32, false), sw_sass_reg(s, 16, false)};
	struct sw_operand at = sw_sass_pair(s, sw_sass_reg(s, 24, false));
	struct sw_insn *i = sw_sass_guarded(s, SW_OP_STORE, 32, SW_GLOBAL);
	i->bytes = 4;
	i->count = 8;
	i->n = 9;
	i->src[0] = at;
	for (unsigned k = 0; k < 8; k++) {
		sw_reg reg = group[k / 4];
		i->src[1 + k] = reg == SW_NO_REG || (reg & 0xff) + k % 4 > 254 ? sw_operand_imm(0)
									       : sw_operand_reg(reg + k % 4);
	}
	i->imm = sw_sass_signed(s, 40, 19) * 32;
	i->flags |= (uint8_t)volatile_of(s);
}
