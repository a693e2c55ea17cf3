/* SPDX-License-Identifier: Apache-2.0 */
#include "run/judged.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/counted.h"
#include "analysis.h"
#include "draw.h"
#include "html_file.h"
#include "pack/image_store.h"
#include "pack_file.h"
#include "reader/ranks.h"
#include "report/json/report_parts.h"
#include "run/follow.h"
#include "run/launch.h"
#include "terminal.h"

/* A stream into memory. */
struct buffer {
	char *text;
	size_t bytes;
	FILE *file;
};

/* Opens a stream into memory; ends the command where there is none. */
static FILE *buffer_open(struct buffer *buffer)
{
	buffer->file = open_memstream(&buffer->text, &buffer->bytes);
	if (!buffer->file) {
		sw_complain(SW_EXIT_MEMORY, "out of memory");
		exit(SW_EXIT_MEMORY);
	}
	return buffer->file;
}

/* Closes the stream and returns its text, malloc'ed. */
static char *buffer_close(struct buffer *buffer)
{
	if (fclose(buffer->file)) {
		sw_complain(SW_EXIT_MEMORY, "out of memory");
		exit(SW_EXIT_MEMORY);
	}
	return buffer->text;
}

/* ---- one process ------------------------------------------------------------------------------------------------- */

/* A part of the report as JSON, as it will stand `depth` levels deep in the file; malloc'ed. */
static char *json_of(struct sw_report *report, int depth, void (*put)(struct sw_json *json, struct sw_report *report))
{
	struct buffer buffer;
	struct sw_json json = {.out = buffer_open(&buffer), .depth = depth, .first = true};
	put(&json, report);
	return buffer_close(&buffer);
}

/* Writes the JSON of one process as an object. */
static void put_whole(struct sw_json *json, struct sw_report *report)
{
	sw_json_open(json, NULL, '{');
	sw_report_json_members(json, report);
	sw_json_close(json, '}');
}

/* A finding's JSON without its closing bracket: the processes that have it follow. */
static char *finding_json(struct sw_report *report, size_t index)
{
	struct buffer buffer;
	struct sw_json json = {.out = buffer_open(&buffer), .depth = 2, .first = true};
	sw_report_json_open_finding(&json, report, index);
	return buffer_close(&buffer);
}

/* A finding as text, malloc'ed; NULL: it leads no group that is printed. */
static char *finding_text(struct sw_report *report, size_t index, const struct sw_text_style *style)
{
	struct buffer buffer;
	FILE *out = buffer_open(&buffer);
	bool printed = sw_report_text_finding(report, index, out, style);
	char *text = buffer_close(&buffer);
	if (printed)
		return text;
	free(text);
	return NULL;
}

/* Where the index + 1 of the finding that processes share is kept; 0 there: it is new. */
static uint64_t *slot_of(struct sw_judged *judged, const struct sw_shown_finding *shown)
{
	return sw_map_put(&judged->index,
			  shown->fingerprint ^ ((uint64_t)shown->finding->severity << 1 | (uint64_t)shown->suppressed));
}

/* Adds a finding of the last process, to the one like it of another process where there is one. */
static void add_finding(struct sw_judged *judged, struct sw_report *report, size_t index)
{
	const struct sw_shown_finding *shown = &report->shown.at[index];
	uint64_t *slot = slot_of(judged, shown);
	struct sw_judged_finding *f = *slot ? &judged->findings.at[*slot - 1] : NULL;
	const size_t process = judged->processes.n - 1;
	if (!f) {
		f = sw_vec_push(&judged->findings);
		*slot = judged->findings.n;
		*f = (struct sw_judged_finding){.severity = shown->finding->severity,
						.suppressed = shown->suppressed,
						.text = finding_text(report, index, &judged->style),
						.json = judged->json ? finding_json(report, index) : NULL};
		struct sw_report_totals *totals = &judged->totals;
		if (!shown->suppressed)
			++*(f->severity == SW_ERROR	? &totals->errors
			    : f->severity == SW_WARNING ? &totals->warnings
							: &totals->notes);
	}
	if (!f->in.n || f->in.at[f->in.n - 1] != process)
		*sw_vec_push(&f->in) = process;
}

/* The program's name without its folder, malloc'ed. */
static char *name_of(const struct sw_reader *reader)
{
	const struct sw_trace_process *process = sw_reader_process(reader);
	const char *slash = process ? strrchr(process->exe, '/') : NULL;
	return sw_strdup(!process ? "a program" : slash ? slash + 1 : process->exe);
}

void sw_judged_take_gaps(struct sw_session *session, pid_t pid, const struct sw_report *report)
{
	for (size_t i = 0; i < report->gaps.n; i++) {
		sw_session_gap(session, pid, sw_strdup(report->gaps.at[i]));
		session->gaps.at[session->gaps.n - 1].in_report = true;
	}
}

/* The rank that the process had in its job, -1: none. */
static int64_t rank_of(const struct sw_reader *reader)
{
	struct sw_rank rank;
	return sw_rank_of(sw_reader_environment(reader), &rank) ? (int64_t)rank.rank : -1;
}

/* Makes the parts of a process's text now: its trace is closed before the report over all of them is printed. */
static void put_texts(struct sw_judged *judged, struct sw_judged_process *p, struct sw_report *report)
{
	struct buffer buffer;
	sw_report_text_table(report, buffer_open(&buffer), &judged->style);
	p->table = buffer_close(&buffer);
	FILE *notes = buffer_open(&buffer);
	sw_report_text_files(report, notes, &judged->style);
	sw_report_text_notes(report, notes, &judged->style);
	p->notes = buffer_close(&buffer);
	for (int i = 0; i <= SW_HEADLINE_COUNTS; i++) {
		sw_report_text_headline(report, buffer_open(&buffer), &judged->style, (enum sw_headline)i);
		p->headline[i] = buffer_close(&buffer);
	}
	sw_report_text_rest(report, buffer_open(&buffer), &judged->style);
	p->rest = buffer_close(&buffer);
}

/* Adds what one trace says to the whole: its findings, counts, texts and JSON. */
static void add_process(struct sw_judged *judged, struct sw_session *session, pid_t pid, const char *trace,
			struct sw_analysis *analysis)
{
	struct sw_report *report = analysis->report;
	struct sw_judged_process *p = sw_vec_push(&judged->processes);
	*p = (struct sw_judged_process){.pid = pid ? pid : (pid_t)sw_reader_header(analysis->reader)->pid,
					.name = name_of(analysis->reader),
					.trace = sw_strdup(trace),
					.rank = rank_of(analysis->reader)};
	p->totals = report->totals;
	p->host_wait_ns = analysis->judgement->host_wait_ns;
	p->folded_wait_ns = analysis->judgement->folded_wait_ns;
	p->folded_waits = analysis->judgement->folded_waits;
	judged->totals.suppressed += report->totals.suppressed;
	judged->totals.known += report->totals.known;
	judged->totals.hidden += report->totals.hidden;
	for (size_t i = 0; i < report->shown.n; i++)
		add_finding(judged, report, i);
	memcpy(p->host_waits, analysis->judgement->host_waits, sizeof p->host_waits);
	put_texts(judged, p, report);
	if (judged->json) {
		p->head = json_of(report, 1, sw_report_json_head);
		p->json = json_of(report, 2, put_whole);
		p->groups = json_of(report, 1, sw_report_json_groups);
		p->summary = json_of(report, 2, sw_report_json_summary);
		p->tail = json_of(report, 1, sw_report_json_tail);
	}
	sw_ci_files_add(judged->files, report);
	sw_last_report_add(judged->last, report, trace);
	sw_analysis_add_checked(analysis->judgement, judged->checked);
	sw_verdict_take(&judged->verdict, report);
	sw_judged_take_gaps(session, pid, report);
}

/* ---- several processes ------------------------------------------------------------------------------------------- */

/* Takes the trace's part in what the processes do together: read while its report is there. */
static void take_part(struct sw_judged *judged, const char *path, struct sw_analysis *analysis)
{
	struct sw_error error;
	const struct sw_judgement *judgement = analysis->judgement;
	if (!judged->several || !(judgement->shares_memory || judgement->collectives))
		return;
	judged->sharing += judgement->shares_memory;
	if (judgement->shared_uses_left_out)
		sw_report_gap(analysis->report,
			      sw_strdup("it uses memory of several processes more often than is compared"));
	if (!judged->between)
		judged->between = sw_merged_new();
	const size_t before = judged->between->ranks.n;
	struct sw_merged_rank *rank = sw_merged_add_process(judged->between, analysis->report, path);
	if (judged->between->ranks.n > before &&
	    sw_merged_collectives(judged->between, rank, analysis->report, path, &error))
		sw_complain(SW_EXIT_INPUT, "%s", error.text);
}

/* Marks the processes that a finding between processes is about. */
static void mark_ranks(struct sw_judged *judged, const struct sw_between *between)
{
	for (size_t i = 0; i < between->ranks.n; i++)
		for (size_t k = 0; k < judged->processes.n; k++)
			if ((uint32_t)judged->processes.at[k].pid == between->ranks.at[i]->pid)
				judged->processes.at[k].in_between |= between->severity != SW_NOTE;
}

/* Compares the processes as `syncwatch merge` does: what is found between them belongs to the verdict over them. */
static void compare_processes(struct sw_judged *judged, struct sw_session *session)
{
	struct sw_merged *between = judged->between;
	if (!between)
		return;
	sw_merged_compare_processes(between);
	for (size_t i = 0; i < between->between.n; i++)
		mark_ranks(judged, between->between.at[i]);
	judged->totals.errors += between->errors;
	judged->totals.warnings += between->warnings;
	judged->totals.notes += between->notes;
	for (size_t i = 0; i < between->gaps.n; i++)
		sw_session_gap(session, 0,
			       sw_format("%s: 'syncwatch merge' of all traces compares them", between->gaps.at[i]));
	const size_t unopened = sw_shared_unopened(&between->shared);
	if (unopened)
		sw_session_gap(session, 0,
			       sw_format("%zu process%s exported memory (cudaIpcGetMemHandle) that no process with a "
					 "trace here opened: 'syncwatch merge' of all traces compares them",
					 unopened, sw_plural(unopened, "", "es")));
}

/* Rules that forbid calls, and that no process gave anything to check. */
static void tell_unchecked(struct sw_judged *judged, struct sw_session *session)
{
	struct sw_gate gate;
	uint32_t i = 0;
	if (sw_analysis_gate(judged->options, &gate))
		return;
	for (char *text; judged->processes.n && (text = sw_analysis_unchecked(&gate, judged->checked, &i));)
		sw_session_gap(session, 0, text);
	sw_gate_free(&gate);
}

/* Was it judged while it ran, and is that judgement the one of its trace? */
static bool take_followed(struct sw_judged *judged, const struct sw_session_trace *trace, struct sw_analysis *analysis,
			  int *status)
{
	const char *why;
	if (trace->closed) {
		*analysis = *trace->closed;
		*status = trace->closed_status;
		return true;
	}
	if (!trace->follow)
		return false;
	if (sw_follow_take(trace->follow, judged->several, analysis, &why))
		return true;
	fprintf(stderr, "syncwatch: process %d is judged again from its trace: %s\n", (int)trace->pid, why);
	return false;
}

/* Completes the trace with the code of launched kernels that the store of images has, and puts new code into the
   store. */
static void settle_images(const struct sw_judged *judged, struct sw_reader *reader, const char *path)
{
	struct sw_error error;
	char *folder = sw_launch_image_store(judged->options);
	if (folder && sw_image_store_settle(reader, path, folder, &error))
		sw_complain(SW_EXIT_OUTPUT, "%s lacks code of kernels: %s", path, error.text);
	free(folder);
}

/* Judges one trace, packs it if asked to, and adds it; a failure goes into the verdict and becomes a gap. */
static void judge_trace(struct sw_judged *judged, struct sw_session *session, const struct sw_session_trace *trace,
			bool draw)
{
	struct sw_analysis analysis;
	const struct sw_judge_options more = {.shared_uses = judged->several};
	char *held = sw_format("/proc/self/fd/%d", trace->fd);
	const bool kept = sw_session_in_place(trace);
	/* A process that outlived the run still writes its trace: it is neither packed nor completed. */
	const bool written = sw_session_is_running(trace);
	char *packed = judged->options->pack && kept && !written ? sw_pack_replace(trace->path) : NULL;
	const char *path = packed ? packed : kept ? trace->path : held;
	int status = SW_EXIT_OK;
	if (packed || !take_followed(judged, trace, &analysis, &status))
		status = sw_analysis_judge_more(&analysis, path, judged->options, judged->options->all, &more);
	if (analysis.report) {
		take_part(judged, path, &analysis);
		add_process(judged, session, trace->pid, kept ? path : trace->path, &analysis);
	} else {
		sw_session_gap(session, trace->pid, sw_format("its trace %s could not be judged", trace->path));
	}
	sw_verdict_step(&judged->verdict, status);
	if (!kept)
		sw_complain(status, "%s was removed or replaced while the program ran: judged, and not kept",
			    trace->path);
	if (analysis.report && draw) {
		/* A page of this process alone says so, where the run has others that were not seen. */
		if (session->gaps.n > analysis.report->gaps.n)
			sw_report_gap(analysis.report, sw_strdup("not all of its run was watched or judged"));
		sw_verdict_step(&judged->verdict, sw_html_file(path, judged->options, analysis.report));
		sw_verdict_step(&judged->verdict, sw_draw(path, judged->options, analysis.report));
	}
	if (analysis.reader && judged->recorded_here && kept && !packed && !written)
		settle_images(judged, analysis.reader, trace->path);
	sw_analysis_free(&analysis);
	free(held);
	free(packed);
}

/* Index of the trace of the program itself; a program that execs another leaves several, the last of which did the
   work. */
static size_t main_trace(const struct sw_session *session)
{
	size_t best = 0;
	for (size_t i = 0; i < session->traces.n; i++)
		if (session->traces.at[i].pid == session->main)
			best = i;
	return best;
}

/* Opens what is written while traces are judged: files for builds, and the report that `last` shows. */
static void begin_files(struct sw_judged *judged)
{
	judged->no_files = sw_ci_files_open(judged->options, &judged->files);
	judged->last = sw_last_report_begin(judged->options->no_cache);
}

void sw_judged_make(struct sw_judged *judged, const struct sw_options *options, struct sw_session *session)
{
	const size_t first = main_trace(session);
	*judged = (struct sw_judged){.options = options,
				     .out = stderr,
				     .json = options->json != NULL,
				     .verdict = {.options = options},
				     .several = session->traces.n > 1,
				     .recorded_here = true,
				     .style = sw_terminal_style(STDERR_FILENO, options)};
	begin_files(judged);
	if (session->traces.n)
		judge_trace(judged, session, &session->traces.at[first], true);
	for (size_t i = 0; i < session->traces.n; i++)
		if (i != first)
			judge_trace(judged, session, &session->traces.at[i], false);
	compare_processes(judged, session);
	tell_unchecked(judged, session);
}

/* Opens a trace of the command line as one of a session.  An exit status. */
static int open_trace(struct sw_session_trace *trace, const char *path)
{
	struct stat s;
	*trace = (struct sw_session_trace){.path = sw_strdup(path), .pidfd = -1, .memory = -1};
	trace->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (trace->fd < 0 || fstat(trace->fd, &s))
		return sw_complain(SW_EXIT_INPUT, "%s: %s", path, strerror(errno));
	trace->device = s.st_dev;
	trace->inode = s.st_ino;
	return SW_EXIT_OK;
}

void sw_judged_traces(struct sw_judged *judged, const struct sw_options *options, char *const *paths, size_t n,
		      struct sw_session *session)
{
	*judged = (struct sw_judged){.options = options,
				     .out = stdout,
				     .json = true,
				     .verdict = {.options = options},
				     .several = n > 1,
				     .style = sw_terminal_style(STDOUT_FILENO, options)};
	begin_files(judged);
	for (size_t i = 0; i < n; i++) {
		struct sw_session_trace trace;
		int status = open_trace(&trace, paths[i]);
		sw_verdict_step(&judged->verdict, status);
		if (status)
			sw_session_gap(session, 0, sw_format("%s could not be opened", paths[i]));
		else
			judge_trace(judged, session, &trace, false);
		if (trace.fd >= 0)
			close(trace.fd);
		free(trace.path);
	}
	compare_processes(judged, session);
	tell_unchecked(judged, session);
}

int sw_judged_status(struct sw_judged *judged, const struct sw_session *session, const int *program_status)
{
	judged->verdict.errors = judged->totals.errors;
	judged->verdict.incomplete |= session->gaps.n;
	judged->verdict.program_status = program_status;
	judged->verdict.passes_on = program_status;
	return sw_verdict_status(&judged->verdict);
}

/* Adds to the files for builds what stands in no report of a process. */
static void add_extras(struct sw_judged *judged, const struct sw_session *session)
{
	const char *program = judged->processes.n	    ? judged->processes.at[0].name
			      : judged->options->n_operands ? judged->options->operands[0]
							    : "program";
	for (size_t i = 0; i < session->gaps.n; i++)
		if (!session->gaps.at[i].in_report)
			sw_ci_files_gap(judged->files, program, session->gaps.at[i].text);
	if (!session->gaps.n && !judged->verdict.calls_seen)
		sw_ci_files_gap(judged->files, program, "no CUDA call was seen");
	if (judged->between)
		sw_ci_files_between(judged->files, program, judged->between);
}

int sw_judged_files(struct sw_judged *judged, const struct sw_session *session)
{
	add_extras(judged, session);
	int status = sw_judged_text(judged, session);
	const int closed = sw_ci_files_close(judged->files, judged->out);
	status = status ? status : closed;
	judged->files = NULL;
	sw_last_report_end(judged->last);
	judged->last = NULL;
	return judged->no_files ? judged->no_files : status;
}

void sw_judged_free(struct sw_judged *judged)
{
	for (size_t i = 0; i < judged->processes.n; i++) {
		struct sw_judged_process *p = &judged->processes.at[i];
		char *texts[] = {p->name, p->trace, p->table,  p->notes, p->rest,
				 p->json, p->head,  p->groups, p->tail,	 p->summary};
		for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
			free(texts[k]);
		for (size_t k = 0; k < sizeof p->headline / sizeof p->headline[0]; k++)
			free(p->headline[k]);
	}
	for (size_t i = 0; i < judged->findings.n; i++) {
		free(judged->findings.at[i].text);
		free(judged->findings.at[i].json);
		free(judged->findings.at[i].in.at);
	}
	free(judged->processes.at);
	free(judged->findings.at);
	sw_map_free(&judged->index);
	if (judged->between)
		sw_merged_free(judged->between);
	*judged = (struct sw_judged){0};
}
