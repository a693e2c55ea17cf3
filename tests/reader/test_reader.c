/* SPDX-License-Identifier: Apache-2.0 */
/* The reader finds what a trace holds: order, dictionaries, stacks, modules, images, time. */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "reader/kinds.h"
#include "reader/trace_file.h"
#include "../run_suite.h"

START_TEST(records_of_many_writers_come_in_the_order_of_the_process)
{
	struct tb *tb = tb_new(path, &(struct tb_options){.chunk_bytes = 4096});
	for (uint32_t i = 0; i < 5000; i++) {
		tb_thread(tb, 1 + i * 7 % 5);
		tb_stream_wait(tb, i, 1)->flags = i;
	}
	tb_close(tb, true);
	struct sw_reader *r = reader();
	for (uint32_t i = 0; i < 5000; i++) {
		struct sw_record rec = until(r, SW_REC_STREAM_WAIT);
		const struct sw_rec_stream_wait *w = (const void *)rec.rec;
		ck_assert_uint_eq(w->flags, i);
		ck_assert_uint_eq(rec.thread, 1 + i * 7 % 5);
		ck_assert_uint_eq(sw_reader_thread(r, rec.thread)->tid, 999 + rec.thread);
	}
	until(r, SW_REC_END);
	ck_assert_uint_eq(read_all(r), 0);
	ck_assert_ptr_null(sw_reader_damage(r, 0));
	struct sw_trace_totals totals = sw_reader_totals(r);
	ck_assert(totals.closed);
	ck_assert_uint_eq(totals.operations, 5000);
	ck_assert_uint_eq(totals.bytes, 5000 * sizeof(struct sw_rec_stream_wait));
	ck_assert_uint_eq(totals.lost, 0);
	sw_reader_close(r);
}
END_TEST

START_TEST(dictionaries_hold_what_was_described)
{
	struct tb *tb = tb_new(path, NULL);
	tb_module(tb, 0x400000, 0x500000, "/usr/bin/app");
	tb_cudart(tb, 0x400000, SW_CUDART_STATIC, "/usr/bin/app");
	uint32_t f = tb_function(tb, "_Z3addPfPKfi", 3, 8, 8, 4);
	tb_notice(tb, "libunwind was not found.");
	tb_stack(tb, 2, 0x401000ull, 0x402000ull);
	tb_launch(tb, f, 0, 3, DEVICE, DEVICE + 64, 16ull);
	tb_close(tb, true);

	struct sw_reader *r = reader();
	struct sw_record rec = until(r, SW_REC_LAUNCH);
	const struct sw_trace_function *fn =
		sw_reader_function(r, ((const struct sw_rec_launch *)(const void *)rec.rec)->function);
	ck_assert_str_eq(fn->name, "_Z3addPfPKfi");
	ck_assert_uint_eq(fn->params, 3);
	ck_assert_uint_eq(fn->param[2].offset, 16);
	ck_assert_uint_eq(fn->param[2].bytes, 4);
	const struct sw_trace_stack *stack = sw_reader_stack(r, rec.stack);
	ck_assert_uint_eq(stack->depth, 2);
	ck_assert_uint_eq(stack->ips[1], 0x402000);
	const struct sw_trace_module *m = sw_reader_module(r, stack->ips[0], rec.seq);
	ck_assert_str_eq(m->path, "/usr/bin/app");
	ck_assert_uint_eq(m->cudart, SW_CUDART_STATIC);
	ck_assert_uint_eq(m->build_id_bytes, 20);
	ck_assert_uint_eq(m->build_id[19], 0xab);
	ck_assert_str_eq(sw_reader_api(r, rec.rec->api)->runtime, "cudaLaunchKernel");
	ck_assert_str_eq(sw_reader_process(r)->exe, "/usr/bin/app");
	ck_assert_uint_eq(sw_reader_process(r)->args, 2);
	ck_assert_str_eq(sw_reader_process(r)->arg[1], "--fast");
	ck_assert_str_eq(sw_reader_notice(r, 0), "libunwind was not found.");
	ck_assert_ptr_null(sw_reader_notice(r, 1));
	ck_assert_str_eq(sw_reader_device(r, 0)->name, "Test GPU");
	ck_assert_int_eq(sw_reader_context(r, rec.rec->ctx)->device, 0);
	ck_assert_ptr_null(sw_reader_context(r, 77));
	ck_assert_ptr_null(sw_reader_function(r, 77));
	ck_assert_ptr_null(sw_reader_stack(r, 77));
	ck_assert_ptr_null(sw_reader_api(r, 7777));
	uint16_t api = rec.rec->api;
	read_all(r);
	ck_assert_uint_eq(sw_reader_calls(r, api), 1);
	sw_reader_close(r);
}
END_TEST

START_TEST(stacks_of_all_writers_are_one_by_content)
{
	struct tb *tb = tb_new(path, NULL);
	tb_stack(tb, 1, 0x1000ull);
	tb_event_create(tb, 1);
	tb_thread(tb, 2);
	tb_stack(tb, 1, 0x2000ull); /* id 1 of the second writer */
	tb_event_create(tb, 2);
	tb_stack(tb, 1, 0x1000ull);
	tb_event_create(tb, 3);
	tb_close(tb, true);
	struct sw_reader *r = reader();
	uint32_t a = until(r, SW_REC_EVENT_CREATE).stack, b = until(r, SW_REC_EVENT_CREATE).stack;
	ck_assert_uint_ne(a, b);
	ck_assert_uint_eq(until(r, SW_REC_EVENT_CREATE).stack, a);
	ck_assert_uint_eq(sw_reader_stack(r, b)->ips[0], 0x2000);
	sw_reader_close(r);
}
END_TEST

START_TEST(python_stacks_are_one_by_content)
{
	const struct sw_python_frame one[] = {{1, 7}, {2, SW_PYTHON_ENTRY | 20}};
	const struct sw_python_frame other[] = {{2, 7}, {1, SW_PYTHON_ENTRY | 20}}; /* of a writer with other ids */
	struct tb *tb = tb_new(path, NULL);
	tb_python_code(tb, 1, "/src/a.py", "f");
	tb_python_code(tb, 2, "/src/a.py", "<module>");
	tb_stack(tb, 2, 0x1000ull, 0x2000ull);
	tb_python_stack(tb, one, 2);
	tb_event_create(tb, 1);
	tb_thread(tb, 2);
	tb_python_code(tb, 1, "/src/a.py", "<module>");
	tb_python_code(tb, 2, "/src/a.py", "f");
	tb_stack(tb, 2, 0x1000ull, 0x2000ull);
	tb_python_stack(tb, other, 2);
	tb_event_create(tb, 2);
	tb_stack(tb, 0);
	tb_python_stack(tb, other, 2)->flags = SW_PYTHON_CUT;
	tb_event_create(tb, 3);
	tb_stack(tb, 2, 0x1000ull, 0x2000ull);
	tb_event_create(tb, 4);
	tb_close(tb, true);
	struct sw_reader *r = reader();
	uint32_t stack = until(r, SW_REC_EVENT_CREATE).stack;
	const struct sw_trace_stack *s = sw_reader_stack(r, stack);
	ck_assert_uint_eq(s->depth, 2);
	ck_assert_uint_eq(s->ips[1], 0x2000);
	ck_assert_uint_eq(s->python_depth, 2);
	ck_assert_str_eq(s->python[0].function, "f");
	ck_assert_str_eq(s->python[1].file, "/src/a.py");
	ck_assert_uint_eq(s->python[1].line, 20);
	ck_assert(!s->python[0].entry && s->python[1].entry && !s->python_cut);
	ck_assert_uint_eq(until(r, SW_REC_EVENT_CREATE).stack, stack);
	s = sw_reader_stack(r, until(r, SW_REC_EVENT_CREATE).stack);
	ck_assert(s->python_cut && s->depth == 0 && s->python_depth == 2);
	s = sw_reader_stack(r, until(r, SW_REC_EVENT_CREATE).stack);
	ck_assert(s->python_depth == 0 && s->depth == 2);
	ck_assert(sw_reader_has_python(r));
	read_all(r);
	ck_assert_ptr_null(sw_reader_damage(r, 0));
	sw_reader_close(r);
}
END_TEST

START_TEST(python_stacks_that_lie_are_damage)
{
	const struct sw_python_frame lost = {77, SW_PYTHON_ENTRY | 3};
	struct tb *tb = tb_new(path, NULL);
	tb_python_code(tb, 1, "/src/a.py", "f")->file_bytes = 4000;
	tb_python_code(tb, 2, "/src/a.py", "f")->function_bytes = UINT32_MAX;
	tb_python_code(tb, 0, "/src/a.py", "f");
	tb_python_stack(tb, &lost, 1)->depth = UINT32_MAX;
	tb_stack(tb, 0);
	tb_python_stack(tb, &lost, 1)->id = 0;
	tb_stack(tb, 0);
	tb_python_stack(tb, &lost, 1); /* of code that is not there: the frame remains, without a name */
	tb_event_create(tb, 1);
	tb_python_stack(tb, &lost, 1); /* within another one */
	tb_event_create(tb, 2);
	tb_close(tb, true);
	struct sw_reader *r = reader();
	const struct sw_trace_stack *s = sw_reader_stack(r, until(r, SW_REC_EVENT_CREATE).stack);
	ck_assert_uint_eq(s->python_depth, 1);
	ck_assert_str_eq(s->python[0].file, "");
	ck_assert_uint_eq(s->python[0].line, 0);
	ck_assert_ptr_null(sw_reader_stack(r, until(r, SW_REC_EVENT_CREATE).stack));
	read_all(r);
	ck_assert(damage_says(r, "PYTHON_CODE record"));
	ck_assert(damage_says(r, "PYTHON_STACK record"));
	ck_assert(!sw_reader_has_python(r));
	sw_reader_close(r);
}
END_TEST

START_TEST(parameter_blocks_follow_their_writer_and_may_be_redefined)
{
	struct tb *tb = tb_new(path, NULL);
	uint32_t f = tb_function(tb, "k", 1, 8);
	tb_launch(tb, f, 0, 1, 0x11ull);
	tb_launch(tb, f, 0, 1, 0x11ull); /* by number */
	tb_thread(tb, 2);
	tb_launch(tb, f, 0, 2, 0x22ull, 0x23ull); /* number 1 of another writer */
	tb_thread(tb, 1);
	tb_launch(tb, f, 0, 3, 0x31ull, 0x32ull, 0x33ull)->params = 1; /* the recorder reuses number 1 */
	tb_launch(tb, f, 0, 1, 0x11ull);
	tb_launch(tb, f, 0, 0)->params = 99; /* never defined */
	tb_close(tb, true);
	struct sw_reader *r = reader();
	static const uint64_t want[] = {0x11, 0x11, 0x22, 0x31, 0x31};
	static const uint32_t words[] = {1, 1, 2, 3, 3};
	for (size_t i = 0; i < 5; i++) {
		struct sw_record rec = until(r, SW_REC_LAUNCH);
		ck_assert_uint_eq(rec.param_bytes, words[i] * 8);
		ck_assert_uint_eq(*(const uint64_t *)rec.params, want[i]);
	}
	ck_assert_ptr_null(until(r, SW_REC_LAUNCH).params);
	sw_reader_close(r);
}
END_TEST

START_TEST(modules_are_found_by_address_and_time)
{
	struct tb *tb = tb_new(path, NULL);
	uint64_t first = sw_rec_seq(&tb_module(tb, 0x10000, 0x20000, "first.so")->h);
	uint64_t gone = sw_rec_seq(&tb_module_gone(tb, 0x10000)->h);
	uint64_t second = sw_rec_seq(&tb_module(tb, 0x10000, 0x18000, "second.so")->h);
	tb_close(tb, true);
	struct sw_reader *r = reader();
	read_all(r);
	ck_assert_str_eq(sw_reader_module(r, 0x1ffff, first)->path, "first.so");
	ck_assert_ptr_null(sw_reader_module(r, 0x10000, first - 1));
	ck_assert_ptr_null(sw_reader_module(r, 0x10000, gone));
	ck_assert_str_eq(sw_reader_module(r, 0x10000, second)->path, "second.so");
	ck_assert_ptr_null(sw_reader_module(r, 0x18000, second));
	ck_assert_ptr_null(sw_reader_module(r, 0xffff, second));
	ck_assert_ptr_nonnull(sw_reader_module_at(r, 1));
	ck_assert_ptr_null(sw_reader_module_at(r, 2));
	sw_reader_close(r);
}
END_TEST

START_TEST(images_are_put_together_and_equal_ones_held_once)
{
	unsigned char data[50000];
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (unsigned char)(i * 31 >> 3);
	struct tb *tb = tb_new(path, NULL);
	uint32_t a = tb_image(tb, SW_IMAGE_PTX, NULL, data, sizeof data);
	uint32_t b = tb_image(tb, SW_IMAGE_FATBIN, "/usr/bin/app", NULL, 123);
	uint32_t c = tb_image(tb, SW_IMAGE_PTX, NULL, data, sizeof data);
	tb_close(tb, true);
	struct sw_reader *r = reader();
	read_all(r);
	ck_assert_uint_eq(sw_reader_image(r, a)->bytes, sizeof data);
	ck_assert(!memcmp(sw_reader_image_content(r, a), data, sizeof data));
	ck_assert_ptr_eq(sw_reader_image_content(r, a), sw_reader_image_content(r, c));
	ck_assert_str_eq(sw_reader_image(r, b)->path, "/usr/bin/app");
	ck_assert_ptr_null(sw_reader_image_content(r, b));
	sw_reader_close(r);
}
END_TEST

START_TEST(an_image_whose_bytes_are_not_its_hash_has_no_content)
{
	struct tb *tb = tb_new(path, NULL);
	uint32_t id = tb_image(tb, SW_IMAGE_PTX, NULL, "abcdefgh", 8);
	tb_close(tb, false); /* no checksum yet: the chunk is open */
	struct sw_reader *r = reader();
	struct sw_record rec = until(r, SW_REC_IMAGE_DATA);
	uint64_t at = rec.offset + sizeof(struct sw_rec_image_data);
	ck_assert_ptr_nonnull(sw_reader_image_content(r, id));
	sw_reader_close(r);
	patch(at, "X", 1);
	r = reader();
	read_all(r);
	ck_assert_ptr_null(sw_reader_image_content(r, id));
	sw_reader_close(r);
}
END_TEST

/* The content is read when it is asked for, once. */
static bool has_content_with(uint64_t hash)
{
	struct tb *tb = tb_new(path, NULL);
	uint32_t id = tb_image(tb, SW_IMAGE_PTX, NULL, "abcdefgh", 8);
	tb_close(tb, false);
	struct sw_reader *r = reader();
	uint64_t at = until(r, SW_REC_IMAGE).offset + offsetof(struct sw_rec_image, hash);
	sw_reader_close(r);
	patch(at, &hash, sizeof hash);
	r = reader();
	read_all(r);
	bool there = sw_reader_image_content(r, id);
	sw_reader_close(r);
	return there;
}

START_TEST(hashes_of_every_version_are_accepted)
{
	ck_assert(has_content_with(sw_hash_bytes(SW_FNV_START, "abcdefgh", 8)));
	ck_assert(has_content_with(sw_hash_words("abcdefgh", 8)));
	ck_assert(has_content_with(sw_hash_content("abcdefgh", 8)));
	ck_assert(!has_content_with(sw_hash_content("abcdefgi", 8)));
}
END_TEST

START_TEST(an_image_that_changes_before_it_is_read_has_no_content)
{
	for (int asked = 0; asked < 2; asked++) {
		struct tb *tb = tb_new(path, NULL);
		uint32_t id = tb_image(tb, SW_IMAGE_PTX, NULL, "abcdefgh", 8);
		tb_close(tb, true);
		struct sw_reader *r = reader();
		struct sw_record rec = until(r, SW_REC_IMAGE_DATA);
		uint64_t at = rec.offset + sizeof(struct sw_rec_image_data);
		const void *content = asked ? sw_reader_image_content(r, id) : NULL;
		patch(at, "X", 1);
		ck_assert_ptr_eq(sw_reader_image_content(r, id), content);
		ck_assert(!asked || !memcmp(content, "abcdefgh", 8));
		sw_reader_close(r);
	}
}
END_TEST

START_TEST(time_comes_from_the_two_pairs_of_the_header)
{
	struct tb *tb = tb_new(path, &(struct tb_options){.ticks_per_second = 1});
	tb->header.last_ticks = tb->header.start_ticks + 3000000;
	tb->header.last_monotonic_ns = tb->header.start_monotonic_ns + 1000000; /* 3 ticks a nanosecond */
	tb->now = tb->header.start_ticks + 3000;
	tb_event_create(tb, 1)->h.dur = 300;
	struct sw_rec *slow = &tb_event_create(tb, 2)->h;
	slow->dur = 300;
	slow->flags |= SW_RF_DUR_1024;
	tb_event_create(tb, 3)->h.flags |= SW_RF_PENDING;
	tb_close(tb, true);
	struct sw_reader *r = reader();
	struct sw_record rec = until(r, SW_REC_EVENT_CREATE);
	ck_assert_uint_ge(rec.t_ns, 999); /* an API record came first */
	ck_assert_uint_le(rec.t_ns, 1400);
	ck_assert_uint_ge(rec.dur_ns, 99);
	ck_assert_uint_le(rec.dur_ns, 100);
	rec = until(r, SW_REC_EVENT_CREATE);
	ck_assert_uint_ge(rec.dur_ns, 102399);
	ck_assert_uint_le(rec.dur_ns, 102400);
	ck_assert_uint_eq(until(r, SW_REC_EVENT_CREATE).dur_ns, 0);
	sw_reader_close(r);
}
END_TEST

START_TEST(clock_records_refine_the_rate_of_a_killed_program)
{
	struct tb *tb = tb_new(path, &(struct tb_options){.ticks_per_second = 1000000000});
	uint64_t start = tb->header.start_ticks;
	tb->now = start + 2000000;
	tb_clock(tb, tb->header.start_monotonic_ns + 4000000); /* really 2 ns a tick */
	tb_api(tb, "cuEventCreate", "cudaEventCreate");
	tb->now = start + 3000000;
	tb_event_create(tb, 1);
	tb_close(tb, false);
	struct sw_reader *r = reader();
	ck_assert_uint_eq(until(r, SW_REC_EVENT_CREATE).t_ns, 6000000);
	sw_reader_close(r);
}
END_TEST

/* `run --flight` and the judge ask it.  "Not ready", out of memory and an invalid value leave the context as it was. */
START_TEST(some_errors_end_their_context)
{
	ck_assert(sw_status_ends_context(700));
	ck_assert(sw_status_ends_context(721));
	ck_assert(!sw_status_ends_context(600) && !sw_status_ends_context(2) && !sw_status_ends_context(1));
}
END_TEST

START_TEST(only_the_last_ids_of_a_writer_are_kept)
{
	struct tb *tb = tb_new(path, NULL);
	uint32_t f = tb_function(tb, "k", 1, 8);
	for (uint64_t i = 1; i <= SW_FORMAT_LIVE_IDS + 1; i++)
		tb_launch(tb, f, 0, 1, i);
	tb_launch(tb, f, 0, 0)->params = 2;
	tb_launch(tb, f, 0, 0)->params = 1; /* its place was taken by the last one */
	tb_close(tb, true);
	struct sw_reader *r = reader();
	for (uint64_t i = 1; i <= SW_FORMAT_LIVE_IDS + 1; i++)
		ck_assert_uint_eq(*(const uint64_t *)until(r, SW_REC_LAUNCH).params, i);
	ck_assert_uint_eq(*(const uint64_t *)until(r, SW_REC_LAUNCH).params, 2);
	ck_assert_ptr_null(until(r, SW_REC_LAUNCH).params);
	sw_reader_close(r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reader");
	TCase *tc = tcase_create("reader");
	tcase_add_checked_fixture(tc, fresh_path, remove_path);
	tcase_add_test(tc, records_of_many_writers_come_in_the_order_of_the_process);
	tcase_add_test(tc, dictionaries_hold_what_was_described);
	tcase_add_test(tc, stacks_of_all_writers_are_one_by_content);
	tcase_add_test(tc, python_stacks_are_one_by_content);
	tcase_add_test(tc, python_stacks_that_lie_are_damage);
	tcase_add_test(tc, parameter_blocks_follow_their_writer_and_may_be_redefined);
	tcase_add_test(tc, modules_are_found_by_address_and_time);
	tcase_add_test(tc, images_are_put_together_and_equal_ones_held_once);
	tcase_add_test(tc, an_image_whose_bytes_are_not_its_hash_has_no_content);
	tcase_add_test(tc, hashes_of_every_version_are_accepted);
	tcase_add_test(tc, an_image_that_changes_before_it_is_read_has_no_content);
	tcase_add_test(tc, time_comes_from_the_two_pairs_of_the_header);
	tcase_add_test(tc, clock_records_refine_the_rate_of_a_killed_program);
	tcase_add_test(tc, some_errors_end_their_context);
	tcase_add_test(tc, only_the_last_ids_of_a_writer_are_kept);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
