/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of real files: this very program, as it lies in memory. */
#include "config.h"

#include <check.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/symbols/debug_objects.h"

struct seen {
	char symbol[4][64], file[4][64];
	int line[4];
	bool inlined[4];
	int n;
};

static void see(void *arg, const struct sw_object_place *place)
{
	struct seen *seen = arg;
	const char *slash = place->file ? strrchr(place->file, '/') : NULL;
	if (seen->n == 4)
		return;
	snprintf(seen->symbol[seen->n], 64, "%s", place->symbol ? place->symbol : "");
	snprintf(seen->file[seen->n], 64, "%s", slash ? slash + 1 : place->file ? place->file : "");
	seen->line[seen->n] = place->line;
	seen->inlined[seen->n++] = place->inlined;
}

/* An address inside a function that is inlined: the call to the volatile pointer below returns there. */
static void *volatile return_address;
static int inner_line;

static __attribute__((noinline)) void remember(void)
{
	return_address = __builtin_return_address(0);
}
static void (*volatile remember_it)(void) = remember;

static inline __attribute__((always_inline)) void inner(void)
{
	inner_line = __LINE__ + 1;
	remember_it();
	inner_line++; /* no tail call */
}

__attribute__((noinline)) void outer_function(void);
void outer_function(void)
{
	inner();
}

static char own_path[4096];

static int first_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct sw_trace_module *module = arg;
	(void)size;
	module->base = info->dlpi_addr;
	return 1;
}

static struct sw_trace_module own_module(void)
{
	struct sw_trace_module module = {.path = own_path};
	ssize_t length = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
	ck_assert_int_gt(length, 0);
	own_path[length] = 0;
	dl_iterate_phdr(first_object, &module);
	return module;
}

START_TEST(places_are_named_with_file_line_and_inlined_functions)
{
	struct sw_trace_module module = own_module();
	enum sw_object_state state;
	struct sw_debug_object *object = sw_object_open(&module, &state);
	struct seen seen = {0};
	ck_assert_int_eq(state, SW_OBJECT_USABLE);
	outer_function();
	sw_object_places(object, (uint64_t)(uintptr_t)return_address - 1, see, &seen);
	ck_assert_int_eq(seen.n, 2);
	ck_assert_str_eq(seen.symbol[0], "inner");
	ck_assert(seen.inlined[0] && !seen.inlined[1]);
	ck_assert_str_eq(seen.symbol[1], "outer_function");
	ck_assert_str_eq(seen.file[0], "test_symbols.c");
	ck_assert_str_eq(seen.file[1], "test_symbols.c");
	ck_assert_int_eq(seen.line[0], inner_line - 1);
	ck_assert_int_gt(seen.line[1], seen.line[0]);
	sw_object_close(object);
}
END_TEST

START_TEST(a_file_with_another_build_id_gives_nothing)
{
	static const uint8_t other[20] = {1, 2, 3};
	struct sw_trace_module module = own_module();
	enum sw_object_state state;
	struct seen seen = {0};
	module.build_id = other;
	module.build_id_bytes = sizeof other;
	struct sw_debug_object *object = sw_object_open(&module, &state);
	ck_assert_int_eq(state, SW_OBJECT_CHANGED);
	outer_function();
	sw_object_places(object, (uint64_t)(uintptr_t)return_address - 1, see, &seen);
	ck_assert_int_eq(seen.n, 0);
	sw_object_close(object);
}
END_TEST

START_TEST(missing_and_foreign_files_give_nothing)
{
	static const char *const paths[] = {"/nonexistent/libfoo.so", "/etc/passwd", "/dev/null", "", "[vdso]"};
	struct sw_trace_module module = {.path = paths[_i], .base = 0x400000};
	enum sw_object_state state;
	struct seen seen = {0};
	struct sw_debug_object *object = sw_object_open(&module, &state);
	ck_assert_int_eq(state, SW_OBJECT_MISSING);
	sw_object_places(object, 0x400100, see, &seen);
	ck_assert_int_eq(seen.n, 0);
	sw_object_close(object);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbols");
	TCase *c = tcase_create("symbols");
	tcase_add_test(c, places_are_named_with_file_line_and_inlined_functions);
	tcase_add_test(c, a_file_with_another_build_id_gives_nothing);
	tcase_add_loop_test(c, missing_and_foreign_files_give_nothing, 0, 5);
	suite_add_tcase(suite, c);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
