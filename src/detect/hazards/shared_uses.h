/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses of memory that other processes may use too, for comparing processes (src/merge).  They are listed, not judged,
 * as struct sw_shared_use.
 *
 * They are listed only if sw_judge_options.shared_uses asks for it.  In any case no wait is called too wide from the
 * first memory or event that is shared on: it may be for others.  Not thread-safe.
 */
#ifndef SW_DETECT_HAZARDS_SHARED_USES_H
#define SW_DETECT_HAZARDS_SHARED_USES_H

#include <stdbool.h>

#include "detect/detect.h"
#include "detect/hazards/hazards.h"
#include "detect/shared_use.h"

struct sw_block;
struct sw_model;
struct sw_shadow_use;
struct sw_sharing;
struct sw_wait;

struct sw_sharing *sw_sharing_new(bool wanted); /* NULL: it is not */
void sw_sharing_free(struct sw_sharing *sharing);

/* A handle of the block, with this hash, is made for other processes: from now on its uses are listed for
   `syncwatch merge`, and those before that the host does not know to be done. */
void sw_sharing_exported(struct sw_model *m, struct sw_block *block, uint64_t handle);
/* This process opened memory of another one: uses of shared memory are listed from now on. */
void sw_sharing_opened(struct sw_model *m);
/* An event got a handle for other processes, with these low bits of its hash: uses that it signals as done name it
   by them. */
void sw_sharing_event_exported(struct sw_model *m, uint64_t event, uint32_t handle);
/* Must what touches the block be evaluated at once? */
bool sw_sharing_watches(const struct sw_model *m, const struct sw_block *block);
/* At each access: lists the use if its block is shared; a use that polls, or may reach shared memory, makes its
   call one that may wait for other processes. */
void sw_sharing_touched(struct sw_model *m, const struct sw_shadow_use *use);
/* Notes that the current call may wait for, or signal, other processes in a way that is not followed. */
void sw_sharing_unclear(struct sw_model *m);
/* Notes that the current call waits for an event that other processes know: uses from now on may come after theirs.
   `handle`: the low bits of its hash. */
void sw_sharing_waited(struct sw_model *m, uint32_t handle);
/* After each call: which uses it may have signalled as done. Then, if it waited: what the host knows. */
void sw_sharing_called(struct sw_model *m, const struct sw_wait *w);
void sw_sharing_known(struct sw_model *m, uint32_t thread, uint64_t t_ns);
/* Ends the list of shared uses with the trace.  lost: parts of it are missing; ended: the program did, else it may have
   gone on without us. */
void sw_sharing_finish(struct sw_model *m, bool lost, bool ended);

/* Two accesses that conflict, and the blocks of a caching allocator that their pointers lead to. */

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

/* Memory that the program gave a library to work in, used by two of its calls. */

/* Do both uses lie in what their calls were given to work in? */
bool sw_workspace_shared(const struct sw_model *m, const struct sw_shadow_use *a, const struct sw_shadow_use *b);
/* Are both part of one call of a library, which knows what of its own work is apart, and is it not certain which bytes
   they touch?  cudnnRNNForward() has parts of a workspace in use on several streams at once (H200, cuDNN 9). */
bool sw_library_may_order(const struct sw_shadow_use *a, const struct sw_shadow_use *b);

/*
 * Memory that a library of NVIDIA's allocated for itself, and uses on two streams.
 *
 * How it is protected is not visible: streams that are never used at the same time, a first use that cannot be earlier,
 * flags.  A hazard between two calls of the library on memory of its own is one step less sure, at most a warning.
 * Memory that the program hands to the library is not of this kind.
 */

/* Are both calls of one such library, on memory that it allocated? */
bool sw_library_workspace(const struct sw_model *m, const struct sw_shadow_use *a, const struct sw_shadow_use *b);

#endif
