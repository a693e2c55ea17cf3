/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays of random schedules, against the same in other words: node by node, work after all that it has to keep out of
 * the way of, however long ago that ended.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/nodes.h"
#include "../run_suite.h"

#define US 1000u
#define MS 1000000u

enum { THREADS = 3, QUEUES = 5, SITES = 16, CALLS = 400 };

static struct sw_schedule *s;
static uint32_t state;
static uint64_t seq, now[THREADS];
static uint32_t threads, queues;
static bool timed, kernels, own_queue; /* most work is kernels; each thread has a queue of its own, mostly */

static void setup(void)
{
	s = NULL;
	seq = 0;
}

static void teardown(void)
{
	sw_schedule_free(s);
}

static uint32_t draw(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % below;
}

/* ---- random schedules -------------------------------------------------------------------------------------------- */

static void random_work(uint64_t call, uint32_t queue)
{
	sw_schedule_work(
		s, &(struct sw_schedule_work){.seq = call,
					      .queue = queue,
					      .kind = kernels && draw(10) ? SW_DOES_KERNEL : (enum sw_work_kind)draw(8),
					      .quarters = 1 + draw(4),
					      .like = draw(5),
					      .bytes = draw(1 << 22),
					      .staged = !draw(4)});
}

static void random_wait(uint64_t call, uint32_t queue)
{
	switch (draw(8)) {
	case 0:
		sw_schedule_until(s, call, SW_UNTIL_EVENT, 100 + draw(3));
		break;
	case 1:
		sw_schedule_until(s, call, SW_UNTIL_DEVICE, 0);
		break;
	case 2:
		sw_schedule_record(s, queue, 100 + draw(3));
		break;
	case 3:
		sw_schedule_wait(s, queue, 100 + draw(3));
		break;
	case 4:
		sw_schedule_until(s, call, SW_UNTIL_QUEUE, queue);
		break;
	default: /* it only takes time */
		break;
	}
}

static void random_call(void)
{
	uint32_t thread = draw(threads), queue = own_queue && draw(20) ? thread % queues : draw(queues);
	uint64_t call = ++seq, took = 5 * US + draw(4) * draw(draw(8) ? 20 * US : MS), *at = &now[thread];
	bool works = draw(4) != 0;
	sw_schedule_enter(s, &(struct sw_schedule_call){.seq = call,
							.t_ns = *at,
							.site = 1 + draw(SITES - 1),
							.own_ns = 10 * US,
							.thread = 1 + thread});
	if (works) {
		random_work(call, queue);
		if (!draw(8))
			random_work(call, draw(queues));
		if (!draw(12))
			sw_schedule_until(s, call, SW_UNTIL_OWN, 0);
	} else {
		random_wait(call, queue);
	}
	if (works && timed && draw(8))
		sw_schedule_times(s, call, *at + draw(200 * US), *at + 200 * US + draw(300 * US));
	sw_schedule_leave(s, call, took);
	*at += took + draw(50 * US);
}

/* Without a legacy stream. */
static void random_schedule(uint32_t seed)
{
	state = seed * 7919 + 1;
	timed = draw(2);
	kernels = draw(2);
	own_queue = draw(2);
	threads = 1 + draw(THREADS);
	queues = 1 + draw(QUEUES);
	s = sw_schedule_new(&(struct sw_schedule_options){.window = draw(3) ? 100 + draw(400) : 0});
	for (uint32_t q = 0; q < queues; q++)
		sw_schedule_queue(s, q, SW_QUEUE_FREE, draw(2), (int)draw(2));
	for (uint32_t t = 0; t < THREADS; t++)
		now[t] = MS;
	for (int i = 0; i < CALLS; i++)
		random_call();
	sw_schedule_finish(s);
}

/* ---- in other words ---------------------------------------------------------------------------------------------- */

static uint32_t engine(const struct sw_schedule_node *n)
{
	uint32_t device = (uint32_t)s->queues.at[n->lane].device * SW_RESOURCES;
	switch ((enum sw_work_kind)n->does) {
	case SW_DOES_UPLOAD:
		return device;
	case SW_DOES_DOWNLOAD:
		return device + 1;
	case SW_DOES_KERNEL:
	case SW_DOES_GRAPH:
		return device + 2;
	default:
		return SW_NONE;
	}
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t edges_done(const struct sw_window *w, uint32_t node, const int64_t *done)
{
	int64_t last = INT64_MIN / 2;
	for (uint32_t e = w->nodes.at[node].edges; e < sw_edges_end(w, node); e++)
		if (sw_edge_why(w->edges.at[e]) != SW_WHY_NOT)
			last = most(last, done[sw_edge_node(w->edges.at[e])]);
	return last;
}

/* Work that was seen to end before this, or before other work that came since.  seen: the nodes as they were
   calibrated; fewer than 64 run at once in these schedules. */
static int64_t taken_done(const struct sw_window *w, size_t place, const struct sw_schedule_node *seen,
			  const int64_t *done)
{
	const uint32_t *order = w->ordered.other;
	const struct sw_schedule_node *n = &seen[order[place]];
	int64_t last = INT64_MIN / 2;
	uint64_t by = n->start;
	if (n->kind != SW_NODE_WORK || engine(n) == SW_NONE)
		return last;
	for (size_t i = place; i-- > 0;) {
		const struct sw_schedule_node *other = &seen[order[i]];
		if (other->kind != SW_NODE_WORK || engine(other) != engine(n))
			continue;
		if (other->end <= by && other->quarters + n->quarters > 4)
			last = most(last, done[order[i]]);
		by = other->start > by ? other->start : by;
	}
	return last;
}

/* From the end of the call before it on its thread. */
static int64_t gap_before(const struct sw_window *w, const struct sw_schedule_node *n)
{
	uint64_t before = n->prev == SW_NONE ? w->start : w->nodes.at[n->prev].end;
	return n->flags & SW_NF_LAG ? 0 : (int64_t)(n->start - before);
}

/* When a node begins, given all that it comes after.  place: of work. */
static int64_t start_of(const struct sw_window *w, uint32_t node, size_t place, const struct sw_schedule_node *seen,
			bool crowded, const int64_t *done)
{
	const struct sw_schedule_node *n = &w->nodes.at[node], *by = &w->nodes.at[n->call];
	int64_t before = n->prev == SW_NONE ? (int64_t)w->start : done[n->prev], ready = edges_done(w, node, done);
	if (n->kind == SW_NODE_CALL)
		return most(before + gap_before(w, n), ready + n->lag);
	if (n->kind == SW_NODE_RETURN)
		return most(before + n->lead, ready + n->lag);
	int64_t taken = taken_done(w, place, seen, done), held = n->flags & SW_NF_HELD ? n->lag : 0;
	ready = n->prev == SW_NONE ? ready : most(ready, before);
	int64_t start = most(done[n->call] - (int64_t)(by->end - by->start) + n->lead, ready + n->lag);
	return crowded || !sw_taken_when_crowded(n) ? most(start, taken + held) : start;
}

/* Everything is passed when its time comes. */
static uint64_t length_of(struct sw_window *w, const struct sw_schedule_node *seen, bool crowded)
{
	const struct sw_ordered *o = &w->ordered;
	int64_t *done = calloc(w->nodes.n, sizeof *done), last = (int64_t)w->start;
	size_t call = 0, place = 0;
	while (call < o->calls || place < w->others.n) {
		bool is_call =
			place == w->others.n || (call < o->calls && sw_order_before(o, o->call[call], o->other[place]));
		uint32_t node = is_call ? o->call[call] : o->other[place];
		const struct sw_schedule_node *n = &w->nodes.at[node];
		done[node] = most(start_of(w, node, place, seen, crowded, done), 0);
		done[node] += n->kind == SW_NODE_RETURN ? 0 : (int64_t)(n->end - n->start);
		last = most(last, done[node]);
		call += is_call;
		place += !is_call;
	}
	free(done);
	return (uint64_t)last - w->start;
}

/* Work takes another time than was seen, so that one piece is in the way of another. */
static void change_times(struct sw_window *w)
{
	for (size_t i = 0; i < w->others.n; i++) {
		struct sw_schedule_node *n = &w->nodes.at[w->others.at[i]];
		if (n->kind != SW_NODE_WORK || w->nodes.at[n->call].flags & SW_NF_STAGED || n->lag < 0)
			continue;
		n->end = n->start + draw(2 * MS);
		n->lead = n->lead > 0 ? draw(30 * US) : n->lead;
	}
}

START_TEST(lists_and_runs_replay_every_node)
{
	random_schedule((uint32_t)_i);
	for (uint32_t i = 0; i < s->windows; i++) {
		struct sw_window *w = &s->window[i];
		struct sw_schedule_node *seen = malloc((w->nodes.n + 1) * sizeof *seen);
		struct sw_moments *done = malloc((w->nodes.n + 1) * sizeof *done);
		if (w->nodes.n)
			memcpy(seen, w->nodes.at, w->nodes.n * sizeof *seen);
		for (int round = 0; round < 3; round++) {
			struct sw_replay how[2] = {{.crowded = false}, {.crowded = true}};
			sw_steps_make(s, w, NULL);
			sw_replay(s, w, NULL, how, 2, done);
			ck_assert_uint_eq(how[0].length, length_of(w, seen, false));
			ck_assert_uint_eq(how[1].length, length_of(w, seen, true));
			change_times(w);
		}
		free(seen);
		free(done);
	}
}
END_TEST

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static struct sw_what_if random_change(struct sw_keep keep[2])
{
	for (int i = 0; i < 2; i++)
		keep[i] = (struct sw_keep){.queue = draw(queues),
					   .to = draw(2) ? SW_KEEP_HOST : draw(queues),
					   .seq = draw(3) ? draw((uint32_t)seq) : 0};
	return (struct sw_what_if){.kind = draw(2) ? SW_IF_LESS : (enum sw_what_if_kind)draw(SW_IF_NO_LEGACY + 1),
				   .site = 1 + draw(SITES - 1),
				   .keep = keep,
				   .keeps = draw(4) ? 1 + draw(2) : 0,
				   .needed = (enum sw_needed)draw(3),
				   .only_idle = !draw(4)};
}

enum { SETS = 12 };

/* Replays random sets of changes, and one more: work that leaves a legacy stream of which there is none.  That changes
   nothing, but what may change is in no run. */
static void try_changes(uint32_t seed, bool everywhere, struct sw_gain *gain)
{
	struct sw_keep keep[4 * SETS][2];
	struct sw_what_if change[4 * SETS], nothing[SITES];
	struct sw_what_ifs sets[SETS + 1];
	random_schedule(seed);
	for (uint64_t i = 0; i < SITES; i++)
		nothing[i] = (struct sw_what_if){.kind = SW_IF_NO_LEGACY, .site = i};
	for (size_t i = 0; i < 4 * SETS; i++)
		change[i] = random_change(keep[i]);
	for (size_t i = 0; i < SETS; i++)
		sets[i] = (struct sw_what_ifs){change + 4 * i, 1 + draw(4)};
	sets[SETS] = (struct sw_what_ifs){nothing, SITES};
	sw_schedule_try(s, sets, gain, everywhere ? SETS + 1 : SETS);
	sw_schedule_free(s);
	setup();
}

START_TEST(changes_gain_the_same_in_runs)
{
	struct sw_gain runs[SETS], nodes[SETS + 1];
	try_changes((uint32_t)_i, false, runs);
	try_changes((uint32_t)_i, true, nodes);
	for (size_t i = 0; i < SETS; i++) {
		ck_assert_uint_eq(runs[i].low_ns, nodes[i].low_ns);
		ck_assert_uint_eq(runs[i].sure_ns, nodes[i].sure_ns);
		ck_assert_uint_eq(runs[i].high_ns, nodes[i].high_ns);
		ck_assert_uint_eq(runs[i].calls, nodes[i].calls);
	}
}
END_TEST

/* Whatever readings were tried before: what one of them contradicts holds in the next one. */
START_TEST(a_second_try_says_the_same)
{
	struct sw_keep keep[4][2];
	struct sw_what_if change[4];
	struct sw_gain first, second;
	random_schedule((uint32_t)_i);
	for (size_t i = 0; i < 4; i++)
		change[i] = random_change(keep[i]);
	struct sw_what_ifs set = {change, 4};
	sw_schedule_try(s, &set, &first, 1);
	sw_schedule_try(s, &set, &second, 1);
	ck_assert_uint_eq(first.low_ns, second.low_ns);
	ck_assert_uint_eq(first.sure_ns, second.sure_ns);
	ck_assert_uint_eq(first.high_ns, second.high_ns);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("replay");
	TCase *cases = tcase_create("replay");
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_loop_test(cases, lists_and_runs_replay_every_node, 0, 200);
	tcase_add_loop_test(cases, changes_gain_the_same_in_runs, 0, 700);
	tcase_add_loop_test(cases, a_second_try_says_the_same, 0, 200);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
