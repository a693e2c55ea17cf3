/* SPDX-License-Identifier: Apache-2.0 */
/* A fix as lines to paste, with the program's own streams where its sources have their names. */
#ifndef SW_REPORT_WORDS_FIX_LINES_H
#define SW_REPORT_WORDS_FIX_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/symbols/names.h"

enum sw_fix_where { SW_FIX_ONCE, SW_FIX_AFTER, SW_FIX_BEFORE, SW_FIX_INSTEAD, SW_FIX_LAST, SW_FIX_WITHOUT };
#define SW_FIX_LINES 4u

struct sw_fix_line {
	enum sw_fix_where where;
	const struct sw_frame *frame; /* that it goes after or before; NULL for ONCE and LAST */
	const char *code;
	bool bare; /* the place is the body of an `if` or a loop without braces: the note says so */
};
struct sw_fix_lines {
	uint32_t n;
	const char *why;     /* n 0: why there are none; NULL: the sentence says all there is */
	const char *streams; /* which streams the lines mean, where their names are made up; NULL: the program's own
				names */
	const char *note;    /* what else must be considered; NULL: nothing */
	struct sw_fix_line line[SW_FIX_LINES];
};

/* Makes the lines that order `later` after `earlier`: accesses of a finding whose fix is an event or a wait of the
   host.  None where a line is not known.  In PyTorch's terms where the program uses it. */
void sw_fix_lines(struct sw_names *names, const struct sw_finding *finding, const struct sw_access *earlier,
		  const struct sw_access *later, struct sw_fix_lines *out);

/* Makes the lines of SW201, SW202 and SW203 that explain a hazard: the event is recorded, or waited for, where it
   orders it.  `later`: the later side of the hazard, NULL not known. */
void sw_fix_event_lines(struct sw_names *names, const struct sw_finding *finding, const struct sw_access *later,
			struct sw_fix_lines *out);

/* Makes the line of SW107 between nodes that were added one by one; else `why` is set. */
void sw_fix_node_lines(struct sw_names *names, const struct sw_finding *finding, struct sw_fix_lines *out);

/* Makes the lines for findings whose fix is not an edge between two calls of the program: waits, frees, captures. */
void sw_fix_call(struct sw_names *names, const struct sw_finding *finding, struct sw_fix_lines *out);

/*
 * Lines that would take the place of a body without braces: a wait goes before the loop where the other side lies
 * before it (`first`, NULL not known); else the note asks for braces.  For lines that the functions above gave.
 */
void sw_fix_mind_bodies(struct sw_names *names, const struct sw_frame *first, struct sw_fix_lines *lines);

/* "after demo.cu:23", "once": where a line goes. */
const char *sw_fix_place(struct sw_names *names, const struct sw_fix_line *line);
/* "once: ... after demo.cu:23: ..." */
const char *sw_fix_lines_text(struct sw_names *names, const struct sw_fix_lines *lines);
/* The lines for one finding by itself as text, else `sentence`. */
const char *sw_fix_text(struct sw_names *names, const struct sw_finding *finding, const char *sentence);

/* The saving when the advice on a wait was followed at run time: facts that `syncwatch confirm --waits` found, and
   their words. */

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

/* Results of experiments with a finding: facts that `syncwatch confirm` found, and their words. */

/* The outcome of an experiment with a finding.  Names, keys and texts: confirmation.def. */
enum sw_trial_verdict {
#define SW_VERDICT(name, key, outcome, words, text) SW_VERDICT_##name,
#include "report/words/confirmation.def"
};
/* Why an experiment decided nothing, or not all; NONE: it decided.  Names, keys and texts: confirmation.def. */
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
/* "host-waited": the stable word of confirmation.def for scripts ("doubt" of the report in JSON); static. */
const char *sw_confirmation_doubt_key(enum sw_doubt doubt);
/* "unchecked", "verified", "stays", "others": for scripts; static. */
const char *sw_confirmation_fix_key(enum sw_fix_check fix);
/* "proven: the later side ran to its end while ... was held for 12.1 ms; 262144 of 262144 bytes differ"; strings live
   as long as the names. */
const char *sw_confirmation_text(struct sw_names *names, const struct sw_confirmation *confirmation);
/* "verified: ..."; "" when it was not checked. */
const char *sw_confirmation_fix_text(struct sw_names *names, const struct sw_confirmation *confirmation);

#endif
