/* SPDX-License-Identifier: Apache-2.0 */
/* SW104-SW106: host buffers, frees, stream-ordered allocations; and whom a copy makes wait, by kind of memory. */
#include "detect/judge.h"

static void is(const struct sw_finding *f, enum sw_severity severity, enum sw_confidence confidence,
	       enum sw_basis basis)
{
	ck_assert_int_eq(f->severity, severity);
	ck_assert_int_eq(f->confidence, confidence);
	ck_assert_int_eq(f->basis, basis);
}

static uint64_t copy_sync(struct tb *tb, uint64_t dst, enum sw_side ds, uint64_t src, enum sw_side ss, uint64_t bytes)
{
	tb->flags = SW_RF_SYNCHRONOUS;
	uint64_t seq = tb_copy_sync(tb, dst, ds, src, ss, bytes);
	tb->flags = 0;
	return seq;
}

/* ---- who waits for a copy: afterwards another stream sets the copied memory ----------------------------------------
 */

static const struct {
	const char *what;
	bool sync;
	uint64_t dst, src;
	enum sw_side dst_side, src_side;
	int id; /* of the finding that a set of the device side gives afterwards; 0: none */
	enum sw_severity severity;
	enum sw_basis basis;
} copies[] = {
	{"pinned to device", true, DEV, PIN, SW_SIDE_DEVICE, SW_SIDE_HOST, 0, 0, 0},
	{"pageable to device", true, DEV, HOST, SW_SIDE_DEVICE, SW_SIDE_HOST, 103, SW_NOTE, SW_BASIS_MAY},
	{"device to pinned", true, PIN, DEV, SW_SIDE_HOST, SW_SIDE_DEVICE, 0, 0, 0},
	{"device to pageable", true, HOST, DEV, SW_SIDE_HOST, SW_SIDE_DEVICE, 0, 0, 0},
	{"device to device", true, DEV, DEV2, SW_SIDE_DEVICE, SW_SIDE_DEVICE, 103, SW_ERROR, SW_BASIS_DOCUMENTED},
	{"pinned to device, asynchronous", false, DEV, PIN, SW_SIDE_DEVICE, SW_SIDE_HOST, 103, SW_ERROR,
	 SW_BASIS_DOCUMENTED},
	{"pageable to device, asynchronous", false, DEV, HOST, SW_SIDE_DEVICE, SW_SIDE_HOST, 103, SW_NOTE,
	 SW_BASIS_MAY},
	{"device to pinned, asynchronous", false, PIN, DEV, SW_SIDE_HOST, SW_SIDE_DEVICE, 102, SW_ERROR,
	 SW_BASIS_DOCUMENTED},
	{"device to pageable, asynchronous", false, HOST, DEV, SW_SIDE_HOST, SW_SIDE_DEVICE, 102, SW_NOTE,
	 SW_BASIS_MAY},
};

START_TEST(who_waits_for_a_copy)
{
	struct tb *tb = two_streams();
	if (copies[_i].sync)
		copy_sync(tb, copies[_i].dst, copies[_i].dst_side, copies[_i].src, copies[_i].src_side, 4096);
	else
		tb_copy(tb, copies[_i].dst, copies[_i].dst_side, copies[_i].src, copies[_i].src_side, 4096, S1);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	if (copies[_i].id) {
		const struct sw_finding *f = only(j, copies[_i].id);
		is(f, copies[_i].severity, SW_CERTAIN, copies[_i].basis);
		ck_assert(f->measured_order == (copies[_i].severity == SW_NOTE));
	} else {
		no_hazards(j);
	}
	sw_judgement_free(j);
}
END_TEST

/* SYNC_MEMOPS makes every copy wait. */
START_TEST(sync_memops_waits)
{
	struct tb *tb = two_streams();
	if (_i) {
		struct sw_rec_other *o = tb_other(tb, SW_REC_OTHER, "cuPointerSetAttribute");
		o->args[1] = 6;
		o->args[2] = DEV;
	}
	copy_sync(tb, DEV, SW_SIDE_DEVICE, DEV2, SW_SIDE_DEVICE, 64);
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors, !_i);
	sw_judgement_free(j);
}
END_TEST

/* A set of host memory joins the host, one of device memory does not. */
START_TEST(who_waits_for_a_set)
{
	struct tb *tb = two_streams();
	struct sw_rec_set *s = tb_set(tb, _i ? PIN : DEV, 64, 0);
	s->h.flags |= SW_RF_SYNCHRONOUS;
	tb_set(tb, _i ? PIN : DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors, !_i);
	ck_assert_uint_eq(count_of(j, 303), _i);
	sw_judgement_free(j);
}
END_TEST

/* A synchronous copy from pageable memory reads it inside the call: work that still writes it is a conflict. */
START_TEST(pageable_staging)
{
	struct tb *tb = two_streams();
	tb_alloc(tb, SW_MEM_REGISTERED, HOST, 4096);
	d2h(tb, HOST, DEV, 4096, S1);
	if (_i)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	copy_sync(tb, DEV2, SW_SIDE_DEVICE, HOST, SW_SIDE_HOST, 64);
	struct sw_judgement *j = judged(tb);
	if (_i)
		no_hazards(j);
	else
		is(only(j, 101), SW_ERROR, SW_CERTAIN, SW_BASIS_DOCUMENTED);
	sw_judgement_free(j);
}
END_TEST

START_TEST(host_reads_what_may_be_in_flight)
{
	struct tb *tb = two_streams();
	d2h(tb, HOST, DEV, 4096, S1);
	if (_i)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	copy_sync(tb, DEV2, SW_SIDE_DEVICE, HOST + 8, SW_SIDE_HOST, 64);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, 104);
		is(f, SW_NOTE, SW_CERTAIN, SW_BASIS_MAY);
		ck_assert_int_eq(f->fix, SW_FIX_HOST_SYNC);
		ck_assert_uint_eq(f->access[1]->stream, 0);
		ck_assert_int_eq(f->access[1]->role, SW_READ);
	}
	sw_judgement_free(j);
}
END_TEST

/* ---- frees --------------------------------------------------------------------------------------------------------
 */

/* 0: the measured wait covers the work: a note.  1: documented wait.  */
START_TEST(free_of_memory_in_use)
{
	struct tb *tb = two_streams();
	h2d(tb, DEV, PIN, 4096, S1);
	if (_i)
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb_free_sync(tb, SW_MEM_UNKNOWN, DEV);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, 105);
		is(f, SW_NOTE, SW_CERTAIN, SW_BASIS_MEASURED);
		ck_assert(f->measured_order);
		ck_assert_int_eq(f->access[1]->role, SW_FREE);
		ck_assert_int_eq(f->fix, SW_FIX_HOST_SYNC);
	}
	sw_judgement_free(j);
}
END_TEST

/* cudaFree of pool memory waits for nothing: an error. */
START_TEST(free_of_pool_memory_in_use)
{
	struct tb *tb = two_streams();
	tb_alloc(tb, SW_MEM_ASYNC, DEV + (4 << 20), 4096)->stream = S1;
	h2d(tb, DEV + (4 << 20), PIN, 4096, S1);
	if (_i)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	tb_free_sync(tb, SW_MEM_UNKNOWN, DEV + (4 << 20));
	struct sw_judgement *j = judged(tb);
	if (_i)
		no_hazards(j);
	else
		is(only(j, 105), SW_ERROR, SW_CERTAIN, SW_BASIS_DOCUMENTED);
	sw_judgement_free(j);
}
END_TEST

START_TEST(host_memory_released_in_flight)
{
	struct tb *tb = two_streams();
	h2d(tb, DEV, PIN, 4096, S1);
	if (_i)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	tb_free_sync(tb, SW_MEM_PINNED, PIN);
	struct sw_judgement *j = judged(tb);
	if (_i)
		no_hazards(j);
	else
		is(only(j, 104), SW_NOTE, SW_CERTAIN, SW_BASIS_MEASURED);
	sw_judgement_free(j);
}
END_TEST

/* Work issued after the free: a copy is an error, a kernel by its signature a warning.  A new allocation at the same
   address makes it good memory again. */
START_TEST(use_after_free)
{
	struct tb *tb = two_streams();
	uint32_t add = tb_function(tb, "_Z3addPfPKf", 2, 8, 8);
	tb_free_sync(tb, SW_MEM_UNKNOWN, DEV);
	tb_stream_wait(tb, S1, E1); /* has nothing to do with it */
	if (_i == 2)
		tb_alloc(tb, SW_MEM_DEVICE, DEV, 4096);
	if (_i == 1)
		tb_launch(tb, add, S1, 2, DEV, DEV2);
	else
		tb_set(tb, DEV + 512, 64, S1);
	struct sw_judgement *j = judged(tb);
	if (_i == 2) {
		no_hazards(j);
	} else {
		const struct sw_finding *f = only(j, 105);
		is(f, _i ? SW_WARNING : SW_ERROR, _i ? SW_LIKELY : SW_CERTAIN, SW_BASIS_DOCUMENTED);
		ck_assert_int_eq(f->access[0]->role, SW_FREE);
		ck_assert_int_eq(f->access[1]->role, SW_WRITE);
		ck_assert_uint_ne(f->access[1]->allocation, 0);
		ck_assert_int_eq(only(j, 201)->severity, SW_NOTE);
	}
	sw_judgement_free(j);
}
END_TEST

/* Host memory that CUDA gave up continues to be good pageable memory. */
START_TEST(unregistered_memory_is_pageable)
{
	struct tb *tb = two_streams();
	tb_alloc(tb, SW_MEM_REGISTERED, HOST, 4096);
	tb_free_sync(tb, SW_MEM_REGISTERED, HOST);
	h2d(tb, DEV, HOST, 64, S1);
	struct sw_judgement *j = judged(tb);
	no_hazards(j);
	ck_assert_uint_eq(count_of(j, 302), 1);
	sw_judgement_free(j);
}
END_TEST

START_TEST(stream_ordered_free)
{
	struct tb *tb = two_streams();
	tb_alloc(tb, SW_MEM_ASYNC, DEV + (4 << 20), 4096)->stream = S1;
	order(tb, S1, S2);
	h2d(tb, DEV + (4 << 20), PIN, 4096, S2);
	if (_i)
		order(tb, S2, S1);
	tb_free(tb, SW_MEM_ASYNC, DEV + (4 << 20))->stream = S1;
	struct sw_judgement *j = judged(tb);
	if (_i)
		no_hazards(j);
	else
		is(only(j, 105), SW_ERROR, SW_CERTAIN, SW_BASIS_DOCUMENTED);
	sw_judgement_free(j);
}
END_TEST

START_TEST(stream_ordered_alloc)
{
	struct tb *tb = two_streams();
	tb_alloc(tb, SW_MEM_ASYNC, DEV + (4 << 20), 4096)->stream = S1;
	if (_i)
		order(tb, S1, S2);
	h2d(tb, DEV + (4 << 20), PIN, 4096, S2);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
	} else {
		is(only(j, 106), SW_ERROR, SW_CERTAIN, SW_BASIS_DOCUMENTED);
		ck_assert_int_eq(only(j, 106)->access[0]->role, SW_ALLOC);
	}
	sw_judgement_free(j);
}
END_TEST

/* Ordered after the allocation, but by the wait of a cudaFree alone: a note.  1: by a documented wait. */
START_TEST(stream_ordered_alloc_and_a_measured_wait)
{
	struct tb *tb = two_streams();
	tb_alloc(tb, SW_MEM_DEVICE, DEV + (8 << 20), 4096);
	tb_alloc(tb, SW_MEM_ASYNC, DEV + (4 << 20), 4096)->stream = S1;
	if (_i)
		tb_sync(tb, SW_SYNC_STREAM, S1);
	tb_free_sync(tb, SW_MEM_UNKNOWN, DEV + (8 << 20));
	h2d(tb, DEV + (4 << 20), PIN, 4096, S2);
	struct sw_judgement *j = judged(tb);
	if (_i) {
		no_hazards(j);
	} else {
		is(only(j, 106), SW_NOTE, SW_CERTAIN, SW_BASIS_MEASURED);
		ck_assert(only(j, 106)->measured_order);
		ck_assert_int_eq(only(j, 106)->fix, SW_FIX_EVENT);
	}
	sw_judgement_free(j);
}
END_TEST

/* A synchronous peer copy is in order with all work of both contexts. */
START_TEST(peer_copies)
{
	struct tb *tb = two_streams();
	tb_device(tb, 1, "other");
	tb_context(tb, 2, 1);
	tb->ctx = 2;
	tb_alloc(tb, SW_MEM_DEVICE, DEV + (16ull << 20), 4096);
	tb_stream_create(tb, S3, NONBLOCKING);
	tb_set(tb, DEV + (16ull << 20), 64, S3);
	tb->ctx = 1;
	struct sw_rec_copy *c = tb_copy(tb, DEV, SW_SIDE_DEVICE, DEV + (16ull << 20), SW_SIDE_DEVICE, 64, _i ? 0 : S1);
	c->flags = SW_COPY_PEER;
	c->dst_ctx = 1;
	c->src_ctx = 2;
	c->h.flags |= _i ? SW_RF_SYNCHRONOUS : 0;
	tb_set(tb, DEV, 64, S2);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(j->errors, _i ? 0 : 2);
	sw_judgement_free(j);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, who_waits_for_a_copy, 0, sizeof copies / sizeof *copies);
	tcase_add_loop_test(tc, sync_memops_waits, 0, 2);
	tcase_add_loop_test(tc, who_waits_for_a_set, 0, 2);
	tcase_add_loop_test(tc, pageable_staging, 0, 2);
	tcase_add_loop_test(tc, host_reads_what_may_be_in_flight, 0, 2);
	tcase_add_loop_test(tc, free_of_memory_in_use, 0, 2);
	tcase_add_loop_test(tc, free_of_pool_memory_in_use, 0, 2);
	tcase_add_loop_test(tc, host_memory_released_in_flight, 0, 2);
	tcase_add_loop_test(tc, use_after_free, 0, 3);
	tcase_add_test(tc, unregistered_memory_is_pageable);
	tcase_add_loop_test(tc, stream_ordered_free, 0, 2);
	tcase_add_loop_test(tc, stream_ordered_alloc, 0, 2);
	tcase_add_loop_test(tc, stream_ordered_alloc_and_a_measured_wait, 0, 2);
	tcase_add_loop_test(tc, peer_copies, 0, 2);
}

int main(void)
{
	return run_cases("memory", add);
}
