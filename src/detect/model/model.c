/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/waits/schedule_feed.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "reader/kinds.h"

static sw_handler *const handlers[256] = {
#define SW_HANDLER(kind, name) [SW_REC_##kind] = sw_on_##name,
	SW_HANDLERS(SW_HANDLER)
#undef SW_HANDLER
};

/* Errors after which a context can only be destroyed: cuda.h says of each that "the context cannot be used". */
static const uint16_t sticky[] = {
	214 /* ECC */,		 220 /* NVLink */,	  226 /* contained */,	700 /* illegal address */,
	702 /* time-out */,	 710 /* assert */,	  714 /* stack */,	715 /* illegal instruction */,
	716 /* misaligned */,	 717 /* address space */, 718 /* invalid pc */, 719 /* launch failed */,
	721 /* tensor memory */, 999 /* unknown */,
};

static bool is_sticky(uint16_t status)
{
	for (size_t i = 0; i < sizeof sticky / sizeof *sticky; i++)
		if (sticky[i] == status)
			return true;
	return false;
}

static void on_edge(void *arg, const struct sw_hb_edge *edge)
{
	struct sw_model *m = arg;
	if (edge->kind == SW_EDGE_LEGACY)
		sw_legacy_edge(m, edge);
	if (m->observer->edge)
		m->observer->edge(m->observer->arg, edge, sw_model_lane_state(m, edge->from.lane)->stream,
				  sw_model_lane_state(m, edge->to_lane)->stream);
}

void sw_model_init(struct sw_model *m, struct sw_reader *reader, const struct sw_judge_options *options,
		   struct sw_judgement *judgement, struct sw_arena *arena)
{
	static const struct sw_observer nobody = {0};
	*m = (struct sw_model){.reader = reader, .options = options, .j = judgement, .arena = arena};
	m->observer = options->observer ? options->observer : &nobody;
	m->hb = sw_hb_new(&(struct sw_hb_options){.strict_host = options->strict_host, .on_edge = on_edge, .arg = m});
	sw_space_init(&m->space);
	sw_pool_init(m);
	sw_collect_init(&m->collect, judgement, options->keep_possible);
	m->codes.reader = reader;
	if (!options->no_schedule)
		m->schedule = sw_schedule_new(NULL);
	if (!options->no_footprints)
		m->library = sw_footprint_library_open(options->cache, options->threads);
	*sw_vec_push(&judgement->streams) = (struct sw_stream_info){.kind = SW_LANE_HOST};
}

static void free_events(struct sw_map *map)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(map, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(map);
}

void sw_model_free(struct sw_model *m)
{
	sw_wait_forget(m);
	for (size_t i = 0; i < m->lanes.n; i++) {
		free(m->lanes.at[i].event_waits);
		free(m->lanes.at[i].pending);
	}
	sw_footprint_library_close(m->library);
	sw_codes_free(&m->codes);
	sw_plans_free(&m->plans);
	sw_variables_free(&m->variables);
	sw_handles_free(&m->handles);
	sw_graphs_free(m);
	sw_kernels_free(m);
	for (struct sw_wait *w; (w = m->spare);) {
		m->spare = w->next;
		free(w->covered.at);
		free(w->copy);
		free(w);
	}
	free_events(&m->events);
	free_events(&m->polls);
	sw_map_free(&m->open);
	sw_map_free(&m->host_funcs);
	sw_map_free(&m->shared_streams);
	sw_map_free(&m->names);
	sw_map_free(&m->touched);
	free(m->scratch.covered.at);
	free(m->scratch_covered.at);
	free(m->lanes.at);
	free(m->legacy.at);
	sw_wide_free(m);
	sw_values_free(m);
	sw_notes_free(m);
	sw_nvtx_free(m);
	sw_space_free(&m->space);
	sw_collect_free(&m->collect);
	sw_schedule_free(m->schedule);
	free(m->polling.at);
	free(m->value.at);
	sw_map_free(&m->threads);
	sw_hb_free(m->hb);
}

uint32_t sw_model_thread(struct sw_model *m, uint32_t thread)
{
	uint64_t *number = sw_map_put(&m->threads, thread);
	if (!*number)
		*number = m->threads.n;
	return (uint32_t)*number - 1;
}

struct sw_hb_at sw_model_at(const struct sw_model *m, const struct sw_record *r, uint64_t stream)
{
	(void)m;
	return (struct sw_hb_at){.stream = stream,
				 .seq = r->seq,
				 .thread = r->thread,
				 .ctx = r->rec->ctx,
				 .per_thread = r->rec->flags & SW_RF_PER_THREAD};
}

/* ---- lanes and streams ------------------------------------------------------------------------------------------- */

/* Streams that are described one by one: 2 MiB.  A program that makes them without end gets one description for all
   further ones of a call site, so that the books do not grow with the run.  A timeline draws each of them anyway. */
#define SW_MAX_STREAMS 16384u

/* Which description lanes of this kind share; 0: the lane has one of its own. */
static uint64_t shared_key(const struct sw_model *m, const struct sw_hb_at *at, enum sw_lane_kind kind, bool many)
{
	uint64_t key = (uint64_t)kind << 40 | (uint64_t)at->ctx << 32;
	bool created = m->record->rec->kind == SW_REC_STREAM_CREATE;
	if (many)
		return sw_hash_u64(key | (created ? m->record->stack : 0)) | 1ull << 63;
	if (kind == SW_LANE_BLOCKING || kind == SW_LANE_NONBLOCKING)
		return 0;
	return key | (kind == SW_LANE_PER_THREAD ? at->thread : 0);
}

static uint32_t describe_stream(struct sw_model *m, const struct sw_hb_at *at, uint32_t lane)
{
	enum sw_lane_kind kind = sw_hb_lane_kind(m->hb, lane);
	bool handle = kind == SW_LANE_BLOCKING || kind == SW_LANE_NONBLOCKING;
	bool many = m->j->streams.n >= SW_MAX_STREAMS && !m->observer->operation && kind != SW_LANE_LEGACY;
	uint64_t key = shared_key(m, at, kind, many);
	uint64_t *known = key ? sw_map_put(&m->shared_streams, key) : NULL;
	if (known && *known)
		return (uint32_t)*known;
	uint32_t index = (uint32_t)m->j->streams.n;
	*sw_vec_push(&m->j->streams) = (struct sw_stream_info){
		.handle = handle && !many ? at->stream : 0,
		.kind = kind,
		.number = handle && !many ? ++m->streams_made : 0,
		.ctx = at->ctx,
		.device = m->context[at->ctx].device,
		.thread = kind == SW_LANE_PER_THREAD ? at->thread : 0,
		.many = many,
	};
	if (known)
		*known = index;
	return index;
}

struct sw_lane_state *sw_model_lane_state(struct sw_model *m, uint32_t lane)
{
	while (m->lanes.n <= lane)
		*sw_vec_push(&m->lanes) = (struct sw_lane_state){0};
	struct sw_lane_state *books = &m->lanes.at[lane];
	uint32_t serial = sw_hb_lane_serial(m->hb, lane);
	if (books->serial != serial) {
		free(books->event_waits);
		free(books->pending);
		m->capturing -= books->capture != 0;
		*books = (struct sw_lane_state){.serial = serial};
	}
	return books;
}

struct sw_lane_state *sw_model_lane(struct sw_model *m, const struct sw_hb_at *at, uint32_t *lane)
{
	*lane = sw_hb_lane(m->hb, at);
	struct sw_lane_state *books = sw_model_lane_state(m, *lane);
	if (!books->stream)
		books->stream = describe_stream(m, at, *lane);
	return books;
}

bool sw_model_captured(struct sw_model *m, const struct sw_hb_at *at)
{
	uint32_t lane;
	return m->capturing && sw_model_lane(m, at, &lane)->capture;
}

bool sw_model_enqueue_with(struct sw_model *m, const struct sw_record *r, uint64_t stream,
			   const struct sw_others *others)
{
	struct sw_hb_at at = sw_model_at(m, r, stream);
	struct sw_access *what = &m->wait->what;
	uint32_t lane;
	struct sw_lane_state *books = sw_model_lane(m, &at, &lane);
	what->stream = books->stream;
	what->device = m->j->streams.at[books->stream].device;
	if (books->capture) {
		sw_origin_remember(m, what);
		return false;
	}
	if (!others->n)
		what->point = sw_hb_enqueue(m->hb, &at);
	else if (others->all)
		what->point = sw_hb_enqueue_across(m->hb, &at, others->ctx, others->n);
	else
		what->point = sw_hb_enqueue_beside(m->hb, &at, others->ctx[0]);
	books = sw_model_lane_state(m, what->point.lane);
	books->work = what->point.tick;
	books->last = *what;
	if (!books->since)
		books->since = r->seq;
	m->wait->enqueues = true;
	sw_pending_push(m, books, r->seq, what->point.tick);
	return true;
}

const char *sw_model_name(struct sw_model *m, const char *name, size_t bytes)
{
	uint64_t hash = sw_hash_bytes(SW_FNV_START, name, bytes);
	const char *known = sw_map_ptr(&m->names, hash);
	if (known && !strncmp(known, name, bytes) && !known[bytes])
		return known;
	known = sw_arena_strndup(m->arena, name, bytes);
	sw_map_put_ptr(&m->names, hash, (void *)(uintptr_t)known);
	return known;
}

bool sw_model_enqueue(struct sw_model *m, const struct sw_record *r, uint64_t stream)
{
	static const struct sw_others nobody = {0};
	return sw_model_enqueue_with(m, r, stream, &nobody);
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

uint32_t sw_model_mention(struct sw_model *m, struct sw_block *block)
{
	if (block->mention || block->memory == SW_MEM_PAGEABLE)
		return block->mention;
	*sw_vec_push(&m->j->allocations) = (struct sw_allocation){
		.address = block->address,
		.bytes = sw_block_reach(block),
		.memory = block->memory,
		.device = block->device,
		.number = block->number,
		.api = block->born.api,
		.flags = block->born.flags,
		.stack = block->born.stack,
		.thread = block->born.thread,
		.seq = block->born.seq,
		.name = block->name,
	};
	return block->mention = (uint32_t)m->j->allocations.n;
}

void sw_model_env(struct sw_model *m, struct sw_shadow_env *env)
{
	*env = (struct sw_shadow_env){.pool = &m->space.uses,
				      .hb = m->hb,
				      .serial = ++m->serial,
				      .keep_from = m->wide.lanes.n ? sw_wide_since(m) : 1,
				      .keep_to = m->wide.lanes.n ? m->wide.to : 0,
				      .meet = sw_hazard_meet,
				      .arg = m};
}

struct sw_shadow_use *sw_model_use(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
				   struct sw_block *block, uint64_t address)
{
	struct sw_shadow_use *use = sw_use_new(&m->space.uses);
	uint64_t span = sw_range_span(range);
	use->range = *range;
	use->block = block;
	use->ctx = m->record->rec->ctx;
	if (!range->bounded)
		use->end = sw_block_extent(block, range->base);
	else
		use->end = span > block->bytes - range->address ? block->bytes : range->address + span;
	use->access = *what;
	use->access.role = range->role;
	use->access.param = range->param;
	use->access.evidence = range->evidence;
	use->access.evidence_detail = range->evidence_detail;
	use->access.extent_known = range->bounded;
	use->access.ranged = true;
	use->access.address = address;
	use->access.bytes = use->end - (range->bounded ? range->address : range->base);
	if (range->bounded && !sw_range_dense(range)) {
		use->access.width = range->width;
		use->access.pitch = range->rows > 1 ? range->pitch : range->slice;
	}
	return use;
}

static bool host_sees(enum sw_memory memory)
{
	return memory == SW_MEM_PINNED || memory == SW_MEM_REGISTERED || memory == SW_MEM_MANAGED ||
	       memory == SW_MEM_PAGEABLE;
}

static void touch_block(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
			const struct sw_touch *how, struct sw_block *block, uint64_t address, bool freed)
{
	struct sw_shadow_use *use = sw_model_use(m, what, range, block, address);
	struct sw_shadow_env env;
	use->host = how->host;
	use->may_wait = how->may_wait;
	if (freed) {
		sw_hazard_freed(m, block, use);
	} else {
		if (!block->born_passed)
			sw_hazard_unborn(m, block, use);
		if (host_sees(block->memory)) {
			struct sw_lane_state *books = sw_model_lane_state(m, what->point.lane);
			books->visible = what->point.tick;
			books->visible_seq = what->seq;
		}
		if (range->polls && host_sees(block->memory))
			sw_host_signalled(m, what->point);
		sw_model_env(m, &env);
		sw_shadow_enter(&block->shadow, &env, use);
		/* What a kernel computes from a pointer starts nothing, the pointer does; nor does the first byte that
		   the host came by. */
		if (what->kind != SW_REC_HOST_ACCESS && (range->evidence == SW_EV_EXACT || range->param >= 0) &&
		    range->base < block->bytes)
			sw_block_start(block, range->base);
	}
	sw_use_drop(&m->space.uses, use);
}

static bool touch_one(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
		      const struct sw_touch *how)
{
	struct sw_range inside = *range;
	struct sw_block *block;
	bool freed = false;
	uint64_t address = how->array ? how->handle : range->address;
	if (how->array)
		block = sw_space_find_array(&m->space, how->handle);
	else
		block = sw_space_find(&m->space, range->address, &inside.address);
	/* What a suballocator took back lies in an allocation that lives on. */
	if ((!block || block->blocks) && !how->array && !how->guess && range->evidence != SW_EV_ASSUMED) {
		uint64_t offset;
		struct sw_block *gone = sw_space_find_freed(&m->space, range->address, &offset);
		freed = gone;
		block = gone ? gone : block;
		inside.address = gone ? offset : inside.address;
	}
	if (!block && !how->array && range->evidence == SW_EV_EXACT)
		block = &m->space.pageable;
	if (block)
		inside.base = range->base - (range->address - inside.address);
	if (block && !range->bounded && range->below)
		inside.address = sw_block_floor(block, inside.address);
	if (block && m->listing)
		sw_listing_add(m, what, range, how, freed ? NULL : sw_model_use(m, what, &inside, block, address));
	else if (block)
		touch_block(m, what, &inside, how, block, address, freed);
	return block;
}

bool sw_model_touch(struct sw_model *m, const struct sw_access *what, const struct sw_range *range,
		    const struct sw_touch *how)
{
	if (range->bounded && !range->width)
		return false;
	if (!how->array && sw_note_ignored(m, range))
		return true;
	if (how->array || !m->space.inner.n || !range->bounded || !sw_range_dense(range))
		return touch_one(m, what, range, how);
	uint64_t lo = range->address, hi = range->width > UINT64_MAX - lo ? UINT64_MAX : lo + range->width;
	bool any = false;
	while (lo < hi) {
		uint64_t end = sw_space_cut(&m->space, lo, hi);
		struct sw_range part = sw_range_bytes(lo, end - lo, range->role, range->evidence);
		part.base = range->base;
		part.param = range->param;
		part.evidence_detail = range->evidence_detail;
		part.loose = range->loose;
		part.polls = range->polls;
		any |= touch_one(m, what, &part, how);
		lo = end;
	}
	return any;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void base_access(struct sw_model *m, const struct sw_record *r, struct sw_access *what)
{
	*what = (struct sw_access){
		.role = SW_CALL,
		.kind = r->rec->kind,
		.api = r->rec->api,
		.flags = r->rec->flags,
		.nvtx = sw_nvtx_of(m, r->thread),
		.seq = r->seq,
		.t_ns = r->t_ns,
		.dur_ns = r->dur_ns,
		.thread = r->thread,
		.stack = r->stack,
		.device = m->context[r->rec->ctx].device,
		.param = -1,
	};
}

static void count_call(struct sw_model *m, const struct sw_record *r)
{
	uint64_t end = r->t_ns + r->dur_ns;
	if (!m->any || r->t_ns < m->first_ns)
		m->first_ns = r->t_ns;
	if (!m->any || end > m->last_ns)
		m->last_ns = end;
	m->any = true;
	if (r->rec->flags & SW_RF_END || r->rec->kind == SW_REC_HOST_FUNC_RUN || r->rec->kind == SW_REC_ANNOTATION ||
	    r->rec->kind == SW_REC_HOST_ACCESS || r->rec->kind == SW_REC_HOST_SYNC)
		return;
	m->j->coverage.driver_calls++;
	m->j->coverage.runtime_calls += r->rec->flags & SW_RF_RUNTIME ? 1 : 0;
}

static void end_of_call(struct sw_model *m, const struct sw_record *r)
{
	const struct sw_rec_end *end = (const struct sw_rec_end *)(const void *)r->rec;
	struct sw_wait *w = sw_map_ptr(&m->open, end->begin_seq);
	if (!w)
		return;
	sw_map_delete(&m->open, end->begin_seq);
	m->wait = w;
	m->record = &w->record;
	if (m->schedule)
		sw_timing_return(m, &w->record, r->dur_ns);
	if (w->record.rec->kind == SW_REC_HOST_FUNC_RUN)
		sw_host_func_returned(m, &w->record, r->seq);
	sw_wait_done(m, w, r->seq, r->t_ns, r->dur_ns, r->failed);
	sw_wait_reset(w);
	w->next = m->spare;
	m->spare = w;
}

static void tell_failed(struct sw_model *m, const struct sw_record *r)
{
	struct sw_operation op = {.record = r};
	struct sw_context_state *context = &m->context[r->rec->ctx];
	if (is_sticky(r->rec->status) && !context->over) {
		context->over = true;
		if (!m->j->coverage.sticky_error_seq)
			m->j->coverage.sticky_error_seq = r->seq;
	}
	if (r->rec->flags & SW_RF_END)
		return;
	base_access(m, r, &op.what);
	sw_isolation_failed(m, r, &op.what);
	if (!m->observer->operation)
		return;
	m->observer->operation(m->observer->arg, &op);
}

void sw_model_step(struct sw_model *m, const struct sw_record *r)
{
	if (r->rec->kind == SW_REC_RANGE) {
		sw_nvtx_take(m, r);
		return;
	}
	sw_handler *handler = handlers[r->rec->kind];
	bool operation = sw_kind_is_operation(r->rec->kind);
	if (operation) {
		count_call(m, r);
		if (r->failed)
			tell_failed(m, r);
		if (r->rec->flags & SW_RF_END) {
			end_of_call(m, r);
			return;
		}
		/* A capture is over also when its end tells of an error. */
		if ((r->failed && r->rec->kind != SW_REC_CAPTURE) || m->context[r->rec->ctx].over)
			return;
	}
	bool two = operation && r->rec->flags & SW_RF_BEGIN;
	m->record = r;
	m->wait = two ? sw_wait_open(m, r) : &m->scratch;
	if (!two) {
		sw_wait_reset(&m->scratch);
		m->scratch.record = *r;
	}
	base_access(m, r, &m->wait->what);
	if (handler)
		handler(m, m->record, m->wait);
	if (operation && m->schedule)
		sw_timing_call(m, m->record, m->wait);
	if (operation && !two)
		sw_wait_done(m, m->wait, r->seq, r->t_ns + r->dur_ns, r->dur_ns, false);
}
