/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle_lanes.h"

#include <stdlib.h>
#include <string.h>

void oracle_nodes_add(struct nodes *set, int node)
{
	if (node >= 0)
		set->bits[node / 64] |= 1ull << (node % 64);
}

void oracle_nodes_join(struct nodes *set, const struct nodes *other)
{
	for (size_t i = 0; i < MAX_NODES / 64; i++)
		set->bits[i] |= other->bits[i];
}

void oracle_edge(struct oracle *o, int from, int to, enum sw_order basis)
{
	if (from < 0 || from == to)
		return;
	oracle_nodes_join(&o->node[to].before[OBSERVED], &o->node[from].before[OBSERVED]);
	if (basis != SW_ORDER_OBSERVED)
		oracle_nodes_join(&o->node[to].before[MEASURED], &o->node[from].before[MEASURED]);
	if (basis == SW_ORDER_DOCUMENTED)
		oracle_nodes_join(&o->node[to].before[DOCUMENTED], &o->node[from].before[DOCUMENTED]);
}

void oracle_edges(struct oracle *o, const struct nodes *from, int to, enum sw_order basis)
{
	for (int i = 0; i < to; i++)
		if (nodes_has(from, i))
			oracle_edge(o, i, to, basis);
}

int oracle_new_lane(struct oracle *o, enum sw_lane_kind kind, int ctx)
{
	if (o->lanes == MAX_LANES)
		abort();
	o->lane[o->lanes].kind = kind;
	o->lane[o->lanes].last = -1;
	o->lane[o->lanes].ctx = ctx;
	if (ctx >= 0)
		o->context[ctx].used = true;
	return o->lanes++;
}

int oracle_new_node(struct oracle *o, int lane, bool work)
{
	if (o->nodes == MAX_NODES)
		abort();
	int v = o->nodes++;
	o->node[v] = (struct node){.lane = lane, .work = work};
	for (int clock = 0; clock < CLOCKS; clock++)
		oracle_nodes_add(&o->node[v].before[clock], v);
	oracle_edge(o, o->lane[lane].last, v, SW_ORDER_DOCUMENTED);
	o->lane[lane].last = v;
	return v;
}

bool oracle_is_blocking(const struct oracle *o, int lane)
{
	return o->lane[lane].kind == SW_LANE_BLOCKING || o->lane[lane].kind == SW_LANE_PER_THREAD;
}

bool oracle_is_host(const struct oracle *o, int lane)
{
	return o->lane[lane].kind == SW_LANE_HOST || o->lane[lane].kind == SW_LANE_CALLBACK;
}

/* A new thread, or one that was thought to have ended, knows what all the others know. */
static void inherit(struct oracle *o, int lane)
{
	struct nodes all[CLOCKS];
	memset(all, 0xff, sizeof all);
	bool any = false;
	for (int l = 0; l < o->lanes; l++)
		if (l != lane && oracle_is_host(o, l) && !o->lane[l].gone) {
			int last = o->lane[l].last;
			for (int clock = 0; clock < CLOCKS; clock++)
				for (size_t i = 0; i < MAX_NODES / 64; i++)
					all[clock].bits[i] &= last >= 0 ? o->node[last].before[clock].bits[i] : 0;
			any = true;
		}
	if (!any)
		return;
	int v = oracle_new_node(o, lane, false);
	for (int clock = 0; clock < CLOCKS; clock++)
		oracle_nodes_join(&o->node[v].before[clock], &all[clock]);
}

int oracle_host_lane(struct oracle *o, int thread, enum sw_lane_kind kind)
{
	int t = o->strict_host ? thread : 0;
	if (o->host[t] < 0) {
		o->host[t] = oracle_new_lane(o, o->strict_host ? kind : SW_LANE_HOST, -1);
		inherit(o, o->host[t]);
	}
	return o->host[t];
}

int oracle_act(struct oracle *o, int thread, enum sw_lane_kind kind)
{
	int lane = oracle_host_lane(o, thread, kind);
	if (o->lane[lane].gone) {
		inherit(o, lane);
		o->lane[lane].gone = false;
	}
	int v = oracle_new_node(o, lane, false);
	if (o->strict_host)
		oracle_edge(o, o->acted, v, SW_ORDER_OBSERVED);
	return o->acted = v;
}

int oracle_stream_lane(struct oracle *o, const struct op *op)
{
	int *lane = &o->stream[op->stream];
	enum sw_lane_kind kind = SW_LANE_BLOCKING;
	if (op->stream == 1 || (op->stream == 0 && !op->flag)) {
		lane = &o->context[op->ctx].legacy;
		kind = SW_LANE_LEGACY;
	} else if (op->stream <= 2) {
		lane = &o->context[op->ctx].per_thread[op->thread];
		kind = SW_LANE_PER_THREAD;
	}
	if (*lane < 0)
		*lane = oracle_new_lane(o, kind, op->ctx);
	return *lane;
}
