/* SPDX-License-Identifier: Apache-2.0 */
/* Records launches by chance for test_launches: launch_program SEED COUNT */
#include <stdlib.h>
#include <string.h>

#include "launch_sequence.h"
#include "preload/calls/launch_tail.h"
#include "preload/recorder/options.h"
#include "preload/recorder/recorder.h"

__attribute__((noinline)) static void record(const struct made_launch *e)
{
	struct sw_call call;
	struct sw_launch_tail tail = {.launch = e->launch};
	if (!sw_call_enter(&call, 7, 0, __builtin_frame_address(0)))
		return;
	sw_launch_tail(&tail, e->block, e->bytes, false);
	sw_launch_tail_write(sw_call_record(&call, SW_REC_LAUNCH, sizeof(struct sw_rec) + tail.bytes + tail.block),
			     &tail, e->block);
	sw_call_publish(&call);
	sw_call_leave(&call, 0);
}

int main(int argc, char **argv)
{
	static struct launch_sequence sequence;
	if (argc != 3)
		return 2;
	sequence.state = strtoull(argv[1], NULL, 0);
	sw_options_start();
	for (unsigned long n = strtoul(argv[2], NULL, 0); n; n--)
		record(next_launch(&sequence));
	return 0;
}
