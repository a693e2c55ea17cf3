/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated CUDA driver: a discrete-event model of streams, events, copies, allocations and graphs on the CPU.
 *
 * Host threads are real.  Everything below is protected by one lock that each API call holds from entry to return,
 * except while it waits.  One engine thread executes operations in dependency order; bytes are really moved, kernels
 * are timed no-ops.  Prefix of this module's functions: sw_sim_.
 */
#ifndef SW_SIMCUDA_SIM_H
#define SW_SIMCUDA_SIM_H

/* Declares every exported name with its own prototype instead of renaming the newest to the plain one. */
#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>

#include <stdbool.h>
#include <stdint.h>

#include "api/newer_types.h"
#include "base/map.h"
#include "base/memory.h"
#include "syncwatch/format.h"

#define SW_SIM_MAX_DEVICES 16
#define SW_SIM_STACK_DEPTH 32

/* ---- objects of handles ---- */
enum sw_sim_kind {
	SW_SIM_CTX = 1,
	SW_SIM_STREAM,
	SW_SIM_EVENT,
	SW_SIM_MODULE,
	SW_SIM_LIBRARY,
	SW_SIM_FUNCTION, /* CUfunction and CUkernel alike: the runtime passes one for the other */
	SW_SIM_POOL,
	SW_SIM_GRAPH,
	SW_SIM_NODE,
	SW_SIM_EXEC,
	SW_SIM_MEMORY, /* cuMemCreate */
	SW_SIM_ARRAY,
	SW_SIM_MIPMAPPED,
	SW_SIM_TEXTURE,
	SW_SIM_SURFACE,
	SW_SIM_USER_OBJECT,
};

struct sw_sim_object {
	enum sw_sim_kind kind;
	struct sw_sim_ctx *ctx; /* it ends with this context; NULL: with the process */
};

/* Registers a new handle; `object` starts with a struct sw_sim_object. */
void sw_sim_object_add(void *object, enum sw_sim_kind kind, struct sw_sim_ctx *ctx);
/* The object, or NULL when the handle is stale or of another kind. */
void *sw_sim_object_get(const void *handle, enum sw_sim_kind kind);
void sw_sim_object_remove(void *object);
/* Calls each() for the objects of that kind (and context unless NULL); each() may remove the one it is given. */
void sw_sim_object_each(enum sw_sim_kind kind, struct sw_sim_ctx *ctx, void (*each)(void *object, void *arg),
			void *arg);

/* ---- work and operations (work.c, engine.c) ---- */
struct sw_sim_launch {
	struct sw_sim_function *function;
	unsigned grid[3], block[3], shared_bytes;
	void *params; /* packed block */
	size_t param_bytes;
	void **pointers; /* one per parameter into the block, as cuGraphKernelNodeGetParams returns them */
	bool overlaps;	 /* programmatic stream serialisation was asked for */
};

struct sw_sim_copy {
	uint64_t dst, src; /* first byte */
	size_t width, height, depth;
	size_t dst_pitch, src_pitch, dst_slice, src_slice;
	void *staged; /* pageable source, copied away at the call; NULL: read at execution */
};

struct sw_sim_set {
	uint64_t dst;
	size_t pitch, width, height; /* width in elements */
	unsigned value, element;
};

struct sw_sim_host {
	CUhostFn function;
	CUstreamCallback callback; /* cuStreamAddCallback's, when function is NULL */
	CUstream stream;
	void *arg;
};

/* A stream waits for a value in memory, or writes one. */
struct sw_sim_value {
	uint64_t address, value;
	unsigned bytes, flags;
	bool wait;
};

/* The work of an operation: immutable once enqueued, shared by graph nodes and the operations made from them. */
struct sw_sim_work {
	uint32_t refs;
	CUgraphNodeType type;
	uint64_t ns; /* model duration */
	/* The type that the user sees: conditional nodes and those of memory operations run as child graphs. */
	CUgraphNodeType as;
	struct sw_sim_graph **bodies; /* conditional: its graphs, of which `child` is the one that runs */
	unsigned parts;		      /* bodies, or memory operations */
	CUstreamBatchMemOpParams *ops;
	union {
		struct sw_sim_launch launch;
		struct sw_sim_copy copy;
		struct sw_sim_set set;
		struct sw_sim_host host;
		struct sw_sim_event *event; /* record and wait nodes */
		struct sw_sim_graph *child; /* owned; NULL: nothing runs */
		uint64_t address;	    /* stream-ordered free */
		struct sw_sim_value op;	    /* CU_GRAPH_NODE_TYPE_BATCH_MEM_OP */
	};
};

/* Counted: new and get add one, put takes one off and frees the last.  ns: how long it runs. */
struct sw_sim_work *sw_sim_work_new(CUgraphNodeType type, uint64_t ns);
struct sw_sim_work *sw_sim_work_get(struct sw_sim_work *work);
void sw_sim_work_put(struct sw_sim_work *work);
/* Executes it; called by the engine without the lock. */
void sw_sim_work_run(const struct sw_sim_work *work);

struct sw_sim_op {
	uint32_t refs, pending, waiters;
	bool done, submitted;
	uint64_t ready, end; /* ns, CLOCK_MONOTONIC: last thing it waited for; completion in the model's time */
	uint64_t seq;
	struct sw_sim_work *work; /* NULL: a marker */
	SW_VEC(struct sw_sim_op *) next;
};

/* A new operation with one reference; `work` is taken over (NULL: a marker without duration). */
struct sw_sim_op *sw_sim_op_new(struct sw_sim_work *work);
void sw_sim_op_put(struct sw_sim_op *op); /* NULL allowed */
/* Orders op after `before` (NULL allowed); only until op is submitted. */
void sw_sim_op_after(struct sw_sim_op *op, struct sw_sim_op *before);
void sw_sim_op_submit(struct sw_sim_op *op);
/* Waits with the lock released. */
void sw_sim_op_wait(struct sw_sim_op *op);
/* *slot := op with a reference of its own; the old one is dropped. */
void sw_sim_op_set(struct sw_sim_op **slot, struct sw_sim_op *op);
/* Starts the engine once; false: no thread. */
bool sw_sim_engine_start(void);
/* Drops pending work: the process exits. */
void sw_sim_engine_stop(void);

/* ---- devices and contexts (context.c, device.c) ---- */
struct sw_sim_range {
	uint64_t base, size;
};

struct sw_sim_device {
	int index;
	struct sw_sim_ctx *primary; /* exists from cuInit on; active while retained */
	struct sw_sim_pool *default_pool, *pool;
	uint64_t base, size; /* device addresses: reserved, not accessible by the host */
	char *backing;	     /* the bytes after them */
	uint64_t used;	     /* bytes allocated */
	SW_VEC(struct sw_sim_range) free;
};

struct sw_sim_ctx {
	struct sw_sim_object object;
	struct sw_sim_device *device;
	bool primary, active;
	unsigned flags, retained, generation;
	struct sw_sim_stream *legacy;
	SW_VEC(struct sw_sim_stream *) streams; /* all others, destroyed ones while they have work */
	struct sw_sim_op *barrier;		/* code was loaded: later work waits for it */
	size_t limits[CU_LIMIT_MAX];
	CUfunc_cache cache;
	uint32_t peers; /* bit per device that was enabled */
	unsigned long long id;
};

/* The current context, NULL: none (never an inactive one). */
struct sw_sim_ctx *sw_sim_ctx_current(void);
struct sw_sim_device *sw_sim_device_at(CUdevice ordinal); /* NULL: no such */
/* Waits for all work of a context or device. */
void sw_sim_ctx_wait(struct sw_sim_ctx *ctx);
void sw_sim_device_wait(struct sw_sim_device *device);
/* Code is loaded: everything enqueued later in ctx waits for everything enqueued before.
   (measured on H200, driver 580.159.04, CUDA 13.0: "first launch of a kernel, on nb2 (lazy load)") */
void sw_sim_ctx_barrier(struct sw_sim_ctx *ctx);

/* ---- streams and events ---- */
struct sw_sim_stream {
	struct sw_sim_object object;
	unsigned flags;
	int priority;
	bool legacy, per_thread, destroyed;
	uint64_t thread; /* of a per-thread stream */
	unsigned long long id;
	struct sw_sim_op *tail; /* NULL: nothing was ever enqueued */
	struct sw_sim_capture *capture;
	uint32_t attributes; /* that were set, by number */
	CUstreamAttrValue attribute[CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN + 1];
};

/* Counts of an event that other processes may open: records called, and the last one that is done. */
struct sw_sim_shared_event {
	uint64_t recorded, done;
};

struct sw_sim_event {
	struct sw_sim_object object;
	unsigned flags;
	struct sw_sim_op *op;		/* latest record; NULL: never recorded */
	struct sw_sim_capture *capture; /* recorded while capturing: the nodes it stands for */
	SW_VEC(struct sw_sim_node *) nodes;
	unsigned long long capture_id;
	struct sw_sim_shared_event *shared; /* CU_EVENT_INTERPROCESS: then `op` is of no use ... */
	bool opened;			    /* it is the event of another process */
	int fd;				    /* ... and this is its page */
};

/* The meaning of stream 0 in the call that this thread is in: the legacy stream, or the per-thread one (twins.c). */
extern __thread CUstream sw_sim_default_stream;
/* Resolves a stream argument of a call that has a current context. */
CUresult sw_sim_stream_find(CUstream handle, struct sw_sim_stream **out);
struct sw_sim_stream *sw_sim_stream_new(struct sw_sim_ctx *ctx, unsigned flags, int priority);
void sw_sim_stream_end(struct sw_sim_stream *stream); /* forgets it with its last reference to work */
/* Enqueues work (taken over; NULL: a marker) in stream order.  The result stays valid while the lock is held. */
struct sw_sim_op *sw_sim_stream_enqueue(struct sw_sim_stream *stream, struct sw_sim_work *work);
/* A new, unsubmitted operation ordered as the next one of the stream; sw_sim_stream_advance() then makes the stream end
 * in it. */
struct sw_sim_op *sw_sim_stream_begin(struct sw_sim_stream *stream, struct sw_sim_work *work);
void sw_sim_stream_advance(struct sw_sim_stream *stream, struct sw_sim_op *op);
/* An operation in the stream, or a node if it is capturing.  *op (may be NULL) is NULL after a capture. */
CUresult sw_sim_submit(struct sw_sim_stream *stream, struct sw_sim_work *work, struct sw_sim_op **op);
void sw_sim_event_end(struct sw_sim_event *event);

/* ---- memory ---- */
enum sw_sim_memory { SW_SIM_PAGEABLE, SW_SIM_DEVICE, SW_SIM_PINNED, SW_SIM_REGISTERED, SW_SIM_MANAGED };

struct sw_sim_alloc {
	uint64_t base, size;
	enum sw_sim_memory memory;
	struct sw_sim_device *device;
	struct sw_sim_ctx *ctx;
	struct sw_sim_pool *pool; /* stream-ordered allocations */
	unsigned flags;
	bool sync_memops, fixed; /* fixed: a module's variable */
	bool graph, live; /* of a graph's node: its address never changes; allocated and not freed, by call order */
	unsigned long long id;
	struct sw_sim_alloc *next_free;
	unsigned opened;		  /* memory of another process: how often */
	int exporter;			  /* its process ... */
	unsigned long long exported;	  /* ... and its id there */
	struct sw_sim_reserved *reserved; /* addresses without memory of their own */
	struct sw_sim_array *array;	  /* it is the memory of that */
};

/* The allocation that holds the address; NULL: none, also for reserved addresses without memory.  Under the lock. */
struct sw_sim_alloc *sw_sim_alloc_find(uint64_t address);
/* Finds the allocation of another process that was opened here; NULL: none. */
struct sw_sim_alloc *sw_sim_alloc_opened(int exporter, unsigned long long exported);
/* [address, address + bytes) lies in one allocation of device or managed memory. */
bool sw_sim_alloc_holds(uint64_t address, uint64_t bytes);
struct sw_sim_alloc *sw_sim_alloc_device(struct sw_sim_device *device, size_t bytes); /* NULL: out of memory */
/* Memory that the host reaches too. */
struct sw_sim_alloc *sw_sim_alloc_pages(struct sw_sim_device *device, size_t bytes, enum sw_sim_memory memory);
void sw_sim_alloc_release(struct sw_sim_alloc *alloc);
void sw_sim_alloc_clear(struct sw_sim_ctx *ctx);
enum sw_sim_memory sw_sim_memory_of(uint64_t address);
/* Where the bytes of an address are; no lock needed. */
void *sw_sim_backing(uint64_t address);
bool sw_sim_memory_start(struct sw_sim_device *device);

/* ---- vmm.c ---- */
/* All of [address, address + bytes) is mapped and may be accessed. */
bool sw_sim_reserved_holds(const struct sw_sim_alloc *alloc, uint64_t address, uint64_t bytes);
void sw_sim_reserved_free(struct sw_sim_alloc *alloc);
/* The allocation or reservation, mapped or not. */
struct sw_sim_alloc *sw_sim_alloc_at(uint64_t address);

/* ---- ipc.c ---- */
bool sw_sim_ipc_event_start(struct sw_sim_event *event); /* false: no page for it */
void sw_sim_ipc_event_end(struct sw_sim_event *event);
/* The work of a record, and of a wait for what was recorded so far. */
struct sw_sim_work *sw_sim_ipc_record(struct sw_sim_event *event);
struct sw_sim_work *sw_sim_ipc_wait(struct sw_sim_event *event);
bool sw_sim_ipc_done(const struct sw_sim_event *event);
/* Waits with the lock released now and then. */
void sw_sim_ipc_synchronize(const struct sw_sim_event *event);

/* ---- values.c ---- */
/* The value that a wait is for is there; no lock needed. */
bool sw_sim_value_there(const struct sw_sim_value *op);
void sw_sim_value_write(const struct sw_sim_value *op);

/* ---- code ---- */
struct sw_sim_function {
	struct sw_sim_object object;
	char *name;
	struct sw_sim_module *module;
	bool known;  /* the image was readable: params are from it */
	bool loaded; /* first use has ended */
	size_t params, param_bytes;
	struct sw_param *param;
	uint64_t ns; /* fixed duration, 0: by the model */
	int max_dynamic_shared, carveout;
};

/* The fixed duration that SYNCWATCH_SIM_KERNEL_TIME gives to a kernel, 0: none. */
uint64_t sw_sim_duration_of(const char *mangled);
void sw_sim_duration_start(void);
struct sw_sim_function *sw_sim_function_get(const void *handle);
/* First use in this context: lazy loading. */
void sw_sim_function_load(struct sw_sim_function *function, struct sw_sim_ctx *ctx);
void sw_sim_module_clear(struct sw_sim_ctx *ctx);
/* Work for one launch; params as cuLaunchKernel takes them. */
CUresult sw_sim_launch_work(CUfunction handle, const unsigned grid[3], const unsigned block[3], unsigned shared_bytes,
			    void **params, void **extra, struct sw_sim_work **out);

/* ---- pools ---- */
struct sw_sim_pool {
	struct sw_sim_object object;
	struct sw_sim_device *device;
	uint64_t used, used_high, threshold;
	enum sw_sim_memory memory;
	bool is_default;
};
struct sw_sim_pool *sw_sim_pool_new(struct sw_sim_device *device);
void sw_sim_pool_free(uint64_t address); /* executed in stream order by the engine, without the lock */

/* ---- graphs and capture ---- */
struct sw_sim_node {
	struct sw_sim_object object;
	struct sw_sim_graph *graph;
	struct sw_sim_work *work;
	bool disabled;
	bool updatable; /* by kernels; the simulation has none that does */
	SW_VEC(struct sw_sim_node *) before;
	SW_VEC(CUgraphEdgeData) edge; /* of each in `before`; the simulation itself waits for the whole of it */
	struct sw_sim_op *op;	      /* while a launch is being built */
	struct sw_sim_node *twin;     /* while a graph is being copied */
	struct sw_sim_node *origin;   /* cloned from */
};

struct sw_sim_held {
	struct sw_sim_user_object *object;
	uint64_t count;
};

struct sw_sim_graph {
	struct sw_sim_object object;
	SW_VEC(struct sw_sim_node *) nodes; /* in the order they were added: dependencies may point either way */
	bool owned;			    /* a child graph's copy */
	SW_VEC(struct sw_sim_held) held;    /* user objects: as often as they were retained */
	struct sw_sim_op *until;	    /* what must be over before it drops them */
};

struct sw_sim_exec {
	struct sw_sim_object object;
	struct sw_sim_graph *graph; /* own copy, topologically sorted */
	struct sw_sim_op *last;
	unsigned long long flags;
};

/* Makes the work of a node from the parameters of its type (CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS). */
CUresult sw_sim_copy_work(const void *params, struct sw_sim_work **out);
CUresult sw_sim_set_work(const void *params, struct sw_sim_work **out);
/* pool.c: memory of a graph's node; the caller adds the node. */
CUresult sw_sim_alloc_work(const void *params, struct sw_sim_work **out);
/* A launch of the graph: false when it would allocate what the launch before did not free. */
bool sw_sim_graph_claim(const struct sw_sim_graph *graph, unsigned long long flags);
void sw_sim_copy_params(const struct sw_sim_work *work, CUDA_MEMCPY3D *out);

/* exec_new instantiates a copy. */
struct sw_sim_graph *sw_sim_graph_new(void);
CUresult sw_sim_exec_new(struct sw_sim_graph *graph, unsigned long long flags, struct sw_sim_exec **out);
/* Ends an exec that never ran and keeps its sorted graph. */
struct sw_sim_graph *sw_sim_exec_take(struct sw_sim_exec *exec);
void sw_sim_graph_free(struct sw_sim_graph *graph);
struct sw_sim_node *sw_sim_graph_add(struct sw_sim_graph *graph, struct sw_sim_work *work); /* work taken over */
void sw_sim_graph_remove(struct sw_sim_node *node);					    /* with its edges */
/* edge: NULL: a plain dependency. */
void sw_sim_node_depend(struct sw_sim_node *node, struct sw_sim_node *before, const CUgraphEdgeData *edge);
/* False: there is no such dependency. */
bool sw_sim_node_undepend(struct sw_sim_node *node, const struct sw_sim_node *before);
struct sw_sim_graph *sw_sim_graph_copy(const struct sw_sim_graph *graph,
				       bool link); /* link: nodes remember their origin */

/* user_object.c: what a graph holds. */
void sw_sim_held_copy(struct sw_sim_graph *to, const struct sw_sim_graph *from);
void sw_sim_held_until(struct sw_sim_graph *graph, struct sw_sim_op *last); /* `last`: of its launches; NULL allowed */
void sw_sim_held_free(struct sw_sim_graph *graph);

struct sw_sim_capture {
	struct sw_sim_graph *graph;
	struct sw_sim_stream *origin;
	CUstreamCaptureMode mode;
	uint64_t thread;
	bool invalid, borrowed; /* borrowed: the graph is the user's */
	bool again;		/* its nodes get new parameters, in the order of `next` */
	size_t next;
	CUgraphRecaptureCallback differs; /* may be NULL */
	void *differs_data;
	unsigned long long id;
	SW_VEC(struct sw_sim_capture_lane {
		struct sw_sim_stream *stream;
		SW_VEC(struct sw_sim_node *) last;
	})
	lanes;
};

/* The result of a call that capture forbids: error while this thread may not make it. */
CUresult sw_sim_capture_unsafe(void);
/* The capture has ended, with that error. */
CUresult sw_sim_capture_spoil(struct sw_sim_capture *capture, CUresult error);
CUresult sw_sim_capture_legacy(struct sw_sim_ctx *ctx);
CUresult sw_sim_capture_add(struct sw_sim_stream *stream, struct sw_sim_work *work);
CUresult sw_sim_capture_record(struct sw_sim_stream *stream, struct sw_sim_event *event);
CUresult sw_sim_capture_wait(struct sw_sim_stream *stream, struct sw_sim_event *event);
void sw_sim_capture_forget(struct sw_sim_stream *stream);

/* ---- the process ---- */
struct sw_sim_state {
	int devices;
	struct sw_sim_device device[SW_SIM_MAX_DEVICES];
	unsigned long long next_id;
	bool eager; /* CUDA_MODULE_LOADING=EAGER */
	SW_VEC(struct sw_sim_capture *) captures;
	SW_VEC(unsigned) conditions; /* by handle - 1: the value that each launch begins with */
};
extern struct sw_sim_state sw_sim;

/*
 * Entry of an API call: takes the lock, or returns the error to return.
 * SW_SIM_ENTER(SW_SIM_NEEDS_CTX) at the top of a function returns that error; the lock is returned on return.
 */
enum sw_sim_need { SW_SIM_NEEDS_NOTHING, SW_SIM_NEEDS_INIT, SW_SIM_NEEDS_CTX };
CUresult sw_sim_enter(enum sw_sim_need need);
void sw_sim_leave(const CUresult *entered);
void sw_sim_lock(void);
void sw_sim_unlock(void);
#define SW_SIM_ENTER(need)                                                                                             \
	__attribute__((cleanup(sw_sim_leave))) const CUresult sw_sim_entered = sw_sim_enter(need);                     \
	if (sw_sim_entered)                                                                                            \
	return sw_sim_entered
uint64_t sw_sim_thread(void); /* identity of this thread */
/* Marks this thread as one that runs the user's host functions: CUDA is refused there. */
void sw_sim_thread_is_callback(void);
/* One line on stderr per name. */
CUresult sw_sim_unsupported(const char *name);

#endif
