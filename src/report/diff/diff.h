/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs compared: which findings are new, gone, better, worse.
 *
 * Findings belong together by their call sites: the id, the operations, and the functions on their stacks, so that
 * lines which moved change nothing.  Not thread-safe.
 */
#ifndef SW_REPORT_DIFF_DIFF_H
#define SW_REPORT_DIFF_DIFF_H

#include <stdio.h>

#include "report/report.h"

/*
 * A report reduced to what two runs can be compared by: where each finding lies, how bad it is, what it costs.
 *
 * It is taken from a report that was just made, or read from the JSON of an earlier one.  Strings live as long as the
 * digest.  Not thread-safe.
 */

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
	uint64_t calls, total_ns, worst_ns; /* of a wait: host time, that of the longest call; calls 0: none */
	uint64_t least_ns, recoverable_ns;  /* how much of it is recoverable, at least and at most */
	uint64_t fingerprint;		    /* 0 unknown */
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
	bool all;	   /* cheap waits are among the findings */
	uint64_t left_out; /* calls outside of the windows that were recorded */
	SW_VEC(struct sw_digest_finding) findings;
};

/* Takes what is compared of a report; suppressed findings are left out. */
void sw_digest_take(struct sw_digest *digest, struct sw_report *report);
/* Reads what is compared from JSON as of doc/report.schema.json.  Members that an older version did not write yet may
   be missing.  `path` is for messages.  0, or SW_E_FORMAT, SW_E_VERSION, or SW_E_UNSUPPORTED where this build reads no
   JSON, with error filled. */
int sw_digest_read(struct sw_digest *digest, FILE *file, const char *path, struct sw_error *error);
void sw_digest_free(struct sw_digest *digest);

enum sw_change { SW_CHANGE_NEW, SW_CHANGE_WORSE, SW_CHANGE_BETTER, SW_CHANGE_GONE, SW_CHANGE_SAME, SW_CHANGES };

/*
 * A wait changed when its host time, with both runs scaled to one length, differs by more than both: so much of the
 * larger side, and so much in all.  Runs of one program differ by more where there are few calls, and by one slow call
 * anywhere: with fewer than SW_DIFF_MANY calls on a side twice the part is asked for, and with more the time without
 * the longest call must have changed as well.  What is recoverable is an interval: it changed when the two do not meet.
 */
#define SW_DIFF_NOISE_PERCENT 25u
#define SW_DIFF_NOISE_NS      200000u
#define SW_DIFF_MANY	      4u

struct sw_diff_entry {
	enum sw_change change;
	const struct sw_digest_finding *a, *b; /* NULL: not there */
	bool new_error;			       /* an error in b, none in a */
};

struct sw_diff {
	const struct sw_digest *a, *b;
	const struct sw_digest *repeat; /* further runs of what `a` is */
	size_t repeats;
	SW_VEC(struct sw_diff_entry) entries; /* by change, then in the order of their reports */
	size_t count[SW_CHANGES], new_errors;
	size_t measured_once; /* entries that differ in the times of waits, of one run of each program: runs differ */
};

/* Compares two runs; a difference that one of the repeats shows as well is none.  The digests must outlive the
   comparison. */
void sw_diff_make(struct sw_diff *diff, const struct sw_digest *a, const struct sw_digest *b,
		  const struct sw_digest *repeat, size_t repeats);
void sw_diff_free(struct sw_diff *diff);

/* "new", "worse", ... */
const char *sw_name_change(enum sw_change change);
/* `all`: what did not change, too. */
struct sw_diff_style {
	bool colour;
	bool all;   /* what is the same, too */
	bool quiet; /* the counts alone, and what makes them doubtful */
};
/* Prints the comparison as text: what differs, and how much of it. */
void sw_diff_text(const struct sw_diff *diff, FILE *out, const struct sw_diff_style *style);
/* Writes the comparison as of doc/diff.schema.json. */
void sw_diff_json(const struct sw_diff *diff, FILE *out);

#endif
