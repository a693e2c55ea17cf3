/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events, captures and waits of the host: their records, and what they order (doc/order.md). */
#include "chain_call.h"

struct op call(const struct run *run, enum op_kind kind)
{
	const struct chain_op *op = run->op;
	return (struct op){.kind = (uint8_t)kind,
			   .ctx = CHAIN_CTX,
			   .thread = (uint8_t)run->thread,
			   .stream = op->synchronous ? 0 : op->stream,
			   .event = op->event,
			   .flag = op->flag && !op->synchronous && (kind == OP_STREAM_CREATE || !op->stream)};
}

int place(struct run *run, struct op *op)
{
	oracle_call(&run->truth->order, op, run->tb->seq);
	return run->truth->order.now;
}

int happens(struct run *run, enum op_kind kind)
{
	struct op op = call(run, kind);
	return place(run, &op);
}

void wait_begins(struct run *run, enum op_kind kind, uint8_t token)
{
	struct op op = call(run, kind);
	op.token = token;
	place(run, &op);
}

void wait_ends(struct run *run, uint8_t token, enum sw_order basis)
{
	struct op op = call(run, OP_WAIT_END);
	op.token = token;
	op.basis = basis;
	place(run, &op);
}

uint64_t stream_handle(struct run *run)
{
	struct op op = call(run, OP_ENQUEUE);
	return program_stream(&op);
}

unsigned lane_key(const struct run *run)
{
	unsigned stream = run->op->synchronous ? 0 : run->op->stream;
	if (stream == 2 || (!stream && run->op->flag && !run->op->synchronous))
		return MAX_STREAMS + run->thread;
	return stream > 2 ? stream : 0;
}

/* ---- streams and events ---- */

static bool capture_lives(const struct run *run, int capture)
{
	for (size_t i = 0; capture && i < sizeof run->captured / sizeof *run->captured; i++)
		if (run->captured[i] == capture)
			return true;
	return false;
}

void stream_ends(struct run *run)
{
	tb_stream_destroy(run->tb, stream_handle(run));
	happens(run, OP_STREAM_DESTROY);
	run->captured[lane_key(run)] = 0;
}

void event_record(struct run *run)
{
	int capture = run->captured[lane_key(run)];
	tb_event_record(run->tb, 0x77000u + run->op->event, stream_handle(run));
	run->event_capture[run->op->event] = capture;
	run->event_after[run->op->event] = run->after[lane_key(run)];
	if (!capture)
		happens(run, OP_RECORD);
}

void stream_wait(struct run *run)
{
	int capture = run->event_capture[run->op->event];
	unsigned lane = lane_key(run);
	if (capture && !lane)
		return; /* the legacy stream cannot be captured */
	tb_stream_wait(run->tb, stream_handle(run), 0x77000u + run->op->event);
	if (capture_lives(run, capture)) {
		if (run->captured[lane] != capture)
			run->after[lane] = 0;
		run->captured[lane] = capture;
		run->after[lane] |= run->event_after[run->op->event];
	} else if (!capture && !run->captured[lane])
		happens(run, OP_STREAM_WAIT);
}

/* ---- waits of the host ---- */

#define NOT_READY 600 /* CUDA_ERROR_NOT_READY */

void host_wait(struct run *run)
{
	static const enum op_kind waits[] = {[SW_SYNC_EVENT] = OP_WAIT_EVENT,
					     [SW_SYNC_STREAM] = OP_WAIT_STREAM,
					     [SW_SYNC_CONTEXT] = OP_WAIT_CONTEXT};
	const struct chain_op *op = run->op;
	bool query = op->kind == CHAIN_QUERY_EVENT || op->kind == CHAIN_QUERY_STREAM,
	     split = op->kind == CHAIN_WAIT_BEGIN;
	enum sw_sync_what what = op->kind == CHAIN_SYNC_CONTEXT					 ? SW_SYNC_CONTEXT
				 : op->kind == CHAIN_SYNC_EVENT || op->kind == CHAIN_QUERY_EVENT ? SW_SYNC_EVENT
												 : SW_SYNC_STREAM;
	uint64_t handle = what == SW_SYNC_EVENT ? 0x77000u + op->event : stream_handle(run);
	uint8_t token = split ? BLOCKED : CALL;
	if (query)
		tb_query(run->tb, what, handle, op->flag ? 0 : NOT_READY);
	else if (split)
		run->blocked = tb_sync_begin(run->tb, what, handle);
	else
		tb_sync(run->tb, what, handle);
	if ((query && !op->flag) || (what == SW_SYNC_EVENT && run->event_capture[op->event]))
		return;
	wait_begins(run, waits[what], token);
	if (!split)
		wait_ends(run, token, SW_ORDER_DOCUMENTED);
}

void callback(struct run *run)
{
	run->callback_stream = stream_handle(run);
	tb_host_func(run->tb, run->callback_stream, 0x1234);
	run->callback = run->tb->seq;
	wait_begins(run, OP_HOST_FUNC, CALLBACK);
	run->callback_node = run->truth->order.now;
}

/* The callback reads or fills memory of the host's, as the guard sees it. */
static void callback_touches(struct run *run)
{
	const struct chain_op *op = run->op;
	if (slot_is_device(op->dst.slot) || !run->truth->slot[op->dst.slot].alive)
		return;
	struct touch like = {.op = run->index,
			     .function = run->callback_node + 1,
			     .role = op->flag ? SW_WRITE : SW_READ,
			     .host = true};
	struct chain_range range = op->dst;
	range.alias = false;
	tb_host_access(run->tb, slot_address(&range), op->bytes, op->flag ? SW_HOST_WRITES : 0);
	like.node = happens(run, OP_HOST_STEP);
	memory_box(run->truth, &like, &range, op->bytes, 1);
}

void callback_runs(struct run *run)
{
	struct op op = call(run, OP_HOST_FUNC_END);
	op.token = CALLBACK;
	tb_thread(run->tb, 3);
	/* Without a stack, all accesses of the driver's thread would be one call site. */
	tb_stack(run->tb, 1, 0x1000 + 16 * (uint64_t)run->index);
	run->tb->flags = 0;
	uint64_t begin = tb_host_func_begin(run->tb, run->callback_stream, 0x1234, run->callback);
	place(run, &op);
	run->callback = 0;
	callback_touches(run);
	tb_host_func_end(run->tb, begin);
}
