/* SPDX-License-Identifier: Apache-2.0 */
/* The command's words when it fails itself: each fatal signal, a stack that is used up, and silence otherwise. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signal_stack.h"
#include "crash.h"
#include "../run_suite.h"

static char said[65536];

/* The output of `body` on stderr in a process of its own; its wait status. */
static int said_by(void (*body)(void))
{
	int pair[2], status;
	ck_assert_int_eq(pipe(pair), 0);
	const pid_t pid = fork();
	if (pid == 0) {
		const struct rlimit none = {0};
		setrlimit(RLIMIT_CORE, &none);
		dup2(pair[1], STDERR_FILENO);
		close(pair[0]);
		body();
		_exit(0);
	}
	close(pair[1]);
	size_t n = 0;
	ssize_t got;
	while ((got = read(pair[0], said + n, sizeof said - 1 - n)) > 0)
		n += (size_t)got;
	said[n] = 0;
	close(pair[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void *volatile nowhere;
static volatile int zero;

/* Each frame is larger than the one before needs, and used after the call: no compiler turns this into a loop. */
static int __attribute__((noinline)) deeper(int depth)
{
	volatile char room[4096];
	room[depth % 4096] = (char)depth;
	return depth < zero ? 0 : deeper(depth + 1) + room[depth % 4096];
}

static void cleaned(void)
{
	(void)!write(STDERR_FILENO, "cleaned\n", 8);
}

static void watch(void)
{
	sw_crash_watch(cleaned);
	sw_crash_note("the trace is untouched", "/some/where\033/x.swt");
}

static void use_nothing(void)
{
	watch();
	*(volatile int *)nowhere = 1;
}

static void use_the_stack_up(void)
{
	watch();
	zero = deeper(0);
}

static void *use_a_stack_up(void *unused)
{
	(void)unused;
	void *stack = sw_signal_stack_begin();
	zero = deeper(0);
	sw_signal_stack_end(stack);
	return NULL;
}

static void use_a_threads_stack_up(void)
{
	pthread_t thread;
	watch();
	pthread_create(&thread, NULL, use_a_stack_up, NULL);
	pthread_join(thread, NULL);
}

static void divide(void)
{
	watch();
	zero = 77 / zero;
	raise(SIGFPE); /* Arm divides by zero */
}

static void give_up(void)
{
	watch();
	abort();
}

static void be_told(void)
{
	watch();
	kill(getpid(), SIGBUS);
}

static void check_said(int status, int sig, const char *name)
{
	ck_assert_msg(WIFSIGNALED(status), "%s: %#x %s", name, (unsigned)status, said);
	ck_assert_int_eq(WTERMSIG(status), sig);
	ck_assert_msg(strstr(said, "itself has failed with") && strstr(said, name), "%s", said);
	ck_assert_msg(strstr(said, "the trace is untouched: /some/where?/x.swt\n") != NULL, "%s", said);
	ck_assert_msg(strstr(said, "please report these lines") != NULL, "%s", said);
	ck_assert_msg(strstr(said, "cleaned\n") != NULL, "%s", said);
}

START_TEST(each_signal_is_told)
{
	const struct {
		void (*body)(void);
		int sig;
		const char *name;
	} rows[] = {
		{use_nothing, SIGSEGV, "SIGSEGV"},
		{use_the_stack_up, SIGSEGV, "SIGSEGV"},
		{use_a_threads_stack_up, SIGSEGV, "SIGSEGV"},
		{divide, SIGFPE, "SIGFPE"},
		{give_up, SIGABRT, "SIGABRT"},
		{be_told, SIGBUS, "SIGBUS"},
	};
	for (size_t i = 0; !SANITIZED && i < sizeof rows / sizeof rows[0]; i++)
		check_said(said_by(rows[i].body), rows[i].sig, rows[i].name);
}
END_TEST

/* The first address is the place that failed, in this very object, with the offset that it was linked with. */
START_TEST(the_place_is_named)
{
	char self[512], want[600], command[2048], line[256] = "";
	const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (SANITIZED)
		return;
	ck_assert_int_gt(n, 0);
	self[n] = 0;
	said_by(use_nothing);
	snprintf(want, sizeof want, "  at %s+0x", self);
	const char *at = strstr(said, want);
	ck_assert_msg(at != NULL, "%s", said);
	snprintf(command, sizeof command, "addr2line -f -e %s 0x%llx 2>/dev/null", self,
		 strtoull(at + strlen(want), NULL, 16));
	FILE *answer = popen(command, "r");
	if (answer && fgets(line, sizeof line, answer) && line[0] != '?')
		ck_assert_str_eq(line, "use_nothing\n");
	if (answer)
		pclose(answer);
}
END_TEST

static void fail_with_status(void)
{
	watch();
	sw_crash_status(7);
	use_nothing();
}

START_TEST(the_status_is_that_of_the_program)
{
	const int status = said_by(fail_with_status);
	ck_assert(SANITIZED || (WIFEXITED(status) && WEXITSTATUS(status) == 7));
	ck_assert(SANITIZED || strstr(said, "itself has failed"));
}
END_TEST

static void nothing_happens(void)
{
	watch();
}

static void ignored(void)
{
	signal(SIGABRT, SIG_IGN);
	watch();
	raise(SIGABRT);
}

static void expected(void)
{
	watch();
	sw_crash_ignore();
	*(volatile int *)nowhere = 1;
}

/* A program that we start has none of it. */
static void started(void)
{
	watch();
	execl("/bin/sh", "sh", "-c", "kill -SEGV $$", (char *)NULL);
}

START_TEST(nothing_is_said_otherwise)
{
	ck_assert_int_eq(said_by(nothing_happens), 0);
	ck_assert_str_eq(said, "");
	ck_assert_int_eq(said_by(ignored), 0);
	ck_assert_str_eq(said, "");
	int status = said_by(started);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	ck_assert_str_eq(said, "");
	status = said_by(expected);
	ck_assert(SANITIZED || (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV));
	ck_assert(SANITIZED || !*said);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("crash");
	TCase *tc = tcase_create("crash");
	tcase_set_timeout(tc, 0);
	tcase_add_test(tc, each_signal_is_told);
	tcase_add_test(tc, the_place_is_named);
	tcase_add_test(tc, the_status_is_that_of_the_program);
	tcase_add_test(tc, nothing_is_said_otherwise);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
