/* SPDX-License-Identifier: Apache-2.0 */
/* Judging a whole trace: the state of a run is made, each record judged, the findings closed. */
#include "detect/calls/batch_copies.h"
#include "detect/dispatch.h"

#include <stdlib.h>

#include "detect/added_edges.h"
#include "detect/moved_work.h"
#include "detect/narrowed_waits.h"
#include "detect/behaviour/wait_rules.h"
#include "detect/calls/pools.h"
#include "detect/calls/streams.h"
#include "detect/calls/syncs.h"
#include "detect/calls/tensor_blocks.h"
#include "detect/graphs/graphs.h"
#include "detect/hazards/deferred.h"
#include "detect/hazards/hazards.h"
#include "detect/hazards/ignored_ranges.h"
#include "detect/hazards/shared_uses.h"
#include "detect/hazards/stored_values.h"
#include "detect/kernels/annotated_launches.h"
#include "detect/kernels/collectives.h"
#include "detect/kernels/first_uses.h"
#include "detect/kernels/kernels.h"
#include "detect/kernels/launch_plan.h"
#include "detect/kernels/launches.h"
#include "detect/kernels/texture_handles.h"
#include "detect/hazards/host_functions.h"
#include "detect/memory/address_space.h"
#include "detect/memory/contents.h"
#include "detect/memory/module_variables.h"
#include "detect/memory/physical_memory.h"
#include "detect/model/asked_order.h"
#include "detect/model/captures.h"
#include "detect/model/collect.h"
#include "detect/model/contexts.h"
#include "detect/model/events.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/libraries/library_calls.h"
#include "detect/model/nvtx.h"
#include "detect/waits/device_times.h"
#include "detect/waits/legacy_stream.h"
#include "detect/waits/polls.h"
#include "detect/waits/schedule_feed.h"
#include "detect/waits/stalls.h"
#include "detect/waits/waits.h"
#include "detect/waits/wide_syncs.h"

/* What a judgement owns in addition to what it shows. */
struct judged {
	struct sw_judgement judgement;
	struct sw_arena arena;
	struct sw_times times;
};

static const struct sw_judge_options defaults = {.fold_below_ns = 100000};

static void on_edge(void *arg, const struct sw_hb_edge *edge)
{
	struct sw_model *m = arg;
	if (edge->kind == SW_EDGE_LEGACY)
		sw_legacy_edge(m, edge);
	if (m->observer->edge)
		m->observer->edge(m->observer->arg, edge, sw_model_lane_state(m, edge->from.lane)->stream,
				  sw_model_lane_state(m, edge->to_lane)->stream);
}

static void make_state(struct sw_model *m)
{
	m->names = sw_name_store_new();
	m->lanes = sw_lanes_new();
	m->context = sw_calloc(SW_CONTEXTS, sizeof *m->context);
	m->events = sw_event_table_new();
	m->captures = sw_captures_new();
	m->nvtx = sw_nvtx_new();
	m->library_calls = sw_library_new();
	m->waits = sw_call_waits_new();
	m->wide = sw_wide_new();
	m->legacy = sw_legacy_new();
	m->stalls = sw_stalls_new();
	m->polls = sw_polls_new();
	m->feed = sw_schedule_feed_new();
	m->hazards = sw_hazards_new();
	m->deferrals = sw_deferrals_new(m->options->evaluate_all, sw_launch_work_out);
	m->ignored = sw_ignored_new();
	m->kernels = sw_kernels_new(m->reader);
	m->plans = sw_plans_new();
	m->variables = sw_variables_new();
	m->handles = sw_handles_new();
	m->first_uses = sw_first_uses_new();
	m->annotated = sw_annotated_new();
	m->collectives = sw_collectives_new();
	m->host_funcs = sw_host_funcs_new();
	m->value_copies = sw_value_copies_new();
	m->batches = sw_batches_new();
	m->tensors = sw_tensor_blocks_new();
	m->values = sw_stored_values_new();
	m->graphs = sw_graphs_new();
	m->contents = sw_contents_new();
	m->sharing = sw_sharing_new(m->options && m->options->shared_uses);
}

static void leave(void *arg, struct sw_block *block)
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
	make_state(m);
	m->observer = options->observer ? options->observer : &nobody;
	m->hb = sw_hb_new(&(struct sw_hb_options){.strict_host = options->strict_host, .on_edge = on_edge, .arg = m});
	sw_space_init(&m->space);
	m->physical = sw_physical_set_new();
	m->space.leave = leave;
	m->space.pool_blocks.now = &m->step;
	sw_pool_init(m);
	sw_collect_init(&m->collect, judgement, arena, options->keep_possible);
	m->collect.none = options->no_findings;
	if (!options->no_schedule)
		m->schedule = sw_schedule_new(NULL);
	if (!options->no_footprints)
		m->library = sw_footprint_library_open(options->cache, options->threads);
	*sw_vec_push(&judgement->streams) = (struct sw_stream_info){.kind = SW_LANE_HOST};
}

void sw_model_free(struct sw_model *m)
{
	sw_map_free(&m->narrowed);
	sw_wait_forget(m);
	sw_kernels_free(m->kernels);
	sw_variables_free(m->variables);
	sw_physical_set_free(m->physical);
	sw_handles_free(m->handles);
	sw_first_uses_free(m->first_uses);
	sw_annotated_free(m->annotated);
	sw_collectives_free(m->collectives);
	sw_graphs_free(m);
	sw_stored_values_free(m);
	sw_value_copies_free(m->value_copies);
	sw_batches_free(m->batches);
	sw_tensor_blocks_free(m->tensors);
	sw_host_funcs_free(m->host_funcs);
	sw_ignored_free(m);
	sw_hazards_free(m->hazards);
	sw_schedule_feed_free(m->feed);
	sw_polls_free(m->polls);
	sw_stalls_free(m->stalls);
	sw_legacy_free(m->legacy);
	sw_wide_free(m->wide);
	sw_call_waits_free(m->waits);
	sw_nvtx_free(m->nvtx);
	sw_library_free(m->library_calls);
	sw_captures_free(m->captures);
	sw_event_table_free(m->events);
	free(m->context);
	sw_lanes_free(m->lanes);
	sw_name_store_free(m->names);
	sw_space_free(&m->space);
	sw_deferrals_free(m->deferrals); /* blocks refer to what they hold */
	sw_asked_uses_free(m->asked_uses);
	sw_contents_free(m->contents);
	sw_collect_free(&m->collect);
	sw_schedule_free(m->schedule);
	sw_sharing_free(m->sharing);
	sw_hb_free(m->hb);
}

/* A program that used the driver, without a recorded call. */
static void nothing_intercepted(struct sw_model *m)
{
	struct sw_finding seen = {
		.id = SW_FINDING_NOTHING_INTERCEPTED, .severity = SW_WARNING, .confidence = SW_CERTAIN};
	if (!m->j->coverage.driver_calls && sw_reader_device(m->reader, 0))
		sw_collect_add(&m->collect, &seen, NULL);
}

/* How many is known only at the end: holes between sequence numbers and LOSS records describe the same losses. */
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
	c->edges_for_safety += stats.edges_for_safety;
	c->unknown_streams += stats.unknown_streams;
	c->forgotten_accesses = m->space.uses.forgotten;
	c->cut_stacks = sw_reader_totals(m->reader).cut_stacks;
	if (m->library)
		m->j->analysed = sw_footprint_library_totals(m->library);
	sw_kernels_list_unusable(m);
	const struct sw_trace_totals totals = sw_reader_totals(m->reader);
	sw_sharing_finish(m, c->records_lost, totals.closed && !totals.damaged);
	m->j->span_ns = m->any ? m->last_ns - m->first_ns : 0;
	m->j->strict_host = m->options->strict_host;
	m->j->simulated = sw_reader_header(m->reader)->flags & SW_FILE_SIMULATED;
	/* Replays need memory, too. */
	sw_plans_free(m->plans); /* remembers by footprints of the library */
	sw_footprint_library_close(m->library);
	sw_gains_judge(m);
	sw_collect_finish(&m->collect, m->options->fold_below_ns);
}

static int judge_records(struct sw_model *m, struct sw_error *error)
{
	struct sw_record record;
	uint64_t read = 0, all = sw_reader_bytes(m->reader);
	int got;
	while ((got = sw_reader_next(m->reader, &record, error)) > 0) {
		sw_added_edges_before(m, &record);
		if (!sw_moved_work(m, &record) && !sw_narrowed_wait(m, &record))
			sw_model_step(m, &record);
		sw_added_edges_after(m, &record);
		read += record.rec->words * 8u;
		if (m->options->progress)
			m->options->progress(m->options->progress_arg, m->j->coverage.driver_calls,
					     (double)read / (double)all);
	}
	return got;
}

int sw_judge(struct sw_reader *reader, const struct sw_judge_options *options, struct sw_judgement **out,
	     struct sw_error *error)
{
	struct judged *judged = sw_calloc(1, sizeof *judged);
	struct sw_model *m = sw_alloc(sizeof *m);
	int got = sw_times_load(reader, &judged->times, error);
	judged->judgement.gpu = judged->times.summary;
	judged->judgement.mays.source = options ? options->behaviour : NULL;
	sw_model_init(m, reader, options ? options : &defaults, &judged->judgement, &judged->arena);
	m->times = &judged->times;
	if (m->observer->begin)
		m->observer->begin(m->observer->arg, &judged->judgement);
	got = judge_records(m, error);
	sw_model_finish(m);
	sw_model_free(m);
	free(m);
	*out = &judged->judgement;
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
	free(judgement->library_calls.at);
	free(judgement->unusable_code.at);
	free(judgement->shared_uses.at);
	sw_times_free(&judged->times);
	sw_wait_rules_free(&judgement->mays);
	sw_arena_free(&judged->arena);
	free(judged);
}
