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

struct sw_host_funcs;
struct sw_model;
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

/* Work that the host may know to be done through memory, in addition to its calls. */

/* A step of a stream whose end the host may see in memory. */
void sw_host_signalled(struct sw_model *m, struct sw_point by);
/* A step that may touch memory which is not known; perhaps it signals there. */
void sw_host_unclear(struct sw_model *m, struct sw_point by, bool may_signal);
/* May the host know through memory that this step is done? */
bool sw_host_may_know(struct sw_model *m, struct sw_point work);
/* A step that writes, or reads, a flag in memory which the host sees: volatile or by system scope. */
void sw_host_flag_written(struct sw_model *m, struct sw_point by);
void sw_host_flag_read(struct sw_model *m, struct sw_point by);
/* May the host have ordered what it enqueues now after this step by such a flag, or this step after that? */
bool sw_host_may_relay(struct sw_model *m, struct sw_point work);
/* May this step have waited until the host wrote such a flag? */
bool sw_host_may_hold(struct sw_model *m, struct sw_point work);
/* May another process have learnt by an event that it is done?  Then this one may have, too: by a pipe, for example. */
bool sw_others_may_know(struct sw_model *m, struct sw_point work);

#endif
