/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/digest.h"

#include <stdlib.h>
#include <string.h>

#include "report/symbols/stack.h"

static const char *keep(struct sw_digest *digest, const char *text)
{
	return text ? sw_arena_strndup(&digest->arena, text, strlen(text)) : "";
}

static const char *file_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash ? slash + 1 : path;
}

static void take_side(struct sw_digest *digest, struct sw_names *names, const struct sw_access *access,
		      struct sw_digest_side *side)
{
	struct sw_stack_view view = sw_stack_view(names, access->stack, access->function);
	struct sw_digest_frame *frame = sw_arena_alloc(&digest->arena, view.n * sizeof *frame);
	side->what = keep(digest, access->function ? sw_name_kernel(names, access->function, true)
						   : sw_name_api(names, access->api, access->flags, access->stack));
	side->frame = frame;
	side->frames = view.n;
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_frame *from = view.at[i].frame;
		frame[i] = (struct sw_digest_frame){.function = keep(digest, from->function),
						    .file = keep(digest, file_name(from->file)),
						    .module = keep(digest, from->module),
						    .line = from->line};
	}
}

static void take_finding(struct sw_digest *digest, struct sw_report *report, const struct sw_shown_finding *shown)
{
	const struct sw_finding *from = shown->finding;
	struct sw_digest_side *side = sw_arena_alloc(&digest->arena, from->accesses * sizeof *side);
	for (uint32_t i = 0; i < from->accesses; i++)
		take_side(digest, &report->names, sw_finding_access(from, i), &side[i]);
	*sw_vec_push(&digest->findings) = (struct sw_digest_finding){
		.id = from->id,
		.kind = keep(digest, shown->info->kind),
		.message = keep(digest, sw_report_words(report, shown).message),
		.severity = from->severity,
		.confidence = from->confidence,
		.hidden = from->hidden,
		.count = from->count,
		.calls = from->cost->calls,
		.total_ns = from->cost->total_ns,
		.win_ns = from->cost->win_high_ns,
		.fingerprint = shown->fingerprint,
		.side = side,
		.sides = from->accesses,
	};
}

void sw_digest_take(struct sw_digest *digest, struct sw_report *report)
{
	const struct sw_trace_process *process = sw_reader_process(report->reader);
	*digest = (struct sw_digest){
		.span_ns = report->judgement->span_ns, .simulated = report->judgement->simulated, .all = report->all};
	digest->path = keep(digest, sw_reader_path(report->reader));
	digest->program = keep(digest, process ? file_name(process->exe) : "");
	const struct sw_trace_totals totals = sw_reader_totals(report->reader);
	digest->whole = report->gaps.n == 0;
	digest->complete = totals.closed && digest->whole;
	digest->damaged = totals.damaged || !process;
	digest->calls_seen = report->judgement->coverage.driver_calls;
	for (size_t i = 0; i < report->shown.n; i++) {
		struct sw_names_scope scope;
		sw_names_scope_begin(&report->names, &scope);
		if (!report->shown.at[i].suppressed)
			take_finding(digest, report, &report->shown.at[i]);
		sw_names_scope_end(&report->names, &scope);
	}
}

void sw_digest_free(struct sw_digest *digest)
{
	free(digest->findings.at);
	sw_arena_free(&digest->arena);
	*digest = (struct sw_digest){0};
}
