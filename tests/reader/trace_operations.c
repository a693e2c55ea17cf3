/* SPDX-License-Identifier: Apache-2.0 */
/* Records of calls. */
#include "reader/trace_writer.h"

#include <stdarg.h>
#include <string.h>

#include "base/hash.h"

/* An operation: a record of a call with the builder's defaults. */
static void *operation(struct tb *tb, enum sw_rec_kind kind, size_t bytes, const char *driver, const char *runtime)
{
	uint16_t api = tb->next_api ? tb->next_api : tb_api(tb, driver, runtime);
	struct sw_rec *r = tb_add(tb, kind, bytes, true);
	tb->next_api = 0;
	tb->calls[api]++;
	r->api = api;
	r->ctx = tb->ctx;
	r->status = tb->status;
	r->flags = (uint16_t)(tb->flags | (*tb->names[api].runtime ? SW_RF_RUNTIME : 0));
	r->dur = (uint32_t)tb->dur;
	r->stack = tb->stack;
	return r;
}

struct sw_rec_launch *tb_launch_block(struct tb *tb, uint32_t function, uint64_t stream, const void *block,
				      size_t bytes)
{
	uint64_t key = sw_hash_bytes(SW_FNV_START, block, bytes) ^ bytes;
	uint64_t known = bytes ? sw_map_get(&tb->current->blocks, key) : 0;
	size_t inline_bytes = known ? 0 : bytes;
	struct sw_rec_launch *r =
		operation(tb, SW_REC_LAUNCH, sizeof *r + inline_bytes, "cuLaunchKernel", "cudaLaunchKernel");
	if (bytes && !known) {
		known = *sw_map_put(&tb->current->blocks, key) = ++tb->current->n_blocks;
		r->flags |= SW_LAUNCH_INLINE;
		r->param_bytes = (uint16_t)bytes;
		memcpy(r + 1, block, bytes);
	}
	r->stream = stream;
	r->function = function;
	r->params = (uint32_t)known;
	for (int i = 0; i < 3; i++) {
		r->grid[i] = 1;
		r->block[i] = 1;
	}
	r->block[0] = 256;
	return r;
}

struct sw_rec_launch *tb_launch(struct tb *tb, uint32_t function, uint64_t stream, uint32_t words, ...)
{
	uint64_t block[64];
	va_list ap;
	va_start(ap, words);
	for (uint32_t i = 0; i < words && i < 64; i++)
		block[i] = va_arg(ap, uint64_t);
	va_end(ap);
	return tb_launch_block(tb, function, stream, block, words * sizeof *block);
}

struct sw_rec_copy *tb_copy(struct tb *tb, uint64_t dst, enum sw_side dst_side, uint64_t src, enum sw_side src_side,
			    uint64_t bytes, uint64_t stream)
{
	struct sw_rec_copy *r = operation(tb, SW_REC_COPY, sizeof *r, "cuMemcpyAsync", "cudaMemcpyAsync");
	r->dst = dst;
	r->src = src;
	r->bytes = bytes;
	r->stream = stream;
	r->dst_side = (uint8_t)dst_side;
	r->src_side = (uint8_t)src_side;
	return r;
}

struct sw_rec_end *tb_end(struct tb *tb, enum sw_rec_kind kind, uint64_t begin_seq)
{
	tb->now += tb->dur;
	struct sw_rec_end *r = tb_add(tb, kind, sizeof *r, true);
	r->h.ctx = tb->ctx;
	r->h.flags = SW_RF_END;
	r->h.dur = (uint32_t)(tb->dur + tb->step);
	r->h.stack = tb->stack;
	r->begin_seq = begin_seq;
	return r;
}

/* The END of the call whose BEGIN is `begin`. */
static uint64_t finish(struct tb *tb, const struct sw_rec *begin)
{
	struct sw_rec copy = *begin;
	struct sw_rec_end *end = tb_end(tb, copy.kind, sw_rec_seq(&copy));
	end->h.api = copy.api;
	end->h.status = copy.status;
	end->h.flags = (uint16_t)((copy.flags & ~SW_RF_BEGIN) | SW_RF_END);
	return sw_rec_seq(&copy);
}

uint64_t tb_copy_sync(struct tb *tb, uint64_t dst, enum sw_side dst_side, uint64_t src, enum sw_side src_side,
		      uint64_t bytes)
{
	if (!tb->next_api)
		tb_call(tb, "cuMemcpy", "cudaMemcpy");
	struct sw_rec_copy *r = tb_copy(tb, dst, dst_side, src, src_side, bytes, 0);
	r->h.flags |= SW_RF_SYNCHRONOUS | SW_RF_BEGIN;
	r->h.dur = (uint32_t)(tb->dur + tb->step);
	return finish(tb, &r->h);
}

struct sw_rec_copy_nd *tb_copy_2d(struct tb *tb, uint64_t dst, enum sw_side dst_side, uint64_t dst_pitch, uint64_t src,
				  enum sw_side src_side, uint64_t src_pitch, uint64_t width, uint64_t height,
				  uint64_t stream)
{
	struct sw_rec_copy_nd *r = operation(tb, SW_REC_COPY_ND, sizeof *r, "cuMemcpy2DAsync_v2", "cudaMemcpy2DAsync");
	r->stream = stream;
	r->width = width;
	r->height = height;
	r->depth = 1;
	r->dst = (struct sw_box){.base = dst, .pitch = dst_pitch, .slice_rows = height, .side = (uint8_t)dst_side};
	r->src = (struct sw_box){.base = src, .pitch = src_pitch, .slice_rows = height, .side = (uint8_t)src_side};
	return r;
}

struct sw_rec_set *tb_set(struct tb *tb, uint64_t dst, uint64_t bytes, uint64_t stream)
{
	struct sw_rec_set *r = operation(tb, SW_REC_SET, sizeof *r, "cuMemsetD8Async", "cudaMemsetAsync");
	r->dst = dst;
	r->stream = stream;
	r->width = bytes;
	r->height = 1;
	r->element_bytes = 1;
	return r;
}

struct sw_rec_alloc *tb_alloc(struct tb *tb, enum sw_memory memory, uint64_t address, uint64_t bytes)
{
	static const char *const name[][2] = {
		[SW_MEM_DEVICE] = {"cuMemAlloc_v2", "cudaMalloc"},
		[SW_MEM_ASYNC] = {"cuMemAllocAsync", "cudaMallocAsync"},
		[SW_MEM_MANAGED] = {"cuMemAllocManaged", "cudaMallocManaged"},
		[SW_MEM_PINNED] = {"cuMemHostAlloc", "cudaHostAlloc"},
		[SW_MEM_REGISTERED] = {"cuMemHostRegister_v2", "cudaHostRegister"},
	};
	bool named = memory < sizeof name / sizeof *name && name[memory][0];
	struct sw_rec_alloc *r = operation(tb, SW_REC_ALLOC, sizeof *r, named ? name[memory][0] : "cuMemAlloc_v2",
					   named ? name[memory][1] : "");
	r->address = address;
	r->bytes = bytes;
	r->memory = memory;
	return r;
}

struct sw_rec_free *tb_free(struct tb *tb, enum sw_memory memory, uint64_t address)
{
	bool host = memory == SW_MEM_PINNED, registered = memory == SW_MEM_REGISTERED, async = memory == SW_MEM_ASYNC;
	struct sw_rec_free *r = operation(tb, SW_REC_FREE, sizeof *r,
					  host	       ? "cuMemFreeHost"
					  : registered ? "cuMemHostUnregister"
					  : async      ? "cuMemFreeAsync"
						       : "cuMemFree_v2",
					  host	       ? "cudaFreeHost"
					  : registered ? "cudaHostUnregister"
					  : async      ? "cudaFreeAsync"
						       : "cudaFree");
	r->address = address;
	r->memory = memory;
	return r;
}

uint64_t tb_free_sync(struct tb *tb, enum sw_memory memory, uint64_t address)
{
	struct sw_rec_free *r = tb_free(tb, memory, address);
	r->h.flags |= SW_RF_SYNCHRONOUS | SW_RF_BEGIN;
	r->h.dur = (uint32_t)(tb->dur + tb->step);
	return finish(tb, &r->h);
}

struct sw_rec_stream *tb_stream_create(struct tb *tb, uint64_t stream, uint32_t flags)
{
	struct sw_rec_stream *r =
		operation(tb, SW_REC_STREAM_CREATE, sizeof *r, "cuStreamCreate", "cudaStreamCreateWithFlags");
	r->stream = stream;
	r->flags = flags;
	return r;
}

struct sw_rec_stream *tb_stream_destroy(struct tb *tb, uint64_t stream)
{
	struct sw_rec_stream *r =
		operation(tb, SW_REC_STREAM_DESTROY, sizeof *r, "cuStreamDestroy_v2", "cudaStreamDestroy");
	r->stream = stream;
	return r;
}

struct sw_rec_event *tb_event_create(struct tb *tb, uint64_t event)
{
	struct sw_rec_event *r = operation(tb, SW_REC_EVENT_CREATE, sizeof *r, "cuEventCreate", "cudaEventCreate");
	r->event = event;
	return r;
}

struct sw_rec_event *tb_event_destroy(struct tb *tb, uint64_t event)
{
	struct sw_rec_event *r =
		operation(tb, SW_REC_EVENT_DESTROY, sizeof *r, "cuEventDestroy_v2", "cudaEventDestroy");
	r->event = event;
	return r;
}

struct sw_rec_event_record *tb_event_record(struct tb *tb, uint64_t event, uint64_t stream)
{
	struct sw_rec_event_record *r =
		operation(tb, SW_REC_EVENT_RECORD, sizeof *r, "cuEventRecord", "cudaEventRecord");
	r->event = event;
	r->stream = stream;
	return r;
}

struct sw_rec_stream_wait *tb_stream_wait(struct tb *tb, uint64_t stream, uint64_t event)
{
	struct sw_rec_stream_wait *r =
		operation(tb, SW_REC_STREAM_WAIT, sizeof *r, "cuStreamWaitEvent", "cudaStreamWaitEvent");
	r->stream = stream;
	r->event = event;
	return r;
}

static struct sw_rec_sync *add_sync(struct tb *tb, enum sw_rec_kind kind, enum sw_sync_what what, uint64_t handle)
{
	static const char *const name[][2] = {
		[SW_SYNC_EVENT] = {"cuEventSynchronize", "cudaEventSynchronize"},
		[SW_SYNC_STREAM] = {"cuStreamSynchronize", "cudaStreamSynchronize"},
		[SW_SYNC_CONTEXT] = {"cuCtxSynchronize", "cudaDeviceSynchronize"},
		[SW_SYNC_ELAPSED] = {"cuEventElapsedTime", "cudaEventElapsedTime"},
	};
	static const char *const query[][2] = {
		[SW_SYNC_EVENT] = {"cuEventQuery", "cudaEventQuery"},
		[SW_SYNC_STREAM] = {"cuStreamQuery", "cudaStreamQuery"},
	};
	const char *const *n = kind == SW_REC_QUERY ? query[what == SW_SYNC_EVENT ? what : SW_SYNC_STREAM] : name[what];
	struct sw_rec_sync *r = operation(tb, kind, sizeof *r, n[0], n[1]);
	r->what = what;
	r->handle = handle;
	return r;
}

uint64_t tb_sync_begin(struct tb *tb, enum sw_sync_what what, uint64_t handle)
{
	struct sw_rec_sync *r = add_sync(tb, SW_REC_SYNC, what, handle);
	r->h.flags |= SW_RF_BEGIN | SW_RF_PENDING;
	r->h.dur = 0;
	return sw_rec_seq(&r->h);
}

uint64_t tb_sync(struct tb *tb, enum sw_sync_what what, uint64_t handle)
{
	struct sw_rec_sync *r = add_sync(tb, SW_REC_SYNC, what, handle);
	r->h.flags |= SW_RF_BEGIN;
	r->h.dur = (uint32_t)(tb->dur + tb->step);
	return finish(tb, &r->h);
}

struct sw_rec_sync *tb_query(struct tb *tb, enum sw_sync_what what, uint64_t handle, uint16_t status)
{
	struct sw_rec_sync *r = add_sync(tb, SW_REC_QUERY, what, handle);
	r->h.status = status;
	return r;
}

void tb_polls(struct tb *tb, enum sw_sync_what what, uint64_t handle, unsigned calls)
{
	struct sw_rec_sync *r = tb_query(tb, what, handle, 600);
	struct sw_rec_calls *counted = tb_more(tb, &r->h, sizeof *counted);
	counted->calls = calls;
	counted->inside = calls * tb->dur;
	r->h.dur = (uint32_t)((calls - 1) * tb->step + tb->dur);
	tb->calls[r->h.api] += calls - 1;
	tb->now += (calls - 1) * tb->step;
}

void tb_asked(struct tb *tb, uint64_t kernel, uint16_t api, unsigned calls)
{
	struct sw_rec_code *r = tb_code(tb, SW_REC_CODE_TOUCH, kernel, 0);
	struct sw_rec_calls *counted = tb_more(tb, &r->h, sizeof *counted);
	r->h.api = api;
	counted->calls = calls;
	counted->inside = calls * tb->dur;
}

struct sw_rec_host_func *tb_host_func(struct tb *tb, uint64_t stream, uint64_t function)
{
	struct sw_rec_host_func *r =
		operation(tb, SW_REC_HOST_FUNC, sizeof *r, "cuLaunchHostFunc", "cudaLaunchHostFunc");
	r->stream = stream;
	r->function = function;
	return r;
}

uint64_t tb_host_func_begin(struct tb *tb, uint64_t stream, uint64_t function, uint64_t enqueued)
{
	struct sw_rec_host_func *r = tb_add(tb, SW_REC_HOST_FUNC_RUN, sizeof *r, true);
	r->h.ctx = tb->ctx;
	r->h.flags = SW_RF_BEGIN;
	r->h.dur = (uint32_t)(tb->dur + tb->step);
	r->stream = stream;
	r->function = function;
	r->enqueued = enqueued;
	return sw_rec_seq(&r->h);
}

uint64_t tb_host_func_run(struct tb *tb, uint64_t stream, uint64_t function, uint64_t enqueued)
{
	uint64_t begin = tb_host_func_begin(tb, stream, function, enqueued);
	tb_host_func_end(tb, begin);
	return begin;
}

void tb_host_func_end(struct tb *tb, uint64_t begin)
{
	tb_end(tb, SW_REC_HOST_FUNC_RUN, begin)->h.flags |= SW_RF_END;
}

struct sw_rec_context_op *tb_context_op(struct tb *tb, enum sw_context_op op, uint64_t handle)
{
	static const char *const name[] = {
		[SW_CONTEXT_CREATE] = "cuCtxCreate_v4",
		[SW_CONTEXT_DESTROY] = "cuCtxDestroy_v2",
		[SW_CONTEXT_CURRENT] = "cuCtxSetCurrent",
		[SW_CONTEXT_RETAIN] = "cuDevicePrimaryCtxRetain",
		[SW_CONTEXT_RELEASE] = "cuDevicePrimaryCtxRelease_v2",
		[SW_CONTEXT_RESET] = "cuDevicePrimaryCtxReset_v2",
	};
	struct sw_rec_context_op *r =
		operation(tb, SW_REC_CONTEXT_OP, sizeof *r, name[op], op == SW_CONTEXT_RESET ? "cudaDeviceReset" : "");
	r->handle = handle;
	r->op = op;
	return r;
}

struct sw_rec_code *tb_code(struct tb *tb, enum sw_rec_kind kind, uint64_t handle, uint32_t image)
{
	struct sw_rec_code *r = operation(tb, kind, sizeof *r,
					  kind == SW_REC_CODE_LOAD     ? "cuLibraryLoadData"
					  : kind == SW_REC_CODE_UNLOAD ? "cuLibraryUnload"
								       : "cuKernelGetFunction",
					  "");
	r->handle = handle;
	r->image = image;
	return r;
}

struct sw_rec_capture *tb_capture(struct tb *tb, enum sw_capture_op op, uint64_t stream, uint64_t graph)
{
	bool end = op == SW_CAPTURE_END;
	struct sw_rec_capture *r =
		operation(tb, SW_REC_CAPTURE, sizeof *r, end ? "cuStreamEndCapture" : "cuStreamBeginCapture_v2",
			  end ? "cudaStreamEndCapture" : "cudaStreamBeginCapture");
	r->stream = stream;
	r->graph = graph;
	r->op = op;
	return r;
}

struct sw_rec_graph *tb_graph(struct tb *tb, enum sw_graph_op op, uint64_t graph, uint64_t exec)
{
	struct sw_rec_graph *r =
		operation(tb, SW_REC_GRAPH, sizeof *r, "cuGraphInstantiateWithFlags", "cudaGraphInstantiate");
	r->graph = graph;
	r->exec = exec;
	r->op = op;
	return r;
}

struct sw_rec_graph_launch *tb_graph_launch(struct tb *tb, uint64_t exec, uint64_t stream)
{
	struct sw_rec_graph_launch *r =
		operation(tb, SW_REC_GRAPH_LAUNCH, sizeof *r, "cuGraphLaunch", "cudaGraphLaunch");
	r->exec = exec;
	r->stream = stream;
	return r;
}

struct sw_rec_graph_node *tb_node_head(struct tb *tb, uint64_t exec, uint32_t nodes)
{
	struct sw_rec_graph_node *r = tb_add(tb, SW_REC_GRAPH_NODE, sizeof *r, true);
	r->exec = exec;
	r->flags = SW_NODE_HEAD;
	r->nodes = nodes;
	return r;
}

struct sw_rec_graph_node *tb_node(struct tb *tb, uint64_t exec, uint64_t node, const uint64_t *before, uint32_t n,
				  enum sw_rec_kind kind, void *work, size_t bytes)
{
	struct sw_rec_graph_node *r = tb_add(tb, SW_REC_GRAPH_NODE, sizeof *r + n * sizeof *before + bytes, true);
	r->exec = exec;
	r->node = node;
	r->before = n;
	r->work_bytes = (uint32_t)bytes;
	if (n)
		memcpy(r + 1, before, n * sizeof *before);
	if (work) {
		((struct sw_rec *)work)->kind = (uint8_t)kind;
		((struct sw_rec *)work)->words = (uint16_t)(bytes / 8);
		memcpy((char *)(r + 1) + n * sizeof *before, work, bytes);
	}
	return r;
}

struct sw_rec_mem_op *tb_mem_op(struct tb *tb, enum sw_mem_op op, uint64_t address, uint64_t bytes, uint64_t stream)
{
	struct sw_rec_mem_op *r =
		operation(tb, SW_REC_MEM_OP, sizeof *r, "cuMemPrefetchAsync_v2", "cudaMemPrefetchAsync");
	r->stream = stream;
	r->address = address;
	r->bytes = bytes;
	r->op = op;
	return r;
}

struct sw_rec_host_access *tb_host_access(struct tb *tb, uint64_t address, uint64_t bytes, uint32_t flags)
{
	struct sw_rec_host_access *r = tb_add(tb, SW_REC_HOST_ACCESS, sizeof *r, true);
	r->h.stack = tb->stack;
	r->address = address;
	r->bytes = bytes;
	r->instruction = flags & SW_HOST_CALL ? 0 : 0x401000;
	r->flags = flags;
	return r;
}

struct sw_rec_host_sync *tb_host_sync(struct tb *tb, enum sw_thread_op op, enum sw_through kind, uint64_t object)
{
	struct sw_rec_host_sync *r = tb_add(tb, SW_REC_HOST_SYNC, sizeof *r, true);
	r->object = object;
	r->op = op;
	r->kind = kind;
	return r;
}

struct sw_rec_range *tb_range(struct tb *tb, enum sw_range_op op, uint64_t domain, uint64_t id, const char *name,
			      const char *domain_name)
{
	const size_t n = strlen(name), d = strlen(domain_name);
	struct sw_rec_range *r = tb_add(tb, SW_REC_RANGE, sizeof *r + n + d, true);
	r->op = op;
	r->domain = domain;
	r->id = id;
	r->name_bytes = (uint32_t)n;
	r->domain_bytes = (uint32_t)d;
	memcpy(r + 1, name, n);
	memcpy((char *)(r + 1) + n, domain_name, d);
	return r;
}

struct sw_rec_library *tb_library(struct tb *tb, enum sw_library_op op, const char *name, uint64_t handle,
				  uint32_t words, ...)
{
	const size_t n = strlen(name);
	struct sw_rec_library *r = tb_add(tb, SW_REC_LIBRARY, sizeof *r + words * sizeof(uint64_t) + n, true);
	uint64_t *word = (uint64_t *)(r + 1);
	va_list ap;
	r->op = op;
	r->handle = handle;
	r->words = words;
	r->name_bytes = (uint32_t)n;
	va_start(ap, words);
	for (uint32_t i = 0; i < words; i++)
		word[i] = va_arg(ap, uint64_t);
	va_end(ap);
	memcpy(word + words, name, n);
	return r;
}

struct sw_rec_annotation *tb_annotation(struct tb *tb, enum sw_annotation op, uint64_t address, uint64_t bytes,
					uint64_t stream)
{
	struct sw_rec_annotation *r =
		operation(tb, SW_REC_ANNOTATION, sizeof *r, "syncwatch_annotate", "syncwatch_annotate");
	r->op = op;
	r->address = address;
	r->bytes = bytes;
	r->stream = stream;
	return r;
}

struct sw_rec_config *tb_config(struct tb *tb, uint64_t what, uint64_t value)
{
	struct sw_rec_config *r = operation(tb, SW_REC_CONFIG, sizeof *r, "cuCtxSetLimit", "cudaDeviceSetLimit");
	r->what = what;
	r->value = value;
	return r;
}

struct sw_rec_object *tb_object(struct tb *tb, enum sw_object_kind kind, uint64_t handle, uint64_t address,
				uint64_t bytes)
{
	struct sw_rec_object *r =
		operation(tb, SW_REC_OBJECT, sizeof *r, "cuTexObjectCreate", "cudaCreateTextureObject");
	r->kind = kind;
	r->handle = handle;
	r->address = address;
	r->side = SW_SIDE_DEVICE;
	r->rank = 1;
	r->size[0] = bytes;
	return r;
}

struct sw_rec_other *tb_other(struct tb *tb, enum sw_rec_kind kind, const char *driver)
{
	return operation(tb, kind, sizeof(struct sw_rec_other), driver, "");
}
