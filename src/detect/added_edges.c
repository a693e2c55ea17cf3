/* SPDX-License-Identifier: Apache-2.0 */
/* An event that is recorded after one call, for which a stream waits before another: as SW_NOTE_BEFORE and
   SW_NOTE_AFTER say it (syncwatch.h), at places that the judge is told. */
#include "detect/added_edges.h"

#include "detect/dispatch.h"
#include "detect/model/model.h"

#define TAG UINT64_C(0x636f6e6669726d) /* the tag of programs that name theirs by numbers is another one */

static uint64_t stream_of(const struct sw_rec *rec)
{
	const void *r = rec;
	switch ((enum sw_rec_kind)rec->kind) {
#define STREAM(kind, type)                                                                                             \
	case SW_REC_##kind:                                                                                            \
		return ((const struct type *)r)->stream;
		STREAM(LAUNCH, sw_rec_launch)
		STREAM(COPY, sw_rec_copy)
		STREAM(COPY_ND, sw_rec_copy_nd)
		STREAM(SET, sw_rec_set)
		STREAM(HOST_FUNC, sw_rec_host_func)
		STREAM(GRAPH_LAUNCH, sw_rec_graph_launch)
		STREAM(MEM_OP, sw_rec_mem_op)
		STREAM(ALLOC, sw_rec_alloc)
		STREAM(FREE, sw_rec_free)
#undef STREAM
	default:
		return 0;
	}
}

static const struct sw_added_edge *find(const struct sw_model *m, uint64_t seq, enum sw_edge_end end)
{
	const struct sw_judge_options *options = m->options;
	size_t low = 0, high = options->n_added;
	while (low < high) {
		const size_t middle = (low + high) / 2;
		if (options->added[middle].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < options->n_added && options->added[low].seq == seq; low++)
		if (options->added[low].end == end ||
		    (end != SW_EDGE_AFTER && options->added[low].end != SW_EDGE_AFTER))
			return &options->added[low];
	return NULL;
}

static void note(struct sw_model *m, const struct sw_record *record, enum sw_annotation op, bool host)
{
	struct sw_rec_annotation a = {.h = *record->rec, .address = TAG, .stream = stream_of(record->rec), .op = op};
	struct sw_record r = *record;
	a.h.kind = SW_REC_ANNOTATION;
	a.h.words = sizeof a / 8;
	a.h.flags &= SW_RF_PER_THREAD;
	a.flags = host ? SW_NOTE_ON_HOST : 0;
	r.rec = &a.h;
	r.params = NULL;
	r.dur_ns = 0;
	sw_model_step(m, &r);
}

void sw_added_edges_before(struct sw_model *m, const struct sw_record *record)
{
	const struct sw_added_edge *edge =
		m->options->n_added && !(record->rec->flags & SW_RF_END) ? find(m, record->seq, SW_EDGE_BEFORE) : NULL;
	if (edge)
		note(m, record, SW_NOTE_AFTER, edge->end == SW_EDGE_BEFORE_ON_HOST);
}

void sw_added_edges_after(struct sw_model *m, const struct sw_record *record)
{
	if (m->options->n_added && !(record->rec->flags & SW_RF_END) && find(m, record->seq, SW_EDGE_AFTER))
		note(m, record, SW_NOTE_BEFORE, false);
}
