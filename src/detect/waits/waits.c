/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/waits/waits.h"

#include <stdlib.h>
#include <string.h>

#include "detect/behaviour/behaviour.h"
#include "detect/model/call.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/device_times.h"

/* Calls in flight at once, one a thread: more means that their ends were lost. */
#define SW_MAX_OPEN 65536u

struct sw_call_waits {
	struct sw_map open;	/* sequence number of BEGIN -> struct sw_wait */
	struct sw_wait *spare;	/* of calls that have ended */
	struct sw_wait single;	/* the current call, when it is of one record */
	sw_covered_vec scratch; /* what the call that ends covered */
};

struct sw_call_waits *sw_call_waits_new(void)
{
	return sw_calloc(1, sizeof(struct sw_call_waits));
}

void sw_call_waits_free(struct sw_call_waits *waits)
{
	for (struct sw_wait *w; (w = waits->spare);) {
		waits->spare = w->next;
		free(w->covered.at);
		free(w->copy);
		free(w);
	}
	sw_map_free(&waits->open);
	free(waits->single.covered.at);
	free(waits->scratch.at);
	free(waits);
}

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

static void reset(struct sw_wait *w)
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
	if (m->waits->open.n >= SW_MAX_OPEN)
		sw_wait_forget(m);
	w = m->waits->spare;
	if (w)
		m->waits->spare = w->next;
	else
		w = sw_calloc(1, sizeof *w);
	reset(w);
	w->copy = sw_realloc(w->copy, 1, bytes);
	memcpy(w->copy, r->rec, bytes);
	w->record = *r;
	w->record.rec = w->copy;
	w->record.params = NULL;
	sw_map_put_ptr(&m->waits->open, r->seq, w);
	return w;
}

struct sw_wait *sw_wait_single(struct sw_model *m, const struct sw_record *r)
{
	struct sw_wait *w = &m->waits->single;
	reset(w);
	w->record = *r;
	return w;
}

struct sw_wait *sw_wait_take(struct sw_model *m, uint64_t begin_seq)
{
	struct sw_wait *w = sw_map_ptr(&m->waits->open, begin_seq);
	if (w)
		sw_map_delete(&m->waits->open, begin_seq);
	return w;
}

void sw_wait_recycle(struct sw_model *m, struct sw_wait *w)
{
	reset(w);
	w->next = m->waits->spare;
	m->waits->spare = w;
}

sw_covered_vec *sw_wait_scratch(struct sw_model *m)
{
	m->waits->scratch.n = 0;
	return &m->waits->scratch;
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

void sw_wait_covers(void *arg, uint32_t lane, uint64_t known, uint64_t covered)
{
	sw_covered_vec *list = arg;
	*sw_vec_push(list) = (struct sw_covered){lane, known, covered};
}

/* The work that was done last: of one stream the last that it was given; of several streams the device's clock decides;
   without it, it is unknown. */
static void look_for_work(struct sw_model *m, struct sw_wait *w)
{
	uint64_t end = 0;
	uint32_t lanes = 0;
	bool timed = true;
	w->waited_for.seq = 0;
	for (size_t i = 0; i < w->covered.n; i++) {
		const struct sw_covered *covered = &w->covered.at[i];
		const struct sw_access *last = &sw_model_lane_state(m, covered->lane)->last;
		if (!last->seq || last->point.tick <= covered->known || last->point.tick > covered->covered)
			continue;
		const struct sw_time *ran = sw_times_find(m->times, last->seq);
		lanes++;
		timed &= ran != NULL;
		if (lanes > 1 && ran && ran->end <= end)
			continue;
		end = ran ? ran->end : end;
		w->waited_for = *last;
	}
	if (lanes > 1 && !timed)
		w->waited_for.seq = 0;
}

void sw_wait_look(struct sw_model *m, struct sw_wait *w, sw_hb_token token)
{
	w->covered.n = 0;
	sw_hb_wait_lanes(m->hb, token, w->record.thread, SW_ORDER_DOCUMENTED, sw_wait_covers, &w->covered);
	w->pending = w->covered.n > 0;
	look_for_work(m, w);
}

void sw_wait_peek(struct sw_model *m, struct sw_wait *w, sw_hb_token token)
{
	sw_wait_look(m, w, token);
	sw_hb_wait_drop(m->hb, token);
}

/* ---- work that is not known to be done --------------------------------------------------------------------------- */

/* ---- the end of a call ------------------------------------------------------------------------------------------- */

void sw_wait_drop(struct sw_model *m, struct sw_wait *w)
{
	for (uint32_t i = 0; i < w->tokens; i++)
		sw_hb_wait_drop(m->hb, w->token[i]);
	w->tokens = 0;
}

/* Kinds for which CUPTI has times; the others put something on a stream that takes no time of its own. */
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

void sw_wait_report(struct sw_model *m, struct sw_wait *w, bool blocks)
{
	struct sw_operation op = {.what = w->what, .enqueues = w->enqueues, .blocks = blocks, .record = &w->record};
	add_times(m, &op);
	if (m->observer->operation)
		m->observer->operation(m->observer->arg, &op);
}

/* The trace ends, or records were lost: calls that never came to their end stay in flight. */
void sw_wait_forget(struct sw_model *m)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&m->waits->open, i, &slot));) {
		struct sw_wait *w = (struct sw_wait *)(uintptr_t)slot.value;
		sw_wait_drop(m, w);
		sw_wait_report(m, w, false);
		sw_wait_recycle(m, w);
	}
	sw_map_free(&m->waits->open);
}
