/* SPDX-License-Identifier: Apache-2.0 */
/* One finding as JSON: doc/report.schema.json says what each member means. */
#include <inttypes.h>

#include "report/json/json_out.h"
#include "report/json/report_parts.h"
#include "report/report.h"
#include "report/symbols/stack.h"
#include "report/words/evidence_text.h"
#include "report/words/wording.h"

void sw_report_json_stack(struct sw_json *json, struct sw_names *names, const char *key, uint32_t stack,
			  uint32_t function)
{
	struct sw_stack_view view = sw_stack_view(names, stack, function);
	sw_json_open(json, key, '[');
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_frame *frame = view.at[i].frame;
		sw_json_open(json, NULL, '{');
		if (sw_frame_is_python(frame))
			sw_json_text(json, "language", "python");
		sw_json_text(json, "function", frame->function);
		sw_json_text(json, "file", frame->file);
		sw_json_number(json, "line", frame->line > 0 ? (uint64_t)frame->line : 0);
		sw_json_text(json, "module", frame->module);
		sw_json_hex(json, "offset", frame->offset);
		sw_json_bool(json, "inlined", frame->inlined);
		sw_json_number(json, "folded", view.at[i].folded);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

/* Writes a stream; null for none. */
static void put_stream(struct sw_json *json, struct sw_report *report, uint32_t stream)
{
	static const char *const kinds[] = {
		[SW_LANE_HOST] = "host",
		[SW_LANE_BLOCKING] = "blocking",
		[SW_LANE_NONBLOCKING] = "non-blocking",
		[SW_LANE_LEGACY] = "legacy",
		[SW_LANE_PER_THREAD] = "per-thread",
		[SW_LANE_CALLBACK] = "host",
	};
	if (stream == 0 || stream >= report->judgement->streams.n) {
		sw_json_text(json, "stream", NULL);
		return;
	}
	const struct sw_stream_info *info = &report->judgement->streams.at[stream];
	sw_json_open(json, "stream", '{');
	sw_json_text(json, "name", sw_name_stream(&report->names, stream));
	sw_json_text(json, "kind", (size_t)info->kind < sizeof kinds / sizeof kinds[0] ? kinds[info->kind] : "host");
	sw_json_hex(json, "handle", info->handle);
	sw_json_text(json, "created", sw_name_stream_site(&report->names, stream));
	sw_json_close(json, '}');
}

/* Writes an allocation by its number, 1 the first; null for none. */
static void put_allocation(struct sw_json *json, struct sw_report *report, uint32_t index)
{
	if (index == 0 || index > report->judgement->allocations.n) {
		sw_json_text(json, "allocation", NULL);
		return;
	}
	const struct sw_allocation *info = &report->judgement->allocations.at[index - 1];
	sw_json_open(json, "allocation", '{');
	sw_json_text(json, "name", sw_name_allocation(&report->names, index));
	sw_json_text(json, "memory", sw_name_memory(info->memory));
	sw_json_hex(json, "address", info->address);
	sw_json_number(json, "bytes", info->bytes);
	sw_json_signed(json, "device", info->device);
	sw_json_text(json, "api", sw_name_api(&report->names, info->api, info->flags, info->stack));
	sw_report_json_stack(json, &report->names, "stack", info->stack, 0);
	sw_json_close(json, '}');
}

/* Writes the bytes of an access; null where it has none. */
static void put_range(struct sw_json *json, struct sw_report *report, const struct sw_access *access)
{
	if (!access->ranged) {
		sw_json_text(json, "range", NULL);
		return;
	}
	sw_json_open(json, "range", '{');
	sw_json_hex(json, "address", access->address);
	sw_json_number(json, "bytes", access->bytes);
	sw_json_bool(json, "extent_known", access->extent_known);
	sw_json_number(json, "width", access->width);
	sw_json_number(json, "pitch", access->pitch);
	sw_json_text(json, "text", sw_evidence_extent(&report->names, access));
	put_allocation(json, report, access->allocation);
	sw_json_close(json, '}');
}

/* Writes what the code of the kernel says about the access, or null. */
static void put_ground(struct sw_json *json, const struct sw_evidence_detail *ground)
{
	if (!ground || !ground->source) {
		sw_json_text(json, "code", NULL);
		return;
	}
	sw_json_open(json, "code", '{');
	sw_json_text(json, "source", ground->source == SW_SOURCE_PTX ? "ptx" : "sass");
	sw_json_number(json, "arch", ground->arch);
	sw_json_bool(json, "ran", !ground->other_code);
	sw_json_text(json, "instruction", ground->mnemonic ? ground->mnemonic : "");
	sw_json_number(json, "place", ground->place);
	sw_json_text(json, "via", sw_name_via(ground->via));
	sw_json_text(json, "variable", ground->symbol);
	sw_json_text(json, "extent", sw_name_extent(ground->extent));
	sw_json_text(json, "why", sw_why_text(ground->why));
	sw_json_bool(json, "polls", ground->polls);
	sw_json_close(json, '}');
}

/* The word for the position of a side in a finding: earlier, later, or related. */
static const char *side_name(const struct sw_finding *finding, uint32_t index)
{
	if (!sw_is_hazard(finding))
		return index == 0 ? "call" : "related";
	return index == 0 ? "earlier" : index == 1 ? "later" : "related";
}

/* Writes the NVTX ranges of the call, innermost first; left out where the program has none. */
static void put_nvtx(struct sw_json *json, const struct sw_judgement *judgement, uint32_t nvtx)
{
	if (!nvtx)
		return;
	sw_json_open(json, "nvtx", '[');
	for (unsigned i = 0; i < SW_NVTX_TOLD && nvtx && nvtx <= judgement->nvtx.n; i++) {
		const struct sw_nvtx *range = &judgement->nvtx.at[nvtx - 1];
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "name", range->name);
		sw_json_text(json, "domain", range->domain);
		sw_json_close(json, '}');
		nvtx = range->within;
	}
	sw_json_close(json, ']');
}

/* Writes the library call that the access was a part of; left out where there is none. */
static void put_library(struct sw_json *json, struct sw_report *report, const struct sw_access *access)
{
	const struct sw_library_call *call = sw_library_call_of(&report->names, access);
	if (!call)
		return;
	sw_json_open(json, "library", '{');
	sw_json_text(json, "function", call->function);
	sw_json_text(json, "library", sw_name_library(call->library));
	sw_json_number(json, "number", call->number);
	sw_json_hex(json, "handle", call->handle);
	sw_json_hex(json, "workspace", call->workspace_bytes ? call->workspace : 0);
	sw_json_number(json, "workspace_bytes", call->workspace_bytes);
	sw_json_close(json, '}');
}

/* Writes one side of a finding; position: its word. */
static void put_access(struct sw_json *json, struct sw_report *report, const char *key, const struct sw_access *access,
		       const char *position)
{
	const struct sw_trace_api *api = sw_reader_api(report->reader, access->api);
	sw_json_open(json, key, '{');
	sw_json_text(json, "role", position);
	sw_json_text(json, "api", sw_name_api(&report->names, access->api, access->flags, access->stack));
	sw_json_text(json, "driver_api", api ? api->driver : "");
	sw_json_text(json, "kernel", access->function ? sw_name_kernel(&report->names, access->function, true) : NULL);
	put_stream(json, report, access->stream);
	sw_json_signed(json, "device", access->device);
	sw_json_number(json, "thread", access->thread);
	sw_json_number(json, "sequence", access->seq);
	if (access->node)
		sw_json_number(json, "node_sequence", access->node);
	sw_json_ms(json, "time_ms", access->t_ns);
	sw_json_text(json, "access", sw_name_role(access->role));
	sw_json_signed(json, "parameter", access->param);
	put_range(json, report, access);
	sw_json_text(json, "evidence", access->ranged ? sw_name_evidence(access->evidence) : NULL);
	sw_json_text(json, "evidence_text", access->ranged ? sw_evidence_source(&report->names, access) : NULL);
	put_ground(json, access->evidence_detail);
	put_library(json, report, access);
	put_nvtx(json, report->judgement, access->nvtx);
	sw_report_json_stack(json, &report->names, "stack", access->stack, access->function);
	if (access->forward)
		sw_report_json_stack(json, &report->names, "forward", access->forward, 0);
	sw_json_close(json, '}');
}

/* Writes the time that the finding's advice would save; null where no replay was made. */
static void put_recoverable(struct sw_json *json, const struct sw_cost *cost)
{
	const char *line;
	if (!cost->replayed) {
		sw_json_text(json, "recoverable_ms", NULL);
		return;
	}
	sw_json_open(json, "recoverable_ms", '{');
	sw_json_ms(json, "low", cost->recoverable_low_ns);
	sw_json_ms(json, "high", cost->recoverable_high_ns);
	sw_json_ms(json, "high_if_needed", cost->recoverable_sure_ns);
	sw_json_bool(json, "needs_gpu_timeline", cost->vague);
	sw_json_text(json, "times", cost->timed ? "device" : "host");
	sw_json_bool(json, "reliable", cost->reliable);
	sw_json_open(json, "assumptions", '[');
	for (size_t i = 0; (line = sw_replay_assumption(cost, i)); i++)
		sw_json_text(json, NULL, line);
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* Writes the host time of the finding's calls; null where it has none. */
static void put_cost(struct sw_json *json, const struct sw_cost *cost)
{
	if (cost->calls == 0 && !cost->replayed) {
		sw_json_text(json, "cost", NULL);
		return;
	}
	sw_json_open(json, "cost", '{');
	sw_json_number(json, "calls", cost->calls);
	sw_json_number(json, "waited_calls", cost->waited_calls);
	sw_json_ms(json, "total_ms", cost->total_ns);
	sw_json_ms(json, "worst_ms", cost->worst_ns);
	sw_json_ms(json, "p50_ms", cost->p50_ns);
	sw_json_ms(json, "p99_ms", cost->p99_ns);
	sw_json_number(json, "share_ppm", cost->share_ppm);
	sw_json_ms(json, "transfer_ms", cost->transfer_ns);
	sw_json_ms(json, "win_low_ms", cost->recoverable_low_ns);
	sw_json_ms(json, "win_high_ms", cost->recoverable_high_ns);
	put_recoverable(json, cost);
	if (cost->core_high_ns) {
		sw_json_open(json, "core_ms", '{');
		sw_json_ms(json, "low", cost->core_low_ns);
		sw_json_ms(json, "high", cost->core_high_ns);
		sw_json_close(json, '}');
	}
	sw_json_open(json, "parts", '{');
	sw_json_ms(json, "work_ms", cost->parts.work_ns);
	sw_json_ms(json, "transfer_ms", cost->parts.transfer_ns);
	sw_json_ms(json, "driver_ms", cost->parts.driver_ns);
	sw_json_ms(json, "lock_ms", cost->parts.lock_ns);
	sw_json_close(json, '}');
	sw_json_close(json, '}');
}

/* Writes the result of the experiment (`confirm`); left out where none was made. */
static void put_confirmation(struct sw_json *json, struct sw_report *report, const struct sw_confirmation *c)
{
	if (!c)
		return;
	sw_json_open(json, "confirmation", '{');
	sw_json_text(json, "verdict", sw_confirmation_key(c->verdict));
	sw_json_text(json, "outcome", sw_confirmation_outcome(c->verdict));
	sw_json_text(json, "doubt", c->doubt ? sw_confirmation_doubt_key(c->doubt) : NULL);
	sw_json_text(json, "text", sw_confirmation_text(&report->names, c));
	sw_json_ms(json, "held_ms", c->held_ns);
	sw_json_bool(json, "compared", c->compared);
	sw_json_number(json, "bytes", c->bytes);
	sw_json_number(json, "differ", c->differ);
	sw_json_text(json, "fix", sw_confirmation_fix_key(c->fix));
	sw_json_number(json, "edges", c->edges);
	sw_json_number(json, "fixes_together", c->fix_together);
	sw_json_number(json, "edges_timed", c->fix_timed);
	if (c->fix_timed)
		sw_json_number(json, "edges_waited_ns", c->fix_waited_ns);
	sw_json_number(json, "runs", c->runs);
	sw_json_close(json, '}');
}

/* Writes all members of a finding and leaves it open, so that a caller can add its own. */
void sw_report_json_open_finding(struct sw_json *json, struct sw_report *report, size_t index)
{
	const struct sw_shown_finding *shown = &report->shown.at[index];
	const struct sw_finding *finding = shown->finding;
	const struct sw_finding_details *more = sw_finding_details(finding);
	const struct sw_wording words = sw_report_words(report, shown);
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "id", sw_names_format(&report->names, "SW%03d", finding->id));
	sw_json_text(json, "kind", shown->info->kind);
	sw_json_text(json, "severity", sw_name_severity(finding->severity));
	sw_json_text(json, "confidence", sw_name_confidence(finding->confidence));
	sw_json_text(json, "basis", sw_name_basis(finding->basis));
	sw_json_number(json, "count", finding->count);
	sw_json_number(json, "operations", finding->operations);
	sw_json_text(json, "message", words.message);
	sw_json_text(json, "advice", words.fix);
	if (shown->info->facts == SW_FACTS_RULE)
		sw_json_text(json, "rule", report->judgement->gate.at[finding->rule].text);
	sw_json_text(json, "ordered_by", words.ordered_by);
	sw_json_text(json, "missing_edge", words.missing_edge);
	sw_json_bool(json, "measured_order", finding->measured_order);
	sw_json_bool(json, "host_order", finding->host_order);
	sw_json_bool(json, "not_waited", finding->not_waited);
	sw_json_bool(json, "suppressed", shown->suppressed);
	sw_json_bool(json, "hidden", finding->hidden);
	sw_json_text(json, "suppression", sw_report_suppression(report, shown));
	sw_json_open(json, "accesses", '[');
	for (uint32_t i = 0; i < finding->accesses; i++)
		put_access(json, report, NULL, sw_finding_access(finding, i), side_name(finding, i));
	sw_json_close(json, ']');
	if (more->others.n) {
		sw_json_open(json, "other_buffers", '[');
		for (uint32_t i = 0; i < more->others.n; i++)
			sw_json_text(json, NULL, sw_name_allocation_whole(&report->names, more->others.allocation[i]));
		sw_json_close(json, ']');
	}
	if (more->waited_for.seq)
		put_access(json, report, "waited_for", &more->waited_for, "waited-for");
	else
		sw_json_text(json, "waited_for", NULL);
	sw_json_open(json, "needs", '[');
	for (uint32_t i = 0; i < sw_finding_details(finding)->needs; i++) {
		sw_json_open(json, NULL, '{');
		put_stream(json, report, more->need[i].stream);
		sw_json_text(json, "needed_by",
			     more->need[i].to ? sw_name_stream(&report->names, more->need[i].to) : "the host");
		sw_json_number(json, "until_sequence", more->need[i].whole ? 0 : more->need[i].work.seq);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	put_cost(json, finding->cost);
	if (finding->id == SW_FINDING_LEGACY_SERIALISATION) {
		sw_json_open(json, "held_back", '{');
		sw_json_number(json, "timed", sw_finding_details(finding)->held.timed);
		sw_json_number(json, "untimed", sw_finding_details(finding)->held.untimed);
		sw_json_ms(json, "at_most_ms", sw_finding_details(finding)->held.ns);
		sw_json_close(json, '}');
	}
	put_confirmation(json, report, shown->confirmation);
	if (shown->saving)
		sw_report_json_saving(json, &report->names, "saving", shown->saving);
	sw_json_text(json, "fingerprint", sw_names_format(&report->names, "%016" PRIx64, shown->fingerprint));
}
