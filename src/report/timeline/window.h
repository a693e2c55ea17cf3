/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of the run is exported: a stretch of time, or what lies around the hazards of a judgement. */
#ifndef SW_REPORT_TIMELINE_WINDOW_H
#define SW_REPORT_TIMELINE_WINDOW_H

#include "report/excerpts.h"
#include "report/timeline/timeline.h"

struct sw_export_window {
	struct sw_excerpt whole;
	bool around;
	sw_excerpt_vec around_hazards; /* meant only with `around` */
};

/* The options are borrowed.  shows: does some of [from, to] (ns of the trace) lie in it? */
void sw_window_init(struct sw_export_window *window, const struct sw_chrome_options *options);
bool sw_window_shows(const struct sw_export_window *window, uint64_t from, uint64_t to);
void sw_window_free(struct sw_export_window *window);

#endif
