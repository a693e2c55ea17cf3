/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of a trace, and times of its calls, streams and kernels: `syncwatch stat`. */
#include "report/listing/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted.h"
#include "base/map.h"
#include "base/memory.h"
#include "detect/model/collect.h"
#include "detect/waits/device_times.h"
#include "reader/kinds.h"
#include "report/json/json_out.h"
#include "report/text/text_out.h"

/* The row of a table with this key, added if it is new. */
static struct sw_time_row *row_of(struct sw_call_times *t, enum sw_time_table table, uint32_t key)
{
	uint64_t *index = sw_map_put(&t->table[table].index, (uint64_t)key + 1);
	if (!*index) {
		*sw_vec_push(&t->table[table].rows) = (struct sw_time_row){.key = key, .name = ""};
		*index = t->table[table].rows.n;
	}
	return &t->table[table].rows.at[*index - 1];
}

/* Adds calls that are counted in one record.  Only the sum of their times is known: each counts as the mean. */
static void add_times(struct sw_time_row *row, uint64_t calls, uint64_t ns)
{
	const uint64_t each = ns / calls;
	if (!row->times)
		row->times = sw_calloc(1, sizeof *row->times);
	sw_histogram_add(row->times, calls, each);
	row->timed += calls;
	row->total_ns += ns;
	if (each > row->worst_ns)
		row->worst_ns = each;
}

/* Adds one duration to a row. */
static void add_time(struct sw_time_row *row, uint64_t ns)
{
	add_times(row, 1, ns);
}

/* Key of an entry point: calls made by the runtime are counted apart. */
static uint32_t call_key(uint16_t api, uint16_t flags)
{
	return (uint32_t)api << 1 | (flags & SW_RF_RUNTIME ? 1 : 0);
}

/* Counts work in the row of its stream, or of its kernel, with its time on the device. */
static void add_work(struct sw_call_times *t, enum sw_time_table table, uint32_t key, const struct sw_operation *op)
{
	struct sw_time_row *row = row_of(t, table, key);
	row->count++;
	row->bytes += sw_record_bytes(op->record->rec);
	if (op->gpu_end_ns > op->gpu_start_ns)
		add_time(row, op->gpu_end_ns - op->gpu_start_ns);
}

/* Call-back of the judge: counts a call and the work that it enqueued. */
static void on_operation(void *arg, const struct sw_operation *op)
{
	struct sw_call_times *t = arg;
	const bool returned = !(op->record->rec->flags & SW_RF_PENDING) || op->what.dur_ns;
	if (op->what.kind != SW_REC_HOST_FUNC_RUN) {
		struct sw_time_row *row = row_of(t, SW_TIMES_CALLS, call_key(op->what.api, op->what.flags));
		const bool counted = op->record->calls > 1;
		row->count += counted ? op->record->calls : 1;
		row->failed += op->record->failed;
		row->bytes += sw_record_bytes(op->record->rec);
		if (returned && counted)
			add_times(row, op->record->calls, op->record->inside_ns);
		else if (returned)
			add_time(row, op->what.dur_ns);
		row->waits += op->blocks;
		row->wait_ns += op->blocks ? op->what.dur_ns : 0;
	}
	if (op->enqueues)
		add_work(t, SW_TIMES_STREAMS, op->what.stream, op);
	if (op->enqueues && op->what.kind == SW_REC_LAUNCH)
		add_work(t, SW_TIMES_KERNELS, op->what.function, op);
}

/* The tables of times of a trace, empty. */
struct sw_call_times *sw_call_times_new(struct sw_reader *reader)
{
	struct sw_call_times *t = sw_calloc(1, sizeof *t);
	t->reader = reader;
	t->observer = (struct sw_observer){.arg = t, .operation = on_operation};
	return t;
}

/* The call-backs to judge with. */
const struct sw_observer *sw_call_times_observer(struct sw_call_times *t)
{
	return &t->observer;
}

/* Adds calls that order nothing, which are counted in the trace but have no records of their own. */
static void add_counted(struct sw_call_times *t)
{
	for (uint32_t id = 0; id <= UINT16_MAX; id++) {
		const uint64_t calls = sw_reader_calls(t->reader, (uint16_t)id);
		const struct sw_trace_api *api = sw_reader_api(t->reader, (uint16_t)id);
		uint64_t seen = 0;
		/* Records of ranges, notices and the like: 0 is no entry point. */
		if (!id && !api)
			continue;
		for (int runtime = 0; calls && runtime < 2; runtime++) {
			uint64_t at = sw_map_get(&t->table[SW_TIMES_CALLS].index, (id << 1 | (unsigned)runtime) + 1ull);
			seen += at ? t->table[SW_TIMES_CALLS].rows.at[at - 1].count : 0;
		}
		if (calls > seen)
			row_of(t, SW_TIMES_CALLS, id << 1 | (api && *api->runtime ? 1u : 0u))->count += calls - seen;
	}
}

/* The name of a row: the entry point, the stream or the kernel. */
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

/* A quantile of the times of a row.  The longest is known exactly, so nothing is said to be longer; of few it is the
   answer. */
static uint64_t capped_quantile(const struct sw_time_row *row, unsigned percent)
{
	uint64_t ns = sw_histogram_quantile(row->times, percent);
	return ns < row->worst_ns && row->timed * (100 - percent) >= 100 ? ns : row->worst_ns;
}

/* For qsort(): the longest time in all first. */
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
			row->p50_ns = capped_quantile(row, 50);
			row->p99_ns = capped_quantile(row, 99);
		}
		if (t->table[table].rows.n)
			qsort(t->table[table].rows.at, t->table[table].rows.n, sizeof *t->table[table].rows.at,
			      by_time);
	}
}

/* Frees the tables. */
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

/* Name of a table: "calls", "streams" or "kernels". */
static const char *call_times_title(enum sw_time_table table)
{
	static const char *const titles[] = {
		[SW_TIMES_CALLS] = "calls", [SW_TIMES_STREAMS] = "streams", [SW_TIMES_KERNELS] = "kernels"};
	return titles[table];
}

/* The tables of syncwatch stat, as text, CSV and JSON. */

/* Prints a time in its column; "-" where none is known. */
static void put_time(FILE *out, struct sw_names *names, const struct sw_time_row *row, uint64_t ns)
{
	fprintf(out, " %10s", row->timed ? sw_name_time(names, ns) : "-");
}

static const char *const headings[] = {[SW_TIMES_CALLS] = "calls of the API, host time",
				       [SW_TIMES_STREAMS] = "streams, device time of their work",
				       [SW_TIMES_KERNELS] = "kernels, device time"};

/* Prints one of the tables. */
static void put_table(FILE *out, struct sw_call_times *t, enum sw_time_table table)
{
	const struct sw_out text = {.file = out};
	const bool calls = table == SW_TIMES_CALLS, streams = table == SW_TIMES_STREAMS;
	bool timed = false;
	for (size_t i = 0; i < t->table[table].rows.n; i++)
		timed |= t->table[table].rows.at[i].timed != 0;
	fprintf(out, "\n%s%s:\n%10s %10s %10s %10s", headings[table],
		timed ? "" : " (not recorded: run --gpu-timeline records it)", "count", "total", "p50", "p99");
	if (calls)
		fprintf(out, " %8s %10s", "waits", "in waits");
	if (streams)
		fprintf(out, " %10s", "bytes");
	fputs("  name\n", out);
	for (size_t i = 0; i < t->table[table].rows.n; i++) {
		const struct sw_time_row *row = &t->table[table].rows.at[i];
		fprintf(out, "%10" PRIu64, row->count);
		put_time(out, &t->names, row, row->total_ns);
		put_time(out, &t->names, row, row->p50_ns);
		put_time(out, &t->names, row, row->p99_ns);
		if (calls)
			fprintf(out, " %8" PRIu64 " %10s", row->waits,
				row->waits ? sw_name_time(&t->names, row->wait_ns) : "-");
		if (streams)
			fprintf(out, " %10s", row->bytes ? sw_name_bytes(&t->names, row->bytes) : "-");
		fputs("  ", out);
		sw_out_text(&text, row->name);
		putc('\n', out);
	}
}

/* Prints the tables of times, without the rest of the report. */
static void stat_tables_text(FILE *out, struct sw_call_times *t)
{
	for (int table = 0; table < SW_TIME_TABLES; table++)
		if (t->table[table].rows.n)
			put_table(out, t, (enum sw_time_table)table);
}

/* Prints a name as CSV (RFC 4180).  One that begins like a formula would be one in a spreadsheet: it gets a quote. */
static void put_csv_name(FILE *out, const char *name)
{
	putc('"', out);
	if (*name && (*name == '=' || *name == '+' || *name == '-' || *name == '@'))
		putc('\'', out);
	for (; *name; name++) {
		if (*name == '"')
			putc('"', out);
		putc((unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name, out);
	}
	putc('"', out);
}

/* Writes all tables as CSV. */
void sw_stat_csv(FILE *out, struct sw_call_times *t)
{
	fputs("table,name,count,timed,total_ns,p50_ns,p99_ns,longest_ns,waits,waits_ns,failed,bytes\r\n", out);
	for (int table = 0; table < SW_TIME_TABLES; table++)
		for (size_t i = 0; i < t->table[table].rows.n; i++) {
			const struct sw_time_row *row = &t->table[table].rows.at[i];
			fprintf(out, "%s,", call_times_title((enum sw_time_table)table));
			put_csv_name(out, row->name);
			const uint64_t numbers[] = {row->count,	   row->timed, row->total_ns, row->p50_ns, row->p99_ns,
						    row->worst_ns, row->waits, row->wait_ns,  row->failed, row->bytes};
			for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
				fprintf(out, ",%" PRIu64, numbers[k]);
			fputs("\r\n", out);
		}
}

/* Writes a row as JSON; calls: it is of the table of calls, which has waits. */
static void put_row(struct sw_json *json, const struct sw_time_row *row, bool calls)
{
	sw_json_open(json, NULL, '{');
	sw_json_text(json, "name", row->name);
	sw_json_number(json, "count", row->count);
	sw_json_number(json, "timed", row->timed);
	if (row->timed) {
		sw_json_ms(json, "total_ms", row->total_ns);
		sw_json_ms(json, "p50_ms", row->p50_ns);
		sw_json_ms(json, "p99_ms", row->p99_ns);
		sw_json_ms(json, "longest_ms", row->worst_ns);
	}
	if (calls) {
		sw_json_number(json, "waits", row->waits);
		sw_json_ms(json, "waits_ms", row->wait_ns);
		sw_json_number(json, "failed", row->failed);
	}
	sw_json_number(json, "bytes", row->bytes);
	sw_json_close(json, '}');
}

/* Writes all tables as JSON. */
void sw_stat_json(FILE *out, struct sw_call_times *t)
{
	struct sw_json json = {.out = out};
	const struct sw_trace_process *process = sw_reader_process(t->reader);
	const struct sw_trace_totals totals = sw_reader_totals(t->reader);
	sw_json_open(&json, NULL, '{');
	sw_json_text(&json, "schema", "syncwatch-stat/1");
	sw_json_text(&json, "program", process ? process->exe : "");
	sw_json_text(&json, "trace", sw_reader_path(t->reader));
	sw_json_bool(&json, "ended_in_order", totals.closed);
	sw_json_number(&json, "records", totals.records);
	sw_json_number(&json, "records_lost", totals.lost);
	sw_json_bool(&json, "windowed", totals.windowed);
	sw_json_number(&json, "windows", totals.windows);
	sw_json_number(&json, "calls_left_out", totals.left_out);
	sw_json_number(&json, "calls_dropped", totals.dropped_calls);
	for (int table = 0; table < SW_TIME_TABLES; table++) {
		sw_json_open(&json, call_times_title((enum sw_time_table)table), '[');
		for (size_t i = 0; i < t->table[table].rows.n; i++)
			put_row(&json, &t->table[table].rows.at[i], table == SW_TIMES_CALLS);
		sw_json_close(&json, ']');
	}
	sw_json_close(&json, '}');
}

/* Operations that move or make bytes. */
struct volume {
	uint64_t calls, bytes;
};

struct counts {
	struct sw_map threads; /* those that made calls */
	struct volume copies, sets, allocations;
	uint64_t failed, unclassified;
	uint64_t end_ns; /* when the last call returned */
	struct sw_gpu_summary gpu;
	struct sw_map open; /* calls that began and did not end yet: sequence number -> 1 */
};

/* Counts a call that moves or makes so many bytes. */
static void add_volume(struct volume *v, uint64_t bytes)
{
	v->calls++;
	v->bytes += bytes;
}

/* Counts a call by its kind. */
static void count_operation(struct counts *s, const struct sw_record *record)
{
	const struct sw_rec *rec = record->rec;
	switch (rec->kind) {
	case SW_REC_COPY:
	case SW_REC_COPY_ND:
		add_volume(&s->copies, sw_record_bytes(rec));
		break;
	case SW_REC_SET:
		add_volume(&s->sets, sw_record_bytes(rec));
		break;
	case SW_REC_ALLOC:
		add_volume(&s->allocations, sw_record_bytes(rec));
		break;
	case SW_REC_UNCLASSIFIED:
		s->unclassified++;
		break;
	}
}

/* Counts a record: calls, those in flight, and when the last one returned. */
static void count_record(struct counts *s, const struct sw_record *record)
{
	const struct sw_rec *rec = record->rec;
	uint64_t returned = record->t_ns + (rec->flags & SW_RF_END ? 0 : record->dur_ns);
	if (returned > s->end_ns)
		s->end_ns = returned;
	if (!sw_kind_is_operation(rec->kind))
		return;
	if (rec->flags & SW_RF_END) {
		sw_map_delete(&s->open, ((const struct sw_rec_end *)(const void *)rec)->begin_seq);
		return;
	}
	if (rec->flags & SW_RF_BEGIN)
		*sw_map_put(&s->open, record->seq) = 1;
	++*sw_map_put(&s->threads, record->thread);
	s->failed += record->failed;
	count_operation(s, record);
}

/* Names and paths come from the program: on a terminal they must stay text. */
static void print_clean(FILE *out, const char *text)
{
	sw_out_text(&(struct sw_out){.file = out}, text);
}

/* Prints a label and a text that comes from the program. */
static void print_clean_line(FILE *out, const char *label, const char *text)
{
	fprintf(out, "%-13s", label);
	print_clean(out, text);
	putc('\n', out);
}

/* Prints the program, its machine and its GPUs. */
static void print_program(FILE *out, const struct sw_reader *reader)
{
	static const char *const links[] = {[SW_CUDART_SHARED] = "shared",
					    [SW_CUDART_STATIC] = "static",
					    [SW_CUDART_OTHER] = "calls the driver itself:"};
	const struct sw_trace_process *p = sw_reader_process(reader);
	const struct sw_file_header *h = sw_reader_header(reader);
	const struct sw_trace_device *device;
	const struct sw_trace_module *module;
	fputs("program      ", out);
	print_clean(out, p ? p->exe : "unknown");
	for (uint32_t i = 1; p && i < p->args; i++) {
		putc(' ', out);
		print_clean(out, p->arg[i]);
	}
	fprintf(out, " (pid %u)\n", h->pid);
	fprintf(out, "driver       CUDA %u.%u%s\n", h->cuda_driver_version / 1000, h->cuda_driver_version % 1000 / 10,
		h->flags & SW_FILE_SIMULATED ? ", simulated" : "");
	for (size_t i = 0; (device = sw_reader_device(reader, i)); i++) {
		fprintf(out, "device %-5d ", device->ordinal);
		print_clean(out, device->name);
		fprintf(out, ", sm_%u%u, %u %s, %.1f GiB\n", device->major, device->minor, device->multiprocessors,
			sw_plural(device->multiprocessors, "multiprocessor", "multiprocessors"),
			(double)device->memory_bytes / (1 << 30));
	}
	for (size_t i = 0; (module = sw_reader_module_at(reader, i)); i++) {
		if (!module->cudart || module->cudart >= sizeof links / sizeof *links)
			continue;
		fprintf(out, "cudart       %s ", links[module->cudart]);
		print_clean(out, module->path);
		putc('\n', out);
	}
}

/* Prints what recording cost, and how large the trace is. */
static void print_costs(FILE *out, const struct sw_reader *reader, const struct counts *s)
{
	const struct sw_file_header *h = sw_reader_header(reader);
	struct sw_trace_totals t = sw_reader_totals(reader);
	uint64_t ps = h->flags & SW_FILE_STACKS && h->cost_stack_ps ? h->cost_stack_ps : h->cost_no_stack_ps;
	fprintf(out, "cost         %.1f ns a record", (double)h->cost_no_stack_ps / 1e3);
	if (h->cost_stack_ps)
		fprintf(out, ", %.1f ns with its call stack", (double)h->cost_stack_ps / 1e3);
	fprintf(out, " (measured at start-up); about %.3f ms of %.3f ms in all\n",
		(double)t.operations * (double)ps / 1e9, (double)s->end_ns / 1e6);
	fprintf(out, "trace        %" PRIu64 " %s, %" PRIu64 " %s, %.1f bytes an operation\n", t.records,
		sw_plural(t.records, "record", "records"), t.operations,
		sw_plural(t.operations, "operation", "operations"),
		t.operations ? (double)t.bytes / (double)t.operations : 0.0);
	fprintf(out, "lost         %" PRIu64 " %s\n", t.lost, sw_plural(t.lost, "record", "records"));
	if (t.windowed)
		fprintf(out, "windows      %u, %" PRIu64 " %s outside were left out\n", t.windows, t.left_out,
			sw_plural(t.left_out, "call", "calls"));
	if (t.dropped)
		fprintf(out,
			"dropped      %" PRIu64
			" %s before the last ones (--last, --keep): counted below, without times\n",
			t.dropped_calls, sw_plural(t.dropped_calls, "call", "calls"));
	fprintf(out, "ended        %s\n", t.closed ? "in order" : "no: killed, crashed or still running");
}

/* Prints how many calls of a kind were made, and their bytes. */
static void print_volume(FILE *out, const char *name, struct volume v)
{
	fprintf(out, "%-12s %" PRIu64 " %s, %" PRIu64 " %s\n", name, v.calls, sw_plural(v.calls, "call", "calls"),
		v.bytes, sw_plural(v.bytes, "byte", "bytes"));
}

/* Prints how the devices' time stamps were joined to the calls. */
static void print_gpu(FILE *out, const struct sw_gpu_summary *gpu)
{
	if (!gpu->recorded)
		return;
	fprintf(out,
		"gpu times    %" PRIu64 " of work, %" PRIu64 " joined to a call, %" PRIu64 " not, %" PRIu64
		" without times, %" PRIu64 " lost; clock error %s%" PRIu64 " ns, %" PRIu64 " %s\n",
		gpu->records, gpu->joined, gpu->unmatched, gpu->untimed, gpu->lost,
		gpu->clock_bounded ? "" : "at least ", gpu->clock_error_ns, gpu->clock_jumps,
		sw_plural(gpu->clock_jumps, "jump", "jumps"));
}

/* Prints the contents of the trace. */
static void print_text(FILE *out, const struct sw_reader *reader, const struct counts *s)
{
	const char *line;
	print_program(out, reader);
	print_costs(out, reader, s);
	fprintf(out, "threads      %zu made calls\n", s->threads.n);
	print_volume(out, "copies", s->copies);
	print_volume(out, "sets", s->sets);
	print_volume(out, "allocations", s->allocations);
	print_gpu(out, &s->gpu);
	fprintf(out, "failed       %" PRIu64 " %s\n", s->failed, sw_plural(s->failed, "call", "calls"));
	fprintf(out, "in flight    %zu %s began and did not return\n", s->open.n,
		sw_plural(s->open.n, "call", "calls"));
	fprintf(out, "unclassified %" PRIu64 " %s of entry points that are not modelled\n", s->unclassified,
		sw_plural(s->unclassified, "call", "calls"));
	for (size_t i = 0; (line = sw_reader_notice(reader, i)); i++)
		print_clean_line(out, "notice", line);
	for (size_t i = 0; (line = sw_reader_damage(reader, i)); i++)
		print_clean_line(out, "damage", line);
}

int sw_stat(FILE *out, struct sw_reader *reader, struct sw_call_times *tables, struct sw_error *error)
{
	struct counts s = {0};
	struct sw_record record;
	struct sw_times times;
	int rc = sw_times_load(reader, &times, error);
	s.gpu = times.summary;
	sw_times_free(&times);
	if (rc)
		return rc;
	while ((rc = sw_reader_next(reader, &record, error)) == 1)
		count_record(&s, &record);
	if (!rc) {
		print_text(out, reader, &s);
		stat_tables_text(out, tables);
	}
	sw_map_free(&s.threads);
	sw_map_free(&s.open);
	return rc;
}
