/* SPDX-License-Identifier: Apache-2.0 */
/* syncwatch confirm: runs the program again, with one side of each hazard held back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/counted.h"
#include "budget.h"
#include "ci_files.h"
#include "clock.h"
#include "confirm/bootstrap.h"
#include "confirm/explore.h"
#include "confirm/savings.h"
#include "confirm/trial.h"
#include "html_file.h"
#include "output.h"
#include "run/judged.h"
#include "run/launch.h"
#include "terminal.h"

#define HOLD_NS 500000000ull /* unless --hold says otherwise */
#define MOST_NS 10000000000ull
/* A run may take so many times as long as the first, and a minute. */
#define PATIENCE    10u
#define PATIENCE_NS 60000000000ull
#define MOST_RUN    64u	 /* runs, unless --runs says otherwise */
#define MOST_TIMED  400u /* the same of --waits */
#define MOST_PAIRS  15u
/* Runs kept for the changes together: a rehearsal, a check, five pairs. */
#define TOGETHER_RUNS 12u

struct confirm {
	const struct sw_options *options;
	struct sw_experiments experiments;
	struct sw_analysis analysis;
	sw_trials trials;
	struct sw_asked_order asked; /* of --calls */
	struct sw_savings savings;
	bool waits;
	char *trace;
	struct sw_session first; /* its gaps are those of the first run */
	struct sw_verdict verdict;
};

/* Lets the report show the results of the trials; they must live as long as it does. */
static void attach_results(struct confirm *confirm)
{
	for (size_t i = 0; i < confirm->trials.n; i++)
		confirm->trials.at[i].shown->confirmation = &confirm->trials.at[i].result;
	for (size_t i = 0; i < confirm->savings.trials.n; i++)
		confirm->savings.trials.at[i].shown->saving = &confirm->savings.trials.at[i].result;
}

/* ---- the first run ----------------------------------------------------------------------------------------------- */

/* The trace of the only process that used CUDA; NULL: there is none, or several (*status). */
static const struct sw_session_trace *only_trace(const struct sw_session *session, int *status)
{
	const struct sw_session_trace *found = NULL;
	for (size_t i = 0; i < session->traces.n; i++) {
		if (found && session->traces.at[i].pid != found->pid) {
			*status = sw_complain(SW_EXIT_INPUT,
					      "the program uses CUDA in several processes: one plan for all of them is "
					      "not supported");
			return NULL;
		}
		found = &session->traces.at[i];
	}
	if (!found) {
		sw_complain(SW_EXIT_OK, "the program left no trace: it made no CUDA call");
		*status = SW_EXIT_INPUT;
	}
	return found;
}

/* Keeps the gaps of the first run: parts of it that were not watched. */
static void keep_gaps(struct confirm *confirm, const struct sw_session *session)
{
	for (size_t i = 0; i < session->gaps.n; i++)
		sw_session_gap(&confirm->first, session->gaps.at[i].pid, sw_strdup(session->gaps.at[i].text));
	confirm->verdict.incomplete = session->gaps.n;
}

/* The verdict where nothing can be tried: over a run without a trace, or with several. */
static int nothing_to_try(struct confirm *confirm, const struct sw_session *session)
{
	sw_judged_put_gaps(stderr, session);
	confirm->verdict.calls_seen = session->traces.n;
	confirm->verdict.program_status = &confirm->experiments.status;
	if (!confirm->options->error_exitcode || session->traces.n)
		confirm->verdict.unusable = true;
	return sw_verdict_status(&confirm->verdict);
}

/* Runs and records the program as it is. */
static int record_first(struct confirm *confirm)
{
	struct sw_launch first = {.options = confirm->options};
	const uint64_t began = sw_now_ns();
	int status = sw_launch_run(&first);
	confirm->experiments.most_run_ns += PATIENCE * (sw_now_ns() - began);
	if (status) {
		status = sw_verdict_refusal(confirm->options, status);
		sw_launch_free(&first);
		return status;
	}
	const struct sw_session_trace *trace = only_trace(&first.session, &status);
	confirm->experiments.status = first.program_status;
	keep_gaps(confirm, &first.session);
	if (trace)
		confirm->trace = sw_strdup(trace->path);
	else
		status = nothing_to_try(confirm, &first.session);
	sw_launch_free(&first);
	return status;
}

/* ---- the others -------------------------------------------------------------------------------------------------- */

/* Says how a trial ended. */
static void tell_step(const struct confirm *confirm, size_t at)
{
	const struct sw_trial *trial = &confirm->trials.at[at];
	if (confirm->options->quiet)
		return;
	fprintf(stderr, "syncwatch: %zu of %zu: SW%03d %s\n", at + 1, confirm->trials.n, trial->shown->finding->id,
		sw_confirmation_outcome(trial->result.verdict));
}

/* Tries each hazard, then the advice for those that were reached. */
static int try_all(struct confirm *confirm)
{
	const struct sw_options *options = confirm->options;
	const uint64_t most = options->runs ? options->runs - 1 : MOST_RUN;
	struct sw_experiments *in = &confirm->experiments;
	int status = SW_EXIT_OK;
	for (size_t i = 0; i < confirm->trials.n && !status; i++) {
		struct sw_trial *trial = &confirm->trials.at[i];
		if (in->runs >= most) {
			fprintf(stderr, "syncwatch: %zu %s not tried: --runs %llu is reached\n", confirm->trials.n - i,
				sw_plural(confirm->trials.n - i, "finding is", "findings are"),
				(unsigned long long)most);
			return status;
		}
		if (trial->result.verdict == SW_VERDICT_UNTRIED)
			status = sw_experiment_hold(in, trial);
		tell_step(confirm, i);
	}
	if (status || options->no_fix)
		return status;
	if (in->runs >= most)
		fprintf(stderr, "syncwatch: fixes are not tried: --runs %llu is reached\n", (unsigned long long)most);
	return sw_experiment_fixes(in, &confirm->trials, (uint32_t)most);
}

/* Tries the advice on each wait, and with --all-waits all of it together. */
static int try_waits(struct confirm *confirm)
{
	const struct sw_options *options = confirm->options;
	struct sw_savings *savings = &confirm->savings;
	struct sw_error error;
	savings->in = &confirm->experiments;
	savings->trace = confirm->trace;
	savings->most_runs = options->runs ? (uint32_t)(options->runs - 1) : MOST_TIMED;
	savings->most_pairs = options->pairs ? (uint32_t)(options->pairs - 1) : MOST_PAIRS;
	savings->kept_runs = options->all_waits ? TOGETHER_RUNS : 0;
	savings->total.only = options->together;
	if (!sw_saving_trials_make(&savings->trials, confirm->analysis.report, options))
		return options->finding
			       ? sw_complain(SW_EXIT_INPUT, "%s has no wait '%s'", confirm->trace, options->finding)
			       : SW_EXIT_OK;
	if (sw_saving_trials_locate(&savings->trials, confirm->trace, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	int status = sw_savings_try(savings);
	if (!status && (options->all_waits || options->together))
		status = sw_savings_together(savings);
	if (savings->total.tried)
		confirm->analysis.report->savings = &savings->total;
	attach_results(confirm);
	return status;
}

/* Makes the trials of the report, and tries them. */
static int run_experiments(struct confirm *confirm)
{
	struct sw_experiments *e = &confirm->experiments;
	struct sw_error error;
	e->report = confirm->analysis.report;
	e->span_ns = confirm->analysis.judgement->span_ns;
	e->most_run_ns += PATIENCE * (confirm->options->earlier_trace ? e->span_ns : 0);
	if (confirm->waits)
		return try_waits(confirm);
	if (!sw_trials_make(&confirm->trials, e->report, confirm->options->finding))
		return confirm->options->finding ? sw_complain(SW_EXIT_INPUT, "%s has no hazard '%s'", confirm->trace,
							       confirm->options->finding)
						 : SW_EXIT_OK;
	if (sw_trials_locate(&confirm->trials, confirm->trace, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	int status = try_all(confirm);
	attach_results(confirm);
	return status;
}

/* Does a rule order the two calls?  Not where the judge may say so only because something was not understood. */
static bool known_order(const struct confirm *confirm)
{
	const struct sw_coverage *coverage = &confirm->analysis.judgement->coverage;
	return confirm->asked.known && confirm->asked.order >= SW_ORDER_MEASURED && !coverage->unclassified_calls &&
	       !coverage->edges_for_safety;
}

/* Turns a result into "ordered" where a rule orders the two calls.  Then it is no doubt, and refutes nothing, that one
   waits for the other. */
static void add_known_order(const struct confirm *confirm, struct sw_confirmation *c)
{
	const bool waited = c->verdict == SW_VERDICT_REFUTED ||
			    (c->verdict == SW_VERDICT_INCONCLUSIVE &&
			     (c->doubt == SW_DOUBT_HOST_WAITED || c->doubt == SW_DOUBT_BLOCKED_BEFORE ||
			      c->doubt == SW_DOUBT_NOT_MADE));
	if (waited && known_order(confirm))
		c->verdict = SW_VERDICT_ORDERED;
}

/* Does the call put work on a stream that touches memory? */
static bool is_work(const struct sw_plan_call *call)
{
	return call->kind == SW_REC_LAUNCH || call->kind == SW_REC_COPY || call->kind == SW_REC_COPY_ND ||
	       call->kind == SW_REC_SET;
}

enum overlap { OVERLAP_UNKNOWN, OVERLAP_NONE, OVERLAP_SOME };

/* Do the two calls that the user named touch the same bytes? */
static enum overlap bytes_overlap(const struct confirm *confirm)
{
	const struct sw_trial *trial = &confirm->trials.at[0];
	const struct sw_asked_order *asked = &confirm->asked;
	if (asked->meet)
		return OVERLAP_SOME;
	return asked->known && !asked->unclear && is_work(&trial->earlier_call) && is_work(&trial->later_call)
		       ? OVERLAP_NONE
		       : OVERLAP_UNKNOWN;
}

/* Weakens a proof that two calls are not ordered where they are not known to touch the same bytes: only there it is a
   hazard. */
static void add_overlap(const struct confirm *confirm, struct sw_confirmation *c)
{
	if (c->verdict == SW_VERDICT_PROVEN && bytes_overlap(confirm) != OVERLAP_SOME)
		c->verdict = bytes_overlap(confirm) == OVERLAP_NONE ? SW_VERDICT_APART : SW_VERDICT_UNORDERED;
}

/* Tries whether two calls that the user names are ordered; an exit status. */
static int try_calls(struct confirm *confirm)
{
	struct sw_error error;
	if (sw_trials_locate(&confirm->trials, confirm->trace, &error))
		return sw_complain(SW_EXIT_INPUT, "%s", error.text);
	struct sw_trial *trial = &confirm->trials.at[0];
	if (!trial->earlier_call.api || !trial->later_call.api)
		return sw_complain(SW_EXIT_INPUT, "%s has no such calls of CUDA: %s", confirm->trace,
				   confirm->options->calls);
	trial->later_host = trial->later_frees = trial->fix_on_host = trial->later_call.frees;
	int status = SW_EXIT_OK;
	if (bytes_overlap(confirm) == OVERLAP_NONE && !known_order(confirm))
		trial->result.verdict = SW_VERDICT_APART;
	else
		status = sw_experiment_hold(&confirm->experiments, trial);
	if (status)
		return status;
	add_known_order(confirm, &trial->result);
	add_overlap(confirm, &trial->result);
	/* The key comes first: scripts read it. */
	const char *key = sw_confirmation_key(trial->result.verdict),
		   *text = sw_confirmation_text(&confirm->analysis.report->names, &trial->result);
	const bool begins = strncmp(text, key, strlen(key)) == 0;
	printf("calls %s: %s%s%s\n", confirm->options->calls, begins ? "" : key, begins ? "" : ": ", text);
	return sw_finish_stdout(SW_EXIT_OK);
}

/* ---- the report -------------------------------------------------------------------------------------------------- */

/* Prints how many hazards were tried in how many runs, and the results. */
static void print_summary(const struct confirm *confirm, FILE *out)
{
	size_t of[SW_VERDICT_NOT_REACHED + 1] = {0}, verified = 0;
	for (size_t i = 0; i < confirm->trials.n; i++) {
		of[confirm->trials.at[i].result.verdict]++;
		verified += confirm->trials.at[i].result.fix == SW_FIX_VERIFIED;
	}
	const size_t n = confirm->trials.n;
	fprintf(out, "syncwatch: %zu hazard%s tried in %u run%s", n, sw_plural(n, "", "s"), confirm->experiments.runs,
		sw_plural(confirm->experiments.runs, "", "s"));
	for (size_t i = 0; i <= SW_VERDICT_NOT_REACHED; i++)
		if (of[i])
			fprintf(out, ", %zu %s", of[i], sw_confirmation_outcome((enum sw_trial_verdict)i));
	fprintf(out, "; %zu fix%s verified\n", verified, sw_plural(verified, "", "es"));
}

/* Prints how many waits were tried, and the results. */
static void summarise_waits(const struct confirm *confirm, FILE *out)
{
	size_t of[SW_SAVING_INCONCLUSIVE + 1] = {0};
	const size_t n = confirm->savings.trials.n;
	for (size_t i = 0; i < n; i++)
		of[confirm->savings.trials.at[i].result.verdict]++;
	fprintf(out, "syncwatch: %zu wait%s, %u run%s", n, sw_plural(n, "", "s"), confirm->experiments.runs,
		sw_plural(confirm->experiments.runs, "", "s"));
	for (size_t i = 0; i <= SW_SAVING_INCONCLUSIVE; i++)
		if (of[i])
			fprintf(out, ", %zu %s", of[i], sw_saving_key((enum sw_saving_verdict)i));
	fputc('\n', out);
}

/* Writes the report with the results as JSON, if that is wanted. */
static int write_json(const struct confirm *confirm)
{
	struct sw_output output;
	struct sw_error error;
	const char *json = confirm->options->json;
	if (!json)
		return SW_EXIT_OK;
	if (sw_output_open(&output, json, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	sw_report_json(confirm->analysis.report, output.file);
	return sw_output_close(&output, &error) ? sw_complain(SW_EXIT_OUTPUT, "%s", error.text) : SW_EXIT_OK;
}

/* Prints the report and what the experiments showed. */
static void print_results(const struct confirm *confirm, FILE *out, const struct sw_text_style *style)
{
	sw_report_text(confirm->analysis.report, out, style);
	sw_judged_put_gaps(out, &confirm->first);
	if (confirm->waits)
		summarise_waits(confirm, out);
	else
		print_summary(confirm, out);
}

/* Writes what print_results() prints to the file of --text. */
static int write_text(const struct confirm *confirm)
{
	struct sw_output output;
	struct sw_error error;
	if (!confirm->options->text)
		return SW_EXIT_OK;
	if (sw_output_open(&output, confirm->options->text, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	struct sw_text_style style = sw_terminal_style(STDERR_FILENO, confirm->options);
	style.colour = style.links = false;
	style.columns = 0;
	style.trace = confirm->trace;
	print_results(confirm, output.file, &style);
	return sw_output_close(&output, &error) ? sw_complain(SW_EXIT_OUTPUT, "%s", error.text) : SW_EXIT_OK;
}

/* Writes the files that the options want. */
static void write_files(struct confirm *confirm)
{
	struct sw_ci_files *files;
	struct sw_verdict *verdict = &confirm->verdict;
	sw_verdict_step(verdict, write_json(confirm));
	sw_verdict_step(verdict, write_text(confirm));
	sw_verdict_step(verdict, sw_ci_files_open(confirm->options, &files));
	sw_ci_files_add(files, confirm->analysis.report);
	sw_verdict_step(verdict, sw_ci_files_close(files, stderr));
	sw_verdict_step(verdict, sw_html_file(confirm->trace, confirm->options, confirm->analysis.report));
}

/* Does the error make the exit status that of errors?  With --proven-only only if an experiment has proven it, or has
   reversed the order and the bytes were the same by chance. */
static bool is_unresolved_error(const struct confirm *confirm, const struct sw_shown_finding *shown)
{
	const struct sw_confirmation *c = shown->confirmation;
	if (shown->suppressed || shown->finding->severity != SW_ERROR)
		return false;
	/* Equal bytes are a matter of the data of one run. */
	return !confirm->options->proven_only ||
	       (c && (c->verdict == SW_VERDICT_PROVEN || c->verdict == SW_VERDICT_SAME_BYTES));
}

/* Prints the report with the results. */
static int report_results(struct confirm *confirm)
{
	struct sw_text_style style = sw_terminal_style(STDERR_FILENO, confirm->options);
	struct sw_report *report = confirm->analysis.report;
	style.trace = confirm->trace;
	sw_judged_take_gaps(&confirm->first, 0, report);
	if (confirm->verdict.incomplete)
		sw_report_gap(report, sw_strdup("not all of its first run was watched"));
	style.quiet = confirm->options->quiet;
	print_results(confirm, stderr, &style);
	write_files(confirm);
	sw_verdict_take(&confirm->verdict, report);
	for (size_t i = 0; i < report->shown.n; i++)
		confirm->verdict.errors += is_unresolved_error(confirm, &report->shown.at[i]);
	confirm->verdict.program_status = &confirm->experiments.status;
	return sw_verdict_status(&confirm->verdict);
}

/* Calls are found again by their number among those of their place: that needs all calls before them. */
static int check_whole(const struct confirm *confirm)
{
	const struct sw_trace_totals totals = sw_reader_totals(confirm->analysis.reader);
	if (!totals.pauses && !totals.dropped)
		return SW_EXIT_OK;
	return sw_complain(SW_EXIT_INPUT,
			   "%s lacks calls %s, so those of its findings cannot be found again in another run: leave "
			   "'--trace' out, and name a finding by '--finding'",
			   confirm->trace,
			   totals.dropped ? "before its last ones (--last, --keep)" : "outside of its windows");
}

/* Judges the recorded run, then makes the experiments that the options ask for; an exit status. */
static int judge_and_try(struct confirm *confirm)
{
	int status = sw_budget_start(confirm->options);
	if (!status && confirm->options->calls && !sw_trials_of_calls(&confirm->trials, confirm->options->calls))
		status = sw_complain_usage("--calls wants two numbers of calls, such as 117,118; not '%s'",
					   confirm->options->calls);
	const struct sw_judge_options more = {.asked = confirm->options->calls ? &confirm->asked : NULL};
	if (confirm->options->calls && !status) {
		confirm->asked.earlier = confirm->trials.at[0].earlier;
		confirm->asked.later = confirm->trials.at[0].later;
	}
	if (!status)
		status = sw_analysis_judge_more(&confirm->analysis, confirm->trace, confirm->options,
						confirm->options->all, &more);
	if (!status)
		status = check_whole(confirm);
	if (!status)
		status = sw_experiments_begin(&confirm->experiments, confirm->options);
	if (!status)
		sw_experiment_count_streams(&confirm->experiments, confirm->trace);
	if (!status && confirm->options->calls)
		status = try_calls(confirm);
	else if (!status)
		status = run_experiments(confirm);
	if (status || confirm->options->calls)
		return sw_verdict_refusal(confirm->options, status);
	return report_results(confirm);
}

/* Runs the program with random holds (--explore). */
static int run_exploration(struct confirm *confirm)
{
	const struct sw_options *options = confirm->options;
	const uint64_t runs = options->explore - 1, seed = options->seed ? options->seed - 1 : 1;
	uint64_t found = 0;
	int status = sw_experiments_begin(&confirm->experiments, options);
	if (!status)
		status = sw_explore(&confirm->experiments, runs, seed, options->hold, &found);
	if (status)
		return status;
	fprintf(stderr, "syncwatch: %llu of %llu %s %s what leaves the device (%u %s)\n", (unsigned long long)found,
		(unsigned long long)runs, sw_plural(runs, "seed", "seeds"), sw_plural(found, "changes", "change"),
		confirm->experiments.runs, sw_plural(confirm->experiments.runs, "run", "runs"));
	return found && options->error_exitcode ? options->error_exitcode : SW_EXIT_OK;
}

/* `syncwatch confirm`: checks the options, records the program or takes a trace, and tries its findings. */
int sw_cmd_confirm(const struct sw_options *options)
{
	struct confirm confirm = {.options = options, .verdict = {.options = options}};
	int status = SW_EXIT_OK;
	if (options->n_operands == 0)
		return sw_complain_usage("which program?");
	if (options->text && (options->calls || options->explore))
		return sw_complain_usage("--text is for the report: --calls and --explore print none");
	if (options->calls && !options->earlier_trace)
		return sw_complain_usage("--calls needs --trace: the numbers are those of a trace");
	if (options->pairs && (options->pairs - 1 < 5 || options->pairs - 1 > SW_BOOTSTRAP_MOST))
		return sw_complain_usage("--pairs wants a number from 5 to %u", SW_BOOTSTRAP_MOST);
	confirm.waits = options->waits || options->all_waits || options->together;
	confirm.experiments.most_run_ns = options->most_run ? options->most_run : PATIENCE_NS;
	confirm.experiments.hold_ns = options->hold ? options->hold : HOLD_NS;
	confirm.experiments.most_ns = MOST_NS > confirm.experiments.hold_ns ? MOST_NS : confirm.experiments.hold_ns;
	if (options->explore) {
		status = run_exploration(&confirm);
		sw_experiments_end(&confirm.experiments);
		return status;
	}
	if (options->earlier_trace)
		confirm.trace = sw_strdup(options->earlier_trace);
	else
		status = record_first(&confirm);
	if (!status)
		status = judge_and_try(&confirm);
	sw_analysis_free(&confirm.analysis);
	sw_experiments_end(&confirm.experiments);
	free(confirm.trials.at);
	sw_savings_free(&confirm.savings);
	sw_session_free(&confirm.first);
	free(confirm.trace);
	return status;
}
