/* SPDX-License-Identifier: Apache-2.0 */
/* Does the advice remove its finding?  Each case has the program as it is, and with the advice followed. */
#include "detect/judge.h"

#define MS   1000000u
#define POOL 0x7d0000000000ull

static const struct sw_finding *with_fix(const struct sw_judgement *j, int id, enum sw_fix fix)
{
	for (size_t i = 0; i < j->findings.n; i++)
		if (j->findings.at[i].id == id && j->findings.at[i].fix == fix)
			return &j->findings.at[i];
	return NULL;
}

/* Two slots, an event each.  0: the consumer waits for the other slot's, which nothing has recorded yet; 1: which was
   recorded in the round before; 2: for the right one; 3: for one that was recorded too early, and there is no other; 4:
   there is another, but it has been recorded on another stream since. */
START_TEST(the_right_event_of_a_ring_is_named)
{
	struct tb *tb = two_streams();
	tb_event_create(tb, E1);
	tb_event_create(tb, E2);
	if (_i == 1 || _i == 3)
		tb_event_record(tb, E2, S1);
	h2d(tb, DEV, PIN, 4096, S1);
	uint64_t record = 0;
	if (_i != 3) {
		tb_event_record(tb, E1, S1);
		record = tb->seq;
	}
	if (_i == 4)
		tb_event_record(tb, E1, S2);
	tb_stream_wait(tb, S2, _i == 2 ? E1 : E2);
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	if (_i == 2) {
		no_hazards(j);
	} else if (_i < 2) {
		const struct sw_finding *f = only(j, 101);
		ck_assert_int_eq(f->fix, SW_FIX_WAIT_OTHER);
		ck_assert_uint_eq(f->fix_call.seq, record);
		ck_assert_uint_eq(f->fix_stream, f->access[0]->stream);
	} else {
		ck_assert_int_eq(only(j, 101)->fix, _i == 3 ? SW_FIX_MOVE_RECORD : SW_FIX_RECORD_HERE);
	}
	sw_judgement_free(j);
}
END_TEST

/* The host touches a buffer that a copy still reads; by an access of its own, or by a copy that blocks it. */
static const struct {
	bool newer;	/* the stream has newer work */
	bool recorded;	/* the program records an event after the copy, */
	bool again;	/* ... and again, on the other stream */
	bool waits_old; /* the host waited for what came before the copy */
	bool followed;	/* the advice is followed */
	enum sw_fix fix;
} host_cases[] = {
	{.fix = SW_FIX_HOST_SYNC},
	{.fix = SW_FIX_HOST_SYNC, .followed = true},
	{.newer = true, .fix = SW_FIX_HOST_OWN_EVENT},
	{.newer = true, .fix = SW_FIX_HOST_OWN_EVENT, .followed = true},
	{.newer = true, .recorded = true, .fix = SW_FIX_HOST_EVENT},
	{.newer = true, .recorded = true, .fix = SW_FIX_HOST_EVENT, .followed = true},
	{.newer = true, .recorded = true, .again = true, .fix = SW_FIX_HOST_OWN_EVENT},
	{.waits_old = true, .fix = SW_FIX_HOST_SYNC},
};

START_TEST(the_host_waits_for_no_more_than_it_needs)
{
	const bool by_copy = _i % 2;
	struct tb *tb = two_streams();
	uint64_t record = 0, waited = 0;
	const size_t n = (size_t)_i / 2;
	tb_event_create(tb, E1);
	if (host_cases[n].waits_old) {
		tb_set(tb, DEV2, 64, S1);
		waited = tb_sync(tb, SW_SYNC_STREAM, S1);
	}
	h2d(tb, DEV, PIN, 4096, S1);
	if (host_cases[n].recorded || host_cases[n].followed) {
		tb_event_record(tb, E1, S1);
		record = tb->seq;
	}
	if (host_cases[n].newer)
		tb_set(tb, DEV2, 64, S1);
	if (host_cases[n].again)
		tb_event_record(tb, E1, S2);
	if (host_cases[n].followed)
		tb_sync(tb, SW_SYNC_EVENT, E1);
	if (by_copy) {
		tb->flags = SW_RF_SYNCHRONOUS;
		d2h(tb, PIN, DEV + (1u << 16), 64, 0);
		tb->flags = 0;
	} else {
		tb_host_access(tb, PIN, 1, SW_HOST_WRITES);
	}
	struct sw_judgement *j = judged(tb);
	if (host_cases[n].followed) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, by_copy ? 102 : 104);
		ck_assert_int_eq(f->fix, host_cases[n].fix);
		ck_assert(f->on_host);
		if (f->fix == SW_FIX_HOST_EVENT)
			ck_assert_uint_eq(f->fix_call.seq, record);
		ck_assert(f->joined == host_cases[n].waits_old);
		if (f->joined) {
			ck_assert_int_eq(f->last_kind, SW_EDGE_HOST_WAIT);
			ck_assert_uint_eq(f->last_call.seq, waited + 1); /* its END */
		}
	}
	sw_judgement_free(j);
}
END_TEST

/* Between streams the program's own event is named, too.  0: it is recorded after the work; 1: and waited for; 2:
   before it; 3: recorded again since. */
START_TEST(streams_wait_for_the_event_that_is_there)
{
	struct tb *tb = two_streams();
	tb_event_create(tb, E1);
	if (_i == 2)
		tb_event_record(tb, E1, S1);
	h2d(tb, DEV, PIN, 4096, S1);
	if (_i != 2)
		tb_event_record(tb, E1, S1);
	const uint64_t record = tb->seq;
	if (_i == 1)
		tb_stream_wait(tb, S2, E1);
	if (_i == 3)
		tb_event_record(tb, E1, S2);
	d2d(tb, DEV2, DEV, 4096, S2);
	struct sw_judgement *j = judged(tb);
	if (_i == 1) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, 101);
		ck_assert_int_eq(f->fix, _i ? SW_FIX_EVENT : SW_FIX_STREAM_EVENT);
		ck_assert(!f->on_host);
		if (!_i)
			ck_assert_uint_eq(f->fix_call.seq, record);
	}
	sw_judgement_free(j);
}
END_TEST

/* Memory of a pool is freed on another stream.  0: as it is, 1: that stream waits by an event, as advised. */
START_TEST(streams_free_after_an_event)
{
	struct tb *tb = two_streams();
	tb_alloc(tb, SW_MEM_ASYNC, POOL, 4096)->stream = S1;
	tb_set(tb, POOL, 4096, S1);
	if (_i)
		order(tb, S1, S2);
	tb_free(tb, SW_MEM_ASYNC, POOL)->stream = S2;
	struct sw_judgement *j = judged(tb);
	if (_i)
		no_hazards(j);
	else
		ck_assert_int_eq(only(j, 105)->fix, SW_FIX_EVENT);
	sw_judgement_free(j);
}
END_TEST

/* Work after the free.  0: pool memory; 1: the free moved after it, on its stream; 2: cudaFree; 3: after work and wait.
 */
START_TEST(frees_move_after_the_last_use)
{
	struct tb *tb = two_streams();
	bool pool = _i < 2;
	uint64_t memory = pool ? POOL : DEV, at = 0;
	if (pool)
		tb_alloc(tb, SW_MEM_ASYNC, POOL, 4096)->stream = S1;
	for (int step = 0; step < 2; step++) {
		if (step != _i % 2) {
			tb_set(tb, memory, 4096, pool ? S1 : S2);
			continue;
		}
		if (_i == 3)
			tb_sync(tb, SW_SYNC_STREAM, S2);
		if (pool)
			tb_free(tb, SW_MEM_ASYNC, memory)->stream = S1;
		else
			tb_free_sync(tb, SW_MEM_UNKNOWN, memory);
		at = tb->seq;
	}
	struct sw_judgement *j = judged(tb);
	if (_i % 2) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, 105);
		ck_assert_int_eq(f->fix, pool ? SW_FIX_FREE_LATER_ASYNC : SW_FIX_FREE_LATER);
		ck_assert_uint_ge(at, f->fix_call.seq);
		ck_assert_uint_gt(f->fix_call.seq, 0);
	}
	sw_judgement_free(j);
}
END_TEST

/* Only device memory comes from cudaMallocAsync. */
static const struct {
	enum sw_memory memory;
	int id;
	enum sw_fix fix;
} pools[] = {{SW_MEM_DEVICE, 305, SW_FIX_REUSE},
	     {SW_MEM_MANAGED, 305, SW_FIX_REUSE_ONLY},
	     {SW_MEM_PINNED, 307, SW_FIX_REUSE_PINNED},
	     {SW_MEM_REGISTERED, 307, SW_FIX_REUSE_PINNED}};

START_TEST(pools_are_advised_where_there_are_any)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb->dur = 2 * MS;
	tb_alloc(tb, pools[_i].memory, HOST + (1u << 24), 1u << 20);
	struct sw_judgement *j = judged(tb);
	ck_assert_ptr_nonnull(with_fix(j, pools[_i].id, pools[_i].fix));
	sw_judgement_free(j);
}
END_TEST

/* Polling: what is advised saves a core, no time. */
START_TEST(polls_become_sleep)
{
	struct tb *tb = two_streams();
	tb_set(tb, DEV, 64, S1);
	tb->dur = 1000;
	tb->step = 4000;
	for (int i = 0; i < 1000; i++)
		tb_query(tb, SW_SYNC_STREAM, S1, 600);
	tb_query(tb, SW_SYNC_STREAM, S1, 0);
	struct sw_judgement *j = judged(tb);
	ck_assert_int_eq(only(j, 403)->fix, SW_FIX_SLEEP);
	ck_assert_uint_eq(only(j, 403)->cost->recoverable_high_ns, 0);
	sw_judgement_free(j);
}
END_TEST

/* 0: of a few calls the longest is the 99th percentile; 1: of many it need not be. */
START_TEST(percentiles_need_many_calls)
{
	struct tb *tb = two_streams();
	for (int i = 0; i < (_i ? 200 : 99); i++) {
		tb_set(tb, DEV2, 64, S1);
		tb->dur = i == 7 ? 10 * MS : 2 * MS;
		tb->flags = SW_RF_SYNCHRONOUS;
		tb_copy_sync(tb, PIN, SW_SIDE_HOST, DEV, SW_SIDE_DEVICE, 4096);
		tb->flags = 0;
		tb->dur = 100;
	}
	struct sw_judgement *j = judged(tb);
	const struct sw_cost *cost = only(j, 301)->cost;
	if (_i)
		ck_assert_uint_lt(cost->p99_ns, 5 * MS);
	else
		ck_assert_uint_eq(cost->p99_ns, cost->worst_ns);
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, the_right_event_of_a_ring_is_named, 0, 5);
	tcase_add_loop_test(tc, the_host_waits_for_no_more_than_it_needs, 0,
			    2 * sizeof host_cases / sizeof *host_cases);
	tcase_add_loop_test(tc, streams_wait_for_the_event_that_is_there, 0, 4);
	tcase_add_loop_test(tc, streams_free_after_an_event, 0, 2);
	tcase_add_loop_test(tc, frees_move_after_the_last_use, 0, 4);
	tcase_add_loop_test(tc, pools_are_advised_where_there_are_any, 0, 4);
	tcase_add_test(tc, polls_become_sleep);
	tcase_add_loop_test(tc, percentiles_need_many_calls, 0, 2);
}

int main(void)
{
	return run_cases("fixes", add);
}
