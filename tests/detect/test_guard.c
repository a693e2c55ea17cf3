/* SPDX-License-Identifier: Apache-2.0 */
/* SW104 from what the guard saw of the host, and its repaired twins. */
#include "detect/judge.h"
#include "detect/kernels.h"

#define READS  0u
#define WRITES SW_HOST_WRITES

/* ---- a copy in flight, an access of the host --------------------------------------------------------------------- */

static const struct {
	const char *what;
	bool upload; /* host to device, else device to host */
	uint32_t access;
	uint64_t at; /* offset in the buffer, of whose first page the copy uses the first half */
	bool hazard;
} accesses[] = {
	{"written while it is read", true, WRITES, 0, true},
	{"the last byte", true, WRITES, 2047, true},
	{"read while it is read", true, READS, 0, false},
	{"written after the copied bytes", true, WRITES, 2048, false},
	{"written while it is written", false, WRITES, 5, true},
	{"read while it is written", false, READS, 5, true},
	{"read after the copied bytes", false, READS, 2048, false},
};

START_TEST(copy_and_access)
{
	struct tb *tb = two_streams();
	if (accesses[_i].upload)
		h2d(tb, DEV, PIN, 2048, S1);
	else
		d2h(tb, PIN, DEV, 2048, S1);
	tb_host_access(tb, PIN + accesses[_i].at, 1, accesses[_i].access);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->coverage.host_accesses, 1);
	if (accesses[_i].hazard) {
		const struct sw_finding *f = only(j, 104);
		ck_assert_int_eq(f->severity, SW_ERROR);
		ck_assert_int_eq(f->confidence, SW_CERTAIN);
		ck_assert_int_eq(f->fix, SW_FIX_HOST_SYNC);
		ck_assert_int_eq(f->access[1]->role, accesses[_i].access == WRITES ? SW_WRITE : SW_READ);
		ck_assert_uint_eq(f->access[1]->stream, 0);
	} else {
		no_hazards(j);
	}
	sw_judgement_free(j);
}
END_TEST

/* A guard that was released late is not a hazard: the host had waited. */
START_TEST(waited_for)
{
	struct tb *tb = two_streams();
	d2h(tb, PIN, DEV, 4096, S1);
	tb_event_record(tb, E1, S1);
	switch (_i) {
	case 0:
		tb_sync(tb, SW_SYNC_STREAM, S1);
		break;
	case 1:
		tb_query(tb, SW_SYNC_EVENT, E1, 0);
		break;
	case 2: /* through another stream: no guard could know that cheaply */
		tb_stream_wait(tb, S2, E1);
		tb_sync(tb, SW_SYNC_STREAM, S2);
		break;
	case 3:
		tb_query(tb, SW_SYNC_EVENT, E1, 600);
		break;
	default:
		tb_sync(tb, SW_SYNC_STREAM, S2);
		break;
	}
	tb_host_access(tb, PIN, 1, READS);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors, _i >= 3);
	ck_assert_uint_eq(count_of(j, 104), _i >= 3);
	sw_judgement_free(j);
}
END_TEST

/* Thousands of places that the host came by are no suballocations: they do not make anything less sure. */
START_TEST(accesses_start_nothing)
{
	struct tb *tb = two_streams();
	for (uint64_t i = 0; i < 200; i++)
		tb_host_access(tb, PIN + 4096 * (i + 1), 1, WRITES);
	uint32_t f = tb_function(tb, "_Z4fillPf", 1, 8);
	tb_launch(tb, f, S1, 1, PIN);
	tb_launch(tb, f, S2, 1, PIN);
	struct sw_judgement *j = judged(tb);
	ck_assert_int_eq(only(j, 103)->severity, SW_WARNING);
	sw_judgement_free(j);
}
END_TEST

/* ---- flags that the host polls ----------------------------------------------------------------------------------- */

enum { NOTHING, VALUE_BEHIND, VALUE_BEFORE, VALUE_ELSEWHERE, VALUE_ORDERED, KERNEL_BEHIND, SEMAPHORE, SIGNALS };

static void signal_host(struct tb *tb, int how)
{
	const struct test_call kernel = SIGNAL(PIN + 65536, 1);
	switch (how) {
	case VALUE_BEHIND:
		tb_mem_op(tb, SW_MEMOP_WRITE_VALUE, PIN + 65536, 4, S1);
		break;
	case VALUE_ELSEWHERE:
		tb_mem_op(tb, SW_MEMOP_WRITE_VALUE, PIN + 65536, 4, S2);
		break;
	case VALUE_ORDERED:
		order(tb, S1, S2);
		tb_mem_op(tb, SW_MEMOP_WRITE_VALUE, PIN + 65536, 4, S2);
		break;
	case KERNEL_BEHIND:
		test_launch(tb, &kernel, S1);
		break;
	case SEMAPHORE:
		tb_other(tb, SW_REC_OTHER, "cuSignalExternalSemaphoresAsync")->args[0] = S1;
		break;
	default:
		break;
	}
}

START_TEST(signalled)
{
	struct tb *tb = with_code(two_streams());
	bool told = _i != NOTHING && _i != VALUE_BEFORE && _i != VALUE_ELSEWHERE;
	if (_i == VALUE_BEFORE)
		tb_mem_op(tb, SW_MEMOP_WRITE_VALUE, PIN + 65536, 4, S1);
	d2h(tb, PIN, DEV, 4096, S1);
	signal_host(tb, _i);
	tb_host_access(tb, PIN + 100, 1, READS);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = true});
	ck_assert_int_eq(only(j, 104)->severity, told ? SW_NOTE : SW_ERROR);
	ck_assert_int_eq(only(j, 104)->confidence, told ? SW_POSSIBLE : SW_CERTAIN);
	sw_judgement_free(j);
}
END_TEST

/* Work that the host enqueues when it has seen the flag is in order too, which nothing shows. */
START_TEST(relayed)
{
	struct tb *tb = with_code(two_streams());
	bool told = _i != NOTHING && _i != VALUE_BEFORE && _i != VALUE_ELSEWHERE && _i != SEMAPHORE;
	tb_stream_create(tb, S3, NONBLOCKING);
	if (_i == VALUE_BEFORE)
		tb_mem_op(tb, SW_MEMOP_WRITE_VALUE, PIN + 65536, 4, S1);
	h2d(tb, DEV, PIN, 4096, S1);
	if (_i != SEMAPHORE)
		signal_host(tb, _i);
	else /* a flag that the host does not see */
		tb_mem_op(tb, SW_MEMOP_WRITE_VALUE, DEV2, 4, S1);
	d2h(tb, PIN + 131072, DEV, 4096, S3);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = true});
	ck_assert_int_eq(only(j, 101)->severity, told ? SW_NOTE : SW_ERROR);
	ck_assert_int_eq(only(j, 101)->confidence, told ? SW_POSSIBLE : SW_CERTAIN);
	ck_assert(only(j, 101)->host_flag == told);
	sw_judgement_free(j);
}
END_TEST

/* A kernel that waits for a flag may run after what the host enqueues later; where others may set the flag, after what
   they did. */
START_TEST(held_by_host)
{
	struct tb *tb = with_code(two_streams());
	const struct test_call serve = WAITS(DEV, _i ? DEV2 : PIN + 65536, 256);
	test_launch(tb, &serve, S1);
	h2d(tb, DEV, PIN, 1024, S2);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = true});
	ck_assert_int_eq(only(j, 103)->severity, SW_NOTE);
	ck_assert_int_eq(only(j, 103)->confidence, SW_POSSIBLE);
	ck_assert_int_eq(only(j, 103)->fix, _i ? SW_FIX_EVENT : SW_FIX_HOST_FLAG);
	sw_judgement_free(j);
}
END_TEST

/* ---- what host functions do ------------------------------------------------------------------------------------- */

enum { DRIVER_THREAD = 7 };

/* Fills the buffer inside the function; gives the access. */
static uint64_t refill(struct tb *tb, uint64_t enqueued)
{
	tb_thread(tb, DRIVER_THREAD);
	uint64_t begin = tb_host_func_begin(tb, S1, 0x1234, enqueued);
	uint64_t access = sw_rec_seq(&tb_host_access(tb, PIN + 100, 1, WRITES)->h);
	tb_host_func_end(tb, begin);
	tb_thread(tb, 1);
	return access;
}

enum { SAME_STREAM, BY_EVENT, BEFORE, ELSEWHERE, EVENT_TOO_LATE, EVENT_TOO_EARLY, PLACES };

/* A copy from the buffer is enqueued before the function runs: it comes after the function, or it does not. */
static void copy_somewhere(struct tb *tb, int place, bool function_is_there)
{
	bool first = place == BEFORE || place == EVENT_TOO_EARLY;
	if (first == function_is_there && place != EVENT_TOO_EARLY)
		return;
	if (place == EVENT_TOO_EARLY && !function_is_there) {
		tb_event_record(tb, E1, S1);
		return;
	}
	if (place == BY_EVENT)
		order(tb, S1, S2);
	if (place == EVENT_TOO_EARLY)
		tb_stream_wait(tb, S2, E1);
	h2d(tb, DEV, PIN, 2048, place == SAME_STREAM || place == BEFORE ? S1 : S2);
	if (place == EVENT_TOO_LATE)
		order(tb, S1, S2);
}

/* Loop: [place][form of the function: launched, callback][threads apart]. */
START_TEST(host_function_refills)
{
	struct tb *tb = two_streams();
	int place = _i / 4;
	bool strict = _i & 2;
	copy_somewhere(tb, place, false);
	tb_host_func(tb, S1, 0x1234)->flags = _i & 1;
	uint64_t enqueued = tb->seq;
	copy_somewhere(tb, place, true);
	refill(tb, enqueued);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.strict_host = strict});
	if (place <= BEFORE) {
		no_hazards(j);
	} else {
		ck_assert_int_eq(only(j, 104)->confidence, SW_CERTAIN);
		ck_assert_int_eq(only(j, 104)->fix, SW_FIX_HOST_FUNCTION); /* it must not call CUDA */
	}
	sw_judgement_free(j);
}
END_TEST

enum { NO_ORDER, COPY_BEFORE_BOTH, COPY_BEFORE_SECOND, COPY_AFTER_FIRST, ORDERS };

static uint64_t enqueue_second(struct tb *tb, int ordered, uint64_t *first)
{
	if (ordered == COPY_AFTER_FIRST) {
		*first = sw_rec_seq(&tb_host_func(tb, S1, 0x1234)->h);
		order(tb, S1, S2);
	}
	h2d(tb, DEV, PIN, 2048, S2);
	if (ordered == COPY_BEFORE_BOTH)
		order(tb, S2, S1);
	if (ordered != COPY_AFTER_FIRST)
		*first = sw_rec_seq(&tb_host_func(tb, S1, 0x1234)->h);
	if (ordered == COPY_BEFORE_SECOND)
		order(tb, S2, S1);
	return sw_rec_seq(&tb_host_func(tb, S1, 0x1234)->h);
}

/* The finding whose later access is that record. */
static const struct sw_finding *hazard_with(const struct sw_judgement *j, uint64_t later)
{
	for (size_t i = 0; i < j->findings.n; i++)
		if (j->findings.at[i].accesses == 2 && j->findings.at[i].access[1]->seq == later)
			return &j->findings.at[i];
	return NULL;
}

/* Two functions, one copy: each access is judged by the order of its own function.  Two lines of the program are two
   findings, accesses from one line, or without call stacks, are one.  Loop: [order][lines: none, one, two][strict]. */
START_TEST(two_host_functions_refill)
{
	static const bool hazards[ORDERS][2] = {{true, true}, {false, false}, {true, false}, {false, true}};
	struct tb *tb = two_streams();
	const bool *hazard = hazards[_i / 6];
	uint64_t enqueued[2], access[2], lines = (uint64_t)_i / 2 % 3;
	enqueued[1] = enqueue_second(tb, _i / 6, &enqueued[0]);
	for (uint64_t i = 0; i < 2; i++) {
		tb_thread(tb, DRIVER_THREAD);
		if (lines)
			tb_stack(tb, 1, 0x1000 + 16 * i * (lines - 1));
		access[i] = refill(tb, enqueued[i]);
	}
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.strict_host = _i & 1});
	bool apart = lines == 2, both = hazard[0] && hazard[1];
	for (int i = 0; i < 2; i++) {
		const struct sw_finding *f = hazard_with(j, access[i]);
		ck_assert_int_eq(f != NULL, hazard[i] && (apart || !i || !both));
		ck_assert(!f || (f->id == 104 && f->confidence == SW_CERTAIN));
		ck_assert(!f || f->count == (both && !apart ? 2 : 1));
	}
	if (!hazard[0] && !hazard[1])
		no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

/* The function waits for a lock until its stream has work after it; what comes while it runs is after it as well. */
START_TEST(host_function_waits_for_a_lock)
{
	struct tb *tb = two_streams();
	tb_host_func(tb, S1, 0x1234);
	uint64_t enqueued = tb->seq;
	tb_thread(tb, DRIVER_THREAD);
	uint64_t begin = tb_host_func_begin(tb, S1, 0x1234, enqueued);
	tb_thread(tb, 1);
	h2d(tb, DEV, PIN, 2048, S1);
	tb_host_sync(tb, SW_THREAD_RELEASE, SW_THROUGH_MUTEX, 0x5000);
	tb_thread(tb, DRIVER_THREAD);
	tb_host_sync(tb, SW_THREAD_ACQUIRE, SW_THROUGH_MUTEX, 0x5000);
	tb_host_access(tb, PIN + 100, 1, WRITES);
	tb_thread(tb, 1);
	h2d(tb, DEV2, PIN, 2048, _i & 2 ? S2 : S1);
	tb_thread(tb, DRIVER_THREAD);
	tb_host_func_end(tb, begin);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.strict_host = _i & 1});
	if (_i == 3) /* another stream, and no lock that orders its copy: threads have lanes of their own */
		ck_assert_uint_eq(count_of(j, 104), 1);
	else
		no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

/* A node of a graph: its run is not seen.  It may be what a thread that makes no calls does, and never what another
   does; user objects' destructors order nothing. */
START_TEST(host_node_refills)
{
	struct tb *tb = two_streams();
	struct sw_rec_host_func work = {.function = 0x1234};
	struct sw_rec_set set = {.dst = DEV2, .width = 64, .height = 1};
	bool node = _i & 1, caller = _i & 2;
	tb_graph(tb, SW_GRAPH_INSTANTIATE, 0x9000, 0x9100);
	tb_node_head(tb, 0x9100, 1);
	if (node)
		tb_node(tb, 0x9100, 0x9200, NULL, 0, SW_REC_HOST_FUNC, &work, sizeof work);
	else
		tb_node(tb, 0x9100, 0x9200, NULL, 0, SW_REC_SET, &set, sizeof set);
	tb_graph_launch(tb, 0x9100, S1);
	h2d(tb, DEV, PIN, 2048, S1);
	tb_thread(tb, caller ? 1 : DRIVER_THREAD);
	tb_host_access(tb, PIN + 100, 1, WRITES);
	struct sw_judgement *j = judged_with(tb, &(struct sw_judge_options){.keep_possible = true});
	ck_assert_int_eq(only(j, 104)->confidence, node && !caller ? SW_POSSIBLE : SW_CERTAIN);
	ck_assert_int_eq(only(j, 104)->fix, node && !caller ? SW_FIX_HOST_FUNCTION : SW_FIX_HOST_SYNC);
	sw_judgement_free(j);
}
END_TEST

/* ---- host memory handed to a second copy ------------------------------------------------------------------------- */

static const struct {
	bool first_reads, second_reads;
	int id;
} seconds[] = {{true, true, 0}, {true, false, 102}, {false, true, 101}, {false, false, 103}};

/* Pinned or registered, two streams: what the copies do to each other is a race of theirs.  Loop: [case][ordered]. */
START_TEST(second_copy)
{
	struct tb *tb = two_streams();
	int at = _i / 4;
	uint64_t host = _i & 2 ? PIN : HOST;
	if (!(_i & 2))
		tb_alloc(tb, SW_MEM_REGISTERED, HOST, 65536);
	if (seconds[at].first_reads)
		h2d(tb, DEV, host, 4096, S1);
	else
		d2h(tb, host, DEV, 4096, S1);
	if (_i & 1)
		order(tb, S1, S2);
	if (seconds[at].second_reads)
		h2d(tb, DEV2, host + 1024, 64, S2);
	else
		d2h(tb, host + 1024, DEV2, 64, S2);
	struct sw_judgement *j = judged(tb);
	if (seconds[at].id && !(_i & 1))
		ck_assert_int_eq(only(j, seconds[at].id)->severity, SW_ERROR);
	else
		no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, copy_and_access, 0, sizeof accesses / sizeof *accesses);
	tcase_add_loop_test(tc, waited_for, 0, 5);
	tcase_add_test(tc, accesses_start_nothing);
	tcase_add_loop_test(tc, signalled, 0, SIGNALS);
	tcase_add_loop_test(tc, relayed, 0, SIGNALS);
	tcase_add_loop_test(tc, held_by_host, 0, 2);
	tcase_add_loop_test(tc, host_function_refills, 0, 4 * PLACES);
	tcase_add_loop_test(tc, two_host_functions_refill, 0, 6 * ORDERS);
	tcase_add_loop_test(tc, host_function_waits_for_a_lock, 0, 4);
	tcase_add_loop_test(tc, host_node_refills, 0, 4);
	tcase_add_loop_test(tc, second_copy, 0, 4 * (int)(sizeof seconds / sizeof *seconds));
}

int main(void)
{
	return run_cases("guard", add);
}
