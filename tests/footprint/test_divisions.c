/* SPDX-License-Identifier: Apache-2.0 */
/* Divisions by numbers that are known at run time only, as machine code has them. */
#include "engine.h"
#include "../run_suite.h"

/* n: about r1 / b, as machine code divides where it does not know b before; r16: r1 - b * n, corrected once. */
#define RECIPROCAL(newton, by)                                                                                         \
	INDEX BASE LIMIT                                                                                               \
		"ld.param.u32 %r8, [c]; cvt.rn.f32.u32 %f1, %r9; rcp.approx.f32 %f2, %f1; cvt.rzi.u32.f32 %r10, %f2;"  \
		"neg.s32 %r11, %r10; mul.lo.u32 %r12, %r11, " newton "; mul.wide.u32 %rd5, %r10, %r12;"                \
		"cvt.u64.u32 %rd6, %r10; shl.b64 %rd6, %rd6, 32; add.u64 %rd7, %rd6, %rd5; shr.u64 %rd8, %rd7, 32;"    \
		"cvt.u32.u64 %r13, %rd8; mul.wide.u32 %rd9, %r13, %r1; shr.u64 %rd9, %rd9, 32; cvt.u32.u64 %r14, "     \
		"%rd9;"                                                                                                \
		"neg.s32 %r15, %r14; mad.lo.u32 %r16, %r15, %r9, %r1; setp.ge.u32 %p1, %r16, " by ";"                  \
		"@%p1 sub.u32 %r16, %r16, %r9; @%p1 add.u32 %r14, %r14, 1; setp.ge.u32 %p2, %r16, %r9;"
#define STORE_AT(r) "mul.wide.u32 %rd4, " r ", 4; add.s64 %rd1, %rd3, %rd4; st.global.u32 [%rd1], %r1; ret;"

static bool divides(const char *body)
{
	char *text = text_of(body);
	bool any = strstr(text, "div(") || strstr(text, "rem(");
	free(text);
	return any;
}

START_TEST(a_division_by_a_reciprocal)
{
	expect(RECIPROCAL("%r9", "%r9") "@%p2 add.u32 %r14, %r14, 1;" STORE_AT("%r14"),
	       "write 4 param:0 at ((u64_32(div(" I ", p8.32)) * 4) + p0.64)\n");
	expect(RECIPROCAL("%r9", "%r9") "@%p2 sub.u32 %r16, %r16, %r9;" STORE_AT("%r16"),
	       "write 4 param:0 at ((u64_32(rem(" I ", p8.32)) * 4) + p0.64)\n");
	/* Twins: another number's reciprocal, another comparison, another correction, one correction. */
	ck_assert(!divides(RECIPROCAL("%r8", "%r9") "@%p2 add.u32 %r14, %r14, 1;" STORE_AT("%r14")));
	ck_assert(!divides(RECIPROCAL("%r9", "%r8") "@%p2 add.u32 %r14, %r14, 1;" STORE_AT("%r14")));
	ck_assert(!divides(RECIPROCAL("%r9", "%r9") "@%p2 add.u32 %r14, %r14, 2;" STORE_AT("%r14")));
	ck_assert(!divides(RECIPROCAL("%r9", "%r9") "@%p2 sub.u32 %r16, %r16, %r8;" STORE_AT("%r16")));
	ck_assert(!divides(RECIPROCAL("%r9", "%r9") STORE_AT("%r14")));
	ck_assert(!divides(RECIPROCAL("%r9", "%r9") STORE_AT("%r16")));
}
END_TEST

/* Division of 64 bits: rd10 is about 2^64 / b, corrected in steps; rd11: about a / b. */
#define WIDE_STEP                                                                                                      \
	"mul.lo.u64 %rd5, %rd10, %rd9; neg.s64 %rd5, %rd5; mul.hi.u64 %rd5, %rd10, %rd5; add.s64 %rd10, %rd10, %rd5;"
#define WIDE_RECIPROCAL(steps, by)                                                                                     \
	BASE "mov.u32 %r1, %tid.x; ld.param.u64 %rd8, [d]; ld.param.u32 %r9, [b]; cvt.u64.u32 %rd9, %r9; "             \
	     "cvt.rp.f32.u64 %f1, %rd9;"                                                                               \
	     "rcp.approx.f32 %f2, %f1; cvt.rzi.u32.f32 %r10, %f2; cvt.rzi.u32.f32 %r11, %f1; mov.b64 %rd10, {%r10, "   \
	     "%r11};" steps "mul.hi.u64 %rd11, %rd10, %rd8; mul.lo.u64 %rd5, %rd11, " by                               \
	     "; sub.s64 %rd12, %rd8, %rd5;"                                                                            \
	     "setp.ge.u64 %p1, %rd12, %rd9; @%p1 sub.s64 %rd12, %rd12, %rd9; @%p1 add.s64 %rd11, %rd11, 1;"            \
	     "setp.ge.u64 %p2, %rd12, %rd9;"
#define STORE_AT_WIDE(r) "shl.b64 %rd4, " r ", 2; add.s64 %rd1, %rd3, %rd4; st.global.u32 [%rd1], %r1; ret;"

START_TEST(a_wide_division_by_a_reciprocal)
{
	expect(WIDE_RECIPROCAL(WIDE_STEP WIDE_STEP, "%rd9") "@%p2 sub.s64 %rd12, %rd12, %rd9;" STORE_AT_WIDE("%rd12"),
	       "write 4 param:0 at ((rem(p16.64, u64_32(p8.32)) * 4) + p0.64)\n");
	expect(WIDE_RECIPROCAL(WIDE_STEP WIDE_STEP, "%rd9") "@%p2 add.s64 %rd11, %rd11, 1;" STORE_AT_WIDE("%rd11"),
	       "write 4 param:0 at ((div(p16.64, u64_32(p8.32)) * 4) + p0.64)\n");
	/* Twins: less exact, another number's product, another correction, one correction. */
	ck_assert(
		!divides(WIDE_RECIPROCAL(WIDE_STEP, "%rd9") "@%p2 sub.s64 %rd12, %rd12, %rd9;" STORE_AT_WIDE("%rd12")));
	ck_assert(!divides(WIDE_RECIPROCAL(WIDE_STEP WIDE_STEP,
					   "%rd2") "@%p2 sub.s64 %rd12, %rd12, %rd9;" STORE_AT_WIDE("%rd12")));
	ck_assert(!divides(
		WIDE_RECIPROCAL(WIDE_STEP WIDE_STEP, "%rd9") "@%p2 add.s64 %rd11, %rd11, 2;" STORE_AT_WIDE("%rd11")));
	ck_assert(!divides(WIDE_RECIPROCAL(WIDE_STEP WIDE_STEP, "%rd9") STORE_AT_WIDE("%rd12")));
}
END_TEST

/* r1 / 7 as nvcc 13.5 has it on sm_100: the upper half of r1 * 0x24924924a0000000 out of two products. */
#define TWO_PRODUCTS(second)                                                                                           \
	INDEX BASE "mul.wide.u32 %rd5, %r1, 0x24924924; mul.wide.u32 %rd6, " second ", 0xa0000000;"                    \
		   "mov.b64 {%r10, %r11}, %rd5; mov.b64 {%r12, %r13}, %rd6; add.cc.u32 %r14, %r13, %r10;"              \
		   "addc.u32 %r15, %r11, 0;"

START_TEST(a_division_by_two_products)
{
	expect(TWO_PRODUCTS("%r1") STORE_AT("%r15"),
	       "write 4 param:0 at ((u64_32(mulhi(u64_32(" I "), 2635249153617166336)) * 4) + p0.64)\n");
	/* Twin: the second product is of another number. */
	char *text = text_of(TWO_PRODUCTS("%r2") STORE_AT("%r15"));
	ck_assert(!strstr(text, "mulhi("));
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("divisions");
	TCase *tests = tcase_create("divisions");
	tcase_add_test(tests, a_division_by_a_reciprocal);
	tcase_add_test(tests, a_wide_division_by_a_reciprocal);
	tcase_add_test(tests, a_division_by_two_products);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
