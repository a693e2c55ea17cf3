/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two uses in two processes are unordered for certain only if nothing could have ordered them.  What can, always ends
 * with one process telling and another one learning:
 *
 *     telling    the host knows that the work is done (known_ns); an event that others know, a host function, a write
 *                to memory that others see, code that is not known (told_ns)
 *     learning   before its own use: a read of memory that is shared, a host function, code that polls or is not known;
 *                what is not known to be done may still be learning (learnt_ns)
 */
#include "detect/hazards/shared_uses.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "detect/hazards/deferred.h"
#include "detect/hazards/touch.h"
#include "detect/memory/access.h"
#include "detect/memory/address_space.h"
#include "detect/memory/shadow.h"
#include "detect/model/call.h"
#include "detect/model/lanes.h"
#include "detect/model/model.h"
#include "reader/reader.h"

/* Have the intervals [lo, hi) a byte in common? */
static bool intervals_overlap(const struct sw_interval *a, const struct sw_interval *b)
{
	return a->lo < b->hi && b->lo < a->hi;
}

enum sw_crowding sw_pool_blocks_crowding(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later)
{
	const struct sw_block *block = later->block;
	const struct sw_pool_block *a = earlier->pool_block, *b = later->pool_block;
	if (!a || !b || !intervals_overlap(&a->at, &b->at))
		return sw_block_crowding(block);
	return sw_block_crowding_in(block, b->at.lo - block->address, b->at.hi - block->address);
}

/* Would the use, beyond the allocator's block of its pointer, meet the other one there?  Then it is none: no correct
   kernel leaves that block, and its code was not understood exactly.  One that certainly touches all of its bytes may
   be wrong, and counts. */
static bool leaves_block(const struct sw_shadow_use *use, const struct sw_shadow_use *other)
{
	const struct sw_range *range = &use->range;
	uint64_t lo = range->address > other->range.address ? range->address : other->range.address;
	uint64_t hi = use->end < other->end ? use->end : other->end;
	const struct sw_interval met = {.lo = use->block->address + lo, .hi = use->block->address + hi};
	bool sure = range->bounded && !range->vague && !range->loose && !range->perhaps;
	return use->pool_block && !sure && !intervals_overlap(&use->pool_block->at, &met);
}

struct sw_verdict sw_verdict_in_blocks(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later,
				       struct sw_verdict verdict)
{
	if (leaves_block(earlier, later) || leaves_block(later, earlier))
		return (struct sw_verdict){SW_NOTE, SW_POSSIBLE};
	return verdict;
}

bool sw_block_reused(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later)
{
	const struct sw_pool_block *a = earlier->pool_block, *b = later->pool_block;
	return a && b && a != b && a->freed.seq && a->to <= b->from && intervals_overlap(&a->at, &b->at);
}

bool sw_reuse_was_reported(const struct sw_shadow_use *earlier, const struct sw_shadow_use *later,
			   enum sw_severity severity)
{
	struct sw_pool_block *now = later->pool_block;
	const uint64_t lanes = (uint64_t)earlier->access.point.lane << 32 | later->access.point.lane;
	const uint64_t reuse = sw_hash_u64(sw_hash_u64(lanes) ^ earlier->pool_block->number) | 1;
	if (now->reported == reuse && now->reported_as >= (int)severity)
		return true;
	now->reported = reuse;
	now->reported_as = (int)severity;
	return false;
}

/* Does the access lie in the workspace that its library call was given by the program? */
static bool lies_in(const struct sw_model *m, const struct sw_access *access)
{
	if (!access->library)
		return false;
	const struct sw_library_call *call = &m->j->library_calls.at[access->library - 1];
	return access->address >= call->workspace && access->address - call->workspace < call->workspace_bytes;
}

bool sw_workspace_shared(const struct sw_model *m, const struct sw_shadow_use *a, const struct sw_shadow_use *b)
{
	return m->j->library_calls.n && lies_in(m, &a->access) && lies_in(m, &b->access);
}

/* Is every byte of the range certainly touched, as the code shows (not assumed, not within bounds only)? */
static bool is_exact(const struct sw_range *range)
{
	return range->bounded && !range->loose && range->evidence >= SW_EV_FOOTPRINT;
}

/* Are the two accesses parts of one call of a library?  A call that is captured becomes several, one for each launch
   of the graph. */
static bool same_call(const struct sw_access *a, const struct sw_access *b)
{
	return a->library && a->library_call == b->library_call && !a->node == !b->node &&
	       (!a->node || a->seq == b->seq);
}

bool sw_library_may_order(const struct sw_shadow_use *a, const struct sw_shadow_use *b)
{
	return same_call(&a->access, &b->access) && !(is_exact(&a->range) && is_exact(&b->range));
}

/* Starts of file names: the parts of one library (libcudnn_ops, libcudnn_graph; libcublas, libcublasLt) are one. */
static const char *const families[] = {"libcudnn", "libcublas",	 "libcusparse", "libcusolver", "libcufft", "libcurand",
				       "libnccl",  "libnvshmem", "libcutensor", "libnvjpeg",   "libnpp",   "libcufile"};
#define FAMILIES (sizeof families / sizeof *families)

/* The last part of the path. */
static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* The family of the library that made the call: of the innermost frame that is no CUDA runtime's; FAMILIES: none. */
static size_t family_of(const struct sw_model *m, const struct sw_access *access)
{
	const struct sw_trace_stack *stack = sw_reader_stack(m->reader, access->stack);
	for (uint32_t i = 0; stack && i < stack->depth; i++) {
		/* A return address: the call lies before it. */
		const struct sw_trace_module *module = sw_reader_module(m->reader, stack->ips[i] - 1, access->seq);
		const char *file = module ? file_of(module->path) : "";
		if (!strncmp(file, "libcudart", 9))
			continue;
		size_t f = 0;
		while (f < FAMILIES && strncmp(file, families[f], strlen(families[f])))
			f++;
		return f;
	}
	return FAMILIES;
}

bool sw_library_workspace(const struct sw_model *m, const struct sw_shadow_use *a, const struct sw_shadow_use *b)
{
	size_t family = family_of(m, &a->block->born);
	return family < FAMILIES && family_of(m, &a->access) == family && family_of(m, &b->access) == family;
}

#define SW_MOST_SHARED_USES 4096u
#define SW_MOST_LEARNERS    1024u

struct sw_sharing {
	SW_VEC(size_t) open;		  /* uses that the host does not know to be done */
	SW_VEC(struct sw_point) learners; /* work that may be learning: the last of each lane */
	uint64_t learnt_ns;		  /* the last one that is known to be done */
	bool blind;			  /* they are too many, or one has no end */
	bool active;			  /* some memory is shared: before it, not every signal was seen */
	uint64_t signal_seq;		  /* the last call that may have signalled another process */
	uint64_t seq;			  /* the current call, as far as it has said something */
	bool unclear, writes, reads;	  /* what it has said */
	uint64_t waited_ns;
	uint32_t waited_event;
};

/* The list of uses of memory that other processes may use; NULL where none is wanted. */
struct sw_sharing *sw_sharing_new(bool wanted)
{
	return wanted ? sw_calloc(1, sizeof(struct sw_sharing)) : NULL;
}

void sw_sharing_free(struct sw_sharing *sharing)
{
	if (!sharing)
		return;
	free(sharing->open.at);
	free(sharing->learners.at);
	free(sharing);
}

/* ---- uses -------------------------------------------------------------------------------------------------------- */

/* The sharing state, with the marks of the current call (record number `seq`) cleared when the first of them is asked
   for. */
static struct sw_sharing *of_call(struct sw_model *m, uint64_t seq)
{
	struct sw_sharing *s = m->sharing;
	if (s->seq != seq) {
		s->seq = seq;
		s->unclear = s->writes = s->reads = false;
	}
	return s;
}

/* Is it certain that the use touches every byte of its range, by work of a stream outside of any graph?  Only such uses
   are compared between processes. */
static bool is_sure(const struct sw_shadow_use *use)
{
	const struct sw_range *r = &use->range;
	return r->bounded && sw_range_dense(r) && !r->vague && !r->loose && !r->perhaps && !r->polls &&
	       r->evidence >= SW_EV_FOOTPRINT && !use->access.node && use->access.kind != SW_REC_GRAPH_LAUNCH &&
	       !use->mirrored && !use->host;
}

/* Notes that another process may learn at t_ns that the use is done.  Signalled by an event (`by`: its handle here, 0:
   something else), only those learn it that wait for the event after its record; so the first other signal is noted,
   too. */
static void note_signal(struct sw_model *m, struct sw_shared_use *u, uint64_t t_ns, uint64_t by)
{
	const struct sw_event_state *event = by ? sw_event_find(m, by) : NULL;
	if (!u->signalled_ns) {
		u->signalled_ns = t_ns;
		u->signalled_by = by;
		u->signalled_event = event ? event->handle : 0;
	}
	if (!u->signalled_more_ns && (!by || by != u->signalled_by))
		u->signalled_more_ns = t_ns;
}

/* Lists a use for the comparison with other processes; NULL if the list is full (counted as left out).  The caller
   fills in what this process may have learnt before the use. */
static struct sw_shared_use *add_shared_use(struct sw_model *m, const struct sw_shadow_use *use, uint64_t handle)
{
	struct sw_sharing *s = m->sharing;
	if (m->j->shared_uses.n == SW_MOST_SHARED_USES) {
		m->j->shared_uses_left_out++;
		return NULL;
	}
	*sw_vec_push(&s->open) = m->j->shared_uses.n;
	struct sw_shared_use *u = sw_vec_push(&m->j->shared_uses);
	*u = (struct sw_shared_use){.access = use->access,
				    .handle = handle,
				    .lo = use->range.address,
				    .hi = use->end,
				    .reads = sw_role_reads(use->range.role),
				    .writes = sw_role_writes(use->range.role),
				    .atomic = use->range.role == SW_ATOMIC,
				    .opened = use->block->memory == SW_MEM_IPC};
	if (use->may_wait)
		note_signal(m, u, use->access.t_ns, 0);
	return u;
}

bool sw_sharing_watches(const struct sw_model *m, const struct sw_block *block)
{
	return m->sharing && (block->shared || block->passed_on ||
			      (m->sharing->active && (block->memory == SW_MEM_IPC || block->memory == SW_MEM_MAPPED)));
}

/* Is there memory that other processes may see without our knowing its handle: passed on, mapped, or opened from one
   that did not export it under a recorded handle?  A flag in it may signal anything. */
static bool has_dark_memory(const struct sw_model *m)
{
	for (const struct sw_block *b = sw_space_next(&m->space, NULL); b; b = sw_space_next(&m->space, b))
		if (b->passed_on || b->memory == SW_MEM_MAPPED || (b->memory == SW_MEM_IPC && !b->shared))
			return true;
	return false;
}

/* Notes work that may be learning from another process until it is done; the last of each lane is enough.  No step, or
   too many lanes: from here on everything may have learnt something (`blind`). */
static void note_learner(struct sw_sharing *s, struct sw_point at)
{
	size_t i = 0;
	while (i < s->learners.n && s->learners.at[i].lane != at.lane)
		i++;
	s->blind |= !at.tick || i == SW_MOST_LEARNERS;
	if (s->blind)
		return;
	if (i == s->learners.n)
		sw_vec_push(&s->learners);
	s->learners.at[i] = at;
}

/* Begins to follow what tells other processes and learns from them, at the first memory that is shared.  What was done
   before may have told them already, and may still be learning. */
static void begin_sharing(struct sw_model *m)
{
	struct sw_sharing *s = m->sharing;
	if (s->active)
		return;
	s->active = true;
	if (has_dark_memory(m)) {
		s->signal_seq = m->record->seq;
		for (uint32_t lane = 0; lane < sw_lanes_count(m); lane++)
			if (sw_model_lane_state(m, lane)->work)
				note_learner(s, (struct sw_point){lane, sw_model_lane_state(m, lane)->work});
	}
}

void sw_sharing_opened(struct sw_model *m)
{
	m->shares = true;
	if (m->sharing)
		begin_sharing(m);
}

void sw_sharing_touched(struct sw_model *m, const struct sw_shadow_use *use)
{
	const struct sw_block *block = use->block;
	if (!m->sharing)
		return;
	if (use->range.polls || (!block->shared && sw_sharing_watches(m, block)))
		of_call(m, use->access.seq)->unclear = true;
	if (!block->shared)
		return;
	struct sw_sharing *s = of_call(m, use->access.seq);
	s->writes |= sw_role_writes(use->range.role);
	s->reads |= sw_role_reads(use->range.role);
	struct sw_shared_use *u = is_sure(use) ? add_shared_use(m, use, block->shared) : NULL;
	if (!u)
		return;
	u->learning = s->blind || s->learners.n;
	u->learnt_ns = s->learnt_ns;
	u->waited_ns = s->waited_ns;
	u->waited_event = s->waited_event;
}

void sw_sharing_unclear(struct sw_model *m)
{
	if (m->sharing)
		of_call(m, m->wait->what.seq)->unclear = true;
}

/* Begins to list the block's uses for other processes, first those that the host had not waited for when the memory was
   exported.  It is not known what was signalled since. */
void sw_sharing_exported(struct sw_model *m, struct sw_block *block, uint64_t handle)
{
	struct sw_shadow_env env;
	sw_use_vec uses = {0};
	const bool again = block->shared == handle;
	block->shared = handle;
	m->shares = true;
	m->j->shares_memory = true;
	if (!m->sharing || again)
		return;
	begin_sharing(m);
	sw_deferred_settle(m, block);
	sw_model_env(m, &env);
	sw_shadow_list(&block->shadow, &env, 0, block->bytes, &uses);
	const uint32_t host = sw_hb_host_lane(m->hb, m->record->thread);
	for (size_t i = 0; i < uses.n; i++) {
		const struct sw_point point = uses.at[i]->access.point;
		const struct sw_lane_state *lane_state = sw_model_lane_state(m, point.lane);
		if (sw_hb_ordered(m->hb, point, host) != SW_ORDER_NONE || !is_sure(uses.at[i]))
			continue;
		struct sw_shared_use *u = add_shared_use(m, uses.at[i], handle);
		const bool signalled = uses.at[i]->access.seq <= m->sharing->signal_seq ||
				       lane_state->visible >= point.tick || lane_state->unknown >= point.tick ||
				       lane_state->signal >= point.tick || m->sharing->blind || m->sharing->learners.n;
		if (u && signalled)
			note_signal(m, u, u->access.t_ns, 0);
	}
	free(uses.at);
}

/* ---- signals to other processes
   ------------------------------------------------------------------------------------------------ */

/* Notes that the event's handle was exported after the event was recorded: uses that its record ends may be known to
   others by `handle`. */
void sw_sharing_event_exported(struct sw_model *m, uint64_t event, uint32_t handle)
{
	for (size_t i = 0; m->sharing && i < m->j->shared_uses.n; i++) {
		struct sw_shared_use *u = &m->j->shared_uses.at[i];
		if (u->signalled_by == event && !u->signalled_event)
			u->signalled_event = handle;
	}
}

void sw_sharing_waited(struct sw_model *m, uint32_t handle)
{
	if (!m->sharing)
		return;
	m->sharing->waited_ns = m->wait->what.t_ns;
	m->sharing->waited_event = handle;
}

/* May a call of this kind tell another process that earlier work is done: a host function, a graph, a call that is not
   modelled, a value written to memory? */
static bool tells_by_kind(const struct sw_wait *w)
{
	const struct sw_rec_mem_op *op = (const struct sw_rec_mem_op *)(const void *)w->record.rec;
	switch (w->what.kind) {
	case SW_REC_HOST_FUNC:
	case SW_REC_GRAPH_LAUNCH:
	case SW_REC_UNCLASSIFIED:
		return true;
	case SW_REC_MEM_OP:
		return op->op != SW_MEMOP_PREFETCH && op->op != SW_MEMOP_ADVISE && op->op != SW_MEMOP_ATTACH &&
		       op->op != SW_MEMOP_DISCARD;
	default:
		return false;
	}
}

/* Does the call record an event that other processes know?  *by: its handle here, 0 if the event itself is not
   known. */
static bool tells_by_event(struct sw_model *m, const struct sw_wait *w, uint64_t *by)
{
	const struct sw_rec_event_record *e = (const struct sw_rec_event_record *)(const void *)w->record.rec;
	if (w->what.kind != SW_REC_EVENT_RECORD)
		return false;
	const struct sw_event_state *event = sw_event_find(m, e->event);
	*by = event && event->exportable ? e->event : 0;
	return !event || event->exportable;
}

/* Notes for each open use before this call that the call may tell others that it is done.  own: the uses of the call
   itself as well, which it tells by something else than its own access. */
static void signal_uses(struct sw_model *m, const struct sw_wait *w, uint64_t by, bool own)
{
	struct sw_sharing *s = m->sharing;
	for (size_t i = 0; i < s->open.n; i++) {
		struct sw_shared_use *u = &m->j->shared_uses.at[s->open.at[i]];
		if (u->access.seq < w->what.seq || (u->access.seq == w->what.seq && own))
			note_signal(m, u, w->what.t_ns, by);
	}
	s->signal_seq = w->what.seq > s->signal_seq ? w->what.seq : s->signal_seq;
}

void sw_sharing_called(struct sw_model *m, const struct sw_wait *w)
{
	struct sw_sharing *s = m->sharing;
	uint64_t by = 0;
	if (!s || w->what.kind < SW_REC_LAUNCH)
		return;
	s = of_call(m, w->what.seq);
	const struct sw_point at = w->what.point;
	const struct sw_lane_state *lane_state = at.tick ? sw_model_lane_state(m, at.lane) : NULL;
	const bool unclear = s->unclear || tells_by_kind(w) ||
			     (lane_state && (lane_state->unknown == at.tick || lane_state->signal == at.tick));
	const bool visible = lane_state && lane_state->visible == at.tick;
	if (unclear || visible || tells_by_event(m, w, &by))
		signal_uses(m, w, by, true);
	else if (s->writes)
		signal_uses(m, w, 0, false);
	if (unclear || s->reads)
		note_learner(s, at);
}

/* ---- what is known ----------------------------------------------------------------------------------------------- */

/* After a wait of the host: uses and learning work that the host now knows to be done are closed, with the time
   t_ns. */
void sw_sharing_known(struct sw_model *m, uint32_t thread, uint64_t t_ns)
{
	struct sw_sharing *s = m->sharing;
	if (!s || !(s->open.n + s->learners.n))
		return;
	const uint32_t host = sw_hb_host_lane(m->hb, thread);
	size_t kept = 0;
	for (size_t i = 0; i < s->open.n; i++) {
		struct sw_shared_use *u = &m->j->shared_uses.at[s->open.at[i]];
		if (sw_hb_ordered(m->hb, u->access.point, host) == SW_ORDER_NONE)
			s->open.at[kept++] = s->open.at[i];
		else
			u->known_ns = t_ns;
	}
	s->open.n = kept;
	kept = 0;
	for (size_t i = 0; i < s->learners.n; i++) {
		if (sw_hb_ordered(m->hb, s->learners.at[i], host) == SW_ORDER_NONE)
			s->learners.at[kept++] = s->learners.at[i];
		else
			s->learnt_ns = t_ns;
	}
	s->learners.n = kept;
}

void sw_sharing_finish(struct sw_model *m, bool lost, bool ended)
{
	for (size_t i = 0; m->sharing && (lost || !ended) && i < m->j->shared_uses.n; i++) {
		struct sw_shared_use *u = &m->j->shared_uses.at[i];
		u->learning |= lost;
		note_signal(m, u, lost ? u->access.t_ns : m->last_ns, 0);
		if (lost)
			u->signalled_ns = u->signalled_more_ns = u->access.t_ns;
	}
}
