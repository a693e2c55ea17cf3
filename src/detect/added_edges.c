/* SPDX-License-Identifier: Apache-2.0 */
/* An event that is recorded after one call, for which a stream waits before another: the same as SW_NOTE_BEFORE and
   SW_NOTE_AFTER (syncwatch.h), at places that the judge's options name. */
#include "detect/added_edges.h"

#include "detect/dispatch.h"
#include "detect/model/model.h"

/* The first one; those of programs that name theirs by numbers are others. */
#define TAG UINT64_C(0x636f6e6669720000)

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

/* The first at this record. */
static size_t find(const struct sw_judge_options *options, uint64_t seq)
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

static void note(struct sw_model *m, const struct sw_record *record, enum sw_annotation op,
		 const struct sw_added_edge *edge)
{
	struct sw_rec_annotation a = {
		.h = *record->rec, .address = TAG + edge->event, .stream = stream_of(record->rec), .op = op};
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

static void note_all(struct sw_model *m, const struct sw_record *record, bool after)
{
	const struct sw_judge_options *options = m->options;
	if (!options->n_added || record->rec->flags & SW_RF_END)
		return;
	for (size_t i = find(options, record->seq); i < options->n_added && options->added[i].seq == record->seq; i++)
		if ((options->added[i].end == SW_EDGE_AFTER) == after)
			note(m, record, after ? SW_NOTE_BEFORE : SW_NOTE_AFTER, &options->added[i]);
}

void sw_added_edges_before(struct sw_model *m, const struct sw_record *record)
{
	note_all(m, record, false);
}

void sw_added_edges_after(struct sw_model *m, const struct sw_record *record)
{
	note_all(m, record, true);
}
