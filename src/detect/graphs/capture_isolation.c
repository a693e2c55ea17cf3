/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SW204: a capture is isolated from all other work, and the driver returns an error otherwise; most of them also spoil
 * the capture, so that the error that the author sees is that of cuStreamEndCapture.
 */
#include "detect/graphs/capture_isolation.h"

#include "detect/model/captures.h"
#include "detect/model/collect.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"

#define SW_UNJOINED 904

/* CUDA driver API, CUresult, cudaStreamCapture errors: what each status says for certain. */
static const struct {
	uint16_t status;
	enum sw_fix fix;
} refusals[] = {
	{900 /* UNSUPPORTED: not permitted while the stream captures */, SW_FIX_OUTSIDE_CAPTURE},
	{902 /* MERGE: two captures would become one */, SW_FIX_ONE_CAPTURE},
	{903 /* UNMATCHED: ended on another stream than it began on */, SW_FIX_END_WHERE_BEGUN},
	{SW_UNJOINED /* a stream that joined it was not joined back */, SW_FIX_JOIN_ALL},
	{905 /* ISOLATION: captured work would depend on work outside */, SW_FIX_RECORD_IN_CAPTURE},
	{906 /* IMPLICIT: the legacy stream would wait for it */, SW_FIX_NONBLOCKING},
	{907 /* CAPTURED_EVENT: the event belongs to a capture, the call does not */, SW_FIX_RECORD_OUTSIDE},
};

static void add_unjoined(struct sw_model *m, const struct sw_record *r, struct sw_finding *seen, struct sw_access *at)
{
	const struct sw_rec_capture *c = (const struct sw_rec_capture *)(const void *)r->rec;
	struct sw_hb_at where = sw_model_at(m, r, c->stream);
	uint32_t lane;
	const struct sw_lane_state *lane_state = sw_model_lane(m, &where, &lane);
	at->stream = lane_state->stream;
	const struct sw_access *last = sw_origin_last(m, sw_capture_other_stream(m, lane_state));
	if (!last)
		return;
	seen->access[seen->accesses++] = last;
	seen->fix = SW_FIX_JOIN;
}

void sw_isolation_failed(struct sw_model *m, const struct sw_record *r, const struct sw_access *call)
{
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		if (refusals[i].status != r->rec->status)
			continue;
		struct sw_access at = *call;
		struct sw_finding seen = {
			.id = SW_FINDING_CAPTURE_ISOLATION,
			.severity = SW_WARNING,
			.confidence = SW_CERTAIN,
			.basis = SW_BASIS_DOCUMENTED,
			.accesses = 1,
			.access[0] = &at,
			.fix = refusals[i].fix,
			.refused = r->rec->status,
		};
		if (r->rec->kind == SW_REC_CAPTURE && r->rec->status == SW_UNJOINED)
			add_unjoined(m, r, &seen, &at);
		sw_collect_add(&m->collect, &seen, NULL);
		return;
	}
}
