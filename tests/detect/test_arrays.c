/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, their levels, and the textures and surfaces over them. */
#include "detect/judge.h"
#include "detect/kernels.h"

#define ARRAY  0x5000ull
#define LEVEL  0x5100ull
#define OTHER  0x5200ull
#define WIDTH  256u
#define HEIGHT 64u

static struct tb *program(void)
{
	struct tb *tb = with_code(two_streams());
	tb_alloc(tb, SW_MEM_ARRAY, ARRAY, WIDTH * HEIGHT);
	return tb;
}

/* Rows of bytes into the array, or out of it. */
static struct sw_box *region(struct tb *tb, uint64_t array, bool in, uint64_t x, uint64_t y, uint64_t width,
			     uint64_t rows, uint64_t stream)
{
	struct sw_rec_copy_nd *c =
		in ? tb_copy_2d(tb, array, SW_SIDE_ARRAY, 0, PIN, SW_SIDE_HOST, WIDTH, width, rows, stream)
		   : tb_copy_2d(tb, PIN + 65536, SW_SIDE_HOST, WIDTH, array, SW_SIDE_ARRAY, 0, width, rows, stream);
	struct sw_box *box = in ? &c->dst : &c->src;
	box->x = x;
	box->y = y;
	return box;
}

static void expect(struct tb *tb, int id, size_t times, enum sw_severity severity)
{
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, id), times);
	if (times)
		ck_assert_int_eq(only(j, id)->severity, severity);
	else
		no_hazards(j);
	sw_judgement_free(j);
}

/* Regions of one array: x and y of the second one, whose rows are as wide as those of the first. */
START_TEST(regions)
{
	static const struct {
		uint64_t x, y;
		bool meet;
	} at[] = {{0, 32, true}, {63, 39, true}, {64, 32, false}, {0, 40, false}, {0, 24, false}, {0, 25, true}};
	struct tb *tb = program();
	region(tb, ARRAY, true, 0, 32, 64, 8, S1);
	region(tb, ARRAY, true, at[_i].x, at[_i].y, 64, 8, S2);
	expect(tb, 103, at[_i].meet, SW_ERROR);
}
END_TEST

START_TEST(rows_in_order)
{
	struct tb *tb = program();
	region(tb, ARRAY, true, 0, 0, WIDTH, HEIGHT, S1);
	if (_i)
		order(tb, S1, S2);
	region(tb, ARRAY, false, 0, 32, WIDTH, 1, S2);
	expect(tb, 101, !_i, SW_ERROR);
}
END_TEST

/* The last row is still written when the array is freed. */
START_TEST(freed_in_flight)
{
	struct tb *tb = program();
	region(tb, ARRAY, true, 0, HEIGHT - 1, WIDTH, 1, S1);
	if (_i)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	tb_free(tb, SW_MEM_ARRAY, ARRAY);
	expect(tb, 105, !_i, SW_NOTE); /* measured: the call waits */
}
END_TEST

/* A kernel that reads a texture: somewhere in the array.  1: ordered; 2: of another array. */
START_TEST(texture_of_array)
{
	struct tb *tb = program();
	tb_alloc(tb, SW_MEM_ARRAY, OTHER, WIDTH * HEIGHT);
	tb_object(tb, SW_OBJECT_TEXTURE, 7, _i == 2 ? OTHER : ARRAY, 0)->side = SW_SIDE_ARRAY;
	test_launch(tb, &(struct test_call)FETCH(DEV, 7), S1);
	if (_i == 1)
		order(tb, S1, S2);
	region(tb, ARRAY, true, 0, 48, WIDTH, 1, S2);
	expect(tb, 102, !_i, SW_WARNING);
}
END_TEST

/* Many regions were copied before: the array is one thing all the same. */
START_TEST(texture_after_many_regions)
{
	struct tb *tb = program();
	tb_object(tb, SW_OBJECT_TEXTURE, 7, ARRAY, 0)->side = SW_SIDE_ARRAY;
	for (uint64_t y = 0; y < HEIGHT; y++)
		region(tb, ARRAY, true, 0, y, WIDTH, 1, S1);
	test_launch(tb, &(struct test_call)FETCH(DEV, 7), S1);
	region(tb, ARRAY, true, 0, 48, WIDTH, 1, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 102), 1);
	sw_judgement_free(j);
}
END_TEST

/* A mipmapped array is one allocation.  0: two levels; 1: one level by two handles; 2: a texture of all levels;
   3: a texture of the other level; 4: the mipmapped array is freed. */
START_TEST(levels)
{
	struct tb *tb = program();
	for (uint64_t i = 0; i < 3; i++) {
		struct sw_rec_alloc *a = tb_alloc(tb, SW_MEM_ARRAY, LEVEL + i, 0);
		a->owner = ARRAY;
		a->extra = i < 2 ? i : 1;
	}
	if (_i == 2 || _i == 3) {
		tb_object(tb, SW_OBJECT_TEXTURE, 7, _i == 2 ? ARRAY : LEVEL, 0)->side = SW_SIDE_ARRAY;
		test_launch(tb, &(struct test_call)FETCH(DEV, 7), S2);
	} else {
		region(tb, _i ? LEVEL + 2 : LEVEL, true, 0, 3, WIDTH, 1, S2);
	}
	if (_i == 4)
		tb_free(tb, SW_MEM_ARRAY, ARRAY);
	else
		region(tb, LEVEL + 1, true, 0, 3, WIDTH, 1, S1);
	expect(tb,
	       _i == 4	 ? 105
	       : _i == 2 ? 102
			 : 103,
	       _i == 1 || _i == 2 || _i == 4,
	       _i == 2	 ? SW_WARNING
	       : _i == 4 ? SW_NOTE
			 : SW_ERROR);
}
END_TEST

/* Layers 1 and 2 are written by a surface.  Layers 0 to 3 are copied. */
START_TEST(layers)
{
	struct tb *tb = program();
	tb_object(tb, SW_OBJECT_SURFACE, 7, ARRAY, 0)->side = SW_SIDE_ARRAY;
	test_launch(tb, &(struct test_call)DRAW(7, 1), S1)->grid[0] = 2;
	region(tb, ARRAY, true, 0, 48, WIDTH, 1, S2)->z = (uint64_t)_i;
	expect(tb, 103, _i == 1 || _i == 2, SW_WARNING);
}
END_TEST

/* Two kernels.  0: other layers; 1: one in common. */
START_TEST(layers_of_kernels)
{
	struct tb *tb = program();
	tb_object(tb, SW_OBJECT_SURFACE, 7, ARRAY, 0)->side = SW_SIDE_ARRAY;
	test_launch(tb, &(struct test_call)DRAW(7, 0), S1)->grid[0] = 3;
	test_launch(tb, &(struct test_call)DRAW(7, 3 - _i), S2)->grid[0] = 3;
	expect(tb, 103, _i, SW_WARNING);
}
END_TEST

/* Which layer is written stands in memory: possible at most. */
START_TEST(any_layer)
{
	struct tb *tb = program();
	tb_object(tb, SW_OBJECT_SURFACE, 7, ARRAY, 0)->side = SW_SIDE_ARRAY;
	test_launch(tb, &(struct test_call)DRAW_ANY(7, DEV), S1);
	region(tb, ARRAY, true, 0, 48, WIDTH, 1, S2)->z = 1;
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = true});
	ck_assert_int_eq(only(j, 103)->confidence, SW_POSSIBLE);
	sw_judgement_free(j);
}
END_TEST

/* A layer of all levels of a mipmapped array, or of one of them.  0: the same layer of a level; 1: another; 2: the
   surface is of that level, the same layer; 3: of another level. */
START_TEST(layers_of_levels)
{
	struct tb *tb = program();
	for (uint64_t i = 0; i < 2; i++) {
		struct sw_rec_alloc *a = tb_alloc(tb, SW_MEM_ARRAY, LEVEL + i, 0);
		a->owner = ARRAY;
		a->extra = i;
	}
	tb_object(tb, SW_OBJECT_SURFACE, 7, _i < 2 ? ARRAY : LEVEL + (uint64_t)(_i == 2), 0)->side = SW_SIDE_ARRAY;
	test_launch(tb, &(struct test_call)DRAW(7, 1), S1)->grid[0] = 1;
	region(tb, LEVEL + 1, true, 0, 3, WIDTH, 1, S2)->z = _i == 1 ? 2 : 1;
	expect(tb, 103, _i == 0 || _i == 2, SW_WARNING);
}
END_TEST

/* Rows of pitched memory under a texture.  0: the last of them; 1: the one after it; 2: what lies between two rows; 3:
   the first; 4: the end of linear memory; 5: what comes after it. */
START_TEST(rows_of_texture)
{
	static const uint64_t at[] = {63 * 512, 64 * 512, 63 * 512 - 100, 0, 64 * 512 - 4, 64 * 512};
	struct tb *tb = program();
	struct sw_rec_object *o = tb_object(tb, SW_OBJECT_TEXTURE, 7, DEV2, _i < 4 ? 256 : 64 * 512);
	if (_i < 4) {
		o->rank = 2;
		o->size[1] = 64;
		o->stride[0] = 512;
	}
	d2d(tb, DEV2 + 4096, DEV + 65536, 8, S1); /* another object starts there */
	d2d(tb, DEV2 + 8192, DEV + 65536, 8, S1);
	test_launch(tb, &(struct test_call)FETCH(DEV, 7), S1);
	h2d(tb, DEV2 + at[_i], PIN, 64, S2);
	expect(tb, 102, _i == 0 || _i == 3 || _i == 4, SW_WARNING);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, regions, 0, 6);
	tcase_add_loop_test(tc, rows_in_order, 0, 2);
	tcase_add_loop_test(tc, freed_in_flight, 0, 2);
	tcase_add_loop_test(tc, texture_of_array, 0, 3);
	tcase_add_test(tc, texture_after_many_regions);
	tcase_add_loop_test(tc, levels, 0, 5);
	tcase_add_loop_test(tc, layers, 0, 4);
	tcase_add_loop_test(tc, layers_of_kernels, 0, 2);
	tcase_add_test(tc, any_layer);
	tcase_add_loop_test(tc, layers_of_levels, 0, 4);
	tcase_add_loop_test(tc, rows_of_texture, 0, 6);
}

int main(void)
{
	return run_cases("arrays", add);
}
