/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that NCCL launches for collectives: what they touch of the program's memory is in the arguments of the call.
   Their code follows pointers in device memory, so it does not say what they touch. */
#ifndef SW_DETECT_KERNELS_COLLECTIVES_H
#define SW_DETECT_KERNELS_COLLECTIVES_H

#include <stdbool.h>
#include <stdint.h>

struct sw_model;
struct sw_collectives;
struct sw_record;
struct sw_wait;

struct sw_collectives *sw_collectives_new(void);
void sw_collectives_free(struct sw_collectives *collectives);

/* Follows a COLLECTIVE record, begin or end: launches of its thread until the end are part of the collective. */
void sw_collective_take(struct sw_model *m, const struct sw_record *r);
/* Enters the accesses of the collectives that the current launch is part of; false: it is part of none whose arguments
   are known. */
bool sw_collective_launch(struct sw_model *m, const struct sw_record *r, struct sw_wait *w);

#endif
