/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a finding into sentences. All words are in detect/findings.def and wording.def; strings live as long as the
   names. */
#ifndef SW_REPORT_WORDS_WORDING_H
#define SW_REPORT_WORDS_WORDING_H

#include "detect/detect.h"
#include "report/symbols/names.h"

struct sw_wording {
	const char *message;	  /* one sentence, no full stop */
	const char *ordered_by;	  /* hazards: the order that exists; "" otherwise */
	const char *missing_edge; /* hazards: the order that does not; "" otherwise */
	const char *fix;	  /* "" when there is no cheap one */
	const char *cost;	  /* waits: what they took and what is recoverable; "" otherwise */
	const char *basis;	  /* how much of it documents promise; "" when there is nothing to say */
};

void sw_wording_of(struct sw_names *names, const struct sw_finding *finding, struct sw_wording *out);

/* "Read by" */
const char *sw_wording_heading(enum sw_role role);

/* Is the finding about two operations that nothing orders: a race, or a lifetime that ends too early? */
bool sw_is_hazard(const struct sw_finding *finding);

/* The result of a replay of the run, in words. */

/* Assumptions of the interval, a sentence each; NULL ends. */
const char *sw_replay_assumption(const struct sw_cost *cost, size_t index);
/* "host", "kernel", ...: what makes up the critical path; `work` counts for SW_STRETCH_WORK only. */
const char *sw_replay_stretch(enum sw_stretch_kind kind, enum sw_work_kind work);
/* "replay of 1234 operations, times of the device, residual 0.1 %": what the numbers of all findings rest on; NULL:
   nothing was replayed. */
const char *sw_replay_basis(struct sw_names *names, const struct sw_schedule_facts *facts);

/* Sentences about calls of cuBLAS, cuFFT and others. */

/* "cuBLAS" */
const char *sw_name_library(enum sw_cuda_library library);
/* "part of cublasSgemm_v2 (cuBLAS handle 2, stream 3)", "" none. */
const char *sw_name_library_call(struct sw_names *names, const struct sw_access *access);

#endif
