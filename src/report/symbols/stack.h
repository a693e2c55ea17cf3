/* SPDX-License-Identifier: Apache-2.0 */
/* Which frames of a call stack a report shows. */
#ifndef SW_REPORT_SYMBOLS_STACK_H
#define SW_REPORT_SYMBOLS_STACK_H

#include "report/symbols/names.h"

struct sw_stack_line {
	const struct sw_frame *frame;
	uint32_t folded; /* frames of the same kind that follow and are not shown */
	bool mixed;	 /* some of them belong to other modules */
};

struct sw_stack_view {
	const struct sw_stack_line *at;
	size_t n;
	uint32_t skipped; /* frames that the recorder cut off after the last; UINT32_MAX: unknown many */
};

/*
 * Frames of CUDA's libraries, of syncwatch, of nvcc's launch stubs and of the C library's start are left out; runs of
 * interpreter or dispatcher frames (frames.def), of Python frames that are not the user's own (python_frames.def), and
 * of frames without a name in one library, show their innermost one.  The interpreter's are left out where there are
 * Python's.  When nothing would remain, all are shown.  `function`: kernel of the access, whose host-side stub is left
 * out too; 0: none.  Lives as long as the names.
 */
struct sw_stack_view sw_stack_view(struct sw_names *names, uint32_t stack, uint32_t function);

/*
 * The frame to look at first.  Where Python ran: the innermost of the user's own Python code, else the innermost of
 * Python; "autograd thread" where PyTorch's engine works on its own.  Else the innermost of the user's own, else of an
 * interpreter; NULL when none has a name.
 */
const struct sw_frame *sw_stack_site(struct sw_names *names, uint32_t stack, uint32_t function);
/* Of the program's executable. */
bool sw_stack_is_own(const struct sw_names *names, const struct sw_frame *frame);
/* The innermost visible frame whose module is known, named or not; NULL: none. */
const struct sw_frame *sw_stack_module(struct sw_names *names, uint32_t stack, uint32_t function);

#endif
