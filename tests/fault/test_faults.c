/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fails the n-th system call of each kind, for every n until a run in which none fails any more.  Whatever happens, the
 * program runs on and ends as it would have, at most one line is said, and a trace that exists is whole: every record
 * is in it or counted as lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arch.h"
#include "faulty_sys.h"
#include "preload/recording.h"
#include "../run_suite.h"

#define THREADS 3u
#define CALLS	6000u /* of each thread: several chunks */

static const struct {
	enum fault kind;
	int error;
	const char *name;
	bool alone; /* no thread apart: what it does is done on the program's threads */
} faults[] = {
	{FAULT_OPEN, EMFILE, "open EMFILE", false},
	{FAULT_OPEN, EACCES, "open EACCES", false},
	{FAULT_ALLOCATE, ENOSPC, "allocate ENOSPC", false},
	{FAULT_ALLOCATE, EIO, "allocate EIO", false},
	{FAULT_MAP, ENOMEM, "map ENOMEM", false},
	{FAULT_MADVISE, EINVAL, "madvise EINVAL", false}, /* no MADV_WIPEONFORK, no MADV_POPULATE_WRITE */
	{FAULT_THREAD, EAGAIN, "thread EAGAIN", false},
	{FAULT_FSTAT, EIO, "fstat EIO", false},
	{FAULT_CLONE, EAGAIN, "clone EAGAIN", false},
	{FAULT_OWN_DESCRIPTORS, EPERM, "close_range EPERM", false},
	{FAULT_WRITE, EIO, "write EIO", false},
	{FAULT_READ, EIO, "read EIO", false},
	{FAULT_TRUNCATE, EIO, "truncate EIO", false},
	{FAULT_OPEN, EMFILE, "open EMFILE, alone", true},
	{FAULT_FSTAT, EIO, "fstat EIO, alone", true},
	{FAULT_MAP, ENOMEM, "map ENOMEM, alone", true},
	{FAULT_FCNTL, EMFILE, "dup EMFILE, alone", true},
	{FAULT_RESERVE, ENOSPC, "allocate ENOSPC, alone", true},
	{FAULT_RESERVE, EOPNOTSUPP, "allocate EOPNOTSUPP, alone", true},
	{FAULT_RESIZE, ENOENT, "truncate ENOENT, alone", true},
};

static unsigned row, nth;
static bool lasting;

static void *some_calls(void *unused)
{
	for (unsigned i = 0; i < CALLS; i++) {
		errno = 4711;
		fake_wait(i, 0);
		if (errno != 4711)
			abort();
	}
	return unused;
}

static void threads_call(void)
{
	pthread_t threads[THREADS];
	if (faults[row].alone)
		fault_set(FAULT_CLONE, 1, EAGAIN, true);
	fault_set(faults[row].kind, nth, faults[row].error, lasting);
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, some_calls, NULL))
			abort();
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pid_t pid = fork();
	if (pid == 0) {
		fault_set(faults[row].kind, 0, 0, false);
		fake_wait(1, 0);
		_exit(0);
	}
	int status;
	if (waitpid(pid, &status, 0) != pid || status)
		abort();
}

/* 3: the fault never came up. */
static void leave(int unused)
{
	(void)unused;
	exit(fault_calls(faults[row].kind) < nth ? 3 : 0);
}

static void check_run(const char *file)
{
	struct trace t;
	const char *said = content_of("stderr"), *first = strchr(said, '\n');
	ck_assert_msg(!first || !first[1], "%s, call %u: more than one line: %s", faults[row].name, nth, said);
	if (!trace_read(&t, file)) {
		ck_assert_msg(first != NULL, "%s, call %u: no trace, and not a word", faults[row].name, nth);
		return;
	}
	ck_assert_msg(!t.wrong, "%s, call %u: wrong %s", faults[row].name, nth, t.wrong);
	ck_assert_uint_eq(t.header->pid != 0, true);
	if (!first)
		ck_assert_msg(t.kinds[SW_REC_STREAM_WAIT] + t.header->records_lost == THREADS * CALLS,
			      "%s, call %u: %lu records and %lu lost", faults[row].name, nth,
			      (unsigned long)t.kinds[SW_REC_STREAM_WAIT], (unsigned long)t.header->records_lost);
	if (t.header->records_lost)
		ck_assert_msg(first != NULL || t.lost, "%s, call %u: lost in silence", faults[row].name, nth);
	trace_free(&t);
}

START_TEST(test_every_call)
{
	char file[32];
	row = (unsigned)_i / 2;
	lasting = _i % 2;
	unsigned most = 400;
	for (nth = 1; nth < most; nth++) {
		snprintf(file, sizeof file, "f%u.swt", nth);
		int status = record_as(file, "stacks=0", threads_call, leave);
		ck_assert_msg(WIFEXITED(status), "%s, call %u: ended with %d", faults[row].name, nth, status);
		bool done = WEXITSTATUS(status) == 3;
		if (!done)
			check_run(file);
		unlink("stderr");
		if (done)
			return;
		ck_assert_int_eq(WEXITSTATUS(status), 0);
	}
	ck_abort_msg("%s: call %u still failed", faults[row].name, nth);
}
END_TEST

/* ---- without libunwind ------------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void level(unsigned depth)
{
	if (depth)
		level(depth - 1);
	else
		fake_wait(1, 0);
	__asm__ volatile("" : : : "memory"); /* no tail call */
}

static void stacks_without_helper(void)
{
	fault_set(FAULT_THREAD, 1, EAGAIN, true); /* no helper thread: libunwind is not loaded */
	level(10);
	level(10);
	level(20);
	__asm__ volatile("" : : : "memory");
}

START_TEST(test_stacks_without_libunwind)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, stacks_without_helper, exit), 0);
	ck_assert(trace_read(&t, "t.swt"));
	ck_assert_msg(!t.wrong, "wrong %s", t.wrong);
	const struct sw_rec_stack *one = trace_find(&t, SW_REC_STACK, 0), *two = trace_find(&t, SW_REC_STACK, 1),
				  *three = trace_find(&t, SW_REC_STACK, 2);
	ck_assert(one && two && three && !trace_find(&t, SW_REC_STACK, 3));
	const uint64_t *ips = (const uint64_t *)(one + 1);
	ck_assert_uint_gt(one->depth, 11);
	ck_assert_uint_eq(three->depth, one->depth + 10);
	for (unsigned i = 2; i < 10; i++)
		ck_assert_uint_eq(ips[i], ips[1]); /* level() called by level() */
	const struct sw_rec_notice *notice = trace_find(&t, SW_REC_NOTICE, 0);
	ck_assert(SW_ARCH_USES_LIBUNWIND == (notice != NULL));
	if (notice)
		ck_assert_mem_eq(notice + 1, "libunwind could not be loaded", 29);
	trace_free(&t);
}
END_TEST

/* ---- rights that are given up ------------------------------------------------------------------------------------ */

/* The thread apart, which has the file, gets a processor once a thread of the program was refused it. */
static void *let_it_go(void *unused)
{
	while (!fault_calls(FAULT_OPEN))
		sched_yield();
	waits_measure(false);
	return unused;
}

static void without_rights(void)
{
	pthread_t other;
	fake_wait(0, 0);
	waits_measure(true);
	while (!waits_still())
		sched_yield();
	fault_set(FAULT_OPEN, 1, EACCES, true);
	if (pthread_create(&other, NULL, let_it_go, NULL))
		abort();
	for (unsigned i = 1; i < THREADS * CALLS; i++)
		fake_wait(i, 0);
	if (!fault_calls(FAULT_OPEN))
		abort();
	pthread_join(other, NULL);
}

START_TEST(test_without_rights)
{
	struct trace t;
	ck_assert_int_eq(record_in_child("stacks=0", without_rights, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], THREADS * CALLS);
	trace_free(&t);
	ck_assert_str_eq(content_of("stderr"), "");
}
END_TEST

/* ---- a disk that is really full ---------------------------------------------------------------------------------- */

static bool disk_alone(void);

static void fill_disk(void)
{
	if (disk_alone())
		fault_set(FAULT_CLONE, 1, EAGAIN, true);
	for (unsigned i = 0; i < 200000; i++)
		fake_wait(i, 0);
}

static bool tmpfs(void)
{
	return mount("none", "small", "tmpfs", 0, "size=1m") == 0;
}

static bool ext4(void)
{
	return system("truncate -s 4M image && mkfs.ext4 -q image && mount -o loop image small") == 0;
}

/* As in containers. */
static bool overlay(void)
{
	return mkdir("base", 0700) == 0 && mount("none", "base", "tmpfs", 0, "size=1m") == 0 &&
	       mkdir("base/lower", 0700) == 0 && mkdir("base/upper", 0700) == 0 && mkdir("base/work", 0700) == 0 &&
	       mount("overlay", "small", "overlay", 0, "lowerdir=base/lower,upperdir=base/upper,workdir=base/work") ==
		       0;
}

static const struct {
	const char *name;
	bool (*mount)(void);
	bool alone; /* without the isolated thread */
} disks[] = {
	{"tmpfs", tmpfs, false}, {"ext4", ext4, false}, {"overlay", overlay, false},
	{"tmpfs", tmpfs, true},	 {"ext4", ext4, true},	{"overlay", overlay, true},
};
static unsigned disk;

static bool disk_alone(void)
{
	return disks[disk].alone;
}

/* In a mount namespace of our own: tmpfs needs no rights where user namespaces are allowed. */
static bool small_disk(void)
{
	return (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) && mkdir("small", 0700) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && disks[disk].mount();
}

START_TEST(test_full_disk)
{
	struct trace t;
	disk = (unsigned)_i;
	if (!small_disk()) {
		printf("full disk: %s skipped, it cannot be mounted\n", disks[disk].name);
		return;
	}
	ck_assert_int_eq(record_as("small/t.swt", "stacks=0", fill_disk, exit), 0);
	ck_assert(trace_read(&t, "small/t.swt"));
	ck_assert_msg(!t.wrong, "wrong %s", t.wrong);
	ck_assert_uint_gt(t.kinds[SW_REC_STREAM_WAIT], 1000);
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT] + t.header->records_lost, 200000);
	ck_assert_uint_eq(t.lost, t.header->records_lost);
	const struct sw_rec_loss *loss = trace_find(&t, SW_REC_LOSS, 0);
	ck_assert_uint_eq(loss->why, SW_LOSS_NO_SPACE);
	trace_free(&t);
	ck_assert_ptr_nonnull(strstr(content_of("stderr"), "; what follows is not recorded\n"));
	umount("small");
	umount("base");
}
END_TEST

/* 6 MiB are free, of which a trace leaves 4. */
static void fill_half(void)
{
	for (unsigned i = 0; i < 100000; i++)
		fake_wait(i, 0);
}

/* The trace ends before the disk is full; its twin has a disk with more room. */
START_TEST(test_low_disk)
{
	struct trace t;
	struct statfs disk_now;
	const bool half_full = _i == 0;
	if ((unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) || mkdir("small", 0700) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) || mount("none", "small", "tmpfs", 0, "size=64m") ||
	    (half_full && system("fallocate -l 58M small/other"))) {
		printf("low disk: skipped, it cannot be mounted\n");
		return;
	}
	ck_assert_int_eq(record_as("small/t.swt", "stacks=0", fill_half, exit), 0);
	ck_assert_int_eq(statfs("small", &disk_now), 0);
	ck_assert(trace_read(&t, "small/t.swt"));
	ck_assert_msg(!t.wrong, "wrong %s", t.wrong);
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT] + t.header->records_lost, 100000);
	ck_assert_uint_ge((uint64_t)disk_now.f_bavail * (uint64_t)disk_now.f_bsize, 4u << 20);
	ck_assert_int_eq(t.header->records_lost != 0, half_full);
	ck_assert_int_eq(strstr(content_of("stderr"), "little room is left on the file system of ") != NULL, half_full);
	if (half_full) {
		const struct sw_rec_loss *loss = trace_find(&t, SW_REC_LOSS, 0);
		ck_assert_uint_eq(loss->why, SW_LOSS_NO_SPACE);
	}
	trace_free(&t);
	umount("small");
}
END_TEST

static Suite *faults_suite(void)
{
	Suite *s = suite_create("faults");
	TCase *c = tcase_create("faults");
	tcase_add_checked_fixture(c, enter_directory, remove_directory);
	tcase_set_timeout(c, 240);
	tcase_add_loop_test(c, test_every_call, 0, 2 * sizeof faults / sizeof *faults);
	tcase_add_test(c, test_stacks_without_libunwind);
	tcase_add_test(c, test_without_rights);
	tcase_add_loop_test(c, test_full_disk, 0, (int)(sizeof disks / sizeof *disks));
	tcase_add_loop_test(c, test_low_disk, 0, 2);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	return run_suite(faults_suite());
}
