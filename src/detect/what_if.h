/* SPDX-License-Identifier: Apache-2.0 */
/* Additions with which a trace is judged: edges that a fix would add, work and waits that a change would move.
 */
#ifndef SW_DETECT_WHAT_IF_H
#define SW_DETECT_WHAT_IF_H

#include <stdbool.h>
#include <stdint.h>

#include "hb/hb.h"

#define SW_MAX_NEEDS 8u

/* An edge that the run had and its trace does not show: an event after one call, a wait before others. */
enum sw_edge_end { SW_EDGE_AFTER, SW_EDGE_BEFORE, SW_EDGE_BEFORE_ON_HOST };
struct sw_added_edge {
	uint64_t seq; /* the record of the call */
	enum sw_edge_end end;
	uint32_t event; /* one of several: a wait is for the event of that number */
};

/* Does a rule order the work of these two calls, and do they touch the same bytes?  By their records. */
struct sw_asked_order {
	uint64_t earlier, later;
	/* Results: */
	bool known; /* both put work on streams */
	enum sw_order order;
	bool meet;	       /* both touch some byte, and one of them writes it */
	bool unclear;	       /* not all that they touch is known; else, without `meet`, they touch none */
	struct sw_point point; /* of the earlier one */
};

/* Work of a call site that is judged as if it were on a stream of its own: src/detect/judge.c. */
struct sw_moved_site {
	uint16_t api;
	uint32_t stack; /* as the reader numbers them */
};

/* A wait of a call site that is judged as if it were these edges: src/detect/judge.c. */
struct sw_narrowed_site {
	uint16_t api;
	uint32_t stack, n;
	struct {
		uint64_t from, to; /* handles of streams */
		bool on_host;	   /* the host waits for `from` */
	} edge[SW_MAX_NEEDS];
};

#endif
