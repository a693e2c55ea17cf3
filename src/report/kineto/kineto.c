/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/kineto.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/kineto/json_scan.h"
#include "report/kineto/merge_draw.h"

struct sw_kineto {
	struct sw_profile profile;
	struct sw_own_calls own;
	struct sw_join join;
	bool observed;
	char *error_text;
};

int sw_kineto_open(const char *path, struct sw_kineto **out, struct sw_error *error)
{
	struct sw_kineto *k = sw_calloc(1, sizeof *k);
	int rc = sw_profile_read(path, &k->profile, error);
	if (rc)
		sw_kineto_free(k);
	else
		*out = k;
	return rc;
}

void sw_kineto_free(struct sw_kineto *k)
{
	if (!k)
		return;
	if (k->observed)
		sw_own_calls_free(&k->own);
	sw_profile_free(&k->profile);
	free(k->error_text);
	free(k);
}

const struct sw_observer *sw_kineto_observer(struct sw_kineto *k, const struct sw_reader *reader)
{
	sw_own_calls_init(&k->own, reader, &k->profile);
	k->observed = true;
	return &k->own.observer;
}

int sw_kineto_join(struct sw_kineto *k, struct sw_error *error)
{
	sw_own_calls_sort(&k->own);
	return sw_join(&k->profile, &k->own, &k->join, error);
}

const char *sw_kineto_said(const struct sw_kineto *k)
{
	return k->error_text ? k->error_text : "";
}

/* malloc'ed: ", 3 hazards and 7 waits are of calls ...", or "". */
static char *left_out(const struct sw_kineto_drawn *drawn)
{
	char *outside = drawn->hazards_outside || drawn->waits_outside
				? sw_format("; %" PRIu64 " hazards and %" PRIu64
					    " waits are of calls that the profile does not hold",
					    drawn->hazards_outside, drawn->waits_outside)
				: sw_strdup("");
	char *all = drawn->crowded
			    ? sw_format("%s; %" PRIu64 " slices left out, too many at once", outside, drawn->crowded)
			    : sw_strdup(outside);
	free(outside);
	return all;
}

static void say(struct sw_kineto *k, const struct sw_kineto_drawn *drawn)
{
	char *rest = left_out(drawn);
	free(k->error_text);
	k->error_text =
		sw_format("%" PRIu64 " of %" PRIu64 " calls of CUDA joined, clocks agree to %.1f us; added %" PRIu64
			  " pieces of work, %" PRIu64 " hazards, %" PRIu64 " waits%s",
			  k->join.matched, k->join.calls, (double)k->join.error_ns / 1e3, drawn->work, drawn->hazards,
			  drawn->waits, rest);
	free(rest);
}

/* The profile's own text, up to an offset. */
static void copy(struct sw_json_scan *scan, struct sw_trace_out *out, uint64_t until)
{
	char bytes[1 << 14];
	uint64_t at;
	while ((at = sw_json_scan_offset(scan)) < until) {
		size_t most = until - at < sizeof bytes ? (size_t)(until - at) : sizeof bytes;
		size_t n = sw_json_scan_bytes(scan, bytes, most);
		if (!n)
			return;
		sw_trace_out_bytes(out, bytes, n);
	}
}

int sw_kineto_write(struct sw_kineto *k, struct sw_report *report, FILE *out, bool gzip, struct sw_error *error)
{
	struct sw_kineto_merge merge = {.profile = &k->profile,
					.own = &k->own,
					.join = &k->join,
					.report = report,
					.pid = k->profile.highest_pid < INT32_MAX ? (uint32_t)k->profile.highest_pid + 1
										  : INT32_MAX};
	struct sw_json_scan *scan;
	int rc = sw_json_scan_open(k->profile.path, &scan, error);
	if (rc)
		return rc;
	sw_trace_out_open(&merge.events.out, out, gzip);
	copy(scan, &merge.events.out, k->profile.end_of_events);
	if (sw_json_scan_offset(scan) == k->profile.end_of_events && sw_json_scan_peek(scan) == ']') {
		merge.events.any = k->profile.any_events;
		sw_kineto_draw(&merge);
		copy(scan, &merge.events.out, UINT64_MAX);
		rc = sw_json_scan_error(scan, error);
		say(k, &merge.drawn);
	} else {
		rc = sw_fail(error, SW_E_FORMAT, "%s was changed while it was read", k->profile.path);
	}
	sw_trace_out_close(&merge.events.out);
	sw_json_scan_close(scan);
	return rc;
}
