/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that were held up by another thread, or by a full queue (SW310, SW311). */
#ifndef SW_DETECT_WAITS_STALLS_H
#define SW_DETECT_WAITS_STALLS_H

struct sw_model;
struct sw_stalls;
struct sw_wait;

/* A call has ended. */
void sw_stall_done(struct sw_model *m, const struct sw_wait *w);
struct sw_stalls *sw_stalls_new(void);
void sw_stalls_free(struct sw_stalls *stalls);

#endif
