/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses as they are where they are used.
 *
 * Machine code computes an address under a predicate and uses it under the same one: "@P6 IADD3 R46, ...; @P6 ST
 * [R46]". Where P6 is false R46 holds what another life of the register left in it; that is no address of the store.
 */
#ifndef SW_FOOTPRINT_KERNEL_SITES_ASSUME_H
#define SW_FOOTPRINT_KERNEL_SITES_ASSUME_H

#include "footprint/kernel/flow/path_conditions.h"

/* Rewrites the addresses of all uses, given what is true where they are executed.  Adds nodes: before roots are found.
 */
void sw_assume_facts(struct sw_ssa *ssa, struct sw_path_conditions *guards);

#endif
