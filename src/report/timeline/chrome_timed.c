/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices of the devices that were measured (--gpu-timeline).  Work of one stream can overlap (programmatic dependent
 * launch, a clock that is a few nanoseconds off); slices of one track must not, so what overlaps goes to a second
 * track.
 */
#include <stdio.h>

#include "report/timeline/chrome.h"

/* The first track of the stream that is free from `start` on; OVERLAPS + 1: none. */
static uint32_t lane_of(struct stream_track *track, uint64_t start, uint64_t end)
{
	uint32_t lane = 0;
	while (lane <= OVERLAPS && lane < track->lanes && track->end[lane] > start)
		lane++;
	if (lane > OVERLAPS)
		return lane;
	if (lane >= track->lanes)
		track->lanes = (uint8_t)(lane + 1);
	track->end[lane] = end;
	return lane;
}

static uint32_t tid_of(uint32_t stream, uint32_t lane)
{
	return lane ? TID_OVERLAP + OVERLAPS * stream + lane - 1 : TID_STREAM + stream;
}

void sw_chrome_timed(struct sw_chrome *c, const struct sw_operation *op, const struct sw_work *work)
{
	const uint32_t stream = op->what.stream, pid = PID_DEVICE + sw_chrome_device(c, stream);
	const uint64_t start = op->gpu_start_ns, end = op->gpu_end_ns > start ? op->gpu_end_ns : start + 1;
	struct stream_track *track = sw_chrome_track(c, stream);
	if (end > c->end_ns)
		c->end_ns = end;
	if (!sw_window_shows(&c->window, start, end))
		return;
	uint32_t lane = lane_of(track, start, end);
	if (lane > OVERLAPS)
		return; /* more at a time on one stream than a device runs: its clock is not to be trusted */
	track->drawn = true;
	struct sw_place at = {pid, tid_of(stream, lane), start};
	sw_event_slice(&c->events, at, end, work->name, sw_chrome_category(work));
	sw_chrome_work_args(c, stream, work);
	sw_event_text(&c->events, "timing", MEASURED);
	sw_event_number(&c->events, "enqueued_ns", work->enqueued);
	sw_chrome_put_site(c, "at", work->stack, work->function);
	sw_event_end(&c->events);
	if (c->known.n && c->known.at[c->known.n - 1].seq == work->seq)
		c->known.at[c->known.n - 1].tid = at.tid;
	c->timed[work->seq % REMEMBERED] = (struct timed){work->seq, pid, {at.tid, start, end}};
	if (work->call.tid)
		sw_chrome_arrow(c, PID_HOST, &work->call, at, "launch", "ac2g");
}

const struct timed *sw_chrome_timed_find(const struct sw_chrome *c, uint64_t seq)
{
	const struct timed *t = &c->timed[seq % REMEMBERED];
	return t->seq == seq && t->slice.tid ? t : NULL;
}

static void name_track(struct sw_chrome *c, uint32_t stream, uint32_t tid, const char *what)
{
	char text[320];
	uint32_t pid = PID_DEVICE + sw_chrome_device(c, stream);
	snprintf(text, sizeof text, "%.280s (%s)", sw_name_stream(&c->labels.names, stream), what);
	sw_event_name(&c->events, "thread_name", pid, tid, sw_label_any(&c->labels, text));
	sw_event_sort(&c->events, "thread_sort_index", pid, tid, TID_STREAM + stream);
}

void sw_chrome_name_timed(struct sw_chrome *c, uint32_t stream)
{
	const struct stream_track *track = sw_chrome_track(c, stream);
	for (uint32_t lane = 1; lane < track->lanes; lane++)
		name_track(c, stream, tid_of(stream, lane), "overlap");
	if (track->inferred)
		name_track(c, stream, TID_INFERRED + stream, "queued, start not known");
	if (track->estimated)
		name_track(c, stream, TID_ESTIMATED + stream, "not measured: estimates");
}
