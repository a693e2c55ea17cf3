/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of NVTX on tracks of their own.  What a thread pushes in one domain is nested, and lies on one track.  Started
 * ranges may overlap in part, which viewers do not draw: each goes to the first track that it fits on.
 */
#include "report/timeline/chrome.h"

#include <stdlib.h>

/* Tracks that are looked through: what still overlaps goes without. */
#define MAX_TRACKS 1024u
/* Names are quoted again each time: a program may number its ranges. */
#define MAX_NAMES (1u << 20)

static struct nvtx_track *new_track(struct sw_chrome *c, const struct sw_nvtx_span *span, uint32_t index)
{
	const uint32_t tid = TID_NVTX + (uint32_t)c->nvtx.n;
	const char *thread =
		span->thread ? sw_names_format(&c->labels.names, "thread %u", span->thread) : "a thread without CUDA";
	const char *text = sw_names_format(&c->labels.names, "NVTX, %s%s%s%s", thread, span->domain[0] ? ", " : "",
					   span->domain, span->id ? ", started ranges" : "");
	if (index)
		text = sw_names_format(&c->labels.names, "%s (%u)", text, index + 1);
	sw_event_name(&c->events, "thread_name", PID_HOST, tid, sw_label_any(&c->labels, text));
	sw_event_sort(&c->events, "thread_sort_index", PID_HOST, tid,
		      TID_THREAD + LANES * (span->thread > MAX_THREAD ? 0 : span->thread) + LANES - 1);
	*sw_vec_push(&c->nvtx) = (struct nvtx_track){
		.tid = tid, .thread = span->thread, .domain = span->domain_id, .started = span->id != 0};
	return &c->nvtx.at[c->nvtx.n - 1];
}

/* Spans are reported in the order of their ends. */
static struct nvtx_track *track_of(struct sw_chrome *c, const struct sw_nvtx_span *span)
{
	uint32_t alike = 0;
	for (size_t i = 0; i < c->nvtx.n; i++) {
		struct nvtx_track *t = &c->nvtx.at[i];
		if (t->thread != span->thread || t->domain != span->domain_id || t->started != (span->id != 0))
			continue;
		if (!t->started || span->start_ns >= t->end_ns)
			return t;
		alike++;
	}
	return c->nvtx.n < MAX_TRACKS ? new_track(c, span, alike) : NULL;
}

void sw_chrome_nvtx(void *arg, const struct sw_nvtx_span *span)
{
	struct sw_chrome *c = arg;
	const uint64_t end = span->end_ns > span->start_ns ? span->end_ns : span->start_ns;
	if (!sw_window_shows(&c->window, span->start_ns, end))
		return;
	struct nvtx_track *track = track_of(c, span);
	if (!track)
		return;
	track->end_ns = end;
	if (c->nvtx_names.bytes > MAX_NAMES)
		sw_arena_free(&c->nvtx_names);
	sw_event_slice(&c->events, (struct sw_place){PID_HOST, track->tid, span->start_ns}, end,
		       sw_label_quote(&c->nvtx_names, span->name), "user_annotation");
	if (span->domain[0])
		sw_event_label(&c->events, "domain", sw_label_quote(&c->nvtx_names, span->domain));
	if (span->open)
		sw_event_text(&c->events, "state", "had not ended when the trace ends");
	sw_event_end(&c->events);
}

void sw_chrome_nvtx_free(struct sw_chrome *c)
{
	free(c->nvtx.at);
	sw_arena_free(&c->nvtx_names);
}
