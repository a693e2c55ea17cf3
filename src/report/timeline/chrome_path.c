/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path of the run, as a process of its own: readers take all slices of the host for calls. */
#include "report/timeline/chrome.h"
#include "report/words/gain_text.h"

void sw_chrome_path(void *arg, const struct sw_stretch *stretch)
{
	struct sw_chrome *c = arg;
	struct sw_place at = {PID_PATH, TID_PATH, stretch->start_ns};
	if (!sw_window_shows(&c->window, stretch->start_ns, stretch->end_ns))
		return;
	if (!c->path_drawn) {
		c->path_drawn = true;
		sw_event_name(&c->events, "process_name", PID_PATH, 0, sw_label_any(&c->labels, "critical path"));
		sw_event_sort(&c->events, "process_sort_index", PID_PATH, 0, PID_PATH);
		sw_event_name(&c->events, "thread_name", PID_PATH, TID_PATH, sw_label_any(&c->labels, "critical path"));
	}
	sw_event_slice(&c->events, at, stretch->end_ns,
		       sw_label_any(&c->labels, sw_replay_stretch(stretch->kind, stretch->work)), "critical_path");
	/* Not "correlation": readers would take the slice for a call or for work. */
	sw_event_number(&c->events, "call", stretch->seq);
	if (stretch->kind == SW_STRETCH_WORK) {
		sw_event_label(&c->events, "on", sw_chrome_stream(c, stretch->lane));
		sw_event_text(&c->events, "timing", stretch->timed ? MEASURED : "estimated between waits");
	}
	sw_event_end(&c->events);
}
