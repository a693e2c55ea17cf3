/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/handoff/analyse.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/platform/clock.h"
#include "preload/stacks/modules.h"
#include "preload/platform/say.h"
#include "preload/platform/sys.h"

#define WAIT_NS	    10000000000ull
#define LOOK_NS	    5000000
#define CHILD_STACK 65536u
#define ARGUMENTS   64u

struct command {
	char path[2048];
	char options[4096];
	char *argv[ARGUMENTS];
	char **environment;
	char stack[CHILD_STACK] __attribute__((aligned(16)));
};

/* Finds the command that makes the report: next to the library in a build tree, else where `make install` puts it for
   DIR/lib/syncwatch. */
static bool find_command(char *out, size_t room, const char *directory)
{
	static const char *const places[] = {"", "/../../bin"};
	const char *asked = secure_getenv("SYNCWATCH_COMMAND"), *own = sw_modules_own_path();
	const char *slash = strrchr(own, '/');
	if (asked)
		return (size_t)snprintf(out, room, "%s", asked) < room;
	for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
		bool relative = own[0] != '/';
		int got = snprintf(out, room, "%s%s%.*s%s/syncwatch", relative ? directory : "", relative ? "/" : "",
				   (int)(slash - own), own, places[i]);
		if (got > 0 && (size_t)got < room && access(out, X_OK) == 0)
			return true;
	}
	return false;
}

/* The command line: `syncwatch report`, the options (one a line in `pass`), the trace. */
static void fill_arguments(struct command *c, const char *trace, const char *pass)
{
	size_t n = 0;
	static char report[] = "report";
	c->argv[n++] = c->path;
	c->argv[n++] = report;
	char *p = c->options, *end = c->options + sizeof c->options;
	p = stpcpy(p, pass);
	for (char *at = c->options, *line; n < ARGUMENTS - 2 && (line = strchr(at, '\n')); at = line + 1) {
		*line = 0;
		c->argv[n++] = at;
	}
	if (p + 1 + strlen(trace) < end)
		c->argv[n++] = strcpy(p + 1, trace);
	c->argv[n] = NULL;
}

/* The environment for the report, without what would record that too.  NULL: no memory. */
static char **fill_environment(size_t *bytes)
{
	size_t n = 0, kept = 0;
	int error;
	while (environ && environ[n])
		n++;
	*bytes = (n + 1) * sizeof(char *);
	char **out = sw_sys_map(-1, 0, *bytes, &error);
	for (size_t i = 0; out && i < n; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", 11) && strncmp(environ[i], "SYNCWATCH_OPTIONS=", 18))
			out[kept++] = environ[i];
	return out;
}

/* In the child, which shares our memory until it execs: no handler of the program may run in it. */
static int run_command(void *argument)
{
	const struct command *c = argument;
	sw_sys_default_signals();
	sw_sys_set_signals(0);
	dup2(2, 1);
	int null = open("/dev/null", O_RDONLY);
	if (null >= 0)
		dup2(null, 0);
	syscall(SYS_close_range, 3, ~0u, 0);
	execve(c->path, c->argv, c->environment);
	_exit(127);
}

/* Waits for the child. -1: it still runs after 10 s; else its wait status. */
static int wait_for(pid_t pid)
{
	static const uint32_t never = 0;
	const struct timespec look = {.tv_nsec = LOOK_NS};
	uint64_t until = sw_clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
	int status;
	while (sw_clock_ns(CLOCK_MONOTONIC) < until) {
		long got = syscall(SYS_wait4, pid, &status, WNOHANG | __WALL, NULL);
		if (got == pid)
			return status;
		if (got < 0 && errno != EINTR)
			return 0;
		sw_sys_wait(&never, 0, &look);
	}
	return -1;
}

/* Runs `syncwatch report` at the program's end, as a process of its own: judging takes memory and time that the program
   should not give. */
void sw_analyse(const char *trace, const char *pass, const char *directory)
{
	int error, status = -1;
	size_t environment_bytes;
	struct command *c = sw_sys_map(-1, 0, sizeof *c, &error);
	if (!c)
		return;
	c->environment = fill_environment(&environment_bytes);
	if (c->environment && find_command(c->path, sizeof c->path, directory)) {
		fill_arguments(c, trace, pass);
		const pid_t pid = sw_sys_spawn(run_command, c, c->stack + sizeof c->stack);
		status = pid > 0 ? wait_for(pid) : 127 << 8;
		if (status == -1)
			sw_say("the report takes more than 10 s; if it does not appear: syncwatch report %s", trace);
		else if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
			sw_say("cannot run %s; to get the report: syncwatch report %s", c->path, trace);
	} else {
		sw_say("the command syncwatch was not found next to the library; for the report run: syncwatch "
		       "report %s",
		       trace);
	}
	if (c->environment)
		sw_sys_unmap(c->environment, environment_bytes);
	if (status != -1)
		sw_sys_unmap(c, sizeof *c);
}
