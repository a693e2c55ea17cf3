/* SPDX-License-Identifier: Apache-2.0 */
/* Judging a whole trace: the state of a run is made, each record judged, the findings closed. */
#include <stdlib.h>
#include <string.h>

#include "detect/behaviour/behaviour.h"
#include "detect/calls/copies.h"
#include "detect/calls/allocations.h"
#include "detect/calls/streams.h"
#include "detect/detect.h"
#include "detect/dispatch.h"
#include "detect/graphs/graphs.h"
#include "detect/hazards/deferred.h"
#include "detect/hazards/hazards.h"
#include "detect/hazards/host_functions.h"
#include "detect/hazards/touch.h"
#include "detect/hazards/shared_uses.h"
#include "detect/hazards/stored_values.h"
#include "detect/kernels/annotated_launches.h"
#include "detect/kernels/collectives.h"
#include "detect/kernels/first_uses.h"
#include "detect/kernels/kernels.h"
#include "detect/kernels/launch_plan.h"
#include "detect/kernels/launches.h"
#include "detect/kernels/kernel_objects.h"
#include "detect/libraries/library_calls.h"
#include "detect/memory/address_space.h"
#include "detect/memory/contents.h"
#include "detect/memory/physical_memory.h"
#include "detect/model/lanes.h"
#include "detect/model/collect.h"
#include "detect/model/forbidden.h"
#include "detect/model/model.h"
#include "detect/model/nvtx.h"
#include "detect/waits/device_times.h"
#include "detect/waits/waits.h"
#include "detect/waits/schedule_feed.h"
#include "detect/waits/wide_syncs.h"
#include "reader/kinds.h"

/*
 * Order that the run had and the trace does not show: edges that `syncwatch confirm` added to the program's calls.
 * An event that is recorded after one call, for which a stream waits before another: the same as SW_NOTE_BEFORE and
 * SW_NOTE_AFTER (syncwatch.h), at places that the judge's options name.
 */

/* The first one; those of programs that name theirs by numbers are others. */
#define TAG UINT64_C(0x636f6e6669720000)

/* Index of the first added edge at this record or a later one. */
static size_t first_edge_at(const struct sw_judge_options *options, uint64_t seq)
{
	size_t low = 0, high = options->n_added;
	while (low < high) {
		const size_t middle = (low + high) / 2;
		if (options->added[middle].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Judges one end of an added edge as if the program had annotated the call. */
static void annotate_edge(struct sw_model *m, const struct sw_record *record, enum sw_annotation op,
			  const struct sw_added_edge *edge)
{
	uint64_t stream;
	sw_record_stream_of(record->rec, &stream);
	struct sw_rec_annotation a = {.h = *record->rec, .address = TAG + edge->event, .stream = stream, .op = op};
	struct sw_record r = *record;
	a.h.kind = SW_REC_ANNOTATION;
	a.h.words = sizeof a / 8;
	a.h.flags &= SW_RF_PER_THREAD;
	a.flags = edge->end == SW_EDGE_BEFORE_ON_HOST ? SW_NOTE_ON_HOST : 0;
	r.rec = &a.h;
	r.params = NULL;
	r.dur_ns = 0;
	sw_model_step(m, &r);
}

/* Judges the ends of all edges that were added before, or after, this record's call. */
static void note_all(struct sw_model *m, const struct sw_record *record, bool after)
{
	const struct sw_judge_options *options = m->options;
	if (!options->n_added || record->rec->flags & SW_RF_END)
		return;
	for (size_t i = first_edge_at(options, record->seq);
	     i < options->n_added && options->added[i].seq == record->seq; i++)
		if ((options->added[i].end == SW_EDGE_AFTER) == after)
			annotate_edge(m, record, after ? SW_NOTE_BEFORE : SW_NOTE_AFTER, &options->added[i]);
}

/* Before a record is judged: the edges that end at its call. */
static void added_edges_before(struct sw_model *m, const struct sw_record *record)
{
	note_all(m, record, false);
}

/* After a record is judged: the edges that begin at its call. */
static void added_edges_after(struct sw_model *m, const struct sw_record *record)
{
	note_all(m, record, true);
}

/* Judges a trace as if work that some call sites put on the legacy default stream were on a stream of its own: are
   there hazards that this order prevented? */

/* No handle of the driver's: those are addresses. */
#define OWN_STREAM UINT64_C(0x6f776e)

/* Does the judge's user ask to move the work of this call site? */
static bool is_moved(const struct sw_model *m, const struct sw_record *record)
{
	const struct sw_judge_options *options = m->options;
	for (size_t i = 0; i < options->n_moved; i++)
		if (options->moved[i].api == record->rec->api && options->moved[i].stack == record->stack)
			return true;
	return false;
}

/* Makes a stream of our own, to which a judge that is asked so moves work, by a record at the place of the first
   such work and in its context. */
static void make_stream(struct sw_model *m, const struct sw_record *record)
{
	struct sw_rec_stream made = {.h = *record->rec, .stream = OWN_STREAM, .flags = 1};
	struct sw_record r = *record;
	made.h.kind = SW_REC_STREAM_CREATE;
	made.h.words = sizeof made / 8;
	made.h.flags = 0;
	r.rec = &made.h;
	r.params = NULL;
	r.dur_ns = 0;
	sw_model_step(m, &r);
	m->moved = true;
}

/* Judges the record as if its work were on a stream of our own instead of the legacy default stream, to try whether
   moving it is safe.  False: it stays on the stream that it is on. */
static bool moved_work(struct sw_model *m, const struct sw_record *record)
{
	if (!m->options->n_moved || record->rec->flags & (SW_RF_END | SW_RF_PER_THREAD) || !is_moved(m, record))
		return false;
	struct sw_rec *copy = sw_alloc(record->rec->words * 8u);
	memcpy(copy, record->rec, record->rec->words * 8u);
	uint64_t *stream = sw_kind_has(copy->kind, SW_KIND_MOVABLE) ? sw_record_stream(copy) : NULL;
	const bool moves = stream && *stream <= 1; /* 1: CU_STREAM_LEGACY */
	if (moves) {
		struct sw_record r = *record;
		if (!m->moved)
			make_stream(m, record);
		*stream = OWN_STREAM;
		r.rec = copy;
		sw_model_step(m, &r);
	}
	free(copy);
	return moves;
}

/* Judges a trace as if waits of some call sites were replaced by edges between streams, and waits for some of them: are
   there hazards that only the rest of the wait prevented? */

/* No handle of the driver's: those are addresses. */
#define EVENT UINT64_C(0x6e6172726f77)

/* Judges a record that the trace does not have, at the place of `at` in the order of the process. */
static void inject_record(struct sw_model *m, const struct sw_record *at, struct sw_rec *rec, enum sw_rec_kind kind,
			  size_t bytes)
{
	struct sw_record r = *at;
	rec->kind = (uint8_t)kind;
	rec->words = (uint16_t)(bytes / 8);
	r.rec = rec;
	r.params = NULL;
	r.dur_ns = 0;
	sw_model_step(m, &r);
}

/* Judges an event's record on stream `from` and a wait of stream `to` for it, as if the program had made them here. */
static void order_streams(struct sw_model *m, const struct sw_record *at, uint64_t event, uint64_t from, uint64_t to)
{
	struct sw_rec_event_record record = {.h = *at->rec, .event = event, .stream = from};
	struct sw_rec_stream_wait wait = {.h = *at->rec, .event = event, .stream = to};
	record.h.flags = wait.h.flags = 0;
	inject_record(m, at, &record.h, SW_REC_EVENT_RECORD, sizeof record);
	inject_record(m, at, &wait.h, SW_REC_STREAM_WAIT, sizeof wait);
}

/* Judges a wait of the host for the stream, as if the program had made it here. */
static void wait_on_host(struct sw_model *m, const struct sw_record *at, uint64_t stream)
{
	struct sw_rec_sync begin = {.h = *at->rec, .handle = stream, .what = SW_SYNC_STREAM};
	struct sw_rec_end end = {.h = *at->rec, .begin_seq = at->seq};
	begin.h.flags = SW_RF_BEGIN;
	end.h.flags = SW_RF_END;
	inject_record(m, at, &begin.h, SW_REC_SYNC, sizeof begin);
	inject_record(m, at, &end.h, SW_REC_SYNC, sizeof end);
}

/* The call site of the record if its waits are to be narrowed; NULL: they are not. */
static const struct sw_narrowed_site *site_of(const struct sw_model *m, const struct sw_record *record)
{
	const struct sw_judge_options *options = m->options;
	for (size_t i = 0; i < options->n_narrowed; i++)
		if (options->narrowed[i].api == record->rec->api && options->narrowed[i].stack == record->stack)
			return &options->narrowed[i];
	return NULL;
}

/* Judges, in place of a wait whose site is to be narrowed, what the advice leaves of it.  False: the record is none of
   them. */
static bool narrowed_wait(struct sw_model *m, const struct sw_record *record)
{
	if (!m->options->n_narrowed || record->rec->kind != SW_REC_SYNC || record->failed)
		return false;
	if (record->rec->flags & SW_RF_END) {
		const struct sw_rec_end *end = (const struct sw_rec_end *)(const void *)record->rec;
		return sw_map_delete(&m->narrowed, end->begin_seq);
	}
	const struct sw_narrowed_site *site = site_of(m, record);
	if (!site)
		return false;
	*sw_map_put(&m->narrowed, record->seq) = 1;
	for (uint32_t i = 0; i < site->n; i++)
		if (site->edge[i].on_host)
			wait_on_host(m, record, site->edge[i].from);
	for (uint32_t i = 0; i < site->n; i++)
		if (!site->edge[i].on_host)
			order_streams(m, record, EVENT + (uint64_t)(site - m->options->narrowed) * SW_MAX_NEEDS + i,
				      site->edge[i].from, site->edge[i].to);
	return true;
}

/* A judgement with the memory that it owns and does not show. */
struct judged {
	struct sw_judgement judgement;
	struct sw_arena arena;
	struct sw_times times;
};

static const struct sw_judge_options defaults = {.fold_below_ns = 100000};

/* Call-back of the order engine: it made an order between two lanes. */
static void on_edge(void *arg, const struct sw_hb_edge *edge)
{
	struct sw_model *m = arg;
	if (edge->kind == SW_EDGE_LEGACY)
		sw_legacy_edge(m, edge);
	if (m->observer->edge)
		m->observer->edge(m->observer->arg, edge, sw_model_lane_state(m, edge->from.lane)->stream,
				  sw_model_lane_state(m, edge->to_lane)->stream);
}

/* Call-back before a block ends: what was deferred, or is known of its content, goes with it. */
static void forget_block(void *arg, struct sw_block *block)
{
	struct sw_model *m = arg;
	sw_deferred_leave(arg, block);
	sw_contents_forget(m->contents, block->address, block->address + block->bytes, UINT64_MAX);
}

void sw_model_init(struct sw_model *m, struct sw_reader *reader, const struct sw_judge_options *options,
		   struct sw_judgement *judgement, struct sw_arena *arena)
{
	static const struct sw_observer nobody = {0};
	*m = (struct sw_model){.reader = reader, .options = options, .j = judgement, .arena = arena};
#define SW_PART(type, member, make, release) m->member = make;
#define SW_VALUE(type, member, release)
#include "detect/model/parts.def"
#undef SW_PART
#undef SW_VALUE
	m->plans = sw_plans_new();
	m->observer = options->observer ? options->observer : &nobody;
	m->hb = sw_hb_new(&(struct sw_hb_options){.strict_host = options->strict_host, .on_edge = on_edge, .arg = m});
	m->forbidden = sw_forbidden_new(m);
	sw_space_init(&m->space);
	m->space.leave = forget_block;
	m->space.pool_blocks.now = &m->step;
	sw_pool_init(m);
	sw_collect_init(&m->collect, judgement, arena, options->keep_possible);
	m->collect.none = options->no_findings;
	m->collect.tells = options->found != NULL;
	if (!options->no_schedule)
		m->schedule = sw_schedule_new(&(struct sw_schedule_options){.window = options->replayed});
	if (!options->no_footprints)
		m->library = sw_footprint_library_open(options->cache, options->threads);
	*sw_vec_push(&judgement->streams) = (struct sw_stream_info){.kind = SW_LANE_HOST};
}

/* Frees all parts of the state, in the order of parts.def. */
void sw_model_free(struct sw_model *m)
{
	sw_map_free(&m->narrowed);
	sw_wait_forget(m);
#define SW_PART(type, member, make, release) release;
#define SW_VALUE(type, member, release)	     release;
#include "detect/model/parts.def"
#undef SW_PART
#undef SW_VALUE
}

/* Reports that a program used the driver and no call was recorded. */
static void nothing_intercepted(struct sw_model *m)
{
	struct sw_finding seen = {
		.id = SW_FINDING_NOTHING_INTERCEPTED, .severity = SW_WARNING, .confidence = SW_CERTAIN};
	if (!m->j->coverage.driver_calls && sw_reader_device(m->reader, 0))
		sw_collect_add(&m->collect, &seen, NULL);
}

/* Reports lost records.  How many is known only at the end: holes between sequence numbers and LOSS records describe
   the same losses. */
static void records_lost(struct sw_model *m)
{
	uint64_t lost = sw_reader_totals(m->reader).lost;
	struct sw_finding seen = {.id = SW_FINDING_RECORDS_LOST,
				  .severity = SW_WARNING,
				  .confidence = SW_CERTAIN,
				  .fix = SW_FIX_MORE_ROOM,
				  .lost = lost};
	m->j->coverage.records_lost = lost;
	if (lost)
		sw_collect_add(&m->collect, &seen, NULL);
}

void sw_model_finish(struct sw_model *m)
{
	struct sw_hb_stats stats = sw_hb_stats(m->hb);
	struct sw_coverage *c = &m->j->coverage;
	sw_wait_forget(m);
	sw_nvtx_finish(m);
	sw_wide_finish(m);
	nothing_intercepted(m);
	records_lost(m);
	c->edges_for_safety += stats.edges_for_safety - m->cut_edges;
	c->unknown_streams += stats.unknown_streams;
	c->forgotten_accesses = m->space.uses.forgotten;
	c->cut_stacks = sw_reader_totals(m->reader).cut_stacks;
	if (m->library)
		m->j->analysed = sw_footprint_library_totals(m->library);
	sw_kernels_list_unusable(m);
	const struct sw_trace_totals totals = sw_reader_totals(m->reader);
	c->windows = totals.windows;
	c->left_out = totals.left_out;
	sw_sharing_finish(m, c->records_lost, totals.closed && !totals.damaged);
	sw_model_pass_time(m, m->last_ns);
	m->j->span_ns = m->open_ns;
	m->j->strict_host = m->options->strict_host;
	m->j->simulated = sw_reader_header(m->reader)->flags & SW_FILE_SIMULATED;
	/* Replays need memory, too. */
	sw_plans_free(m->plans); /* remembers by footprints of the library */
	sw_footprint_library_close(m->library);
	sw_gains_judge(m);
	sw_collect_finish(&m->collect, m->options->fold_below_ns);
}

struct sw_judging {
	struct judged *judged;
	struct sw_model model;
	uint64_t read; /* bytes of records */
};

/* Begins to judge a trace record by record; options NULL: the defaults. */
struct sw_judging *sw_judging_begin(struct sw_reader *reader, const struct sw_judge_options *options)
{
	struct sw_judging *judging = sw_alloc(sizeof *judging);
	struct judged *judged = sw_calloc(1, sizeof *judged);
	struct sw_model *m = &judging->model;
	judged->judgement.wait_rules.source = options ? options->behaviour : NULL;
	judging->judged = judged;
	judging->read = 0;
	sw_model_init(m, reader, options ? options : &defaults, &judged->judgement, &judged->arena);
	m->times = &judged->times;
	return judging;
}

/* Passes new and stronger findings to whoever follows the judging. */
static void tell_found(struct sw_model *m)
{
	struct sw_collect *collect = &m->collect;
	for (size_t i = 0; i < collect->news.n; i++)
		if (m->j->findings.at[collect->news.at[i]].count)
			m->options->found(m->options->found_arg, m->j, collect->news.at[i]);
	collect->news.n = 0;
}

/* Judges the next record: 1; 0 at the end, SW_READER_WAIT when there is none yet, <0 with error filled. */
int sw_judging_step(struct sw_judging *judging, struct sw_error *error)
{
	struct sw_model *m = &judging->model;
	struct sw_record record;
	const int got = sw_reader_next(m->reader, &record, error);
	if (got != 1)
		return got;
	added_edges_before(m, &record);
	if (!moved_work(m, &record) && !narrowed_wait(m, &record))
		sw_model_step(m, &record);
	added_edges_after(m, &record);
	judging->read += record.rec->words * 8u;
	if (m->options->progress)
		m->options->progress(m->options->progress_arg, m->j->coverage.driver_calls,
				     (double)judging->read / (double)sw_reader_bytes(m->reader));
	if (m->collect.news.n)
		tell_found(m);
	return got;
}

/* The judgement as it stands, not yet sorted or summed up. */
const struct sw_judgement *sw_judging_so_far(const struct sw_judging *judging)
{
	return &judging->judged->judgement;
}

/* Ends judging and returns the judgement, which the caller frees. */
struct sw_judgement *sw_judging_end(struct sw_judging *judging)
{
	struct sw_judgement *judgement = &judging->judged->judgement;
	sw_model_finish(&judging->model);
	sw_model_free(&judging->model);
	free(judging);
	return judgement;
}

int sw_judge(struct sw_reader *reader, const struct sw_judge_options *options, struct sw_judgement **out,
	     struct sw_error *error)
{
	struct sw_judging *judging = sw_judging_begin(reader, options);
	struct judged *judged = judging->judged;
	const struct sw_observer *observer = judging->model.observer;
	int got = sw_times_load(reader, &judged->times, error);
	judged->judgement.gpu = judged->times.summary;
	if (observer->begin)
		observer->begin(observer->arg, &judged->judgement);
	while ((got = sw_judging_step(judging, error)) == 1)
		continue;
	*out = sw_judging_end(judging);
	return got;
}

bool sw_judgement_times(const struct sw_judgement *judgement, uint64_t seq, uint64_t *start_ns, uint64_t *end_ns)
{
	const struct judged *judged = (const struct judged *)judgement;
	const struct sw_time *t = sw_times_find(&judged->times, seq);
	if (!t)
		return false;
	*start_ns = t->start;
	*end_ns = t->end;
	return true;
}

void sw_judgement_free(struct sw_judgement *judgement)
{
	struct judged *judged = (struct judged *)judgement;
	if (!judged)
		return;
	free(judgement->streams.at);
	free(judgement->allocations.at);
	free(judgement->findings.at);
	free(judgement->nvtx.at);
	free(judgement->gate.at);
	free(judgement->library_calls.at);
	free(judgement->unusable_code.at);
	free(judgement->shared_uses.at);
	sw_times_free(&judged->times);
	sw_wait_rules_free(&judgement->wait_rules);
	sw_arena_free(&judged->arena);
	free(judged);
}
