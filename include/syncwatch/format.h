/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace: what the preload object writes and the command reads.
 *
 * A trace is one file: a header page, then chunks of one size.  Each chunk belongs to one *writer* (the buffer of
 * one thread; when a thread ends, the next new thread inherits its writer and announces itself with a THREAD record).
 * Records of one writer stand in the order of their sequence numbers; the reader merges writers by sequence.
 *
 * All integers are little-endian.  Every record starts on an 8-byte boundary.  A reader accepts every version with
 * its own major number or a smaller one; unknown record kinds are skipped by their length.
 *
 * Thread-safety of the file: a writer stores payload first and then publishes `committed` of its chunk with release
 * order, so that whatever a reader finds below `committed` is whole, even after SIGKILL.
 */
#ifndef SYNCWATCH_FORMAT_H
#define SYNCWATCH_FORMAT_H

#include <assert.h>
#include <stdint.h>

#define SW_FORMAT_MAGIC "SYNCWTRC"
#define SW_FORMAT_MAJOR 1
/* 1: OBJECT, names of symbols; 2: GRAPH_NODE; 3: ANNOTATION, RANGE, HOST_ACCESS, bytes of unmapped ranges, GPU_CLOCK,
 * ACTIVITY; 4: PACK and what belongs to it */
#define SW_FORMAT_MINOR	       4
#define SW_FORMAT_HEADER_BYTES 4096u
#define SW_FORMAT_CHUNK_MAGIC  0x4b484353u /* "SCHK" */
#define SW_FORMAT_BYTE_ORDER   0x01020304u

/* Flags of a file. */
enum {
	SW_FILE_CLOSED = 1u << 0,    /* the program ended in order; END record written */
	SW_FILE_SIMULATED = 1u << 1, /* recorded on the simulated CUDA */
	SW_FILE_TSC = 1u << 2,	     /* ticks are the invariant time stamp counter, else CLOCK_MONOTONIC nanoseconds */
	SW_FILE_STACKS = 1u << 3,    /* call stacks were recorded */
	SW_FILE_GPU = 1u << 4,	     /* time stamps of the devices were recorded (ACTIVITY) */
	SW_FILE_HOST_SYNC = 1u << 5, /* (live) how host threads synchronise was recorded (HOST_SYNC) */
};

/* First page of the file.  Fields marked (live) change while the program runs and are read with acquire order. */
struct sw_file_header {
	char magic[8];
	uint16_t major, minor;
	uint32_t byte_order;
	uint32_t header_bytes; /* offset of chunk 0 */
	uint32_t chunk_bytes;  /* bytes of each chunk, header included; a multiple of 4096 */
	uint32_t flags;	       /* (live) SW_FILE_* */
	uint32_t pid, ppid, reserved;
	uint64_t ticks_per_second;     /* (live) best estimate so far */
	uint64_t start_ticks;	       /* these three were read together at start */
	uint64_t start_monotonic_ns;   /* CLOCK_MONOTONIC */
	uint64_t start_realtime_ns;    /* CLOCK_REALTIME */
	uint64_t last_ticks;	       /* (live) a later pair, to correct ticks_per_second; 0 = none yet */
	uint64_t last_monotonic_ns;    /* (live) */
	uint64_t chunks;	       /* (live) chunks handed out so far */
	uint64_t records_lost;	       /* (live) */
	uint64_t bytes_lost;	       /* (live) */
	uint64_t cost_no_stack_ps;     /* measured at start-up: picoseconds a record, without stack */
	uint64_t cost_stack_ps;	       /* the same with a cached stack; 0 = not measured */
	uint32_t cuda_driver_version;  /* (live) cuDriverGetVersion, e.g. 13000; 0 = unknown */
	uint32_t cuda_headers_version; /* CUDA_VERSION that the recorder was built with */
	char recorder_version[32];     /* NUL-terminated */
	uint8_t pad[4096 - 168];
};
static_assert(sizeof(struct sw_file_header) == SW_FORMAT_HEADER_BYTES, "header is one page");

/* Start of each chunk. */
struct sw_chunk_header {
	uint32_t magic;	    /* SW_FORMAT_CHUNK_MAGIC */
	uint32_t writer;    /* 0-based */
	uint32_t index;	    /* 0-based, within the writer */
	uint32_t committed; /* (live) bytes of whole records that follow this header */
	uint32_t closed;    /* (live) 1: no more records follow in this chunk, crc is valid */
	uint32_t crc;	    /* CRC-32C of the committed bytes as they were when closed */
	uint64_t first_seq; /* sequence number of the first record */
};
static_assert(sizeof(struct sw_chunk_header) == 32, "packed");

/*
 * Record kinds: X(NAME, value, struct, "what it says").
 *
 * The struct is what a record of that kind starts with; several kinds may share one, sw_rec is the header alone.
 * Values never change and are never reused.
 * Below 64: descriptions (metadata).  From 64 on: operations of the program, of which each has a struct below.
 */
#define SW_RECORDS(X)                                                                                                  \
	X(PAD, 0, sw_rec, "filler up to the end of the chunk")                                                         \
	X(PROCESS, 1, sw_rec_process, "program, arguments, environment facts")                                         \
	X(THREAD, 2, sw_rec_thread, "the records that follow are of this thread")                                      \
	X(API, 3, sw_rec_api, "name of a driver entry point and of the runtime function it stands for")                \
	X(STACK, 4, sw_rec_stack, "a call stack, interned by its writer")                                              \
	X(MODULE, 5, sw_rec_module, "a shared object was mapped")                                                      \
	X(MODULE_GONE, 6, sw_rec_module, "a shared object was unmapped")                                               \
	X(CUDART, 7, sw_rec_cudart, "a module asked the driver for its entry points")                                  \
	X(DEVICE, 8, sw_rec_device, "a GPU")                                                                           \
	X(CONTEXT, 9, sw_rec_context, "a context and its device")                                                      \
	X(FUNCTION, 10, sw_rec_function, "a kernel: handle, name, parameter layout")                                   \
	X(IMAGE, 11, sw_rec_image, "a code image: where it is, or how many IMAGE_DATA follow")                         \
	X(IMAGE_DATA, 12, sw_rec_image_data, "bytes of an image")                                                      \
	X(NAME, 13, sw_rec_name, "a name given to a stream, event or buffer")                                          \
	X(LOSS, 14, sw_rec_loss, "records were lost between two sequence numbers")                                     \
	X(CLOCK, 15, sw_rec_clock, "ticks and CLOCK_MONOTONIC read together")                                          \
	X(NOTICE, 16, sw_rec_notice, "something the user should know about the recording")                             \
	X(COUNTS, 17, sw_rec_counts, "calls per entry point, at the end")                                              \
	X(END, 18, sw_rec, "orderly end of the trace")                                                                 \
	X(GRAPH_NODE, 19, sw_rec_graph_node, "what an executable graph consists of")                                   \
	X(GPU_CLOCK, 20, sw_rec_gpu_clock, "ticks and the clock of GPU time stamps read together")                     \
	X(PACK, 32, sw_rec_pack, "the trace was packed: what judging it needs of other files follows")                 \
	X(PACK_CODE, 33, sw_rec_pack_code, "code of the launched kernels of an image")                                 \
	X(PACK_DATA, 34, sw_rec_image_data, "bytes of such code")                                                      \
	X(PACK_LEFT_OUT, 35, sw_rec_image_data, "an IMAGE_DATA whose bytes were left out for the code above")          \
	X(PACK_MODULE, 36, sw_rec_pack_module, "a shared object whose functions and lines follow")                     \
	X(PACK_FRAME, 37, sw_rec_pack_frame, "function, file and line at an address of a shared object")               \
	X(PACK_TABLE, 38, sw_rec_pack_table, "which calls wait on a GPU, as calibrate measured where it was packed")   \
	X(LAUNCH, 64, sw_rec_launch, "kernel launch")                                                                  \
	X(COPY, 65, sw_rec_copy, "copy of consecutive bytes")                                                          \
	X(COPY_ND, 66, sw_rec_copy_nd, "copy of a 2D or 3D box")                                                       \
	X(SET, 67, sw_rec_set, "memory set, 1D or 2D")                                                                 \
	X(ALLOC, 68, sw_rec_alloc, "memory began to exist or was registered")                                          \
	X(FREE, 69, sw_rec_free, "memory ended or was unregistered")                                                   \
	X(STREAM_CREATE, 70, sw_rec_stream, "stream created")                                                          \
	X(STREAM_DESTROY, 71, sw_rec_stream, "stream destroyed")                                                       \
	X(EVENT_CREATE, 72, sw_rec_event, "event created")                                                             \
	X(EVENT_DESTROY, 73, sw_rec_event, "event destroyed")                                                          \
	X(EVENT_RECORD, 74, sw_rec_event_record, "event recorded on a stream")                                         \
	X(STREAM_WAIT, 75, sw_rec_stream_wait, "stream waits for an event")                                            \
	X(SYNC, 76, sw_rec_sync, "host waits for an event, a stream or a context")                                     \
	X(QUERY, 77, sw_rec_sync, "event or stream queried")                                                           \
	X(HOST_FUNC, 78, sw_rec_host_func, "host function enqueued on a stream")                                       \
	X(HOST_FUNC_RUN, 79, sw_rec_host_func, "host function ran (begin and end)")                                    \
	X(CONTEXT_OP, 80, sw_rec_context_op, "context created, destroyed, reset, made current")                        \
	X(CODE_LOAD, 81, sw_rec_code, "module or library loaded")                                                      \
	X(CODE_UNLOAD, 82, sw_rec_code, "module or library unloaded")                                                  \
	X(CAPTURE, 83, sw_rec_capture, "stream capture began, ended or changed")                                       \
	X(GRAPH, 84, sw_rec_graph, "graph or executable graph made, changed, destroyed")                               \
	X(GRAPH_LAUNCH, 85, sw_rec_graph_launch, "executable graph launched")                                          \
	X(MEM_OP, 86, sw_rec_mem_op, "prefetch, advise, attach, stream memory operation")                              \
	X(CONFIG, 87, sw_rec_config, "a call that reconfigures the device")                                            \
	X(OTHER, 88, sw_rec_other, "another classified call, up to six argument words")                                \
	X(UNCLASSIFIED, 89, sw_rec_other, "a call of an ordering entry point that the recorder does not model")        \
	X(CODE_TOUCH, 90, sw_rec_code, "a call that may load a kernel lazily (function attributes, get function)")     \
	X(OBJECT, 91, sw_rec_object, "a texture, surface or tensor map was made")                                      \
	X(HOST_ACCESS, 92, sw_rec_host_access, "the host touched a buffer that work in flight uses")                   \
	X(ACTIVITY, 94, sw_rec_activity, "time stamps of work on a device, or of the driver call that put it there")   \
	X(HOST_SYNC, 93, sw_rec_host_sync, "host threads ordered each other: a lock, a condition, creation, join ...") \
	X(RANGE, 95, sw_rec_range, "a range of NVTX begins or ends")                                                   \
	X(ANNOTATION, 96, sw_rec_annotation, "what the program says of itself (syncwatch.h)")

enum sw_rec_kind {
#define SW_REC_ENUM(name, value, type, text) SW_REC_##name = value,
	SW_RECORDS(SW_REC_ENUM)
#undef SW_REC_ENUM
};

/* Flags of a record. */
enum {
	/* The record was written before the call and the call has not returned: dur and status are not valid yet. */
	SW_RF_PENDING = 1u << 0,
	/* dur counts units of 1024 ticks. */
	SW_RF_DUR_1024 = 1u << 1,
	/* First of two records of a call that blocks: fixes what the wait covers.  An END of the same thread follows,
	   unless the program ended inside the call. */
	SW_RF_BEGIN = 1u << 2,
	/* Second of two: releases the host.  Only struct sw_rec_end follows the header. */
	SW_RF_END = 1u << 3,
	/* Handle 0 means the per-thread default stream (_ptsz and _ptds entry points). */
	SW_RF_PER_THREAD = 1u << 4,
	/* Made inside a call of a library whose contract we know (reserved). */
	SW_RF_NESTED = 1u << 5,
	/* The call works on the host's behalf only when it returns: an asynchronous form ("Async") clears this. */
	SW_RF_SYNCHRONOUS = 1u << 6,
	/* Came through a pointer that a CUDA runtime library obtained (CUDART record), so the user called a cuda*
	   function. */
	SW_RF_RUNTIME = 1u << 7,
};

/*
 * Start of every record.  `seq` orders all records of the process: calls that create a handle or an address take it
 * after the call, calls that destroy one before, BEGIN before and END after the wait; everything else before the call.
 */
struct sw_rec {
	uint8_t kind;	 /* enum sw_rec_kind */
	uint8_t ctx;	 /* CONTEXT record's id, 0 = unknown */
	uint16_t words;	 /* length in 8-byte words, this header included */
	uint16_t api;	 /* API record's id, 0 = none */
	uint16_t flags;	 /* SW_RF_* */
	uint32_t seq_lo; /* 48-bit sequence number, 1 is the first; 0: description that has no place in the order */
	uint16_t seq_hi;
	uint16_t status; /* CUresult */
	uint64_t ticks;	 /* at entry of the call; END: when the wait was over */
	uint32_t dur;	 /* ticks spent in the call, saturating (see SW_RF_DUR_1024); END: of the whole call */
	uint32_t stack;	 /* STACK record's id within the writer, 0 = none */
};
static_assert(sizeof(struct sw_rec) == 32, "packed");

static inline uint64_t sw_rec_seq(const struct sw_rec *r)
{
	return (uint64_t)r->seq_hi << 32 | r->seq_lo;
}

/* Ids that a writer gives to its stacks and parameter blocks go up; a record refers to one of the last so many only, so
   a reader need not keep more. */
#define SW_FORMAT_LIVE_IDS 8192u

#define SW_REC_MAX_BYTES 65536u /* longest record; longer data is split (IMAGE_DATA) */

/* ---- descriptions ---------------------------------------------------------------------------------------------- */

/* Strings in records are UTF-8, not NUL-terminated, their length given; several follow each other without padding. */

struct sw_rec_process {
	struct sw_rec h;
	uint32_t exe_bytes, cwd_bytes, args, args_bytes; /* then exe, cwd, args: each argument followed by a NUL */
};

struct sw_rec_thread {
	struct sw_rec h;
	uint32_t thread; /* 1-based, in order of appearance; 1 is not always the main thread */
	uint32_t tid;	 /* kernel's thread id */
	uint32_t main;	 /* 1: tid == pid */
	uint32_t name_bytes;
};

struct sw_rec_api {
	struct sw_rec h;
	uint16_t id;
	uint8_t driver_bytes, runtime_bytes; /* then both names; runtime name empty where none stands for it */
	uint32_t reserved;
};

struct sw_rec_stack {
	struct sw_rec h;
	uint32_t id;
	uint32_t depth;	  /* frames that follow, innermost first: return addresses, u64 each */
	uint32_t skipped; /* frames below the last that were cut off by the limit; 0xffffffff unknown many */
	uint32_t reserved;
};

struct sw_rec_module {
	struct sw_rec h;
	uint64_t base, end; /* addresses: load bias and end of the last segment */
	uint64_t start;	    /* lowest mapped address */
	uint8_t build_id_bytes, reserved[3];
	uint32_t path_bytes; /* then build id (padded to 8), path */
};
/* MODULE_GONE: struct sw_rec_module with base only. */

enum sw_cudart_link { SW_CUDART_SHARED = 1, SW_CUDART_STATIC = 2, SW_CUDART_OTHER = 3 };
struct sw_rec_cudart {
	struct sw_rec h;
	uint64_t module_base; /* of the module that asked cuGetProcAddress */
	uint32_t link;	      /* enum sw_cudart_link: OTHER is a library or program that asks the driver itself */
	uint32_t version;     /* CUDA version asked for, 0 unknown */
	uint32_t requests;
	uint32_t path_bytes; /* then path */
};

struct sw_rec_device {
	struct sw_rec h;
	int32_t ordinal;
	uint32_t major, minor; /* compute capability */
	uint32_t multiprocessors;
	uint64_t memory_bytes;
	uint8_t uuid[16];
	uint32_t name_bytes; /* then name */
	uint32_t reserved;
};

enum { SW_CTX_PRIMARY = 1, SW_CTX_GREEN = 2 };
struct sw_rec_context {
	/* h.ctx is the id described; a new one for each generation of a handle.  Once all were given out those of ended
	   contexts come back: such a description has its place in the order (a sequence number). */
	struct sw_rec h;
	uint64_t handle;
	int32_t device;
	uint32_t flags;
};

struct sw_param {
	uint16_t offset, bytes;
};
enum {
	SW_FUNCTION_KERNEL = 1,	  /* handle is a CUkernel, else a CUfunction */
	SW_FUNCTION_NO_LAYOUT = 2 /* the driver did not tell the parameter layout */
};
struct sw_rec_function {
	struct sw_rec h;
	uint32_t id; /* unique in the process, never reused */
	uint32_t image;
	uint64_t handle;
	uint32_t flags;
	uint16_t params, name_bytes; /* then params x struct sw_param, then the (mangled) name */
};

enum sw_image_kind { SW_IMAGE_UNKNOWN, SW_IMAGE_FATBIN, SW_IMAGE_ELF, SW_IMAGE_PTX, SW_IMAGE_LTOIR };
struct sw_rec_image {
	struct sw_rec h;
	uint32_t id;
	uint32_t kind;	      /* enum sw_image_kind, by magic; a wrapper is followed to its fatbin */
	uint64_t handle;      /* CUmodule or CUlibrary */
	uint64_t bytes;	      /* 0 unknown */
	uint64_t hash;	      /* sw_hash_words() of the content (FNV-1a 64 in the first traces), 0 unknown */
	uint64_t address;     /* where it lay in the program's memory */
	uint64_t file_offset; /* in `path`, when file-backed */
	uint32_t data; /* 1: IMAGE_DATA records with the content follow; 2: the same content as an earlier image; 0:
			  neither */
	uint32_t path_bytes; /* then path: empty for anonymous images */
};
struct sw_rec_image_data {
	struct sw_rec h;
	uint32_t id;
	uint32_t bytes;
	uint64_t offset; /* then bytes */
};

enum sw_name_of { SW_NAME_STREAM = 1, SW_NAME_EVENT = 2, SW_NAME_BUFFER = 3, SW_NAME_THREAD = 4, SW_NAME_SYMBOL = 5 };
struct sw_rec_name {
	struct sw_rec h;
	uint32_t of; /* enum sw_name_of */
	uint32_t name_bytes;
	/* Then name.  SYMBOL: mangled, handle is the address and an ALLOC record precedes; THREAD: number of the
	   thread, or 0 and `bytes` is the kernel's id of a thread, which may be told of later. */
	uint64_t handle, bytes;
};

enum sw_loss_why {
	SW_LOSS_SIZE_LIMIT = 1,
	SW_LOSS_NO_SPACE,
	SW_LOSS_NO_MEMORY,
	SW_LOSS_REENTERED,
	SW_LOSS_FORK,
	SW_LOSS_OTHER
};
struct sw_rec_loss {
	struct sw_rec h;
	uint64_t first_seq, last_seq; /* may be wider than what was lost, never narrower */
	uint64_t records;
	uint32_t why; /* enum sw_loss_why */
	uint32_t reserved;
};

struct sw_rec_clock {
	struct sw_rec h; /* h.ticks */
	uint64_t monotonic_ns;
};

struct sw_rec_notice {
	struct sw_rec h;
	uint32_t text_bytes;
	uint32_t reserved; /* then text, one sentence */
};

struct sw_count {
	uint16_t api;
	uint16_t reserved;
	uint32_t failed;
	uint64_t calls;
};
struct sw_rec_counts {
	struct sw_rec h;
	uint32_t entries; /* then struct sw_count each */
	uint32_t reserved;
};

/* ---- packing ----------------------------------------------------------------------------------------------------- */

/*
 * What `syncwatch pack` adds so that a trace can be judged where the files that it refers to are missing.  These
 * records are a writer of their own, have no sequence number and come first; only PACK_LEFT_OUT stands in the place of
 * the IMAGE_DATA that it was.
 */
struct sw_rec_pack {
	struct sw_rec h;
	uint32_t flags;		/* SW_PACK_* */
	uint32_t version_bytes; /* then version of the syncwatch that packed */
};
enum { SW_PACK_NO_NAMES = 1 /* that syncwatch could not read symbols */ };

/* What became of a file, where the trace was packed. */
enum sw_pack_state { SW_PACKED_WHOLE, SW_PACKED_MISSING, SW_PACKED_CHANGED /* not what the program had loaded */ };

struct sw_rec_pack_code {
	struct sw_rec h;
	uint32_t image;	      /* IMAGE record's id */
	uint32_t state;	      /* enum sw_pack_state */
	uint64_t bytes, hash; /* of the code: sw_hash_words(); 0 where there is none */
	uint32_t data; /* 1: PACK_DATA records follow; 2: the same code as an earlier PACK_CODE with this hash; 0: none
			*/
	uint32_t why_bytes; /* then why there is none */
};
/* PACK_DATA, PACK_LEFT_OUT: struct sw_rec_image_data; the bytes of PACK_LEFT_OUT are zero. */

struct sw_rec_pack_module {
	struct sw_rec h;
	uint32_t module;		     /* for PACK_FRAME: numbered from 1 */
	uint32_t state;			     /* enum sw_pack_state */
	uint32_t build_id_bytes, path_bytes; /* then build id (padded to 8), path: as in MODULE */
};
/* Several for one address where functions are inlined, innermost first. */
struct sw_rec_pack_frame {
	struct sw_rec h;
	uint64_t offset; /* of a return address from the module's base */
	uint32_t module;
	uint32_t line;			   /* 0 unknown */
	uint32_t symbol_bytes, file_bytes; /* then symbol (mangled), file; 0 unknown */
	uint32_t flags;			   /* SW_PACK_INLINED */
	uint32_t reserved;
};
enum { SW_PACK_INLINED = 1 /* into the function of the next record */ };

/* A table of `syncwatch calibrate`: reports of the trace use it, or none, but not that of another machine. */
struct sw_rec_pack_table {
	struct sw_rec h;
	uint32_t gpu_bytes, path_bytes, text_bytes; /* then name of the GPU, where the table was, the table */
	uint32_t reserved;
};

/* ---- operations ------------------------------------------------------------------------------------------------- */

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
	uint16_t param_bytes; /* of the inline block */
	uint16_t cluster;     /* blocks a cluster, 0 = none */
	uint32_t shared_bytes;
	uint32_t reserved;
};
static_assert(sizeof(struct sw_rec_launch) == 80, "packed");

/* What a copy's API said about a side; UNIFIED: cuMemcpy/cuMemcpyAsync leave it to the address. */
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
enum { SW_COPY_PEER = 1, SW_COPY_BATCH = 2 /* one record an element, unordered among themselves */ };

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
	SW_MEM_PAGEABLE, /* never recorded: what the analyser calls host memory that nobody registered */
};
/* X(name of enum sw_memory without prefix): in the order above, for readers. */
struct sw_rec_alloc {
	struct sw_rec h;
	uint64_t address, bytes;
	uint64_t stream;       /* ASYNC only */
	uint64_t device_alias; /* PINNED, REGISTERED: device address where it differs, else 0 */
	uint64_t owner;	       /* ASYNC: pool; SYMBOL: module; MAPPED: memory handle; IPC: pool, external memory or 0 */
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
	uint32_t memory; /* enum sw_memory as far as the call tells: PINNED for cuMemFreeHost, UNKNOWN for cuMemFree */
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
/* SYNC comes as BEGIN and END.  QUERY is one record with its sequence number taken after the call; status tells. */
struct sw_rec_sync {
	struct sw_rec h;
	uint64_t handle;  /* event, stream or context */
	uint64_t handle2; /* ELAPSED: the end event */
	uint32_t what;	  /* enum sw_sync_what */
	uint32_t flags;
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
		32,	  /* no node: a body of the conditional node `parent`, which may not run; `node` is its graph */
	SW_NODE_WEAK = 64 /* some of its dependencies are programmatic: it may begin before those end */
};
/*
 * Written inside the call that instantiates or updates, numbered after its GRAPH record; only once that succeeded. Then
 * `before` x u64, the nodes that this one depends on, and `work_bytes` of the record that the node's work would be on a
 * stream (LAUNCH with its parameter block, COPY_ND, SET, HOST_FUNC, EVENT_RECORD, STREAM_WAIT, ALLOC, FREE; of its
 * header only kind, words and flags count); 0: the node has no work of these kinds.  A node of memory operations has a
 * MEM_OP for each, one behind the other.  CHANGED of a child graph's node: `nodes` records with what it holds now
 * follow.
 */
struct sw_rec_graph_node {
	struct sw_rec h;
	uint64_t exec;
	uint64_t node;	 /* in the graph that exec was made from */
	uint64_t parent; /* the child graph node that it is part of, 0 none */
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
	SW_MEMOP_BATCH
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
/* What a kernel reaches without a pointer: memory of `rank` dimensions.  A tensor map is known by its content. */
struct sw_rec_object {
	struct sw_rec h;
	uint64_t handle;  /* texture or surface object; tensor map: sw_hash_words() of its 128 bytes */
	uint64_t before;  /* cuTensorMapReplaceAddress: what `handle` was before, only address is filled then; else 0 */
	uint64_t address; /* side ARRAY: the array; 0 unknown (mipmapped arrays) */
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
	SW_NOTE_BLOCK_END,   /* and given back */
	SW_NOTE_IGNORE,	     /* accesses of the range are not judged, from now on */
	SW_NOTE_JUDGE,	     /* they are again */
	SW_NOTE_BEFORE,	     /* the stream so far happens before whoever says AFTER with the same `address` later */
	SW_NOTE_AFTER
};
enum { SW_NOTE_ON_HOST = 1 /* of the calling thread, at once; `stream` means nothing */ };
struct sw_rec_annotation {
	struct sw_rec h;
	uint64_t address, bytes, stream;
	uint32_t op;	/* enum sw_annotation */
	uint32_t flags; /* SW_NOTE_ON_HOST */
};
enum {
	SW_HOST_WRITES = 1, /* else it reads */
	SW_HOST_CALL =
		2 /* by a call of libc (read, write, fread ...), which tells how many bytes; else by an instruction */
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
	uint64_t lost;	/* ACTIVITY records lost so far, as far as CUPTI tells */
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
 * Written when it was fetched, long after what it tells of; the sequence number says no more than that.  `start` and
 * `end` are of GPU_CLOCK's clock; both 0: not known.
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
	SW_THREAD_RELEASE,     /* numbered before the call that lets others go on */
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
 * Left out: what would tell a thread nothing (src/preload/strict/sync_filter.h), and what happens inside calls of CUDA,
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
/* Written by libsyncwatch-nvtx.so.  A range that was open before recording began is told when it begins. */
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

#endif
