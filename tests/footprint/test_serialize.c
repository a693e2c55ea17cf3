/* SPDX-License-Identifier: Apache-2.0 */
/* The flat form of footprints: is read as it was written, and every index in it is checked. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "footprint/footprint.h"
#include "../run_suite.h"

/* A footprint with a bit of everything: param 0 + 4 * k for k < param 8, in a loop within a loop. */
static struct sw_param param[] = {{0, 8}, {8, 4}};
static struct sw_term term[] = {
	{.op = SW_OP_PARAM, .width = 64},
	{.op = SW_OP_CONST, .width = 64, .imm = 4},
	{.op = SW_TERM_STEP, .width = 64, .a = 0, .b = 1, .c = 1},
	{.op = SW_OP_PARAM, .width = 32, .imm = 8},
	{.op = SW_OP_EXTEND, .width = 64, .flags = SW_SIGNED, .a = 3, .imm = 32},
	{.op = SW_OP_COMPARE, .width = 1, .a = 2, .b = 4, .imm = SW_LT, .imm2 = 64},
	{.op = SW_TERM_ANY, .width = 64, .a = 0, .b = 2},
	{.op = SW_OP_SPECIAL, .width = 32, .imm = SW_CTAID_X},
	{.op = SW_OP_RANGE, .width = 32, .imm = 0, .imm2 = 31, .a = SW_WHY_LOADED},
	{.op = SW_OP_SYMBOL_ADDRESS, .width = 64, .imm = 0, .imm2 = 16},
	{.op = SW_OP_SELECT, .width = 64, .a = 5, .b = 6, .c = 9},
	{.op = SW_TERM_LOADED, .width = 64, .bytes = 8, .a = 10, .c = SW_WHY_LOADED, .imm2 = -1},
};
static uint32_t alternative[] = {0, 2};
static struct sw_fact fact[] = {{5, 1}, {5, 0}};
static struct sw_loop loop[] = {{UINT32_MAX, 0, 1, 1, 1}, {0, 0, 2, 0, 0}};
static struct sw_root root[] = {{.kind = SW_ROOT_PARAM, .span = 8},
				{.kind = SW_ROOT_SYMBOL, .symbol = 0},
				{.kind = SW_ROOT_UNKNOWN, .weak = 1}};
static struct sw_access_site site[] = {
	{.role = SW_TOUCH_WRITE,
	 .op = SW_OP_STORE,
	 .bytes = 4,
	 .address = 2,
	 .size = SW_NO_TERM,
	 .facts = 2,
	 .roots = 1,
	 .place = 7,
	 .text = 1},
	{.role = SW_TOUCH_READ,
	 .op = SW_OP_LOAD,
	 .why = SW_WHY_LOADED,
	 .bytes = 4,
	 .address = SW_NO_TERM,
	 .size = 4,
	 .fact = 1,
	 .facts = 1,
	 .root = 1,
	 .roots = 2,
	 .text = 1},
};
static struct sw_footprint_symbol symbol[] = {{.name = 11, .bytes = 64}};
static char string[] = "\0st.global\0counter\0an unknown call";

#define N(array) (sizeof(array) / sizeof *(array))
static struct sw_footprint made = {
	.source = SW_SOURCE_PTX,
	.arch = 90,
	.wild = 19,
	.params = N(param),
	.param_bytes = 12,
	.param = param,
	.term = term,
	.terms = N(term),
	.alternative = alternative,
	.alternatives = N(alternative),
	.fact = fact,
	.facts = N(fact),
	.loop = loop,
	.loops = N(loop),
	.root = root,
	.roots = N(root),
	.site = site,
	.sites = N(site),
	.symbol = symbol,
	.symbols = N(symbol),
	.string = string,
	.strings = sizeof string,
};

START_TEST(comes_back_as_it_went)
{
	struct sw_footprint *back;
	void *packed, *again;
	size_t bytes, more;
	struct sw_error error;
	sw_footprint_pack(&made, &packed, &bytes);
	if (getenv("SAVE_FOOTPRINT")) { /* a seed for the fuzzer */
		FILE *f = fopen(getenv("SAVE_FOOTPRINT"), "wb");
		ck_assert_ptr_nonnull(f);
		ck_assert_uint_eq(fwrite(packed, 1, bytes, f), bytes);
		ck_assert_int_eq(fclose(f), 0);
	}
	ck_assert_msg(sw_footprint_unpack(packed, bytes, &back, &error) == 0, "%s", error.text);
	ck_assert_uint_eq(back->sites, 2);
	ck_assert_str_eq(back->string + back->wild, "an unknown call");
	ck_assert_mem_eq(back->term, term, sizeof term);
	ck_assert_mem_eq(back->site, site, sizeof site);
	sw_footprint_pack(back, &again, &more);
	ck_assert_uint_eq(bytes, more);
	ck_assert_mem_eq(packed, again, bytes);
	sw_footprint_free(back);
	free(packed);
	free(again);
}
END_TEST

/* Is the footprint accepted when it is read back? */
static int read_back(const struct sw_footprint *footprint, struct sw_error *error)
{
	struct sw_footprint *back = NULL;
	void *packed;
	size_t bytes;
	sw_footprint_pack(footprint, &packed, &bytes);
	int rc = sw_footprint_unpack(packed, bytes, &back, error);
	sw_footprint_free(back);
	free(packed);
	return rc;
}

START_TEST(nothing_at_all)
{
	struct sw_footprint empty = {.source = SW_SOURCE_SASS, .string = string, .strings = 1}, *back;
	void *packed;
	size_t bytes;
	sw_footprint_pack(&empty, &packed, &bytes);
	ck_assert_int_eq(sw_footprint_unpack(packed, bytes, &back, NULL), 0);
	ck_assert_uint_eq(back->sites + back->terms, 0);
	sw_footprint_free(back);
	free(packed);
}
END_TEST

START_TEST(every_length_is_bounded)
{
	struct sw_footprint *back;
	void *packed;
	size_t bytes;
	sw_footprint_pack(&made, &packed, &bytes);
	for (size_t n = 0; n < bytes; n++) {
		void *cut = malloc(n ? n : 1); /* on the heap, for the sanitizer */
		ck_assert_ptr_nonnull(cut);
		memcpy(cut, packed, n);
		/* The last strings may end in padding. */
		int rc = sw_footprint_unpack(cut, n, &back, NULL);
		ck_assert(rc || n + 8 > bytes);
		if (!rc)
			sw_footprint_free(back);
		free(cut);
	}
	free(packed);
}
END_TEST

/* X(what is changed, to what): each alone makes the whole unacceptable. */
/* clang-format off */
#define SW_DAMAGES(X) \
	X(made.source, 3) \
	X(made.wild, sizeof string) \
	X(string[sizeof string - 1], 'x') \
	X(string[0], 'x') \
	X(term[2].a, 2) \
	X(term[2].b, UINT32_MAX) \
	X(term[2].c, 2) \
	X(term[4].a, 4) \
	X(term[5].b, 5) \
	X(term[10].c, 10) \
	X(term[6].b, 3) \
	X(term[6].b, 0) \
	X(term[6].a, UINT32_MAX) \
	X(alternative[1], 6) \
	X(term[0].width, 63) \
	X(term[0].op, SW_OP_LOAD) \
	X(term[0].op, SW_OP_PAIR) \
	X(term[0].op, SW_TERM_LOADED + 1) \
	X(term[11].a, 11) \
	X(term[11].b, SW_FROM_ANYTHING + 1) \
	X(term[11].c, SW_WHYS) \
	X(term[11].bytes, 0) \
	X(term[11].bytes, 3) \
	X(term[11].bytes, 16) \
	X(term[0].imm, -1) \
	X(term[0].imm, 65536) \
	X(term[5].imm, 6) \
	X(term[5].imm2, 65) \
	X(term[5].imm2, 64 + (1ll << 32)) \
	X(term[4].imm, 65) \
	X(term[7].imm, SW_SPECIALS) \
	X(term[8].a, SW_WHYS) \
	X(term[9].imm, 1) \
	X(fact[0].term, 12) \
	X(fact[0].truth, 2) \
	X(loop[0].parent, 1) \
	X(loop[0].parent, 0) \
	X(loop[0].parent, 2) \
	X(loop[0].entries, 3) \
	X(loop[1].back, 3) \
	X(root[0].kind, 7) \
	X(root[0].weak, 2) \
	X(root[0].span, 65536) \
	X(root[1].symbol, 1) \
	X(site[0].role, 0) \
	X(site[0].role, 8) \
	X(site[0].op, SW_OPS) \
	X(site[0].why, SW_WHYS) \
	X(site[0].polls, 2) \
	X(site[0].address, 12) \
	X(site[0].size, 12) \
	X(site[0].fact, 1) \
	X(site[0].root, UINT32_MAX) \
	X(site[0].roots, 4) \
	X(site[0].text, sizeof string) \
	X(symbol[0].name, sizeof string)
/* clang-format on */

START_TEST(every_index_is_checked)
{
	struct sw_error error;
	ck_assert_int_eq(read_back(&made, &error), 0);
#define SW_DAMAGE(what, to)                                                                                            \
	{                                                                                                              \
		__typeof__(what) good = what;                                                                          \
		what = (__typeof__(what))(to);                                                                         \
		ck_assert_msg(read_back(&made, &error) == SW_E_FORMAT, "%s = %s", #what, #to);                         \
		what = good;                                                                                           \
	}
	SW_DAMAGES(SW_DAMAGE)
	ck_assert_int_eq(read_back(&made, &error), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pack");
	TCase *t = tcase_create("pack");
	tcase_add_test(t, comes_back_as_it_went);
	tcase_add_test(t, nothing_at_all);
	tcase_add_test(t, every_length_is_bounded);
	tcase_add_test(t, every_index_is_checked);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
