/* SPDX-License-Identifier: Apache-2.0 */
#include "report/listing/fields.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
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
} names[TAILS - ENUMS] = {
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
	[IMAGE_KIND - ENUMS] = {{"UNKNOWN", "FATBIN", "ELF", "PTX", "LTOIR"}},
	[LOSS_WHY - ENUMS] = {{NULL, "SIZE_LIMIT", "NO_SPACE", "NO_MEMORY", "REENTERED", "FORK", "OTHER"}},
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

static uint64_t number(const unsigned char *at, size_t size)
{
	uint64_t v = 0;
	memcpy(&v, at, size);
	return v;
}

static void print_list(FILE *out, const unsigned char *at, size_t n, size_t size, const char *separator,
		       const char *prefix)
{
	for (size_t i = 0; i < n; i++) {
		fputs(i ? separator : "", out);
		if (*prefix)
			fprintf(out, "%s%" PRIx64, prefix, number(at + i * size, size));
		else
			fprintf(out, "%" PRIu64, number(at + i * size, size));
	}
}

static void print_raw(FILE *out, const unsigned char *at, size_t n)
{
	while (n--)
		fprintf(out, "%02x", *at++);
}

static void print_fixed(FILE *out, const struct field *f, const unsigned char *at)
{
	uint64_t v = f->size <= 8 ? number(at, f->size) : 0;
	const char *text = f->how >= ENUMS && v < 16 ? names[f->how - ENUMS].text[v] : NULL;
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

static void print_text(FILE *out, const unsigned char *at, size_t n)
{
	char *text = sw_strndup((const char *)at, n);
	sw_json_quote(out, text);
	free(text);
}

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

static const struct field *first_of(uint8_t kind)
{
	const struct field *f = fields;
	while (f < fields + N_FIELDS && f->kind != kind)
		f++;
	return f;
}

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

void sw_fields_print(FILE *out, const struct sw_rec *rec)
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
		const uint64_t n = number(bytes + f->offset, f->size);
		tail += print_tail(out, f, tail, n < room ? n : room);
	}
}

void sw_fields_cover(uint8_t kind, unsigned char *covered, size_t room)
{
	for (const struct field *f = first_of(kind); f < fields + N_FIELDS && f->kind == kind; f++)
		for (size_t i = f->offset; i < (size_t)f->offset + f->size && i < room; i++)
			covered[i] = 1;
}
