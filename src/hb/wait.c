/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of the host: their begin fixes what they cover, their end makes the host lane join it. */
#include "hb/order.h"

/* Takes over the snapshot's references. */
static sw_hb_token give(struct sw_hb *hb, struct sw_snap snap)
{
	uint32_t token;
	if (hb->token_free.n)
		token = hb->token_free.at[--hb->token_free.n];
	else {
		token = (uint32_t)hb->token.n;
		sw_vec_push(&hb->token);
	}
	hb->token.at[token] = (struct sw_token){snap, true};
	return token + 1;
}

static struct sw_token *find(const struct sw_hb *hb, sw_hb_token token)
{
	if (!token || token > hb->token.n || !hb->token.at[token - 1].taken)
		return NULL;
	return &hb->token.at[token - 1];
}

void sw_hb_wait_drop(struct sw_hb *hb, sw_hb_token token)
{
	struct sw_token *t = find(hb, token);
	if (!t)
		return;
	sw_snap_drop(hb, &t->snap);
	t->taken = false;
	*sw_vec_push(&hb->token_free) = token - 1;
}

static sw_hb_token give_lane(struct sw_hb *hb, uint32_t lane)
{
	struct sw_snap snap = sw_snap_peek(hb, lane);
	return give(hb, sw_snap_hold(&snap));
}

sw_hb_token sw_hb_wait_event(struct sw_hb *hb, uint64_t event, struct sw_hb_event_state *state)
{
	const struct sw_snap *snap = sw_event_use(hb, event, state);
	return snap ? give(hb, sw_snap_hold(snap)) : 0;
}

sw_hb_token sw_hb_wait_point(struct sw_hb *hb, uint32_t lane)
{
	return lane < hb->lanes.n ? give_lane(hb, lane) : 0;
}

/*
 * The stream as a command enqueued now would find it, without enqueuing one: the lane must not change in a way that a
 * later query could see. Measured: cudaStreamSynchronize(legacy) waits for blocking streams.
 */
struct sw_snap sw_snap_stream(struct sw_hb *hb, const struct sw_hb_at *at)
{
	uint32_t lane = sw_hb_lane(hb, at);
	const struct sw_lane *l = sw_lane_at(hb, lane);
	const struct sw_context *ctx = &hb->contexts[l->ctx];
	struct sw_snap own = sw_snap_peek(hb, lane), snap = sw_snap_hold(&own);
	if (l->kind == SW_LANE_LEGACY)
		for (size_t i = 0; i < ctx->dirty.n; i++) {
			struct sw_snap blocking = sw_snap_peek(hb, ctx->dirty.at[i]);
			if (!sw_hb_passed(hb, blocking.at))
				sw_snap_merge(hb, &snap, &blocking);
		}
	else if (sw_lane_blocking(l) && ctx->legacy) {
		struct sw_snap legacy = sw_snap_peek(hb, ctx->legacy - 1);
		if (!sw_hb_passed(hb, legacy.at) && sw_clock_get(own.known.documented, legacy.at.lane) < legacy.at.tick)
			sw_snap_merge(hb, &snap, &legacy);
	}
	return snap;
}

sw_hb_token sw_hb_wait_stream(struct sw_hb *hb, const struct sw_hb_at *at)
{
	return give(hb, sw_snap_stream(hb, at));
}

sw_hb_token sw_hb_wait_context(struct sw_hb *hb, uint8_t ctx)
{
	struct sw_snap snap = {{0, 0}, 0, 0, {NULL, NULL, NULL}};
	sw_context_use(hb, ctx);
	sw_snap_context(hb, &snap, ctx);
	return give(hb, snap);
}

sw_hb_token sw_hb_wait_device(struct sw_hb *hb, int device)
{
	struct sw_snap snap = {{0, 0}, 0, 0, {NULL, NULL, NULL}};
	for (int ctx = 0; ctx < SW_CONTEXTS; ctx++)
		if (hb->contexts[ctx].used && hb->contexts[ctx].device == device)
			sw_snap_context(hb, &snap, (uint8_t)ctx);
	return give(hb, snap);
}

/* The last work of a lane after `known` up to `covered`; 0: none.  Older than 64 steps: covered itself is taken for
 * work. */
static uint64_t last_work(const struct sw_lane *lane, uint64_t known, uint64_t covered)
{
	for (uint64_t tick = covered; tick > known; tick--) {
		uint64_t age = lane->tick - tick;
		if (age >= 64)
			return tick;
		if (lane->work >> age & 1)
			return tick;
	}
	return 0;
}

struct pending {
	uint32_t lane;
	uint64_t known, covered, work;
};

/* Iterates over the lanes on which the snapshot covers work that the host does not know.  *lane: where to continue. */
static bool next_pending(const struct sw_hb *hb, const struct sw_snap *snap, const struct sw_lane *host,
			 enum sw_order basis, uint32_t *lane, struct pending *out)
{
	const struct sw_vector_clock *covers = sw_known_by(&snap->known, basis),
				     *knows = sw_known_by(&host->known, basis);
	uint32_t n = covers ? covers->n : 0;
	if (snap->at.tick && snap->at.lane >= n)
		n = snap->at.lane + 1;
	while (*lane < n) {
		uint32_t i = (*lane)++;
		const struct sw_lane *l = sw_lane_at(hb, i);
		if (l->kind == SW_LANE_HOST || l->kind == SW_LANE_CALLBACK)
			continue;
		uint64_t covered = snap->at.tick && snap->at.lane == i ? snap->at.tick : sw_clock_get(covers, i);
		uint64_t known = sw_clock_get(knows, i);
		uint64_t work = covered > known ? last_work(l, known, covered) : 0;
		if (work) {
			*out = (struct pending){i, known, covered, work};
			return true;
		}
	}
	return false;
}

void sw_hb_wait_lanes(const struct sw_hb *hb, sw_hb_token token, uint32_t thread, enum sw_order basis,
		      void (*each)(void *arg, uint32_t lane, uint64_t known_tick, uint64_t covered_tick), void *arg)
{
	const struct sw_token *t = find(hb, token);
	if (!t)
		return;
	struct sw_lane nobody = {0};
	const struct sw_lane *host = &nobody;
	if (!hb->options.strict_host)
		host = sw_lane_at(hb, hb->hosts.at[0]);
	else if (sw_map_get(&hb->host_threads, thread))
		host = sw_lane_at(hb, (uint32_t)sw_map_get(&hb->host_threads, thread) - 1);
	struct pending p;
	for (uint32_t at = 0; next_pending(hb, &t->snap, host, basis, &at, &p);)
		each(arg, p.lane, p.known, p.covered);
}

/* Returns the host lane that joined; the token ends. */
static void end(struct sw_hb *hb, sw_hb_token token, uint32_t host, uint64_t seq, enum sw_edge_kind kind,
		enum sw_order basis, struct sw_hb_waited *waited)
{
	struct sw_snap *snap = &find(hb, token)->snap;
	struct pending p;
	for (uint32_t at = 0; waited && next_pending(hb, snap, sw_lane_at(hb, host), basis, &at, &p);)
		*waited = (struct sw_hb_waited){true, waited->lanes + 1, p.lane, {p.lane, p.work}};
	if (sw_acquire(hb, host, snap, kind, basis, seq))
		sw_step_end(hb, host, seq, false);
	sw_hb_wait_drop(hb, token);
}

void sw_hb_wait_end(struct sw_hb *hb, sw_hb_token token, uint32_t thread, uint64_t seq, enum sw_order basis,
		    struct sw_hb_waited *waited)
{
	if (waited)
		*waited = (struct sw_hb_waited){0};
	if (find(hb, token))
		end(hb, token, sw_lane_acts(hb, thread, SW_LANE_HOST, seq), seq, SW_EDGE_HOST_WAIT, basis, waited);
}

/* CUDA Driver API, cuLaunchHostFunc: the function "will block work added after it"; it is a step of its stream. */
struct sw_point sw_hb_host_func(struct sw_hb *hb, const struct sw_hb_at *at, sw_hb_token *token)
{
	struct sw_point step = sw_hb_enqueue(hb, at);
	*token = give_lane(hb, step.lane);
	return step;
}

void sw_hb_host_func_end(struct sw_hb *hb, sw_hb_token token, uint32_t thread, uint64_t seq)
{
	if (find(hb, token))
		end(hb, token, sw_lane_acts(hb, thread, SW_LANE_CALLBACK, seq), seq, SW_EDGE_CALLBACK,
		    SW_ORDER_DOCUMENTED, NULL);
}

void sw_hb_host_func_return(struct sw_hb *hb, const struct sw_hb_at *at)
{
	if (!hb->options.strict_host || !sw_lane_exists(hb, at))
		return; /* its stream may be destroyed */
	struct sw_snap host = sw_snap_peek(hb, sw_lane_acts(hb, at->thread, SW_LANE_CALLBACK, at->seq));
	uint32_t lane = sw_hb_lane(hb, at);
	sw_chain_end(hb, lane); /* it is no kernel */
	if (host.at.tick && sw_acquire(hb, lane, &host, SW_EDGE_CALLBACK, SW_ORDER_DOCUMENTED, at->seq))
		sw_step_end(hb, lane, at->seq, false);
}
