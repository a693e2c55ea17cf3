/* SPDX-License-Identifier: Apache-2.0 */
#include "run/control.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/counted.h"
#include "command.h"
#include "syncwatch/format.h"

#define BACKLOG 16
#define WORDS	16

/* A socket that listens at this address and that the channel reports; -1: there is none. */
static int listen_at(struct sw_channel *channel, const struct sockaddr_un *address, socklen_t bytes)
{
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && !bind(fd, (const struct sockaddr *)address, bytes) && !listen(fd, BACKLOG)) {
		sw_channel_watch(channel, fd);
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

void sw_control_open(struct sw_control *control, struct sw_channel *channel, struct sw_session *session)
{
	struct sockaddr_un path = {.sun_family = AF_UNIX}, name = path;
	control->channel = channel;
	control->session = session;
	control->path = sw_format("%s/" SW_CONTROL_SOCKET, channel->folder);
	strncpy(path.sun_path, control->path, sizeof path.sun_path - 1);
	control->listener[0] = listen_at(channel, &path, sizeof path);
	const int n = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, SW_CONTROL_ABSTRACT "%d", (int)getpid());
	control->listener[1] =
		listen_at(channel, &name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n));
}

void sw_control_close(struct sw_control *control)
{
	for (int i = 0; control->path && i < 2; i++)
		if (control->listener[i] >= 0)
			close(control->listener[i]);
	if (control->path)
		unlink(control->path);
	free(control->path);
	control->path = NULL;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

/* How many processes with a trace have not ended. */
static size_t count_running(const struct sw_session *session)
{
	size_t n = 0;
	for (size_t i = 0; i < session->traces.n; i++)
		n += sw_session_is_running(&session->traces.at[i]);
	return n;
}

/* Tells all recorders to open or close a window and answers how many will hear it. */
static int order(struct sw_control *control, enum sw_window_order what, FILE *answer)
{
	sw_channel_order(control->channel, what);
	const size_t n = count_running(control->session);
	fprintf(answer, "%s: %zu process%s", what == SW_WINDOW_OPEN ? "recording" : "paused", n,
		sw_plural(n, "", "es"));
	fputs(n ? "\n" : " that use CUDA; it is for those that come\n", answer);
	return SW_EXIT_OK;
}

/* Reads the number of windows from the trace's header, which lies in memory until the process has ended. */
static bool read_windows(const struct sw_session_trace *trace, uint32_t *windows)
{
	return pread(trace->memory < 0 ? trace->fd : trace->memory, windows, sizeof *windows,
		     offsetof(struct sw_file_header, windows)) == (ssize_t)sizeof *windows;
}

/* Prints a line for `status`: does the process live, and is it recording? */
static void print_trace(const struct sw_session_trace *trace, FILE *answer)
{
	uint32_t windows = 0;
	const bool lives = sw_session_is_running(trace);
	const bool known = read_windows(trace, &windows), open = !windows || windows & 1;
	const uint32_t opened = windows >> 1 ? (windows >> 1) - 1 : 0;
	fprintf(answer, "process %d: %s", (int)trace->pid,
		!lives	 ? "has ended"
		: !known ? "unknown"
		: open	 ? "recording"
			 : "paused");
	if (windows)
		fprintf(answer, ", %" PRIu32 " window%s so far", opened, sw_plural(opened, "", "s"));
	fprintf(answer, ", trace %s\n", trace->path);
}

/* Answers the command `status`: a line for each process. */
static int status(struct sw_control *control, FILE *answer)
{
	const struct sw_session *session = control->session;
	for (size_t i = 0; i < session->traces.n; i++)
		print_trace(&session->traces.at[i], answer);
	if (!session->traces.n)
		fputs("no process has called CUDA yet\n", answer);
	return SW_EXIT_OK;
}

/* Answers a command that another part of `run` does, if it does it in this run. */
static int other(sw_control_command *command, void *arg, char **words, size_t n, FILE *answer)
{
	if (command)
		return command(arg, words + 1, n - 1, answer);
	fprintf(answer, "this run has nothing to %s\n", words[0]);
	return SW_EXIT_INPUT;
}

/* Does one request and prints its answer; returns the exit status for `ctl`. */
static int answer_to(struct sw_control *control, char **words, size_t n, FILE *answer)
{
	if (n && strcmp(words[0], "start") == 0)
		return order(control, SW_WINDOW_OPEN, answer);
	if (n && strcmp(words[0], "stop") == 0)
		return order(control, SW_WINDOW_CLOSE, answer);
	if (n && strcmp(words[0], "status") == 0)
		return status(control, answer);
	if (n && strcmp(words[0], "dump") == 0)
		return other(control->dump, control->dump_arg, words, n, answer);
	if (n && strcmp(words[0], "top") == 0)
		return other(control->top, control->top_arg, words, n, answer);
	fprintf(answer, "unknown command '%s'\n", n ? words[0] : "");
	return SW_EXIT_USAGE;
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

/* Is the other side root or our own user?  An order changes what is recorded. */
static bool may_ask(int connection)
{
	struct ucred peer;
	socklen_t bytes = sizeof peer;
	return !getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) &&
	       (peer.uid == 0 || peer.uid == geteuid());
}

/* Sends exit status and text, cut to what a message may have; whoever does not read it gets none. */
static void send_answer(int connection, int code, const char *text, size_t bytes)
{
	char *all = sw_alloc(bytes + 1);
	all[0] = (char)code;
	memcpy(all + 1, text, bytes);
	send(connection, all, bytes + 1 < SW_CONTROL_ANSWER ? bytes + 1 : SW_CONTROL_ANSWER,
	     MSG_NOSIGNAL | MSG_DONTWAIT);
	free(all);
}

/* Reads a request and answers it.  It is there when the connection is, or at once behind it: who connects and says
   nothing gets no answer. */
static void serve(struct sw_control *control, int connection)
{
	char request[SW_CONTROL_REQUEST + 1], *words[WORDS], *text = NULL;
	size_t n = 0, bytes = 0;
	struct pollfd there = {.fd = connection, .events = POLLIN};
	if (!may_ask(connection) || poll(&there, 1, 100) <= 0)
		return;
	const ssize_t got = recv(connection, request, SW_CONTROL_REQUEST, MSG_DONTWAIT);
	if (got <= 0)
		return;
	request[got] = 0;
	for (char *p = request; p < request + got && n < WORDS; p += strlen(p) + 1)
		words[n++] = p;
	FILE *answer = open_memstream(&text, &bytes);
	if (!answer)
		return;
	const int code = answer_to(control, words, n, answer);
	fclose(answer);
	send_answer(connection, code, text, bytes);
	free(text);
}

bool sw_control_readable(struct sw_control *control, int fd)
{
	if (!control->path || fd < 0 || (fd != control->listener[0] && fd != control->listener[1]))
		return false;
	for (;;) {
		const int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (connection < 0 && errno == EINTR)
			continue;
		if (connection < 0)
			break;
		serve(control, connection);
		close(connection);
	}
	sw_channel_watch(control->channel, fd);
	return true;
}

void sw_control_signal(struct sw_control *control, int number)
{
	char dump[] = "dump", *words[] = {dump};
	FILE *answer = number >= SIGRTMIN ? fopen("/dev/null", "w") : NULL;
	if (!answer)
		return;
	if (number == SIGRTMIN)
		order(control, SW_WINDOW_OPEN, answer);
	else if (number == SIGRTMIN + 1)
		order(control, SW_WINDOW_CLOSE, answer);
	else if (number == SIGRTMIN + 2)
		other(control->dump, control->dump_arg, words, 1, answer);
	fclose(answer);
}
