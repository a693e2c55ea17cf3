/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exploration: short holds before calls that a seed chooses, and hashes of what leaves the device.  A program without
 * races gives the same bytes whatever is held.
 *
 * Which calls are held depends on the seed, on the thread and on how many such calls it had made: not on time.
 */
#include "preload/confirm/confirm.h"

#include <limits.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/hash.h"
#include "preload/platform/sys.h"
#include "preload/recorder/writer.h"

#define TAKEN	    UINT32_MAX
#define SLOTS	    48u	   /* holds at a time; calls that find none are not held, and counted */
#define OUTPUTS	    16384u /* copies to the host that are hashed */
#define MOST_BYTES  (64u << 20)
#define LOOK_NS	    50000
#define STACK_BYTES (64u << 10)

struct slot {
	_Alignas(64) _Atomic uint32_t word; /* the stream waits until it is the turn */
	_Atomic uint32_t turn;		    /* 0: free */
	_Atomic uint64_t deadline;
};

struct output {
	const void *at;
	uint64_t bytes, seq, hash;
	_Atomic uint32_t state; /* 1: to come, 2: hashed */
};

static struct slot *slots;
static CUdeviceptr slots_device;
static struct output *outputs;
static _Atomic uint32_t n_outputs, index_of_hold, missed;
static _Atomic uint64_t spent;
static __thread uint64_t calls __attribute__((tls_model("initial-exec")));
static __thread struct output *leaving __attribute__((tls_model("initial-exec")));
static __thread CUstream leaving_on __attribute__((tls_model("initial-exec")));
static __thread bool leaving_done __attribute__((tls_model("initial-exec")));

static void *watch(void *unused)
{
	static const uint32_t never = 0;
	const struct timespec t = {.tv_nsec = LOOK_NS};
	prctl(PR_SET_NAME, "syncwatch-hold");
	for (;;) {
		const uint64_t now = sw_sys_monotonic();
		for (uint32_t i = 0; i < SLOTS; i++) {
			const uint32_t turn = atomic_load(&slots[i].turn);
			if (turn && turn != TAKEN && now >= atomic_load(&slots[i].deadline)) {
				atomic_store(&slots[i].word, turn);
				atomic_store(&slots[i].turn, 0);
			}
		}
		sw_sys_wait(&never, 0, &t);
	}
	return unused;
}

static bool start(void)
{
	static _Atomic uint32_t state; /* 0: not begun, 1: in progress, 2: ready, 3: not to be had */
	uint32_t expected = 0;
	int error;
	if (!atomic_compare_exchange_strong(&state, &expected, 1))
		return expected == 2;
	__typeof__(&cuMemHostRegister_v2) enlist = SW_CONFIRM_REAL(cuMemHostRegister_v2);
	__typeof__(&cuMemHostGetDevicePointer_v2) ask = SW_CONFIRM_REAL(cuMemHostGetDevicePointer_v2);
	slots = sw_sys_map(-1, 0, SLOTS * sizeof *slots, &error);
	outputs = sw_sys_map(-1, 0, OUTPUTS * sizeof *outputs, &error);
	const unsigned flags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
	const bool good = slots && outputs && enlist && ask &&
			  enlist(slots, SLOTS * sizeof *slots, flags) == CUDA_SUCCESS &&
			  ask(&slots_device, slots, 0) == CUDA_SUCCESS && sw_sys_thread(watch, STACK_BYTES) == 0;
	atomic_store(&state, good ? 2 : 3);
	if (!good)
		sw_result("failed memory 0");
	return good;
}

/* A slot's number goes up by one, so that a stream that looks late still finds its number reached. */
static struct slot *take_slot(void)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint32_t free = 0;
		if (atomic_compare_exchange_strong(&slots[i].turn, &free, TAKEN))
			return &slots[i];
	}
	return NULL;
}

static void hold(CUstream stream, uint64_t seq, uint32_t index, uint64_t ns)
{
	__typeof__(&cuStreamWaitValue32_v2) wait = SW_CONFIRM_REAL(cuStreamWaitValue32_v2);
	struct slot *slot = wait ? take_slot() : NULL;
	if (!slot) {
		atomic_fetch_add(&missed, 1);
		return;
	}
	const uint32_t turn = atomic_load(&slot->word) + 1;
	const CUdeviceptr at = slots_device + (CUdeviceptr)((char *)&slot->word - (char *)slots);
	/* The clock runs before the stream is held. */
	atomic_store(&slot->deadline, sw_sys_monotonic() + ns);
	atomic_store(&slot->turn, turn);
	if (wait(stream, at, turn, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS)
		sw_result("held %llu %u %llu", (unsigned long long)seq, index, (unsigned long long)ns);
	else
		sw_result("failed hold 0");
}

/* Copies and kernels, but not what waits for the host itself. */
static bool may_hold(const struct sw_rec *rec)
{
	switch (rec->kind) {
	case SW_REC_LAUNCH:
	case SW_REC_COPY:
	case SW_REC_COPY_ND:
	case SW_REC_SET:
	case SW_REC_GRAPH_LAUNCH:
		return rec->flags & SW_RF_PENDING && !(rec->flags & SW_RF_BEGIN);
	default:
		return false;
	}
}

static bool is_host(uint64_t address, bool *pageable)
{
	__typeof__(&cuPointerGetAttribute) ask = SW_CONFIRM_REAL(cuPointerGetAttribute);
	CUmemorytype type = 0;
	*pageable = !ask || ask(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)address) != CUDA_SUCCESS;
	return *pageable || type == CU_MEMORYTYPE_HOST;
}

static void leaves_device(const struct sw_rec *rec, CUstream stream)
{
	const struct sw_rec_copy *c = (const struct sw_rec_copy *)(const void *)rec;
	bool pageable, from;
	if (rec->kind != SW_REC_COPY || c->dst_side == SW_SIDE_DEVICE || c->dst_side == SW_SIDE_ARRAY ||
	    !is_host(c->dst, &pageable) || is_host(c->src, &from))
		return;
	const uint32_t at = atomic_fetch_add(&n_outputs, 1);
	if (at >= OUTPUTS)
		return;
	leaving = &outputs[at];
	leaving->at = (const void *)(uintptr_t)c->dst;
	leaving->bytes = c->bytes < MOST_BYTES ? c->bytes : MOST_BYTES;
	leaving->seq = sw_rec_seq(rec);
	leaving_on = stream;
	leaving_done = pageable || rec->flags & SW_RF_BEGIN;
}

void sw_explore_before(const struct sw_rec *rec, CUstream stream)
{
	const struct sw_hold_plan *plan = &sw_confirm_plan;
	if (!may_hold(rec) && rec->kind != SW_REC_COPY)
		return;
	if (!start())
		return;
	leaves_device(rec, stream);
	if (!may_hold(rec))
		return;
	const uint64_t thread = sw_confirm_recorder->thread()->number;
	const uint64_t dice = sw_hash_u64(plan->seed ^ sw_hash_u64(thread << 40 ^ ++calls));
	if (dice % 1000 >= plan->rate)
		return;
	const uint32_t index = atomic_fetch_add(&index_of_hold, 1) + 1;
	const uint64_t ns = plan->bound_ns / 4 + sw_hash_u64(dice) % (plan->bound_ns * 3 / 4 + 1);
	if (index <= plan->first || index > plan->last || atomic_fetch_add(&spent, ns) + ns > plan->total_ns)
		return;
	hold(stream, sw_rec_seq(rec), index, ns);
}

static void take_hash(struct output *output)
{
	uint64_t hash = SW_FNV_START;
	const uint64_t words = output->bytes & ~7ull;
	if (words)
		hash = sw_hash_words(output->at, words);
	output->hash = sw_hash_bytes(hash, (const char *)output->at + words, output->bytes - words);
	atomic_store(&output->state, 2);
}

static void CUDA_CB on_stream(void *output)
{
	take_hash(output);
}

void sw_explore_left(int status)
{
	__typeof__(&cuLaunchHostFunc) later = SW_CONFIRM_REAL(cuLaunchHostFunc);
	__typeof__(&cuStreamSynchronize) wait = SW_CONFIRM_REAL(cuStreamSynchronize);
	struct output *output = leaving;
	leaving = NULL;
	if (!output || status)
		return;
	atomic_store(&output->state, 1);
	/* Pageable memory may be freed as soon as the call returns: it is read now. */
	if (leaving_done && wait && wait(leaving_on) == CUDA_SUCCESS)
		take_hash(output);
	else if (!leaving_done && later)
		later(leaving_on, on_stream, output);
}

void sw_explore_end(void)
{
	const uint32_t n = atomic_load(&n_outputs);
	for (uint32_t i = 0; outputs && i < n && i < OUTPUTS; i++)
		if (atomic_load(&outputs[i].state) == 2)
			sw_result("output %u %llu %llu %016llx", i, (unsigned long long)outputs[i].seq,
				  (unsigned long long)outputs[i].bytes, (unsigned long long)outputs[i].hash);
	sw_result("holds %u missed %u outputs %u", atomic_load(&index_of_hold), atomic_load(&missed), n);
}
