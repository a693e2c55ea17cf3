/* SPDX-License-Identifier: Apache-2.0 */
/* Are two calls that somebody names ordered by a rule?  (`syncwatch confirm --calls`) */
#ifndef SW_DETECT_ASKED_ORDER_H
#define SW_DETECT_ASKED_ORDER_H

struct sw_model;
struct sw_wait;

/* A call's work has its place. */
void sw_asked_order_take(struct sw_model *m, const struct sw_wait *w);

#endif
