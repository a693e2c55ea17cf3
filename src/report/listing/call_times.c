/* SPDX-License-Identifier: Apache-2.0 */
#include "report/listing/call_times.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "detect/model/duration_histogram.h"

static struct sw_time_row *row_of(struct sw_call_times *t, enum sw_time_table table, uint32_t key)
{
	uint64_t *index = sw_map_put(&t->table[table].index, (uint64_t)key + 1);
	if (!*index) {
		*sw_vec_push(&t->table[table].rows) = (struct sw_time_row){.key = key, .name = ""};
		*index = t->table[table].rows.n;
	}
	return &t->table[table].rows.at[*index - 1];
}

static void add_time(struct sw_time_row *row, uint64_t ns)
{
	if (!row->times)
		row->times = sw_calloc(1, sizeof *row->times);
	sw_histogram_add(row->times, ns);
	row->timed++;
	row->total_ns += ns;
	if (ns > row->worst_ns)
		row->worst_ns = ns;
}

static uint64_t bytes_of(const struct sw_operation *op)
{
	const void *rec = op->record->rec;
	const struct sw_rec_copy_nd *box = rec;
	const struct sw_rec_set *set = rec;
	switch (op->what.kind) {
	case SW_REC_COPY:
		return ((const struct sw_rec_copy *)rec)->bytes;
	case SW_REC_COPY_ND:
		return box->width * box->height * box->depth;
	case SW_REC_SET:
		return set->width * set->height;
	case SW_REC_ALLOC:
		return ((const struct sw_rec_alloc *)rec)->bytes;
	default:
		return 0;
	}
}

static uint32_t call_key(uint16_t api, uint16_t flags)
{
	return (uint32_t)api << 1 | (flags & SW_RF_RUNTIME ? 1 : 0);
}

static void add_work(struct sw_call_times *t, enum sw_time_table table, uint32_t key, const struct sw_operation *op)
{
	struct sw_time_row *row = row_of(t, table, key);
	row->count++;
	row->bytes += bytes_of(op);
	if (op->gpu_end_ns > op->gpu_start_ns)
		add_time(row, op->gpu_end_ns - op->gpu_start_ns);
}

static void on_operation(void *arg, const struct sw_operation *op)
{
	struct sw_call_times *t = arg;
	const bool returned = !(op->record->rec->flags & SW_RF_PENDING) || op->what.dur_ns;
	if (op->what.kind != SW_REC_HOST_FUNC_RUN) {
		struct sw_time_row *row = row_of(t, SW_TIMES_CALLS, call_key(op->what.api, op->what.flags));
		row->count++;
		row->failed += op->record->failed;
		row->bytes += bytes_of(op);
		if (returned)
			add_time(row, op->what.dur_ns);
		row->waits += op->blocks;
		row->wait_ns += op->blocks ? op->what.dur_ns : 0;
	}
	if (op->enqueues)
		add_work(t, SW_TIMES_STREAMS, op->what.stream, op);
	if (op->enqueues && op->what.kind == SW_REC_LAUNCH)
		add_work(t, SW_TIMES_KERNELS, op->what.function, op);
}

struct sw_call_times *sw_call_times_new(struct sw_reader *reader)
{
	struct sw_call_times *t = sw_calloc(1, sizeof *t);
	t->reader = reader;
	t->observer = (struct sw_observer){.arg = t, .operation = on_operation};
	return t;
}

const struct sw_observer *sw_call_times_observer(struct sw_call_times *t)
{
	return &t->observer;
}

/* Calls that order nothing have no records of their own. */
static void add_counted(struct sw_call_times *t)
{
	for (uint32_t id = 0; id <= UINT16_MAX; id++) {
		const uint64_t calls = sw_reader_calls(t->reader, (uint16_t)id);
		const struct sw_trace_api *api = sw_reader_api(t->reader, (uint16_t)id);
		uint64_t seen = 0;
		for (int runtime = 0; calls && runtime < 2; runtime++) {
			uint64_t at = sw_map_get(&t->table[SW_TIMES_CALLS].index, (id << 1 | (unsigned)runtime) + 1ull);
			seen += at ? t->table[SW_TIMES_CALLS].rows.at[at - 1].count : 0;
		}
		if (calls > seen)
			row_of(t, SW_TIMES_CALLS, id << 1 | (api && *api->runtime ? 1u : 0u))->count += calls - seen;
	}
}

static const char *name_of(struct sw_call_times *t, enum sw_time_table table, uint32_t key)
{
	const char *name = "";
	if (table == SW_TIMES_CALLS) {
		const struct sw_trace_api *api = sw_reader_api(t->reader, (uint16_t)(key >> 1));
		if (!api)
			return sw_names_format(&t->names, "entry point %u", key >> 1);
		return key & 1 && *api->runtime ? sw_names_format(&t->names, "%s (%s)", api->runtime, api->driver)
						: sw_names_format(&t->names, "%s", api->driver);
	}
	name = table == SW_TIMES_STREAMS ? sw_name_stream(&t->names, key) : sw_name_kernel(&t->names, key, true);
	return *name ? sw_names_format(&t->names, "%s", name)
		     : sw_names_format(&t->names, "kernel %u, name unknown", key);
}

/* The longest is known exactly, so nothing is said to be longer; of few it is the answer. */
static uint64_t quantile(const struct sw_time_row *row, unsigned percent)
{
	uint64_t ns = sw_histogram_quantile(row->times, percent);
	return ns < row->worst_ns && row->timed * (100 - percent) >= 100 ? ns : row->worst_ns;
}

static int by_time(const void *a, const void *b)
{
	const struct sw_time_row *x = a, *y = b;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->name, y->name);
}

void sw_call_times_sort(struct sw_call_times *t, const struct sw_judgement *judgement)
{
	sw_names_init(&t->names, t->reader, judgement);
	add_counted(t);
	for (int table = 0; table < SW_TIME_TABLES; table++) {
		for (size_t i = 0; i < t->table[table].rows.n; i++) {
			struct sw_time_row *row = &t->table[table].rows.at[i];
			row->name = name_of(t, (enum sw_time_table)table, row->key);
			if (!row->times)
				continue;
			row->p50_ns = quantile(row, 50);
			row->p99_ns = quantile(row, 99);
		}
		if (t->table[table].rows.n)
			qsort(t->table[table].rows.at, t->table[table].rows.n, sizeof *t->table[table].rows.at,
			      by_time);
	}
}

void sw_call_times_free(struct sw_call_times *t)
{
	for (int table = 0; table < SW_TIME_TABLES; table++) {
		for (size_t i = 0; i < t->table[table].rows.n; i++)
			free(t->table[table].rows.at[i].times);
		free(t->table[table].rows.at);
		sw_map_free(&t->table[table].index);
	}
	sw_names_free(&t->names);
	free(t);
}

const char *sw_call_times_title(enum sw_time_table table)
{
	static const char *const titles[] = {"calls", "streams", "kernels"};
	return titles[table];
}
