/* SPDX-License-Identifier: Apache-2.0 */
/* Does what a footprint says of a launch agree with the table?  Byte by byte. */
#ifndef SW_CORPUS_COMPARE_H
#define SW_CORPUS_COMPARE_H

#include "footprint/footprint.h"
#include "table.h"

struct corpus_verdict {
	char text[4096]; /* one line for each disagreement, with a tab before it; "": agrees */
	size_t used;
	unsigned missed, false_certain; /* the two grave ones: bytes that nothing covers, boxes beyond the truth */
};

/* Evaluates the footprint at fake addresses.  machine: the outcome of machine code, which may be looser.
   spoil: changes what the footprint says, to see that this is noticed; NULL. */
void corpus_compare(const struct corpus_launch *launch, const struct sw_footprint *footprint, bool machine,
		    void (*spoil)(struct sw_reaches *reaches), struct corpus_verdict *verdict);

#endif
