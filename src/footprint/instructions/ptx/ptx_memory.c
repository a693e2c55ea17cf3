/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores, atomic operations (PTX ISA 9.0, 9.7.9 and 9.7.13). */
#include <string.h>

#include "footprint/instructions/ptx/ptx_reader.h"

/* How an access is made of elements that registers hold: 128 bits are two of 64. */
struct shape {
	unsigned bits, bytes, count, each; /* of an element; elements in all; elements of each register */
	bool sign;
};

/* The shape of the access that an opcode makes. */
static struct shape shape_of(const struct sw_ptx_opcode *op)
{
	struct sw_ptx_type type = op->types ? op->type[op->types - 1] : (struct sw_ptx_type){32, SW_PTX_BITS};
	struct shape s = {.bits = type.bits, .each = 1, .sign = type.class == SW_PTX_SIGNED};
	if (type.bits == 128)
		s.bits = 64, s.each = 2;
	s.bytes = (s.bits + 7) / 8;
	s.count = op->vector * s.each;
	return s;
}

/* The instruction for an access of this shape (elements and their size) at this place, without the values. */
static struct sw_ptx_insn access_insn(enum sw_op op, const struct sw_ptx_place *place, const struct shape *s)
{
	struct sw_ptx_insn insn = sw_ptx_op1(op, s->bits, place->address);
	insn.imm = place->displacement;
	insn.space = place->space;
	insn.bytes = (uint16_t)s->bytes;
	insn.count = (uint8_t)s->count;
	return insn;
}

/* Makes the address of a place in the parameter block a value, for instructions that take no plain number for it. */
static void in_register(struct sw_ptx_reader *r, struct sw_ptx_place *place)
{
	if (!place->block)
		return;
	place->address = sw_ptx_temp(
		r, (struct sw_ptx_insn){.op = SW_OP_PARAM_ADDRESS, .width = 64, .imm = place->displacement});
	place->displacement = 0;
	place->block = false;
}

/* The k-th register of a destination or source; NULL: the sink, or none. */
static const struct sw_ptx_node *register_element(struct sw_ptx_reader *r, const struct sw_ptx_node *node, unsigned k)
{
	return node->kind == SW_PTX_VECTOR ? sw_ptx_child(r, node, k) : k ? NULL : node;
}

/* Has the operand as many registers as the access has elements?  If not, reading fails. */
static bool vector_fits(struct sw_ptx_reader *r, const struct sw_ptx_node *node, const struct shape *s)
{
	unsigned have = !node ? 0 : node->kind == SW_PTX_VECTOR ? sw_ptx_children(r, node) : 1;
	if (have * s->each == s->count && s->count < SW_MAX_SRC)
		return true;
	sw_ptx_fail(r, "%s of %u elements with %u registers", r->op->text, s->count / s->each, have);
	return false;
}

/* Loads kernel parameters by their place in the block: PARAM instructions, no access. */
static void load_params(struct sw_ptx_reader *r, const struct sw_ptx_node *dst, const struct sw_ptx_place *place,
			const struct shape *s)
{
	for (unsigned k = 0; k < s->count; k++) {
		const struct sw_ptx_node *to = register_element(r, dst, k / s->each);
		struct sw_ptx_insn param = {.op = SW_OP_PARAM, .width = (uint8_t)s->bits};
		param.imm = (int64_t)((uint64_t)place->displacement + k * s->bytes);
		param = sw_ptx_signed(param, s->sign);
		if (s->each == 1)
			sw_ptx_set(r, to, param);
		else if (sw_ptx_is_register(to) && to->thing.bits == 128)
			sw_ptx_into(r, to->thing.a + k % 2, param);
	}
}

/* The first register, if the destination's registers follow each other and are as wide as the access; else
   SW_NO_REG. */
static sw_reg in_a_row(struct sw_ptx_reader *r, const struct sw_ptx_node *dst, const struct shape *s)
{
	sw_reg first = SW_NO_REG;
	unsigned n = s->count / s->each;
	for (unsigned k = 0; k < n; k++) {
		const struct sw_ptx_node *to = register_element(r, dst, k);
		if (!to || !sw_ptx_is_register(to) || to->thing.bits != s->bits * s->each)
			return SW_NO_REG;
		if (!k)
			first = to->thing.a;
		else if (to->thing.a != first + k * s->each)
			return SW_NO_REG;
	}
	return first;
}

/* Loads into the registers of a destination: at once if they follow each other, else through temporaries. */
static void load_registers(struct sw_ptx_reader *r, const struct sw_ptx_node *dst, const struct sw_ptx_place *place,
			   const struct shape *s, unsigned flags)
{
	struct sw_ptx_insn insn = sw_ptx_signed(access_insn(SW_OP_LOAD, place, s), s->sign);
	insn.flags |= (uint8_t)flags;
	sw_reg first = in_a_row(r, dst, s);
	if (first != SW_NO_REG) {
		sw_ptx_into(r, first, insn);
		return;
	}
	if (s->count == 1 && sw_ptx_is_register(dst) && dst->thing.bits < 128) { /* extended, as the type says */
		insn.width = (uint8_t)dst->thing.bits;
		sw_ptx_into(r, dst->thing.a, insn);
		return;
	}
	first = sw_ptx_new(r, s->count);
	sw_ptx_into(r, first, insn);
	for (unsigned k = 0; k < s->count; k++) {
		const struct sw_ptx_node *to = register_element(r, dst, k / s->each);
		struct sw_ptx_insn mov =
			sw_ptx_signed(sw_ptx_op1(SW_OP_MOV, s->bits, sw_operand_reg(first + k)), s->sign);
		if (s->each == 1)
			sw_ptx_set(r, to, mov);
		else if (sw_ptx_is_register(to) && to->thing.bits == 128)
			sw_ptx_into(r, to->thing.a + k % 2, mov);
	}
}

/* SW_VOLATILE if the access may order or observe what another launch does. */
static unsigned poll_flags(const struct sw_ptx_reader *r)
{
	return r->op->polls;
}

/* ld d, [a]: parameters of the kernel become values, all else is an access. */
void sw_ptx_ld(struct sw_ptx_reader *r, int arg)
{
	struct shape s = shape_of(r->op);
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	(void)arg;
	if (!vector_fits(r, dst, &s))
		return;
	struct sw_ptx_place place = sw_ptx_place(r, sw_ptx_at(r, 1), r->op->space);
	if (place.block)
		load_params(r, dst, &place, &s);
	else
		load_registers(r, dst, &place, &s, poll_flags(r));
}

/* The values of a source, one after the other from insn->src[insn->n] on. */
static void add_values(struct sw_ptx_reader *r, const struct sw_ptx_node *src, const struct shape *s,
		       struct sw_ptx_insn *insn)
{
	for (unsigned k = 0; k < s->count && insn->n < SW_MAX_SRC; k++) {
		const struct sw_ptx_node *from = register_element(r, src, k / s->each);
		struct sw_operand value = sw_ptx_use(r, from);
		if (k % s->each)
			value = from && sw_ptx_is_register(from) && from->thing.bits == 128
					? sw_operand_reg(from->thing.a + 1)
					: sw_operand_imm(0);
		insn->src[insn->n++] = value;
	}
}

/* Stores the registers of `src`, in the shape of the opcode. */
static void store_registers(struct sw_ptx_reader *r, const struct sw_ptx_node *memory, const struct sw_ptx_node *src,
			    unsigned space)
{
	struct shape s = shape_of(r->op);
	if (!vector_fits(r, src, &s))
		return;
	struct sw_ptx_place place = sw_ptx_place(r, memory, space);
	in_register(r, &place);
	struct sw_ptx_insn insn = access_insn(SW_OP_STORE, &place, &s);
	insn.flags |= (uint8_t)poll_flags(r);
	add_values(r, src, &s, &insn);
	sw_ptx_do(r, insn);
}

/* st.async goes to shared memory unless it says .global (PTX ISA 9.0, "st.async"); st.bulk sets a range to zero. */
void sw_ptx_st(struct sw_ptx_reader *r, int arg)
{
	bool async = sw_ptx_has(r->op, "async");
	(void)arg;
	if (sw_ptx_has(r->op, "bulk"))
		sw_ptx_st_bulk(r, 0);
	else
		store_registers(r, sw_ptx_at(r, 0), sw_ptx_at(r, 1),
				async && r->op->space != SW_GLOBAL ? (unsigned)SW_SHARED : r->op->space);
}

/* ---- atomic operations ---- */

/* Emits an atomic operation, whose result is the value that memory held before.  Vectors are floating point.  The
   low half of 128 bits is followed, the high half is a mix of it. */
static void set_old(struct sw_ptx_reader *r, const struct sw_ptx_node *dst, struct sw_ptx_insn insn)
{
	if (dst->kind == SW_PTX_SINK || dst->kind == SW_PTX_VECTOR) {
		sw_ptx_do(r, insn);
		sw_ptx_set_range(r, dst);
		return;
	}
	insn.dst = sw_ptx_new(r, 1);
	struct sw_operand old = sw_operand_reg(insn.dst);
	sw_ptx_into(r, insn.dst, insn);
	if (sw_ptx_is_register(dst) && dst->thing.bits == 128) {
		sw_ptx_into(r, dst->thing.a, sw_ptx_op1(SW_OP_MOV, 64, old));
		sw_ptx_into(r, dst->thing.a + 1, sw_ptx_op1(SW_OP_MIX, 64, old));
	} else {
		sw_ptx_set(r, dst, sw_ptx_op1(SW_OP_MOV, insn.width, old));
	}
}

/* atom (arg 1), which gives the old value, and red (arg 0). */
void sw_ptx_atom(struct sw_ptx_reader *r, int arg)
{
	struct shape s = shape_of(r->op);
	bool async = sw_ptx_has(r->op, "async");
	uint32_t at = arg ? 1 : 0;
	const struct sw_ptx_node *dst = arg ? sw_ptx_at(r, 0) : NULL, *memory = sw_ptx_at(r, at);
	struct sw_ptx_place place =
		sw_ptx_place(r, memory, async && r->op->space != SW_GLOBAL ? (unsigned)SW_SHARED : r->op->space);
	in_register(r, &place);
	struct sw_ptx_insn insn = access_insn(SW_OP_ATOMIC, &place, &s);
	insn.flags |= (uint8_t)poll_flags(r);
	if (insn.space != SW_SHARED && (sw_ptx_has(r->op, "cta") || sw_ptx_has(r->op, "cluster")))
		insn.flags |= SW_READS | SW_WRITES;
	/* cas has two; further operands are a mailbox or a cache policy */
	uint32_t values = sw_ptx_has(r->op, "cas") ? 2 : async ? (r->operands > 1) : 1;
	for (uint32_t i = at + 1; i < r->operands && i <= at + values; i++)
		add_values(r, sw_ptx_at(r, i), &s, &insn);
	if (dst)
		set_old(r, dst, insn);
	else
		sw_ptx_do(r, insn);
}

/* multimem: one address, the memory of several devices. */
void sw_ptx_multimem(struct sw_ptx_reader *r, int arg)
{
	(void)arg;
	if (sw_ptx_has(r->op, "cp"))
		sw_ptx_cp(r, 0);
	else if (!r->op->types)
		sw_ptx_unknown(r, 0);
	else if (sw_ptx_has(r->op, "ld_reduce"))
		sw_ptx_ld(r, 0);
	else if (sw_ptx_has(r->op, "st"))
		sw_ptx_st(r, 0);
	else if (sw_ptx_has(r->op, "red"))
		sw_ptx_atom(r, 0);
	else
		sw_ptx_unknown(r, 0);
}

/* ---- matrices in shared memory ---- */

/* An access of 4 bytes somewhere in shared memory. */
static struct sw_ptx_insn somewhere_shared(struct sw_ptx_reader *r, enum sw_op op)
{
	struct sw_ptx_insn insn =
		sw_ptx_op1(op, 32, sw_ptx_temp(r, (struct sw_ptx_insn){.op = SW_OP_SHARED_ADDRESS, .width = 64}));
	insn.space = SW_SHARED;
	insn.bytes = 4;
	insn.count = 1;
	return insn;
}

/* ldmatrix: the rows' addresses come from other lanes, so each register may come from anywhere in shared memory. */
void sw_ptx_ldmatrix(struct sw_ptx_reader *r, int arg)
{
	const struct sw_ptx_node *dst = sw_ptx_at(r, 0);
	(void)arg;
	if (dst)
		sw_ptx_set_mix(r, dst, sw_ptx_temp(r, somewhere_shared(r, SW_OP_LOAD)));
}

/* stmatrix: each register goes somewhere in shared memory. */
void sw_ptx_stmatrix(struct sw_ptx_reader *r, int arg)
{
	const struct sw_ptx_node *src = sw_ptx_at(r, 1);
	(void)arg;
	if (!src || src->kind != SW_PTX_VECTOR)
		return;
	for (uint32_t i = src->first; i != SW_PTX_NO_NODE && !r->failed; i = r->nodes.at[i].next) {
		struct sw_ptx_insn insn = somewhere_shared(r, SW_OP_STORE);
		insn.src[insn.n++] = sw_ptx_use(r, &r->nodes.at[i]);
		sw_ptx_do(r, insn);
	}
}
