/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's records, through recorder.h alone. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/calls/launch_tail.h"
#include "preload/platform/isolated_thread.h"
#include "preload/recorder/options.h"
#include "preload/recorder/trace.h"
#include "recording.h"
#include "../run_suite.h"

static void nothing(void)
{
}

static void three_forms(void)
{
	fake_wait(0x10, 3);
	fake_alloc(0x1000);
	fake_sync(nothing);
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
	ck_assert_uint_gt(t.header->cost_stack_ps, t.header->cost_no_stack_ps);
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

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void many_records(void)
{
	for (unsigned i = 0; i < 100000; i++)
		fake_wait(i, 0);
}

static void do_nothing(void *unused)
{
	(void)unused;
}

/* The helper prepares them between two jobs; without the word of it two would be ready. */
static void expect_chunks(void)
{
	fake_wait(1, 0);
	sw_trace_expect(20ull * SW_CHUNK_BYTES);
	for (int job = 0; job < 3; job++)
		sw_isolated_run(do_nothing, NULL);
	if (sw_trace.prepared < atomic_load(&sw_trace.taken) + 20)
		_exit(3);
	/* No more than the ring holds, however much is expected. */
	sw_trace_expect(UINT64_MAX / 2);
	for (int job = 0; job < 3; job++)
		sw_isolated_run(do_nothing, NULL);
	if (sw_trace.prepared > atomic_load(&sw_trace.taken) + SW_CHUNK_RING)
		_exit(4);
}

START_TEST(test_expected_chunks)
{
	struct trace t;
	ck_assert_int_eq(record_in_child("stacks=0", expect_chunks, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.bytes, t.header->header_bytes + (size_t)t.header->chunks * t.header->chunk_bytes);
	trace_free(&t);
}
END_TEST

struct streams {
	uint64_t next;
	bool ordered;
};

static bool check_stream(const struct sw_rec *r, uint32_t writer, void *data)
{
	struct streams *s = data;
	(void)writer;
	if (r->kind == SW_REC_STREAM_WAIT && ((const struct sw_rec_stream_wait *)r)->stream != s->next++)
		s->ordered = false;
	return true;
}

START_TEST(test_many_chunks)
{
	struct trace t;
	struct streams s = {.ordered = true};
	ck_assert_int_eq(record_in_child("stacks=0", many_records, exit), 0);
	read_whole(&t, "t.swt");
	trace_each(&t, check_stream, &s);
	ck_assert(s.ordered);
	ck_assert_uint_eq(s.next, 100000);
	ck_assert_uint_eq(t.kinds[SW_REC_STACK], 0);
	ck_assert(!(t.header->flags & SW_FILE_STACKS));
	ck_assert_uint_eq(t.header->records_lost, 0);
	ck_assert_uint_gt(t.chunks, 15);
	ck_assert_uint_ge(t.kinds[SW_REC_CLOCK], t.chunks);
	/* chunks prepared ahead and never used were cut off */
	ck_assert_uint_eq(t.bytes, t.header->header_bytes + (size_t)t.header->chunks * t.header->chunk_bytes);
	trace_free(&t);
}
END_TEST

static void describe_big(void)
{
	for (unsigned i = 0; i < 20; i++) {
		struct sw_rec_image_data *r = sw_describe(SW_REC_IMAGE_DATA, SW_REC_MAX_BYTES, true);
		if (r) {
			r->id = i;
			memset(r + 1, 0x5a, SW_REC_MAX_BYTES - sizeof *r);
		}
		sw_describe_done(r);
	}
}

static void big_inside(void)
{
	ck_assert_ptr_null(sw_describe(SW_REC_NAME, sizeof(struct sw_rec_name), false)); /* nothing started yet */
	fake_sync(describe_big);
	fake_wait_around(1, describe_big);
	fake_wait(2, 0);
}

/* Descriptions that fill whole chunks while a call is pending: its record is patched in a chunk long left. */
START_TEST(test_descriptions_inside_a_call)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, big_inside, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_IMAGE_DATA], 40);
	ck_assert_uint_eq(t.kinds[SW_REC_SYNC], 2);
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 2);
	ck_assert_uint_eq(t.pending, 0);
	ck_assert_uint_eq(t.header->records_lost, 0);
	trace_free(&t);
}
END_TEST

static void open_records(void)
{
	struct sw_call call;
	fake_wait(1, 0);
	ck_assert(sw_call_enter(&call, API_WAIT, 0, __builtin_frame_address(0)));
	struct sw_rec_stream_wait *r = sw_call_record(&call, SW_REC_STREAM_WAIT, sizeof *r);
	for (unsigned i = 0; i < 6; i++) { /* the record is not filled yet, and its chunk ends */
		struct sw_rec_image_data *data = sw_describe(SW_REC_IMAGE_DATA, 60000, false);
		sw_describe_done(data);
	}
	r->stream = 77;
	sw_call_publish(&call);
	sw_call_leave(&call, 0);
	/* too long for a record: refused and reported, and the next one is fine */
	ck_assert_ptr_null(sw_describe(SW_REC_IMAGE_DATA, SW_REC_MAX_BYTES + 1, false));
	fake_wait(3, 0);
}

START_TEST(test_open_record)
{
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, open_records, exit), 0);
	read_whole(&t, "t.swt");
	const struct sw_rec_stream_wait *r = trace_find(&t, SW_REC_STREAM_WAIT, 1);
	ck_assert_uint_eq(r->stream, 77);
	ck_assert_uint_eq(t.kinds[SW_REC_IMAGE_DATA], 6);
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT], 3);
	ck_assert_uint_eq(t.header->records_lost, 1);
	const struct sw_rec_loss *loss = trace_find(&t, SW_REC_LOSS, 0);
	ck_assert_uint_eq(loss->records, 1);
	ck_assert_uint_eq(loss->why, SW_LOSS_OTHER);
	trace_free(&t);
}
END_TEST

static uint32_t block_number(const void *block, size_t bytes, bool *fresh)
{
	struct sw_launch_tail tail = {.launch = {.function = 1}};
	sw_launch_tail(&tail, block, bytes, true);
	*fresh = tail.block != 0;
	return tail.launch.params;
}

static void intern_params(void)
{
	uint64_t one[2] = {1, 2}, two[2] = {1, 3};
	bool fresh;
	ck_assert_uint_eq(block_number(one, sizeof one, &fresh), 0); /* off */
	fake_wait(0, 0);
	uint32_t a = block_number(one, sizeof one, &fresh);
	ck_assert(fresh);
	uint32_t b = block_number(two, sizeof two, &fresh);
	ck_assert(fresh);
	ck_assert_uint_ne(a, b);
	ck_assert_uint_eq(block_number(one, sizeof one, &fresh), a);
	ck_assert(!fresh);
	ck_assert_uint_ne(block_number(one, 12, &fresh), a); /* a prefix is another block */
	ck_assert(fresh);
	ck_assert_uint_eq(block_number(one, 0, &fresh), 0);
	uint32_t last = b;
	for (uint64_t i = 0; i < 50000; i++) { /* more than the table holds: ids only rise */
		uint64_t block[2] = {i, ~i};
		uint32_t id = block_number(block, sizeof block, &fresh);
		ck_assert(fresh);
		ck_assert_uint_gt(id, last);
		last = id;
	}
}

START_TEST(test_params)
{
	ck_assert_int_eq(record_in_child(NULL, intern_params, exit), 0);
}
END_TEST

static void say_notices(void)
{
	sw_notice("before the first call");
	fake_wait(0, 0);
	sw_notice("one");
	sw_notice("two");
	sw_notice("one");
	sw_record_driver(13000, true);
	*sw_thread_context() = 5;
	fake_wait(1, 0);
}

START_TEST(test_notices)
{
	struct trace t;
	ck_assert_int_eq(record_in_child("stacks=0", say_notices, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_NOTICE], 2);
	const struct sw_rec_notice *n = trace_find(&t, SW_REC_NOTICE, 1);
	ck_assert_uint_eq(n->text_bytes, 3);
	ck_assert_mem_eq(n + 1, "two", 3);
	ck_assert_uint_eq(t.header->cuda_driver_version, 13000);
	ck_assert(t.header->flags & SW_FILE_SIMULATED);
	const struct sw_rec *r = trace_find(&t, SW_REC_STREAM_WAIT, 1);
	ck_assert_uint_eq(r->ctx, 5);
	trace_free(&t);
}
END_TEST

/* ---- the file ---------------------------------------------------------------------------------------------------- */

START_TEST(test_names)
{
	struct stat s;
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, three_forms, exit), 0);
	ck_assert_int_eq(record_in_child(NULL, three_forms, exit), 0);
	ck_assert_int_eq(record_as("noend", NULL, three_forms, exit), 0);
	ck_assert_int_eq(symlink("elsewhere", "link.swt"), 0);
	ck_assert_int_eq(record_as("noend", NULL, three_forms, exit), 0);
	ck_assert_int_eq(record_as("link.swt", NULL, three_forms, exit), 0);
	const char *files[] = {"t.swt", "t-2.swt", "noend", "noend-2", "link-2.swt"};
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		read_whole(&t, files[i]);
		trace_free(&t);
		ck_assert_int_eq(stat(files[i], &s), 0);
		ck_assert_uint_eq(s.st_mode & 0777, 0600);
	}
	ck_assert_int_eq(access("elsewhere", F_OK), -1);
	ck_assert_str_eq(content_of("stderr"), "");
}
END_TEST

static void default_name(void)
{
	setenv("SYNCWATCH_OPTIONS", "quiet:report=0", 1);
	sw_options_start();
	fake_wait(1, 0);
}

START_TEST(test_default_name)
{
	/* The directory that counts is the one the program was started in: that of this test program. */
	char path[4200], cwd[4096];
	pid_t pid = fork();
	if (!pid) {
		default_name();
		exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	snprintf(path, sizeof path, "%s/syncwatch-test_recorder-%d.swt",
		 getenv("PWD") ? getenv("PWD") : getcwd(cwd, sizeof cwd), (int)pid);
	struct trace t;
	read_whole(&t, path);
	ck_assert_uint_eq(t.header->pid, (uint32_t)pid);
	trace_free(&t);
	unlink(path);
}
END_TEST

static void no_calls(void)
{
	bool fresh;
	sw_notice("unused");
	sw_describe_done(sw_describe(SW_REC_NAME, sizeof(struct sw_rec_name), true));
	block_number(&fresh, sizeof fresh, &fresh);
	ck_assert(!sw_recording());
}

START_TEST(test_silent_without_calls)
{
	ck_assert_int_eq(record_in_child("quiet=0:report=1", no_calls, exit), 0);
	ck_assert_int_eq(access("t.swt", F_OK), -1);
	ck_assert_str_eq(content_of("stderr"), "");
}
END_TEST

static void many_after_limit(void)
{
	many_records();
	ck_assert(!sw_recording());
	ck_assert_ptr_null(sw_describe(SW_REC_NAME, sizeof(struct sw_rec_name), false));
}

/* Keep-first: what came before the limit is whole, what was lost is counted, the user gets one line. */
static void check_limited(uint32_t why, const char *text)
{
	struct trace t;
	read_whole(&t, "t.swt");
	const struct sw_rec_loss *loss = trace_find(&t, SW_REC_LOSS, 0);
	ck_assert_ptr_nonnull(loss);
	ck_assert_uint_eq(loss->why, why);
	ck_assert_uint_eq(t.kinds[SW_REC_STREAM_WAIT] + t.header->records_lost, 100000);
	ck_assert_uint_eq(loss->records, t.header->records_lost);
	ck_assert_uint_eq(t.kinds[SW_REC_END], 0);
	const char *said = content_of("stderr");
	ck_assert_ptr_nonnull(strstr(said, text));
	ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
	trace_free(&t);
}

START_TEST(test_size_limit)
{
	ck_assert_int_eq(record_in_child("stacks=0:max-size=1M", many_after_limit, exit), 0);
	check_limited(SW_LOSS_SIZE_LIMIT, "size limit");
}
END_TEST

static void with_file_limit(void)
{
	struct rlimit limit = {900000, RLIM_INFINITY};
	setrlimit(RLIMIT_FSIZE, &limit);
	many_after_limit();
}

/* The kernel sends SIGXFSZ to a process that exceeds this limit: it must never come to that. */
START_TEST(test_file_size_rlimit)
{
	ck_assert_int_eq(record_in_child("stacks=0", with_file_limit, exit), 0);
	check_limited(SW_LOSS_SIZE_LIMIT, "size limit");
}
END_TEST

START_TEST(test_unwritable)
{
	ck_assert_int_eq(record_as("missing/t.swt", NULL, no_calls, exit), 0);
	ck_assert_str_eq(content_of("stderr"), "");
	ck_assert_int_eq(record_as("missing/t.swt", "quiet=0:report=1", three_forms, exit), 0);
	const char *said = content_of("stderr");
	ck_assert_ptr_nonnull(strstr(said, "missing/t.swt: No such file or directory; this program runs unrecorded\n"));
	ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
}
END_TEST

static void close_everything(void)
{
	fake_wait(0, 0);
	for (int fd = 3; fd < 100; fd++)
		close(fd);
	int victim = open("victim", O_RDWR | O_CREAT, 0600);
	for (int fd = victim + 1; fd < 30; fd++)
		dup2(victim, fd);
	for (unsigned i = 1; i < 100000; i++)
		fake_wait(i, 0);
}

/* Daemons close all descriptors and the numbers are used again: our file grows on, theirs does not. */
START_TEST(test_descriptor_taken)
{
	struct trace t;
	struct stat s;
	struct streams streams = {.ordered = true};
	ck_assert_int_eq(record_in_child("stacks=0", close_everything, exit), 0);
	read_whole(&t, "t.swt");
	trace_each(&t, check_stream, &streams);
	ck_assert(streams.ordered);
	ck_assert_uint_eq(streams.next, 100000);
	trace_free(&t);
	ck_assert_int_eq(stat("victim", &s), 0);
	ck_assert_uint_eq(s.st_size, 0);
}
END_TEST

static void start_line(void)
{
	setenv("SYNCWATCH_COMMAND", "/bin/true", 1);
	fake_wait(0, 0);
	fake_wait(0, 0);
}

START_TEST(test_start_line)
{
	char expected[256];
	ck_assert_int_eq(record_in_child("quiet=0", start_line, exit), 0);
	snprintf(expected, sizeof expected, "syncwatch: recording; 'syncwatch report %s/t.swt' judges the trace\n",
		 test_directory);
	ck_assert_str_eq(content_of("stderr"), expected);
}
END_TEST

/* ---- options ----------------------------------------------------------------------------------------------------- */

START_TEST(test_options)
{
	static struct sw_preload_options o;
	sw_options_parse(&o, NULL);
	ck_assert(o.stacks && o.report && !o.quiet);
	ck_assert_uint_eq(o.depth, 48);
	ck_assert_uint_eq(o.max_bytes, 8ull << 30);
	ck_assert_str_eq(o.trace, "");
	ck_assert_str_eq(o.pass, "");
	sw_options_parse(
		&o, "json=r.json:stacks=0:depth=32:trace=/a\\:b/t.swt:max-size=300M:quiet::report=0:all:chrome=t.json");
	ck_assert(!o.stacks && !o.report && o.quiet && o.depth == 32 && o.max_bytes == 300ull << 20);
	ck_assert_str_eq(o.trace, "/a:b/t.swt");
	ck_assert_str_eq(o.pass, "--json=r.json\n--all\n--chrome=t.json\n");
	sw_options_parse(&o, "perfetto=t.gz:dot=g:suppress=s:strict-host:guard-host:gpu-timeline=nodes:images=0");
	ck_assert(o.guard_host && !o.images && o.gpu_timeline == SW_GPU_TIMELINE_NODES);
	ck_assert_str_eq(o.pass, "--perfetto=t.gz\n--dot=g\n--suppress=s\n--strict-host\n");
}
END_TEST

static void wrong_options(void)
{
	static struct sw_preload_options o;
	sw_options_parse(&o, "nonsense=1:depth=0:depth=129:depth=x:max-size=1Q:max-size=:max-size=99999999999T:stacks="
			     "yes:json:all=3");
	ck_assert(o.stacks);
	ck_assert_uint_eq(o.depth, 48);
	ck_assert_uint_eq(o.max_bytes, 8ull << 30);
	ck_assert_str_eq(o.pass, "");
}

START_TEST(test_wrong_options)
{
	ck_assert_int_eq(record_in_child(NULL, wrong_options, exit), 0);
	const char *said = content_of("stderr");
	unsigned lines = 0;
	for (const char *p = said; (p = strchr(p, '\n')); p++)
		lines++;
	ck_assert_uint_eq(lines, 10);
	ck_assert_ptr_nonnull(strstr(said, "syncwatch: SYNCWATCH_OPTIONS: unknown option 'nonsense'; ignored\n"));
	ck_assert_ptr_nonnull(strstr(said, "syncwatch: SYNCWATCH_OPTIONS: '129' is no value for 'depth'; ignored\n"));
}
END_TEST

static Suite *recorder_suite(void)
{
	Suite *s = suite_create("recorder");
	TCase *c = tcase_create("recorder");
	tcase_add_checked_fixture(c, enter_directory, remove_directory);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, test_forms);
	tcase_add_test(c, test_many_chunks);
	tcase_add_test(c, test_expected_chunks);
	tcase_add_test(c, test_descriptions_inside_a_call);
	tcase_add_test(c, test_open_record);
	tcase_add_test(c, test_params);
	tcase_add_test(c, test_notices);
	tcase_add_test(c, test_names);
	tcase_add_test(c, test_default_name);
	tcase_add_test(c, test_silent_without_calls);
	tcase_add_test(c, test_size_limit);
	tcase_add_test(c, test_file_size_rlimit);
	tcase_add_test(c, test_unwritable);
	tcase_add_test(c, test_descriptor_taken);
	tcase_add_test(c, test_start_line);
	tcase_add_test(c, test_options);
	tcase_add_test(c, test_wrong_options);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	return run_suite(recorder_suite());
}
