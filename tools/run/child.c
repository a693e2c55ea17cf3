/* SPDX-License-Identifier: Apache-2.0 */
#include "run/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf_probe.h"
#include "run/witness.h"

/* Signals that a user, a shell or a batch system may send to end or steer a program. */
static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

/* Fills in the signals that `run` handles itself while the program runs. */
static void watched_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
		sigaddset(set, passed_on[i]);
	for (int i = 0; i < SW_CHILD_SIGNALS; i++)
		sigaddset(set, SIGRTMIN + i);
}

/* In the forked child: restores the signals, lets our caller prepare and executes the program; if that fails, writes
   errno to `report` and ends. */
static void start_program(const struct sw_child *child, const sigset_t *mask, const struct sigaction *sigchld,
			  int report)
{
	sigaction(SIGCHLD, sigchld, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	child->prepare(child->arg, getpid());
	/* execvp() gives a program for another machine to a shell, which reads it as a script. */
	char *path = sw_elf_find_program(child->argv[0]);
	if (path && sw_elf_needs_musl(path))
		errno = ELIBBAD; /* its loader would end it: the recorder calls what only glibc has */
	else if (path && sw_elf_is(path))
		execv(path, child->argv);
	else
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

/* Handles one signal: those for `run` itself go to its command, others are passed to the program if nobody has shown it
   them. */
static void take_signal(const struct sw_child *child, int fd, pid_t pid, struct sw_witness *witness)
{
	struct signalfd_siginfo info;
	if (read(fd, &info, sizeof info) != sizeof info || info.ssi_signo == SIGCHLD)
		return;
	if ((int)info.ssi_signo >= SIGRTMIN) {
		child->signalled(child->arg, (int)info.ssi_signo);
		return;
	}
	/* Asked in any case, so that the signal does not stay pending there.  A code above 0 is the kernel's: the
	   terminal has shown the program too. */
	const bool group = sw_witness_saw(witness, (int)info.ssi_signo);
	if (!group && info.ssi_code <= 0)
		kill(pid, (int)info.ssi_signo);
}

/* Buries whatever has ended: orphans of the program are our children.  True: the program has. */
static bool reap_ended(pid_t pid, struct sw_witness *witness, int *status)
{
	pid_t ended;
	int how;
	while ((ended = waitpid(-1, &how, WNOHANG | __WNOTHREAD)) > 0) {
		if (ended == witness->pid)
			witness->pid = -1;
		if (ended == pid) {
			*status = how;
			return true;
		}
	}
	return false;
}

/* Serves the channel and signals until the program has ended. */
static void wait_for(const struct sw_child *child, pid_t pid, int signals, struct sw_witness *witness, int *status)
{
	struct pollfd fds[] = {{.fd = signals, .events = POLLIN}, {.fd = child->fd, .events = POLLIN}};
	while (!reap_ended(pid, witness, status)) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			child->serve(child->arg);
		if (fds[0].revents)
			take_signal(child, signals, pid, witness);
	}
}

/* Fills `error` with why the exec of the program failed. */
static int cannot_run(const char *name, int failed, struct sw_error *error)
{
	char *why = sw_elf_why_not(name, failed);
	int code = sw_fail(error, -failed, "cannot run '%s': %s", name, why);
	free(why);
	return code;
}

/* Starts the program and waits for its end, with every watched signal blocked meanwhile, so that they are read in
   order. */
static int watch_program(const struct sw_child *child, const sigset_t *watched, const sigset_t *before,
			 const struct sigaction *sigchld, pid_t *pid, int *status, struct sw_error *error)
{
	int report[2], code = 0;
	const int signals = signalfd(-1, watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0 || pipe2(report, O_CLOEXEC)) {
		code = sw_fail(error, -errno, "cannot make a pipe: %s", strerror(errno));
		if (signals >= 0)
			close(signals);
		return code;
	}
	struct sw_witness witness;
	sw_witness_start(&witness);
	*pid = fork();
	if (*pid == 0)
		start_program(child, before, sigchld, report[1]);
	if (*pid < 0)
		code = sw_fail(error, -errno, "cannot start a process: %s", strerror(errno));
	close(report[1]);
	if (*pid > 0) {
		child->started(child->arg, *pid);
		int failed = exec_result(report[0]);
		wait_for(child, *pid, signals, &witness, status);
		if (failed)
			code = cannot_run(child->argv[0], failed, error);
	}
	sw_witness_end(&witness);
	close(report[0]);
	close(signals);
	return code;
}

int sw_child_run(const struct sw_child *child, pid_t *pid, int *status, struct sw_error *error)
{
	sigset_t watched, before;
	struct sigaction plain = {.sa_handler = SIG_DFL}, sigchld;
	/* Blocked before the fork, so that no signal falls between it and the wait.  An inherited SIG_IGN for SIGCHLD
	   would reap the program before us. */
	watched_set(&watched);
	sigprocmask(SIG_BLOCK, &watched, &before);
	sigaction(SIGCHLD, &plain, &sigchld);
	int code = watch_program(child, &watched, &before, &sigchld, pid, status, error);
	sigaction(SIGCHLD, &sigchld, NULL);
	/* One that comes while the report is made must not end us. */
	for (int i = 0; i < SW_CHILD_SIGNALS; i++)
		sigaction(SIGRTMIN + i, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return code;
}
