/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of bytes: what they share, against bytes painted one by one. */
#include "detect/judge.h"
#include "detect/memory/access.h"

enum { PLANE = 4096 };

static void paint(const struct sw_range *r, bool map[PLANE])
{
	for (uint64_t s = 0; s < r->slices; s++)
		for (uint64_t row = 0; row < r->rows; row++)
			for (uint64_t x = 0; x < r->width; x++)
				map[r->address + s * r->slice + row * r->pitch + x] = true;
}

static struct sw_range random_box(void)
{
	static const uint64_t pitches[] = {8, 8, 12, 16, 16, 20};
	uint64_t size[3] = {1 + random_below(10), 1 + random_below(6), 1 + random_below(3)};
	uint64_t pitch = pitches[random_below(6)];
	if (size[0] > pitch)
		size[0] = pitch;
	uint64_t slice = pitch * (size[1] + random_below(3));
	return sw_range_box(random_below(400), size, pitch, slice, SW_WRITE, SW_EV_EXACT);
}

START_TEST(overlap_of_boxes_is_exact)
{
	unsigned yes = 0;
	for (int round = 0; round < 20000; round++) {
		bool map[2][PLANE] = {{0}};
		struct sw_range a = random_box(), b = random_box();
		bool want = false;
		paint(&a, map[0]);
		paint(&b, map[1]);
		for (int i = 0; i < PLANE; i++)
			want |= map[0][i] && map[1][i];
		ck_assert_int_eq(sw_range_overlap(&a, &b), want);
		ck_assert_int_eq(sw_range_overlap(&b, &a), want);
		yes += want;
		uint64_t last = 0;
		for (uint64_t i = 0; i < PLANE; i++)
			if (map[0][i])
				last = i;
		ck_assert_uint_eq(sw_range_span(&a), last + 1 - a.address);
	}
	ck_assert_uint_gt(yes, 1000);
	ck_assert_uint_lt(yes, 19000);
}
END_TEST

START_TEST(overlap_of_boxes_within_a_part_is_exact)
{
	unsigned yes = 0, less = 0;
	for (int round = 0; round < 20000; round++) {
		bool map[2][PLANE] = {{0}}, want = false;
		struct sw_range a = random_box(), b = random_box();
		uint64_t lo = random_below(600), hi = lo + 1 + random_below(200);
		paint(&a, map[0]);
		paint(&b, map[1]);
		for (uint64_t i = lo; i < hi; i++)
			want |= map[0][i] && map[1][i];
		ck_assert_int_eq(sw_range_overlap_within(&a, &b, lo, hi), want);
		ck_assert_int_eq(sw_range_overlap_within(&b, &a, lo, hi), want);
		yes += want;
		less += !want && sw_range_overlap(&a, &b);
	}
	ck_assert_uint_gt(yes, 1000);
	ck_assert_uint_gt(less, 1000);
}
END_TEST

START_TEST(hostile_boxes_end_soon)
{
	uint64_t huge[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX}, thin[3] = {1, UINT64_MAX, UINT64_MAX};
	struct sw_range a = sw_range_box(1, huge, UINT64_MAX, UINT64_MAX, SW_WRITE, SW_EV_EXACT);
	struct sw_range b = sw_range_box(0, thin, 2, 3, SW_WRITE, SW_EV_EXACT);
	struct sw_range c = sw_range_box(1, thin, 4, 5, SW_WRITE, SW_EV_EXACT);
	const struct sw_range *all[] = {&a, &b, &c};
	for (int i = 0; i < 9; i++) {
		sw_range_overlap(all[i / 3], all[i % 3]);
		sw_range_overlap_within(all[i / 3], all[i % 3], 1u << 20, UINT64_MAX);
		ck_assert_uint_gt(sw_range_span(all[i % 3]), 0);
	}
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, overlap_of_boxes_is_exact);
	tcase_add_test(tc, overlap_of_boxes_within_a_part_is_exact);
	tcase_add_test(tc, hostile_boxes_end_soon);
}

int main(void)
{
	return run_cases("ranges", add);
}
