/* SPDX-License-Identifier: Apache-2.0 */
/* From code to symbolic footprints: what is made of each shape of control flow and of pointers, as text. */
#include "engine.h"
#include "../run_suite.h"

START_TEST(a_guard_holds_where_it_leads)
{
	expect(INDEX BASE LIMIT POINT "setp.ge.s32 %p1, %r1, %r9; @%p1 bra end; st.global.u32 [%rd1], %r1; end: ret;",
	       "write 4 param:0 at " AT " if (" I " < p8.32)\n");
	expect(INDEX BASE LIMIT POINT "setp.ge.s32 %p1, %r1, %r9; @%p1 ret; st.global.u32 [%rd1], %r1; ret;",
	       "write 4 param:0 at " AT " if (" I " < p8.32)\n");
	expect(INDEX BASE LIMIT POINT "setp.lt.s32 %p1, %r1, %r9; @%p1 st.global.u32 [%rd1], %r1; ret;",
	       "write 4 param:0 at " AT " if (" I " < p8.32)\n");
	/* Accesses after the branches have met again are under no condition. */
	expect(INDEX BASE LIMIT POINT
	       "setp.ge.s32 %p1, %r1, %r9; @%p1 bra end; mov.u32 %r2, 1; end: st.global.u32 [%rd1], %r1; ret;",
	       "write 4 param:0 at " AT "\n");
}
END_TEST

START_TEST(two_guards_are_both_kept)
{
	expect(BASE LIMIT
	       "ld.param.u32 %r8, [c]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; setp.lt.s32 %p1, %r1, %r9;"
	       "setp.lt.s32 %p2, %r2, %r8; and.pred %p3, %p1, %p2; @!%p3 bra end; mad.lo.s32 %r3, %r2, %r9, %r1;"
	       "mul.wide.s32 %rd4, %r3, 4; add.s64 %rd1, %rd3, %rd4; st.global.u32 [%rd1], %r1; end: ret;",
	       "write 4 param:0 at ((s64_32(((tid.y * p8.32) + tid.x)) * 4) + p0.64) if (tid.y < p12.32) and (p8.32 > "
	       "tid.x)\n");
}
END_TEST

START_TEST(either_of_two_guards)
{
	expect(INDEX BASE LIMIT POINT
	       "setp.lt.s32 %p1, %r1, %r9; @%p1 bra store; setp.ne.s32 %p2, %r4, 0; @%p2 bra end;"
	       "store: st.global.u32 [%rd1], %r1; end: ret;",
	       "write 4 param:0 at " AT " if or((tid.x == 0), (" I " < p8.32))\n");
	/* Twin: both ways lead there. */
	expect(INDEX BASE LIMIT POINT
	       "setp.lt.s32 %p1, %r1, %r9; @%p1 bra store; setp.ne.s32 %p2, %r4, 0; @%p2 bra store;"
	       "store: st.global.u32 [%rd1], %r1; end: ret;",
	       "write 4 param:0 at " AT "\n");
}
END_TEST

START_TEST(ways_from_a_switch_exclude_each_other)
{
	expect(BASE LIMIT "ts: .branchtargets one, two; brx.idx %r9, ts; one: st.global.u32 [%rd3], %r9; bra end;"
			  "two: st.global.u32 [%rd3+4], %r9; end: st.global.u32 [%rd3+8], %r9; ret;",
	       "write 4 param:0 at (p0.64 + 4) if any1#3\nwrite 4 param:0 at p0.64 if any1#4\nwrite 4 param:0 at "
	       "(p0.64 + 8)\n");
}
END_TEST

START_TEST(a_grid_stride_loop_steps_by_the_grid)
{
	expect(INDEX BASE LIMIT
	       "mov.u32 %r5, %nctaid.x; mul.lo.s32 %r6, %r5, %r3; setp.ge.s32 %p1, %r1, %r9; @%p1 bra end;"
	       "loop: mul.wide.s32 %rd4, %r1, 4; add.s64 %rd1, %rd3, %rd4; st.global.u32 [%rd1], %r1; add.s32 %r1, "
	       "%r1, %r6;"
	       "setp.lt.s32 %p2, %r1, %r9; @%p2 bra loop; end: ret;",
	       "write 4 param:0 at ((s64_32(step(" I ", (nctaid.x * ntid.x), L0)) * 4) + p0.64) if (" I " < p8.32)\n"
	       "L0 entered if (" I " < p8.32) goes on if (p8.32 > ((nctaid.x * ntid.x) + step(" I
	       ", (nctaid.x * ntid.x), L0)))\n");
}
END_TEST

START_TEST(what_a_mask_leaves_out_is_what_is_left)
{
	expect(INDEX BASE
	       "and.b32 %r5, %r4, -32; sub.s32 %r6, %r4, %r5; mul.wide.s32 %rd4, %r6, 4; add.s64 %rd1, %rd3, "
	       "%rd4; st.global.u32 [%rd1], %r1; ret;",
	       "write 4 param:0 at ((u64_5(tid.x) * 4) + p0.64)\n");
}
END_TEST

START_TEST(pointers_move_and_loops_nest)
{
	expect(BASE LIMIT
	       "mov.u32 %r1, 0; outer: mov.u32 %r2, 0; mul.wide.s32 %rd4, %r1, 256; add.s64 %rd5, %rd3, %rd4;"
	       "inner: st.global.u32 [%rd5], %r1; st.global.u32 [%rd5+4], %r1; add.s64 %rd5, %rd5, 8; add.s32 %r2, "
	       "%r2, 2;"
	       "setp.lt.s32 %p1, %r2, 64; @%p1 bra inner; add.s32 %r1, %r1, 1; setp.lt.s32 %p2, %r1, %r9; @%p2 bra "
	       "outer; ret;",
	       "write 4 param:0 at step(((s64_32(step(0, 1, L0)) * 256) + p0.64), 8, L1)\n"
	       "write 4 param:0 at (step(((s64_32(step(0, 1, L0)) * 256) + p0.64), 8, L1) + 4)\n"
	       "L0 goes on if ((step(0, 1, L0) + 1) < p8.32) and ((step(0, 2, L1) + 2) >= 64)\n"
	       "L1 in L0 goes on if ((step(0, 2, L1) + 2) < 64)\n");
}
END_TEST

/* As cuBLAS's GEMMs keep the address of one of two tensor maps. */
START_TEST(what_loops_hand_on_is_what_they_were_given)
{
#define THERE_AND_BACK(back)                                                                                           \
	BASE LIMIT "mov.u32 %r1, 0; outer: mov.u32 %r2, 0; setp.gt.s32 %p3, %r1, 9; @%p3 bra skip;"                    \
		   "inner: st.global.u32 [%rd3], %r1; add.s64 %rd3, %rd3, 64; st.global.u32 [%rd3], %r1;"              \
		   "add.s64 %rd3, %rd3, " back "; setp.eq.s32 %p4, %r2, 7; @%p4 bra skip; add.s32 %r2, %r2, 1;"        \
		   "setp.lt.s32 %p1, %r2, %r9; @%p1 bra inner; add.s32 %r1, %r1, 1; skip: add.s32 %r1, %r1, 1;"        \
		   "setp.lt.s32 %p2, %r1, %r9; @%p2 bra outer; ret;"
	const char *first = "write 4 param:0 at p0.64 if", *second = "write 4 param:0 at (p0.64 + 64) if";
	char *text = text_of(THERE_AND_BACK("-64"));
	ck_assert_msg(strstr(text, first) && strstr(text, second), "%s", text);
	free(text);
	/* Twin: the pointer moves. */
	text = text_of(THERE_AND_BACK("-60"));
	ck_assert_msg(!strstr(text, first) && !strstr(text, second), "%s", text);
	free(text);
}
END_TEST

START_TEST(what_a_loop_does_otherwise_is_any_number)
{
	expect(BASE LIMIT
	       "mov.u32 %r1, 1; loop: mul.wide.s32 %rd4, %r1, 4; add.s64 %rd1, %rd3, %rd4; st.global.u32 [%rd1], %r1;"
	       "mul.lo.s32 %r1, %r1, 3; setp.lt.s32 %p1, %r1, %r9; @%p1 bra loop; ret;",
	       "write 4 param:0 at ((s64_32(any32#2) * 4) + p0.64)\nL0 goes on if ((any32#2 * 3) < p8.32)\n");
	/* A step that differs from iteration to iteration is none. */
	expect(BASE LIMIT
	       "mov.u32 %r1, 1; loop: mul.wide.s32 %rd4, %r1, 4; add.s64 %rd1, %rd3, %rd4; ld.global.u32 %r2, [%rd1];"
	       "add.s32 %r1, %r1, %r2; setp.lt.s32 %p1, %r1, %r9; @%p1 bra loop; ret;",
	       "read 4 param:0 at ((s64_32(any32#2) * 4) + p0.64)\nL0 goes on if ((any32#2 + any32#7) < p8.32)\n");
}
END_TEST

START_TEST(a_break_is_a_condition_to_go_on)
{
	expect(BASE LIMIT
	       "mov.u32 %r1, 0; loop: mul.wide.s32 %rd4, %r1, 4; add.s64 %rd1, %rd3, %rd4; ld.global.u32 %r2, [%rd1];"
	       "setp.eq.s32 %p1, %r2, 0; @%p1 bra end; add.s32 %r1, %r1, 1; setp.lt.s32 %p2, %r1, %r9; @%p2 bra loop; "
	       "end: ret;",
	       "read 4 param:0 at ((s64_32(step(0, 1, L0)) * 4) + p0.64)\n"
	       "L0 goes on if ((step(0, 1, L0) + 1) < p8.32) and (any32#11 != 0)\n");
}
END_TEST

START_TEST(flow_without_loops_of_a_shape_has_no_steps)
{
	/* Two ways into the cycle of one and two. */
	expect(BASE LIMIT "mov.u32 %r1, 0; setp.eq.s32 %p1, %r9, 0; @%p1 bra two; one: add.s32 %r1, %r1, 1;"
			  "two: add.s32 %r1, %r1, 2; mul.wide.s32 %rd4, %r1, 4; add.s64 %rd1, %rd3, %rd4; "
			  "st.global.u32 [%rd1], %r1;"
			  "setp.lt.s32 %p2, %r1, %r9; @%p2 bra one; ret;",
	       "write 4 param:0 at ((s64_32((any32#3 + 2)) * 4) + p0.64) if any1#8\n");
}
END_TEST

START_TEST(a_choice_of_pointers_keeps_both)
{
	expect("ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [d];" LIMIT
	       "setp.eq.s32 %p1, %r9, 0; selp.b64 %rd1, %rd2, %rd3, %p1;"
	       "st.global.u32 [%rd1], %r9; ret;",
	       "write 4 param:0 param:16 at select((p8.32 == 0), p0.64, p16.64)\n");
	expect("ld.param.u64 %rd1, [a]; ld.param.u64 %rd3, [d];" LIMIT
	       "setp.eq.s32 %p1, %r9, 0; @%p1 bra on; mov.u64 %rd1, %rd3;"
	       "on: st.global.u32 [%rd1], %r9; ret;",
	       "write 4 param:0 param:16 at select((p8.32 == 0), p0.64, p16.64)\n");
}
END_TEST

START_TEST(an_address_is_what_it_is_under_the_conditions_of_its_use)
{
	expect(LEFTOVER "@%p1 st.global.u32 [%rd1], %r1; ret;", "write 4 param:0 at " AT " if (" I " < p8.32)\n");
	expect(LEFTOVER "@!%p1 bra end; st.global.u32 [%rd1], %r1; end: ret;",
	       "write 4 param:0 at " AT " if (" I " < p8.32)\n");
	expect(LEFTOVER "setp.ne.s32 %p2, %r4, 0; and.pred %p3, %p1, %p2; @%p3 st.global.u32 [%rd1+4], %r1; ret;",
	       "write 4 param:0 at (" AT " + 4) if (tid.x != 0) and (" I " < p8.32)\n");
	/* Twins: the opposite, another condition, none. */
	expect(LEFTOVER "@!%p1 st.global.u32 [%rd1], %r1; ret;", "write 4 param:16 at p16.64 if (p8.32 <= " I ")\n");
	expect(LEFTOVER "setp.ne.s32 %p2, %r4, 0; @%p2 st.global.u32 [%rd1], %r1; ret;",
	       "write 4 param:0 param:16 at select((" I " < p8.32), " AT ", p16.64) if (tid.x != 0)\n");
	expect(LEFTOVER "st.global.u32 [%rd1], %r1; ret;",
	       "write 4 param:0 param:16 at select((" I " < p8.32), " AT ", p16.64)\n");
}
END_TEST

START_TEST(halves_of_an_address_under_conditions)
{
	/* As machine code has it: "@P6 IADD3 R46,P2 = ..; @P6 IMAD.X R47 = ..; @P6 ST [R46]". */
	static const char *const sum = INDEX BASE LIMIT
		"ld.param.u64 %rd5, [d]; mov.b64 {%r10, %r11}, %rd5; mov.b64 {%r12, %r13}, %rd3; setp.lt.s32 %p1, %r1, "
		"%r9;"
		"mul.wide.s32 %rd4, %r1, 4; mov.b64 {%r14, %r15}, %rd4;"
		"@%p1 add.cc.u32 %r10, %r12, %r14; @%p1 addc.u32 %r11, %r13, %r15; mov.b64 %rd1, {%r10, %r11};";
	char *body = sw_format("%s@%%p1 st.global.u32 [%%rd1], %%r1; ret;", sum);
	expect(body, "write 4 param:0 at " AT " if (" I " < p8.32)\n");
	free(body);
	body = sw_format("%s@!%%p1 st.global.u32 [%%rd1], %%r1; ret;", sum);
	expect(body, "write 4 param:16 at p16.64 if (p8.32 <= " I ")\n");
	free(body);
}
END_TEST

/* r10, r11: the halves of a, of d or of what follows d, as c says. */
#define ONE_OF_THREE                                                                                                   \
	BASE "ld.param.u64 %rd5, [d]; ld.param.u32 %r8, [c]; mov.u32 %r1, %tid.x; mov.b64 {%r10, %r11}, %rd3;"         \
	     "setp.eq.s32 %p1, %r8, 0; @%p1 bra use; mov.b64 {%r10, %r11}, %rd5; setp.eq.s32 %p1, %r8, 1;"             \
	     "@%p1 bra use; add.s64 %rd5, %rd5, 64; mov.b64 {%r10, %r11}, %rd5; use: setp.ne.u32 %p2, %r10, 0;"
#define STORE_THERE                                                                                                    \
	"@!%p4 ret; mov.b64 %rd6, {%r10, %r11}; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd1, %rd6, %rd4;"                  \
	"st.global.u32 [%rd1], %r1; ret;"
#define CHOSEN	     "one(p0.64, p16.64, (p16.64 + 64))"
#define WRITES_THERE "write 4 param:0 param:16 at ((u64_32(tid.x) * 4) + " CHOSEN ") if "

START_TEST(a_test_for_null_in_halves)
{
	/* As machine code asks whether a pointer is null that is one of two. */
	expect(ONE_OF_THREE "setp.ne.u32 %p3, %r11, 0; or.pred %p4, %p2, %p3;" STORE_THERE,
	       WRITES_THERE "(" CHOSEN " != 0)\n");
	expect(ONE_OF_THREE "setp.eq.u32 %p2, %r10, 0; setp.eq.u32 %p3, %r11, 0; and.pred %p5, %p2, %p3;"
			    "not.pred %p4, %p5;" STORE_THERE,
	       WRITES_THERE "(" CHOSEN " != 0)\n");
	/* Twins: the upper half is of something else, or compared with something else. */
	expect(ONE_OF_THREE "setp.ne.u32 %p3, %r1, 0; or.pred %p4, %p2, %p3;" STORE_THERE,
	       WRITES_THERE "or((tid.x != 0), (one(p0.32, p16.32, (p16.32 + 64)) != 0))\n");
	expect(ONE_OF_THREE "setp.ne.u32 %p3, %r11, 1; or.pred %p4, %p2, %p3;" STORE_THERE,
	       WRITES_THERE "or((one(p4.32, p20.32, u32_32(shr((p16.64 + 64), 32))) != 1), "
			    "(one(p0.32, p16.32, (p16.32 + 64)) != 0))\n");
}
END_TEST

START_TEST(one_predicate_chooses_again_and_again)
{
	expect(INDEX BASE LIMIT POINT
	       "ld.param.u64 %rd5, [d]; setp.lt.s32 %p1, %r4, %r9; setp.ge.s32 %p2, %r4, %r9;"
	       "selp.b64 %rd6, %rd1, %rd5, %p1; selp.b64 %rd7, %rd5, %rd6, %p2; st.global.u32 [%rd7], %r1; ret;",
	       "write 4 param:0 param:16 at select((tid.x >= p8.32), p16.64, " AT ")\n");
	/* A value computed from the number that is not used is not used. */
	expect(INDEX BASE LIMIT POINT
	       "ld.param.u64 %rd5, [d]; setp.lt.s32 %p1, %r4, %r9; selp.b64 %rd6, %rd1, %rd5, %p1;"
	       "shl.b64 %rd6, %rd6, 1; selp.b64 %rd7, %rd6, %rd3, %p1; st.global.u32 [%rd7], %r1; ret;",
	       "write 4 param:0 at select((tid.x < p8.32), ((p0.64 + (s64_32(" I ") * 4)) * 2), p0.64)\n");
	/* Twin: another predicate. */
	expect(INDEX BASE LIMIT POINT
	       "ld.param.u64 %rd5, [d]; setp.lt.s32 %p1, %r4, %r9; setp.gt.s32 %p2, %r4, %r9;"
	       "selp.b64 %rd6, %rd1, %rd5, %p1; selp.b64 %rd7, %rd5, %rd6, %p2; st.global.u32 [%rd7], %r1; ret;",
	       "write 4 param:0 param:16 at select((tid.x > p8.32), p16.64, select((tid.x < p8.32), " AT
	       ", p16.64))\n");
}
END_TEST

START_TEST(predicates_kept_as_bits_of_a_register)
{
	/* Bits 14 and 3 of r10 are p1 and p2; the address was computed under p1. */
	static const char *const kept = LEFTOVER "setp.ne.s32 %p2, %r4, 0; mov.u32 %r10, %clock; and.b32 %r10, %r10, "
						 "-16385; @%p1 or.b32 %r10, %r10, 16384;"
						 "and.b32 %r10, %r10, -9; @%p2 or.b32 %r10, %r10, 8;";
	char *body = sw_format(
		"%sand.b32 %%r11, %%r10, 16384; setp.ne.u32 %%p3, %%r11, 0; @%%p3 st.global.u32 [%%rd1], %%r1; ret;",
		kept);
	expect(body, "write 4 param:0 at " AT " if (" I " < p8.32)\n");
	free(body);
	body = sw_format(
		"%sand.b32 %%r11, %%r10, 16384; setp.eq.u32 %%p3, %%r11, 0; @%%p3 st.global.u32 [%%rd1], %%r1; ret;",
		kept);
	expect(body, "write 4 param:16 at p16.64 if (p8.32 <= " I ")\n");
	free(body);
	/* Twin: the other bit. */
	body = sw_format(
		"%sand.b32 %%r11, %%r10, 8; setp.ne.u32 %%p3, %%r11, 0; @%%p3 st.global.u32 [%%rd1], %%r1; ret;", kept);
	expect(body, "write 4 param:0 param:16 at select((" I " < p8.32), " AT ", p16.64) if (tid.x != 0)\n");
	free(body);
}
END_TEST

/* Bit 0 of r10 is p1, bit 1 is p2, put there as a mask is made: (r10 & ~(1 << 1)) | (p2 << 1). */
#define MASK                                                                                                           \
	INDEX BASE LIMIT POINT                                                                                         \
		"setp.lt.s32 %p1, %r1, %r9; setp.ne.s32 %p2, %r4, 0; selp.b32 %r10, 1, 0, %p1; selp.b32 %r11, -1, 0, " \
		"%p2; shl.b32 %r12, %r11, 1; or.b32 %r13, %r10, 2; and.b32 %r13, %r12, %r13; not.b32 %r14, %r12;"      \
		"and.b32 %r15, %r10, -3; and.b32 %r14, %r14, %r15; or.b32 %r10, %r14, %r13; shl.b32 %r10, %r10, 4;"
#define STORE_IF "setp.ne.u32 %p3, %r11, 0; @%p3 st.global.u32 [%rd1], %r1; ret;"

START_TEST(guards_put_together_to_a_mask)
{
	expect(MASK "and.b32 %r11, %r10, 16;" STORE_IF, "write 4 param:0 at " AT " if (" I " < p8.32)\n");
	expect(MASK "and.b32 %r11, %r10, 32;" STORE_IF, "write 4 param:0 at " AT " if (tid.x != 0)\n");
	/* Bits that nothing was put in. */
	expect(MASK "and.b32 %r11, %r10, 8;" STORE_IF, "");
	/* Twin: two bits. */
	char *text = text_of(MASK "and.b32 %r11, %r10, 48;" STORE_IF);
	ck_assert(strstr(text, "if (") && !strstr(text, "if (tid.x != 0)\n"));
	free(text);
}
END_TEST

START_TEST(ways_that_were_not_taken_bring_nothing)
{
#define THREE_WAYS                                                                                                     \
	BASE LIMIT "ld.param.u32 %r8, [c]; ld.param.u64 %rd5, [d]; setp.eq.s32 %p1, %r9, 0; setp.eq.s32 %p2, %r8, 0;"  \
		   "@%p1 bra one; @%p2 bra two; mov.u64 %rd1, %rd5; bra on; one: mov.u64 %rd1, %rd3; bra on;"          \
		   "two: add.s64 %rd1, %rd5, 64; on: "
	expect(THREE_WAYS "@%p1 st.global.u32 [%rd1], %r9; ret;", "write 4 param:0 at p0.64 if (p8.32 == 0)\n");
	/* Twin: of the other two nothing is known. */
	expect(THREE_WAYS "@%p2 st.global.u32 [%rd1], %r9; ret;",
	       "write 4 param:0 param:16 at one(p0.64, (p16.64 + 64), p0.64) if (p12.32 == 0)\n");
}
END_TEST

START_TEST(a_stack_pointer_that_moves_once_is_followed)
{
	expect(".local .align 8 .b8 s[64]; .reg .b64 %sp; ld.param.u64 %rd2, [a]; mov.u64 %sp, s; add.s64 %sp, %sp, 16;"
	       "st.local.u64 [%sp+8], %rd2; ld.local.u64 %rd3, [%sp+8]; st.global.u32 [%rd3], 1; ret;",
	       "write 4 param:0 at p0.64\n");
	/* Twin: one that moves in a loop is not. */
	expect(".local .align 8 .b8 s[64]; .reg .b64 %sp;" LIMIT
	       "ld.param.u64 %rd2, [a]; mov.u32 %r1, 0; mov.u64 %sp, s;"
	       "loop: st.local.u64 [%sp], %rd2; ld.local.u64 %rd3, [%sp]; st.global.u32 [%rd3], 1; add.s64 %sp, %sp, 8;"
	       "ld.param.u64 %rd2, [d]; add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 4; @%p1 bra loop; ret;",
	       "write 4 param:0 param:16 at any64#0\nL0 goes on if ((step(0, 1, L0) + 1) < 4)\n");
}
END_TEST

START_TEST(words_of_the_stack_that_overlap_are_left_there)
{
	/* Others are not.  Twins: the other half of a pair that is stored there; the word itself. */
	static const char *const also[] = {"st.local.u32 [%rd7+32], 0; ld.local.u16 %h1, [%rd7+34];",
					   "st.local.v2.u64 [%rd7], {%rd2, %rd3}; ld.local.u32 %r1, [%rd7+12];",
					   "ld.local.u32 %r1, [%rd7+4];"};
	for (int i = 0; i < 3; i++) {
		char *body = sw_format(".local .align 8 .b8 s[64]; .reg .b16 %%h<2>; ld.param.u64 %%rd2, [a];"
				       "ld.param.u64 %%rd3, [d]; mov.u64 %%rd7, s; %s st.local.u64 [%%rd7], %%rd2;"
				       "ld.local.u64 %%rd5, [%%rd7]; st.global.u32 [%%rd5], 1; st.local.u64 [%%rd7], "
				       "%%rd3; ld.local.u64 %%rd6, [%%rd7]; st.global.u32 [%%rd6], 1; ret;",
				       also[i]);
		expect(body, i ? "write 4 param:0 param:16 at one(p16.64, p0.64)\n"
			       : "write 4 param:0 at p0.64\nwrite 4 param:16 at p16.64\n");
		free(body);
	}
}
END_TEST

START_TEST(shared_memory_is_no_site)
{
	const char *choice = ".shared .align 4 .b8 s[64];" BASE LIMIT "mov.u64 %rd5, s; cvta.shared.u64 %rd6, %rd5;"
			     "setp.gt.s32 %p1, %r9, 64; selp.b64 %rd7, %rd2, %rd6, %p1; st.u32 [%rd7+4], %r9; ret;";
	expect(choice, "write 4 param:0 at (p0.64 + 4) if (p8.32 > 64)\n");
	expect(".shared .align 4 .b8 s[64]; mov.u64 %rd5, s; cvta.shared.u64 %rd6, %rd5; st.u32 [%rd6+4], 0; ret;", "");
}
END_TEST

/* A pointer stored in shared memory matters as soon as an address is loaded from there, wherever that stands. */
START_TEST(pointers_through_shared_memory)
{
	const char *loop = ".shared .align 8 .b8 s[64]; ld.param.u64 %rd2, [a]; mov.u32 %r2, 0;"
			   "again: ld.shared.u64 %rd5, [s]; st.global.u32 [%rd5], 1; st.shared.u64 [s], %rd2;"
			   "bar.sync 0; add.s32 %r2, %r2, 1; setp.lt.s32 %p1, %r2, 9; @%p1 bra again; ret;";
	char *text = text_of(loop);
	ck_assert_ptr_nonnull(strstr(text, "write 4 param:0 "));
	free(text);
	/* A condition that is made of what was stored is data, not nothing. */
	text = text_of(".shared .align 8 .b8 s[64];" BASE LIMIT "st.shared.u32 [s], %r9; ld.shared.u32 %r3, [s];"
		       "setp.gt.s32 %p1, %r3, 4; @%p1 st.global.u32 [%rd3], 1; ret;");
	ck_assert_ptr_nonnull(strstr(text, "write 4 param:0 at p0.64 if (any32"));
	free(text);
}
END_TEST

START_TEST(pointers_through_memory)
{
	/* Loaded from memory: indirect. */
	expect(BASE "ld.global.u64 %rd5, [%rd3+8]; st.global.u32 [%rd5+4], 0; ret;",
	       "read 8 param:0 at (p0.64 + 8)\nwrite 4 indirect:0 at (any64#4 + 4)\n");
	/* A table in the parameters. */
	expect_module(".visible .entry k(.param .align 8 .b8 t[32], .param .u32 b)\n{" REGS
		      "ld.param.u32 %r1, [b]; mov.b64 %rd1, t; mul.wide.u32 %rd2, %r1, 8; add.s64 %rd3, %rd1, %rd2;"
		      "ld.param.u64 %rd4, [%rd3]; st.global.u32 [%rd4], 0; ret; }",
		      "write 4 param:0..32 at p64[(u64_32(p32.32) * 8)]\n");
	/* A local array of pointers, at an index that is not known. */
	expect_module(
		".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 c)\n{" REGS
		".local .align 8 .b8 t[16]; ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [c];"
		"mov.u64 %rd3, t; st.local.u64 [%rd3], %rd1; st.local.u64 [%rd3+8], %rd2; mul.wide.u32 %rd4, %r1, 8;"
		"add.s64 %rd5, %rd3, %rd4; ld.local.u64 %rd6, [%rd5]; st.global.u32 [%rd6], 0; ret; }",
		"write 4 param:0 param:8 at p64[(u64_32(p16.32) * 8)]\n");
	/* At an index that is: only that one. */
	expect_module(
		".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 c)\n{" REGS
		".local .align 8 .b8 t[16]; ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [c];"
		"mov.u64 %rd3, t; st.local.u64 [%rd3], %rd1; st.local.u64 [%rd3+8], %rd2;"
		"ld.local.u64 %rd6, [%rd3+8]; st.global.u32 [%rd6], 0; ret; }",
		"write 4 param:8 at p8.64\n");
}
END_TEST

#define PUT                                                                                                            \
	".func put(.param .b64 p, .param .b32 i)\n{" REGS "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [i];"             \
	"mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.u32 [%rd3], %r1; ret; }\n"
#define CALL_PUT(pointer, index)                                                                                       \
	"{ .param .b64 x; st.param.b64 [x], " pointer "; .param .b32 y; st.param.b32 [y], " index                      \
	"; call.uni put, (x, y); }"

START_TEST(calls_are_followed_each_by_itself)
{
	expect_module(PUT ".visible .entry k(.param .u64 a, .param .u64 b)\n{" REGS
			  "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];"
			  "mov.u32 %r1, %tid.x;" CALL_PUT("%rd1", "%r1") "add.s32 %r2, %r1, 1;" CALL_PUT(
				  "%rd2", "%r2") "ret; }",
		      "write 4 param:0 at ((u64_32(tid.x) * 4) + p0.64)\n"
		      "write 4 param:8 at ((s64_32((tid.x + 1)) * 4) + p8.64)\n");
}
END_TEST

START_TEST(recursion_keeps_the_pointer)
{
	expect_module(
		".func f(.param .b64 p)\n{" REGS "ld.param.u64 %rd1, [p]; ld.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0;"
		"@%p1 ret; add.s64 %rd2, %rd1, 4; { .param .b64 x; st.param.b64 [x], %rd2; call.uni f, (x); } ret; }\n"
		".visible .entry k(.param .u64 a)\n{" REGS
		"ld.param.u64 %rd1, [a]; { .param .b64 x; st.param.b64 [x], %rd1; call.uni f, (x); } ret; }",
		"read 4 param:0 at any64#0\nread 4 param:0 at (any64#0 + 4) if (any32#4 != 0)\nread 4 param:0 at "
		"p0.64\n");
}
END_TEST

START_TEST(functions_without_code)
{
	/* Known ones touch nothing that counts. */
	expect_module(".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
		      ".visible .entry k(.param .u64 a)\n{" REGS
		      "ld.param.u64 %rd1, [a]; { .param .b64 x; st.param.b64 [x], %rd1;"
		      ".param .b64 y; st.param.b64 [y], %rd1; .param .b32 r; call.uni (r), vprintf, (x, y); } ret; }",
		      "");
	/* Others do whatever they like with what they are given. */
	expect_module(".extern .func other(.param .b64 f);\n"
		      ".visible .entry k(.param .u64 a)\n{" REGS
		      "ld.param.u64 %rd1, [a]; { .param .b64 x; st.param.b64 [x], %rd1;"
		      "call.uni other, (x); } ret; }",
		      "wild: calls other, of which there is no code\n"
		      "readwrite 0 param:0 at ? (the index comes from a function that is not followed)\n");
}
END_TEST

/* ld.param of one of two addresses, as nvcc has it from compute_100 on. */
#define ONE_OF_TWO                                                                                                     \
	LIMIT "mov.u32 %r4, %tid.x; setp.eq.s32 %p1, %r9, 0; mov.b64 %rd5, a; mov.b64 %rd6, d; selp.b64 %rd7, %rd5, "  \
	      "%rd6, %p1; ld.param.b64 %rd1, [%rd7]; st.global.u32 [%rd1], %r4; ret;"
/* LDC c[0x0][&a + index]: 0 or 16, and what a thread reads from memory. */
#define AT_COMPUTED(index)                                                                                             \
	LIMIT "mov.u32 %r4, %tid.x; setp.eq.s32 %p1, %r9, 0; mov.b64 %rd5, a; " index                                  \
	      "cvt.s64.s32 %rd6, %r8; add.s64 %rd7, %rd5, %rd6; ld.param.b64 %rd1, [%rd7]; st.global.u32 [%rd1], "     \
	      "%r4; ret;"

START_TEST(parameters_chosen_by_their_place)
{
	char *text = text_of(ONE_OF_TWO);
	ck_assert_str_eq(text, "write 4 param:0 param:16 at select((p8.32 == 0), p0.64, p16.64)\n");
	free(text);
	text = text_as(SW_SOURCE_SASS, AT_COMPUTED("selp.b32 %r8, 0, 16, %p1;"));
	ck_assert_str_eq(text, "write 4 param:0 param:16 at select((p8.32 == 0), p0.64, p16.64)\n");
	free(text);
	/* An index that is not one of two constants: any word of the block may be the pointer, not that of a alone. */
	text = text_as(SW_SOURCE_SASS, AT_COMPUTED("ld.shared.u32 %r8, [%r4];"));
	ck_assert_str_eq(text, "write 4 param:0..24 at p64[s64_32(any32#0)]\n");
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("engine");
	TCase *tests = tcase_create("engine");
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_guard_holds_where_it_leads);
	tcase_add_test(tests, two_guards_are_both_kept);
	tcase_add_test(tests, either_of_two_guards);
	tcase_add_test(tests, ways_from_a_switch_exclude_each_other);
	tcase_add_test(tests, a_grid_stride_loop_steps_by_the_grid);
	tcase_add_test(tests, what_a_mask_leaves_out_is_what_is_left);
	tcase_add_test(tests, pointers_move_and_loops_nest);
	tcase_add_test(tests, what_loops_hand_on_is_what_they_were_given);
	tcase_add_test(tests, what_a_loop_does_otherwise_is_any_number);
	tcase_add_test(tests, a_break_is_a_condition_to_go_on);
	tcase_add_test(tests, flow_without_loops_of_a_shape_has_no_steps);
	tcase_add_test(tests, a_choice_of_pointers_keeps_both);
	tcase_add_test(tests, an_address_is_what_it_is_under_the_conditions_of_its_use);
	tcase_add_test(tests, halves_of_an_address_under_conditions);
	tcase_add_test(tests, a_test_for_null_in_halves);
	tcase_add_test(tests, one_predicate_chooses_again_and_again);
	tcase_add_test(tests, predicates_kept_as_bits_of_a_register);
	tcase_add_test(tests, guards_put_together_to_a_mask);
	tcase_add_test(tests, ways_that_were_not_taken_bring_nothing);
	tcase_add_test(tests, a_stack_pointer_that_moves_once_is_followed);
	tcase_add_test(tests, words_of_the_stack_that_overlap_are_left_there);
	tcase_add_test(tests, shared_memory_is_no_site);
	tcase_add_test(tests, pointers_through_shared_memory);
	tcase_add_test(tests, pointers_through_memory);
	tcase_add_test(tests, calls_are_followed_each_by_itself);
	tcase_add_test(tests, recursion_keeps_the_pointer);
	tcase_add_test(tests, functions_without_code);
	tcase_add_test(tests, parameters_chosen_by_their_place);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
