/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of doc/order.md, in its order: to be read next to it. */
#include "oracle.h"

#include <string.h>

#include "oracle_lanes.h"

/* ---- steps ---- */

/* Nodes before an operation that is enqueued in a stream now, in addition to the call and the step before. */
static struct nodes legacy_rules(const struct oracle *o, int lane)
{
	struct nodes before = {0};
	for (int i = 0; i < o->lanes; i++)
		if (o->lane[i].ctx == o->lane[lane].ctx &&
		    ((o->lane[lane].kind == SW_LANE_LEGACY && oracle_is_blocking(o, i)) ||
		     (oracle_is_blocking(o, lane) && o->lane[i].kind == SW_LANE_LEGACY)))
			oracle_nodes_add(&before, o->lane[i].last);
	return before;
}

static int step(struct oracle *o, const struct op *op, bool work)
{
	int call = oracle_act(o, op->thread, SW_LANE_HOST);
	int lane = oracle_stream_lane(o, op);
	struct nodes before = legacy_rules(o, lane);
	int v = oracle_new_node(o, lane, work);
	oracle_edge(o, call, v, SW_ORDER_DOCUMENTED);
	oracle_edges(o, &before, v, SW_ORDER_DOCUMENTED);
	oracle_edges(o, &o->context[o->lane[lane].ctx].waits, v, SW_ORDER_DOCUMENTED);
	return v;
}

/* Nodes before the start of a launch by way of the kernel before it. */
static void start_after(struct oracle *o, int v, int primary)
{
	const struct node *p = &o->node[primary];
	struct node *now = &o->node[v];
	bool first = p->grid.triggers_first && p->linked;
	for (int clock = 0; clock < CLOCKS; clock++) {
		struct nodes before = first ? p->start[clock] : p->before[clock];
		if (!first)
			before.bits[primary / 64] &= ~(1ull << (primary % 64));
		if (p->grid.late && clock != DOCUMENTED)
			oracle_nodes_join(&before, &p->before[clock]);
		oracle_nodes_join(&now->start[clock], &before);
	}
	now->unsure = now->grid.unsure || p->grid.unsure || (first && p->unsure);
}

/* A kernel: its start may come before the kernel before it on the stream has ended. */
static int launch(struct oracle *o, const struct op *op)
{
	int call = oracle_act(o, op->thread, SW_LANE_HOST);
	int lane = oracle_stream_lane(o, op), last = o->lane[lane].last;
	struct nodes before = legacy_rules(o, lane);
	int v = oracle_new_node(o, lane, true);
	struct node *now = &o->node[v];
	oracle_edge(o, call, v, SW_ORDER_DOCUMENTED);
	oracle_edges(o, &before, v, SW_ORDER_DOCUMENTED);
	oracle_edges(o, &o->context[o->lane[lane].ctx].waits, v, SW_ORDER_DOCUMENTED);
	now->launch = true;
	now->grid = program_grid(op);
	now->linked = now->grid.overlaps && last >= 0 && o->node[last].launch && o->node[last].grid.triggers;
	if (!now->linked)
		return v;
	oracle_nodes_add(&before, call);
	oracle_nodes_join(&before, &o->context[o->lane[lane].ctx].waits);
	for (int i = 0; i < v; i++)
		for (int clock = 0; clock < CLOCKS && nodes_has(&before, i); clock++)
			oracle_nodes_join(&now->start[clock], &o->node[i].before[clock]);
	start_after(o, v, last);
	return v;
}

/* The context itself, or a part of it. */
static bool is_of(const struct oracle *o, int ctx, int whole)
{
	return ctx >= 0 && (ctx == whole || o->context[ctx].whole == whole);
}

static struct nodes context_covers(const struct oracle *o, int ctx)
{
	struct nodes covers = {0};
	for (int i = 0; i < o->lanes; i++)
		if (is_of(o, o->lane[i].ctx, ctx))
			oracle_nodes_add(&covers, o->lane[i].last);
	return covers;
}

static void context_waits(struct oracle *o, int ctx, const struct nodes *for_these)
{
	for (int c = 0; c < MAX_CONTEXTS; c++)
		if (is_of(o, c, ctx))
			oracle_nodes_join(&o->context[c].waits, for_these);
}

/* ---- calls ---- */

static void within(struct oracle *o, int part, int whole)
{
	o->context[part].used = o->context[whole].used = true;
	if (part == whole || o->context[part].whole >= 0 || o->context[part].has_parts || o->context[whole].whole >= 0)
		return;
	o->context[part].whole = whole;
	o->context[whole].has_parts = true;
	oracle_nodes_join(&o->context[part].waits, &o->context[whole].waits);
}

static int step_across(struct oracle *o, const struct op *op)
{
	int both[] = {op->ctx, program_other(op)};
	struct nodes covers = {0}, now = {0};
	for (int i = 0; i < 2; i++) {
		struct nodes more = context_covers(o, both[i]);
		oracle_nodes_join(&covers, &more);
		o->context[both[i]].used = true;
	}
	int v = step(o, op, true);
	oracle_edges(o, &covers, v, SW_ORDER_DOCUMENTED);
	oracle_nodes_add(&now, v);
	context_waits(o, both[0], &now);
	context_waits(o, both[1], &now);
	return v;
}

static int step_beside(struct oracle *o, const struct op *op)
{
	struct op there = *op;
	there.ctx = program_other(op);
	int lane = oracle_stream_lane(o, op), other = oracle_stream_lane(o, &there);
	if (lane == other)
		return step(o, op, true);
	struct nodes covers = legacy_rules(o, other);
	oracle_nodes_add(&covers, o->lane[other].last);
	int v = step(o, op, true);
	oracle_edges(o, &covers, v, SW_ORDER_MEASURED);
	oracle_edge(o, v, oracle_new_node(o, other, false), SW_ORDER_MEASURED);
	return v;
}

static void end_one_context(struct oracle *o, int ctx)
{
	for (int i = 0; i < o->lanes; i++)
		if (o->lane[i].ctx == ctx) {
			o->lane[i].ctx = -1;
			for (int s = 0; s < MAX_STREAMS; s++)
				if (o->stream[s] == i)
					o->stream[s] = -1;
		}
	for (int e = 0; e < MAX_EVENTS; e++)
		if (o->event[e].recorded && o->event[e].ctx == ctx)
			o->event[e] = (struct oracle_event){0};
	memset(&o->context[ctx], 0, sizeof o->context[ctx]);
	o->context[ctx].legacy = o->context[ctx].whole = -1;
	memset(o->context[ctx].per_thread, 0xff, sizeof o->context[ctx].per_thread);
}

static void end_context(struct oracle *o, const struct op *op)
{
	if (!o->context[op->ctx].used)
		return;
	struct nodes covers = context_covers(o, op->ctx);
	o->now = oracle_act(o, op->thread, SW_LANE_HOST);
	oracle_edges(o, &covers, o->now, SW_ORDER_DOCUMENTED);
	for (int c = 0; c < MAX_CONTEXTS; c++)
		if (o->context[c].whole == op->ctx)
			end_one_context(o, c);
	end_one_context(o, op->ctx);
}

static void record(struct oracle *o, const struct op *op, uint64_t seq)
{
	struct oracle_event *e = &o->event[op->event];
	*e = (struct oracle_event){.recorded = true, .node = -1, .ctx = op->ctx, .seq = seq};
	if (op->kind == OP_RECORD_CONTEXT) {
		e->context_wide = true;
		int call = oracle_act(o, op->thread, SW_LANE_HOST);
		e->covers = context_covers(o, op->ctx);
		oracle_nodes_add(&e->covers, call);
		o->context[op->ctx].used = true;
		return;
	}
	e->node = o->now = step(o, op, false);
	e->ctx = o->lane[o->node[o->now].lane].ctx;
	oracle_nodes_add(&e->covers, o->now);
}

static void stream_wait(struct oracle *o, const struct op *op)
{
	struct oracle_event *e = &o->event[op->event];
	e->waits += e->recorded;
	if (op->kind == OP_CONTEXT_WAIT) {
		o->context[op->ctx].used = true;
		struct nodes covers = e->covers;
		oracle_nodes_add(&covers, oracle_act(o, op->thread, SW_LANE_HOST));
		context_waits(o, op->ctx, &covers);
		return;
	}
	o->now = step(o, op, false);
	oracle_edges(o, &e->covers, o->now, SW_ORDER_DOCUMENTED);
}

static void wait_common(struct oracle *o, const struct op *op)
{
	const struct nodes *covers[] = {&o->event[op->event].covers, &o->event[program_other_event(op)].covers};
	o->now = step(o, op, false);
	for (int clock = 0; clock < CLOCKS; clock++) {
		static const enum sw_order basis[CLOCKS] = {[DOCUMENTED] = SW_ORDER_DOCUMENTED,
							    [MEASURED] = SW_ORDER_MEASURED,
							    [OBSERVED] = SW_ORDER_OBSERVED};
		struct nodes before[2] = {{{0}}, {{0}}};
		for (int e = 0; e < 2; e++)
			for (int i = 0; i < o->now; i++)
				if (nodes_has(covers[e], i))
					oracle_nodes_join(&before[e], &o->node[i].before[clock]);
		for (int i = 0; i < o->now; i++)
			if (nodes_has(&before[0], i) && nodes_has(&before[1], i))
				oracle_edge(o, i, o->now, basis[clock]);
	}
}

static void begin_wait(struct oracle *o, const struct op *op)
{
	struct nodes covers = {0};
	bool valid = true;
	int lane;
	switch (op->kind) {
	case OP_WAIT_EVENT:
		valid = o->event[op->event].recorded;
		o->event[op->event].waits += valid;
		covers = o->event[op->event].covers;
		break;
	case OP_WAIT_STREAM:
		lane = oracle_stream_lane(o, op);
		covers = legacy_rules(o, lane);
		oracle_nodes_add(&covers, o->lane[lane].last);
		break;
	case OP_WAIT_POINT:
		oracle_nodes_add(&covers, o->lane[oracle_stream_lane(o, op)].last);
		break;
	case OP_WAIT_CONTEXT:
		o->context[op->ctx].used = true;
		covers = context_covers(o, op->ctx);
		break;
	case OP_WAIT_DEVICE:
		for (int c = 0; c < MAX_CONTEXTS; c++)
			if (o->context[c].used && o->context[c].device == op->ctx % 2) {
				struct nodes more = context_covers(o, c);
				oracle_nodes_join(&covers, &more);
			}
		break;
	default:
		o->now = step(o, op, true); /* HOST_FUNC */
		oracle_nodes_add(&covers, o->now);
	}
	o->token[op->token].valid = valid;
	o->token[op->token].covers = covers;
}

static void end_wait(struct oracle *o, const struct op *op)
{
	if (!o->token[op->token].valid)
		return;
	o->token[op->token].valid = false;
	bool callback = op->kind == OP_HOST_FUNC_END;
	enum sw_order basis = callback ? SW_ORDER_DOCUMENTED : op->basis;
	int which = basis == SW_ORDER_DOCUMENTED ? DOCUMENTED : MEASURED;
	int call = o->now = oracle_act(o, op->thread, callback ? SW_LANE_CALLBACK : SW_LANE_HOST);
	struct nodes known = o->node[call].before[which], seen = {0};
	oracle_edges(o, &o->token[op->token].covers, call, basis);
	o->ended = true;
	o->host_func_end = callback;
	for (int i = 0; i < call; i++) {
		if (nodes_has(&known, i) || !nodes_has(&o->node[call].before[which], i) || !o->node[i].work)
			continue;
		oracle_nodes_add(&o->pending, i);
		o->pending_lanes += !nodes_has(&seen, o->node[i].lane);
		oracle_nodes_add(&seen, o->node[i].lane);
	}
}

/* ---- host threads ---- */

static void function_returns(struct oracle *o, const struct op *op)
{
	if (op->stream > 2 && o->stream[op->stream] < 0)
		return;
	int call = oracle_act(o, op->thread, SW_LANE_CALLBACK);
	oracle_edge(o, call, oracle_new_node(o, oracle_stream_lane(o, op), false), SW_ORDER_DOCUMENTED);
}

static void create_thread(struct oracle *o, const struct op *op)
{
	if (o->unborn[op->event] >= 0)
		return;
	int call = oracle_act(o, op->thread, SW_LANE_HOST);
	int lane = o->unborn[op->event] = oracle_new_lane(o, SW_LANE_HOST, -1);
	oracle_edge(o, call, oracle_new_node(o, lane, false), SW_ORDER_DOCUMENTED);
}

/* The last one stays: what comes after it inherits from it. */
static void leave(struct oracle *o, int lane)
{
	int hosts = 0;
	for (int l = 0; l < o->lanes; l++)
		hosts += oracle_is_host(o, l) && !o->lane[l].gone;
	if (hosts > 1)
		o->lane[lane].gone = true;
}

static void start_thread(struct oracle *o, const struct op *op)
{
	int lane = o->unborn[op->event];
	o->unborn[op->event] = -1;
	if (lane < 0)
		return;
	if (op->kind == OP_THREAD_ABANDON)
		leave(o, lane);
	else
		o->host[op->thread] = lane;
}

static void end_thread(struct oracle *o, const struct op *op)
{
	o->done[op->event] = op->thread;
	if (o->host[op->thread] >= 0)
		leave(o, o->host[op->thread]);
}

static void join_thread(struct oracle *o, const struct op *op)
{
	int thread = o->done[op->event];
	o->done[op->event] = -1;
	o->now = oracle_act(o, op->thread, SW_LANE_HOST);
	if (thread >= 0 && o->host[thread] >= 0)
		oracle_edge(o, o->lane[o->host[thread]].last, o->now, SW_ORDER_DOCUMENTED);
}

static void host_call(struct oracle *o, const struct op *op)
{
	switch ((enum op_kind)op->kind) {
	case OP_HOST_FUNC_RETURN:
		function_returns(o, op);
		break;
	case OP_RELEASE:
		oracle_nodes_add(&o->sync[op->event], o->now = oracle_act(o, op->thread, SW_LANE_HOST));
		break;
	case OP_ACQUIRE:
		o->now = oracle_act(o, op->thread, SW_LANE_HOST);
		oracle_edges(o, &o->sync[op->event], o->now, SW_ORDER_DOCUMENTED);
		break;
	case OP_THREAD_CREATE:
		create_thread(o, op);
		break;
	case OP_THREAD_END:
		end_thread(o, op);
		break;
	case OP_THREAD_JOIN:
		join_thread(o, op);
		break;
	default:
		start_thread(o, op);
	}
}

static void barrier(struct oracle *o)
{
	struct nodes all = {0};
	for (int i = 0; i < o->lanes; i++)
		oracle_nodes_add(&all, o->lane[i].last);
	int lanes = o->lanes, before = o->nodes;
	for (int i = 0; i < lanes; i++) {
		int v = oracle_new_node(o, i, false);
		for (int from = 0; from < before; from++)
			if (nodes_has(&all, from))
				oracle_edge(o, from, v, SW_ORDER_DOCUMENTED);
	}
}

void oracle_start(struct oracle *o, bool strict_host)
{
	memset(o, 0, sizeof *o);
	o->strict_host = strict_host;
	memset(o->stream, 0xff, sizeof o->stream);
	memset(o->host, 0xff, sizeof o->host);
	memset(o->unborn, 0xff, sizeof o->unborn);
	memset(o->done, 0xff, sizeof o->done);
	o->acted = -1;
	for (int c = 0; c < MAX_CONTEXTS; c++) {
		o->context[c].legacy = o->context[c].whole = -1;
		memset(o->context[c].per_thread, 0xff, sizeof o->context[c].per_thread);
	}
}

void oracle_call(struct oracle *o, const struct op *op, uint64_t seq)
{
	o->now = -1;
	o->ended = o->host_func_end = false;
	o->pending_lanes = 0;
	o->pending = (struct nodes){0};
	switch ((enum op_kind)op->kind) {
	case OP_CONTEXT_CREATE:
		o->context[op->ctx].used = true;
		o->context[op->ctx].device = op->ctx % 2;
		break;
	case OP_CONTEXT_DESTROY:
		end_context(o, op);
		break;
	case OP_CONTEXT_WITHIN:
		within(o, op->ctx, program_other(op));
		break;
	case OP_STREAM_CREATE:
		if (op->stream > 2)
			o->stream[op->stream] =
				oracle_new_lane(o, op->flag ? SW_LANE_NONBLOCKING : SW_LANE_BLOCKING, op->ctx);
		break;
	case OP_STREAM_DESTROY:
		o->stream[op->stream] = -1;
		break;
	case OP_ENQUEUE:
		o->now = step(o, op, true);
		break;
	case OP_LAUNCH:
		o->now = launch(o, op);
		break;
	case OP_ENQUEUE_ACROSS:
		o->now = step_across(o, op);
		break;
	case OP_ENQUEUE_BESIDE:
		o->now = step_beside(o, op);
		break;
	case OP_HOST_STEP:
		o->now = oracle_act(o, op->thread, SW_LANE_HOST);
		break;
	case OP_EVENT_CREATE:
	case OP_EVENT_DESTROY:
		o->event[op->event] = (struct oracle_event){0};
		break;
	case OP_RECORD:
	case OP_RECORD_CONTEXT:
		record(o, op, seq);
		break;
	case OP_STREAM_WAIT:
	case OP_CONTEXT_WAIT:
		stream_wait(o, op);
		break;
	case OP_WAIT_COMMON:
		wait_common(o, op);
		break;
	case OP_WAIT_END:
	case OP_HOST_FUNC_END:
		end_wait(o, op);
		break;
	case OP_WAIT_DROP:
		o->token[op->token].valid = false;
		break;
	case OP_BARRIER:
		barrier(o);
		break;
	case OP_HOST_FUNC_RETURN:
	case OP_RELEASE:
	case OP_ACQUIRE:
	case OP_THREAD_CREATE:
	case OP_THREAD_START:
	case OP_THREAD_ABANDON:
	case OP_THREAD_END:
	case OP_THREAD_JOIN:
		if (o->strict_host)
			host_call(o, op);
		break;
	default:
		begin_wait(o, op);
	}
}

enum sw_order oracle_ordered_to_start(const struct oracle *o, int earlier, int later)
{
	const struct node *v = &o->node[later];
	if (nodes_has(&v->start[DOCUMENTED], earlier))
		return SW_ORDER_DOCUMENTED;
	if (nodes_has(&v->start[MEASURED], earlier))
		return SW_ORDER_MEASURED;
	return nodes_has(&v->start[OBSERVED], earlier) ? SW_ORDER_OBSERVED : SW_ORDER_NONE;
}

enum sw_order oracle_ordered(const struct oracle *o, int earlier, int later)
{
	if (nodes_has(&o->node[later].before[DOCUMENTED], earlier))
		return SW_ORDER_DOCUMENTED;
	if (nodes_has(&o->node[later].before[MEASURED], earlier))
		return SW_ORDER_MEASURED;
	return nodes_has(&o->node[later].before[OBSERVED], earlier) ? SW_ORDER_OBSERVED : SW_ORDER_NONE;
}

bool oracle_passed(const struct oracle *o, int node)
{
	bool any = false;
	for (int l = 0; l < o->lanes; l++)
		if (oracle_is_host(o, l) && !o->lane[l].gone) {
			int last = o->lane[l].last;
			if (last < 0 || oracle_ordered(o, node, last) != SW_ORDER_DOCUMENTED)
				return false;
			any = true;
		}
	return any;
}
