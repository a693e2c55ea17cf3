/* SPDX-License-Identifier: Apache-2.0 */
/* Results of experiments with a finding, in words. */
#include "report/words/fix_lines.h"

#include <inttypes.h>

#include "base/counted.h"

static const struct {
	const char *key, *outcome, *words, *text;
} verdicts[] = {
#define SW_VERDICT(name, key, outcome, words, text) [SW_VERDICT_##name] = {key, outcome, words, text},
#include "report/words/confirmation.def"
};

static const struct {
	const char *key, *text;
} doubts[] = {
#define SW_DOUBT(name, key, text) [SW_DOUBT_##name] = {key, text},
#include "report/words/confirmation.def"
};

const char *sw_confirmation_key(enum sw_trial_verdict verdict)
{
	return verdicts[verdict].key;
}

const char *sw_confirmation_outcome(enum sw_trial_verdict verdict)
{
	return verdicts[verdict].outcome;
}

const char *sw_confirmation_doubt_key(enum sw_doubt doubt)
{
	return doubts[doubt].key;
}

const char *sw_confirmation_fix_key(enum sw_fix_check fix)
{
	static const char *const keys[] = {[SW_FIX_UNCHECKED] = "unchecked",
					   [SW_FIX_VERIFIED] = "verified",
					   [SW_FIX_STAYS] = "stays",
					   [SW_FIX_OTHERS] = "others"};
	return keys[fix];
}

/* How many bytes differed between the two orders; "" where they were not compared. */
static const char *bytes_text(struct sw_names *names, const struct sw_confirmation *c)
{
	if (!c->compared)
		return c->not_executed ? "; bytes not compared: kernels of the simulated CUDA write nothing" : "";
	return sw_names_format(names, "; %" PRIu64 " of %" PRIu64 " %s that both touch %s", c->differ, c->bytes,
			       sw_plural(c->bytes, "byte", "bytes"),
			       !c->differ ? "differ"
					  : sw_plural(c->differ, "is not the one that the program's order gives",
						      "are not those that the program's order gives"));
}

/* Which call was refused in the experiment, and with which status; "" otherwise. */
static const char *refused_text(struct sw_names *names, const struct sw_confirmation *c)
{
	if (c->doubt != SW_DOUBT_REFUSED || !c->refused)
		return "";
	return sw_names_format(names, ": %s returned %d", c->refused, c->refused_status);
}

const char *sw_confirmation_text(struct sw_names *names, const struct sw_confirmation *c)
{
	const char *key = verdicts[c->verdict].words;
	switch (c->verdict) {
	case SW_VERDICT_PROVEN:
	case SW_VERDICT_SAME_BYTES:
	case SW_VERDICT_REFUTED:
	case SW_VERDICT_UNORDERED:
		return sw_names_format(names, "%s: %s%s%s (held for %s%s%s)", key, verdicts[c->verdict].text,
				       c->doubt ? ": " : "", doubts[c->doubt].text, sw_name_time(names, c->held_ns),
				       bytes_text(names, c),
				       c->swapped ? "; the two came in the other order in that run" : "");
	case SW_VERDICT_INCONCLUSIVE:
		return sw_names_format(names, "%s: %s%s", key, doubts[c->doubt].text, refused_text(names, c));
	case SW_VERDICT_ORDERED:
		return sw_names_format(names, "%s: %s%s%s", key, verdicts[c->verdict].text, c->doubt ? ": " : "",
				       doubts[c->doubt].text);
	default:
		return sw_names_format(names, "%s: %s", key, verdicts[c->verdict].text);
	}
}

/* Says how long the later side waited for the earlier one with the missing edge.  The stretch that was timed, and
   nothing else: how long a run takes differs by more than an edge costs. */
static const char *waited_text(struct sw_names *names, const struct sw_confirmation *c)
{
	if (!c->fix_timed)
		return "how long the later side waits for it was not measured";
	const char *together =
		c->fix_together < 2
			? ""
			: sw_names_format(names, "; edges of %" PRIu32 " findings were in that run", c->fix_together);
	return sw_names_format(
		names, "the later side waited for it for %s at most (%" PRIu64 " of %" PRIu64 " wait%s timed%s)",
		sw_name_time(names, c->fix_waited_ns), c->fix_timed, c->edges, sw_plural(c->edges, "", "s"), together);
}

const char *sw_confirmation_fix_text(struct sw_names *names, const struct sw_confirmation *c)
{
	switch (c->fix) {
	case SW_FIX_VERIFIED:
		return sw_names_format(names,
				       "verified: with the edge added at run time the finding does not appear, and no "
				       "other is new; %s",
				       waited_text(names, c));
	case SW_FIX_STAYS:
		return "not enough: with the edge added at run time the finding is still there";
	case SW_FIX_OTHERS:
		return "with the edge added at run time the finding does not appear, but others are new";
	default:
		return "";
	}
}

/* ---- savings ----------------------------------------------------------------------------------------------------- */

static const struct {
	const char *key, *text;
} savings[] =
	{
#define SW_SAVING(name, key, text) [SW_SAVING_##name] = {key, text},
#include "report/words/saving.def"
},
  reasons[] = {
#define SW_SAVING_REASON(name, key, text) [SW_SAVING_BY_##name] = {key, text},
#include "report/words/saving.def"
};

const char *sw_saving_key(enum sw_saving_verdict verdict)
{
	return savings[verdict].key;
}

/* The reason's name in JSON. */
const char *sw_saving_reason_key(enum sw_saving_reason reason)
{
	return reasons[reason].key;
}

/* A time in words, which may be negative. */
static const char *time_text(struct sw_names *names, int64_t ns)
{
	return ns < 0 ? sw_names_format(names, "-%s", sw_name_time(names, (uint64_t)-ns))
		      : sw_name_time(names, (uint64_t)ns);
}

/* Which results were the same with the change: the exit status, output, copied bytes. */
static const char *results_text(struct sw_names *names, const struct sw_saving *s)
{
	return sw_names_format(names, "the same exit status%s%s", s->printed ? " and standard output" : "",
			       s->copies ? sw_names_format(names, ", and the same bytes in %" PRIu64 " %s to the host",
							   s->copies, sw_plural(s->copies, "copy", "copies"))
					 : "");
}

/* Less than a twentieth of the saving is not printed. */
static const char *before_text(struct sw_names *names, const struct sw_saving *s)
{
	if (s->before_ns <= 0 || s->before_ns < (s->saved_ns < 0 ? -s->saved_ns : s->saved_ns) / 20)
		return "";
	return sw_names_format(names, ", and %s more before the first work", time_text(names, s->before_ns));
}

/* How many calls were changed in a run, and how many stayed; "" none. */
static const char *calls_text(struct sw_names *names, const struct sw_saving *s)
{
	if (!s->calls)
		return "";
	return sw_names_format(names, " (%" PRIu64 " %s in a run%s)", s->calls, sw_plural(s->calls, "call", "calls"),
			       s->passed ? sw_names_format(names, ", %" PRIu64 " as %s", s->passed,
							   sw_plural(s->passed, "it is", "they are"))
					 : "");
}

/* Says how the times of whole runs differ.  They differ by more than a change of a part: so this comes second. */
static const char *whole_text(struct sw_names *names, const struct sw_saving *s)
{
	if (!s->parts)
		return "";
	const char *out =
		s->left_out ? sw_names_format(names, "%" PRIu64 " of %" PRIu64 " %s, %s, left out: runs differ there; ",
					      s->left_out, s->parts, sw_plural(s->parts, "part", "parts"),
					      time_text(names, s->left_out_ns))
			    : "";
	return sw_names_format(names, "%swhole run %s (%s to %s) of %s; ", out, time_text(names, s->whole_ns),
			       time_text(names, s->whole_low_ns), time_text(names, s->whole_high_ns),
			       sw_name_time(names, s->whole_base_ns));
}

/* The part of the saving that is made once, not in each round; "" if it is small. */
static const char *once_text(struct sw_names *names, const struct sw_saving *s)
{
	if (s->once_ns <= 0 || s->once_ns < (s->saved_ns < 0 ? -s->saved_ns : s->saved_ns) / 20)
		return "";
	return sw_names_format(names, ", and %s once", time_text(names, s->once_ns));
}

const char *sw_saving_text(struct sw_names *names, const struct sw_saving *s)
{
	const char *key = savings[s->verdict].key, *text = savings[s->verdict].text;
	if (s->verdict == SW_SAVING_MEASURED)
		return sw_names_format(
			names, "measured: %s (%s to %s) of %s%s, from %u %s of runs%s%s; %s%s%s; results: %s",
			time_text(names, s->saved_ns), time_text(names, s->low_ns), time_text(names, s->high_ns),
			sw_name_time(names, s->base_ns), s->parts ? " in which these calls lie" : "", s->pairs,
			sw_plural(s->pairs, "pair", "pairs"), before_text(names, s), once_text(names, s),
			whole_text(names, s), s->did, calls_text(names, s), results_text(names, s));
	if (s->reason)
		return sw_names_format(names, "%s: %s: %s", key, text, reasons[s->reason].text);
	return sw_names_format(names, "%s: %s", key, text);
}
