/* SPDX-License-Identifier: Apache-2.0 */
/* Machine instructions that touch memory by other ways than loads and stores: bulk copies, tensor maps, textures,
   surfaces, multicast addresses, banks of constants. */
#include "footprint/instructions/sass/sass_lower.h"

/* Caches: all but one kind leave memory as it is.  discard.L2 makes 128 bytes undefined. */
#define CCTL_DISCARD 11
/* CCTL, caches: all but one kind leave memory as it is; discard.L2 makes 128 bytes undefined. */
void sw_sass_lower_cctl(struct sw_sass *s)
{
	if (sw_sass_bits(s, 87, 4) != CCTL_DISCARD)
		return;
	struct sw_operand at = sw_sass_pair(s, sw_sass_reg(s, 24, false));
	struct sw_insn *i = sw_sass_guarded(s, SW_OP_STORE, 32, SW_GLOBAL);
	i->bytes = 128;
	i->n = 2;
	i->src[0] = at;
	i->imm = sw_sass_signed(s, 40, 24);
}

/* Loads and reductions through multicast addresses: 16 bytes at most. */
void sw_sass_lower_multimem(struct sw_sass *s)
{
	sw_reg rd = sw_sass_reg(s, 16, false);
	struct sw_insn *i;
	struct sw_operand at = sw_sass_global_address(s, 64, s->cubin->arch >= 80);
	i = sw_sass_guarded(s, SW_OP_LOAD, 32, SW_GLOBAL);
	i->dst = sw_sass_temp(s).reg;
	i->bytes = 16;
	i->n = 1;
	i->src[0] = at;
	i->imm = sw_sass_signed(s, 40, 24);
	i->flags |= SW_VOLATILE;
	for (uint32_t k = 0; k < 4 && rd != SW_NO_REG && (rd & 0xff) + k <= 254; k++)
		sw_sass_blur(s, rd + k, 32);
}

/*
 * Rd: shared memory, displaced by bits 44-63; Ra: global memory, by bits 32-43; a uniform register at 64 belongs to the
 * former in form 6, to the latter in form 7 unless 76 says that it is a descriptor.  Where the predicate at 87 is false
 * zeros are copied.  82, .ZFILL: the last bytes are zeros, as many as the displacement, which is aligned, says in its
 * lowest bits.
 */
void sw_sass_lower_ldgsts(struct sw_sass *s)
{
	bool never, newer = s->cubin->arch >= 100;
	sw_reg guard = sw_sass_condition(s, sw_sass_predicate(s, SW_AT_IN, SW_AT_IN_NOT), &never),
	       ur = sw_sass_reg(s, 64, true);
	struct sw_operand at = sw_sass_pair(s, sw_sass_reg(s, 24, false));
	unsigned size = (unsigned)sw_sass_bits(s, newer ? 74 : 73, newer ? 2 : 3);
	unsigned bytes = newer ? 4u << size : sw_sass_sizes[size].bytes * sw_sass_sizes[size].count;
	int64_t displacement = sw_sass_signed(s, 32, 12), zeros = sw_sass_bit(s, 82) ? displacement & (bytes - 1) : 0;
	if (never)
		return;
	if (sw_sass_bits(s, 9, 3) == 7 && !sw_sass_bit(s, 76) && ur != SW_NO_REG)
		at = sw_sass_binary(s, SW_OP_ADD, 64, at, sw_sass_pair(s, ur));
	if (displacement != zeros)
		at = sw_sass_binary(s, SW_OP_ADD, 64, at, sw_operand_imm(displacement - zeros));
	struct sw_insn *i = sw_sass_guarded(s, SW_OP_BULK, 32, SW_GLOBAL);
	i->guard = guard;
	i->flags = guard == s->guard && s->guard_not ? SW_GUARD_NOT : 0;
	i->flags |= SW_READS;
	i->n = 2;
	i->src[0] = at;
	i->src[1] = sw_operand_imm((int64_t)bytes - zeros);
}

/* A bulk copy of URc & 0xffff units of 16 bytes; 73: into shared memory, 74: out of it. */
static void lower_bulk(struct sw_sass *s, unsigned writes)
{
	sw_reg from = sw_sass_reg(s, 24, true), to = sw_sass_reg(s, 32, true), units = sw_sass_reg(s, 64, true);
	bool in = sw_sass_bit(s, 73), out = sw_sass_bit(s, 74);
	struct sw_operand n = sw_sass_extend(s, 64, 16, false, sw_sass_or_zero(units));
	n = sw_sass_binary(s, SW_OP_SHL, 64, n, sw_operand_imm(4));
	struct sw_operand source = sw_sass_pair(s, from), target = sw_sass_pair(s, to);
	for (int side = 0; side < 2; side++) {
		if (side ? in && !out : out && !in) /* this side is shared memory */
			continue;
		struct sw_insn *i = sw_sass_guarded(s, SW_OP_BULK, 32, SW_GLOBAL);
		i->flags |= (uint8_t)(side ? writes : SW_READS);
		i->n = 2;
		i->src[0] = side ? target : source;
		i->src[1] = n;
	}
}

/* UBLKCP: a bulk copy. */
void sw_sass_lower_ublkcp(struct sw_sass *s)
{
	lower_bulk(s, SW_WRITES);
}

/* UBLKRED: a bulk copy that adds to memory. */
void sw_sass_lower_ublkred(struct sw_sass *s)
{
	lower_bulk(s, SW_READS | SW_WRITES | SW_ATOMICS);
}

/* Emits an access through an object.  layer: NULL if there is none. */
static void emit_object(struct sw_sass *s, enum sw_op op, struct sw_operand handle, unsigned flags,
			const struct sw_operand *layer)
{
	struct sw_insn *i = sw_sass_guarded(s, op, 32, SW_GLOBAL);
	i->flags |= (uint8_t)flags;
	i->n = 1;
	i->src[0] = handle;
	if (layer)
		i->src[i->n++] = *layer;
}

/* Emits an access through the tensor map whose address is in URa. */
static void lower_tensor(struct sw_sass *s, unsigned flags)
{
	struct sw_operand map = sw_sass_pair(s, sw_sass_reg(s, 24, true));
	emit_object(s, SW_OP_TENSOR, map, flags, NULL);
}

/* UTMALDG: reads memory through a tensor map. */
void sw_sass_lower_tensor_read(struct sw_sass *s)
{
	lower_tensor(s, SW_READS);
}

/* UTMASTG: writes memory through a tensor map. */
void sw_sass_lower_tensor_write(struct sw_sass *s)
{
	lower_tensor(s, SW_WRITES);
}

/* UTMAREDG: adds to memory through a tensor map. */
void sw_sass_lower_tensor_both(struct sw_sass *s)
{
	lower_tensor(s, SW_READS | SW_WRITES | SW_ATOMICS);
}

/* The handle of a texture or surface: in a uniform register at 40 (form 7), a word of bank 0 (40-53, form 5), or two
   registers at 32 (form 1). */
static struct sw_operand object_handle(struct sw_sass *s)
{
	unsigned form = (unsigned)sw_sass_bits(s, 9, 3);
	if (form == 7)
		return sw_sass_or_zero(sw_sass_reg(s, 40, true));
	if (form == 5)
		return sw_sass_constant(s, 0, (uint32_t)sw_sass_bits(s, 40, 14) * 4, 4, false);
	struct sw_operand src[3] = {sw_sass_or_zero(sw_sass_reg(s, 24, false)),
				    sw_sass_or_zero(sw_sass_reg(s, 32, false)),
				    sw_sass_or_zero(sw_sass_reg(s, 64, false))};
	return sw_sass_value(s, SW_OP_MIX, 32, 0, 3, src);
}

/* Finds the register with the number of a layer, counted from that of the first coordinate (24-31); false: there is
   none. 61-63, as nvdisasm shows them: of textures 4 ARRAY_1D, 5 ARRAY_2D, whose first coordinate it is; of surfaces
   2 1D_ARRAY, 4 2D_ARRAY, 5 3D, whose last one it is (a slice of 3D). */
static bool layer_of(struct sw_sass *s, enum sw_op op, struct sw_operand *out)
{
	unsigned form = (unsigned)sw_sass_bits(s, 9, 3), shape = (unsigned)sw_sass_bits(s, 61, 3);
	static const int8_t in_surface[8] = {-1, -1, 1, -1, 2, 2, -1, -1};
	int at = op == SW_OP_SURFACE ? in_surface[shape] : shape == 4 || shape == 5 ? 0 : -1;
	sw_reg first = sw_sass_reg(s, 24, false);
	if ((form != 5 && form != 7) || at < 0 || first == SW_NO_REG || (first & 0xff) + (unsigned)at > 254)
		return false;
	*out = sw_sass_or_zero(first + (unsigned)at);
	return true;
}

/* Emits an access to a texture or surface; what it reads holds no address. */
static void access_object(struct sw_sass *s, enum sw_op op, unsigned flags)
{
	struct sw_operand h = object_handle(s), number;
	emit_object(s, op, h, flags, layer_of(s, op, &number) ? &number : NULL);
	/* Results in up to two groups of registers; 72-75: which components a texture gives. */
	unsigned most = SW_WORDS_OF(s->op->words), mask = (unsigned)sw_sass_bits(s, 72, 4);
	if (op == SW_OP_TEXTURE && mask)
		most = (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3);
	for (unsigned at = 16; at <= 64; at += 48) {
		sw_reg rd = sw_sass_reg(s, at, false);
		for (uint32_t k = 0; k < most && rd != SW_NO_REG && (rd & 0xff) + k <= 254; k++)
			sw_sass_blur(s, rd + k, 32);
	}
	sw_sass_give_predicate(s);
}

/* TEX, TLD and others that read a texture. */
void sw_sass_lower_texture(struct sw_sass *s)
{
	access_object(s, SW_OP_TEXTURE, SW_READS);
}

/* SULD: reads a surface. */
void sw_sass_lower_surface_read(struct sw_sass *s)
{
	access_object(s, SW_OP_SURFACE, SW_READS);
}

/* SUST: writes a surface. */
void sw_sass_lower_surface_write(struct sw_sass *s)
{
	access_object(s, SW_OP_SURFACE, SW_WRITES);
}

/* SUATOM, SURED: atomic operations on a surface. */
void sw_sass_lower_surface_both(struct sw_sass *s)
{
	access_object(s, SW_OP_SURFACE, SW_READS | SW_WRITES | SW_ATOMICS);
}

/* Barriers in shared memory; the result may be in either file. */
void sw_sass_lower_syncs(struct sw_sass *s)
{
	sw_sass_blur(s, sw_sass_reg(s, 16, false), 32);
	sw_sass_blur(s, sw_sass_reg(s, 16, true), 32);
	sw_sass_give_predicate(s);
}

/* 38-53: displacement; 54-58: bank; an index at 24, of the other file for those of the uniform datapath. */
void sw_sass_lower_ldc(struct sw_sass *s)
{
	unsigned size = (unsigned)sw_sass_bits(s, 73, 3), bytes = sw_sass_sizes[size].bytes;
	unsigned low = (s->low & 0x1ff) == 0x1ac ? 37 : 38; /* LDCU has one bit more */
	unsigned bank = (unsigned)sw_sass_bits(s, 54, 5), offset = (unsigned)sw_sass_bits(s, low, 54 - low);
	bool uniform = sw_sass_uniform(s), indexed = (s->low & 0x1ff) != 0x0b9;
	sw_reg rd = sw_sass_reg(s, 16, uniform), index = indexed ? sw_sass_reg(s, 24, uniform) : SW_NO_REG;
	unsigned words = sw_sass_sizes[size].count;
	if (!uniform && sw_sass_bit(s, 91))
		bank = 31; /* bank whose address is in a uniform register: none that CUDA's compiler makes */
	for (unsigned k = 0; rd != SW_NO_REG && k<words; k += words> 1 ? 2 : 1) {
		if ((rd & 0xff) + k + (words > 1) > 254)
			break;
		unsigned part = words > 1 ? 8 : bytes;
		struct sw_operand v;
		if (index == SW_NO_REG)
			v = sw_sass_constant(s, bank, offset + 4 * k, part, sw_sass_sizes[size].is_signed);
		else
			v = sw_sass_constant_at(s, bank, offset + 4 * k, index, part, sw_sass_sizes[size].is_signed);
		if (words > 1)
			sw_sass_halves(s, rd + k, v);
		else
			sw_sass_set(s, rd + k, 32, v);
	}
}
