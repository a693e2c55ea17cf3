/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsyncwatch-confirm.so: holds one side of a race back and watches the other (`syncwatch confirm`).
 *
 *     plan_text.c  reads the plan, writes results
 *     watch.c      finds the recorder and the plan; which call of the plan a call is; the edge of the advice, and
 *                  how long it makes a stream wait; the thread that ends a hold: no call of CUDA
 *     calls.c      what the recorder's records mean here; what is put into streams: holds, marks, snapshots; the
 *                  same before an allocation
 *     nodes.c      the same in a graph that the program makes; which streams and events wait for what is held; holds
 *                  at random, and hashes of what leaves the device
 *
 * Nothing here may make the program hang: each hold ends with its bound, whatever the program does, and earlier when a
 * thread of the program is about to wait for it.
 */
#ifndef SW_PRELOAD_CONFIRM_CONFIRM_H
#define SW_PRELOAD_CONFIRM_CONFIRM_H

#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>

#include "api/newer_types.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "api/ids.h"
#include "preload/confirm/plan.h"
#include "preload/recorder/companion.h"

extern const struct sw_companion *sw_confirm_recorder;
extern struct sw_hold_plan sw_confirm_plan;
extern const struct sw_companion_hooks sw_confirm_hooks;
/* The hooks that were set before ours, which ours must call: the guard's.  NULL: none. */
extern const struct sw_companion_hooks *sw_confirm_others;

/* The driver's own function, for calls that are not recorded; may be NULL. */
#define SW_CONFIRM_REAL(symbol) ((__typeof__(&symbol))sw_confirm_recorder->driver(SW_ID_##symbol))

/* ---- plan_text.c ------------------------------------------------------------------------------------------------ */

/* Reads the plan of an experiment that `syncwatch confirm` wrote.  False: there is none, or it is not one. */
bool sw_plan_read(const char *path, struct sw_hold_plan *out);
/* The first process of a program that comes has the plan; false: another one has it. */
bool sw_result_claim(void);
/* A line of results.  Opens the file each time: descriptors belong to the program. */
void sw_result(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Microseconds since the plan was read. */
uint64_t sw_result_us(void);

/* ---- watch.c ---------------------------------------------------------------------------------------------------- */

enum { SW_PLACE_EARLIER = 1, SW_PLACE_LATER = 2, SW_PLACE_BUFFER = 4 };
/* Which calls of the plan this one is like: the same stack.  Counts it.  *exact: those that it is. */
uint32_t sw_places_of_call(const struct sw_rec *rec, uint32_t *exact);
/* The stack of the call in progress, as plans name it. */
uint64_t sw_places_stack(void);

/* Is it the earlier call?  It is not counted: its record comes later. */
bool sw_places_is_earlier(uint32_t id);

/* ---- calls.c ---------------------------------------------------------------------------------------------------- */

enum sw_hold_state { SW_HOLD_NONE, SW_HOLD_HELD, SW_HOLD_OVER };

/* Words between device and host: each is written by one and read by the other, and has a cache line of its own. */
struct sw_hold_words {
	_Alignas(64) _Atomic uint32_t release; /* by the host: the hold has ended */
	_Alignas(64) _Atomic uint32_t probe;   /* what comes before the later call is done */
	_Alignas(64) _Atomic uint32_t later;   /* the later call's work has ended */
	_Alignas(64) _Atomic uint32_t earlier; /* the earlier call's work is done */
};

struct sw_hold {
	_Atomic uint32_t state; /* enum sw_hold_state; a futex */
	_Atomic uint32_t ended; /* all results are known */
	_Atomic uint64_t deadline;
	_Atomic bool submitted; /* the later call has returned */
	bool host;		/* it is synchronous: it does its work before it returns */
	struct sw_hold_words *words;
	/* Copies of what both touch: before, after the later call, after the earlier one; `room` bytes each. */
	uint8_t *copies;
	uint64_t room, bytes;	  /* bytes: 0 until the buffer is known */
	_Atomic uint32_t snapped; /* of the three copies: bits */
	_Atomic bool marked;	  /* a mark follows the earlier call */
	uint64_t address;	  /* of the bytes that both touch, 0 unknown */
	bool on_host;		  /* they lie in pinned memory */
};
extern struct sw_hold sw_hold;

CUdeviceptr sw_hold_device_address(const void *word);
/* `stream`: where it is launched. */
void sw_hold_launch(uint64_t seq, CUstream stream);

/* ---- calls.c ---------------------------------------------------------------------------------------------------- */

/* There is one hold in a run.  True: the caller makes it, and says when it is there or could not be. */
bool sw_calls_try(void);
void sw_calls_begun(void);
bool sw_calls_tried(void);

/* ---- nodes.c: of a plan with nodes ------------------------------------------------------------------------------ */

void sw_nodes_install(void);
/* Finds the graph nodes of the plan's calls: after a call added a node; after a captured call returned (its node is
   the one that the stream's next work would depend on); after a graph was made or an executable one updated, in
   which nodes have other handles. */
void sw_nodes_added(const struct sw_rec *rec, uint32_t exact);
void sw_nodes_captured(CUstream stream, uint32_t exact);
void sw_nodes_changed(const struct sw_rec *rec);

/* ---- watch.c ---------------------------------------------------------------------------------------------------- */

/* SW_PLAN_EDGE: before a call of the plan on this stream, puts the waits that order it after the earlier one; after
   it returned, records the events that later calls wait for. */
void sw_edges_record(const struct sw_rec *rec, CUstream stream, bool capturing);
void sw_edges_left(int status, bool capturing);
/* Writes how long the waits took. */
void sw_edges_end(void);
void sw_edges_context_gone(void);

/* ---- watch.c ---------------------------------------------------------------------------------------------------- */

bool sw_watch_start(void);
/* Ends the hold, once, and keeps what the marks say at that moment: it is the result of the experiment. */
void sw_watch_release(enum sw_release why);
/* Waits until the hold has ended; its bound ends it at the latest. */
void sw_watch_wait(void);

/* ---- nodes.c ---------------------------------------------------------------------------------------------------- */

void sw_explore_before(const struct sw_rec *rec, CUstream stream);
void sw_explore_left(int status);
/* Writes what was seen. */
void sw_explore_end(void);

/* ---- nodes.c: by one thread at a time --------------------------------------------------------------------------- */

/* Begins to follow which streams depend on the hold: at first only this one, which is held. */
void sw_dependents_begin(CUstream held);
void sw_dependents_record(const struct sw_rec *rec, CUstream stream);
/* Can the call wait for what is held? */
bool sw_dependents_blocks(const struct sw_rec *rec, CUstream stream);

#endif
