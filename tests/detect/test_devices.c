/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices and contexts: copies between them, what a free waits for, how contexts end, green contexts. */
#include "detect/judge.h"

#define FAR (DEV + (16ull << 20)) /* on device 1 */
#define S4  0xd0ull
#define E3  0xe30ull

/* Device 0 as in two_streams() is context 1; device 1, context 2, has a block, a non-blocking and a blocking stream. */
static struct tb *two_devices(void)
{
	struct tb *tb = two_streams();
	tb_device(tb, 1, "other");
	tb_context(tb, 2, 1);
	tb->ctx = 2;
	tb_alloc(tb, SW_MEM_DEVICE, FAR, 4096);
	tb_stream_create(tb, S3, NONBLOCKING);
	tb_stream_create(tb, S4, 0);
	tb->ctx = 1;
	return tb;
}

static void on(struct tb *tb, uint8_t ctx, uint64_t dst, uint64_t stream)
{
	tb->ctx = ctx;
	tb_set(tb, dst, 64, stream);
	tb->ctx = 1;
}

static void finish(struct tb *tb, unsigned errors, unsigned notes)
{
	struct sw_judgement *j = judged(tb);
	unsigned found = 0;
	for (size_t i = 0; i < j->findings.n; i++)
		found += j->findings.at[i].id < 200 && j->findings.at[i].severity == SW_NOTE;
	ck_assert_uint_eq(j->errors, errors);
	ck_assert_uint_eq(found, notes);
	sw_judgement_free(j);
}

/* Work on both sides of a copy between the devices: serialised by every call that is made on the default stream. */
static const struct {
	const char *what;
	bool peer, synchronous;
	uint64_t stream;
	unsigned errors;
} crossings[] = {
	{"cudaMemcpyPeer", true, true, 0, 0},
	{"cudaMemcpy, by address", false, true, 0, 0},
	{"cudaMemcpyPeerAsync on the default stream", true, false, 0, 0},
	{"cudaMemcpyAsync on the default stream", false, false, 0, 0},
	{"cudaMemcpyPeerAsync", true, false, S1, 2},
	{"cudaMemcpyAsync", false, false, S1, 2},
};

START_TEST(copies_between_devices)
{
	struct tb *tb = two_devices();
	on(tb, 2, FAR, S3);
	struct sw_rec_copy *c = tb_copy(tb, DEV, SW_SIDE_DEVICE, FAR, SW_SIDE_DEVICE, 64, crossings[_i].stream);
	c->flags = crossings[_i].peer ? SW_COPY_PEER : 0;
	c->dst_ctx = crossings[_i].peer ? 1 : 0;
	c->src_ctx = crossings[_i].peer ? 2 : 0;
	c->h.flags |= crossings[_i].synchronous ? SW_RF_SYNCHRONOUS : 0;
	on(tb, 1, DEV, S2);
	finish(tb, crossings[_i].errors, 0);
}
END_TEST

/* A third device is no part of it. */
START_TEST(copies_leave_other_devices_alone)
{
	struct tb *tb = two_devices();
	tb_device(tb, 2, "third");
	tb_context(tb, 3, 2);
	tb->ctx = 3;
	tb_stream_create(tb, 0xd8, NONBLOCKING);
	on(tb, 3, PIN, 0xd8);
	struct sw_rec_copy *c = tb_copy(tb, DEV, SW_SIDE_DEVICE, FAR, SW_SIDE_DEVICE, 64, 0);
	c->h.flags |= SW_RF_SYNCHRONOUS;
	on(tb, 1, PIN, S2);
	finish(tb, 1, 0);
}
END_TEST

/* Memory of device 1, device 0 current: measured to be in order with the default stream of device 1, promised by
   nothing; streams that do not block are in no order with it. */
START_TEST(host_copy_of_another_device)
{
	struct tb *tb = two_devices();
	const uint64_t streams[] = {0, S4, S3};
	on(tb, 2, FAR, streams[_i]);
	struct sw_rec_copy *c = tb_copy(tb, PIN, SW_SIDE_HOST, FAR, SW_SIDE_DEVICE, 64, 0);
	c->h.flags |= SW_RF_SYNCHRONOUS;
	finish(tb, _i == 2, _i < 2);
}
END_TEST

START_TEST(events_across_devices)
{
	struct tb *tb = two_devices();
	on(tb, 2, PIN, S3);
	if (_i) {
		tb->ctx = 2;
		tb_event_create(tb, E3);
		tb_event_record(tb, E3, S3);
		tb->ctx = 1;
		tb_stream_wait(tb, S1, E3);
	}
	on(tb, 1, PIN, S1);
	finish(tb, !_i, 0);
}
END_TEST

START_TEST(default_streams_of_two_devices)
{
	struct tb *tb = two_devices();
	on(tb, 2, PIN, 0);
	if (_i) {
		tb->ctx = 2;
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
	}
	on(tb, 1, PIN, 0);
	finish(tb, !_i, 0);
}
END_TEST

/* "cudaFree of device-1 memory" waits for device 1 alone, whichever device is current. */
START_TEST(free_waits_for_the_owner)
{
	struct tb *tb = two_devices();
	on(tb, _i ? 1 : 2, FAR, _i ? S1 : S3);
	tb_free_sync(tb, SW_MEM_UNKNOWN, FAR);
	finish(tb, _i, !_i);
}
END_TEST

/* Not even another context of its device waits. */
START_TEST(free_waits_for_its_context)
{
	struct tb *tb = two_devices();
	tb_context(tb, 3, 0)->flags = 0;
	tb->ctx = 3;
	tb_stream_create(tb, 0xd8, NONBLOCKING);
	on(tb, _i ? 3 : 1, DEV, _i ? 0xd8 : S1);
	tb_free_sync(tb, SW_MEM_UNKNOWN, DEV);
	finish(tb, _i, !_i);
}
END_TEST

/* ---- the end of a context ---------------------------------------------------------------------------------------- */

/* A reset waits for its own device's work; a stream of the other device still uses the memory. */
START_TEST(reset_frees)
{
	struct tb *tb = two_devices();
	on(tb, _i ? 1 : 2, FAR, _i ? S1 : S3);
	tb_context_op(tb, SW_CONTEXT_RESET, 1);
	struct sw_judgement *j = judged(tb);
	if (_i)
		ck_assert_int_eq(only(j, 105)->severity, SW_ERROR);
	else
		no_hazards(j);
	sw_judgement_free(j);
}
END_TEST

/* cuda.h, cuCtxDestroy: "will not destroy memory allocations by cuMemCreate(), cuMemAllocAsync()". */
START_TEST(reset_keeps_pool_memory)
{
	struct tb *tb = two_devices();
	tb_alloc(tb, _i ? SW_MEM_DEVICE : SW_MEM_ASYNC, DEV2 + (16ull << 20), 4096)->stream = _i ? 0 : S1;
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	tb_context_op(tb, SW_CONTEXT_RESET, 0);
	on(tb, 2, DEV2 + (16ull << 20), S3);
	struct sw_judgement *j = judged(tb);
	ck_assert_uint_eq(count_of(j, 105), _i);
	sw_judgement_free(j);
}
END_TEST

/* Handles and addresses that are used again after a reset are new ones. */
START_TEST(reset_ends_handles)
{
	struct tb *tb = two_devices();
	on(tb, 1, DEV, S1);
	tb_event_record(tb, E1, S1);
	tb_context_op(tb, SW_CONTEXT_RESET, 0);
	tb_context(tb, 3, 0);
	tb->ctx = 3;
	tb_alloc(tb, SW_MEM_DEVICE, DEV, 4096);
	tb_stream_create(tb, S1, NONBLOCKING);
	tb_stream_create(tb, S2, NONBLOCKING);
	on(tb, 3, DEV, S1);
	tb->ctx = 3;
	if (_i)
		tb_event_record(tb, E1, S1);
	tb_stream_wait(tb, S2, E1); /* without the record: of a destroyed handle */
	on(tb, 3, DEV, S2);
	finish(tb, _i ? 0 : 2, 0);
}
END_TEST

/* The last user of a primary context has ended: only the next user shows it. */
START_TEST(primary_context_comes_back)
{
	struct tb *tb = two_devices();
	on(tb, 1, DEV, S1);
	if (_i)
		tb_context_op(tb, SW_CONTEXT_RELEASE, 0);
	tb_context(tb, 3, 0);
	tb->ctx = 3;
	tb_stream_create(tb, S2, NONBLOCKING);
	if (_i)
		tb_alloc(tb, SW_MEM_DEVICE, DEV, 4096);
	on(tb, 3, DEV, S2);
	finish(tb, !_i, 0);
}
END_TEST

/* An id that is given out again is another context, whose handles are its own. */
START_TEST(context_ids_come_back)
{
	struct tb *tb = two_devices();
	for (int i = 0; i < 600; i++) {
		struct sw_rec_context *c = tb_context(tb, 3, 0);
		c->flags = 0;
		c->handle = 0x9000u + 16 * (unsigned)i;
		tb->ctx = 3;
		tb_stream_create(tb, 0xd8, NONBLOCKING);
		tb_alloc(tb, SW_MEM_DEVICE, FAR + (16ull << 20), 4096);
		on(tb, 3, FAR + (16ull << 20), 0xd8);
		tb->ctx = 3;
		tb_context_op(tb, SW_CONTEXT_DESTROY, 0x9000u + 16 * (unsigned)i);
		tb->ctx = 1;
	}
	finish(tb, 0, 0);
}
END_TEST

/* ---- green contexts ---------------------------------------------------------------------------------------------- */

static struct tb *green(void)
{
	struct tb *tb = two_devices();
	tb_context(tb, 3, 0)->flags = SW_CTX_GREEN;
	tb->ctx = 3;
	tb_stream_create(tb, 0xd8, NONBLOCKING);
	on(tb, 3, DEV, 0xd8);
	return tb;
}

/* cuda.h, cuCtxSynchronize: "if the current context is the primary context, green contexts [...] will also be
 * synchronized". */
START_TEST(primary_covers_green)
{
	struct tb *tb = green();
	tb->ctx = _i ? 1 : 2;
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
	on(tb, 1, DEV, S1);
	finish(tb, !_i, 0);
}
END_TEST

/* Work of the primary context is no part of a green context's event. */
START_TEST(green_events)
{
	struct tb *tb = green();
	on(tb, 1, DEV2, S1);
	tb->ctx = _i ? 1 : 3;
	tb_event_record(tb, E1, 0)->flags = SW_EVENT_RECORD_CONTEXT;
	tb->ctx = 1;
	tb_stream_wait(tb, S2, E1);
	on(tb, 1, DEV, S2);
	on(tb, 1, DEV2, S2);
	finish(tb, !_i, 0);
}
END_TEST

/* Destroyed with work pending: measured not to wait.  What it allocated is the primary context's. */
START_TEST(green_destroyed)
{
	struct tb *tb = green();
	tb->ctx = 3;
	tb_alloc(tb, SW_MEM_DEVICE, FAR + (16ull << 20), 4096);
	tb_context_op(tb, SW_CONTEXT_DESTROY, 0x5003);
	tb->ctx = 1;
	if (_i)
		tb_sync(tb, SW_SYNC_CONTEXT, 0);
	on(tb, 1, DEV, S1);
	on(tb, 1, FAR + (16ull << 20), S1);
	finish(tb, !_i, 0);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_loop_test(tc, copies_between_devices, 0, sizeof crossings / sizeof *crossings);
	tcase_add_test(tc, copies_leave_other_devices_alone);
	tcase_add_loop_test(tc, host_copy_of_another_device, 0, 3);
	tcase_add_loop_test(tc, events_across_devices, 0, 2);
	tcase_add_loop_test(tc, default_streams_of_two_devices, 0, 2);
	tcase_add_loop_test(tc, free_waits_for_the_owner, 0, 2);
	tcase_add_loop_test(tc, free_waits_for_its_context, 0, 2);
	tcase_add_loop_test(tc, reset_frees, 0, 2);
	tcase_add_loop_test(tc, reset_keeps_pool_memory, 0, 2);
	tcase_add_loop_test(tc, reset_ends_handles, 0, 2);
	tcase_add_loop_test(tc, primary_context_comes_back, 0, 2);
	tcase_add_test(tc, context_ids_come_back);
	tcase_add_loop_test(tc, primary_covers_green, 0, 2);
	tcase_add_loop_test(tc, green_events, 0, 2);
	tcase_add_loop_test(tc, green_destroyed, 0, 2);
}

int main(void)
{
	return run_cases("devices", add);
}
