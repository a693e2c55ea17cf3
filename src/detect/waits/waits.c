/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/waits/waits.h"

#include <stdlib.h>
#include <string.h>

#include "detect/behaviour/behaviour.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/forbidden.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/device_times.h"

/* SW403: loops of queries. */

/* As many unsuccessful calls in a row from one place on one thread, over at least this time and this close to each
   other: a loop that burns a core (a query takes 3 to 6 us: "cudaEventQuery", measured on H200 with driver 580). */
#define SW_POLLS       100u
#define SW_POLL_NS     1000000u
#define SW_POLL_GAP_NS 50000u

struct poll {
	uint64_t calls, since_ns;
	uint64_t asking_ns; /* inside the calls */
};

struct sw_polls {
	struct sw_map by_site; /* call site of a query loop, and thread -> struct poll */
};

/* The loops of queries that may be busy waits (SW403), none yet. */
struct sw_polls *sw_polls_new(void)
{
	return sw_calloc(1, sizeof(struct sw_polls));
}

void sw_polls_free(struct sw_polls *polls)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&polls->by_site, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(&polls->by_site);
	free(polls);
}

/* Adds SW403 for a loop of queries that took `ns`, in which a core did nothing else. */
static void report_poll(struct sw_model *m, const struct poll *poll, const struct sw_access *what, uint64_t ns)
{
	struct sw_finding seen = {.id = SW_FINDING_BUSY_POLL,
				  .severity = SW_NOTE,
				  .confidence = SW_CERTAIN,
				  .basis = SW_BASIS_MEASURED,
				  .accesses = 1,
				  .access[0] = what,
				  .fix = SW_FIX_SLEEP,
				  .polls = poll->calls};
	struct sw_finding *f = sw_collect_add(&m->collect, &seen, NULL);
	if (!f)
		return;
	sw_collect_cost(&m->collect, f, &(struct sw_wait_cost){.ns = ns, .waited = true, .parts.work_ns = ns});
	/* Between two questions the thread may have done something useful, or slept. */
	struct sw_cost *cost = sw_collect_own_cost(&m->collect, f);
	cost->core_low_ns += poll->asking_ns < ns ? poll->asking_ns : ns;
	cost->core_high_ns += ns;
	m->j->host_waits[SW_HOST_WAIT_POLL].calls += poll->calls;
	m->j->host_waits[SW_HOST_WAIT_POLL].ns += ns;
}

void sw_poll_again(struct sw_model *m, const struct sw_record *r, const struct sw_access *what, bool done)
{
	uint64_t key = (uint64_t)r->stack << 32 | (uint64_t)r->rec->api << 16 | (r->thread & 0xffff);
	struct poll *poll = sw_map_ptr(&m->polls->by_site, key);
	if (!poll && done)
		return;
	if (!poll) {
		poll = sw_calloc(1, sizeof *poll);
		sw_map_put_ptr(&m->polls->by_site, key, poll);
	}
	if (!poll->calls)
		poll->since_ns = r->t_ns;
	poll->calls += r->calls;
	poll->asking_ns += r->inside_ns;
	if (!done)
		return;
	uint64_t ns = r->t_ns + r->dur_ns - poll->since_ns;
	if (poll->calls > SW_POLLS && ns > SW_POLL_NS && ns / poll->calls < SW_POLL_GAP_NS)
		report_poll(m, poll, what, ns);
	*poll = (struct poll){0};
}

/*
 * Calls that only hand work over, and took long nevertheless: another thread's call held the driver's lock (SW310), or
 * the stream's queue was full (SW311).
 *
 * Neither is documented, and neither is reported by CUDA: what is known is how long the call took, what other threads
 * were doing in all that time, and how much of the stream's work was not known to be finished.
 */

/* Handing work over takes 2 to 12 us where nothing is in the way (H200, driver 580: launches and asynchronous copies
   with pinned memory); a call that long was held up by something. */
#define SW_STALL_NS 500000u
/* A launch after a full queue takes as long as a kernel of the stream, which may be short. */
#define SW_FULL_NS 15000u
/* Launches that may be pending on a stream: about a thousand on every GPU so far, which no document says. */
#define SW_FULL_QUEUE 1000u

/* Calls that took long, the last ones of each kind: a ring. */
#define SW_STALLS 64u

struct ring {
	struct sw_access at[SW_STALLS];
	uint32_t made;
};

struct sw_stalls {
	struct ring stalled, holders;
};

/* The last calls that were held up, and those that may have held them (SW310, SW311), none yet. */
struct sw_stalls *sw_stalls_new(void)
{
	return sw_calloc(1, sizeof(struct sw_stalls));
}

void sw_stalls_free(struct sw_stalls *stalls)
{
	free(stalls);
}

/* Does a call of this kind only hand work over to the device, so that it should return at once? */
static bool hands_over(uint8_t kind)
{
	return kind == SW_REC_LAUNCH || kind == SW_REC_COPY || kind == SW_REC_COPY_ND || kind == SW_REC_SET ||
	       kind == SW_REC_GRAPH_LAUNCH || kind == SW_REC_HOST_FUNC || kind == SW_REC_EVENT_RECORD ||
	       kind == SW_REC_STREAM_WAIT;
}

/* Is this a kind of call during which the driver was seen to keep other threads out, or must, as it changes what all
   work relies on? */
static bool holds_host(uint8_t kind)
{
	return kind == SW_REC_ALLOC || kind == SW_REC_FREE || kind == SW_REC_CONFIG || kind == SW_REC_CODE_LOAD ||
	       kind == SW_REC_CODE_TOUCH || kind == SW_REC_CONTEXT_OP || kind == SW_REC_GRAPH;
}

/* Was the holder's call in progress all the time that the stalled one took, but for what the clocks of two threads
   may differ? */
static bool all_the_time(const struct sw_access *holder, const struct sw_access *stalled)
{
	uint64_t slack = stalled->dur_ns / 20;
	return holder->thread != stalled->thread && holder->t_ns <= stalled->t_ns + slack &&
	       holder->t_ns + holder->dur_ns + slack >= stalled->t_ns + stalled->dur_ns;
}

/* Keeps the call in the ring; the oldest goes. */
static void remember_stall(struct ring *stalls, const struct sw_access *what)
{
	stalls->at[stalls->made++ % SW_STALLS] = *what;
}

/* Adds SW310: the call took long while another thread's call held the driver's lock. */
static void report_lock(struct sw_model *m, const struct sw_access *stalled, const struct sw_access *holder)
{
	struct sw_finding seen = {
		.id = SW_FINDING_DRIVER_LOCK,
		.severity = SW_NOTE,
		.confidence = SW_LIKELY,
		.basis = SW_BASIS_MEASURED,
		.accesses = 2,
		.access = {stalled, holder},
		.fix = SW_FIX_BEFORE_THREADS,
	};
	struct sw_finding *f = sw_collect_add(&m->collect, &seen, NULL);
	if (f)
		sw_collect_cost(&m->collect, f,
				&(struct sw_wait_cost){
					.ns = stalled->dur_ns, .waited = true, .parts.lock_ns = stalled->dur_ns});
}

/* Pairs a call that was held up with one of another thread that held the driver's lock for all of that time.  Either
   may come last in the trace: the one that does looks for the other. */
static void look_for_lock(struct sw_model *m, const struct sw_access *what)
{
	bool holder = holds_host(what->kind);
	struct ring *own = holder ? &m->stalls->holders : &m->stalls->stalled,
		    *other = holder ? &m->stalls->stalled : &m->stalls->holders;
	remember_stall(own, what);
	for (uint32_t i = 0; i < SW_STALLS; i++) {
		struct sw_access *met = &other->at[i];
		if (!met->seq || !(holder ? all_the_time(what, met) : all_the_time(met, what)))
			continue;
		report_lock(m, holder ? met : what, holder ? what : met);
		(holder ? met : &own->at[(own->made - 1) % SW_STALLS])->seq = 0; /* reported */
		if (!holder)
			return;
	}
}

/* Reports a call that took long while its stream had a full queue of work: the driver made it wait
   (SW_FINDING_QUEUE_FULL). */
static void look_for_queue(struct sw_model *m, const struct sw_wait *w)
{
	struct sw_point point = w->what.point;
	uint32_t host = sw_hb_host_lane(m->hb, w->record.thread);
	uint64_t pending = point.tick - sw_hb_last_join(m->hb, host, point.lane).tick;
	if (!w->enqueues || pending < SW_FULL_QUEUE)
		return;
	struct sw_finding seen = {.id = SW_FINDING_QUEUE_FULL,
				  .severity = SW_NOTE,
				  .confidence = SW_LIKELY,
				  .basis = SW_BASIS_MEASURED,
				  .accesses = 1,
				  .access[0] = &w->what,
				  .fix = SW_FIX_FEWER,
				  .queued = pending};
	struct sw_finding *f = sw_collect_add(&m->collect, &seen, NULL);
	if (f)
		sw_collect_cost(
			&m->collect, f,
			&(struct sw_wait_cost){.ns = w->what.dur_ns, .waited = true, .parts.work_ns = w->what.dur_ns});
}

void sw_stall_done(struct sw_model *m, const struct sw_wait *w)
{
	const struct sw_access *what = &w->what;
	bool handed = !w->id && hands_over(what->kind);
	if (what->dur_ns >= SW_STALL_NS && (handed || holds_host(what->kind)))
		look_for_lock(m, what);
	if (what->dur_ns >= SW_FULL_NS && handed && what->kind == SW_REC_LAUNCH)
		look_for_queue(m, w);
}

/*
 * SW304: work on the legacy default stream waits for all blocking streams and holds back all that is issued to them
 * later (CUDA programming guide, "Default stream").  Where that puts one stream's work after another's, and nothing
 * else did, two streams have run as one.
 *
 * The order engine reports an edge only when it adds order, so what arrives here nothing else had ordered.
 */

struct sw_legacy_site {
	uint32_t lane, serial;
	struct sw_access call;
	uint64_t rules; /* against it, of the gate */
	uint32_t n;
	struct {
		uint32_t lane;
		uint64_t seq;
	} from[8];
};

struct sw_legacy {
	SW_VEC(struct sw_legacy_site) sites;
};

/* The waits of legacy default streams for other streams (SW304), none yet. */
struct sw_legacy *sw_legacy_new(void)
{
	return sw_calloc(1, sizeof(struct sw_legacy));
}

void sw_legacy_free(struct sw_legacy *legacy)
{
	free(legacy->sites.at);
	free(legacy);
}

/* Does a call of this kind put work on a stream that takes time there? */
static bool is_work(uint8_t kind)
{
	return kind == SW_REC_LAUNCH || kind == SW_REC_COPY || kind == SW_REC_COPY_ND || kind == SW_REC_SET ||
	       kind == SW_REC_GRAPH_LAUNCH || kind == SW_REC_HOST_FUNC;
}

/* The call that the legacy stream of this lane waited with last; empty for a new stream with the number of an old
   one. */
static struct sw_legacy_site *site_of(struct sw_model *m, uint32_t lane)
{
	uint32_t serial = sw_hb_lane_serial(m->hb, lane);
	for (size_t i = 0; i < m->legacy->sites.n; i++)
		if (m->legacy->sites.at[i].lane == lane) {
			if (m->legacy->sites.at[i].serial != serial)
				m->legacy->sites.at[i] = (struct sw_legacy_site){.lane = lane, .serial = serial};
			return &m->legacy->sites.at[i];
		}
	struct sw_legacy_site *site = sw_vec_push(&m->legacy->sites);
	*site = (struct sw_legacy_site){.lane = lane, .serial = serial};
	return site;
}

/* Notes that a call on the legacy stream came to wait for a stream with work of its own. */
static void waits_for(struct sw_model *m, struct sw_legacy_site *site, const struct sw_hb_edge *edge)
{
	if (site->call.seq != edge->to_seq) {
		site->call = m->wait->what;
		site->rules = sw_forbidden_holds(m, &site->call);
		site->n = 0;
	}
	if (sw_model_lane_state(m, edge->from.lane)->work && site->n < sizeof site->from / sizeof *site->from) {
		site->from[site->n].lane = edge->from.lane;
		site->from[site->n++].seq = edge->from_seq;
	}
}

/* Adds how long the legacy stream held the work back.  Without it the work could have begun when it was given out and
   its own stream was free: from then until the legacy stream's work ended it was held back.  At most: other streams
   that it waits for, or a full device, may have held it as well. */
static void add_held(struct sw_model *m, struct sw_held *held, const struct sw_legacy_site *site, uint32_t lane)
{
	const struct sw_access *before = &sw_model_lane_state(m, lane)->last;
	const struct sw_time *work = sw_times_find(m->times, m->wait->what.seq);
	const struct sw_time *legacy = sw_times_find(m->times, site->call.seq);
	const struct sw_time *own = before->seq ? sw_times_find(m->times, before->seq) : NULL;
	if (!work || !legacy || (before->seq && !own)) {
		held->untimed++;
		return;
	}
	uint64_t from = m->wait->what.t_ns, to = legacy->end < work->start ? legacy->end : work->start;
	if (own && own->end > from)
		from = own->end;
	held->timed++;
	held->ns += to > from ? to - from : 0;
}

/* Reports that work on the legacy default stream ordered this work after work of another stream
   (SW_FINDING_LEGACY_SERIALISATION), once for each pair of places. */
static void holds_back(struct sw_model *m, struct sw_legacy_site *site, const struct sw_hb_edge *edge)
{
	if (!is_work(m->wait->what.kind))
		return;
	for (uint32_t i = 0; i < site->n; i++) {
		if (site->from[i].lane == edge->to_lane)
			continue;
		struct sw_finding seen = {
			.id = SW_FINDING_LEGACY_SERIALISATION,
			.severity = SW_NOTE,
			.confidence = SW_CERTAIN,
			.accesses = 2,
			.access = {&site->call, &m->wait->what},
			.fix = SW_FIX_NONBLOCKING,
			.fix_call.seq = site->call.seq,
			.blocker = {sw_model_lane_state(m, site->from[i].lane)->stream, site->from[i].seq},
		};
		struct sw_finding *f = sw_collect_add(&m->collect, &seen, NULL);
		if (f)
			add_held(m, &sw_collect_more(&m->collect, f)->held, site, edge->to_lane);
		sw_forbidden_held(m, site->rules, &site->call, &m->wait->what);
		return;
	}
}

/* When the order engine made an order that nothing else had made: notes it if the current call has it through a legacy
   default stream. */
void sw_legacy_edge(struct sw_model *m, const struct sw_hb_edge *edge)
{
	if (!m->wait || edge->to_seq != m->record->seq)
		return;
	if (sw_hb_lane_kind(m->hb, edge->to_lane) == SW_LANE_LEGACY)
		waits_for(m, site_of(m, edge->to_lane), edge);
	else if (sw_hb_lane_kind(m->hb, edge->from.lane) == SW_LANE_LEGACY)
		holds_back(m, site_of(m, edge->from.lane), edge);
}

/* Calls in flight at once, one a thread: more means that their ends were lost. */
#define SW_MAX_OPEN 65536u

struct sw_call_waits {
	struct sw_map open;	/* sequence number of BEGIN -> struct sw_wait */
	struct sw_wait *spare;	/* of calls that have ended */
	struct sw_wait single;	/* the current call, when it is of one record */
	sw_covered_vec scratch; /* what the call that ends covered */
};

/* The state of the calls in flight, for what each waits for. */
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

/* How long (ns) a call of this kind, on so many bytes, plausibly needs for its own work. */
uint64_t sw_wait_own(enum sw_own what, uint64_t bytes)
{
	uint64_t mib = bytes >> 20, rest = bytes & 0xfffff;
	if (mib > UINT32_MAX)
		mib = UINT32_MAX;
	return own_work[what].base_ns + mib * own_work[what].ns_per_mib + ((rest * own_work[what].ns_per_mib) >> 20);
}

/* Clears the state of a call, but keeps its memory. */
static void reset_wait(struct sw_wait *w)
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
	reset_wait(w);
	w->copy = sw_realloc(w->copy, 1, bytes);
	memcpy(w->copy, r->rec, bytes);
	w->record = *r;
	w->record.rec = w->copy;
	w->record.params = NULL;
	sw_map_put_ptr(&m->waits->open, r->seq, w);
	return w;
}

/* The state of the current call, which has one record: valid until the next such call. */
struct sw_wait *sw_wait_single(struct sw_model *m, const struct sw_record *r)
{
	struct sw_wait *w = &m->waits->single;
	reset_wait(w);
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
	reset_wait(w);
	w->next = m->waits->spare;
	m->waits->spare = w;
}

sw_covered_vec *sw_wait_scratch(struct sw_model *m)
{
	m->waits->scratch.n = 0;
	return &m->waits->scratch;
}

/* Adds work that the call waits for: the token stands for it, `order` says whether a document or a measurement shows
   that it waits.  Beyond SW_WAIT_TOKENS it is dropped. */
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

/* Finds the work that the wait was for, i.e. the work that was done last.  On one stream this is the last work that was
   enqueued.  Of several streams the times of the device decide; without these it is unknown. */
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

/* ---- the end of a call ------------------------------------------------------------------------------------------- */

void sw_wait_drop(struct sw_model *m, struct sw_wait *w)
{
	for (uint32_t i = 0; i < w->tokens; i++)
		sw_hb_wait_drop(m->hb, w->token[i]);
	w->tokens = 0;
}

/* Has CUPTI times for work of this kind?  The others put something on a stream that takes no time of its own. */
static bool is_timed(uint8_t kind)
{
	return kind == SW_REC_LAUNCH || kind == SW_REC_COPY || kind == SW_REC_COPY_ND || kind == SW_REC_SET ||
	       kind == SW_REC_GRAPH_LAUNCH;
}

/* Adds the time on the device to the operation that the observer gets. */
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

/* At the end of the trace, or where records were lost: ends the calls that never came to their end. */
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
