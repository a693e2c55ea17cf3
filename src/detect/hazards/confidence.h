/* SPDX-License-Identifier: Apache-2.0 */
/* Severity and confidence of a conflict: all rules (doc/findings.md, "Severity"). Pure functions. */
#ifndef SW_DETECT_HAZARDS_CONFIDENCE_H
#define SW_DETECT_HAZARDS_CONFIDENCE_H

#include "detect/memory/address_space.h"

/* How two accesses come to share memory. */
enum sw_contact {
	SW_CONTACT_BYTES,  /* both are bounded and share bytes */
	SW_CONTACT_BASE,   /* an unbounded one is reached from the same pointer, or its start lies inside the bounded
			      other */
	SW_CONTACT_EXTENT, /* only by an assumed extent */
	SW_CONTACTS
};

struct sw_verdict {
	enum sw_severity severity;
	enum sw_confidence confidence;
};

/* The verdict on two ranges in one allocation that are known to overlap. */
enum sw_contact sw_contact_of(const struct sw_range *a, const struct sw_range *b);

/* The next weaker verdict, for accesses that may be protected in a way that is not seen: at most a warning. */
struct sw_verdict sw_one_step_down(struct sw_verdict verdict);
struct sw_verdict sw_matrix(const struct sw_range *a, const struct sw_range *b, enum sw_crowding crowding);

#endif
