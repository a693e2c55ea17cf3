/* SPDX-License-Identifier: Apache-2.0 */
/* Results of a run, and whether they are equal with a change: exit status, standard output, copies to the host. */
#include "confirm/savings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_COPIES  (1u << 20)
#define MOST_PRINTED (16u << 20)

struct copy {
	uint64_t bytes, hash;
	bool there;
};

struct sw_run_results {
	SW_VEC(struct copy) copies;
	uint64_t changed, passed, span_ns, before_us;
	uint64_t host_uses, host_unseen;
	uint64_t spoilt; /* copies from pinned memory */
	struct sw_marks marks;
	char *printed; /* NULL: too much of it */
	int status;
	bool stopped, ended, eager;
};

struct sw_baseline {
	struct sw_run_results *one, *two;
};

/* Takes the times at which calls of changed places began. */
static void take_marks(struct sw_marks *marks, const char *text)
{
	struct sw_mark mark;
	int used;
	for (; sscanf(text, " %" SCNu32 ".%" SCNu32 ".%" SCNu64 "%n", &mark.site, &mark.nth, &mark.ns, &used) == 3;
	     text += used)
		*sw_vec_push(&marks->at) = mark;
}

/* Takes a line about copies from memory that was pinned for the experiment. */
static void take_pinned(struct sw_run_results *run, const char *line)
{
	uint64_t ranges, copies, spoilt, unknown;
	if (sscanf(line, "pinned %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &ranges, &copies, &spoilt, &unknown) ==
	    4)
		run->spoilt = spoilt + unknown;
}

/* Takes a line that the recorder's companion wrote about a run with changes: outputs, marks and what was refused. */
static void take_line(void *arg, const char *line)
{
	struct sw_run_results *run = arg;
	uint64_t seq, bytes, hash, changed, passed, faults, calls;
	unsigned at;
	if (sscanf(line, "output %u %" SCNu64 " %" SCNu64 " %" SCNx64, &at, &seq, &bytes, &hash) == 4 &&
	    at < MOST_COPIES) {
		while (run->copies.n <= at)
			*sw_vec_push(&run->copies) = (struct copy){0};
		run->copies.at[at] = (struct copy){bytes, hash, true};
	} else if (sscanf(line, "changed %u %" SCNu64 " %" SCNu64, &at, &changed, &passed) == 3) {
		run->changed += changed;
		run->passed += passed;
	} else if (sscanf(line, "host %" SCNu64 " %" SCNu64 " %" SCNu64, &faults, &calls, &run->host_unseen) == 3) {
		run->host_uses = faults + calls;
	} else if (strncmp(line, "marks ", 6) == 0) {
		take_marks(&run->marks, line + 5);
	} else if (strncmp(line, "end", 3) == 0) {
		run->ended = true;
	}
	take_pinned(run, line);
	sscanf(line, "marked %" SCNu64 " %" SCNu64 " %" SCNu64, &run->marks.end_ns, &run->marks.once_ns,
	       &run->marks.lost);
	sscanf(line, "span %" SCNu64 " %" SCNu64, &run->span_ns, &run->before_us);
}

/* The text that the run printed, malloc'ed; NULL: too much. */
static char *read_all(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = file ? sw_calloc(1, MOST_PRINTED + 1) : NULL;
	const size_t bytes = file ? fread(text, 1, MOST_PRINTED, file) : 0;
	if (file)
		fclose(file);
	if (bytes < MOST_PRINTED)
		return text;
	free(text);
	return NULL;
}

/* Runs the program with these changes (NULL: as it is) and takes its results. */
int sw_run_results_make(struct sw_experiments *in, const struct sw_plan_changes *changes, bool outputs,
			struct sw_run_results **out)
{
	struct sw_hold_plan plan = {.mode = SW_PLAN_CHANGE};
	struct sw_run_results *run = *out = sw_calloc(1, sizeof *run);
	run->eager = changes && changes->eager;
	char *path = sw_format("%s/printed", in->folder);
	static const char *const eager[] = {"CUDA_MODULE_LOADING", "EAGER", NULL};
	struct sw_observation how = {
		.output = path, .line = take_line, .arg = run, .environment = changes && changes->eager ? eager : NULL};
	if (changes)
		plan.changes = *changes;
	plan.changes.outputs = outputs;
	const int status = sw_experiment_observe(in, &plan, &how);
	run->status = how.program_status;
	run->stopped = how.stopped;
	run->printed = read_all(path);
	unlink(path);
	free(path);
	return status;
}

/* Frees the results; NULL is allowed. */
void sw_run_results_free(struct sw_run_results *run)
{
	if (!run)
		return;
	sw_marks_free(&run->marks);
	free(run->copies.at);
	free(run->printed);
	free(run);
}

/* The time from the first to the last work, in ns; 0: there was none. */
uint64_t sw_run_results_span(const struct sw_run_results *run)
{
	return run->span_ns;
}

/* The time before that, in ns: starting CUDA, loading code. */
uint64_t sw_run_results_before(const struct sw_run_results *run)
{
	return run->before_us * 1000;
}

/* Hands over the times at which calls of changed places began: the caller's from now on. */
void sw_run_results_take_marks(struct sw_run_results *run, struct sw_marks *out)
{
	*out = run->marks;
	run->marks = (struct sw_marks){0};
}

/* How many copies from pinned memory brought other bytes than it held, or may have. */
uint64_t sw_run_results_spoilt(const struct sw_run_results *run)
{
	return run->spoilt;
}

/* How often the host used memory that it would not have waited for; *unseen: some uses may not have been seen. */
uint64_t sw_run_results_host_uses(const struct sw_run_results *run, bool *unseen)
{
	*unseen = run->host_unseen > 0 || !run->ended;
	return run->host_uses;
}

/* ---- the same? --------------------------------------------------------------------------------------------------- */

/* Makes two runs of the program as it is: what differs between them says nothing. */
int sw_baseline_make(struct sw_experiments *in, struct sw_baseline **out)
{
	struct sw_baseline *base = *out = sw_calloc(1, sizeof *base);
	const int status = sw_run_results_make(in, NULL, true, &base->one);
	return status ? status : sw_run_results_make(in, NULL, true, &base->two);
}

/* Frees both runs; NULL is allowed. */
void sw_baseline_free(struct sw_baseline *base)
{
	if (!base)
		return;
	sw_run_results_free(base->one);
	sw_run_results_free(base->two);
	free(base);
}

/* How long the first line of the text is. */
static size_t line_end(const char *text)
{
	return strcspn(text, "\n");
}

/* The text after its first line, which has so many bytes. */
static const char *text_after(const char *text, size_t bytes)
{
	return text[bytes] ? text + bytes + 1 : text + bytes;
}

/* Is the text `now`, of the run with a change, that of two runs without?  Compared line by line: those that differ
   between the two as they are say nothing.  *steady: some do not. */
static bool same_text(const char *one, const char *two, const char *now, bool *steady)
{
	*steady = one && two && now && !*one && !*two;
	if (!one || !two || !now)
		return true;
	while (*one && *two) {
		const size_t a = line_end(one), b = line_end(two), c = line_end(now);
		const bool line = a == b && memcmp(one, two, a) == 0;
		*steady |= line;
		if (line && (a != c || memcmp(one, now, a) != 0))
			return false;
		one = text_after(one, a);
		two = text_after(two, b);
		now = text_after(now, c);
	}
	/* Both texts have equally many lines: then this one must, too. */
	return *one || *two || !*now;
}

/* Did the run bring the same bytes to the host as the two without the change?  Copies that differ between the two hold
   times or addresses: they are not compared. */
static bool same_copies(const struct sw_baseline *base, const struct sw_run_results *run, uint64_t *compared)
{
	const struct sw_run_results *one = base->one, *two = base->two;
	*compared = 0;
	if (one->copies.n == two->copies.n && run->copies.n != one->copies.n)
		return false;
	for (size_t i = 0; i < one->copies.n && i < two->copies.n && i < run->copies.n; i++) {
		const struct copy *a = &one->copies.at[i], *b = &two->copies.at[i], *c = &run->copies.at[i];
		if (!a->there || !b->there || a->bytes != b->bytes || a->hash != b->hash)
			continue;
		if (!c->there || c->bytes != a->bytes || c->hash != a->hash)
			return false;
		++*compared;
	}
	return true;
}

/* Fills in why the changed run says nothing good of the change; false. */
static bool set_differs(struct sw_saving *out, enum sw_saving_verdict verdict, enum sw_saving_reason why)
{
	out->verdict = verdict;
	out->reason = why;
	return false;
}

/* Did the changed run leave the same as the program as it is? */
bool sw_baseline_same(const struct sw_baseline *base, const struct sw_run_results *run, struct sw_saving *out)
{
	const bool outputs = run->copies.n > 0;
	bool printed = false;
	out->calls = run->changed;
	out->passed = run->passed;
	if (run->stopped)
		return set_differs(out, SW_SAVING_INCONCLUSIVE, SW_SAVING_BY_NO_END);
	if (!run->changed && !run->eager)
		return set_differs(out, SW_SAVING_NOT_REACHED, SW_SAVING_BY_NONE);
	if (run->status != base->one->status && base->one->status == base->two->status)
		return set_differs(out, SW_SAVING_DIFFERS, SW_SAVING_BY_STATUS);
	if (!same_text(base->one->printed, base->two->printed, run->printed, &printed))
		return set_differs(out, SW_SAVING_DIFFERS, SW_SAVING_BY_OUTPUT);
	if (outputs && !same_copies(base, run, &out->copies))
		return set_differs(out, SW_SAVING_DIFFERS, SW_SAVING_BY_COPIES);
	out->printed = printed;
	return true;
}
