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
/* Records were lost: which host functions are pending or run is not known any more. */
void sw_host_funcs_forget(struct sw_model *m);

/* Notes a host function that record `seq` enqueued as a step of its stream, so that its run finds it; token: of
   sw_hb_host_func(). */
void sw_host_func_add(struct sw_model *m, uint64_t seq, struct sw_point point, sw_hb_token token);
/* Notes a host function whose run is not recorded (a host node of a graph, a function that was passed through): it
   may have made accesses of the host that are found later. */
void sw_host_func_add_unseen(struct sw_model *m, struct sw_point point);
/* The function enqueued by record `seq` starts on a thread; gives the token of the work before it, 0 if it is not
   known. */
sw_hb_token sw_host_func_start(struct sw_model *m, uint64_t seq, uint32_t thread);
/* The function has returned. */
void sw_host_func_finish(struct sw_model *m, uint64_t seq, uint32_t thread);
/* Notes that the thread makes CUDA calls: CUDA forbids them in host functions, so none of its accesses is one of a
   host function that is not seen. */
void sw_host_func_caller(struct sw_model *m, uint32_t thread);
/* The function that runs on the thread; tick 0: none. */
struct sw_point sw_host_func_running(const struct sw_model *m, uint32_t thread);

/* Was the access made by a function that the driver calls, which must not call CUDA, or perhaps by one whose run is not
   seen? */
bool sw_host_func_made(const struct sw_model *m, const struct sw_shadow_use *access);

/* Keeps, for the two questions below, what the lane of a use (of memory that the host sees) knows of pending host
   functions at that use. */
void sw_host_func_note(struct sw_model *m, struct sw_point use);
/* Is the host's access ordered before the use, although that was enqueued earlier? */
bool sw_host_func_orders(const struct sw_model *m, const struct sw_shadow_use *use, const struct sw_shadow_use *access);
/* May the host's access be ordered so?  A host function whose run is not seen could have made it. */
bool sw_host_func_may_order(struct sw_model *m, const struct sw_shadow_use *use, const struct sw_shadow_use *access);

/* Work that the host may know to be done through memory, in addition to its calls. */

/* Notes that the host may see in memory that this step of a stream is done (it writes a value). */
void sw_host_signalled(struct sw_model *m, struct sw_point by);
/* Notes a step that may touch memory which is not known: nothing is said of it that rests on what it touches.
   may_signal: the host may see there that it is done. */
void sw_host_unclear(struct sw_model *m, struct sw_point by, bool may_signal);
/* May the host know through memory that this step is done? */
bool sw_host_may_know(struct sw_model *m, struct sw_point work);
/* Notes a step that writes a flag in memory which the host sees: volatile or by system scope. */
void sw_host_flag_written(struct sw_model *m, struct sw_point by);
/* Notes a step that reads such a flag. */
void sw_host_flag_read(struct sw_model *m, struct sw_point by);
/* May the host have ordered what it enqueues now after this step by such a flag, or this step after that? */
bool sw_host_may_relay(struct sw_model *m, struct sw_point work);
/* May this step have waited until the host wrote such a flag? */
bool sw_host_may_hold(struct sw_model *m, struct sw_point work);
/* May another process have learnt by an event that it is done?  Then this one may have, too: by a pipe, for example. */
bool sw_others_may_know(struct sw_model *m, struct sw_point work);

#endif
