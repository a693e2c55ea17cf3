/* SPDX-License-Identifier: Apache-2.0 */
/* Results of experiments with a finding: facts that `syncwatch confirm` found, and their words. */
#ifndef SW_REPORT_WORDS_CONFIRMATION_H
#define SW_REPORT_WORDS_CONFIRMATION_H

#include <stdbool.h>
#include <stdint.h>

#include "report/symbols/names.h"

enum sw_trial_verdict {
#define SW_VERDICT(name, key, outcome, words, text) SW_VERDICT_##name,
#include "report/words/confirmation.def"
};
enum sw_doubt {
#define SW_DOUBT(name, key, text) SW_DOUBT_##name,
#include "report/words/confirmation.def"
};
enum sw_fix_check {
	SW_FIX_UNCHECKED,
	SW_FIX_VERIFIED, /* with the edge the finding does not appear, and no other is new */
	SW_FIX_STAYS,	 /* the finding still appears */
	SW_FIX_OTHERS	 /* it does not appear, and others are new */
};

struct sw_confirmation {
	enum sw_trial_verdict verdict;
	enum sw_doubt doubt;
	const char *refused; /* of SW_DOUBT_REFUSED: what, and what it returned; NULL unknown */
	int refused_status;
	uint64_t held_ns;	/* how long the earlier side was held */
	bool swapped;		/* in that run the later side came first, and was the one that was held */
	bool not_executed;	/* a side is a kernel of the simulated CUDA: there is nothing to compare */
	bool compared;		/* the bytes that both touch were compared, `bytes` of them */
	uint64_t bytes, differ; /* differ: how many are not what the order of the program gives */
	enum sw_fix_check fix;
	uint64_t edges; /* waits that the check put in */
	/* So many of them were timed, and their later sides waited so long for them in all, at most. */
	uint64_t fix_timed, fix_waited_ns;
	uint32_t fix_together; /* edges of so many findings were put in in that run */
	uint32_t runs;	       /* of the program, for this finding */
};

/* "proven": the word of the first version, which says "harmless" of bytes that happened to be the same. */
const char *sw_confirmation_key(enum sw_trial_verdict verdict);
/* "proven", "unordered-same-bytes" */
const char *sw_confirmation_outcome(enum sw_trial_verdict verdict);
const char *sw_confirmation_doubt_key(enum sw_doubt doubt);
const char *sw_confirmation_fix_key(enum sw_fix_check fix);
/* "proven: the later side ran to its end while ... was held for 12.1 ms; 262144 of 262144 bytes differ"; strings live
   as long as the names. */
const char *sw_confirmation_text(struct sw_names *names, const struct sw_confirmation *confirmation);
/* "verified: ..."; "" when it was not checked. */
const char *sw_confirmation_fix_text(struct sw_names *names, const struct sw_confirmation *confirmation);

#endif
