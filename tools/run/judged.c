/* SPDX-License-Identifier: Apache-2.0 */
#include "run/judged.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis.h"
#include "draw.h"
#include "html_file.h"
#include "pack_file.h"
#include "reader/ranks.h"
#include "report/json/report_parts.h"
#include "terminal.h"

/* A stream into memory. */
struct buffer {
	char *text;
	size_t bytes;
	FILE *file;
};

static FILE *buffer_open(struct buffer *buffer)
{
	buffer->file = open_memstream(&buffer->text, &buffer->bytes);
	if (!buffer->file) {
		sw_complain(SW_EXIT_MEMORY, "out of memory");
		exit(SW_EXIT_MEMORY);
	}
	return buffer->file;
}

static char *buffer_close(struct buffer *buffer)
{
	if (fclose(buffer->file)) {
		sw_complain(SW_EXIT_MEMORY, "out of memory");
		exit(SW_EXIT_MEMORY);
	}
	return buffer->text;
}

/* ---- one process ------------------------------------------------------------------------------------------------- */

/* JSON as it will stand `depth` levels deep in the file. */
static char *json_of(struct sw_report *report, int depth, void (*put)(struct sw_json *json, struct sw_report *report))
{
	struct buffer buffer;
	struct sw_json json = {.out = buffer_open(&buffer), .depth = depth, .first = true};
	put(&json, report);
	return buffer_close(&buffer);
}

static void put_whole(struct sw_json *json, struct sw_report *report)
{
	sw_json_open(json, NULL, '{');
	sw_report_json_members(json, report);
	sw_json_close(json, '}');
}

static char *finding_json(struct sw_report *report, size_t index)
{
	struct buffer buffer;
	struct sw_json json = {.out = buffer_open(&buffer), .depth = 2, .first = true};
	sw_report_json_finding(&json, report, index);
	return buffer_close(&buffer);
}

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

/* The index + 1 of the finding that processes share, 0: it is new. */
static uint64_t *slot_of(struct sw_judged *judged, const struct sw_shown_finding *shown)
{
	return sw_map_put(&judged->index,
			  shown->fingerprint ^ ((uint64_t)shown->finding->severity << 1 | (uint64_t)shown->suppressed));
}

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

static char *name_of(const struct sw_reader *reader)
{
	const struct sw_trace_process *process = sw_reader_process(reader);
	const char *slash = process ? strrchr(process->exe, '/') : NULL;
	return sw_strdup(!process ? "a program" : slash ? slash + 1 : process->exe);
}

/* What keeps a report from being a proof, in the order in which it would be fixed. */
void sw_judged_find_gaps(struct sw_session *session, pid_t pid, const struct sw_analysis *analysis)
{
	const struct sw_coverage *coverage = &analysis->judgement->coverage;
	const uint64_t lost = coverage->records_lost > sw_reader_totals(analysis->reader).lost
				      ? coverage->records_lost
				      : sw_reader_totals(analysis->reader).lost;
	const char *damage = sw_reader_damage(analysis->reader, 0);
	if (!sw_reader_process(analysis->reader))
		sw_session_gap(session, pid, sw_strdup("its trace holds no record: it ran unrecorded"));
	if (lost)
		sw_session_gap(session, pid, sw_format("%" PRIu64 " of its records were lost", lost));
	if (damage)
		sw_session_gap(session, pid, sw_format("its trace is damaged: %s", damage));
	if (coverage->forgotten_accesses)
		sw_session_gap(session, pid,
			       sw_format("%" PRIu64 " accesses were forgotten, as too many others overlap them",
					 coverage->forgotten_accesses));
	if (coverage->cut_stacks)
		sw_session_gap(session, pid,
			       sw_format("%" PRIu64 " of its call stacks end too early, as libunwind was not loaded",
					 coverage->cut_stacks));
	if (coverage->uncompared_graphs)
		sw_session_gap(session, pid,
			       sw_format("%" PRIu64 " graphs have too many branches to compare all of them",
					 coverage->uncompared_graphs));
	if (coverage->sticky_error_seq)
		sw_session_gap(
			session, pid,
			sw_format("a CUDA error ended its judgement at call %" PRIu64, coverage->sticky_error_seq));
}

static int64_t rank_of(const struct sw_reader *reader)
{
	struct sw_rank rank;
	return sw_rank_of(sw_reader_environment(reader), &rank) ? (int64_t)rank.rank : -1;
}

static void add_process(struct sw_judged *judged, struct sw_session *session, pid_t pid, const char *trace,
			struct sw_analysis *analysis)
{
	struct sw_report *report = analysis->report;
	struct sw_judged_process *p = sw_vec_push(&judged->processes);
	struct buffer buffer;
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
	sw_report_text_table(report, buffer_open(&buffer), &judged->style);
	p->table = buffer_close(&buffer);
	FILE *rest = buffer_open(&buffer);
	sw_report_text_files(report, rest, &judged->style);
	sw_report_text_rest(report, rest, &judged->style);
	p->rest = buffer_close(&buffer);
	if (judged->json) {
		p->head = json_of(report, 1, sw_report_json_head);
		p->json = json_of(report, 2, put_whole);
		p->groups = json_of(report, 1, sw_report_json_groups);
		p->tail = json_of(report, 1, sw_report_json_tail);
	}
	sw_ci_files_add(judged->files, report);
	sw_last_report_add(judged->last, report, trace);
	sw_judged_find_gaps(session, pid, analysis);
}

/* A process that outlived the run writes its trace to the end. */
static bool is_written(const struct sw_session_trace *trace)
{
	struct pollfd process = {.fd = trace->pidfd, .events = POLLIN};
	return trace->pidfd >= 0 && poll(&process, 1, 0) == 0;
}

static void judge(struct sw_judged *judged, struct sw_session *session, const struct sw_session_trace *trace, bool draw)
{
	struct sw_analysis analysis;
	char *held = sw_format("/proc/self/fd/%d", trace->fd);
	const bool kept = sw_session_in_place(trace);
	char *packed = judged->options->pack && kept && !is_written(trace) ? sw_pack_replace(trace->path) : NULL;
	const char *path = packed ? packed : kept ? trace->path : held;
	int status = sw_analysis_judge_only(&analysis, path, judged->options, judged->options->all);
	if (analysis.report)
		add_process(judged, session, trace->pid, kept ? path : trace->path, &analysis);
	if (status || !analysis.report)
		sw_session_gap(session, trace->pid, sw_strdup("its trace could not be judged to its end"));
	if (!kept)
		sw_complain(status, "%s was removed or replaced while the program ran: judged, and not kept",
			    trace->path);
	if (!status && draw)
		status = sw_html_file(path, judged->options, analysis.report);
	if (!status && draw)
		status = sw_draw(path, judged->options, analysis.judgement);
	if (status && !judged->status)
		judged->status = status;
	sw_analysis_free(&analysis);
	free(held);
	free(packed);
}

/* Of the program itself; one that execs another leaves several, the last of which did the work. */
static size_t main_trace(const struct sw_session *session)
{
	size_t best = 0;
	for (size_t i = 0; i < session->traces.n; i++)
		if (session->traces.at[i].pid == session->main)
			best = i;
	return best;
}

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
				     .style = sw_terminal_style(STDERR_FILENO, options)};
	begin_files(judged);
	if (session->traces.n)
		judge(judged, session, &session->traces.at[first], true);
	for (size_t i = 0; i < session->traces.n; i++)
		if (i != first)
			judge(judged, session, &session->traces.at[i], false);
}

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
	*judged = (struct sw_judged){
		.options = options, .out = stdout, .json = true, .style = sw_terminal_style(STDOUT_FILENO, options)};
	begin_files(judged);
	for (size_t i = 0; i < n; i++) {
		struct sw_session_trace trace;
		int status = open_trace(&trace, paths[i]);
		if (!status)
			judge(judged, session, &trace, false);
		else if (!judged->status)
			judged->status = status;
		if (trace.fd >= 0)
			close(trace.fd);
		free(trace.path);
	}
}

int sw_judged_files(struct sw_judged *judged)
{
	int status = sw_ci_files_close(judged->files, judged->out);
	judged->files = NULL;
	sw_last_report_end(judged->last);
	judged->last = NULL;
	return judged->no_files ? judged->no_files : status;
}

void sw_judged_free(struct sw_judged *judged)
{
	for (size_t i = 0; i < judged->processes.n; i++) {
		struct sw_judged_process *p = &judged->processes.at[i];
		char *texts[] = {p->name, p->trace, p->table, p->rest, p->json, p->head, p->groups, p->tail};
		for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
			free(texts[k]);
	}
	for (size_t i = 0; i < judged->findings.n; i++) {
		free(judged->findings.at[i].text);
		free(judged->findings.at[i].json);
		free(judged->findings.at[i].in.at);
	}
	free(judged->processes.at);
	free(judged->findings.at);
	sw_map_free(&judged->index);
	*judged = (struct sw_judged){0};
}
