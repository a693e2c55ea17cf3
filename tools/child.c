/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a user, a shell or a batch system may send to end or steer a program. */
static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

static void watched_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
		sigaddset(set, passed_on[i]);
}

/* In the child: never returns. */
static void start(const struct sw_child *child, const sigset_t *mask, const struct sigaction *sigchld, int report)
{
	sigaction(SIGCHLD, sigchld, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	child->prepare(child->arg, getpid());
	execvp(child->argv[0], child->argv);
	int code = errno;
	while (write(report, &code, sizeof code) < 0 && errno == EINTR)
		continue;
	_exit(127);
}

/* errno of the exec that failed, 0 once the program runs (the pipe closes on exec). */
static int exec_result(int fd)
{
	int code = 0;
	ssize_t n;
	while ((n = read(fd, &code, sizeof code)) < 0 && errno == EINTR)
		continue;
	return n == sizeof code ? code : 0;
}

static void wait_for(pid_t pid, const sigset_t *watched, int *status)
{
	for (;;) {
		siginfo_t info;
		int sig = sigwaitinfo(watched, &info);
		if (sig == SIGCHLD) {
			if (waitpid(pid, status, WNOHANG) == pid)
				return;
		} else if (sig > 0 && info.si_code <= 0) {
			/* si_code above 0 is the kernel's: the terminal has told the program too. */
			kill(pid, sig);
		}
	}
}

int sw_child_run(const struct sw_child *child, pid_t *pid, int *status, struct sw_error *error)
{
	int report[2];
	sigset_t watched, before;
	struct sigaction plain = {.sa_handler = SIG_DFL}, sigchld;

	if (pipe2(report, O_CLOEXEC))
		return sw_fail(error, -errno, "cannot make a pipe: %s", strerror(errno));
	/* Blocked before the fork, so that no signal falls between it and the wait.  An inherited SIG_IGN for SIGCHLD
	   would reap the program behind our back. */
	watched_set(&watched);
	sigprocmask(SIG_BLOCK, &watched, &before);
	sigaction(SIGCHLD, &plain, &sigchld);

	int code = 0;
	*pid = fork();
	if (*pid == 0)
		start(child, &before, &sigchld, report[1]);
	if (*pid < 0)
		code = sw_fail(error, -errno, "cannot start a process: %s", strerror(errno));
	close(report[1]);
	if (*pid > 0) {
		int failed = exec_result(report[0]);
		wait_for(*pid, &watched, status);
		if (failed)
			code = sw_fail(error, -failed, "cannot run '%s': %s", child->argv[0], strerror(failed));
	}
	close(report[0]);
	sigaction(SIGCHLD, &sigchld, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return code;
}
