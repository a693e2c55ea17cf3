/* SPDX-License-Identifier: Apache-2.0 */
#include "report/kineto/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "report/kineto/json_scan.h"

/* What is read of an event; texts are cut off. */
struct event {
	char phase[4], category[24], name[96];
	char pid[24], tid[24], start[40], length[40];
	char correlation[24], stream[24];
};

/* ---- names, threads ---------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *text)
{
	return sw_hash_bytes(SW_FNV_START, text, strlen(text));
}

uint32_t sw_profile_name(const struct sw_profile *profile, const char *name)
{
	uint64_t index = sw_map_get(&profile->name_of, hash_of(name));
	return index && strcmp(profile->names.at[index - 1], name) == 0 ? (uint32_t)index : 0;
}

static uint32_t name_row(struct sw_profile *profile, const char *name)
{
	uint64_t *index = sw_map_put(&profile->name_of, hash_of(name));
	if (!*index) {
		*sw_vec_push(&profile->names) = sw_strdup(name);
		*index = profile->names.n;
	}
	return (uint32_t)*index - 1;
}

static uint32_t thread_row(struct sw_profile *profile, uint64_t tid)
{
	uint64_t *index = sw_map_put(&profile->thread_of, tid);
	if (!*index) {
		*sw_vec_push(&profile->threads) = tid;
		*index = profile->threads.n;
	}
	return (uint32_t)*index - 1;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Whole numbers alone: rows of Kineto's own are named by texts. */
static bool whole(const char *text, uint64_t *out)
{
	char *end;
	if (*text < '0' || *text > '9')
		return false;
	*out = strtoull(text, &end, 10);
	return !*end;
}

/* Microseconds as nanoseconds: by digits, since a double has too few for a time of day. */
static bool nanoseconds(const char *text, int64_t *out)
{
	char *end;
	const bool negative = *text == '-';
	const char *digits = negative ? text + 1 : text;
	if (*digits < '0' || *digits > '9' || strlen(digits) > 36)
		return false;
	unsigned long long us = strtoull(digits, &end, 10);
	int64_t ns = 0;
	if (us > INT64_MAX / 1000 - 1)
		return false;
	if (*end == '.') {
		int64_t unit = 100;
		for (end++; *end >= '0' && *end <= '9'; end++, unit /= 10)
			ns += unit * (*end - '0');
	}
	if (*end == 'e' || *end == 'E') {
		double value = strtod(digits, &end) * 1e3;
		if (!(value < 9e18))
			return false;
		us = 0;
		ns = (int64_t)value;
	}
	ns += (int64_t)us * 1000;
	*out = negative ? -ns : ns;
	return !*end;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* A number or a short text. */
static bool take_value(struct sw_json_scan *scan, char *text, size_t room)
{
	int c = sw_json_scan_peek(scan);
	if (c == '"')
		return sw_json_scan_string(scan, text, room);
	if (c == '-' || (c >= '0' && c <= '9'))
		return sw_json_scan_number(scan, text, room);
	return sw_json_scan_skip(scan);
}

static void take_arguments(struct sw_json_scan *scan, struct event *event)
{
	char key[24];
	if (!sw_json_scan_take(scan, '{')) {
		sw_json_scan_skip(scan);
		return;
	}
	for (bool first = true; sw_json_scan_member(scan, &first, key, sizeof key);) {
		if (strcmp(key, "correlation") == 0)
			take_value(scan, event->correlation, sizeof event->correlation);
		else if (strcmp(key, "stream") == 0)
			take_value(scan, event->stream, sizeof event->stream);
		else
			sw_json_scan_skip(scan);
	}
}

static void take_event(struct sw_json_scan *scan, struct event *event)
{
	const struct {
		const char *key;
		char *text;
		size_t room;
	} members[] = {
		{"ph", event->phase, sizeof event->phase},    {"cat", event->category, sizeof event->category},
		{"name", event->name, sizeof event->name},    {"pid", event->pid, sizeof event->pid},
		{"tid", event->tid, sizeof event->tid},	      {"ts", event->start, sizeof event->start},
		{"dur", event->length, sizeof event->length},
	};
	char key[24];
	if (!sw_json_scan_take(scan, '{')) {
		sw_json_scan_fail(scan, "an event that is no object");
		return;
	}
	for (bool first = true; sw_json_scan_member(scan, &first, key, sizeof key);) {
		size_t i = 0;
		while (i < sizeof members / sizeof *members && strcmp(members[i].key, key) != 0)
			i++;
		if (i < sizeof members / sizeof *members)
			take_value(scan, members[i].text, members[i].room);
		else if (strcmp(key, "args") == 0)
			take_arguments(scan, event);
		else
			sw_json_scan_skip(scan);
	}
}

static void add_call(struct sw_profile *profile, const struct event *event, int64_t start, int64_t end)
{
	uint64_t pid, tid, correlation;
	if (!whole(event->pid, &pid) || !whole(event->tid, &tid) || !whole(event->correlation, &correlation))
		return;
	profile->several |= profile->calls.n && profile->pid != pid;
	profile->pid = pid;
	*sw_vec_push(&profile->calls) = (struct sw_profile_call){.thread = thread_row(profile, tid),
								 .name = name_row(profile, event->name),
								 .driver = strcmp(event->category, "cuda_driver") == 0,
								 .start = start,
								 .end = end,
								 .correlation = correlation};
}

static void add_work(struct sw_profile *profile, const struct event *event, int64_t start, int64_t end)
{
	uint64_t correlation, stream = 0;
	if (!whole(event->correlation, &correlation) || !correlation)
		return;
	whole(event->stream, &stream);
	uint64_t *index = sw_map_put(&profile->work_of, correlation);
	if (*index) { /* a graph: from its first to its last node */
		struct sw_profile_work *known = &profile->work.at[*index - 1];
		known->start = start < known->start ? start : known->start;
		known->end = end > known->end ? end : known->end;
		return;
	}
	*sw_vec_push(&profile->work) = (struct sw_profile_work){start, end, stream};
	*index = profile->work.n;
}

static void add_event(struct sw_profile *profile, const struct event *event)
{
	const char *category = event->category;
	int64_t start, length;
	uint64_t pid;
	profile->any_events = true;
	if (whole(event->pid, &pid) && pid > profile->highest_pid)
		profile->highest_pid = pid;
	if (strcmp(event->phase, "X") != 0 || !nanoseconds(event->start, &start) ||
	    !nanoseconds(event->length, &length) || length < 0)
		return;
	if (strcmp(category, "cuda_runtime") == 0 || strcmp(category, "cuda_driver") == 0)
		add_call(profile, event, start, start + length);
	else if (strcmp(category, "kernel") == 0 || strcmp(category, "gpu_memcpy") == 0 ||
		 strcmp(category, "gpu_memset") == 0)
		add_work(profile, event, start, start + length);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void take_events(struct sw_json_scan *scan, struct sw_profile *profile)
{
	if (!sw_json_scan_take(scan, '[')) {
		sw_json_scan_fail(scan, "traceEvents is no array");
		return;
	}
	for (bool first = true; sw_json_scan_element(scan, &first);) {
		struct event event = {0};
		take_event(scan, &event);
		add_event(profile, &event);
	}
	profile->end_of_events = sw_json_scan_offset(scan);
	sw_json_scan_take(scan, ']');
}

static void take_file(struct sw_json_scan *scan, struct sw_profile *profile)
{
	char key[32], number[40] = "";
	bool events = false;
	uint64_t base;
	if (!sw_json_scan_take(scan, '{')) {
		sw_json_scan_fail(scan, "no trace of torch.profiler: no JSON object");
		return;
	}
	for (bool first = true; sw_json_scan_member(scan, &first, key, sizeof key);) {
		if (strcmp(key, "traceEvents") == 0 && !events) {
			take_events(scan, profile);
			events = true;
		} else if (strcmp(key, "baseTimeNanoseconds") == 0) {
			take_value(scan, number, sizeof number);
			if (whole(number, &base) && base < INT64_MAX)
				profile->base_ns = (int64_t)base;
		} else {
			sw_json_scan_skip(scan);
		}
	}
	if (sw_json_scan_peek(scan) >= 0)
		sw_json_scan_fail(scan, "not JSON: something follows its end");
	if (!events)
		sw_json_scan_fail(scan, "no trace of torch.profiler: it has no traceEvents");
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct sw_profile_call *x = a, *y = b;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

int sw_profile_read(const char *path, struct sw_profile *profile, struct sw_error *error)
{
	struct sw_json_scan *scan;
	*profile = (struct sw_profile){.path = sw_strdup(path)};
	int rc = sw_json_scan_open(path, &scan, error);
	if (rc)
		return rc;
	take_file(scan, profile);
	rc = sw_json_scan_error(scan, error);
	sw_json_scan_close(scan);
	if (rc)
		return rc;
	if (!profile->calls.n)
		return sw_fail(
			error, SW_E_FORMAT,
			"%s holds no calls of CUDA: record it with ProfilerActivity.CUDA as one of the activities",
			path);
	if (profile->several)
		return sw_fail(error, SW_E_FORMAT, "%s holds calls of several processes: give the profile of one",
			       path);
	qsort(profile->calls.at, profile->calls.n, sizeof *profile->calls.at, by_thread_and_time);
	return 0;
}

void sw_profile_free(struct sw_profile *profile)
{
	for (size_t i = 0; i < profile->names.n; i++)
		free(profile->names.at[i]);
	free(profile->names.at);
	free(profile->threads.at);
	free(profile->calls.at);
	free(profile->work.at);
	sw_map_free(&profile->name_of);
	sw_map_free(&profile->thread_of);
	sw_map_free(&profile->work_of);
	free(profile->path);
	*profile = (struct sw_profile){0};
}

const struct sw_profile_work *sw_profile_work_of(const struct sw_profile *profile, const struct sw_profile_call *call)
{
	uint64_t index = call->correlation ? sw_map_get(&profile->work_of, call->correlation) : 0;
	return index ? &profile->work.at[index - 1] : NULL;
}
