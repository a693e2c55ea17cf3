/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "report/kineto/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/memory.h"

enum { BUFFER = 1 << 16, DEEPEST = 256 };

struct sw_json_scan {
	char *path;
	int fd;
#ifdef HAVE_ZLIB
	gzFile gz;
#endif
	unsigned char buffer[BUFFER];
	size_t at, n;
	uint64_t before; /* bytes that came before the buffer */
	bool ended, failed;
	struct sw_error error;
};

/* Fills in an error on opening the file; code: errno. */
static int fail_open(const char *path, int code, struct sw_error *error)
{
	return sw_fail(error, -code, "cannot open '%s': %s", path, strerror(code));
}

int sw_json_scan_open(const char *path, struct sw_json_scan **out, struct sw_error *error)
{
	struct stat s;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail_open(path, errno, error);
	if (fstat(fd, &s) || !S_ISREG(s.st_mode)) {
		close(fd);
		return sw_fail(error, -EINVAL, "cannot open '%s': not a plain file", path);
	}
	struct sw_json_scan *scan = sw_calloc(1, sizeof *scan);
	scan->path = sw_strdup(path);
	scan->fd = fd;
#ifdef HAVE_ZLIB
	scan->gz = gzdopen(fd, "rb"); /* plain files too */
	if (!scan->gz) {
		sw_json_scan_close(scan);
		return fail_open(path, ENOMEM, error);
	}
#endif
	*out = scan;
	return 0;
}

/* Closes the file; NULL is allowed. */
void sw_json_scan_close(struct sw_json_scan *scan)
{
	if (!scan)
		return;
#ifdef HAVE_ZLIB
	if (scan->gz)
		gzclose(scan->gz);
	else
		close(scan->fd);
#else
	close(scan->fd);
#endif
	free(scan->path);
	free(scan);
}

uint64_t sw_json_scan_offset(const struct sw_json_scan *scan)
{
	return scan->before + scan->at;
}

/* The first error in the file; 0: none. */
int sw_json_scan_error(const struct sw_json_scan *scan, struct sw_error *error)
{
	if (scan->failed)
		*error = scan->error;
	return scan->failed ? scan->error.code : 0;
}

/* Fills the scan's error, unless it has one, with the place and what is wrong there. */
static void json_scan_fail(struct sw_json_scan *scan, const char *what)
{
	if (scan->failed)
		return;
	scan->failed = true;
	sw_fail(&scan->error, SW_E_FORMAT, "%s: offset %" PRIu64 ": %s", scan->path, sw_json_scan_offset(scan), what);
}

/* Reads the next part of the file; 0 at its end. */
static int fill_window(struct sw_json_scan *scan)
{
	scan->before += scan->n;
	scan->at = scan->n = 0;
	if (scan->ended || scan->failed)
		return 0;
#ifdef HAVE_ZLIB
	int got = gzread(scan->gz, scan->buffer, BUFFER);
#else
	ssize_t got = read(scan->fd, scan->buffer, BUFFER);
#endif
	if (got < 0)
		json_scan_fail(scan, "cannot be read, or is damaged where it was compressed");
	scan->ended = got <= 0;
	scan->n = got > 0 ? (size_t)got : 0;
	return scan->n > 0;
}

/* The next byte, not taken; -1: there is none. */
static int look_ahead(struct sw_json_scan *scan)
{
	if (scan->failed || (scan->at == scan->n && !fill_window(scan)))
		return -1;
	return scan->buffer[scan->at];
}

size_t sw_json_scan_bytes(struct sw_json_scan *scan, void *bytes, size_t most)
{
	if (look_ahead(scan) < 0)
		return 0;
	size_t n = scan->n - scan->at < most ? scan->n - scan->at : most;
	memcpy(bytes, scan->buffer + scan->at, n);
	scan->at += n;
	return n;
}

int sw_json_scan_peek(struct sw_json_scan *scan)
{
	int c;
	while ((c = look_ahead(scan)) == ' ' || c == '\n' || c == '\t' || c == '\r')
		scan->at++;
	return c;
}

/* Takes the next character if it is this one; false: it is another. */
static bool json_scan_take(struct sw_json_scan *scan, char wanted)
{
	if (sw_json_scan_peek(scan) != (unsigned char)wanted)
		return false;
	scan->at++;
	return true;
}

/* Reads what follows a backslash in a string; returns the character that is meant, -1: none. */
static int read_escape(struct sw_json_scan *scan)
{
	static const char plain[] = "\"\\/", short_form[] = "bfnrt", meant[] = "\b\f\n\r\t";
	int c = look_ahead(scan);
	const char *found = c > 0 ? strchr(short_form, c) : NULL;
	unsigned code = 0;
	if (c < 0)
		return -1;
	scan->at++;
	if (strchr(plain, c))
		return c;
	if (found)
		return meant[found - short_form];
	if (c != 'u')
		return -1;
	for (int i = 0; i < 4; i++) {
		static const char digits[] = "0123456789abcdef0123456789ABCDEF";
		const char *digit = (c = look_ahead(scan)) > 0 ? strchr(digits, c) : NULL;
		if (!digit)
			return -1;
		scan->at++;
		code = code << 4 | ((unsigned)(digit - digits) & 15);
	}
	return code >= 0x20 && code < 0x7f ? (int)code : '?';
}

/* Reads a string, cut off where it does not fit; an escaped character that is not ASCII becomes '?'.  False: an
   error. */
static bool json_scan_string(struct sw_json_scan *scan, char *text, size_t room)
{
	size_t n = 0;
	int c;
	if (!json_scan_take(scan, '"')) {
		json_scan_fail(scan, "not JSON: a string is missing");
		return false;
	}
	while ((c = look_ahead(scan)) >= 0 && c != '"') {
		scan->at++;
		if (c == '\\' && (c = read_escape(scan)) < 0)
			break;
		if (n + 1 < room)
			text[n++] = c ? (char)c : '?';
	}
	if (room)
		text[n] = 0;
	if (c != '"') {
		json_scan_fail(scan, "not JSON: a string that does not end, or a wrong escape");
		return false;
	}
	scan->at++;
	return true;
}

/* Reads a number as text; false: it is missing or too long. */
static bool json_scan_number(struct sw_json_scan *scan, char *text, size_t room)
{
	size_t n = 0;
	int c = sw_json_scan_peek(scan);
	while (c > 0 && strchr("+-.0123456789eE", c) && n + 1 < room) {
		text[n++] = (char)c;
		scan->at++;
		c = look_ahead(scan);
	}
	text[n] = 0;
	if (n && n + 1 < room)
		return true;
	json_scan_fail(scan, "not JSON: a number is missing or too long");
	return false;
}

/* Takes a number or a word (true, null). */
static bool skip_word(struct sw_json_scan *scan)
{
	int c;
	size_t n = 0;
	while ((c = look_ahead(scan)) > 0 &&
	       (strchr("+-.", c) || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) {
		scan->at++;
		n++;
	}
	if (!n)
		json_scan_fail(scan, "not JSON: a value is missing");
	return n > 0;
}

/* Reads past a value of any kind, however deep it is nested; false: an error. */
static bool json_scan_skip(struct sw_json_scan *scan)
{
	char closing[DEEPEST];
	size_t depth = 0;
	do {
		int c = sw_json_scan_peek(scan);
		bool sound = true;
		if (depth && (c == ',' || c == ':'))
			scan->at++;
		else if (depth && c == closing[depth - 1]) {
			scan->at++;
			depth--;
		} else if (c == '{' || c == '[') {
			scan->at++;
			sound = depth < DEEPEST;
			if (sound)
				closing[depth++] = c == '{' ? '}' : ']';
		} else if (c == '"')
			sound = json_scan_string(scan, NULL, 0);
		else
			sound = skip_word(scan);
		if (!sound) {
			json_scan_fail(scan, "not JSON: nested too deeply");
			return false;
		}
	} while (depth);
	return true;
}

/*
 * Members of an object, or elements of an array:
 *
 *     if (json_scan_take(scan, '{'))
 *             for (bool first = true; json_scan_member(scan, &first, key, sizeof key);)
 *                     ... take the value
 *
 * false: its end, which is taken, or an error.
 */
static bool json_scan_member(struct sw_json_scan *scan, bool *first, char *key, size_t room)
{
	if (json_scan_take(scan, '}'))
		return false;
	if (!*first && !json_scan_take(scan, ',')) {
		json_scan_fail(scan, "not JSON: ',' or '}' is missing");
		return false;
	}
	*first = false;
	if (!json_scan_string(scan, key, room))
		return false;
	if (json_scan_take(scan, ':'))
		return true;
	json_scan_fail(scan, "not JSON: ':' is missing");
	return false;
}

/* Goes on to the next element of an array; false: its end, or an error.  The end is not taken, so that its offset can
   be asked for. */
static bool json_scan_element(struct sw_json_scan *scan, bool *first)
{
	if (sw_json_scan_peek(scan) == ']')
		return false;
	if (!*first && !json_scan_take(scan, ',')) {
		json_scan_fail(scan, "not JSON: ',' or ']' is missing");
		return false;
	}
	*first = false;
	return !scan->failed;
}

/* The fields that are read of an event; texts are cut off. */
struct event {
	char phase[4], category[24], name[96];
	char pid[24], tid[24], start[40], length[40];
	char correlation[24], stream[24];
};

/* ---- names, threads ---------------------------------------------------------------------------------------------- */

/* Hash of a text. */
static uint64_t hash_of(const char *text)
{
	return sw_hash_bytes(SW_FNV_START, text, strlen(text));
}

uint32_t sw_profile_name(const struct sw_profile *profile, const char *name)
{
	uint64_t index = sw_map_get(&profile->name_of, hash_of(name));
	return index && strcmp(profile->names.at[index - 1], name) == 0 ? (uint32_t)index : 0;
}

/* The index of a function's name. */
static uint32_t name_row(struct sw_profile *profile, const char *name)
{
	uint64_t *index = sw_map_put(&profile->name_of, hash_of(name));
	if (!*index) {
		*sw_vec_push(&profile->names) = sw_strdup(name);
		*index = profile->names.n;
	}
	return (uint32_t)*index - 1;
}

/* The index of a thread by its id. */
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

/* Reads a whole number; false: rows of Kineto's own are named by texts. */
static bool read_whole(const char *text, uint64_t *out)
{
	char *end;
	if (*text < '0' || *text > '9')
		return false;
	*out = strtoull(text, &end, 10);
	return !*end;
}

/* Reads microseconds as nanoseconds: by digits, since a double has too few for a time of day.  False: it is no such
   number. */
static bool read_nanoseconds(const char *text, int64_t *out)
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

/* Reads a string or a number as text, or reads past another value; false: an error. */
static bool take_value(struct sw_json_scan *scan, char *text, size_t room)
{
	int c = sw_json_scan_peek(scan);
	if (c == '"')
		return json_scan_string(scan, text, room);
	if (c == '-' || (c >= '0' && c <= '9'))
		return json_scan_number(scan, text, room);
	return json_scan_skip(scan);
}

/* Reads the arguments that matter of an event: correlation and stream. */
static void take_arguments(struct sw_json_scan *scan, struct event *event)
{
	char key[24];
	if (!json_scan_take(scan, '{')) {
		json_scan_skip(scan);
		return;
	}
	for (bool first = true; json_scan_member(scan, &first, key, sizeof key);) {
		if (strcmp(key, "correlation") == 0)
			take_value(scan, event->correlation, sizeof event->correlation);
		else if (strcmp(key, "stream") == 0)
			take_value(scan, event->stream, sizeof event->stream);
		else
			json_scan_skip(scan);
	}
}

/* Reads the members of one event of the profile that are of interest. */
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
	if (!json_scan_take(scan, '{')) {
		json_scan_fail(scan, "an event that is no object");
		return;
	}
	for (bool first = true; json_scan_member(scan, &first, key, sizeof key);) {
		size_t i = 0;
		while (i < sizeof members / sizeof *members && strcmp(members[i].key, key) != 0)
			i++;
		if (i < sizeof members / sizeof *members)
			take_value(scan, members[i].text, members[i].room);
		else if (strcmp(key, "args") == 0)
			take_arguments(scan, event);
		else
			json_scan_skip(scan);
	}
}

/* Adds a call of CUDA that the profile has. */
static void add_call(struct sw_profile *profile, const struct event *event, int64_t start, int64_t end)
{
	uint64_t pid, tid, correlation;
	if (!read_whole(event->pid, &pid) || !read_whole(event->tid, &tid) ||
	    !read_whole(event->correlation, &correlation))
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

/* Adds a piece of work on a device; pieces of one call become one. */
static void add_work(struct sw_profile *profile, const struct event *event, int64_t start, int64_t end)
{
	uint64_t correlation, stream = 0;
	if (!read_whole(event->correlation, &correlation) || !correlation)
		return;
	read_whole(event->stream, &stream);
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

/* Adds a call or a piece of work; other events are left out. */
static void add_event(struct sw_profile *profile, const struct event *event)
{
	const char *category = event->category;
	int64_t start, length;
	uint64_t pid;
	profile->any_events = true;
	if (read_whole(event->pid, &pid) && pid > profile->highest_pid)
		profile->highest_pid = pid;
	if (strcmp(event->phase, "X") != 0 || !read_nanoseconds(event->start, &start) ||
	    !read_nanoseconds(event->length, &length) || length < 0)
		return;
	if (strcmp(category, "cuda_runtime") == 0 || strcmp(category, "cuda_driver") == 0)
		add_call(profile, event, start, start + length);
	else if (strcmp(category, "kernel") == 0 || strcmp(category, "gpu_memcpy") == 0 ||
		 strcmp(category, "gpu_memset") == 0)
		add_work(profile, event, start, start + length);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* Reads the array of events. */
static void take_events(struct sw_json_scan *scan, struct sw_profile *profile)
{
	if (!json_scan_take(scan, '[')) {
		json_scan_fail(scan, "traceEvents is no array");
		return;
	}
	for (bool first = true; json_scan_element(scan, &first);) {
		struct event event = {0};
		take_event(scan, &event);
		add_event(profile, &event);
	}
	profile->end_of_events = sw_json_scan_offset(scan);
	json_scan_take(scan, ']');
}

/* Reads the profile. */
static void take_file(struct sw_json_scan *scan, struct sw_profile *profile)
{
	char key[32], number[40] = "";
	bool events = false;
	uint64_t base;
	if (!json_scan_take(scan, '{')) {
		json_scan_fail(scan, "no trace of torch.profiler: no JSON object");
		return;
	}
	for (bool first = true; json_scan_member(scan, &first, key, sizeof key);) {
		if (strcmp(key, "traceEvents") == 0 && !events) {
			take_events(scan, profile);
			events = true;
		} else if (strcmp(key, "baseTimeNanoseconds") == 0) {
			take_value(scan, number, sizeof number);
			if (read_whole(number, &base) && base < INT64_MAX)
				profile->base_ns = (int64_t)base;
		} else {
			json_scan_skip(scan);
		}
	}
	if (sw_json_scan_peek(scan) >= 0)
		json_scan_fail(scan, "not JSON: something follows its end");
	if (!events)
		json_scan_fail(scan, "no trace of torch.profiler: it has no traceEvents");
}

/* For qsort(): by thread, then by time. */
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

/* Frees what was read. */
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

/* The work that a call of the profile put on a device; NULL: none. */
const struct sw_profile_work *sw_profile_work_of(const struct sw_profile *profile, const struct sw_profile_call *call)
{
	uint64_t index = call->correlation ? sw_map_get(&profile->work_of, call->correlation) : 0;
	return index ? &profile->work.at[index - 1] : NULL;
}
