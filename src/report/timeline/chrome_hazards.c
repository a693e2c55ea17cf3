/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hazards: a slice on each side's own row, within the slice of its work, with an arrow from stream to stream; and one
 * on a row of the host, where the later call was made.  Instant events would vanish in Chromium's panel.
 */
#include <stdio.h>
#include <stdlib.h>

#include "report/symbols/stack.h"
#include "report/timeline/chrome.h"
#include "report/words/wording.h"

/* More than a viewer shows in a useful way; the others are counted. */
#define HAZARDS_MOST 10000u

void sw_chrome_hazard(void *arg, const struct sw_finding *finding, const struct sw_access *earlier,
		      const struct sw_access *later)
{
	struct sw_chrome *c = arg;
	if (c->hazards.n >= HAZARDS_MOST) {
		c->hazards_left++;
		return;
	}
	struct hazard *h = sw_vec_push(&c->hazards);
	h->finding = *finding;
	h->finding.accesses = 2;
	h->side[0] = *earlier;
	h->side[1] = *later;
}

static struct sw_label stack_label(struct sw_chrome *c, const struct sw_access *access)
{
	struct sw_names *names = &c->labels.names;
	struct sw_stack_view view = sw_stack_view(names, access->stack, access->function);
	const char *text = "";
	for (size_t i = 0; i < view.n && i < 12; i++)
		text = sw_names_format(names, "%s%s%s", text, i ? " < " : "", sw_place_full(names, view.at[i].frame));
	return sw_label_any(&c->labels, *text ? text : "not recorded");
}

static void put_args(struct sw_chrome *c, const struct hazard *h, const char *side)
{
	const struct sw_access *earlier = &h->side[0], *later = &h->side[1];
	struct sw_wording words;
	sw_wording_of(&c->labels.names, &h->finding, &words);
	sw_event_label(&c->events, "message", sw_label_any(&c->labels, words.message));
	sw_event_text(&c->events, "side", side);
	sw_event_number(&c->events, "earlier_correlation", earlier->seq);
	sw_event_number(&c->events, "later_correlation", later->seq);
	sw_event_label(&c->events, "earlier_on", sw_chrome_stream(c, earlier->stream));
	sw_event_label(&c->events, "later_on", sw_chrome_stream(c, later->stream));
	sw_chrome_put_site(c, "earlier_at", earlier->stack, earlier->function);
	sw_chrome_put_site(c, "later_at", later->stack, later->function);
	sw_event_label(&c->events, "earlier_stack", stack_label(c, earlier));
	sw_event_label(&c->events, "later_stack", stack_label(c, later));
	if (*words.missing_edge)
		sw_event_label(&c->events, "missing_edge", sw_label_any(&c->labels, words.missing_edge));
	if (*words.fix)
		sw_event_label(&c->events, "fix", sw_label_any(&c->labels, words.fix));
	if (later->ranged)
		sw_event_hex(&c->events, "address", later->address);
	sw_event_end(&c->events);
}

static struct sw_label name_of(struct sw_chrome *c, const struct hazard *h)
{
	const struct sw_finding_info *info = sw_finding_info(h->finding.id);
	return sw_label_any(&c->labels,
			    sw_names_format(&c->labels.names, "SW%03d %s", h->finding.id, info ? info->kind : ""));
}

/* ---- on the streams ------------------------------------------------------------------------------------------------
 */

/* Hazards of one piece of work lie one after the other within its slice: none may overlap another. */
static bool part_of(struct sw_chrome *c, const struct sw_access *access, struct sw_place *at, uint64_t *end)
{
	uint64_t whole_end, *used = sw_map_put(&c->hazard_parts, access->seq);
	const uint64_t parts = *used & UINT32_MAX, part = *used >> 32;
	if (!sw_chrome_ran(c, access, at, &whole_end) || whole_end - at->ns < 2 * parts + 4)
		return false;
	const uint64_t start = at->ns + 1, length = (whole_end - at->ns - 2) / parts;
	*used += 1ull << 32;
	at->ns = start + part * length;
	/* A nanosecond apart, for readers that add in floating point. */
	*end = at->ns + (length > 1 ? length - 1 : 1);
	return sw_window_shows(&c->window, at->ns, *end);
}

static bool draw_side(struct sw_chrome *c, const struct hazard *h, bool later, struct sw_place *at, uint64_t *end)
{
	if (!part_of(c, &h->side[later], at, end))
		return false;
	sw_event_slice(&c->events, *at, *end, name_of(c, h), "hazard");
	sw_event_number(&c->events, "correlation", h->side[later].seq);
	put_args(c, h, later ? "later" : "earlier");
	return true;
}

static void draw_sides(struct sw_chrome *c, const struct hazard *h)
{
	struct sw_place from, to;
	uint64_t from_end, to_end;
	const bool first = draw_side(c, h, false, &from, &from_end), second = draw_side(c, h, true, &to, &to_end);
	if (!first || !second)
		return;
	/* Nothing orders the two, and arrows run forward in time: the one that began first leads. */
	const bool turned = to.ns < from.ns;
	struct sw_drawn lead =
		turned ? (struct sw_drawn){to.tid, to.ns, to_end} : (struct sw_drawn){from.tid, from.ns, from_end};
	if (to.ns != from.ns)
		sw_chrome_arrow(c, turned ? to.pid : from.pid, &lead, turned ? from : to, "no order between these",
				"hazard");
}

/* ---- on the host ---------------------------------------------------------------------------------------------------
 */

static void draw_call(struct sw_chrome *c, const struct hazard *h)
{
	uint64_t start = h->side[1].t_ns, end = start + h->side[1].dur_ns;
	if (!sw_window_shows(&c->window, start, end))
		return;
	start = start < c->hazard_end ? c->hazard_end : start;
	end = end <= start ? start + 1 : end;
	c->hazard_end = end;
	sw_event_slice(&c->events, (struct sw_place){PID_HOST, TID_HAZARDS, start}, end, name_of(c, h), "hazard");
	sw_event_number(&c->events, "call", h->side[1].seq);
	put_args(c, h, "later call");
}

static int by_time(const void *a, const void *b)
{
	const struct hazard *x = a, *y = b;
	if (x->side[1].t_ns != y->side[1].t_ns)
		return x->side[1].t_ns < y->side[1].t_ns ? -1 : 1;
	return x->side[1].seq < y->side[1].seq ? -1 : x->side[1].seq > y->side[1].seq;
}

void sw_chrome_hazards(struct sw_chrome *c)
{
	if (c->hazards.n)
		qsort(c->hazards.at, c->hazards.n, sizeof *c->hazards.at, by_time);
	for (size_t i = 0; i < c->hazards.n; i++) {
		struct hazard *h = &c->hazards.at[i];
		for (int k = 0; k < 2; k++) {
			h->finding.access[k] = &h->side[k];
			++*sw_map_put(&c->hazard_parts, h->side[k].seq);
		}
	}
	for (size_t i = 0; i < c->hazards.n; i++) {
		draw_sides(c, &c->hazards.at[i]);
		draw_call(c, &c->hazards.at[i]);
	}
	if (c->hazards_left) {
		struct sw_label name =
			sw_label_any(&c->labels, sw_names_format(&c->labels.names, "%zu more hazards are not drawn",
								 c->hazards_left));
		sw_event_slice(&c->events, (struct sw_place){PID_HOST, TID_HAZARDS, c->hazard_end},
			       c->hazard_end + 1000, name, "hazard");
		sw_event_end(&c->events);
	}
	sw_map_free(&c->hazard_parts);
	free(c->hazards.at);
}
