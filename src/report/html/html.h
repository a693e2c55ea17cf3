/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one HTML file that needs no network: page.html with the report as data in it.  Text of the program
 * reaches the page as text only (textContent), and the data cannot end their element.
 *
 *     struct sw_nearby *nearby = sw_nearby_new(report);          operations around each finding, from a second pass
 *     judge_options.observer = sw_nearby_observer(nearby);
 *     sw_judge(...)
 *     sw_html_write(report, nearby, version, file);
 *
 * Not thread-safe.  Errors of the stream are left for the caller to find (ferror).
 */
#ifndef SW_REPORT_HTML_HTML_H
#define SW_REPORT_HTML_HTML_H

#include "base/map.h"
#include "report/excerpts.h"
#include "report/report.h"

struct sw_nearby;

/* Gathers what happened around each finding, for the page's timelines; the report must outlive it. */
struct sw_nearby *sw_nearby_new(struct sw_report *report);
/* The observer through which the judge says what happens in the run. */
const struct sw_observer *sw_nearby_observer(struct sw_nearby *nearby);
void sw_nearby_free(struct sw_nearby *nearby);

void sw_html_write(struct sw_report *report, struct sw_nearby *nearby, const char *version, FILE *out);

/* The operations around each finding, for the timeline that is drawn of it. */

struct sw_nearby_operation {
	uint64_t seq, call_ns, call_end_ns;
	uint64_t start_ns, end_ns; /* of its work, both 0: unknown or none */
	uint64_t room_ns;	   /* estimated work: it may have begun earlier by so much */
	uint32_t stream, thread;
	const char *name;
	bool enqueues, measured;
};

/* The run as a whole, in equal parts: how much of each the host waited, and how much work the devices did (of several
   streams at once more than its length).  The parts grow with the run. */
#define SW_OVERVIEW_PARTS 256u
struct sw_overview {
	uint64_t part_ns, end_ns;
	uint64_t waited_ns[SW_OVERVIEW_PARTS], worked_ns[SW_OVERVIEW_PARTS];
};

struct sw_nearby {
	struct sw_observer observer;
	struct sw_report *report;
	sw_excerpt_vec excerpts; /* sequence numbers */
	SW_VEC(struct sw_nearby_operation) operations;
	struct sw_map index; /* sequence number -> operation + 1 */
	struct sw_overview overview;
};

/* So many sequence numbers before and after each side of a finding. */
#define SW_NEARBY 24u
/* Findings that have a timeline. */
#define SW_NEARBY_MOST 1000u

#endif
