/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of a finding over runs, machines and builds. */
#ifndef SW_REPORT_SYMBOLS_FINGERPRINT_H
#define SW_REPORT_SYMBOLS_FINGERPRINT_H

#include "report/symbols/names.h"

/* From the id, the operations and the visible frames by name, file and line: no address, handle or number of a run. */
uint64_t sw_fingerprint(struct sw_names *names, const struct sw_finding *finding);

#endif
