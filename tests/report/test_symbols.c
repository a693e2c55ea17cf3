/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of real files: this very program, as it lies in memory. */
#include "config.h"

#include <check.h>
#include <elfutils/libdwfl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/symbols/debug_objects.h"
#include "../run_suite.h"

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

static int middle_line, outer_line;

static inline __attribute__((always_inline)) void middle(void)
{
	middle_line = __LINE__ + 1;
	inner();
	middle_line++;
}

__attribute__((noinline)) void outer_function(void);
void outer_function(void)
{
	outer_line = __LINE__ + 1;
	middle();
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
	ck_assert_int_eq(seen.n, 3);
	ck_assert_str_eq(seen.symbol[0], "inner");
	ck_assert_str_eq(seen.symbol[1], "middle");
	ck_assert_str_eq(seen.symbol[2], "outer_function");
	ck_assert(seen.inlined[0] && seen.inlined[1] && !seen.inlined[2]);
	for (int i = 0; i < 3; i++)
		ck_assert_str_eq(seen.file[i], "test_symbols.c");
	ck_assert_int_eq(seen.line[0], inner_line - 1);
	ck_assert_int_eq(seen.line[1], middle_line - 1);
	ck_assert_int_eq(seen.line[2], outer_line);
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

/* ---- which symbol holds an address */

static int64_t find(const struct sw_symbol_index *index, uint64_t address)
{
	bool label;
	return sw_symbol_index_find(index, address, &label);
}

START_TEST(an_address_has_the_name_of_the_nearest_symbol_that_holds_it)
{
	struct sw_symbol_index index = {0};
	sw_symbol_index_add(&index, 0x3000, 0x100, 1, SW_SYMBOL_WEAK);
	sw_symbol_index_add(&index, 0x1000, 0x1000, 2, SW_SYMBOL_GLOBAL);
	sw_symbol_index_add(&index, 0x1100, 0x10, 3, SW_SYMBOL_GLOBAL); /* inside of 2 */
	sw_symbol_index_add(&index, 0x3000, 0x100, 4, SW_SYMBOL_GLOBAL);
	sw_symbol_index_add(&index, 0x3000, 0x80, 5, SW_SYMBOL_WEAK);
	sw_symbol_index_add(&index, UINT64_MAX - 8, 0x100, 6, SW_SYMBOL_GLOBAL);
	sw_symbol_index_finish(&index);
	ck_assert_int_eq(find(&index, 0xfff), -1);
	ck_assert_int_eq(find(&index, 0x1000), 2);
	ck_assert_int_eq(find(&index, 0x110f), 3);
	ck_assert_int_eq(find(&index, 0x1110), 2); /* after 3, still in 2 */
	ck_assert_int_eq(find(&index, 0x1fff), 2);
	ck_assert_int_eq(find(&index, 0x2000), -1);
	ck_assert_int_eq(find(&index, 0x307f), 5); /* the shortest of those at 0x3000 */
	ck_assert_int_eq(find(&index, 0x3080), 4); /* the global one of two alike */
	ck_assert_int_eq(find(&index, UINT64_MAX - 1), 6);
	sw_symbol_index_free(&index);
	sw_symbol_index_finish(&index);
	ck_assert_int_eq(find(&index, 0x1000), -1);
}
END_TEST

START_TEST(local_symbols_and_labels_only_count_where_no_other_holds_the_address)
{
	struct sw_symbol_index index = {0};
	bool label;
	sw_symbol_index_add(&index, 0x1000, 0x1000, 1, SW_SYMBOL_WEAK);
	sw_symbol_index_add(&index, 0x1100, 0x10, 2, SW_SYMBOL_LOCAL);
	sw_symbol_index_add(&index, 0x4000, 0x10, 3, SW_SYMBOL_LOCAL);
	sw_symbol_index_add(&index, 0x1800, 0, 4, SW_SYMBOL_GLOBAL);
	sw_symbol_index_add(&index, 0x2800, 0, 5, SW_SYMBOL_GLOBAL);
	sw_symbol_index_finish(&index);
	ck_assert_int_eq(find(&index, 0x1108), 1);
	ck_assert_int_eq(find(&index, 0x4008), 3);
	ck_assert_int_eq(sw_symbol_index_find(&index, 0x2400, &label), -1);
	ck_assert(!label); /* 4 begins inside of 1 */
	ck_assert_int_eq(sw_symbol_index_find(&index, 0x2900, &label), -1);
	ck_assert(label);
	ck_assert_int_eq(sw_symbol_index_find(&index, 0x4010, &label), -1);
	ck_assert(!label);
	sw_symbol_index_free(&index);
}
END_TEST

/* By the words of debug_objects.h, one after the other. */
static int64_t find_slowly(const struct sw_index_symbol *at, int n, uint64_t address)
{
	const struct sw_index_symbol *best = NULL;
	for (int i = 0; i < n; i++) {
		const struct sw_index_symbol *s = &at[i];
		if (address < s->address || address - s->address >= s->bytes)
			continue;
		const int64_t order[] = {
			best ? (best->bind == SW_SYMBOL_LOCAL) - (s->bind == SW_SYMBOL_LOCAL) : 1,
			best ? (int64_t)(s->address - best->address) : 0,
			best ? (int64_t)best->bytes - (int64_t)s->bytes : 0,
			best ? (int64_t)s->bind - (int64_t)best->bind : 0,
		};
		int k = 0;
		while (k < 3 && !order[k])
			k++;
		if (order[k] > 0)
			best = s;
	}
	return best ? (int64_t)best->number : -1;
}

START_TEST(many_symbols_one_in_another)
{
	struct sw_symbol_index index = {0};
	struct sw_index_symbol all[3000];
	unsigned seed = 7;
	for (int i = 0; i < 3000; i++) {
		uint64_t address = 0x400000 + (uint64_t)(rand_r(&seed) % 65536) * 16;
		uint64_t bytes = rand_r(&seed) % 50 ? (uint64_t)rand_r(&seed) % 600 : 40000;
		enum sw_symbol_bind bind = (enum sw_symbol_bind)(rand_r(&seed) % 3);
		all[i] = (struct sw_index_symbol){address, (uint32_t)bytes, (uint32_t)i & 0x3fffffff, bind & 3u};
		sw_symbol_index_add(&index, address, bytes, (uint32_t)i, bind);
	}
	sw_symbol_index_finish(&index);
	for (int i = 0; i < 20000; i++) {
		uint64_t address = 0x3ff000 + (uint64_t)(rand_r(&seed) % 0x110000);
		ck_assert_int_eq(find(&index, address), find_slowly(all, 3000, address));
	}
	sw_symbol_index_free(&index);
}
END_TEST

#define NAME_ROOM 4096

/* Strings are valid during the call. */
static void take_symbol(void *arg, const struct sw_object_place *place)
{
	snprintf(arg, NAME_ROOM, "%s", place->symbol ? place->symbol : "");
}

struct libc_functions {
	uint64_t start, end;
	char path[4096];
	uint64_t base;
};

static int find_libc(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct libc_functions *libc = arg;
	(void)size;
	if (!strstr(info->dlpi_name, "/libc.so"))
		return 0;
	snprintf(libc->path, sizeof libc->path, "%s", info->dlpi_name);
	libc->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			libc->start = libc->base + info->dlpi_phdr[i].p_vaddr;
			libc->end = libc->start + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

/* Symbols of one address may have several names. */
static bool same_place(Dwfl_Module *module, const char *name, const char *expected, uint64_t address)
{
	GElf_Sym symbol;
	GElf_Addr at, wanted = 0;
	for (int i = 1; i < dwfl_module_getsymtab(module); i++) {
		const char *found = dwfl_module_getsym_info(module, i, &symbol, &at, NULL, NULL, NULL);
		if (found && symbol.st_shndx && !strcmp(found, expected) && at <= address)
			wanted = at;
	}
	for (int i = 1; i < dwfl_module_getsymtab(module); i++) {
		const char *found = dwfl_module_getsym_info(module, i, &symbol, &at, NULL, NULL, NULL);
		if (found && symbol.st_shndx && at == wanted && !strcmp(found, name))
			return true;
	}
	return false;
}

START_TEST(addresses_of_libc_have_the_names_that_libdw_gives)
{
	static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
						 .find_debuginfo = dwfl_standard_find_debuginfo,
						 .section_address = dwfl_offline_section_address};
	struct libc_functions libc = {0};
	static char name[NAME_ROOM];
	enum sw_object_state state;
	size_t named = 0;
	dl_iterate_phdr(find_libc, &libc);
	struct sw_trace_module recorded = {.path = libc.path, .base = libc.base};
	struct sw_debug_object *object = sw_object_open(&recorded, &state);
	ck_assert_int_eq(state, SW_OBJECT_USABLE);
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module = dwfl_report_elf(dwfl, libc.path, libc.path, -1, libc.base, true);
	dwfl_report_end(dwfl, NULL, NULL);
	ck_assert_ptr_nonnull(module);
	for (uint64_t at = libc.start; at < libc.end; at += 2999) {
		const char *expected = dwfl_module_addrname(module, at);
		name[0] = 0;
		sw_object_places(object, at, take_symbol, name);
		ck_assert_msg(!*name == !expected, "%s instead of %s", name, expected);
		if (*name && strcmp(name, expected))
			ck_assert_msg(same_place(module, name, expected, at), "%s instead of %s", name, expected);
		named += *name != 0;
	}
	ck_assert_uint_gt(named, 100);
	dwfl_end(dwfl);
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
	tcase_add_test(c, an_address_has_the_name_of_the_nearest_symbol_that_holds_it);
	tcase_add_test(c, local_symbols_and_labels_only_count_where_no_other_holds_the_address);
	tcase_add_test(c, many_symbols_one_in_another);
	tcase_add_test(c, addresses_of_libc_have_the_names_that_libdw_gives);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
