/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/recorder/record_cost.h"

#include "preload/recorder/call_begin.h"
#include "preload/stacks/modules.h"
#include "preload/recorder/process.h"
#include "preload/stacks/stack.h"
#include "preload/platform/sys.h"
#include "preload/recorder/writer.h"

#define ROUNDS 40u
#define TRIES  5u

/* Whole calls: the same code as the program will run, without a trace. */
static void record_rounds(struct sw_writer *scratch)
{
	(void)scratch;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct sw_call call;
		struct sw_rec_stream_wait *r;
		sw_call_begin(&call, 0, __builtin_frame_address(0));
		r = sw_call_record(&call, SW_REC_STREAM_WAIT, sizeof *r);
		if (r)
			r->stream = i;
		sw_call_publish(&call);
		sw_call_leave(&call, 0);
	}
}

static void walk_rounds(struct sw_writer *scratch)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		sw_stack_capture(scratch, __builtin_frame_address(0));
}

/* Picoseconds a round, the best of some tries; 0 when there is no memory. The thread writes into a scratch buffer. */
static uint64_t measure(void (*rounds)(struct sw_writer *scratch))
{
	int error;
	uint64_t best = UINT64_MAX;
	struct sw_writer *scratch = sw_sys_map(-1, 0, sizeof *scratch, &error);
	uint8_t *buffer = sw_sys_map(-1, 0, SW_CHUNK_BYTES, &error);
	struct sw_thread before = sw_thread;
	for (unsigned try = 0; scratch && buffer && try < TRIES; try++) {
		scratch->base = buffer;
		scratch->at = sizeof(struct sw_chunk_header);
		scratch->end = SW_CHUNK_BYTES;
		scratch->modules = sw_modules_generation();
		sw_thread.writer = scratch;
		sw_thread.busy = 0;
		uint64_t from = sw_clock_ticks();
		rounds(scratch);
		uint64_t took = sw_clock_ticks() - from;
		best = took < best ? took : best;
	}
	sw_thread = before;
	if (scratch)
		sw_stack_free(scratch);
	if (scratch)
		sw_sys_unmap(scratch, sizeof *scratch);
	if (buffer)
		sw_sys_unmap(buffer, SW_CHUNK_BYTES);
	if (best == UINT64_MAX)
		return 0;
	return (uint64_t)((unsigned __int128)best * 1000000000000u / sw_trace.header->ticks_per_second / ROUNDS);
}

void sw_cost_measure(void)
{
	sw_trace.header->cost_no_stack_ps = measure(record_rounds);
	atomic_store(&sw_sequence.last, 0); /* no other thread counts yet */
}

void sw_cost_measure_stack(void)
{
	uint64_t walk = measure(walk_rounds);
	if (walk && sw_trace.header->cost_no_stack_ps)
		sw_trace.header->cost_stack_ps = sw_trace.header->cost_no_stack_ps + walk;
}
