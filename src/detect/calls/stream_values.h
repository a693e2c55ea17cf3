/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that signal each other through memory. */
#ifndef SW_DETECT_CALLS_STREAM_VALUES_H
#define SW_DETECT_CALLS_STREAM_VALUES_H

#include "hb/hb.h"

struct sw_model;
struct sw_access;
struct sw_rec_mem_op;

/* The current call writes a value, as work at `point`, or waits for one. */
void sw_value_written(struct sw_model *m, struct sw_point point, const struct sw_rec_mem_op *o);
void sw_value_waited(struct sw_model *m, const struct sw_hb_at *at, const struct sw_rec_mem_op *o);
/* The call orders work in a way that is not modelled: findings in its context are possible at most from here on. */
void sw_value_not_followed(struct sw_model *m, const struct sw_access *call);

#endif
