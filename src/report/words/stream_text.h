/* SPDX-License-Identifier: Apache-2.0 */
/* A stream as the program's author writes it in a call. */
#ifndef SW_REPORT_WORDS_STREAM_TEXT_H
#define SW_REPORT_WORDS_STREAM_TEXT_H

#include "report/symbols/names.h"

/*
 * "0", "cudaStreamPerThread", "stream2"; in PyTorch "torch.cuda.default_stream()", in CuPy "cupy.cuda.Stream.null", or
 * the variable that the program's source gives the stream, where it can be used at `place` (NULL: nowhere).
 */
const char *sw_stream_text(struct sw_names *names, const struct sw_access *access, const struct sw_frame *place);

/* Does the program use PyTorch? */
bool sw_names_torch(const struct sw_names *names);

/* Was the call made by CuPy?  Its streams are no streams of PyTorch. */
bool sw_call_of_cupy(const struct sw_names *names, const struct sw_access *access);

#endif
