/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children.  One of fork has the mappings of its parent, so its pages are released there, before any handler of the
 * program runs; one of _Fork or clone does it at its first fault, as the handler is there too.  A child of vfork works
 * in its parent's memory, where the parent's handler serves it.  Strings for exec and spawn are read by the kernel.
 */
#include "guard/guard.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t before;

static void prepare(void)
{
	before = sw_guard_lock();
}

static void parent(void)
{
	sw_guard_unlock(before);
}

static void child(void)
{
	uint64_t mask = before;
	sw_guard_lock_renew();
	sw_guard_lock();
	sw_pages_release_all();
	sw_work_forget();
	sw_guard_unlock(mask);
}

static __attribute__((constructor)) void start(void)
{
	pthread_atfork(prepare, parent, child);
}

static void release(void)
{
	if (!sw_pages_any())
		return;
	uint64_t mask = sw_guard_lock();
	sw_pages_release_all();
	sw_guard_unlock(mask);
}

#define LEAVING(type, name, parameters, arguments)                                                                     \
	SW_EXPORT type name parameters                                                                                 \
	{                                                                                                              \
		static __typeof__(&name) real;                                                                         \
		SW_NEXT(real, #name);                                                                                  \
		release();                                                                                             \
		return real arguments;                                                                                 \
	}
LEAVING(int, execve, (const char *path, char *const argv[], char *const envp[]), (path, argv, envp))
LEAVING(int, execv, (const char *path, char *const argv[]), (path, argv))
LEAVING(int, execvp, (const char *file, char *const argv[]), (file, argv))
LEAVING(int, execvpe, (const char *file, char *const argv[], char *const envp[]), (file, argv, envp))
LEAVING(int, fexecve, (int fd, char *const argv[], char *const envp[]), (fd, argv, envp))
LEAVING(int, posix_spawn,
	(pid_t *restrict pid, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
	 const posix_spawnattr_t *restrict attributes, char *const argv[restrict], char *const envp[restrict]),
	(pid, path, actions, attributes, argv, envp))
LEAVING(int, posix_spawnp,
	(pid_t *restrict pid, const char *restrict file, const posix_spawn_file_actions_t *restrict actions,
	 const posix_spawnattr_t *restrict attributes, char *const argv[restrict], char *const envp[restrict]),
	(pid, file, actions, attributes, argv, envp))
LEAVING(int, system, (const char *command), (command))
LEAVING(FILE *, popen, (const char *command, const char *mode), (command, mode))
