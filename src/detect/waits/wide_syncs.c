/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SW401, SW402: what were the waits of a call site needed for?
 *
 * Every lane that a wait covers is watched until another wait covers it.  Whatever is ordered after the covered work
 * in the meantime and touches the same memory needed it: on another stream that stream did, else the host.  The host
 * also needs all that touched memory which it can reach (it may read results and refill buffers unseen), and what its
 * queries and time measurements ask for.  What was not needed is handed on to the next wait that covers the lane, as if
 * the first one had not been there: so what is said of all call sites holds when all of it is done at once.
 *
 * A call site is reported only when all its waits together needed less than they waited for.  Whatever is not known
 * (calls that are not modelled, kernels whose accesses are not known, lost records) takes the site out: this is never a
 * guess.
 */
#include "detect/waits/wide_syncs.h"

#include <stdlib.h>

#include "detect/memory/shadow.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"

/* Work that nothing needed is watched for so many records: the uses that it keeps must not grow with the run. */
#define SW_WATCHED 8192u

#define SW_MAX_READERS 4u

/* The uses that needed the waits of one call site. */
struct sw_sync_site {
	struct sw_access call;
	uint64_t busy;	/* calls for which something was pending */
	uint64_t moved; /* of them, those after which nothing came before a wait that found nothing pending */
	bool excluded;	/* nothing is reported of it: its needs are not known, or too many to list */
	uint32_t n;	/* streams that it waited for */
	struct sw_sync_need {
		uint32_t stream;
		bool host, whole;		  /* by the host, and once at least all of it */
		struct sw_named_call work;	  /* the last step that the host needed */
		uint32_t tos, to[SW_MAX_READERS]; /* by other streams */
	} need[SW_MAX_NEEDS];
};

/* A lane that a wait covered. */
struct sw_wide_lane {
	uint32_t lane, serial, stream;
	uint64_t lean;		 /* the host knows up to here, whatever becomes of the waits that are asked about */
	uint64_t covered;	 /* and up to here by the wait */
	uint64_t work;		 /* last step of work in it */
	uint64_t host, host_seq; /* needed by the host up to here, 0 not */
	uint64_t since;		 /* record of the first step that is watched */
	struct sw_sync_site *site;
};

struct sw_wide_syncs {
	bool poisoned;		   /* since the last wait something was done that is not known */
	uint64_t to;		   /* record of the last wait */
	uint64_t looked_for_old;   /* record at which drop_old_lanes() was called last */
	struct sw_sync_site *last; /* of the last wait, if something was pending */
	struct sw_map sites;
	SW_VEC(struct sw_wide_lane) lanes;
};

/* The watch over waits for too much (SW401, SW402), of none yet. */
struct sw_wide_syncs *sw_wide_new(void)
{
	return sw_calloc(1, sizeof(struct sw_wide_syncs));
}

/* The call site of a wait, which all its waits share. */
static struct sw_sync_site *site_of(struct sw_model *m, const struct sw_access *call)
{
	uint64_t key = sw_collect_site(call);
	struct sw_sync_site *site = sw_map_ptr(&m->wide->sites, key);
	if (site)
		return site;
	site = sw_calloc(1, sizeof *site);
	site->call = *call;
	sw_map_put_ptr(&m->wide->sites, key, site);
	return site;
}

/* The watched lane of this number; NULL: no wait that is watched covers it. */
static struct sw_wide_lane *lane_of(struct sw_model *m, uint32_t lane)
{
	for (size_t i = 0; i < m->wide->lanes.n; i++)
		if (m->wide->lanes.at[i].lane == lane)
			return &m->wide->lanes.at[i];
	return NULL;
}

/* The need of the site for this stream's work: who needed its waits to cover the stream.  NULL: there are too many
   streams to give an advice. */
static struct sw_sync_need *need_of(struct sw_model *m, struct sw_sync_site *site, uint32_t stream)
{
	for (uint32_t i = 0; i < site->n; i++)
		if (site->need[i].stream == stream)
			return &site->need[i];
	if (site->n == SW_MAX_NEEDS || m->j->streams.at[stream].many) {
		site->excluded = true;
		return NULL;
	}
	site->need[site->n] = (struct sw_sync_need){.stream = stream};
	return &site->need[site->n++];
}

/* Notes that another stream needed the wait: it used what the covered work touched. */
static void add_reader(struct sw_model *m, struct sw_sync_site *site, struct sw_sync_need *need, uint32_t stream)
{
	for (uint32_t i = 0; i < need->tos; i++)
		if (need->to[i] == stream)
			return;
	if (need->tos == SW_MAX_READERS || m->j->streams.at[stream].many)
		site->excluded = true;
	else
		need->to[need->tos++] = stream;
}

/* ---- lanes under watch ------------------------------------------------------------------------------------------- */

/* Ends the watch of a lane: the site needed its wait if the host needed any of what it covered. */
static void close_lane(struct sw_model *m, const struct sw_wide_lane *lane)
{
	struct sw_sync_need *need = lane->host ? need_of(m, lane->site, lane->stream) : NULL;
	if (!need)
		return;
	need->host = true;
	need->whole |= lane->host >= lane->work;
	need->work = sw_recent_call(&m->collect.recent, lane->host_seq);
}

/* Removes the lane from those that are watched; another one takes its place. */
static void forget_lane(struct sw_model *m, struct sw_wide_lane *lane)
{
	*lane = m->wide->lanes.at[--m->wide->lanes.n];
}

/* Gives up all watched waits, since unknown work may need any of them: nothing is reported of their sites. */
static void exclude_watched(struct sw_model *m)
{
	for (size_t i = 0; i < m->wide->lanes.n; i++)
		m->wide->lanes.at[i].site->excluded = true;
	m->wide->lanes.n = 0;
}

/* Ends the watch of lanes that were covered more than SW_WATCHED records before `seq`, or whose number another lane has
   now: whether later work needed those waits is not known, so their sites are excluded. */
static void drop_old_lanes(struct sw_model *m, uint64_t seq)
{
	for (size_t i = m->wide->lanes.n; i-- > 0;) {
		struct sw_wide_lane *lane = &m->wide->lanes.at[i];
		if (seq - lane->since <= SW_WATCHED && lane->serial == sw_hb_lane_serial(m->hb, lane->lane))
			continue;
		lane->site->excluded = true;
		forget_lane(m, lane);
	}
}

/* Notes that the host needed the lane's work up to `tick`, as far as the watched wait covers it and nothing else showed
   it to the host. */
static void host_needs(struct sw_wide_lane *lane, uint64_t tick, uint64_t seq)
{
	if (tick > lane->covered)
		tick = lane->covered;
	if (tick <= lane->lean || tick <= lane->host)
		return;
	lane->host = tick;
	lane->host_seq = seq;
}

/* Begins to watch a lane that a wait of the site covers: from now on uses of the covered work are needs of this wait.
   An earlier watched wait of the lane ends; the work that nothing needed of it is handed on to this one. */
static void watch_lane(struct sw_model *m, struct sw_sync_site *site, const struct sw_covered *covered)
{
	struct sw_lane_state *lane_state = sw_model_lane_state(m, covered->lane);
	struct sw_wide_lane *old = lane_of(m, covered->lane);
	struct sw_wide_lane lane = {.lane = covered->lane,
				    .serial = lane_state->serial,
				    .stream = lane_state->stream,
				    .lean = covered->known,
				    .covered = covered->covered,
				    .work = lane_state->work < covered->covered ? lane_state->work : covered->covered,
				    .since = lane_state->since ? lane_state->since : m->record->seq,
				    .site = site};
	if (old) {
		close_lane(m, old);
		lane.lean = old->host > old->lean ? old->host : old->lean;
		lane.since = old->since;
	} else {
		old = sw_vec_push(&m->wide->lanes);
	}
	lane_state->since = 0;
	if (lane_state->visible > lane.lean)
		host_needs(&lane, lane_state->visible, lane_state->visible_seq);
	if (lane_state->unknown > lane.lean)
		host_needs(&lane, lane.covered, lane_state->last.seq);
	need_of(m, site, lane.stream);
	*old = lane;
}

/* Is it an excluded site that had work to wait for?  No advice removes its waits, so the host knows what they
   covered. */
static bool wait_stays(const struct sw_sync_site *site)
{
	return site->excluded && site->busy;
}

/* Removes the lanes whose wait stays whatever is advised. */
static void forget_staying(struct sw_model *m)
{
	for (size_t i = m->wide->lanes.n; i-- > 0;)
		if (wait_stays(m->wide->lanes.at[i].site))
			forget_lane(m, &m->wide->lanes.at[i]);
}

/* ---- waits ------------------------------------------------------------------------------------------------------- */

/* Would this wait of a stream or the context cover the watched lane again, if the earlier wait that covers it were
   removed as advised? */
static bool covers_again(const struct sw_model *m, const struct sw_wait *w, const struct sw_wide_lane *lane)
{
	const struct sw_rec_sync *sync = (const struct sw_rec_sync *)(const void *)w->record.rec;
	return sync->what == SW_SYNC_CONTEXT ? m->j->streams.at[lane->stream].ctx == w->record.rec->ctx
					     : lane->stream == w->what.stream;
}

/* Watches for this wait also the lanes that earlier, watched waits covered and that it covers again. */
static void watch_again(struct sw_model *m, struct sw_sync_site *site, const struct sw_wait *w)
{
	for (size_t i = 0; i < m->wide->lanes.n; i++) {
		const struct sw_wide_lane *lane = &m->wide->lanes.at[i];
		if (covers_again(m, w, lane))
			watch_lane(m, site, &(struct sw_covered){lane->lane, lane->lean, lane->covered});
	}
}

/* Ends the watches that a wait which stays covers: earlier waits were needed for no more than is known by now. */
static void end_watches(struct sw_model *m, const struct sw_wait *w)
{
	for (size_t i = 0; i < w->covered.n; i++)
		sw_model_lane_state(m, w->covered.at[i].lane)->since = 0;
	for (size_t i = m->wide->lanes.n; i-- > 0;) {
		struct sw_wide_lane *lane = &m->wide->lanes.at[i];
		bool covered = covers_again(m, w, lane);
		for (size_t k = 0; k < w->covered.n; k++)
			covered |= w->covered.at[k].lane == lane->lane;
		if (!covered)
			continue;
		close_lane(m, lane);
		forget_lane(m, lane);
	}
}

/* Begins to watch a wait of a site that may be removed or made narrower (a stream's or the context's): from now on it
   is the one that is asked for what it covered. */
static void begin_round(struct sw_model *m, struct sw_sync_site *site, const struct sw_wait *w)
{
	if (m->wide->last)
		m->wide->last->moved += !w->pending;
	m->wide->last = w->pending ? site : NULL;
	if (m->wide->poisoned || m->shares)
		exclude_watched(m);
	m->wide->poisoned = false;
	drop_old_lanes(m, w->record.seq);
	if (wait_stays(site)) {
		end_watches(m, w);
		return;
	}
	watch_again(m, site, w);
	for (size_t i = 0; i < w->covered.n; i++)
		watch_lane(m, site, &w->covered.at[i]);
	forget_staying(m);
	m->wide->to = w->record.seq;
}

/* Adds SW401 for a wait that took time.  finish_wide() completes it or drops it: only at the end of the run is it known
   what the site's waits were needed for. */
static void add_finding(struct sw_model *m, const struct sw_wait *w, const struct sw_wait_cost *cost)
{
	struct sw_finding seen = {.id = SW_FINDING_OVER_WIDE_SYNC,
				  .severity = SW_NOTE,
				  .confidence = SW_LIKELY,
				  .accesses = 1,
				  .access[0] = &w->what};
	struct sw_finding *f = sw_collect_add(&m->collect, &seen, NULL);
	if (!f)
		return;
	sw_collect_cost(&m->collect, f, cost);
	if (cost->ns >= f->cost->worst_ns && (f->more || w->waited_for.seq))
		sw_collect_more(&m->collect, f)->waited_for = w->waited_for;
}

/* After a call other than a stream's or context's wait (a copy, an event's wait) that documents promise to wait: no
   advice removes it, so what it covered the host knows whatever becomes of the waits that are watched. */
static void note_known_work(struct sw_model *m, const struct sw_wait *w)
{
	for (size_t i = 0; i < w->covered.n; i++) {
		struct sw_wide_lane *lane = lane_of(m, w->covered.at[i].lane);
		if (lane && lane->lean < w->covered.at[i].covered)
			lane->lean = w->covered.at[i].covered;
	}
}

/* Drops lanes that are watched for too long, at the end of each call, so also in a program that makes no more waits;
   once in an eighth of SW_WATCHED records, as it looks at all lanes. */
static void drop_old_lanes_sometimes(struct sw_model *m, uint64_t seq)
{
	if (seq - m->wide->looked_for_old < SW_WATCHED / 8)
		return;
	m->wide->looked_for_old = seq;
	drop_old_lanes(m, seq);
}

void sw_wide_wait_ended(struct sw_model *m, struct sw_wait *w, const struct sw_wait_cost *cost, bool documented)
{
	const struct sw_rec_sync *sync = (const struct sw_rec_sync *)(const void *)w->record.rec;
	if (w->record.seq > m->wide->looked_for_old)
		drop_old_lanes_sometimes(m, w->record.seq);
	if (w->record.rec->kind == SW_REC_SYNC && (sync->what == SW_SYNC_STREAM || sync->what == SW_SYNC_CONTEXT)) {
		struct sw_sync_site *site = site_of(m, &w->what);
		site->busy += w->pending;
		site->excluded |= w->hidden;
		/* Also where nothing is pending: without the wait before it something would be. */
		begin_round(m, site, w);
		if (cost->waited)
			add_finding(m, w, cost);
		return;
	}
	if (w->record.rec->kind == SW_REC_SYNC)
		site_of(m, &w->what)->busy += w->pending;
	if (w->pending && documented)
		note_known_work(m, w);
}

/* ---- needs ------------------------------------------------------------------------------------------------------- */

void sw_wide_need(struct sw_model *m, const struct sw_shadow_use *earlier, const struct sw_shadow_use *later)
{
	struct sw_wide_lane *lane = lane_of(m, earlier->access.point.lane);
	uint64_t tick = earlier->access.point.tick;
	if (!lane || later->access.point.lane == lane->lane || tick <= lane->lean || tick > lane->covered)
		return;
	if (later->host || !later->access.stream) {
		host_needs(lane, tick, earlier->access.seq);
		return;
	}
	struct sw_sync_need *need = need_of(m, lane->site, lane->stream);
	if (need)
		add_reader(m, lane->site, need, later->access.stream);
	forget_staying(m);
}

void sw_wide_asked(struct sw_model *m, struct sw_point point, uint64_t seq)
{
	struct sw_wide_lane *lane = point.tick ? lane_of(m, point.lane) : NULL;
	if (lane)
		host_needs(lane, point.tick, seq);
	else if (!point.tick)
		exclude_watched(m);
}

/* The first record whose uses a watched wait may still be needed for; UINT64_MAX: no wait is watched. */
static uint64_t since_of(const struct sw_model *m)
{
	uint64_t since = UINT64_MAX;
	for (size_t i = 0; i < m->wide->lanes.n; i++)
		if (m->wide->lanes.at[i].since < since)
			since = m->wide->lanes.at[i].since;
	return since;
}

void sw_wide_keep(const struct sw_model *m, uint64_t *from, uint64_t *to)
{
	*from = m->wide->lanes.n ? since_of(m) : 1;
	*to = m->wide->lanes.n ? m->wide->to : 0;
}

bool sw_wide_watches(const struct sw_model *m)
{
	return m->wide->lanes.n;
}

void sw_wide_poison(struct sw_model *m)
{
	m->wide->poisoned = true;
}

void sw_wide_forget(struct sw_model *m)
{
	exclude_watched(m);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Did the waits of the site need less than all work of some stream that they waited for? */
static bool needs_less(const struct sw_sync_site *site)
{
	for (uint32_t i = 0; i < site->n; i++)
		if (!site->need[i].whole)
			return true;
	return false;
}

/* Adds one need to the finding's advice. */
static void add_need(struct sw_model *m, struct sw_finding *f, struct sw_need need)
{
	struct sw_finding_details *more = sw_collect_more(&m->collect, f);
	if (more->needs < SW_MAX_NEEDS)
		more->need[more->needs++] = need;
}

/* Writes into the finding which work the host, and which streams, needed of the site's waits. */
static void advise_needs(struct sw_model *m, struct sw_finding *f, const struct sw_sync_site *site)
{
	for (uint32_t i = 0; i < site->n; i++) {
		const struct sw_sync_need *need = &site->need[i];
		if (need->host) {
			add_need(m, f,
				 (struct sw_need){.stream = need->stream, .work = need->work, .whole = need->whole});
			f->fix_stream = need->stream;
			f->fix_call = need->work;
		}
		/* Work that the host waits for in full comes before all that it enqueues later. */
		for (uint32_t k = 0; k < need->tos && !need->whole; k++)
			add_need(m, f, (struct sw_need){.stream = need->stream, .to = need->to[k]});
	}
	f->fix = sw_finding_details(f)->needs ? SW_FIX_NARROW : SW_FIX_UNNEEDED;
	f->covered = site->n;
}

/* How many needs the advice would list. */
static uint32_t needs_of(const struct sw_sync_site *site)
{
	uint32_t all = 0;
	for (uint32_t i = 0; i < site->n; i++)
		all += site->need[i].host + site->need[i].tos;
	return all;
}

/* Completes SW401 for the site, or drops it: if its needs are not known, or not less than it waited for, or if without
   its waits the next ones would take as long.  True: an advice was given. */
static bool finish_wide(struct sw_model *m, const struct sw_sync_site *site)
{
	struct sw_finding *f = sw_collect_find(&m->collect, SW_FINDING_OVER_WIDE_SYNC, &site->call);
	uint32_t all = needs_of(site);
	/* Without them the next wait would take as long. */
	bool moved = site->moved == site->busy;
	if (!f)
		return false;
	if (site->excluded || moved || all > SW_MAX_NEEDS || !needs_less(site)) {
		sw_collect_drop(&m->collect, f);
		return false;
	}
	advise_needs(m, f, site);
	return true;
}

/* Drops SW402 ("remove the call") unless it holds for every call of the place.  narrower: some waits get the advice to
   be made narrower; then this one must not be needed either. */
static void finish_redundant(struct sw_model *m, const struct sw_sync_site *site, bool narrower)
{
	struct sw_finding *f = sw_collect_find(&m->collect, SW_FINDING_REDUNDANT_SYNC, &site->call);
	if (f && (site->busy || (narrower && needs_of(site))))
		sw_collect_drop(&m->collect, f);
}

void sw_wide_finish(struct sw_model *m)
{
	struct sw_map_slot slot;
	if (m->wide->poisoned || m->shares)
		exclude_watched(m);
	for (size_t i = 0; i < m->wide->lanes.n; i++) {
		struct sw_wide_lane *lane = &m->wide->lanes.at[i];
		close_lane(m, lane);
		/* The last wait of a program, made once: what would end early without it is not seen. */
		lane->site->excluded |= lane->site->busy == 1;
	}
	m->wide->lanes.n = 0;
	bool narrower = false;
	for (size_t i = 0; (i = sw_map_next(&m->wide->sites, i, &slot));)
		narrower |= finish_wide(m, (const struct sw_sync_site *)(uintptr_t)slot.value);
	for (size_t i = 0; (i = sw_map_next(&m->wide->sites, i, &slot));)
		finish_redundant(m, (const struct sw_sync_site *)(uintptr_t)slot.value, narrower);
}

void sw_wide_free(struct sw_wide_syncs *wide)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&wide->sites, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(&wide->sites);
	free(wide->lanes.at);
	free(wide);
}
