/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace that is judged while a recorder writes it, piece by piece and in many orders, gives the report that judging
 * it afterwards gives.
 *
 * usage: test_follow [SEEDS [TRACE...]]; FOLLOW_SEEDS; without traces those of tests/golden
 */
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/feed_trace.h"
#include "reader/packed.h"
#include "report/listing/listing.h"
#include "report/report.h"

static int failures;
static uint64_t unreturned;

static char *report_of(struct sw_reader *reader, struct sw_judgement *judgement)
{
	char *text = NULL;
	size_t bytes = 0;
	const struct sw_report_options options = {.all = true};
	judgement->analysed.ns = 0; /* the time that judging took */
	struct sw_report *report = sw_report_new(reader, judgement, &options);
	struct sw_error error;
	if (sw_in_flight_find(report, &error))
		exit(99);
	unreturned += report->in_flight.n;
	FILE *out = open_memstream(&text, &bytes);
	sw_report_json(report, out);
	fclose(out);
	sw_report_free(report);
	sw_judgement_free(judgement);
	return text;
}

static const struct sw_judge_options plain = {.fold_below_ns = 100000, .threads = 1};

static char *judge_afterwards(const char *path)
{
	struct sw_reader *reader;
	struct sw_judgement *judgement;
	struct sw_error error;
	if (sw_reader_open(path, &reader, &error) || sw_judge(reader, &plain, &judgement, &error))
		exit(99);
	char *text = report_of(reader, judgement);
	sw_reader_close(reader);
	return text;
}

static void count_found(void *arg, const struct sw_judgement *so_far, size_t index)
{
	*(uint64_t *)arg += so_far->findings.at[index].count != 0;
}

struct live {
	char *report;
	uint64_t found, inversions, pending, errors;
	struct sw_follow_facts facts;
};

/* Each look comes `apart_ns` after the one before it. */
static void judge_live(const char *path, int trace, uint32_t seed, uint64_t apart_ns, struct live *live)
{
	struct sw_judge_options options = plain;
	struct sw_error error;
	struct sw_reader *reader;
	int file, memory, got = SW_READER_WAIT;
	uint64_t now = 1;
	struct feed *feed = feed_new(trace, seed);
	*live = (struct live){.found = 0};
	options.found = count_found;
	options.found_arg = &live->found;
	feed_open(feed, &file, &memory);
	if (sw_reader_follow(path, file, memory, &reader, &error))
		exit(99);
	struct sw_judging *judging = sw_judging_begin(reader, &options);
	const bool slowly = apart_ns > 1;
	for (uint32_t i = 0; feed_step(feed); i++)
		/* Three steps of four are not looked at, or each several times. */
		for (uint32_t looks = slowly ? 4 : !(i * 2654435761u >> 30); looks; looks--) {
			sw_reader_refresh(reader, now += apart_ns, false, &error);
			while ((got = sw_judging_step(judging, &error)) == 1)
				continue;
		}
	sw_reader_refresh(reader, now, true, &error);
	while ((got = sw_judging_step(judging, &error)) == 1)
		continue;
	live->facts = sw_reader_follow_facts(reader);
	if (getenv("FOLLOW_SHOW"))
		for (size_t i = 0; sw_reader_damage(reader, i); i++)
			printf("damage: %s\n", sw_reader_damage(reader, i));
	live->inversions = feed_inversions(feed);
	live->pending = feed_pending(feed);
	struct sw_judgement *judgement = sw_judging_end(judging);
	live->errors = judgement->errors;
	live->report = report_of(reader, judgement);
	sw_reader_close(reader);
	feed_free(feed);
}

static void print_difference(const char *path, uint32_t seed, const char *a, const char *b)
{
	size_t at = 0;
	while (a[at] && a[at] == b[at])
		at++;
	const size_t from = at > 200 ? at - 200 : 0;
	printf("FAIL: %s, seed %u: live\n%.400s\n--- afterwards\n%.400s\n", path, seed, a + from, b + from);
	failures++;
}

/* Paths of traces that are packed: what was written to the trace, in a file of its own. */
static int open_expanded(const char *path)
{
	struct sw_error error;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !sw_expand_wanted(fd))
		return fd;
	const int expanded = sw_expand(fd, path, &error);
	close(fd);
	return expanded;
}

static uint64_t inversions, pending, in_flight, failed, races;

static void compare(const char *path, uint32_t seeds)
{
	char *after = judge_afterwards(path);
	const int trace = open_expanded(path);
	for (uint32_t seed = 1; seed <= seeds; seed++) {
		struct live live;
		judge_live(path, trace, seed, 1, &live);
		if (strcmp(live.report, after) != 0)
			print_difference(path, seed, live.report, after);
		if (live.errors && !live.found) {
			printf("FAIL: %s, seed %u: no finding was told\n", path, seed);
			failures++;
		}
		inversions += live.inversions;
		pending += live.pending;
		races += live.errors;
		free(live.report);
		/* So slowly that no call is waited for: it is said. */
		judge_live(path, trace, seed, SW_FOLLOW_CALL_NS, &live);
		in_flight += live.facts.in_flight;
		failed += live.facts.failed;
		if (strcmp(live.report, after) != 0 && !live.facts.in_flight && !live.facts.overtaken)
			printf("slowly: "), print_difference(path, seed, live.report, after);
		free(live.report);
	}
	close(trace);
	free(after);
}

int main(int argc, char **argv)
{
	const char *source = getenv("srcdir"), *wanted = getenv("FOLLOW_SEEDS");
	const uint32_t seeds = argc > 1 ? (uint32_t)atoi(argv[1]) : wanted ? (uint32_t)atoi(wanted) : 2;
	char pattern[4096];
	glob_t paths;
	for (int i = 2; i < argc; i++)
		compare(argv[i], seeds);
	snprintf(pattern, sizeof pattern, "%s/tests/golden/traces/*.swt", source ? source : ".");
	if (argc <= 2 && !glob(pattern, 0, NULL, &paths)) {
		for (size_t i = 0; i < paths.gl_pathc; i++)
			compare(paths.gl_pathv[i], seeds);
		printf("%zu traces\n", paths.gl_pathc);
		globfree(&paths);
	}
	printf("%" PRIu64 " records before lower numbers, %" PRIu64 " calls that returned later, %" PRIu64
	       " taken in flight, %" PRIu64 " of which failed, %" PRIu64 " errors\n",
	       inversions, pending, in_flight, failed, races);
	/* The test must have tried what it is about. */
	if (argc <= 2 && (!inversions || !pending || !in_flight || !races || !unreturned || !failed))
		failures++;
	printf("%s\n", failures ? "FAILED" : "passed");
	return failures != 0;
}
