/* SPDX-License-Identifier: Apache-2.0 */
/* Which launches and queries of kernels loaded code (SW308). */
#ifndef SW_DETECT_KERNELS_FIRST_USES_H
#define SW_DETECT_KERNELS_FIRST_USES_H

#include <stdint.h>

struct sw_first_uses;
struct sw_model;
struct sw_wait;

struct sw_first_uses *sw_first_uses_new(void);
void sw_first_uses_free(struct sw_first_uses *uses);

/* The current call uses the code of a function.  At the first use (lazy loading) the call may wait for all work of
   the context: if it took as long as a load, it becomes a wait for which SW_FINDING_MODULE_LOAD may be given.
   own_lane: that of a launch, UINT32_MAX for a query. */
void sw_first_use(struct sw_model *m, struct sw_wait *w, uint64_t handle, uint8_t ctx, uint32_t own_lane);

#endif
