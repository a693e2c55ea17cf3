/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_report.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

struct sw_judgement judgement;
struct sw_report *report;

static struct sw_arena sides;

void setup_empty(void)
{
	fake_trace = (struct fake_trace){0};
	judgement = (struct sw_judgement){.span_ns = 12345678};
	*sw_vec_push(&judgement.streams) = (struct sw_stream_info){0};
}

void add_streams(enum sw_lane_kind kind, uint32_t n)
{
	for (uint32_t i = 1; i <= n; i++)
		*sw_vec_push(&judgement.streams) =
			(struct sw_stream_info){.handle = 0x55d0 + i, .kind = (uint8_t)kind, .number = i};
}

struct sw_allocation fake_allocation(void)
{
	return (struct sw_allocation){.address = 0x7f0000000000,
				      .bytes = 16384,
				      .memory = SW_MEM_DEVICE,
				      .number = 1,
				      .api = FAKE_API_ALLOC,
				      .flags = SW_RF_RUNTIME,
				      .stack = FAKE_AT_COPY,
				      .thread = 1,
				      .seq = 7};
}

void setup_report(void)
{
	setup_empty();
	*sw_vec_push(&judgement.streams) = (struct sw_stream_info){
		.handle = 0x55d0, .kind = SW_LANE_BLOCKING, .number = 1, .create_stack = FAKE_AT_CREATE};
	*sw_vec_push(&judgement.streams) =
		(struct sw_stream_info){.handle = 0x66e0, .kind = SW_LANE_NONBLOCKING, .number = 2, .name = "copies"};
	*sw_vec_push(&judgement.streams) = (struct sw_stream_info){.kind = SW_LANE_LEGACY};
	*sw_vec_push(&judgement.streams) =
		(struct sw_stream_info){.kind = SW_LANE_PER_THREAD, .thread = 2, .device = 1};
	*sw_vec_push(&judgement.allocations) = fake_allocation();
	*sw_vec_push(&judgement.allocations) = (struct sw_allocation){
		.address = 0x1000, .bytes = 64, .memory = SW_MEM_SYMBOL, .name = "table", .number = 2};
	judgement.coverage = (struct sw_coverage){.driver_calls = 120,
						  .runtime_calls = 118,
						  .launches = 40,
						  .copies = 3,
						  .bytes_copied = 3u << 20,
						  .sets = 1,
						  .syncs = 2};
	judgement.coverage.kernels_by_evidence[SW_EV_SIGNATURE] = 38;
	judgement.coverage.kernels_by_source[SW_BY_SIGNATURE] = 38;
	judgement.coverage.kernels_by_source[SW_BY_ASSUMED] = 2;
	judgement.coverage.kernels_by_evidence[SW_EV_ASSUMED] = 2;
}

void teardown_report(void)
{
	sw_report_free(report);
	report = NULL;
	free(judgement.streams.at);
	free(judgement.allocations.at);
	free(judgement.findings.at);
	free(judgement.gate.at);
	sw_arena_free(&sides);
}

struct sw_access *side_of(struct sw_finding *finding, int side)
{
	if (!finding->access[side] || finding->access[side] == &sw_no_access)
		finding->access[side] = sw_arena_alloc(&sides, sizeof **finding->access);
	return (struct sw_access *)(uintptr_t)finding->access[side];
}

struct sw_access launch(enum sw_role role, uint32_t function, uint32_t stream, uint32_t stack, uint64_t seq)
{
	return (struct sw_access){.role = role,
				  .kind = SW_REC_LAUNCH,
				  .api = FAKE_API_LAUNCH,
				  .flags = SW_RF_RUNTIME,
				  .seq = seq,
				  .t_ns = seq * 1000,
				  .thread = 1,
				  .stack = stack,
				  .stream = stream,
				  .function = function,
				  .param = 0,
				  .ranged = true,
				  .address = 0x7f0000001000,
				  .bytes = 4096,
				  .extent_known = true,
				  .allocation = 1,
				  .evidence = SW_EV_SIGNATURE};
}

struct sw_access call(enum sw_role role, enum sw_rec_kind kind, uint16_t api, uint32_t stream, uint32_t stack)
{
	return (struct sw_access){.role = role,
				  .kind = (uint8_t)kind,
				  .api = api,
				  .flags = SW_RF_RUNTIME,
				  .seq = 90,
				  .t_ns = 90000,
				  .thread = 1,
				  .stack = stack,
				  .stream = stream,
				  .param = -1};
}

struct sw_finding *add(int id, enum sw_severity severity, enum sw_confidence confidence)
{
	struct sw_finding *finding = sw_vec_push(&judgement.findings);
	*finding = (struct sw_finding){.id = id,
				       .severity = severity,
				       .confidence = confidence,
				       .count = 1,
				       .access = {&sw_no_access, &sw_no_access},
				       .cost = &sw_no_cost};
	return finding;
}

struct sw_finding *add_hazard(int id, enum sw_severity severity, struct sw_access earlier, struct sw_access later)
{
	struct sw_finding *hazard = add(id, severity, severity == SW_ERROR ? SW_CERTAIN : SW_LIKELY);
	hazard->operations = 1;
	hazard->accesses = 2;
	*side_of(hazard, 0) = earlier;
	*side_of(hazard, 1) = later;
	hazard->fix = SW_FIX_EVENT;
	return hazard;
}

struct sw_finding *add_race(enum sw_severity severity, uint32_t function)
{
	return add_hazard(101, severity, launch(SW_WRITE, FAKE_FILL, 1, FAKE_AT_FILL, 20),
			  launch(SW_READ, function, 2, FAKE_AT_SCALE, 21));
}

struct sw_finding *add_wait(struct sw_access first)
{
	struct sw_finding *wait = add(301, SW_WARNING, SW_CERTAIN);
	wait->count = 4;
	wait->accesses = 1;
	*side_of(wait, 0) = first;
	static const struct sw_cost cost = {.calls = 4, .total_ns = 12300000, .worst_ns = 8000000, .waited_calls = 4};
	wait->cost = &cost;
	wait->fix = SW_FIX_ASYNC;
	return wait;
}

struct sw_report *make(const struct sw_report_options *options)
{
	static const struct sw_report_options plain;
	sw_report_free(report);
	return report = sw_report_new((struct sw_reader *)&judgement, &judgement, options ? options : &plain);
}

char *styled_text(const struct sw_text_style *style)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = sw_memory_stream(&text, &bytes);
	sw_report_text(report, out, style);
	fclose(out);
	return text;
}

char *text_of(bool colour)
{
	return styled_text(&(struct sw_text_style){.colour = colour, .limit = SW_REPORT_LIMIT});
}

char *json_of(void)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = sw_memory_stream(&text, &bytes);
	sw_report_json(report, out);
	fclose(out);
	return text;
}
