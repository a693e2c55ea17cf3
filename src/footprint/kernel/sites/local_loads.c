/* SPDX-License-Identifier: Apache-2.0 */
/* Loads from local arrays: one of what is stored there. */
#include "footprint/kernel/flow/induction.h"
#include "footprint/kernel/sites/terms.h"

/* Loads from local memory are compared with so many stores at most. */
#define MAX_STORES 256

/* Slot and offset of an address: a local variable's plus something. */
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

/* Examines one store: false if the value that the load may read from it is unknown. */
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

bool sw_terms_may_write(const struct sw_terms *t, const struct sw_memory_op *use, uint32_t slot)
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
		if (sw_terms_may_write(t, use, slot) && !examine_store(t, use, slot, at + v.imm2, exact, &v, out, n))
			return false;
	}
	return *n;
}
