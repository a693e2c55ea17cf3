/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own words for its streams, events and buffers, from its sources.  Strings live as long as the names. */
#ifndef SW_REPORT_WORDS_EXPRESSIONS_H
#define SW_REPORT_WORDS_EXPRESSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/symbols/names.h"
#include "report/symbols/source_text.h"

/*
 * The stream of a call as its author wrote it there, else as sw_stream_text() has it: also where the same words name
 * another stream at `other` (NULL: none).
 */
const char *sw_stream_expression(struct sw_names *names, const struct sw_access *access, const struct sw_access *other);

/* The stream as its author wrote it at one place, "" not known. */
const char *sw_stream_at(struct sw_names *names, const struct sw_access *access, const struct sw_frame *place);
/* `expression` if it is one, else the stream's variable where the place is in its function, else a name made up:
   "upload", "stream1". */
const char *sw_stream_or_text(struct sw_names *names, const struct sw_access *access, const char *expression,
			      const struct sw_frame *place);

/*
 * A stream for sentences: "stream 2 'copies' (created at main.cu:12)", by the variable that its creation fills, or
 * that a call on it has (`use`, may be NULL); what is not known is left out.
 */
const char *sw_stream_made_as(struct sw_names *names, uint32_t stream, const struct sw_named_call *use);

/* The memory as its author wrote it at the access: "frames + i"; "" not known. */
const char *sw_pointer_expression(struct sw_names *names, const struct sw_access *access, const struct sw_frame *place);

/* The event of a record, a wait, a query or a synchronisation; "" not known. */
const char *sw_event_at(struct sw_names *names, const struct sw_access *call, const struct sw_frame *place);

/* The call as the source has it there, in one piece: "cudaFree(p)"; "" not known. */
const char *sw_call_at(struct sw_names *names, const struct sw_access *call, const struct sw_frame *place);

/* Is it an expression such as streams[i], which is another one each time, and unknown elsewhere? */
bool sw_is_indexed(const char *expression);

/* A call that is no side of a finding, as an access without memory. */
struct sw_access sw_access_of_call(const struct sw_named_call *call, uint32_t stream);

#endif
