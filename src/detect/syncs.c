/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/model.h"

#include <stdlib.h>
#include <string.h>

/* With nothing pending that we know of, a call that takes longer than this waited for something that we do not see. */
#define SW_REDUNDANT_MAX_NS 100000u

static void wait_event(struct sw_model *m, struct sw_wait *w, const struct sw_record *r, uint64_t handle)
{
	struct sw_hb_event_state state;
	struct sw_event *event = sw_map_ptr(&m->events, handle);
	if (event && event->capture)
		return;
	if (event && event->in_graph) {
		sw_wait_add(m, w, sw_hb_wait_context(m->hb, r->rec->ctx), SW_ORDER_DOCUMENTED);
		m->j->coverage.edges_for_safety++;
		return;
	}
	sw_hb_token token = sw_hb_wait_event(m->hb, handle, &state);
	bool first = !w->tokens;
	sw_covered_vec before = w->covered;
	if (!first)
		w->covered = (sw_covered_vec){0};
	sw_wait_look(m, w, token);
	if (!first) {
		free(before.at);
		w->pending |= before.n > 0;
	}
	sw_wait_add(m, w, token, SW_ORDER_DOCUMENTED);
	if (!event)
		return;
	event->ordering = true;
	uint32_t host = sw_hb_host_lane(m->hb, r->thread);
	sw_tie_remember(m, sw_model_books(m, host), event, &state, sw_tie_useless(m, event, host));
}

static void begin_sync(struct sw_model *m, const struct sw_record *r, struct sw_wait *w, const struct sw_rec_sync *s)
{
	struct sw_hb_at at = sw_model_at(m, r, s->handle);
	sw_hb_token token;
	uint32_t lane;
	switch ((enum sw_sync_what)s->what) {
	case SW_SYNC_ELAPSED:
		wait_event(m, w, r, s->handle2);
		/* fall through */
	case SW_SYNC_EVENT:
		wait_event(m, w, r, s->handle);
		return;
	case SW_SYNC_STREAM:
		w->what.stream = sw_model_lane(m, &at, &lane)->stream;
		token = sw_hb_wait_stream(m->hb, &at);
		break;
	case SW_SYNC_CONTEXT:
		token = sw_hb_wait_context(m->hb, r->rec->ctx);
		break;
	default:
		return;
	}
	sw_wait_look(m, w, token);
	sw_wait_add(m, w, token, SW_ORDER_DOCUMENTED);
}

void sw_on_sync(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_sync *s = (const struct sw_rec_sync *)(const void *)r->rec;
	w->what.role = SW_WAIT;
	m->j->coverage.syncs++;
	w->own_ns = sw_wait_own(SW_OWN_SYNC, 0);
	begin_sync(m, r, w, s);
	if (s->what == SW_SYNC_ELAPSED || !w->tokens)
		return;
	w->promised = w->pending;
	w->wide = w->pending && s->what != SW_SYNC_EVENT;
	if (!w->pending && r->dur_ns < SW_REDUNDANT_MAX_NS) {
		w->id = SW_FINDING_REDUNDANT_SYNC;
		w->basis = SW_BASIS_DOCUMENTED;
		w->fix = SW_FIX_REMOVE;
		w->always = true;
	}
}

/* ---- query loops ------------------------------------------------------------------------------------------------- */

/* As many unsuccessful calls in a row from one place on one thread, over at least this time and this close to each other:
   a loop that burns a core (a query takes 3 to 6 us: "cudaEventQuery", measured on H200 with driver 580). */
#define SW_POLLS 100u
#define SW_POLL_NS 1000000u
#define SW_POLL_GAP_NS 50000u

struct poll {
	uint64_t calls, since_ns;
};

static void poll_again(struct sw_model *m, const struct sw_record *r, struct sw_wait *w, bool done)
{
	uint64_t key = (uint64_t)r->stack << 32 | (uint64_t)r->rec->api << 16 | (r->thread & 0xffff);
	struct poll *poll = sw_map_ptr(&m->polls, key);
	if (!poll && done)
		return;
	if (!poll) {
		poll = sw_calloc(1, sizeof *poll);
		sw_map_put_ptr(&m->polls, key, poll);
	}
	if (!poll->calls++)
		poll->since_ns = r->t_ns;
	if (!done)
		return;
	uint64_t ns = r->t_ns + r->dur_ns - poll->since_ns;
	if (poll->calls > SW_POLLS && ns > SW_POLL_NS && ns / poll->calls < SW_POLL_GAP_NS) {
		struct sw_finding seen = {.id = SW_FINDING_BUSY_POLL,
					  .severity = SW_NOTE,
					  .confidence = SW_CERTAIN,
					  .basis = SW_BASIS_MEASURED,
					  .accesses = 1,
					  .access[0] = w->what,
					  .value = poll->calls};
		struct sw_finding *f = sw_collect_add(&m->collect, &seen, NULL);
		if (f)
			sw_collect_cost(&m->collect, f, &(struct sw_wait_cost){.ns = ns, .waited = true});
	}
	poll->calls = 0;
}

#define SW_NOT_READY 600u /* CUDA_ERROR_NOT_READY */

void sw_on_query(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_sync *q = (const struct sw_rec_sync *)(const void *)r->rec;
	bool done = r->rec->status != SW_NOT_READY;
	w->what.role = SW_WAIT;
	w->own_ns = sw_wait_own(SW_OWN_SYNC, 0);
	poll_again(m, r, w, done);
	if (done)
		begin_sync(m, r, w, q);
}

/* ---- the rest ----------------------------------------------------------------------------------------------------- */

void sw_on_config(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	sw_wait_peek(m, w, sw_hb_wait_device(m->hb, m->context[r->rec->ctx].device));
	w->id = SW_FINDING_DEVICE_CONFIG;
	w->basis = SW_BASIS_MAY;
	w->fix = SW_FIX_LATER;
	w->only_waited = true;
	w->own_ns = sw_wait_own(SW_OWN_CONFIG, 0);
}

#define SW_POINTER_SYNC_MEMOPS 6u /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */

void sw_on_other(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	static const char name[] = "cuPointerSetAttribute";
	const struct sw_rec_other *o = (const struct sw_rec_other *)(const void *)r->rec;
	const struct sw_trace_api *api = sw_reader_api(m->reader, r->rec->api);
	uint64_t offset;
	(void)w;
	if (!api || strncmp(api->driver, name, sizeof name - 1) || o->args[1] != SW_POINTER_SYNC_MEMOPS)
		return;
	struct sw_block *block = sw_space_find(&m->space, o->args[2], &offset);
	if (block)
		block->sync_memops = true; /* switching it off again is not seen: more order than there is, never less */
}

void sw_on_unclassified(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	struct sw_finding seen = {.id = SW_FINDING_UNCLASSIFIED_CALL,
				  .severity = SW_WARNING,
				  .confidence = SW_CERTAIN,
				  .accesses = 1,
				  .access[0] = w->what};
	m->j->coverage.unclassified_calls++;
	if (!m->context[r->rec->ctx].unclassified)
		m->context[r->rec->ctx].unclassified = r->seq;
	m->wide.poisoned = true;
	sw_collect_add(&m->collect, &seen, NULL);
}

static uint64_t forget_uses(struct sw_model *m)
{
	uint64_t live = m->space.uses.live;
	for (struct sw_block *b = sw_space_next(&m->space, NULL); b; b = sw_space_next(&m->space, b))
		sw_shadow_clear(&b->shadow, &m->space.uses);
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&m->space.arrays, i, &slot));)
		sw_shadow_clear(&((struct sw_block *)(uintptr_t)slot.value)->shadow, &m->space.uses);
	sw_shadow_clear(&m->space.pageable.shadow, &m->space.uses);
	return live - m->space.uses.live;
}

/* Records were lost: everything before is taken to be ordered before everything after, and what is still remembered
   could only give findings that straddle the gap. */
void sw_on_loss(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	(void)w;
	m->j->coverage.straddling_dropped += forget_uses(m);
	sw_space_forget_freed(&m->space);
	sw_wait_forget(m);
	sw_map_free(&m->host_funcs);
	m->wide.open = false;
	sw_hb_barrier(m->hb, r->seq);
}
