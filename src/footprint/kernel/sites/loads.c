/* SPDX-License-Identifier: Apache-2.0 */
/* Loads from local memory, from tables and in two halves: the values that they give. */
#include "footprint/kernel/flow/induction.h"
#include "footprint/kernel/sites/terms.h"

/* ---- halves of one load: machine code loads 64 bits in two halves, which become one load again */

/* The element of a table whose two halves these are; SW_NO_NODE: they are none. */
static sw_node whole_element(struct sw_graph *g, const sw_node *o)
{
	struct sw_value low = *sw_graph_at(g, o[0]), high = *sw_graph_at(g, o[1]);
	if (low.op != SW_TERM_ELEMENT || high.op != SW_TERM_ELEMENT || low.imm != 4 || high.imm != 4 ||
	    low.imm2 != high.imm2 ||
	    sw_graph_binary(g, SW_OP_ADD, 64, 0, low.operand[0], sw_graph_const(g, 64, 4)) != high.operand[0])
		return SW_NO_NODE;
	struct sw_making m = {.op = SW_TERM_ELEMENT, .width = 64, .n = 1, .imm = 8, .imm2 = low.imm2};
	return sw_graph_make(g, m, low.operand);
}

/* The load whose two halves these are; SW_NO_NODE: they are none. */
static sw_node whole_loaded(struct sw_graph *g, const sw_node *o)
{
	struct sw_value low = *sw_graph_at(g, o[0]), high = *sw_graph_at(g, o[1]);
	if (low.op != SW_TERM_LOADED || high.op != SW_TERM_LOADED || low.bytes != 4 || high.bytes != 4 ||
	    low.width != 32 || high.width != 32 || low.space != high.space || low.why != high.why ||
	    sw_graph_binary(g, SW_OP_ADD, 64, 0, low.operand[0], sw_graph_const(g, 64, 4)) != high.operand[0])
		return SW_NO_NODE;
	struct sw_making m = {
		.op = SW_TERM_LOADED, .width = 64, .why = low.why, .space = low.space, .bytes = 8, .n = 1, .imm2 = -1};
	return sw_graph_make(g, m, low.operand);
}

sw_node sw_terms_whole_load(struct sw_graph *g, const sw_node *o)
{
	sw_node whole = whole_element(g, o);
	return whole == SW_NO_NODE ? whole_loaded(g, o) : whole;
}

/* ---- loads from local arrays: one of what is stored there */

/* Loads from local memory are compared with so many stores at most. */
#define MAX_STORES 256

/* The local slot and offset of an address: that of a variable, plus something where *exact is false.  False: it is
   not made from a local variable's address that way. */
static bool find_base(const struct sw_graph *g, sw_node address, uint32_t *slot, int64_t *offset, bool *exact)
{
	*exact = true;
	for (int depth = 0; depth < 8; depth++) {
		const struct sw_value *v = sw_graph_at(g, address);
		if (v->op == SW_OP_LOCAL_ADDRESS) {
			*slot = (uint32_t)v->imm;
			*offset = v->imm2;
			return true;
		}
		if (v->op != SW_OP_ADD)
			return false;
		bool first = sw_graph_at(g, v->operand[0])->op == SW_OP_LOCAL_ADDRESS ||
			     (sw_graph_at(g, v->operand[0])->op == SW_OP_ADD &&
			      sw_graph_at(g, v->operand[1])->op != SW_OP_LOCAL_ADDRESS);
		address = v->operand[first ? 0 : 1];
		*exact = false;
	}
	return false;
}

/* Adds the values that the load may read from one store (use) to out; false: one of them is unknown.  slot, at,
   exact: the load's address by find_base(). */
static bool examine_store(struct sw_terms *t, const struct sw_memory_op *use, uint32_t slot, int64_t at, bool exact,
			  const struct sw_value *load, sw_node *out, uint32_t *n)
{
	const struct sw_graph *g = &t->ssa->graph;
	const struct sw_insn *x = &t->ssa->body.insn.at[use->insn];
	uint32_t to;
	int64_t offset;
	bool sure;
	if (x->op != SW_OP_STORE || !find_base(g, use->address, &to, &offset, &sure))
		return false;
	for (uint32_t k = 0; to == slot && k < use->values; k++) {
		int64_t from = offset + (int64_t)k * x->bytes, end = from + x->bytes;
		if (exact && sure && (end <= at || from >= at + load->bytes))
			continue;
		sw_node value = t->ssa->operand.at[use->value + k];
		if (x->bytes != load->bytes || (exact && sure && from != at) || !sw_step_is_fixed(t->ssa, value))
			return false;
		uint32_t seen = 0;
		while (seen < *n && out[seen] != value)
			seen++;
		if (seen == SW_TERMS_ALTERNATIVES)
			return false;
		out[seen] = value;
		*n = seen < *n ? *n : *n + 1;
	}
	return true;
}

/* May what a use stores lie in that local slot? */
static bool may_write(const struct sw_terms *t, const struct sw_memory_op *use, uint32_t slot)
{
	const struct sw_origins *origins = &t->roots->origins;
	uint32_t e[SW_ORIGINS_MAX], n = sw_origins_copy(origins, t->roots->of[use->address], e);
	for (uint32_t i = 0; i < n; i++) {
		const struct sw_origin *o = sw_origin_at(origins, e[i]);
		if ((o->kind == SW_ORIGIN_LOCAL && o->a == slot) || o->kind == SW_ORIGIN_UNKNOWN)
			return true;
	}
	return false;
}

/* Lists the nodes that a load from local memory may give, from the stores that may have written there.  False: not all
   of these are known, or there is none. */
bool sw_terms_local(struct sw_terms *t, sw_node loaded, sw_node out[SW_TERMS_ALTERNATIVES], uint32_t *n)
{
	struct sw_value v = *sw_graph_at(&t->ssa->graph, loaded);
	uint32_t slot;
	int64_t at;
	bool exact;
	*n = 0;
	if (t->ssa->flat || t->stores.n > MAX_STORES ||
	    t->ssa->body.insn.at[t->ssa->use.at[v.imm].insn].op != SW_OP_LOAD ||
	    !find_base(&t->ssa->graph, v.operand[0], &slot, &at, &exact) || sw_body_slot_passed(&t->ssa->body, slot))
		return false;
	for (size_t i = 0; i < t->stores.n; i++) {
		const struct sw_memory_op *use = &t->ssa->use.at[t->stores.at[i]];
		if (may_write(t, use, slot) && !examine_store(t, use, slot, at + v.imm2, exact, &v, out, n))
			return false;
	}
	return *n;
}

/* ---- loads at a computed offset, from the parameter block or from a copy of it in a local variable */

/* Sums that deep; compilers write base + index * size + displacement. */
#define MAX_DEPTH 6
/* A copy is looked for among so many stores at most: each load looks at all. */
#define MAX_TABLE_STORES 1024

/* Is it the address of the parameter block or of a local variable? */
static bool is_base(const struct sw_value *v)
{
	return v->op == SW_OP_PARAM_ADDRESS || v->op == SW_OP_LOCAL_ADDRESS;
}

/* Is it a number of 32 bits in a wider register?  Machine code keeps addresses of local memory so. */
static bool is_widened(const struct sw_value *v)
{
	return v->op == SW_OP_EXTEND && v->imm == 32;
}

/* Is the address a sum with the address of a parameter or local variable in it? */
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

/* Splits an address into byte `at` of the block or of a slot, and what is added to it.  False: it is no such
   address. */
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

/* Finds where in the parameter block a stored value comes from; false: from elsewhere. */
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

/* Does the store copy parameters into the local slot, word by word at one distance? Stores to other slots do not
   matter. *copy: what the stores so far have copied. */
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

/* Finds whether a local slot holds nothing but a copy of parameters, and which. */
static bool find_copy(struct sw_terms *t, uint32_t slot, struct copy *copy)
{
	*copy = (struct copy){0};
	if (t->ssa->flat || t->stores.n > MAX_TABLE_STORES || sw_body_slot_passed(&t->ssa->body, slot))
		return false;
	for (size_t i = 0; i < t->stores.n; i++) {
		const struct sw_memory_op *use = &t->ssa->use.at[t->stores.at[i]];
		if (may_write(t, use, slot) && !copies_table(t, use, slot, copy))
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
