/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model of the running program: what each record does to order, memory and the host.
 *
 *     model.c     one table: record kind -> handler; everything a handler needs around it
 *     streams.c   streams, events, captures, host functions
 *     graphs.c    executable graphs: what they consist of
 *     graph_launches.c      their launches
 *     node_order.c     in which order a launch takes their nodes
 *     branch_races.c  nodes of one graph that conflict (SW107)
 *     capture_isolation.c calls that a capture forbids (SW204)
 *     copies.c    copies and sets: which memory, who waits
 *     launches.c  kernels: parameters -> ranges
 *     kernels.c   what is known of a kernel
 *     launch_plan.c     what a launch touches, from its kernel's code
 *     range_placement.c    which allocations that is
 *     kernel_code.c      where the code is
 *     module_variables.c module variables
 *     texture_handles.c   textures, surfaces, tensor maps
 *     host_access.c what the guard saw of the host
 *     threads.c   what orders host threads (strict host)
 *     allocations.c    allocation and release
 *     pools.c     memory of a pool that comes back
 *     stream_values.c    streams that signal through memory
 *     annotations.c  what the program says of itself
 *     device.c    contexts, configuration, attributes, names
 *     unmodelled.c      what is not known: unmodelled calls, lost records
 *     syncs.c     waits of the host, queries
 *     polls.c     loops of queries (SW403)
 *     waits.c     what a wait covered and cost
 *     stalls.c    calls that were held up by other threads or a full queue (SW310, SW311)
 *     hazards.c   two accesses that met
 *     intended_order.c      events that were meant to order a hazard (SW201-SW203)
 *     legacy_stream.c    order that only the legacy stream made (SW304)
 *     schedule_feed.c    what the schedule of the run is told
 *     gains.c     what each fix would gain
 *     wide_syncs.c      waits for more than was needed (SW401)
 *
 * Private to src/detect.  Not thread-safe.
 */
#ifndef SW_DETECT_MODEL_MODEL_H
#define SW_DETECT_MODEL_MODEL_H

#include "detect/kernels/kernel_code.h"
#include "detect/model/collect.h"
#include "detect/graphs/graphs.h"
#include "detect/kernels/texture_handles.h"
#include "detect/hazards/confidence.h"
#include "detect/model/nvtx.h"
#include "detect/kernels/launch_plan.h"
#include "detect/memory/address_space.h"
#include "detect/waits/device_times.h"
#include "detect/memory/module_variables.h"
#include "image/image.h"

struct sw_model;
struct sw_wait;
typedef void sw_handler(struct sw_model *m, const struct sw_record *r, struct sw_wait *w);

/* What is known of an operation's lane beside its clocks.  A slot that changed hands has another serial. */
struct sw_lane_state {
	uint32_t serial;
	uint32_t stream;		   /* index in judgement.streams */
	uint64_t work;			   /* last step that was work */
	struct sw_access last;		   /* that work; seq 0 none */
	uint64_t since;			   /* record of the first work since a wait that is asked about, 0 none */
	uint64_t visible, visible_seq;	   /* last step that touched memory which the host can, and its record */
	uint64_t unknown;		   /* last step whose accesses are not known */
	uint64_t capture;		   /* that the stream is part of now: record of its begin, 0 none */
	uint64_t signal;		   /* last step that may tell the host something through memory */
	struct sw_event_wait *event_waits; /* waits made on this lane, a ring; NULL none yet */
	uint32_t event_waits_made;
	struct sw_pending { /* enqueued work that is not known to be done, oldest first: a ring */
		uint64_t seq, tick;
	} * pending;
	uint32_t pending_room, pending_first, pending_n;
};

/* What the host waited for, as it stood when the wait began. */
struct sw_covered {
	uint32_t lane;
	uint64_t known, covered;
};
typedef SW_VEC(struct sw_covered) sw_covered_vec;

/* How long a call's own work plausibly takes: more than this, while something was pending, counts as waiting. */
enum sw_own {
	SW_OWN_SYNC,
	SW_OWN_COPY,
	SW_OWN_PAGEABLE_COPY,
	SW_OWN_SET,
	SW_OWN_FREE,
	SW_OWN_ALLOC,
	SW_OWN_PIN,
	SW_OWN_UNPIN,
	SW_OWN_CONFIG,
	SW_OWN_LOAD,
};

#define SW_WAIT_TOKENS 4u
/* What is told as a call's own work when it did wait: the typical, this part of the utmost. */
#define SW_OWN_MARGIN 4u
#define SW_NOT_READY  600u /* CUDA_ERROR_NOT_READY */

enum sw_copy_way { SW_MOVES_OTHER, SW_MOVES_UP, SW_MOVES_DOWN, SW_MOVES_WITHIN };

/* What a thread did last. */
struct sw_polling { /* a loop of queries for one handle that is not over */
	uint64_t handle, since_ns, last_ns;
};

/* A call while it is being judged: from its record, or its BEGIN, to its END. */
struct sw_wait {
	struct sw_record record; /* of BEGIN; rec points to the copy below when the call spans two records */
	struct sw_rec *copy;
	struct sw_access what; /* the call */
	bool enqueues;
	int id; /* the finding that this call is a case of, 0 none */
	enum sw_basis basis;
	enum sw_fix fix;
	bool promised;	  /* the documents promise that it waits */
	bool always;	  /* a finding even when it did not wait and nothing was pending */
	bool only_waited; /* a finding only when it did wait */
	bool pending;	  /* work was pending that it could have waited for */
	uint64_t own_ns;
	uint64_t pinned; /* bytes that it pins or releases, 0 none */
	uint32_t tokens;
	sw_hb_token token[SW_WAIT_TOKENS];
	enum sw_order order[SW_WAIT_TOKENS];
	struct sw_access waited_for; /* of what is covered, the work given out last; seq 0: not known */
	sw_covered_vec covered;	     /* work that the host did not know to be done, documented clock */
	enum sw_copy_way moves;	     /* copies: which way */
	struct sw_access read_back;  /* synchronisations: the copy of a value right before it, seq 0 none */
	bool staged;		     /* a copy from or to pageable memory */
	struct sw_range host_range;  /* what the host itself touches inside the call; width 0 nothing */
	struct sw_wait *next;
};

struct sw_event_state {
	struct sw_access record;   /* the last record's call */
	struct sw_access replaced; /* a record that nobody had waited for when it was replaced; seq 0 none */
	uint64_t capture;	   /* recorded inside this capture, 0: for real */
	uint64_t work;		   /* last step of work on the stream when it was recorded, 0 none */
	struct sw_access last;	   /* that work; seq 0: none, or not known */
	bool in_graph;		   /* recorded by a node of a graph (external), when is not seen */
	bool ordering;		   /* a stream or the host has waited for it */
};

/* A wait of a stream (or the host) for an event, as hazards look back on it. */
struct sw_event_wait {
	struct sw_access wait, record, replaced;
	bool recorded;
	bool useless; /* the record covered no work that the waiting side did not know of */
};
#define SW_EVENT_WAITS 8u

/* A kernel, as far as its name and its code tell. */
struct sw_kernel {
	bool ready, signed_;
	enum sw_signature *signature;
	uint32_t arch;			      /* that the code was looked for, 0 not yet */
	const struct sw_footprint *footprint; /* NULL: none that can be used */
	bool ran;			      /* of the code that ran */
	bool moved;			      /* its parameters lie elsewhere than the driver puts them */
	bool wild;			      /* some of what it does is not known */
	bool unreadable;		      /* there is code, but it says nothing */
	const char *unread;		      /* why not, or why not all */
	struct sw_map evidence_details;	      /* what a reach rests on -> struct sw_evidence_detail */
};

struct sw_context_state {
	uint64_t handle;
	int device;
	bool live, primary, green;
	bool released; /* a primary one that perhaps has no user any more */
	uint8_t whole; /* of a green context: the primary one of its device, which owns what is allocated; else 0 */
	uint32_t arch; /* of the device, 0 not looked up */
	bool over;     /* a sticky error ended judgement */
	uint64_t unclassified;		    /* first call that we do not model, 0 none */
	const struct sw_wait_rule_set *may; /* NULL: its creation was not seen, as built in */
};

struct sw_legacy_site {
	uint32_t lane, serial;
	struct sw_access call;
	uint32_t n;
	struct {
		uint32_t lane;
		uint64_t seq;
	} from[8];
};

#define SW_MAX_READERS 4u

/* What the waits of one call site were needed for. */
struct sw_sync_site {
	struct sw_access call;
	uint64_t busy;	/* calls for which something was pending */
	uint64_t moved; /* of them, those behind which nothing came before a wait that found nothing pending */
	bool kept;	/* it is not known, or too much: nothing is said of it */
	uint32_t n;	/* streams that it waited for */
	struct sw_sync_need {
		uint32_t stream;
		bool host, whole;		  /* by the host, and once at least all of it */
		uint64_t seq;			  /* the last step that the host needed */
		uint32_t tos, to[SW_MAX_READERS]; /* by other streams */
	} need[SW_MAX_NEEDS];
};

/* A lane that a wait covered. */
struct sw_wide_lane {
	uint32_t lane, serial, stream;
	uint64_t lean;		 /* the host knows up to here, whatever becomes of the waits that are asked about */
	uint64_t covered;	 /* and up to here by the wait */
	uint64_t work;		 /* last step of work in it */
	uint64_t host, host_seq; /* needed by the host up to here, 0 not */
	uint64_t since;		 /* record of the first step that is watched */
	struct sw_sync_site *site;
};

struct sw_wide_syncs {
	bool poisoned;		   /* since the last wait something was done that is not known */
	uint64_t to;		   /* record of the last wait */
	struct sw_sync_site *last; /* of the last wait, if something was pending */
	struct sw_map sites;
	SW_VEC(struct sw_wide_lane) lanes;
};

/* What the program said of a stream's next launch. */
struct sw_annotated_range {
	uint32_t lane, serial;
	struct sw_range range;
};

/* Calls that took long, the last ones of each kind: a ring. */
#define SW_STALLS 64u
struct sw_stalls {
	struct sw_access at[SW_STALLS];
	uint32_t made;
};

struct sw_model {
	struct sw_reader *reader;
	struct sw_hb *hb;
	const struct sw_judge_options *options;
	const struct sw_times *times;	    /* of the devices; set before the first step */
	const struct sw_observer *observer; /* never NULL */
	struct sw_judgement *j;
	struct sw_arena *arena;		   /* lives as long as the judgement */
	struct sw_schedule *schedule;	   /* NULL: not wanted */
	struct sw_map threads;		   /* thread -> sw_model_thread() and 1 */
	SW_VEC(struct sw_polling) polling; /* by sw_model_thread() */
	SW_VEC(struct sw_access) value;	   /* so too: its last call, when that copied a value to the host; seq 0 */
	struct sw_address_space space;
	struct sw_collect collect;

	const struct sw_record *record; /* the one in hand */
	struct sw_wait *wait;		/* its call */
	struct sw_wait scratch, *spare;
	struct sw_map open; /* sequence number of BEGIN -> struct sw_wait */

	struct sw_context_state context[256];
	SW_VEC(struct sw_lane_state) lanes;
	size_t capturing;	      /* lanes that are part of a capture */
	struct sw_map shared_streams; /* descriptions that several lanes share -> index in judgement.streams */
	struct sw_map names;	      /* hash of a name -> where it is kept */
	struct sw_map events;	      /* handle -> struct sw_event_state */
	struct sw_map host_funcs;     /* record of HOST_FUNC -> token */
	struct sw_map polls;	      /* call site of a query loop -> what polls.c knows of it */
	SW_VEC(struct sw_kernel) kernels;
	struct sw_footprint_library *library; /* NULL: code is not looked at */
	struct sw_codes codes;
	struct sw_plans plans;
	struct sw_variables variables;
	struct sw_handles handles;
	struct sw_graphs graphs;
	struct sw_listing *listing; /* what is touched is listed here instead of judged; NULL: it is judged */
	struct sw_map touched;	    /* function handles whose code is known to be loaded */
	SW_VEC(struct sw_legacy_site) legacy;
	struct sw_wide_syncs wide;
	struct sw_stalls stalled, holders;
	sw_covered_vec scratch_covered;
	const sw_covered_vec *free_covers; /* while a release is judged: what its wait covers */
	struct sw_map cells;		   /* address -> values that streams wrote there (stream_values.c) */
	uint64_t values_written;
	struct sw_nvtx_state nvtx;
	SW_VEC(struct sw_annotated_range) annotated;
	struct sw_intervals ignored; /* addresses that are not judged */
	uint64_t unordered;	     /* uses that met an earlier one which no document orders before them */
	uint32_t serial;	     /* of uses entered */
	uint32_t streams_made;
	uint64_t first_ns, last_ns;
	bool any;
};

/* ---- model.c ---- */
void sw_model_init(struct sw_model *m, struct sw_reader *reader, const struct sw_judge_options *options,
		   struct sw_judgement *judgement, struct sw_arena *arena);
void sw_model_free(struct sw_model *m);
void sw_model_step(struct sw_model *m, const struct sw_record *record);
void sw_model_finish(struct sw_model *m);

struct sw_hb_at sw_model_at(const struct sw_model *m, const struct sw_record *r, uint64_t stream);
/* Lane and its books; the stream is described in the judgement on the way. */
struct sw_lane_state *sw_model_lane(struct sw_model *m, const struct sw_hb_at *at, uint32_t *lane);
struct sw_lane_state *sw_model_lane_state(struct sw_model *m, uint32_t lane);
/* A small number for a thread, from 0: those of a damaged trace are as large as 32 bits allow. */
uint32_t sw_model_thread(struct sw_model *m, uint32_t thread);
/* A copy that lives as long as the judgement, one for all that are alike. */
const char *sw_model_name(struct sw_model *m, const char *name, size_t bytes);
/* The stream takes part in a capture: what is issued to it now is not executed. */
bool sw_model_captured(struct sw_model *m, const struct sw_hb_at *at);

/* Does a call of this context wait, where no document decides it? */
bool sw_model_wait_rule(const struct sw_model *m, uint8_t ctx, enum sw_wait_rule may);
/* Enqueues the call in hand as work of a stream and places it (what.point, what.stream). False: it is not executed. */
bool sw_model_enqueue(struct sw_model *m, const struct sw_record *r, uint64_t stream);
/* Other contexts that work takes part in: `all`, it is serialised with each as a whole; else with the default stream of
   the first, as was measured. */
struct sw_others {
	bool all;
	uint8_t n, ctx[3];
};
bool sw_model_enqueue_with(struct sw_model *m, const struct sw_record *r, uint64_t stream,
			   const struct sw_others *others);
/* The call in hand touches a range (absolute addresses, or an array's handle).  Judged and remembered.  False: nothing
   that we know of lies there; exact accesses count as host memory then, others are dropped.  What is only assumed to be
   a pointer is no use after free either. */
struct sw_touch {
	bool host;     /* by the host itself */
	bool may_wait; /* the documents leave open whether the call waited for it */
	bool array;    /* address is an offset in this array */
	bool guess;    /* perhaps no pointer at all: nothing is concluded where it points to what was freed */
	uint64_t handle;
};
bool sw_model_touch(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
		    const struct sw_touch *how);
/* A use of [range] in a block; end and access are filled, one reference belongs to the caller. */
struct sw_shadow_use *sw_model_use(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
				   struct sw_block *block, uint64_t address);
void sw_model_env(struct sw_model *m, struct sw_shadow_env *env);
/* Mentions a block in the judgement: index + 1. */
uint32_t sw_model_mention(struct sw_model *m, struct sw_block *block);

/* An event of ours: no program can hold this handle, events are pointers. */
#define SW_SAFETY_EVENT 3u

/* ---- kernels.c ---- */
/* NULL: more of them than a program has.  Valid until the next call. */
struct sw_kernel *sw_kernel_of(struct sw_model *m, const struct sw_trace_function *function);
/* What an access of the kernel rests on; lives as long as the judgement. */
const struct sw_evidence_detail *sw_kernel_evidence(struct sw_model *m, struct sw_kernel *kernel,
						    const struct sw_reach *reach, enum sw_via via);
/* The same where the code does not tell: why; NULL when nobody looked. */
const struct sw_evidence_detail *sw_kernel_no_evidence(struct sw_model *m, struct sw_kernel *kernel);
/* Does the footprint speak of the word at this offset of the parameter block? */
bool sw_kernel_mentions(const struct sw_kernel *kernel, const struct sw_trace_function *function, uint32_t offset);
void sw_kernels_free(struct sw_model *m);

/* ---- range_placement.c ---- */
/* The launch in hand touches a range that its code computed: cut to the allocations that it can mean.  False: there is
   none. */
bool sw_place_touch(struct sw_model *m, const struct sw_access *what, const struct sw_plan_touch *touch);

/* ---- what the launch, copy or set in hand touches, in its own file ---- */
sw_handler sw_launch_touches, sw_copy_touches, sw_set_touches;

/* ---- streams.c ---- */
void sw_event_recorded(struct sw_model *m, struct sw_access *what, const struct sw_hb_at *at, uint64_t handle,
		       unsigned flags);

/* ---- graphs.c ---- */
struct sw_exec *sw_exec_of(struct sw_model *m, uint64_t handle); /* made on the spot */
/* The books on what the nodes touch are void. */
void sw_exec_unlist(struct sw_model *m, struct sw_exec *exec);
/* A call that became a node: nodes refer to it by its record. */
void sw_origin_remember(struct sw_model *m, const struct sw_access *what);
/* The last one on a stream (index); NULL none, also for stream 0. */
const struct sw_access *sw_origin_last(const struct sw_model *m, uint32_t stream);
void sw_graphs_free(struct sw_model *m);
/* Takes the reference; use: NULL where the memory has ended. */
void sw_listing_add(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
		    const struct sw_touch *how, struct sw_shadow_use *use);

/* ---- branch_races.c ---- */
/* False: there are too many nodes, a circle, or a dependency on a node that is not there. */
bool sw_paths_find(const struct sw_exec *exec, struct sw_paths *paths);
void sw_paths_free(struct sw_paths *paths);
/* Looks for unordered nodes that conflict.  `uses` are those of the listing. */
void sw_branches_judge(struct sw_model *m, const struct sw_exec *exec, const struct sw_paths *paths,
		       const struct sw_listing *listing);

/* ---- node_order.c ---- */
/* Fills exec->node_order; paths NULL: which node comes before which is not known. */
void sw_node_order_make(struct sw_exec *exec, const struct sw_paths *paths);

/* ---- graph_launches.c ---- */
/* Launches of one exec follow each other: an event of ours stands for the last. */
uint64_t sw_exec_node_order(const struct sw_exec *exec);

/* ---- threads.c ---- */
/* begin: the HOST_FUNC_RUN that ended with record `seq`. */
void sw_host_func_returned(struct sw_model *m, const struct sw_record *begin, uint64_t seq);

/* ---- host_access.c ---- */
/* A step of a stream that the host may see in memory when it is done. */
void sw_host_signalled(struct sw_model *m, struct sw_point by);
/* May the host have learnt through memory that this step is done? */
bool sw_host_may_know(struct sw_model *m, struct sw_point work);

/* ---- syncs.c ---- */
struct sw_access *sw_model_value(struct sw_model *m, uint32_t thread);

/* ---- capture_isolation.c ---- */
void sw_isolation_failed(struct sw_model *m, const struct sw_record *r, const struct sw_access *call);

/* ---- waits.c ---- */
struct sw_wait *sw_wait_open(struct sw_model *m, const struct sw_record *r);
void sw_wait_reset(struct sw_wait *w);
void sw_wait_add(struct sw_model *m, struct sw_wait *w, sw_hb_token token, enum sw_order order);
/* Looks at what the token covers that the host does not know to be done; sets w->pending, w->covered. */
void sw_wait_look(struct sw_model *m, struct sw_wait *w, sw_hb_token token);
/* The same, and gives the token back. */
void sw_wait_peek(struct sw_model *m, struct sw_wait *w, sw_hb_token token);
uint64_t sw_wait_own(enum sw_own what, uint64_t bytes);
void sw_wait_done(struct sw_model *m, struct sw_wait *w, uint64_t seq, uint64_t t_ns, uint64_t dur_ns, bool failed);
void sw_wait_forget(struct sw_model *m);
void sw_pending_push(struct sw_model *m, struct sw_lane_state *lane, uint64_t seq, uint64_t tick);

/* ---- allocations.c ---- */
/* The call that made the block. */
void sw_block_born(struct sw_block *block, const struct sw_access *call);
/* Memory begins, in the context of the record in hand. */
void sw_block_made(struct sw_model *m, const struct sw_rec_alloc *a, const struct sw_access *born);
/* A call ends all of a block: meets what uses it.  Returns how that is remembered. */
struct sw_access sw_block_release(struct sw_model *m, const struct sw_access *what, struct sw_block *block);
/* The same for the block that starts there, if any, which is then gone. */
void sw_block_freed(struct sw_model *m, uint64_t address, const struct sw_access *what);
/* The memory of a context that has ended: what other contexts still do with it is judged.  cuda.h, cuCtxDestroy, and
   cudaDeviceReset: pool memory and that of cuMemCreate stay. */
void sw_blocks_end(struct sw_model *m, uint8_t ctx, const struct sw_access *what);

/* ---- pools.c ---- */
void sw_pool_init(struct sw_model *m);
/* The block was freed by the step of the stream just made. */
void sw_pool_freed(struct sw_model *m, const struct sw_hb_at *at, const struct sw_block *block);
/* An allocation of a stream is about to be made where others were freed. */
void sw_pool_reuse(struct sw_model *m, const struct sw_hb_at *at, uint64_t address, uint64_t bytes);

/* ---- stream_values.c ---- */
/* The call in hand writes a value, as work at `point`, or waits for one. */
void sw_value_written(struct sw_model *m, const struct sw_hb_at *at, struct sw_point point,
		      const struct sw_rec_mem_op *o);
void sw_value_waited(struct sw_model *m, const struct sw_hb_at *at, const struct sw_rec_mem_op *o);
/* The call orders work in a way that is not followed: nothing that is found in its context from here on is more than
   possible. */
void sw_value_not_followed(struct sw_model *m, const struct sw_access *call);
void sw_values_free(struct sw_model *m);

/* ---- annotations.c ---- */
/* The launch in hand touches what the program said of it; false: it said nothing. */
bool sw_note_launch(struct sw_model *m, struct sw_wait *w);
/* The program wants nothing said of this range. */
bool sw_note_ignored(const struct sw_model *m, const struct sw_range *range);
void sw_notes_free(struct sw_model *m);

/* ---- stalls.c ---- */
/* A call is over. */
void sw_stall_done(struct sw_model *m, const struct sw_wait *w);

/* ---- polls.c ---- */
/* A query said so; `done`: it was the last of its row. */
void sw_poll_again(struct sw_model *m, const struct sw_record *r, const struct sw_access *what, bool done);

/* ---- hazards.c ---- */
void sw_hazard_meet(void *arg, struct sw_shadow_use *earlier, struct sw_shadow_use *later);
void sw_hazard_freed(struct sw_model *m, struct sw_block *freed, struct sw_shadow_use *later);
/* A suballocator hands out what it took back. */
void sw_hazard_reused(struct sw_model *m, struct sw_block *freed, const struct sw_access *born);
void sw_hazard_unborn(struct sw_model *m, struct sw_block *block, struct sw_shadow_use *later);

/* ---- intended_order.c ---- */
void sw_event_wait_remember(struct sw_model *m, struct sw_lane_state *lane, const struct sw_event_state *event,
			    const struct sw_hb_event_state *state, bool useless);
/* Would a wait of this lane for what the event holds now bring nothing?  Asked before the wait. */
bool sw_event_wait_useless(const struct sw_model *m, const struct sw_event_state *event, uint32_t lane);
/* Looks for the wait that should have ordered the hazard: names it in the hazard's advice and as a finding of its own.
 */
void sw_event_wait_hazard(struct sw_model *m, struct sw_finding *hazard, struct sw_block *block);
void sw_event_wait_replaced(struct sw_model *m, const struct sw_event_state *event);

/* ---- legacy_stream.c ---- */
void sw_legacy_edge(struct sw_model *m, const struct sw_hb_edge *edge);

/* ---- wide_syncs.c ---- */
/* A call of the host is over; `documented`: documents promise that it waited. */
void sw_wide_over(struct sw_model *m, struct sw_wait *w, const struct sw_wait_cost *cost, bool documented);
/* The later use comes behind the earlier one, with which it conflicts. */
void sw_wide_need(struct sw_model *m, const struct sw_shadow_use *earlier, const struct sw_shadow_use *later);
/* The host was told that the step is done, and may rely on it (tick 0: nobody knows which). */
void sw_wide_asked(struct sw_model *m, struct sw_point point, uint64_t seq);
/* Uses from this record on are to be kept; UINT64_MAX: none. */
uint64_t sw_wide_since(const struct sw_model *m);
/* Records were lost. */
void sw_wide_forget(struct sw_model *m);
void sw_wide_finish(struct sw_model *m);
void sw_wide_free(struct sw_model *m);

/* ---- handlers ---- */
#define SW_HANDLERS(X)                                                                                                 \
	X(CONTEXT, context)                                                                                            \
	X(NAME, name)                                                                                                  \
	X(FUNCTION, function)                                                                                          \
	X(LOSS, loss)                                                                                                  \
	X(LAUNCH, launch)                                                                                              \
	X(COPY, copy)                                                                                                  \
	X(COPY_ND, copy_nd)                                                                                            \
	X(SET, set)                                                                                                    \
	X(ALLOC, alloc)                                                                                                \
	X(FREE, free)                                                                                                  \
	X(STREAM_CREATE, stream_create)                                                                                \
	X(STREAM_DESTROY, stream_destroy)                                                                              \
	X(EVENT_CREATE, event_create)                                                                                  \
	X(EVENT_DESTROY, event_destroy)                                                                                \
	X(EVENT_RECORD, event_record)                                                                                  \
	X(STREAM_WAIT, stream_wait)                                                                                    \
	X(SYNC, sync)                                                                                                  \
	X(QUERY, query)                                                                                                \
	X(HOST_FUNC, host_func)                                                                                        \
	X(HOST_FUNC_RUN, host_func_run)                                                                                \
	X(CONTEXT_OP, context_op)                                                                                      \
	X(CODE_LOAD, code_load)                                                                                        \
	X(CODE_TOUCH, code_load)                                                                                       \
	X(CAPTURE, capture)                                                                                            \
	X(GRAPH, graph)                                                                                                \
	X(GRAPH_NODE, graph_node)                                                                                      \
	X(GRAPH_LAUNCH, graph_launch)                                                                                  \
	X(MEM_OP, mem_op)                                                                                              \
	X(CONFIG, config)                                                                                              \
	X(OTHER, other)                                                                                                \
	X(OBJECT, object)                                                                                              \
	X(HOST_SYNC, host_sync)                                                                                        \
	X(HOST_ACCESS, host_access)                                                                                    \
	X(ANNOTATION, annotation)                                                                                      \
	X(UNCLASSIFIED, unclassified)

#define SW_HANDLER(kind, name) sw_handler sw_on_##name;
SW_HANDLERS(SW_HANDLER)
#undef SW_HANDLER

#endif
