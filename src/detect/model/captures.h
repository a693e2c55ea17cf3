/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that became nodes of a graph: a description of the graph refers to them by their records. */
#ifndef SW_DETECT_MODEL_CAPTURES_H
#define SW_DETECT_MODEL_CAPTURES_H

#include "detect/detect.h"

struct sw_model;
struct sw_captures;
struct sw_lane_state;

void sw_origin_remember(struct sw_model *m, const struct sw_access *what);
/* The last one on a stream (index); NULL: none, also for stream 0. */
const struct sw_access *sw_origin_last(const struct sw_model *m, uint32_t stream);
/* The call with this record; NULL not known. */
const struct sw_access *sw_origin_find(const struct sw_model *m, uint64_t seq);

/* Lanes that are part of a capture. */
void sw_capture_join(struct sw_model *m, struct sw_lane_state *lane, uint64_t capture);
void sw_capture_leave(struct sw_model *m, struct sw_lane_state *lane);
bool sw_capture_lives(const struct sw_model *m, uint64_t capture);
/* All lanes leave the capture; 0: none. */
void sw_capture_end(struct sw_model *m, uint64_t capture);
/* The one stream besides this lane's that is part of its capture; 0: none, or several. */
uint32_t sw_capture_other_stream(const struct sw_model *m, const struct sw_lane_state *lane);
/* Records were lost: no call is known any more. */
void sw_captures_forget(struct sw_model *m);
struct sw_captures *sw_captures_new(void);
void sw_captures_free(struct sw_captures *captures);

#endif
