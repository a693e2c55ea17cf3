/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cost.h"

#include "preload/process.h"
#include "preload/sys.h"
#include "preload/writer.h"

#define ROUNDS 200u

/* Whole calls into a scratch writer: the same code as the program will run, without a trace behind it. */
static uint64_t record_rounds(void)
{
	uint64_t best = UINT64_MAX;
	for (unsigned try = 0; try < 5; try++) {
		uint64_t from = sw_clock_ticks();
		for (unsigned i = 0; i < ROUNDS / 5; i++) {
			struct sw_call call;
			struct sw_rec_stream_wait *r;
			sw_cost_begin(&call, __builtin_frame_address(0));
			r = sw_call_record(&call, SW_REC_STREAM_WAIT, sizeof *r);
			if (r)
				r->stream = i;
			sw_call_publish(&call);
			sw_call_leave(&call, 0);
		}
		uint64_t took = sw_clock_ticks() - from;
		best = took < best ? took : best;
	}
	return best;
}

void sw_cost_measure(void)
{
	int error;
	struct sw_writer *scratch = sw_sys_map(-1, 0, sizeof *scratch, &error);
	uint8_t *buffer = sw_sys_map(-1, 0, SW_CHUNK_BYTES, &error);
	if (scratch && buffer) {
		struct sw_thread before = sw_thread;
		scratch->base = buffer;
		scratch->at = sizeof(struct sw_chunk_header);
		scratch->end = SW_CHUNK_BYTES;
		sw_thread.writer = scratch;
		sw_thread.busy = 0;
		uint64_t ticks = record_rounds();
		atomic_store(&sw_sequence.last, 0); /* nobody else counts yet */
		sw_thread = before;
		sw_trace.header->cost_no_stack_ps =
			(uint64_t)((unsigned __int128)ticks * 1000000000000u / sw_trace.header->ticks_per_second / (ROUNDS / 5));
	}
	if (scratch)
		sw_sys_unmap(scratch, sizeof *scratch);
	if (buffer)
		sw_sys_unmap(buffer, SW_CHUNK_BYTES);
}
