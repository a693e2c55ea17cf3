/* SPDX-License-Identifier: Apache-2.0 */
/* Content that a packed trace has in place of files: code, functions, lines.  Never other code than what was packed. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader/pack_builder.h"
#include "reader/trace_file.h"
#include "../run_suite.h"

static const char code[] = "the code of the launched kernel";

/* The end of the run is no record of the packing. */
static void end(struct tb *tb)
{
	tb_thread(tb, 1);
	tb_close(tb, true);
}

static struct sw_reader *all(void)
{
	struct sw_reader *r = reader();
	read_all(r);
	return r;
}

static bool has_code(const struct sw_trace_image *image)
{
	return image->code && image->code_bytes == sizeof code && !memcmp(image->code, code, sizeof code);
}

START_TEST(code_of_a_file_is_there_from_its_description_on)
{
	struct tb *tb = tb_new(path, NULL);
	uint32_t id = tb_image(tb, SW_IMAGE_FATBIN, "/lib/libkernels.so", NULL, 0);
	tb_event_create(tb, 1);
	tb_pack(tb, "1.2.3");
	tb_pack_code(tb, id, code, sizeof code, SW_PACKED_WHOLE, "");
	tb_pack_data(tb, id, 0, code, 10);
	tb_pack_data(tb, id, 10, code + 10, sizeof code - 10);
	end(tb);
	struct sw_reader *r = reader();
	struct sw_record rec;
	struct sw_error error;
	while (sw_reader_next(r, &rec, &error) == 1 && rec.rec->kind != SW_REC_IMAGE)
		;
	ck_assert_ptr_nonnull(sw_reader_image(r, id));
	ck_assert(has_code(sw_reader_image(r, id)));
	ck_assert_ptr_null(sw_reader_image_content(r, id));
	ck_assert_str_eq(sw_reader_packer(r), "1.2.3");
	sw_reader_close(r);
}
END_TEST

START_TEST(code_from_memory_is_there_when_its_content_was)
{
	struct tb *tb = tb_new(path, NULL);
	struct sw_rec_image *image = tb_add(tb, SW_REC_IMAGE, sizeof *image, true);
	image->id = 7;
	image->bytes = 100;
	image->data = 1;
	tb_pack_left_out(tb, 7, 0, 60);
	tb_event_create(tb, 1);
	tb_pack_left_out(tb, 7, 60, 40);
	tb_pack(tb, "1");
	tb_pack_code(tb, 7, code, sizeof code, SW_PACKED_WHOLE, "");
	tb_pack_data(tb, 7, 0, code, sizeof code);
	end(tb);
	struct sw_reader *r = reader();
	struct sw_record rec;
	struct sw_error error;
	while (sw_reader_next(r, &rec, &error) == 1 && rec.rec->kind != SW_REC_EVENT_CREATE)
		;
	ck_assert_ptr_null(sw_reader_image(r, 7)->code);
	read_all(r);
	ck_assert(has_code(sw_reader_image(r, 7)));
	ck_assert_ptr_null(sw_reader_damage(r, 0));
	sw_reader_close(r);
}
END_TEST

START_TEST(equal_code_is_held_once)
{
	struct tb *tb = tb_new(path, NULL);
	uint32_t a = tb_image(tb, SW_IMAGE_FATBIN, "/lib/a.so", NULL, 0);
	uint32_t b = tb_image(tb, SW_IMAGE_FATBIN, "/lib/b.so", NULL, 0);
	tb_pack(tb, "1");
	tb_pack_code(tb, a, code, sizeof code, SW_PACKED_WHOLE, "");
	tb_pack_data(tb, a, 0, code, sizeof code);
	tb_pack_code(tb, b, code, sizeof code, SW_PACKED_WHOLE, "")->data = 2;
	end(tb);
	struct sw_reader *r = all();
	ck_assert(has_code(sw_reader_image(r, a)));
	ck_assert_ptr_eq(sw_reader_image(r, a)->code, sw_reader_image(r, b)->code);
	sw_reader_close(r);
}
END_TEST

START_TEST(code_that_is_not_its_hash_is_none)
{
	struct tb *tb = tb_new(path, NULL);
	uint32_t id = tb_image(tb, SW_IMAGE_FATBIN, "/lib/libkernels.so", NULL, 0);
	tb_pack(tb, "1");
	tb_pack_code(tb, id, code, sizeof code, SW_PACKED_WHOLE, "")->hash ^= 1;
	tb_pack_data(tb, id, 0, code, sizeof code);
	end(tb);
	struct sw_reader *r = all();
	ck_assert_ptr_null(sw_reader_image(r, id)->code);
	ck_assert_str_eq(sw_reader_image(r, id)->code_why, "unreadable: the packed code is damaged");
	sw_reader_close(r);
}
END_TEST

START_TEST(why_there_is_no_code_is_told)
{
	struct tb *tb = tb_new(path, NULL);
	uint32_t id = tb_image(tb, SW_IMAGE_FATBIN, "/lib/libkernels.so", NULL, 0);
	tb_pack(tb, "1");
	tb_pack_code(tb, id, NULL, 0, SW_PACKED_CHANGED, "unreadable: it was replaced");
	end(tb);
	struct sw_reader *r = all();
	ck_assert_ptr_null(sw_reader_image(r, id)->code);
	ck_assert_uint_eq(sw_reader_image(r, id)->code_state, SW_PACKED_CHANGED);
	ck_assert_str_eq(sw_reader_image(r, id)->code_why, "unreadable: it was replaced");
	sw_reader_close(r);
}
END_TEST

START_TEST(frames_are_found_by_module_and_offset)
{
	struct tb *tb = tb_new(path, NULL);
	tb_module(tb, 0x400000, 0x500000, "/lib/libapp.so");
	tb_module(tb, 0x600000, 0x700000, "/lib/other.so");
	tb_pack(tb, "1");
	struct sw_rec_pack_module *module = tb_add(tb, SW_REC_PACK_MODULE, sizeof *module + 24 + 14, false);
	module->module = 1;
	module->build_id_bytes = 20;
	module->path_bytes = 14;
	memset(module + 1, 0xab, 20); /* as tb_module does */
	memcpy((char *)(module + 1) + 24, "/lib/libapp.so", 14);
	tb_pack_frame(tb, 1, 0x1234, "_Z5innerv", "/src/a.h", 12)->flags = SW_PACK_INLINED;
	tb_pack_frame(tb, 1, 0x1234, "_Z5outerv", "/src/a.c", 99);
	tb_pack_frame(tb, 1, 0x2000, "", "", 0);
	end(tb);
	struct sw_reader *r = all();
	ck_assert_ptr_null(sw_reader_damage(r, 0));
	const struct sw_trace_names *names = sw_reader_names(r, sw_reader_module_at(r, 0));
	ck_assert_ptr_nonnull(names);
	ck_assert_ptr_null(sw_reader_names(r, sw_reader_module_at(r, 1)));
	const struct sw_trace_frame *frame = sw_trace_names_at(names, 0x1234);
	ck_assert_str_eq(frame->symbol, "_Z5innerv");
	ck_assert(frame->inlined);
	frame = frame->next;
	ck_assert_str_eq(frame->symbol, "_Z5outerv");
	ck_assert_str_eq(frame->file, "/src/a.c");
	ck_assert_uint_eq(frame->line, 99);
	ck_assert_ptr_null(frame->next);
	ck_assert_ptr_null(sw_trace_names_at(names, 0x2000)->symbol);
	ck_assert_ptr_null(sw_trace_names_at(names, 0x9999));
	sw_reader_close(r);
}
END_TEST

START_TEST(an_object_of_another_build_has_no_names_here)
{
	struct tb *tb = tb_new(path, NULL);
	tb_module(tb, 0x400000, 0x500000, "/lib/libapp.so");
	tb_pack(tb, "1");
	tb_pack_module(tb, 1, SW_PACKED_WHOLE, "/lib/libapp.so"); /* without a build id */
	tb_pack_frame(tb, 1, 0x1234, "_Z5wrongv", "", 0);
	end(tb);
	struct sw_reader *r = all();
	ck_assert_ptr_null(sw_reader_names(r, sw_reader_module_at(r, 0)));
	sw_reader_close(r);
}
END_TEST

START_TEST(packing_counts_as_no_record_of_the_run)
{
	struct tb *tb = tb_new(path, NULL);
	end(tb);
	struct sw_reader *r = all();
	uint64_t records = sw_reader_totals(r).records;
	sw_reader_close(r);
	tb = tb_new(path, NULL);
	tb_pack(tb, "1");
	tb_pack_module(tb, 1, SW_PACKED_WHOLE, "/lib/libapp.so");
	end(tb);
	r = all();
	ck_assert_uint_eq(sw_reader_totals(r).records, records);
	sw_reader_close(r);
}
END_TEST

START_TEST(damaged_records_are_told_and_change_nothing)
{
	struct tb *tb = tb_new(path, NULL);
	uint32_t id = tb_image(tb, SW_IMAGE_FATBIN, "/lib/libkernels.so", NULL, 0);
	uint32_t other = tb_image(tb, SW_IMAGE_FATBIN, "/lib/other.so", NULL, 0);
	tb_pack(tb, "1")->version_bytes = 1 << 20;
	tb_pack_code(tb, id, code, sizeof code, SW_PACKED_WHOLE, "");
	tb_pack_code(tb, id, code, sizeof code, SW_PACKED_WHOLE, ""); /* twice */
	tb_pack_data(tb, id, 5, code, 5);			      /* a gap */
	tb_pack_data(tb, id, 0, code, 8)->bytes = UINT32_MAX;	      /* longer than the record */
	tb_pack_data(tb, 99, 0, code, 8);			      /* of nothing */
	tb_pack_code(tb, other, code, 4, SW_PACKED_WHOLE, "");
	tb_pack_data(tb, other, 0, code, 8); /* more than was said */
	tb_pack_left_out(tb, 99, 0, 8);
	tb_pack_frame(tb, 3, 0, "nobody's", "", 0);
	tb_pack_module(tb, 1, SW_PACKED_WHOLE, "/a")->path_bytes = UINT32_MAX;
	tb_pack_module(tb, 2, SW_PACKED_WHOLE, "/a")->build_id_bytes = UINT32_MAX;
	tb_pack_module(tb, 5, SW_PACKED_WHOLE, "/a");
	tb_pack_frame(tb, 5, 0, "symbol", "file", 1)->symbol_bytes = UINT32_MAX;
	tb_pack_frame(tb, 5, 0, "symbol", "file", UINT32_MAX);
	tb_pack_table(tb, "GPU", "/table", "text")->text_bytes = UINT32_MAX;
	end(tb);
	struct sw_reader *r = all();
	size_t n = 0;
	while (sw_reader_damage(r, n))
		n++;
	ck_assert_uint_eq(n, 12);
	ck_assert_ptr_null(sw_reader_table(r, "GPU"));
	ck_assert_ptr_null(sw_reader_packer(r));
	ck_assert_ptr_null(sw_reader_image(r, id)->code);
	ck_assert_ptr_null(sw_reader_image(r, other)->code);
	sw_reader_close(r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("packed");
	TCase *tc = tcase_create("packed");
	tcase_add_checked_fixture(tc, fresh_path, remove_path);
	tcase_add_test(tc, code_of_a_file_is_there_from_its_description_on);
	tcase_add_test(tc, code_from_memory_is_there_when_its_content_was);
	tcase_add_test(tc, equal_code_is_held_once);
	tcase_add_test(tc, code_that_is_not_its_hash_is_none);
	tcase_add_test(tc, why_there_is_no_code_is_told);
	tcase_add_test(tc, frames_are_found_by_module_and_offset);
	tcase_add_test(tc, an_object_of_another_build_has_no_names_here);
	tcase_add_test(tc, packing_counts_as_no_record_of_the_run);
	tcase_add_test(tc, damaged_records_are_told_and_change_nothing);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
