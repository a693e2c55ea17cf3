/* SPDX-License-Identifier: Apache-2.0 */
/* The report over all processes of a run, as text and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "output.h"
#include "report/json/json_out.h"
#include "report/json/report_parts.h"
#include "run/judged.h"
#include "run/nothing_seen.h"
#include "terminal.h"

#define WHOLE_PARTS 8 /* processes whose coverage is printed in full; the others get a line each */
#define NAMED_MANY  8 /* processes that a finding names */

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Names a process, by its rank where it has one. */
static void put_name(FILE *out, const struct sw_judged_process *p)
{
	sw_put_plain(out, p->name);
	if (p->rank >= 0)
		fprintf(out, " (rank %d, process %d)", (int)p->rank, (int)p->pid);
	else
		fprintf(out, " (process %d)", (int)p->pid);
}

/* Says in which processes a finding is: the first few by name. */
static void put_where(FILE *out, const struct sw_judged *judged, const struct sw_judged_finding *finding)
{
	fputs("In ", out);
	for (size_t i = 0; i < finding->in.n && i < NAMED_MANY; i++) {
		if (i)
			fputs(", ", out);
		put_name(out, &judged->processes.at[finding->in.at[i]]);
	}
	if (finding->in.n > NAMED_MANY)
		fprintf(out, " and %zu more", finding->in.n - NAMED_MANY);
	fprintf(out, ": %zu of %zu processes\n", finding->in.n, judged->processes.n);
}

/* Prints the findings over all processes, each once, and how many are left out. */
static void put_findings(FILE *out, const struct sw_judged *judged)
{
	const size_t limit = judged->options->all ? 0 : judged->style.limit;
	size_t printed = 0, left = 0;
	/* Tables of several processes would name several times what the processes share. */
	if (judged->processes.n == 1)
		fputs(judged->processes.at[0].table, out);
	for (size_t i = 0; i < judged->findings.n; i++) {
		const struct sw_judged_finding *finding = &judged->findings.at[i];
		if (!finding->text)
			continue;
		if (limit && printed >= limit) {
			left++;
			continue;
		}
		printed++;
		if (judged->processes.n > 1)
			put_where(out, judged, finding);
		fputs(finding->text, out);
	}
	if (left)
		fprintf(out, "%zu more %s not printed in full: --limit %zu prints %s\n\n", left,
			sw_plural(left, "cause is", "causes are"), printed + left, sw_plural(left, "it", "them"));
}

/* Prints the line that says where the trace is. */
static void put_trace(FILE *out, const struct sw_judged_process *p)
{
	fprintf(out, "  %-15s", "trace:");
	sw_put_plain(out, p->trace);
	putc('\n', out);
}

/* Prints the part of one process; of those after the first few a line.  `complete`: all of the run was seen, so that no
   finding means that there is none. */
static void put_process(FILE *out, const struct sw_judged *judged, size_t index, bool complete, bool quiet)
{
	const struct sw_judged_process *p = &judged->processes.at[index];
	if (judged->processes.n > 1) {
		fputs("---- ", out);
		put_name(out, p);
		if (index >= WHOLE_PARTS) {
			fputs(": ", out);
			sw_report_put_counts(out, p->totals.errors, p->totals.warnings, p->totals.notes);
			fputs("; trace: ", out);
			sw_put_plain(out, p->trace);
			putc('\n', out);
			return;
		}
		putc('\n', out);
	}
	if (!quiet)
		fputs(p->notes, out);
	fputs(p->headline[!complete	  ? SW_HEADLINE_INCOMPLETE
			  : p->in_between ? SW_HEADLINE_COUNTS
					  : SW_HEADLINE_COMPLETE],
	      out);
	if (quiet)
		return;
	fputs(p->rest, out);
	put_trace(out, p);
}

/* Prints one gap, with its process where it is of one. */
static void put_gap(FILE *out, const struct sw_session_gap *gap)
{
	fputs("  ", out);
	if (gap->pid > 0)
		fprintf(out, "process %d: ", (int)gap->pid);
	sw_put_plain(out, gap->text);
	putc('\n', out);
}

void sw_judged_put_gaps(FILE *out, const struct sw_session *session)
{
	if (session->gaps.n)
		fputs("syncwatch: not all of this run was watched or judged, so it may hold more:\n", out);
	for (size_t i = 0; i < session->gaps.n; i++)
		put_gap(out, &session->gaps.at[i]);
	if (session->known.n)
		fprintf(out,
			"syncwatch: %zu program%s ran without the recorder, which cannot load the CUDA driver (static, "
			"or not 64-bit)\n",
			session->known.n, sw_plural(session->known.n, "", "s"));
}

/* Prints the whole report.  `quiet`: without findings. */
static void print_to(FILE *out, const struct sw_judged *judged, const struct sw_session *session, bool quiet)
{
	if (!quiet)
		put_findings(out, judged);
	if (judged->between && !quiet)
		sw_merged_between_text(judged->between, out);
	for (size_t i = 0; i < judged->processes.n; i++)
		put_process(out, judged, i, !session->gaps.n, quiet);
	if (judged->processes.n > 1) {
		fprintf(out, "syncwatch: in all %zu processes that used CUDA: ", judged->processes.n);
		sw_report_put_counts(out, judged->totals.errors, judged->totals.warnings, judged->totals.notes);
		putc('\n', out);
	}
	if (!judged->processes.n && session->main && !session->traces.n && !session->gaps.n)
		fprintf(out, "syncwatch: no CUDA call was seen, so there is nothing to judge: %s\n",
			sw_nothing_seen(judged->options->sim));
	sw_judged_put_gaps(out, session);
}

void sw_judged_print(const struct sw_judged *judged, const struct sw_session *session)
{
	print_to(judged->out, judged, session, judged->options->quiet);
}

/* Prints text without the colours and links of a terminal: ESC [ ... letter, ESC ] ... ESC \\. */
static void put_without_escapes(FILE *out, const char *text)
{
	while (*text) {
		if (text[0] != '\033' || !text[1]) {
			putc(*text++, out);
			continue;
		}
		const bool link = text[1] == ']';
		text += 2;
		while (*text && (link ? *text != '\033' : (*text < 'A' || *text > 'z')))
			text++;
		text += link && *text && text[1] ? 2 : *text ? 1 : 0;
	}
}

int sw_judged_text(const struct sw_judged *judged, const struct sw_session *session)
{
	struct sw_output output;
	struct sw_error error;
	char *text = NULL;
	size_t bytes = 0;
	if (!judged->options->text)
		return SW_EXIT_OK;
	if (sw_output_open(&output, judged->options->text, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	FILE *memory = open_memstream(&text, &bytes);
	if (memory) {
		print_to(memory, judged, session, false);
		fclose(memory);
		put_without_escapes(output.file, text);
	}
	free(text);
	return sw_output_close(&output, &error) ? sw_complain(SW_EXIT_OUTPUT, "%s", error.text) : SW_EXIT_OK;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* Puts members that are JSON already in their place, with a comma before them where one is needed. */
static void put_raw(struct sw_json *json, const char *members)
{
	if (!json->first)
		putc(',', json->out);
	fputs(members, json->out);
	json->first = false;
}

/* Writes the findings over all processes, each with the numbers of the processes that have it. */
static void put_json_findings(struct sw_json *json, const struct sw_judged *judged)
{
	sw_json_open(json, "findings", '[');
	for (size_t i = 0; i < judged->findings.n; i++) {
		const struct sw_judged_finding *finding = &judged->findings.at[i];
		put_raw(json, finding->json);
		json->depth++;
		sw_json_open(json, "processes", '[');
		for (size_t k = 0; k < finding->in.n; k++)
			sw_json_number(json, NULL, (uint64_t)judged->processes.at[finding->in.at[k]].pid);
		sw_json_close(json, ']');
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

/* Writes the sums over several processes: a finding that they share counts once, and none of their schedules is that of
   the run. */
static void put_sums(struct sw_json *json, const struct sw_judged *judged)
{
	uint64_t wait_ns = 0, folded_ns = 0, folded = 0;
	struct sw_host_wait host_waits[SW_HOST_WAITS] = {0};
	for (size_t i = 0; i < judged->processes.n; i++) {
		const struct sw_judged_process *p = &judged->processes.at[i];
		wait_ns += p->host_wait_ns;
		folded_ns += p->folded_wait_ns;
		folded += p->folded_waits;
		for (size_t k = 0; k < SW_HOST_WAITS; k++) {
			host_waits[k].calls += p->host_waits[k].calls;
			host_waits[k].ns += p->host_waits[k].ns;
		}
	}
	sw_json_number(json, "errors", judged->totals.errors);
	sw_json_number(json, "warnings", judged->totals.warnings);
	sw_json_number(json, "notes", judged->totals.notes);
	sw_json_number(json, "suppressed", judged->totals.suppressed);
	if (judged->totals.known)
		sw_json_number(json, "known", judged->totals.known);
	sw_json_number(json, "hidden", judged->totals.hidden);
	sw_json_ms(json, "host_wait_ms", wait_ns);
	sw_report_json_host_waits(json, host_waits);
	sw_json_text(json, "replay", NULL);
	sw_json_number(json, "folded_waits", folded);
	sw_json_ms(json, "folded_wait_ms", folded_ns);
}

/* Writes the summary: counts, and whether all of the run was seen. */
static void put_json_summary(struct sw_json *json, const struct sw_judged *judged, const struct sw_session *session)
{
	sw_json_open(json, "summary", '{');
	if (judged->processes.n == 1)
		put_raw(json, judged->processes.at[0].summary);
	else
		put_sums(json, judged);
	sw_json_bool(json, "complete", session->gaps.n == 0);
	sw_json_open(json, "gaps", '[');
	for (size_t i = 0; i < session->gaps.n; i++)
		sw_json_text(json, NULL, session->gaps.at[i].text);
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* Writes gaps as an array of objects. */
static void put_json_gaps(struct sw_json *json, const char *key, const struct sw_session_gap *gaps, size_t n)
{
	sw_json_open(json, key, '[');
	for (size_t i = 0; i < n; i++) {
		sw_json_open(json, NULL, '{');
		sw_json_number(json, "pid", gaps[i].pid > 0 ? (uint64_t)gaps[i].pid : 0);
		sw_json_text(json, "text", gaps[i].text);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

/* Writes a coverage of zeros, so that readers find all members that the schema requires. */
static void put_no_coverage(struct sw_json *json)
{
	static const char *const zeros[] = {"driver_calls", "runtime_calls", "launches",	   "copies",
					    "sets",	    "syncs",	     "unclassified_calls", "records_lost"};
	sw_json_open(json, "coverage", '{');
	for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++)
		sw_json_number(json, zeros[i], 0);
	sw_json_open(json, "runtimes", '[');
	sw_json_close(json, ']');
	sw_json_open(json, "kernels_by_evidence", '{');
	for (int i = 0; i <= SW_EV_EXACT; i++)
		sw_json_number(json, sw_name_evidence((enum sw_evidence)i), 0);
	sw_json_close(json, '}');
	sw_json_close(json, '}');
}

/* Writes the head of a report where no process used CUDA: it says so of the program, where an older file would be taken
   for this run's. */
static void put_no_cuda(struct sw_json *json, const struct sw_judged *judged, const struct sw_session *session)
{
	sw_json_text(json, "schema", "syncwatch-report/1");
	sw_json_open(json, "program", '{');
	sw_json_text(json, "path", judged->options->operands[0]);
	sw_json_open(json, "arguments", '[');
	for (int i = 0; i < judged->options->n_operands; i++)
		sw_json_text(json, NULL, judged->options->operands[i]);
	sw_json_close(json, ']');
	sw_json_text(json, "directory", "");
	sw_json_number(json, "pid", (uint64_t)session->main);
	sw_json_text(json, "trace", "");
	sw_json_bool(json, "ended_in_order", true);
	sw_json_bool(json, "simulated", judged->options->sim);
	sw_json_ms(json, "span_ms", 0);
	sw_json_number(json, "cuda_driver_version", 0);
	sw_json_close(json, '}');
	static const char *const lists[] = {"devices", "in_flight", "unused_suppressions"};
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		sw_json_open(json, lists[i], '[');
		sw_json_close(json, ']');
	}
	put_no_coverage(json);
}

/* Writes the whole report.  Its head is that of the first process, which is the program itself. */
static void put_json(struct sw_json *json, const struct sw_judged *judged, const struct sw_session *session)
{
	const struct sw_judged_process *first = judged->processes.n ? &judged->processes.at[0] : NULL;
	sw_json_open(json, NULL, '{');
	if (first)
		put_raw(json, first->head);
	else
		put_no_cuda(json, judged, session);
	put_json_findings(json, judged);
	/* Groups of one process only: those of several are in `processes`. */
	if (judged->processes.n == 1)
		put_raw(json, first->groups);
	put_json_summary(json, judged, session);
	if (first)
		put_raw(json, first->tail);
	if (judged->between)
		sw_merged_between_json(json, judged->between, true);
	sw_json_open(json, "processes", '[');
	for (size_t i = 0; i < judged->processes.n; i++)
		put_raw(json, judged->processes.at[i].json);
	sw_json_close(json, ']');
	sw_json_open(json, "run", '{');
	sw_json_number(json, "processes", judged->processes.n);
	sw_json_bool(json, "complete", session->gaps.n == 0);
	put_json_gaps(json, "gaps", session->gaps.at, session->gaps.n);
	put_json_gaps(json, "without_recorder", session->known.at, session->known.n);
	sw_json_close(json, '}');
	sw_json_close(json, '}');
}

void sw_judged_json_to(const struct sw_judged *judged, const struct sw_session *session, FILE *out)
{
	struct sw_json json = {.out = out};
	put_json(&json, judged, session);
}

int sw_judged_json(const struct sw_judged *judged, const struct sw_session *session)
{
	struct sw_output output;
	struct sw_error error;
	if (!judged->options->json)
		return SW_EXIT_OK;
	if (sw_output_open(&output, judged->options->json, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	sw_judged_json_to(judged, session, output.file);
	if (sw_output_close(&output, &error))
		return sw_complain(SW_EXIT_OUTPUT, "%s", error.text);
	return SW_EXIT_OK;
}
