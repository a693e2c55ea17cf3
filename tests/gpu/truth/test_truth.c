/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the truth test that need no GPU: what the recorder writes is read back, an escape is found. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accesses.h"
#include "cover.h"
#include "lines.h"
#include "../../run_suite.h"

/* ---- the recorder's lines ---------------------------------------------------------------------------------------- */

#define PLACES 1024u

static void touch(struct observed *head, struct observed_sector *table, uint64_t address, uint32_t bytes,
		  enum observed_role role)
{
	for (; bytes; bytes--, address++) {
		uint64_t sector = address / OBSERVED_SECTOR, at = (sector * 7) & head->last;
		while (table[at].sector && table[at].sector != sector)
			at = (at + 1) & head->last;
		head->used += !table[at].sector;
		table[at].sector = sector;
		table[at].mask[role] |= 1u << address % OBSERVED_SECTOR;
	}
}

/* Writes launches as the recorder would, and reads them back. */
static void through_file(struct seen *seen)
{
	static char path[] = "/tmp/sw_truth_XXXXXX";
	struct observed_sector *table = calloc(PLACES, sizeof *table);
	struct observed head = {.last = PLACES - 1};
	struct launch launch = {.name = "kernel", .grid = {2, 3, 4}, .block = {32, 2, 1}, .tid = 7, .watched = true};
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert(lines_open(path));
	touch(&head, table, 0x1000, 100, OBSERVED_READ);
	touch(&head, table, 0x1003, 4, OBSERVED_WRITE);
	touch(&head, table, 0x8000, 16, OBSERVED_COPY);
	for (uint64_t row = 0; row < 10; row++)
		touch(&head, table, 0x20010 + 4096 * row, 8, OBSERVED_ATOMIC);
	launch.number = lines_count(&launch, &launch.seen);
	lines_launch(&launch, &head, table);
	memset(table, 0, PLACES * sizeof *table);
	launch.number = lines_count(&launch, &launch.seen);
	lines_launch(&launch, NULL, NULL);
	launch.tid = 8;
	launch.number = lines_count(&launch, &launch.seen);
	ck_assert_uint_eq(launch.seen, 3);
	head = (struct observed){.last = PLACES - 1, .dropped = 1};
	lines_launch(&launch, &head, table);
	lines_note("note", "%s", "a word");
	free(table);
	ck_assert_int_eq(seen_read(path, seen), 0);
	unlink(path);
}

START_TEST(lines_are_read_back)
{
	struct seen seen;
	through_file(&seen);
	ck_assert_uint_eq(seen.errors, 0);
	ck_assert_uint_eq(seen.launch.n, 3);
	struct seen_launch *first = seen_find(&seen, "kernel", 7, 1);
	ck_assert_ptr_nonnull(first);
	ck_assert(first->watched && !first->dropped);
	ck_assert_uint_eq(first->grid[2], 4);
	ck_assert_uint_eq(first->block[0], 32);
	ck_assert_uint_eq(first->rows, 4);
	const struct seen_rows *rows = seen.row.at + first->first;
	ck_assert(rows[0].role == SW_TOUCH_READ && rows[0].address == 0x1000 && rows[0].width == 100 &&
		  rows[0].rows == 1);
	ck_assert(rows[1].role == SW_TOUCH_WRITE && rows[1].address == 0x1003 && rows[1].width == 4);
	ck_assert(rows[2].role == SW_TOUCH_ATOMIC && rows[2].address == 0x20010 && rows[2].width == 8 &&
		  rows[2].pitch == 4096 && rows[2].rows == 10);
	ck_assert(rows[3].role == SW_TOUCH_READ && rows[3].copy && !rows[0].copy && rows[3].width == 16);
	ck_assert(!seen_find(&seen, "kernel", 7, 2)->watched);
	ck_assert(seen_find(&seen, "kernel", 8, 1)->dropped);
	ck_assert_ptr_null(seen_find(&seen, "kernel", 8, 2));
	ck_assert_ptr_null(seen_find(&seen, "other", 7, 1));
	seen_free(&seen);
}
END_TEST

/* ---- what covers what -------------------------------------------------------------------------------------------- */

static uint64_t one_allocation(void *arg, uint64_t address)
{
	(void)arg;
	return address >= 0x1000 && address < 0x2000 ? 0x2000 : 0;
}

static uint64_t its_start(void *arg, uint64_t address)
{
	(void)arg;
	return address >= 0x1000 && address < 0x2000 ? 0x1000 : 0;
}

static struct cover_result check(const struct sw_reach *reach, size_t n, bool wild, const void *params, size_t bytes,
				 struct seen_rows rows)
{
	struct sw_reach copy[4];
	struct cover_memory memory = {one_allocation, its_start, NULL, params, bytes};
	struct cover_result result = {0};
	struct cover cover;
	memcpy(copy, reach, n * sizeof *reach);
	cover_make(&cover, &(struct sw_reaches){copy, n, 4}, wild, &memory);
	cover_check(&cover, &rows, 1, &result);
	cover_free(&cover);
	return result;
}

static struct sw_reach box(uint8_t role, uint64_t address, uint64_t width, uint64_t pitch, uint64_t rows)
{
	return (struct sw_reach){.role = role,
				 .extent = SW_EXTENT_BOX,
				 .root = {.kind = SW_ROOT_PARAM, .span = 8},
				 .address = address,
				 .width = width,
				 .pitch = pitch,
				 .rows = rows,
				 .slices = 1};
}

static uint64_t escaped(struct sw_reach reach, struct seen_rows rows)
{
	return check(&reach, 1, false, NULL, 0, rows).escaped;
}

START_TEST(a_byte_beyond_the_box_escapes)
{
	struct sw_reach plain = box(SW_TOUCH_WRITE, 0x1000, 64, 0, 1);
	ck_assert_uint_eq(escaped(plain, (struct seen_rows){0x1000, 64, 64, 1, SW_TOUCH_WRITE, false}), 0);
	ck_assert_uint_eq(escaped(plain, (struct seen_rows){0x1000, 65, 65, 1, SW_TOUCH_WRITE, false}), 1);
	ck_assert_uint_eq(escaped(plain, (struct seen_rows){0xfff, 2, 2, 1, SW_TOUCH_WRITE, false}), 1);
	struct cover_result result =
		check(&plain, 1, false, NULL, 0, (struct seen_rows){0x1030, 32, 32, 1, SW_TOUCH_WRITE, false});
	ck_assert_uint_eq(result.first.address, 0x1040);
	ck_assert_uint_eq(result.observed, 32);
}
END_TEST

START_TEST(the_role_must_match)
{
	struct seen_rows read = {0x1000, 4, 4, 1, SW_TOUCH_READ, false},
			 write = {0x1000, 4, 4, 1, SW_TOUCH_WRITE, false},
			 atomic = {0x1000, 4, 4, 1, SW_TOUCH_ATOMIC, false};
	ck_assert_uint_eq(escaped(box(SW_TOUCH_READ, 0x1000, 4, 0, 1), write), 4);
	ck_assert_uint_eq(escaped(box(SW_TOUCH_WRITE, 0x1000, 4, 0, 1), read), 4);
	ck_assert_uint_eq(escaped(box(SW_TOUCH_READ | SW_TOUCH_WRITE, 0x1000, 4, 0, 1), read), 0);
	ck_assert_uint_eq(escaped(box(SW_TOUCH_ATOMIC, 0x1000, 4, 0, 1), atomic), 0);
	ck_assert_uint_eq(escaped(box(SW_TOUCH_ATOMIC, 0x1000, 4, 0, 1), write), 4);
	ck_assert_uint_eq(escaped(box(SW_TOUCH_READ | SW_TOUCH_WRITE, 0x1000, 4, 0, 1), atomic), 0);
	ck_assert_uint_eq(escaped(box(SW_TOUCH_WRITE, 0x1000, 4, 0, 1), atomic), 4);
}
END_TEST

/* Bytes that escape from a footprint of PTX. */
static uint64_t escaped_ptx(struct sw_reach reach, struct seen_rows rows)
{
	struct cover_memory memory = {one_allocation, its_start, NULL, NULL, 0};
	struct cover_result result = {0};
	struct cover cover;
	cover_make(&cover, &(struct sw_reaches){&reach, 1, 1}, false, &memory);
	cover.ptx = true;
	cover_check(&cover, &rows, 1, &result);
	cover_free(&cover);
	return result.escaped;
}

START_TEST(machine_code_may_do_more_than_its_ptx)
{
	struct seen_rows read = {0x1000, 4, 4, 1, SW_TOUCH_READ, false},
			 write = {0x1000, 4, 4, 1, SW_TOUCH_WRITE, false};
	ck_assert_uint_eq(escaped(box(SW_TOUCH_ATOMIC, 0x1000, 4, 0, 1), read), 4);
	ck_assert_uint_eq(escaped_ptx(box(SW_TOUCH_ATOMIC, 0x1000, 4, 0, 1), read), 0);
	ck_assert_uint_eq(escaped_ptx(box(SW_TOUCH_ATOMIC, 0x1000, 4, 0, 1), write), 4);
	/* Copies of 16 bytes of which 8 are read. */
	struct seen_rows copy = {0x1000, 16, 16, 1, SW_TOUCH_READ, true};
	ck_assert_uint_eq(escaped_ptx(box(SW_TOUCH_READ, 0x1000, 8, 0, 1), copy), 0);
	ck_assert_uint_eq(escaped(box(SW_TOUCH_READ, 0x1000, 8, 0, 1), copy), 0);
	copy.width = 32;
	ck_assert_uint_eq(escaped_ptx(box(SW_TOUCH_READ, 0x1000, 8, 0, 1), copy), 16);
	copy = (struct seen_rows){0x1000, 16, 16, 1, SW_TOUCH_READ, false};
	ck_assert_uint_eq(escaped_ptx(box(SW_TOUCH_READ, 0x1000, 8, 0, 1), copy), 8);
}
END_TEST

START_TEST(rows_have_gaps)
{
	struct sw_reach rows = box(SW_TOUCH_READ, 0x1000, 16, 64, 4);
	ck_assert_uint_eq(escaped(rows, (struct seen_rows){0x1000, 16, 64, 4, SW_TOUCH_READ, false}), 0);
	ck_assert_uint_eq(escaped(rows, (struct seen_rows){0x1000, 16, 64, 5, SW_TOUCH_READ, false}), 16);
	ck_assert_uint_eq(escaped(rows, (struct seen_rows){0x1000, 64, 64, 1, SW_TOUCH_READ, false}), 48);
	rows.slices = 3, rows.slice = 0x1000;
	ck_assert_uint_eq(escaped(rows, (struct seen_rows){0x30c0, 16, 0, 1, SW_TOUCH_READ, false}), 0);
	ck_assert_uint_eq(escaped(rows, (struct seen_rows){0x40c0, 16, 0, 1, SW_TOUCH_READ, false}), 16);
	/* Slices that interleave with rows: columns of 4 bytes, side by side. */
	rows = box(SW_TOUCH_READ, 0x1000, 4, 64, 4);
	rows.slices = 16, rows.slice = 4;
	ck_assert_uint_eq(escaped(rows, (struct seen_rows){0x1000, 256, 0, 1, SW_TOUCH_READ, false}), 0);
	ck_assert_uint_eq(escaped(rows, (struct seen_rows){0x1000, 257, 0, 1, SW_TOUCH_READ, false}), 1);
	/* Rows that overlap. */
	rows = box(SW_TOUCH_READ, 0x1000, 16, 4, 10);
	ck_assert_uint_eq(escaped(rows, (struct seen_rows){0x1000, 53, 0, 1, SW_TOUCH_READ, false}), 1);
}
END_TEST

START_TEST(open_reaches_end_with_the_allocation)
{
	struct sw_reach open = box(SW_TOUCH_READ, 0x1800, 0, 0, 0);
	open.extent = SW_EXTENT_OPEN;
	ck_assert_uint_eq(escaped(open, (struct seen_rows){0x1ff0, 16, 0, 1, SW_TOUCH_READ, false}), 0);
	ck_assert_uint_eq(escaped(open, (struct seen_rows){0x1ff0, 32, 0, 1, SW_TOUCH_READ, false}), 16);
	ck_assert_uint_eq(escaped(open, (struct seen_rows){0x17ff, 2, 0, 1, SW_TOUCH_READ, false}), 1);
	/* Several pointers: each word of the block that points into memory. */
	uint64_t params[3] = {0, 5, 0x1900};
	open.address = 0;
	open.root.param = 8;
	open.root.span = 16;
	struct seen_rows rows = {0x1900, 4, 0, 1, SW_TOUCH_READ, false};
	ck_assert_uint_eq(check(&open, 1, false, params, sizeof params, rows).escaped, 0);
	ck_assert_uint_eq(check(&open, 1, false, params, 16, rows).escaped, 4);
	rows.address = 0x18fe;
	ck_assert_uint_eq(check(&open, 1, false, params, sizeof params, rows).escaped, 2);
}
END_TEST

START_TEST(what_the_footprint_does_not_know_is_no_escape)
{
	struct sw_reach some[2] = {box(SW_TOUCH_READ, 0x1000, 16, 0, 1), box(SW_TOUCH_WRITE, 0, 0, 0, 0)};
	some[1].extent = SW_EXTENT_OPEN;
	some[1].root.kind = SW_ROOT_INDIRECT;
	struct seen_rows read = {0x1100, 4, 0, 1, SW_TOUCH_READ, false},
			 write = {0x1100, 4, 0, 1, SW_TOUCH_WRITE, false};
	ck_assert_uint_eq(check(some, 2, false, NULL, 0, write).elsewhere, 4);
	ck_assert_uint_eq(check(some, 2, false, NULL, 0, write).escaped, 0);
	ck_assert_uint_eq(check(some, 2, false, NULL, 0, read).escaped, 4);
	some[1].root.kind = SW_ROOT_SYMBOL;
	ck_assert_uint_eq(check(some, 2, false, NULL, 0, write).escaped, 4);
	write.address = 0x3000; /* in no allocation */
	ck_assert_uint_eq(check(some, 2, false, NULL, 0, write).elsewhere, 4);
	ck_assert_uint_eq(check(some, 1, true, NULL, 0, read).escaped, 0);
	ck_assert_uint_eq(check(some, 1, true, NULL, 0, read).wild, 4);
}
END_TEST

START_TEST(bytes_count_once)
{
	struct sw_reach some[3] = {box(SW_TOUCH_READ, 0x1000, 16, 64, 4), box(SW_TOUCH_READ, 0x1008, 16, 64, 4),
				   box(SW_TOUCH_WRITE, 0x1000, 16, 0, 1)};
	struct cover_memory memory = {one_allocation, its_start, NULL, NULL, 0};
	struct cover cover;
	cover_make(&cover, &(struct sw_reaches){some, 3, 3}, false, &memory);
	ck_assert_uint_eq(cover_bytes(&cover), 24 * 4 + 16);
	cover_free(&cover);
	some[0].rows = (uint64_t)1 << 62;
	cover_make(&cover, &(struct sw_reaches){some, 1, 3}, false, &memory);
	ck_assert_uint_eq(cover_bytes(&cover), UINT64_MAX);
	cover_free(&cover);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("truth");
	TCase *tests = tcase_create("truth");
	tcase_add_test(tests, lines_are_read_back);
	tcase_add_test(tests, a_byte_beyond_the_box_escapes);
	tcase_add_test(tests, the_role_must_match);
	tcase_add_test(tests, machine_code_may_do_more_than_its_ptx);
	tcase_add_test(tests, rows_have_gaps);
	tcase_add_test(tests, open_reaches_end_with_the_allocation);
	tcase_add_test(tests, what_the_footprint_does_not_know_is_no_escape);
	tcase_add_test(tests, bytes_count_once);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
