/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stack.h"

#include <string.h>

static bool hidden(const struct sw_frame *frame, const char *kernel)
{
	switch (frame->role) {
	case SW_FRAME_RUNTIME:
	case SW_FRAME_DRIVER:
	case SW_FRAME_RECORDER:
	case SW_FRAME_STUB:
	case SW_FRAME_START:
		return true;
	case SW_FRAME_USER:
		/* The host function that carries the kernel's name is nvcc's: it only launches. */
		return kernel && frame->symbol && strcmp(frame->symbol, kernel) == 0;
	case SW_FRAME_INTERPRETER:
	case SW_FRAME_DISPATCH:
		return false;
	}
	return false;
}

struct sw_stack_view sw_stack_view(struct sw_names *names, uint32_t stack, uint32_t function)
{
	const struct sw_frames *frames = sw_symbols_stack(names->symbols, stack);
	const struct sw_trace_function *info = function ? sw_reader_function(names->reader, function) : NULL;
	struct sw_stack_view view = {.skipped = frames->skipped};
	if (frames->n == 0)
		return view;
	struct sw_stack_line *lines = sw_arena_alloc(&names->arena, frames->n * sizeof *lines);
	for (size_t i = 0; i < frames->n; i++) {
		const struct sw_frame *frame = &frames->at[i];
		if (hidden(frame, info ? info->name : NULL))
			continue;
		if (view.n && frame->role != SW_FRAME_USER && lines[view.n - 1].frame->role == frame->role)
			lines[view.n - 1].folded++;
		else
			lines[view.n++].frame = frame;
	}
	if (view.n == 0)
		while (view.n < frames->n) {
			lines[view.n].frame = &frames->at[view.n];
			view.n++;
		}
	view.at = lines;
	return view;
}

const struct sw_frame *sw_stack_site(struct sw_names *names, uint32_t stack, uint32_t function)
{
	struct sw_stack_view view = sw_stack_view(names, stack, function);
	const struct sw_frame *second = NULL;
	for (size_t i = 0; i < view.n; i++) {
		const struct sw_frame *frame = view.at[i].frame;
		if (!frame->base)
			continue;
		if (frame->role == SW_FRAME_USER)
			return frame;
		if (!second)
			second = frame;
	}
	return second;
}
