/* SPDX-License-Identifier: Apache-2.0 */
/* libsyncwatch-python.so and interpreters that it does not know, and of memory that is not what it should be. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/python/python.h"
#include "../run_suite.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Ends where nothing may be read. */
static char *edge;
static size_t page;

static void start(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(pages, MAP_FAILED);
	ck_assert_int_eq(mprotect(pages + page, page, PROT_NONE), 0);
	edge = pages + page;
}

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

static const char *layout(const char *version, const void *runtime)
{
	struct sw_python_layout at;
	return sw_python_layout_find(&at, version, runtime);
}

START_TEST(unknown_versions_are_refused)
{
	static const char *const unknown[] = {"3.15.0 (main)", "3.8.18 (default)", "2.7.18", "4.0.0", "", "3."};
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		ck_assert_str_eq(layout(unknown[i], NULL), "only 3.9 to 3.14 are known");
	ck_assert_str_eq(layout("3.12.0rc1 (main)", NULL), "it is a version before a release");
	ck_assert_str_eq(layout("3.14.0a3+ (main)", NULL), "it is a version before a release");
	ck_assert_ptr_null(layout("3.9.18 (main)", NULL));
	ck_assert_ptr_null(layout("3.12.1+ (heads)", NULL));
	ck_assert_ptr_null(layout("3.11.7", NULL));
}
END_TEST

/* The table that 3.13 publishes, with an offset of 8 * its place in each word. */
static void publish(uint64_t *word)
{
	memcpy(word, "xdebugpy", 8);
	word[1] = 0x030d00f0;
	word[2] = 0;
	for (unsigned i = 3; i < 71; i++)
		word[i] = i * 8;
}

START_TEST(published_layouts_are_checked)
{
	static uint64_t word[100];
	struct sw_python_layout at;
	publish(word);
	ck_assert_ptr_null(sw_python_layout_find(&at, "3.13.0 (main)", word));
	ck_assert_uint_eq(at.code, 30 * 8);
	ck_assert_uint_eq(at.bytecode, 43 * 8);
	ck_assert_uint_eq(at.type_free, 47 * 8 + 24);
	word[1] = 0x030e00f0;
	ck_assert_str_eq(layout("3.13.0", word), "the layout that it publishes is of another version");
	publish(word);
	word[2] = 1;
	ck_assert_str_eq(layout("3.13.0", word), "it is a free-threaded build");
	publish(word);
	word[30] = 1ull << 40;
	ck_assert_str_eq(layout("3.13.0", word), "the layout that it publishes is damaged");
	word[0] = 0;
	ck_assert_str_eq(layout("3.13.0", word), "it does not publish its layout");
	ck_assert_str_eq(layout("3.14.0", NULL), "it does not publish its layout");
	publish(word);
	memcpy(edge - 70 * 8, word, 70 * 8);
	ck_assert_str_eq(layout("3.13.0", edge - 70 * 8), "it does not publish its layout");
}
END_TEST

/* ---- code objects ------------------------------------------------------------------------------------------------ */

static char code_type, text_type, bytes_type;
static const struct sw_python_types types = {&code_type, &text_type, &bytes_type};
static struct sw_python_layout at;

/* The members that are read, as 3.11 has them. */
struct object {
	uint64_t references;
	const void *type;
};
struct text {
	struct object head;
	uint64_t length, hash;
	uint32_t state; /* width << 2 | compact << 5 | ascii << 6 */
	uint32_t pad;
	uint64_t wide;
	char data[64];
};
struct code {
	struct object head;
	char before[56];
	uint32_t first_line;
	char between[36];
	const void *file;
	uint64_t name;
	const void *function, *lines;
};

static struct text file = {{1, &text_type}, 8, 0, 1 << 2 | 1 << 5 | 1 << 6, 0, 0, "/src/x.p"};
static struct text function = {{1, &text_type}, 4, 0, 1 << 2 | 1 << 5 | 1 << 6, 0, 0, "main"};
static struct code code;

static void make(void)
{
	start();
	ck_assert_ptr_null(sw_python_layout_find(&at, "3.11.7", NULL));
	ck_assert_uint_eq(at.first_line, offsetof(struct code, first_line));
	ck_assert_uint_eq(at.file, offsetof(struct code, file));
	ck_assert_uint_eq(at.function, offsetof(struct code, function));
	ck_assert_uint_eq(at.text_ascii, offsetof(struct text, data));
	code = (struct code){.head = {1, &code_type}, .first_line = 7, .file = &file, .function = &function};
}

static enum sw_python_found look(const void *object)
{
	static struct sw_python_source source;
	return sw_python_source_read(&at, &types, object, &source);
}

START_TEST(code_is_read)
{
	struct sw_python_source source;
	ck_assert_int_eq(sw_python_source_read(&at, &types, &code, &source), SW_PYTHON_SOURCE);
	ck_assert_uint_eq(source.first_line, 7);
	ck_assert_uint_eq(source.file_bytes, 8);
	ck_assert_mem_eq(source.text, "/src/x.pmain", 12);
	code.file = NULL;
	ck_assert_int_eq(look(&code), SW_PYTHON_INTERNAL);
}
END_TEST

START_TEST(what_is_no_code_is_refused)
{
	const struct code good = code;
	const void *const wild[] = {NULL,	  (char *)&code + 1, edge, edge - 8, (void *)0xffff800000000000ull,
				    (void *)0x10, &text_type};
	for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
		ck_assert_int_eq(look(wild[i]), SW_PYTHON_UNREADABLE);
		code = good;
		code.function = wild[i] ? wild[i] : edge;
		ck_assert_int_eq(look(&code), SW_PYTHON_UNREADABLE);
		code = good;
		code.file = wild[i] ? wild[i] : edge;
		ck_assert_int_eq(look(&code), SW_PYTHON_UNREADABLE);
	}
	code = good;
	code.head.type = &text_type;
	ck_assert_int_eq(look(&code), SW_PYTHON_UNREADABLE);
}
END_TEST

START_TEST(strings_that_lie_are_refused)
{
	const struct text good = function;
	static const uint64_t lengths[] = {UINT64_MAX, 1ull << 32, 1u << 25};
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		function.length = lengths[i];
		ck_assert_int_eq(look(&code), SW_PYTHON_UNREADABLE);
	}
	function = good;
	function.state = 3 << 2 | 1 << 5 | 1 << 6; /* no width */
	ck_assert_int_eq(look(&code), SW_PYTHON_UNREADABLE);
	function.state = 1 << 2 | 1 << 6; /* not compact */
	ck_assert_int_eq(look(&code), SW_PYTHON_UNREADABLE);
	function = good;
	/* The text's end lies where nothing can be read. */
	struct text *last = (struct text *)(void *)(edge - offsetof(struct text, data) - 8);
	memcpy(last, &good, offsetof(struct text, data) + 4);
	last->length = 9;
	code.function = last;
	ck_assert_int_eq(look(&code), SW_PYTHON_UNREADABLE);
	last->length = 8;
	ck_assert_int_eq(look(&code), SW_PYTHON_SOURCE);
}
END_TEST

START_TEST(names_stay_one_line_of_text)
{
	static const uint16_t odd[] = {'a', '\n', 0x1b, 0xd800, 0xe9, 0x65e5};
	struct text wide = {{1, &text_type}, 6, 0, 2 << 2 | 1 << 5, 0, 0, ""};
	struct sw_python_source source;
	memcpy((char *)&wide + at.text_compact, odd, sizeof odd);
	code.function = &wide;
	ck_assert_int_eq(sw_python_source_read(&at, &types, &code, &source), SW_PYTHON_SOURCE);
	ck_assert_uint_eq(source.function_bytes, 4 + 2 + 3);
	ck_assert_mem_eq(source.text + source.file_bytes, "a???\xc3\xa9\xe6\x97\xa5", 9);
}
END_TEST

/* ---- line tables ------------------------------------------------------------------------------------------------- */

START_TEST(damaged_line_tables_give_no_line)
{
	static const unsigned char tables[][8] = {
		{0x00},						  /* no head */
		{0xf0},						  /* the columns are missing */
		{0xe8, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f}, /* a number without an end */
		{0xd0},
	};
	struct {
		struct object head;
		uint64_t length, hash;
		unsigned char data[8];
	} bytes = {.head = {1, &bytes_type}};
	struct sw_python_table table;
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (unsigned length = 1; length <= 8; length++) {
			bytes.length = length;
			memcpy(bytes.data, tables[i], 8);
			table = sw_python_table_of(&at, &types, &bytes);
			ck_assert_uint_eq(table.bytes, length);
			ck_assert_uint_eq(
				sw_python_line(SW_PYTHON_LOCATIONS, &table, 3, 2000, &(struct sw_python_entry){0}), 0);
		}
	/* Where it was read last is of another table. */
	ck_assert_uint_eq(sw_python_line(SW_PYTHON_LOCATIONS, &table, 3, 9000, &(struct sw_python_entry){100, 8, 3}),
			  0);
}
END_TEST

START_TEST(what_is_no_line_table_gives_no_line)
{
	struct {
		struct object head;
		uint64_t length, hash;
	} *last = (void *)(edge - 32);
	*last = (__typeof__(*last)){.head = {1, &bytes_type}, .length = 1};
	ck_assert_uint_eq(sw_python_table_of(&at, &types, last).bytes, 0); /* its data cannot be read */
	last->length = UINT64_MAX;
	ck_assert_uint_eq(sw_python_table_of(&at, &types, last).bytes, 0);
	ck_assert_uint_eq(sw_python_table_of(&at, &types, edge).bytes, 0);
	ck_assert_uint_eq(sw_python_table_of(&at, &types, NULL).bytes, 0);
	ck_assert_uint_eq(sw_python_table_of(&at, &types, &code).bytes, 0);
	const struct sw_python_table none = {0};
	struct sw_python_entry entry = {0};
	ck_assert_uint_eq(sw_python_line(SW_PYTHON_LOCATIONS, &none, 3, 4, &entry), 0);
	ck_assert_uint_eq(sw_python_line(SW_PYTHON_LINETABLE, &none, 3, 4, &entry), 0);
	ck_assert_uint_eq(sw_python_line(SW_PYTHON_LNOTAB, &none, 3, 4, &entry), 3); /* as Python has it */
	ck_assert_uint_eq(sw_python_line(SW_PYTHON_LOCATIONS, &none, 3, -2, &entry), 3);
}
END_TEST

/* ---- ends of code objects ---------------------------------------------------------------------------------------- */

static unsigned ended;
static void original(void *object)
{
	(void)object;
	ended++;
}

START_TEST(ends_of_watched_objects_are_told_in_order)
{
	static struct {
		char before[48];
		void (*free)(void *);
	} type = {.free = original};
	static char object[1000];
	ck_assert(sw_python_freed_start(&type, 48));
	ck_assert(sw_python_freed_start(&type, 48)); /* once more in a child: nothing is called twice */
	type.free(&object[0]);
	ck_assert_uint_eq(sw_python_freed(), 0);
	for (unsigned i = 0; i < 1000; i++)
		sw_python_freed_watch(&object[i]);
	type.free(&object[5]);
	type.free(&object[7]);
	type.free(&object[5]); /* an object that got the address after it was not watched */
	ck_assert_uint_eq(sw_python_freed(), 2);
	ck_assert_ptr_eq(sw_python_freed_at(0), &object[5]);
	ck_assert_ptr_eq(sw_python_freed_at(1), &object[7]);
	ck_assert_ptr_null(sw_python_freed_at(2));
	sw_python_freed_watch(&object[5]);
	for (unsigned i = 0; i < 1000; i++)
		type.free(&object[i]);
	ck_assert_uint_eq(sw_python_freed(), 2 + 999); /* all but 7, 5 once more */
	ck_assert_ptr_null(sw_python_freed_at(0));     /* too long ago */
	ck_assert_ptr_eq(sw_python_freed_at(1000), &object[999]);
	ck_assert_uint_eq(ended, 1 + 3 + 1000);
}
END_TEST

START_TEST(more_objects_than_can_be_watched_count_all)
{
	static struct {
		char before[48];
		void (*free)(void *);
	} type = {.free = original};
	ck_assert(sw_python_freed_start(&type, 48));
	for (uintptr_t i = 1; i <= 40000; i++)
		sw_python_freed_watch((void *)(i * 16));
	type.free((void *)8);
	ck_assert_uint_eq(sw_python_freed(), 1);
	ck_assert_ptr_eq(sw_python_freed_at(0), (void *)8);
}
END_TEST

START_TEST(a_table_that_may_not_be_written_is_left_alone)
{
	void (**slot)(void *) = (void (**)(void *))(void *)(edge - 8);
	*slot = original;
	ck_assert_int_eq(mprotect(edge - page, page, PROT_READ), 0);
	ck_assert(!sw_python_freed_start(edge - 56, 48));
	ck_assert_ptr_eq((void *)(uintptr_t)*slot, (void *)(uintptr_t)original);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("python");
	TCase *tc = tcase_create("layout");
	tcase_add_checked_fixture(tc, start, NULL);
	tcase_add_test(tc, unknown_versions_are_refused);
	tcase_add_test(tc, published_layouts_are_checked);
	tcase_add_test(tc, ends_of_watched_objects_are_told_in_order);
	tcase_add_test(tc, more_objects_than_can_be_watched_count_all);
	tcase_add_test(tc, a_table_that_may_not_be_written_is_left_alone);
	suite_add_tcase(suite, tc);
	tc = tcase_create("code");
	tcase_add_checked_fixture(tc, make, NULL);
	tcase_add_test(tc, code_is_read);
	tcase_add_test(tc, what_is_no_code_is_refused);
	tcase_add_test(tc, strings_that_lie_are_refused);
	tcase_add_test(tc, names_stay_one_line_of_text);
	tcase_add_test(tc, damaged_line_tables_give_no_line);
	tcase_add_test(tc, what_is_no_line_table_gives_no_line);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
