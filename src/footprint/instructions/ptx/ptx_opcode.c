/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the name of a PTX instruction apart and finds what it means. */
#include <string.h>

#include "footprint/instructions/ptx/ptx_reader.h"

/* Is this part of an opcode this word? */
static bool part_is(const struct sw_ptx_part *part, const char *text)
{
	return strlen(text) == part->n && !memcmp(part->at, text, part->n);
}

bool sw_ptx_has(const struct sw_ptx_opcode *op, const char *part)
{
	for (unsigned i = 1; i < op->parts; i++)
		if (part_is(&op->part[i], part))
			return true;
	return false;
}

/* The state space that a part of an opcode names, as ".shared" or ".shared::cluster"; -1: none. */
static int space_of(const struct sw_ptx_part *part)
{
	static const struct {
		const char *name;
		int space;
	} spaces[] = {{"global", SW_GLOBAL},
		      {"shared", SW_SHARED},
		      {"local", SW_LOCAL},
		      {"param", SW_PARAM_SPACE},
		      {"const", SW_CONSTANT}};
	const char *colon = memchr(part->at, ':', part->n);
	struct sw_ptx_part bare = {part->at, colon ? (size_t)(colon - part->at) : part->n};
	for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
		if (part_is(&bare, spaces[i].name))
			return spaces[i].space;
	return -1;
}

/*
 * May this order or observe what another launch does?  Volatile and mmio always; acquire, release and the system scope
 * beyond the block; relaxed loads and stores beyond the block as well (cuda::atomic_ref polls with them).  A relaxed
 * atomic operation at the scope of the device is what atomicAdd() is: a counter, no signal.  Multimem always has a
 * scope: floating-point sums are data, integers are how the devices' barriers count.
 */
static bool may_poll(const struct sw_ptx_opcode *op)
{
	bool multimem = part_is(&op->part[0], "multimem");
	bool atomic = part_is(&op->part[0], "atom") || part_is(&op->part[0], "red") || multimem;
	bool data = multimem && op->types && op->type[0].class == SW_PTX_FLOAT;
	if (sw_ptx_has(op, "volatile") || sw_ptx_has(op, "mmio"))
		return true;
	if (sw_ptx_has(op, "cta") || sw_ptx_has(op, "cluster"))
		return false;
	if (sw_ptx_has(op, "acquire") || sw_ptx_has(op, "release") || sw_ptx_has(op, "acq_rel"))
		return true;
	return !data && (sw_ptx_has(op, "sys") || (sw_ptx_has(op, "relaxed") && !atomic));
}

/* Finds the function that lowers the instruction, by its name in ptx_insns.def; one with types that are too wide
   stays unknown. */
static void find_meaning(struct sw_ptx_opcode *op)
{
	static const struct {
		const char *name;
		sw_ptx_meaning_fn *means;
		int arg;
		unsigned bits; /* the most of a type; 0: needs none */
	} insns[] = {
#define SW_PTX_INSN(name, means, arg)  {name, means, arg, 0},
#define SW_PTX_TYPED(name, means, arg) {name, means, arg, 64},
#define SW_PTX_WIDE(name, means, arg)  {name, means, arg, 128},
#include "footprint/instructions/ptx/ptx_insns.def"
	};
	op->means = sw_ptx_unknown;
	for (size_t i = 0; i < sizeof insns / sizeof *insns; i++) {
		if (!part_is(&op->part[0], insns[i].name))
			continue;
		bool fits = !insns[i].bits || op->types || sw_ptx_has(op, "bulk");
		for (unsigned k = 0; k < op->types && insns[i].bits; k++)
			fits &= op->type[k].bits <= insns[i].bits;
		if (fits) {
			op->means = insns[i].means;
			op->arg = insns[i].arg;
		}
		return;
	}
}

/* The opcode for the evidence of findings, in the arena: "ld.global.v4.f32" without types and vectors, "ld.global". */
static const char *evidence_text(struct sw_ptx_reader *r, const struct sw_ptx_opcode *op, size_t n)
{
	char *text = sw_arena_alloc(&r->program->arena, n + 1), *to = text;
	for (unsigned i = 0; i < op->parts; i++) {
		const struct sw_ptx_part *p = &op->part[i];
		bool vector = p->n == 2 && p->at[0] == 'v';
		if (i && (vector || memchr(p->at, ':', p->n) || sw_ptx_type_of(p->at, p->n).bits))
			if (space_of(p) < 0)
				continue;
		if (i)
			*to++ = '.';
		memcpy(to, p->at, p->n);
		to += p->n;
	}
	return text;
}

/* Splits an opcode at its dots and reads types, space and vector; false: it has too many parts. */
static bool decode_parts(struct sw_ptx_reader *r, struct sw_ptx_opcode *op, const char *at, size_t n)
{
	const char *end = at + n;
	for (const char *p = at; p < end;) {
		const char *dot = memchr(p, '.', (size_t)(end - p));
		if (!dot)
			dot = end;
		if (op->parts == SW_PTX_MAX_PARTS)
			return false;
		op->part[op->parts++] = (struct sw_ptx_part){p, (size_t)(dot - p)};
		p = dot + 1;
	}
	op->vector = 1;
	for (unsigned i = 1, spaces = 0; i < op->parts; i++) {
		const struct sw_ptx_part *p = &op->part[i];
		struct sw_ptx_type type = sw_ptx_type_of(p->at, p->n);
		int space = space_of(p);
		if (type.bits && op->types < 4)
			op->type[op->types++] = type;
		else if (space >= 0 && !spaces++)
			op->space = (uint8_t)space;
		else if (p->n == 2 && p->at[0] == 'v' && (p->at[1] == '2' || p->at[1] == '4' || p->at[1] == '8'))
			op->vector = (uint8_t)(p->at[1] - '0');
	}
	op->polls = may_poll(op) ? SW_VOLATILE : 0;
	find_meaning(op);
	op->text = evidence_text(r, op, n);
	return true;
}

const struct sw_ptx_opcode *sw_ptx_opcode(struct sw_ptx_reader *r, const char *at, size_t n)
{
	uint32_t number = sw_ptx_names_add(&r->opcode_names, at, n);
	if (number < r->opcodes.n)
		return &r->opcodes.at[number];
	struct sw_ptx_opcode op = {0};
	if (!decode_parts(r, &op, at, n)) {
		sw_ptx_fail(r, "an opcode of more than %d words", SW_PTX_MAX_PARTS);
		return NULL;
	}
	*sw_vec_push(&r->opcodes) = op;
	return &r->opcodes.at[number];
}

/* Appends all registers and addresses among operands, wherever they stand, to the instruction's sources. */
static void gather_operands(struct sw_ptx_reader *r, uint32_t first, struct sw_ptx_insn *insn)
{
	for (uint32_t i = first; i != SW_PTX_NO_NODE && !r->failed; i = r->nodes.at[i].next) {
		struct sw_ptx_node node = r->nodes.at[i];
		if (node.kind >= SW_PTX_LIST) {
			gather_operands(r, node.first, insn);
		} else if (node.kind == SW_PTX_VALUE) {
			struct sw_operand value = sw_ptx_use(r, &node);
			if (insn->n < SW_MAX_SRC)
				insn->src[insn->n++] = value;
			else
				r->program->wild = "an unknown instruction with many operands";
		}
	}
}

/* An unknown instruction: its operands count as addresses that are read and written, and its result may hold any
   part of them. */
void sw_ptx_unknown(struct sw_ptx_reader *r, int arg)
{
	struct sw_ptx_insn insn = {.op = SW_OP_OPAQUE, .width = 64};
	(void)arg;
	gather_operands(r, r->operand, &insn);
	const struct sw_ptx_node *first = r->operands ? sw_ptx_at(r, 0) : NULL;
	if (!first || first->kind == SW_PTX_MEMORY) {
		sw_ptx_do(r, insn);
		return;
	}
	insn.dst = sw_ptx_new(r, 1);
	struct sw_operand result = sw_operand_reg(insn.dst);
	sw_ptx_into(r, insn.dst, insn);
	sw_ptx_set_mix(r, first, result);
}
