/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON: doc/report.schema.json says what each member means. Members are only ever added. */
#include <inttypes.h>

#include "report/text/evidence_text.h"
#include "report/json/json_out.h"
#include "report/json/report_parts.h"
#include "report/report.h"
#include "report/unusable_files.h"
#include "report/text/gain_text.h"
#include "report/symbols/stack.h"

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static void put_program(struct sw_json *json, const struct sw_report *report)
{
	const struct sw_trace_process *process = sw_reader_process(report->reader);
	const struct sw_file_header *header = sw_reader_header(report->reader);
	struct sw_trace_totals totals = sw_reader_totals(report->reader);
	sw_json_open(json, "program", '{');
	sw_json_text(json, "path", process ? process->exe : "");
	sw_json_open(json, "arguments", '[');
	for (uint32_t i = 0; process && i < process->args; i++)
		sw_json_text(json, NULL, process->arg[i]);
	sw_json_close(json, ']');
	sw_json_text(json, "directory", process ? process->cwd : "");
	sw_json_number(json, "pid", process ? process->pid : header->pid);
	sw_json_text(json, "trace", sw_reader_path(report->reader));
	sw_json_bool(json, "ended_in_order", totals.closed);
	sw_json_bool(json, "simulated", report->judgement->simulated);
	sw_json_bool(json, "strict_host", report->judgement->strict_host);
	sw_json_ms(json, "span_ms", report->judgement->span_ns);
	sw_json_number(json, "cuda_driver_version", header->cuda_driver_version);
	sw_json_close(json, '}');
}

static void put_devices(struct sw_json *json, const struct sw_report *report)
{
	const struct sw_trace_device *device;
	sw_json_open(json, "devices", '[');
	for (size_t i = 0; (device = sw_reader_device(report->reader, i)); i++) {
		sw_json_open(json, NULL, '{');
		sw_json_signed(json, "ordinal", device->ordinal);
		sw_json_text(json, "name", device->name);
		sw_json_text(json, "compute_capability",
			     sw_names_format((struct sw_names *)&report->names, "%u.%u", device->major, device->minor));
		sw_json_number(json, "multiprocessors", device->multiprocessors);
		sw_json_number(json, "memory_bytes", device->memory_bytes);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

static void put_runtimes(struct sw_json *json, const struct sw_report *report)
{
	static const char *const links[] = {
		[SW_CUDART_SHARED] = "shared", [SW_CUDART_STATIC] = "static", [SW_CUDART_OTHER] = "driver"};
	const struct sw_trace_module *module;
	sw_json_open(json, "runtimes", '[');
	for (size_t i = 0; (module = sw_reader_module_at(report->reader, i)); i++) {
		if (module->cudart == 0 || module->cudart >= sizeof links / sizeof links[0])
			continue;
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "module", module->path);
		sw_json_text(json, "link", links[module->cudart]);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

static void put_lines(struct sw_json *json, const char *key,
		      const char *(*at)(const struct sw_reader *reader, size_t index), const struct sw_reader *reader)
{
	const char *line;
	sw_json_open(json, key, '[');
	for (size_t i = 0; (line = at(reader, i)); i++)
		sw_json_text(json, NULL, line);
	sw_json_close(json, ']');
}

static void put_analysis(struct sw_json *json, const struct sw_report *report)
{
	const struct sw_footprint_library_totals *analysed = &report->judgement->analysed;
	sw_json_open(json, "analysis", '{');
	sw_json_number(json, "kernels", analysed->asked);
	sw_json_number(json, "cached", analysed->cached);
	sw_json_number(json, "analysed", analysed->analysed);
	sw_json_number(json, "unreadable", analysed->unreadable);
	sw_json_number(json, "code_bytes", analysed->code_bytes);
	sw_json_ms(json, "cpu_ms", analysed->ns);
	sw_json_close(json, '}');
}

/* Only where a table of calibrate was found. */
static void put_behaviour(struct sw_json *json, const struct sw_wait_rules *mays)
{
	if (!mays->used.n && !mays->complaints.n)
		return;
	sw_json_open(json, "behaviour", '{');
	sw_json_open(json, "tables", '[');
	for (size_t i = 0; i < mays->used.n; i++)
		sw_json_text(json, NULL, mays->used.at[i]);
	sw_json_close(json, ']');
	sw_json_open(json, "differs", '[');
	for (int i = 0; i < SW_WAIT_RULES; i++) {
		bool built_in;
		const char *text = sw_wait_rule_text((enum sw_wait_rule)i, &built_in);
		if (!(mays->differs >> i & 1))
			continue;
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "rule", text);
		sw_json_bool(json, "here", !built_in);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_open(json, "unusable", '[');
	for (size_t i = 0; i < mays->complaints.n; i++)
		sw_json_text(json, NULL, mays->complaints.at[i]);
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

static void put_kernels_by_evidence(struct sw_json *json, const struct sw_report *report)
{
	sw_json_open(json, "kernels_by_evidence", '{');
	for (int i = 0; i <= SW_EV_EXACT; i++)
		sw_json_number(json, sw_name_evidence((enum sw_evidence)i),
			       report->judgement->coverage.kernels_by_evidence[i]);
	sw_json_close(json, '}');
}

static void put_kernels_by_source(struct sw_json *json, const struct sw_report *report)
{
	sw_json_open(json, "kernels_by_source", '{');
	for (int i = 0; i < SW_BY_SOURCES; i++)
		sw_json_number(json, sw_name_source((enum sw_evidence_source_kind)i),
			       report->judgement->coverage.kernels_by_source[i]);
	sw_json_close(json, '}');
}

static void put_coverage(struct sw_json *json, struct sw_report *report)
{
	const struct sw_coverage *coverage = &report->judgement->coverage;
	const char *line;
	sw_json_open(json, "coverage", '{');
#define SW_COVERAGE_PART(key) put_##key(json, report);
#define SW_COVERAGE(member, key, limit, words, meaning)                                                                \
	if (*(key))                                                                                                    \
		sw_json_number(json, key, coverage->member);
#include "detect/coverage.def"
	put_behaviour(json, &report->judgement->mays);
	put_lines(json, "notices", sw_reader_notice, report->reader);
	put_lines(json, "damage", sw_reader_damage, report->reader);
	sw_json_open(json, "symbols", '[');
	for (size_t i = 0; (line = sw_symbols_complaint(report->names.symbols, i)); i++)
		sw_json_text(json, NULL, line);
	sw_json_close(json, ']');
	sw_json_unusable_files(json, report);
	sw_json_close(json, '}');
}

static void put_gpu(struct sw_json *json, const struct sw_gpu_summary *gpu)
{
	sw_json_open(json, "gpu", '{');
	sw_json_number(json, "records", gpu->records);
	sw_json_number(json, "joined", gpu->joined);
	sw_json_number(json, "unmatched", gpu->unmatched);
	sw_json_number(json, "untimed", gpu->untimed);
	sw_json_number(json, "lost", gpu->lost);
	sw_json_number(json, "left_out", gpu->left_out);
	sw_json_number(json, "operations_timed", gpu->operations_timed);
	sw_json_number(json, "operations_untimed", gpu->operations_untimed);
	sw_json_bool(json, "complete", gpu->complete);
	sw_json_number(json, "clock_error_ns", gpu->clock_error_ns);
	sw_json_bool(json, "clock_error_proven", gpu->clock_bounded);
	sw_json_number(json, "clock_wrong_ns", gpu->clock_wrong_ns);
	sw_json_number(json, "clock_jumps", gpu->clock_jumps);
	sw_json_close(json, '}');
}

static void put_replay(struct sw_json *json, struct sw_names *names, const struct sw_judgement *judgement)
{
	const struct sw_schedule_facts *facts = &judgement->schedule;
	const struct sw_schedule_sums *sums = &judgement->sums;
	if (!facts->operations) {
		sw_json_text(json, "replay", NULL);
		return;
	}
	sw_json_open(json, "replay", '{');
	sw_json_number(json, "operations", facts->operations);
	sw_json_number(json, "timed", facts->timed);
	sw_json_number(json, "bracketed", facts->bracketed);
	sw_json_ms(json, "run_ms", facts->run_ns);
	sw_json_ms(json, "kept_ms", facts->kept_ns);
	sw_json_number(json, "windows", facts->windows);
	sw_json_number(json, "residual_permille", facts->residual_permille);
	sw_json_bool(json, "reliable", facts->reliable);
	sw_json_ms(json, "host_blocked_ms", sums->blocked_ns);
	sw_json_ms(json, "device_busy_ms", sums->busy_ns);
	sw_json_ms(json, "device_idle_ms", sums->idle_ns);
	sw_json_ms(json, "device_idle_while_host_blocked_ms", sums->idle_blocked_ns);
	sw_json_ms(json, "copy_ms", sums->copy_ns);
	sw_json_ms(json, "kernel_ms", sums->kernel_ns);
	sw_json_ms(json, "overlap_ms", sums->overlap_ns);
	sw_json_ms(json, "overlap_possible_ms", sums->overlap_possible_ns);
	sw_json_open(json, "recoverable", '[');
	for (uint32_t i = 0; i < judgement->togethers; i++) {
		const struct sw_together *t = &judgement->together[i];
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "id", t->id ? sw_names_format(names, "SW%03d", t->id) : "all");
		sw_json_number(json, "findings", t->findings);
		sw_json_ms(json, "low_ms", t->low_ns);
		sw_json_ms(json, "high_ms", t->high_ns);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_open(json, "critical_path", '{');
	for (int i = 0; i < SW_STRETCHES; i++)
		if (i != SW_STRETCH_WORK)
			sw_json_ms(json, sw_replay_stretch((enum sw_stretch_kind)i, SW_DOES_OTHER), sums->path_ns[i]);
	for (int i = 0; i <= SW_DOES_OTHER; i++)
		sw_json_ms(json, sw_replay_stretch(SW_STRETCH_WORK, (enum sw_work_kind)i), sums->path_work_ns[i]);
	sw_json_close(json, '}');
	sw_json_close(json, '}');
}

/* What held host threads; kinds that did not are left out. */
static void put_host_waits(struct sw_json *json, const struct sw_judgement *judgement)
{
	static const char *const kinds[] = {
#define SW_HOST_WAIT(name, kind, several) [SW_HOST_WAIT_##name] = kind,
#include "detect/host_waits.def"
	};
	sw_json_open(json, "host_waits", '[');
	for (size_t i = 0; i < SW_HOST_WAITS; i++) {
		if (!judgement->host_waits[i].calls)
			continue;
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "kind", kinds[i]);
		sw_json_number(json, "calls", judgement->host_waits[i].calls);
		sw_json_ms(json, "ms", judgement->host_waits[i].ns);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

static void put_summary(struct sw_json *json, const struct sw_report *report)
{
	const struct sw_judgement *judgement = report->judgement;
	sw_json_open(json, "summary", '{');
	sw_json_number(json, "errors", report->totals.errors);
	sw_json_number(json, "warnings", report->totals.warnings);
	sw_json_number(json, "notes", report->totals.notes);
	sw_json_number(json, "suppressed", report->totals.suppressed);
	sw_json_number(json, "hidden", report->totals.hidden);
	sw_json_ms(json, "host_wait_ms", judgement->host_wait_ns);
	put_host_waits(json, judgement);
	if (judgement->gpu.recorded)
		put_gpu(json, &judgement->gpu);
	put_replay(json, (struct sw_names *)&report->names, judgement);
	sw_json_number(json, "folded_waits", judgement->folded_waits);
	sw_json_ms(json, "folded_wait_ms", judgement->folded_wait_ns);
	sw_json_close(json, '}');
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

static void put_stack(struct sw_json *json, struct sw_names *names, const char *key, uint32_t stack, uint32_t function)
{
	struct sw_stack_view view = sw_stack_view(names, stack, function);
	sw_json_open(json, key, '[');
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_frame *frame = view.at[i].frame;
		sw_json_open(json, NULL, '{');
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

static void put_stream(struct sw_json *json, struct sw_report *report, uint32_t stream)
{
	static const char *const kinds[] = {"host", "blocking", "non-blocking", "legacy", "per-thread", "host"};
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
	put_stack(json, &report->names, "stack", info->stack, 0);
	sw_json_close(json, '}');
}

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

/* What the code of a kernel says. */
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

static const char *position(const struct sw_finding *finding, uint32_t index)
{
	if (!sw_is_hazard(finding))
		return index == 0 ? "call" : "related";
	return index == 0 ? "earlier" : index == 1 ? "later" : "related";
}

/* Innermost first; left out where the program has none. */
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
	put_nvtx(json, report->judgement, access->nvtx);
	put_stack(json, &report->names, "stack", access->stack, access->function);
	sw_json_close(json, '}');
}

static void put_recoverable(struct sw_json *json, const struct sw_cost *cost)
{
	const char *line;
	if (!cost->replayed) {
		sw_json_text(json, "recoverable_ms", NULL);
		return;
	}
	sw_json_open(json, "recoverable_ms", '{');
	sw_json_ms(json, "low", cost->win_low_ns);
	sw_json_ms(json, "high", cost->win_high_ns);
	sw_json_text(json, "times", cost->timed ? "device" : "host");
	sw_json_bool(json, "reliable", cost->reliable);
	sw_json_open(json, "assumptions", '[');
	for (size_t i = 0; (line = sw_replay_assumption(cost, i)); i++)
		sw_json_text(json, NULL, line);
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

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
	sw_json_ms(json, "win_low_ms", cost->win_low_ns);
	sw_json_ms(json, "win_high_ms", cost->win_high_ns);
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

void sw_report_json_finding(struct sw_json *json, struct sw_report *report, size_t index)
{
	const struct sw_shown_finding *told = &report->told.at[index];
	const struct sw_finding *finding = told->finding;
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "id", sw_names_format(&report->names, "SW%03d", finding->id));
	sw_json_text(json, "kind", told->info->kind);
	sw_json_text(json, "severity", sw_name_severity(finding->severity));
	sw_json_text(json, "confidence", sw_name_confidence(finding->confidence));
	sw_json_text(json, "basis", sw_name_basis(finding->basis));
	sw_json_number(json, "count", finding->count);
	sw_json_text(json, "message", told->words.message);
	sw_json_text(json, "advice", told->words.fix);
	sw_json_text(json, "ordered_by", told->words.ordered_by);
	sw_json_text(json, "missing_edge", told->words.missing_edge);
	sw_json_bool(json, "measured_order", finding->measured_order);
	sw_json_bool(json, "host_order", finding->host_order);
	sw_json_bool(json, "not_waited", finding->not_waited);
	sw_json_bool(json, "suppressed", told->suppressed);
	sw_json_bool(json, "hidden", finding->hidden);
	sw_json_text(json, "suppression", told->suppression);
	sw_json_open(json, "accesses", '[');
	for (uint32_t i = 0; i < finding->accesses; i++)
		put_access(json, report, NULL, &finding->access[i], position(finding, i));
	sw_json_close(json, ']');
	if (finding->waited_for.seq)
		put_access(json, report, "waited_for", &finding->waited_for, "waited-for");
	else
		sw_json_text(json, "waited_for", NULL);
	sw_json_open(json, "needs", '[');
	for (uint32_t i = 0; i < finding->needs; i++) {
		sw_json_open(json, NULL, '{');
		put_stream(json, report, finding->need[i].stream);
		sw_json_text(json, "needed_by",
			     finding->need[i].to ? sw_name_stream(&report->names, finding->need[i].to) : "the host");
		sw_json_number(json, "until_sequence", finding->need[i].seq);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	put_cost(json, &finding->cost);
	if (finding->id == SW_FINDING_LEGACY_SERIALISATION) {
		sw_json_open(json, "held_back", '{');
		sw_json_number(json, "timed", finding->held.timed);
		sw_json_number(json, "untimed", finding->held.untimed);
		sw_json_ms(json, "at_most_ms", finding->held.ns);
		sw_json_close(json, '}');
	}
	sw_json_text(json, "fingerprint", sw_names_format(&report->names, "%016" PRIx64, told->fingerprint));
}

static void put_in_flight(struct sw_json *json, struct sw_report *report)
{
	sw_json_open(json, "in_flight", '[');
	for (size_t i = 0; i < report->in_flight.n; i++) {
		const struct sw_in_flight *call = &report->in_flight.at[i];
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "api", sw_name_api(&report->names, call->api, call->flags, call->stack));
		sw_json_number(json, "thread", call->thread);
		sw_json_number(json, "sequence", call->seq);
		sw_json_ms(json, "time_ms", call->t_ns);
		put_stack(json, &report->names, "stack", call->stack, 0);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

void sw_report_json_head(struct sw_json *json, struct sw_report *report)
{
	sw_json_text(json, "schema", "syncwatch-report/1");
	put_program(json, report);
	put_devices(json, report);
}

void sw_report_json_tail(struct sw_json *json, struct sw_report *report)
{
	const char *line;
	put_in_flight(json, report);
	sw_json_open(json, "unused_suppressions", '[');
	for (size_t i = 0; (line = sw_suppress_unused(report->suppressions, i)); i++)
		sw_json_text(json, NULL, line);
	sw_json_close(json, ']');
	/* Last: only now is it known which symbols could not be used. */
	put_coverage(json, report);
}

void sw_report_json_members(struct sw_json *json, struct sw_report *report)
{
	sw_report_json_head(json, report);
	sw_json_open(json, "findings", '[');
	for (size_t i = 0; i < report->told.n; i++) {
		sw_report_json_finding(json, report, i);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	put_summary(json, report);
	sw_report_json_tail(json, report);
}

void sw_report_json(struct sw_report *report, FILE *out)
{
	struct sw_json json = {.out = out};
	sw_json_open(&json, NULL, '{');
	sw_report_json_members(&json, report);
	sw_json_close(&json, '}');
}
