/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for values in memory: which stores may have released one.
 *
 * Random programs of a few streams are compared with all their executions: two accesses are a race if and only if some
 * execution runs the later one first. A program of which some execution hangs may be reported or not.  In an execution
 * a wait is released by a store that was enqueued before it, as the rule has it (doc/order.md): what is enqueued later
 * is not known when the wait is judged.
 */
#include "detect/judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAG DEV2
enum { GEQ, EQ };

static void store(struct tb *tb, uint64_t value, uint64_t stream)
{
	tb_mem_op(tb, SW_MEMOP_WRITE_VALUE, FLAG, 4, stream)->value = value;
}

static void wait_for(struct tb *tb, uint64_t value, uint32_t how, uint64_t stream)
{
	struct sw_rec_mem_op *r = tb_mem_op(tb, SW_MEMOP_WAIT_VALUE, FLAG, 4, stream);
	r->value = value;
	r->flags = how;
}

static struct tb *three_streams(void)
{
	struct tb *tb = two_streams();
	tb_stream_create(tb, S3, NONBLOCKING);
	return tb;
}

static void expect(struct tb *tb, size_t errors, size_t not_followed)
{
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors, errors);
	ck_assert_uint_eq(count_of(j, 903), not_followed);
	sw_judgement_free(j);
}

static void filled(struct tb *tb, uint32_t value, uint64_t stream)
{
	struct sw_rec_set *r = tb_set(tb, FLAG, 256, stream);
	r->value = value;
	r->element_bytes = 4;
}

static void upload_word(struct tb *tb, uint32_t word, uint64_t stream)
{
	struct sw_rec_copy *r = tb_add(tb, SW_REC_COPY, sizeof *r + 8, true);
	memcpy(r + 1, &word, sizeof word);
	r->h.ctx = tb->ctx;
	r->h.dur = (uint32_t)tb->dur;
	r->dst = FLAG;
	r->src = HOST;
	r->bytes = sizeof word;
	r->stream = stream;
	r->dst_side = SW_SIDE_DEVICE;
	r->src_side = SW_SIDE_HOST;
	r->flags = SW_COPY_CONTENT;
}

static const struct {
	const char *what;
	uint64_t before, after; /* values written before and after the buffer is filled; 0: none */
	uint32_t how, write_flags;
	uint64_t value;
	enum { ORDERED, RACE, NOT_FOLLOWED } is;
} values[] = {
	{"written after", 0, 1, 0, 0, 1, ORDERED},
	{"written before", 1, 0, 0, 0, 1, RACE},
	{"a counter, its first value is enough", 1, 2, 0, 0, 1, RACE},
	{"a counter, its last value", 1, 2, 0, 0, 2, ORDERED},
	{"greater or equal is cyclic", 0, 5, 0, 0, 0xfffffff0, ORDERED},
	{"equal", 1, 2, 1, 0, 2, ORDERED},
	{"a bit", 1, 2, 2, 0, 2, ORDERED},
	{"none lets it go", 0, 1, 0, 0, 2, NOT_FOLLOWED},
	{"no barrier", 0, 1, 0, 1, 1, NOT_FOLLOWED},
};

START_TEST(values_order)
{
	struct tb *tb = two_streams();
	if (values[_i].before)
		store(tb, values[_i].before, S1);
	tb_set(tb, DEV, 64, S1);
	if (values[_i].after) {
		struct sw_rec_mem_op *r = tb_mem_op(tb, SW_MEMOP_WRITE_VALUE, FLAG, 4, S1);
		r->value = values[_i].after;
		r->flags = values[_i].write_flags;
	}
	wait_for(tb, values[_i].value, values[_i].how, S2);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors, values[_i].is == RACE);
	ck_assert_uint_eq(j->coverage.unclassified_calls, values[_i].is == NOT_FOLLOWED);
	ck_assert_uint_eq(count_of(j, 903), values[_i].is == NOT_FOLLOWED);
	sw_judgement_free(j);
}
END_TEST

/* Two streams write the same value: either of them may have released the wait.  0: nothing is common to both; 1: the
   work of the first comes before both; 2: the wait is for what only the second writes. */
START_TEST(either_of_two)
{
	struct tb *tb = three_streams();
	tb_set(tb, DEV, 64, S1);
	if (_i == 1)
		order(tb, S1, S3);
	store(tb, 1, S1);
	store(tb, _i == 2 ? 2 : 1, S3);
	wait_for(tb, _i == 2 ? 2 : 1, GEQ, S2);
	tb_set(tb, DEV, 64, S2);
	expect(tb, _i != 1, 0);
}
END_TEST

/* A flag that holds the value already releases the wait at once.  0: by a set; 1: by a copy of one word; 2: by a set
   that another one follows; 3: by a set, and the flag is reset before the wait; 4: by an earlier round. */
START_TEST(holds_it_already)
{
	struct tb *tb = three_streams();
	if (_i == 1)
		upload_word(tb, 1, S1);
	else if (_i != 4)
		filled(tb, 1, S1);
	if (_i == 2)
		filled(tb, 0, S1);
	if (_i == 3)
		store(tb, 0, S1);
	if (_i == 4) {
		store(tb, 1, S1);
		wait_for(tb, 1, EQ, S2);
	}
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb_set(tb, DEV, 64, S1);
	store(tb, 1, S1);
	wait_for(tb, 1, EQ, S2);
	tb_set(tb, DEV, 64, S2);
	expect(tb, _i == 0 || _i == 1 || _i == 4, 0);
}
END_TEST

/* Unknown work may have overwritten the value: the wait is not released at once for sure.  0: a copy between the two;
   1: memory that was allocated anew; 2: pinned memory, which the host may have written. */
START_TEST(held_something_once)
{
	struct tb *tb = three_streams();
	uint64_t flag = _i == 2 ? PIN : FLAG;
	struct sw_rec_set *set = tb_set(tb, flag, 256, S1);
	set->value = 1;
	if (_i == 0)
		d2d(tb, FLAG, DEV + 4096, 64, S1);
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	if (_i == 1) {
		tb_free(tb, SW_MEM_DEVICE, FLAG);
		tb_alloc(tb, SW_MEM_DEVICE, FLAG, 1 << 20);
	}
	tb_set(tb, DEV, 64, S1);
	tb_mem_op(tb, SW_MEMOP_WRITE_VALUE, flag, 4, S1)->value = 0x01010101;
	struct sw_rec_mem_op *r = tb_mem_op(tb, SW_MEMOP_WAIT_VALUE, flag, 4, S2);
	r->value = 0x01010101;
	r->flags = EQ;
	tb_set(tb, DEV, 64, S2);
	expect(tb, 0, 0);
}
END_TEST

/* A ring: a buffer is filled when the flag is 0, and read when it is 1.  0: right; 1: the reader does not wait in one
   round; 2: the flag is reset before the buffer is read; 3: a set resets the flag; 4: two flags that count. */
START_TEST(ring)
{
	struct tb *tb = three_streams();
	filled(tb, 0, S1);
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	for (uint64_t round = 0; round < 100; round++) {
		if (_i != 4)
			wait_for(tb, 0, EQ, S1);
		else if (round)
			tb_mem_op(tb, SW_MEMOP_WAIT_VALUE, FLAG + 64, 4, S1)->value = round;
		h2d(tb, DEV, PIN, 64, S1);
		store(tb, _i == 4 ? round + 1 : 1, S1);
		if (_i != 1 || round != 50)
			wait_for(tb, _i == 4 ? round + 1 : 1, _i == 4 ? GEQ : EQ, S2);
		if (_i == 2)
			store(tb, 0, S2);
		d2h(tb, PIN + 4096, DEV, 64, S2);
		if (_i == 3)
			filled(tb, 0, S2);
		else if (_i == 4)
			tb_mem_op(tb, SW_MEMOP_WRITE_VALUE, FLAG + 64, 4, S2)->value = round + 1;
		else if (_i != 2)
			store(tb, 0, S2);
	}
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors > 0, _i == 1 || _i == 2);
	ck_assert_uint_eq(count_of(j, 903), 0);
	ck_assert_uint_eq(j->coverage.edges_for_safety, 0);
	sw_judgement_free(j);
}
END_TEST

/* The flag passes through three streams: 0: each waits for the one before; 1: one does not. */
START_TEST(three_in_turn)
{
	static const uint64_t stream[] = {S1, S2, S3};
	struct tb *tb = three_streams();
	filled(tb, 0, S1);
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	for (uint32_t turn = 0; turn < 60; turn++) {
		if (_i == 0 || turn != 31)
			wait_for(tb, turn % 3, EQ, stream[turn % 3]);
		tb_set(tb, DEV, 64, stream[turn % 3]);
		store(tb, (turn + 1) % 3, stream[turn % 3]);
	}
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors > 0, _i);
	sw_judgement_free(j);
}
END_TEST

/* The flag is taken down and put up again: a wait that knows of the first time is for the second. */
START_TEST(flag_again)
{
	struct tb *tb = two_streams();
	store(tb, 1, S1);
	store(tb, 0, S1);
	order(tb, S1, S2);
	tb_set(tb, DEV, 64, S1);
	store(tb, 1, S1);
	wait_for(tb, 1, EQ, S2);
	tb_set(tb, DEV, 64, S2);
	expect(tb, 0, 0);
}
END_TEST

/* ---- executions -------------------------------------------------------------------------------------------------- */

enum { OPS = 10, STREAMS = 3 };
enum kind { STORE, WAIT_GEQ, WAIT_EQ, SET };
struct op {
	enum kind kind;
	int stream;
	uint32_t value;
};
struct execution {
	const struct op *op;
	int n, first, last; /* the two accesses */
	bool done[OPS];
	int writer; /* of the current value; -1: what the flag held at first */
	bool ends, races, hangs;
};

static bool can_run(const struct execution *x, int i)
{
	for (int k = 0; k < i; k++)
		if (!x->done[k] && x->op[k].stream == x->op[i].stream)
			return false;
	uint32_t now = x->writer < 0 ? 0 : x->op[x->writer].value;
	bool seen = x->writer < i;
	return x->op[i].kind == WAIT_GEQ  ? seen && now >= x->op[i].value
	       : x->op[i].kind == WAIT_EQ ? seen && now == x->op[i].value
					  : true;
}

static void run_on(struct execution *x, int done)
{
	bool any = false;
	for (int i = 0; i < x->n; i++) {
		struct execution next = *x;
		if (x->done[i] || !can_run(x, i))
			continue;
		any = true;
		next.done[i] = true;
		next.ends = false;
		if (x->op[i].kind == STORE)
			next.writer = i;
		run_on(&next, done + 1);
		x->ends |= next.ends;
		/* The later access has run first, and the execution ends. */
		x->races |= next.races || (i == x->last && !x->done[x->first] && next.ends);
		x->hangs |= next.hangs;
	}
	x->ends |= done == x->n;
	x->hangs |= !any && done < x->n;
}

static const uint64_t handle[STREAMS] = {S1, S2, S3};

static void enqueue(struct tb *tb, const struct op *op)
{
	if (op->kind == STORE)
		store(tb, op->value, handle[op->stream]);
	else if (op->kind == SET)
		tb_set(tb, DEV, 64, handle[op->stream]);
	else
		wait_for(tb, op->value, op->kind == WAIT_EQ ? EQ : GEQ, handle[op->stream]);
}

static int random_program(struct op *op, int *first)
{
	int n = 4 + (int)random_below(OPS - 3), streams = 2 + (int)random_below(STREAMS - 1);
	bool counts = random_below(2);
	*first = (int)random_below((uint64_t)n - 2);
	for (int i = 0; i < n; i++)
		op[i] = (struct op){(enum kind)random_below(3), (int)random_below((uint64_t)streams),
				    (uint32_t)random_below(3)};
	/* A counter: each store adds one, and a wait is for what was stored before. */
	uint32_t stored = 0;
	for (int i = 0; counts && i < n; i++) {
		op[i].kind = op[i].kind == WAIT_EQ ? WAIT_GEQ : op[i].kind;
		op[i].value = op[i].kind == STORE ? ++stored : (uint32_t)random_below(stored + 1);
	}
	op[*first].kind = op[n - 1].kind = SET;
	return n;
}

static void show(const struct op *op, int n)
{
	static const char *const names[] = {"store", "wait >=", "wait ==", "set"};
	for (int i = 0; i < n; i++)
		printf("  stream %d %s %u\n", op[i].stream, names[op[i].kind], op[i].value);
}

START_TEST(all_executions)
{
	const char *programs = getenv("SW_PROGRAMS");
	unsigned long count = programs ? strtoul(programs, NULL, 0) : 3000, races = 0, ordered = 0, wrong = 0, safe = 0;
	for (unsigned long k = 0; k < count; k++) {
		struct op op[OPS];
		struct execution x = {.op = op, .writer = -1};
		x.n = random_program(op, &x.first);
		x.last = x.n - 1;
		run_on(&x, 0);
		if (!x.ends || op[x.first].stream == op[x.last].stream)
			continue;
		struct tb *tb = three_streams();
		filled(tb, 0, 0);
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
		for (int i = 0; i < x.n; i++)
			enqueue(tb, &op[i]);
		struct sw_judgement *j = judged(tb);
		bool found = j->errors;
		if (found ? !x.races && !x.hangs : x.races) {
			wrong++;
			printf("%s\n", found ? "reported, and no execution races" : "a race that is not reported");
			show(op, x.n);
		}
		races += x.races;
		ordered += !x.races;
		safe += !x.races && !x.hangs;
		sw_judgement_free(j);
	}
	printf("%lu races, %lu ordered, %lu of them never hang, %lu wrong\n", races, ordered, safe, wrong);
	ck_assert_uint_eq(wrong, 0);
	ck_assert(races > count / 10 && ordered > count / 50);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, values_order, 0, sizeof values / sizeof *values);
	tcase_add_loop_test(tc, either_of_two, 0, 3);
	tcase_add_loop_test(tc, holds_it_already, 0, 5);
	tcase_add_loop_test(tc, held_something_once, 0, 3);
	tcase_add_loop_test(tc, ring, 0, 5);
	tcase_add_loop_test(tc, three_in_turn, 0, 2);
	tcase_add_test(tc, flag_again);
	tcase_add_test(tc, all_executions);
}

int main(void)
{
	return run_cases("stream values", add);
}
