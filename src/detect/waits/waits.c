/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/model/model.h"

#include <stdlib.h>
#include <string.h>

/* Work remembered per stream for telling when it was known to be done; a stream nobody waits for forgets the oldest. */
#define SW_MAX_PENDING 65536u
/* Calls in flight at once, one a thread: more means that their ends were lost. */
#define SW_MAX_OPEN 65536u

/*
 * Host time that a call plausibly spends on its own work.  Deliberately generous, several times what was measured on
 * H200 with driver 580 ("cudaMemcpy H2D pinned 16777216B" 0.34 ms, "... pageable" 2.3 ms, "cudaFree 1GiB" 0.6 ms,
 * "cudaFreeHost 64MiB" 8.5 ms, "cudaHostAlloc 64MiB" 28-43 ms, "cudaDeviceSetLimit stack" 3 ms on top of the wait):
 * slower machines must not turn work into waiting.
 */
static const struct {
	uint64_t base_ns, ns_per_mib;
} own_work[] = {
	[SW_OWN_SYNC] = {20000, 0},	   [SW_OWN_COPY] = {60000, 125000},   [SW_OWN_PAGEABLE_COPY] = {100000, 400000},
	[SW_OWN_SET] = {60000, 125000},	   [SW_OWN_FREE] = {200000, 2000},    [SW_OWN_ALLOC] = {200000, 2000},
	[SW_OWN_PIN] = {1000000, 1000000}, [SW_OWN_UNPIN] = {200000, 400000}, [SW_OWN_CONFIG] = {1000000, 0},
	[SW_OWN_LOAD] = {5000000, 0},
};

uint64_t sw_wait_own(enum sw_own what, uint64_t bytes)
{
	uint64_t mib = bytes >> 20, rest = bytes & 0xfffff;
	if (mib > UINT32_MAX)
		mib = UINT32_MAX;
	return own_work[what].base_ns + mib * own_work[what].ns_per_mib + ((rest * own_work[what].ns_per_mib) >> 20);
}

void sw_wait_reset(struct sw_wait *w)
{
	sw_covered_vec covered = w->covered;
	struct sw_rec *copy = w->copy;
	covered.n = 0;
	*w = (struct sw_wait){.covered = covered, .copy = copy};
}

struct sw_wait *sw_wait_open(struct sw_model *m, const struct sw_record *r)
{
	struct sw_wait *w;
	size_t bytes = r->rec->words * 8u;
	if (m->open.n >= SW_MAX_OPEN)
		sw_wait_forget(m);
	w = m->spare;
	if (w)
		m->spare = w->next;
	else
		w = sw_calloc(1, sizeof *w);
	sw_wait_reset(w);
	w->copy = sw_realloc(w->copy, 1, bytes);
	memcpy(w->copy, r->rec, bytes);
	w->record = *r;
	w->record.rec = w->copy;
	w->record.params = NULL;
	sw_map_put_ptr(&m->open, r->seq, w);
	return w;
}

void sw_wait_add(struct sw_model *m, struct sw_wait *w, sw_hb_token token, enum sw_order order)
{
	if (!token)
		return;
	if (w->tokens == SW_WAIT_TOKENS) {
		sw_hb_wait_drop(m->hb, token);
		return;
	}
	w->token[w->tokens] = token;
	w->order[w->tokens++] = order;
}

static void covers(void *arg, uint32_t lane, uint64_t known, uint64_t covered)
{
	sw_covered_vec *list = arg;
	*sw_vec_push(list) = (struct sw_covered){lane, known, covered};
}

/* Which of them was done last is not known: the one that was given out last is the best guess. */
static void look_for_work(struct sw_model *m, struct sw_wait *w)
{
	w->waited_for.seq = 0;
	for (size_t i = 0; i < w->covered.n; i++) {
		const struct sw_covered *covered = &w->covered.at[i];
		const struct sw_access *last = &sw_model_lane_state(m, covered->lane)->last;
		if (last->seq > w->waited_for.seq && last->point.tick > covered->known &&
		    last->point.tick <= covered->covered)
			w->waited_for = *last;
	}
}

void sw_wait_look(struct sw_model *m, struct sw_wait *w, sw_hb_token token)
{
	w->covered.n = 0;
	sw_hb_wait_lanes(m->hb, token, w->record.thread, SW_ORDER_DOCUMENTED, covers, &w->covered);
	w->pending = w->covered.n > 0;
	look_for_work(m, w);
}

void sw_wait_peek(struct sw_model *m, struct sw_wait *w, sw_hb_token token)
{
	sw_wait_look(m, w, token);
	sw_hb_wait_drop(m->hb, token);
}

/* ---- work that is not known to be done --------------------------------------------------------------------------- */

void sw_pending_push(struct sw_model *m, struct sw_lane_state *lane, uint64_t seq, uint64_t tick)
{
	if (!m->observer->completed)
		return;
	if (lane->pending_n) { /* a launch of a graph may take several steps: it is done with the last */
		struct sw_pending *last =
			&lane->pending[(lane->pending_first + lane->pending_n - 1) % lane->pending_room];
		if (last->seq == seq) {
			last->tick = tick;
			return;
		}
	}
	if (lane->pending_n == lane->pending_room && lane->pending_room < SW_MAX_PENDING) {
		uint32_t room = lane->pending_room ? 2 * lane->pending_room : 16;
		struct sw_pending *more = sw_alloc(room * sizeof *more);
		for (uint32_t i = 0; i < lane->pending_n; i++)
			more[i] = lane->pending[(lane->pending_first + i) % lane->pending_room];
		free(lane->pending);
		lane->pending = more;
		lane->pending_room = room;
		lane->pending_first = 0;
	}
	if (lane->pending_n == lane->pending_room) {
		lane->pending_first = (lane->pending_first + 1) % lane->pending_room;
		lane->pending_n--;
	}
	lane->pending[(lane->pending_first + lane->pending_n++) % lane->pending_room] = (struct sw_pending){seq, tick};
}

static void tell_completed(struct sw_model *m, const sw_covered_vec *done, uint64_t t_ns)
{
	for (size_t i = 0; i < done->n; i++) {
		struct sw_lane_state *lane = sw_model_lane_state(m, done->at[i].lane);
		while (lane->pending_n && lane->pending[lane->pending_first].tick <= done->at[i].covered) {
			m->observer->completed(m->observer->arg, lane->pending[lane->pending_first].seq, lane->stream,
					       t_ns);
			lane->pending_first = (lane->pending_first + 1) % lane->pending_room;
			lane->pending_n--;
		}
	}
}

/* ---- the end of a call ------------------------------------------------------------------------------------------- */

static void drop(struct sw_model *m, struct sw_wait *w)
{
	for (uint32_t i = 0; i < w->tokens; i++)
		sw_hb_wait_drop(m->hb, w->token[i]);
	w->tokens = 0;
}

/* What a copy or set of a few bytes takes (H200, driver 580: 11 to 44 us for 1 KiB). */
#define SW_DRIVER_NS 20000u

static void split(const struct sw_wait *w, struct sw_wait_cost *cost)
{
	uint8_t kind = w->what.kind;
	bool moves = kind == SW_REC_COPY || kind == SW_REC_COPY_ND || kind == SW_REC_SET;
	uint64_t own = cost->own_ns < cost->ns ? cost->own_ns : cost->ns;
	cost->parts.work_ns = cost->ns - own;
	cost->parts.driver_ns = moves && own > SW_DRIVER_NS ? SW_DRIVER_NS : own;
	cost->parts.transfer_ns = own - cost->parts.driver_ns;
}

static void report(struct sw_model *m, struct sw_wait *w, const struct sw_wait_cost *cost)
{
	if (!w->id || (w->only_waited && !cost->waited) || (!w->always && !w->pending))
		return;
	struct sw_finding seen = {
		.id = w->id,
		.severity = SW_NOTE,
		.confidence = SW_CERTAIN,
		.basis = w->basis,
		.accesses = 1,
		.access[0] = w->what,
		.fix = w->fix,
		.covered = w->covered.n,
	};
	if (w->read_back.seq) {
		seen.accesses = 2;
		seen.access[1] = w->read_back;
	}
	if (w->basis == SW_BASIS_MAY && cost->waited && w->id != SW_FINDING_DEVICE_ALLOC)
		seen.basis = SW_BASIS_MEASURED;
	struct sw_finding *f = sw_collect_add(&m->collect, &seen, NULL);
	if (!f)
		return;
	sw_collect_cost(&m->collect, f, cost);
	f->pinned += w->pinned;
	f->last_ns = w->what.t_ns > f->last_ns ? w->what.t_ns : f->last_ns;
	if (cost->waited && cost->ns >= f->cost.worst_ns)
		f->waited_for = w->waited_for;
	/* A promise is unkept only while no call at this place kept it. */
	f->not_waited = w->promised && !f->cost.waited_calls && (f->not_waited || w->pending);
	if (seen.basis == SW_BASIS_MEASURED)
		f->basis = SW_BASIS_MEASURED;
}

/* Kinds of which CUPTI tells when they ran; the others put something on a stream that takes no time of its own. */
static bool is_timed(uint8_t kind)
{
	return kind == SW_REC_LAUNCH || kind == SW_REC_COPY || kind == SW_REC_COPY_ND || kind == SW_REC_SET ||
	       kind == SW_REC_GRAPH_LAUNCH;
}

static void add_times(struct sw_model *m, struct sw_operation *op)
{
	struct sw_gpu_summary *gpu = &m->j->gpu;
	const struct sw_time *t = gpu->recorded && op->enqueues ? sw_times_find(m->times, op->what.seq) : NULL;
	if (t) {
		op->gpu_start_ns = t->start;
		op->gpu_end_ns = t->end;
	}
	if (!gpu->recorded || !op->enqueues || !is_timed(op->what.kind))
		return;
	gpu->operations_timed += t != NULL;
	gpu->operations_untimed += t == NULL;
}

static void tell(struct sw_model *m, struct sw_wait *w, bool blocks)
{
	struct sw_operation op = {.what = w->what, .enqueues = w->enqueues, .blocks = blocks, .record = &w->record};
	add_times(m, &op);
	if (m->observer->operation)
		m->observer->operation(m->observer->arg, &op);
}

static void touch_by_host(struct sw_model *m, struct sw_wait *w, uint64_t seq)
{
	struct sw_access what = w->what;
	if (!w->host_range.width)
		return;
	what.stream = 0;
	what.point = sw_hb_host_step(m->hb, w->record.thread, seq);
	sw_model_touch(m, &what, &w->host_range, &(struct sw_touch){.host = true});
}

static enum sw_host_wait_kind held_by(uint8_t kind)
{
	static const struct {
		uint8_t kind;
		enum sw_host_wait_kind held;
	} kinds[] = {
		{SW_REC_SYNC, SW_HOST_WAIT_SYNC},	{SW_REC_COPY, SW_HOST_WAIT_COPY},
		{SW_REC_COPY_ND, SW_HOST_WAIT_COPY},	{SW_REC_SET, SW_HOST_WAIT_SET},
		{SW_REC_FREE, SW_HOST_WAIT_FREE},	{SW_REC_ALLOC, SW_HOST_WAIT_ALLOC},
		{SW_REC_LAUNCH, SW_HOST_WAIT_LOAD},	{SW_REC_CODE_LOAD, SW_HOST_WAIT_LOAD},
		{SW_REC_CODE_TOUCH, SW_HOST_WAIT_LOAD}, {SW_REC_CONFIG, SW_HOST_WAIT_CONFIG},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].kind == kind)
			return kinds[i].held;
	return SW_HOST_WAIT_OTHER;
}

/* Of pinning and of loading code all time is lost, whatever part of it was waiting. */
static bool held_up(const struct sw_wait *w, bool waited)
{
	bool lost = w->id == SW_FINDING_HOST_PIN || w->id == SW_FINDING_MODULE_LOAD;
	return waited || (w->tokens && w->promised) || (lost && w->pending);
}

/* Queries hold nobody: loops of them are counted as a whole (polls.c). */
static void count_by_kind(struct sw_model *m, const struct sw_wait *w, uint64_t ns)
{
	struct sw_host_wait *held = &m->j->host_waits[held_by(w->what.kind)];
	if (w->what.kind == SW_REC_QUERY)
		return;
	held->calls++;
	held->ns += ns;
}

void sw_wait_done(struct sw_model *m, struct sw_wait *w, uint64_t seq, uint64_t t_ns, uint64_t dur_ns, bool failed)
{
	struct sw_wait_cost cost = {.ns = dur_ns, .own_ns = dur_ns};
	w->what.dur_ns = w->record.dur_ns = dur_ns;
	if (failed) {
		drop(m, w);
		tell(m, w, false);
		return;
	}
	m->scratch_covered.n = 0;
	for (uint32_t i = 0; i < w->tokens; i++) {
		struct sw_hb_waited waited;
		if (m->observer->completed)
			sw_hb_wait_lanes(m->hb, w->token[i], w->record.thread, SW_ORDER_MEASURED, covers,
					 &m->scratch_covered);
		sw_hb_wait_end(m->hb, w->token[i], w->record.thread, seq, w->order[i], &waited);
	}
	cost.waited = w->pending && dur_ns > w->own_ns;
	if (cost.waited)
		cost.own_ns = w->own_ns / SW_OWN_MARGIN;
	split(w, &cost);
	if (w->tokens && (cost.waited || w->promised))
		m->j->host_wait_ns += dur_ns;
	if (held_up(w, cost.waited))
		count_by_kind(m, w, dur_ns);
	bool documented = w->tokens && w->order[0] == SW_ORDER_DOCUMENTED;
	w->tokens = 0;
	tell(m, w, cost.waited);
	if (m->scratch_covered.n)
		tell_completed(m, &m->scratch_covered, t_ns);
	touch_by_host(m, w, seq);
	report(m, w, &cost);
	sw_stall_done(m, w);
	sw_wide_over(m, w, &cost, documented);
}

/* The trace ends, or records were lost: calls that never came to their end stay in flight. */
void sw_wait_forget(struct sw_model *m)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&m->open, i, &slot));) {
		struct sw_wait *w = (struct sw_wait *)(uintptr_t)slot.value;
		drop(m, w);
		tell(m, w, false);
		sw_wait_reset(w);
		w->next = m->spare;
		m->spare = w;
	}
	sw_map_free(&m->open);
}
