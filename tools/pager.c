/* SPDX-License-Identifier: Apache-2.0 */
#include "pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf_probe.h"

static pid_t pager;
static int terminal; /* standard output, while the pager has its place */

/* The command of the pager; NULL: none is wanted, or there. */
static const char *pager_command(void)
{
	static const char *const names[] = {"SYNCWATCH_PAGER", "PAGER"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);
		if (value)
			return *value && strcmp(value, "cat") != 0 ? value : NULL;
	}
	char *less = sw_elf_find_program("less");
	free(less);
	return less ? "less" : NULL;
}

/* In the child: becomes the pager, which reads from the pipe. */
static void become_pager(const char *name, const int pipe_ends[2])
{
	dup2(pipe_ends[0], STDIN_FILENO);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	/* F: ends at once when all fits a screen; R: colours; X: leaves the text on the screen. */
	setenv("LESS", "FRX", 0);
	signal(SIGINT, SIG_DFL);
	execl("/bin/sh", "sh", "-c", name, (char *)NULL);
	_exit(127);
}

/* Sends standard output through a pager if it is a terminal. */
void sw_pager_start(const struct sw_options *options)
{
	int ends[2];
	const char *name = pager_command();
	if (options->no_pager || !name || !isatty(STDOUT_FILENO) || pipe(ends))
		return;
	terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	fflush(stdout);
	pager = terminal < 0 ? -1 : fork();
	if (pager == 0)
		become_pager(name, ends);
	if (pager > 0) {
		/* The pager decides what an interrupt means; a user who leaves it early gets no message. */
		signal(SIGINT, SIG_IGN);
		signal(SIGPIPE, SIG_IGN);
		dup2(ends[1], STDOUT_FILENO);
	} else if (terminal >= 0) {
		close(terminal);
	}
	close(ends[0]);
	close(ends[1]);
}

/* Waits until the user has left the pager. */
int sw_pager_finish(void)
{
	int ended;
	if (pager <= 0)
		return sw_finish_stdout(SW_EXIT_OK);
	/* A pager that was left early does not take the rest, and it is not for the terminal. */
	fflush(stdout);
	__fpurge(stdout);
	clearerr(stdout);
	dup2(terminal, STDOUT_FILENO); /* ends the pager's input */
	close(terminal);
	while (waitpid(pager, &ended, 0) < 0 && errno == EINTR)
		;
	pager = 0;
	if (WIFEXITED(ended) && WEXITSTATUS(ended) == 127)
		return sw_complain(SW_EXIT_OUTPUT, "the pager could not be started: see $PAGER, or use --no-pager");
	return SW_EXIT_OK;
}
