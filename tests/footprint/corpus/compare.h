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
	/* How many pairs of buffer and role are boxes in every byte, hulls in some, open in some. */
	unsigned known_as[3]; /* enum sw_extent */
	uint16_t *byte;	      /* the map that was compared, buffer by buffer; malloc'ed */
	size_t bytes;
	bool unknown; /* more may be touched than the map says */
};

/* Evaluates the footprint at fake addresses.  loose: it may be what the table allows machine code.
   spoil: changes what the footprint says, to see that this is noticed; NULL. */
void corpus_compare(const struct corpus_launch *launch, const struct sw_footprint *footprint, bool loose,
		    void (*spoil)(struct sw_reaches *reaches), struct corpus_verdict *verdict);

enum corpus_agreement {
	CORPUS_EQUAL,
	CORPUS_OTHER_EXTENT, /* a byte is a box on one side, a hull or open on the other; or loose on one side only */
	CORPUS_CONTRADICT    /* a byte is a box on one side, not touched on the other */
};
/* Two kinds of code of one launch. */
enum corpus_agreement corpus_agree(const struct corpus_verdict *a, const struct corpus_verdict *b);

#endif
