/* SPDX-License-Identifier: Apache-2.0 */
#include "report/symbols/stack.h"

#include <string.h>

/* `python`: the stack has Python frames, and the interpreter's functions say less. */
static bool hidden(const struct sw_frame *frame, const char *kernel, bool python)
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
		return python;
	case SW_FRAME_DISPATCH:
	case SW_FRAME_PYTHON:
	case SW_FRAME_PYTHON_LIBRARY:
	case SW_FRAME_PYTHON_GENERATED:
	case SW_FRAME_AUTOGRAD:
		return false;
	}
	return false;
}

#define OWN_NAMELESS 8u /* lines of the program's own frames without names */

static bool nameless_libc(const struct sw_frame *frame)
{
	return !frame->function && strncmp(frame->module, "libc.so", 7) == 0;
}

/*
 * How many frames remain without those that every program starts with, where a stripped C library does not name them:
 * two in libc and the program's own _start around them, or libc's alone around a thread.
 */
static size_t without_start(const struct sw_symbol_frames *frames)
{
	size_t n = frames->n;
	if (frames->skipped)
		return n;
	if (n >= 2 && !frames->at[n - 1].function && nameless_libc(&frames->at[n - 2]))
		n--;
	while (n && nameless_libc(&frames->at[n - 1]))
		n--;
	return n;
}

bool sw_stack_is_own(const struct sw_names *names, const struct sw_frame *frame)
{
	const struct sw_trace_process *process = sw_reader_process(names->reader);
	const char *slash = process && process->exe ? strrchr(process->exe, '/') : NULL;
	return slash && frame->role == SW_FRAME_USER && strcmp(slash + 1, frame->module) == 0;
}

/* Does the frame go into the line of the one before it? */
static bool folds(const struct sw_frame *line, const struct sw_frame *frame)
{
	if (line->role != frame->role || frame->role == SW_FRAME_PYTHON || frame->role == SW_FRAME_PYTHON_GENERATED)
		return false;
	if (frame->role == SW_FRAME_PYTHON_LIBRARY && !line->base)
		return false; /* its code was lost */
	if (frame->role != SW_FRAME_USER)
		return true;
	return !line->function && !frame->function && strcmp(line->module, frame->module) == 0 && frame->module[0];
}

struct sw_stack_view sw_stack_view(struct sw_names *names, uint32_t stack, uint32_t function)
{
	const struct sw_symbol_frames *frames = sw_symbols_stack(names->symbols, stack);
	const struct sw_trace_function *info = function ? sw_reader_function(names->reader, function) : NULL;
	struct sw_stack_view view = {.skipped = frames->skipped};
	if (frames->n == 0)
		return view;
	struct sw_stack_line *lines = sw_arena_alloc(&names->arena, frames->n * sizeof *lines);
	uint32_t own = 0;
	for (size_t i = 0, n = without_start(frames); i < n; i++) {
		const struct sw_frame *frame = &frames->at[i];
		struct sw_stack_line *last = view.n ? &lines[view.n - 1] : NULL;
		if (hidden(frame, info ? info->name : NULL, frames->python))
			continue;
		/* The program's own frames are what its author looks for: addr2line names them. */
		own += !frame->function && sw_stack_is_own(names, frame);
		if (last && folds(last->frame, frame) && (own > OWN_NAMELESS || !sw_stack_is_own(names, frame))) {
			last->folded++;
			last->mixed |= !frame->module[0] || strcmp(last->frame->module, frame->module) != 0;
		} else {
			lines[view.n++] = (struct sw_stack_line){.frame = frame};
		}
	}
	if (view.n == 0)
		for (; view.n < frames->n; view.n++)
			lines[view.n] = (struct sw_stack_line){.frame = &frames->at[view.n]};
	view.at = lines;
	return view;
}

const struct sw_frame *sw_stack_site(struct sw_names *names, uint32_t stack, uint32_t function)
{
	static const enum sw_frame_role order[] = {SW_FRAME_PYTHON, SW_FRAME_PYTHON_GENERATED, SW_FRAME_PYTHON_LIBRARY,
						   SW_FRAME_AUTOGRAD, SW_FRAME_USER};
	struct sw_stack_view view = sw_stack_view(names, stack, function);
	for (size_t k = 0; k < sizeof order / sizeof *order; k++)
		for (size_t i = 0; i < view.n; i++)
			if (view.at[i].frame->base && view.at[i].frame->role == order[k])
				return view.at[i].frame;
	for (size_t i = 0; i < view.n; i++)
		if (view.at[i].frame->base)
			return view.at[i].frame;
	return NULL;
}

const struct sw_frame *sw_stack_module(struct sw_names *names, uint32_t stack, uint32_t function)
{
	struct sw_stack_view view = sw_stack_view(names, stack, function);
	for (size_t i = 0; i < view.n; i++)
		if (view.at[i].frame->module[0])
			return view.at[i].frame;
	return NULL;
}
