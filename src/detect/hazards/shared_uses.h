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

#include "detect/shared_use.h"

struct sw_block;
struct sw_model;
struct sw_shadow_use;
struct sw_sharing;
struct sw_wait;

struct sw_sharing *sw_sharing_new(bool wanted); /* NULL: it is not */
void sw_sharing_free(struct sw_sharing *sharing);

/* A block begins to be shared, by a handle with this hash: what was done to it before is listed, too. */
void sw_sharing_exported(struct sw_model *m, struct sw_block *block, uint64_t handle);
/* Memory of another process was opened. */
void sw_sharing_opened(struct sw_model *m);
/* An event of this process got a handle, by these low bits of its hash. */
void sw_sharing_event_exported(struct sw_model *m, uint64_t event, uint32_t handle);
/* Must what touches the block be evaluated at once? */
bool sw_sharing_watches(const struct sw_model *m, const struct sw_block *block);
/* Work touches it: called for each access. */
void sw_sharing_touched(struct sw_model *m, const struct sw_shadow_use *use);
/* The current call may wait for or signal other processes in a way that is not followed. */
void sw_sharing_unclear(struct sw_model *m);
/* The host, or a stream, waits for an event that other processes know; `handle`: the low bits of its hash. */
void sw_sharing_waited(struct sw_model *m, uint32_t handle);
/* After each call: which uses it may have signalled as done. Then, if it waited: what the host knows. */
void sw_sharing_called(struct sw_model *m, const struct sw_wait *w);
void sw_sharing_known(struct sw_model *m, uint32_t thread, uint64_t t_ns);
/* The trace ends.  lost: parts of it are missing; ended: the program did, else it may have gone on without us. */
void sw_sharing_finish(struct sw_model *m, bool lost, bool ended);

#endif
