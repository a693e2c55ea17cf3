/* SPDX-License-Identifier: Apache-2.0 */
#include "report/listing/dump.h"

#include <inttypes.h>
#include <string.h>

#include "report/listing/fields.h"
#include "report/json/json_out.h"

struct bit {
	unsigned mask;
	const char *name;
};

static const struct bit record_flags[] = {{SW_RF_PENDING, "PENDING"},
					  {SW_RF_DUR_1024, "DUR_1024"},
					  {SW_RF_BEGIN, "BEGIN"},
					  {SW_RF_END, "END"},
					  {SW_RF_PER_THREAD, "PER_THREAD"},
					  {SW_RF_NESTED, "NESTED"},
					  {SW_RF_SYNCHRONOUS, "SYNCHRONOUS"},
					  {SW_RF_RUNTIME, "RUNTIME"},
					  {0, NULL}};

static const struct bit file_flags[] = {{SW_FILE_CLOSED, "CLOSED"}, {SW_FILE_SIMULATED, "SIMULATED"},
					{SW_FILE_TSC, "TSC"},	    {SW_FILE_STACKS, "STACKS"},
					{SW_FILE_GPU, "GPU"},	    {SW_FILE_HOST_SYNC, "HOST_SYNC"},
					{SW_FILE_BEHIND, "BEHIND"}, {0, NULL}};

static void print_bits(FILE *out, const struct bit *bits, unsigned value)
{
	const char *separator = "";
	for (; bits->mask; bits++) {
		if (!(value & bits->mask))
			continue;
		fprintf(out, "%s%s", separator, bits->name);
		separator = "|";
		value &= ~bits->mask;
	}
	if (value)
		fprintf(out, "%s0x%x", separator, value);
	else if (!*separator)
		putc('0', out);
}

static void print_header(FILE *out, const struct sw_file_header *h)
{
	fprintf(out, "TRACE version=%u.%u flags=", h->major, h->minor);
	print_bits(out, file_flags, h->flags);
	fprintf(out,
		" pid=%u ppid=%u ticks_per_second=%" PRIu64 " start_ticks=%" PRIu64 " start_monotonic_ns=%" PRIu64
		" start_realtime_ns=%" PRIu64 " last_ticks=%" PRIu64 " last_monotonic_ns=%" PRIu64 " header_bytes=%u"
		" chunk_bytes=%u chunks=%" PRIu64 " records_lost=%" PRIu64 " bytes_lost=%" PRIu64
		" cost_no_stack_ps=%" PRIu64 " cost_stack_ps=%" PRIu64 " cuda_driver=%u cuda_headers=%u recorder=",
		h->pid, h->ppid, h->ticks_per_second, h->start_ticks, h->start_monotonic_ns, h->start_realtime_ns,
		h->last_ticks, h->last_monotonic_ns, h->header_bytes, h->chunk_bytes, h->chunks, h->records_lost,
		h->bytes_lost, h->cost_no_stack_ps, h->cost_stack_ps, h->cuda_driver_version, h->cuda_headers_version);
	sw_json_quote(out, h->recorder_version);
	putc('\n', out);
}

static void print_names(FILE *out, const struct sw_reader *reader, const struct sw_record *record)
{
	const struct sw_trace_api *api = sw_reader_api(reader, record->rec->api);
	if (api) {
		fputs(" driver=", out);
		sw_json_quote(out, api->driver);
		fputs(" runtime=", out);
		sw_json_quote(out, api->runtime);
	}
	if (record->rec->kind == SW_REC_LAUNCH && !(record->rec->flags & SW_RF_END)) {
		const struct sw_rec_launch *launch = (const void *)record->rec;
		const struct sw_trace_function *f = sw_reader_function(reader, launch->function);
		fputs(" kernel=", out);
		sw_json_quote(out, f ? f->name : "");
	}
}

static void print_record(FILE *out, const struct sw_reader *reader, const struct sw_record *record)
{
	const struct sw_rec *rec = record->rec;
	const unsigned char *param = record->params;
	fprintf(out, "%s seq=%" PRIu64 " t_ns=%" PRIu64 " dur_ns=%" PRIu64 " thread=%u ctx=%u api=%u flags=",
		sw_record_kind_name(rec->kind), record->seq, record->t_ns, record->dur_ns, record->thread, rec->ctx,
		rec->api);
	print_bits(out, record_flags, rec->flags);
	fprintf(out, " status=%u stack=%u ticks=%" PRIu64 " offset=%" PRIu64, rec->status, record->stack, rec->ticks,
		record->offset);
	sw_fields_print(out, rec);
	print_names(out, reader, record);
	if (param) {
		fputs(" block_bytes=", out);
		for (uint32_t i = 0; i < record->param_bytes; i++)
			fprintf(out, "%02x", param[i]);
	}
	putc('\n', out);
}

/* Marks the kinds that are named; false: *unknown is where a name stands that is none. */
static bool parse_kinds(const char *list, bool wanted[256], const char **unknown)
{
	for (const char *at = list; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
		size_t n = strcspn(at, ",");
		bool found = false;
		for (unsigned kind = 0; kind < 256; kind++) {
			const char *name = sw_record_kind_name((uint8_t)kind);
			if (strlen(name) == n && !strncmp(name, at, n) && *name != '?')
				found = wanted[kind] = true;
		}
		if (!found) {
			*unknown = at;
			return false;
		}
	}
	return true;
}

int sw_dump(FILE *out, struct sw_reader *reader, const struct sw_dump_options *options, struct sw_error *error)
{
	bool wanted[256] = {false};
	const char *line, *unknown;
	struct sw_record record;
	int rc;
	if (options->kinds && !parse_kinds(options->kinds, wanted, &unknown))
		return sw_fail(error, SW_E_USAGE, "no kind of record is called '%.*s'", (int)strcspn(unknown, ","),
			       unknown);
	print_header(out, sw_reader_header(reader));
	while ((rc = sw_reader_next(reader, &record, error)) == 1)
		if (!options->kinds || wanted[record.rec->kind])
			print_record(out, reader, &record);
	for (size_t i = 0; (line = sw_reader_damage(reader, i)); i++) {
		fputs("DAMAGE text=", out);
		sw_json_quote(out, line);
		putc('\n', out);
	}
	return rc;
}
