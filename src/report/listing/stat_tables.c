/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of syncwatch stat, as text, CSV and JSON. */
#include <inttypes.h>

#include "report/json/json_out.h"
#include "report/listing/stat.h"
#include "report/text/text_out.h"

/* "-" where no time is known. */
static void put_time(FILE *out, struct sw_names *names, const struct sw_time_row *row, uint64_t ns)
{
	fprintf(out, " %10s", row->timed ? sw_name_time(names, ns) : "-");
}

static const char *const headings[] = {"calls of the API, host time", "streams, device time of their work",
				       "kernels, device time"};

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

void sw_stat_tables_text(FILE *out, struct sw_call_times *t)
{
	for (int table = 0; table < SW_TIME_TABLES; table++)
		if (t->table[table].rows.n)
			put_table(out, t, (enum sw_time_table)table);
}

/* RFC 4180.  A name that begins like a formula would be one in a spreadsheet. */
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

void sw_stat_csv(FILE *out, struct sw_call_times *t)
{
	fputs("table,name,count,timed,total_ns,p50_ns,p99_ns,longest_ns,waits,waits_ns,failed,bytes\r\n", out);
	for (int table = 0; table < SW_TIME_TABLES; table++)
		for (size_t i = 0; i < t->table[table].rows.n; i++) {
			const struct sw_time_row *row = &t->table[table].rows.at[i];
			fprintf(out, "%s,", sw_call_times_title((enum sw_time_table)table));
			put_csv_name(out, row->name);
			const uint64_t numbers[] = {row->count,	   row->timed, row->total_ns, row->p50_ns, row->p99_ns,
						    row->worst_ns, row->waits, row->wait_ns,  row->failed, row->bytes};
			for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
				fprintf(out, ",%" PRIu64, numbers[k]);
			fputs("\r\n", out);
		}
}

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
	for (int table = 0; table < SW_TIME_TABLES; table++) {
		sw_json_open(&json, sw_call_times_title((enum sw_time_table)table), '[');
		for (size_t i = 0; i < t->table[table].rows.n; i++)
			put_row(&json, &t->table[table].rows.at[i], table == SW_TIMES_CALLS);
		sw_json_close(&json, ']');
	}
	sw_json_close(&json, '}');
}
