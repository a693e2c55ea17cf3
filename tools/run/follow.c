/* SPDX-License-Identifier: Apache-2.0 */
#include "run/follow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "clock.h"
#include "terminal.h"

/* Between two looks, at least: records are judged one look after they were seen (reader/writer.h).  With thousands of
   threads a look takes milliseconds: no more than a tenth of the time goes into them. */
#define LOOK_NS	   5000000u
#define LOOK_SHARE 10u

/* A quarter of what `report` replays: a run that has ended is waited for, and what is held for it counts while the
   program runs. */
#define REPLAYED 65536u

struct sw_follow {
	struct sw_follow_sink *sink;
	char *path;
	pid_t pid;
	struct sw_analysis analysis;
	struct sw_judge_options judge;
	struct sw_judging *judging;	    /* NULL: it is over */
	struct sw_suppressions *suppressed; /* for what is printed: which of them were used is said by the report */
	struct sw_report *shown;	    /* NULL: nothing was found yet */
	SW_VEC(uint8_t) told;		    /* by finding: its severity + 1 when it was printed */
	uint64_t looked_ns, pause_ns;
	uint64_t measured_ns, calls, launches; /* when the rates were measured, and the counts then */
	double calls_s, launches_s;
	bool ended, looked_last, broken, taken;
	struct sw_error error;
};

/* ---- what is found ------------------------------------------------------------------------------------------------
 */

/* The judgement, finished or not. */
static const struct sw_judgement *so_far_of(const struct sw_follow *f)
{
	return f->judging ? sw_judging_so_far(f->judging) : f->analysis.judgement;
}

/* Prepares what names are looked up with, once: `shown` keeps them. */
static void begin_showing(struct sw_follow *f)
{
	const struct sw_report_options options = {.suppressions = f->suppressed};
	if (!f->shown)
		f->shown = sw_report_begin(f->analysis.reader, so_far_of(f), &options);
}

/* Prints one finding as it was found, with the time into the program. */
static void print(struct sw_follow *f, size_t index)
{
	struct sw_follow_sink *sink = f->sink;
	const struct sw_text_style style = sw_terminal_style(fileno(sink->out), sink->options);
	struct sw_names_scope scope;
	begin_showing(f);
	sw_names_scope_begin(&f->shown->names, &scope);
	if (sw_report_only(f->shown, index)) {
		const struct sw_shown_finding *shown = &f->shown->shown.at[0];
		const struct sw_access *last = shown->finding->access[shown->finding->accesses > 1];
		fprintf(sink->out, "syncwatch: process %d, %.3f s after its first CUDA call:\n", (int)f->pid,
			(double)last->t_ns / 1e9);
		sw_report_text_finding(f->shown, 0, sink->out, &style);
		fflush(sink->out);
		sink->errors += shown->finding->severity == SW_ERROR;
		if (shown->finding->severity == SW_ERROR && sink->error)
			sink->error(sink->arg, f->pid, shown);
	}
	sw_names_scope_end(&f->shown->names, &scope);
}

/* Notes, and waits whose severity depends on the whole run, are left to the report. */
static void found(void *arg, const struct sw_judgement *so_far, size_t index)
{
	struct sw_follow *f = arg;
	const struct sw_finding *finding = &so_far->findings.at[index];
	if (finding->severity == SW_NOTE || finding->confidence == SW_POSSIBLE)
		return;
	while (f->told.n <= index)
		*sw_vec_push(&f->told) = 0;
	if (f->told.at[index] > finding->severity)
		return;
	f->told.at[index] = (uint8_t)(finding->severity + 1);
	print(f, index);
}

/* ---- judging ------------------------------------------------------------------------------------------------------
 */

struct sw_follow *sw_follow_open(const char *path, pid_t pid, int file, int memory, struct sw_follow_sink *sink)
{
	struct sw_error error;
	struct sw_reader *reader;
	if (sw_reader_follow(path, file, memory, &reader, &error)) {
		sw_complain(SW_EXIT_INPUT, "cannot judge while it runs: %s", error.text);
		return NULL;
	}
	struct sw_follow *f = sw_calloc(1, sizeof *f);
	f->sink = sink;
	f->path = sw_strdup(path);
	f->pid = pid;
	f->broken = sw_analysis_begin(&f->analysis, reader, sink->options, &f->judge);
	f->judge.found = found;
	f->judge.found_arg = f;
	f->judge.threads = 1;
	f->judge.replayed = REPLAYED;
	f->judge.shared_uses = true; /* how many processes there will be is not known yet */
	f->judging = sw_judging_begin(reader, &f->judge);
	f->suppressed = sw_analysis_suppressions(sink->options);
	return f;
}

/* Ends the judging; its judgement is that of the whole trace. */
static void finish(struct sw_follow *f)
{
	f->analysis.judgement = sw_judging_end(f->judging);
	f->judging = NULL;
}

size_t sw_follow_step(struct sw_follow *f, size_t most)
{
	const uint64_t now = sw_now_ns();
	size_t n = 0;
	if (!f->judging)
		return 0;
	if (f->ended ? !f->looked_last : now - f->looked_ns >= f->pause_ns) {
		f->looked_ns = now;
		f->looked_last = f->ended;
		f->broken |= sw_reader_refresh(f->analysis.reader, now, f->ended, &f->error);
		const uint64_t took = sw_now_ns() - now;
		f->pause_ns = took * LOOK_SHARE > LOOK_NS ? took * LOOK_SHARE : LOOK_NS;
	}
	for (int got = 1; n < most && got == 1 && !f->broken; n += got == 1) {
		got = sw_judging_step(f->judging, &f->error);
		f->broken = got < 0;
		if (!got)
			finish(f);
	}
	if (f->broken && f->judging)
		finish(f);
	return n;
}

void sw_follow_ended(struct sw_follow *f)
{
	f->ended = true;
}

bool sw_follow_has_ended(const struct sw_follow *f)
{
	return f->ended;
}

uint64_t sw_follow_passed(const struct sw_follow *f)
{
	return f->judging ? sw_reader_passed(f->analysis.reader) : UINT64_MAX;
}

bool sw_follow_is_over(const struct sw_follow *f)
{
	return !f->judging;
}

/* ---- how it stands ------------------------------------------------------------------------------------------------
 */

#define RATE_NS 1000000000u

/* Measures calls and launches a second, over no less than RATE_NS, as shorter times give rates that jump. */
static void measure(struct sw_follow *f, const struct sw_judgement *so_far)
{
	const uint64_t now = sw_now_ns(), passed = now - f->measured_ns;
	if (f->measured_ns && passed < RATE_NS)
		return;
	if (f->measured_ns) {
		f->calls_s = (double)(so_far->coverage.driver_calls - f->calls) * 1e9 / (double)passed;
		f->launches_s = (double)(so_far->coverage.launches - f->launches) * 1e9 / (double)passed;
	}
	f->measured_ns = now;
	f->calls = so_far->coverage.driver_calls;
	f->launches = so_far->coverage.launches;
}

void sw_follow_view(struct sw_follow *f, bool names, struct sw_top_process *top)
{
	const struct sw_judgement *so_far = so_far_of(f);
	const struct sw_trace_process *process = sw_reader_process(f->analysis.reader);
	const char *slash = process ? strrchr(process->exe, '/') : NULL;
	const uint64_t start = sw_reader_header(f->analysis.reader)->start_monotonic_ns;
	measure(f, so_far);
	if (names)
		begin_showing(f);
	*top = (struct sw_top_process){
		.pid = f->pid,
		.program = !process ? ""
			   : slash  ? slash + 1
				    : process->exe,
		.over = !f->judging,
		.so_far = so_far,
		.report = names ? f->shown : NULL,
		.seconds_ns = f->judging ? sw_now_ns() - start : so_far->span_ns,
		.calls_s = f->judging ? f->calls_s : 0,
		.launches_s = f->judging ? f->launches_s : 0,
		.follow = sw_reader_follow_facts(f->analysis.reader),
	};
}

/* ---- the end ------------------------------------------------------------------------------------------------------
 */

/* Why what was judged is not what the trace says; NULL: it is. */
static const char *why_again(const struct sw_follow *f)
{
	const struct sw_follow_facts facts = sw_reader_follow_facts(f->analysis.reader);
	if (f->broken)
		return "its trace could not be read while it ran";
	if (facts.failed)
		return "a call that had not returned was taken to succeed, and failed";
	if (facts.overtaken)
		return "a record came later than was waited for";
	if (sw_reader_header(f->analysis.reader)->flags & SW_FILE_GPU)
		return "time stamps of the devices come after the records that they belong to";
	return NULL;
}

bool sw_follow_take(struct sw_follow *f, bool compared, struct sw_analysis *analysis, const char **why)
{
	*why = f->judging ? "it still runs" : why_again(f);
	if (*why)
		return false;
	const struct sw_follow_facts facts = sw_reader_follow_facts(f->analysis.reader);
	if (facts.returned)
		sw_complain(SW_EXIT_OK,
			    "process %d: %" PRIu64 " call%s had not returned after %u ms and were judged without the "
			    "time that they took; 'syncwatch report %s' has it",
			    (int)f->pid, facts.returned, sw_plural(facts.returned, "", "s"),
			    SW_FOLLOW_CALL_NS / 1000000u, f->path);
	sw_analysis_report(&f->analysis, f->sink->options->all, compared);
	*analysis = f->analysis; /* the rules of its gate stay where they are: the judgement refers to them */
	f->taken = true;
	return true;
}

void sw_follow_free(struct sw_follow *f)
{
	if (!f)
		return;
	sw_report_free(f->shown);
	if (f->judging)
		finish(f);
	if (!f->taken)
		sw_analysis_free(&f->analysis);
	sw_suppress_free(f->suppressed);
	free(f->told.at);
	free(f->path);
	free(f);
}
