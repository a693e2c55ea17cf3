/* SPDX-License-Identifier: Apache-2.0 */
/* The handler of each kind of record: what it does to order, memory and the host.  Called by dispatch.c. */
#ifndef SW_DETECT_MODEL_HANDLERS_H
#define SW_DETECT_MODEL_HANDLERS_H

#include <stdint.h>

struct sw_model;
struct sw_record;
struct sw_wait;

typedef void sw_handler(struct sw_model *m, const struct sw_record *r, struct sw_wait *w);

#define SW_HANDLERS(X)                                                                                                 \
	X(CONTEXT, context)                                                                                            \
	X(NAME, name)                                                                                                  \
	X(FUNCTION, function)                                                                                          \
	X(LOSS, loss)                                                                                                  \
	X(CUT, cut)                                                                                                    \
	X(LAUNCH, launch)                                                                                              \
	X(COPY, copy)                                                                                                  \
	X(COPY_ND, copy_nd)                                                                                            \
	X(SET, set)                                                                                                    \
	X(ALLOC, alloc)                                                                                                \
	X(FREE, free)                                                                                                  \
	X(STREAM_CREATE, stream_create)                                                                                \
	X(STREAM_DESTROY, stream_destroy)                                                                              \
	X(EVENT_CREATE, event_create)                                                                                  \
	X(EVENT_DESTROY, event_destroy)                                                                                \
	X(EVENT_RECORD, event_record)                                                                                  \
	X(STREAM_WAIT, stream_wait)                                                                                    \
	X(SYNC, sync)                                                                                                  \
	X(QUERY, query)                                                                                                \
	X(HOST_FUNC, host_func)                                                                                        \
	X(HOST_FUNC_RUN, host_func_run)                                                                                \
	X(CONTEXT_OP, context_op)                                                                                      \
	X(CODE_LOAD, code_load)                                                                                        \
	X(CODE_TOUCH, code_load)                                                                                       \
	X(CAPTURE, capture)                                                                                            \
	X(GRAPH, graph)                                                                                                \
	X(GRAPH_NODE, graph_node)                                                                                      \
	X(GRAPH_LAUNCH, graph_launch)                                                                                  \
	X(MEM_OP, mem_op)                                                                                              \
	X(CONFIG, config)                                                                                              \
	X(OTHER, other)                                                                                                \
	X(OBJECT, object)                                                                                              \
	X(HOST_SYNC, host_sync)                                                                                        \
	X(HOST_ACCESS, host_access)                                                                                    \
	X(ANNOTATION, annotation)                                                                                      \
	X(UNCLASSIFIED, unclassified)

#define SW_HANDLER(kind, name) sw_handler sw_on_##name;
SW_HANDLERS(SW_HANDLER)
#undef SW_HANDLER

/* The accesses of the launch, copy or set in hand. */
sw_handler sw_launch_touches, sw_copy_touches, sw_set_touches;

/* Calls that order host threads (strict host). */

/* Ends the host function that began with the record `begin` (HOST_FUNC_RUN), which returned by record `seq`: work that
   is enqueued in its stream from now on comes after it. */
void sw_host_func_returned(struct sw_model *m, const struct sw_record *begin, uint64_t seq);

#endif
