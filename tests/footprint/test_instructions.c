/* SPDX-License-Identifier: Apache-2.0 */
/* Footprints of instructions that are put together here: orders that compilers vary, damaged code, giants. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dump.h"
#include "../run_suite.h"

static struct sw_arena operands; /* of the test that runs */
enum { OPERANDS = 3 };		 /* of one instruction at most */

static void free_operands(void)
{
	sw_arena_free(&operands);
}

static struct sw_insn insn(enum sw_op op, sw_reg dst, sw_reg source, int64_t imm)
{
	struct sw_insn x = {
		.op = (uint8_t)op, .width = 64, .dst = dst, .guard = SW_NO_REG, .imm = imm, .bytes = 4, .count = 1};
	x.src = sw_arena_alloc(&operands, OPERANDS * sizeof *x.src);
	if (source != SW_NO_REG)
		x.src[x.n++] = sw_operand_reg(source);
	return x;
}

static char *dump_of_insns(struct sw_insn *code, uint32_t n, uint32_t regs)
{
	struct sw_program_function f = {.name = "k", .insn = code, .insns = n, .regs = regs};
	struct sw_program program = {.function = &f, .functions = 1};
	return sw_dump_program(&program, SW_SOURCE_SASS);
}

static struct sw_insn of(enum sw_op op, uint8_t width, sw_reg dst, uint8_t n, const sw_reg *source)
{
	struct sw_insn x = insn(op, dst, SW_NO_REG, 0);
	x.width = width;
	for (uint8_t i = 0; i < n; i++)
		x.src[x.n++] = sw_operand_reg(source[i]);
	return x;
}

/* IADD3 adds three numbers with two carries, and IADD3.X takes them in whichever order: param 0 + param 8 + param 16,
   the carry of the second sum first in the upper half; `own`: each in its place. */
static char *sum_of_three(bool own)
{
	enum { L0, H0, L1, H1, L2, H2, P0, P1, P2, C1, C2, S, R, T, H, A, REGISTERS };
	struct sw_insn code[] = {
		insn(SW_OP_PARAM, P0, SW_NO_REG, 0),
		insn(SW_OP_PARAM, P1, SW_NO_REG, 8),
		insn(SW_OP_PARAM, P2, SW_NO_REG, 16),
		of(SW_OP_LOW, 32, L0, 1, (sw_reg[]){P0}),
		of(SW_OP_HIGH, 32, H0, 1, (sw_reg[]){P0}),
		of(SW_OP_LOW, 32, L1, 1, (sw_reg[]){P1}),
		of(SW_OP_HIGH, 32, H1, 1, (sw_reg[]){P1}),
		of(SW_OP_LOW, 32, L2, 1, (sw_reg[]){P2}),
		of(SW_OP_HIGH, 32, H2, 1, (sw_reg[]){P2}),
		of(SW_OP_CARRY, 1, C1, 2, (sw_reg[]){L0, L1}),
		of(SW_OP_ADD, 32, S, 2, (sw_reg[]){L0, L1}),
		of(SW_OP_CARRY, 1, C2, 2, (sw_reg[]){S, L2}),
		of(SW_OP_ADD, 32, R, 2, (sw_reg[]){S, L2}),
		of(SW_OP_ADDX, 32, T, 3, (sw_reg[]){H0, own ? H1 : H2, own ? C1 : C2}),
		of(SW_OP_ADDX, 32, H, 3, (sw_reg[]){T, own ? H2 : H1, own ? C2 : C1}),
		of(SW_OP_PAIR, 64, A, 2, (sw_reg[]){R, H}),
		insn(SW_OP_STORE, SW_NO_REG, A, 0),
		insn(SW_OP_EXIT, SW_NO_REG, SW_NO_REG, 0),
	};
	uint32_t n = sizeof code / sizeof *code;
	code[n - 2].src[code[n - 2].n++] = sw_operand_imm(0);
	code[n - 2].space = SW_GLOBAL;
	return dump_of_insns(code, n, REGISTERS);
}

/* {low & -16, high & 2^30 - 1}: a number of bytes that was made from one of vectors, as CUTLASS has it. */
START_TEST(halves_of_which_bits_are_cleared)
{
	enum { P0, P1, L, H, M, N, A, B, REGISTERS };
	struct sw_insn code[] = {
		insn(SW_OP_PARAM, P0, SW_NO_REG, 0),	    insn(SW_OP_PARAM, P1, SW_NO_REG, 8),
		of(SW_OP_LOW, 32, L, 1, (sw_reg[]){P1}),    of(SW_OP_HIGH, 32, H, 1, (sw_reg[]){P1}),
		of(SW_OP_AND, 32, M, 1, (sw_reg[]){L}),	    of(SW_OP_AND, 32, N, 1, (sw_reg[]){H}),
		of(SW_OP_PAIR, 64, A, 2, (sw_reg[]){M, N}), of(SW_OP_ADD, 64, B, 2, (sw_reg[]){P0, A}),
		insn(SW_OP_STORE, SW_NO_REG, B, 0),	    insn(SW_OP_EXIT, SW_NO_REG, SW_NO_REG, 0),
	};
	code[4].src[code[4].n++] = sw_operand_imm(-16);
	code[5].src[code[5].n++] = sw_operand_imm(0x3fffffff);
	code[8].src[code[8].n++] = sw_operand_imm(0);
	code[8].space = SW_GLOBAL;
	char *text = dump_of_insns(code, sizeof code / sizeof *code, REGISTERS);
	ck_assert_str_eq(text, "write 4 param:0 param:8 at (u64_62(and(p8.64, -16)) + p0.64)\n");
	free(text);
}
END_TEST

START_TEST(halves_with_two_carries_in_any_order)
{
	for (int own = 0; own < 2; own++) {
		char *text = sum_of_three(own);
		ck_assert_str_eq(text, "write 4 param:0 param:8 param:16 at ((p8.64 + p0.64) + p16.64)\n");
		free(text);
	}
}
END_TEST

START_TEST(damaged_code_is_survived_and_said_so)
{
	struct sw_insn code[5] = {insn(SW_OP_PARAM, 0, SW_NO_REG, 0), insn(SW_OP_STORE, SW_NO_REG, 0, 0),
				  insn(SW_OP_EXIT, SW_NO_REG, SW_NO_REG, 0)};
	code[1].src[code[1].n++] = sw_operand_imm(0);
	code[1].space = SW_GLOBAL;
	char *text = dump_of_insns(code, 3, 1);
	ck_assert_str_eq(text, "write 4 param:0 at p0.64\n");
	free(text);
	struct {
		uint32_t at;
		struct sw_insn as;
	} damage[] = {
		{1, insn(SW_OP_STORE, SW_NO_REG, 77, 0)},		 /* a register that is not there */
		{2, insn(SW_OP_LOCAL_ADDRESS, 0, SW_NO_REG, 1ll << 40)}, /* a slot */
		{2, insn(SW_OP_CALL, SW_NO_REG, SW_NO_REG, 0)},		 /* a call */
		{2, insn(SW_OP_JUMP, SW_NO_REG, SW_NO_REG, 0)},
		{0, insn(SW_OPS, 0, SW_NO_REG, 0)},
	};
	damage[3].as.target = 4000000;
	for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
		struct sw_insn hurt[3] = {code[0], code[1], code[2]};
		hurt[damage[i].at] = damage[i].as;
		text = dump_of_insns(hurt, 3, 1);
		ck_assert_msg(!strncmp(text, "wild: the code is damaged\n", 26), "%zu: %s", i, text);
		free(text);
	}
}
END_TEST

START_TEST(a_jump_to_anywhere_keeps_directions)
{
	struct sw_insn code[6] = {insn(SW_OP_PARAM, 0, SW_NO_REG, 0), insn(SW_OP_SWITCH, SW_NO_REG, SW_NO_REG, 0),
				  insn(SW_OP_PARAM, 0, SW_NO_REG, 8), insn(SW_OP_STORE, SW_NO_REG, 0, 0),
				  insn(SW_OP_EXIT, SW_NO_REG, SW_NO_REG, 0)};
	code[3].src[code[3].n++] = sw_operand_imm(0);
	code[3].space = SW_GLOBAL;
	char *text = dump_of_insns(code, 5, 1);
	ck_assert_str_eq(text, "write 4 param:0 param:8 at any64#0 if any1#1\n");
	free(text);
}
END_TEST

/* Hundreds of thousands of instructions, branches and joins, in seconds. */
START_TEST(giants_are_done_in_time)
{
	enum { N = 200000, REGS_USED = 200 };
	struct sw_insn *code = sw_calloc(N, sizeof *code);
	code[0] = insn(SW_OP_PARAM, 0, SW_NO_REG, 0);
	for (uint32_t i = 1; i < N; i++) {
		code[i] = insn(SW_OP_ADD, i % REGS_USED, (i * 7) % REGS_USED, 0);
		code[i].src[code[i].n++] = sw_operand_reg((i * 13) % REGS_USED);
		if (i % 10 == 3) {
			code[i] = insn(SW_OP_COMPARE, REGS_USED, i % REGS_USED, SW_LT);
			code[i].width = 1;
			code[i].imm2 = 64;
			code[i].src[code[i].n++] = sw_operand_reg(0);
		} else if (i % 10 == 4) {
			code[i] = insn(SW_OP_JUMP, SW_NO_REG, SW_NO_REG, 0);
			code[i].guard = REGS_USED;
			code[i].target = i % 100 == 4 ? i - i % 1000 : i + 6 < N ? i + 6 : i;
		} else if (i % 10 == 7) {
			code[i] = insn(SW_OP_STORE, SW_NO_REG, i % REGS_USED, 0);
			code[i].src[code[i].n++] = sw_operand_reg(1);
		}
	}
	code[N - 1] = insn(SW_OP_EXIT, SW_NO_REG, SW_NO_REG, 0);
	char *text = dump_of_insns(code, N, REGS_USED + 1);
	ck_assert_ptr_nonnull(strstr(text, "write 4"));
	free(text);
	free(code);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("instructions");
	TCase *tests = tcase_create("instructions");
	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, NULL, free_operands);
	tcase_add_test(tests, halves_with_two_carries_in_any_order);
	tcase_add_test(tests, halves_of_which_bits_are_cleared);
	tcase_add_test(tests, damaged_code_is_survived_and_said_so);
	tcase_add_test(tests, a_jump_to_anywhere_keeps_directions);
	tcase_add_test(tests, giants_are_done_in_time);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
