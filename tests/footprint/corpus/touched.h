/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the comparison: what a footprint says of each byte, and what the table says. */
#ifndef SW_CORPUS_TOUCHED_H
#define SW_CORPUS_TOUCHED_H

#include "compare.h"

enum { CORPUS_ROLES = 3, CORPUS_EXTENTS = 3 };
/* One bit for each role and extent. */
static inline uint16_t corpus_bit(int role, int extent)
{
	return (uint16_t)(1u << (role * CORPUS_EXTENTS + extent));
}

/* What is said of one buffer. */
struct corpus_side {
	uint16_t *byte;			 /* bits */
	uint8_t object, map, via, polls; /* roles */
	uint8_t before, perhaps;	 /* roles, with respect to the kernel's griddepcontrol.wait */
};
struct corpus_touched {
	size_t bytes;
	struct corpus_side is, want;
	uint16_t *loose;       /* what machine code may say instead */
	uint8_t unknown;       /* roles that machine code may have by unknown pointers */
	uint8_t nothing;       /* roles that machine code may show not to be there */
	uint8_t whys[SW_WHYS]; /* extents that were seen with it, as 1 << extent */
};
struct corpus_state {
	const struct corpus_launch *launch;
	const struct sw_footprint *footprint;
	struct corpus_verdict *verdict;
	bool machine, loose;
	struct corpus_touched *buffer;
	struct sw_grid_state grid;
	uint8_t unknown; /* roles */
};

/* Adds a line to the verdict; what has no room is cut. */
__attribute__((format(printf, 2, 3))) void corpus_say(struct corpus_verdict *verdict, const char *format, ...);
/* Where a buffer of a launch lies, for corpus_params(). */
uint64_t corpus_fake_address(void *arg, int buffer);
/* Enters `roles` for the bytes of a region. */
void corpus_mark(uint16_t *byte, size_t bytes, const struct corpus_region *region, int roles, int extent);
/* Enters what one reach says. */
void corpus_take(struct corpus_state *state, const struct sw_reach *reach);

#endif
