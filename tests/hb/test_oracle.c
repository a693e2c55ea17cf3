/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine against its oracle on random programs.  SW_PROGRAMS: how many; SW_SEED: the first seed.  A difference is
 * shrunk to the calls that it needs and printed.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

struct run {
	struct sw_hb *hb;
	struct oracle *oracle;
	sw_hb_token token[MAX_TOKENS];
	struct sw_hb_waited waited;
	struct sw_hb_view view; /* of the launch in hand */
	char difference[400];	/* empty: none */
	unsigned long pairs, observed, measured, ordered, begun;
};

static void __attribute__((format(printf, 2, 3))) differ(struct run *run, const char *format, ...)
{
	if (run->difference[0])
		return;
	va_list ap;
	va_start(ap, format);
	vsnprintf(run->difference, sizeof run->difference, format, ap);
	va_end(ap);
}

/* ---- a call on the engine; the point of its step, tick 0 if it has none ---- */

static struct sw_point begin_wait(struct run *run, const struct op *op, const struct sw_hb_at *at)
{
	struct sw_point point = {0, 0};
	sw_hb_token *token = &run->token[op->token];
	sw_hb_wait_drop(run->hb, *token);
	switch (op->kind) {
	case OP_WAIT_EVENT:
		*token = sw_hb_wait_event(run->hb, program_event(op), NULL);
		break;
	case OP_WAIT_STREAM:
		*token = sw_hb_wait_stream(run->hb, at);
		break;
	case OP_WAIT_CONTEXT:
		*token = sw_hb_wait_context(run->hb, op->ctx);
		break;
	case OP_WAIT_DEVICE:
		*token = sw_hb_wait_device(run->hb, op->ctx % 2);
		break;
	case OP_WAIT_POINT:
		*token = sw_hb_wait_point(run->hb, sw_hb_lane(run->hb, at));
		break;
	default:
		point = sw_hb_host_func(run->hb, at, token);
	}
	return point;
}

static void count_lane(void *arg, uint32_t lane, uint64_t known, uint64_t covered)
{
	(void)lane;
	*(int *)arg += covered > known;
}

static void end_wait(struct run *run, const struct op *op, uint64_t seq)
{
	sw_hb_token token = run->token[op->token];
	run->token[op->token] = 0;
	if (op->kind == OP_HOST_FUNC_END) {
		sw_hb_host_func_end(run->hb, token, op->thread, seq);
		return;
	}
	if (token)
		sw_hb_host_lane(run->hb, op->thread); /* a thread's first call is what makes it known */
	int lanes = 0;
	sw_hb_wait_lanes(run->hb, token, op->thread, op->basis, count_lane, &lanes);
	sw_hb_wait_end(run->hb, token, op->thread, seq, op->basis, &run->waited);
	if (lanes != (int)run->waited.lanes)
		differ(run, "call %lu: %d lanes to wait for before, %u after", (unsigned long)seq, lanes,
		       run->waited.lanes);
}

static struct sw_point engine_call(struct run *run, const struct op *op, uint64_t seq)
{
	struct sw_hb_at at = program_at(op, seq);
	struct sw_hb_event_state state = {0};
	struct sw_hb_grid grid;
	switch ((enum op_kind)op->kind) {
	case OP_CONTEXT_CREATE:
		sw_hb_context_create(run->hb, op->ctx, op->ctx % 2);
		break;
	case OP_CONTEXT_DESTROY:
		sw_hb_context_destroy(run->hb, op->ctx, op->thread, seq);
		break;
	case OP_CONTEXT_WITHIN:
		sw_hb_context_within(run->hb, op->ctx, program_other(op));
		break;
	case OP_STREAM_CREATE:
		sw_hb_stream_create(run->hb, op->ctx, program_stream(op), op->flag);
		break;
	case OP_STREAM_DESTROY:
		sw_hb_stream_destroy(run->hb, program_stream(op));
		break;
	case OP_ENQUEUE:
		return sw_hb_enqueue(run->hb, &at);
	case OP_LAUNCH:
		grid = program_grid(op);
		return sw_hb_launch(run->hb, &at, &grid, &run->view);
	case OP_ENQUEUE_ACROSS:
		return sw_hb_enqueue_across(run->hb, &at, (uint8_t[]){op->ctx, program_other(op)}, 2);
	case OP_ENQUEUE_BESIDE:
		return sw_hb_enqueue_joined(run->hb, &at, program_other(op));
	case OP_HOST_STEP:
		return sw_hb_host_step(run->hb, op->thread, seq);
	case OP_EVENT_CREATE:
		sw_hb_event_create(run->hb, program_event(op));
		break;
	case OP_EVENT_DESTROY:
		sw_hb_event_destroy(run->hb, program_event(op));
		break;
	case OP_RECORD:
		sw_hb_event_record(run->hb, program_event(op), &at, 0, NULL);
		sw_hb_event_state(run->hb, program_event(op), &state);
		return state.record;
	case OP_RECORD_CONTEXT:
		sw_hb_event_record(run->hb, program_event(op), &at, SW_HB_CONTEXT, NULL);
		break;
	case OP_STREAM_WAIT:
	case OP_CONTEXT_WAIT:
		sw_hb_stream_wait(run->hb, &at, program_event(op), op->kind == OP_CONTEXT_WAIT ? SW_HB_CONTEXT : 0,
				  &state);
		break;
	case OP_WAIT_COMMON:
		sw_hb_stream_wait_common(
			run->hb, &at,
			(uint64_t[]){program_event(op),
				     program_event(&(struct op){.event = (uint8_t)program_other_event(op)})},
			2);
		break;
	case OP_WAIT_END:
	case OP_HOST_FUNC_END:
		end_wait(run, op, seq);
		break;
	case OP_WAIT_DROP:
		sw_hb_wait_drop(run->hb, run->token[op->token]);
		run->token[op->token] = 0;
		break;
	case OP_BARRIER:
		sw_hb_barrier(run->hb, seq);
		break;
	case OP_HOST_FUNC_RETURN:
		sw_hb_host_func_return(run->hb, &at);
		break;
	case OP_RELEASE:
		sw_hb_release(run->hb, program_key(op), op->thread, seq);
		break;
	case OP_ACQUIRE:
		sw_hb_acquire(run->hb, program_key(op), op->thread, seq);
		break;
	case OP_THREAD_CREATE:
		sw_hb_thread_create(run->hb, program_key(op), op->thread, seq);
		break;
	case OP_THREAD_START:
		sw_hb_thread_start(run->hb, program_key(op), op->thread);
		break;
	case OP_THREAD_ABANDON:
		sw_hb_thread_abandon(run->hb, program_key(op));
		break;
	case OP_THREAD_END:
		sw_hb_thread_end(run->hb, program_key(op), op->thread);
		break;
	case OP_THREAD_JOIN:
		sw_hb_thread_join(run->hb, program_key(op), op->thread, seq);
		break;
	default:
		return begin_wait(run, op, &at);
	}
	return (struct sw_point){0, 0};
}

/* ---- comparison ---- */

static void compare_order(struct run *run, const struct op *op, unsigned long seq)
{
	const struct oracle *o = run->oracle;
	if (o->now < 0)
		return;
	enum sw_lane_kind kind = o->lane[o->node[o->now].lane].kind;
	bool host = kind == SW_LANE_HOST || kind == SW_LANE_CALLBACK;
	struct sw_hb_at at = program_at(op, seq);
	uint32_t lane = host ? sw_hb_host_lane(run->hb, op->thread) : sw_hb_lane(run->hb, &at);
	/* A thread of the driver that is also one of the program may be either. */
	if (!host && sw_hb_lane_kind(run->hb, lane) != kind)
		differ(run, "call %lu: lane kind %d, should be %d", seq, (int)sw_hb_lane_kind(run->hb, lane),
		       (int)kind);
	for (int i = 0; i < o->now; i++) {
		if (!o->node[i].pointed)
			continue;
		enum sw_order want = oracle_ordered(o, i, o->now), got = sw_hb_ordered(run->hb, o->node[i].point, lane);
		if (got != want)
			differ(run,
			       "call %lu: order after step %u:%lu is %d, should be %d (0 none, 1 observed, 2 measured, "
			       "3 documented)",
			       seq, o->node[i].point.lane, (unsigned long)o->node[i].point.tick, (int)got, (int)want);
		run->pairs++;
		run->observed += want == SW_ORDER_OBSERVED;
		run->measured += want == SW_ORDER_MEASURED;
		run->ordered += want == SW_ORDER_DOCUMENTED;
	}
}

/* Compares the nodes before the start of a launch. */
static void compare_start(struct run *run, const struct op *op, unsigned long seq)
{
	const struct oracle *o = run->oracle;
	const struct node *now = o->now < 0 ? NULL : &o->node[o->now];
	struct sw_hb_at at = program_at(op, seq);
	if (!now || !now->launch)
		return;
	if ((run->view.lane != sw_hb_lane(run->hb, &at)) != now->linked)
		differ(run, "call %lu: %s", seq, now->linked ? "its start is as the rest" : "its start is apart");
	if (now->linked && run->view.unsure != now->unsure)
		differ(run, "call %lu: unsure %d, should be %d", seq, run->view.unsure, now->unsure);
	for (int i = 0; i < o->now && now->linked; i++) {
		if (!o->node[i].pointed)
			continue;
		enum sw_order want = oracle_ordered_to_start(o, i, o->now);
		enum sw_order got = sw_hb_ordered(run->hb, o->node[i].point, run->view.lane);
		if (got != want)
			differ(run, "call %lu: order of its start after step %u:%lu is %d, should be %d", seq,
			       o->node[i].point.lane, (unsigned long)o->node[i].point.tick, (int)got, (int)want);
		run->begun += want != oracle_ordered(o, i, o->now);
	}
}

static void compare_passed(struct run *run, unsigned long seq)
{
	const struct oracle *o = run->oracle;
	for (int i = 0; i < o->nodes; i++)
		if (o->node[i].pointed && sw_hb_passed(run->hb, o->node[i].point) != oracle_passed(o, i))
			differ(run, "call %lu: step %u:%lu %s passed", seq, o->node[i].point.lane,
			       (unsigned long)o->node[i].point.tick, oracle_passed(o, i) ? "is" : "is not");
}

static void compare_waited(struct run *run, unsigned long seq)
{
	const struct oracle *o = run->oracle;
	if (!o->ended || o->host_func_end)
		return;
	if ((int)run->waited.lanes != o->pending_lanes || run->waited.pending != (o->pending_lanes > 0)) {
		differ(run, "call %lu: waited for %u lanes, should be %d", seq, run->waited.lanes, o->pending_lanes);
		return;
	}
	int last = -1;
	for (int i = 0; i < o->nodes; i++)
		if (nodes_has(&o->pending, i) && o->node[i].point.lane == run->waited.lane)
			last = i;
	if (run->waited.pending && (last < 0 || o->node[last].point.tick != run->waited.last.tick))
		differ(run, "call %lu: the last step waited for is not %u:%lu", seq, run->waited.last.lane,
		       (unsigned long)run->waited.last.tick);
}

static void compare_events(struct run *run, unsigned long seq)
{
	for (int e = 0; e < MAX_EVENTS; e++) {
		struct op op = {.event = (uint8_t)e};
		const struct oracle_event *want = &run->oracle->event[e];
		struct sw_hb_event_state got;
		sw_hb_event_state(run->hb, program_event(&op), &got);
		if (got.recorded != want->recorded || got.waits != want->waits || got.record_seq != want->seq ||
		    got.context_wide != want->context_wide)
			differ(run, "call %lu: event %d recorded %d by %lu, waited for %u times", seq, e, got.recorded,
			       (unsigned long)got.record_seq, got.waits);
	}
}

/* skip: a call that is hidden from the engine, to see that the comparison notices; SIZE_MAX: none. */
static void compare(struct run *run, const struct program *program, size_t skip)
{
	static struct oracle oracle;
	*run = (struct run){.oracle = &oracle};
	struct sw_hb_options options = {.strict_host = program->strict_host};
	run->hb = sw_hb_new(&options);
	oracle_start(&oracle, program->strict_host);
	for (size_t i = 0; i < program->n && !run->difference[0]; i++) {
		const struct op *op = &program->op[i];
		if (op->kind == OP_THREAD_START && oracle.host[op->thread] >= 0)
			continue; /* a thread that has acted cannot start */
		oracle_call(&oracle, op, i + 1);
		if (i == skip)
			continue;
		struct sw_point point = engine_call(run, op, i + 1);
		if (oracle.now >= 0 && point.tick) {
			oracle.node[oracle.now].pointed = true;
			oracle.node[oracle.now].point = point;
		}
		compare_order(run, op, i + 1);
		compare_start(run, op, i + 1);
		compare_passed(run, i + 1);
		compare_waited(run, i + 1);
		compare_events(run, i + 1);
	}
	sw_hb_free(run->hb);
}

static void shrink(struct run *run, struct program *program)
{
	for (size_t width = program->n / 2; width; width /= 2)
		for (size_t at = 0; at + width <= program->n;) {
			struct program less = *program;
			less.n -= width;
			memmove(less.op + at, less.op + at + width, (less.n - at) * sizeof *less.op);
			compare(run, &less, SIZE_MAX);
			if (run->difference[0])
				*program = less;
			else
				at += width;
		}
	compare(run, program, SIZE_MAX);
}

static unsigned long number(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);
	return text && *text ? strtoul(text, NULL, 0) : otherwise;
}

int main(void)
{
	unsigned long programs = number("SW_PROGRAMS", 60000), seed = number("SW_SEED", 1);
	unsigned long pairs = 0, observed = 0, measured = 0, ordered = 0, begun = 0, noticed = 0, tried = 0;
	struct program program;
	struct run run;
	for (unsigned long i = 0; i < programs; i++) {
		program_random(&program, seed + i);
		compare(&run, &program, SIZE_MAX);
		if (run.difference[0]) {
			printf("seed %lu: %s\n", seed + i, run.difference);
			shrink(&run, &program);
			printf("shrunk: %s\n", run.difference);
			program_print(&program, stdout);
			return 1;
		}
		pairs += run.pairs;
		observed += run.observed;
		measured += run.measured;
		ordered += run.ordered;
		begun += run.begun;
		if (i % 100 == 0) {
			compare(&run, &program, i / 100 % program.n);
			noticed += run.difference[0] != 0;
			tried++;
		}
	}
	printf("%lu programs, %lu pairs (%lu ordered, %lu by measurement only, %lu as observed only, %lu not before "
	       "the start of "
	       "a kernel alone): no difference; of %lu programs with a call withheld from the engine %lu were "
	       "noticed\n",
	       programs, pairs, ordered, measured, observed, begun, tried, noticed);
	/* A comparison that notices nothing would prove nothing; many calls are without effect, so not all can be
	 * noticed. */
	return tried > 20 && (noticed * 5 < tried || !measured || !observed || !begun) ? 1 : 0;
}
