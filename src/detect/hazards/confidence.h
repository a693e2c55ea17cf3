/* SPDX-License-Identifier: Apache-2.0 */
/* How sure a conflict is: the only rule (doc/findings.md, "Severity").  Pure functions. */
#ifndef SW_DETECT_HAZARDS_CONFIDENCE_H
#define SW_DETECT_HAZARDS_CONFIDENCE_H

#include "detect/memory/address_space.h"

/* How two accesses come to share memory. */
enum sw_contact {
	SW_CONTACT_BYTES,  /* both are bounded and share bytes */
	SW_CONTACT_BASE,   /* an unbounded one is reached from the same pointer, or its start lies inside the bounded
			      other */
	SW_CONTACT_EXTENT, /* only because an extent was assumed */
	SW_CONTACTS
};

struct sw_verdict {
	enum sw_severity severity;
	enum sw_confidence confidence;
};

/* Of two ranges in one allocation that are known to touch. */
enum sw_contact sw_contact_of(const struct sw_range *a, const struct sw_range *b);

/* For what is known to be protected in a way that is not seen: at most a warning. */
struct sw_verdict sw_one_step_down(struct sw_verdict verdict);
struct sw_verdict sw_matrix(const struct sw_range *a, const struct sw_range *b, enum sw_crowding crowding);

#endif
