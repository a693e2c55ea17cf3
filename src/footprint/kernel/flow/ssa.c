/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the value graph of a body: keeps the value of each variable, lifts instructions to nodes and uses of memory. */
#include "footprint/kernel/flow/ssa.h"

#include <stdlib.h>
#include <string.h>

/* Values of variables that a block changed, restored when its subtree of the dominator tree is done. */
struct change {
	uint32_t var;
	sw_node was;
};
struct sw_renamer {
	struct sw_ssa *ssa;
	struct sw_stack_frames frames;
	struct sw_places places;
	uint8_t *width;	     /* by variable: the widest that is written to it */
	sw_node *now;	     /* by variable; SW_NO_NODE: never written on any way here */
	sw_node *phi;	     /* by place: the PHI of a loop header, whose operands follow */
	sw_node *incoming;   /* operands of all places, in the order of predecessors */
	size_t *incoming_at; /* by place */
	SW_VEC(struct change) log;
	SW_VEC(sw_node) * written; /* flat: by variable, all that it is ever given */
};

/* ---- reading and writing variables ------------------------------------------------------------------------------ */

/* A number that nothing is known of, which comes to be in this block. */
static sw_node unknown_value(struct sw_ssa *ssa, uint8_t width, uint32_t block)
{
	sw_node node = sw_graph_range(&ssa->graph, width, SW_WHY_COMPUTED);
	sw_ssa_set_block(ssa, node, block);
	return node;
}

/* The value of a variable here; an unknown number if it was never written. */
static sw_node renamer_read(struct sw_renamer *r, uint32_t var, uint8_t width, uint32_t block)
{
	if (r->now[var] == SW_NO_NODE) {
		*sw_vec_push(&r->log) = (struct change){var, SW_NO_NODE};
		r->now[var] = unknown_value(r->ssa, width, block);
	}
	return r->now[var];
}

/* Gives the variable a new value.  guard: SW_NO_NODE, or the condition without which it keeps the old one. */
static void renamer_write(struct sw_renamer *r, uint32_t var, sw_node value, sw_node guard)
{
	if (r->written) {
		*sw_vec_push(&r->written[var]) = value;
		return;
	}
	sw_node old = r->now[var];
	if (guard != SW_NO_NODE && old != SW_NO_NODE)
		value = sw_graph_select(&r->ssa->graph, sw_graph_at(&r->ssa->graph, value)->width, guard, value, old);
	*sw_vec_push(&r->log) = (struct change){var, old};
	r->now[var] = value;
}

/* The variable that element k of a plain access to a local variable stands for; SW_NO_REG: memory. */
static uint32_t renamer_var(const struct sw_renamer *r, uint32_t insn, uint32_t k)
{
	return sw_frames_var(&r->frames, &r->ssa->body, insn, k);
}

/* ---- what single instructions do --------------------------------------------------------------------------------- */

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

/* The value of an operand: a constant, or the register's value here. */
static sw_node operand_node(const struct working *w, const struct sw_operand *o, uint8_t width)
{
	if (o->reg == SW_NO_REG)
		return sw_graph_const(&w->ssa->graph, 64, o->imm);
	return renamer_read(w->r, o->reg, width, w->block);
}

/* The value of operand i where addresses or conditions depend on it; else 0, which nobody looks at. */
static sw_node needed_source(const struct working *w, uint32_t i, uint8_t width)
{
	bool needed = i < w->x->n && w->need & (i ? SW_NEED_REST : SW_NEED_FIRST);
	return needed ? operand_node(w, &w->x->src[i], width) : sw_graph_const(&w->ssa->graph, 64, 0);
}

/* Has the instruction a result in a register that something needs? */
static bool gives_result(const struct working *w)
{
	return w->x->dst != SW_NO_REG && w->need & SW_NEED_RESULT;
}

/* Stores the instruction's result in its register. */
static void write_result(const struct working *w, sw_node value)
{
	if (gives_result(w))
		renamer_write(w->r, w->x->dst, value, w->guard);
}

/* Finds the condition under which the instruction is executed, w->guard.  False: it never is. */
static bool find_guard(struct working *w)
{
	const struct sw_insn *x = w->x;
	int64_t known;
	w->guard = SW_NO_NODE;
	if (x->guard == SW_NO_REG || !(w->need & SW_NEED_GUARD))
		return true;
	sw_node g = sw_graph_fit(&w->ssa->graph, renamer_read(w->r, x->guard, 1, w->block), 1);
	if (x->flags & SW_GUARD_NOT)
		g = sw_graph_unary(&w->ssa->graph, SW_OP_NOT, 1, g);
	if (sw_graph_is_const(&w->ssa->graph, g, &known))
		return known;
	w->guard = g;
	return true;
}

/* ---- arithmetic ------------------------------------------------------------------------------------------------- */

/* A width in bits that a value can have; 64 for any other number. */
static uint8_t sound_width(uint32_t width)
{
	return width == 1 || width == 8 || width == 16 || width == 32 || width == 64 ? (uint8_t)width : 64;
}

/* Does the instruction fit its operation?  One that a reader got wrong does not, and counts as unknown. */
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

/* Is the number made of a floating-point number, as the mnemonic says: "cvt.rzi.s32.f32", "F2I.TRUNC", "FSETP"? */
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

/* Is it the state of an mbarrier, by which threads signal each other? */
static bool is_signal(const char *text)
{
	return text && strstr(text, "mbarrier");
}

/* Why the result of this instruction is not known, by its mnemonic. */
static enum sw_why why_anything(const char *text)
{
	return is_float(text) ? SW_WHY_FLOAT : is_signal(text) ? SW_WHY_SHARED : SW_WHY_COMPUTED;
}

/* An instruction without memory becomes a node of the value graph; an unsound one becomes MIX. */
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

/* The address of an access: its first operand and the displacement. */
static sw_node access_address(const struct working *w)
{
	struct sw_graph *g = &w->ssa->graph;
	sw_node base = sw_graph_fit(g, needed_source(w, 0, 64), 64);
	return sw_graph_binary(g, SW_OP_ADD, 64, 0, base, sw_graph_const(g, 64, w->x->imm));
}

/* Loads a parameter of known place (else: false) in the register's form.  k: element of a vector load. */
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

/* Is the address one of two by a condition: p ? a : b, or c + extend(p ? a : b)?  Finds all three. */
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

/* Loads a parameter, also where a condition chooses between places: a choice of places is the choice of what lies
   there.  Seen with nvcc 13: LDC of c[0x0][0x380 + (p ? 0 : 8)], and from compute_100 on ld.param of p ? &a : &b. */
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

/* Why a loaded value is not known: by where it was loaded from. */
static uint8_t why_of(const struct sw_insn *x)
{
	if (x->space == SW_PARAM_SPACE)
		return SW_WHY_TABLE;
	return x->op == SW_OP_ATOMIC ? SW_WHY_ATOMIC : x->space == SW_SHARED ? SW_WHY_SHARED : SW_WHY_LOADED;
}

/* The node for element k of what a load, atomic operation or texture access gave. */
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

/* A load becomes a node: the value of a local slot kept like a register, a parameter, or an unknown value. */
static void lift_load(const struct working *w)
{
	const struct sw_insn *x = w->x;
	sw_node at = SW_NO_NODE, value = SW_NO_NODE;
	uint32_t use = UINT32_MAX, count = x->count;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t var = renamer_var(w->r, w->insn, k);
		if (var == SW_NO_REG && at == SW_NO_NODE)
			at = access_address(w);
		if (var != SW_NO_REG) {
			uint8_t bits = (uint8_t)(x->bytes * 8);
			value = sw_graph_fit(&w->ssa->graph, renamer_read(w->r, var, bits, w->block), bits);
			value = sw_graph_extend(&w->ssa->graph, sound_width(x->width), bits, x->flags & SW_SIGNED,
						value);
		} else if (!chosen_parameter(w, at, k, 0, &value)) {
			if (use == UINT32_MAX)
				use = note_memory_use(w, at, 1);
			if (gives_result(w))
				value = loaded_value(w, use, at, k);
		}
		if (gives_result(w))
			renamer_write(w->r, x->dst + k, value, w->guard);
	}
}

/* A store gives local slots that are followed like registers their values; any other is noted as a use of memory. */
static void lift_store(const struct working *w)
{
	const struct sw_insn *x = w->x;
	if (renamer_var(w->r, w->insn, 0) == SW_NO_REG) {
		note_memory_use(w, access_address(w), 1);
		return;
	}
	for (uint32_t k = 0; k < x->count; k++) {
		uint8_t bits = (uint8_t)(x->bytes * 8);
		sw_node value = sw_graph_fit(&w->ssa->graph, needed_source(w, 1 + k, bits), bits);
		renamer_write(w->r, renamer_var(w->r, w->insn, k), value, w->guard);
	}
}

/* An atomic operation or an access to an object: a use of memory, whose result is an unknown loaded value. */
static void lift_touch(const struct working *w)
{
	sw_node at = access_address(w);
	uint32_t use = note_memory_use(w, at, 1);
	if (gives_result(w))
		write_result(w, loaded_value(w, use, at, 0));
}

/* Notes a bulk copy or an unknown instruction; its result in a register may be any function of its operands. */
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

/* Notes a call that was not inlined; its result in a register is unknown. */
static void lift_call(const struct working *w)
{
	note_memory_use(w, SW_NO_NODE, 0);
	if (!gives_result(w))
		return;
	sw_node any = sw_graph_range(&w->ssa->graph, sound_width(w->x->width), SW_WHY_CALL);
	sw_ssa_set_block(w->ssa, any, w->block);
	write_result(w, any);
}

/* Makes the nodes of one instruction and notes its use of memory. */
static void lift_insn(struct sw_renamer *renamer, uint32_t insn, uint32_t block)
{
	struct sw_ssa *ssa = renamer->ssa;
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

/* ---- joins ------------------------------------------------------------------------------------------------------ */

/* The edge of `at`, the dominator of a join of two ways, by which the way of `pred` leaves it; -1: either. */
static int side_of(const struct sw_flow *flow, uint32_t at, uint32_t join, uint32_t pred)
{
	const struct sw_basic_block *d = &flow->block.at[at];
	for (int s = 0; s < 2; s++) {
		uint32_t to = flow->edge.at[d->succ + (uint32_t)s];
		if (pred == at ? to == join
			       : to != join && flow->block.at[to].preds == 1 && sw_flow_dominates(flow, to, pred))
			return s;
	}
	return -1;
}

/* Joins two ways of one condition: if (c) x = a; else x = b; is c ? a : b.  SW_NO_NODE: they are no such two. */
static sw_node select_of(struct sw_ssa *ssa, uint32_t join, const sw_node *in)
{
	const struct sw_flow *flow = &ssa->flow;
	const struct sw_basic_block *b = &flow->block.at[join];
	if (b->preds != 2 || ssa->condition[b->idom] == SW_NO_NODE || flow->block.at[b->idom].succs != 2)
		return SW_NO_NODE;
	int first = side_of(flow, b->idom, join, flow->edge.at[b->pred]);
	int second = side_of(flow, b->idom, join, flow->edge.at[b->pred + 1]);
	if (first < 0 || second < 0 || first == second)
		return SW_NO_NODE;
	uint8_t width = sw_graph_at(&ssa->graph, in[0])->width;
	return sw_graph_select(&ssa->graph, width, ssa->condition[b->idom], in[first], in[second]);
}

/* The greatest width of the values that come in. */
static uint8_t widest_of(const struct sw_ssa *ssa, const sw_node *in, uint32_t n)
{
	uint8_t width = 1;
	for (uint32_t i = 0; i < n; i++)
		if (in[i] != SW_NO_NODE && sw_graph_at(&ssa->graph, in[i])->width > width)
			width = sw_graph_at(&ssa->graph, in[i])->width;
	return width;
}

/* The value of a variable where n ways meet: one that all agree in, a choice by a condition, or a PHI.  Ways on
   which it was never written do not count: no reader is reached by them. */
static sw_node join_of(struct sw_ssa *ssa, uint32_t block, sw_node *in, uint32_t n)
{
	sw_node one = SW_NO_NODE;
	uint8_t width = widest_of(ssa, in, n);
	bool differ = false, missing = false;
	for (uint32_t i = 0; i < n; i++) {
		if (in[i] == SW_NO_NODE) {
			missing = true;
			continue;
		}
		in[i] = sw_graph_fit(&ssa->graph, in[i], width);
		differ |= one != SW_NO_NODE && in[i] != one;
		one = in[i];
	}
	if (!differ)
		return one;
	sw_node node = missing ? SW_NO_NODE : select_of(ssa, block, in);
	if (node != SW_NO_NODE)
		return node;
	for (uint32_t i = 0; i < n; i++)
		if (in[i] == SW_NO_NODE)
			in[i] = one;
	node = sw_graph_phi(&ssa->graph, width, block);
	sw_graph_phi_set(&ssa->graph, node, in, n);
	return node;
}

/* Do edges lead back to this block? */
static bool closes_loop(const struct sw_flow *flow, uint32_t block)
{
	return flow->block.at[block].header || flow->block.at[block].irregular;
}

/* Gives the variables that need a PHI at the start of the block their values there. */
static void open_block(struct sw_renamer *r, uint32_t block)
{
	const struct sw_flow *flow = &r->ssa->flow;
	for (size_t p = r->places.first[block]; p < r->places.first[block + 1]; p++) {
		uint32_t var = r->places.phi.at[p].var;
		sw_node *in = r->incoming + r->incoming_at[p], node;
		if (closes_loop(flow, block)) /* only the ways from outside are known yet */
			node = r->phi[p] = sw_graph_phi(&r->ssa->graph, r->width[var], block);
		else
			node = join_of(r->ssa, block, in, flow->block.at[block].preds);
		*sw_vec_push(&r->log) = (struct change){var, r->now[var]};
		r->now[var] = node;
	}
}

/* Hands the values of the variables at the end of a block to the PHIs of its successors. */
static void close_block(struct sw_renamer *r, uint32_t block)
{
	const struct sw_flow *flow = &r->ssa->flow;
	const struct sw_basic_block *b = &flow->block.at[block];
	for (uint32_t s = 0; s < b->succs; s++) {
		uint32_t to = flow->edge.at[b->succ + s];
		const struct sw_basic_block *t = &flow->block.at[to];
		uint32_t i = 0;
		if (r->places.first[to] == r->places.first[to + 1])
			continue;
		while (flow->edge.at[t->pred + i] != block)
			i++;
		for (size_t p = r->places.first[to]; p < r->places.first[to + 1]; p++)
			r->incoming[r->incoming_at[p] + i] = r->now[r->places.phi.at[p].var];
	}
}

/* Gives the PHIs of loop headers their operands, now that the values at the ends of the loops are known. */
static void finish_headers(struct sw_renamer *r)
{
	struct sw_ssa *ssa = r->ssa;
	for (size_t p = 0; p < r->places.phi.n; p++) {
		if (r->phi[p] == SW_NO_NODE)
			continue;
		uint32_t block = r->places.phi.at[p].block, n = ssa->flow.block.at[block].preds;
		sw_node *in = r->incoming + r->incoming_at[p];
		uint8_t width = sw_graph_at(&ssa->graph, r->phi[p])->width;
		for (uint32_t i = 0; i < n; i++)
			in[i] = in[i] == SW_NO_NODE
					? unknown_value(ssa, width,
							ssa->flow.edge.at[ssa->flow.block.at[block].pred + i])
					: sw_graph_fit(&ssa->graph, in[i], width);
		sw_graph_phi_set(&ssa->graph, r->phi[p], in, n);
	}
}

void sw_ssa_finish_pairs(struct sw_ssa *ssa)
{
	struct sw_graph *graph = &ssa->graph;
	SW_VEC(sw_node) in = {0};
	for (; ssa->finished < graph->paired.n; ssa->finished++) {
		sw_node low, high, phi = graph->paired.at[ssa->finished];
		if (!sw_graph_phi_halves(graph, phi, &low, &high))
			continue;
		uint32_t n = sw_graph_at(graph, low)->n;
		in.n = 0;
		for (uint32_t i = 0; i < n && i < sw_graph_at(graph, high)->n; i++)
			*sw_vec_push(&in) = sw_graph_binary(graph, SW_OP_PAIR, 64, 0, sw_graph_operand(graph, low, i),
							    sw_graph_operand(graph, high, i));
		sw_graph_phi_set(graph, phi, in.at, (uint32_t)in.n);
	}
	free(in.at);
}

/* ---- the walk --------------------------------------------------------------------------------------------------- */

/* Makes room for the operands of all PHIs. */
static void prepare_places(struct sw_renamer *r)
{
	struct sw_ssa *ssa = r->ssa;
	size_t places = r->places.phi.n, total = 0;
	r->phi = sw_alloc(places * sizeof *r->phi + 1);
	memset(r->phi, 0xff, places * sizeof *r->phi);
	r->incoming_at = sw_alloc(places * sizeof *r->incoming_at + 1);
	for (size_t p = 0; p < places; p++) {
		r->incoming_at[p] = total;
		total += ssa->flow.block.at[r->places.phi.at[p].block].preds;
	}
	r->incoming = sw_alloc(total * sizeof *r->incoming + 1);
	memset(r->incoming, 0xff, total * sizeof *r->incoming);
}

/* Makes the nodes of a block's instructions in order. */
static void walk_block(struct sw_renamer *r, uint32_t block)
{
	const struct sw_basic_block *b = &r->ssa->flow.block.at[block];
	open_block(r, block);
	for (uint32_t i = b->first; i < b->end; i++)
		lift_insn(r, i, block);
	close_block(r, block);
}

/* Restores the variables as they were when the log had this length: before a subtree of dominators was walked. */
static void undo_block(struct sw_renamer *r, size_t to)
{
	while (r->log.n > to) {
		struct change *c = &r->log.at[--r->log.n];
		r->now[c->var] = c->was;
	}
}

/* Walks the dominator tree in reverse postorder, so all edges into a join but back edges come before it. */
static void walk_all(struct sw_renamer *r)
{
	const struct sw_flow *flow = &r->ssa->flow;
	size_t n = flow->block.n, depth = 0;
	struct {
		uint32_t block, next;
		size_t log;
	} *stack = sw_alloc(n * sizeof *stack);
	stack[depth].block = 0;
	stack[depth].next = flow->child_first[0];
	stack[depth++].log = 0;
	walk_block(r, 0);
	while (depth) {
		uint32_t b = stack[depth - 1].block;
		if (stack[depth - 1].next == flow->child_first[b + 1]) {
			undo_block(r, stack[--depth].log);
			continue;
		}
		uint32_t child = flow->child[stack[depth - 1].next++];
		stack[depth].block = child;
		stack[depth].next = flow->child_first[child];
		stack[depth++].log = r->log.n;
		walk_block(r, child);
	}
	free(stack);
}

/* The greatest width in which each variable is written: its phis have that width. */
static void find_widths(struct sw_renamer *r)
{
	struct sw_effects *e = sw_alloc(sizeof *e);
	r->width = sw_alloc((size_t)r->frames.vars + 1);
	memset(r->width, 1, (size_t)r->frames.vars + 1);
	for (uint32_t i = 0; i < r->ssa->body.insn.n; i++) {
		const struct sw_insn *x = &r->ssa->body.insn.at[i];
		if (!(sw_need_of(r->ssa, i) & SW_NEED_RESULT))
			continue;
		if (x->op < SW_OP_LOAD) {
			if (x->dst != SW_NO_REG && x->width > r->width[x->dst])
				r->width[x->dst] = x->width;
			continue;
		}
		sw_effects_of(r->ssa, &r->frames, i, e);
		for (uint32_t k = 0; k < e->defs; k++) {
			uint8_t width = e->def[k] < r->frames.regs ? x->width : (uint8_t)(x->bytes * 8);
			if (width > r->width[e->def[k]])
				r->width[e->def[k]] = width;
		}
	}
	free(e);
}

/* Makes nodes without following control flow: each variable is one PHI of all that is ever written to it. */
static void walk_flat(struct sw_renamer *r)
{
	struct sw_ssa *ssa = r->ssa;
	uint32_t n = r->frames.vars;
	r->written = sw_calloc((size_t)n + 1, sizeof *r->written);
	for (uint32_t v = 0; v < n; v++)
		r->now[v] = sw_graph_phi(&ssa->graph, r->width[v], 1);
	for (uint32_t i = 0; i < ssa->body.insn.n; i++)
		lift_insn(r, i, 1);
	for (uint32_t v = 0; v < n; v++) {
		for (size_t k = 0; k < r->written[v].n; k++)
			r->written[v].at[k] = sw_graph_fit(&ssa->graph, r->written[v].at[k],
							   sw_graph_at(&ssa->graph, r->now[v])->width);
		sw_graph_phi_set(&ssa->graph, r->now[v], r->written[v].at, (uint32_t)r->written[v].n);
		free(r->written[v].at);
	}
	free(r->written);
}

/* Gives up on control flow: all code becomes one block. */
static void go_flat(struct sw_ssa *ssa)
{
	sw_flow_free(&ssa->flow);
	sw_flow_build_flat(&ssa->body, &ssa->flow);
	ssa->flat = true;
	free(ssa->need);
	ssa->need = NULL;
}

/* About as many nodes are made as instructions are needed. */
static size_t needed_nodes(const struct sw_ssa *ssa)
{
	size_t n = 0;
	for (size_t i = 0; ssa->need && i < ssa->body.insn.n; i++)
		n += ssa->need[i] != 0;
	return ssa->need ? n : ssa->body.insn.n;
}

void sw_ssa_build(const struct sw_program *program, struct sw_ssa *ssa)
{
	*ssa = (struct sw_ssa){0};
	struct sw_renamer r = {.ssa = ssa};
	sw_body_make(program, &ssa->body);
	ssa->damaged = ssa->body.damaged;
	if (ssa->body.anywhere)
		go_flat(ssa);
	else
		sw_flow_build(&ssa->body, &ssa->flow);
	sw_frames_find(ssa, &r.frames);
	if (!ssa->flat)
		sw_needed_find(program, ssa, &r.frames);
	if (!ssa->flat && !sw_places_find(ssa, &r.frames, &r.places))
		go_flat(ssa);
	free(ssa->live);
	ssa->live = NULL;
	ssa->condition = sw_alloc(ssa->flow.block.n * sizeof *ssa->condition);
	memset(ssa->condition, 0xff, ssa->flow.block.n * sizeof *ssa->condition);
	ssa->choice = sw_alloc(ssa->flow.block.n * sizeof *ssa->choice);
	memset(ssa->choice, 0xff, ssa->flow.block.n * sizeof *ssa->choice);
	r.now = sw_alloc(((size_t)r.frames.vars + 1) * sizeof *r.now);
	memset(r.now, 0xff, ((size_t)r.frames.vars + 1) * sizeof *r.now);
	find_widths(&r);
	sw_graph_expect(&ssa->graph, needed_nodes(ssa));
	if (ssa->flat) {
		walk_flat(&r);
	} else {
		prepare_places(&r);
		walk_all(&r);
		finish_headers(&r);
	}
	sw_ssa_finish_pairs(ssa);
	free(ssa->need);
	ssa->need = NULL;
	free(r.width);
	free(r.now);
	free(r.phi);
	free(r.incoming);
	free(r.incoming_at);
	free(r.log.at);
	sw_places_free(&r.places);
	sw_frames_free(&r.frames);
}

void sw_ssa_free(struct sw_ssa *ssa)
{
	sw_graph_free(&ssa->graph);
	sw_body_free(&ssa->body);
	sw_flow_free(&ssa->flow);
	free(ssa->use.at);
	free(ssa->grid.at);
	free(ssa->operand.at);
	free(ssa->condition);
	free(ssa->choice);
	free(ssa->born.at);
	*ssa = (struct sw_ssa){0};
}

void sw_ssa_set_block(struct sw_ssa *ssa, sw_node node, uint32_t block)
{
	size_t known = ssa->born.n;
	if (known <= node) {
		sw_vec_reserve(&ssa->born, ssa->graph.value.room);
		memset(ssa->born.at + known, 0, (ssa->born.room - known) * sizeof *ssa->born.at);
		ssa->born.n = ssa->born.room;
	}
	ssa->born.at[node] = block + 1;
}

uint32_t sw_ssa_block_of(const struct sw_ssa *ssa, sw_node node)
{
	const struct sw_value *v = sw_graph_at(&ssa->graph, node);
	if (v->op == SW_VALUE_PHI)
		return (uint32_t)v->imm;
	if (v->op == SW_VALUE_LOADED)
		return ssa->use.at[v->imm].block;
	if (v->op != SW_OP_RANGE && v->op != SW_OP_MIX)
		return SW_NO_BLOCK;
	return node < ssa->born.n ? ssa->born.at[node] - 1 : SW_NO_BLOCK;
}
