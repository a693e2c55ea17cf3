/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses of host functions: they come before the work that waits for the function in its stream.
 *
 * A host function runs on a thread of the driver long after it was enqueued, when work that comes after it has been
 * recorded already.  An access that is made inside of it is therefore ordered before each use that was ordered after
 * the function when it was enqueued, and before nothing else.  cuLaunchHostFunc: "will block work added after it".
 */
#ifndef SW_DETECT_HAZARDS_HOST_FUNCTIONS_H
#define SW_DETECT_HAZARDS_HOST_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "hb/hb.h"

struct sw_model;
struct sw_host_funcs;
struct sw_shadow_use;

struct sw_host_funcs *sw_host_funcs_new(void);
void sw_host_funcs_free(struct sw_host_funcs *funcs);
/* Records were lost: which function runs is not known any more. */
void sw_host_funcs_forget(struct sw_model *m);

/* Enqueued by record `seq` as a step of its stream; token: of sw_hb_host_func(). */
void sw_host_func_add(struct sw_model *m, uint64_t seq, struct sw_point point, sw_hb_token token);
/* Enqueued where its run is not seen: a host node of a graph, a function that was passed through. */
void sw_host_func_add_unseen(struct sw_model *m, struct sw_point point);
/* The function enqueued by record `seq` starts on a thread; gives its token, 0 if it is not known. */
sw_hb_token sw_host_func_start(struct sw_model *m, uint64_t seq, uint32_t thread);
void sw_host_func_finish(struct sw_model *m, uint64_t seq, uint32_t thread);
/* The thread makes CUDA calls, so it runs no host functions. */
void sw_host_func_caller(struct sw_model *m, uint32_t thread);
/* The function that runs on the thread; tick 0: none. */
struct sw_point sw_host_func_running(const struct sw_model *m, uint32_t thread);

/* The access was made by a function that the driver calls, which must not call CUDA, or perhaps by one whose run is not
   seen. */
bool sw_host_func_made(const struct sw_model *m, const struct sw_shadow_use *access);

/* A use of memory that the host sees: what its lane knows of pending functions is kept for the questions below. */
void sw_host_func_note(struct sw_model *m, struct sw_point use);
/* Is the host's access ordered before the use, although that was enqueued earlier? */
bool sw_host_func_orders(const struct sw_model *m, const struct sw_shadow_use *use, const struct sw_shadow_use *access);
/* May it be? A function whose run is not seen could have made the access. */
bool sw_host_func_may_order(struct sw_model *m, const struct sw_shadow_use *use, const struct sw_shadow_use *access);

#endif
