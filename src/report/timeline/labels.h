/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a timeline, quoted once each: there are few of them and millions of uses. */
#ifndef SW_REPORT_TIMELINE_LABELS_H
#define SW_REPORT_TIMELINE_LABELS_H

#include "base/map.h"
#include "detect/detect.h"
#include "report/excerpts.h"
#include "report/symbols/names.h"
#include "report/timeline/timeline.h"
#include "report/timeline/trace_out.h"

struct sw_labels {
	struct sw_names names;
	struct sw_map calls, kernels; /* (api, through a runtime), function -> index + 1 */
	SW_VEC(struct sw_label) at;
};

void sw_labels_init(struct sw_labels *labels, const struct sw_reader *reader);
/* Gives the labels the judgement, once there is one, for the names of streams. */
void sw_labels_judgement(struct sw_labels *labels, const struct sw_judgement *judgement);
void sw_labels_free(struct sw_labels *labels);

/* A literal with nothing to quote in it. */
#define SW_LABEL(text) ((struct sw_label){"\"" text "\"", sizeof text + 1})

struct sw_label sw_label_any(struct sw_labels *labels, const char *text);
/* The function that the user called, by the record alone. */
struct sw_label sw_label_call(struct sw_labels *labels, const struct sw_rec *rec);
/* The work that the call put on the stream: the kernel, "Memcpy HtoD", "Memset" ... */
struct sw_label sw_label_work(struct sw_labels *labels, const struct sw_operation *op);
bool sw_label_is_runtime(struct sw_label label); /* "cuda...", not "cu..." */

/* Which part of the run is exported: a stretch of time, or what lies around the hazards of a judgement. */

struct sw_export_window {
	struct sw_excerpt whole;
	bool around;
	sw_excerpt_vec around_hazards; /* meant only with `around` */
};

/* Prepares the window of time that is drawn; the options are borrowed. */
void sw_window_init(struct sw_export_window *window, const struct sw_chrome_options *options);
/* Does some of [from, to] (ns of the trace) lie in it? */
bool sw_window_shows(const struct sw_export_window *window, uint64_t from, uint64_t to);
void sw_window_free(struct sw_export_window *window);

#endif
