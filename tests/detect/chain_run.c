/* SPDX-License-Identifier: Apache-2.0 */
/* Each call of a program: its records, its place in the order (doc/order.md), its accesses. */
#include <string.h>

#include "chain_call.h"

#define LIBRARY 0x7001ull
#define MEMORY	0x4a00ull

/* ---- work ---- */

/* How the host waits for a copy (doc/findings.md, "Who waits for what"). */
enum join { NO, FULL, BEFORE, MAY };

static enum join join_of(const struct run *run)
{
	const struct chain_op *op = run->op;
	bool to_host = !slot_is_device(op->dst.slot), from_host = !slot_is_device(op->src.slot);
	bool pageable = (to_host && !slot_is_pinned(run->truth, op->dst.slot)) ||
			(from_host && !slot_is_pinned(run->truth, op->src.slot));
	if (to_host && from_host)
		return FULL;
	if (!op->synchronous)
		return pageable ? MAY : NO;
	return to_host ? FULL : !from_host ? NO : pageable ? BEFORE : FULL;
}

static void emit_copy(struct run *run)
{
	const struct chain_op *op = run->op;
	enum sw_side ds = slot_is_device(op->dst.slot) ? SW_SIDE_DEVICE : SW_SIDE_HOST;
	enum sw_side ss = slot_is_device(op->src.slot) ? SW_SIDE_DEVICE : SW_SIDE_HOST;
	uint64_t dst = slot_address(&op->dst), src = slot_address(&op->src), stream = stream_handle(run);
	if (op->kind == CHAIN_COPY_2D)
		tb_copy_2d(run->tb, dst, ds, op->dst.pitch, src, ss, op->src.pitch, op->bytes, op->rows, stream);
	else if (op->synchronous)
		tb_copy_sync(run->tb, dst, ds, src, ss, op->bytes);
	else
		tb_copy(run->tb, dst, ds, src, ss, op->bytes, stream);
}

static void copy(struct run *run)
{
	const struct chain_op *op = run->op;
	enum join join = join_of(run);
	unsigned rows = op->kind == CHAIN_COPY_2D ? op->rows : 1;
	emit_copy(run);
	if (join == BEFORE)
		wait_begins(run, OP_WAIT_STREAM, BEFORE_CALL);
	struct touch like = {.op = run->index, .role = SW_READ, .may = join == BEFORE || join == MAY};
	like.node = happens(run, OP_ENQUEUE);
	if (join != NO)
		wait_begins(run, OP_WAIT_POINT, CALL);
	if (join != BEFORE)
		memory_box(run->truth, &like, &op->src, op->bytes, rows);
	like.role = SW_WRITE;
	memory_box(run->truth, &like, &op->dst, op->bytes, rows);
	if (join == BEFORE)
		wait_ends(run, BEFORE_CALL, SW_ORDER_DOCUMENTED);
	if (join != NO)
		wait_ends(run, CALL, like.may ? SW_ORDER_MEASURED : SW_ORDER_DOCUMENTED);
	if (join == BEFORE) { /* the host itself reads the source inside the call */
		like = (struct touch){.op = run->index, .role = SW_READ, .host = true};
		like.node = happens(run, OP_HOST_STEP);
		memory_box(run->truth, &like, &op->src, op->bytes, rows);
	}
}

static void set(struct run *run)
{
	const struct chain_op *op = run->op;
	bool waits = op->synchronous && slot_is_pinned(run->truth, op->dst.slot);
	struct sw_rec_set *r = tb_set(run->tb, slot_address(&op->dst), op->bytes, stream_handle(run));
	r->height = op->rows;
	r->pitch = op->dst.pitch;
	struct touch like = {.op = run->index, .role = SW_WRITE};
	like.node = happens(run, OP_ENQUEUE);
	if (waits)
		wait_begins(run, OP_WAIT_POINT, CALL);
	memory_box(run->truth, &like, &op->dst, op->bytes, op->rows);
	if (waits)
		wait_ends(run, CALL, SW_ORDER_DOCUMENTED);
}

static void kernel(struct run *run)
{
	const struct chain_op *op = run->op;
	bool named = op->kind == CHAIN_KERNEL;
	tb_launch(run->tb, named ? run->kernel : run->unnamed, stream_handle(run), 2, slot_address(&op->dst),
		  slot_address(&op->src));
	struct touch like = {.op = run->index, .evidence = named ? SW_EV_SIGNATURE : SW_EV_ASSUMED};
	like.node = happens(run, OP_ENQUEUE);
	like.role = named ? SW_WRITE : SW_READ_WRITE;
	memory_pointer(run->truth, &like, &op->dst);
	like.role = named ? SW_READ : SW_READ_WRITE;
	memory_pointer(run->truth, &like, &op->src);
}

/* Bytes of a variable, by its name. */
static void emit_variable(struct run *run)
{
	const struct chain_op *op = run->op;
	tb_launch(run->tb, op->flag ? run->writer : run->reader, stream_handle(run), 1,
		  op->dst.at | (uint64_t)op->bytes << 32);
}

static void variable(struct run *run)
{
	const struct chain_op *op = run->op;
	struct chain_range range = {.slot = SLOT_VARIABLE, .at = op->dst.at};
	emit_variable(run);
	struct touch like = {.op = run->index, .role = op->flag ? SW_WRITE : SW_READ, .evidence = SW_EV_FOOTPRINT};
	like.node = happens(run, OP_ENQUEUE);
	memory_box(run->truth, &like, &range, op->bytes, 1);
}

static void ask(struct run *run)
{
	uint64_t address = slot_address(&(struct chain_range){.slot = SLOT_VARIABLE});
	tb_alloc(run->tb, SW_MEM_SYMBOL, address, SLOT_BYTES)->owner = LIBRARY;
	tb_name(run->tb, SW_NAME_SYMBOL, address, 0, "variable");
	run->asked = true;
}

static void map_memory(struct run *run, bool alias)
{
	struct chain_range range = {.slot = SLOT_MAPPED, .alias = alias};
	tb_alloc(run->tb, SW_MEM_MAPPED, slot_address(&range), SLOT_BYTES)->owner = MEMORY;
}

/* The other address of the mapped memory comes or goes. */
static void map(struct run *run)
{
	struct chain_range range = {.slot = SLOT_MAPPED, .alias = true};
	if (run->aliased) {
		tb_free(run->tb, SW_MEM_MAPPED, slot_address(&range))->bytes = SLOT_BYTES;
		memory_unmap(run->truth, run->index, happens(run, OP_HOST_STEP));
	} else {
		map_memory(run, true);
		run->truth->aliases++;
	}
	run->aliased = !run->aliased;
}

/* ---- memory ---- */

static void alloc(struct run *run)
{
	uint8_t slot = run->op->dst.slot;
	bool pool = slot == SLOT_POOL;
	struct sw_rec_alloc *r = tb_alloc(run->tb,
					  pool			? SW_MEM_ASYNC
					  : slot == SLOT_PINNED ? SW_MEM_PINNED
								: SW_MEM_DEVICE,
					  slot_address(&(struct chain_range){.slot = slot}), SLOT_BYTES);
	if (slot == SLOT_PINNED)
		r->device_alias = slot_address(&(struct chain_range){.slot = slot, .alias = true});
	if (pool)
		r->stream = stream_handle(run);
	memory_alloc(run->truth, run->index, pool ? happens(run, OP_ENQUEUE) : -1, slot);
}

static void release(struct run *run)
{
	uint8_t slot = run->op->dst.slot;
	uint64_t address = slot_address(&(struct chain_range){.slot = slot});
	if (slot == SLOT_POOL && !run->op->synchronous) {
		tb_free(run->tb, SW_MEM_ASYNC, address)->stream = stream_handle(run);
		memory_free(run->truth, run->index, happens(run, OP_ENQUEUE), slot, true);
		return;
	}
	tb_free_sync(run->tb, slot == SLOT_PINNED ? SW_MEM_PINNED : SW_MEM_UNKNOWN, address);
	if (slot != SLOT_POOL) {
		wait_begins(run, OP_WAIT_DEVICE, CALL);
		run->truth->releasing = &run->truth->order.token[CALL].covers;
	}
	memory_free(run->truth, run->index, happens(run, OP_HOST_STEP), slot, false);
	run->truth->releasing = NULL;
	if (slot != SLOT_POOL)
		wait_ends(run, CALL, SW_ORDER_MEASURED);
}

/* ---- a program ---- */

static bool needs_address(const struct chain_op *op)
{
	return op->kind <= CHAIN_KERNEL_UNNAMED || op->kind == CHAIN_NODE;
}

static bool is_alias(const struct chain_range *range)
{
	return range->slot == SLOT_MAPPED && range->alias;
}

/* Whether the call can be made now. */
static bool possible(const struct run *run)
{
	const struct chain_op *op = run->op;
	bool alive = run->truth->slot[op->dst.slot].alive;
	if (!run->asked && needs_address(op) && (op->dst.slot == SLOT_VARIABLE || op->src.slot == SLOT_VARIABLE))
		return false;
	if (needs_address(op) && (is_alias(&op->dst) || is_alias(&op->src)) &&
	    (!run->aliased || op->kind == CHAIN_NODE || run->captured[lane_key(run)]))
		return false;
	switch ((enum chain_kind)op->kind) {
	case CHAIN_ALLOC:
		return !alive && op->dst.slot != SLOT_PAGEABLE;
	case CHAIN_FREE:
		return alive && op->dst.slot < SLOT_VARIABLE;
	case CHAIN_STREAM_RENEW:
	case CHAIN_STREAM_END:
		return op->stream > 2;
	case CHAIN_WAIT_BEGIN:
		return run->thread == 2 && !run->blocked;
	case CHAIN_WAIT_FINISH:
		return run->blocked;
	case CHAIN_CALLBACK:
		return !run->callback;
	case CHAIN_CALLBACK_RUN:
		return run->callback;
	case CHAIN_CAPTURE:
		return lane_key(run) && !run->captured[lane_key(run)];
	case CHAIN_LAUNCH:
	case CHAIN_GRAPH_END:
		return run->exec[op->event % CHAIN_EXECS].there;
	default:
		return true;
	}
}

/* Work on a capturing stream is not executed: its records are there, and nothing else. */
static bool invisible(const struct run *run)
{
	const struct chain_op *op = run->op;
	bool work =
		op->kind <= CHAIN_KERNEL_VARIABLE || op->kind == CHAIN_CALLBACK || op->kind == CHAIN_LAUNCH ||
		((op->kind == CHAIN_ALLOC || op->kind == CHAIN_FREE) && op->dst.slot == SLOT_POOL && !op->synchronous);
	return work && run->captured[lane_key(run)];
}

static void captured(struct run *run)
{
	struct graph *graph = &run->graph[run->captured[lane_key(run)]];
	graph_node(run, graph, run->after[lane_key(run)]);
	run->after[lane_key(run)] = 1ull << (graph->n - 1);
}

static void emit_only(struct run *run)
{
	switch ((enum chain_kind)run->op->kind) {
	case CHAIN_COPY:
	case CHAIN_COPY_2D:
		emit_copy(run);
		captured(run);
		break;
	case CHAIN_SET:
		tb_set(run->tb, slot_address(&run->op->dst), run->op->bytes, stream_handle(run));
		captured(run);
		break;
	case CHAIN_LAUNCH:
		graph_launch(run, true);
		break;
	case CHAIN_KERNEL_VARIABLE:
		emit_variable(run);
		break;
	case CHAIN_CALLBACK:
		tb_host_func(run->tb, stream_handle(run), 0x1234);
		break;
	case CHAIN_ALLOC:
		tb_alloc(run->tb, SW_MEM_ASYNC, slot_address(&run->op->dst), SLOT_BYTES)->stream = stream_handle(run);
		break;
	case CHAIN_FREE:
		tb_free(run->tb, SW_MEM_ASYNC, slot_address(&(struct chain_range){.slot = SLOT_POOL}))->stream =
			stream_handle(run);
		break;
	default:
		tb_launch(run->tb, run->kernel, stream_handle(run), 2, slot_address(&run->op->dst),
			  slot_address(&run->op->src));
	}
}

static void step(struct run *run)
{
	int key = (int)lane_key(run), ended = run->captured[key];
	switch ((enum chain_kind)run->op->kind) {
	case CHAIN_COPY:
	case CHAIN_COPY_2D:
		copy(run);
		break;
	case CHAIN_SET:
		set(run);
		break;
	case CHAIN_KERNEL:
	case CHAIN_KERNEL_UNNAMED:
		kernel(run);
		break;
	case CHAIN_KERNEL_VARIABLE:
		variable(run);
		break;
	case CHAIN_ASK:
		ask(run);
		break;
	case CHAIN_MAP:
		map(run);
		break;
	case CHAIN_ALLOC:
		alloc(run);
		break;
	case CHAIN_FREE:
		release(run);
		break;
	case CHAIN_STREAM_RENEW:
		stream_ends(run);
		tb_stream_create(run->tb, stream_handle(run), run->op->flag);
		happens(run, OP_STREAM_CREATE);
		break;
	case CHAIN_STREAM_END:
		stream_ends(run);
		break;
	case CHAIN_EVENT_RENEW:
	case CHAIN_EVENT_END:
		tb_event_destroy(run->tb, 0x77000u + run->op->event);
		if (run->op->kind == CHAIN_EVENT_RENEW)
			tb_event_create(run->tb, 0x77000u + run->op->event);
		happens(run, OP_EVENT_DESTROY);
		run->event_capture[run->op->event] = 0;
		break;
	case CHAIN_RECORD:
		event_record(run);
		break;
	case CHAIN_STREAM_WAIT:
		stream_wait(run);
		break;
	case CHAIN_WAIT_FINISH:
		tb_thread(run->tb, run->thread = 2);
		tb_end(run->tb, SW_REC_SYNC, run->blocked);
		wait_ends(run, BLOCKED, SW_ORDER_DOCUMENTED);
		run->blocked = 0;
		break;
	case CHAIN_CALLBACK:
		callback(run);
		break;
	case CHAIN_CALLBACK_RUN:
		callback_runs(run);
		break;
	case CHAIN_CAPTURE:
		tb_capture(run->tb, SW_CAPTURE_BEGIN, stream_handle(run), 0);
		run->captured[key] = ++run->captures;
		run->after[key] = 0;
		break;
	case CHAIN_CAPTURE_DONE:
		tb_capture(run->tb, SW_CAPTURE_END, stream_handle(run), 0x99);
		for (size_t i = 0; ended && i < sizeof run->captured / sizeof *run->captured; i++)
			if (run->captured[i] == ended)
				run->captured[i] = 0;
		if (ended)
			graph_done(run, &run->graph[ended]);
		break;
	case CHAIN_NODE:
		tb_graph(run->tb, SW_GRAPH_ADD_NODE, 0x98, 0);
		graph_node(run, &run->graph[0], run->op->src.at * 0x9e3779b97f4a7c15ull);
		break;
	case CHAIN_GRAPH_DONE:
		graph_done(run, &run->graph[0]);
		break;
	case CHAIN_GRAPH_END:
		graph_ends(run);
		break;
	case CHAIN_LAUNCH:
		graph_launch(run, false);
		break;
	default:
		host_wait(run);
	}
}

/* Threads below n: variable[first + i]. */
#define EACH(name, access)                                                                                             \
	".visible .entry " name "(.param .u32 first, .param .u32 n)\n{\n"                                              \
	".reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n"                                                       \
	"mov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; setp.ge.u32 %p0, %r1, %r2; @%p0 bra DONE;\n"                      \
	"ld.param.u32 %r3, [first]; add.s32 %r4, %r1, %r3; cvt.u64.u32 %rd1, %r4;\n"                                   \
	"mov.u64 %rd2, variable; add.s64 %rd3, %rd2, %rd1; " access "\nDONE: ret;\n}\n"

/* The kernels that use a variable of theirs. */
static void code(struct run *run)
{
	static const char text[] =
		".version 8.0\n.target sm_90\n.address_size 64\n"
		".visible .global .align 4 .b8 variable[512];\n" EACH("set_variable", "st.global.u8 [%rd3], 0;")
			EACH("get_variable", "ld.global.u8 %r5, [%rd3];");
	uint32_t image = tb_image(run->tb, SW_IMAGE_PTX, NULL, text, sizeof text - 1);
	tb_code(run->tb, SW_REC_CODE_LOAD, LIBRARY, image);
	run->tb->image = image;
	run->writer = tb_function(run->tb, "set_variable", 2, 4, 4);
	run->reader = tb_function(run->tb, "get_variable", 2, 4, 4);
	run->tb->image = 0;
}

static void reserve(struct run *run, struct chain_range range)
{
	struct sw_rec_other *o = tb_other(run->tb, SW_REC_OTHER, "cuMemAddressReserve");
	o->args[0] = slot_address(&range) & ~UINT64_C(0xffff);
	o->args[1] = 0x20000;
}

static void begin(struct run *run)
{
	static const struct chain_op nothing;
	struct truth *truth = run->truth;
	oracle_start(&truth->order, false);
	truth->touches = truth->pairs = 0;
	truth->blocks = truth->aliases = 0;
	memset(truth->slot, 0, sizeof truth->slot);
	run->op = &nothing;
	run->index = -1;
	run->thread = 1;
	happens(run, OP_CONTEXT_CREATE);
	run->kernel = tb_function(run->tb, "_Z3addPfPKf", 2, 8, 8);
	run->unnamed = tb_function(run->tb, "plain", 2, 8, 8);
	code(run);
	memory_variable(truth, SLOT_VARIABLE);
	memory_variable(truth, SLOT_MAPPED);
	reserve(run, (struct chain_range){.slot = SLOT_MAPPED});
	reserve(run, (struct chain_range){.slot = SLOT_MAPPED, .alias = true});
	map_memory(run, false);
	for (uint8_t slot = SLOT_DEVICE; slot <= SLOT_PINNED; slot++) {
		run->op = &(struct chain_op){.dst.slot = slot};
		alloc(run);
	}
	for (uint8_t stream = 3; stream <= 5; stream++) {
		run->op = &(struct chain_op){.kind = CHAIN_STREAM_RENEW, .stream = stream, .flag = stream != 5};
		tb_stream_create(run->tb, stream_handle(run), run->op->flag);
		happens(run, OP_STREAM_CREATE);
	}
}

void chain_run(const struct chain *chain, struct tb *tb, struct truth *truth)
{
	static struct graph graphs[CHAIN_OPS + 1], execs[CHAIN_EXECS];
	struct run run = {.tb = tb, .truth = truth, .graph = graphs, .exec = execs};
	memset(graphs, 0, sizeof graphs);
	memset(execs, 0, sizeof execs);
	begin(&run);
	for (size_t i = 0; i < chain->n; i++) {
		run.op = &chain->op[i];
		run.index = (int)i;
		run.thread = run.blocked ? 1 : run.op->thread;
		truth->seq[i] = tb->seq;
		if (!possible(&run))
			continue;
		tb_thread(tb, run.thread);
		tb_stack(tb, 1, 0x1000 + 16 * (uint64_t)i);
		tb->flags = (uint16_t)((run.op->synchronous ? SW_RF_SYNCHRONOUS : 0) |
				       (call(&run, OP_ENQUEUE).flag ? SW_RF_PER_THREAD : 0));
		if (invisible(&run))
			emit_only(&run);
		else
			step(&run);
		tb->flags = 0;
	}
	truth->seq[chain->n] = tb->seq;
}
