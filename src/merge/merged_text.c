/* SPDX-License-Identifier: Apache-2.0 */
/* The merged report for people: findings, a line for each process, what is missing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "merge/merged.h"
#include "report/report.h"
#include "report/text/text_out.h"

#define NAMED_MANY 8  /* processes or runs of ranks that a finding names */
#define CELL	   16 /* columns of a name */
#define ROWS	   16 /* processes in the table; of more ranks, those with findings or gaps first */

/* Names a process by its rank or, without one, by program, number and host. */
void sw_merged_name(FILE *out, const struct sw_merged_rank *rank)
{
	if (rank->ranked) {
		fprintf(out, "rank %u", rank->rank);
		if (rank->restart)
			fprintf(out, " (restart %u)", rank->restart);
		return;
	}
	const struct sw_out plain = {.file = out};
	sw_out_text(&plain, *rank->program ? rank->program : "a program");
	fprintf(out, " (process %u%s", rank->pid, *rank->host ? " on " : "");
	sw_out_text(&plain, rank->host);
	putc(')', out);
}

/* Writes the processes of a finding, in their order: "rank 0 to 3, 7". */
static void put_in(FILE *out, const struct sw_merged_finding *finding)
{
	size_t named = 0, i = 0;
	for (; i < finding->in.n && named < NAMED_MANY; named++) {
		const struct sw_merged_rank *first = finding->in.at[i], *last = first;
		size_t next = i + 1;
		while (next < finding->in.n && last->ranked && finding->in.at[next]->ranked &&
		       finding->in.at[next]->rank <= last->rank + 1)
			last = finding->in.at[next++];
		fputs(named ? ", " : "", out);
		if (last->rank > first->rank && first->ranked)
			fprintf(out, "ranks %u to %u", first->rank, last->rank);
		else
			sw_merged_name(out, first);
		i = next;
	}
	if (i < finding->in.n)
		fprintf(out, " and %zu more", finding->in.n - i);
}

/* Prints each finding under a line that says which processes have it, up to the limit of the style. */
static void put_findings(const struct sw_merged *merged, FILE *out, const struct sw_text_style *style)
{
	size_t printed = 0, left = 0;
	for (size_t i = 0; i < merged->findings.n; i++) {
		const struct sw_merged_finding *finding = merged->findings.at[i];
		if (!finding->text)
			continue;
		if (style->limit && printed >= style->limit) {
			left++;
			continue;
		}
		printed++;
		fputs("In ", out);
		put_in(out, finding);
		fprintf(out, ": %zu of %zu %s\n", finding->in.n, merged->ranks.n,
			sw_plural(merged->ranks.n, "process", "processes"));
		fputs(finding->text, out);
	}
	if (left)
		fprintf(out, "%zu more %s not printed: --limit %zu prints %s\n\n", left,
			sw_plural(left, "cause is", "causes are"), printed + left, sw_plural(left, "it", "them"));
}

/* Prints a name, which comes from a trace: nothing in it that a terminal obeys is passed on. */
static void put_plain(FILE *out, const char *text)
{
	sw_out_text(&(struct sw_out){.file = out}, text);
}

/* Prints one column of the table, cut to its width; "?" where the name is not known. */
static void put_cell(FILE *out, const char *text)
{
	sw_out_cell(&(struct sw_out){.file = out}, *text ? text : "?", CELL, true);
	putc(' ', out);
}

/* Prints the findings between processes.  Titles may have names of the traces in them, so control characters are left
   out. */
void sw_merged_between_text(const struct sw_merged *merged, FILE *out)
{
	static const char *const severities[] = {[SW_NOTE] = "note", [SW_WARNING] = "warning", [SW_ERROR] = "error"};
	for (size_t i = 0; i < merged->between.n; i++) {
		const struct sw_between *b = merged->between.at[i];
		const char *kind = sw_between_info(b->number)->kind;
		fprintf(out, "%s: SW%03d %s (%s): ", severities[b->severity], b->number, kind, b->confidence);
		put_plain(out, b->title);
		putc('\n', out);
		fputs(b->text, out);
		putc('\n', out);
	}
}

/* Prints of which processes windows were recorded only: what they do outside was not judged, as was asked for. */
static void put_windows(const struct sw_merged *merged, FILE *out)
{
	size_t processes = 0;
	uint64_t calls = 0;
	for (size_t i = 0; i < merged->ranks.n; i++) {
		processes += merged->ranks.at[i]->left_out > 0;
		calls += merged->ranks.at[i]->left_out;
	}
	if (processes)
		fprintf(out, "syncwatch: windows of %zu %s were recorded: %" PRIu64 " %s outside and left out\n",
			processes, sw_plural(processes, "process", "processes"), calls,
			sw_plural(calls, "call was", "calls were"));
}

/* Prints how far each machine's clock is from the first one's, if there are several machines. */
static void put_clocks(const struct sw_merged *merged, FILE *out)
{
	for (size_t i = 1; i < merged->clocks.n; i++) {
		const struct sw_merged_clock *c = &merged->clocks.at[i];
		fputs("  clock of ", out);
		put_plain(out, c->host);
		if (c->error_ns == UINT64_MAX)
			fputs(": no collective bounds it, so its times are compared with those of no other machine\n",
			      out);
		else
			fprintf(out,
				": %+.6f s from that of the first rank's machine, known to %.1f us by %" PRIu64 " %s\n",
				(double)-c->offset_ns / 1e9, (double)c->error_ns / 1e3, c->collectives,
				sw_plural(c->collectives, "collective", "collectives"));
	}
}

/* Prints one process of the table. */
static void put_row(FILE *out, const struct sw_merged_rank *r)
{
	char rank[16] = "-", wait[24];
	if (r->ranked)
		snprintf(rank, sizeof rank, "%u", r->rank);
	snprintf(wait, sizeof wait, "%.1f", (double)r->host_wait_ns / 1e6);
	fprintf(out, "  %-6s ", rank);
	put_cell(out, r->host);
	put_cell(out, r->program);
	fprintf(out, "%8u %7u %9u %6u %12.1f %12s  ", r->pid, r->errors, r->warnings, r->notes,
		(double)r->span_ns / 1e6, wait);
	put_plain(out, r->trace);
	putc('\n', out);
}

/* Is there nothing to look at: no errors, no warnings, no gaps? */
static bool is_plain(const struct sw_merged_rank *r)
{
	return !r->errors && !r->warnings && !r->gaps.n;
}

/* Prints the processes.  Those with something to look at come first; what does not fit is a line with its count. */
static void put_table(const struct sw_merged *merged, FILE *out)
{
	size_t rows = 0, left = 0;
	fprintf(out, "  %-6s %-16s %-16s %8s %7s %9s %6s %12s %12s  %s\n", "rank", "machine", "program", "process",
		"errors", "warnings", "notes", "span ms", "waited ms", "trace");
	for (int plain = 0; plain < 2; plain++)
		for (size_t i = 0; i < merged->ranks.n; i++) {
			const struct sw_merged_rank *r = merged->ranks.at[i];
			if (is_plain(r) != plain)
				continue;
			if (rows++ < ROWS)
				put_row(out, r);
			else
				left++;
		}
	if (left)
		fprintf(out, "  ... and %zu more %s: --json has all of them\n", left,
			sw_plural(left, "process", "processes"));
}

/* Prints the report: findings, then the processes, then what is missing, and the counts as the last line. */
void sw_merged_text(const struct sw_merged *merged, FILE *out, const struct sw_text_style *style)
{
	if (!style->quiet) {
		put_findings(merged, out, style);
		sw_merged_between_text(merged, out);
		put_table(merged, out);
		put_clocks(merged, out);
	}
	put_windows(merged, out);
	if (merged->gaps.n)
		fputs("syncwatch: not everything was merged, so there may be more:\n", out);
	for (size_t i = 0; i < merged->gaps.n; i++) {
		fputs("  ", out);
		put_plain(out, merged->gaps.at[i]);
		putc('\n', out);
	}
	fprintf(out, "syncwatch: in %s%zu %s", sw_plural(merged->ranks.n, "", "all "), merged->ranks.n,
		sw_plural(merged->ranks.n, "process", "processes"));
	if (merged->expected)
		fprintf(out, " (%u of %u %s)", merged->present, merged->expected,
			sw_plural(merged->expected, "rank", "ranks"));
	fputs(": ", out);
	sw_report_put_counts(out, merged->errors, merged->warnings, merged->notes);
	putc('\n', out);
}
