/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of a finding into sentences. All words are in detect/findings.def and wording.def; strings live as long as the
 * names. */
#ifndef SW_REPORT_WORDS_WORDING_H
#define SW_REPORT_WORDS_WORDING_H

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

/* Two operations that nothing orders: races and lifetimes. */
bool sw_is_hazard(const struct sw_finding *finding);

#endif
