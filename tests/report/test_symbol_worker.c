/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that kill, stop or deceive the reader of their symbols cost their own names and nothing else.  What libdw would
 * do with such a file is played here, by the name of the file.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/symbols/debug_objects.h"
#include "../run_suite.h"

/* ---- in the worker ----------------------------------------------------------------------------------------------- */

struct sw_dwarf_object {
	char path[64];
};

static struct sw_dwarf_object objects[64];
static unsigned opened;

static void misbehave(const char *name)
{
	volatile unsigned spin = 1;
	if (strcmp(name, "/abort") == 0) {
		signal(SIGABRT, SIG_DFL);
		abort();
	}
	if (strcmp(name, "/exit") == 0)
		_exit(3);
	while (strcmp(name, "/loop") == 0)
		spin++;
	if (strcmp(name, "/eat") == 0)
		for (size_t n = 1 << 20;; n *= 2)
			memset(malloc(n), 1, n); /* NULL in the end: SIGSEGV, as libraries that do not check */
	if (strcmp(name, "/lie") == 0) { /* an answer that is longer than it says, and places that are longer still */
		const struct sw_worker_answer head = {.bytes = 24};
		const struct sw_worker_place place = {.symbol_bytes = 1 << 30, .file_bytes = 5};
		sw_worker_write(3, &head, sizeof head);
		sw_worker_write(3, &place, sizeof place);
		sw_worker_write(3, "12345678", 8);
		_exit(0);
	}
}

struct sw_dwarf_object *sw_dwarf_open(const struct sw_trace_module *module, enum sw_object_state *state)
{
	struct sw_dwarf_object *object = &objects[opened++];
	snprintf(object->path, sizeof object->path, "%s", module->path);
	*state = SW_OBJECT_USABLE;
	if (module->build_id_bytes)
		misbehave(module->path);
	return object;
}

void sw_dwarf_places(struct sw_dwarf_object *object, uint64_t address, bool lines,
		     void (*each)(void *arg, const struct sw_object_place *place), void *arg)
{
	static char huge[SW_WORKER_ANSWER_MAX + 1];
	misbehave(object->path);
	memset(huge, 'x', sizeof huge - 1);
	if (strcmp(object->path, "/huge") == 0)
		each(arg, &(struct sw_object_place){huge, huge, 1, false});
	if (strcmp(object->path, "/counts") == 0 || !lines)
		each(arg, &(struct sw_object_place){object->path, lines ? "opened" : "no-lines", (int)opened, lines});
	each(arg, &(struct sw_object_place){object->path, NULL, (int)address, true});
	each(arg, &(struct sw_object_place){NULL, "file.c", -1, false});
}

/* ---- here -------------------------------------------------------------------------------------------------------- */

static char seen[256];

static void see(void *arg, const struct sw_object_place *place)
{
	(void)arg;
	const size_t n = strlen(seen);
	snprintf(seen + n, sizeof seen - n, "%s %s %d %d;", place->symbol ? place->symbol : "-",
		 place->file ? place->file : "-", place->line, place->inlined);
}

static const char *ask(struct sw_debug_object *object, uint64_t address)
{
	seen[0] = 0;
	sw_object_places(object, address, see, NULL);
	return seen;
}

static struct sw_debug_object *make(struct sw_trace_module *module, const char *path)
{
	enum sw_object_state state;
	*module = (struct sw_trace_module){.path = path};
	return sw_object_open(module, &state);
}

static void ask_ahead(const char *path, uint64_t address)
{
	char *copy = strdup(path); /* the module may be gone when its file is asked of again */
	const struct sw_trace_module module = {.path = copy};
	sw_object_ahead(&module, address);
	free(copy);
}

static void no_children_are_left(void)
{
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}

START_TEST(sound_files_are_read)
{
	struct sw_trace_module a, b;
	struct sw_debug_object *first = make(&a, "/one"), *second = make(&b, "/two");
	ck_assert_str_eq(ask(first, 7), "/one - 7 1;- file.c -1 0;");
	ck_assert_str_eq(ask(second, 8), "/two - 8 1;- file.c -1 0;");
	ck_assert_str_eq(ask(first, 9), "/one - 9 1;- file.c -1 0;");
	ck_assert_str_eq(ask(first, 0), "");
	ck_assert_ptr_null(sw_object_trouble(first));
	sw_object_close(first);
	sw_object_close(second);
	no_children_are_left();
}
END_TEST

START_TEST(a_file_that_harms_costs_its_own_names)
{
	static const struct {
		const char *path, *trouble;
	} rows[] = {
		{"/abort", "its reader was ended by signal 6"},
		{"/exit", "its reader ended with status 3"},
		{"/loop", "it took too long"},
		{"/eat", ""}, /* by which signal is the sanitizer's business */
		{"/lie", ""},
	};
	sw_object_limits(1, 64 << 20);
	struct sw_trace_module good_module, bad_module;
	struct sw_debug_object *good = make(&good_module, "/good"), *bad = make(&bad_module, rows[_i].path);
	ck_assert_str_eq(ask(good, 1), "/good - 1 1;- file.c -1 0;");
	ck_assert_str_eq(ask(bad, 2), "");
	if (*rows[_i].trouble)
		ck_assert_str_eq(sw_object_trouble(bad), rows[_i].trouble);
	else
		ck_assert_ptr_nonnull(sw_object_trouble(bad));
	ck_assert_str_eq(ask(good, 3), "/good - 3 1;- file.c -1 0;");
	ask(bad, 4); /* not tried again, or answered as badly */
	ck_assert_str_eq(ask(good, 5), "/good - 5 1;- file.c -1 0;");
	ck_assert_ptr_null(sw_object_trouble(good));
	sw_object_close(bad);
	sw_object_close(good);
	no_children_are_left();
}
END_TEST

START_TEST(what_was_asked_ahead_is_open)
{
	struct sw_trace_module module, other;
	sw_object_ahead_begin();
	for (uint64_t i = 1; i < 1000; i++)
		ask_ahead("/counts", i);
	ask_ahead("/two", 1);
	struct sw_debug_object *object = make(&module, "/counts"), *third = make(&other, "/three");
	/* Before /three was opened; then asked once more; then one for which the socket had no room, as for /two. */
	ck_assert_str_eq(ask(object, 7), "/counts opened 1 1;/counts - 7 1;- file.c -1 0;");
	ck_assert_str_eq(ask(object, 7), "/counts opened 2 1;/counts - 7 1;- file.c -1 0;");
	ck_assert_str_eq(ask(object, 999), "/counts opened 2 1;/counts - 999 1;- file.c -1 0;");
	ck_assert_str_eq(ask(third, 8), "/three - 8 1;- file.c -1 0;");
	sw_object_ahead_end();
	ck_assert_str_eq(ask(object, 9), "/counts opened 1 1;/counts - 9 1;- file.c -1 0;");
	sw_object_close(object);
	sw_object_close(third);
	no_children_are_left();
}
END_TEST

/* A file that is open already is not opened again for it. */
START_TEST(asked_ahead_of_what_is_open)
{
	struct sw_trace_module module;
	struct sw_debug_object *object = make(&module, "/counts");
	ask_ahead("/counts", 1);
	ask_ahead("/counts", 2);
	ck_assert_str_eq(ask(object, 2), "/counts opened 1 1;/counts - 2 1;- file.c -1 0;");
	ck_assert_str_eq(ask(object, 1), "/counts opened 1 1;/counts - 1 1;- file.c -1 0;");
	sw_object_close(object);
	no_children_are_left();
}
END_TEST

/* Another build, or mapped elsewhere: another file. */
START_TEST(what_was_asked_ahead_is_that_file)
{
	const uint8_t id = 1;
	enum sw_object_state state;
	const struct sw_trace_module elsewhere = {.path = "/counts", .base = 4096},
				     rebuilt = {.path = "/counts", .build_id = &id, .build_id_bytes = 1};
	sw_object_ahead_begin();
	ask_ahead("/counts", 1);
	struct sw_debug_object *first = sw_object_open(&elsewhere, &state), *second = sw_object_open(&rebuilt, &state);
	ck_assert_str_eq(ask(first, 7), "/counts opened 3 1;/counts - 7 1;- file.c -1 0;");
	sw_object_ahead_end();
	sw_object_close(first);
	sw_object_close(second);
}
END_TEST

START_TEST(harm_ahead_costs_its_own_names)
{
	static const char *const bad_files[] = {"/abort", "/exit", "/lie", "/eat"};
	struct sw_trace_module good_module, bad_module;
	sw_object_limits(1, 64 << 20);
	sw_object_ahead_begin();
	ask_ahead("/good", 1);
	ask_ahead(bad_files[_i], 1);
	ask_ahead("/good", 2);
	struct sw_debug_object *good = make(&good_module, "/good"), *bad = make(&bad_module, bad_files[_i]);
	ck_assert_str_eq(ask(good, 3), "/good - 3 1;- file.c -1 0;");
	ck_assert_str_eq(ask(bad, 4), "");
	ck_assert_ptr_nonnull(sw_object_trouble(bad));
	ck_assert_str_eq(ask(good, 5), "/good - 5 1;- file.c -1 0;");
	ck_assert_ptr_null(sw_object_trouble(good));
	sw_object_ahead_end();
	sw_object_close(bad);
	sw_object_close(good);
	no_children_are_left();
}
END_TEST

START_TEST(the_end_waits_for_nothing_that_was_asked_ahead)
{
	sw_object_limits(3600, 64 << 20);
	sw_object_ahead_begin();
	ask_ahead("/loop", 1);
	sw_object_ahead_end();
	no_children_are_left();
}
END_TEST

START_TEST(lines_of_system_files_are_not_read)
{
	struct sw_trace_module module;
	struct sw_debug_object *object = make(&module, "/lib/libc.so.6");
	ck_assert_str_eq(ask(object, 1), "/lib/libc.so.6 no-lines 1 0;/lib/libc.so.6 - 1 1;- file.c -1 0;");
	sw_object_close(object);
}
END_TEST

START_TEST(harm_while_it_is_opened)
{
	const uint8_t id = 0;
	enum sw_object_state state;
	struct sw_trace_module module = {.path = "/abort", .build_id = &id, .build_id_bytes = 1}, other;
	struct sw_debug_object *bad = sw_object_open(&module, &state), *good;
	ck_assert_int_eq(state, SW_OBJECT_MISSING);
	ck_assert_ptr_nonnull(sw_object_trouble(bad));
	good = make(&other, "/good");
	ck_assert_str_eq(ask(good, 1), "/good - 1 1;- file.c -1 0;");
	sw_object_close(good);
	sw_object_close(bad);
}
END_TEST

START_TEST(names_without_end_are_left_out)
{
	struct sw_trace_module module;
	struct sw_debug_object *object = make(&module, "/huge");
	ck_assert_str_eq(ask(object, 1), "/huge - 1 1;- file.c -1 0;");
	sw_object_close(object);
}
END_TEST

/* A trace full of such files ends, too. */
START_TEST(many_that_harm)
{
	enum { MANY = 30 };
	static struct sw_trace_module modules[MANY];
	struct sw_debug_object *bad[MANY];
	for (int i = 0; i < MANY; i++) {
		bad[i] = make(&modules[i], "/exit");
		ck_assert_str_eq(ask(bad[i], 1), "");
		ck_assert_ptr_nonnull(sw_object_trouble(bad[i]));
	}
	ck_assert_str_eq(sw_object_trouble(bad[MANY - 1]), "no process could be started to read it");
	for (int i = 0; i < MANY; i++)
		sw_object_close(bad[i]);
	no_children_are_left();
}
END_TEST

START_TEST(no_process_can_be_started)
{
	struct rlimit usual, none;
	struct sw_trace_module module;
	ck_assert(!getrlimit(RLIMIT_NOFILE, &usual));
	none = (struct rlimit){0, usual.rlim_max};
	ck_assert(!setrlimit(RLIMIT_NOFILE, &none));
	struct sw_debug_object *object = make(&module, "/good");
	ck_assert_str_eq(ask(object, 1), "");
	ck_assert_ptr_nonnull(sw_object_trouble(object));
	sw_object_close(object);
	ck_assert(!setrlimit(RLIMIT_NOFILE, &usual));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbol_worker");
	TCase *tcase = tcase_create("worker");
	tcase_set_timeout(tcase, 0);
	tcase_add_test(tcase, sound_files_are_read);
	tcase_add_loop_test(tcase, a_file_that_harms_costs_its_own_names, 0, 5);
	tcase_add_test(tcase, what_was_asked_ahead_is_open);
	tcase_add_test(tcase, asked_ahead_of_what_is_open);
	tcase_add_test(tcase, what_was_asked_ahead_is_that_file);
	tcase_add_loop_test(tcase, harm_ahead_costs_its_own_names, 0, 4);
	tcase_add_test(tcase, the_end_waits_for_nothing_that_was_asked_ahead);
	tcase_add_test(tcase, lines_of_system_files_are_not_read);
	tcase_add_test(tcase, harm_while_it_is_opened);
	tcase_add_test(tcase, names_without_end_are_left_out);
	tcase_add_test(tcase, many_that_harm);
	tcase_add_test(tcase, no_process_can_be_started);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
