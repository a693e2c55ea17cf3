/* SPDX-License-Identifier: Apache-2.0 */
#include "report/words/gain_text.h"

#include <inttypes.h>

/* Less than this is reported as nothing: clocks are read to some microseconds. */
#define NOTHING_NS 5000u

/* Much of it is recoverable only where the host does not use what it waited for. */
static const char *if_not_needed(const struct sw_cost *cost)
{
	return cost->win_high_ns - cost->win_sure_ns > cost->win_high_ns / 100
		       ? " if the host does not need the result right after the wait, which is not recorded"
		       : "";
}

const char *sw_replay_gain(struct sw_names *names, const struct sw_cost *cost)
{
	const char *unsure = cost->reliable ? "" : ", but the replay of this run is inaccurate";
	if (!cost->replayed)
		return "";
	if (cost->vague)
		return sw_names_format(names,
				       "; recoverable: at most %s; how much depends on unknown times of work (needs "
				       "--gpu-timeline)%s",
				       sw_name_time(names, cost->win_high_ns), unsure);
	if (cost->nothing || cost->win_high_ns < NOTHING_NS)
		return sw_names_format(names, "; recoverable: nothing%s", unsure);
	if (cost->win_low_ns < NOTHING_NS)
		return sw_names_format(names, "; recoverable: up to %s%s%s", sw_name_time(names, cost->win_high_ns),
				       if_not_needed(cost), unsure);
	/* Both ends alike when they differ by less than a hundredth. */
	if (cost->win_high_ns - cost->win_low_ns <= cost->win_high_ns / 100)
		return sw_names_format(names, "; recoverable: %s%s", sw_name_time(names, cost->win_high_ns), unsure);
	return sw_names_format(names, "; recoverable: %s to %s%s%s", sw_name_time(names, cost->win_low_ns),
			       sw_name_time(names, cost->win_high_ns), if_not_needed(cost), unsure);
}

const char *sw_replay_assumption(const struct sw_cost *cost, size_t index)
{
	static const char *const always[] = {
		"the host spends the same time between calls as before",
		("low: the host needs what it may need of the wait; high: nothing needs it before that thread's next "
		 "wait"),
		"low: kernels that may not fit on the device together run one after the other; high: all overlap",
		"copies in one direction are serialised; every operation takes as long as before",
	};
	size_t n = sizeof always / sizeof *always;
	if (index < n)
		return always[index];
	if (index == n && !cost->timed)
		return "durations of work are bounded by the waits that saw it complete";
	if (index == n + !cost->timed && !cost->reliable)
		return "a replay without any change differs from the run by more than 5 %";
	return NULL;
}

const char *sw_replay_stretch(enum sw_stretch_kind kind, enum sw_work_kind work)
{
	static const char *const kinds[SW_STRETCHES] = {
		[SW_STRETCH_HOST] = "host", [SW_STRETCH_CALL] = "call", [SW_STRETCH_LATENCY] = "latency"};
	static const char *const works[] = {[SW_DOES_KERNEL] = "kernel",
					    [SW_DOES_UPLOAD] = "copy to device",
					    [SW_DOES_DOWNLOAD] = "copy to host",
					    [SW_DOES_MOVE] = "copy on device",
					    [SW_DOES_SET] = "set",
					    [SW_DOES_GRAPH] = "graph",
					    [SW_DOES_HOST] = "host function",
					    [SW_DOES_OTHER] = "other work"};
	return kind == SW_STRETCH_WORK ? works[work] : kinds[kind];
}

const char *sw_replay_basis(struct sw_names *names, const struct sw_schedule_facts *facts)
{
	if (!facts->operations)
		return NULL;
	const char *times =
		facts->timed == facts->operations ? "times of the device" : "times of work estimated from waits";
	if (facts->timed && facts->timed < facts->operations)
		times = sw_names_format(names, "times of the device for %" PRIu64 " of them", facts->timed);
	const char *text =
		sw_names_format(names, "replay of %" PRIu64 " operations, %s, residual %u.%u %%", facts->operations,
				times, facts->residual_permille / 10, facts->residual_permille % 10);
	if (facts->kept_ns < facts->run_ns / 100 * 99 && facts->windows > 1)
		text = sw_names_format(names, "%s, of %" PRIu64 " %% of the run", text,
				       facts->kept_ns * 100 / facts->run_ns);
	return text;
}
