/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON: doc/report.schema.json says what each member means. Members are only ever added. */
#include <inttypes.h>
#include <stdlib.h>

#include "reader/ranks.h"
#include "report/groups.h"
#include "report/json/json_out.h"
#include "report/json/report_parts.h"
#include "report/report.h"
#include "report/symbols/stack.h"
#include "report/words/evidence_text.h"
#include "report/words/wording.h"

/* Files of the run that are missing or changed, as JSON. */

/* Members "unusable_files" and "fix" of the coverage. */
static void json_unusable_files(struct sw_json *json, struct sw_report *report)
{
	sw_unusable_file_vec files;
	sw_unusable_files(report, &files);
	sw_json_open(json, "unusable_files", '[');
	for (size_t i = 0; i < files.n; i++) {
		const struct sw_unusable_file *file = &files.at[i];
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "path", file->path);
		sw_json_text(json, "state", file->changed ? "changed" : "missing");
		sw_json_number(json, "kernels", file->kernels);
		sw_json_bool(json, "names", file->names);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_text(json, "fix", files.n ? sw_unusable_files_fix(report) : NULL);
	free(files.at);
}

/* Findings by their cause, as JSON: doc/report.schema.json says what each member means. */

/* Writes a frame as file, line, function and module; null for none. */
static void put_place(struct sw_json *json, const char *key, const struct sw_frame *frame)
{
	if (!frame) {
		sw_json_text(json, key, NULL);
		return;
	}
	sw_json_open(json, key, '{');
	sw_json_text(json, "file", frame->file);
	sw_json_number(json, "line", frame->line > 0 ? (uint64_t)frame->line : 0);
	sw_json_text(json, "function", frame->function);
	sw_json_text(json, "module", frame->module);
	sw_json_number(json, "offset", frame->offset);
	sw_json_close(json, '}');
}

/* Writes the advice for a group: its sentence and the lines of code. */
static void put_fix(struct sw_json *json, struct sw_report *report, const struct sw_group *group)
{
	static const char *const where[] = {
		[SW_FIX_ONCE] = "once",	      [SW_FIX_AFTER] = "after",	    [SW_FIX_BEFORE] = "before",
		[SW_FIX_INSTEAD] = "instead", [SW_FIX_LAST] = "before_use", [SW_FIX_WITHOUT] = "remove",
	};
	struct sw_group_fix fix;
	sw_group_fix(report, group, &fix);
	sw_json_open(json, "fix", '{');
	sw_json_text(json, "text", fix.text);
	sw_json_text(json, "note", fix.note);
	sw_json_text(json, "no_lines_because", *fix.why ? fix.why : NULL);
	sw_json_open(json, "lines", '[');
	for (uint32_t i = 0; i < fix.lines.n; i++) {
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "where", where[fix.lines.line[i].where]);
		put_place(json, "place", fix.lines.line[i].frame);
		sw_json_text(json, "code", fix.lines.line[i].code);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* Writes the fingerprint of a shown finding. */
static void put_fingerprint(struct sw_json *json, const char *key, struct sw_report *report, size_t index)
{
	sw_json_text(json, key, sw_names_format(&report->names, "%016" PRIx64, report->shown.at[index].fingerprint));
}

/* Writes the order that a group is missing: after which call, before which. */
static void put_edge(struct sw_json *json, struct sw_report *report, const struct sw_group *group)
{
	if (!group->edges) {
		sw_json_text(json, "missing_edge", NULL);
		return;
	}
	sw_json_open(json, "missing_edge", '{');
	sw_json_number(json, "after_sequence", group->after->seq);
	put_place(json, "after", sw_place_of(&report->names, group->after, group->before));
	sw_json_text(json, "from", sw_name_stream(&report->names, group->after->stream));
	sw_json_number(json, "before_sequence", group->before->seq);
	put_place(json, "before", sw_place_of(&report->names, group->before, group->after));
	sw_json_text(json, "to", sw_name_stream(&report->names, group->before->stream));
	sw_json_close(json, '}');
}

/* Writes a group of findings with one cause. */
static void put_group(struct sw_json *json, struct sw_report *report, const struct sw_group *group)
{
	const struct sw_shown_finding *leader = &report->shown.at[group->leader];
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "id", sw_names_format(&report->names, "SW%03d", leader->finding->id));
	sw_json_text(json, "severity", sw_name_severity(leader->finding->severity));
	sw_json_text(json, "message", sw_report_words(report, leader).message);
	put_place(json, "place", sw_report_site(report, leader->finding));
	put_fingerprint(json, "leader", report, group->leader);
	sw_json_open(json, "members", '[');
	put_fingerprint(json, NULL, report, group->leader);
	for (size_t k = 0; k < group->members.n; k++)
		put_fingerprint(json, NULL, report, group->members.at[k]);
	sw_json_close(json, ']');
	sw_json_number(json, "missing_edges", group->edges);
	put_edge(json, report, group);
	put_fix(json, report, group);
	sw_json_ms(json, "cost_ms", sw_group_cost(report, group));
	sw_json_close(json, '}');
}

/* Writes the member "groups". */
void sw_report_json_groups(struct sw_json *json, struct sw_report *report)
{
	sw_json_open(json, "groups", '[');
	for (size_t i = 0; i < report->groups.n; i++) {
		struct sw_names_scope scope;
		sw_names_scope_begin(&report->names, &scope);
		put_group(json, report, &report->groups.at[i]);
		sw_names_scope_end(&report->names, &scope);
	}
	sw_json_close(json, ']');
}

/* Savings of following the advice on waits: of one finding, and of several together. */

void sw_report_json_saving(struct sw_json *json, struct sw_names *names, const char *key, const struct sw_saving *s)
{
	sw_json_open(json, key, '{');
	sw_json_text(json, "verdict", sw_saving_key(s->verdict));
	sw_json_text(json, "reason", s->reason ? sw_saving_reason_key(s->reason) : NULL);
	sw_json_text(json, "text", sw_saving_text(names, s));
	sw_json_text(json, "change", s->change);
	sw_json_number(json, "calls", s->calls);
	sw_json_number(json, "passed", s->passed);
	if (s->verdict == SW_SAVING_MEASURED) {
		sw_json_signed(json, "saved_ns", s->saved_ns);
		sw_json_signed(json, "low_ns", s->low_ns);
		sw_json_signed(json, "high_ns", s->high_ns);
		sw_json_number(json, "base_ns", s->base_ns);
		sw_json_signed(json, "before_ns", s->before_ns);
		sw_json_signed(json, "once_ns", s->once_ns);
		sw_json_number(json, "parts", s->parts);
		sw_json_number(json, "left_out", s->left_out);
		sw_json_signed(json, "left_out_ns", s->left_out_ns);
		sw_json_signed(json, "whole_ns", s->whole_ns);
		sw_json_signed(json, "whole_low_ns", s->whole_low_ns);
		sw_json_signed(json, "whole_high_ns", s->whole_high_ns);
		sw_json_number(json, "whole_base_ns", s->whole_base_ns);
		sw_json_number(json, "pairs", s->pairs);
		sw_json_number(json, "copies", s->copies);
		sw_json_bool(json, "printed", s->printed);
	}
	sw_json_number(json, "runs", s->runs);
	sw_json_close(json, '}');
}

/* Writes the member "savings", where following the advice was tried. */
static void report_json_savings(struct sw_json *json, struct sw_report *report)
{
	const struct sw_savings_total *total = report->savings;
	if (!total)
		return;
	sw_json_open(json, "savings", '{');
	sw_report_json_saving(json, &report->names, "together", &total->all);
	sw_json_open(json, "order", '[');
	for (size_t i = 0; i < total->steps.n; i++) {
		const struct sw_saving_step *step = &total->steps.at[i];
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "id", sw_names_format(&report->names, "SW%03d", step->shown->finding->id));
		sw_json_text(json, "fingerprint",
			     sw_names_format(&report->names, "%016" PRIx64, step->shown->fingerprint));
		sw_json_bool(json, "left_out", step->left_out);
		sw_json_signed(json, "alone_ns", total->only ? 0 : step->alone_ns);
		sw_json_signed(json, "total_ns", step->total_ns);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* Writes which rank of a job the process was. */
static void put_rank(struct sw_json *json, const struct sw_trace_environment *environment)
{
	struct sw_rank rank;
	if (environment)
		sw_json_text(json, "host", environment->host);
	if (!sw_rank_of(environment, &rank))
		return;
	sw_json_number(json, "rank", rank.rank);
	sw_json_number(json, "ranks", rank.size);
}

/* Writes the member "program": path, arguments and trace. */
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
	put_rank(json, sw_reader_environment(report->reader));
	sw_json_text(json, "trace", sw_reader_path(report->reader));
	sw_json_bool(json, "ended_in_order", totals.closed);
	sw_json_bool(json, "simulated", report->judgement->simulated);
	sw_json_bool(json, "strict_host", report->judgement->strict_host);
	sw_json_ms(json, "span_ms", report->judgement->span_ns);
	sw_json_number(json, "cuda_driver_version", header->cuda_driver_version);
	sw_json_close(json, '}');
}

/* Writes the GPUs of the run. */
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

/* Writes which modules use CUDA, and how they are linked to the runtime. */
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

/* Writes an array of strings, which `at` gives by index until NULL. */
static void put_lines(struct sw_json *json, const char *key,
		      const char *(*at)(const struct sw_reader *reader, size_t index), const struct sw_reader *reader)
{
	const char *line;
	sw_json_open(json, key, '[');
	for (size_t i = 0; (line = at(reader, i)); i++)
		sw_json_text(json, NULL, line);
	sw_json_close(json, ']');
}

/* Writes how many kernels were analysed, and how long that took. */
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

/* Puts the tables of calibrate that were used, the rules in which they differ from those built in, and tables that
   could not be used; nothing where none was found. */
static void put_behaviour(struct sw_json *json, const struct sw_wait_rules *wait_rules)
{
	if (!wait_rules->used.n && !wait_rules->complaints.n)
		return;
	sw_json_open(json, "behaviour", '{');
	sw_json_open(json, "tables", '[');
	for (size_t i = 0; i < wait_rules->used.n; i++)
		sw_json_text(json, NULL, wait_rules->used.at[i]);
	sw_json_close(json, ']');
	sw_json_open(json, "differs", '[');
	for (int i = 0; i < SW_WAIT_RULES; i++) {
		bool built_in;
		const char *text = sw_wait_rule_text((enum sw_wait_rule)i, &built_in);
		if (!(wait_rules->differs >> i & 1))
			continue;
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "rule", text);
		sw_json_bool(json, "here", !built_in);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	sw_json_open(json, "unusable", '[');
	for (size_t i = 0; i < wait_rules->complaints.n; i++)
		sw_json_text(json, NULL, wait_rules->complaints.at[i]);
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* Writes how many launches are known by which evidence. */
static void put_kernels_by_evidence(struct sw_json *json, const struct sw_report *report)
{
	sw_json_open(json, "kernels_by_evidence", '{');
	for (int i = 0; i <= SW_EV_EXACT; i++)
		sw_json_number(json, sw_name_evidence((enum sw_evidence)i),
			       report->judgement->coverage.kernels_by_evidence[i]);
	sw_json_close(json, '}');
}

/* Writes how many launches are known by which source: PTX, machine code, signature ... */
static void put_kernels_by_source(struct sw_json *json, const struct sw_report *report)
{
	sw_json_open(json, "kernels_by_source", '{');
	for (int i = 0; i < SW_BY_SOURCES; i++)
		sw_json_number(json, sw_name_source((enum sw_evidence_source_kind)i),
			       report->judgement->coverage.kernels_by_source[i]);
	sw_json_close(json, '}');
}

/* Writes the member "coverage", by the rows of coverage.def. */
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
	put_behaviour(json, &report->judgement->wait_rules);
	put_lines(json, "notices", sw_reader_notice, report->reader);
	put_lines(json, "damage", sw_reader_damage, report->reader);
	sw_json_open(json, "symbols", '[');
	for (size_t i = 0; (line = sw_symbols_complaint(report->names.symbols, i)); i++)
		sw_json_text(json, NULL, line);
	sw_json_close(json, ']');
	json_unusable_files(json, report);
	sw_json_close(json, '}');
}

/* Writes how the devices' time stamps were joined to the calls. */
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

/* Writes an interval of milliseconds. */
static void put_between(struct sw_json *json, const char *key, uint64_t low_ns, uint64_t high_ns)
{
	sw_json_open(json, key, '[');
	sw_json_ms(json, NULL, low_ns);
	sw_json_ms(json, NULL, high_ns);
	sw_json_close(json, ']');
}

/* Writes the member "replay": the critical path and the sums of the run. */
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
		sw_json_bool(json, "needs_gpu_timeline", t->vague);
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
	sw_json_open(json, "critical_path_between", '{');
	for (int i = 0; i < SW_STRETCHES; i++)
		if (i != SW_STRETCH_WORK)
			put_between(json, sw_replay_stretch((enum sw_stretch_kind)i, SW_DOES_OTHER),
				    sums->path_low_ns[i], sums->path_high_ns[i]);
	for (int i = 0; i <= SW_DOES_OTHER; i++)
		put_between(json, sw_replay_stretch(SW_STRETCH_WORK, (enum sw_work_kind)i), sums->path_work_low_ns[i],
			    sums->path_work_high_ns[i]);
	sw_json_close(json, '}');
	sw_json_close(json, '}');
}

/* Writes how long the host waited, by kind of call. */
void sw_report_json_host_waits(struct sw_json *json, const struct sw_host_wait *host_waits)
{
	static const char *const kinds[] = {
#define SW_HOST_WAIT(name, kind, several) [SW_HOST_WAIT_##name] = kind,
#include "detect/host_waits.def"
	};
	sw_json_open(json, "host_waits", '[');
	for (size_t i = 0; i < SW_HOST_WAITS; i++) {
		if (!host_waits[i].calls)
			continue;
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "kind", kinds[i]);
		sw_json_number(json, "calls", host_waits[i].calls);
		sw_json_ms(json, "ms", host_waits[i].ns);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

void sw_report_json_summary(struct sw_json *json, struct sw_report *report)
{
	const struct sw_judgement *judgement = report->judgement;
	sw_json_number(json, "errors", report->totals.errors);
	sw_json_number(json, "warnings", report->totals.warnings);
	sw_json_number(json, "notes", report->totals.notes);
	sw_json_number(json, "suppressed", report->totals.suppressed);
	if (report->totals.known)
		sw_json_number(json, "known", report->totals.known);
	sw_json_number(json, "hidden", report->totals.hidden);
	sw_json_ms(json, "host_wait_ms", judgement->host_wait_ns);
	sw_report_json_host_waits(json, judgement->host_waits);
	if (judgement->gpu.recorded)
		put_gpu(json, &judgement->gpu);
	put_replay(json, &report->names, judgement);
	sw_json_number(json, "folded_waits", judgement->folded_waits);
	sw_json_ms(json, "folded_wait_ms", judgement->folded_wait_ns);
}

/* Writes the member "summary": the counts, and what the report cannot say. */
static void put_summary(struct sw_json *json, struct sw_report *report)
{
	sw_json_open(json, "summary", '{');
	sw_report_json_summary(json, report);
	sw_json_bool(json, "complete", report->gaps.n == 0);
	sw_json_open(json, "gaps", '[');
	for (size_t i = 0; i < report->gaps.n; i++)
		sw_json_text(json, NULL, report->gaps.at[i]);
	sw_json_close(json, ']');
	sw_json_close(json, '}');
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

/* Writes the calls that were in progress when the program ended. */
static void put_in_flight(struct sw_json *json, struct sw_report *report)
{
	sw_json_open(json, "in_flight", '[');
	for (size_t i = 0; i < report->in_flight.n; i++) {
		const struct sw_in_flight *call = &report->in_flight.at[i];
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "api",
			     call->name ? call->name
					: sw_name_api(&report->names, call->api, call->flags, call->stack));
		sw_json_number(json, "thread", call->thread);
		sw_json_number(json, "sequence", call->seq);
		sw_json_ms(json, "time_ms", call->t_ns);
		sw_report_json_stack(json, &report->names, "stack", call->stack, 0);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
}

/* Rules that forbid calls; left out where there is none. */
static void put_gate(struct sw_json *json, const struct sw_judgement *judgement)
{
	if (!judgement->gate.n)
		return;
	sw_json_open(json, "rules", '[');
	for (size_t i = 0; i < judgement->gate.n; i++) {
		const struct sw_gate_result *rule = &judgement->gate.at[i];
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "option", rule->option);
		sw_json_text(json, "rule", rule->text);
		sw_json_number(json, "entries", rule->entered);
		sw_json_number(json, "skipped", rule->skipped);
		sw_json_number(json, "calls", rule->calls);
		sw_json_number(json, "found", rule->found);
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

/* Writes the members after the findings. */
void sw_report_json_tail(struct sw_json *json, struct sw_report *report)
{
	const char *line;
	put_in_flight(json, report);
	put_gate(json, report->judgement);
	sw_json_open(json, "unused_suppressions", '[');
	for (size_t i = 0; (line = sw_suppress_unused(report->suppressions, i)); i++)
		sw_json_text(json, NULL, line);
	sw_json_close(json, ']');
	struct sw_suppress_use use;
	sw_json_open(json, "suppressions", '[');
	for (size_t i = 0; sw_suppress_used(report->suppressions, i, &use); i++) {
		sw_json_open(json, NULL, '{');
		sw_json_text(json, "place", use.place);
		sw_json_text(json, "line", use.text);
		sw_json_number(json, "findings", use.findings);
		sw_json_number(json, "errors", use.errors);
		sw_json_close(json, '}');
	}
	sw_json_close(json, ']');
	/* Last: only now is it known which symbols could not be used. */
	put_coverage(json, report);
}

void sw_report_json_members(struct sw_json *json, struct sw_report *report)
{
	sw_report_json_head(json, report);
	sw_json_open(json, "findings", '[');
	for (size_t i = 0; i < report->shown.n; i++) {
		struct sw_names_scope scope;
		sw_names_scope_begin(&report->names, &scope);
		sw_report_json_open_finding(json, report, i);
		sw_json_close(json, '}');
		sw_names_scope_end(&report->names, &scope);
	}
	sw_json_close(json, ']');
	sw_report_json_groups(json, report);
	report_json_savings(json, report);
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
