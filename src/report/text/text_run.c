/* SPDX-License-Identifier: Apache-2.0 */
/* The first and last lines of the report, which are about the run as a whole. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "report/groups.h"
#include "report/report.h"
#include "report/symbols/stack.h"
#include "report/text/text.h"
#include "report/words/evidence_text.h"
#include "report/words/wording.h"

void sw_text_limits_hit(struct sw_text *t)
{
	struct sw_coverage_count count;
	bool any = false;
	for (size_t i = 0; sw_coverage_count_at(&t->report->judgement->coverage, i, &count); i++) {
		if (count.place < SW_COVERAGE_FIRST_LINES || !count.n)
			continue;
		if (!any)
			sw_out_headline(&t->out, SW_YELLOW,
					"syncwatch: limits of syncwatch were reached: findings may be missing");
		any = true;
		sw_text_line(t, "limit:", count.text);
	}
	if (any)
		putc('\n', t->out.file);
}

/* Files of the run that are missing.  Where findings are weaker without them, these are the first lines of a report: a
   reader may read no further.  Where only names of call stacks are missing, they are its last lines. */

#define MOST_FILES 2u

/* "3 copies", "1 copy": the number with the word in singular or plural. */
static const char *with_plural(struct sw_text *t, uint64_t n, const char *one, const char *many)
{
	return sw_names_format(t->names, "%" PRIu64 " %s", n, sw_plural(n, one, many));
}

/* Says for which purpose the report needs the file. */
static const char *used_for(struct sw_text *t, const struct sw_unusable_file *file)
{
	if (!file->kernels)
		return "names of call stacks";
	return sw_names_format(t->names, "code of %s%s", with_plural(t, file->kernels, "kernel", "kernels"),
			       file->names ? ", names of call stacks" : "");
}

/* Prints the first few of the files that are missing or changed. */
static void put_files(struct sw_text *t, const sw_unusable_file_vec *files)
{
	for (size_t i = 0; i < files->n && i < MOST_FILES; i++) {
		const struct sw_unusable_file *file = &files->at[i];
		sw_text_line(t, file->changed ? "changed:" : "missing:",
			     sw_names_format(t->names, "%s (%s)", file->path, used_for(t, file)));
	}
	if (files->n > MOST_FILES)
		sw_text_line(t, "", sw_names_format(t->names, "and %zu more", files->n - MOST_FILES));
}

/* Lists the files of the run that are missing here or changed; true: some hold the code of kernels. */
static bool find_unusable(struct sw_text *t, sw_unusable_file_vec *files, const char **count)
{
	bool kernels = false;
	sw_unusable_files(t->report, files);
	for (size_t i = 0; i < files->n; i++)
		kernels |= files->at[i].kernels > 0;
	*count = sw_names_format(t->names, "%zu %s missing here or changed", files->n,
				 sw_plural(files->n, "file of the run is", "files of the run are"));
	return kernels;
}

void sw_text_files(struct sw_text *t)
{
	sw_unusable_file_vec files;
	const char *count;
	if (find_unusable(t, &files, &count)) {
		sw_out_headline(&t->out, SW_YELLOW,
				sw_names_format(t->names, "syncwatch: %s: findings rest on weaker evidence", count));
		put_files(t, &files);
		sw_text_line(t, "fix:", sw_unusable_files_fix(t->report));
		putc('\n', t->out.file);
	}
	free(files.at);
}

/* Prints the files that only names are missing for. */
static void text_nameless(struct sw_text *t)
{
	sw_unusable_file_vec files;
	const char *count, *some = "";
	if (!find_unusable(t, &files, &count) && files.n) {
		for (size_t i = 0; i < files.n && i < MOST_FILES; i++) {
			const char *slash = strrchr(files.at[i].path, '/');
			some = sw_names_format(t->names, "%s%s%s", some, i ? ", " : "",
					       slash ? slash + 1 : files.at[i].path);
		}
		sw_text_line(t, "no names:",
			     sw_names_format(t->names, "%s (%s%s): %s", count, some,
					     files.n > MOST_FILES ? ", ..." : "", sw_unusable_files_fix(t->report)));
	}
	free(files.at);
}

/* Savings of following the advice on waits: a line for each, those together, and the order in which to fix. */

/* Names a finding in a line about its saving: "SW301 main.cu:33". */
static const char *place_text(struct sw_text *t, const struct sw_shown_finding *shown)
{
	const char *at = sw_place_brief(t->names, sw_place_of(t->names, shown->finding->access[0], NULL));
	return sw_names_format(t->names, "SW%03d%s%s", shown->finding->id, *at ? " " : "", at);
}

/* A time with its sign: following advice may also cost time. */
static const char *signed_time(struct sw_text *t, int64_t ns)
{
	const char *time = sw_name_time(t->names, (uint64_t)(ns < 0 ? -ns : ns));
	return ns < 0 ? sw_names_format(t->names, "-%s", time) : time;
}

/* Prints what each change would save alone, a line each. */
static void put_each(struct sw_text *t)
{
	const char *label = "savings:";
	const struct sw_savings_total *total = t->report->savings;
	for (size_t i = 0; i < t->report->shown.n; i++) {
		const struct sw_shown_finding *shown = &t->report->shown.at[i];
		const struct sw_saving *s = shown->saving;
		if (!s || (total && total->only && s->verdict == SW_SAVING_UNTRIED))
			continue;
		const char *what = s->verdict == SW_SAVING_MEASURED
					   ? sw_names_format(t->names, "%s (%s to %s)", signed_time(t, s->saved_ns),
							     signed_time(t, s->low_ns), signed_time(t, s->high_ns))
				   : s->reason ? sw_names_format(t->names, "%s (%s)", sw_saving_key(s->verdict),
								 sw_saving_reason_key(s->reason))
					       : sw_saving_key(s->verdict);
		sw_text_line(t, label, sw_names_format(t->names, "%s: %s", place_text(t, shown), what));
		label = "";
	}
}

/* Prints in which order to follow the advice, with what each step saves alone and with those before it. */
static void put_order(struct sw_text *t, const struct sw_savings_total *total)
{
	const char *label = "fix first:";
	uint32_t number = 0;
	for (size_t i = 0; i < total->steps.n; i++) {
		const struct sw_saving_step *step = &total->steps.at[i];
		const char *alone = sw_names_format(t->names, "%s%s", total->only ? "at most " : "",
						    signed_time(t, step->alone_ns));
		if (step->left_out)
			sw_text_line(
				t, label,
				sw_names_format(t->names,
						"-. %s: %s alone; not tried with the others, whose safety stands on it",
						place_text(t, step->shown), alone));
		else
			sw_text_line(t, label,
				     sw_names_format(t->names, "%u. %s: %s %s%s", ++number, place_text(t, step->shown),
						     alone, total->only ? "predicted" : "alone",
						     step->total_ns
							     ? sw_names_format(t->names, ", %s with those before it",
									       signed_time(t, step->total_ns))
							     : ""));
		label = "";
	}
}

/* Prints what following the advice on waits saved; nothing where that was not tried. */
static void text_savings(struct sw_text *t)
{
	const struct sw_savings_total *total = t->report->savings;
	put_each(t);
	if (!total || !total->steps.n)
		return;
	sw_text_line(t, "together:", sw_saving_text(t->names, &total->all));
	put_order(t, total);
}

#define MOST_MODULES 3u

/* Says why the recorder stopped: the size limit, the disk or memory. */
static const char *full_text(uint32_t why)
{
	switch (why) {
	case SW_LOSS_SIZE_LIMIT:
		return "The trace reached its size limit (max-size): what the program did from then on was not "
		       "recorded.";
	case SW_LOSS_NO_SPACE:
		return "The disk had no more room for the trace, or little: what the program did from then on was not "
		       "recorded.";
	default:
		return "There was no more memory for the trace: what the program did from then on was not recorded.";
	}
}

void sw_text_in_flight(struct sw_text *t)
{
	struct sw_report *report = t->report;
	const struct sw_trace_totals totals = sw_reader_totals(report->reader);
	if (totals.full)
		sw_out_headline(&t->out, SW_PLAIN, full_text(totals.full));
	if (totals.closed && totals.full)
		putc('\n', t->out.file);
	if (totals.closed)
		return;
	sw_out_headline(&t->out, SW_PLAIN,
			sw_reader_header(report->reader)->flags & SW_FILE_BEHIND
				? "The program did not end normally, nor did the run that held its last records: what "
				  "had reached the trace was judged."
				: "The program did not end normally (crash, signal or _exit); everything recorded "
				  "until then was judged.");
	for (size_t i = 0; i < report->in_flight.n; i++) {
		const struct sw_in_flight *call = &report->in_flight.at[i];
		const char *api = call->name ? call->name : sw_name_api(t->names, call->api, call->flags, call->stack);
		sw_out_paragraph(&t->out, 2, "", 0,
				 sw_names_format(t->names,
						 "Thread %u was inside %s, call %" PRIu64 ", since %s after the start:",
						 call->thread, api, call->seq, sw_name_time(t->names, call->t_ns)));
		sw_text_stack(t, call->stack, 0);
	}
	putc('\n', t->out.file);
}

/* The modules through which the program calls CUDA, and how the runtime is linked there: "; static cudart in a.out". */
static const char *runtimes_text(struct sw_text *t)
{
	static const char *const links[] = {[SW_CUDART_SHARED] = "shared cudart",
					    [SW_CUDART_STATIC] = "static cudart in",
					    [SW_CUDART_OTHER] = "driver API from"};
	const struct sw_trace_module *module;
	const char *text = "";
	for (size_t i = 0; (module = sw_reader_module_at(t->report->reader, i)); i++) {
		const char *slash = strrchr(module->path, '/');
		if (module->cudart == 0 || module->cudart >= sizeof links / sizeof links[0])
			continue;
		text = sw_names_format(t->names, "%s; %s %s", text, links[module->cudart],
				       slash ? slash + 1 : module->path);
	}
	return text;
}

/* Was the program run with the guard, which sees what the host does with memory? */
static bool was_guarded(const struct sw_text *t)
{
	const struct sw_trace_module *module;
	for (size_t i = 0; (module = sw_reader_module_at(t->report->reader, i)); i++)
		if (strstr(module->path, "/libsyncwatch-guard.so"))
			return true;
	return t->report->judgement->coverage.host_accesses;
}

/* Prints the limits of this report, each only when it happened. */
static void put_not_looked_at(struct sw_text *t)
{
	const struct sw_coverage *coverage = &t->report->judgement->coverage;
	struct sw_coverage_count count;
	const char *text = "";
	for (unsigned place = 1; place < SW_COVERAGE_FIRST_LINES; place++)
		for (size_t i = 0; sw_coverage_count_at(coverage, i, &count); i++)
			if (count.place == place && count.n)
				text = sw_names_format(t->names, "%s%s%s", text, *text ? "; " : "", count.text);
	if (coverage->host_buffers && !was_guarded(t))
		text = sw_names_format(
			t->names, "%s%shost code that touches %s while work uses %s (--guard-host)", text,
			*text ? "; " : "",
			with_plural(t, coverage->host_buffers, "pinned or managed buffer", "pinned or managed buffers"),
			sw_plural(coverage->host_buffers, "it", "them"));
	sw_text_line(t, "not looked at:", text);
}

/* Prints what limited recording or the report: errors, damage, files that could not be read, suppressions without
   use. */
static void put_troubles(struct sw_text *t)
{
	sw_unusable_file_vec files;
	const char *text;
	if (t->report->judgement->coverage.sticky_error_seq)
		sw_text_line(t, "limits:",
			     sw_names_format(t->names, "a CUDA error ended the judgement at call %" PRIu64,
					     t->report->judgement->coverage.sticky_error_seq));
	for (size_t i = 0; (text = sw_reader_damage(t->report->reader, i)); i++)
		sw_text_line(t, "damage:", text);
	for (size_t i = 0; (text = sw_reader_notice(t->report->reader, i)); i++)
		sw_text_line(t, "notice:", text);
	/* Files that are missing or changed were reported first of all. */
	sw_unusable_files(t->report, &files);
	for (size_t i = 0; (t->stat || !files.n) && (text = sw_symbols_complaint(t->names->symbols, i)); i++)
		sw_text_line(t, "symbols:", text);
	free(files.at);
	for (size_t i = 0; (text = sw_suppress_unused(t->report->suppressions, i)); i++)
		sw_text_line(t, "unused:", sw_names_format(t->names, "suppression %s", text));
}

/* Is the module's file missing or changed? The first lines of the report say so. */
static bool is_unusable(struct sw_text *t, const char *module)
{
	sw_unusable_file_vec files = {0};
	bool found = false;
	sw_unusable_files(t->report, &files);
	for (size_t i = 0; i < files.n; i++) {
		const char *slash = strrchr(files.at[i].path, '/');
		found |= strcmp(slash ? slash + 1 : files.at[i].path, module) == 0;
	}
	free(files.at);
	return found;
}

/* Prints the modules of the program whose functions have names but no lines, once, with what helps. */
static void put_no_lines(struct sw_text *t)
{
	const char *text = "";
	unsigned modules = 0;
	for (size_t i = 0; i < t->report->groups.n && modules < MOST_MODULES; i++) {
		const struct sw_group *group = &t->report->groups.at[i];
		struct sw_names_scope scope;
		sw_names_scope_begin(t->names, &scope);
		const struct sw_frame *site =
			sw_text_is_shown(t, group)
				? sw_report_site(t->report, t->report->shown.at[group->leader].finding)
				: NULL;
		sw_names_scope_end(t->names, &scope);
		/* Nobody can compile a library again whose functions have no names. */
		if (!site || site->role != SW_FRAME_USER || site->file || !site->module[0] ||
		    (!site->base && (!sw_stack_is_own(t->names, site) || is_unusable(t, site->module))) ||
		    strstr(text, site->module))
			continue;
		text = sw_names_format(t->names, "%s%s%s", text, *text ? ", " : "", site->module);
		modules++;
	}
	if (*text)
		sw_text_line(
			t, "no lines:", sw_names_format(t->names, "%s: compile with -g to see files and lines", text));
}

/* Prints how much of the work has time stamps of the devices, where they were asked for. */
static void put_gpu(struct sw_text *t)
{
	const struct sw_gpu_summary *gpu = &t->report->judgement->gpu;
	const char *clock = "the offset of host and device clocks is not bounded by any wait";
	if (!gpu->recorded)
		return;
	if (gpu->clock_bounded)
		clock = sw_names_format(t->names, "host and device clocks agree to %s",
					sw_name_time(t->names, gpu->clock_error_ns));
	sw_text_line(t, "gpu times:",
		     sw_names_format(t->names, "%" PRIu64 " of %s; %s", gpu->operations_timed,
				     with_plural(t, gpu->operations_timed + gpu->operations_untimed,
						 "call that puts work on a device", "calls that put work on a device"),
				     clock));
	const struct {
		uint64_t n;
		const char *what;
	} limits[] = {
		{gpu->lost, "{time stamp was|time stamps were} lost in CUPTI"},
		{gpu->unmatched, "{time stamp|time stamps} of work whose call was not recorded"},
		{gpu->untimed, "{time stamp without time|time stamps without times}, or taken while the clock jumped"},
		{gpu->left_out, "{time stamp|time stamps} over the limit"},
		{gpu->clock_jumps, "{jump|jumps} of the device clock"},
		{!gpu->complete, "last batch of time stamps is missing: the program did not end normally"},
	};
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
		char line[160];
		sw_counted(line, sizeof line, limits[i].n, limits[i].what);
		sw_text_line(t, "limits:", limits[i].n ? line : "");
	}
}

/* Prints where the order of waits that no document promises comes from, when that is a table of this machine. */
static void put_behaviour(struct sw_text *t)
{
	const struct sw_wait_rules *wait_rules = &t->report->judgement->wait_rules;
	for (size_t i = 0; i < wait_rules->used.n; i++)
		sw_text_line(t, "behaviour:",
			     sw_names_format(t->names, "which calls wait was measured on this machine: %s",
					     wait_rules->used.at[i]));
	for (int i = 0; i < SW_WAIT_RULES; i++) {
		bool built_in;
		const char *text = sw_wait_rule_text((enum sw_wait_rule)i, &built_in);
		if (wait_rules->differs >> i & 1)
			sw_text_line(t, "",
				     sw_names_format(t->names, "%s: %s here, %s elsewhere", text,
						     built_in ? "not" : "yes", built_in ? "yes" : "not"));
	}
	for (size_t i = 0; i < wait_rules->complaints.n; i++)
		sw_text_line(
			t, "behaviour:", sw_names_format(t->names, "table not used: %s", wait_rules->complaints.at[i]));
}

/* Prints how many calls there were, of which kinds, and how well the kernels are known. */
static void put_coverage(struct sw_text *t)
{
	const struct sw_coverage *c = &t->report->judgement->coverage;
	sw_text_line(t, "coverage:",
		     sw_names_format(t->names, "%s (%" PRIu64 " made by a CUDA runtime)%s",
				     with_plural(t, c->driver_calls, "driver call", "driver calls"), c->runtime_calls,
				     runtimes_text(t)));
	sw_text_line(t, "work:",
		     sw_names_format(t->names, "%s, %s (%s), %s, %s in %s",
				     with_plural(t, c->launches, "kernel launch", "kernel launches"),
				     with_plural(t, c->copies, "copy", "copies"),
				     sw_name_bytes(t->names, c->bytes_copied), with_plural(t, c->sets, "set", "sets"),
				     with_plural(t, c->syncs, "synchronisation", "synchronisations"),
				     sw_name_time(t->names, t->report->judgement->span_ns)));
	sw_text_line(t, "kernels:", sw_evidence_coverage(t->names, c));
}

/* Prints in one line how much was judged: the basis of the verdict. */
static void put_looked_at(struct sw_text *t)
{
	const struct sw_coverage *c = &t->report->judgement->coverage;
	const char *parts[] = {with_plural(t, c->launches, "kernel launch", "kernel launches"),
			       with_plural(t, c->copies, "copy", "copies"), with_plural(t, c->sets, "set", "sets"),
			       with_plural(t, c->syncs, "synchronisation", "synchronisations")};
	const uint64_t counts[] = {c->launches, c->copies, c->sets, c->syncs};
	const char *text = with_plural(t, c->driver_calls, "driver call", "driver calls");
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (counts[i])
			text = sw_names_format(t->names, "%s, %s", text, parts[i]);
	sw_text_line(
		t, "looked at:",
		sw_names_format(t->names, "%s in %s", text, sw_name_time(t->names, t->report->judgement->span_ns)));
}

/* Rules that forbid calls, and what each has checked. */
static void put_rules(struct sw_text *t)
{
	const struct sw_judgement *judgement = t->report->judgement;
	for (size_t i = 0; i < judgement->gate.n; i++) {
		const struct sw_gate_result *rule = &judgement->gate.at[i];
		const char *text = sw_names_format(t->names, "%s %s: %s", rule->option, rule->text,
						   with_plural(t, rule->calls, "call", "calls"));
		if (rule->entered)
			text = sw_names_format(t->names, "%s in %s", text,
					       with_plural(t, rule->entered, "entry", "entries"));
		if (rule->skipped)
			text = sw_names_format(t->names, "%s (%" PRIu64 " skipped)", text, rule->skipped);
		sw_text_line(t, i ? "" : "rules:",
			     sw_names_format(t->names, "%s, %" PRIu64 " against it", text, rule->found));
	}
}

/* Names the notes that are hazards, "2 notes of hazards (SW104, SW105)": hazards that no document orders are no clean
   run. */
static const char *hazard_notes(struct sw_text *t)
{
	const struct sw_report *report = t->report;
	const char *ids = "";
	for (size_t i = 0; i < report->shown.n; i++) {
		const struct sw_shown_finding *shown = &report->shown.at[i];
		const char *id = sw_names_format(t->names, "SW%03d", shown->finding->id);
		if (!shown->suppressed && shown->finding->severity == SW_NOTE && sw_is_hazard(shown->finding) &&
		    shown->finding->confidence != SW_POSSIBLE && !strstr(ids, id))
			ids = sw_names_format(t->names, "%s%s%s", ids, *ids ? ", " : "", id);
	}
	return sw_names_format(t->names, "%s of hazards (%s)",
			       with_plural(t, report->totals.hazard_notes, "note", "notes"), ids);
}

/* The counts of the headline: "2 errors, 1 warning from 2 causes", and notes of hazards. */
static const char *counts_text(struct sw_text *t)
{
	const struct sw_report *report = t->report;
	const struct sw_report_totals *totals = &report->totals;
	const char *text = sw_names_format(t->names, "%s, %s", with_plural(t, totals->errors, "error", "errors"),
					   with_plural(t, totals->warnings, "warning", "warnings"));
	uint32_t causes = 0;
	for (size_t i = 0; i < report->groups.n; i++)
		causes += sw_text_is_shown(t, &report->groups.at[i]);
	if (causes && causes < totals->errors + totals->warnings && !report->all)
		text = sw_names_format(t->names, "%s from %s", text, with_plural(t, causes, "cause", "causes"));
	if (totals->hazard_notes)
		text = sw_names_format(t->names, "%s, %s", text, hazard_notes(t));
	return text;
}

/* May the headline say "no hazards"?  Only of a judgement that is complete and found none, be it as a note. */
static bool is_clean(const struct sw_report *report, enum sw_headline headline)
{
	const struct sw_report_totals *totals = &report->totals;
	return headline == SW_HEADLINE_COMPLETE && !totals->errors && !totals->warnings && !totals->hazard_notes;
}

/* The findings of the verdict line: "no hazards", or how many of which severity. */
static const char *found_text(struct sw_text *t, enum sw_headline headline)
{
	const struct sw_report_totals *totals = &t->report->totals;
	const uint32_t others = totals->notes - totals->hazard_notes;
	/* Possible ones are shown on request: "no hazards" above a list of them would read badly. */
	const char *text = !is_clean(t->report, headline) ? counts_text(t)
			   : totals->possible		  ? "no certain or likely hazards"
							  : "no hazards";
	if (others)
		text = sw_names_format(t->names, "%s, %s", text,
				       totals->hazard_notes ? with_plural(t, others, "other note", "other notes")
							    : with_plural(t, others, "note", "notes"));
	if (headline != SW_HEADLINE_INCOMPLETE)
		return text;
	return sw_names_format(
		t->names, totals->errors || totals->warnings ? "%s, and not all was judged," : "not all was judged: %s",
		text);
}

/* If only windows of the run were recorded: "3 windows of ", for the headline. */
static const char *windows_of(struct sw_text *t)
{
	const struct sw_trace_totals totals = sw_reader_totals(t->report->reader);
	if (!totals.windowed)
		return "";
	return sw_names_format(t->names, "%s of ", with_plural(t, totals.windows, "window", "windows"));
}

void sw_text_headline(struct sw_text *t, enum sw_headline headline)
{
	const struct sw_report *report = t->report;
	/* Nothing is known of it where the end of the trace is missing. */
	const bool ended =
		sw_reader_totals(report->reader).closed || sw_reader_header(report->reader)->flags & SW_FILE_BEHIND;
	const enum sw_colour colour = is_clean(report, headline) ? SW_GREEN
				      : report->totals.errors	 ? SW_RED
								 : SW_YELLOW;
	sw_out_headline(
		&t->out, colour,
		sw_names_format(t->names, "syncwatch: %s in %s%s%s%s", found_text(t, headline), windows_of(t),
				sw_name_program(t->names), ended ? "" : ", which did not end normally",
				report->judgement->simulated ? " (simulated CUDA: kernels were not executed)" : ""));
}

/* An interval of times: "1.2 ms to 1.5 ms", one of them where both print alike, "up to 1.5 ms". */
static const char *interval_text(struct sw_names *names, uint64_t low_ns, uint64_t high_ns)
{
	const char *low = sw_name_time(names, low_ns), *high = sw_name_time(names, high_ns);
	if (!low_ns)
		return sw_names_format(names, "up to %s", high);
	return strcmp(low, high) ? sw_names_format(names, "%s to %s", low, high) : high;
}

/* Adds a part of the critical path to its line, "host 1.2 ms, kernel 3.4 ms to 24.7 ms", unless it is less than a
   hundredth of it. */
static const char *path_part(struct sw_text *t, const char *path, const char *name, uint64_t low_ns, uint64_t high_ns)
{
	if (high_ns <= t->report->judgement->schedule.kept_ns / 100)
		return path;
	return sw_names_format(t->names, "%s%s%s %s", path, *path ? ", " : "", name,
			       interval_text(t->names, low_ns, high_ns));
}

/* Prints where the run as a whole spends its time. */
static void put_replay(struct sw_text *t)
{
	const struct sw_schedule_facts *facts = &t->report->judgement->schedule;
	const struct sw_schedule_sums *sums = &t->report->judgement->sums;
	const char *basis = sw_replay_basis(t->names, facts);
	if (!basis)
		return;
	sw_text_line(t, "the run:",
		     sw_names_format(t->names,
				     "host blocked %s; devices busy %s, idle %s (%s of it while the host was "
				     "blocked); copies overlapped kernels for %s of %s possible",
				     sw_name_time(t->names, sums->blocked_ns), sw_name_time(t->names, sums->busy_ns),
				     sw_name_time(t->names, sums->idle_ns),
				     sw_name_time(t->names, sums->idle_blocked_ns),
				     sw_name_time(t->names, sums->overlap_ns),
				     sw_name_time(t->names, sums->overlap_possible_ns)));
	const char *path = "";
	for (int i = 0; i < SW_STRETCHES; i++)
		if (i != SW_STRETCH_WORK)
			path = path_part(t, path, sw_replay_stretch((enum sw_stretch_kind)i, SW_DOES_OTHER),
					 sums->path_low_ns[i], sums->path_high_ns[i]);
	for (int i = 0; i <= SW_DOES_OTHER; i++)
		path = path_part(t, path, sw_replay_stretch(SW_STRETCH_WORK, (enum sw_work_kind)i),
				 sums->path_work_low_ns[i], sums->path_work_high_ns[i]);
	sw_text_line(t, "critical path:", path);
	const struct sw_judgement *j = t->report->judgement;
	const struct sw_together *all = j->togethers ? &j->together[j->togethers - 1] : NULL;
	if (all && all->high_ns > facts->run_ns / 1000)
		sw_text_line(t, "recoverable:",
			     sw_names_format(t->names, "%s if all the advice on waits is followed%s",
					     interval_text(t->names, all->vague ? 0 : all->low_ns, all->high_ns),
					     all->vague ? "; how much needs --gpu-timeline" : ""));
	sw_text_line(t, "basis:", basis);
}

/* Host time that waits took, by kind: "synchronisations 12 ms (3), releases of memory 2.1 ms (1)". */
static const char *by_kind(struct sw_text *t)
{
	static const char *const kinds[] = {
#define SW_HOST_WAIT(name, kind, several) [SW_HOST_WAIT_##name] = several,
#include "detect/host_waits.def"
	};
	const struct sw_host_wait *held = t->report->judgement->host_waits;
	const char *text = "";
	for (size_t i = 0; i < SW_HOST_WAITS; i++)
		if (held[i].calls)
			text = sw_names_format(t->names, "%s%s%s %s (%s)", text, *text ? ", " : "", kinds[i],
					       sw_name_time(t->names, held[i].ns),
					       with_plural(t, held[i].calls, "call", "calls"));
	return text;
}

/* Prints how long the host waited, by kind of wait, and the replay of the run. */
static void put_waits(struct sw_text *t)
{
	const struct sw_judgement *judgement = t->report->judgement;
	if (judgement->host_wait_ns)
		sw_text_line(t, "host waits:",
			     sw_names_format(t->names, "%s in total", sw_name_time(t->names, judgement->host_wait_ns)));
	sw_text_line(t, "by kind:", by_kind(t));
	put_replay(t);
}

/* With --strict-host: says how threads of the host are ordered. */
static void put_host(struct sw_text *t)
{
	const struct sw_judgement *judgement = t->report->judgement;
	if (judgement->strict_host)
		sw_text_line(t, "host:",
			     sw_names_format(t->names, "a lane for each thread, ordered by %s; atomics are not seen",
					     with_plural(t, judgement->coverage.host_syncs, "synchronisation",
							 "synchronisations")));
}

/* How many findings are suppressed, and how many of them by the list that comes with syncwatch. */
static const char *suppressed_text(struct sw_text *t)
{
	const struct sw_report_totals *totals = &t->report->totals;
	const char *text = with_plural(t, totals->suppressed, "finding", "findings");
	if (!totals->known)
		return text;
	const char *known =
		totals->known == totals->suppressed ? "all" : sw_names_format(t->names, "%u", totals->known);
	return sw_names_format(t->names, "%s, %s of them known ones of libraries (known.supp; --all shows them)", text,
			       known);
}

/* --all lists them all. */
#define SW_LINES_LISTED 10u

/* Prints how many findings are suppressed, and by which lines of which files. */
static void put_suppressed(struct sw_text *t)
{
	struct sw_suppress_use use;
	size_t more = 0;
	if (!t->report->totals.suppressed)
		return;
	sw_text_line(t, "suppressed:", suppressed_text(t));
	for (size_t i = 0; sw_suppress_used(t->report->suppressions, i, &use); i++) {
		if (i >= SW_LINES_LISTED && !t->report->all) {
			more++;
			continue;
		}
		const char *errors =
			use.errors ? sw_names_format(t->names, ", %s", with_plural(t, use.errors, "error", "errors"))
				   : "";
		sw_text_line(t, "",
			     sw_names_format(t->names, "%s: %s%s", use.place,
					     with_plural(t, use.findings, "finding", "findings"), errors));
	}
	if (more)
		sw_text_line(t, "",
			     sw_names_format(t->names, "and by %zu more %s (--all lists all)", more,
					     sw_plural(more, "line", "lines")));
}

void sw_text_run(struct sw_text *t)
{
	const struct sw_report *report = t->report;
	const struct sw_judgement *judgement = report->judgement;
	if (t->stat) {
		put_waits(t);
		put_host(t);
		put_coverage(t);
		put_gpu(t);
	} else {
		put_looked_at(t);
	}
	put_rules(t);
	put_not_looked_at(t);
	if (judgement->folded_waits && !report->all)
		sw_text_line(t, "not shown:",
			     sw_names_format(t->names, "%s, %s in total, below the cost threshold (--all shows them)",
					     with_plural(t, judgement->folded_waits, "wait", "waits"),
					     sw_name_time(t->names, judgement->folded_wait_ns)));
	put_behaviour(t);
	put_no_lines(t);
	text_nameless(t);
	put_troubles(t);
	put_suppressed(t);
	text_savings(t);
	if (t->trace)
		sw_text_line(t, "trace:", t->trace);
}
