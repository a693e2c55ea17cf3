/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/schedule/machine.h"

#include <string.h>

#define QUARTERS 4u
#define PLACED	 256u

struct state {
	const struct machine *m;
	const struct machine_change *change;
	uint64_t now;
	uint64_t ready[MACHINE_QUEUES]; /* all that the queue was given is done */
	uint64_t event[MACHINE_EVENTS];
	uint64_t engine[2]; /* up, down: free from then on */
	struct {
		uint64_t start, end;
		uint32_t quarters;
	} kernel[PLACED]; /* a ring */
	size_t kernels;
};

bool op_is_work(enum op_kind kind)
{
	return kind <= OP_LEGACY_SET;
}

bool op_is_staged(enum op_kind kind)
{
	return kind == OP_UP_STAGED || kind == OP_DOWN_STAGED;
}

bool op_waits(enum op_kind kind)
{
	return op_is_staged(kind) || kind == OP_SYNC_DOWN || (kind >= OP_SYNC_QUEUE && kind <= OP_CONFIG);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool changed(const struct state *s, const struct op *op, enum sw_what_if_kind kind)
{
	return s->change && s->change->made && s->change->kind == kind && s->change->site == op->site;
}

/* ---- work -------------------------------------------------------------------------------------------------------- */

static uint64_t length(const struct state *s, const struct op *op)
{
	bool staged = op_is_staged(op->kind) && !changed(s, op, SW_IF_PINNED);
	if (op->kind == OP_LAUNCH || op->kind == OP_LEGACY_SET)
		return op->dur_ns;
	return 1500 + (op->bytes >> 10) * (staged ? s->m->staged_ns_per_kib : s->m->pinned_ns_per_kib);
}

static uint64_t after_legacy(const struct state *s, const struct op *op, uint32_t queue)
{
	uint64_t ready = 0;
	if (op->kind == OP_LEGACY_SET && changed(s, op, SW_IF_NO_LEGACY))
		return 0;
	if (machine_queue(queue) == SW_QUEUE_BLOCKING)
		return s->ready[0];
	for (uint32_t q = 0; q < MACHINE_QUEUES && queue == 0; q++)
		if (machine_queue(q) == SW_QUEUE_BLOCKING)
			ready = later(ready, s->ready[q]);
	return ready;
}

static uint32_t taken(const struct state *s, uint64_t from, uint64_t to, uint64_t *first_end)
{
	uint32_t sum = 0;
	*first_end = UINT64_MAX;
	for (size_t i = 0; i < PLACED && i < s->kernels; i++) {
		if (s->kernel[i].end <= from || s->kernel[i].start >= to)
			continue;
		sum += s->kernel[i].quarters;
		if (s->kernel[i].end < *first_end)
			*first_end = s->kernel[i].end;
	}
	return sum;
}

static uint64_t place_kernel(struct state *s, const struct op *op, uint64_t start, uint64_t ns)
{
	uint64_t next;
	while (taken(s, start, start + ns, &next) + op->quarters > QUARTERS)
		start = next;
	size_t at = s->kernels++ % PLACED;
	s->kernel[at].start = start;
	s->kernel[at].end = start + ns;
	s->kernel[at].quarters = op->quarters;
	return start;
}

static void work(struct state *s, const struct op *op, struct machine_times *t)
{
	uint32_t queue = op->kind == OP_LEGACY_SET ? 0 : op->queue;
	uint64_t ns = length(s, op), start = t->call + s->m->lead_ns;
	uint64_t before = later(s->ready[queue], after_legacy(s, op, queue));
	/* Sets that leave the legacy stream get one of their own, for which nothing waits. */
	bool off = op->kind == OP_LEGACY_SET && changed(s, op, SW_IF_NO_LEGACY);
	if (before && !off)
		start = later(start, before + s->m->lag_ns);
	if (op->kind == OP_LAUNCH) {
		start = place_kernel(s, op, start, ns);
	} else if (op->kind != OP_LEGACY_SET) {
		uint64_t *engine =
			&s->engine[op->kind == OP_DOWN || op->kind == OP_DOWN_STAGED || op->kind == OP_SYNC_DOWN];
		start = later(start, *engine);
		*engine = start + ns;
	}
	t->start = start;
	t->end = start + ns;
	if (!off)
		s->ready[queue] = t->end;
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

/* MACHINE_QUEUES: of the device. */
static uint64_t all_of(const struct state *s, uint32_t queue)
{
	uint64_t end = 0;
	for (uint32_t q = 0; q < MACHINE_QUEUES; q++) {
		bool joins = queue == MACHINE_QUEUES || q == queue ||
			     (machine_queue(queue) == SW_QUEUE_BLOCKING && q == 0) ||
			     (queue == 0 && machine_queue(q) == SW_QUEUE_BLOCKING);
		if (joins)
			end = later(end, s->ready[q]);
	}
	return end;
}

static uint64_t kept(const struct state *s)
{
	uint64_t end = 0;
	for (uint32_t q = 0; q < MACHINE_QUEUES; q++)
		if (s->change->keeps[q])
			end = later(end, s->ready[q]);
	return end;
}

/* Until when the call holds the host, but for its own time; 0 it does not. */
static uint64_t until(const struct state *s, const struct op *op, const struct machine_times *t)
{
	if (changed(s, op, SW_IF_LESS))
		return kept(s);
	bool removed = changed(s, op, SW_IF_NO_WAIT) || changed(s, op, SW_IF_PINNED) || changed(s, op, SW_IF_NO_CALL);
	if (removed && !op->needed)
		return 0;
	switch (op->kind) {
	case OP_UP_STAGED:
	case OP_DOWN_STAGED:
	case OP_SYNC_DOWN:
		return t->end;
	case OP_SYNC_QUEUE:
		return all_of(s, op->queue);
	case OP_SYNC_EVENT:
		return s->event[op->event];
	case OP_SYNC_DEVICE:
	case OP_FREE:
	case OP_CONFIG:
		return all_of(s, MACHINE_QUEUES);
	default:
		return 0;
	}
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static void run(struct state *s, const struct op *op, struct machine_times *t)
{
	bool gone = changed(s, op, SW_IF_NO_CALL);
	s->now += op->gap_ns;
	t->call = s->now;
	if (op_is_work(op->kind))
		work(s, op, t);
	if (op->kind == OP_RECORD)
		s->event[op->event] = s->ready[op->queue];
	if (op->kind == OP_WAIT)
		s->ready[op->queue] = later(s->ready[op->queue], s->event[op->event]);
	uint64_t end = until(s, op, t), own = gone ? 0 : op_is_work(op->kind) ? s->m->launch_ns : op->own_ns;
	bool late = op->kind == OP_FREE || op->kind == OP_CONFIG;
	/* Frees and configuration do their own work when the device is idle. */
	s->now = late && !gone ? later(s->now, end) + own : later(s->now + own, end ? end + s->m->tail_ns : 0);
	t->back = s->now;
}

uint64_t machine_run(const struct machine *m, const struct machine_change *change, struct machine_times *times)
{
	static struct state s;
	uint64_t last = 0;
	memset(&s, 0, sizeof s);
	s.m = m;
	s.change = change;
	s.now = 1000000;
	for (size_t i = 0; i < m->ops; i++) {
		times[i] = (struct machine_times){0};
		run(&s, &m->op[i], &times[i]);
		last = later(last, later(times[i].back, times[i].end));
	}
	return last - 1000000;
}
