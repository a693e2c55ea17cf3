/* SPDX-License-Identifier: Apache-2.0 */
/* PTX to programs: tests/footprint/ptx/cases.txt is the table; what a table cannot say is below. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "footprint/code.h"
#include "../run_suite.h"

/* ---- the table ---- */

#define MOST_CASES 256

static struct ptx_case {
	char *name, *body, *expected;
} cases[MOST_CASES];
static int n_cases;
static char *begin;

static char *read_file(const char *name)
{
	const char *top = getenv("top_srcdir");
	char *path = sw_format("%s/tests/footprint/ptx/%s", top ? top : ".", name), *text = NULL;
	size_t n = 0;
	FILE *f = fopen(path, "r");
	if (!f || getdelim(&text, &n, 0, f) < 0) {
		perror(path);
		exit(1);
	}
	fclose(f);
	free(path);
	return text;
}

static char *line_end(char *at)
{
	char *nl = strchr(at, '\n');
	return nl ? nl + 1 : at + strlen(at);
}

/* "=== name", body, "---", expected, up to the next "===". */
static void read_cases(char *text)
{
	char *at = strstr(text, "\n=== ");
	for (; at && n_cases < MOST_CASES; n_cases++) {
		char *name = at + strlen("\n=== "), *body = line_end(name), *dashes = strstr(body, "---\n");
		at = strstr(body, "\n=== ");
		if (!dashes || (at && dashes > at)) {
			fprintf(stderr, "cases.txt: no dashes in %.40s\n", name);
			exit(1);
		}
		body[-1] = dashes[0] = 0;
		if (at)
			at[0] = 0;
		cases[n_cases] = (struct ptx_case){name, body, dashes + strlen("---\n")};
	}
}

/* Leaves out what is the same in all. */
static char *without_header(char *printed)
{
	char *kept = sw_strdup(printed), *to = kept;
	for (char *at = printed, *end; *at; at = end) {
		end = line_end(at);
		if (!strncmp(at, "param ", 6) || !strncmp(at, "function 0 ", 11))
			continue;
		memcpy(to, at, (size_t)(end - at));
		to += end - at;
	}
	if (to > kept && to[-1] == '\n')
		to--;
	*to = 0;
	return kept;
}

/* malloc'ed: the program of kernel k, or the error. */
static char *print(const char *text)
{
	struct sw_ptx_module *module;
	struct sw_program program;
	struct sw_error error;
	char *printed = NULL;
	size_t n;
	if (sw_ptx_module_open(text, strlen(text), &module, &error))
		return sw_strdup(error.text);
	if (sw_ptx_read(module, "k", &program, &error)) {
		printed = sw_strdup(error.text);
	} else {
		FILE *f = open_memstream(&printed, &n);
		sw_program_print(&program, f);
		fclose(f);
		sw_program_free(&program);
	}
	sw_ptx_module_close(module);
	return printed;
}

START_TEST(table)
{
	const struct ptx_case *c = &cases[_i];
	char *text = sw_format("%s%s\tret;\n}\n", begin, c->body), *printed = print(text);
	char *kept = without_header(printed), *expected = sw_strdup(c->expected);
	size_t n = strlen(expected);
	if (n && expected[n - 1] == '\n')
		expected[n - 1] = 0;
	ck_assert_msg(!strcmp(kept, expected), "%s:\n%s\nshould be:\n%s", c->name, kept, expected);
	free(text);
	free(printed);
	free(kept);
	free(expected);
}
END_TEST

/* ---- modules ---- */

static struct sw_ptx_module *open_module(const char *text)
{
	struct sw_ptx_module *module = NULL;
	struct sw_error error;
	ck_assert_msg(!sw_ptx_module_open(text, strlen(text), &module, &error), "%s", error.text);
	return module;
}

static struct sw_program read_kernel(const struct sw_ptx_module *module, const char *name)
{
	struct sw_program program;
	struct sw_error error;
	ck_assert_msg(!sw_ptx_read(module, name, &program, &error), "%s", error.text);
	return program;
}

START_TEST(layout)
{
	struct sw_ptx_module *m =
		open_module(".version 9.0\n.target sm_90a, debug\n"
			    ".entry k(.param .u8 a, .param .u64 .ptr .shared .align 32 b, .param .align 4 .b8 c[6],\n"
			    "         .param .align 64 .b8 d[128], .param .f32 e) { ret; }\n");
	struct sw_program p = read_kernel(m, "k");
	static const struct sw_param expected[] = {{0, 1}, {8, 8}, {16, 6}, {64, 128}, {192, 4}};
	ck_assert_uint_eq(sw_ptx_module_arch(m), 90);
	ck_assert_uint_eq(p.params, 5);
	ck_assert_uint_eq(p.param_bytes, 196);
	for (unsigned i = 0; i < 5; i++) {
		ck_assert_uint_eq(p.param[i].offset, expected[i].offset);
		ck_assert_uint_eq(p.param[i].bytes, expected[i].bytes);
	}
	sw_program_free(&p);
	sw_ptx_module_close(m);
}
END_TEST

START_TEST(kernels_without_code)
{
	struct sw_ptx_module *m =
		open_module(".target sm_80\n.extern .entry x();\n.func f() { ret; }\n.entry k { ret; }\n");
	static const char *const none[] = {"x", "f", "y", ""};
	struct sw_program p;
	struct sw_error error;
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_lt(sw_ptx_read(m, none[i], &p, &error), 0);
		ck_assert_ptr_null(p.function);
	}
	p = read_kernel(m, "k");
	ck_assert_uint_eq(p.function[0].insns, 1);
	sw_program_free(&p);
	sw_ptx_module_close(m);
}
END_TEST

/* Evidence strings: the place and the text of an instruction. */
START_TEST(place_and_text)
{
	struct sw_ptx_module *m =
		open_module(".target sm_80\n\n.entry k(.param .u64 p)\n{\n"
			    ".reg .b64 %d<2>; .reg .f32 %f<5>;\n.loc 1 2 3\n\nld.param.u64 %d1, [p];\n"
			    "{ st.volatile.global.L2::cache_hint.v4.f32\n  [%d1], {%f1, %f2, %f3, %f4}, %d1; }\n}\n");
	struct sw_program p = read_kernel(m, "k");
	const struct sw_insn *store = &p.function[0].insn[1];
	ck_assert_uint_eq(p.function[0].insn[0].place, 8);
	ck_assert_uint_eq(store->place, 9);
	ck_assert_str_eq(store->text, "st.volatile.global");
	sw_program_free(&p);
	sw_ptx_module_close(m);
}
END_TEST

/* A cluster's shape is known where the kernel says it, not otherwise. */
START_TEST(cluster_shape)
{
	static const char *const says[] = {".reqnctapercluster 4", ""};
	static const enum sw_op id[] = {SW_OP_DIV, SW_OP_RANGE}, blocks[] = {SW_OP_CONST, SW_OP_RANGE};
	for (unsigned i = 0; i < 2; i++) {
		char *text = sw_format(".target sm_90\n.entry k() %s {\n.reg .b32 %%r<3>;\n"
				       "mov.u32 %%r1, %%cluster_nctaid.x;\nmov.u32 %%r2, %%clusterid.x;\n}\n",
				       says[i]);
		struct sw_ptx_module *m = open_module(text);
		struct sw_program p = read_kernel(m, "k");
		const struct sw_program_function *f = &p.function[0];
		ck_assert_uint_eq(f->insn[0].op, blocks[i]);
		ck_assert_uint_eq(f->insn[f->insns - 2].op, id[i]);
		if (!i) {
			ck_assert_int_eq(f->insn[0].imm, 4);
			ck_assert_int_eq(f->insn[f->insns - 2].src[1].imm, 4);
		}
		sw_program_free(&p);
		sw_ptx_module_close(m);
		free(text);
	}
}
END_TEST

/* ---- what must end, and soon ---- */

static void check_fails(char *text, const char *with)
{
	char *printed = print(text);
	ck_assert_msg(strstr(printed, with) != NULL, "%s", printed);
	free(printed);
	free(text);
}

static char *repeated(const char *first, const char *each, unsigned times, const char *last)
{
	size_t n = strlen(each);
	char *text = sw_alloc(strlen(first) + n * times + strlen(last) + 1), *to = stpcpy(text, first);
	while (times--)
		to = stpcpy(to, each);
	strcpy(to, last);
	return text;
}

START_TEST(too_much)
{
	check_fails(repeated(".target sm_80\n.entry k() {", "{", 100000, ""), "the text ends within a function");
	char *closed = repeated("", "}", 1001, "");
	check_fails(repeated(".target sm_80\n.entry k() {", "{", 1000, closed), "nested deeper");
	free(closed);
	check_fails(repeated(".target sm_80\n.entry k() {", "exit;", SW_CODE_MAX_INSNS + 1, "}"), "instructions");
	check_fails(sw_strdup(".target sm_80\n.entry k() { .reg .b32 %r<4000000000>; }"), "more registers");
	check_fails(sw_strdup(".target sm_80\n.entry k(.param .b8 p[70000]) { ret; }"), "parameter bytes");
	check_fails(sw_strdup(".version 9.0\n.entry k() { ret; }"), "no .target");
}
END_TEST

/* Functions that call each other are each read once. */
START_TEST(recursion)
{
	struct sw_ptx_module *m = open_module(".target sm_80\n.func b();\n.func a() { call b; }\n"
					      ".func b() { call a; call b; }\n.entry k() { call a; }\n");
	struct sw_program p = read_kernel(m, "k");
	ck_assert_uint_eq(p.functions, 3);
	sw_program_free(&p);
	sw_ptx_module_close(m);
}
END_TEST

/* 200000 instructions with a label each: seconds would be minutes if anything were quadratic. */
START_TEST(gigantic)
{
	unsigned lines = 100000;
	char *text = sw_alloc(lines * 64 + 200), *to = text;
	to += sprintf(to, ".target sm_80\n.entry k() { .reg .pred %%p; .reg .b32 %%r<%u>;\n", lines + 1);
	for (unsigned i = 0; i < lines; i++)
		to += sprintf(to, "L%u: @%%p bra L%u; add.u32 %%r%u, %%r%u, 1;\n", i, lines - 1 - i, i + 1, i);
	strcpy(to, "}\n");
	struct sw_ptx_module *m = open_module(text);
	struct sw_program p = read_kernel(m, "k");
	ck_assert_uint_eq(p.function[0].insns, 2 * lines + 1);
	ck_assert_uint_eq(p.function[0].insn[0].target, 2 * (lines - 1));
	sw_program_free(&p);
	sw_ptx_module_close(m);
	free(text);
}
END_TEST

int main(void)
{
	begin = read_file("begin.ptx");
	char *text = read_file("cases.txt");
	read_cases(text);
	Suite *s = suite_create("ptx");
	TCase *one = tcase_create("table"), *rest = tcase_create("modules");
	tcase_add_loop_test(one, table, 0, n_cases);
	tcase_add_test(rest, layout);
	tcase_add_test(rest, kernels_without_code);
	tcase_add_test(rest, place_and_text);
	tcase_add_test(rest, cluster_shape);
	tcase_add_test(rest, too_much);
	tcase_add_test(rest, recursion);
	tcase_add_test(rest, gigantic);
	tcase_set_timeout(rest, 60);
	suite_add_tcase(s, one);
	suite_add_tcase(s, rest);
	const int status = run_suite(s);
	free(text);
	free(begin);
	return status || n_cases < 40;
}
