/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/narrowed_waits.h"

#include "detect/dispatch.h"
#include "detect/model/model.h"

/* No handle of the driver's: those are addresses. */
#define EVENT UINT64_C(0x6e6172726f77)

/* One more record, at the same place in the order of the process. */
static void step(struct sw_model *m, const struct sw_record *at, struct sw_rec *rec, enum sw_rec_kind kind,
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

static void order(struct sw_model *m, const struct sw_record *at, uint64_t event, uint64_t from, uint64_t to)
{
	struct sw_rec_event_record record = {.h = *at->rec, .event = event, .stream = from};
	struct sw_rec_stream_wait wait = {.h = *at->rec, .event = event, .stream = to};
	record.h.flags = wait.h.flags = 0;
	step(m, at, &record.h, SW_REC_EVENT_RECORD, sizeof record);
	step(m, at, &wait.h, SW_REC_STREAM_WAIT, sizeof wait);
}

static void wait_on_host(struct sw_model *m, const struct sw_record *at, uint64_t stream)
{
	struct sw_rec_sync begin = {.h = *at->rec, .handle = stream, .what = SW_SYNC_STREAM};
	struct sw_rec_end end = {.h = *at->rec, .begin_seq = at->seq};
	begin.h.flags = SW_RF_BEGIN;
	end.h.flags = SW_RF_END;
	step(m, at, &begin.h, SW_REC_SYNC, sizeof begin);
	step(m, at, &end.h, SW_REC_SYNC, sizeof end);
}

static const struct sw_narrowed_site *site_of(const struct sw_model *m, const struct sw_record *record)
{
	const struct sw_judge_options *options = m->options;
	for (size_t i = 0; i < options->n_narrowed; i++)
		if (options->narrowed[i].api == record->rec->api && options->narrowed[i].stack == record->stack)
			return &options->narrowed[i];
	return NULL;
}

bool sw_narrowed_wait(struct sw_model *m, const struct sw_record *record)
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
			order(m, record, EVENT + (uint64_t)(site - m->options->narrowed) * SW_MAX_NEEDS + i,
			      site->edge[i].from, site->edge[i].to);
	return true;
}
