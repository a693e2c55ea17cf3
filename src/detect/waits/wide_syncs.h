/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for more than was needed (SW401), waits for nothing (SW402).  Not thread-safe. */
#ifndef SW_DETECT_WAITS_WIDE_SYNCS_H
#define SW_DETECT_WAITS_WIDE_SYNCS_H

#include "hb/hb.h"

struct sw_model;
struct sw_wide_syncs;
struct sw_wait;
struct sw_wait_cost;
struct sw_shadow_use;

/* A call of the host has ended; `documented`: documents promise that it waited. */
void sw_wide_over(struct sw_model *m, struct sw_wait *w, const struct sw_wait_cost *cost, bool documented);
/* The later use comes after the earlier one, with which it conflicts. */
void sw_wide_need(struct sw_model *m, const struct sw_shadow_use *earlier, const struct sw_shadow_use *later);
/* The host knows that the step is done, and may rely on it (tick 0: an unknown step). */
void sw_wide_asked(struct sw_model *m, struct sw_point point, uint64_t seq);
/* Uses made in [from, to] are to be kept; none: from > to. */
void sw_wide_keep(const struct sw_model *m, uint64_t *from, uint64_t *to);
/* Is any wait watched, so that sw_wide_need() must be called? */
bool sw_wide_watches(const struct sw_model *m);
/* An unknown operation: the waits around it are not reported. */
void sw_wide_poison(struct sw_model *m);
/* Records were lost. */
void sw_wide_forget(struct sw_model *m);
/* After the last record: reports the waits that nothing needed, or that waited for more than was needed. */
void sw_wide_finish(struct sw_model *m);
struct sw_wide_syncs *sw_wide_new(void);
void sw_wide_free(struct sw_wide_syncs *wide);

#endif
