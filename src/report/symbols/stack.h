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
/* Is the frame in the program's executable? */
bool sw_stack_is_own(const struct sw_names *names, const struct sw_frame *frame);
/* The innermost visible frame whose module is known, named or not; NULL: none. */
const struct sw_frame *sw_stack_module(struct sw_names *names, uint32_t stack, uint32_t function);

/* Where in the program something happens: the frame of a call stack that its reader may want to change. */

/*
 * The innermost frame of the program's own code: with file and line if there is one, headers of CUDA and of the
 * standard library left out.  `other`: the other side of a hazard; a helper that both go through says nothing, the
 * first frame that differs does.  NULL: no frame has a name.
 */
const struct sw_frame *sw_place_of(struct sw_names *names, const struct sw_access *access,
				   const struct sw_access *other);

/* The line of the forward pass that a call in PyTorch's backward pass belongs to; NULL: it is not known, or the call
   comes from Python code of its own.  sw_place_of() is that line then. */
const struct sw_frame *sw_place_forward(struct sw_names *names, const struct sw_access *access);

/* The function of torch.distributed that the program called for it, "all_reduce"; NULL: none.  What such a function
   starts runs on a stream that the program cannot name. */
const struct sw_frame *sw_place_collective(struct sw_names *names, const struct sw_access *access);

/* The call that put the work on its stream: of a node the launch of its graph, where that is known (`node` is 0 then).
 */
struct sw_access sw_place_launch(const struct sw_access *access);
/* The line of a call that is no side of its finding: "demo.cu:28", else "call 117". */
const char *sw_place_named(struct sw_names *names, const struct sw_named_call *call);

/* "demo.cu:28", "scale (libfoo.so)", "" for NULL. */
const char *sw_place_brief(struct sw_names *names, const struct sw_frame *frame);
/* "/src/demo.cu:28", "(libfoo.so+0x1234)". */
const char *sw_place_full(struct sw_names *names, const struct sw_frame *frame);

/* A hash that all calls of one line share; 0: nothing is known. */
uint64_t sw_place_hash(struct sw_names *names, const struct sw_access *access);

/*
 * Where a stream or an allocation was made: the first frame that its call stack does not share with those of the others
 * (`stacks`), since a helper that makes all of them says nothing.
 */
const struct sw_frame *sw_place_made(struct sw_names *names, uint32_t stack, const uint32_t *stacks, size_t n);

/* Identity of a finding over runs, machines and builds. */

/* From the id, the operations and the visible frames by name, file and line: no address, handle or number of a run. */
uint64_t sw_fingerprint(struct sw_names *names, const struct sw_finding *finding);

/*
 * Of findings that look alike (calls in one function without lines, frames without names): by their places in the code,
 * negative when `a` comes first.  Builds keep that order, so numbers in it outlive a rebuild; addresses would not.
 */
int sw_fingerprint_order(struct sw_names *names, const struct sw_finding *a, const struct sw_finding *b);
/* That of the number-th of them, from 0: the first keeps its own. */
uint64_t sw_fingerprint_of_twin(uint64_t fingerprint, uint64_t number);

#endif
