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

/* At the end of each call of the host, after its cost is known: takes note of what its wait covered, so that later uses
   tell what the wait was needed for.  Three cases: a wait for a stream or the context is watched from now on, and gets
   SW401 until finished if it took time; a wait for an event only counts for SW402; any other call that waited
   (`documented`: documents promise it) tells the host that what it covered is done. */
void sw_wide_wait_ended(struct sw_model *m, struct sw_wait *w, const struct sw_wait_cost *cost, bool documented);
/* After a use that is ordered after an earlier one and conflicts with it: if a watched wait covered the earlier one,
   the later one's stream, or the host, needed that wait. */
void sw_wide_need(struct sw_model *m, const struct sw_shadow_use *earlier, const struct sw_shadow_use *later);
/* When the host learnt by a query or a measurement of time that the step is done (tick 0: an unknown step), and may
   rely on it: a watched wait that covered the step was needed by the host. */
void sw_wide_asked(struct sw_model *m, struct sw_point point, uint64_t seq);
/* Says which uses the shadow memory must keep: those made in records [from, to], which watched waits covered; none:
   from > to. */
void sw_wide_keep(const struct sw_model *m, uint64_t *from, uint64_t *to);
/* Is any wait watched, so that sw_wide_need() must be called? */
bool sw_wide_watches(const struct sw_model *m);
/* After an unknown operation: does not report the waits around it. */
void sw_wide_poison(struct sw_model *m);
/* Records were lost, and with them perhaps needs: nothing is reported of the sites that are watched. */
void sw_wide_forget(struct sw_model *m);
/* After the last record: reports the waits that nothing needed, or that waited for more than was needed. */
void sw_wide_finish(struct sw_model *m);
struct sw_wide_syncs *sw_wide_new(void);
void sw_wide_free(struct sw_wide_syncs *wide);

#endif
