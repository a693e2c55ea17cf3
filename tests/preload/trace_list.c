/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the records of a trace in the order of the process, a line each, for tests to compare: kind, entry point,
 * flags by letter, and the fields that the tests of the wrappers look at.  Addresses of the fake driver are stable.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_check.h"

struct list {
	const struct sw_rec **at;
	uint32_t *writer;
	size_t n, room;
	char api[4096][80];
};

/* The last whole LAUNCH of this writer that says what `launch` (its own number) or `params` (of its inline block) asks.
 */
static const struct sw_rec_launch *launch_before(const struct list *list, uint32_t writer, uint32_t launch,
						 uint32_t params)
{
	for (size_t i = list->n; i-- > 0;) {
		const struct sw_rec_launch *x = (const void *)list->at[i];

		if (list->writer[i] != writer || x->h.kind != SW_REC_LAUNCH || x->h.flags & SW_RF_END)
			continue;
		if (launch ? x->launch == launch : x->params == params && x->param_bytes)
			return x;
	}
	return NULL;
}

/* A short LAUNCH as a whole one. */
static const struct sw_rec *whole(const struct list *list, const struct sw_rec *r, uint32_t writer)
{
	const struct sw_rec_launch_again *again = (const void *)r;

	if (r->kind != SW_REC_LAUNCH || r->flags & SW_RF_END || r->words * 8u >= sizeof(struct sw_rec_launch))
		return r;
	const struct sw_rec_launch *like = launch_before(list, writer, again->like, 0);
	const uint32_t params = again->params ? again->like + (uint32_t)(int32_t)again->params : 0;
	const struct sw_rec_launch *base = again->base ? launch_before(list, writer, 0, params - again->base) : NULL;
	const size_t bytes = base ? base->param_bytes : 0;
	struct sw_rec_launch *out = calloc(1, sizeof *out + bytes);
	if (!like || !out || (again->base && !base))
		abort();
	*out = *like;
	out->h = *r;
	out->params = params;
	out->launch = 0;
	out->param_bytes = (uint16_t)bytes;
	out->flags = (uint16_t)((like->flags & ~SW_LAUNCH_INLINE) | (base ? SW_LAUNCH_INLINE : 0));
	if (base) {
		const uint8_t *at = (const uint8_t *)(again + 1);

		memcpy(out + 1, base + 1, bytes);
		for (unsigned int i = 0; i < at[0]; i++)
			memcpy((char *)(out + 1) + 4 * at[i + 1], at + sw_launch_changes_head(at[0]) + 4 * i, 4);
	}
	return &out->h;
}

static bool collect(const struct sw_rec *r, uint32_t writer, void *data)
{
	struct list *list = data;

	if (r->kind == SW_REC_API) {
		const struct sw_rec_api *a = (const void *)r;

		snprintf(list->api[a->id % 4096], sizeof list->api[0], "%.*s", a->driver_bytes, (const char *)(a + 1));
	}
	if (list->n == list->room) {
		list->room = list->room ? 2 * list->room : 1024;
		list->at = realloc(list->at, list->room * sizeof *list->at);
		list->writer = realloc(list->writer, list->room * sizeof *list->writer);
		if (!list->at || !list->writer)
			return false;
	}
	list->at[list->n] = whole(list, r, writer);
	list->writer[list->n++] = writer;
	return true;
}

static int by_sequence(const void *a, const void *b)
{
	const uint64_t x = sw_rec_seq(*(const struct sw_rec *const *)a),
		       y = sw_rec_seq(*(const struct sw_rec *const *)b);

	return (x > y) - (x < y);
}

static void print_flags(const struct sw_rec *r)
{
	static const char letters[] =
		"p?BETnSR"; /* by bit: pending, -, begin, end, per-thread, nested, synchronous, runtime */
	char text[9] = "";
	size_t n = 0;

	for (int bit = 0; bit < 8; bit++) {
		if (bit != 1 && r->flags & 1u << bit)
			text[n++] = letters[bit];
	}
	printf(" flags=%s", n ? text : "-");
}

#define W(name) printf(" " #name "=%" PRIx64, (uint64_t)x->name)

static void print_launch(const struct sw_rec_launch *x)
{
	W(stream), W(function), W(params), W(flags), W(shared_bytes), W(cluster);
	printf(" grid=%u,%u,%u block=%u,%u,%u", x->grid[0], x->grid[1], x->grid[2], x->block[0], x->block[1],
	       x->block[2]);
	for (unsigned int i = 0; i < x->param_bytes; i++)
		printf("%s%02x", i ? "" : " inline=", ((const uint8_t *)(x + 1))[i]);
}

static void print_box(const char *name, const struct sw_box *x)
{
	printf(" %s:", name);
	W(base), W(pitch), W(slice_rows), W(x), W(y), W(z), W(side), W(ctx);
}

static void print_fields(const struct sw_rec *r)
{
	switch (r->kind) {
	case SW_REC_LAUNCH:
		print_launch((const void *)r);
		break;
	case SW_REC_COPY: {
		const struct sw_rec_copy *x = (const void *)r;
		W(dst_side), W(src_side), W(bytes), W(stream), W(dst_ctx), W(src_ctx), W(flags);
		break;
	}
	case SW_REC_COPY_ND: {
		const struct sw_rec_copy_nd *x = (const void *)r;
		W(stream), W(width), W(height), W(depth), W(flags);
		print_box("dst", &x->dst), print_box("src", &x->src);
		break;
	}
	case SW_REC_SET: {
		const struct sw_rec_set *x = (const void *)r;
		W(dst), W(stream), W(width), W(height), W(pitch), W(value), W(element_bytes);
		break;
	}
	case SW_REC_ALLOC: {
		const struct sw_rec_alloc *x = (const void *)r;
		W(memory), W(bytes), W(stream), W(flags);
		break;
	}
	case SW_REC_FREE: {
		const struct sw_rec_free *x = (const void *)r;
		W(memory), W(stream);
		break;
	}
	case SW_REC_EVENT_RECORD: {
		const struct sw_rec_event_record *x = (const void *)r;
		W(event), W(stream), W(flags);
		break;
	}
	case SW_REC_STREAM_WAIT: {
		const struct sw_rec_stream_wait *x = (const void *)r;
		W(stream), W(event), W(flags);
		break;
	}
	case SW_REC_SYNC:
	case SW_REC_QUERY: {
		const struct sw_rec_sync *x = (const void *)r;
		W(what), W(handle), W(handle2);
		break;
	}
	case SW_REC_HOST_FUNC:
	case SW_REC_HOST_FUNC_RUN: {
		const struct sw_rec_host_func *x = (const void *)r;
		W(stream), printf(" enqueued=%d", x->enqueued != 0), W(flags);
		break;
	}
	case SW_REC_CONTEXT_OP: {
		const struct sw_rec_context_op *x = (const void *)r;
		W(op), W(handle), W(flags);
		break;
	}
	case SW_REC_CONTEXT: {
		const struct sw_rec_context *x = (const void *)r;
		W(handle), W(device), W(flags);
		break;
	}
	case SW_REC_CAPTURE: {
		const struct sw_rec_capture *x = (const void *)r;
		W(op), W(stream), W(mode);
		break;
	}
	case SW_REC_GRAPH: {
		const struct sw_rec_graph *x = (const void *)r;
		W(op), W(stream), W(flags);
		break;
	}
	case SW_REC_GRAPH_NODE: {
		const struct sw_rec_graph_node *x = (const void *)r;
		W(type), W(flags), W(before), W(work_bytes), W(nodes);
		break;
	}
	case SW_REC_MEM_OP: {
		const struct sw_rec_mem_op *x = (const void *)r;
		W(op), W(stream), W(address), W(bytes), W(value), W(flags);
		break;
	}
	case SW_REC_CONFIG: {
		const struct sw_rec_config *x = (const void *)r;
		W(what), W(value);
		break;
	}
	case SW_REC_OTHER:
	case SW_REC_UNCLASSIFIED: {
		const struct sw_rec_other *x = (const void *)r;
		for (int i = 0; i < 6; i++)
			printf(" %" PRIx64, x->args[i]);
		break;
	}
	case SW_REC_FUNCTION: {
		const struct sw_rec_function *x = (const void *)r;
		W(id), W(image), W(flags), W(params);
		printf(" name=%.*s", x->name_bytes, (const char *)(x + 1) + x->params * sizeof(struct sw_param));
		break;
	}
	case SW_REC_IMAGE: {
		const struct sw_rec_image *x = (const void *)r;
		W(id), W(kind), W(bytes), W(data);
		printf(" file=%d", x->path_bytes != 0);
		break;
	}
	case SW_REC_CUDART: {
		const struct sw_rec_cudart *x = (const void *)r;
		W(link);
		printf(" version=%u requests=%u", x->version, x->requests);
		break;
	}
	case SW_REC_CODE_LOAD:
	case SW_REC_CODE_UNLOAD:
	case SW_REC_CODE_TOUCH: {
		const struct sw_rec_code *x = (const void *)r;
		W(image);
		break;
	}
	default:
		break;
	}
}

static const char *kind_name(uint8_t kind)
{
	switch (kind) {
#define SW_KIND_NAME(name, value, type, text)                                                                          \
	case value:                                                                                                    \
		return #name;
		SW_RECORDS(SW_KIND_NAME)
#undef SW_KIND_NAME
	default:
		return "?";
	}
}

int main(int argc, char **argv)
{
	static struct list list;
	struct trace trace;

	if (argc != 2 || !trace_read(&trace, argv[1]) || trace.wrong) {
		fprintf(stderr, "%s: %s\n", argc == 2 ? argv[1] : "usage: trace_list TRACE", "no trace, or not whole");
		return 1;
	}
	printf("driver %u\n", trace.header->cuda_driver_version);
	trace_each(&trace, collect, &list);
	/* Descriptions have no place in the order and come first. */
	qsort(list.at, list.n, sizeof *list.at, by_sequence);
	for (size_t i = 0; i < list.n; i++) {
		const struct sw_rec *r = list.at[i];

		if (r->kind == SW_REC_PAD || r->kind == SW_REC_STACK || r->kind == SW_REC_MODULE)
			continue;
		printf("%s%s%s", kind_name(r->kind), r->api ? " " : "", r->api ? list.api[r->api % 4096] : "");
		if (r->kind >= SW_REC_LAUNCH) {
			print_flags(r);
			printf(" ctx=%u status=%u", r->ctx, r->status);
		}
		/* An END has no fields of its kind. */
		if (!(r->flags & SW_RF_END))
			print_fields(r);
		putchar('\n');
	}
	free(list.at);
	trace_free(&trace);
	return 0;
}
