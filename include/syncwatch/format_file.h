/* SPDX-License-Identifier: Apache-2.0 */
/* The trace: its first page, its chunks, the kinds of records and what each record begins with. */
#ifndef SYNCWATCH_FORMAT_FILE_H
#define SYNCWATCH_FORMAT_FILE_H

#include <assert.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SW_FORMAT_MAGIC "SYNCWTRC"
#define SW_FORMAT_MAJOR 1
/* 1: OBJECT, names of symbols; 2: GRAPH_NODE; 3: ANNOTATION, RANGE, HOST_ACCESS, bytes of unmapped ranges, GPU_CLOCK,
 * ACTIVITY; 4: PACK and what belongs to it; 5: SW_HOST_UNGUARDED; 6: SW_FILE_BEHIND;
 * 7: PYTHON_CODE, PYTHON_STACK; 8: SW_COPY_BATCH_MORE and what follows it; 9: ENVIRONMENT,
 * SW_NOTE_TENSOR_BEGIN, COLLECTIVE, SW_COPY_CONTENT; 10: LIBRARY; 11: short LAUNCH records;
 * 12: SW_MEMOP_DISCARD, content of copies of 4 to 8 bytes; 13: SW_NODE_EDGES; 14: hashes of images; 15: CUT,
 * counted calls (struct sw_rec_calls); 16: SW_LAUNCH_CHANGED, changes of blocks of earlier chunks */
#define SW_FORMAT_MINOR	       16
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
	SW_FILE_BEHIND = 1u << 6,    /* (live) records wait in memory that the file does not have yet */
};

/* Windows in which hot calls were recorded: 0: no such, all was recorded; else 2 for each that was opened, 1 more while
   one is open, and 2 more. */
enum { SW_FILE_WINDOWS_NONE = 2u, SW_FILE_WINDOWS_WHOLE = 5u };

/* First page of the file.  Fields marked (live) change while the program runs and are read with acquire order. */
struct sw_file_header {
	char magic[8];
	uint16_t major, minor;
	uint32_t byte_order;
	uint32_t header_bytes; /* offset of chunk 0 */
	uint32_t chunk_bytes;  /* bytes of each chunk, header included; a multiple of 4096 */
	uint32_t flags;	       /* (live) SW_FILE_* */
	uint32_t pid, ppid;
	uint32_t windows;	       /* (live) SW_FILE_WINDOWS_*, since minor 15 */
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
	X(PROCESS, 1, sw_rec_process, "program and arguments")                                                         \
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
	X(ENVIRONMENT, 21, sw_rec_environment, "machine, and variables that tell ranks of a job apart")                \
	X(CUT, 22, sw_rec_cut, "hot calls from here to there were left out on purpose")                                \
	X(PYTHON_CODE, 24, sw_rec_python_code, "a function of Python source, interned by its writer")                  \
	X(PYTHON_STACK, 25, sw_rec_python_stack, "a call stack with its Python frames")                                \
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
	X(ANNOTATION, 96, sw_rec_annotation, "what the program says of itself (syncwatch.h)")                          \
	X(COLLECTIVE, 97, sw_rec_collective, "call of NCCL (begin and end)")                                           \
	X(LIBRARY, 98, sw_rec_library, "call of cuBLAS, cuFFT, cuDNN, cuSPARSE or cuSOLVER")

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
	uint32_t stack;	 /* id of a STACK or PYTHON_STACK record within the writer, 0 = none */
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

#ifdef __cplusplus
}
#endif

#endif
