/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/moved_work.h"

#include <stdlib.h>
#include <string.h>

#include "detect/dispatch.h"
#include "detect/model/model.h"

/* No handle of the driver's: those are addresses. */
#define OWN_STREAM UINT64_C(0x6f776e)

static uint64_t *stream_of(struct sw_rec *rec)
{
	void *r = rec;
	switch ((enum sw_rec_kind)rec->kind) {
	case SW_REC_LAUNCH:
		return &((struct sw_rec_launch *)r)->stream;
	case SW_REC_COPY:
		return &((struct sw_rec_copy *)r)->stream;
	case SW_REC_SET:
		return &((struct sw_rec_set *)r)->stream;
	default:
		return NULL;
	}
}

static bool is_moved(const struct sw_model *m, const struct sw_record *record)
{
	const struct sw_judge_options *options = m->options;
	for (size_t i = 0; i < options->n_moved; i++)
		if (options->moved[i].api == record->rec->api && options->moved[i].stack == record->stack)
			return true;
	return false;
}

/* In the context of the first such work.  The record is at the same place in the order of the process. */
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

bool sw_moved_work(struct sw_model *m, const struct sw_record *record)
{
	if (!m->options->n_moved || record->rec->flags & (SW_RF_END | SW_RF_PER_THREAD) || !is_moved(m, record))
		return false;
	struct sw_rec *copy = sw_alloc(record->rec->words * 8u);
	memcpy(copy, record->rec, record->rec->words * 8u);
	uint64_t *stream = stream_of(copy);
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
