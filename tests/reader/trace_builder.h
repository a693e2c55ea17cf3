/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes valid traces for tests, record by record.
 *
 *     struct tb *tb = tb_new("two-streams.swt", NULL);      // header, PROCESS, DEVICE 0, CONTEXT 1, THREAD 1
 *     tb_alloc(tb, SW_MEM_DEVICE, 0x7f0000000000, 4096);
 *     tb_stream_create(tb, 0xa, 1);                          // 1: CU_STREAM_NON_BLOCKING
 *     tb_stack(tb, 2, 0x401000, 0x402000);                   // the calls that follow come from here
 *     tb_launch(tb, tb_function(tb, "_Z3addPfPKf", 2, 8, 8), 0xa, 2, 0x7f0000000000, 0x7f0000000800);
 *     tb_call(tb, "cuMemcpyDtoHAsync_v2", "cudaMemcpyAsync"); // name of the next call only
 *     tb_copy(tb, 0x1000, SW_SIDE_HOST, 0x7f0000000000, SW_SIDE_DEVICE, 64, 0)->h.flags |= SW_RF_PER_THREAD;
 *     tb_sync(tb, SW_SYNC_STREAM, 0xa);                      // BEGIN and END
 *     tb_thread(tb, 2);                                      // what follows is of thread 2, in a writer of its own
 *     uint64_t begin = tb_sync_begin(tb, SW_SYNC_CONTEXT, 0); // never ended: in flight
 *     tb_close(tb, true);                                    // COUNTS, END, header; frees tb
 *
 * Every helper returns its record, to be changed until the next call of a tb_ function.  Time is in ticks of 1 ns: each
 * record advances tb->now by tb->step, each call lasts tb->dur.  Errors end the test program.
 */
#ifndef TESTS_READER_TRACE_BUILDER_H
#define TESTS_READER_TRACE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "syncwatch/format.h"

struct tb_writer;

struct tb_options {
	uint32_t chunk_bytes;	   /* 0: 16384 */
	uint32_t flags;		   /* SW_FILE_* besides CLOSED */
	uint64_t ticks_per_second; /* 0: 1e9 */
	bool bare;		   /* no PROCESS, DEVICE, CONTEXT, THREAD */
};

/* All fields may be changed between records. */
struct tb {
	uint64_t now;		/* ticks of the next record */
	uint64_t step;		/* default 1000 */
	uint64_t dur;		/* of calls, default 100; blocking calls advance now by it */
	uint64_t seq;		/* last sequence number given out */
	uint64_t paused;	/* and when a pause began */
	uint8_t ctx;		/* default 1 */
	uint16_t status, flags; /* of the next records, default 0 */
	uint32_t stack;		/* of the current writer, by tb_stack */
	uint32_t image;		/* of the functions described from now on, default 0: none */
	struct sw_file_header header;

	/* private */
	int fd;
	char *path;
	struct tb_writer *writers, *current;
	size_t n_writers;
	uint16_t apis, next_api;
	uint64_t calls[512];
	struct tb_name {
		char *driver, *runtime;
	} names[512];
	uint32_t functions, images;
};

struct tb *tb_new(const char *path, const struct tb_options *options);
/* `ended`: writes COUNTS and END, closes all chunks (with their CRC) and sets SW_FILE_CLOSED; else the trace is as
   after SIGKILL: the last chunk of each writer stays open. */
void tb_close(struct tb *tb, bool ended);

/* Any record: header filled, `bytes` in all (rounded up to 8), payload zeroed.  Not ordered: sequence number 0. */
void *tb_add(struct tb *tb, enum sw_rec_kind kind, size_t bytes, bool ordered);
/* More bytes at the end of the record that was added last; they lie in its chunk. */
void *tb_more(struct tb *tb, struct sw_rec *last, size_t bytes);

/* ---- descriptions ---- */

void tb_thread(struct tb *tb, uint32_t thread); /* switches to the thread's writer; first time: THREAD record */
void tb_writer(struct tb *tb, uint32_t writer); /* switches without any record */
uint16_t tb_api(struct tb *tb, const char *driver, const char *runtime);
void tb_call(struct tb *tb, const char *driver, const char *runtime);
uint32_t tb_stack(struct tb *tb, uint32_t depth, ...); /* depth x uint64_t; 0: no stack from now on */
/* Code of a Python function; its id is of the current writer. */
struct sw_rec_python_code *tb_python_code(struct tb *tb, uint32_t id, const char *file, const char *function);
/* Python frames (innermost first, n may be 0) over the current stack: the calls that follow come from there. */
struct sw_rec_python_stack *tb_python_stack(struct tb *tb, const struct sw_python_frame *frames, uint32_t n);
struct sw_rec_module *tb_module(struct tb *tb, uint64_t base, uint64_t end, const char *path);
struct sw_rec_module *tb_module_gone(struct tb *tb, uint64_t base);
struct sw_rec_cudart *tb_cudart(struct tb *tb, uint64_t module_base, enum sw_cudart_link link, const char *path);
struct sw_rec_device *tb_device(struct tb *tb, int ordinal, const char *name);
struct sw_rec_context *tb_context(struct tb *tb, uint8_t id, int device); /* later records: set tb->ctx */
/* `params` sizes follow (unsigned), each aligned to its size up to 8.  Returns the id; params 0 with name NULL: no
 * layout. */
uint32_t tb_function(struct tb *tb, const char *name, uint32_t params, ...);
uint32_t tb_function_laid(struct tb *tb, const char *name, uint32_t params, const struct sw_param *param);
/* An image with its content recorded (data NULL: file-backed at path). Returns its id. */
uint32_t tb_image(struct tb *tb, enum sw_image_kind kind, const char *path, const void *data, size_t bytes);
struct sw_rec_name *tb_name(struct tb *tb, enum sw_name_of of, uint64_t handle, uint64_t bytes, const char *name);
struct sw_rec_loss *tb_loss(struct tb *tb, uint64_t first_seq, uint64_t last_seq, uint64_t records);
/* A pause of the recorder begins, or is over: as the recorder writes it, behind a number that no record has. */
struct sw_rec_cut *tb_pause(struct tb *tb);
struct sw_rec_cut *tb_go_on(struct tb *tb, uint64_t calls);
/* A CUT without a number. */
struct sw_rec_cut *tb_dropped(struct tb *tb, uint64_t first_seq, uint64_t last_seq, uint64_t calls);
/* n texts "NAME=value" follow. */
struct sw_rec_environment *tb_environment(struct tb *tb, const char *boot, const char *host, uint32_t n, ...);
struct sw_rec_notice *tb_notice(struct tb *tb, const char *text);
struct sw_rec_clock *tb_clock(struct tb *tb, uint64_t monotonic_ns);
/* Reading of the GPU's clock at the builder's present time. */
struct sw_rec_gpu_clock *tb_gpu_clock(struct tb *tb, uint64_t gpu_ns, uint64_t lost);
struct sw_rec_activity *tb_activity(struct tb *tb, enum sw_activity what, uint32_t correlation, uint64_t start,
				    uint64_t end);

/* ---- operations ---- */

/* `words` uint64_t follow: the parameter block, 8 bytes each (interned).  tb_launch_block takes it as bytes. */
struct sw_rec_launch *tb_launch(struct tb *tb, uint32_t function, uint64_t stream, uint32_t words, ...);
struct sw_rec_launch *tb_launch_block(struct tb *tb, uint32_t function, uint64_t stream, const void *block,
				      size_t bytes);

struct sw_rec_copy *tb_copy(struct tb *tb, uint64_t dst, enum sw_side dst_side, uint64_t src, enum sw_side src_side,
			    uint64_t bytes, uint64_t stream);
/* BEGIN and END of a synchronous copy on the default stream; returns BEGIN's sequence number. */
uint64_t tb_copy_sync(struct tb *tb, uint64_t dst, enum sw_side dst_side, uint64_t src, enum sw_side src_side,
		      uint64_t bytes);
/* Both boxes with pitch and slice_rows, no arrays. */
struct sw_rec_copy_nd *tb_copy_2d(struct tb *tb, uint64_t dst, enum sw_side dst_side, uint64_t dst_pitch, uint64_t src,
				  enum sw_side src_side, uint64_t src_pitch, uint64_t width, uint64_t height,
				  uint64_t stream);
struct sw_rec_set *tb_set(struct tb *tb, uint64_t dst, uint64_t bytes, uint64_t stream);
struct sw_rec_alloc *tb_alloc(struct tb *tb, enum sw_memory memory, uint64_t address, uint64_t bytes);
struct sw_rec_free *tb_free(struct tb *tb, enum sw_memory memory, uint64_t address);
/* BEGIN and END, as cuMemFree and its like are recorded; returns BEGIN's sequence number. */
uint64_t tb_free_sync(struct tb *tb, enum sw_memory memory, uint64_t address);
struct sw_rec_stream *tb_stream_create(struct tb *tb, uint64_t stream, uint32_t flags);
struct sw_rec_stream *tb_stream_destroy(struct tb *tb, uint64_t stream);
struct sw_rec_event *tb_event_create(struct tb *tb, uint64_t event);
struct sw_rec_event *tb_event_destroy(struct tb *tb, uint64_t event);
struct sw_rec_event_record *tb_event_record(struct tb *tb, uint64_t event, uint64_t stream);
struct sw_rec_stream_wait *tb_stream_wait(struct tb *tb, uint64_t stream, uint64_t event);
uint64_t tb_sync_begin(struct tb *tb, enum sw_sync_what what, uint64_t handle);
uint64_t tb_sync(struct tb *tb, enum sw_sync_what what, uint64_t handle); /* returns BEGIN's sequence number */
struct sw_rec_end *tb_end(struct tb *tb, enum sw_rec_kind kind, uint64_t begin_seq);
struct sw_rec_sync *tb_query(struct tb *tb, enum sw_sync_what what, uint64_t handle, uint16_t status);
/* One record for so many that are not ready, tb->step apart; for so many questions about a kernel. */
void tb_polls(struct tb *tb, enum sw_sync_what what, uint64_t handle, unsigned calls);
void tb_asked(struct tb *tb, uint64_t kernel, uint16_t api, unsigned calls);
struct sw_rec_host_func *tb_host_func(struct tb *tb, uint64_t stream, uint64_t function);
/* BEGIN and END on the current thread (switch with tb_thread first). */
/* The function runs on the current thread; in one, or with what it does in between. */
uint64_t tb_host_func_begin(struct tb *tb, uint64_t stream, uint64_t function, uint64_t enqueued);
void tb_host_func_end(struct tb *tb, uint64_t begin);
uint64_t tb_host_func_run(struct tb *tb, uint64_t stream, uint64_t function, uint64_t enqueued);
struct sw_rec_context_op *tb_context_op(struct tb *tb, enum sw_context_op op, uint64_t handle);
struct sw_rec_code *tb_code(struct tb *tb, enum sw_rec_kind kind, uint64_t handle, uint32_t image);
struct sw_rec_capture *tb_capture(struct tb *tb, enum sw_capture_op op, uint64_t stream, uint64_t graph);
struct sw_rec_graph *tb_graph(struct tb *tb, enum sw_graph_op op, uint64_t graph, uint64_t exec);
struct sw_rec_graph_launch *tb_graph_launch(struct tb *tb, uint64_t exec, uint64_t stream);
/* A description of `exec` begins, of so many nodes. */
struct sw_rec_graph_node *tb_node_head(struct tb *tb, uint64_t exec, uint32_t nodes);
/* A node, what it depends on, the record of its work (NULL: none), of which kind and length are filled in. */
struct sw_rec_graph_node *tb_node(struct tb *tb, uint64_t exec, uint64_t node, const uint64_t *before, uint32_t n,
				  enum sw_rec_kind kind, void *work, size_t bytes);
struct sw_rec_mem_op *tb_mem_op(struct tb *tb, enum sw_mem_op op, uint64_t address, uint64_t bytes, uint64_t stream);
/* Named as the function of syncwatch.h that leaves it. */
struct sw_rec_host_sync *tb_host_sync(struct tb *tb, enum sw_thread_op op, enum sw_through kind, uint64_t object);
/* An access that the guard saw: flags are SW_HOST_*. */
struct sw_rec_host_access *tb_host_access(struct tb *tb, uint64_t address, uint64_t bytes, uint32_t flags);
struct sw_rec_range *tb_range(struct tb *tb, enum sw_range_op op, uint64_t domain, uint64_t id, const char *name,
			      const char *domain_name);
/* BEGIN of a float collective of rank 0 of 2, in communicator 1; its END is tb_end() of its number. */
struct sw_rec_collective *tb_collective(struct tb *tb, enum sw_collective_op op, uint64_t number, uint64_t count,
					uint64_t stream);
/* Then `words` arguments, uint64_t each. */
struct sw_rec_library *tb_library(struct tb *tb, enum sw_library_op op, const char *name, uint64_t handle,
				  uint32_t words, ...);
struct sw_rec_annotation *tb_annotation(struct tb *tb, enum sw_annotation op, uint64_t address, uint64_t bytes,
					uint64_t stream);
struct sw_rec_config *tb_config(struct tb *tb, uint64_t what, uint64_t value);
/* A texture, surface or tensor map over `bytes` consecutive bytes. */
struct sw_rec_object *tb_object(struct tb *tb, enum sw_object_kind kind, uint64_t handle, uint64_t address,
				uint64_t bytes);
struct sw_rec_other *tb_other(struct tb *tb, enum sw_rec_kind kind, const char *driver);

#endif
