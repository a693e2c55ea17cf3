/* SPDX-License-Identifier: Apache-2.0 */
/* Two accesses that conflict, and the blocks of a caching allocator that their pointers lead to. */
#ifndef SW_DETECT_HAZARDS_REUSED_BLOCKS_H
#define SW_DETECT_HAZARDS_REUSED_BLOCKS_H

#include "detect/detect.h"
#include "detect/hazards/confidence.h"

struct sw_shadow_use;

/* How many blocks are where the two overlap, as far as is known. */
enum sw_crowding sw_pool_blocks_crowding(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later);
/* Where one of them was only thought to reach what is not its own, nothing is likely. */
struct sw_verdict sw_verdict_in_blocks(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later,
				       struct sw_verdict verdict);
/* Was the earlier one's block freed, and its bytes allocated again for the later one? */
bool sw_block_reused(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later);
/* Was this reuse already reported?  What a stream does with the block later comes after what it did first: an
   order for that orders all of it.  Remembers that it was reported. */
bool sw_reuse_was_reported(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later,
			   enum sw_severity severity);

#endif
