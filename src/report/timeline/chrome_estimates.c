/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is drawn at the end: the times of work as the replay of the run estimates them, on the streams' own rows,
 * and on them the hazards.  Names are kept until then, for as many operations as a replay holds.
 */
#include <stdlib.h>

#include "report/symbols/stack.h"
#include "report/timeline/chrome.h"

#define KNOWN_MOST (1u << 20)

void sw_chrome_know(struct sw_chrome *c, const struct sw_operation *op, struct sw_label call)
{
	if (c->known.n >= KNOWN_MOST)
		return;
	*sw_vec_push(&c->known) =
		(struct known){.seq = op->what.seq,
			       .call = call,
			       .work = op->enqueues ? sw_label_work(&c->labels, op) : (struct sw_label){0},
			       .stack = op->what.stack,
			       .function = op->what.function,
			       .ctx = op->record->rec->ctx,
			       .kind = op->what.kind};
	c->known_sorted = false;
}

static int by_seq(const void *a, const void *b)
{
	const struct known *x = a, *y = b;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

const struct known *sw_chrome_known(struct sw_chrome *c, uint64_t seq)
{
	const struct known key = {.seq = seq};
	if (!c->known.n)
		return NULL;
	if (!c->known_sorted)
		qsort(c->known.at, c->known.n, sizeof *c->known.at, by_seq);
	c->known_sorted = true;
	return bsearch(&key, c->known.at, c->known.n, sizeof *c->known.at, by_seq);
}

/* "race.cu:33 in main", kept for each stack; n 0: unknown. */
static struct sw_label site_label(struct sw_chrome *c, uint32_t stack, uint32_t function)
{
	struct sw_names *names = &c->labels.names;
	uint64_t *index = sw_map_put(&c->sites, (uint64_t)function << 32 | stack);
	if (*index)
		return c->site_labels.at[*index - 1];
	const struct sw_frame *site = stack ? sw_stack_site(names, stack, function) : NULL;
	struct sw_label label = {0};
	if (site)
		label = sw_label_any(&c->labels, sw_place_full(names, site));
	*sw_vec_push(&c->site_labels) = label;
	*index = c->site_labels.n;
	return label;
}

/* ---- estimates ----------------------------------------------------------------------------------------------------
 */

void sw_chrome_work(void *arg, const struct sw_stretch *stretch)
{
	struct sw_chrome *c = arg;
	if (!stretch->timed && stretch->end_ns > stretch->start_ns)
		*sw_vec_push(&c->estimates) =
			(struct estimate){stretch->seq, stretch->start_ns, stretch->end_ns, stretch->lane};
}

static int by_start(const void *a, const void *b)
{
	const struct estimate *x = a, *y = b;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static const char *category_of(const struct known *known)
{
	switch (known->kind) {
	case SW_REC_LAUNCH:
		return "kernel";
	case SW_REC_COPY:
	case SW_REC_COPY_ND:
		return "gpu_memcpy";
	case SW_REC_SET:
		return "gpu_memset";
	case SW_REC_HOST_FUNC:
		return "host_function";
	default:
		return "gpu_operation";
	}
}

static struct sw_label estimate_name(struct sw_chrome *c, struct sw_label name)
{
	return sw_chrome_variant(c, name, "", " (estimate)", 0);
}

/* Measured and estimated work of one stream may overlap: then the estimates have a row of their own. */
static uint32_t estimate_tid(const struct sw_chrome *c, uint32_t stream)
{
	return (c->judgement->gpu.recorded ? TID_ESTIMATED : TID_STREAM) + stream;
}

static void draw_estimate(struct sw_chrome *c, const struct estimate *e)
{
	const struct known *known = sw_chrome_known(c, e->seq);
	struct sw_place at = {PID_DEVICE + sw_chrome_device(c, e->stream), estimate_tid(c, e->stream), e->start};
	if (!known || !known->work.n || !sw_window_shows(&c->window, e->start, e->end))
		return;
	struct stream_track *track = sw_chrome_track(c, e->stream);
	*(c->judgement->gpu.recorded ? &track->estimated : &track->drawn) = true;
	sw_event_slice(&c->events, at, e->end, estimate_name(c, known->work), category_of(known));
	sw_event_number(&c->events, "device", sw_chrome_device(c, e->stream));
	sw_event_number(&c->events, "context", known->ctx);
	sw_event_number(&c->events, "stream", e->stream);
	sw_event_number(&c->events, "correlation", e->seq);
	sw_event_text(&c->events, "timing", ESTIMATED);
	sw_chrome_put_site(c, "at", known->stack, known->function);
	sw_event_end(&c->events);
}

void sw_chrome_put_site(struct sw_chrome *c, const char *key, uint32_t stack, uint32_t function)
{
	struct sw_label site = site_label(c, stack, function);
	if (site.n)
		sw_event_label(&c->events, key, site);
}

void sw_chrome_estimates(struct sw_chrome *c)
{
	if (c->estimates.n)
		qsort(c->estimates.at, c->estimates.n, sizeof *c->estimates.at, by_start);
	for (size_t i = 0; i < c->estimates.n; i++) {
		struct estimate *e = &c->estimates.at[i];
		const struct estimate *last = i ? e - 1 : NULL;
		/* Work of a stream is one after the other; rounding must not make two slices overlap. */
		if (last && last->stream == e->stream && e->start < last->end)
			e->start = last->end;
		if (e->end <= e->start)
			e->end = e->start; /* nothing is left of it */
		else
			draw_estimate(c, e);
	}
	for (size_t i = 0; i < c->estimates.n; i++)
		if (c->estimates.at[i].end > c->estimates.at[i].start)
			*sw_map_put(&c->estimate_of, c->estimates.at[i].seq) = i + 1;
}

bool sw_chrome_ran(struct sw_chrome *c, const struct sw_access *access, struct sw_place *at, uint64_t *end)
{
	uint64_t index = sw_map_get(&c->estimate_of, access->seq);
	const struct known *known = sw_chrome_known(c, access->seq);
	*at = (struct sw_place){PID_DEVICE + sw_chrome_device(c, access->stream), estimate_tid(c, access->stream), 0};
	if (index) {
		at->ns = c->estimates.at[index - 1].start;
		*end = c->estimates.at[index - 1].end;
		return known != NULL;
	}
	if (!known || !known->tid || !sw_judgement_times(c->judgement, access->seq, &at->ns, end))
		return false;
	at->tid = known->tid;
	return *end > at->ns;
}

void sw_chrome_estimates_free(struct sw_chrome *c)
{
	free(c->known.at);
	free(c->estimates.at);
	free(c->site_labels.at);
	free(c->variants.at);
	sw_map_free(&c->sites);
	sw_map_free(&c->estimate_of);
	sw_map_free(&c->variant_of);
}
