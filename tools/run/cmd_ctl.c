/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch ctl: tells a run that goes on when to record, and asks it. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "command.h"
#include "preload/session/announce_wire.h"
#include "run/control.h"
#include "run/ctl.h"
#include "terminal.h"

#define ENVIRONMENT (1u << 20)

/* Is it a run of our own, or of root?  *pid: its number. */
static bool is_run(int fd, pid_t *pid)
{
	struct ucred server;
	socklen_t bytes = sizeof server;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &server, &bytes))
		return false;
	*pid = server.pid;
	return server.uid == 0 || server.uid == geteuid();
}

/* A connection to a run at this address whose owner may be trusted, -1: there is none. */
static int connect_to(const struct sockaddr_un *address, socklen_t bytes, pid_t *pid)
{
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !connect(fd, (const struct sockaddr *)address, bytes) && is_run(fd, pid))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Connects to a run by its process number; -1: no run has that number. */
static int connect_to_run(pid_t pid)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	pid_t server = 0;
	const int n = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, SW_CONTROL_ABSTRACT "%d", (int)pid);
	const int fd = connect_to(&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n), &server);
	if (fd < 0 || server == pid || !server) /* 0: it is in another namespace */
		return fd;
	close(fd);
	return -1;
}

/* Connects to the run that watches a process, which stands in the process's environment; -1: there is none. */
static int connect_to_run_of(pid_t pid)
{
	struct sockaddr_un path = {.sun_family = AF_UNIX};
	char file[64], *environment = sw_alloc(ENVIRONMENT + 1);
	snprintf(file, sizeof file, "/proc/%d/environ", (int)pid);
	const int in = open(file, O_RDONLY | O_CLOEXEC);
	size_t bytes = 0;
	for (ssize_t got = 1; in >= 0 && got > 0 && bytes<ENVIRONMENT; bytes += got> 0 ? (size_t)got : 0)
		got = read(in, environment + bytes, ENVIRONMENT - bytes);
	if (in >= 0)
		close(in);
	environment[bytes] = 0;
	const char *folder = NULL;
	for (const char *p = environment; p < environment + bytes; p += strlen(p) + 1)
		if (strncmp(p, SW_ANNOUNCE_VARIABLE "=", sizeof SW_ANNOUNCE_VARIABLE) == 0)
			folder = strchr(p, '/');
	int fd = -1;
	if (folder && strlen(folder) <= SW_ANNOUNCE_FOLDER) {
		snprintf(path.sun_path, sizeof path.sun_path, "%.*s/" SW_CONTROL_SOCKET, (int)SW_ANNOUNCE_FOLDER,
			 folder);
		fd = connect_to(&path, sizeof path, &pid);
	}
	free(environment);
	return fd;
}

/* Connects to the parent of a process: the one that `run` keeps to learn of signals (witness.h) has its name and its
   arguments, and may be meant for it. */
static int connect_to_parent_of(pid_t pid)
{
	char file[64];
	long parent = 0;
	snprintf(file, sizeof file, "/proc/%d/stat", (int)pid);
	FILE *stat = fopen(file, "re");
	if (!stat)
		return -1;
	const bool known = fscanf(stat, "%*d (syncwatch) %*c %ld", &parent) == 1;
	fclose(stat);
	return known ? connect_to_run((pid_t)parent) : -1;
}

/* Puts the words behind each other, each with its 0, as a request.  Its bytes, 0: it would be too long. */
static size_t pack(char *request, char *const *words, size_t n)
{
	size_t bytes = 0;
	for (size_t i = 0; i < n && bytes < SW_CONTROL_REQUEST; i++) {
		const size_t length = strlen(words[i]) + 1;
		if (length > SW_CONTROL_REQUEST - bytes)
			return 0;
		memcpy(request + bytes, words[i], length);
		bytes += length;
	}
	return bytes;
}

int sw_ctl_ask(const char *process, char *const *words, size_t n, char **answer)
{
	char request[SW_CONTROL_REQUEST], *end;
	const long pid = strtol(process, &end, 10);
	const size_t bytes = pack(request, words, n);
	if (*end || end == process || pid < 1 || pid > INT32_MAX)
		return sw_complain_usage("'%s' is no process", process);
	int fd = connect_to_run((pid_t)pid);
	if (fd < 0)
		fd = connect_to_run_of((pid_t)pid);
	if (fd < 0)
		fd = connect_to_parent_of((pid_t)pid);
	if (fd < 0)
		return sw_complain(SW_EXIT_INPUT, "process %ld is no 'syncwatch run' of yours, nor watched by one",
				   pid);
	char *text = sw_alloc(SW_CONTROL_ANSWER + 1);
	ssize_t got = bytes && send(fd, request, bytes, MSG_NOSIGNAL) == (ssize_t)bytes
			      ? recv(fd, text, SW_CONTROL_ANSWER, 0)
			      : -1;
	close(fd);
	if (got < 1) {
		free(text);
		return sw_complain(SW_EXIT_INPUT, "the run of process %ld does not answer", pid);
	}
	text[got] = 0;
	*answer = sw_strdup(text + 1);
	const int status = text[0];
	free(text);
	return status;
}

/* Prints an answer.  Names of files are in it: none may control the terminal. */
static void put_lines(FILE *out, char *text)
{
	for (char *line = text, *next; *line; line = next) {
		const size_t n = strcspn(line, "\n");
		next = line + n + (line[n] != 0);
		line[n] = 0;
		sw_put_plain(out, line);
		fputc('\n', out);
	}
}

/* `syncwatch ctl PROCESS start|stop|status|dump`: prints the answer of the run. */
int sw_cmd_ctl(const struct sw_options *options)
{
	static const char *const commands[] = {"start", "stop", "status", "dump"};
	char *answer = NULL;
	bool known = false;
	if (options->n_operands < 2)
		return sw_complain_usage("which process, and what?");
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		known |= strcmp(options->operands[1], commands[i]) == 0;
	if (!known)
		return sw_complain_usage("unknown order '%s': start, stop, status or dump", options->operands[1]);
	const int status =
		sw_ctl_ask(options->operands[0], options->operands + 1, (size_t)options->n_operands - 1, &answer);
	if (answer)
		put_lines(status ? stderr : stdout, answer);
	free(answer);
	return status ? status : sw_finish_stdout(SW_EXIT_OK);
}
