/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 32 bits that are scaled to 64. */
#include "footprint/kernel/values/register_pairs.h"

sw_node sw_register_pairs_shifted(struct sw_register_pairs *p, sw_node low, sw_node high)
{
	struct sw_graph *g = p->graph;
	struct sw_value v = *sw_register_pairs_at(p, high);
	int64_t by;
	if (v.op != SW_OP_SHR || v.width != 32 || !sw_graph_is_const(g, sw_register_pairs_operand(p, high, 1), &by) ||
	    by < 1 || by > 31)
		return SW_NO_NODE;
	sw_node x = sw_register_pairs_operand(p, high, 0);
	sw_node k = sw_graph_const(g, 32, 32 - by);
	if (sw_graph_binary(g, SW_OP_SHL, 32, 0, x, k) != low)
		return SW_NO_NODE;
	return sw_graph_binary(g, SW_OP_SHL, 64, 0, sw_graph_extend(g, 64, 32, v.flags & SW_SIGNED, x), k);
}
