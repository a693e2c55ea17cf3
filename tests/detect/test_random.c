/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs: whatever a trace says, judging it ends, twice the same way; one stream alone never races; a program
 * in which everything waits for everything has no hazard; taking those waits away gives some.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "detect/judge.h"

enum shape { ONE_STREAM, WAITS_ALWAYS, ANYTHING };

static uint64_t state;

static uint64_t below(uint64_t n)
{
	return sw_hash_u64(++state) % n;
}

static uint64_t stream_of(enum shape shape)
{
	static const uint64_t streams[] = {S1, S2, S3, 0, 1, 2, 0xd0};
	return shape == ONE_STREAM ? S1 : streams[below(sizeof streams / sizeof *streams)];
}

static uint64_t device_address(void)
{
	return (below(2) ? DEV : DEV2) + below(64) * 256;
}

static uint64_t host_address(void)
{
	return (below(2) ? PIN : HOST) + below(64) * 256;
}

static void copy(struct tb *tb, uint64_t stream, bool sync)
{
	bool dst_host = below(2), src_host = below(2);
	uint64_t dst = dst_host ? host_address() : device_address(), src = src_host ? host_address() : device_address();
	enum sw_side ds = dst_host ? SW_SIDE_HOST : SW_SIDE_DEVICE, ss = src_host ? SW_SIDE_HOST : SW_SIDE_DEVICE;
	uint64_t bytes = 1 + below(4096);
	if (sync) {
		tb->flags = SW_RF_SYNCHRONOUS;
		tb_copy_sync(tb, dst, ds, src, ss, bytes);
		tb->flags = 0;
	} else if (below(3)) {
		tb_copy(tb, dst, ds, src, ss, bytes, stream);
	} else {
		tb_copy_2d(tb, dst, ds, 64 + below(64), src, ss, 64 + below(64), 1 + below(64), 1 + below(20), stream);
	}
}

/* Calls that are not work: nothing of it may happen in a program with one stream, where the host's own reads of
   pageable memory and releases in flight are conflicts of the host with that stream. */
static void disturb(struct tb *tb)
{
	uint64_t event = below(2) ? E1 : E2, stream = stream_of(ANYTHING);
	switch (below(18)) {
	case 0:
		tb_event_create(tb, event);
		break;
	case 1:
		tb_event_destroy(tb, event);
		break;
	case 2:
		tb_free_sync(tb, SW_MEM_UNKNOWN, DEV2);
		tb_alloc(tb, SW_MEM_DEVICE, DEV2, 1 << 20);
		break;
	case 3:
		tb_free_sync(tb, SW_MEM_PINNED, PIN);
		tb_alloc(tb, SW_MEM_PINNED, PIN, 1 << 20);
		break;
	case 4:
		tb_stream_destroy(tb, 0xd0);
		tb_stream_create(tb, 0xd0, (uint32_t)below(2));
		break;
	case 5:
		tb_capture(tb, SW_CAPTURE_BEGIN, stream, 0);
		break;
	case 6:
		tb_capture(tb, SW_CAPTURE_END, stream, 0x99);
		break;
	case 7:
		tb_graph_launch(tb, 0x98, stream);
		break;
	case 8:
		tb_host_func_run(tb, stream, 0x1234, tb_host_func(tb, stream, 0x1234) ? tb->seq : 0);
		break;
	case 9:
		tb_alloc(tb, SW_MEM_ASYNC, DEV + (8 << 20), 65536)->stream = stream;
		break;
	case 10:
		tb_free(tb, SW_MEM_ASYNC, DEV + (8 << 20))->stream = stream;
		break;
	case 11:
		tb_mem_op(tb, (enum sw_mem_op)(1 + below(6)), device_address(), 64, stream);
		break;
	case 12:
		tb_sync_begin(tb, SW_SYNC_CONTEXT, 0);
		break;
	case 13:
		tb_annotation(tb, (enum sw_annotation)(1 + below(9)), device_address(), below(3) * below(8192), stream)
			->flags = (uint32_t)below(2);
		break;
	case 14: {
		static const char *const calls[] = {"cuMemAddressReserve", "cuMemAddressReserve", "cuMemAddressFree",
						    "cuMemCreate", "cuMemRelease"};
		unsigned call = (unsigned)below(5);
		struct sw_rec_other *o = tb_other(tb, SW_REC_OTHER, calls[call]);
		o->args[0] = call < 3 ? DEV + (8 << 20) : 1 + below(3);
		o->args[1] = 1 << 20;
		break;
	}
	case 15:
		tb_alloc(tb, SW_MEM_MAPPED, DEV + (8 << 20) + below(16) * 65536, (1 + below(4)) * 65536)->owner =
			below(4);
		break;
	case 16:
		tb_free(tb, SW_MEM_MAPPED, DEV + (8 << 20) + below(16) * 65536)->bytes = below(5) * 65536;
		break;
	default:
		tb_thread(tb, 1 + (uint32_t)below(3));
		break;
	}
}

static struct tb *program(uint64_t seed, enum shape shape, unsigned steps)
{
	struct tb *tb = two_streams();
	state = seed << 32;
	tb_stream_create(tb, S3, 0);
	tb_stream_create(tb, 0xd0, 0);
	uint32_t f[] = {tb_function(tb, "_Z3addPfPKf", 2, 8, 8), tb_function(tb, "plain", 2, 8, 8)};
	for (unsigned i = 0; i < steps; i++) {
		uint64_t stream = stream_of(shape), event = below(2) ? E1 : E2;
		tb_stack(tb, 1, 0x1000 + below(16));
		switch (below(9)) {
		case 0:
			tb_launch(tb, f[below(2)], stream, 2, device_address(), device_address());
			break;
		case 1:
			tb_set(tb, device_address(), 1 + below(4096), stream);
			break;
		case 2:
		case 3:
			copy(tb, stream, shape == ANYTHING && below(4) == 0);
			break;
		case 4:
			tb_event_record(tb, event, stream);
			break;
		case 5:
			tb_stream_wait(tb, stream, event);
			break;
		case 6:
			tb_query(tb, SW_SYNC_EVENT, event, below(2) ? 600 : 0);
			break;
		case 7:
			tb_sync(tb, SW_SYNC_STREAM, stream);
			break;
		default:
			if (shape == ANYTHING)
				disturb(tb);
		}
		if (shape == WAITS_ALWAYS)
			tb_sync(tb, SW_SYNC_CONTEXT, 0);
	}
	return tb;
}

static const struct sw_judge_options all = {.keep_possible = true};

START_TEST(one_stream_never_races)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct sw_judgement *j = judged_with(program(seed, ONE_STREAM, 200), &all);
		no_hazards(j);
		sw_judgement_free(j);
	}
}
END_TEST

START_TEST(waiting_always_never_races)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct sw_judgement *j = judged_with(program(seed, WAITS_ALWAYS, 200), &all);
		no_hazards(j);
		sw_judgement_free(j);
	}
}
END_TEST

static uint64_t digest(const struct sw_judgement *j)
{
	uint64_t hash = sw_hash_bytes(SW_FNV_START, &j->coverage, sizeof j->coverage);
	for (size_t i = 0; i < j->findings.n; i++) {
		const struct sw_finding *f = &j->findings.at[i];
		uint64_t words[] = {(uint64_t)f->id,	f->count,	 (uint64_t)f->severity, (uint64_t)f->confidence,
				    (uint64_t)f->basis, f->fingerprint,	 f->access[0]->seq,	f->access[1]->seq,
				    f->cost->total_ns,	f->fix_call.seq, f->last_call.seq};
		hash = sw_hash_bytes(hash, words, sizeof words);
	}
	return hash;
}

START_TEST(anything_ends_and_ends_the_same_way)
{
	unsigned with_hazards = 0;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct sw_judgement *a = judged_with(program(seed, ANYTHING, 400), &all);
		struct sw_judgement *b = judged_with(program(seed, ANYTHING, 400), &all);
		ck_assert_uint_eq(digest(a), digest(b));
		with_hazards += a->errors > 0;
		for (size_t i = 0; i < a->findings.n; i++) {
			const struct sw_finding *f = &a->findings.at[i];
			ck_assert_uint_gt(f->count, 0);
			ck_assert_ptr_nonnull(sw_finding_info(f->id));
			ck_assert(f->severity != SW_ERROR || f->confidence == SW_CERTAIN);
			for (uint32_t k = 0; k < f->accesses; k++) {
				ck_assert_uint_lt(sw_finding_access(f, k)->stream, a->streams.n);
				ck_assert_uint_le(sw_finding_access(f, k)->allocation, a->allocations.n);
			}
		}
		sw_judgement_free(a);
		sw_judgement_free(b);
	}
	ck_assert_uint_gt(with_hazards, 20);
}
END_TEST

/* Bytes overwritten at random: judging ends, and the sanitizers have nothing to say. */
START_TEST(damaged_traces_are_judged_as_far_as_they_go)
{
	unsigned judged_some = 0;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct tb *tb = program(seed, ANYTHING, 300);
		struct sw_judgement *j = judged_damaged(tb, &all, seed, 1 + (unsigned)(seed % 20) * 10);
		judged_some += j && j->coverage.driver_calls;
		sw_judgement_free(j);
	}
	ck_assert_uint_gt(judged_some, 30);
}
END_TEST

static void add(TCase *tc)
{
	tcase_add_test(tc, one_stream_never_races);
	tcase_add_test(tc, waiting_always_never_races);
	tcase_add_test(tc, anything_ends_and_ends_the_same_way);
	tcase_add_test(tc, damaged_traces_are_judged_as_far_as_they_go);
}

int main(void)
{
	return run_cases("random", add);
}
