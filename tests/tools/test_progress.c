/* SPDX-License-Identifier: Apache-2.0 */
/* The line that says how far a long step is: on terminals only, after a second, erased at the end. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"
#include "../run_suite.h"

struct terminal {
	int ours, theirs;
};

static struct terminal open_terminal(void)
{
	struct terminal t = {.ours = posix_openpt(O_RDWR | O_NOCTTY)};
	ck_assert_int_ge(t.ours, 0);
	ck_assert(!grantpt(t.ours) && !unlockpt(t.ours));
	t.theirs = open(ptsname(t.ours), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(t.theirs, 0);
	ck_assert_int_eq(fcntl(t.ours, F_SETFL, O_NONBLOCK), 0);
	return t;
}

/* Text written since the last call. */
static const char *seen(int fd)
{
	static char text[1024];
	ssize_t n = read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = 0;
	return text;
}

START_TEST(a_step_that_takes_a_second_tells_so_on_a_terminal)
{
	struct terminal t = open_terminal();
	struct sw_progress progress;
	setenv("TERM", "xterm", 1);
	sw_progress_begin(&progress, t.theirs, "judging");
	progress.begun_ns -= 2000000000; /* two seconds ago */
	progress.next_ns -= 2000000000;
	sw_progress_tell(&progress, 1000, 0.5);
	ck_assert_str_eq(seen(t.ours), "\rjudging: 1000 operations, 500 a second, 2 s left\033[K");
	sw_progress_tell(&progress, 1001, 0.5); /* at once: too early for the next */
	ck_assert_str_eq(seen(t.ours), "");
	sw_progress_end(&progress);
	ck_assert_str_eq(seen(t.ours), "\r\033[K");
}
END_TEST

START_TEST(a_short_step_writes_nothing)
{
	struct terminal t = open_terminal();
	struct sw_progress progress;
	setenv("TERM", "xterm", 1);
	sw_progress_begin(&progress, t.theirs, "judging");
	sw_progress_tell(&progress, 1000, 0.5);
	sw_progress_end(&progress);
	ck_assert_str_eq(seen(t.ours), "");
}
END_TEST

static void tell_late(int fd)
{
	struct sw_progress progress;
	sw_progress_begin(&progress, fd, "judging");
	progress.next_ns = 0;
	sw_progress_tell(&progress, 1000, 0.5);
	sw_progress_end(&progress);
}

START_TEST(nothing_is_written_to_pipes_and_to_terminals_that_cannot_overwrite)
{
	int fd[2];
	struct terminal t = open_terminal();
	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(fcntl(fd[0], F_SETFL, O_NONBLOCK), 0);
	setenv("TERM", "xterm", 1);
	tell_late(fd[1]);
	ck_assert_str_eq(seen(fd[0]), "");
	setenv("TERM", "dumb", 1);
	tell_late(t.theirs);
	ck_assert_str_eq(seen(t.ours), "");
}
END_TEST

START_TEST(what_is_left_is_told_when_it_can_be)
{
	char line[128];
	sw_progress_line(line, sizeof line, "drawing", 3000, 0.001, 2.0);
	ck_assert_str_eq(line, "drawing: 3000 operations, 1500 a second");
	sw_progress_line(line, sizeof line, "drawing", 3000, 0.01, 6.0);
	ck_assert_str_eq(line, "drawing: 3000 operations, 500 a second, 10 min left");
	sw_progress_line(line, sizeof line, "drawing", 3000, 1.5, 6.0);
	ck_assert_str_eq(line, "drawing: 3000 operations, 500 a second");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("progress");
	TCase *c = tcase_create("progress");
	tcase_add_test(c, a_step_that_takes_a_second_tells_so_on_a_terminal);
	tcase_add_test(c, a_short_step_writes_nothing);
	tcase_add_test(c, nothing_is_written_to_pipes_and_to_terminals_that_cannot_overwrite);
	tcase_add_test(c, what_is_left_is_told_when_it_can_be);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
