/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SW304: work on the legacy default stream waits for all blocking streams and holds back all that is issued to them
 * later (CUDA programming guide, "Default stream").  Where that puts one stream's work after another's, and nothing
 * else did, two streams have run as one.
 *
 * The order engine reports an edge only when it adds order, so what arrives here nothing else had ordered.
 */
#include "detect/waits/legacy_stream.h"

#include <stdlib.h>

#include "detect/model/collect.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/device_times.h"

struct sw_legacy_site {
	uint32_t lane, serial;
	struct sw_access call;
	uint32_t n;
	struct {
		uint32_t lane;
		uint64_t seq;
	} from[8];
};

struct sw_legacy {
	SW_VEC(struct sw_legacy_site) sites;
};

struct sw_legacy *sw_legacy_new(void)
{
	return sw_calloc(1, sizeof(struct sw_legacy));
}

void sw_legacy_free(struct sw_legacy *legacy)
{
	free(legacy->sites.at);
	free(legacy);
}

static bool is_work(uint8_t kind)
{
	return kind == SW_REC_LAUNCH || kind == SW_REC_COPY || kind == SW_REC_COPY_ND || kind == SW_REC_SET ||
	       kind == SW_REC_GRAPH_LAUNCH || kind == SW_REC_HOST_FUNC;
}

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

/* The legacy stream came to wait for a stream with work of its own. */
static void waits_for(struct sw_model *m, struct sw_legacy_site *site, const struct sw_hb_edge *edge)
{
	if (site->call.seq != edge->to_seq) {
		site->call = m->wait->what;
		site->n = 0;
	}
	if (sw_model_lane_state(m, edge->from.lane)->work && site->n < sizeof site->from / sizeof *site->from) {
		site->from[site->n].lane = edge->from.lane;
		site->from[site->n++].seq = edge->from_seq;
	}
}

/*
 * Without the legacy stream the work could have begun when it was given out and its own stream was free: from then
 * until the legacy stream's work ended it was held back.  At most: other streams that it waits for, or a full device,
 * may have held it as well.
 */
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
		return;
	}
}

void sw_legacy_edge(struct sw_model *m, const struct sw_hb_edge *edge)
{
	if (!m->wait || edge->to_seq != m->record->seq)
		return;
	if (sw_hb_lane_kind(m->hb, edge->to_lane) == SW_LANE_LEGACY)
		waits_for(m, site_of(m, edge->to_lane), edge);
	else if (sw_hb_lane_kind(m->hb, edge->from.lane) == SW_LANE_LEGACY)
		holds_back(m, site_of(m, edge->from.lane), edge);
}
