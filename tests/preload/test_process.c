/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and threads that a recorder must survive: forks, execs, kills, the end. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/platform/sys.h"
#include "preload/recorder/process.h"
#include "preload/recorder/window.h"
#include "recording.h"
#include "../run_suite.h"

#define NO_STACKS "stacks=0"

/* ---- children ---------------------------------------------------------------------------------------------------- */

static void child_records(pid_t pid)
{
	if (pid == 0) {
		calls(20);
		exit(0);
	}
	int status;
	if (waitpid(pid, &status, __WALL) != pid || status)
		abort();
}

static void forks(void)
{
	calls(10);
	child_records(fork());
	child_records(_Fork()); /* runs no atfork handlers */
	child_records((pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0));
	calls(10);
}

/* Each child that calls CUDA has a trace of its own; the parent's holds its own calls only. */
START_TEST(test_forks)
{
	static const char *const children[] = {"t-2.swt", "t-3.swt", "t-4.swt"};
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, forks, exit), 0);
	read_whole(&t, "t.swt");
	uint32_t parent = t.header->pid;
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 20);
	ck_assert_uint_eq(t.kinds[SW_REC_END], 1);
	trace_free(&t);
	for (unsigned i = 0; i < 3; i++) {
		read_whole(&t, children[i]);
		ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 20);
		ck_assert_uint_eq(t.kinds[SW_REC_PROCESS], 1);
		ck_assert_uint_gt(t.kinds[SW_REC_MODULE], 1);
		ck_assert_uint_gt(t.kinds[SW_REC_STACK], 0);
		ck_assert(t.header->flags & SW_FILE_CLOSED);
		ck_assert_uint_eq(t.header->ppid, parent);
		trace_free(&t);
	}
}
END_TEST

/* Far more than the test takes; and how long the parent's window was open at least when the child began. */
#define LONG_NS	  UINT64_C(1000000000000)
#define PARENT_NS UINT64_C(2000000)

static void fork_in_duration(void)
{
	calls(1);
	const uint64_t opened = sw_sys_monotonic();
	while (sw_sys_monotonic() < opened + PARENT_NS)
		;
	pid_t pid = fork();
	if (!pid) {
		calls(20);
		exit(sw_window_look(UINT64_MAX) > LONG_NS - PARENT_NS);
	}
	int status;
	if (waitpid(pid, &status, 0) != pid || status)
		abort();
}

static void fork_after_duration(void)
{
	while (sw_process_state() != SW_STATE_PAUSED)
		calls(1);
	child_records(fork());
}

/* A child's time counts from the first window of its parent: it may end before the child begins. */
START_TEST(test_fork_and_duration)
{
	struct trace t;
	ck_assert_int_eq(record_in_child("duration=1000", fork_in_duration, exit), 0);
	read_whole(&t, "t-2.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_CUT], 0);
	ck_assert_uint_ne(t.header->windows, SW_FILE_WINDOWS_NONE);
	trace_free(&t);
	ck_assert_int_eq(record_as("u.swt", "duration=0.001", fork_after_duration, exit), 0);
	read_whole(&t, "u-2.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_CUT], 2);
	ck_assert_uint_eq(t.header->windows, SW_FILE_WINDOWS_NONE);
	trace_free(&t);
}
END_TEST

static void quiet_child(void)
{
	calls(5);
	pid_t pid = fork();
	if (!pid)
		exit(0); /* runs our destructor too */
	if (waitpid(pid, NULL, 0) != pid)
		abort();
	calls(5);
}

START_TEST(test_child_without_calls)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, quiet_child, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 10);
	ck_assert_uint_eq(t.kinds[SW_REC_END], 1);
	ck_assert_int_eq(access("t-2.swt", F_OK), -1);
	trace_free(&t);
}
END_TEST

static void fork_here(void)
{
	pid_t pid = fork();
	if (!pid)
		return; /* the child comes out of the call that its parent began */
	if (waitpid(pid, NULL, 0) != pid)
		abort();
}

static void fork_inside(void)
{
	pid_t parent = getpid();
	fake_sync(fork_here);
	calls(3);
	if (getpid() != parent)
		exit(0);
}

START_TEST(test_fork_inside_a_call)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, fork_inside, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_SYNC], 2);
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 3);
	ck_assert_uint_eq(t.pending, 0);
	trace_free(&t);
	read_whole(&t, "t-2.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_SYNC], 0);
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 3);
	trace_free(&t);
}
END_TEST

static void spawns(void)
{
	static char name[] = "true";
	char *argv[] = {name, NULL};
	pid_t pid;
	calls(5);
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) || waitpid(pid, NULL, 0) != pid)
		abort();
	pid = vfork();
	if (!pid) {
		execv("/bin/true", argv);
		_exit(1);
	}
	if (waitpid(pid, NULL, 0) != pid)
		abort();
	pid = vfork();
	if (!pid)
		_exit(0);
	if (waitpid(pid, NULL, 0) != pid)
		abort();
	calls(5);
}

START_TEST(test_spawns)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, spawns, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 10);
	ck_assert(t.header->flags & SW_FILE_CLOSED);
	trace_free(&t);
}
END_TEST

/* This program again, under the same pid: main() sees the argument and records. */
static void exec_self(void)
{
	static char name[] = "test_process", argument[] = "--record";
	char *argv[] = {name, argument, NULL};
	calls(5);
	execv("/proc/self/exe", argv);
	abort();
}

START_TEST(test_exec)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, exec_self, exit), 0);
	read_whole(&t, "t.swt");
	uint32_t pid = t.header->pid;
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 5);
	ck_assert(!(t.header->flags & SW_FILE_CLOSED));
	trace_free(&t);
	read_whole(&t, "t-2.swt");
	ck_assert_uint_eq(t.header->pid, pid);
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 7);
	trace_free(&t);
}
END_TEST

/* Where all small numbers are taken, as by thousands of processes with one name, others are found. */
static void taken_names(void)
{
	char name[32];
	for (unsigned i = 2; i <= 100; i++) {
		snprintf(name, sizeof name, "t-%u.swt", i);
		if (symlink("nowhere", name))
			abort();
	}
	snprintf(name, sizeof name, "t-%u.swt", 101 + (unsigned)getpid());
	if (symlink(name, "mine"))
		abort();
	calls(2);
	exec_self();
}

START_TEST(test_names_taken)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, taken_names, exit), 0);
	read_whole(&t, "mine");
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 7);
	trace_free(&t);
}
END_TEST

/* ---- ends -------------------------------------------------------------------------------------------------------- */

static void twenty(void)
{
	calls(20);
}

static void kill_self(int unused)
{
	(void)unused;
	raise(SIGKILL);
}

static void inside_a_wait(void)
{
	fake_sync((void (*)(void))abort);
}

START_TEST(test_ends)
{
	struct trace t;
	ck_assert_int_eq(record_as("exit", NULL, twenty, exit), 0);
	ck_assert_int_eq(record_as("_exit", NULL, twenty, _exit), 0);
	ck_assert_int_eq(record_as("quick", NULL, twenty, quick_exit), 0);
	ck_assert_int_eq(WTERMSIG(record_as("kill", NULL, twenty, kill_self)), SIGKILL);
	static const char *const files[] = {"exit", "_exit", "quick", "kill"};
	for (unsigned i = 0; i < 4; i++) {
		read_whole(&t, files[i]);
		ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 20);
		ck_assert_int_eq((t.header->flags & SW_FILE_CLOSED) != 0, i == 0);
		trace_free(&t);
	}
	/* A call that never returned is what explains a crash or a hang. */
	ck_assert_int_eq(WTERMSIG(record_as("abort", NULL, inside_a_wait, exit)), SIGABRT);
	read_whole(&t, "abort");
	ck_assert_uint_eq(t.kinds[SW_REC_SYNC], 1);
	ck_assert_uint_eq(t.pending, 1);
	trace_free(&t);
}
END_TEST

static void *hammer(void *unused)
{
	for (;;)
		calls(1000);
	return unused;
}

static void eight_hammers(void)
{
	pthread_t threads[8];
	for (unsigned i = 0; i < 8; i++)
		if (pthread_create(&threads[i], NULL, hammer, NULL))
			abort();
	pause();
}

/* SIGKILL while eight threads record: everything below `committed` is whole, whenever it strikes. */
START_TEST(test_kill_under_load)
{
	for (unsigned round = 0; round < 5; round++) {
		char file[16], path[128];
		struct trace t;
		uint64_t seen = 0;
		snprintf(file, sizeof file, "k%u.swt", round);
		snprintf(path, sizeof path, "trace=%s/%s:quiet:report=0:max-size=512M%s", test_directory, file,
			 round % 2 ? "" : ":" NO_STACKS);
		pid_t pid = fork();
		if (!pid) {
			record_as_self(path, eight_hammers);
			_exit(1);
		}
		/* Kill at some amount of records rather than after some time. */
		while (seen < 20 + round * 5) {
			struct stat s;
			seen = stat(file, &s) ? 0 : (uint64_t)s.st_size / (256 << 10);
			sched_yield();
		}
		kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		read_whole(&t, file);
		ck_assert_uint_gt(t.kinds[SW_REC_STREAM_WAIT], 10000);
		ck_assert_uint_le(t.pending, 8);
		trace_free(&t);
		unlink(file);
	}
}
END_TEST

/* ---- the report at exit ------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t children;

static void count_child(int signal)
{
	(void)signal;
	children++;
}

static void check_children(void)
{
	if (children || waitpid(-1, NULL, WNOHANG) != -1)
		_exit(99);
}

static void with_report(void)
{
	char script[256], path[128];
	snprintf(path, sizeof path, "%s/analyser", test_directory);
	int fd = open(path, O_WRONLY | O_CREAT, 0700);
	snprintf(script, sizeof script,
		 "#!/bin/sh\necho \"report: $*\"\necho \"preload: $LD_PRELOAD options: $SYNCWATCH_OPTIONS\"\n"
		 "ls /proc/self/fd | wc -l\n");
	if (write(fd, script, strlen(script)) < 0)
		abort();
	close(fd);
	setenv("SYNCWATCH_COMMAND", path, 1);
	setenv("LD_PRELOAD", "", 1);
	atexit(check_children);
	struct sigaction action = {.sa_handler = count_child};
	sigaction(SIGCHLD, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	open("/dev/null", O_RDONLY); /* a descriptor that the analyser must not get */
	calls(1);
}

static void exit_with_7(int unused)
{
	(void)unused;
	exit(7);
}

START_TEST(test_report)
{
	char expected[512];
	int status = record_in_child("report=1:json=r.json:all", with_report, exit_with_7);
	ck_assert_int_eq(WEXITSTATUS(status), 7);
	snprintf(expected, sizeof expected, "report: report --json=r.json --all %s/t.swt\npreload:  options: \n",
		 test_directory);
	const char *said = content_of("stderr");
	ck_assert_msg(strncmp(said, expected, strlen(expected)) == 0, "%s", said);
	ck_assert_int_le(atoi(said + strlen(expected)), 4);
}
END_TEST

static void with_missing_report(void)
{
	setenv("SYNCWATCH_COMMAND", "/nonexistent/syncwatch", 1);
	calls(1);
}

START_TEST(test_missing_analyser)
{
	int status = record_in_child("report=1", with_missing_report, exit_with_7);
	ck_assert_int_eq(WEXITSTATUS(status), 7);
	const char *said = content_of("stderr");
	ck_assert_ptr_nonnull(strstr(said, "cannot run /nonexistent/syncwatch; to get the report: syncwatch report "));
}
END_TEST

/* ---- SW901, set-user-id -------------------------------------------------------------------------------------------
 */

enum hold { HOLD_ONLY, HOLD_FORK, HOLD_RECORD, HOLD_ASK };

/* A file system of our own on /dev: what the program holds open looks like the driver's device. 77: not allowed. */
static int hold_device(const char *device, enum hold how)
{
	char path[64];
	snprintf(path, sizeof path, "/dev/%s", device);
	if ((unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("none", "/dev", "tmpfs", 0, NULL))
		return 77;
	if (open(path, O_RDWR | O_CREAT, 0600) < 0)
		return 1;
	pid_t pid = how == HOLD_FORK ? fork() : 1;
	if (pid == 0)
		exit(0); /* says nothing: its parent will */
	if (how == HOLD_FORK)
		waitpid(pid, NULL, 0);
	if (how == HOLD_RECORD)
		calls(1);
	if (how == HOLD_ASK)
		sw_intercepted();
	return 0;
}

/* In a program of its own: only the process that the library was loaded in prints it. */
static int run_holding(const char *device, enum hold how)
{
	char command[256];
	unlink("stderr");
	snprintf(command, sizeof command,
		 "SYNCWATCH_OPTIONS=quiet:report=0:trace=%s/t.swt /proc/%d/exe --hold %s %d 2>stderr", test_directory,
		 (int)getpid(), device, (int)how);
	int status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(test_nothing_intercepted)
{
	int status = run_holding("nvidia-uvm", HOLD_FORK);
	if (status == 77) {
		printf("SW901: skipped, no mount namespace\n");
		return;
	}
	ck_assert_int_eq(status, 0);
	const char *said = content_of("stderr");
	ck_assert_int_eq(strncmp(said, "syncwatch: SW901: ", 18), 0);
	ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1); /* once, not by its child too */
	ck_assert_int_eq(run_holding("nvidia0", HOLD_ONLY), 0);	       /* nvidia-smi and its like */
	ck_assert_str_eq(content_of("stderr"), "");
	ck_assert_int_eq(run_holding("nvidia-uvm", HOLD_RECORD), 0);
	ck_assert_str_eq(content_of("stderr"), "");
	ck_assert_int_eq(run_holding("nvidia-uvm", HOLD_ASK), 0); /* asks CUDA for devices only */
	ck_assert_str_eq(content_of("stderr"), "");
}
END_TEST

START_TEST(test_set_user_id)
{
	char command[512];
	snprintf(command, sizeof command,
		 "cp /proc/%d/exe suid && chown 65534 suid && chmod 4755 suid && chmod 777 . && "
		 "SYNCWATCH_OPTIONS=trace=%s/t.swt ./suid --record 2>stderr",
		 (int)getpid(), test_directory);
	if (geteuid()) {
		printf("set-user-id: skipped, not root\n");
		return;
	}
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(access("t.swt", F_OK), -1);
	ck_assert_str_eq(content_of("stderr"), "");
	snprintf(command, sizeof command, "SYNCWATCH_OPTIONS=report=0:trace=%s/t.swt ./plain --record 2>stderr",
		 test_directory);
	ck_assert_int_eq(system("cp suid plain && chown 0 plain && chmod 755 plain"), 0);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(access("t.swt", F_OK), 0);
}
END_TEST

static Suite *process_suite(void)
{
	Suite *s = suite_create("process");
	TCase *c = tcase_create("process");
	tcase_add_checked_fixture(c, enter_directory, remove_directory);
	tcase_set_timeout(c, 120);
	tcase_add_test(c, test_forks);
	tcase_add_test(c, test_fork_and_duration);
	tcase_add_test(c, test_child_without_calls);
	tcase_add_test(c, test_fork_inside_a_call);
	tcase_add_test(c, test_spawns);
	tcase_add_test(c, test_exec);
	tcase_add_test(c, test_names_taken);
	tcase_add_test(c, test_ends);
	tcase_add_test(c, test_kill_under_load);
	tcase_add_test(c, test_report);
	tcase_add_test(c, test_missing_analyser);
	tcase_add_test(c, test_nothing_intercepted);
	tcase_add_test(c, test_set_user_id);
	suite_add_tcase(s, c);
	return s;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--record") == 0) {
		calls(7);
		return EXIT_SUCCESS;
	}
	if (argc > 3 && strcmp(argv[1], "--hold") == 0)
		return hold_device(argv[2], (enum hold)atoi(argv[3]));
	return run_suite(process_suite());
}
