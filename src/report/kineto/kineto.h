/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts what we know of a run into a trace of torch.profiler: our streams with their work, hazards and waits, as a
 * process of its own next to PyTorch's operators.  What is drawn has the times of the profile: of each call, and of the
 * work with its correlation id.  A call that the profile does not hold is not drawn but counted.
 *
 *     sw_kineto_open("torch.json", &kineto, &error);
 *     judge_options.observer = sw_kineto_observer(kineto, reader);
 *     sw_judge(reader, &judge_options, &judgement, &error);
 *     sw_kineto_join(kineto, &error);                 // a profile of another run is refused
 *     sw_kineto_write(kineto, report, file, gzip, &error);
 *     sw_kineto_free(kineto);                         // while the reader still lives
 */
#ifndef SW_REPORT_KINETO_KINETO_H
#define SW_REPORT_KINETO_KINETO_H

#include <stdbool.h>
#include <stdio.h>

#include "report/kineto/profile.h"
#include "report/report.h"
#include "report/symbols/names.h"
#include "report/timeline/trace_out.h"

struct sw_kineto;

/* Reads a profile.  0, -errno, or SW_E_FORMAT with one line: no trace of torch.profiler with calls of CUDA. */
int sw_kineto_open(const char *path, struct sw_kineto **out, struct sw_error *error);
void sw_kineto_free(struct sw_kineto *kineto);

const struct sw_observer *sw_kineto_observer(struct sw_kineto *kineto, const struct sw_reader *reader);

/* Finds for each call of the trace the one of the profile.  0, or SW_E_FORMAT with one line: they are not of one
   run. */
int sw_kineto_join(struct sw_kineto *kineto, struct sw_error *error);

/* Copies the profile as it is, with our events at the end of its own.  0, or <0: the file changed meanwhile.  Errors of
   the stream are left for the caller to find (ferror). */
int sw_kineto_write(struct sw_kineto *kineto, struct sw_report *report, FILE *out, bool gzip, struct sw_error *error);

/* "1240 of 1242 calls ...": what was done, once it was written.  Lives as long as the struct. */
const char *sw_kineto_said(const struct sw_kineto *kineto);

/* The calls of our trace that a profile may hold as well, and the hazards between them. */

struct sw_own_call {
	uint64_t seq, start, end; /* nanoseconds of our trace */
	uint32_t name;		  /* as in the profile */
	uint32_t thread;	  /* ours */
	uint32_t stream, stack, function;
	uint16_t api;
	bool waited, enqueues;
	size_t match; /* the call of the profile: its index + 1, 0: none */
};

struct sw_own_hazard {
	int id;
	uint64_t earlier, later; /* sequence numbers */
	uint32_t earlier_stack, later_stack;
};

/* Hazards that are kept, the last ones: a profile is rarely of the beginning. */
#define SW_OWN_HAZARDS (1u << 20)

struct sw_own_calls {
	const struct sw_profile *profile;
	const struct sw_reader *reader;
	struct sw_observer observer;
	struct sw_names names;
	struct sw_map name_of; /* entry point and API -> name of the profile + 1, or UINT64_MAX: it has none */
	SW_VEC(struct sw_own_call) calls; /* by thread and time, once sorted */
	struct sw_map call_of;		  /* sequence number -> index + 1, once sorted */
	SW_VEC(struct sw_own_hazard) hazards;
	uint64_t hazards_seen, waits_left_out;
};

/*
 * Which call of a profile is which of ours?
 *
 * Ids of the profile are not ours.  The thread, the function and the time are known.  A call of the runtime encloses
 * our record of the driver call that it makes; our record of a call of the driver encloses what CUPTI saw of it.  So
 * each pair bounds the difference of the clocks from both sides, and pairs that do not belong together rarely agree
 * with their neighbours.  A run of calls in the profile is looked up by its names; among the places that fit by time,
 * the one from which most calls of the profile find a partner wins.  The clocks are not trusted: that both begin at a
 * time of day only decides between places that fit equally well.
 */

struct sw_join {
	uint64_t calls;	   /* of the profile, of functions that our trace has on that thread */
	uint64_t matched;  /* of them */
	int64_t offset;	   /* add it to a time of ours for a time of the profile */
	uint64_t error_ns; /* by so much the offset may be wrong, by all pairs */
};

/*
 * Fills `match` of both sides.  0; SW_E_FORMAT with one line: the two are not of one run, then nothing is matched.
 * own: sorted.
 */
int sw_join(struct sw_profile *profile, struct sw_own_calls *own, struct sw_join *join, struct sw_error *error);

/* Draws what was joined as a process of the profile. */

struct sw_kineto_drawn {
	uint64_t work, hazards, waits;
	uint64_t hazards_outside, waits_outside; /* of calls that the profile does not hold */
	uint64_t crowded;			 /* too many at once for the rows that there are */
};

struct sw_kineto_merge {
	const struct sw_profile *profile;
	const struct sw_own_calls *own;
	const struct sw_join *join;
	struct sw_report *report;
	struct sw_events events; /* begun: the events of the profile are written */
	uint32_t pid;		 /* that no process of the profile has */
	struct sw_kineto_drawn drawn;
};

#endif
