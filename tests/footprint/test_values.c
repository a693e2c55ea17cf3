/* SPDX-License-Identifier: Apache-2.0 */
/* Values that machine code makes in its own ways: halves of numbers of 64 bits, predicates as bits, masks. */
#include "engine.h"
#include "../run_suite.h"

/* a + {r11, r10}, stored to. */
#define STORE_AT_PAIR "mov.b64 %rd4, {%r10, %r11}; add.s64 %rd1, %rd3, %rd4; st.global.u32 [%rd1], %r1; ret;"

START_TEST(an_upper_half_made_by_a_product_or_a_shift)
{
	/* The sign of r10 as the upper half of r10 * 2 (IMAD.HI R11, R10, 0x2, RZ). */
	expect(INDEX BASE
	       "mul.lo.s32 %r10, %r1, 12; mul.wide.s32 %rd6, %r10, 2; mov.b64 {%r12, %r11}, %rd6;" STORE_AT_PAIR,
	       "write 4 param:0 at (s64_32((" I " * 12)) + p0.64)\n");
	/* r1 * 8, with what is shifted out. */
	expect(INDEX BASE "shl.b32 %r10, %r1, 3; shr.u32 %r11, %r1, 29;" STORE_AT_PAIR,
	       "write 4 param:0 at ((u64_32(" I ") * 8) + p0.64)\n");
	expect(INDEX BASE "shl.b32 %r10, %r1, 3; shr.s32 %r11, %r1, 29;" STORE_AT_PAIR,
	       "write 4 param:0 at ((s64_32(" I ") * 8) + p0.64)\n");
	/* Twins: the uppermost bit is no sign, another product, another shift, another number. */
	expect(INDEX BASE
	       "mul.lo.s32 %r10, %r1, 12; mul.wide.u32 %rd6, %r10, 2; mov.b64 {%r12, %r11}, %rd6;" STORE_AT_PAIR,
	       "write 4 param:0 at (((u64_32(shr((" I " * 12), 31)) * 4294967296) + u64_32((" I " * 12))) + p0.64)\n");
	expect(INDEX BASE
	       "mul.lo.s32 %r10, %r1, 12; mul.wide.s32 %rd6, %r10, 4; mov.b64 {%r12, %r11}, %rd6;" STORE_AT_PAIR,
	       "write 4 param:0 at (((u64_32(shr.s((" I " * 12), 30)) * 4294967296) + u64_32((" I
	       " * 12))) + p0.64)\n");
	expect(INDEX BASE "shl.b32 %r10, %r1, 3; shr.u32 %r11, %r1, 28;" STORE_AT_PAIR,
	       "write 4 param:0 at (((u64_32(shr(" I ", 28)) * 4294967296) + u64_32((" I " * 8))) + p0.64)\n");
	expect(INDEX BASE "shl.b32 %r10, %r1, 3; shr.u32 %r11, %r2, 29;" STORE_AT_PAIR,
	       "write 4 param:0 at (((u64_32(shr(ctaid.x, 29)) * 4294967296) + u64_32((((ctaid.x * ntid.x) + tid.x) * "
	       "8))) + p0.64)\n");
}
END_TEST

START_TEST(a_mask_of_bits_that_are_zero)
{
	/* tid.x & 3 has two bits: of them 0xc0000001 leaves one; twin: of all bits it leaves two runs. */
	expect(INDEX BASE "and.b32 %r5, %r4, 3; and.b32 %r6, %r5, -1073741823; mul.wide.s32 %rd4, %r6, 4;"
			  "add.s64 %rd1, %rd3, %rd4; st.global.u32 [%rd1], %r1; ret;",
	       "write 4 param:0 at ((u64_1(tid.x) * 4) + p0.64)\n");
	expect(INDEX BASE "and.b32 %r6, %r1, -1073741823; mul.wide.s32 %rd4, %r6, 4;"
			  "add.s64 %rd1, %rd3, %rd4; st.global.u32 [%rd1], %r1; ret;",
	       "write 4 param:0 at ((s64_32(and(" I ", -1073741823)) * 4) + p0.64)\n");
}
END_TEST

START_TEST(what_another_thread_has)
{
	/* The number of a warp has five bits in every thread; twin: an index has more. */
	static const char *const write = "and.b32 %r6, %r6, 31; mul.wide.u32 %rd4, %r6, 4; add.s64 %rd1, %rd3, %rd4;"
					 "st.global.u32 [%rd1], %r1; ret;";
	char *body =
		sw_format("%sshr.u32 %%r5, %%r4, 5; shfl.sync.idx.b32 %%r6, %%r5, 0, 31, -1; %s", INDEX BASE, write);
	expect(body, "write 4 param:0 at ((u64_32(any32[0..31]#2) * 4) + p0.64)\n");
	free(body);
	body = sw_format("%sshfl.sync.idx.b32 %%r6, %%r1, 0, 31, -1; %s", INDEX BASE, write);
	expect(body, "write 4 param:0 at ((u64_5(any32#2) * 4) + p0.64)\n");
	free(body);
}
END_TEST

START_TEST(the_uppermost_bit_of_a_register_keeps_a_predicate)
{
	/* "r10 & 0x7fffffff" takes the low 31 bits, and the sum sets the other: bit 31 is p1, bit 30 is p2. */
	static const char *const kept = LEFTOVER
		"setp.ne.s32 %p2, %r4, 0; mov.u32 %r10, %clock; and.b32 %r10, %r10, -1073741825; @%p2 or.b32 %r10, "
		"%r10, 1073741824; and.b32 %r10, %r10, 2147483647; @%p1 or.b32 %r10, %r10, -2147483648;";
	char *body = sw_format("%sand.b32 %%r11, %%r10, -2147483648; setp.ne.u32 %%p3, %%r11, 0; @%%p3 st.global.u32 "
			       "[%%rd1], %%r1; ret;",
			       kept);
	expect(body, "write 4 param:0 at " AT " if (" I " < p8.32)\n");
	free(body);
	/* Twin: the bit below. */
	body = sw_format("%sand.b32 %%r11, %%r10, 1073741824; setp.ne.u32 %%p3, %%r11, 0; @%%p3 st.global.u32 "
			 "[%%rd1], %%r1; ret;",
			 kept);
	expect(body, "write 4 param:0 param:16 at select((" I " < p8.32), " AT ", p16.64) if (tid.x != 0)\n");
	free(body);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("values");
	TCase *tests = tcase_create("all");
	tcase_add_test(tests, an_upper_half_made_by_a_product_or_a_shift);
	tcase_add_test(tests, a_mask_of_bits_that_are_zero);
	tcase_add_test(tests, what_another_thread_has);
	tcase_add_test(tests, the_uppermost_bit_of_a_register_keeps_a_predicate);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
