/* SPDX-License-Identifier: Apache-2.0 */
/* Two accesses that conflict, and the blocks of a caching allocator that their pointers lead to. */
#ifndef SW_DETECT_HAZARDS_REUSED_BLOCKS_H
#define SW_DETECT_HAZARDS_REUSED_BLOCKS_H

#include "detect/detect.h"
#include "detect/hazards/confidence.h"

struct sw_shadow_use;

/* How many blocks lie where the two overlap. */
enum sw_crowding sw_pool_blocks_crowding(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later);
/* If one of them was only assumed to leave its own block, the verdict is at most possible. */
struct sw_verdict sw_verdict_in_blocks(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later,
				       struct sw_verdict verdict);
/* Was the earlier one's block freed, and its bytes allocated again for the later one? */
bool sw_block_reused(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later);
/* Was this reuse already reported?  What a stream does with the block later comes after what it did first: an
   order for that orders all of it.  Remembers that it was reported. */
bool sw_reuse_was_reported(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later,
			   enum sw_severity severity);

#endif
