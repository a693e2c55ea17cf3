/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of a finding over runs, machines and builds. */
#ifndef SW_REPORT_SYMBOLS_FINGERPRINT_H
#define SW_REPORT_SYMBOLS_FINGERPRINT_H

#include "report/symbols/names.h"

/* From the id, the operations and the visible frames by name, file and line: no address, handle or number of a run. */
uint64_t sw_fingerprint(struct sw_names *names, const struct sw_finding *finding);

/*
 * Of findings that look alike (calls in one function without lines, frames without names): by their places in the code,
 * negative when `a` comes first.  Builds keep that order, so numbers in it outlive a rebuild; addresses would not.
 */
int sw_fingerprint_order(struct sw_names *names, const struct sw_finding *a, const struct sw_finding *b);
/* That of the number-th of them, from 0: the first keeps its own. */
uint64_t sw_fingerprint_of_twin(uint64_t fingerprint, uint64_t number);

#endif
