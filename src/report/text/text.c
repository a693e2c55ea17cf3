/* SPDX-License-Identifier: Apache-2.0 */
/* The report as text, in the layout that users of ThreadSanitizer know. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "report/words/evidence_text.h"
#include "report/symbols/stack.h"
#include "report/text/text.h"

#define LABEL_COLUMNS 15 /* "critical path: " */
#define LONG_FUNCTION 64

static void rule(struct sw_text *t)
{
	fputs("==================\n", t->out.file);
}

void sw_text_line(struct sw_text *t, const char *label, const char *text)
{
	if (*text)
		sw_out_paragraph(&t->out, 2, label, LABEL_COLUMNS, text);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

const char *sw_text_place(struct sw_text *t, const struct sw_frame *frame)
{
	if (frame->file && frame->line)
		return sw_names_format(t->names, "%s:%d", frame->file, frame->line);
	if (!frame->module[0])
		return sw_names_format(t->names, "0x%" PRIx64, frame->ip);
	return sw_names_format(t->names, "(%s+0x%" PRIx64 ")", frame->module, frame->offset);
}

/* Whole, unless the types in it would bury the rest of the line. */
static const char *function_name(struct sw_text *t, const struct sw_frame *frame)
{
	if (!frame->function)
		return "";
	if (strlen(frame->function) <= LONG_FUNCTION)
		return frame->function;
	return sw_names_format(t->names, "%s(...)", frame->base);
}

void sw_text_stack(struct sw_text *t, uint32_t stack, uint32_t function)
{
	struct sw_stack_view view = sw_stack_view(t->names, stack, function);
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_stack_line *at = &view.at[i];
		const char *name = function_name(t, at->frame);
		const char *text = sw_names_format(t->names, "    #%-2zu %s%s%s%s", i, name, name[0] ? " " : "",
						   sw_text_place(t, at->frame), at->frame->inlined ? " (inlined)" : "");
		sw_out_text(&t->out, text);
		if (at->folded) {
			fprintf(t->out.file, " and %u more", at->folded);
			if (!at->mixed)
				sw_out_text(&t->out, sw_names_format(t->names, " of %s", at->frame->module));
		}
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

static const char *stream_and_site(struct sw_text *t, uint32_t stream)
{
	const char *site = sw_name_stream_site(t->names, stream);
	if (!*site)
		return sw_name_stream(t->names, stream);
	return sw_names_format(t->names, "%s (created at %s)", sw_name_stream(t->names, stream), site);
}

/* "Read by kernel scale(float*, int) on stream 2 (created at race.cu:14), device 0, thread 1" */
static const char *heading(struct sw_text *t, const struct sw_access *access, const char *when)
{
	const char *role = sw_wording_heading(access->role);
	char first = when[0] ? (char)tolower((unsigned char)role[0]) : role[0];
	const char *what = sw_name_operation(t->names, access);
	if (access->function && access->kind == SW_REC_LAUNCH)
		what = sw_names_format(t->names, "kernel %s",
				       t->report->all ? sw_name_kernel(t->names, access->function, true)
						      : sw_name_kernel_short(t->names, access->function));
	const char *where = "";
	if (access->stream)
		where = sw_names_format(t->names, " on %s", stream_and_site(t, access->stream));
	if (access->stream && sw_names_several_devices(t->names))
		where = sw_names_format(t->names, "%s, device %d", where, access->device);
	const char *thread = access->thread ? sw_names_format(t->names, ", thread %u", access->thread) : "";
	const char *node = "";
	if (access->node == access->seq && access->node)
		node = ", as a node of a graph";
	else if (access->node)
		node = sw_names_format(t->names, ", as a node of a graph that call %" PRIu64 " made", access->node);
	return sw_names_format(t->names, "%s%c%s %s%s%s, call %" PRIu64 "%s:", when, first, role + 1, what, where,
			       thread, access->seq, node);
}

/* "in NVTX range 'backward' within 'step 3', 'epoch'": the innermost ones. */
static void put_nvtx(struct sw_text *t, uint32_t nvtx)
{
	const struct sw_judgement *judgement = t->report->judgement;
	const char *text = "";
	for (unsigned i = 0; i < SW_NVTX_TOLD && nvtx && nvtx <= judgement->nvtx.n; i++) {
		const struct sw_nvtx *range = &judgement->nvtx.at[nvtx - 1];
		const char *before[] = {"in NVTX range ", " within ", ", "};
		text = sw_names_format(t->names, "%s%s'%s'", text, before[i < 2 ? i : 2], range->name);
		if (range->domain[0])
			text = sw_names_format(t->names, "%s of %s", text, range->domain);
		nvtx = range->within;
	}
	if (*text)
		sw_out_paragraph(&t->out, 4, "", 0, text);
}

static void put_access(struct sw_text *t, const struct sw_access *access, const char *when)
{
	sw_out_paragraph(&t->out, 2, "", 0, heading(t, access, when));
	if (access->ranged) {
		sw_out_paragraph(&t->out, 4, "", 0, sw_evidence_extent(t->names, access));
		sw_out_paragraph(&t->out, 4, "evidence:", 10, sw_evidence_source(t->names, access));
	}
	put_nvtx(t, access->nvtx);
	sw_text_stack(t, access->stack, access->function);
	putc('\n', t->out.file);
}

static void put_allocation(struct sw_text *t, uint32_t index)
{
	const struct sw_allocation *info = &t->report->judgement->allocations.at[index - 1];
	const char *name = sw_name_allocation(t->names, index);
	bool host = info->memory == SW_MEM_PINNED || info->memory == SW_MEM_REGISTERED ||
		    info->memory == SW_MEM_PAGEABLE || info->memory == SW_MEM_MANAGED;
	const char *device = !host && sw_names_several_devices(t->names)
				     ? sw_names_format(t->names, " of device %d", info->device)
				     : "";
	const char *text = sw_names_format(
		t->names, "%c%s is %s of %s%s at 0x%" PRIx64, toupper((unsigned char)name[0]), name + 1,
		sw_name_bytes(t->names, info->bytes), sw_name_memory(info->memory), device, info->address);
	if (info->seq)
		text = sw_names_format(t->names, "%s, made by %s in thread %u, call %" PRIu64 ":", text,
				       sw_name_api(t->names, info->api, info->flags, info->stack), info->thread,
				       info->seq);
	sw_out_paragraph(&t->out, 2, "", 0, text);
	if (info->seq)
		sw_text_stack(t, info->stack, 0);
	putc('\n', t->out.file);
}

/* Each allocation once, in the order in which the accesses name them. */
static void put_allocations(struct sw_text *t, const struct sw_finding *finding)
{
	for (uint32_t i = 0; i < finding->accesses; i++) {
		uint32_t index = finding->access[i].allocation;
		bool shown = index == 0 || index > t->report->judgement->allocations.n;
		for (uint32_t k = 0; k < i; k++)
			shown |= finding->access[k].allocation == index;
		if (!shown)
			put_allocation(t, index);
	}
}

/* ---- a finding --------------------------------------------------------------------------------------------------- */

static enum sw_colour severity_colour(enum sw_severity severity)
{
	return severity == SW_ERROR ? SW_RED : severity == SW_WARNING ? SW_YELLOW : SW_BLUE;
}

/* With a capital and a full stop; "cudaMemcpy" at the start stays what it is. */
static const char *sentence(struct sw_text *t, const char *text)
{
	size_t word = strcspn(text, " "), lower = strspn(text, "abcdefghijklmnopqrstuvwxyz");
	if (lower < word)
		return sw_names_format(t->names, "%s.", text);
	return sw_names_format(t->names, "%c%s.", toupper((unsigned char)text[0]), text + 1);
}

static void put_title(struct sw_text *t, const struct sw_shown_finding *shown)
{
	const struct sw_finding *finding = shown->finding;
	const char *severity = sw_name_severity(finding->severity);
	char upper[16];
	size_t i = 0;
	for (; severity[i] && i + 1 < sizeof upper; i++)
		upper[i] = (char)toupper((unsigned char)severity[i]);
	upper[i] = 0;
	const char *times =
		finding->count == 1 ? "once" : sw_names_format(t->names, "%" PRIu64 " times", finding->count);
	const char *title = sw_names_format(t->names, "%s: syncwatch: SW%03d %s (%s, %s)%s", upper, finding->id,
					    shown->info->kind, sw_name_confidence(finding->confidence), times,
					    shown->suppressed ? " [suppressed]" : "");
	sw_out_coloured(&t->out, severity_colour(finding->severity), title);
	putc('\n', t->out.file);
	sw_out_paragraph(&t->out, 2, "", 0, sentence(t, shown->words.message));
	putc('\n', t->out.file);
}

/* For filters: names and numbers that do not change when a sentence does. */
static void put_facts(struct sw_text *t, const struct sw_shown_finding *shown)
{
	const struct sw_finding *finding = shown->finding;
	fprintf(t->out.file,
		"  [id=SW%03d kind=%s severity=%s confidence=%s basis=%s count=%" PRIu64 " wait_ns=%" PRIu64
		" fingerprint=%016" PRIx64 "]\n",
		finding->id, shown->info->kind, sw_name_severity(finding->severity),
		sw_name_confidence(finding->confidence), sw_name_basis(finding->basis), finding->count,
		finding->cost.total_ns, shown->fingerprint);
}

static void put_summary_line(struct sw_text *t, const struct sw_shown_finding *shown)
{
	const struct sw_finding *finding = shown->finding;
	const struct sw_frame *site = NULL;
	for (uint32_t i = finding->accesses; i-- > 0 && !site;)
		site = sw_stack_site(t->names, finding->access[i].stack, finding->access[i].function);
	const char *text = sw_names_format(t->names, "SUMMARY: syncwatch: SW%03d %s", finding->id, shown->info->kind);
	if (site)
		text = sw_names_format(t->names, "%s %s in %s", text, sw_text_place(t, site), site->base);
	sw_out_text(&t->out, text);
	putc('\n', t->out.file);
}

static void put_finding(struct sw_text *t, const struct sw_shown_finding *shown)
{
	const struct sw_finding *finding = shown->finding;
	bool hazard = sw_is_hazard(finding);
	rule(t);
	put_title(t, shown);
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
		if (finding->waited_for.seq)
			put_access(t, &finding->waited_for, "The longest call waited for: ");
	}
	sw_text_line(t, "ordered by:", shown->words.ordered_by);
	sw_text_line(t, "missing edge:", shown->words.missing_edge);
	sw_text_line(t, "cost:", shown->words.cost);
	sw_text_line(t, "basis:", shown->words.basis);
	sw_text_line(t, "fix:", shown->words.fix);
	/* Never wrapped: it is there to be copied. */
	if (!shown->suppressed) {
		sw_out_text(&t->out,
			    sw_names_format(t->names, "  %-*s%s", LABEL_COLUMNS, "suppress:", shown->suppression));
		putc('\n', t->out.file);
	}
	put_facts(t, shown);
	put_summary_line(t, shown);
	rule(t);
	putc('\n', t->out.file);
}

void sw_report_text_files(struct sw_report *report, FILE *out, bool colour)
{
	struct sw_text t = {report, &report->names, {out, colour}};
	sw_text_files(&t);
	sw_text_limits_hit(&t);
}

bool sw_report_text_finding(struct sw_report *report, size_t index, FILE *out, bool colour)
{
	struct sw_text t = {report, &report->names, {out, colour}};
	if (sw_text_is_note(&t, &report->shown.at[index]))
		return false;
	put_finding(&t, &report->shown.at[index]);
	return true;
}

void sw_report_text_rest(struct sw_report *report, FILE *out, bool colour)
{
	struct sw_text t = {report, &report->names, {out, colour}};
	sw_text_notes(&t);
	sw_text_in_flight(&t);
	sw_text_run(&t);
}

void sw_report_text(struct sw_report *report, FILE *out, bool colour)
{
	sw_report_text_files(report, out, colour);
	for (size_t i = 0; i < report->shown.n; i++)
		sw_report_text_finding(report, i, out, colour);
	sw_report_text_rest(report, out, colour);
}
