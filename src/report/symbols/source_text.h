/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program's sources say at a line, where they are here and as old as the run: the arguments of a call as its
 * author wrote them, and lines for an excerpt.
 *
 * The paths come from debug information: only regular files of bounded size are read, and nothing of a file that was
 * changed after the run.  Strings live as long as the names.
 */
#ifndef SW_REPORT_SYMBOLS_SOURCE_TEXT_H
#define SW_REPORT_SYMBOLS_SOURCE_TEXT_H

#include "report/symbols/names.h"

#define SW_CALL_ARGUMENTS 32u

/* A call as the source has it: cudaMemcpyAsync(a, b, n, kind, s), or kernel<<<grid, block, 0, s>>>(a, b). */
struct sw_call_text {
	uint32_t arguments, launch_arguments; /* launch: what stands between <<< and >>> */
	const char *argument[SW_CALL_ARGUMENTS];
	const char *launch[4];
};

/* The call of `function` (without a scope; of a kernel: its launch) that stands at the frame's line.  False: it is not
   there, or there are several. */
bool sw_source_call(struct sw_names *names, const struct sw_frame *frame, const char *function,
		    struct sw_call_text *out);

/* Finds the only launch that stands at the frame's line, whatever its kernel's name is there; false: there is none, or
   several. */
bool sw_source_launch(struct sw_names *names, const struct sw_frame *frame, struct sw_call_text *out);

#define SW_SOURCE_VARIABLES 8u
/* The variables that the line fills by calls of `function`, in their order: of "f(&a); f(&b);" and of "a = f(), b =
   f();" these are a and b.  Returns how many; 0 also where one call fills none, an element of an array, or there are
   too many. */
size_t sw_source_filled(struct sw_names *names, const struct sw_frame *frame, const char *function,
			const char *variable[SW_SOURCE_VARIABLES]);

/* The words before the function's name in its call at the line: "cudart." of Python; "" nothing, or it is not there. */
const char *sw_source_prefix(struct sw_names *names, const struct sw_frame *frame, const char *function);

/* One line without its end, counted from 1; NULL: not known. */
const char *sw_source_line(struct sw_names *names, const char *file, int line);

/*
 * The line of the `for`, `while`, `if` or `else` whose body, without braces, begins at `line`; 0: there is none, or it
 * is not known.  *movable: it is a loop whose head has no word of `code`, which means the same before the loop.
 */
int sw_source_bare_head(struct sw_names *names, const char *file, int line, const char *code, bool *movable);

/* Does the file use this identifier, anywhere?  False also where it is not known. */
bool sw_source_has_word(struct sw_names *names, const char *file, const char *word);

void sw_source_free(struct sw_source_files *sources);

#endif
