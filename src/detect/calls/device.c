/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, configuration, attributes, names. */
#include "detect/model/handlers.h"

#include <stdlib.h>
#include <string.h>

#include "detect/behaviour/behaviour.h"
#include "detect/calls/allocations.h"
#include "detect/calls/streams.h"
#include "detect/hazards/deferred.h"
#include "detect/hazards/hazards.h"
#include "detect/hazards/host_functions.h"
#include "detect/hazards/touch.h"
#include "detect/hazards/shared_uses.h"
#include "detect/hazards/stored_values.h"
#include "detect/kernels/annotated_launches.h"
#include "detect/kernels/kernel_objects.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/memory/physical_memory.h"
#include "detect/model/call.h"
#include "detect/model/collect.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/waits.h"
#include "detect/waits/wide_syncs.h"

/* Calls that are not modelled. */

/* Handles a call that is not modelled: reports it once a place, and weakens what is said of its context from here
   on. */
void sw_on_unclassified(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	struct sw_finding seen = {.id = SW_FINDING_UNCLASSIFIED_CALL,
				  .severity = SW_WARNING,
				  .confidence = SW_CERTAIN,
				  .accesses = 1,
				  .access[0] = &w->what};
	m->j->coverage.unclassified_calls++;
	if (!m->context[r->rec->ctx].unclassified)
		m->context[r->rec->ctx].unclassified = r->seq;
	sw_wide_poison(m);
	sw_uploads_forget(m);
	sw_collect_add(&m->collect, &seen, NULL);
}

/*
 * What orders host threads (strict host).  Host threads with a lane each (strict host): what orders them.
 * POSIX.1-2017, Base Definitions 4.12: the functions listed there "synchronize memory with respect to other threads";
 * the order of the calls is in the records: a lock comes after the unlock before it, pthread_create() comes before
 * all that the new thread does, pthread_join() after it.
 */

/* Handles a call that orders host threads; only with --strict-host, where each thread is a lane. */
void sw_on_host_sync(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_host_sync *s = (const struct sw_rec_host_sync *)(const void *)r->rec;
	const uint64_t key = s->object | (uint64_t)s->kind << 56;
	(void)w;
	if (!m->options->strict_host)
		return;
	m->j->coverage.host_syncs++;
	switch ((enum sw_thread_op)s->op) {
	case SW_THREAD_ACQUIRE:
		sw_hb_acquire(m->hb, key, r->thread, r->seq);
		break;
	case SW_THREAD_RELEASE:
		sw_hb_release(m->hb, key, r->thread, r->seq);
		break;
	case SW_THREAD_CREATE:
		sw_hb_thread_create(m->hb, s->object, r->thread, r->seq);
		break;
	case SW_THREAD_START:
		sw_hb_thread_start(m->hb, s->object, r->thread);
		break;
	case SW_THREAD_ABANDON:
		sw_hb_thread_abandon(m->hb, s->object);
		break;
	case SW_THREAD_END:
		sw_hb_thread_end(m->hb, s->object, r->thread);
		break;
	case SW_THREAD_JOIN:
		sw_hb_thread_join(m->hb, s->object, r->thread, r->seq);
		break;
	}
}

void sw_host_func_returned(struct sw_model *m, const struct sw_record *begin, uint64_t seq)
{
	const struct sw_rec_host_func *f = (const struct sw_rec_host_func *)(const void *)begin->rec;
	struct sw_hb_at at = sw_model_at(m, begin, f->stream);
	at.seq = seq;
	sw_hb_host_func_return(m->hb, &at);
	sw_host_func_finish(m, f->enqueued, begin->thread);
}

/* Annotations of the program: the calls of syncwatch/syncwatch.h. */

/* The event, in the order engine, of a tag of the program's annotations.  No program can hold its handle: events are
   pointers. */
static uint64_t tag_event(uint64_t tag)
{
	return UINT64_C(1) << 62 | (tag & (UINT64_MAX >> 2));
}

/* ---- blocks of suballocators --------------------------------------------------------------------------------------
 */

/* Places a block's begin or end: as work of its stream, as for cudaMallocAsync and cudaFreeAsync, or now, by the host.
   False: the stream captures. */
static bool place_annotation(struct sw_model *m, const struct sw_record *r, struct sw_wait *w,
			     const struct sw_rec_annotation *a)
{
	if (!(a->flags & SW_NOTE_ON_HOST))
		return sw_model_enqueue(m, r, a->stream);
	w->what.point = sw_hb_host_step(m->hb, r->thread, r->seq);
	return true;
}

/* Makes what the program's suballocator hands out a block of its own; each freed block that it reuses must have been
   freed in order before. */
static void begin_block(struct sw_model *m, const struct sw_record *r, struct sw_wait *w,
			const struct sw_rec_annotation *a)
{
	w->what.role = SW_ALLOC;
	if (!place_annotation(m, r, w, a))
		return;
	struct sw_block whole = {.address = a->address, .bytes = a->bytes};
	sw_block_born(&whole, &w->what);
	uint64_t at = a->address, end = a->bytes > UINT64_MAX - at ? UINT64_MAX : at + a->bytes;
	for (struct sw_block *old; (old = sw_space_freed_in(&m->space, at, end)); at = old->address + old->bytes)
		if (old->within)
			sw_hazard_reused(m, old, &whole.born);
	struct sw_block *block = sw_space_add_inner(&m->space, a->address, a->bytes);
	if (!block)
		return;
	block->born_passed = a->flags & SW_NOTE_ON_HOST;
	block->born = whole.born;
}

/* Ends a block that the program's suballocator takes back: judged like a free. */
static void end_block(struct sw_model *m, const struct sw_record *r, struct sw_wait *w,
		      const struct sw_rec_annotation *a)
{
	struct sw_block *block = sw_space_inner_from(&m->space, a->address);
	w->what.role = SW_FREE;
	if (!place_annotation(m, r, w, a) || !block || block->address != a->address)
		return;
	struct sw_access gone = sw_block_release(m, &w->what, block);
	sw_space_remove(&m->space, block, &gone);
}

/* ---- edges --------------------------------------------------------------------------------------------------------
 */

/* The object, in the order engine, through which host threads order each other by a tag.  No kind of HOST_SYNC has this
   number. */
static uint64_t tag_object(uint64_t tag)
{
	return UINT64_C(0xff) << 56 | tag;
}

/* Handles "happens before" of a tag: by a stream as an event's record, by the host as the release of an object.  With
   one lane for the host, what it does is after all that it did. */
static void record_annotation(struct sw_model *m, const struct sw_record *r, const struct sw_rec_annotation *a)
{
	struct sw_hb_at at = sw_model_at(m, r, a->stream);
	if (a->flags & SW_NOTE_ON_HOST)
		sw_hb_release(m->hb, tag_object(a->address), r->thread, r->seq);
	else if (!sw_model_captured(m, &at))
		sw_hb_event_record(m->hb, tag_event(a->address), &at, 0, NULL);
}

/* Handles "happens after" of a tag: the stream, or the host, waits for what came before the tag. */
static void order_stream_after(struct sw_model *m, const struct sw_record *r, const struct sw_rec_annotation *a)
{
	struct sw_hb_at at = sw_model_at(m, r, a->stream);
	struct sw_hb_event_state state;
	/* A declaration of another host thread reaches a stream through this thread, which enqueues the stream's work.
	 */
	sw_hb_acquire(m->hb, tag_object(a->address), r->thread, r->seq);
	if (a->flags & SW_NOTE_ON_HOST)
		sw_hb_wait_end(m->hb, sw_hb_wait_event(m->hb, tag_event(a->address), &state), r->thread, r->seq,
			       SW_ORDER_DOCUMENTED, NULL);
	else if (!sw_model_captured(m, &at))
		sw_hb_stream_wait(m->hb, &at, tag_event(a->address), 0, &state);
}

/* Handles an annotation of the program: accesses of a launch, blocks of suballocators, ignored memory, order by
   tags. */
void sw_on_annotation(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_annotation *a = (const struct sw_rec_annotation *)(const void *)r->rec;
	uint64_t end = a->bytes > UINT64_MAX - a->address ? UINT64_MAX : a->address + a->bytes;
	/* Earlier work counts as it was then. */
	if (a->op == SW_NOTE_BLOCK_BEGIN || a->op == SW_NOTE_BLOCK_END || a->op == SW_NOTE_IGNORE ||
	    a->op == SW_NOTE_JUDGE)
		sw_deferred_flush(m);
	switch (a->op) {
	case SW_NOTE_READS:
	case SW_NOTE_WRITES:
		sw_note_range(m, r, a);
		break;
	case SW_NOTE_BLOCK_BEGIN:
		begin_block(m, r, w, a);
		break;
	case SW_NOTE_BLOCK_END:
		end_block(m, r, w, a);
		break;
	case SW_NOTE_TENSOR_BEGIN:
		sw_tensor_block_begin(m, r, w, a);
		break;
	case SW_NOTE_TENSOR_END:
		sw_tensor_block_end(m, r, w, a);
		break;
	case SW_NOTE_IGNORE:
		if (a->address < end)
			sw_ignore_range(m, a->address, end);
		break;
	case SW_NOTE_JUDGE:
		sw_judge_range_again(m, a->address, end);
		break;
	case SW_NOTE_BEFORE:
		record_annotation(m, r, a);
		break;
	case SW_NOTE_AFTER:
		order_stream_after(m, r, a);
		break;
	default: /* of a newer recorder */
		break;
	}
}

/*
 * What the host touched in its own code, as far as the guard saw it (--guard-host).
 *
 * The guard releases pages later than it could have, never earlier than it may: what it records is an access, not yet
 * a hazard.  Whether the host could know the work to be done is judged here, like all order.
 */

/* Handles an access by the host's own code that the guard saw. */
void sw_on_host_access(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_host_access *a = (const struct sw_rec_host_access *)(const void *)r->rec;
	enum sw_role role = a->flags & SW_HOST_WRITES ? SW_WRITE : SW_READ;
	struct sw_range range = sw_range_bytes(a->address, a->bytes, role, SW_EV_EXACT);
	if (a->flags & SW_HOST_UNGUARDED) {
		m->j->coverage.unguarded_uses += a->bytes;
		return;
	}
	w->what.point = sw_hb_host_step(m->hb, r->thread, r->seq);
	m->j->coverage.host_accesses++;
	sw_model_touch(m, &w->what, &range, &(struct sw_touch){.host = true});
}

/* Ends a context: its work is done, its handles are invalid, and what it owned ends, unless it is a part of another
   context. */
static void end_context(struct sw_model *m, const struct sw_record *r, struct sw_wait *w, uint8_t ctx)
{
	struct sw_context_state *c = &m->context[ctx];
	sw_hb_context_destroy(m->hb, ctx, r->thread, r->seq);
	w->what.role = SW_FREE;
	w->what.point = sw_hb_host_step(m->hb, r->thread, r->seq);
	sw_blocks_end(m, ctx, &w->what);
	for (unsigned part = 1; part < 256; part++)
		if (m->context[part].live && m->context[part].whole == ctx)
			m->context[part].live = false;
	c->live = c->over = false;
	c->unclassified = 0;
}

/* Does this call end the context?  A destroyed green context does not end: cuda.h, cuGreenCtxDestroy: "does not destroy
   streams"; measured: it does not wait for their work, which the primary context continues to cover. */
static bool context_ends(const struct sw_context_state *c, const struct sw_record *r)
{
	const struct sw_rec_context_op *o = (const struct sw_rec_context_op *)(const void *)r->rec;
	if (!c->live)
		return false;
	if (o->op == SW_CONTEXT_RESET)
		return c->primary && c->device == (int32_t)o->handle;
	return o->op == SW_CONTEXT_DESTROY && c->handle == o->handle && !c->green;
}

/* Handles the release, the reset or the destruction of a context. */
void sw_on_context_op(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_context_op *o = (const struct sw_rec_context_op *)(const void *)r->rec;
	for (unsigned id = 1; id < 256; id++) {
		struct sw_context_state *c = &m->context[id];
		if (o->op == SW_CONTEXT_RELEASE && c->primary && c->device == (int32_t)o->handle)
			c->released = true;
		if (context_ends(c, r))
			end_context(m, r, w, (uint8_t)id);
	}
}

/* Joins a new context with the others of its device: waits and records of the primary context cover its green ones.
   cuda.h, cuCtxRecordEvent, cuCtxWaitEvent, cuCtxSynchronize: the primary context "and its green contexts". */
static void join_green(struct sw_model *m, uint8_t ctx)
{
	const struct sw_context_state *c = &m->context[ctx];
	for (unsigned id = 1; id < 256; id++) {
		const struct sw_context_state *other = &m->context[id];
		if (!other->live || other->device != c->device || id == ctx)
			continue;
		uint8_t part = c->green ? ctx : (uint8_t)id, whole = c->green ? (uint8_t)id : ctx;
		if (!m->context[part].green || !m->context[whole].primary)
			continue;
		m->context[part].whole = whole;
		sw_hb_context_within(m->hb, part, whole);
	}
}

/* Ends contexts that a new context shows to have ended.  A device has one primary context: after a release another one
   means that the one before had no user left.  An id that is used again means that its context has ended. */
static void end_earlier(struct sw_model *m, const struct sw_rec_context *r, struct sw_wait *w)
{
	for (unsigned id = 1; id < 256; id++) {
		const struct sw_context_state *c = &m->context[id];
		bool primary = r->flags & SW_CTX_PRIMARY && c->primary && c->device == r->device;
		if (c->live && ((primary && c->released) || id == r->h.ctx))
			end_context(m, m->record, w, (uint8_t)id);
	}
}

/* Call-back: a table of measured waits for this GPU that was packed into the trace; false: there is none. */
static bool find_packed(void *arg, const char *gpu, const char **path, const char **text, size_t *bytes)
{
	const struct sw_trace_table *table = sw_reader_table(arg, gpu);
	if (!table)
		return false;
	*path = table->path;
	*text = table->text;
	*bytes = table->bytes;
	return true;
}

/* The rules for calls that no document decides, for this device and driver; NULL: the trace does not describe the
   device. */
static const struct sw_wait_rule_set *may_of(struct sw_model *m, int32_t ordinal)
{
	const struct sw_trace_device *device;
	if (sw_reader_packer(m->reader))
		m->j->wait_rules.packed = (struct sw_packed_rules){find_packed, m->reader};
	for (size_t i = 0; (device = sw_reader_device(m->reader, i)); i++)
		if (device->ordinal == ordinal)
			return sw_wait_rules_of(&m->j->wait_rules, device->name,
						sw_reader_header(m->reader)->cuda_driver_version);
	return NULL;
}

/* Handles a context that is seen for the first time: its number may have been that of another one, which has ended
   then. */
void sw_on_context(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_context *c = (const struct sw_rec_context *)(const void *)r->rec;
	end_earlier(m, c, w);
	m->context[r->rec->ctx] = (struct sw_context_state){
		.handle = c->handle,
		.device = c->device,
		.live = true,
		.primary = c->flags & SW_CTX_PRIMARY,
		.green = c->flags & SW_CTX_GREEN,
		.may = may_of(m, c->device),
	};
	sw_hb_context_create(m->hb, r->rec->ctx, c->device);
	join_green(m, r->rec->ctx);
}

/* Is the variable one for all devices?  CUDA driver API, cuLibraryGetManaged: "managed memory for library is shared
   across devices". */
static bool is_everywhere(const struct sw_model *m, const struct sw_block *block)
{
	const struct sw_trace_api *api = sw_reader_api(m->reader, block->born.api);
	return api && !strcmp(api->driver, "cuLibraryGetManaged");
}

/* Makes the block the variable whose address the program asked for, also for kernels that use it by name. */
static void variable_asked(struct sw_model *m, struct sw_block *block, const char *name, uint64_t address)
{
	const struct sw_variable_key key = {
		.image = sw_variables_image(m->variables, block->owner),
		.ctx = is_everywhere(m, block) ? 0 : block->ctx,
		.name = name,
		.bytes = strlen(name),
	};
	sw_variables_asked(m->variables, &m->space, &key, block, address);
}

/* Handles a name that the program gave to a stream, a buffer or a variable. */
void sw_on_name(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_name *n = (const struct sw_rec_name *)(const void *)r->rec;
	struct sw_hb_at at = sw_model_at(m, r, n->handle);
	uint64_t offset;
	uint32_t lane;
	(void)w;
	if (n->of != SW_NAME_STREAM && n->of != SW_NAME_BUFFER && n->of != SW_NAME_SYMBOL)
		return;
	const char *name = sw_model_name(m, (const char *)(n + 1), n->name_bytes);
	struct sw_block *block = n->of != SW_NAME_STREAM ? sw_space_find(&m->space, n->handle, &offset) : NULL;
	if (block && !offset)
		block->name = name;
	if (block && n->of == SW_NAME_SYMBOL)
		variable_asked(m, block, name, n->handle);
	if (n->of != SW_NAME_STREAM)
		return;
	struct sw_stream_info *info = &m->j->streams.at[sw_model_lane(m, &at, &lane)->stream];
	if (!info->many)
		info->name = name;
}

/* Handles a texture, surface or tensor map: notes which memory it shows. */
void sw_on_object(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	(void)w;
	sw_handles_add(m->handles, (const struct sw_rec_object *)(const void *)r->rec);
}

/* Handles a change of the device's configuration (a stack limit): it may wait for the device. */
void sw_on_config(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	sw_wait_peek(m, w, sw_hb_wait_device(m->hb, m->context[r->rec->ctx].device));
	w->id = SW_FINDING_DEVICE_CONFIG;
	w->basis = SW_BASIS_MAY;
	w->fix = SW_FIX_LATER;
	w->only_waited = true;
	w->own_ns = sw_wait_own(SW_OWN_CONFIG, 0);
}

#define SW_POINTER_SYNC_MEMOPS 6u /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */

/* cuPointerSetAttribute: notes memory for which copies and sets wait (SYNC_MEMOPS). */
static void pointer_attribute(struct sw_model *m, const uint64_t *args)
{
	uint64_t offset;
	struct sw_block *block = args[1] == SW_POINTER_SYNC_MEMOPS ? sw_space_find(&m->space, args[2], &offset) : NULL;
	if (block) /* switching it off again is not seen: more order than there is, never less */
		block->sync_memops = true;
}

/* Handles the signal of an external semaphore by a stream: the host, or another API on its behalf, may wait for it, so
   it may know that the stream's work is done. */
static void signal_semaphore(struct sw_model *m, const uint64_t *args)
{
	struct sw_hb_at at = sw_model_at(m, m->record, args[0]);
	uint32_t lane;
	uint64_t work = sw_model_lane(m, &at, &lane)->work;
	if (work)
		sw_host_signalled(m, (struct sw_point){lane, work});
}

/* Handles cuMemAddressReserve: a block of addresses, of which nothing is memory yet. */
static void reserve_addresses(struct sw_model *m, const uint64_t *args)
{
	sw_space_reserve(&m->space, args[0], args[1]);
}

/* Handles cuMemAddressFree: ends the reservation. */
static void free_addresses(struct sw_model *m, const uint64_t *args)
{
	struct sw_block *block = sw_space_reservation(&m->space, args[0], 0);
	if (block && block->address == args[0])
		sw_space_remove(&m->space, block, NULL);
}

/* CUDA driver API, CUmemPoolProps: the memory of a pool is of a type, at a location.  Unlike other stream-ordered
   memory the host reads and writes that of a managed pool and that of a pool of the host's. */
#define SW_LOCATION_HOST      2u /* CU_MEM_LOCATION_TYPE_HOST, _HOST_NUMA, _HOST_NUMA_CURRENT */
#define SW_LOCATION_HOST_END  5u
#define SW_ALLOCATION_MANAGED 2u /* CU_MEM_ALLOCATION_TYPE_MANAGED */

/* Is this CU_MEM_LOCATION_TYPE one of the host's? */
static bool is_host(uint64_t location)
{
	return location >= SW_LOCATION_HOST && location < SW_LOCATION_HOST_END;
}

/* A memory pool: notes the kind of its memory where it is not the device's. */
static void pool_made(struct sw_model *m, const uint64_t *args)
{
	if (!args[0]) /* the call failed */
		return;
	if (args[4] == SW_ALLOCATION_MANAGED)
		*sw_map_put(&m->space.pools, args[0]) = SW_MEM_MANAGED;
	else if (is_host(args[3]))
		*sw_map_put(&m->space.pools, args[0]) = SW_MEM_PINNED;
	else
		sw_map_delete(&m->space.pools, args[0]);
}

/* Handles cuMemCreate: notes that a handle names new memory, at the host or on a device. */
static void memory_created(struct sw_model *m, const uint64_t *args)
{
	sw_physical_created(m->physical, args[0]);
	if (is_host(args[2]))
		*sw_map_put(&m->space.host_pieces, args[0]) = 1;
	else
		sw_map_delete(&m->space.host_pieces, args[0]);
}

/* Handles the import of memory of another process.  Descriptors of the driver are all of one file, numbers are reused,
   and the imported handle is another one (measured on H200, driver 580.159.04): nothing says which memory it is. */
static void memory_imported(struct sw_model *m, const uint64_t *args)
{
	sw_physical_created(m->physical, args[0]);
	m->j->coverage.imported_memory++;
}

/* Handles cuMemRelease: forgets what the handle names, which may be other memory later. */
static void memory_released(struct sw_model *m, const uint64_t *args)
{
	sw_physical_released(m->physical, args[0]);
}

/* Handles cuIpcGetMemHandle: other processes may use the memory from now on. */
static void memory_exported(struct sw_model *m, const uint64_t *args)
{
	uint64_t offset;
	struct sw_block *block = sw_space_find_outer(&m->space, args[0], &offset);
	if (block)
		sw_sharing_exported(m, block, args[1]);
}

/* Handles cuMemPoolExportPointer: other processes may use memory of a pool.  They get it by the pool's handle and data
   of the pointer: neither says which memory it is. */
static void pointer_exported(struct sw_model *m, const uint64_t *args)
{
	uint64_t offset;
	struct sw_block *block = sw_space_find_outer(&m->space, args[0], &offset);
	m->j->shares_pools = true;
	if (block)
		block->passed_on = true;
}

/* Handles cuIpcGetEventHandle: other processes may wait for the event from now on. */
static void event_exported(struct sw_model *m, const uint64_t *args)
{
	sw_shared_event_exported(m, args[0], args[1]);
}

static const struct {
	const char *name;
	void (*handle)(struct sw_model *m, const uint64_t *args);
} others[] = {
	{"cuIpcGetMemHandle", memory_exported},
	{"cuIpcGetEventHandle", event_exported},
	{"cuMemPoolExportPointer", pointer_exported},
	{"cuPointerSetAttribute", pointer_attribute},
	{"cuSignalExternalSemaphores", signal_semaphore},
	{"cuMemAddressReserve", reserve_addresses},
	{"cuMemAddressFree", free_addresses},
	{"cuMemCreate", memory_created},
	{"cuMemPoolCreate", pool_made},
	{"cuMemGetDefaultMemPool", pool_made},
	{"cuMemGetMemPool", pool_made},
	{"cuMemImportFromShareableHandle", memory_imported},
	{"cuMemRelease", memory_released},
};

/* Handles a call that has no record of its own kind, by its name. */
void sw_on_other(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_other *o = (const struct sw_rec_other *)(const void *)r->rec;
	const struct sw_trace_api *api = sw_reader_api(m->reader, r->rec->api);
	(void)w;
	for (size_t i = 0; api && i < sizeof others / sizeof *others; i++)
		if (strncmp(api->driver, others[i].name, strlen(others[i].name)) == 0)
			others[i].handle(m, o->args);
}
