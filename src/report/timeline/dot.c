/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The happens-before graph for Graphviz: lanes as clusters, program order and the edges that exist solid, the edge that
 * a hazard misses dashed and red.  Bounded: so many operations, then a note of how many were left out.
 */
#include "report/timeline/timeline.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/counted.h"
#include "report/timeline/labels.h"

enum {
	MAX_NODES = 400,
	BEFORE = 8 /* operations drawn before the earlier side of a finding, for context */
};

struct node {
	uint64_t seq;
	struct sw_label text;
	uint32_t stream, thread; /* lane: the stream, or with stream 0 the thread */
};
struct line {
	uint64_t from, to;
	enum sw_edge_kind kind;
	enum sw_order basis;
};
struct missing {
	uint64_t from, to;
	int id;
};

struct sw_dot {
	struct sw_observer observer;
	FILE *out;
	struct sw_labels labels;
	struct sw_dot_options options;
	SW_VEC(struct node) nodes;
	SW_VEC(struct line) lines;
	SW_VEC(struct missing) missing;
	struct sw_map ends; /* record that ended a wait -> record of its call */
	size_t settled;	    /* lines whose end is known */
	uint64_t left_out;
};

/* ---- watching ---------------------------------------------------------------------------------------------------- */

/* Is the call one of the sides of the finding that is drawn? */
static bool is_side(const struct sw_dot *d, uint64_t seq)
{
	for (uint32_t i = 0; d->options.around && i < d->options.around->accesses; i++)
		if (sw_finding_access(d->options.around, i)->seq == seq)
			return true;
	return false;
}

/* The first call of the finding's sides. */
static uint64_t first_side(const struct sw_dot *d)
{
	uint64_t first = UINT64_MAX;
	for (uint32_t i = 0; i < d->options.around->accesses; i++)
		if (sw_finding_access(d->options.around, i)->seq < first)
			first = sw_finding_access(d->options.around, i)->seq;
	return first;
}

/* Is the operation drawn?  Around a finding: its sides, those between them, and the latest few before. */
static bool is_wanted(struct sw_dot *d, uint64_t seq)
{
	if (is_side(d, seq))
		return true;
	if (d->options.around) {
		uint64_t last = 0;
		for (uint32_t i = 0; i < d->options.around->accesses; i++)
			if (sw_finding_access(d->options.around, i)->seq > last)
				last = sw_finding_access(d->options.around, i)->seq;
		if (seq > last)
			return false;
		if (seq < first_side(d) && d->nodes.n >= BEFORE) { /* the latest few */
			memmove(d->nodes.at, d->nodes.at + 1, --d->nodes.n * sizeof *d->nodes.at);
			return true;
		}
	}
	if (d->nodes.n < d->options.max_nodes)
		return true;
	d->left_out++;
	return false;
}

/* Call-back of the judge: a call; its waits' edges, which name the end of a wait, are resolved to it. */
static void on_operation(void *arg, const struct sw_operation *op)
{
	struct sw_dot *d = arg;
	for (; d->settled < d->lines.n; d->settled++)
		if (d->lines.at[d->settled].kind == SW_EDGE_HOST_WAIT ||
		    d->lines.at[d->settled].kind == SW_EDGE_CONTEXT)
			*sw_map_put(&d->ends, d->lines.at[d->settled].to) = op->what.seq;
	if (op->record->failed || !is_wanted(d, op->what.seq))
		return;
	const char *call = sw_name_api(&d->labels.names, op->what.api, op->what.flags & SW_RF_RUNTIME, 0);
	const char *kernel =
		sw_name_kernel(&d->labels.names, op->what.kind == SW_REC_LAUNCH ? op->what.function : 0, false);
	char *text = sw_format("%" PRIu64 " %s%s%s", op->what.seq, call, kernel[0] ? " " : "", kernel);
	*sw_vec_push(&d->nodes) =
		(struct node){op->what.seq, sw_label_any(&d->labels, text), op->what.stream, op->what.thread};
	free(text);
}

/* Edges from work that is no longer among the latest few. */
static void forget_lines(struct sw_dot *d)
{
	uint64_t oldest = d->nodes.n ? d->nodes.at[0].seq : 0;
	size_t kept = 0;
	for (size_t i = 0; i < d->lines.n; i++)
		if (d->lines.at[i].from >= oldest || i >= d->settled)
			d->lines.at[kept++] = d->lines.at[i];
	d->settled -= d->lines.n - kept;
	d->lines.n = kept;
}

/* Call-back of the judge: keeps an order between two operations. */
static void on_edge(void *arg, const struct sw_hb_edge *edge, uint32_t from_stream, uint32_t to_stream)
{
	struct sw_dot *d = arg;
	(void)from_stream;
	(void)to_stream;
	size_t most = 16 * (size_t)d->options.max_nodes; /* a few to each operation are more than enough */
	if (d->lines.n == most && d->options.around)
		forget_lines(d);
	if (d->lines.n < most)
		*sw_vec_push(&d->lines) = (struct line){edge->from_seq, edge->to_seq, edge->kind, edge->basis};
}

/* Call-back of the judge: keeps the order that is missing. */
static void on_hazard(void *arg, const struct sw_finding *finding, const struct sw_access *earlier,
		      const struct sw_access *later)
{
	struct sw_dot *d = arg;
	if (d->missing.n < d->options.max_nodes &&
	    (!d->options.around || (is_side(d, earlier->seq) && is_side(d, later->seq))))
		*sw_vec_push(&d->missing) = (struct missing){earlier->seq, later->seq, finding->id};
}

/* Call-back of the judge: it begins. */
static void on_begin(void *arg, const struct sw_judgement *so_far)
{
	sw_labels_judgement(&((struct sw_dot *)arg)->labels, so_far);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* For qsort(): by stream, else by thread, then in order. */
static int by_lane(const void *a, const void *b)
{
	const struct node *x = a, *y = b;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (!x->stream && x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Are two operations of one stream, or of one host thread? */
static bool same_lane(const struct node *a, const struct node *b)
{
	return a->stream == b->stream && (a->stream || a->thread == b->thread);
}

/* Draws each stream and thread as a cluster of its operations in order. */
static void draw_lanes(struct sw_dot *d)
{
	for (size_t i = 0; i < d->nodes.n; i++) {
		const struct node *n = &d->nodes.at[i];
		bool first = !i || !same_lane(n, n - 1);
		if (first) {
			char *host = sw_format("host thread %u", n->thread);
			struct sw_label name = sw_label_any(
				&d->labels, n->stream ? sw_name_stream(&d->labels.names, n->stream) : host);
			fprintf(d->out, "%ssubgraph cluster_%zu {\nlabel=%.*s;\n", i ? "}\n" : "", i, (int)name.n,
				name.text);
			free(host);
		}
		fprintf(d->out, "n%" PRIu64 " [label=%.*s%s];\n", n->seq, (int)n->text.n, n->text.text,
			is_side(d, n->seq) ? ", penwidth=3, color=red" : "");
		if (!first)
			fprintf(d->out, "n%" PRIu64 " -> n%" PRIu64 " [color=gray40];\n", n[-1].seq, n->seq);
	}
	fputs(d->nodes.n ? "}\n" : "", d->out);
}

static const char *const kinds[] = {
	[SW_EDGE_ENQUEUE] = "enqueue",	 [SW_EDGE_EVENT] = "event",	  [SW_EDGE_HOST_WAIT] = "host waits",
	[SW_EDGE_LEGACY] = "legacy",	 [SW_EDGE_CALLBACK] = "callback", [SW_EDGE_CONTEXT] = "context",
	[SW_EDGE_HOST] = "host threads",
};

/* The operation of a record: the call, where it is the end of a wait. */
static uint64_t node_of(const struct sw_dot *d, uint64_t seq)
{
	uint64_t call = sw_map_get(&d->ends, seq);
	return call ? call : seq;
}

/* Are both ends of an edge drawn, and are they different? */
static bool is_drawn(const struct sw_map *nodes, uint64_t from, uint64_t to)
{
	return from != to && sw_map_find(nodes, from) && sw_map_find(nodes, to);
}

/* Draws the order that exists, and dashed the order that is missing. */
static void draw_lines(struct sw_dot *d)
{
	struct sw_map nodes = {0};
	for (size_t i = 0; i < d->nodes.n; i++)
		*sw_map_put(&nodes, d->nodes.at[i].seq) = 1;
	for (size_t i = 0; i < d->lines.n; i++) {
		const struct line *l = &d->lines.at[i];
		uint64_t from = node_of(d, l->from), to = node_of(d, l->to);
		if (is_drawn(&nodes, from, to))
			fprintf(d->out, "n%" PRIu64 " -> n%" PRIu64 " [label=\"%s%s\", constraint=true];\n", from, to,
				kinds[l->kind], l->basis == SW_ORDER_MEASURED ? " (measured)" : "");
	}
	for (size_t i = 0; i < d->missing.n; i++) {
		const struct missing *m = &d->missing.at[i];
		if (is_drawn(&nodes, m->from, m->to))
			fprintf(d->out,
				"n%" PRIu64 " -> n%" PRIu64 " [label=\"SW%d: missing\", style=dashed, color=red, "
				"fontcolor=red, constraint=false];\n",
				m->from, m->to, m->id);
	}
	sw_map_free(&nodes);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* Begins a graph into this file; options NULL: all of the run. */
struct sw_dot *sw_dot_new(FILE *out, struct sw_reader *reader, const struct sw_dot_options *options)
{
	struct sw_dot *d = sw_calloc(1, sizeof *d);
	d->out = out;
	if (options)
		d->options = *options;
	if (!d->options.max_nodes)
		d->options.max_nodes = MAX_NODES;
	d->observer = (struct sw_observer){
		.arg = d, .operation = on_operation, .edge = on_edge, .hazard = on_hazard, .begin = on_begin};
	sw_labels_init(&d->labels, reader);
	return d;
}

/* The call-backs to judge with. */
const struct sw_observer *sw_dot_observer(struct sw_dot *dot)
{
	return &dot->observer;
}

/* Writes the graph and frees the state. */
void sw_dot_finish(struct sw_dot *d)
{
	if (d->nodes.n)
		qsort(d->nodes.at, d->nodes.n, sizeof *d->nodes.at, by_lane);
	fputs("digraph happens_before {\nrankdir=LR;\nnode [shape=box, fontname=\"sans-serif\"];\n"
	      "edge [fontname=\"sans-serif\", fontsize=10];\n",
	      d->out);
	draw_lanes(d);
	draw_lines(d);
	if (d->left_out)
		fprintf(d->out, "label=\"%" PRIu64 " more %s not drawn\";\n", d->left_out,
			sw_plural(d->left_out, "operation is", "operations are"));
	fputs("}\n", d->out);
	sw_map_free(&d->ends);
	sw_labels_free(&d->labels);
	free(d->nodes.at);
	free(d->lines.at);
	free(d->missing.at);
	free(d);
}
