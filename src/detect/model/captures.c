/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that take part in captures, and the calls that became nodes. */
#include "detect/model/captures.h"

#include <stdlib.h>

#include "detect/model/lanes.h"
#include "detect/model/lanes_state.h"
#include "detect/model/model.h"

struct sw_captures {
	struct sw_map origins;		 /* record of a captured call -> place in `origin` + 1 */
	SW_VEC(struct sw_access) origin; /* the last of them: a ring */
	size_t next;
};

struct sw_captures *sw_captures_new(void)
{
	return sw_calloc(1, sizeof(struct sw_captures));
}

void sw_captures_free(struct sw_captures *captures)
{
	sw_map_free(&captures->origins);
	free(captures->origin.at);
	free(captures);
}

void sw_captures_forget(struct sw_model *m)
{
	sw_captures_free(m->captures);
	m->captures = sw_captures_new();
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

bool sw_capture_lives(const struct sw_model *m, uint64_t capture)
{
	for (size_t i = 0; m->lanes->capturing && capture && i < m->lanes->at.n; i++)
		if (m->lanes->at.at[i].capture == capture)
			return true;
	return false;
}

void sw_capture_join(struct sw_model *m, struct sw_lane_state *lane_state, uint64_t capture)
{
	m->lanes->capturing += !lane_state->capture;
	lane_state->capture = capture;
}

void sw_capture_leave(struct sw_model *m, struct sw_lane_state *lane_state)
{
	m->lanes->capturing -= lane_state->capture != 0;
	lane_state->capture = 0;
}

void sw_capture_end(struct sw_model *m, uint64_t capture)
{
	for (size_t i = 0; capture && i < m->lanes->at.n; i++)
		if (m->lanes->at.at[i].capture == capture) {
			m->lanes->at.at[i].capture = 0;
			m->lanes->capturing--;
		}
}

/* The one stream other than that of the call that is part of its capture; 0: none, or several. */
uint32_t sw_capture_other_stream(const struct sw_model *m, const struct sw_lane_state *lane_state)
{
	uint32_t other = 0;
	for (size_t i = 0; lane_state->capture && i < m->lanes->at.n; i++) {
		const struct sw_lane_state *lane = &m->lanes->at.at[i];
		if (lane == lane_state || lane->capture != lane_state->capture)
			continue;
		if (other)
			return 0;
		other = lane->stream;
	}
	return other;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Calls that became nodes and may still be named by a description. */
#define SW_MAX_ORIGINS 65536u

void sw_origin_remember(struct sw_model *m, const struct sw_access *what)
{
	struct sw_captures *g = m->captures;
	size_t place = g->next;
	if (g->origin.n < SW_MAX_ORIGINS)
		sw_vec_push(&g->origin);
	else
		sw_map_delete(&g->origins, g->origin.at[place].seq);
	g->origin.at[place] = *what;
	*sw_map_put(&g->origins, what->seq) = place + 1;
	g->next = (place + 1) % SW_MAX_ORIGINS;
}

const struct sw_access *sw_origin_last(const struct sw_model *m, uint32_t stream)
{
	const struct sw_captures *g = m->captures;
	for (size_t n = 0; stream && n < g->origin.n; n++) {
		const struct sw_access *at = &g->origin.at[(g->next + g->origin.n - 1 - n) % g->origin.n];
		if (at->stream == stream)
			return at;
	}
	return NULL;
}

const struct sw_access *sw_origin_find(const struct sw_model *m, uint64_t seq)
{
	size_t place = seq ? sw_map_get(&m->captures->origins, seq) : 0;
	return place ? &m->captures->origin.at[place - 1] : NULL;
}
