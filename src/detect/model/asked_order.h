/* SPDX-License-Identifier: Apache-2.0 */
/* Are two given calls ordered by a rule, and do they touch the same bytes? (`syncwatch confirm --calls`) */
#ifndef SW_DETECT_MODEL_ASKED_ORDER_H
#define SW_DETECT_MODEL_ASKED_ORDER_H

#include <stdbool.h>

struct sw_access;
struct sw_asked_uses;
struct sw_model;
struct sw_range;
struct sw_wait;

/* A call's work was enqueued. */
void sw_asked_order_take(struct sw_model *m, const struct sw_wait *w);
/* A call touches this range of addresses, or of an array. */
void sw_asked_order_touch(struct sw_model *m, const struct sw_access *what, const struct sw_range *range, bool array);
/* It touches memory that no range describes. */
void sw_asked_order_unclear(struct sw_model *m, const struct sw_access *what);
void sw_asked_uses_free(struct sw_asked_uses *uses);

#endif
