/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the program something happens: the frame of a call stack that its reader may want to change. */
#ifndef SW_REPORT_SYMBOLS_PLACES_H
#define SW_REPORT_SYMBOLS_PLACES_H

#include "report/symbols/names.h"

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

/* The same for all calls of one line; 0: nothing is known. */
uint64_t sw_place_hash(struct sw_names *names, const struct sw_access *access);

/*
 * Where a stream or an allocation was made: the first frame that its call stack does not share with those of the others
 * (`stacks`), since a helper that makes all of them says nothing.
 */
const struct sw_frame *sw_place_made(struct sw_names *names, uint32_t stack, const uint32_t *stacks, size_t n);

#endif
