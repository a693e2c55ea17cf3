/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SW401: what was a wait needed for?
 *
 * A wait of the host for a stream or a context is kept open until another one covers it.  Everything that is ordered
 * behind the covered work in the meantime, and touches the same memory from another stream or the host, needed it; so
 * does everything that wrote memory that the host can read, since what the host reads is not seen.  If that is strictly
 * less than what was waited for, a narrower wait would have done.  Whatever is not known (graphs, kernels whose
 * parameters tell nothing) ends the question without an answer: this finding is never a guess.
 */
#include "detect/model.h"

static struct sw_wide_lane *lane_of(struct sw_model *m, uint32_t lane)
{
	for (size_t i = 0; i < m->wide.lanes.n; i++)
		if (m->wide.lanes.at[i].at.lane == lane)
			return &m->wide.lanes.at[i];
	return NULL;
}

/* Does a later wait serve every need that the open one has not seen yet? */
static bool covers_all(const struct sw_model *m, const struct sw_wait *w)
{
	const struct sw_rec_sync *sync = (const struct sw_rec_sync *)(const void *)w->record.rec;
	if (sync->what == SW_SYNC_CONTEXT && w->record.rec->ctx == m->wide.ctx)
		return true;
	for (size_t i = 0; i < m->wide.lanes.n; i++) {
		bool found = m->wide.lanes.at[i].stream == w->what.stream;
		for (size_t k = 0; k < w->covered.n && !found; k++)
			found = w->covered.at[k].lane == m->wide.lanes.at[i].at.lane;
		if (!found)
			return false;
	}
	return true;
}

static void report(struct sw_model *m)
{
	size_t needed = 0, less = 0;
	const struct sw_wide_lane *last = NULL;
	for (size_t i = 0; i < m->wide.lanes.n; i++) {
		const struct sw_wide_lane *lane = &m->wide.lanes.at[i];
		if (lane->need)
			needed++;
		/* Work behind the last step needed is only sure to be covered when it is no later than what was
		 * covered. */
		if (!lane->need || (lane->need < lane->work && lane->work <= lane->at.covered))
			less++;
		if (lane->need && (!last || lane->need_seq > last->need_seq))
			last = lane;
	}
	if (!last || !less)
		return;
	struct sw_finding seen = {.id = SW_FINDING_OVER_WIDE_SYNC,
				  .severity = SW_NOTE,
				  .confidence = SW_LIKELY,
				  .accesses = 1,
				  .access[0] = m->wide.call,
				  .fix = SW_FIX_NARROW,
				  .fix_stream = last->stream,
				  .fix_seq = last->need_seq,
				  .detail = (uint32_t)needed,
				  .value = m->wide.lanes.n};
	struct sw_finding *f = sw_collect_add(&m->collect, &seen, NULL);
	if (f)
		sw_collect_cost(&m->collect, f, &m->wide.cost);
}

void sw_wide_close(struct sw_model *m)
{
	if (m->wide.open && !m->wide.poisoned && m->wide.cost.waited)
		report(m);
	m->wide.open = false;
}

static void open_lane(struct sw_model *m, const struct sw_covered *covered)
{
	const struct sw_lane *books = sw_model_books(m, covered->lane);
	struct sw_wide_lane *lane = sw_vec_push(&m->wide.lanes);
	*lane = (struct sw_wide_lane){.at = *covered, .work = books->work, .stream = books->stream};
	if (books->unknown > covered->known)
		m->wide.poisoned = true;
	if (books->visible > covered->known) {
		lane->need = books->visible < covered->covered ? books->visible : covered->covered;
		lane->need_seq = books->visible_seq;
	}
}

void sw_wide_begin(struct sw_model *m, struct sw_wait *w, const struct sw_wait_cost *cost)
{
	if (m->wide.open && !covers_all(m, w))
		return;
	sw_wide_close(m);
	m->wide.from = m->wide.to;
	m->wide.to = w->record.seq;
	m->wide.call = w->what;
	m->wide.ctx = w->record.rec->ctx;
	m->wide.cost = *cost;
	m->wide.poisoned = false;
	m->wide.lanes.n = 0;
	m->wide.open = w->covered.n > 0;
	for (size_t i = 0; i < w->covered.n; i++)
		open_lane(m, &w->covered.at[i]);
}

void sw_wide_need(struct sw_model *m, const struct sw_use *earlier, const struct sw_use *later)
{
	if (earlier->access.seq > m->wide.to || later->access.seq < m->wide.to ||
	    later->access.point.lane == earlier->access.point.lane)
		return;
	struct sw_wide_lane *lane = lane_of(m, earlier->access.point.lane);
	uint64_t tick = earlier->access.point.tick;
	if (!lane || tick <= lane->at.known || tick > lane->at.covered || tick <= lane->need)
		return;
	lane->need = tick;
	lane->need_seq = earlier->access.seq;
}
