/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-run.so: announces to `syncwatch run` which images begin, and which are started without the recorder.
 *
 * The wrappers of exec run in children of vfork, which share the memory of a suspended parent: they only read what the
 * constructor wrote, keep everything else on the stack and make nothing but system calls.  execl() and its relatives
 * end in execv() and execve(), as in libc.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/session/announce.h"

#define PUBLIC __attribute__((visibility("default")))

static struct {
#define REAL(result, name, parameters) result(*name) parameters;
#include "preload/session/functions.def"
#undef REAL
} real;

/* Finds libc's functions, which ours call. */
static void find_real(void)
{
	const int saved = errno;
#define REAL(result, name, parameters) *(void **)&real.name = dlsym(RTLD_NEXT, #name);
#include "preload/session/functions.def"
#undef REAL
	errno = saved;
}

/* Finds libc's functions if the constructor has not run: that of another library may come here before. */
static void find_functions(void)
{
	if (real.popen)
		return;
	sw_announce_start();
	find_real();
}

/* When an image is loaded: tells `run` that it has begun, and whether the recorder is in it. */
static __attribute__((constructor)) void begin(void)
{
	char file[SW_ANNOUNCE_TEXT];
	const int saved = errno;
	find_functions();
	if (sw_announce_wanted()) {
		const ssize_t n = readlink("/proc/self/exe", file, sizeof file - 1);
		file[n > 0 ? n : 0] = 0;
		sw_announce(SW_ANNOUNCE_HELLO, dlsym(RTLD_DEFAULT, "syncwatch_companion") ? SW_ANNOUNCE_RECORDER : 0, 0,
			    file);
	}
	errno = saved;
}

/* Tells `run` that another image starts, and what its environment lacks to be recorded.  Where a relative path starts
   is known here alone: makes it absolute if there is room. */
static void announce_start(enum sw_announce_kind kind, uint32_t flags, pid_t pid, const char *file,
			   char *const environment[])
{
	char path[SW_ANNOUNCE_TEXT];
	const int saved = errno;
	const bool search = (flags & SW_ANNOUNCE_SEARCH) && file && !strchr(file, '/');
	if (!search)
		flags &= ~(uint32_t)SW_ANNOUNCE_SEARCH;
	if (file && file[0] != '/' && !search) {
		const long n = syscall(SYS_getcwd, path, sizeof path);
		if (n > 0 && (size_t)n + strlen(file) + 1 < sizeof path) {
			stpcpy(stpcpy(path + n - 1, "/"), file);
			file = path;
		}
	}
	sw_announce(kind, flags | sw_announce_lost(environment), (uint64_t)pid, file ? file : "");
	errno = saved;
}

/* This process is about to become another image. */
static void announce_exec(uint32_t flags, const char *file, char *const environment[])
{
	if (sw_announce_wanted())
		announce_start(SW_ANNOUNCE_EXEC, flags, 0, file, environment);
}

/* exec returned, so it failed. */
static int announce_failure(int result)
{
	sw_announce(SW_ANNOUNCE_EXEC_FAILED, 0, 0, "");
	return result;
}

/* Announces the program that takes this process's place; a failure is announced, too, as then the process goes on. */
PUBLIC int execve(const char *file, char *const arguments[], char *const environment[])
{
	find_functions();
	announce_exec(0, file, environment);
	return announce_failure(real.execve(file, arguments, environment));
}

PUBLIC int execv(const char *file, char *const arguments[])
{
	find_functions();
	announce_exec(0, file, environ);
	return announce_failure(real.execv(file, arguments));
}

PUBLIC int execvp(const char *file, char *const arguments[])
{
	find_functions();
	announce_exec(SW_ANNOUNCE_SEARCH, file, environ);
	return announce_failure(real.execvp(file, arguments));
}

PUBLIC int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	find_functions();
	announce_exec(SW_ANNOUNCE_SEARCH, file, environment);
	return announce_failure(real.execvpe(file, arguments, environment));
}

/* As announce_exec(), for an image that is given as a descriptor. */
static void announce_descriptor(int fd, char *const environment[])
{
	char link[32], path[SW_ANNOUNCE_TEXT];
	if (!sw_announce_wanted())
		return;
	const int saved = errno;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	const ssize_t n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = 0;
	announce_exec(0, path, environment);
	errno = saved;
}

PUBLIC int fexecve(int fd, char *const arguments[], char *const environment[])
{
	find_functions();
	announce_descriptor(fd, environment);
	return announce_failure(real.fexecve(fd, arguments, environment));
}

/* With an empty path the program is the descriptor's file, which is announced as such. */
PUBLIC int execveat(int fd, const char *file, char *const arguments[], char *const environment[], int flags)
{
	find_functions();
	if (!*file)
		announce_descriptor(fd, environment);
	else
		announce_exec(0, file, environment);
	return announce_failure(real.execveat(fd, file, arguments, environment, flags));
}

/* How many words execl() was given, the program's own name and the NULL included: never none, as in libc. */
static size_t count_words(va_list ap)
{
	size_t n = 2;
	while (va_arg(ap, char *))
		n++;
	return n;
}

/* Collects the arguments of execl() as an array, as execv() takes them. */
static void collect_words(char **out, const char *first, va_list ap)
{
	*out++ = (char *)first;
	while ((*out++ = va_arg(ap, char *)))
		;
}

/* On the stack, as libc does: nothing may be allocated in a child of vfork. */
#define WORDS(first)                                                                                                   \
	va_list ap, again;                                                                                             \
	va_start(ap, first);                                                                                           \
	va_copy(again, ap);                                                                                            \
	char **words = __builtin_alloca(count_words(ap) * sizeof *words);                                              \
	va_end(ap);                                                                                                    \
	va_start(ap, first);                                                                                           \
	collect_words(words, first, again);                                                                            \
	va_end(again)

PUBLIC int execl(const char *file, const char *first, ...)
{
	WORDS(first);
	va_end(ap);
	return execv(file, words);
}

PUBLIC int execlp(const char *file, const char *first, ...)
{
	WORDS(first);
	va_end(ap);
	return execvp(file, words);
}

/* Collects the arguments for execve(); the environment follows their NULL. */
PUBLIC int execle(const char *file, const char *first, ...)
{
	WORDS(first);
	while (va_arg(ap, char *))
		;
	char **environment = va_arg(ap, char **);
	va_end(ap);
	return execve(file, words, environment);
}

/* Starts the program, then announces it, since only then its number is known. */
PUBLIC int posix_spawn(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
	pid_t child = 0;
	find_functions();
	const int rc = real.posix_spawn(&child, file, actions, attributes, arguments, environment);
	if (!rc && pid)
		*pid = child;
	if (!rc && sw_announce_wanted())
		announce_start(SW_ANNOUNCE_SPAWNED, 0, child, file, environment);
	return rc;
}

/* As posix_spawn(), for a program that is looked for in PATH. */
PUBLIC int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
	pid_t child = 0;
	find_functions();
	const int rc = real.posix_spawnp(&child, file, actions, attributes, arguments, environment);
	if (!rc && pid)
		*pid = child;
	if (!rc && sw_announce_wanted())
		announce_start(SW_ANNOUNCE_SPAWNED, SW_ANNOUNCE_SEARCH, child, file, environment);
	return rc;
}

/* The shell says hello itself unless the program has taken the recorder out of its environment. */
static void announce_shell(const char *command)
{
	if (command && sw_announce_wanted() && sw_announce_lost(environ))
		announce_start(SW_ANNOUNCE_SPAWNED, SW_ANNOUNCE_SHELL, 0, "/bin/sh", environ);
}

PUBLIC int system(const char *command)
{
	find_functions();
	announce_shell(command);
	return real.system(command);
}

PUBLIC FILE *popen(const char *command, const char *mode)
{
	find_functions();
	announce_shell(command);
	return real.popen(command, mode);
}
