/* SPDX-License-Identifier: Apache-2.0 */
/* What was saved when the advice on a wait was followed at run time: facts that `syncwatch confirm --waits` found, and
   their words. */
#ifndef SW_REPORT_WORDS_SAVING_H
#define SW_REPORT_WORDS_SAVING_H

#include <stdbool.h>
#include <stdint.h>

#include "report/symbols/names.h"

enum sw_saving_verdict {
#define SW_SAVING(name, key, text) SW_SAVING_##name,
#include "report/words/saving.def"
};
enum sw_saving_reason {
#define SW_SAVING_REASON(name, key, text) SW_SAVING_BY_##name,
#include "report/words/saving.def"
};

struct sw_saving {
	enum sw_saving_verdict verdict;
	enum sw_saving_reason reason;
	const char *change, *did; /* key and words of base/run_changes.def, NULL: nothing was changed */
	uint64_t calls;		  /* of one run, that were made otherwise */
	uint64_t passed;	  /* and that could not */
	uint64_t base_ns;	  /* median of the runs as they are */
	int64_t saved_ns, low_ns, high_ns;
	/* Where the calls lie in a stretch of the run, the above is of it, and this of the whole run: */
	uint64_t parts, left_out; /* of the stretch, between two calls; those of them in which runs differ anyway */
	int64_t left_out_ns;	  /* how long these take */
	uint64_t whole_base_ns;
	int64_t whole_ns, whole_low_ns, whole_high_ns;
	int64_t once_ns;   /* what the change did once, no part of saved_ns */
	int64_t before_ns; /* that runs with the change take longer before their first work: loading, pinning */
	uint32_t pairs;
	uint64_t copies; /* to the host, compared */
	bool printed;	 /* standard output was compared: it is the same from run to run */
	uint32_t runs;	 /* of the program, for this finding */
};

/* "measured" */
const char *sw_saving_key(enum sw_saving_verdict verdict);
const char *sw_saving_reason_key(enum sw_saving_reason reason);
/* "measured 41.7 ms (41.1 ms to 42.3 ms) of 808 ms ..."; lives as long as the names. */
const char *sw_saving_text(struct sw_names *names, const struct sw_saving *saving);

#endif
