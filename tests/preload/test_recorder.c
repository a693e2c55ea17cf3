/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder through recorder.h. Each test runs in a process of its own (Check forks) and lets a child record. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/options.h"
#include "preload/recorder.h"
#include "trace_check.h"

static char directory[64];

static void enter_directory(void)
{
	strcpy(directory, "/tmp/syncwatch-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
}

static void remove_directory(void)
{
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", directory);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(system(command), 0);
}

/* A wrapper as the interception half writes them. */
static __attribute__((noinline)) int fake_wait(uint64_t stream, int status)
{
	struct sw_call call;
	struct sw_rec_stream_wait *r;
	if (!sw_call_enter(&call, 7, SW_RF_RUNTIME, __builtin_frame_address(0)))
		return status;
	r = sw_call_record(&call, SW_REC_STREAM_WAIT, sizeof *r);
	if (r)
		r->stream = stream;
	sw_call_publish(&call);
	sw_call_leave(&call, status);
	return status;
}

static __attribute__((noinline)) void fake_alloc(uint64_t address)
{
	struct sw_call call;
	struct sw_rec_alloc *r;
	if (!sw_call_enter(&call, 8, 0, __builtin_frame_address(0)))
		return;
	r = sw_call_record_after(&call, SW_REC_ALLOC, sizeof *r, 0);
	if (r)
		r->address = address;
	sw_call_publish(&call);
	sw_call_leave(&call, 0);
}

static __attribute__((noinline)) void fake_sync(void (*inside)(void))
{
	struct sw_call call;
	struct sw_rec_sync *r;
	if (!sw_call_enter(&call, 9, SW_RF_BEGIN | SW_RF_SYNCHRONOUS, __builtin_frame_address(0)))
		return;
	r = sw_call_record(&call, SW_REC_SYNC, sizeof *r);
	if (r)
		r->what = SW_SYNC_CONTEXT;
	sw_call_publish(&call);
	if (inside)
		inside();
	sw_call_end(&call, 0);
}

/* Runs `body` in a child with these options and waits for it; the trace is t.swt. Returns the wait status. */
static int record_in_child(const char *options, void (*body)(void), void (*leave)(int))
{
	char value[512];
	pid_t pid = fork();
	if (!pid) {
		snprintf(value, sizeof value, "trace=%s/t.swt:quiet:report=0%s%s", directory, options ? ":" : "", options ? options : "");
		setenv("SYNCWATCH_OPTIONS", value, 1);
		sw_options_start();
		body();
		leave(0);
	}
	int status = 0;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void read_whole(struct trace *t, const char *path)
{
	ck_assert_msg(trace_read(t, path), "%s cannot be read", path);
	ck_assert_msg(!t->wrong, "%s: wrong %s", path, t->wrong);
}

static void three_forms(void)
{
	fake_wait(0x10, 3);
	fake_alloc(0x1000);
	fake_sync(NULL);
}

START_TEST(test_forms)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, three_forms, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert(t.header->flags & SW_FILE_CLOSED);
	ck_assert_uint_eq(t.header->records_lost, 0);
	ck_assert_uint_eq(t.pending, 0);
	ck_assert_uint_eq(t.kinds[SW_REC_PROCESS], 1);
	ck_assert_uint_eq(t.kinds[SW_REC_THREAD], 1);
	ck_assert_uint_eq(t.kinds[SW_REC_END], 1);
	ck_assert_uint_gt(t.kinds[SW_REC_MODULE], 1);
	ck_assert_uint_gt(t.kinds[SW_REC_STACK], 0);
	ck_assert_uint_gt(t.header->cost_no_stack_ps, 0);
	ck_assert_uint_ge(t.header->last_monotonic_ns, t.header->start_monotonic_ns);

	const struct sw_rec_stream_wait *wait = trace_find(&t, SW_REC_STREAM_WAIT, 0);
	ck_assert_uint_eq(wait->h.status, 3);
	ck_assert_uint_eq(wait->h.api, 7);
	ck_assert_uint_eq(wait->h.flags, SW_RF_RUNTIME);
	ck_assert_uint_eq(wait->stream, 0x10);
	ck_assert_uint_ne(wait->h.stack, 0);
	const struct sw_rec_alloc *alloc = trace_find(&t, SW_REC_ALLOC, 0);
	ck_assert_uint_gt(sw_rec_seq(&alloc->h), sw_rec_seq(&wait->h));
	const struct sw_rec *begin = trace_find(&t, SW_REC_SYNC, 0);
	const struct sw_rec_end *end = trace_find(&t, SW_REC_SYNC, 1);
	ck_assert_uint_eq(begin->flags, SW_RF_BEGIN | SW_RF_SYNCHRONOUS);
	ck_assert_uint_eq(end->h.flags, SW_RF_END | SW_RF_SYNCHRONOUS);
	ck_assert_uint_eq(end->begin_seq, sw_rec_seq(begin));
	ck_assert_uint_gt(sw_rec_seq(&end->h), end->begin_seq);
	ck_assert_uint_eq(t.kinds[SW_REC_COUNTS], 1);
	const struct sw_rec_counts *counts = trace_find(&t, SW_REC_COUNTS, 0);
	const struct sw_count *count = (const void *)(counts + 1);
	ck_assert_uint_eq(counts->entries, 3);
	ck_assert_uint_eq(count[0].api, 7);
	ck_assert_uint_eq(count[0].calls, 1);
	ck_assert_uint_eq(count[0].failed, 1);
	ck_assert_uint_eq(count[1].failed, 0);
	trace_free(&t);
}
END_TEST

static Suite *recorder_suite(void)
{
	Suite *s = suite_create("recorder");
	TCase *c = tcase_create("recorder");
	tcase_add_checked_fixture(c, enter_directory, remove_directory);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, test_forms);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	SRunner *runner = srunner_create(recorder_suite());
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
