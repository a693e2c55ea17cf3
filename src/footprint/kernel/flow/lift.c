/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/kernel/flow/lift.h"

#include <string.h>

static const uint8_t operands_of[] = {
#define SW_OP(name, operands, text) [SW_OP_##name] = (operands),
#include "footprint/ops.def"
};

/* An instruction at work. */
struct working {
	struct sw_renamer *r;
	struct sw_ssa *ssa;
	const struct sw_insn *x;
	uint32_t insn, block;
	uint8_t need; /* SW_NEED_* */
	sw_node guard;
};

static sw_node operand_node(const struct working *w, const struct sw_operand *o, uint8_t width)
{
	if (o->reg == SW_NO_REG)
		return sw_graph_const(&w->ssa->graph, 64, o->imm);
	return sw_renamer_read(w->r, o->reg, width, w->block);
}

static sw_node needed_source(const struct working *w, uint32_t i, uint8_t width)
{
	bool needed = i < w->x->n && w->need & (i ? SW_NEED_REST : SW_NEED_FIRST);
	return needed ? operand_node(w, &w->x->src[i], width) : sw_graph_const(&w->ssa->graph, 64, 0);
}

static bool gives_result(const struct working *w)
{
	return w->x->dst != SW_NO_REG && w->need & SW_NEED_RESULT;
}

static void write_result(const struct working *w, sw_node value)
{
	if (gives_result(w))
		sw_renamer_write(w->r, w->x->dst, value, w->guard);
}

/* False: never executed. */
static bool find_guard(struct working *w)
{
	const struct sw_insn *x = w->x;
	int64_t known;
	w->guard = SW_NO_NODE;
	if (x->guard == SW_NO_REG || !(w->need & SW_NEED_GUARD))
		return true;
	sw_node g = sw_graph_fit(&w->ssa->graph, sw_renamer_read(w->r, x->guard, 1, w->block), 1);
	if (x->flags & SW_GUARD_NOT)
		g = sw_graph_unary(&w->ssa->graph, SW_OP_NOT, 1, g);
	if (sw_graph_is_const(&w->ssa->graph, g, &known))
		return known;
	w->guard = g;
	return true;
}

/* ---- arithmetic ------------------------------------------------------------------------------------------------- */

static uint8_t sound_width(uint32_t width)
{
	return width == 1 || width == 8 || width == 16 || width == 32 || width == 64 ? (uint8_t)width : 64;
}

/* Numbers that a reader may have got wrong: if one is out of range, the operation counts as unknown. */
static bool is_sound(const struct sw_insn *x)
{
	if (operands_of[x->op] != 255 && x->n != operands_of[x->op])
		return false;
	if (x->op == SW_OP_EXTEND)
		return x->imm >= 1 && x->imm <= 64;
	if (x->op == SW_OP_COMPARE)
		return x->imm >= SW_EQ && x->imm <= SW_GE && sound_width((uint32_t)x->imm2) == x->imm2;
	if (x->op == SW_OP_SPECIAL)
		return x->imm >= 0 && x->imm < SW_SPECIALS;
	if (x->op == SW_OP_MULWIDE)
		return x->width >= 16;
	if (x->op == SW_OP_ADDX || x->op == SW_OP_CARRY)
		return x->n >= 2;
	return true;
}

/* "cvt.rzi.s32.f32", "F2I.TRUNC", "FSETP": made of a floating-point number. */
static bool is_float(const char *text)
{
	static const char *const kinds[] = {".f16",  ".f32",   ".f64", ".bf16", "F2I",	"FSETP",
					    "DSETP", "HSETP2", "FSET", "HSET2", "FCHK", "MUFU"};
	for (; text && *text; text++)
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
			if (*text == *kinds[i] && !strncmp(text, kinds[i], strlen(kinds[i])))
				return true;
	return false;
}

static bool is_signal(const char *text)
{
	return text && strstr(text, "mbarrier");
}

static enum sw_why why_anything(const char *text)
{
	return is_float(text) ? SW_WHY_FLOAT : is_signal(text) ? SW_WHY_SHARED : SW_WHY_COMPUTED;
}

static void lift_plain(const struct working *w)
{
	const struct sw_insn *x = w->x;
	struct sw_making m = {.op = x->op, .width = sound_width(x->width), .n = x->n};
	sw_node o[SW_MAX_SRC];
	if (!is_sound(x))
		m.op = SW_OP_MIX;
	else
		m.flags = x->flags & SW_SIGNED;
	for (uint32_t i = 0; i < x->n; i++)
		o[i] = operand_node(w, &x->src[i], m.width);
	if (m.op != SW_OP_MIX) {
		m.imm = x->imm;
		m.imm2 = x->imm2;
	} else if (x->op == SW_OP_MIX && x->n == 1) {
		m.imm = x->imm == 1;
	}
	if (m.op == SW_OP_LOCAL_ADDRESS)
		m.imm = sw_body_slot(&w->ssa->body, (uint32_t)x->imm);
	if (m.op == SW_OP_RANGE)
		m.why = why_anything(x->text);
	sw_node node = sw_graph_make(&w->ssa->graph, m, o);
	if (m.op == SW_OP_RANGE || m.op == SW_OP_MIX)
		sw_ssa_set_block(w->ssa, node, w->block);
	write_result(w, node);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Notes what an instruction does to memory; operands from `from` on are its values. */
static uint32_t note_memory_use(const struct working *w, sw_node address, uint32_t from)
{
	struct sw_ssa *ssa = w->ssa;
	struct sw_memory_op use = {w->insn, w->block, w->guard, address, (uint32_t)ssa->operand.n, 0};
	for (uint32_t i = from; i < w->x->n; i++, use.values++)
		*sw_vec_push(&ssa->operand) = needed_source(w, i, 64);
	*sw_vec_push(&ssa->use) = use;
	return (uint32_t)ssa->use.n - 1;
}

static sw_node access_address(const struct working *w)
{
	struct sw_graph *g = &w->ssa->graph;
	sw_node base = sw_graph_fit(g, needed_source(w, 0, 64), 64);
	return sw_graph_binary(g, SW_OP_ADD, 64, 0, base, sw_graph_const(g, 64, w->x->imm));
}

/* A parameter whose place in the block is known: its bytes, in the register's form. */
static bool parameter_value(const struct working *w, sw_node at, uint32_t k, sw_node *out)
{
	const struct sw_insn *x = w->x;
	struct sw_value v = *sw_graph_at(&w->ssa->graph, at);
	bool plain = v.op == SW_OP_CONST && x->space == SW_PARAM_SPACE;
	if ((!plain && v.op != SW_OP_PARAM_ADDRESS) || x->bytes > 8 || sound_width(x->bytes * 8u) != x->bytes * 8u)
		return false;
	if (v.imm < 0 || v.imm > INT32_MAX)
		return false;
	struct sw_making m = {
		.op = SW_OP_PARAM, .width = (uint8_t)(x->bytes * 8), .imm = v.imm + (int64_t)k * x->bytes};
	*out = sw_graph_extend(&w->ssa->graph, sound_width(x->width), m.width, x->flags & SW_SIGNED,
			       sw_graph_make(&w->ssa->graph, m, NULL));
	return true;
}

#define MAX_CHOICES 3 /* one inside the other */

/* An address that is one of two by a condition: p ? a : b, or c + extend(p ? a : b). */
static bool choice_of(struct sw_graph *g, sw_node at, sw_node *condition, sw_node *yes, sw_node *no)
{
	struct sw_value v = *sw_graph_at(g, at);
	if (v.op == SW_OP_SELECT) {
		*condition = v.operand[0];
		*yes = v.operand[1];
		*no = sw_graph_operand(g, at, 2);
		return true;
	}
	if (v.op == SW_OP_EXTEND && choice_of(g, v.operand[0], condition, yes, no)) {
		*yes = sw_graph_extend(g, v.width, (uint8_t)v.imm, v.flags & SW_SIGNED, *yes);
		*no = sw_graph_extend(g, v.width, (uint8_t)v.imm, v.flags & SW_SIGNED, *no);
		return true;
	}
	for (uint32_t side = 0; v.op == SW_OP_ADD && side < 2; side++) {
		uint8_t other = sw_graph_at(g, v.operand[!side])->op;
		if ((other != SW_OP_PARAM_ADDRESS && other != SW_OP_CONST) ||
		    !choice_of(g, v.operand[side], condition, yes, no))
			continue;
		*yes = sw_graph_binary(g, SW_OP_ADD, v.width, 0, *yes, v.operand[!side]);
		*no = sw_graph_binary(g, SW_OP_ADD, v.width, 0, *no, v.operand[!side]);
		return true;
	}
	return false;
}

/* A choice between parameters by their place is the choice of what lies there.  Seen with nvcc 13: LDC of c[0x0][0x380
   + (p ? 0 : 8)], and from compute_100 on ld.param of p ? &a : &b. */
static bool chosen_parameter(const struct working *w, sw_node at, uint32_t k, uint32_t depth, sw_node *out)
{
	struct sw_graph *g = &w->ssa->graph;
	sw_node condition, place[2], o[3];
	if (parameter_value(w, at, k, out))
		return true;
	if (depth == MAX_CHOICES || !choice_of(g, at, &condition, &place[0], &place[1]) ||
	    !chosen_parameter(w, place[0], k, depth + 1, &o[1]) || !chosen_parameter(w, place[1], k, depth + 1, &o[2]))
		return false;
	o[0] = condition;
	*out = sw_graph_make(g, (struct sw_making){.op = SW_OP_SELECT, .width = sound_width(w->x->width), .n = 3}, o);
	return true;
}

static uint8_t why_of(const struct sw_insn *x)
{
	if (x->space == SW_PARAM_SPACE)
		return SW_WHY_TABLE;
	return x->op == SW_OP_ATOMIC ? SW_WHY_ATOMIC : x->space == SW_SHARED ? SW_WHY_SHARED : SW_WHY_LOADED;
}

/* What a load gives.  Element k is loaded[k]. */
static sw_node loaded_value(const struct working *w, uint32_t use, sw_node at, uint32_t k)
{
	const struct sw_insn *x = w->x;
	struct sw_making m = {.op = SW_VALUE_LOADED,
			      .width = sound_width(x->width),
			      .flags = x->flags & SW_SIGNED,
			      .why = why_of(x),
			      .space = x->space,
			      .bytes = (uint8_t)(x->bytes > 8 ? 8 : x->bytes),
			      .n = 1,
			      .imm = use,
			      .imm2 = (int64_t)k * x->bytes};
	return sw_graph_make(&w->ssa->graph, m, &at);
}

static void lift_load(const struct working *w)
{
	const struct sw_insn *x = w->x;
	sw_node at = SW_NO_NODE, value = SW_NO_NODE;
	uint32_t use = UINT32_MAX, count = x->count ? x->count : 1;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t var = sw_renamer_var(w->r, w->insn, k);
		if (var == SW_NO_REG && at == SW_NO_NODE)
			at = access_address(w);
		if (var != SW_NO_REG) {
			uint8_t bits = (uint8_t)(x->bytes * 8);
			value = sw_graph_fit(&w->ssa->graph, sw_renamer_read(w->r, var, bits, w->block), bits);
			value = sw_graph_extend(&w->ssa->graph, sound_width(x->width), bits, x->flags & SW_SIGNED,
						value);
		} else if (!chosen_parameter(w, at, k, 0, &value)) {
			if (use == UINT32_MAX)
				use = note_memory_use(w, at, 1);
			if (gives_result(w))
				value = loaded_value(w, use, at, k);
		}
		if (gives_result(w))
			sw_renamer_write(w->r, x->dst + k, value, w->guard);
	}
}

static void lift_store(const struct working *w)
{
	const struct sw_insn *x = w->x;
	if (sw_renamer_var(w->r, w->insn, 0) == SW_NO_REG) {
		note_memory_use(w, access_address(w), 1);
		return;
	}
	for (uint32_t k = 0; k < x->count; k++) {
		uint8_t bits = (uint8_t)(x->bytes * 8);
		sw_node value = sw_graph_fit(&w->ssa->graph, needed_source(w, 1 + k, bits), bits);
		sw_renamer_write(w->r, sw_renamer_var(w->r, w->insn, k), value, w->guard);
	}
}

static void lift_touch(const struct working *w)
{
	sw_node at = access_address(w);
	uint32_t use = note_memory_use(w, at, 1);
	if (gives_result(w))
		write_result(w, loaded_value(w, use, at, 0));
}

/* Bulk copies and unknown instructions; their result in a register may be any function of their operands. */
static void lift_opaque(const struct working *w)
{
	struct working plain = *w;
	struct sw_insn x;
	note_memory_use(w, w->x->op == SW_OP_OPAQUE || !w->x->n ? SW_NO_NODE : access_address(w),
			w->x->op == SW_OP_OPAQUE ? 0 : 1);
	if (!gives_result(w))
		return;
	x = *w->x;
	x.op = SW_OP_MIX;
	x.imm = 0;
	plain.x = &x;
	lift_plain(&plain);
}

static void lift_call(const struct working *w)
{
	note_memory_use(w, SW_NO_NODE, 0);
	if (!gives_result(w))
		return;
	sw_node any = sw_graph_range(&w->ssa->graph, sound_width(w->x->width), SW_WHY_CALL);
	sw_ssa_set_block(w->ssa, any, w->block);
	write_result(w, any);
}

void sw_lift_insn(struct sw_renamer *renamer, uint32_t insn, uint32_t block)
{
	struct sw_ssa *ssa = sw_renamer_ssa(renamer);
	struct working w = {renamer, ssa, &ssa->body.insn.at[insn], insn, block, sw_need_of(ssa, insn), SW_NO_NODE};
	if (!w.need)
		return;
	if (!find_guard(&w)) {
		/* A branch never taken stays in the graph of control flow: more ways, never fewer. */
		return;
	}
	switch (w.x->op) {
	case SW_OP_LOAD:
		lift_load(&w);
		break;
	case SW_OP_STORE:
		lift_store(&w);
		break;
	case SW_OP_ATOMIC:
	case SW_OP_TENSOR:
	case SW_OP_TEXTURE:
	case SW_OP_SURFACE:
		lift_touch(&w);
		break;
	case SW_OP_BULK:
	case SW_OP_OPAQUE:
		lift_opaque(&w);
		break;
	case SW_OP_CALL:
		lift_call(&w);
		break;
	case SW_OP_GRID_WAIT:
	case SW_OP_GRID_TRIGGER:
		*sw_vec_push(&ssa->grid) = (struct sw_memory_op){insn, block, w.guard, SW_NO_NODE, 0, 0};
		break;
	case SW_OP_BARRIER:
		break;
	case SW_OP_JUMP:
	case SW_OP_EXIT:
	case SW_OP_RETURN:
		if (w.guard == SW_NO_NODE)
			break;
		ssa->condition[block] = w.guard;
		if (w.x->op != SW_OP_JUMP) /* the only edge is the one past it */
			ssa->condition[block] = sw_graph_unary(&ssa->graph, SW_OP_NOT, 1, w.guard);
		break;
	case SW_OP_SWITCH:
		if (w.x->n)
			ssa->choice[block] = needed_source(&w, 0, 64);
		break;
	default:
		lift_plain(&w);
	}
}
