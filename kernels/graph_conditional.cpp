/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_driver.h"

int main(int argc, char **argv)
{
	Options c(argc, argv, "SW107 graph-branch-race with work that may not run",
		  "a conditional node does not depend on the node that fills the buffer which its body writes",
		  "the conditional node depends on it");
	Device d;
	CUgraph graph = new_graph();
	CUgraphConditionalHandle handle;
	CUgraphNodeParams p = {};

	CHECK(cuGraphConditionalHandleCreate(&handle, graph, d.context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
	CUgraphNode fill = add_set(d, graph, {}, d.buffer[0]);
	p.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
	p.conditional.handle = handle;
	p.conditional.type = CU_GRAPH_COND_TYPE_IF;
	p.conditional.size = 1;
	p.conditional.ctx = d.context;
	add_any(graph, c.fixed ? Nodes{fill} : Nodes{}, &p);
	add_set(d, p.conditional.phGraph_out[0], {}, d.buffer[0]);
	CUgraphExec exec = instantiate(graph);

	CHECK(cuGraphLaunch(exec, d.stream[0]));
	CHECK(cuStreamSynchronize(d.stream[0]));
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
}
