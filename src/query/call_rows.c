/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are made while a trace is judged: calls, their kinds, order; and rows of what they refer to. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "query/rows.h"
#include "reader/kinds.h"
#include "report/json/json_out.h"
#include "report/symbols/stack.h"
#include "report/words/wording.h"

/* ---- the run ----------------------------------------------------------------------------------------------------- */

/* The program's arguments as JSON, since one may hold anything; malloc'ed. */
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

/* Adds the row of the program. */
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

/* Adds a row for each GPU. */
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

/* Adds a row for each thread. */
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

/* Adds a row for each shared object. */
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

/* Adds a row for each counter of the coverage. */
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

/* Adds a row for each text that `at` gives by index until NULL. */
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

/* Adds a row for each stream. */
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

/* Adds a row for each kernel that was launched. */
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

/* Adds the row of a call stack. */
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

/* The hash with a text added; NULL adds nothing. */
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

/* Adds a row for each frame of a call stack. */
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

/* Adds the rows of all call stacks, and their frames.  Names are found for the stacks of so many calls at a time: those
   of all would not fit into memory. */
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

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* The number of an entry point, with the kind of record that it makes. */
static uint64_t api_row(struct sw_call_rows *calls, const struct sw_rec *rec)
{
	uint64_t key = (uint64_t)rec->api << 16 | (rec->flags & SW_RF_RUNTIME ? 256u : 0) | rec->kind;
	uint64_t *row = sw_map_put(&calls->apis, key);
	if (!*row)
		*row = calls->apis.n;
	return *row;
}

/* Adds the row of a call. */
static void put_call(struct sw_call_rows *calls, const struct sw_operation *op)
{
	struct sw_rows *rows = calls->rows;
	const struct sw_rec *rec = op->record->rec;
	const bool in_flight = (rec->flags & SW_RF_PENDING) && !op->what.dur_ns;
	if (!sw_rows_begin(rows, SW_QUERY_raw_calls))
		return;
	sw_rows_number(rows, (int64_t)op->what.seq);
	sw_rows_number(rows, (int64_t)api_row(calls, rec));
	sw_rows_known(rows, op->what.thread);
	sw_rows_number(rows, op->what.device);
	sw_rows_known(rows, op->what.stream);
	sw_rows_number(rows, (int64_t)op->what.t_ns);
	if (in_flight)
		sw_rows_null(rows);
	else
		sw_rows_number(rows, (int64_t)op->what.dur_ns);
	sw_rows_number(rows, op->record->calls > 1 ? (int64_t)op->record->calls : 1);
	if (in_flight)
		sw_rows_null(rows);
	else
		sw_rows_number(rows, (int64_t)(op->record->calls > 1 ? op->record->inside_ns : op->what.dur_ns));
	sw_rows_number(rows, op->blocks);
	sw_rows_number(rows, rec->flags & SW_RF_PENDING ? 0 : rec->status);
	sw_rows_known(rows, op->what.stack);
	sw_rows_known(rows, op->gpu_end_ns ? (int64_t)op->gpu_start_ns : 0);
	sw_rows_known(rows, (int64_t)op->gpu_end_ns);
	sw_rows_end(rows);
}

/* Adds the row of a launch, and counts it for its kernel. */
static void put_launch(struct sw_call_rows *calls, uint64_t seq, const struct sw_rec_launch *launch)
{
	struct sw_rows *rows = calls->rows;
	++*sw_map_put(&calls->launches, launch->function);
	if (!sw_rows_begin(rows, SW_QUERY_raw_launches))
		return;
	sw_rows_number(rows, (int64_t)seq);
	sw_rows_number(rows, launch->function);
	for (int i = 0; i < 3; i++)
		sw_rows_number(rows, launch->grid[i]);
	for (int i = 0; i < 3; i++)
		sw_rows_number(rows, launch->block[i]);
	sw_rows_number(rows, launch->shared_bytes);
	sw_rows_number(rows, launch->cluster);
	sw_rows_end(rows);
}

/* ---- copies and sets --------------------------------------------------------------------------------------------- */

/* The word for a side of a copy as the call said it. */
static const char *side_name(uint8_t side)
{
	static const char *const names[] = {[SW_SIDE_UNIFIED] = "unified",
					    [SW_SIDE_HOST] = "host",
					    [SW_SIDE_DEVICE] = "device",
					    [SW_SIDE_ARRAY] = "array"};
	return side < sizeof names / sizeof *names ? names[side] : names[0];
}

/* Adds the row of a copy of consecutive bytes. */
static void put_copy(struct sw_call_rows *calls, uint64_t seq, const struct sw_rec_copy *copy)
{
	struct sw_rows *rows = calls->rows;
	if (!sw_rows_begin(rows, SW_QUERY_raw_copies))
		return;
	sw_rows_number(rows, (int64_t)seq);
	sw_rows_text(rows, side_name(copy->dst_side));
	sw_rows_number(rows, (int64_t)copy->dst);
	sw_rows_text(rows, side_name(copy->src_side));
	sw_rows_number(rows, (int64_t)copy->src);
	sw_rows_number(rows, (int64_t)copy->bytes);
	sw_rows_number(rows, (int64_t)copy->bytes);
	sw_rows_number(rows, 1);
	sw_rows_number(rows, 1);
	sw_rows_end(rows);
}

/* Adds the row of a copy of rows. */
static void put_box_copy(struct sw_call_rows *calls, uint64_t seq, const struct sw_rec_copy_nd *copy)
{
	struct sw_rows *rows = calls->rows;
	if (!sw_rows_begin(rows, SW_QUERY_raw_copies))
		return;
	sw_rows_number(rows, (int64_t)seq);
	sw_rows_text(rows, side_name(copy->dst.side));
	sw_rows_number(rows, (int64_t)copy->dst.base);
	sw_rows_text(rows, side_name(copy->src.side));
	sw_rows_number(rows, (int64_t)copy->src.base);
	sw_rows_number(rows, (int64_t)(copy->width * copy->height * copy->depth));
	sw_rows_number(rows, (int64_t)copy->width);
	sw_rows_number(rows, (int64_t)copy->height);
	sw_rows_number(rows, (int64_t)copy->depth);
	sw_rows_end(rows);
}

/* Adds the row of a set (memset). */
static void put_set(struct sw_call_rows *calls, uint64_t seq, const struct sw_rec_set *set)
{
	struct sw_rows *rows = calls->rows;
	if (!sw_rows_begin(rows, SW_QUERY_raw_sets))
		return;
	sw_rows_number(rows, (int64_t)seq);
	sw_rows_number(rows, (int64_t)set->dst);
	sw_rows_number(rows, (int64_t)(set->width * set->height));
	sw_rows_number(rows, (int64_t)set->width);
	sw_rows_number(rows, (int64_t)set->height);
	sw_rows_number(rows, (int64_t)set->pitch);
	sw_rows_number(rows, set->value);
	sw_rows_number(rows, set->element_bytes);
	sw_rows_end(rows);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Adds the row of an allocation, now that its end is known (seq of the free, 0: none).  Frees what was kept of it. */
static void put_allocation(struct sw_call_rows *calls, struct sw_rec_alloc *lived, uint64_t freed)
{
	struct sw_rows *rows = calls->rows;
	if (sw_rows_begin(rows, SW_QUERY_raw_allocations)) {
		sw_rows_number(rows, (int64_t)sw_rec_seq(&lived->h));
		sw_rows_number(rows, (int64_t)lived->address);
		sw_rows_number(rows, (int64_t)lived->bytes);
		sw_rows_text(rows, sw_name_memory(lived->memory));
		sw_rows_known(rows, (int64_t)freed);
		sw_rows_end(rows);
	}
	free(lived);
}

/* Keeps an allocation until its end. */
static void begin_allocation(struct sw_call_rows *calls, const struct sw_rec_alloc *alloc)
{
	if (!calls->rows->wanted[SW_QUERY_raw_allocations])
		return;
	struct sw_rec_alloc *before = sw_map_ptr(&calls->allocations, alloc->address), *lives = sw_alloc(sizeof *lives);
	if (before)
		put_allocation(calls, before, 0);
	*lives = *alloc;
	sw_map_put_ptr(&calls->allocations, alloc->address, lives);
}

/* Adds the row of an allocation that was freed. */
static void end_allocation(struct sw_call_rows *calls, uint64_t seq, const struct sw_rec_free *freed)
{
	struct sw_rec_alloc *lived = sw_map_ptr(&calls->allocations, freed->address);
	if (!lived)
		return;
	sw_map_delete(&calls->allocations, freed->address);
	put_allocation(calls, lived, seq);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* Adds the row of a call on an event, which gets a number of its own since handles are reused. */
static void put_event(struct sw_call_rows *calls, uint64_t seq, uint64_t handle, const char *operation)
{
	struct sw_rows *rows = calls->rows;
	if (!sw_rows_begin(rows, SW_QUERY_raw_events))
		return;
	uint64_t *number = sw_map_put(&calls->events, handle);
	if (!*number || strcmp(operation, "create") == 0)
		*number = ++calls->last_event;
	sw_rows_number(rows, (int64_t)seq);
	sw_rows_text(rows, operation);
	sw_rows_number(rows, (int64_t)*number);
	sw_rows_number(rows, (int64_t)handle);
	sw_rows_end(rows);
	if (strcmp(operation, "destroy") == 0)
		sw_map_delete(&calls->events, handle);
}

/* Adds the rows of a wait for events. */
static void put_sync(struct sw_call_rows *calls, uint64_t seq, const struct sw_rec_sync *sync)
{
	if (sync->what == SW_SYNC_ELAPSED)
		put_event(calls, seq, sync->handle2, "elapsed");
	else if (sync->what == SW_SYNC_EVENT)
		put_event(calls, seq, sync->handle, sync->h.kind == SW_REC_QUERY ? "query" : "synchronize");
}

/* ---- from the judge --------------------------------------------------------------------------------------------- */

/* Adds the rows that a call has besides its own, by its kind. */
static void put_details(struct sw_call_rows *calls, uint64_t seq, const void *rec)
{
	switch (((const struct sw_rec *)rec)->kind) {
	case SW_REC_LAUNCH:
		put_launch(calls, seq, rec);
		break;
	case SW_REC_COPY:
		put_copy(calls, seq, rec);
		break;
	case SW_REC_COPY_ND:
		put_box_copy(calls, seq, rec);
		break;
	case SW_REC_SET:
		put_set(calls, seq, rec);
		break;
	case SW_REC_ALLOC:
		begin_allocation(calls, rec);
		break;
	case SW_REC_FREE:
		end_allocation(calls, seq, rec);
		break;
	case SW_REC_EVENT_CREATE:
		put_event(calls, seq, ((const struct sw_rec_event *)rec)->event, "create");
		break;
	case SW_REC_EVENT_DESTROY:
		put_event(calls, seq, ((const struct sw_rec_event *)rec)->event, "destroy");
		break;
	case SW_REC_EVENT_RECORD:
		put_event(calls, seq, ((const struct sw_rec_event_record *)rec)->event, "record");
		break;
	case SW_REC_STREAM_WAIT:
		put_event(calls, seq, ((const struct sw_rec_stream_wait *)rec)->event, "wait");
		break;
	case SW_REC_SYNC:
	case SW_REC_QUERY:
		put_sync(calls, seq, rec);
		break;
	default:
		break;
	}
}

/* Adds the row of the library call that this call is part of. */
static void put_library(struct sw_call_rows *calls, const struct sw_access *what)
{
	struct sw_rows *rows = calls->rows;
	if (!what->library || !sw_rows_begin(rows, SW_QUERY_library_calls))
		return;
	const struct sw_library_call *call = &calls->judgement->library_calls.at[what->library - 1];
	sw_rows_number(rows, (int64_t)what->seq);
	sw_rows_text(rows, call->function);
	sw_rows_text(rows, sw_name_library(call->library));
	sw_rows_known(rows, call->number);
	sw_rows_end(rows);
}

/* Call-back of the judge: it begins. */
static void on_begin(void *arg, const struct sw_judgement *so_far)
{
	((struct sw_call_rows *)arg)->judgement = so_far;
}

/* Call-back of the judge: adds the rows of a call that it has judged. */
static void on_operation(void *arg, const struct sw_operation *op)
{
	struct sw_call_rows *calls = arg;
	put_call(calls, op);
	put_library(calls, &op->what);
	if (!op->record->failed)
		put_details(calls, op->what.seq, op->record->rec);
}

/* Call-back of the judge: an order between two operations. */
static void on_edge(void *arg, const struct sw_hb_edge *edge, uint32_t from_stream, uint32_t to_stream)
{
	static const char *const kinds[] = {
		[SW_EDGE_ENQUEUE] = "enqueue", [SW_EDGE_EVENT] = "event",	[SW_EDGE_HOST_WAIT] = "host-wait",
		[SW_EDGE_LEGACY] = "legacy",   [SW_EDGE_CALLBACK] = "callback", [SW_EDGE_CONTEXT] = "context",
		[SW_EDGE_HOST] = "host",
	};
	static const char *const bases[] = {
		[SW_ORDER_NONE] = "none",
		[SW_ORDER_OBSERVED] = "observed",
		[SW_ORDER_MEASURED] = "measured",
		[SW_ORDER_DOCUMENTED] = "documented",
	};
	struct sw_rows *rows = ((struct sw_call_rows *)arg)->rows;
	if (!sw_rows_begin(rows, SW_QUERY_edges))
		return;
	sw_rows_number(rows, (int64_t)edge->from_seq);
	sw_rows_number(rows, (int64_t)edge->to_seq);
	sw_rows_text(rows, kinds[edge->kind]);
	sw_rows_text(rows, bases[edge->basis]);
	sw_rows_known(rows, from_stream);
	sw_rows_known(rows, to_stream);
	sw_rows_end(rows);
}

/* Call-back of the judge: an NVTX range. */
static void on_nvtx(void *arg, const struct sw_nvtx_span *span)
{
	struct sw_rows *rows = ((struct sw_call_rows *)arg)->rows;
	if (!sw_rows_begin(rows, SW_QUERY_ranges))
		return;
	sw_rows_text(rows, span->name);
	sw_rows_text(rows, span->domain);
	sw_rows_known(rows, span->thread);
	sw_rows_ms(rows, span->start_ns);
	sw_rows_ms(rows, span->end_ns);
	sw_rows_number(rows, !span->open);
	sw_rows_end(rows);
}

/* Prepares to add the rows of a trace while it is judged. */
void sw_call_rows_init(struct sw_call_rows *calls, struct sw_rows *rows)
{
	*calls = (struct sw_call_rows){.rows = rows};
	calls->observer = (struct sw_observer){
		.arg = calls, .begin = on_begin, .operation = on_operation, .edge = on_edge, .nvtx = on_nvtx};
}

/* Frees what was kept of allocations and events. */
void sw_call_rows_free(struct sw_call_rows *calls)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&calls->allocations, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(&calls->apis);
	sw_map_free(&calls->launches);
	sw_map_free(&calls->events);
	sw_map_free(&calls->allocations);
}

/* ---- from the records -------------------------------------------------------------------------------- */

/* Corrects the status of a call that failed when it returned. */
static void put_status(sqlite3_stmt *update, const struct sw_record *record)
{
	const struct sw_rec_end *end = (const struct sw_rec_end *)(const void *)record->rec;
	sqlite3_bind_int(update, 1, end->h.status);
	sqlite3_bind_int64(update, 2, (int64_t)end->begin_seq);
	sqlite3_step(update);
	sqlite3_reset(update);
}

/* Adds the row of a call that the judge does not report. */
static void put_unjudged(struct sw_call_rows *calls, const struct sw_record *record)
{
	struct sw_operation op = {.record = record,
				  .what = {.seq = record->seq,
					   .t_ns = record->t_ns,
					   .dur_ns = record->dur_ns,
					   .thread = record->thread,
					   .stack = record->stack}};
	put_call(calls, &op);
}

int sw_call_rows_add(struct sw_call_rows *calls, const struct sw_judgement *judgement, const char *path,
		     struct sw_error *error)
{
	const uint64_t sticky = judgement->coverage.sticky_error_seq;
	struct sw_reader *reader;
	struct sw_record record;
	sqlite3_stmt *update;
	if (!calls->rows->wanted[SW_QUERY_raw_calls] || calls->rows->failed)
		return 0;
	int rc = sw_reader_open(path, &reader, error);
	if (rc)
		return rc;
	sqlite3_prepare_v2(calls->rows->db, "UPDATE raw_calls SET status = ? WHERE sequence = ?", -1, &update, NULL);
	while ((rc = sw_reader_next(reader, &record, error)) == 1) {
		if (!sw_kind_is_operation(record.rec->kind) || record.rec->kind == SW_REC_RANGE ||
		    record.rec->kind == SW_REC_LIBRARY)
			continue;
		if (record.rec->flags & SW_RF_END) {
			if (record.failed)
				put_status(update, &record);
		} else if (sticky && record.seq > sticky) {
			put_unjudged(calls, &record);
		}
	}
	sqlite3_finalize(update);
	sw_reader_close(reader);
	return rc;
}

/* ---- in the end -------------------------------------------------------------------------------------------------- */

void sw_call_rows_finish(struct sw_call_rows *calls, struct sw_names *names)
{
	struct sw_rows *rows = calls->rows;
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&calls->allocations, i, &slot));)
		put_allocation(calls, (struct sw_rec_alloc *)(uintptr_t)slot.value, 0);
	sw_map_free(&calls->allocations);
	for (size_t i = 0; (i = sw_map_next(&calls->apis, i, &slot));) {
		const struct sw_trace_api *api = sw_reader_api(names->reader, (uint16_t)(slot.key >> 16));
		if (!sw_rows_begin(rows, SW_QUERY_raw_apis))
			return;
		sw_rows_number(rows, (int64_t)slot.value);
		sw_rows_text(rows, !api ? NULL
					: sw_name_api(names, (uint16_t)(slot.key >> 16),
						      slot.key & 256 ? SW_RF_RUNTIME : 0, 0));
		sw_rows_text(rows, api ? api->driver : NULL);
		sw_rows_text(rows, sw_record_kind_name((uint8_t)slot.key));
		sw_rows_end(rows);
	}
}
