/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps that driver 580.159.04 and cuBLAS 13 made on an H200 (their first halves), and what they were made of. */
#include "detect/kernels/kernel_objects.h"

#include <stdio.h>
#include <string.h>

#include "../run_suite.h"
#include "base/hash.h"

#define HALF 64

static const struct made {
	const char *hex;
	uint64_t address;
	unsigned element, rank;
	uint64_t size[5], stride[4];
} made[] = {
	/* tiled, rank 1 */
	{"00aac9f206780000800204000000000000000000000000000000000000000000"
	 "5c00000000000000000000000000000000000000000000950000000000000000",
	 0x7806f2c9aa00,
	 8,
	 1,
	 {93},
	 {}},
	/* tiled, rank 2 */
	{"0000e0975c7f000010410200e015000000000000000000000000000000000000"
	 "ffb1e8a8ff000000000000000000000000000000000000070000000000000000",
	 0x7f5c97e00000,
	 4,
	 2,
	 {2833822208, 256},
	 {89600}},
	/* tiled, rank 3 */
	{"0000e0975c7f0000a08306003e12000034140000000000000000000000000000"
	 "7f000000260100007fd6d0d20000000000000000300000079de0000000000000",
	 0x7f5c97e00000,
	 4,
	 3,
	 {128, 295, 3536901760},
	 {74720, 82752}},
	/* tiled, rank 4 */
	{"0000e0975c7f0000b0840400401800005203000046b331bc00000000000e0000"
	 "e2000000ff0000007f000000cf00000000000000000000810500030000000000",
	 0x7f5c97e00000,
	 8,
	 4,
	 {227, 256, 128, 208},
	 {99328, 13600, 1012590654560}},
	/* tiled, rank 5 */
	{"00a18c83a6070000408401009a120000be0d000090160000b40d000000000000"
	 "76000000210100007f01000090000000cd0000006e50006f05042e8a00000000",
	 0x7a6838ca100,
	 4,
	 5,
	 {119, 290, 384, 145, 206},
	 {76192, 56288, 92416, 56128}},
	/* im2col, rank 3 */
	{"0000e0975c7f000021640600800e00009a130000000000000000000000000000"
	 "ce000000823226478700000000000000000000000000001b000006008e030000",
	 0x7f5c97e00000,
	 4,
	 3,
	 {207, 1193685635, 136},
	 {59392, 80288}},
	/* im2col, rank 5 */
	{"0000e0975c7f0000c1630100980b00002c05000008050000bafe9aca00d00000"
	 "ff00000043a3f24fae0000007f000000760000001850000b5d08806b82010000",
	 0x7f5c97e00000,
	 4,
	 5,
	 {256, 1341301572, 175, 128, 119},
	 {47488, 21184, 20608, 947739683744}},
	/* of cuBLAS: half of a map */
	{"000060daa97f0000226504004000000000000200000000100000000000000000"
	 "ff010000ff0700000300000000000000000000000000003f1f00000000000000",
	 0x7fa9da600000,
	 2,
	 3,
	 {512, 2048, 4},
	 {1024, 2097152}},
};

static void bytes_of(const struct made *m, unsigned char map[HALF])
{
	for (size_t i = 0; i < HALF; i++) {
		unsigned byte;
		ck_assert_int_eq(sscanf(m->hex + 2 * i, "%2x", &byte), 1);
		map[i] = (unsigned char)byte;
	}
}

START_TEST(a_map_says_what_it_was_made_of)
{
	const struct made *m = &made[_i];
	unsigned char map[HALF];
	struct sw_rec_object object = {0};
	bytes_of(m, map);
	ck_assert(sw_tensor_map_read(90, map, HALF, &object));
	ck_assert_uint_eq(object.kind, SW_OBJECT_TENSOR_MAP);
	ck_assert_uint_eq(object.address, m->address);
	ck_assert_uint_eq(object.rank, m->rank);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(object.size[i], m->size[i]);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_uint_eq(object.stride[i], m->stride[i]);
}
END_TEST

START_TEST(its_range_is_all_of_the_tensor)
{
	const struct made *m = &made[_i];
	struct sw_handles *handles = sw_handles_new();
	unsigned char map[HALF];
	struct sw_range range;
	uint64_t bytes = m->size[0] * m->element;
	bytes_of(m, map);
	ck_assert(sw_handles_find_map(handles, 90, map, HALF, &range));
	ck_assert_uint_eq(range.address, m->address);
	ck_assert(range.loose);
	for (unsigned i = 1; i < m->rank; i++)
		bytes += (m->size[i] - 1) * m->stride[i - 1];
	ck_assert_uint_eq(sw_range_span(&range), bytes);
	sw_handles_free(handles);
}
END_TEST

START_TEST(other_bytes_are_no_map)
{
	static const struct {
		uint8_t at, flip;
	} broken[] = {{0, 8}, {8, 4}, {8, 0x70}, {11, 1}, {9, 0x18}, {8 + 24, 0}};
	struct sw_rec_object object = {0};
	unsigned char map[HALF] = {0};
	ck_assert(!sw_tensor_map_read(90, map, HALF, &object));
	bytes_of(&made[1], map);
	ck_assert(!sw_tensor_map_read(90, map, HALF - 1, &object));
	ck_assert(!sw_tensor_map_read(100, map, HALF, &object));
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		map[broken[i].at] ^= broken[i].flip;
		ck_assert_int_eq(sw_tensor_map_read(90, map, HALF, &object), !broken[i].flip);
		map[broken[i].at] ^= broken[i].flip;
	}
	map[32 + 4 * 4] = 1; /* a fifth dimension of two */
	ck_assert(!sw_tensor_map_read(90, map, HALF, &object));
	bytes_of(&made[1], map);
	memset(map, 0, 8); /* over no memory */
	ck_assert(!sw_tensor_map_read(90, map, HALF, &object));
}
END_TEST

/* A launch is compared before it is evaluated by what its evaluation will find, whatever is recorded then. */
START_TEST(a_lasting_map_says_what_its_record_says)
{
	struct sw_handles *handles = sw_handles_new();
	unsigned char map[128] = {0};
	uint64_t lo, hi;
	bytes_of(&made[1], map);
	struct sw_rec_object record = {.kind = SW_OBJECT_TENSOR_MAP,
				       .side = SW_SIDE_DEVICE,
				       .handle = sw_hash_words(map, sizeof map),
				       .address = made[1].address,
				       .type = 2,
				       .rank = 1,
				       .size = {4096}};
	ck_assert(sw_handles_lasting_map(handles, 90, map, sizeof map, &lo, &hi));
	ck_assert_uint_eq(lo, made[1].address);
	ck_assert_uint_eq(hi - lo, made[1].size[0] * 4 + (made[1].size[1] - 1) * made[1].stride[0]);
	ck_assert(!sw_handles_lasting_map(handles, 80, map, sizeof map, &lo, &hi));
	sw_handles_add(handles, &record);
	ck_assert(!sw_handles_lasting_map(handles, 90, map, sizeof map, &lo, &hi));
	memset(map, 0, sizeof map);
	ck_assert(sw_handles_lasting_map(handles, 90, map, sizeof map, &lo, &hi));
	ck_assert_uint_eq(lo, hi);
	ck_assert(!sw_handles_lasting_map(handles, 90, map, 4, &lo, &hi));
	sw_handles_free(handles);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tensor maps");
	TCase *tests = tcase_create("tensor maps");
	tcase_add_loop_test(tests, a_map_says_what_it_was_made_of, 0, sizeof made / sizeof *made);
	tcase_add_loop_test(tests, its_range_is_all_of_the_tensor, 0, sizeof made / sizeof *made);
	tcase_add_test(tests, other_bytes_are_no_map);
	tcase_add_test(tests, a_lasting_map_says_what_its_record_says);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
