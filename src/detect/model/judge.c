/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/waits/schedule_feed.h"

#include <stdlib.h>

/* What a judgement owns beside what it shows. */
struct judged {
	struct sw_judgement judgement;
	struct sw_arena arena;
	struct sw_times times;
};

static const struct sw_judge_options defaults = {.fold_below_ns = 100000};

/* A program that asked for the driver and of which no call was seen. */
static void nothing_intercepted(struct sw_model *m)
{
	struct sw_finding seen = {
		.id = SW_FINDING_NOTHING_INTERCEPTED, .severity = SW_WARNING, .confidence = SW_CERTAIN};
	if (!m->j->coverage.driver_calls && sw_reader_device(m->reader, 0))
		sw_collect_add(&m->collect, &seen, NULL);
}

/* How many is known only at the end: holes between sequence numbers and LOSS records tell of the same losses. */
static void records_lost(struct sw_model *m)
{
	uint64_t lost = sw_reader_totals(m->reader).lost;
	struct sw_finding seen = {
		.id = SW_FINDING_RECORDS_LOST, .severity = SW_WARNING, .confidence = SW_CERTAIN, .lost = lost};
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
	if (m->library)
		m->j->analysed = sw_footprint_library_totals(m->library);
	m->j->span_ns = m->any ? m->last_ns - m->first_ns : 0;
	m->j->strict_host = m->options->strict_host;
	m->j->simulated = sw_reader_header(m->reader)->flags & SW_FILE_SIMULATED;
	sw_gains_judge(m);
	sw_collect_finish(&m->collect, m->options->fold_below_ns);
}

int sw_judge(struct sw_reader *reader, const struct sw_judge_options *options, struct sw_judgement **out,
	     struct sw_error *error)
{
	struct judged *judged = sw_calloc(1, sizeof *judged);
	struct sw_model *m = sw_alloc(sizeof *m);
	struct sw_record record;
	int got = sw_times_load(sw_reader_path(reader), &judged->times, error);
	judged->judgement.gpu = judged->times.summary;
	judged->judgement.mays.source = options ? options->behaviour : NULL;
	sw_model_init(m, reader, options ? options : &defaults, &judged->judgement, &judged->arena);
	m->times = &judged->times;
	if (m->observer->begin)
		m->observer->begin(m->observer->arg, &judged->judgement);
	while ((got = sw_reader_next(reader, &record, error)) > 0)
		sw_model_step(m, &record);
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
	sw_times_free(&judged->times);
	sw_wait_rules_free(&judgement->mays);
	sw_arena_free(&judged->arena);
	free(judged);
}
