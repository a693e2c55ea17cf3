/* SPDX-License-Identifier: Apache-2.0 */
/* Loads at a computed offset, from the parameter block or from a copy of it in a local variable. */
#include "footprint/kernel/sites/terms.h"

/* Sums that deep; compilers write base + index * size + displacement. */
#define MAX_DEPTH 6
/* A copy is looked for among so many stores at most: each load looks at all. */
#define MAX_STORES 1024

static bool is_base(const struct sw_value *v)
{
	return v->op == SW_OP_PARAM_ADDRESS || v->op == SW_OP_LOCAL_ADDRESS;
}

/* Machine code keeps addresses of local memory in 32 bits. */
static bool is_widened(const struct sw_value *v)
{
	return v->op == SW_OP_EXTEND && v->imm == 32;
}

static bool leads_to_base(const struct sw_graph *g, sw_node node, int depth)
{
	const struct sw_value *v = sw_graph_at(g, node);
	if (is_base(v))
		return true;
	if (depth == MAX_DEPTH || (v->op != SW_OP_ADD && !is_widened(v)))
		return false;
	return leads_to_base(g, v->operand[0], depth + 1) ||
	       (v->op == SW_OP_ADD && leads_to_base(g, v->operand[1], depth + 1));
}

/* An address: byte `at` of the block, or of a slot, and `more`. */
struct place {
	struct sw_value base;
	int64_t at;
	sw_node more;
};

static bool take_apart(struct sw_graph *g, sw_node address, struct place *out)
{
	sw_node narrow = sw_graph_const(g, 32, 0);
	uint8_t width = 64;
	out->more = sw_graph_const(g, 64, 0);
	if (!leads_to_base(g, address, 0))
		return false;
	for (;;) {
		struct sw_value v = *sw_graph_at(g, address);
		sw_node *sum = width == 64 ? &out->more : &narrow;
		if (is_base(&v)) {
			out->base = v;
			out->at = v.op == SW_OP_PARAM_ADDRESS ? v.imm : v.imm2;
			break;
		}
		bool second = v.op == SW_OP_ADD && !leads_to_base(g, v.operand[0], 1);
		if (v.op == SW_OP_ADD)
			*sum = sw_graph_binary(g, SW_OP_ADD, width, 0, *sum, v.operand[!second]);
		else
			width = 32;
		address = v.operand[second];
	}
	/* No variable is so large that its offsets need more than 32 bits. */
	out->more = sw_graph_binary(g, SW_OP_ADD, 64, 0, out->more, sw_graph_extend(g, 64, 32, SW_SIGNED, narrow));
	return width == 64 || out->base.op == SW_OP_LOCAL_ADDRESS;
}

/* Where in the block a stored value comes from; false: from elsewhere. */
static bool copied_from(const struct sw_graph *g, sw_node value, uint32_t bytes, int64_t *from)
{
	const struct sw_value *v = sw_graph_at(g, value);
	int64_t more = v->op == SW_OP_HIGH ? 4 : 0;
	while (v->op == SW_OP_LOW || v->op == SW_OP_HIGH || v->op == SW_OP_EXTEND) {
		if (v->op == SW_OP_EXTEND && v->imm < 8ll * bytes)
			return false;
		v = sw_graph_at(g, v->operand[0]);
		if (v->op == SW_OP_HIGH)
			return false;
	}
	*from = v->imm + more;
	return v->op == SW_OP_PARAM && v->width >= 8 * (bytes + (uint64_t)more);
}

/* A variable that holds what the block holds, and nothing else is ever stored there: bytes from .. to of the block lie
   `distance` further on than in the variable. */
struct copy {
	bool any;
	int64_t distance, from, to;
};

static bool copies_table(struct sw_terms *t, const struct sw_memory_op *use, uint32_t slot, struct copy *copy)
{
	struct sw_graph *g = &t->ssa->graph;
	const struct sw_insn *x = &t->ssa->body.insn.at[use->insn];
	struct place to;
	int64_t from, more;
	if (x->op != SW_OP_STORE || !take_apart(g, use->address, &to) || !sw_graph_is_const(g, to.more, &more))
		return false;
	if (to.base.op != SW_OP_LOCAL_ADDRESS || (uint32_t)to.base.imm != slot)
		return to.base.op == SW_OP_LOCAL_ADDRESS;
	for (uint32_t k = 0; k < use->values; k++) {
		if (!copied_from(g, t->ssa->operand.at[use->value + k], x->bytes, &from))
			return false;
		int64_t distance = from - (to.at + more + (int64_t)k * x->bytes);
		if (copy->any && copy->distance != distance)
			return false;
		if (!copy->any || from < copy->from)
			copy->from = from;
		if (!copy->any || from + x->bytes > copy->to)
			copy->to = from + x->bytes;
		copy->any = true;
		copy->distance = distance;
	}
	return true;
}

static bool find_copy(struct sw_terms *t, uint32_t slot, struct copy *copy)
{
	*copy = (struct copy){0};
	if (t->ssa->flat || t->stores.n > MAX_STORES || sw_body_slot_passed(&t->ssa->body, slot))
		return false;
	for (size_t i = 0; i < t->stores.n; i++) {
		const struct sw_memory_op *use = &t->ssa->use.at[t->stores.at[i]];
		if (sw_terms_may_write(t, use, slot) && !copies_table(t, use, slot, copy))
			return false;
	}
	return copy->any && copy->from >= 0;
}

bool sw_terms_table_load(struct sw_terms *t, sw_node loaded, sw_node *offset, uint32_t *from, uint32_t *to)
{
	struct sw_graph *g = &t->ssa->graph;
	struct sw_value v = *sw_graph_at(g, loaded);
	uint8_t op = t->ssa->body.insn.at[t->ssa->use.at[v.imm].insn].op;
	struct copy copy = {true, 0, 0, t->roots->program->param_bytes};
	struct place place;
	if (op != SW_OP_LOAD || v.bytes & (v.bytes - 1u) || !v.bytes || v.bytes * 8u > v.width ||
	    v.space == SW_GLOBAL || v.space == SW_SHARED || v.space == SW_CONSTANT ||
	    !take_apart(g, v.operand[0], &place))
		return false;
	if (place.base.op == SW_OP_LOCAL_ADDRESS && !find_copy(t, (uint32_t)place.base.imm, &copy))
		return false;
	if (copy.to > UINT16_MAX)
		return false;
	*offset = sw_graph_binary(g, SW_OP_ADD, 64, 0, place.more,
				  sw_graph_const(g, 64, place.at + v.imm2 + copy.distance));
	*from = (uint32_t)copy.from;
	*to = (uint32_t)copy.to;
	return true;
}
