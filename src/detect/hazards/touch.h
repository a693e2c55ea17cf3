/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The current call touches memory: its access is compared with earlier ones, and entered. Not thread-safe.
 */
#ifndef SW_DETECT_HAZARDS_TOUCH_H
#define SW_DETECT_HAZARDS_TOUCH_H

#include <stdbool.h>
#include <stdint.h>

#include "detect/memory/address_space.h"
#include "detect/memory/physical_memory.h"
#include "detect/memory/shadow.h"

struct sw_intervals;
struct sw_model;
struct sw_range;

/* The current call touches a range (absolute addresses, or an array's handle). Judged and remembered. False: no known
   memory lies there; exact accesses count as host memory then, others are dropped. An assumed pointer makes no use
   after free. */
struct sw_touch {
	bool host;     /* by the host itself */
	bool blocks;   /* by a call that returns when it is done */
	bool may_wait; /* the documents leave open whether the call waited for it */
	bool array;    /* address is an offset in this array */
	/* An access of unknown extent lies in [lo, hi) (absolute addresses); hi 0: its bounds are not known. */
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

/* Addresses that the program excludes from judging (syncwatch_ignore(), syncwatch.h).  Not thread-safe. */

/* Accesses to [lo, hi) are not judged from here on. */
void sw_ignore_range(struct sw_model *m, uint64_t lo, uint64_t hi);
/* Accesses to [lo, hi) are judged again. */
void sw_judge_range_again(struct sw_model *m, uint64_t lo, uint64_t hi);
struct sw_intervals *sw_ignored_new(void);
void sw_ignored_free(struct sw_model *m);

/*
 * What the nodes of a graph touch: listed when the graph is first launched, judged at every launch.  Not thread-safe.
 */

/* One access of a node. */
struct sw_listed {
	uint32_t node; /* index in the exec */
	struct sw_access what;
	struct sw_range range;
	bool array, guess;
	uint64_t handle;
	struct sw_shadow_use
		*use; /* where it lay when it was listed; only until the nodes were compared, NULL: memory that ended */
};

struct sw_listing {
	SW_VEC(struct sw_listed) at;
	uint32_t node;
	bool perhaps; /* the node may not run */
	bool unknown; /* the accesses of some node are unknown */
	bool blind;   /* some node may write anywhere */
	bool follows; /* some node follows pointers in memory */
};

/* Uses of memory that is mapped more than once: entered at its other addresses, too.  Not thread-safe. */

/* The block's memory is mapped at another address from now on: enters earlier uses there. */
void sw_uses_share(void *model, struct sw_block *block, const struct sw_alias *alias);

#endif
