/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of killed programs, foreign and damaged files: what is whole is read, what is wrong is named. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader/trace_file.h"
#include "../run_suite.h"

START_TEST(only_errors_are_failures)
{
	struct tb *tb = tb_new(path, NULL);
	tb_query(tb, SW_SYNC_EVENT, 1, 600); /* CUDA_ERROR_NOT_READY */
	tb_query(tb, SW_SYNC_EVENT, 1, 700);
	tb->status = 600;
	tb_event_create(tb, 1);
	tb->status = 0;
	tb_event_create(tb, 1);
	tb_close(tb, true);
	struct sw_reader *r = reader();
	ck_assert(!until(r, SW_REC_QUERY).failed);
	ck_assert(until(r, SW_REC_QUERY).failed);
	ck_assert(until(r, SW_REC_EVENT_CREATE).failed);
	ck_assert(!until(r, SW_REC_EVENT_CREATE).failed);
	sw_reader_close(r);
}
END_TEST

START_TEST(a_killed_program_leaves_a_readable_trace)
{
	struct tb *tb = tb_new(path, NULL);
	tb_event_create(tb, 1);
	tb_sync_begin(tb, SW_SYNC_CONTEXT, 0);
	tb_close(tb, false);
	struct sw_reader *r = reader();
	struct sw_record rec = until(r, SW_REC_SYNC);
	ck_assert(rec.rec->flags & SW_RF_BEGIN);
	ck_assert_uint_eq(rec.dur_ns, 0);
	uint16_t api = rec.rec->api;
	ck_assert_uint_eq(read_all(r), 0);
	ck_assert(!sw_reader_totals(r).closed);
	ck_assert(!sw_reader_totals(r).damaged);
	ck_assert_uint_eq(sw_reader_calls(r, api), 1); /* counted here, as COUNTS is missing */
	ck_assert_ptr_null(sw_reader_damage(r, 0));
	sw_reader_close(r);
}
END_TEST

START_TEST(missing_numbers_are_told_as_a_loss)
{
	struct tb *tb = tb_new(path, NULL);
	tb_event_create(tb, 1);
	uint64_t before = tb->seq;
	tb->seq += 5;
	tb_event_create(tb, 2);
	tb_loss(tb, before + 1, before + 5, 7); /* two more never had a number */
	tb_close(tb, true);
	struct sw_reader *r = reader();
	until(r, SW_REC_EVENT_CREATE);
	struct sw_record rec = until(r, SW_REC_LOSS);
	const struct sw_rec_loss *loss = (const void *)rec.rec;
	ck_assert_uint_eq(loss->first_seq, before + 1);
	ck_assert_uint_eq(loss->last_seq, before + 5);
	ck_assert_uint_eq(loss->records, 5);
	ck_assert_uint_eq(((const struct sw_rec_event *)(const void *)until(r, SW_REC_EVENT_CREATE).rec)->event, 2);
	ck_assert_uint_eq(sw_reader_totals(r).lost, 5);
	until(r, SW_REC_LOSS);
	ck_assert_uint_eq(sw_reader_totals(r).lost, 7);
	ck_assert(damage_says(r, "are missing"));
	ck_assert(!sw_reader_totals(r).damaged); /* the recorder left them out */
	sw_reader_close(r);
}
END_TEST

static const struct sw_rec_cut *next_cut(struct sw_reader *r, struct sw_record *rec)
{
	*rec = until(r, SW_REC_CUT);
	return (const void *)rec->rec;
}

/* Twin of the test above: the same gaps, but a CUT says that they are meant. */
START_TEST(numbers_of_a_pause_are_not_lost)
{
	struct tb *tb = tb_new(path, NULL);
	tb_event_create(tb, 1);
	tb_pause(tb);
	tb_event_create(tb, 2);
	tb_go_on(tb, 70);
	tb_event_create(tb, 3);
	tb_pause(tb);
	tb_go_on(tb, 7)->flags = SW_CUT_AT_END;
	tb_close(tb, true);
	struct sw_reader *r = reader();
	struct sw_record rec;
	ck_assert_uint_eq(next_cut(r, &rec)->flags, SW_CUT_BEGINS);
	ck_assert(sw_reader_totals(r).paused);
	ck_assert_uint_eq(((const struct sw_rec_event *)(const void *)until(r, SW_REC_EVENT_CREATE).rec)->event, 2);
	ck_assert_uint_eq(next_cut(r, &rec)->calls, 70);
	ck_assert(!sw_reader_totals(r).paused);
	ck_assert_uint_eq(((const struct sw_rec_event *)(const void *)until(r, SW_REC_EVENT_CREATE).rec)->event, 3);
	read_all(r);
	const struct sw_trace_totals totals = sw_reader_totals(r);
	ck_assert_uint_eq(totals.lost, 0);
	ck_assert_uint_eq(totals.left_out, 77);
	ck_assert_uint_eq(totals.pauses, 2);
	ck_assert(totals.paused);
	ck_assert_ptr_null(sw_reader_damage(r, 0));
	sw_reader_close(r);
}
END_TEST

/* A gap that the CUT does not cover in full is a loss. */
START_TEST(a_cut_excuses_its_own_range_only)
{
	struct tb *tb = tb_new(path, NULL);
	tb_event_create(tb, 1);
	tb->seq += 3;
	tb_pause(tb)->first_seq = tb->seq - 1;
	tb_go_on(tb, 0);
	tb->seq += 2;
	tb_event_create(tb, 2);
	tb_close(tb, true);
	struct sw_reader *r = reader();
	read_all(r);
	ck_assert_uint_eq(sw_reader_totals(r).lost, 4 + 2);
	sw_reader_close(r);
}
END_TEST

START_TEST(a_cut_without_a_number_is_handed_out_behind_its_range)
{
	struct tb *tb = tb_new(path, NULL);
	tb_event_create(tb, 1);
	const uint64_t first = tb->seq + 1, last = tb->seq + 20;
	tb_dropped(tb, first, last, 18);
	tb->seq += 4;
	tb_event_create(tb, 2);
	tb->seq += 7;
	tb_event_create(tb, 3);
	tb->seq = last + 3; /* two are lost */
	tb_event_create(tb, 4);
	tb_close(tb, true);
	struct sw_reader *r = reader();
	struct sw_record rec;
	for (unsigned i = 0; i < 3; i++)
		until(r, SW_REC_EVENT_CREATE);
	const struct sw_rec_cut *cut = next_cut(r, &rec);
	ck_assert_uint_eq(rec.seq, last);
	ck_assert_uint_eq(sw_rec_seq(&cut->h), last);
	ck_assert_uint_eq(cut->why, SW_CUT_DROPPED);
	ck_assert_uint_eq(((const struct sw_rec_loss *)(const void *)until(r, SW_REC_LOSS).rec)->first_seq, last + 1);
	read_all(r);
	ck_assert_uint_eq(sw_reader_totals(r).lost, 3);
	ck_assert_uint_eq(sw_reader_totals(r).dropped_calls, 18);
	sw_reader_close(r);
}
END_TEST

START_TEST(a_cut_to_the_end_is_handed_out_there)
{
	struct tb *tb = tb_new(path, NULL);
	tb_event_create(tb, 1);
	tb_dropped(tb, tb->seq + 1, tb->seq + 100, 100);
	tb_close(tb, false);
	struct sw_reader *r = reader();
	struct sw_record rec;
	next_cut(r, &rec);
	ck_assert_uint_eq(read_all(r), 0);
	ck_assert_uint_eq(sw_reader_totals(r).lost, 0);
	sw_reader_close(r);
}
END_TEST

START_TEST(foreign_files_are_refused)
{
	struct sw_error error = {0};
	patch(0, "hello, world\n", 13);
	ck_assert_int_eq(open_code(&error), SW_E_FORMAT);
	ck_assert(strstr(error.text, path) && strstr(error.text, "not a syncwatch trace"));
	cut(0);
	ck_assert_int_eq(open_code(&error), SW_E_FORMAT);
	cut(0);
	patch(0, SW_FORMAT_MAGIC, 8);
	ck_assert_int_eq(open_code(&error), SW_E_FORMAT);
	ck_assert(strstr(error.text, "offset 8"));
	unlink(path);
	ck_assert_int_eq(open_code(&error), -ENOENT);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(open_code(&error), SW_E_FORMAT);
	rmdir(path);
}
END_TEST

START_TEST(a_newer_version_is_named)
{
	struct sw_error error = {0};
	struct tb *tb = tb_new(path, NULL);
	tb->header.major = SW_FORMAT_MAJOR + 1;
	tb_close(tb, true);
	ck_assert_int_eq(open_code(&error), SW_E_VERSION);
	char version[32];
	snprintf(version, sizeof version, "version %d.%d", SW_FORMAT_MAJOR + 1, SW_FORMAT_MINOR);
	ck_assert(strstr(error.text, path) && strstr(error.text, version));
}
END_TEST

START_TEST(header_fields_out_of_bounds_are_refused)
{
	static const struct {
		size_t at;
		uint32_t value;
	} bad[] = {
		{offsetof(struct sw_file_header, byte_order), 0x04030201},
		{offsetof(struct sw_file_header, major), 0},
		{offsetof(struct sw_file_header, header_bytes), 0},
		{offsetof(struct sw_file_header, header_bytes), 5000},
		{offsetof(struct sw_file_header, chunk_bytes), 0},
		{offsetof(struct sw_file_header, chunk_bytes), 4097},
		{offsetof(struct sw_file_header, chunk_bytes), 0xfffff000},
	};
	struct sw_error error = {0};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tb_close(tb_new(path, NULL), true);
		sw_reader_close(reader());
		patch(bad[i].at, &bad[i].value, sizeof bad[i].value);
		ck_assert_int_eq(open_code(&error), SW_E_FORMAT);
		char offset[32];
		snprintf(offset, sizeof offset, "offset %zu", bad[i].at);
		ck_assert_msg(strstr(error.text, offset) != NULL, "%s", error.text);
	}
}
END_TEST

/* A trace of many small chunks; returns the offset of chunk `n`. */
static uint64_t many_chunks(uint64_t n, bool ended)
{
	struct tb *tb = tb_new(path, &(struct tb_options){.chunk_bytes = 4096});
	for (uint32_t i = 0; i < 1000; i++)
		tb_event_record(tb, 1, i);
	tb_close(tb, ended);
	return 4096 + n * 4096;
}

START_TEST(a_damaged_chunk_is_skipped_and_named)
{
	uint64_t chunk = many_chunks(3, true);
	struct sw_reader *r = reader();
	size_t whole = read_all(r);
	sw_reader_close(r);
	patch(chunk + sizeof(struct sw_chunk_header) + 100, "\xff\xee", 2);
	r = reader();
	size_t rest = read_all(r);
	ck_assert_uint_lt(rest, whole);
	ck_assert_uint_gt(rest, whole - 4096 / sizeof(struct sw_rec_event_record) - 2);
	ck_assert(damage_says(r, "checksum"));
	char offset[32];
	snprintf(offset, sizeof offset, "offset %llu:", (unsigned long long)chunk);
	ck_assert(damage_says(r, offset));
	ck_assert(damage_says(r, "are missing"));
	ck_assert_uint_gt(sw_reader_totals(r).lost, 0);
	ck_assert(sw_reader_totals(r).closed);
	ck_assert(sw_reader_totals(r).damaged);
	sw_reader_close(r);
}
END_TEST

START_TEST(a_truncated_file_yields_what_is_whole)
{
	uint64_t chunk = many_chunks(3, true);
	for (unsigned at = 0; at < 4096; at += 513) {
		many_chunks(3, true);
		cut(chunk + at);
		struct sw_reader *r = reader();
		size_t n = read_all(r);
		ck_assert_uint_gt(n, 3 * 4000 / sizeof(struct sw_rec_event_record) - 20);
		ck_assert(damage_says(r, "the file ends"));
		/* The header says so: it is the file that was cut, not the program. */
		ck_assert(sw_reader_totals(r).closed);
		ck_assert(sw_reader_totals(r).damaged);
		sw_reader_close(r);
	}
}
END_TEST

START_TEST(lengths_out_of_bounds_end_the_chunk)
{
	static const uint16_t words[] = {0, 1, 3, 0xffff, 600};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct tb *tb = tb_new(path, NULL);
		tb_event_create(tb, 1);
		tb_event_create(tb, 2);
		tb_thread(tb, 2);
		tb_event_create(tb, 3);
		tb_close(tb, false);
		struct sw_reader *r = reader();
		uint64_t at = until(r, SW_REC_EVENT_CREATE).offset;
		sw_reader_close(r);
		patch(at + offsetof(struct sw_rec, words), &words[i], sizeof words[i]);
		r = reader();
		struct sw_record rec = until(r, SW_REC_EVENT_CREATE);
		ck_assert_uint_eq(((const struct sw_rec_event *)(const void *)rec.rec)->event, 3);
		ck_assert_uint_eq(read_all(r), 0);
		char offset[32];
		snprintf(offset, sizeof offset, "offset %llu:", (unsigned long long)at);
		ck_assert(damage_says(r, offset));
		sw_reader_close(r);
	}
}
END_TEST

START_TEST(descriptions_longer_than_their_record_are_named_and_skipped)
{
	struct tb *tb = tb_new(path, NULL);
	tb_module(tb, 0x1000, 0x2000, "a.so")->path_bytes = 5000;
	tb_notice(tb, "n")->text_bytes = UINT32_MAX;
	tb_device(tb, 1, "d")->name_bytes = 100;
	tb_name(tb, SW_NAME_STREAM, 1, 0, "s")->name_bytes = 9;
	tb_launch(tb, 1, 0, 1, 1ull)->param_bytes = 999;
	tb_event_create(tb, 9);
	tb_close(tb, true);
	struct sw_reader *r = reader();
	until(r, SW_REC_EVENT_CREATE);
	ck_assert_ptr_null(sw_reader_module_at(r, 0));
	ck_assert_ptr_null(sw_reader_notice(r, 0));
	ck_assert_ptr_null(sw_reader_device(r, 1));
	ck_assert(damage_says(r, "MODULE record"));
	ck_assert(damage_says(r, "NOTICE record"));
	ck_assert(damage_says(r, "DEVICE record"));
	ck_assert(damage_says(r, "NAME record"));
	ck_assert(damage_says(r, "LAUNCH record"));
	sw_reader_close(r);
}
END_TEST

START_TEST(kinds_of_a_newer_minor_version_are_skipped)
{
	struct tb *tb = tb_new(path, NULL);
	((struct sw_rec *)tb_add(tb, SW_REC_OTHER, 64, true))->kind = 201;
	((struct sw_rec *)tb_add(tb, SW_REC_OTHER, 64, false))->kind = 50;
	tb_event_create(tb, 9);
	tb->header.minor = SW_FORMAT_MINOR + 1;
	tb_close(tb, true);
	struct sw_reader *r = reader();
	until(r, SW_REC_EVENT_CREATE);
	ck_assert_ptr_null(sw_reader_damage(r, 0));
	ck_assert_uint_eq(sw_reader_totals(r).lost, 0);
	sw_reader_close(r);
}
END_TEST

START_TEST(numbers_that_go_back_are_damage)
{
	struct tb *tb = tb_new(path, NULL);
	tb_event_create(tb, 1);
	tb->seq--;
	tb_event_create(tb, 2);
	tb_event_create(tb, 3);
	tb_close(tb, true);
	struct sw_reader *r = reader();
	read_all(r);
	ck_assert(damage_says(r, "comes after"));
	ck_assert_uint_eq(sw_reader_totals(r).operations, 1);
	sw_reader_close(r);
}
END_TEST

START_TEST(damage_everywhere_gives_a_bounded_number_of_lines)
{
	struct tb *tb = tb_new(path, &(struct tb_options){.chunk_bytes = 4096});
	for (uint32_t i = 0; i < 500; i++) {
		tb_event_create(tb, i);
		tb->seq += 2;
	}
	tb_close(tb, true);
	struct sw_reader *r = reader();
	read_all(r);
	ck_assert_ptr_nonnull(sw_reader_damage(r, 100));
	ck_assert(strstr(sw_reader_damage(r, 100), "not listed"));
	ck_assert_ptr_null(sw_reader_damage(r, 101));
	ck_assert_uint_eq(sw_reader_totals(r).lost, 2 * 500);
	sw_reader_close(r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("damage");
	TCase *tc = tcase_create("damage");
	tcase_add_checked_fixture(tc, fresh_path, remove_path);
	tcase_add_test(tc, only_errors_are_failures);
	tcase_add_test(tc, a_killed_program_leaves_a_readable_trace);
	tcase_add_test(tc, missing_numbers_are_told_as_a_loss);
	tcase_add_test(tc, numbers_of_a_pause_are_not_lost);
	tcase_add_test(tc, a_cut_excuses_its_own_range_only);
	tcase_add_test(tc, a_cut_without_a_number_is_handed_out_behind_its_range);
	tcase_add_test(tc, a_cut_to_the_end_is_handed_out_there);
	tcase_add_test(tc, foreign_files_are_refused);
	tcase_add_test(tc, a_newer_version_is_named);
	tcase_add_test(tc, header_fields_out_of_bounds_are_refused);
	tcase_add_test(tc, a_damaged_chunk_is_skipped_and_named);
	tcase_add_test(tc, a_truncated_file_yields_what_is_whole);
	tcase_add_test(tc, lengths_out_of_bounds_end_the_chunk);
	tcase_add_test(tc, descriptions_longer_than_their_record_are_named_and_skipped);
	tcase_add_test(tc, kinds_of_a_newer_minor_version_are_skipped);
	tcase_add_test(tc, numbers_that_go_back_are_damage);
	tcase_add_test(tc, damage_everywhere_gives_a_bounded_number_of_lines);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
