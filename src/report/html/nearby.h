/* SPDX-License-Identifier: Apache-2.0 */
/* The operations around each finding, for the timeline that is drawn of it. */
#ifndef SW_REPORT_HTML_NEARBY_H
#define SW_REPORT_HTML_NEARBY_H

#include "base/map.h"
#include "report/html/html.h"
#include "report/excerpts.h"

struct sw_nearby_operation {
	uint64_t seq, call_ns, call_end_ns;
	uint64_t start_ns, end_ns; /* of its work, both 0: unknown or none */
	uint32_t stream, thread;
	const char *name;
	bool enqueues, measured;
};

struct sw_nearby {
	struct sw_observer observer;
	struct sw_report *report;
	sw_excerpt_vec excerpts; /* sequence numbers */
	SW_VEC(struct sw_nearby_operation) operations;
	struct sw_map index; /* sequence number -> operation + 1 */
};

/* The first operation at or after a sequence number. */
size_t sw_nearby_from(struct sw_nearby *nearby, uint64_t seq);
/* So many sequence numbers before and after each side of a finding. */
#define SW_NEARBY 24u
/* Findings that have a timeline. */
#define SW_NEARBY_MOST 1000u

#endif
