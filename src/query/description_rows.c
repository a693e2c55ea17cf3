/* SPDX-License-Identifier: Apache-2.0 */
#include "query/description_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "report/json/json_out.h"
#include "report/symbols/stack.h"

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* As JSON: an argument may hold anything.  malloc'ed. */
static char *arguments_of(const struct sw_trace_process *process)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	if (!out)
		return sw_strdup("[]");
	putc('[', out);
	for (uint32_t i = 0; process && i < process->args; i++) {
		fputs(i ? "," : "", out);
		sw_json_quote(out, process->arg[i]);
	}
	putc(']', out);
	fclose(out);
	return text;
}

static void put_program(struct sw_rows *rows, const struct sw_names *names)
{
	const struct sw_trace_process *process = sw_reader_process(names->reader);
	const struct sw_file_header *header = sw_reader_header(names->reader);
	if (!sw_rows_begin(rows, SW_QUERY_program))
		return;
	char *arguments = arguments_of(process);
	sw_rows_text(rows, process ? process->exe : "");
	sw_rows_text(rows, arguments);
	sw_rows_text(rows, process ? process->cwd : "");
	sw_rows_number(rows, process ? process->pid : header->pid);
	sw_rows_text(rows, sw_reader_path(names->reader));
	sw_rows_number(rows, sw_reader_totals(names->reader).closed);
	sw_rows_number(rows, names->judgement->simulated);
	sw_rows_ms(rows, names->judgement->span_ns);
	sw_rows_number(rows, header->cuda_driver_version);
	sw_rows_end(rows);
	free(arguments);
}

static void put_devices(struct sw_rows *rows, struct sw_names *names)
{
	const struct sw_trace_device *device;
	for (size_t i = 0; (device = sw_reader_device(names->reader, i)); i++) {
		if (!sw_rows_begin(rows, SW_QUERY_devices))
			return;
		sw_rows_number(rows, device->ordinal);
		sw_rows_text(rows, device->name);
		sw_rows_text(rows, sw_names_format(names, "%u.%u", device->major, device->minor));
		sw_rows_number(rows, device->multiprocessors);
		sw_rows_number(rows, (int64_t)device->memory_bytes);
		sw_rows_end(rows);
	}
}

static void put_threads(struct sw_rows *rows, const struct sw_reader *reader)
{
	const struct sw_trace_thread *thread;
	for (uint32_t i = 1; (thread = sw_reader_thread(reader, i)); i++) {
		if (!sw_rows_begin(rows, SW_QUERY_threads))
			return;
		sw_rows_number(rows, thread->thread);
		sw_rows_number(rows, thread->tid);
		sw_rows_number(rows, thread->main);
		sw_rows_text(rows, thread->name && *thread->name ? thread->name : NULL);
		sw_rows_end(rows);
	}
}

static void put_modules(struct sw_rows *rows, struct sw_names *names)
{
	static const char *const links[] = {
		[SW_CUDART_SHARED] = "shared", [SW_CUDART_STATIC] = "static", [SW_CUDART_OTHER] = "driver"};
	const struct sw_trace_module *module;
	for (size_t i = 0; (module = sw_reader_module_at(names->reader, i)); i++) {
		char id[2 * 64 + 1] = "";
		if (!sw_rows_begin(rows, SW_QUERY_modules))
			return;
		for (uint32_t k = 0; k < module->build_id_bytes && k < 64; k++)
			snprintf(id + 2 * k, 3, "%02x", module->build_id[k]);
		sw_rows_text(rows, module->path);
		sw_rows_text(rows, *id ? id : NULL);
		sw_rows_number(rows, (int64_t)module->start);
		sw_rows_number(rows, (int64_t)module->end);
		sw_rows_number(rows, (int64_t)module->mapped_seq);
		sw_rows_known(rows, module->gone_seq == UINT64_MAX ? 0 : (int64_t)module->gone_seq);
		sw_rows_text(rows, module->cudart < sizeof links / sizeof *links ? links[module->cudart] : NULL);
		sw_rows_end(rows);
	}
}

static void put_coverage(struct sw_rows *rows, const struct sw_coverage *coverage)
{
	const struct {
		const char *counter;
		uint64_t value;
	} counters[] = {
#define SW_COVERAGE(member, key, limit, words, meaning) {key, coverage->member},
#include "detect/coverage.def"
#undef SW_COVERAGE
	};
	for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
		if (!*counters[i].counter || !sw_rows_begin(rows, SW_QUERY_coverage))
			continue;
		sw_rows_text(rows, counters[i].counter);
		sw_rows_number(rows, (int64_t)counters[i].value);
		sw_rows_end(rows);
	}
}

static void put_notices(struct sw_rows *rows, const char *kind, const struct sw_reader *reader,
			const char *(*at)(const struct sw_reader *reader, size_t index))
{
	const char *line;
	for (size_t i = 0; (line = at(reader, i)); i++) {
		if (!sw_rows_begin(rows, SW_QUERY_notices))
			return;
		sw_rows_text(rows, kind);
		sw_rows_text(rows, line);
		sw_rows_end(rows);
	}
}

/* ---- streams and kernels ----------------------------------------------------------------------------------------- */

static void put_streams(struct sw_rows *rows, struct sw_names *names)
{
	static const char *const kinds[] = {
		[SW_LANE_HOST] = "host",
		[SW_LANE_BLOCKING] = "blocking",
		[SW_LANE_NONBLOCKING] = "non-blocking",
		[SW_LANE_LEGACY] = "legacy",
		[SW_LANE_PER_THREAD] = "per-thread",
		[SW_LANE_CALLBACK] = "host",
	};
	for (uint32_t i = 1; i < names->judgement->streams.n; i++) {
		const struct sw_stream_info *info = &names->judgement->streams.at[i];
		if (!sw_rows_begin(rows, SW_QUERY_streams))
			return;
		sw_rows_number(rows, i);
		sw_rows_text(rows, sw_name_stream(names, i));
		sw_rows_text(rows, kinds[info->kind]);
		sw_rows_number(rows, (int64_t)info->handle);
		sw_rows_number(rows, info->device);
		sw_rows_known(rows, info->kind == SW_LANE_PER_THREAD ? info->thread : 0);
		sw_rows_text(rows, sw_name_stream_site(names, i));
		sw_rows_known(rows, (int64_t)info->create_seq);
		sw_rows_known(rows, info->create_stack);
		sw_rows_end(rows);
	}
}

static void put_kernels(struct sw_rows *rows, struct sw_names *names, const struct sw_map *launches)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(launches, i, &slot));) {
		const struct sw_trace_function *f = sw_reader_function(names->reader, (uint32_t)slot.key);
		const struct sw_trace_image *image = f && f->image ? sw_reader_image(names->reader, f->image) : NULL;
		if (!sw_rows_begin(rows, SW_QUERY_kernels))
			return;
		sw_rows_number(rows, (int64_t)slot.key);
		sw_rows_text(rows, sw_name_kernel(names, (uint32_t)slot.key, true));
		sw_rows_text(rows, f ? f->name : "");
		if (f && !(f->flags & SW_FUNCTION_NO_LAYOUT))
			sw_rows_number(rows, f->params);
		else
			sw_rows_null(rows);
		sw_rows_text(rows, image && image->path[0] ? image->path : NULL);
		sw_rows_number(rows, (int64_t)slot.value);
		sw_rows_end(rows);
	}
}

/* ---- call stacks ------------------------------------------------------------------------------------------------- */

static void put_stack(struct sw_rows *rows, struct sw_names *names, uint32_t stack)
{
	const struct sw_trace_stack *recorded = sw_reader_stack(names->reader, stack);
	if (!sw_rows_begin(rows, SW_QUERY_raw_stacks))
		return;
	const struct sw_frame *site = sw_stack_site(names, stack, 0);
	sw_rows_number(rows, stack);
	sw_rows_number(rows, recorded->depth);
	sw_rows_number(rows, recorded->skipped == UINT32_MAX ? -1 : (int64_t)recorded->skipped);
	sw_rows_text(rows, site ? site->file : NULL);
	sw_rows_known(rows, site ? site->line : 0);
	sw_rows_text(rows, site ? site->function : NULL);
	sw_rows_end(rows);
}

static uint64_t text_hash(uint64_t hash, const char *text)
{
	return text ? sw_hash_bytes(hash, text, strlen(text)) : hash;
}

/* The row of a frame: frames that look alike are one. */
static uint64_t place_row(struct sw_rows *rows, struct sw_map *places, const struct sw_frame *frame)
{
	const uint64_t words[] = {frame->ip, frame->offset, (uint64_t)frame->line, frame->inlined};
	uint64_t hash = sw_hash_bytes(SW_FNV_START, words, sizeof words);
	uint64_t *row = sw_map_put(places, text_hash(text_hash(hash, frame->module), frame->symbol));
	if (*row)
		return *row;
	*row = places->n;
	if (sw_rows_begin(rows, SW_QUERY_raw_places)) {
		sw_rows_number(rows, (int64_t)*row);
		sw_rows_text(rows, frame->function);
		sw_rows_text(rows, frame->file);
		sw_rows_known(rows, frame->line);
		sw_rows_text(rows, frame->module);
		sw_rows_number(rows, (int64_t)frame->offset);
		sw_rows_number(rows, frame->inlined);
		sw_rows_end(rows);
	}
	return *row;
}

static void put_frames(struct sw_rows *rows, struct sw_names *names, struct sw_map *places, uint32_t stack)
{
	const struct sw_symbol_frames *frames = sw_symbols_stack(names->symbols, stack);
	for (size_t i = 0; i < frames->n; i++) {
		uint64_t place = place_row(rows, places, &frames->at[i]);
		if (!sw_rows_begin(rows, SW_QUERY_raw_frames))
			return;
		sw_rows_number(rows, stack);
		sw_rows_number(rows, (int64_t)i);
		sw_rows_number(rows, (int64_t)place);
		sw_rows_end(rows);
	}
}

/* Names are found for the stacks of so many calls at a time: those of all would not fit into memory. */
#define STACKS_AT_ONCE 4096u

static void put_stacks(struct sw_rows *rows, const struct sw_names *whole)
{
	struct sw_names names;
	struct sw_map places = {0};
	const bool stacks = rows->wanted[SW_QUERY_raw_stacks], frames = rows->wanted[SW_QUERY_raw_frames];
	if (!stacks && !frames)
		return;
	sw_names_init(&names, whole->reader, whole->judgement);
	for (uint32_t stack = 1; sw_reader_stack(whole->reader, stack) && !rows->failed; stack++) {
		if (stacks)
			put_stack(rows, &names, stack);
		if (frames)
			put_frames(rows, &names, &places, stack);
		if (stack % STACKS_AT_ONCE == 0) {
			sw_names_free(&names);
			sw_names_init(&names, whole->reader, whole->judgement);
		}
	}
	sw_names_free(&names);
	sw_map_free(&places);
}

void sw_description_rows(struct sw_rows *rows, struct sw_names *names, const struct sw_map *launches)
{
	put_program(rows, names);
	put_devices(rows, names);
	put_threads(rows, names->reader);
	put_modules(rows, names);
	put_coverage(rows, &names->judgement->coverage);
	put_notices(rows, "notice", names->reader, sw_reader_notice);
	put_notices(rows, "damage", names->reader, sw_reader_damage);
	put_streams(rows, names);
	put_kernels(rows, names, launches);
	put_stacks(rows, names);
}
