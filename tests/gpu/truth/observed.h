/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the patches write on the device and the recorder reads: a hash set of touched bytes. */
#ifndef SW_TRUTH_OBSERVED_H
#define SW_TRUTH_OBSERVED_H

#include <stdint.h>

/* COPY: read by an asynchronous copy, whose destination size is reported. */
enum observed_role { OBSERVED_READ, OBSERVED_WRITE, OBSERVED_ATOMIC, OBSERVED_COPY, OBSERVED_ROLES };

#define OBSERVED_SECTOR 32u /* bytes: one bit each in a mask */

/* Which bytes of one sector were touched; sector 0 (no memory lies there) is a free place. */
struct observed_sector {
	unsigned long long sector; /* address / OBSERVED_SECTOR */
	uint32_t mask[OBSERVED_ROLES];
};

struct observed {
	struct observed_sector *table;
	unsigned long long last;    /* places - 1, a power of two less one */
	unsigned long long used;    /* places taken */
	unsigned long long dropped; /* accesses that found none: the launch is not complete then */
};

/* An access that probes more places than this is dropped. */
#define OBSERVED_PROBES 512

#endif
