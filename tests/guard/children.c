/* SPDX-License-Identifier: Apache-2.0 */
/* Children of a program with buffers in flight. */
#include "guard/guarded.h"

#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static cudaStream_t stream;
static char *buffer;

static void start(void)
{
	stream = busy_stream();
	buffer = pinned(4 * PAGE);
	strcpy(buffer, "/bin/true");
	download(stream, buffer, 4 * PAGE);
}

static void ends_well(pid_t pid)
{
	int status;
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void case_forks(void)
{
	start();
	pid_t pid = fork();
	if (!pid) {
		memset(buffer, 3, 4 * PAGE);
		_exit(buffer[PAGE] == 3 ? 0 : 1);
	}
	ends_well(pid);
	finish_work(stream);
	CHECK(buffer[PAGE] == 7);
}

void case_forks_then_touches(void)
{
	start();
	pid_t pid = fork();
	if (!pid)
		_exit(0);
	ends_well(pid);
	buffer[0] = 1;
	finish_work(stream);
}

/* Past all handlers for fork. */
void case_clones(void)
{
	start();
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (!pid) {
		memset(buffer, 3, 4 * PAGE);
		_exit(buffer[PAGE] == 3 ? 0 : 1);
	}
	ends_well(pid);
	finish_work(stream);
}

void case_vforks(void)
{
	start();
	pid_t pid = vfork();
	if (!pid) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	ends_well(pid);
	finish_work(stream);
}

/* The path lies in the buffer: the kernel and libc's child read it. */
void case_spawns(void)
{
	pid_t pid;
	char *argv[] = {buffer, NULL};
	start();
	argv[0] = buffer;
	CHECK(!posix_spawn(&pid, buffer, NULL, NULL, argv, environ));
	ends_well(pid);
	download(stream, buffer, 4 * PAGE);
	CHECK(system(buffer) == 0);
	finish_work(stream);
}

void case_execs(void)
{
	start();
	char *argv[] = {buffer, NULL};
	execv(buffer, argv);
	CHECK(!"not executed");
}
