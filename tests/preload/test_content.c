/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of the program's memory in a record: only what can be read and may hold an address, whole or not at all. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recording.h"
#include "../run_suite.h"

#define PAGE 4096u

/* False: nothing was taken. */
static __attribute__((noinline)) bool fake_copy(const void *from, uint32_t bytes)
{
	struct sw_call call;
	bool taken = false;
	ck_assert(sw_call_enter(&call, API_WAIT, 0, __builtin_frame_address(0)));
	struct sw_rec_copy *r = sw_call_record(&call, SW_REC_COPY, sizeof *r);
	if (r) {
		r->src = (uint64_t)(uintptr_t)from;
		r->bytes = bytes;
		taken = sw_record_pointers(&r->h, from, bytes);
		if (taken)
			r->flags |= SW_COPY_CONTENT;
	}
	sw_call_publish(&call);
	sw_call_leave(&call, 0);
	return taken;
}

/* As many bytes as a page of x86-64 has; what follows them cannot be read. */
static char *half_readable(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(pages, MAP_FAILED);
	char *last = pages + page - PAGE;
	for (uint32_t at = 0; at < PAGE; at += 8)
		memcpy(last + at, &(uint64_t){0x7f0000000000 + at}, 8);
	ck_assert_int_eq(mprotect(pages + page, page, PROT_NONE), 0);
	return last;
}

static void copies(void)
{
	char *pages = half_readable();
	char text[64] = "no address, only words of a text that has sixty-four characters";
	const uint64_t numbers[4] = {12, UINT32_MAX, UINT64_MAX, 0x3ff0000000000000}, low[2] = {1, 0x302000000};
	ck_assert(fake_copy(pages, PAGE));
	ck_assert(fake_copy(pages + PAGE - 12, 12)); /* the last word is no whole one */
	ck_assert(!fake_copy(pages + PAGE - 8, 16)); /* not all of it can be read */
	ck_assert(!fake_copy(pages + PAGE, 64));
	ck_assert(!fake_copy(NULL, 64));
	ck_assert(!fake_copy((void *)-64l, 64));
	ck_assert(!fake_copy((void *)0x5357000000000000, 64)); /* no address at all */
	ck_assert(!fake_copy(text, sizeof text));
	ck_assert(!fake_copy(numbers, sizeof numbers));
	ck_assert(fake_copy(low, sizeof low));
	ck_assert(fake_copy(numbers, 4)); /* a flag */
	ck_assert(fake_copy(numbers, 8));
	fake_wait(1, 0);
}

static const struct sw_rec_copy *copy_at(const struct trace *t, unsigned n, bool taken)
{
	const struct sw_rec_copy *r = trace_find(t, SW_REC_COPY, n);
	ck_assert_ptr_nonnull(r);
	ck_assert_uint_eq(r->flags, taken ? SW_COPY_CONTENT : 0);
	ck_assert_uint_eq(r->h.words * 8u, sizeof *r + (taken ? (r->bytes + 7) / 8 * 8 : 0));
	return r;
}

START_TEST(what_is_taken)
{
	static const bool taken[] = {true, true, false, false, false, false, false, false, false, true, true, true};
	const uint64_t first = 0x7f0000000000;
	struct trace t;
	ck_assert_int_eq(record_in_child(NULL, copies, exit), 0);
	read_whole(&t, "t.swt");
	for (unsigned i = 0; i < sizeof taken; i++)
		copy_at(&t, i, taken[i]);
	ck_assert_int_eq(memcmp(copy_at(&t, 0, true) + 1, &first, sizeof first), 0);
	ck_assert_int_eq(memcmp(copy_at(&t, 9, true) + 1, &(uint64_t[]){1, 0x302000000}, 16), 0);
	const struct sw_rec_stream_wait *after = trace_find(&t, SW_REC_STREAM_WAIT, 0);
	ck_assert_uint_eq(after->stream, 1); /* what was read in vain left nothing */
	ck_assert_uint_eq(after->event, 0);
	ck_assert_uint_eq(after->flags, 0);
	trace_free(&t);
}
END_TEST

static void many_copies(void)
{
	char *pages = half_readable();
	for (unsigned i = 0; i < 2000; i++)
		fake_copy(i % 3 ? pages : pages + 8, PAGE);
}

/* Whatever is left of a chunk. */
START_TEST(many_of_a_page)
{
	struct trace t;
	unsigned taken = 0;
	ck_assert_int_eq(record_in_child("stacks=0", many_copies, exit), 0);
	read_whole(&t, "t.swt");
	ck_assert_uint_eq(t.kinds[SW_REC_COPY], 2000);
	ck_assert_uint_eq(t.header->records_lost, 0);
	for (unsigned i = 0; i < 2000; i++) {
		const struct sw_rec_copy *r = trace_find(&t, SW_REC_COPY, i);
		copy_at(&t, i, r->flags != 0);
		taken += r->flags != 0;
	}
	ck_assert_uint_eq(taken, 1333);
	trace_free(&t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("content");
	TCase *c = tcase_create("content");
	tcase_add_checked_fixture(c, enter_directory, remove_directory);
	tcase_set_timeout(c, 120);
	tcase_add_test(c, what_is_taken);
	tcase_add_test(c, many_of_a_page);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
