/* SPDX-License-Identifier: Apache-2.0 */
/* Footprints of PTX that a test writes down. */
#ifndef SW_TESTS_FOOTPRINT_ENGINE_H
#define SW_TESTS_FOOTPRINT_ENGINE_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dump.h"

/* The footprint of kernel k, whose parameters are named a, b, c, d; the caller's.  source: as which it is taken. */
static inline char *text_of_module_as(enum sw_code_source source, const char *module)
{
	char *ptx = sw_format(".version 8.0\n.target sm_90\n.address_size 64\n%s\n", module);
	struct sw_ptx_module *m;
	struct sw_program program;
	struct sw_error error;
	ck_assert_msg(!sw_ptx_module_open(ptx, strlen(ptx), &m, &error), "%s", error.text);
	ck_assert_msg(!sw_ptx_read(m, "k", &program, &error), "%s", error.text);
	char *text = sw_dump_program(&program, source);
	sw_ptx_module_close(m);
	free(ptx);
	return text;
}

static inline char *text_of_module(const char *module)
{
	return text_of_module_as(SW_SOURCE_PTX, module);
}

static inline void expect_module(const char *module, const char *expected)
{
	char *text = text_of_module(module);
	ck_assert_str_eq(text, expected);
	free(text);
}

#define REGS ".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<9>;\n"
/* r1: the global index; rd1: where it points in a. */
#define INDEX "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r1, %r2, %r3, %r4;\n"
#define BASE  "ld.param.u64 %rd2, [a]; cvta.to.global.u64 %rd3, %rd2;\n"
#define LIMIT "ld.param.u32 %r9, [b];\n"
#define POINT "mul.wide.s32 %rd4, %r1, 4; add.s64 %rd1, %rd3, %rd4;\n"

static inline char *text_as(enum sw_code_source source, const char *body)
{
	char *module =
		sw_format(".visible .entry k(.param .u64 a, .param .u32 b, .param .u32 c, .param .u64 d)\n{\n%s%s\n}\n",
			  REGS, body);
	char *text = text_of_module_as(source, module);
	free(module);
	return text;
}

static inline char *text_of(const char *body)
{
	return text_as(SW_SOURCE_PTX, body);
}

static inline void expect(const char *body, const char *expected)
{
	char *text = text_of(body);
	ck_assert_str_eq(text, expected);
	free(text);
}

#define I  "((ntid.x * ctaid.x) + tid.x)"
#define AT "((s64_32(" I ") * 4) + p0.64)"

/* Under p1 rd1 points in a, else it keeps what another life of the register left there: d. */
#define LEFTOVER                                                                                                       \
	INDEX BASE LIMIT "ld.param.u64 %rd1, [d]; setp.lt.s32 %p1, %r1, %r9; mul.wide.s32 %rd4, %r1, 4;"               \
			 "@%p1 add.s64 %rd1, %rd3, %rd4;"

#endif
