/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code loads 64 bits in two halves: put together they are one load again. */
#include "footprint/kernel/sites/terms.h"

/* Two halves of one element: the element. */
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

/* Two halves of one load: all of it. */
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
