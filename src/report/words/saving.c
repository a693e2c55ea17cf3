/* SPDX-License-Identifier: Apache-2.0 */
#include "report/words/saving.h"

#include <inttypes.h>

static const struct {
	const char *key, *text;
} verdicts[] =
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
	return verdicts[verdict].key;
}

const char *sw_saving_reason_key(enum sw_saving_reason reason)
{
	return reasons[reason].key;
}

static const char *time_text(struct sw_names *names, int64_t ns)
{
	return ns < 0 ? sw_names_format(names, "-%s", sw_name_time(names, (uint64_t)-ns))
		      : sw_name_time(names, (uint64_t)ns);
}

static const char *results_text(struct sw_names *names, const struct sw_saving *s)
{
	return sw_names_format(names, "the same exit status%s%s", s->printed ? " and standard output" : "",
			       s->copies ? sw_names_format(names, ", and the same bytes in %" PRIu64 " %s to the host",
							   s->copies, s->copies == 1 ? "copy" : "copies")
					 : "");
}

/* Less than a twentieth of the saving is not printed. */
static const char *before_text(struct sw_names *names, const struct sw_saving *s)
{
	if (s->before_ns <= 0 || s->before_ns < (s->saved_ns < 0 ? -s->saved_ns : s->saved_ns) / 20)
		return "";
	return sw_names_format(names, ", and %s more before the first work", time_text(names, s->before_ns));
}

static const char *calls_text(struct sw_names *names, const struct sw_saving *s)
{
	if (!s->calls)
		return "";
	return sw_names_format(names, " (%" PRIu64 " %s in a run%s)", s->calls, s->calls == 1 ? "call" : "calls",
			       s->passed ? sw_names_format(names, ", %" PRIu64 " as they are", s->passed) : "");
}

/* The whole run differs by more than a change of a part of it: it comes second. */
static const char *whole_text(struct sw_names *names, const struct sw_saving *s)
{
	if (!s->parts)
		return "";
	const char *out =
		s->left_out
			? sw_names_format(names, "%" PRIu64 " of %" PRIu64 " parts, %s, left out: runs differ there; ",
					  s->left_out, s->parts, time_text(names, s->left_out_ns))
			: "";
	return sw_names_format(names, "%swhole run %s (%s to %s) of %s; ", out, time_text(names, s->whole_ns),
			       time_text(names, s->whole_low_ns), time_text(names, s->whole_high_ns),
			       sw_name_time(names, s->whole_base_ns));
}

static const char *once_text(struct sw_names *names, const struct sw_saving *s)
{
	if (s->once_ns <= 0 || s->once_ns < (s->saved_ns < 0 ? -s->saved_ns : s->saved_ns) / 20)
		return "";
	return sw_names_format(names, ", and %s once", time_text(names, s->once_ns));
}

const char *sw_saving_text(struct sw_names *names, const struct sw_saving *s)
{
	const char *key = verdicts[s->verdict].key, *text = verdicts[s->verdict].text;
	if (s->verdict == SW_SAVING_MEASURED)
		return sw_names_format(
			names, "measured: %s (%s to %s) of %s%s, from %u pairs of runs%s%s; %s%s%s; results: %s",
			time_text(names, s->saved_ns), time_text(names, s->low_ns), time_text(names, s->high_ns),
			sw_name_time(names, s->base_ns), s->parts ? " in which these calls lie" : "", s->pairs,
			before_text(names, s), once_text(names, s), whole_text(names, s), s->did, calls_text(names, s),
			results_text(names, s));
	if (s->reason)
		return sw_names_format(names, "%s: %s: %s", key, text, reasons[s->reason].text);
	return sw_names_format(names, "%s: %s", key, text);
}
