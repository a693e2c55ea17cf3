/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report reduced to what two runs can be compared by: where each finding lies, how bad it is, what it costs.
 *
 * It is taken from a report that was just made, or read from the JSON of an earlier one.  Strings live as long as the
 * digest.  Not thread-safe.
 */
#ifndef SW_REPORT_DIFF_DIGEST_H
#define SW_REPORT_DIFF_DIGEST_H

#include <stdio.h>

#include "report/report.h"

struct sw_digest_frame {
	const char *function, *file, *module; /* "" unknown; the file without its folder */
	int line;			      /* 0 unknown */
};

/* One operation of a finding. */
struct sw_digest_side {
	const char *what;		     /* the kernel with its types, else the function of the API */
	const struct sw_digest_frame *frame; /* innermost first */
	size_t frames;
};

struct sw_digest_finding {
	int id;
	const char *kind, *message;
	enum sw_severity severity;
	enum sw_confidence confidence;
	bool hidden; /* a wait that is too cheap to be shown by itself */
	uint64_t count;
	uint64_t calls, total_ns,
		win_ns;	      /* of a wait: host time, and how much of it is recoverable at most; calls 0: none */
	uint64_t fingerprint; /* 0 unknown */
	const struct sw_digest_side *side;
	size_t sides;
};

struct sw_digest {
	struct sw_arena arena;
	const char *path, *program;
	uint64_t span_ns;
	bool complete;	 /* the program ended in order, and all was recorded and judged */
	bool whole;	 /* all was recorded and judged until the program ended, in order or not */
	bool damaged;	 /* the trace is not what was recorded */
	bool calls_seen; /* of CUDA */
	bool simulated;
	bool all; /* cheap waits are among the findings */
	SW_VEC(struct sw_digest_finding) findings;
};

/* Suppressed findings are left out. */
void sw_digest_take(struct sw_digest *digest, struct sw_report *report);
/* From JSON as of doc/report.schema.json, members that an older version did not write yet may be missing; `path` is for
   messages.  0, or SW_E_FORMAT, SW_E_VERSION, or SW_E_UNSUPPORTED where this build reads no JSON, with error filled. */
int sw_digest_read(struct sw_digest *digest, FILE *file, const char *path, struct sw_error *error);
void sw_digest_free(struct sw_digest *digest);

#endif
