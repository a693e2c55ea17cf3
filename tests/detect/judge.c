/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "../run_suite.h"

static char path[64];

struct tb *empty(void)
{
	snprintf(path, sizeof path, "test-detect-%d.swt", (int)getpid());
	return tb_new(path, NULL);
}

struct tb *two_streams(void)
{
	struct tb *tb = empty();
	tb_alloc(tb, SW_MEM_DEVICE, DEV, 1 << 20);
	tb_alloc(tb, SW_MEM_DEVICE, DEV2, 1 << 20);
	tb_alloc(tb, SW_MEM_PINNED, PIN, 1 << 20);
	tb_stream_create(tb, S1, NONBLOCKING);
	tb_stream_create(tb, S2, NONBLOCKING);
	tb_event_create(tb, E1);
	tb_event_create(tb, E2);
	return tb;
}

struct sw_judgement *judged_with(struct tb *tb, const struct sw_judge_options *options)
{
	struct sw_reader *reader;
	struct sw_judgement *j;
	struct sw_error error = {0};
	tb_close(tb, true);
	ck_assert_msg(!sw_reader_open(path, &reader, &error), "%s", error.text);
	ck_assert_msg(!sw_judge(reader, options, &j, &error), "%s", error.text);
	sw_reader_close(reader);
	unlink(path);
	return j;
}

struct sw_judgement *judged_damaged(struct tb *tb, const struct sw_judge_options *options, uint64_t seed,
				    unsigned bytes)
{
	struct sw_reader *reader;
	struct sw_judgement *j;
	struct sw_error error = {0};
	tb_close(tb, false);
	FILE *f = fopen(path, "r+b");
	ck_assert_ptr_nonnull(f);
	fseek(f, 0, SEEK_END);
	uint64_t size = (uint64_t)ftell(f);
	for (unsigned i = 0; i < bytes; i++) {
		uint64_t random = sw_hash_u64(seed * 1000003 + i);
		fseek(f, (long)(SW_FORMAT_HEADER_BYTES + random % (size - SW_FORMAT_HEADER_BYTES)), SEEK_SET);
		fputc((int)(random >> 56), f);
	}
	fclose(f);
	if (sw_reader_open(path, &reader, &error)) {
		unlink(path);
		return NULL;
	}
	sw_judge(reader, options, &j, &error);
	sw_reader_close(reader);
	unlink(path);
	return j;
}

struct sw_judgement *judged(struct tb *tb)
{
	return judged_with(tb, NULL);
}

size_t count_of(const struct sw_judgement *j, int id)
{
	size_t n = 0;
	for (size_t i = 0; i < j->findings.n; i++)
		n += j->findings.at[i].id == id;
	return n;
}

const struct sw_finding *only(const struct sw_judgement *j, int id)
{
	ck_assert_msg(count_of(j, id) == 1, "SW%d: %zu times", id, count_of(j, id));
	for (size_t i = 0; i < j->findings.n; i++)
		if (j->findings.at[i].id == id)
			return &j->findings.at[i];
	return NULL;
}

void no_hazards(const struct sw_judgement *j)
{
	for (size_t i = 0; i < j->findings.n; i++)
		ck_assert_msg(!sw_finding_is(j->findings.at[i].id, SW_FAMILY_HAZARD), "SW%d", j->findings.at[i].id);
}

void h2d(struct tb *tb, uint64_t dst, uint64_t src, uint64_t bytes, uint64_t stream)
{
	tb_copy(tb, dst, SW_SIDE_DEVICE, src, SW_SIDE_HOST, bytes, stream);
}

void d2h(struct tb *tb, uint64_t dst, uint64_t src, uint64_t bytes, uint64_t stream)
{
	tb_copy(tb, dst, SW_SIDE_HOST, src, SW_SIDE_DEVICE, bytes, stream);
}

void d2d(struct tb *tb, uint64_t dst, uint64_t src, uint64_t bytes, uint64_t stream)
{
	tb_copy(tb, dst, SW_SIDE_DEVICE, src, SW_SIDE_DEVICE, bytes, stream);
}

void order(struct tb *tb, uint64_t from, uint64_t to)
{
	tb_event_record(tb, E1, from);
	tb_stream_wait(tb, to, E1);
}

uint64_t random_below(uint64_t n)
{
	static uint64_t state;
	return sw_hash_u64(++state) % n;
}

int run_cases(const char *name, void (*add)(TCase *tc))
{
	Suite *suite = suite_create(name);
	TCase *tc = tcase_create(name);
	tcase_set_timeout(tc, 60);
	add(tc);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
