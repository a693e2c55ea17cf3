/* SPDX-License-Identifier: Apache-2.0 */
/* Launches as they are recorded, short or whole, come out of the reader as they were; and what of a damaged trace. */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../run_suite.h"
#include "launch_sequence.h"
#include "reader/reader.h"

static char trace[64];

static void setup(void)
{
	snprintf(trace, sizeof trace, "/tmp/syncwatch-launches-%d.swt", (int)getpid());
}

static void teardown(void)
{
	unlink(trace);
}

static void record(uint64_t seed, unsigned count)
{
	char command[512];
	snprintf(command, sizeof command,
		 "SYNCWATCH_OPTIONS=trace=%s:quiet:report=0:stacks=0 tests/preload/launch_program %llu %u", trace,
		 (unsigned long long)seed, count);
	unlink(trace);
	ck_assert_int_eq(system(command), 0);
}

struct counts {
	unsigned launches, wrong, without_block, lost, damage;
	unsigned last_without_block; /* the number of the launch */
	uint64_t bytes;
};

static bool differs(const struct made_launch *e, const struct sw_record *r)
{
	const struct sw_rec_launch *x = (const void *)r->rec, *y = &e->launch;
	return x->function != y->function || x->stream != y->stream || memcmp(x->grid, y->grid, sizeof x->grid) ||
	       memcmp(x->block, y->block, sizeof x->block) || x->shared_bytes != y->shared_bytes ||
	       (x->flags & ~(SW_LAUNCH_INLINE | SW_LAUNCH_CHANGED)) != y->flags ||
	       (r->params && (r->param_bytes != e->bytes || memcmp(r->params, e->block, e->bytes)));
}

/* Generates the same sequence again and compares it with what the reader returns. */
static struct counts compare(uint64_t seed)
{
	struct launch_sequence *s = calloc(1, sizeof *s);
	struct sw_error error;
	struct sw_reader *reader;
	struct sw_record r;
	struct counts c = {0};
	s->state = seed;
	ck_assert_int_eq(sw_reader_open(trace, &reader, &error), 0);
	while (sw_reader_next(reader, &r, &error) == 1) {
		const struct sw_rec_loss *loss = (const void *)r.rec;
		for (uint64_t i = 0; r.rec->kind == SW_REC_LOSS && i < loss->records; i++, c.lost++)
			next_launch(s);
		if (r.rec->kind != SW_REC_LAUNCH)
			continue;
		const struct made_launch *e = next_launch(s);
		c.launches++;
		c.without_block += e->bytes && !r.params;
		c.last_without_block = e->bytes && !r.params ? c.launches : c.last_without_block;
		c.wrong += differs(e, &r);
	}
	while (sw_reader_damage(reader, c.damage))
		c.damage++;
	c.bytes = sw_reader_totals(reader).bytes;
	sw_reader_close(reader);
	free(s);
	return c;
}

START_TEST(test_all_as_they_were)
{
	const uint64_t seed = 1000 + (uint64_t)_i;
	record(seed, 60000);
	const struct counts c = compare(seed);
	ck_assert_uint_eq(c.launches, 60000);
	ck_assert_uint_eq(c.wrong, 0);
	ck_assert_uint_eq(c.without_block, 0);
	ck_assert_uint_eq(c.lost, 0);
	ck_assert_uint_eq(c.damage, 0);
	ck_assert_uint_ge(c.bytes, 60000 * sizeof(struct sw_rec_launch_again)); /* counted as they were written */
}
END_TEST

static void change(uint64_t offset, unsigned char with)
{
	const int fd = open(trace, O_RDWR);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, &with, 1, (off_t)offset), 1);
	close(fd);
}

/* A chunk whose checksum is wrong is lost: nothing of later ones may be, since each defines what it refers to.  Blocks
   of parameters may be unknown for some chunks, none may be a wrong one. */
START_TEST(test_lost_chunk)
{
	record(77, 60000);
	change(4096 + 262144 + 5000, 0xa5);
	const struct counts c = compare(77);
	ck_assert_uint_gt(c.lost, 1000);
	ck_assert_uint_lt(c.lost, 8000);
	ck_assert_uint_eq(c.launches + c.lost, 60000);
	ck_assert_uint_eq(c.wrong, 0);
	ck_assert_uint_lt(c.without_block, c.launches / 2);
	ck_assert_uint_lt(c.last_without_block, c.launches * 3 / 4);
	ck_assert_uint_le(c.damage, 3);
}
END_TEST

/* The first whole LAUNCH of an open chunk loses its number: what refers to it is a loss, and said to be. */
START_TEST(test_missing_launch)
{
	struct sw_rec_launch whole;
	record(5, 200);
	const int fd = open(trace, O_RDWR);
	off_t at = SW_FORMAT_HEADER_BYTES;
	struct sw_chunk_header head;
	ck_assert_int_eq(pread(fd, &head, sizeof head, at), sizeof head);
	head.closed = 0; /* no checksum to compare */
	ck_assert_int_eq(pwrite(fd, &head, sizeof head, at), sizeof head);
	for (at += (off_t)sizeof head;; at += whole.h.words * 8) {
		ck_assert_int_eq(pread(fd, &whole, sizeof whole, at), sizeof whole);
		if (whole.h.kind == SW_REC_LAUNCH && whole.launch)
			break;
	}
	whole.launch = 60000;
	ck_assert_int_eq(pwrite(fd, &whole, sizeof whole, at), sizeof whole);
	close(fd);
	const struct counts c = compare(5);
	ck_assert_uint_eq(c.launches + c.lost, 200);
	ck_assert_uint_eq(c.wrong, 0);
	ck_assert_uint_eq(c.damage, c.lost);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("launches");
	TCase *tc = tcase_create("launches");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_all_as_they_were, 0, 8);
	tcase_add_test(tc, test_lost_chunk);
	tcase_add_test(tc, test_missing_launch);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
