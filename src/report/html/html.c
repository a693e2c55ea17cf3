/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/groups.h"
#include "report/json/json_out.h"
#include "report/symbols/stack.h"
#include "report/symbols/source_text.h"
#include "report/words/evidence_text.h"

#define OPERATIONS_MOST 200000u

/* Asks for the operations around this access, which the page will show. */
static void add_around(struct sw_nearby *n, const struct sw_access *access)
{
	if (access->seq)
		*sw_vec_push(&n->excerpts) = (struct sw_excerpt){access->seq > SW_NEARBY ? access->seq - SW_NEARBY : 0,
								 access->seq + SW_NEARBY};
}

/* Halves the resolution of the overview: each two neighbouring parts become one. */
static void double_parts(struct sw_overview *o)
{
	for (size_t i = 0; i < SW_OVERVIEW_PARTS / 2; i++) {
		o->waited_ns[i] = o->waited_ns[2 * i] + o->waited_ns[2 * i + 1];
		o->worked_ns[i] = o->worked_ns[2 * i] + o->worked_ns[2 * i + 1];
	}
	memset(o->waited_ns + SW_OVERVIEW_PARTS / 2, 0, sizeof o->waited_ns / 2);
	memset(o->worked_ns + SW_OVERVIEW_PARTS / 2, 0, sizeof o->worked_ns / 2);
	o->part_ns *= 2;
}

/* Adds a stretch of time to the parts of the overview that it covers; a longer run halves the resolution first. */
static void add_stretch(struct sw_overview *o, uint64_t *parts, uint64_t from, uint64_t to)
{
	while (to > o->part_ns * SW_OVERVIEW_PARTS && o->part_ns < UINT64_MAX / (2 * SW_OVERVIEW_PARTS))
		double_parts(o);
	o->end_ns = to > o->end_ns ? to : o->end_ns;
	for (uint64_t i = from / o->part_ns; i < SW_OVERVIEW_PARTS && i * o->part_ns < to; i++) {
		const uint64_t begin = i * o->part_ns, end = begin + o->part_ns;
		parts[i] += (to < end ? to : end) - (from > begin ? from : begin);
	}
}

/* Adds the host's wait and the device's work of an operation to the overview. */
static void look_over(struct sw_overview *o, const struct sw_operation *op)
{
	const uint64_t from = op->what.t_ns, to = from + op->what.dur_ns;
	add_stretch(o, o->waited_ns, op->blocks ? from : to, to);
	if (op->gpu_end_ns > op->gpu_start_ns)
		add_stretch(o, o->worked_ns, op->gpu_start_ns, op->gpu_end_ns);
}

/* Call-back of the judge: keeps the operation if one of the page's findings is near. */
static void on_operation(void *arg, const struct sw_operation *op)
{
	struct sw_nearby *n = arg;
	look_over(&n->overview, op);
	if (n->operations.n >= OPERATIONS_MOST || !sw_excerpts_meet(&n->excerpts, op->what.seq, op->what.seq))
		return;
	*sw_vec_push(&n->operations) =
		(struct sw_nearby_operation){.seq = op->what.seq,
					     .call_ns = op->what.t_ns,
					     .call_end_ns = op->what.t_ns + op->what.dur_ns,
					     .start_ns = op->gpu_start_ns,
					     .end_ns = op->gpu_end_ns,
					     .measured = op->gpu_end_ns != 0,
					     .stream = op->what.stream,
					     .thread = op->what.thread,
					     .name = sw_name_operation_brief(&n->report->names, &op->what),
					     .enqueues = op->enqueues};
	*sw_map_put(&n->index, op->what.seq) = n->operations.n;
}

/* Call-back of the judge: the times of work by the estimate, for operations that the device's clock did not time. */
static void on_work(void *arg, const struct sw_stretch *stretch)
{
	struct sw_nearby *n = arg;
	uint64_t index = sw_map_get(&n->index, stretch->seq);
	if (!stretch->timed)
		add_stretch(&n->overview, n->overview.worked_ns, stretch->start_ns, stretch->end_ns);
	if (!index || n->operations.at[index - 1].measured)
		return;
	n->operations.at[index - 1].start_ns = stretch->start_ns;
	n->operations.at[index - 1].end_ns = stretch->end_ns;
	n->operations.at[index - 1].room_ns = stretch->room_ns;
}

struct sw_nearby *sw_nearby_new(struct sw_report *report)
{
	struct sw_nearby *n = sw_calloc(1, sizeof *n);
	n->report = report;
	n->overview.part_ns = 1000;
	n->observer = (struct sw_observer){.arg = n, .operation = on_operation, .work = on_work};
	for (size_t i = 0; i < report->groups.n && i < SW_NEARBY_MOST; i++) {
		const struct sw_finding *f = report->shown.at[report->groups.at[i].leader].finding;
		for (uint32_t k = 0; k < f->accesses; k++)
			add_around(n, sw_finding_access(f, k));
		add_around(n, &sw_finding_details(f)->waited_for);
	}
	sw_excerpts_merge(&n->excerpts);
	return n;
}

/* The call-backs to judge with. */
const struct sw_observer *sw_nearby_observer(struct sw_nearby *nearby)
{
	return &nearby->observer;
}

/* For qsort(): by sequence number. */
static int by_seq(const void *a, const void *b)
{
	const struct sw_nearby_operation *x = a, *y = b;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Index of the first kept operation at or after this sequence number. */
static size_t nearby_from(struct sw_nearby *n, uint64_t seq)
{
	if (n->index.n) {
		qsort(n->operations.at, n->operations.n, sizeof *n->operations.at, by_seq);
		sw_map_free(&n->index); /* complete: sorted once */
		n->index = (struct sw_map){0};
	}
	size_t low = 0, high = n->operations.n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (n->operations.at[middle].seq < seq)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The kept operation with this sequence number; NULL: none. */
static struct sw_nearby_operation *nearby_find(struct sw_nearby *n, uint64_t seq)
{
	const size_t at = nearby_from(n, seq);
	return at < n->operations.n && n->operations.at[at].seq == seq ? &n->operations.at[at] : NULL;
}

/* Draws the estimated earlier side of a hazard no later than the later one, as far as its work may have begun
   earlier. */
static void keep_order(struct sw_nearby *n, const struct sw_finding *finding)
{
	struct sw_nearby_operation *earlier, *later;
	if (!sw_is_hazard(finding) || !(earlier = nearby_find(n, finding->access[0]->seq)) ||
	    !(later = nearby_find(n, finding->access[1]->seq)) || earlier->start_ns <= later->start_ns)
		return;
	const uint64_t late = earlier->start_ns - later->start_ns,
		       by = late < earlier->room_ns ? late : earlier->room_ns;
	earlier->start_ns -= by;
	earlier->end_ns -= by;
	earlier->room_ns -= by;
}

/* Frees the kept operations. */
void sw_nearby_free(struct sw_nearby *n)
{
	free(n->excerpts.at);
	free(n->operations.at);
	sw_map_free(&n->index);
	free(n);
}

/* More causes than this are counted, not written: a browser shows them all. */
#define GROUPS_MOST  10000u
#define MEMBERS_MOST 200u
#define EXCERPT	     3 /* lines of the source before and after */

static const char *const page[] = {
#include "report/html/page.inc"
};
/* Where the data come. */
#define DATA_LINE "@DATA@\n"

/* ---- one finding --------------------------------------------------------------------------------------------------
 */

/* Writes the lines of source around a frame, if its file is here. */
static void put_excerpt(struct sw_json *json, struct sw_report *report, const struct sw_frame *frame)
{
	if (!frame->file || frame->line <= 0 || !sw_source_line(&report->names, frame->file, frame->line))
		return;
	const int first = frame->line > EXCERPT ? frame->line - EXCERPT : 1;
	const char *line;
	sw_json_number(json, "first", (uint64_t)first);
	sw_json_open(json, "source", '[');
	for (int i = first; i <= frame->line + EXCERPT && (line = sw_source_line(&report->names, frame->file, i)); i++)
		sw_json_text(json, NULL, line);
	sw_json_close(json, ']');
}

/* Writes the frames of an access, the first of them with its source. */
static void put_stack(struct sw_json *json, struct sw_report *report, const struct sw_access *access)
{
	struct sw_stack_view view = sw_stack_view(&report->names, access->stack, access->function);
	bool excerpt = true;
	sw_json_open(json, "stack", '[');
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_frame *frame = view.at[i].frame;
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "at", sw_place_full(&report->names, frame));
		sw_json_text(json, "function", sw_name_function(&report->names, frame));
		if (frame->line > 0)
			sw_json_number(json, "line", (uint64_t)frame->line);
		if (view.at[i].folded)
			sw_json_number(json, "folded", view.at[i].folded);
		if (excerpt && frame->file && frame->line > 0) {
			put_excerpt(json, report, frame);
			excerpt = false;
		}
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

/* Writes the sides of a finding. */
static void put_accesses(struct sw_json *json, struct sw_report *report, const struct sw_finding *finding)
{
	struct sw_names *names = &report->names;
	sw_json_open(json, "sides", '[');
	for (uint32_t i = 0; i < finding->accesses; i++) {
		const struct sw_access *access = sw_finding_access(finding, i);
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "what",
			     sw_names_format(names, "%s %s", sw_wording_heading(access->role),
					     sw_name_operation(names, access)));
		sw_json_text(json, "stream", access->stream ? sw_name_stream(names, access->stream) : "");
		sw_json_text(json, "created", access->stream ? sw_name_stream_site(names, access->stream) : "");
		sw_json_number(json, "seq", access->seq);
		sw_json_text(json, "bytes", access->ranged ? sw_evidence_extent(names, access) : "");
		sw_json_text(json, "evidence", access->ranged ? sw_evidence_source(names, access) : "");
		put_stack(json, report, access);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

/* Writes an operation of the small timeline: when it was called, and when it ran. */
static void put_operation(struct sw_json *json, struct sw_report *report, const struct sw_nearby_operation *op)
{
	struct sw_names *names = &report->names;
	sw_json_open(json, NULL, '{');
	sw_json_number(json, "seq", op->seq);
	sw_json_text(json, "name", op->name);
	sw_json_number(json, "thread", op->thread);
	sw_json_number(json, "call", op->call_ns);
	sw_json_number(json, "returned", op->call_end_ns);
	if (op->enqueues) {
		sw_json_text(json, "stream", sw_name_stream(names, op->stream));
		if (op->end_ns) {
			sw_json_number(json, "start", op->start_ns);
			sw_json_number(json, "end", op->end_ns);
		}
		sw_json_bool(json, "measured", op->measured);
	}
	sw_json_close(json, '}');
}

/* Writes the operations around call `seq` that are not written yet; *done: the last one that is. */
static void put_around(struct sw_json *json, struct sw_report *report, struct sw_nearby *nearby, uint64_t seq,
		       uint64_t *done)
{
	size_t i = nearby_from(nearby, seq > SW_NEARBY ? seq - SW_NEARBY : 0);
	for (; i < nearby->operations.n && nearby->operations.at[i].seq <= seq + SW_NEARBY; i++) {
		const struct sw_nearby_operation *op = &nearby->operations.at[i];
		if (op->seq <= *done)
			continue;
		*done = op->seq;
		put_operation(json, report, op);
	}
}

/* Writes the operations around both sides of a finding, and the order that is missing between the two. */
static void put_timeline(struct sw_json *json, struct sw_report *report, struct sw_nearby *nearby,
			 const struct sw_finding *finding)
{
	uint64_t done = 0;
	const uint64_t first =
		finding->accesses > 1 ? finding->access[0]->seq : sw_finding_details(finding)->waited_for.seq;
	const uint64_t second = finding->accesses > 1 ? finding->access[1]->seq : finding->access[0]->seq;
	sw_json_open(json, "timeline", '[');
	put_around(json, report, nearby, first < second ? first : second, &done);
	put_around(json, report, nearby, first < second ? second : first, &done);
	sw_json_close(json, ']');
	if (sw_is_hazard(finding)) {
		sw_json_open(json, "edge", '[');
		sw_json_number(json, NULL, first);
		sw_json_number(json, NULL, second);
		sw_json_close(json, ']');
	}
}

/* Writes the other findings of a group, up to MEMBERS_MOST. */
static void put_members(struct sw_json *json, struct sw_report *report, const struct sw_group *group)
{
	sw_json_open(json, "members", '[');
	for (size_t i = 0; i < group->members.n && i < MEMBERS_MOST; i++) {
		const struct sw_shown_finding *member = &report->shown.at[group->members.at[i]];
		const struct sw_frame *site = sw_report_site(report, member->finding);
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "message", sw_report_words(report, member).message);
		sw_json_text(json, "place", site ? sw_place_full(&report->names, site) : "");
		sw_json_text(json, "count", sw_report_count(report, member->finding));
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	if (group->members.n > MEMBERS_MOST)
		sw_json_number(json, "members_left", group->members.n - MEMBERS_MOST);
}

/* Writes the advice for a group. */
static void put_fix(struct sw_json *json, struct sw_report *report, const struct sw_group *group)
{
	struct sw_group_fix fix;
	sw_group_fix(report, group, &fix);
	sw_json_text(json, "fix", fix.text);
	sw_json_text(json, "note", fix.note);
	sw_json_text(json, "why", fix.why);
	sw_json_open(json, "lines", '[');
	for (uint32_t i = 0; i < fix.lines.n; i++) {
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "where", sw_fix_place(&report->names, &fix.lines.line[i]));
		sw_json_text(json, "code", fix.lines.line[i].code);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

/* Writes all that the page shows of a group of findings. */
static void put_group(struct sw_json *json, struct sw_report *report, struct sw_nearby *nearby, size_t index)
{
	const struct sw_group *group = &report->groups.at[index];
	const struct sw_shown_finding *leader = &report->shown.at[group->leader];
	const struct sw_finding *finding = leader->finding;
	const struct sw_frame *site = sw_report_site(report, finding);
	struct sw_names *names = &report->names;
	const struct sw_wording words = sw_report_words(report, leader);
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "id", sw_names_format(names, "SW%03d", finding->id));
	sw_json_text(json, "kind", leader->info->kind);
	sw_json_text(json, "title", leader->info->title);
	sw_json_text(json, "severity", sw_name_severity(finding->severity));
	sw_json_text(json, "confidence", sw_name_confidence(finding->confidence));
	sw_json_bool(json, "suppressed", leader->suppressed);
	sw_json_text(json, "place", site ? sw_place_full(names, site) : "");
	sw_json_text(json, "message", words.message);
	sw_json_text(json, "count", sw_report_count(report, finding));
	sw_json_text(json, "cost", words.cost);
	sw_json_text(json, "ordered_by", words.ordered_by);
	sw_json_text(json, "missing_edge", words.missing_edge);
	sw_json_text(json, "basis", words.basis);
	sw_json_text(json, "fingerprint", sw_names_format(names, "%016" PRIx64, leader->fingerprint));
	sw_json_text(json, "suppression", sw_report_suppression(report, leader));
	sw_json_text(json, "explanation", leader->info->text);
	if (finding->accesses)
		sw_json_number(json, "at_ns", finding->access[finding->accesses > 1 && sw_is_hazard(finding)]->t_ns);
	if (finding->cost->calls) {
		sw_json_number(json, "waited_ns", sw_group_cost(report, group));
		if (finding->cost->replayed) {
			sw_json_number(json, "low_ns", finding->cost->recoverable_low_ns);
			sw_json_number(json, "high_ns", finding->cost->recoverable_high_ns);
		}
	}
	put_fix(json, report, group);
	put_accesses(json, report, finding);
	put_members(json, report, group);
	if (index < SW_NEARBY_MOST)
		keep_order(nearby, finding);
	if (index < SW_NEARBY_MOST)
		put_timeline(json, report, nearby, finding);
	sw_json_close(json, '}');
}

/* ---- the page -----------------------------------------------------------------------------------------------------
 */

/* The last part of the text report, malloc'ed. */
static char *rest_of(struct sw_report *report)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = sw_memory_stream(&text, &bytes);
	sw_report_text_rest(report, out, &(struct sw_text_style){.columns = 100, .stat = true});
	fclose(out);
	return text;
}

/* The verdict as the text report has it, in one line, malloc'ed. */
static char *headline_of(struct sw_report *report)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = sw_memory_stream(&text, &bytes);
	sw_report_text_headline(report, out, &(struct sw_text_style){.columns = 1000},
				report->gaps.n ? SW_HEADLINE_INCOMPLETE : SW_HEADLINE_COMPLETE);
	fclose(out);
	text[strcspn(text, "\n")] = 0;
	return text;
}

/* Writes how much the host waited and the devices worked, part by part of the run. */
static void put_overview(struct sw_json *json, const struct sw_overview *o)
{
	const uint64_t n = (o->end_ns + o->part_ns - 1) / o->part_ns;
	sw_json_open(json, "overview", '{');
	sw_json_number(json, "part_ns", o->part_ns);
	sw_json_number(json, "end_ns", o->end_ns);
	sw_json_open(json, "waited_ns", '[');
	for (uint64_t i = 0; i < n; i++)
		sw_json_number(json, NULL, o->waited_ns[i]);
	sw_json_close(json, ']');
	sw_json_open(json, "worked_ns", '[');
	for (uint64_t i = 0; i < n; i++)
		sw_json_number(json, NULL, o->worked_ns[i]);
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* Writes the data of the page. */
static void put_data(struct sw_json *json, struct sw_report *report, struct sw_nearby *nearby, const char *version)
{
	const struct sw_trace_process *process = sw_reader_process(report->reader);
	char *rest = rest_of(report), *headline = headline_of(report);
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "version", version);
	sw_json_text(json, "name", sw_name_program(&report->names));
	sw_json_text(json, "program", process ? process->exe : "a program");
	sw_json_open(json, "arguments", '[');
	for (uint32_t i = 1; process && i < process->args; i++)
		sw_json_text(json, NULL, process->arg[i]);
	sw_json_close(json, ']');
	sw_json_text(json, "trace", sw_reader_path(report->reader));
	sw_json_number(json, "span_ns", report->judgement->span_ns);
	sw_json_bool(json, "simulated", report->judgement->simulated);
	sw_json_number(json, "errors", report->totals.errors);
	sw_json_number(json, "warnings", report->totals.warnings);
	sw_json_number(json, "notes", report->totals.notes);
	sw_json_number(json, "suppressed", report->totals.suppressed);
	sw_json_text(json, "headline", headline);
	sw_json_open(json, "gaps", '[');
	for (size_t i = 0; i < report->gaps.n; i++)
		sw_json_text(json, NULL, report->gaps.at[i]);
	sw_json_close(json, ']');
	sw_json_text(json, "rest", rest);
	put_overview(json, &nearby->overview);
	sw_json_number(json, "left", report->groups.n > GROUPS_MOST ? report->groups.n - GROUPS_MOST : 0);
	sw_json_open(json, "groups", '[');
	for (size_t i = 0; i < report->groups.n && i < GROUPS_MOST; i++)
		put_group(json, report, nearby, i);
	sw_json_close(json, ']');
	sw_json_close(json, '}');
	free(rest);
	free(headline);
}

/* Writes JSON so that nothing in it looks like markup: with escapes, by which it stays the same. */
static void put_escaped(FILE *out, const char *text)
{
	for (size_t plain; *text; text += plain) {
		plain = strcspn(text, "<>&");
		fwrite(text, 1, plain, out);
		if (text[plain]) {
			fprintf(out, "\\u%04x", (unsigned)(unsigned char)text[plain]);
			plain++;
		}
	}
}

/* Writes the page, with the data in their place. */
void sw_html_write(struct sw_report *report, struct sw_nearby *nearby, const char *version, FILE *out)
{
	char *text = NULL;
	size_t bytes;
	struct sw_json json = {.out = sw_memory_stream(&text, &bytes)};
	put_data(&json, report, nearby, version);
	fclose(json.out);
	for (size_t i = 0; i < sizeof page / sizeof page[0]; i++)
		if (strcmp(page[i], DATA_LINE) == 0)
			put_escaped(out, text);
		else
			fputs(page[i], out);
	free(text);
}
