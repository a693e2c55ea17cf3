/* SPDX-License-Identifier: Apache-2.0 */
/* Results of experiments with a finding, in words. */
#include "report/words/fix_lines.h"

#include <inttypes.h>

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
	static const char *const keys[] = {"unchecked", "verified", "stays", "others"};
	return keys[fix];
}

static const char *bytes_text(struct sw_names *names, const struct sw_confirmation *c)
{
	if (!c->compared)
		return c->not_executed ? "; bytes not compared: kernels of the simulated CUDA write nothing" : "";
	return sw_names_format(names, "; %" PRIu64 " of %" PRIu64 " bytes that both touch %s", c->differ, c->bytes,
			       c->differ ? "are not those that the program's order gives" : "differ");
}

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

/* The stretch that was timed, and nothing else: how long a run takes differs by more than an edge costs. */
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
		sw_name_time(names, c->fix_waited_ns), c->fix_timed, c->edges, c->edges == 1 ? "" : "s", together);
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
