/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the plan, and writes what happened, a line each. */
#include "preload/confirm/confirm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "preload/platform/sys.h"
#include "preload/savings/savings.h"

#define MOST_TEXT 16384u

static uint64_t begun_ns;

static bool parse_call(const char *line, const char *name, struct sw_plan_call *out)
{
	const size_t bytes = strlen(name);
	return strncmp(line, name, bytes) == 0 && sscanf(line + bytes, " %" SCNu32 " %" SCNu32 " %" SCNx64 " %" SCNu64,
							 &out->thread, &out->api, &out->stack, &out->nth) == 4;
}

static bool parse_edge(const char *line, struct sw_hold_plan *out)
{
	struct sw_plan_edge e;
	int host, threads;
	if (out->edges == SW_PLAN_EDGES ||
	    sscanf(line, "edge %" SCNu32 " %d %d %" SCNu32 " %" SCNx64 " %" SCNu32 " %" SCNx64, &e.fix, &host, &threads,
		   &e.after_api, &e.after_stack, &e.before_api, &e.before_stack) != 7 ||
	    e.fix >= SW_PLAN_EDGES)
		return false;
	e.host = host != 0;
	e.threads = threads != 0;
	out->edge[out->edges++] = e;
	return true;
}

static bool parse_line(const char *line, struct sw_hold_plan *out)
{
	char mode[8];
	int host;
	if (sscanf(line, "mode %7s", mode) == 1) {
		out->mode = strcmp(mode, "edge") == 0	   ? SW_PLAN_EDGE
			    : strcmp(mode, "explore") == 0 ? SW_PLAN_EXPLORE
			    : strcmp(mode, "change") == 0  ? SW_PLAN_CHANGE
							   : SW_PLAN_HOLD;
		return true;
	}
	if (sscanf(line, "host %d", &host) == 1) {
		out->later_host = host != 0;
		return true;
	}
	if (sscanf(line, "captured %d", &host) == 1) {
		out->captured = host != 0;
		return true;
	}
	if (sscanf(line, "nodes %" SCNu32, &out->nodes) == 1)
		return true;
	if (sscanf(line, "access %d", &host) == 1) {
		out->later_access = host != 0;
		return true;
	}
	if (sscanf(line, "explore %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &out->seed, &out->rate, &out->first,
		   &out->last) == 4)
		return true;
	return sscanf(line, "bound-ns %" SCNu64, &out->bound_ns) == 1 ||
	       sscanf(line, "total-ns %" SCNu64, &out->total_ns) == 1 ||
	       sscanf(line, "bytes %" SCNu64 " %" SCNu64, &out->offset, &out->bytes) == 2 ||
	       sscanf(line, "result %1023[^\n]", out->result) == 1 || parse_call(line, "earlier", &out->earlier) ||
	       parse_call(line, "later", &out->later) || parse_call(line, "buffer", &out->buffer) ||
	       parse_edge(line, out) || sw_plan_parse_change(line, &out->changes);
}

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

bool sw_result_claim(void)
{
	const int fd = sw_sys_open(sw_confirm_plan.result, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	sw_sys_close(fd);
	return true;
}

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

uint64_t sw_result_us(void)
{
	return (sw_sys_monotonic() - begun_ns) / 1000;
}
