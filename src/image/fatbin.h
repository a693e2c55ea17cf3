/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of a fatbin: each has a header and entries; a linked program has one for each translation unit. */
#ifndef SW_IMAGE_FATBIN_H
#define SW_IMAGE_FATBIN_H

#include "image/bytes.h"
#include "image/image.h"

struct sw_fatbin_block {
	size_t offset, first,
		bytes; /* of the block; of the first entry in it; header and entries, as far as they are there */
	bool whole;    /* false: it claims more than is there */
};

/* The block at or just after *at, which is moved to its end; false: there is none. */
bool sw_fatbin_next_block(struct sw_bytes all, size_t *at, struct sw_fatbin_block *block);

/* As sw_fatbin_walk, for one block. */
int sw_fatbin_walk_block(struct sw_bytes all, const struct sw_fatbin_block *block,
			 int (*each)(void *arg, const struct sw_fatbin_entry *entry), void *arg,
			 struct sw_error *error);

#endif
