/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the plan (plan.h), and writes what happened, a line each. */
#include "preload/confirm/confirm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "preload/platform/sys.h"

#define MOST_TEXT 16384u

static uint64_t begun_ns;

/* Parsers: false if the line is not of that kind.  A call: thread, entry point, stack and count. */
static bool parse_call(const char *line, const char *name, struct sw_plan_call *out)
{
	const size_t bytes = strlen(name);
	return strncmp(line, name, bytes) == 0 &&
	       sscanf(line + bytes, SW_PLAN_CALL, &out->thread, &out->api, &out->stack, &out->nth) == 4;
}

/* An edge of a fix: after which calls an event, before which a wait. */
static bool parse_edge(const char *line, struct sw_hold_plan *out)
{
	struct sw_plan_edge e;
	int host, threads;
	if (out->edges == SW_PLAN_EDGES ||
	    sscanf(line, SW_PLAN_EDGE_AT, &e.fix, &host, &threads, &e.after_api, &e.after_stack, &e.before_api,
		   &e.before_stack) != 7 ||
	    e.fix >= SW_PLAN_EDGES)
		return false;
	e.host = host != 0;
	e.threads = threads != 0;
	out->edge[out->edges++] = e;
	return true;
}

/* The lines of a plan that say which calls are made otherwise. */

static const char *const keys[] = {
	[SW_CHANGE_NONE] = "",
#define SW_RUN_CHANGE(name, key, text) [SW_CHANGE_##name] = key,
#include "base/run_changes.def"
};

/* Calls of one stack that are made otherwise. */
static bool parse_site(const char *line, struct sw_plan_changes *out)
{
	struct sw_plan_site site = {0};
	char key[16];
	if (out->sites == SW_PLAN_SITES ||
	    sscanf(line, "site %15s" SW_PLAN_SITE, key, &site.api, &site.stack, &site.value) != 4)
		return false;
	for (uint32_t i = 1; i < SW_CHANGES; i++)
		if (strcmp(keys[i], key) == 0)
			site.change = (enum sw_run_change)i;
	if (!site.change || site.api >= SW_ID_COUNT)
		return false;
	out->site[out->sites++] = site;
	return true;
}

/* Belongs to the last site: a stream for which the host, or another stream, still waits. */
static bool parse_need(const char *line, struct sw_plan_changes *out)
{
	struct sw_plan_site *site = out->sites ? &out->site[out->sites - 1] : NULL;
	uint32_t stream, to;
	if (!site || site->needs == SW_PLAN_NEEDS || sscanf(line, SW_PLAN_NEED, &stream, &to) != 2 ||
	    stream >= out->streams || (to >= out->streams && to != SW_PLAN_HOST))
		return false;
	site->need[site->needs].stream = stream;
	site->need[site->needs++].to = to;
	return true;
}

/* A stream that sites name, by the call that makes it. */
static bool parse_stream(const char *line, struct sw_plan_changes *out)
{
	struct sw_plan_call call = {0};
	if (out->streams == SW_PLAN_STREAMS ||
	    sscanf(line, SW_PLAN_STREAM, &call.thread, &call.api, &call.stack, &call.nth) != 4)
		return false;
	out->stream[out->streams++] = call;
	return true;
}

/* Reads any line of a plan that changes calls. */
static bool parse_change(const char *line, struct sw_plan_changes *out)
{
	int set;
#define FLAG(format, member)                                                                                           \
	if (sscanf(line, format, &set) == 1) {                                                                         \
		out->member = set != 0;                                                                                \
		return true;                                                                                           \
	}
	SW_PLAN_CHANGE_FLAGS(FLAG)
#undef FLAG
	if (sscanf(line, SW_PLAN_GUARD, &set) == 1) {
		out->guard = set < 0 || set > SW_PLAN_GUARDED ? SW_PLAN_UNGUARDED : (enum sw_plan_guard)set;
		return true;
	}
	return sscanf(line, SW_PLAN_ROOM, &out->room) == 1 || parse_stream(line, out) || parse_site(line, out) ||
	       parse_need(line, out);
}

/* Reads any line of a plan.  False: it is not understood. */
static bool parse_line(const char *line, struct sw_hold_plan *out)
{
	char mode[8];
	int set;
	if (sscanf(line, "mode %7s", mode) == 1) {
#define MODE(name, text) out->mode = strcmp(mode, text) == 0 ? SW_PLAN_##name : out->mode;
		SW_PLAN_MODES(MODE)
#undef MODE
		return true;
	}
#define FLAG(format, member)                                                                                           \
	if (sscanf(line, format, &set) == 1) {                                                                         \
		out->member = set != 0;                                                                                \
		return true;                                                                                           \
	}
	SW_PLAN_FLAGS(FLAG)
#undef FLAG
#define NUMBER(format, member) || sscanf(line, format, &out->member) == 1
#define CALL(key, member)      || parse_call(line, key, &out->member)
	return sscanf(line, SW_PLAN_NODES, &out->nodes) == 1 ||
	       sscanf(line, SW_PLAN_SEED, &out->seed, &out->rate, &out->first, &out->last) == 4 ||
	       sscanf(line, SW_PLAN_BYTES, &out->offset, &out->bytes) == 2 ||
	       sscanf(line, "result %1023[^\n]", out->result) == 1 || parse_edge(line, out) ||
	       parse_change(line, &out->changes) SW_PLAN_NUMBERS(NUMBER) SW_PLAN_CALLS(CALL);
#undef NUMBER
#undef CALL
}

/* Reads the plan of an experiment: a file with one setting a line.  Anything that is not understood makes it invalid
   (false). */
bool sw_plan_read(const char *path, struct sw_hold_plan *out)
{
	static char text[MOST_TEXT];
	char *rest = NULL;
	const int fd = sw_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	const long got = fd < 0 ? -1 : sw_sys_read(fd, text, sizeof text - 1);
	if (fd >= 0)
		sw_sys_close(fd);
	if (got <= 0)
		return false;
	text[got] = 0;
	const char *line = strtok_r(text, "\n", &rest);
	if (!line || strcmp(line, SW_PLAN_MAGIC) != 0)
		return false;
	while ((line = strtok_r(NULL, "\n", &rest)))
		if (!parse_line(line, out))
			return false;
	begun_ns = sw_sys_monotonic();
	if (out->mode == SW_PLAN_EDGE)
		return out->edges && out->result[0];
	return out->mode == SW_PLAN_EXPLORE || out->mode == SW_PLAN_CHANGE
		       ? out->result[0]
		       : out->earlier.api && (out->later.api || out->later_access) && out->result[0];
}

/* Does this process run the experiment?  Of several, the one that makes the file of results does. */
bool sw_result_claim(void)
{
	const int fd = sw_sys_open(sw_confirm_plan.result, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	sw_sys_close(fd);
	return true;
}

/* Appends a line to the results by one write, so that lines of several threads do not mix. */
void sw_result(const char *format, ...)
{
	char line[256];
	va_list arguments;
	const int saved = errno;
	va_start(arguments, format);
	int bytes = vsnprintf(line, sizeof line - 1, format, arguments);
	va_end(arguments);
	if (bytes < 0 || bytes > (int)sizeof line - 2)
		bytes = (int)sizeof line - 2;
	line[bytes++] = '\n';
	const int fd = sw_sys_open(sw_confirm_plan.result, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
	if (fd >= 0) {
		sw_sys_write(fd, line, (size_t)bytes);
		sw_sys_close(fd);
	}
	errno = saved;
}

/* Microseconds since the plan was read, which results have as their time. */
uint64_t sw_result_us(void)
{
	return (sw_sys_monotonic() - begun_ns) / 1000;
}
