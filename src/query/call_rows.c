/* SPDX-License-Identifier: Apache-2.0 */
#include "query/call_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "reader/kinds.h"
#include "report/words/library_text.h"

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static uint64_t api_row(struct sw_call_rows *calls, const struct sw_rec *rec)
{
	uint64_t key = (uint64_t)rec->api << 16 | (rec->flags & SW_RF_RUNTIME ? 256u : 0) | rec->kind;
	uint64_t *row = sw_map_put(&calls->apis, key);
	if (!*row)
		*row = calls->apis.n;
	return *row;
}

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
	sw_rows_number(rows, op->blocks);
	sw_rows_number(rows, rec->flags & SW_RF_PENDING ? 0 : rec->status);
	sw_rows_known(rows, op->what.stack);
	sw_rows_known(rows, op->gpu_end_ns ? (int64_t)op->gpu_start_ns : 0);
	sw_rows_known(rows, (int64_t)op->gpu_end_ns);
	sw_rows_end(rows);
}

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

static const char *side_name(uint8_t side)
{
	static const char *const names[] = {"unified", "host", "device", "array"};
	return side < sizeof names / sizeof *names ? names[side] : names[0];
}

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

/* Rows are made when the end is known.  Frees what lived. */
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

static void allocate(struct sw_call_rows *calls, const struct sw_rec_alloc *alloc)
{
	if (!calls->rows->wanted[SW_QUERY_raw_allocations])
		return;
	struct sw_rec_alloc *before = sw_map_ptr(&calls->allocations, alloc->address), *lives = sw_alloc(sizeof *lives);
	if (before)
		put_allocation(calls, before, 0);
	*lives = *alloc;
	sw_map_put_ptr(&calls->allocations, alloc->address, lives);
}

static void deallocate(struct sw_call_rows *calls, uint64_t seq, const struct sw_rec_free *freed)
{
	struct sw_rec_alloc *lived = sw_map_ptr(&calls->allocations, freed->address);
	if (!lived)
		return;
	sw_map_delete(&calls->allocations, freed->address);
	put_allocation(calls, lived, seq);
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

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

static void put_sync(struct sw_call_rows *calls, uint64_t seq, const struct sw_rec_sync *sync)
{
	if (sync->what == SW_SYNC_ELAPSED)
		put_event(calls, seq, sync->handle2, "elapsed");
	else if (sync->what == SW_SYNC_EVENT)
		put_event(calls, seq, sync->handle, sync->h.kind == SW_REC_QUERY ? "query" : "synchronize");
}

/* ---- from the judge --------------------------------------------------------------------------------------------- */

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
		allocate(calls, rec);
		break;
	case SW_REC_FREE:
		deallocate(calls, seq, rec);
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

static void on_begin(void *arg, const struct sw_judgement *so_far)
{
	((struct sw_call_rows *)arg)->judgement = so_far;
}

static void on_operation(void *arg, const struct sw_operation *op)
{
	struct sw_call_rows *calls = arg;
	put_call(calls, op);
	put_library(calls, &op->what);
	if (!op->record->failed)
		put_details(calls, op->what.seq, op->record->rec);
}

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

void sw_call_rows_init(struct sw_call_rows *calls, struct sw_rows *rows)
{
	*calls = (struct sw_call_rows){.rows = rows};
	calls->observer = (struct sw_observer){
		.arg = calls, .begin = on_begin, .operation = on_operation, .edge = on_edge, .nvtx = on_nvtx};
}

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

static void put_status(sqlite3_stmt *update, const struct sw_record *record)
{
	const struct sw_rec_end *end = (const struct sw_rec_end *)(const void *)record->rec;
	sqlite3_bind_int(update, 1, end->h.status);
	sqlite3_bind_int64(update, 2, (int64_t)end->begin_seq);
	sqlite3_step(update);
	sqlite3_reset(update);
}

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
