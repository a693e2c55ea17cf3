/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, configuration, attributes, names. */
#include "detect/model/handlers.h"

#include <string.h>

#include "detect/behaviour/wait_rules.h"
#include "detect/calls/allocations.h"
#include "detect/calls/shared_events.h"
#include "detect/hazards/host_knowledge.h"
#include "detect/hazards/shared_uses.h"
#include "detect/kernels/texture_handles.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/memory/module_variables.h"
#include "detect/memory/physical_memory.h"
#include "detect/model/call.h"
#include "detect/model/contexts.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "detect/waits/waits.h"

/* Its work is done and its handles are invalid; what it owned ends, unless it is a part of another one. */
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

/* A green context that is destroyed is not among them: cuda.h, cuGreenCtxDestroy: "does not destroy streams";
   measured: it does not wait for their work, which the primary context continues to cover. */
static bool ends(const struct sw_context_state *c, const struct sw_record *r)
{
	const struct sw_rec_context_op *o = (const struct sw_rec_context_op *)(const void *)r->rec;
	if (!c->live)
		return false;
	if (o->op == SW_CONTEXT_RESET)
		return c->primary && c->device == (int32_t)o->handle;
	return o->op == SW_CONTEXT_DESTROY && c->handle == o->handle && !c->green;
}

void sw_on_context_op(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_context_op *o = (const struct sw_rec_context_op *)(const void *)r->rec;
	for (unsigned id = 1; id < 256; id++) {
		struct sw_context_state *c = &m->context[id];
		if (o->op == SW_CONTEXT_RELEASE && c->primary && c->device == (int32_t)o->handle)
			c->released = true;
		if (ends(c, r))
			end_context(m, r, w, (uint8_t)id);
	}
}

/* cuda.h, cuCtxRecordEvent, cuCtxWaitEvent, cuCtxSynchronize: the primary context "and its green contexts". */
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

/* A device has one primary context: after a release another one means that the one before had no user left. An id that
   is used again means that its context has ended. */
static void end_earlier(struct sw_model *m, const struct sw_rec_context *r, struct sw_wait *w)
{
	for (unsigned id = 1; id < 256; id++) {
		const struct sw_context_state *c = &m->context[id];
		bool primary = r->flags & SW_CTX_PRIMARY && c->primary && c->device == r->device;
		if (c->live && ((primary && c->released) || id == r->h.ctx))
			end_context(m, m->record, w, (uint8_t)id);
	}
}

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

static const struct sw_wait_rule_set *may_of(struct sw_model *m, int32_t ordinal)
{
	const struct sw_trace_device *device;
	if (sw_reader_packer(m->reader))
		m->j->mays.packed = (struct sw_packed_rules){find_packed, m->reader};
	for (size_t i = 0; (device = sw_reader_device(m->reader, i)); i++)
		if (device->ordinal == ordinal)
			return sw_wait_rules_of(&m->j->mays, device->name,
						sw_reader_header(m->reader)->cuda_driver_version);
	return NULL;
}

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

/* CUDA driver API, cuLibraryGetManaged: "managed memory for library is shared across devices". */
static bool is_everywhere(const struct sw_model *m, const struct sw_block *block)
{
	const struct sw_trace_api *api = sw_reader_api(m->reader, block->born.api);
	return api && !strcmp(api->driver, "cuLibraryGetManaged");
}

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

void sw_on_object(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	(void)w;
	sw_handles_add(m->handles, (const struct sw_rec_object *)(const void *)r->rec);
}

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

static void pointer_attribute(struct sw_model *m, const uint64_t *args)
{
	uint64_t offset;
	struct sw_block *block = args[1] == SW_POINTER_SYNC_MEMOPS ? sw_space_find(&m->space, args[2], &offset) : NULL;
	if (block) /* switching it off again is not seen: more order than there is, never less */
		block->sync_memops = true;
}

/* The host, or another API on its behalf, may wait for the semaphore. */
static void semaphore(struct sw_model *m, const uint64_t *args)
{
	struct sw_hb_at at = sw_model_at(m, m->record, args[0]);
	uint32_t lane;
	uint64_t work = sw_model_lane(m, &at, &lane)->work;
	if (work)
		sw_host_signalled(m, (struct sw_point){lane, work});
}

static void reserve(struct sw_model *m, const uint64_t *args)
{
	sw_space_reserve(&m->space, args[0], args[1]);
}

static void unreserve(struct sw_model *m, const uint64_t *args)
{
	struct sw_block *block = sw_space_reservation(&m->space, args[0], 0);
	if (block && block->address == args[0])
		sw_space_remove(&m->space, block, NULL);
}

static void memory_created(struct sw_model *m, const uint64_t *args)
{
	sw_physical_created(m->physical, args[0]);
}

/* Descriptors of the driver are all of one file, numbers are reused, and the imported handle is another one (measured
   on H200, driver 580.159.04): nothing says which memory it is. */
static void memory_imported(struct sw_model *m, const uint64_t *args)
{
	sw_physical_created(m->physical, args[0]);
	m->j->coverage.imported_memory++;
}

static void memory_released(struct sw_model *m, const uint64_t *args)
{
	sw_physical_released(m->physical, args[0]);
}

static void memory_exported(struct sw_model *m, const uint64_t *args)
{
	uint64_t offset;
	struct sw_block *block = sw_space_find_outer(&m->space, args[0], &offset);
	if (block)
		sw_sharing_exported(m, block, args[1]);
}

/* By a pool's handle and data of the pointer: neither says what it is. */
static void pointer_exported(struct sw_model *m, const uint64_t *args)
{
	uint64_t offset;
	struct sw_block *block = sw_space_find_outer(&m->space, args[0], &offset);
	m->j->shares_pools = true;
	if (block)
		block->passed_on = true;
}

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
	{"cuSignalExternalSemaphores", semaphore},
	{"cuMemAddressReserve", reserve},
	{"cuMemAddressFree", unreserve},
	{"cuMemCreate", memory_created},
	{"cuMemImportFromShareableHandle", memory_imported},
	{"cuMemRelease", memory_released},
};

void sw_on_other(struct sw_model *m, const struct sw_record *r, struct sw_wait *w)
{
	const struct sw_rec_other *o = (const struct sw_rec_other *)(const void *)r->rec;
	const struct sw_trace_api *api = sw_reader_api(m->reader, r->rec->api);
	(void)w;
	for (size_t i = 0; api && i < sizeof others / sizeof *others; i++)
		if (strncmp(api->driver, others[i].name, strlen(others[i].name)) == 0)
			others[i].handle(m, o->args);
}
