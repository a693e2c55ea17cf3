/* SPDX-License-Identifier: Apache-2.0 */
/* Records launches by chance for test_launches: launch_program SEED COUNT */
#include <stdlib.h>
#include <string.h>

#include "launch_sequence.h"
#include "preload/calls/launch_tail.h"
#include "preload/recorder/options.h"
#include "preload/recorder/recorder.h"

/* The block as parameters of different sizes, without gaps. */
static struct sw_launch_values values_of(const struct made_launch *e)
{
	static struct sw_param layout[LONGEST];
	static void *at[LONGEST];
	static const uint16_t sizes[] = {8, 4, 4, 8, 1, 2, 1, 4, 24, 3, 13, 16, 400};
	struct sw_launch_values values = {.layout = layout, .bytes = e->bytes, .at = at};
	for (uint32_t offset = 0; offset < e->bytes; values.params++) {
		const uint32_t left = e->bytes - offset, size = sizes[values.params % (sizeof sizes / sizeof *sizes)];
		layout[values.params] = (struct sw_param){(uint16_t)offset, (uint16_t)(size < left ? size : left)};
		at[values.params] = (void *)(uintptr_t)(e->block + offset);
		offset += layout[values.params].bytes;
	}
	return values;
}

__attribute__((noinline)) static void record(const struct made_launch *e)
{
	struct sw_call call;
	struct sw_launch_tail tail = {.launch = e->launch};
	const struct sw_launch_values values = values_of(e);
	if (!sw_call_enter(&call, 7, 0, __builtin_frame_address(0)))
		return;
	if (sw_launch_again(&call, &tail, &values)) {
		sw_call_leave(&call, 0);
		return;
	}
	sw_launch_tail(&tail, e->block, e->bytes, false);
	sw_launch_tail_write(sw_call_record(&call, SW_REC_LAUNCH, sizeof(struct sw_rec) + tail.bytes + tail.block),
			     &tail, e->block, e->bytes);
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
