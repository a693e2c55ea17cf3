/* SPDX-License-Identifier: Apache-2.0 */
/*
 * At each system call of the recorder, one run after the other: the program is killed (SIGKILL); it is stopped for a
 * minute (SIGSTOP, and clocks that are a minute later); the system call fails.  With the trace in a file, and in memory
 * that a run holds (recorder/memory.h), which lives or was killed as well.  Each call that had returned is in the
 * trace, or the trace says that some may be missing; a program that is not killed ends as it would have.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faulty_sys.h"
#include "preload/recording.h"
#include "run/channel.h"
#include "run/collect.h"
#include "../run_suite.h"

#define THREADS	 3u
#define CALLS	 3000u /* of each thread: two chunks */
#define NEVER	 3     /* exit status: the step did not come up */
#define GROUP_MB 48

/* ---- the program ------------------------------------------------------------------------------------------------- */

static _Atomic unsigned *returned; /* in a file that outlives us */

static void map_returned(void)
{
	const int fd = open("returned", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, 4096))
		abort();
	returned = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (returned == MAP_FAILED)
		abort();
	close(fd);
}

static void *some_calls(void *unused)
{
	for (unsigned i = 0; i < CALLS; i++) {
		errno = 4711;
		fake_wait(i, 0);
		if (errno != 4711)
			abort();
		atomic_fetch_add(returned, 1);
	}
	return unused;
}

static void threads_call(void)
{
	pthread_t threads[THREADS];
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, some_calls, NULL))
			abort();
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* Takes memory until nothing is left of what the group may have. */
static void grow(void)
{
	threads_call();
	for (unsigned mb = 0; mb < 4 * GROUP_MB; mb++) {
		char *more = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (more == MAP_FAILED)
			abort();
		memset(more, 1, 1 << 20);
		for (unsigned i = 0; i < 100; i++) {
			fake_wait(i, 0);
			atomic_fetch_add(returned, 1);
		}
	}
}

/* The process that watches is in the group too, and may hold as much: the kernel must not choose it. */
static void be_the_one_to_kill(void)
{
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || dprintf(fd, "1000") < 0 || close(fd))
		abort();
}

/* child OPTIONS STEP SIGNAL FAULT NTH ERROR LASTING */
static int child(char **words)
{
	const unsigned at = (unsigned)atoi(words[3]), nth = (unsigned)atoi(words[6]);
	const enum fault fault = (enum fault)atoi(words[5]);
	map_returned();
	step_set(at, atoi(words[4]));
	fault_set(fault, nth, atoi(words[7]), atoi(words[8]));
	if (getenv("HOLD"))
		fault_begin_after_waits((unsigned)atoi(getenv("HOLD")));
	if (getenv("STILL"))
		waits_measure(true);
	if (getenv("GROUP")) {
		be_the_one_to_kill();
		record_as_self(words[2], grow);
		exit(NEVER);
	}
	record_as_self(words[2], threads_call);
	exit((at && steps_made() < at) || (nth && fault_calls(fault) < nth) ? NEVER : 0);
}

/* ---- those who watch it ------------------------------------------------------------------------------------------ */

enum who { FILE_ONLY, RUN_GONE, RUN_LIVES, RUN_KILLED }; /* gone: before the program began */

struct plan {
	enum who who;
	unsigned step;
	int signal;
	enum fault fault;
	unsigned nth;
	int error;
	bool lasting;
};

struct held {
	int file, memory;
};

static void received(void *arg, const struct sw_received *message)
{
	struct held *held = arg;
	if (message->fd >= 0)
		held->file = message->fd;
	if (message->memory >= 0)
		held->memory = message->memory;
}

static void start(const struct plan *plan, const char *variable)
{
	char options[256], numbers[6][16];
	const int values[] = {(int)plan->step, plan->signal, (int)plan->fault,
			      (int)plan->nth,  plan->error,  plan->lasting};
	snprintf(options, sizeof options, "trace=%s/t.swt:quiet:report=0:stacks=0", test_directory);
	for (unsigned i = 0; i < 6; i++)
		snprintf(numbers[i], sizeof numbers[i], "%d", values[i]);
	if (variable)
		setenv(SW_ANNOUNCE_VARIABLE, variable, 1);
	execl("/proc/self/exe", "test_steps", "child", options, numbers[0], numbers[1], numbers[2], numbers[3],
	      numbers[4], numbers[5], (char *)NULL);
	abort();
}

/* Serves the channel until the program ends, continues it when it is stopped. */
static int watch(pid_t pid, struct sw_channel *channel)
{
	for (;;) {
		int status;
		struct pollfd message = {.fd = channel->poll, .events = POLLIN};
		const pid_t got = waitpid(pid, &status, WNOHANG | WUNTRACED);
		ck_assert_int_ge(got, 0);
		if (got && !WIFSTOPPED(status))
			return status;
		if (got)
			kill(pid, SIGCONT);
		poll(&message, channel->poll >= 0, 1);
		if (channel->poll >= 0)
			sw_channel_serve(channel);
	}
}

static bool was_in_memory; /* the trace of the last run */

static int run(const struct plan *plan)
{
	struct held held = {-1, -1};
	struct sw_error error;
	struct sw_channel channel = {.received = received, .arg = &held, .poll = -1};
	unlink("t.swt");
	unlink("returned");
	unlink("stderr");
	if (plan->who != FILE_ONLY)
		ck_assert_int_eq(sw_channel_open(&channel, &error), 0);
	char *variable = plan->who == FILE_ONLY ? NULL : strdup(channel.variable);
	if (plan->who == RUN_GONE)
		sw_channel_close(&channel);
	const pid_t pid = fork();
	if (pid == 0)
		start(plan, variable);
	free(variable);
	const int status = watch(pid, &channel);
	if (plan->who > RUN_GONE)
		sw_channel_serve(&channel);
	if (plan->who == RUN_LIVES && held.memory >= 0) {
		bool changed = false;
		ck_assert_int_eq(sw_collect(held.memory, held.file, &changed), 0);
		changed = false;
		ck_assert_int_eq(sw_collect(held.memory, held.file, &changed), 0);
		ck_assert(!changed); /* the file has all of it by now */
	}
	was_in_memory = held.memory >= 0;
	if (held.memory >= 0)
		close(held.memory);
	if (held.file >= 0)
		close(held.file);
	if (plan->who > RUN_GONE)
		sw_channel_close(&channel);
	return status;
}

/* ---- what they find ---------------------------------------------------------------------------------------------- */

static unsigned made(void)
{
	map_returned();
	const unsigned n = atomic_load(returned);
	munmap((void *)returned, 4096);
	return n;
}

/* True: some may be missing, which the trace says. */
static bool check_killed(const struct plan *plan, const char *what)
{
	struct trace t;
	const unsigned calls = made();
	if (!trace_read(&t, "t.swt")) {
		ck_assert_msg(calls == 0, "%s: no trace of %u calls", what, calls);
		return false;
	}
	const bool behind = t.header->flags & SW_FILE_BEHIND;
	/* Killed before the file's first page was written: all of it is zero. */
	if (t.header->magic[0]) {
		const uint64_t records = t.kinds[SW_REC_STREAM_WAIT];
		ck_assert_msg(!t.wrong, "%s: wrong %s", what, t.wrong);
		ck_assert_msg(records <= calls + THREADS, "%s: %lu records of %u calls", what, (unsigned long)records,
			      calls);
		ck_assert_msg(records >= calls || behind, "%s: %lu records of %u calls, and not a word", what,
			      (unsigned long)records, calls);
		/* Killed before the run knew of it: nothing had returned. */
		ck_assert_msg(!behind || !calls || plan->who == RUN_KILLED, "%s: some may be missing", what);
	} else {
		ck_assert_msg(calls == 0, "%s: an empty trace of %u calls", what, calls);
	}
	trace_free(&t);
	return behind;
}

static void check_ended(const char *what, bool failed)
{
	struct trace t;
	const char *said = content_of("stderr"), *first = strchr(said, '\n');
	ck_assert_uint_eq(made(), THREADS * CALLS);
	ck_assert_msg(!first || (failed && !first[1]), "%s: said %s", what, said);
	if (!trace_read(&t, "t.swt")) {
		ck_assert_msg(first != NULL, "%s: no trace, and not a word", what);
		return;
	}
	ck_assert_msg(!t.wrong, "%s: wrong %s", what, t.wrong);
	const unsigned long records = t.kinds[SW_REC_STREAM_WAIT], lost = t.header->records_lost;
	ck_assert_msg(first || records + lost == THREADS * CALLS, "%s: %lu records and %lu lost", what, records, lost);
	ck_assert_msg(!lost || first || t.lost, "%s: lost in silence", what);
	ck_assert_msg(failed || !lost, "%s: %lu records lost", what, lost);
	ck_assert_msg(first || t.header->flags & SW_FILE_CLOSED, "%s: no end", what);
	ck_assert_msg(first || !(t.header->flags & SW_FILE_BEHIND), "%s: some may be missing", what);
	trace_free(&t);
}

static const char *const whose[] = {"file", "file, the run has ended", "memory", "memory that no process holds"};

START_TEST(test_kill_at_each_step)
{
	char what[128];
	struct plan plan = {.who = (enum who)_i, .signal = SIGKILL};
	unsigned killed = 0, behind = 0;
	for (bool done = false; !done; killed += !done) {
		plan.step++;
		snprintf(what, sizeof what, "%s, killed at step %u", whose[plan.who], plan.step);
		const int status = run(&plan);
		done = WIFEXITED(status);
		ck_assert_msg(done ? WEXITSTATUS(status) == NEVER : WTERMSIG(status) == SIGKILL, "%s: ended with %d",
			      what, status);
		if (done)
			check_ended(what, false);
		else
			behind += check_killed(&plan, what);
	}
	ck_assert_uint_gt(killed, 30);
	ck_assert(plan.who != RUN_KILLED || behind > 10);
}
END_TEST

START_TEST(test_stop_at_each_step)
{
	char what[128];
	struct plan plan = {.who = (enum who)_i, .signal = SIGSTOP};
	for (int status = 0; WEXITSTATUS(status) != NEVER;) {
		plan.step++;
		snprintf(what, sizeof what, "%s, stopped at step %u", whose[plan.who], plan.step);
		status = run(&plan);
		ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == NEVER),
			      "%s: ended with %d", what, status);
		check_ended(what, false);
	}
	ck_assert_uint_gt(plan.step, 30);
}
END_TEST

/* ---- out of memory ----------------------------------------------------------------------------------------------- */

static bool write_to(const char *folder, const char *file, long value)
{
	char path[256];
	snprintf(path, sizeof path, "%s/%s", folder, file);
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	const bool done = fd >= 0 && dprintf(fd, "%ld", value) > 0;
	if (fd >= 0)
		close(fd);
	return done;
}

/* A control group of this process, with a limit of memory. NULL: none can be made here. */
static const char *make_group(void)
{
	static const char *const roots[][2] = {{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
					       {"/sys/fs/cgroup", "memory.max"}};
	static char folder[128];
	for (unsigned i = 0; i < 2; i++) {
		snprintf(folder, sizeof folder, "%s/syncwatch-test-%d", roots[i][0], (int)getpid());
		if (mkdir(folder, 0700))
			continue;
		if (write_to(folder, roots[i][1], (long)GROUP_MB << 20) && write_to(folder, "cgroup.procs", getpid()))
			return folder;
		rmdir(folder);
	}
	return NULL;
}

static void leave_group(const char *folder)
{
	char root[128];
	snprintf(root, sizeof root, "%s", folder);
	*strrchr(root, '/') = 0;
	ck_assert(write_to(root, "cgroup.procs", getpid()));
	rmdir(folder);
}

START_TEST(test_out_of_memory)
{
	const struct plan plan = {.who = (enum who)_i};
	const char *group = make_group();
	if (!group) {
		printf("OOM kill: skipped, no control group with a limit of memory can be made here\n");
		return;
	}
	setenv("GROUP", group, 1);
	const int status = run(&plan);
	leave_group(group);
	unsetenv("GROUP");
	if (WIFEXITED(status) && WEXITSTATUS(status) == NEVER) {
		printf("OOM kill: skipped, the limit of a control group is not kept here\n");
		return;
	}
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
	ck_assert_uint_ge(made(), THREADS * CALLS);
	check_killed(&plan, "out of memory");
}
END_TEST

/* ---- a machine that has no time for the recorder's own thread ---------------------------------------------------- */

/* The helper begins late, long after 10 ms, or begins and then stands still: the trace is in memory even so. */
START_TEST(test_late_thread)
{
	const struct plan plan = {.who = RUN_LIVES};
	const char *how = _i ? "STILL" : "HOLD";
	setenv(how, "8", 1);
	const int status = run(&plan);
	unsetenv(how);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	check_ended("a thread that begins late", false);
	ck_assert(was_in_memory);
}
END_TEST

/* ---- system calls of memory that fail ---------------------------------------------------------------------------- */

static const struct {
	enum fault kind;
	int error; /* 0: does half of it */
	const char *name;
} faults[] = {
	{FAULT_MEMORY, ENOSYS, "memfd_create ENOSYS"},
	{FAULT_WRITE_AT, EIO, "pwrite EIO"},
	{FAULT_WRITE_AT, ENOSPC, "pwrite ENOSPC"},
	{FAULT_WRITE_AT, 0, "pwrite of half"},
	{FAULT_READ_AT, EIO, "pread EIO"},
	{FAULT_NEXT_DATA, EINVAL, "lseek EINVAL"},
	{FAULT_PUNCH, EOPNOTSUPP, "punch EOPNOTSUPP"},
	{FAULT_ALLOCATE, ENOSPC, "allocate ENOSPC"},
	{FAULT_OPEN, EMFILE, "open EMFILE"},
	{FAULT_FSTAT, EIO, "fstat EIO"},
	{FAULT_MAP, ENOMEM, "map ENOMEM"},
	{FAULT_CLONE, EAGAIN, "clone EAGAIN"},
	{FAULT_OWN_DESCRIPTORS, EPERM, "close_range EPERM"},
	{FAULT_TRUNCATE, EIO, "truncate EIO"},
};

START_TEST(test_fail_at_each_step)
{
	char what[128];
	const unsigned row = (unsigned)_i / 2;
	struct plan plan = {.who = RUN_LIVES, .fault = faults[row].kind, .error = faults[row].error, .lasting = _i % 2};
	for (int status = 0; WEXITSTATUS(status) != NEVER;) {
		plan.nth++;
		snprintf(what, sizeof what, "%s, call %u%s", faults[row].name, plan.nth,
			 plan.lasting ? " and all after" : "");
		status = run(&plan);
		ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == NEVER),
			      "%s: ended with %d", what, status);
		check_ended(what, true);
		ck_assert_msg(plan.nth < 400, "%s: still fails", what);
	}
}
END_TEST

int main(int count, char **words)
{
	if (count > 1)
		return child(words);
	Suite *s = suite_create("steps");
	TCase *c = tcase_create("steps");
	tcase_add_checked_fixture(c, enter_directory, remove_directory);
	tcase_set_timeout(c, 240);
	tcase_add_loop_test(c, test_kill_at_each_step, FILE_ONLY, RUN_KILLED + 1);
	tcase_add_loop_test(c, test_stop_at_each_step, FILE_ONLY, RUN_LIVES + 1);
	tcase_add_loop_test(c, test_late_thread, 0, 2);
	tcase_add_loop_test(c, test_out_of_memory, FILE_ONLY, RUN_KILLED + 1);
	tcase_add_loop_test(c, test_fail_at_each_step, 0, (int)(2 * sizeof faults / sizeof *faults));
	suite_add_tcase(s, c);
	return run_suite(s);
}
