/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses, stacks and allocations in the layout that users of ThreadSanitizer know. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "report/symbols/places.h"
#include "report/symbols/stack.h"
#include "report/words/evidence_text.h"
#include "report/words/library_text.h"
#include "report/text/text.h"

#define LABEL_COLUMNS 15 /* "critical path: " */

void sw_text_line(struct sw_text *t, const char *label, const char *text)
{
	if (*text)
		sw_out_paragraph(&t->out, 2, label, LABEL_COLUMNS, text);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

void sw_text_stack(struct sw_text *t, uint32_t stack, uint32_t function)
{
	struct sw_stack_view view = sw_stack_view(t->names, stack, function);
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_stack_line *at = &view.at[i];
		const char *name = sw_name_function(t->names, at->frame);
		fprintf(t->out.file, "    #%-2zu ", i);
		sw_out_text(&t->out, name);
		fputs(name[0] ? " " : "", t->out.file);
		sw_out_place(&t->out, SW_PLAIN, sw_place_full(t->names, at->frame), at->frame->file, at->frame->line);
		fputs(at->frame->inlined ? " (inlined)" : "", t->out.file);
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

void sw_text_access(struct sw_text *t, const struct sw_access *access, const char *when)
{
	sw_out_paragraph(&t->out, 2, "", 0, heading(t, access, when));
	if (access->ranged) {
		sw_out_paragraph(&t->out, 4, "", 0, sw_evidence_extent(t->names, access));
		sw_out_paragraph(&t->out, 4, "evidence:", 10, sw_evidence_source(t->names, access));
	}
	const char *library = sw_name_library_call(t->names, access);
	if (*library)
		sw_out_paragraph(&t->out, 4, "", 0, library);
	put_nvtx(t, access->nvtx);
	const struct sw_frame *forward = sw_place_forward(t->names, access);
	if (forward)
		sw_out_paragraph(&t->out, 4, "", 0,
				 sw_names_format(t->names, "backward pass of %s in %s",
						 sw_place_full(t->names, forward), forward->base));
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
	const char *text = sw_names_format(t->names, "%c%s is %s of %s%s", toupper((unsigned char)name[0]), name + 1,
					   sw_name_bytes(t->names, info->bytes), sw_name_memory(info->memory), device);
	if (info->address) /* unknown of a variable whose address was never taken */
		text = sw_names_format(t->names, "%s at 0x%" PRIx64, text, info->address);
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
void sw_text_allocations(struct sw_text *t, const struct sw_finding *finding)
{
	for (uint32_t i = 0; i < finding->accesses; i++) {
		uint32_t index = sw_finding_access(finding, i)->allocation;
		bool shown = index == 0 || index > t->report->judgement->allocations.n;
		for (uint32_t k = 0; k < i; k++)
			shown |= sw_finding_access(finding, k)->allocation == index;
		if (!shown)
			put_allocation(t, index);
	}
}
