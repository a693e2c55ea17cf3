/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The current call touches memory: its access is compared with earlier ones, and entered. Not thread-safe.
 */
#ifndef SW_DETECT_HAZARDS_TOUCH_H
#define SW_DETECT_HAZARDS_TOUCH_H

#include "detect/memory/address_space.h"

struct sw_model;

/* The current call touches a range (absolute addresses, or an array's handle). Judged and remembered. False: no known
   memory lies there; exact accesses count as host memory then, others are dropped. An assumed pointer makes no use
   after free. */
struct sw_touch {
	bool host;     /* by the host itself */
	bool may_wait; /* the documents leave open whether the call waited for it */
	bool array;    /* address is an offset in this array */
	/* Of unknown extent, but in [lo, hi) only (absolute addresses); hi 0: that is not known. */
	uint64_t lo, hi;
	bool guess; /* perhaps no pointer at all: makes no use after free */
	uint64_t handle;
};
bool sw_model_touch(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
		    const struct sw_touch *how);
/* Where in the block an access of unknown extent may lie that starts from a pointer to the offset. */
void sw_model_open_extent(const struct sw_model *m, const struct sw_block *block, uint64_t offset, uint64_t *lo,
			  uint64_t *hi);
/* A use of [range] in a block; end and access are filled, one reference belongs to the caller. */
struct sw_shadow_use *sw_model_use(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
				   struct sw_block *block, uint64_t address);
void sw_model_env(struct sw_model *m, struct sw_shadow_env *env);
/* Mentions a block in the judgement: index + 1. */
uint32_t sw_model_mention(struct sw_model *m, struct sw_block *block);
/* Mentions the caching allocator's block of it instead, unless NULL. */
uint32_t sw_model_mention_pool_block(struct sw_model *m, struct sw_block *block, struct sw_pool_block *pool_block);

#endif
