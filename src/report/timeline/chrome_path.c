/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of the run, as a process of its own: readers take all slices of the host for calls. */
#include "report/timeline/chrome.h"
#include "report/words/gain_text.h"

/* "host code, between two calls", "in cudaMemcpy", "kernel scale(float*)". */
static struct sw_label name_of(struct sw_chrome *c, const struct sw_stretch *stretch)
{
	const struct known *known = sw_chrome_known(c, stretch->seq);
	switch (stretch->kind) {
	case SW_STRETCH_HOST:
		return SW_LABEL("host code, between two calls");
	case SW_STRETCH_CALL:
		return known ? sw_chrome_variant(c, known->call, "in ", "", 2) : SW_LABEL("in a call");
	case SW_STRETCH_WORK:
		if (known && known->work.n)
			return stretch->timed ? known->work : sw_chrome_variant(c, known->work, "", " (estimate)", 0);
		break;
	case SW_STRETCH_LATENCY:
		return SW_LABEL("latency: until work starts, or its end is noticed");
	case SW_STRETCHES:
		break;
	}
	return sw_label_any(&c->labels, sw_replay_stretch(stretch->kind, stretch->work));
}

void sw_chrome_path(void *arg, const struct sw_stretch *stretch)
{
	struct sw_chrome *c = arg;
	const struct known *known = sw_chrome_known(c, stretch->seq);
	struct sw_place at = {PID_PATH, TID_PATH, stretch->start_ns};
	if (!sw_window_shows(&c->window, stretch->start_ns, stretch->end_ns))
		return;
	if (!c->path_drawn) {
		c->path_drawn = true;
		sw_event_name(&c->events, "process_name", PID_PATH, 0,
			      sw_label_any(&c->labels, "critical path: what the run could not be shorter than"));
		sw_event_sort(&c->events, "process_sort_index", PID_PATH, 0, PID_PATH);
		sw_event_name(&c->events, "thread_name", PID_PATH, TID_PATH, sw_label_any(&c->labels, "critical path"));
	}
	sw_event_slice(&c->events, at, stretch->end_ns, name_of(c, stretch), "critical_path");
	/* Not "correlation": readers would take the slice for a call or for work. */
	sw_event_number(&c->events, "call", stretch->seq);
	if (known)
		sw_chrome_put_site(c, "at", known->stack, known->function);
	if (stretch->kind == SW_STRETCH_WORK) {
		sw_event_label(&c->events, "on", sw_chrome_stream(c, stretch->lane));
		sw_event_text(&c->events, "timing", stretch->timed ? MEASURED : "estimated between waits");
	}
	sw_event_end(&c->events);
}
