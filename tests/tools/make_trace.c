/* SPDX-License-Identifier: Apache-2.0 */
/* make_trace race|fixed|crashed|unknown|unknown-fixed|silent|shared|kernels|failed FILE: writes a trace for the tests
   of the command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/trace_builder.h"

#define BUFFER 0x7f0000000000u
#define EVENT  0xe0u
enum { STREAM_A = 0xa0, STREAM_B = 0xb0, NON_BLOCKING = 1 };

static void two_streams(struct tb *tb)
{
	tb_alloc(tb, SW_MEM_DEVICE, BUFFER, 4096);
	tb_stream_create(tb, STREAM_A, NON_BLOCKING);
	tb_stream_create(tb, STREAM_B, NON_BLOCKING);
	tb_event_create(tb, EVENT);
}

/* A set on one stream, a copy from the same bytes on another, with or without the event that orders them. */
static void race(struct tb *tb, bool fixed)
{
	two_streams(tb);
	tb_call(tb, "cuMemsetD8Async", "cudaMemsetAsync");
	tb_set(tb, BUFFER, 2048, STREAM_A);
	if (fixed) {
		tb_event_record(tb, EVENT, STREAM_A);
		tb_stream_wait(tb, STREAM_B, EVENT);
	}
	tb_call(tb, "cuMemcpyDtoDAsync_v2", "cudaMemcpyAsync");
	tb_copy(tb, BUFFER + 2048, SW_SIDE_DEVICE, BUFFER, SW_SIDE_DEVICE, 2048, STREAM_B);
	tb_sync(tb, SW_SYNC_CONTEXT, 0);
}

/* One kernel whose code is in the trace, launched twice, and one whose code is unknown. */
static void kernels(struct tb *tb)
{
	static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
				  ".visible .entry _Z4fillPf(.param .u64 p) {\n"
				  ".reg .b64 %rd<2>;\n"
				  "ld.param.u64 %rd1, [p];\n"
				  "st.global.u32 [%rd1+8], 0;\n"
				  "ret;\n}\n";
	two_streams(tb);
	tb->image = tb_image(tb, SW_IMAGE_PTX, "", ptx, strlen(ptx));
	uint32_t fill = tb_function(tb, "_Z4fillPf", 1, 8);
	tb->image = 0;
	uint32_t scale = tb_function(tb, "_Z5scalePf", 1, 8);
	tb_call(tb, "cuLaunchKernel", "cudaLaunchKernel");
	tb_launch(tb, fill, STREAM_A, 1, (uint64_t)BUFFER);
	tb_launch(tb, fill, STREAM_A, 1, (uint64_t)BUFFER);
	tb_launch(tb, scale, STREAM_A, 1, (uint64_t)BUFFER);
}

/* A wait that ends with an error after which the context cannot be used, and a call after it. */
static void failed(struct tb *tb)
{
	two_streams(tb);
	uint64_t begin = tb_sync_begin(tb, SW_SYNC_STREAM, STREAM_A);
	tb_end(tb, SW_REC_SYNC, begin)->h.status = 700;
	tb_call(tb, "cuMemsetD8Async", "cudaMemsetAsync");
	tb_set(tb, BUFFER, 2048, STREAM_A);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	struct tb *tb = tb_new(argv[2], NULL);
	if (strcmp(argv[1], "kernels") == 0 || strcmp(argv[1], "failed") == 0) {
		(argv[1][0] == 'k' ? kernels : failed)(tb);
		tb_close(tb, true);
		return 0;
	}
	bool crashed = strcmp(argv[1], "crashed") == 0;
	if (strncmp(argv[1], "unknown", 7) == 0)
		tb_other(tb, SW_REC_UNCLASSIFIED, "cuNobodyKnows");
	if (strcmp(argv[1], "shared") == 0) {
		tb_alloc(tb, SW_MEM_DEVICE, 2 * BUFFER, 4096);
		struct sw_rec_other *other = tb_other(tb, SW_REC_OTHER, "cuIpcGetMemHandle");
		other->args[0] = 2 * BUFFER;
		other->args[1] = 0x1234;
	}
	if (strcmp(argv[1], "silent") != 0)
		race(tb, strcmp(argv[1], "race") != 0 && strcmp(argv[1], "unknown") != 0);
	if (crashed)
		tb_sync_begin(tb, SW_SYNC_STREAM, STREAM_A);
	tb_close(tb, !crashed);
	return 0;
}
