/* SPDX-License-Identifier: Apache-2.0 */
/* The trace: records of what the program did, and when devices did it. */
#ifndef SYNCWATCH_FORMAT_OPERATIONS_H
#define SYNCWATCH_FORMAT_OPERATIONS_H

#include "format_file.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sw_rec_end {
	struct sw_rec h;
	uint64_t begin_seq;
};

enum {
	SW_LAUNCH_INLINE = 1, /* param_bytes of parameter block follow and define `params` for this writer */
	SW_LAUNCH_COOPERATIVE = 2,
	SW_LAUNCH_EXTRA = 4,	    /* parameters came packed through `extra` */
	SW_LAUNCH_PROGRAMMATIC = 8, /* programmatic stream serialisation was asked for */
	SW_LAUNCH_EVENT = 16,	    /* a programmatic or launch-completion event: an OTHER-free EVENT_RECORD with
				       SW_EVENT_RECORD_EARLY precedes this record */
	/* Since minor 16, instead of SW_LAUNCH_INLINE: struct sw_launch_changes and what belongs to it follow, and
	   define `params`.  Older readers take the parameters for unknown. */
	SW_LAUNCH_CHANGED = 32,
};
/* The parameter block is laid out as the kernel sees it: each parameter at its offset. */
struct sw_rec_launch {
	struct sw_rec h;
	uint64_t stream;
	uint32_t function; /* FUNCTION record's id */
	uint32_t params;   /* id of the parameter block within the writer, 0 = none */
	uint32_t grid[3];
	uint16_t block[3];
	uint16_t flags;	      /* SW_LAUNCH_* */
	uint16_t param_bytes; /* that follow: the inline block, or its changes */
	uint16_t cluster;     /* blocks a cluster, 0 = none */
	uint32_t shared_bytes;
	union {
		uint32_t reserved;
		uint32_t launch; /* since minor 11: its number within the writer for struct sw_rec_launch_again, 0 =
				    none */
	};
};
static_assert(sizeof(struct sw_rec_launch) == 80, "packed");

#define SW_LAUNCH_BLOCK_MAX 32768u /* bytes of a parameter block: CUDA takes less */

/*
 * Since minor 16: how a parameter block differs from an earlier one of the writer, which is as long.  Follows: a bit
 * for each eight bytes of the block, the lowest first, zeros up to a multiple of 64 bits; then each eight bytes whose
 * bit is set.  Of eight bytes that end the block only those in it count.
 */
struct sw_launch_changes {
	uint32_t base; /* number of the earlier block */
	uint32_t reserved;
};
static inline uint32_t sw_launch_changes_bits(uint32_t block_bytes)
{
	return (block_bytes + 511) / 512 * 8;
}

/*
 * Since minor 11: a LAUNCH record shorter than struct sw_rec_launch.  All that it does not say is as in the LAUNCH with
 * this number, which comes before it in its chunk.  Launches and parameter blocks share their numbers.
 */
struct sw_rec_launch_again {
	struct sw_rec h;
	uint32_t like;	/* struct sw_rec_launch.launch */
	int16_t params; /* the parameter block's number, less `like`; 0 = none */
	/* Not 0: the block is new; that of number `params` - `base` (of this chunk before minor 16) with some words of
	   four bytes changed.  Follows:
	   how many, which (a byte each), zeros up to a multiple of four, the words, zeros up to a multiple of eight. */
	uint16_t base;
};
static_assert(sizeof(struct sw_rec_launch_again) == 40, "packed");
#define SW_LAUNCH_CHANGES	6u    /* words at most */
#define SW_LAUNCH_CHANGED_MAX	1024u /* bytes of such a block at most */
#define SW_LAUNCH_CHANGES_BYTES 32u   /* with them the record is still shorter than struct sw_rec_launch */
static inline uint32_t sw_launch_changes_head(uint32_t changes)
{
	return (changes + 4) & ~3u;
}

/* The kind of a copy's side, as its API says; UNIFIED: cuMemcpy/cuMemcpyAsync leave it to the address. */
enum sw_side { SW_SIDE_UNIFIED = 0, SW_SIDE_HOST = 1, SW_SIDE_DEVICE = 2, SW_SIDE_ARRAY = 3 };
/* The kind of memory that an address had when the call was made, as far as the recorder asked the driver (0: it did
 * not). */
struct sw_rec_copy {
	struct sw_rec h;
	uint64_t dst, src; /* address, or array handle */
	uint64_t bytes;
	uint64_t stream;	    /* 0 with SW_RF_SYNCHRONOUS: default stream */
	uint8_t dst_side, src_side; /* enum sw_side */
	uint8_t dst_ctx, src_ctx;   /* peer copies: contexts, else 0 */
	uint32_t flags;		    /* SW_COPY_* */
};
enum {
	SW_COPY_PEER = 1,
	SW_COPY_BATCH = 2,	  /* one record an element, unordered among themselves */
	SW_COPY_BATCH_MORE = 4,	  /* since minor 8: not the last element of its call ... */
	SW_COPY_SRC_DURING = 8,	  /* CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL */
	SW_COPY_SRC_ANYTIME = 16, /* CU_MEMCPY_SRC_ACCESS_ORDER_ANY */
	SW_COPY_BATCH_FIRST = 32, /* ... and the first one */
	/* Since minor 9: the bytes that the source held when the call was made follow the record, at most
	   SW_COPY_CONTENT_MAX.  Of a COPY_ND that is one row; in a node of a graph what it held when the graph was
	   described.  Only what may hold addresses is recorded and, since minor 12, what
	   is at most 8 bytes long. */
	SW_COPY_CONTENT = 64,
};
#define SW_COPY_CONTENT_MAX 4096u

struct sw_box {
	uint64_t base;	/* address of byte 0 of row 0 of slice 0 of the box (offsets x, y, z already added), or array */
	uint64_t pitch; /* bytes from row to row */
	uint64_t slice_rows; /* rows from slice to slice */
	uint64_t x, y, z;    /* arrays only: offset in the array, x in bytes */
	uint8_t side;	     /* enum sw_side */
	uint8_t ctx;
	uint8_t reserved[6];
};
struct sw_rec_copy_nd {
	struct sw_rec h;
	uint64_t stream;
	uint64_t width, height, depth; /* bytes, rows, slices (>= 1) */
	struct sw_box dst, src;
	uint32_t flags; /* SW_COPY_* */
	uint32_t reserved;
};

struct sw_rec_set {
	struct sw_rec h;
	uint64_t dst, stream;
	uint64_t width, height, pitch; /* bytes, rows, bytes; 1D: height 1 */
	uint32_t value, element_bytes;
};

enum sw_memory {
	SW_MEM_UNKNOWN,
	SW_MEM_DEVICE, /* cuMemAlloc, cuMemAllocPitch */
	SW_MEM_ASYNC,  /* cuMemAllocAsync, pools */
	SW_MEM_MANAGED,
	SW_MEM_PINNED,	   /* cuMemHostAlloc, cuMemAllocHost */
	SW_MEM_REGISTERED, /* cuMemHostRegister */
	SW_MEM_ARRAY,
	SW_MEM_MAPPED, /* virtual memory API */
	SW_MEM_IPC,
	SW_MEM_SYMBOL,	 /* module-level variable: address and size were asked for */
	SW_MEM_PAGEABLE, /* never recorded: what the analyser calls host memory that was not registered */
};
/* X(name of enum sw_memory without prefix): in the order above, for readers. */
struct sw_rec_alloc {
	struct sw_rec h;
	uint64_t address, bytes;
	uint64_t stream;       /* ASYNC only */
	uint64_t device_alias; /* PINNED, REGISTERED: device address where it differs, else 0 */
	/* ASYNC: pool; SYMBOL: module; MAPPED: memory handle; IPC: pool, external memory or 0; ARRAY: mipmapped array
	   of which it is level `extra`, since minor 8. */
	uint64_t owner;
	/* Pitch of pitched memory; MAPPED: offset in the memory; IPC: offset in external memory, else sw_hash_words()
	   of what the other process exported (arguments 1 and 2 of cuIpcGetMemHandle's OTHER record: address, hash). */
	uint64_t extra;
	uint32_t memory; /* enum sw_memory */
	uint32_t flags;	 /* of the call */
};
struct sw_rec_free {
	struct sw_rec h;
	uint64_t address;
	union {
		uint64_t stream; /* cuMemFreeAsync */
		uint64_t bytes;	 /* MAPPED: of the range; 0 in traces before minor 2 */
	};
	uint32_t memory; /* enum sw_memory as far as the call says: PINNED for cuMemFreeHost, UNKNOWN for cuMemFree */
	uint32_t flags;
};

struct sw_rec_stream {
	struct sw_rec h; /* STREAM_CREATE, STREAM_DESTROY */
	uint64_t stream;
	uint32_t flags; /* CU_STREAM_NON_BLOCKING = 1 */
	int32_t priority;
};
struct sw_rec_event {
	struct sw_rec h; /* EVENT_CREATE, EVENT_DESTROY */
	uint64_t event;
	uint32_t flags;	 /* CU_EVENT_* */
	uint32_t shared; /* opened from another process: low bits of its handle's sw_hash_words(), else 0 */
};
enum {
	SW_EVENT_RECORD_EXTERNAL = 1,
	SW_EVENT_RECORD_CONTEXT = 2, /* cuCtxRecordEvent: all streams of the context */
	SW_EVENT_RECORD_EARLY = 4    /* may trigger before the kernel of the next LAUNCH of this thread ends */
};
struct sw_rec_event_record {
	struct sw_rec h;
	uint64_t event, stream;
	uint32_t flags, reserved;
};
struct sw_rec_stream_wait {
	struct sw_rec h;
	uint64_t stream, event;
	uint32_t flags; /* 1: CU_EVENT_WAIT_EXTERNAL; 2: cuCtxWaitEvent (all streams) */
	uint32_t reserved;
};
enum sw_sync_what { SW_SYNC_EVENT = 1, SW_SYNC_STREAM = 2, SW_SYNC_CONTEXT = 3, SW_SYNC_ELAPSED = 4 };
/* SYNC comes as BEGIN and END.  QUERY is one record with its sequence number taken after the call; its result is in
 * status. */
struct sw_rec_sync {
	struct sw_rec h;
	uint64_t handle;  /* event, stream or context */
	uint64_t handle2; /* ELAPSED: the end event */
	uint32_t what;	  /* enum sw_sync_what */
	uint32_t flags;
};
/*
 * Since minor 15, after the struct of a QUERY that says "not ready" or of a CODE_TOUCH: the record stands for so many
 * calls that its thread made in a row, of one entry point.  QUERY: of the same handle and place, with nothing of the
 * thread between; h.ticks is the entry of the first, h.ticks + h.dur the return of the last.  CODE_TOUCH: of kernels
 * that the thread had asked about before, one of which it names; the last ones took place in that time.
 */
struct sw_rec_calls {
	uint64_t calls;
	uint64_t inside; /* ticks spent in them */
};
struct sw_rec_host_func {
	struct sw_rec h; /* HOST_FUNC: enqueued; HOST_FUNC_RUN with BEGIN and END (struct sw_rec_end) on the driver's
			    thread */
	uint64_t stream;
	uint64_t function; /* address of the user's function */
	uint64_t enqueued; /* HOST_FUNC_RUN: sequence number of the HOST_FUNC record, else 0 */
	uint32_t flags;	   /* 1: cuStreamAddCallback form; 2: passed through unwrapped (capture), its run is not seen */
	uint32_t reserved;
};
enum sw_context_op {
	SW_CONTEXT_CREATE = 1,
	SW_CONTEXT_DESTROY,
	SW_CONTEXT_CURRENT, /* set, push, pop: h.ctx is current afterwards */
	SW_CONTEXT_RETAIN,  /* primary context */
	SW_CONTEXT_RELEASE,
	SW_CONTEXT_RESET
};
struct sw_rec_context_op {
	struct sw_rec h;
	uint64_t handle; /* context, or device ordinal for primary contexts */
	uint32_t op;	 /* enum sw_context_op */
	uint32_t flags;
};
struct sw_rec_code {
	struct sw_rec h; /* CODE_LOAD, CODE_UNLOAD, CODE_TOUCH */
	uint64_t handle; /* module, library or function */
	uint32_t image;	 /* IMAGE record's id, 0 unknown */
	uint32_t flags;
};
enum sw_capture_op { SW_CAPTURE_BEGIN = 1, SW_CAPTURE_END = 2, SW_CAPTURE_TO_GRAPH = 3 };
struct sw_rec_capture {
	struct sw_rec h;
	uint64_t stream;
	uint64_t graph; /* END: the graph made */
	uint32_t op;	/* enum sw_capture_op */
	uint32_t mode;
};
enum sw_graph_op {
	SW_GRAPH_CREATE = 1,
	SW_GRAPH_DESTROY,
	SW_GRAPH_CLONE,
	SW_GRAPH_ADD_NODE,
	SW_GRAPH_INSTANTIATE, /* graph -> exec */
	SW_GRAPH_EXEC_UPDATE,
	SW_GRAPH_EXEC_DESTROY,
	SW_GRAPH_UPLOAD
};
struct sw_rec_graph {
	struct sw_rec h;
	uint64_t graph, exec, stream;
	uint32_t op; /* enum sw_graph_op */
	uint32_t flags;
};
struct sw_rec_graph_launch {
	struct sw_rec h;
	uint64_t exec, stream;
};
enum {
	SW_NODE_HEAD = 1, /* no node: a description of `exec` begins, `nodes` records follow; the old one is void */
	SW_NODE_INCOMPLETE = 2, /* with HEAD: some nodes or dependencies could not be asked for */
	SW_NODE_CHANGED = 4,	/* of a node described before: other work, the same place in the graph */
	SW_NODE_ENABLED = 8,	/* of a node described before: it takes part again ... */
	SW_NODE_DISABLED = 16,	/* ... or is skipped (cuGraphNodeSetEnabled) */
	SW_NODE_BODY =
		32, /* no node: a body of the conditional node `parent`, which may not run; `node` is its graph */
	SW_NODE_WEAK = 64,  /* some of its dependencies are programmatic: it may begin before those end */
	SW_NODE_EDGES = 128 /* since minor 13: says of each dependency what it is (SW_EDGE_OF) */
};
/* A dependency's CUgraphEdgeData: its type, and the ports of both nodes. */
#define SW_EDGE_OF(type, from_port, to_port) ((uint64_t)(type) | (uint64_t)(from_port) << 8 | (uint64_t)(to_port) << 16)
#define SW_EDGE_TYPE(edge)		     ((uint32_t)(edge)&0xff)
#define SW_EDGE_FROM_PORT(edge)		     ((uint32_t)((edge) >> 8) & 0xff)
/*
 * Written inside the call that instantiates or updates, numbered after its GRAPH record; only once that succeeded. Then
 * `before` x u64, the nodes that this one depends on, with EDGES as many u64 that say what each dependency is, and
 * `work_bytes` of the record that the node's work would be on a stream (LAUNCH with its parameter block, COPY_ND, SET,
 * HOST_FUNC, EVENT_RECORD, STREAM_WAIT, ALLOC, FREE; of its header only kind, words and flags count); 0: the node has
 * no work of these kinds.  A node of memory operations has a MEM_OP for each, one after the other.  CHANGED of a child
 * graph's node: `nodes` records with what it holds now follow.
 */
struct sw_rec_graph_node {
	struct sw_rec h;
	uint64_t exec;
	uint64_t node;	 /* in the graph that exec was made from */
	uint64_t parent; /* the child graph node that it is part of, 0: none */
	uint64_t origin; /* record of the call that made it: captured, or cuGraphAdd*Node; 0 unknown */
	uint32_t type;	 /* CUgraphNodeType */
	uint32_t flags;	 /* SW_NODE_* */
	uint32_t before, work_bytes;
	uint64_t nodes;
};
static_assert(sizeof(struct sw_rec_graph_node) == 88, "packed");
enum sw_mem_op {
	SW_MEMOP_PREFETCH = 1,
	SW_MEMOP_ADVISE,
	SW_MEMOP_ATTACH,
	SW_MEMOP_WAIT_VALUE,
	SW_MEMOP_WRITE_VALUE,
	SW_MEMOP_BATCH,
	SW_MEMOP_DISCARD /* since minor 12: the bytes become indeterminate */
};
struct sw_rec_mem_op {
	struct sw_rec h;
	uint64_t stream, address, bytes, value;
	uint32_t op, flags;
};
struct sw_rec_config {
	struct sw_rec h;
	uint64_t what, value;
};
enum sw_object_kind { SW_OBJECT_TEXTURE = 1, SW_OBJECT_SURFACE = 2, SW_OBJECT_TENSOR_MAP = 3 };
/* Memory that a kernel reaches without a pointer: memory of `rank` dimensions.  A tensor map is known by its content.
 */
struct sw_rec_object {
	struct sw_rec h;
	uint64_t handle;  /* texture or surface object; tensor map: sw_hash_words() of its 128 bytes */
	uint64_t before;  /* of a tensor map that was changed: what `handle` was before, only address is filled then, 0
			     where it is as it was; else 0 */
	uint64_t address; /* side ARRAY: the array; 0 unknown */
	uint64_t size[5]; /* textures: bytes, rows; tensor maps: elements; rank of them */
	uint64_t stride[4]; /* bytes, of the second dimension and on */
	uint32_t kind;	    /* enum sw_object_kind */
	uint8_t side;	    /* enum sw_side: DEVICE or ARRAY */
	uint8_t rank;
	uint16_t type; /* CUtensorMapDataType */
};
static_assert(sizeof(struct sw_rec_object) == 136, "packed");
/* The calls of syncwatch.h; names are NAME records. */
enum sw_annotation {
	SW_NOTE_READS = 1,   /* the next launch on the stream reads [address, address + bytes) */
	SW_NOTE_WRITES,	     /* the same, writes */
	SW_NOTE_BLOCK_BEGIN, /* part of an allocation is handed out, at this point of the stream */
	SW_NOTE_BLOCK_END,   /* and returned */
	SW_NOTE_IGNORE,	     /* accesses of the range are not judged, from now on */
	SW_NOTE_JUDGE,	     /* they are again */
	SW_NOTE_BEFORE,	     /* the stream so far happens before every later AFTER with the same `address` */
	SW_NOTE_AFTER,
	/* A caching allocator (PyTorch's, CuPy's) hands out a block of what it keeps, and takes it back, as the host
	   runs: work that uses it may be unfinished (since minor 9) */
	SW_NOTE_TENSOR_BEGIN,
	SW_NOTE_TENSOR_END
};
enum {
	SW_NOTE_ON_HOST = 1,   /* of the calling thread, at once; `stream` means nothing */
	SW_NOTE_ONE_STREAM = 2 /* TENSOR_*: an allocator that has nothing like PyTorch's record_stream() */
};
struct sw_rec_annotation {
	struct sw_rec h;
	uint64_t address, bytes, stream;
	uint32_t op;	/* enum sw_annotation */
	uint32_t flags; /* SW_NOTE_ON_HOST ... */
};
enum {
	SW_HOST_WRITES = 1, /* else it reads */
	SW_HOST_CALL =
		2, /* by a call of libc (read, write, fread ...), which says how many bytes; else by an instruction */
	SW_HOST_UNGUARDED = 4 /* no access: `bytes` counts uses of host memory by work that were not guarded, or only in
				 part */
};
/*
 * Written by the guard (--guard-host) for an access of the host to a byte that unfinished work was thought to use.  One
 * of an instruction is numbered before the access: `address` is the first byte that it touched, `bytes` is 1.  Its
 * stack is that of the instruction, below the frame that the kernel made for the signal.  One of a call is numbered
 * after it.
 */
struct sw_rec_host_access {
	struct sw_rec h;
	uint64_t address, bytes;
	uint64_t instruction; /* its address; 0: a call */
	uint32_t flags;	      /* SW_HOST_* */
	uint32_t reserved;
};
static_assert(sizeof(struct sw_rec_host_access) == 64, "packed");

/* ---- time stamps of the devices ---------------------------------------------------------------------------------- */

enum {
	SW_GPU_CLOCK_OURS = 1, /* the clock is made of the recorder's ticks: gpu_ns belongs to ticks exactly */
	SW_GPU_CLOCK_LAST = 2  /* all records that there were have been fetched */
};
/* Between two of these the clock is taken to run evenly. */
struct sw_rec_gpu_clock {
	struct sw_rec h; /* h.ticks: in the middle of the reading */
	uint64_t gpu_ns;
	uint64_t lost;	/* ACTIVITY records lost so far, as far as CUPTI reports */
	uint32_t width; /* ticks that the reading took */
	uint32_t flags; /* SW_GPU_CLOCK_* */
};
static_assert(sizeof(struct sw_rec_gpu_clock) == 56, "packed");

enum sw_activity {
	SW_ACTIVITY_CALL =
		1, /* a driver call: what carries its correlation id was put there by the record of `on` then */
	SW_ACTIVITY_KERNEL,
	SW_ACTIVITY_COPY,
	SW_ACTIVITY_SET,
	SW_ACTIVITY_GRAPH,   /* one launch of an executable graph, from its first to its last node */
	SW_ACTIVITY_OVERHEAD /* time that a call lost in the driver or in CUPTI: sw_overhead */
};
enum sw_overhead {
	SW_OVERHEAD_UNKNOWN,
	SW_OVERHEAD_COMPILER, /* PTX was compiled */
	SW_OVERHEAD_FLUSH,    /* CUPTI's own, down to RESOURCE */
	SW_OVERHEAD_INSTRUMENTATION,
	SW_OVERHEAD_RESOURCE,
	SW_OVERHEAD_MODULE,	/* the runtime loaded modules */
	SW_OVERHEAD_LAZY,	/* a kernel was loaded at its first use */
	SW_OVERHEAD_QUEUE_FULL, /* no room for another command */
	SW_OVERHEAD_BUFFER,	/* CUPTI asked for a buffer */
	SW_OVERHEAD_MANAGED	/* CUPTI began to watch managed memory */
};
/*
 * Written when it was fetched, long after the work that it describes; the sequence number says no more than that.
 * `start` and `end` are of GPU_CLOCK's clock; both 0: not known.
 */
struct sw_rec_activity {
	struct sw_rec h;
	uint64_t start, end;
	uint64_t bytes;	      /* COPY, SET */
	uint64_t node;	      /* CUPTI's id of a graph's node, 0: none */
	uint32_t correlation; /* CUPTI's id of the driver call, 0 unknown */
	uint32_t on;	      /* CALL, OVERHEAD: kernel's thread id; else CUPTI's id of the stream */
	uint32_t context;     /* CUPTI's id */
	uint32_t graph;	      /* CUPTI's id, 0: none */
	uint32_t device;
	uint16_t what;	 /* enum sw_activity */
	uint16_t detail; /* COPY: CUpti_ActivityMemcpyKind; OVERHEAD: enum sw_overhead */
};
static_assert(sizeof(struct sw_rec_activity) == 88, "packed");

enum sw_thread_op {
	SW_THREAD_ACQUIRE = 1, /* numbered after the call that waited or locked */
	SW_THREAD_RELEASE,     /* numbered before the call that lets others continue */
	SW_THREAD_CREATE,      /* object: a number of this creation, never used again; before the thread exists */
	SW_THREAD_START,       /* the same number: the first record of the new thread */
	SW_THREAD_ABANDON,     /* the same number: the thread could not be created */
	SW_THREAD_END,	       /* object: the pthread_t; little or nothing of the thread follows */
	SW_THREAD_JOIN	       /* object: the pthread_t, once it was joined */
};
/* Objects of different kinds may lie at one address: only in the same kind they meet. */
enum sw_through {
	SW_THROUGH_MUTEX = 1, /* spin locks too */
	SW_THROUGH_WRITERS,   /* of a rwlock: released by writers, acquired by all ... */
	SW_THROUGH_READERS,   /* ... released by readers, acquired by writers */
	SW_THROUGH_COND,
	SW_THROUGH_SEMAPHORE,
	SW_THROUGH_BARRIER,
	SW_THROUGH_ONCE,
	SW_THROUGH_THREAD
};
/*
 * Left out: what orders nothing (src/preload/strict/sync_filter.h), and what happens inside calls of CUDA,
 * whose locks are no promise to the program.
 */
struct sw_rec_host_sync {
	struct sw_rec h;
	uint64_t object;
	uint32_t op;   /* enum sw_thread_op */
	uint32_t kind; /* enum sw_through */
};
static_assert(sizeof(struct sw_rec_host_sync) == 48, "packed");

enum sw_range_op {
	SW_RANGE_PUSH = 1, /* on the thread's stack of the domain */
	SW_RANGE_POP,
	SW_RANGE_START, /* with an id, by which any thread may end it */
	SW_RANGE_END
};
/* Written by libsyncwatch-nvtx.so.  A range that was open before recording began is reported when it begins. */
struct sw_rec_range {
	struct sw_rec h;
	uint64_t domain; /* which one, 0 the default */
	uint64_t id;	 /* START, END: never used again; else 0 */
	uint32_t op;	 /* enum sw_range_op */
	uint32_t tid;	 /* PUSH, START: kernel's id of the thread whose range it is; 0: the thread of the record */
	uint32_t name_bytes, domain_bytes; /* PUSH, START: then the name, then that of the domain */
};
static_assert(sizeof(struct sw_rec_range) == 64, "packed");
/* OTHER, UNCLASSIFIED: argument words as far as they fit; UNCLASSIFIED's name is that of its API record. */
struct sw_rec_other {
	struct sw_rec h;
	uint64_t args[6];
};

#ifdef __cplusplus
}
#endif

#endif
