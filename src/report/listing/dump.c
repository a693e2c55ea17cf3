/* SPDX-License-Identifier: Apache-2.0 */
/* Every record of a trace, one line each, all fields named. */
#include "report/listing/listing.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "reader/kinds.h"
#include "report/json/json_out.h"

/* How values are printed.  First those with a width of their own, then enumerations, then what follows the struct. */
enum how {
	HEX,
	DEC,
	SIGNED,
	RAW,	  /* bytes, in hexadecimal */
	EXTENT16, /* 256x1x1 */
	EXTENT32,
	ARGUMENTS, /* 0x1,0x2,... */
	ENUMS,
	MEMORY = ENUMS,
	SIDE,
	SYNC_WHAT,
	CONTEXT_OP,
	CAPTURE_OP,
	GRAPH_OP,
	MEM_OP,
	ANNOTATION,
	RANGE_OP,
	LIBRARY_OP,
	CUDART_LINK,
	IMAGE_KIND,
	LOSS_WHY,
	CUT_WHY,
	NAME_OF,
	PACKED,
	OBJECT_KIND,
	THREAD_OP,
	THROUGH,
	ACTIVITY_WHAT,
	TAILS,
	TEXT = TAILS,
	ARGS,	       /* texts, each followed by a NUL */
	WORDS,	       /* u64 each */
	BYTES8,	       /* bytes, padded to 8 in the file */
	PARAMS,	       /* struct sw_param each */
	COUNTS,	       /* struct sw_count each */
	PYTHON_FRAMES, /* struct sw_python_frame each: code:line, "e" after those with SW_PYTHON_ENTRY */
};

static const struct {
	const char *text[16]; /* by value; NULL: the number is printed */
} enum_names[TAILS - ENUMS] = {
	[MEMORY - ENUMS] = {{"UNKNOWN", "DEVICE", "ASYNC", "MANAGED", "PINNED", "REGISTERED", "ARRAY", "MAPPED", "IPC",
			     "SYMBOL", "PAGEABLE"}},
	[SIDE - ENUMS] = {{"UNIFIED", "HOST", "DEVICE", "ARRAY"}},
	[SYNC_WHAT - ENUMS] = {{NULL, "EVENT", "STREAM", "CONTEXT", "ELAPSED"}},
	[CONTEXT_OP - ENUMS] = {{NULL, "CREATE", "DESTROY", "CURRENT", "RETAIN", "RELEASE", "RESET"}},
	[CAPTURE_OP - ENUMS] = {{NULL, "BEGIN", "END", "TO_GRAPH"}},
	[GRAPH_OP - ENUMS] = {{NULL, "CREATE", "DESTROY", "CLONE", "ADD_NODE", "INSTANTIATE", "EXEC_UPDATE",
			       "EXEC_DESTROY", "UPLOAD"}},
	[ANNOTATION - ENUMS] = {{NULL, "READS", "WRITES", "BLOCK_BEGIN", "BLOCK_END", "IGNORE", "JUDGE", "BEFORE",
				 "AFTER", "TENSOR_BEGIN", "TENSOR_END"}},
	[MEM_OP - ENUMS] = {{NULL, "PREFETCH", "ADVISE", "ATTACH", "WAIT_VALUE", "WRITE_VALUE", "BATCH", "DISCARD"}},
	[CUDART_LINK - ENUMS] = {{NULL, "SHARED", "STATIC", "OTHER"}},
	[IMAGE_KIND - ENUMS] = {{"UNKNOWN", "FATBIN", "ELF", "PTX", "LTOIR", "TILEIR"}},
	[LOSS_WHY - ENUMS] = {{NULL, "SIZE_LIMIT", "NO_SPACE", "NO_MEMORY", "REENTERED", "FORK", "OTHER"}},
	[CUT_WHY - ENUMS] = {{NULL, "PAUSED", "DROPPED"}},
	[NAME_OF - ENUMS] = {{NULL, "STREAM", "EVENT", "BUFFER", "THREAD", "SYMBOL"}},
	[PACKED - ENUMS] = {{"WHOLE", "MISSING", "CHANGED"}},
	[OBJECT_KIND - ENUMS] = {{NULL, "TEXTURE", "SURFACE", "TENSOR_MAP"}},
	[THREAD_OP - ENUMS] = {{NULL, "ACQUIRE", "RELEASE", "CREATE", "START", "ABANDON", "END", "JOIN"}},
	[THROUGH - ENUMS] = {{NULL, "MUTEX", "WRITERS", "READERS", "COND", "SEMAPHORE", "BARRIER", "ONCE", "THREAD"}},
	[RANGE_OP - ENUMS] = {{NULL, "PUSH", "POP", "START", "END"}},
	[LIBRARY_OP - ENUMS] = {{NULL, "BEGIN", "RETURN", "DONE", "GONE"}},
	[ACTIVITY_WHAT - ENUMS] = {{NULL, "CALL", "KERNEL", "COPY", "SET", "GRAPH", "OVERHEAD"}},
};

/* rec_LAUNCH is struct sw_rec_launch, and so on. */
#define REC_TYPE(name, value, type, text) typedef struct type rec_##name;
SW_RECORDS(REC_TYPE)
#undef REC_TYPE

static const struct field {
	uint8_t kind, how;
	uint16_t offset, size; /* of the member; of a tail: the member that counts it */
	uint16_t fixed;	       /* bytes of the struct */
	const char *name;
} fields[] = {
#define FIELD(kind, member, name, how)                                                                                 \
	{SW_REC_##kind, how, offsetof(rec_##kind, member), sizeof((rec_##kind *)0)->member, sizeof(rec_##kind), name},
#define TAIL FIELD
#include "report/listing/fields.def"
#undef TAIL
#undef FIELD
};
#define N_FIELDS (sizeof fields / sizeof *fields)

/* The number of `size` bytes at this place. */
static uint64_t read_number(const unsigned char *at, size_t size)
{
	uint64_t v = 0;
	memcpy(&v, at, size);
	return v;
}

/* Prints n numbers of `size` bytes each; prefix: "0x" for hexadecimal, "" for decimal. */
static void print_list(FILE *out, const unsigned char *at, size_t n, size_t size, const char *separator,
		       const char *prefix)
{
	for (size_t i = 0; i < n; i++) {
		fputs(i ? separator : "", out);
		if (*prefix)
			fprintf(out, "%s%" PRIx64, prefix, read_number(at + i * size, size));
		else
			fprintf(out, "%" PRIu64, read_number(at + i * size, size));
	}
}

/* Prints bytes in hexadecimal. */
static void print_raw(FILE *out, const unsigned char *at, size_t n)
{
	while (n--)
		fprintf(out, "%02x", *at++);
}

/* Prints a field of fixed size, as its row says. */
static void print_fixed(FILE *out, const struct field *f, const unsigned char *at)
{
	uint64_t v = f->size <= 8 ? read_number(at, f->size) : 0;
	const char *text = f->how >= ENUMS && v < 16 ? enum_names[f->how - ENUMS].text[v] : NULL;
	if (f->how == RAW)
		print_raw(out, at, f->size);
	else if (f->how == EXTENT16 || f->how == EXTENT32)
		print_list(out, at, 3, f->size / 3, "x", "");
	else if (f->how == ARGUMENTS)
		print_list(out, at, f->size / 8, 8, ",", "0x");
	else if (f->how == HEX)
		fprintf(out, "0x%" PRIx64, v);
	else if (f->how == SIGNED)
		fprintf(out, "%" PRId32, (int32_t)v);
	else if (text)
		fputs(text, out);
	else
		fprintf(out, "%" PRIu64, v);
}

/* Prints text as a string of JSON. */
static void print_text(FILE *out, const unsigned char *at, size_t n)
{
	char *text = sw_strndup((const char *)at, n);
	sw_json_quote(out, text);
	free(text);
}

/* Prints texts that each end with NUL. */
static void print_args(FILE *out, const unsigned char *at, size_t n)
{
	for (size_t i = 0; i < n; i += strnlen((const char *)at + i, n - i) + 1) {
		fputs(i ? "," : "", out);
		print_text(out, at + i, strnlen((const char *)at + i, n - i));
	}
}

/* Prints what follows the struct at `at`; returns its bytes in the file. */
static size_t print_tail(FILE *out, const struct field *f, const unsigned char *at, size_t n)
{
	const struct sw_param *param = (const void *)at;
	const struct sw_count *count = (const void *)at;
	const struct sw_python_frame *frame = (const void *)at;
	switch (f->how) {
	case WORDS:
		print_list(out, at, n, 8, ",", "0x");
		return n * 8;
	case BYTES8:
		print_raw(out, at, n);
		return (n + 7) & ~(size_t)7;
	case PARAMS:
		for (size_t i = 0; i < n; i++)
			fprintf(out, "%s%u:%u", i ? "," : "", param[i].offset, param[i].bytes);
		return n * sizeof *param;
	case COUNTS:
		for (size_t i = 0; i < n; i++)
			fprintf(out, "%s%u:%" PRIu64 ":%u", i ? "," : "", count[i].api, count[i].calls,
				count[i].failed);
		return n * sizeof *count;
	case PYTHON_FRAMES:
		for (size_t i = 0; i < n; i++)
			fprintf(out, "%s%u:%u%s", i ? "," : "", frame[i].code, frame[i].line & ~SW_PYTHON_ENTRY,
				frame[i].line & SW_PYTHON_ENTRY ? "e" : "");
		return n * sizeof *frame;
	case ARGS:
		print_args(out, at, n);
		return n;
	default:
		print_text(out, at, n);
		return n;
	}
}

/* The first field of this kind of record. */
static const struct field *first_of(uint8_t kind)
{
	const struct field *f = fields;
	while (f < fields + N_FIELDS && f->kind != kind)
		f++;
	return f;
}

/* Bytes of an element of a tail. */
static size_t bytes_of_one(const struct field *f)
{
	switch (f->how) {
	case WORDS:
		return 8;
	case PARAMS:
		return sizeof(struct sw_param);
	case COUNTS:
		return sizeof(struct sw_count);
	case PYTHON_FRAMES:
		return sizeof(struct sw_python_frame);
	default:
		return 1;
	}
}

/* Prints the fields of a record.  It must be whole and checked, as sw_reader_next() hands it out. */
static void fields_print(FILE *out, const struct sw_rec *rec)
{
	const unsigned char *bytes = (const unsigned char *)rec, *end = bytes + rec->words * 8u, *tail = NULL;
	if (rec->flags & SW_RF_END && rec->kind >= SW_REC_LAUNCH) {
		fprintf(out, " begin_seq=%" PRIu64, ((const struct sw_rec_end *)(const void *)rec)->begin_seq);
		return;
	}
	for (const struct field *f = first_of(rec->kind); f < fields + N_FIELDS && f->kind == rec->kind; f++) {
		fprintf(out, " %s=", f->name);
		if (f->how < TAILS) {
			print_fixed(out, f, bytes + f->offset);
			continue;
		}
		tail = tail ? tail : bytes + f->fixed;
		/* A damaged record may say more than it holds. */
		const uint64_t room = tail < end ? (uint64_t)(end - tail) / bytes_of_one(f) : 0;
		const uint64_t n = read_number(bytes + f->offset, f->size);
		tail += print_tail(out, f, tail, n < room ? n : room);
	}
	const struct sw_rec_calls *counted = sw_record_calls(rec);
	if (counted)
		fprintf(out, " calls=%" PRIu64 " inside_ticks=%" PRIu64, counted->calls, counted->inside);
}

void sw_fields_cover(uint8_t kind, unsigned char *covered, size_t room)
{
	for (const struct field *f = first_of(kind); f < fields + N_FIELDS && f->kind == kind; f++)
		for (size_t i = f->offset; i < (size_t)f->offset + f->size && i < room; i++)
			covered[i] = 1;
}

/* The function of NCCL for an operation. */
static const char *collective_name(uint32_t op)
{
	static const char *const names[] = {
		[SW_COLLECTIVE_ALL_REDUCE] = "ncclAllReduce",
		[SW_COLLECTIVE_BROADCAST] = "ncclBroadcast",
		[SW_COLLECTIVE_REDUCE] = "ncclReduce",
		[SW_COLLECTIVE_ALL_GATHER] = "ncclAllGather",
		[SW_COLLECTIVE_REDUCE_SCATTER] = "ncclReduceScatter",
		[SW_COLLECTIVE_ALL_TO_ALL] = "ncclAlltoAll",
		[SW_COLLECTIVE_GATHER] = "ncclGather",
		[SW_COLLECTIVE_SCATTER] = "ncclScatter",
		[SW_COLLECTIVE_SEND] = "ncclSend",
		[SW_COLLECTIVE_RECEIVE] = "ncclRecv",
		[SW_COLLECTIVE_GROUP_END] = "ncclGroupEnd",
		[SW_COLLECTIVE_COMMUNICATOR] = "ncclCommInitRank",
	};
	return op < sizeof names / sizeof *names && names[op] ? names[op] : "a function of NCCL";
}

struct open_calls {
	SW_VEC(struct sw_in_flight) at;
};

/* Notes a call of a collective as open until its end comes.  Its record is complete when it is written, so one that has
   no end has not returned. */
static void take_collective(struct open_calls *open, const struct sw_record *r)
{
	const struct sw_rec_collective *c = (const struct sw_rec_collective *)(const void *)r->rec;
	const struct sw_rec_end *end = (const struct sw_rec_end *)(const void *)r->rec;
	if (!(r->rec->flags & SW_RF_END)) {
		*sw_vec_push(&open->at) = (struct sw_in_flight){.thread = r->thread,
								.stack = r->stack,
								.seq = r->seq,
								.t_ns = r->t_ns,
								.name = collective_name(c->op)};
		return;
	}
	for (size_t i = open->at.n; i-- > 0;)
		if (open->at.at[i].seq == end->begin_seq) {
			open->at.at[i] = open->at.at[--open->at.n];
			return;
		}
}

/* Lists the calls that had not returned, as a reader that followed the program knows them: a trace of hours is not read
   once more. */
static void list_unreturned(struct sw_report *report)
{
	struct sw_unreturned call;
	for (size_t i = 0; sw_reader_unreturned(report->reader, i, &call); i++)
		*sw_vec_push(&report->in_flight) = (struct sw_in_flight){
			.thread = call.thread,
			.stack = call.stack,
			.api = call.api,
			.flags = call.flags,
			.seq = call.seq,
			.t_ns = call.t_ns,
		};
}

int sw_in_flight_find(struct sw_report *report, struct sw_error *error)
{
	struct sw_reader *reader;
	struct sw_record record;
	struct open_calls open = {0};
	if (sw_reader_totals(report->reader).closed)
		return 0;
	/* Calls of NCCL have two records, which only a second pass joins. */
	if (sw_reader_follows(report->reader) && !report->judgement->collectives) {
		list_unreturned(report);
		return 0;
	}
	int rc = sw_reader_open(sw_reader_path(report->reader), &reader, error);
	if (rc)
		return rc;
	while ((rc = sw_reader_next(reader, &record, error)) > 0) {
		if (record.rec->kind == SW_REC_COLLECTIVE) {
			take_collective(&open, &record);
			continue;
		}
		/* Below 64 are descriptions.  Stacks are numbered by content in the order of the file: alike in both
		   readers. */
		if (!sw_kind_is_operation(record.rec->kind) || !(record.rec->flags & SW_RF_PENDING))
			continue;
		*sw_vec_push(&report->in_flight) = (struct sw_in_flight){
			.thread = record.thread,
			.stack = record.stack,
			.api = record.rec->api,
			.flags = record.rec->flags,
			.seq = record.seq,
			.t_ns = record.t_ns,
		};
	}
	for (size_t i = 0; i < open.at.n; i++)
		*sw_vec_push(&report->in_flight) = open.at.at[i];
	free(open.at.at);
	sw_reader_close(reader);
	return rc;
}

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

/* Prints the names of the bits that are set, and the rest as a number. */
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

/* Prints the header of the file. */
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

/* Prints the names that the record's numbers stand for. */
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

/* Prints a record in one line. */
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
	fields_print(out, rec);
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
