/* SPDX-License-Identifier: Apache-2.0 */
/* Python frames among native ones. */
#ifndef SW_REPORT_SYMBOLS_PYTHON_FRAMES_H
#define SW_REPORT_SYMBOLS_PYTHON_FRAMES_H

#include "base/memory.h"
#include "report/symbols/symbols.h"

typedef SW_VEC(struct sw_frame) sw_frame_vec;

/*
 * Puts the Python frames of a stack in the place of the interpreter's evaluation loops that ran them.  Where those are
 * not found the frames follow the native ones.  False: the stack has no Python frames.
 */
bool sw_python_frames_join(const struct sw_reader *reader, const struct sw_trace_stack *stack, sw_frame_vec *frames);

#endif
