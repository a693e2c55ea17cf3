/* SPDX-License-Identifier: Apache-2.0 */
#include "run/top.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/counted.h"
#include "report/json/json_out.h"
#include "report/json/report_parts.h"
#include "report/symbols/stack.h"
#include "terminal.h"

#define MOST_SITES 10u

static const char *const host_waits[] = {
#define SW_HOST_WAIT(name, kind, several) [SW_HOST_WAIT_##name] = kind,
#include "detect/host_waits.def"
};

/* A wait by its place: a finding so far whose calls have a cost. */
struct site {
	const struct sw_finding *finding;
	const char *api, *place;
};

/* Orders the costliest first. */
static int by_cost(const void *a, const void *b)
{
	const struct site *x = a, *y = b;
	return x->finding->cost->total_ns < y->finding->cost->total_ns ? 1 : -1;
}

/* The waits with a cost, costliest first; free them with free(). */
static struct site *sites_of(const struct sw_top_process *p, size_t *n)
{
	const struct sw_judgement *j = p->so_far;
	struct site *sites = sw_calloc(j->findings.n + 1, sizeof *sites);
	*n = 0;
	for (size_t i = 0; i < j->findings.n; i++)
		if (j->findings.at[i].count && j->findings.at[i].cost->total_ns)
			sites[(*n)++] = (struct site){.finding = &j->findings.at[i], .api = "", .place = ""};
	qsort(sites, *n, sizeof *sites, by_cost);
	*n = *n < MOST_SITES ? *n : MOST_SITES;
	for (size_t i = 0; p->report && i < *n; i++) {
		const struct sw_access *call = sites[i].finding->access[0];
		sites[i].api = sw_name_api(&p->report->names, call->api, call->flags, call->stack);
		sites[i].place = sw_place_brief(&p->report->names, sw_place_of(&p->report->names, call, NULL));
	}
	return sites;
}

/* Counts the hazards so far that the report will call errors and warnings; waits are judged by the whole run. */
static void count_hazards(const struct sw_judgement *j, uint64_t *errors, uint64_t *warnings)
{
	*errors = *warnings = 0;
	for (size_t i = 0; i < j->findings.n; i++) {
		const struct sw_finding *f = &j->findings.at[i];
		if (!f->count || f->confidence == SW_POSSIBLE)
			continue;
		*errors += f->severity == SW_ERROR;
		*warnings += f->severity == SW_WARNING;
	}
}

/* ---- text ---------------------------------------------------------------------------------------------------------
 */

/* Prints one process as text: its counts, then the costliest waits and their places. */
static void put_process_text(FILE *out, const struct sw_top_process *p)
{
	const struct sw_coverage *c = &p->so_far->coverage;
	const size_t streams = p->so_far->streams.n ? p->so_far->streams.n - 1 : 0;
	uint64_t errors, warnings;
	size_t n;
	struct site *sites = sites_of(p, &n);
	count_hazards(p->so_far, &errors, &warnings);
	fprintf(out, "process %d ", (int)p->pid);
	sw_put_plain(out, p->program);
	fprintf(out, "%s  %.1f s  %" PRIu64 " %s, %" PRIu64 " %s%s\n", p->over ? " (ended)" : "",
		(double)p->seconds_ns / 1e9, errors, sw_plural(errors, "error", "errors"), warnings,
		sw_plural(warnings, "warning", "warnings"), p->over ? "" : " so far");
	fputs("  ", out);
	if (!p->over)
		fprintf(out, "%.0f calls/s, %.0f launches/s; ", p->calls_s, p->launches_s);
	fprintf(out, "%" PRIu64 " %s, %" PRIu64 " %s, %" PRIu64 " %s, %" PRIu64 " %s, %zu %s\n", c->driver_calls,
		sw_plural(c->driver_calls, "call", "calls"), c->launches, sw_plural(c->launches, "launch", "launches"),
		c->copies, sw_plural(c->copies, "copy", "copies"), c->syncs,
		sw_plural(c->syncs, "synchronisation", "synchronisations"), streams,
		sw_plural(streams, "stream", "streams"));
	for (size_t i = 0; i < SW_HOST_WAITS; i++)
		if (p->so_far->host_waits[i].calls)
			fprintf(out, "  host blocked by %-18s %10.1f ms in %" PRIu64 " %s\n", host_waits[i],
				(double)p->so_far->host_waits[i].ns / 1e6, p->so_far->host_waits[i].calls,
				sw_plural(p->so_far->host_waits[i].calls, "call", "calls"));
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "  SW%03d %10.1f ms %8" PRIu64 " %s", sites[i].finding->id,
			(double)sites[i].finding->cost->total_ns / 1e6, sites[i].finding->cost->calls,
			sw_plural(sites[i].finding->cost->calls, "call   ", "calls  "));
		sw_put_plain(out, sites[i].api);
		fputs(*sites[i].place ? "  " : "", out);
		sw_put_plain(out, sites[i].place);
		fputc('\n', out);
	}
	free(sites);
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------
 */

/* Writes the counts of a process as members. */
static void put_counts_json(struct sw_json *json, const struct sw_top_process *p)
{
	const struct sw_coverage *c = &p->so_far->coverage;
	uint64_t errors, warnings;
	count_hazards(p->so_far, &errors, &warnings);
	sw_json_number(json, "pid", (uint64_t)p->pid);
	sw_json_text(json, "program", p->program);
	sw_json_bool(json, "ended", p->over);
	sw_json_ms(json, "ms", p->seconds_ns);
	sw_json_number(json, "calls", c->driver_calls);
	sw_json_number(json, "calls_per_second", (uint64_t)p->calls_s);
	sw_json_number(json, "launches", c->launches);
	sw_json_number(json, "launches_per_second", (uint64_t)p->launches_s);
	sw_json_number(json, "copies", c->copies);
	sw_json_number(json, "sets", c->sets);
	sw_json_number(json, "syncs", c->syncs);
	sw_json_number(json, "streams", p->so_far->streams.n ? p->so_far->streams.n - 1 : 0);
	sw_json_number(json, "errors", errors);
	sw_json_number(json, "warnings", warnings);
	sw_json_number(json, "records_lost", c->records_lost);
	sw_json_number(json, "in_flight", p->follow.in_flight);
	sw_json_ms(json, "longest_held_ms", p->follow.held_ns);
	sw_report_json_host_waits(json, p->so_far->host_waits);
}

/* Writes one process as an object, with its costliest waits. */
static void put_process_json(struct sw_json *json, const struct sw_top_process *p)
{
	size_t n;
	struct site *sites = sites_of(p, &n);
	sw_json_open(json, NULL, '{');
	put_counts_json(json, p);
	sw_json_open(json, "waits", '[');
	for (size_t i = 0; i < n; i++) {
		char id[16];
		snprintf(id, sizeof id, "SW%03d", sites[i].finding->id);
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "id", id);
		sw_json_text(json, "api", sites[i].api);
		sw_json_text(json, "place", sites[i].place);
		sw_json_number(json, "calls", sites[i].finding->cost->calls);
		sw_json_ms(json, "ms", sites[i].finding->cost->total_ns);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_close(json, '}');
	free(sites);
}

/* Writes all processes as one document. */
static void put_json(FILE *out, const struct sw_top_process *processes, size_t n)
{
	struct sw_json json = {.out = out};
	sw_json_open(&json, NULL, '{');
	sw_json_text(&json, "schema", "syncwatch-top/1");
	sw_json_open(&json, "processes", '[');
	for (size_t i = 0; i < n; i++)
		put_process_json(&json, &processes[i]);
	sw_json_close(&json, ']');
	sw_json_close(&json, '}');
}

/* ---- Prometheus (text format 0.0.4) -------------------------------------------------------------------------------
 */

struct metric {
	const char *name, *type, *help;
	uint64_t (*value)(const struct sw_top_process *p);
};

#define METRIC(what, expression)                                                                                       \
	static uint64_t what(const struct sw_top_process *p)                                                           \
	{                                                                                                              \
		return expression;                                                                                     \
	}
METRIC(calls, p->so_far->coverage.driver_calls)
METRIC(launches, p->so_far->coverage.launches)
METRIC(copies, p->so_far->coverage.copies)
METRIC(syncs, p->so_far->coverage.syncs)
METRIC(streams, p->so_far->streams.n ? p->so_far->streams.n - 1 : 0)
METRIC(in_flight, p->follow.in_flight)
#undef METRIC

/* For the metrics: hazards so far that are errors. */
static uint64_t errors_of(const struct sw_top_process *p)
{
	uint64_t errors, warnings;
	count_hazards(p->so_far, &errors, &warnings);
	return errors;
}

/* For the metrics: hazards so far that are warnings. */
static uint64_t warnings_of(const struct sw_top_process *p)
{
	uint64_t errors, warnings;
	count_hazards(p->so_far, &errors, &warnings);
	return warnings;
}

static const struct metric metrics[] = {
	{"calls_total", "counter", "Driver calls judged.", calls},
	{"launches_total", "counter", "Kernel launches judged.", launches},
	{"copies_total", "counter", "Copies judged.", copies},
	{"synchronisations_total", "counter", "Synchronisations judged.", syncs},
	{"errors", "gauge", "Findings so far that are errors.", errors_of},
	{"warnings", "gauge", "Findings so far that are warnings.", warnings_of},
	{"streams", "gauge", "Streams seen.", streams},
	{"in_flight_calls_total", "counter", "Calls judged before they returned.", in_flight},
};

/* Writes the labels of a process up to their last quote; characters that would end a label become '_'. */
static void put_labels(FILE *out, const struct sw_top_process *p)
{
	fprintf(out, "{pid=\"%d\",program=\"", (int)p->pid);
	for (const char *c = p->program; *c; c++)
		fputc((unsigned char)*c < ' ' || *c == '"' || *c == '\\' || *c == 127 ? '_' : *c, out);
	fputc('"', out);
}

/* Writes all processes in Prometheus' text format, one metric after the other as it requires. */
static void put_prometheus(FILE *out, const struct sw_top_process *processes, size_t n)
{
	for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++) {
		fprintf(out, "# HELP syncwatch_%s %s\n# TYPE syncwatch_%s %s\n", metrics[m].name, metrics[m].help,
			metrics[m].name, metrics[m].type);
		for (size_t i = 0; i < n; i++) {
			fprintf(out, "syncwatch_%s", metrics[m].name);
			put_labels(out, &processes[i]);
			fprintf(out, "} %" PRIu64 "\n", metrics[m].value(&processes[i]));
		}
	}
	fputs("# HELP syncwatch_host_blocked_seconds_total Host time in calls that waited, by what they were.\n"
	      "# TYPE syncwatch_host_blocked_seconds_total counter\n",
	      out);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < SW_HOST_WAITS; k++) {
			if (!processes[i].so_far->host_waits[k].calls)
				continue;
			fputs("syncwatch_host_blocked_seconds_total", out);
			put_labels(out, &processes[i]);
			fprintf(out, ",by=\"%s\"} %.6f\n", host_waits[k],
				(double)processes[i].so_far->host_waits[k].ns / 1e9);
		}
}

void sw_top_print(FILE *out, enum sw_top_format format, const struct sw_top_process *processes, size_t n)
{
	if (format == SW_TOP_JSON)
		put_json(out, processes, n);
	else if (format == SW_TOP_PROMETHEUS)
		put_prometheus(out, processes, n);
	else
		for (size_t i = 0; i < n; i++)
			put_process_text(out, &processes[i]);
}

/* ---- the board ----------------------------------------------------------------------------------------------------
 */

#define TEXT_MOST 65536u
#define TRIES	  100

struct sw_top_board {
	_Atomic bool asked, named; /* somebody looks; places are named since then */
	struct {
		_Atomic uint32_t version; /* odd: it is being written */
		char text[TEXT_MOST];
	} page[SW_TOP_FORMATS];
};

struct sw_top_board *sw_top_board_new(void)
{
	void *board =
		mmap(NULL, sizeof(struct sw_top_board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return board == MAP_FAILED ? NULL : board;
}

/* Puts a text on the board; of one that is too long whole lines, and no JSON at all. */
void sw_top_board_write(struct sw_top_board *board, enum sw_top_format format, const char *text)
{
	size_t bytes = strlen(text);
	if (bytes >= TEXT_MOST && format == SW_TOP_JSON)
		return;
	if (bytes >= TEXT_MOST)
		for (bytes = TEXT_MOST - 1; bytes && text[bytes - 1] != '\n'; bytes--)
			continue;
	const uint32_t version = atomic_load_explicit(&board->page[format].version, memory_order_relaxed);
	atomic_store_explicit(&board->page[format].version, version + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release); /* no byte of the text is seen before the odd number */
	memcpy(board->page[format].text, text, bytes);
	board->page[format].text[bytes] = 0;
	atomic_store_explicit(&board->page[format].version, version + 2, memory_order_release);
}

bool sw_top_board_read(const struct sw_top_board *board, enum sw_top_format format, FILE *out)
{
	char *copy = sw_alloc(TEXT_MOST);
	bool whole = false;
	for (int i = 0; i < TRIES && atomic_load_explicit(&board->named, memory_order_acquire) && !whole; i++) {
		const uint32_t version = atomic_load_explicit(&board->page[format].version, memory_order_acquire);
		if (!version || version & 1)
			continue;
		memcpy(copy, board->page[format].text, TEXT_MOST);
		atomic_thread_fence(memory_order_acquire); /* the text was read before the number is, again */
		whole = atomic_load_explicit(&board->page[format].version, memory_order_relaxed) == version;
	}
	copy[TEXT_MOST - 1] = 0;
	if (whole)
		fputs(copy, out);
	free(copy);
	return whole;
}

void sw_top_board_named(struct sw_top_board *board)
{
	atomic_store_explicit(&board->named, true, memory_order_release);
}

void sw_top_board_ask(struct sw_top_board *board)
{
	atomic_store_explicit(&board->asked, true, memory_order_relaxed);
}

bool sw_top_board_asked(const struct sw_top_board *board)
{
	return atomic_load_explicit(&board->asked, memory_order_relaxed);
}
