/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of pointers in graphs: what copy nodes upload, and where kernel nodes find it.
 *
 * The content of a copy node's source was read when the graph was described.  The host may have changed it since, so
 * what follows from it is likely at most, and it counts for the first launch only: who copies from the host in a graph
 * does so to launch again with something else there.
 */
#include "detect/graphs/graphs.h"

#include "detect/calls/copies.h"
#include "detect/kernels/launches.h"
#include "detect/model/call.h"
#include "detect/model/model.h"

struct sw_record sw_node_record(const struct sw_record *launch, const struct sw_graph_node *node)
{
	struct sw_record r = *launch;
	node->work->ctx = launch->rec->ctx;
	r.rec = node->work;
	if (node->work->kind == SW_REC_LAUNCH) {
		const struct sw_rec_launch *l = (const struct sw_rec_launch *)(const void *)node->work;
		r.params = l->param_bytes ? l + 1 : NULL;
		r.param_bytes = l->param_bytes;
	}
	return r;
}

bool sw_node_follow(struct sw_model *m, const struct sw_graph_node *node, const struct sw_access *what)
{
	const struct sw_record *launch = m->record;
	struct sw_record r = sw_node_record(launch, node);
	struct sw_access call = m->wait->what;
	m->record = &r;
	m->wait->what = *what;
	bool followed = sw_launch_follow(m, node->perhaps);
	m->wait->what = call;
	m->record = launch;
	return followed;
}

void sw_node_upload(struct sw_model *m, const struct sw_graph_node *node, const struct sw_access *what)
{
	const struct sw_record *launch = m->record;
	struct sw_record r = sw_node_record(launch, node);
	m->record = &r;
	sw_copy_uploads(m, &r, what);
	m->record = launch;
}
