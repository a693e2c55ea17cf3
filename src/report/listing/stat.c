/* SPDX-License-Identifier: Apache-2.0 */
#include "report/listing/stat.h"

#include <inttypes.h>

#include "base/map.h"
#include "base/memory.h"
#include "detect/waits/device_times.h"
#include "reader/kinds.h"
#include "report/text/text_out.h"

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

static void add_volume(struct volume *v, uint64_t bytes)
{
	v->calls++;
	v->bytes += bytes;
}

static void count_operation(struct counts *s, const struct sw_record *record)
{
	const struct sw_rec *rec = record->rec;
	const struct sw_rec_copy_nd *box = (const void *)rec;
	const struct sw_rec_set *set = (const void *)rec;
	switch (rec->kind) {
	case SW_REC_COPY:
		add_volume(&s->copies, ((const struct sw_rec_copy *)(const void *)rec)->bytes);
		break;
	case SW_REC_COPY_ND:
		add_volume(&s->copies, box->width * box->height * box->depth);
		break;
	case SW_REC_SET:
		add_volume(&s->sets, set->width * set->height);
		break;
	case SW_REC_ALLOC:
		add_volume(&s->allocations, ((const struct sw_rec_alloc *)(const void *)rec)->bytes);
		break;
	case SW_REC_UNCLASSIFIED:
		s->unclassified++;
		break;
	}
}

static void count(struct counts *s, const struct sw_record *record)
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

static void print_clean_line(FILE *out, const char *label, const char *text)
{
	fprintf(out, "%-13s", label);
	print_clean(out, text);
	putc('\n', out);
}

static void print_program(FILE *out, const struct sw_reader *reader)
{
	static const char *const links[] = {"", "shared", "static", "calls the driver itself:"};
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
		fprintf(out, ", sm_%u%u, %u multiprocessors, %.1f GiB\n", device->major, device->minor,
			device->multiprocessors, (double)device->memory_bytes / (1 << 30));
	}
	for (size_t i = 0; (module = sw_reader_module_at(reader, i)); i++) {
		if (!module->cudart || module->cudart >= sizeof links / sizeof *links)
			continue;
		fprintf(out, "cudart       %s ", links[module->cudart]);
		print_clean(out, module->path);
		putc('\n', out);
	}
}

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
	fprintf(out, "trace        %" PRIu64 " records, %" PRIu64 " operations, %.1f bytes an operation\n", t.records,
		t.operations, t.operations ? (double)t.bytes / (double)t.operations : 0.0);
	fprintf(out, "lost         %" PRIu64 " records\n", t.lost);
	fprintf(out, "ended        %s\n", t.closed ? "in order" : "no: killed, crashed or still running");
}

static void print_volume(FILE *out, const char *name, struct volume v)
{
	fprintf(out, "%-12s %" PRIu64 " calls, %" PRIu64 " bytes\n", name, v.calls, v.bytes);
}

static void print_gpu(FILE *out, const struct sw_gpu_summary *gpu)
{
	if (!gpu->recorded)
		return;
	fprintf(out,
		"gpu times    %" PRIu64 " of work, %" PRIu64 " joined to a call, %" PRIu64 " not, %" PRIu64
		" without times, %" PRIu64 " lost; clock error %s%" PRIu64 " ns, %" PRIu64 " jumps\n",
		gpu->records, gpu->joined, gpu->unmatched, gpu->untimed, gpu->lost,
		gpu->clock_bounded ? "" : "at least ", gpu->clock_error_ns, gpu->clock_jumps);
}

static void print(FILE *out, const struct sw_reader *reader, const struct counts *s)
{
	const char *line;
	print_program(out, reader);
	print_costs(out, reader, s);
	fprintf(out, "threads      %zu made calls\n", s->threads.n);
	print_volume(out, "copies", s->copies);
	print_volume(out, "sets", s->sets);
	print_volume(out, "allocations", s->allocations);
	print_gpu(out, &s->gpu);
	fprintf(out, "failed       %" PRIu64 " calls\n", s->failed);
	fprintf(out, "in flight    %zu calls began and did not return\n", s->open.n);
	fprintf(out, "unclassified %" PRIu64 " calls of entry points that are not modelled\n", s->unclassified);
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
		count(&s, &record);
	if (!rc) {
		print(out, reader, &s);
		sw_stat_tables_text(out, tables);
	}
	sw_map_free(&s.threads);
	sw_map_free(&s.open);
	return rc;
}
