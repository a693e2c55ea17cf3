/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_driver.h"

int main(int argc, char **argv)
{
	Options c(argc, argv, "SW107 graph-branch-race through a child graph that is replaced",
		  "the child graph of an executable graph is replaced by one that fills what an unordered node reads",
		  "the node depends on the child graph");
	Device d;
	CUgraph graph = new_graph(), first = new_graph(), second = new_graph();
	CUgraphNode child;

	add_set(d, first, {}, d.buffer[2]);
	add_set(d, second, {}, d.buffer[0]);
	CHECK(cuGraphAddChildGraphNode(&child, graph, nullptr, 0, first));
	add_copy(d, graph, c.fixed ? Nodes{child} : Nodes{}, d.buffer[1], d.buffer[0]);
	CUgraphExec exec = instantiate(graph);

	CHECK(cuGraphLaunch(exec, d.stream[0]));
	CHECK(cuGraphExecChildGraphNodeSetParams(exec, child, second));
	CHECK(cuGraphLaunch(exec, d.stream[0]));
	CHECK(cuStreamSynchronize(d.stream[0]));
	CHECK(cuGraphExecDestroy(exec));
	for (CUgraph g : {graph, first, second})
		CHECK(cuGraphDestroy(g));
}
