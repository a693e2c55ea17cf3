/* SPDX-License-Identifier: Apache-2.0 */
/* The report as text, in the layout that users of ThreadSanitizer know. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "report/report.h"
#include "report/stack.h"
#include "report/text_out.h"

#define LABEL_COLUMNS 14 /* "missing edge: " */
#define LONG_FUNCTION 64

struct text {
	struct sw_report *report;
	struct sw_names *names;
	struct sw_out out;
};

static void rule(struct text *t)
{
	fputs("==================\n", t->out.file);
}

static void line(struct text *t, const char *label, const char *text)
{
	if (*text)
		sw_out_paragraph(&t->out, 2, label, LABEL_COLUMNS, text);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

static const char *frame_place(struct text *t, const struct sw_frame *frame)
{
	if (frame->file && frame->line)
		return sw_names_format(t->names, "%s:%d", frame->file, frame->line);
	if (!frame->module[0])
		return sw_names_format(t->names, "0x%" PRIx64, frame->ip);
	return sw_names_format(t->names, "(%s+0x%" PRIx64 ")", frame->module, frame->offset);
}

/* Whole, unless the types in it would bury the rest of the line. */
static const char *function_name(struct text *t, const struct sw_frame *frame)
{
	if (!frame->function)
		return "??";
	if (strlen(frame->function) <= LONG_FUNCTION)
		return frame->function;
	return sw_names_format(t->names, "%s(...)", frame->base);
}

static void put_stack(struct text *t, uint32_t stack, uint32_t function)
{
	struct sw_stack_view view = sw_stack_view(t->names, stack, function);
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_stack_line *at = &view.at[i];
		const char *name = function_name(t, at->frame);
		const char *text = sw_names_format(t->names, "    #%-2zu %s %s%s", i, name, frame_place(t, at->frame),
						   at->frame->inlined ? " (inlined)" : "");
		sw_out_text(&t->out, text);
		if (at->folded)
			fprintf(t->out.file, " and %u more of %s", at->folded, at->frame->module);
		putc('\n', t->out.file);
	}
	if (view.n && view.skipped == UINT32_MAX)
		fputs("    ... deeper frames were not recorded\n", t->out.file);
	else if (view.n && view.skipped)
		fprintf(t->out.file, "    ... %u deeper frame%s not recorded\n", view.skipped,
			view.skipped == 1 ? " was" : "s were");
	if (view.n == 0)
		fputs("    (no call stack was recorded)\n", t->out.file);
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

static const char *stream_and_site(struct text *t, uint32_t stream)
{
	const char *site = sw_name_stream_site(t->names, stream);
	if (!*site)
		return sw_name_stream(t->names, stream);
	return sw_names_format(t->names, "%s (created at %s)", sw_name_stream(t->names, stream), site);
}

/* "Read by kernel scale(float*, int) on stream 2 (created at race.cu:14), device 0, thread 1" */
static const char *heading(struct text *t, const struct sw_access *access, const char *when)
{
	const char *role = sw_wording_heading(access->role);
	char first = when[0] ? (char)tolower((unsigned char)role[0]) : role[0];
	const char *what = sw_name_operation(t->names, access);
	if (access->function && access->kind == SW_REC_LAUNCH)
		what = sw_names_format(t->names, "kernel %s", sw_name_kernel(t->names, access->function, true));
	const char *where = "";
	if (access->stream)
		where = sw_names_format(t->names, " on %s", stream_and_site(t, access->stream));
	if (access->stream && sw_reader_device(t->report->reader, 1))
		where = sw_names_format(t->names, "%s, device %d", where, access->device);
	const char *thread = access->thread ? sw_names_format(t->names, ", thread %u", access->thread) : "";
	return sw_names_format(t->names, "%s%c%s %s%s%s, call %" PRIu64 ":", when, first, role + 1, what, where, thread,
			       access->seq);
}

static const char *range(struct text *t, const struct sw_access *access)
{
	const struct sw_judgement *judgement = t->report->judgement;
	const char *bytes;
	if (access->allocation && access->allocation <= judgement->allocations.n) {
		uint64_t base = judgement->allocations.at[access->allocation - 1].address;
		uint64_t from = access->address >= base ? access->address - base : 0;
		bytes = sw_names_format(t->names, "bytes %" PRIu64 " to %" PRIu64 " of %s", from,
					from + (access->bytes ? access->bytes - 1 : 0),
					sw_name_allocation(t->names, access->allocation));
	} else {
		bytes = sw_names_format(t->names, "%s at 0x%" PRIx64, sw_name_bytes(t->names, access->bytes),
					access->address);
	}
	if (!access->extent_known)
		bytes = sw_names_format(t->names, "%s at most", bytes);
	if (access->param >= 0)
		bytes = sw_names_format(t->names, "%s, through parameter %d", bytes, access->param);
	return sw_names_format(t->names, "%s (%s)", bytes, sw_name_evidence(access->evidence));
}

static void put_access(struct text *t, const struct sw_access *access, const char *when)
{
	sw_out_paragraph(&t->out, 2, "", 0, heading(t, access, when));
	if (access->ranged)
		sw_out_paragraph(&t->out, 4, "", 0, range(t, access));
	put_stack(t, access->stack, access->function);
	putc('\n', t->out.file);
}

static void put_allocation(struct text *t, uint32_t index)
{
	const struct sw_allocation *info = &t->report->judgement->allocations.at[index - 1];
	const char *name = sw_name_allocation(t->names, index);
	const char *text =
		sw_names_format(t->names, "%c%s is %s of %s at 0x%" PRIx64, toupper((unsigned char)name[0]), name + 1,
				sw_name_bytes(t->names, info->bytes), sw_name_memory(info->memory), info->address);
	if (info->seq)
		text = sw_names_format(t->names, "%s, made by %s in thread %u, call %" PRIu64 ":", text,
				       sw_name_api(t->names, info->api, info->flags, info->stack), info->thread,
				       info->seq);
	sw_out_paragraph(&t->out, 2, "", 0, text);
	if (info->seq)
		put_stack(t, info->stack, 0);
	putc('\n', t->out.file);
}

/* Each allocation once, in the order in which the accesses name them. */
static void put_allocations(struct text *t, const struct sw_finding *finding)
{
	for (uint32_t i = 0; i < finding->accesses; i++) {
		uint32_t index = finding->access[i].allocation;
		bool told = index == 0 || index > t->report->judgement->allocations.n;
		for (uint32_t k = 0; k < i; k++)
			told |= finding->access[k].allocation == index;
		if (!told)
			put_allocation(t, index);
	}
}

/* ---- a finding --------------------------------------------------------------------------------------------------- */

static enum sw_colour severity_colour(enum sw_severity severity)
{
	return severity == SW_ERROR ? SW_RED : severity == SW_WARNING ? SW_YELLOW : SW_BLUE;
}

/* With a capital and a full stop; "cudaMemcpy" at the start stays what it is. */
static const char *sentence(struct text *t, const char *text)
{
	size_t word = strcspn(text, " "), lower = strspn(text, "abcdefghijklmnopqrstuvwxyz");
	if (lower < word)
		return sw_names_format(t->names, "%s.", text);
	return sw_names_format(t->names, "%c%s.", toupper((unsigned char)text[0]), text + 1);
}

static void put_title(struct text *t, const struct sw_told *told)
{
	const struct sw_finding *finding = told->finding;
	const char *severity = sw_name_severity(finding->severity);
	char upper[16];
	size_t i = 0;
	for (; severity[i] && i + 1 < sizeof upper; i++)
		upper[i] = (char)toupper((unsigned char)severity[i]);
	upper[i] = 0;
	const char *times =
		finding->count == 1 ? "once" : sw_names_format(t->names, "%" PRIu64 " times", finding->count);
	const char *title = sw_names_format(t->names, "%s: syncwatch: SW%03d %s (%s, %s)%s", upper, finding->id,
					    told->info->kind, sw_name_confidence(finding->confidence), times,
					    told->suppressed ? " [suppressed]" : "");
	sw_out_coloured(&t->out, severity_colour(finding->severity), title);
	putc('\n', t->out.file);
	sw_out_paragraph(&t->out, 2, "", 0, sentence(t, told->words.message));
	putc('\n', t->out.file);
}

/* For filters: names and numbers that do not change when a sentence does. */
static void put_facts(struct text *t, const struct sw_told *told)
{
	const struct sw_finding *finding = told->finding;
	fprintf(t->out.file,
		"  [id=SW%03d kind=%s severity=%s confidence=%s basis=%s count=%" PRIu64 " wait_ns=%" PRIu64
		" fingerprint=%016" PRIx64 "]\n",
		finding->id, told->info->kind, sw_name_severity(finding->severity),
		sw_name_confidence(finding->confidence), sw_name_basis(finding->basis), finding->count,
		finding->cost.total_ns, told->fingerprint);
}

static void put_summary_line(struct text *t, const struct sw_told *told)
{
	const struct sw_finding *finding = told->finding;
	const struct sw_frame *site = NULL;
	for (uint32_t i = finding->accesses; i-- > 0 && !site;)
		site = sw_stack_site(t->names, finding->access[i].stack, finding->access[i].function);
	const char *text = sw_names_format(t->names, "SUMMARY: syncwatch: SW%03d %s", finding->id, told->info->kind);
	if (site)
		text = sw_names_format(t->names, "%s %s in %s", text, frame_place(t, site), site->base);
	sw_out_text(&t->out, text);
	putc('\n', t->out.file);
}

static void put_finding(struct text *t, const struct sw_told *told)
{
	const struct sw_finding *finding = told->finding;
	bool hazard = sw_is_hazard(finding);
	rule(t);
	put_title(t, told);
	if (hazard) {
		/* The later access first: that is where the program goes wrong. */
		put_access(t, &finding->access[1], "");
		put_access(t, &finding->access[0], "Earlier ");
		for (uint32_t i = 2; i < finding->accesses; i++)
			put_access(t, &finding->access[i], "Related ");
		put_allocations(t, finding);
	} else {
		for (uint32_t i = 0; i < finding->accesses; i++)
			put_access(t, &finding->access[i], "");
	}
	line(t, "ordered by:", told->words.ordered_by);
	line(t, "missing edge:", told->words.missing_edge);
	line(t, "cost:", told->words.cost);
	line(t, "basis:", told->words.basis);
	line(t, "fix:", told->words.fix);
	/* Never wrapped: it is there to be copied. */
	if (!told->suppressed) {
		sw_out_text(&t->out,
			    sw_names_format(t->names, "  %-*s%s", LABEL_COLUMNS, "suppress:", told->suppression));
		putc('\n', t->out.file);
	}
	put_facts(t, told);
	put_summary_line(t, told);
	rule(t);
	putc('\n', t->out.file);
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static void put_in_flight(struct text *t)
{
	struct sw_report *report = t->report;
	if (sw_reader_totals(report->reader).closed)
		return;
	fputs("The program did not end in order (crash, signal or _exit); everything recorded before that was "
	      "judged.\n",
	      t->out.file);
	for (size_t i = 0; i < report->in_flight.n; i++) {
		const struct sw_in_flight *call = &report->in_flight.at[i];
		const char *api = sw_name_api(t->names, call->api, call->flags, call->stack);
		sw_out_paragraph(&t->out, 2, "", 0,
				 sw_names_format(t->names,
						 "Thread %u was inside %s, call %" PRIu64 ", since %s after the start:",
						 call->thread, api, call->seq, sw_name_time(t->names, call->t_ns)));
		put_stack(t, call->stack, 0);
	}
	putc('\n', t->out.file);
}

static const char *plural(struct text *t, uint64_t n, const char *one, const char *many)
{
	return sw_names_format(t->names, "%" PRIu64 " %s", n, n == 1 ? one : many);
}

static void put_kernels(struct text *t)
{
	const struct sw_coverage *coverage = &t->report->judgement->coverage;
	const char *text = "";
	for (int i = SW_EV_EXACT; i >= 0; i--)
		if (coverage->kernels_by_evidence[i])
			text = sw_names_format(t->names, "%s%s%" PRIu64 " %s", text, *text ? ", " : "",
					       coverage->kernels_by_evidence[i], sw_name_evidence((enum sw_evidence)i));
	if (coverage->indirect_kernels)
		text = sw_names_format(t->names, "%s; %" PRIu64 " also follow pointers in memory, which are not judged",
				       text, coverage->indirect_kernels);
	line(t, "kernels:", text);
}

static const char *runtimes(struct text *t)
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

/* What keeps this report from being the whole truth, each only when it happened. */
static void put_limits(struct text *t)
{
	const struct sw_coverage *coverage = &t->report->judgement->coverage;
	const char *text;
	const struct {
		uint64_t n;
		const char *what;
	} limits[] = {
		{coverage->records_lost, "records were lost"},
		{coverage->straddling_dropped, "findings across a loss were dropped"},
		{coverage->unclassified_calls, "calls of entry points that syncwatch does not know"},
		{coverage->unknown_streams, "calls on streams whose creation was not seen"},
		{coverage->edges_for_safety, "places where order was assumed rather than known"},
		{coverage->graph_launches, "graph launches, whose nodes are not judged"},
	};
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
		if (limits[i].n)
			line(t, "limits:", sw_names_format(t->names, "%" PRIu64 " %s", limits[i].n, limits[i].what));
	if (coverage->sticky_error_seq)
		line(t, "limits:",
		     sw_names_format(t->names, "a CUDA error ended the judgement at call %" PRIu64,
				     coverage->sticky_error_seq));
	for (size_t i = 0; (text = sw_reader_damage(t->report->reader, i)); i++)
		line(t, "damage:", text);
	for (size_t i = 0; (text = sw_reader_notice(t->report->reader, i)); i++)
		line(t, "notice:", text);
	for (size_t i = 0; (text = sw_symbols_complaint(t->names->symbols, i)); i++)
		line(t, "symbols:", text);
	for (size_t i = 0; (text = sw_suppress_unused(t->report->suppressions, i)); i++)
		line(t, "unused:", sw_names_format(t->names, "suppression %s", text));
}

static void put_coverage(struct text *t)
{
	const struct sw_coverage *c = &t->report->judgement->coverage;
	const char *calls = plural(t, c->driver_calls, "driver call", "driver calls");
	line(t, "coverage:",
	     sw_names_format(t->names, "%s (%" PRIu64 " made by a CUDA runtime)%s", calls, c->runtime_calls,
			     runtimes(t)));
	line(t, "work:",
	     sw_names_format(
		     t->names, "%s, %s (%s), %s, %s in %s", plural(t, c->launches, "kernel launch", "kernel launches"),
		     plural(t, c->copies, "copy", "copies"), sw_name_bytes(t->names, c->bytes_copied),
		     plural(t, c->sets, "set", "sets"), plural(t, c->syncs, "synchronisation", "synchronisations"),
		     sw_name_time(t->names, t->report->judgement->span_ns)));
	put_kernels(t);
	put_limits(t);
}

/* Shown on request: "no hazards" above a list of possible ones would read badly. */
static bool possible_hazards(const struct sw_report *report)
{
	for (size_t i = 0; i < report->told.n; i++)
		if (sw_is_hazard(report->told.at[i].finding) && report->told.at[i].finding->confidence == SW_POSSIBLE)
			return true;
	return false;
}

static void put_verdict(struct text *t)
{
	const struct sw_report *report = t->report;
	const struct sw_report_totals *totals = &report->totals;
	const struct sw_trace_process *process = sw_reader_process(report->reader);
	const char *slash = process ? strrchr(process->exe, '/') : NULL;
	const char *name = !process ? "the program" : slash ? slash + 1 : process->exe;
	const char *found = possible_hazards(report) ? "no certain or likely hazards" : "no hazards";
	enum sw_colour colour = SW_GREEN;
	if (totals->errors || totals->warnings) {
		found = sw_names_format(t->names, "%s, %s", plural(t, totals->errors, "error", "errors"),
					plural(t, totals->warnings, "warning", "warnings"));
		colour = totals->errors ? SW_RED : SW_YELLOW;
	}
	if (totals->notes)
		found = sw_names_format(t->names, "%s, %s", found, plural(t, totals->notes, "note", "notes"));
	sw_out_coloured(
		&t->out, colour,
		sw_names_format(t->names, "syncwatch: %s in %s%s", found, name,
				report->judgement->simulated ? " (simulated CUDA: kernels were not executed)" : ""));
	putc('\n', t->out.file);
}

static void put_waits(struct text *t)
{
	const struct sw_judgement *judgement = t->report->judgement;
	if (judgement->host_wait_ns)
		line(t, "host waits:",
		     sw_names_format(t->names, "%s in all", sw_name_time(t->names, judgement->host_wait_ns)));
	if (judgement->folded_waits && !t->report->all)
		line(t, "",
		     sw_names_format(t->names, "%s, %s together, not shown: too cheap to matter (--all shows them)",
				     plural(t, judgement->folded_waits, "wait", "waits"),
				     sw_name_time(t->names, judgement->folded_wait_ns)));
	if (t->report->totals.suppressed)
		line(t, "suppressed:", plural(t, t->report->totals.suppressed, "finding", "findings"));
}

void sw_report_text(struct sw_report *report, FILE *out, bool colour)
{
	struct text t = {report, &report->names, {out, colour}};
	for (size_t i = 0; i < report->told.n; i++)
		put_finding(&t, &report->told.at[i]);
	put_in_flight(&t);
	put_verdict(&t);
	put_waits(&t);
	put_coverage(&t);
}
