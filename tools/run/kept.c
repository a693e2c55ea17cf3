/* SPDX-License-Identifier: Apache-2.0 */
#include "run/kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"
#include "reader/dictionary.h"
#include "reader/kinds.h"
#include "reader/writer.h"
#include "run/chunk_output.h"

/* A record that stays.  Those of a writer are a list in their order, those of one thing (`key`) another. */
struct kept_record {
	struct kept_record *next, *previous; /* of its writer */
	struct kept_record *same, *before;   /* of its key */
	struct kept_record *end;	     /* END of a BEGIN */
	struct kept_record *stack;	     /* which it refers to */
	uint64_t key;			     /* 0: of nothing that ends */
	uint64_t seq;
	struct kept_writer *writer;
	uint32_t bytes;
	uint32_t users; /* stacks: records that refer to it */
	bool ends;	/* it ends the thing of its key */
	_Alignas(8) unsigned char data[];
};

struct kept_writer {
	uint32_t id;
	struct kept_record *first, *last;
	struct kept_record *thread;	     /* the last THREAD */
	bool used;			     /* a call after it is kept */
	struct kept_record *current;	     /* the last CONTEXT_OP that made a context current */
	struct sw_map stacks;		     /* id of STACK or PYTHON_STACK, by remainder -> record */
	struct sw_map codes;		     /* the same of PYTHON_CODE */
	struct sw_writer_cursor blocks;	     /* launches and parameter blocks */
	struct sw_map written;		     /* of them those that the new trace has, by remainder -> id */
	SW_VEC(struct kept_record *) ranges; /* open ones of NVTX, pushed */
};

struct sw_kept {
	SW_VEC(struct kept_writer *) writers;
	struct sw_map by_id;  /* writer -> index + 1 */
	struct sw_map things; /* key -> its first record */
	struct sw_map begins; /* sequence number of a BEGIN that stays -> record */
	struct sw_dictionary unused;
	struct kept_record *loss;
	uint64_t last_seq; /* of a record that was dropped with its chunk */
	uint64_t first_ticks;
	uint64_t bytes, dropped; /* of records that stay; calls */
};

/* ---- lists ------------------------------------------------------------------------------------------------------- */

struct sw_kept *sw_kept_new(void)
{
	return sw_calloc(1, sizeof(struct sw_kept));
}

/* The writer of this number, new if it is not known yet. */
static struct kept_writer *writer_of(struct sw_kept *k, uint32_t id)
{
	uint64_t *at = sw_map_put(&k->by_id, id);
	if (!*at) {
		struct kept_writer *w = sw_calloc(1, sizeof *w);
		w->id = id;
		w->blocks.id = id;
		*sw_vec_push(&k->writers) = w;
		*at = k->writers.n;
	}
	return k->writers.at[*at - 1];
}

/* Takes a record out of the list of its thing. */
static void forget_key(struct sw_kept *k, struct kept_record *r)
{
	if (!r->key)
		return;
	if (r->before)
		r->before->same = r->same;
	else if (r->same)
		sw_map_put_ptr(&k->things, r->key, r->same);
	else
		sw_map_delete(&k->things, r->key);
	if (r->same)
		r->same->before = r->before;
	r->key = 0;
}

/* The kept stack that `id` means now: numbers are used again. */
static struct kept_record *stack_of(const struct kept_writer *w, uint32_t id)
{
	struct kept_record *r = id ? sw_map_ptr(&w->stacks, id % SW_FORMAT_LIVE_IDS) : NULL;
	return r && ((const struct sw_rec_stack *)(const void *)r->data)->id == id ? r : NULL;
}

static void remove_record(struct sw_kept *k, struct kept_record *r);

/* Can a record that comes still refer to it?  No later one has its number. */
static bool is_live_stack(const struct kept_record *r)
{
	return stack_of(r->writer, ((const struct sw_rec_stack *)(const void *)r->data)->id) == r;
}

/* Counts that a record which refers to the stack comes, or goes; the last one takes it along. */
static void use_stack(struct sw_kept *k, struct kept_record *stack, bool comes)
{
	if (!stack)
		return;
	stack->users += comes ? 1 : -1u;
	if (!stack->users && !is_live_stack(stack))
		remove_record(k, stack);
}

/* Removes a record with the END that belongs to it, and the stack that nobody else needs. */
static void remove_record(struct sw_kept *k, struct kept_record *r)
{
	struct kept_writer *w = r->writer;
	const struct sw_rec *rec = (const void *)r->data;
	struct kept_record *end = r->end, *stack = r->stack;
	*(r->previous ? &r->previous->next : &w->first) = r->next;
	*(r->next ? &r->next->previous : &w->last) = r->previous;
	forget_key(k, r);
	if (rec->flags & SW_RF_BEGIN)
		sw_map_delete(&k->begins, r->seq);
	if (w->thread == r)
		w->thread = NULL;
	if (w->current == r)
		w->current = NULL;
	k->bytes -= r->bytes;
	free(r);
	use_stack(k, stack, false);
	if (end)
		remove_record(k, end);
}

/* Copies a record to the end of what its writer keeps, under its key. */
static struct kept_record *keep(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec, uint64_t key)
{
	const uint32_t bytes = rec->words * 8u;
	struct kept_record *r = sw_alloc(sizeof *r + bytes);
	*r = (struct kept_record){.previous = w->last, .key = key, .seq = sw_rec_seq(rec), .writer = w, .bytes = bytes};
	memcpy(r->data, rec, bytes);
	*(w->last ? &w->last->next : &w->first) = r;
	w->last = r;
	k->bytes += bytes;
	if (key) {
		r->same = sw_map_ptr(&k->things, key);
		if (r->same)
			r->same->before = r;
		sw_map_put_ptr(&k->things, key, r);
	}
	if (rec->kind >= SW_REC_LAUNCH) {
		use_stack(k, r->stack = stack_of(w, rec->stack), true);
		if (rec->flags & SW_RF_BEGIN && r->seq)
			sw_map_put_ptr(&k->begins, r->seq, r);
	}
	return r;
}

/* ---- things that begin and end ----------------------------------------------------------------------------------- */

enum thing {
	THING_MEMORY = 1,
	THING_STREAM,
	THING_EVENT,
	THING_PRIMARY,
	THING_CODE,
	THING_KERNEL,
	THING_GRAPH,
	THING_EXEC,
	THING_CAPTURE,
	THING_OBJECT,
	THING_BLOCK,
	THING_TENSOR,
	THING_IGNORED,
	THING_RANGE,
	THING_LIBRARY,
	THING_NAME,
	THING_CALL,
};

/* One number for a kind of thing and its handle; never 0. */
static uint64_t key_of(enum thing thing, uint64_t handle)
{
	return sw_hash_u64(sw_hash_u64(handle) ^ (uint64_t)thing << 56) | 1;
}

/* Removes the records that say that a thing begins and come before `seq`; false: there are none. */
static bool remove_begun(struct sw_kept *k, uint64_t key, uint64_t seq)
{
	struct kept_record *r = sw_map_ptr(&k->things, key), *same;
	bool any = false;
	for (; r; r = same) {
		same = r->same;
		if (r->ends || r->seq >= seq)
			continue;
		remove_record(k, r);
		any = true;
	}
	return any;
}

/* Is the end known already, from another writer's chunk that was dropped first?  Forgets it: the pair is done. */
static bool ended_later(struct sw_kept *k, uint64_t key, uint64_t seq)
{
	struct kept_record *r = sw_map_ptr(&k->things, key), *first = NULL;
	for (; r; r = r->same)
		if (r->ends && r->seq > seq && (!first || r->seq < first->seq))
			first = r;
	if (first)
		remove_record(k, first);
	return first;
}

/* Keeps a record that says that a thing begins, unless its end is known already. */
static void begins(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec, uint64_t key)
{
	if (!ended_later(k, key, sw_rec_seq(rec)))
		keep(k, w, rec, key);
}

/* Keeps the begin of a thing and drops an earlier one of its handle or address, whose end was not seen. */
static void begins_anew(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec, uint64_t key)
{
	remove_begun(k, key, sw_rec_seq(rec));
	begins(k, w, rec, key);
}

/* More ends of one thing than that, whose begins are not known yet, are none. */
#define ENDS_MOST 4u

/* Takes the end of a thing: its begin goes, and the end stays only while the begin may still come, of another
   writer. */
static void ends(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec, uint64_t key)
{
	unsigned known = 0;
	if (remove_begun(k, key, sw_rec_seq(rec)))
		return;
	for (const struct kept_record *r = sw_map_ptr(&k->things, key); r; r = r->same)
		known += r->ends;
	if (known < ENDS_MOST)
		keep(k, w, rec, key)->ends = true;
}

/* Keeps a record of which the last one of its key counts. */
static void replaces(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec, uint64_t key)
{
	remove_begun(k, key, UINT64_MAX);
	keep(k, w, rec, key);
}

/* Keeps a record of which the first one of its key counts. */
static void first_only(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec, uint64_t key)
{
	if (!sw_map_ptr(&k->things, key))
		keep(k, w, rec, key);
}

/* ---- descriptions ------------------------------------------------------------------------------------------------ */

/* The native stack that a Python stack refers to; NULL: none.  Both kinds of record begin alike. */
static struct kept_record *native_of(const struct kept_record *r)
{
	const struct sw_rec_python_stack *p = (const void *)r->data;
	return p->h.kind == SW_REC_PYTHON_STACK ? stack_of(r->writer, p->native) : NULL;
}

/* Keeps a stack or code under its id, in place of an older one that no record can refer to any more. */
static void define(struct sw_kept *k, struct kept_writer *w, struct sw_map *ids, const struct sw_rec *rec, uint32_t id)
{
	struct kept_record *old = sw_map_ptr(ids, id % SW_FORMAT_LIVE_IDS), *r = keep(k, w, rec, 0);
	sw_map_put_ptr(ids, id % SW_FORMAT_LIVE_IDS, r);
	if (ids == &w->stacks)
		use_stack(k, r->stack = native_of(r), true);
	if (old && !old->users)
		remove_record(k, old);
}

/* Keeps what was changed of a node of a graph instead of what was changed there before. */
static void keep_node(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec)
{
	const struct sw_rec_graph_node *n = (const void *)rec;
	const uint64_t key = key_of(THING_EXEC, n->exec);
	const uint32_t changed = SW_NODE_CHANGED | SW_NODE_ENABLED | SW_NODE_DISABLED;
	for (struct kept_record *r = sw_map_ptr(&k->things, key), *same; r; r = same) {
		const struct sw_rec_graph_node *old = (const void *)r->data;
		same = r->same;
		if (r->ends || old->h.kind != SW_REC_GRAPH_NODE || r->seq >= sw_rec_seq(rec))
			continue;
		if (n->flags & SW_NODE_HEAD ||
		    (n->flags & changed && (old->flags & changed) == (n->flags & changed) && !n->nodes && !old->nodes &&
		     old->node == n->node && old->parent == n->parent))
			remove_record(k, r);
	}
	keep(k, w, rec, key);
}

/* Was no call of the writer's thread kept? */
static bool did_nothing(const struct kept_writer *w)
{
	const struct kept_record *r = w->last;
	for (unsigned n = 0; r && r != w->thread && n < SW_FORMAT_LIVE_IDS; n++, r = r->previous)
		if (((const struct sw_rec *)(const void *)r->data)->kind >= SW_REC_LAUNCH)
			return false;
	return r == w->thread;
}

/* Keeps the last THREAD of a writer; an earlier one only if a call between them stays. */
static void keep_thread(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec)
{
	if (w->thread && did_nothing(w))
		remove_record(k, w->thread);
	w->thread = keep(k, w, rec, 0);
}

/* Keeps one record that counts all losses. */
static void keep_loss(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec)
{
	const struct sw_rec_loss *more = (const void *)rec;
	struct sw_rec_loss *loss = k->loss ? (void *)k->loss->data : NULL;
	if (!loss) {
		k->loss = keep(k, w, rec, 0);
		return;
	}
	loss->records += more->records;
	loss->first_seq = more->first_seq < loss->first_seq ? more->first_seq : loss->first_seq;
	loss->last_seq = more->last_seq > loss->last_seq ? more->last_seq : loss->last_seq;
}

/* Takes a record that describes: threads, code, kernels, names, stacks, losses. */
static void take_description(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec)
{
	const struct sw_rec_name *name = (const void *)rec;
	switch (rec->kind) {
	case SW_REC_CLOCK:
	case SW_REC_GPU_CLOCK:
		return;
	case SW_REC_CUT:
		k->dropped += ((const struct sw_rec_cut *)(const void *)rec)->calls;
		return;
	case SW_REC_LOSS:
		keep_loss(k, w, rec);
		return;
	case SW_REC_THREAD:
		keep_thread(k, w, rec);
		return;
	case SW_REC_STACK:
	case SW_REC_PYTHON_STACK:
		define(k, w, &w->stacks, rec, ((const struct sw_rec_stack *)(const void *)rec)->id);
		return;
	case SW_REC_PYTHON_CODE:
		define(k, w, &w->codes, rec, ((const struct sw_rec_python_code *)(const void *)rec)->id);
		return;
	case SW_REC_GRAPH_NODE:
		keep_node(k, w, rec);
		return;
	case SW_REC_NAME:
		replaces(k, w, rec, key_of(THING_NAME, name->handle ^ (uint64_t)name->of << 60 ^ name->bytes << 20));
		return;
	default:
		keep(k, w, rec, 0);
	}
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* Removes the mappings in a range that is unmapped; where none is known the record stays. */
static void unmap(struct sw_kept *k, struct kept_writer *w, const struct sw_rec_free *f)
{
	bool any = false;
	/* Mappings are some megabytes long: the range has few. */
	for (size_t i = 0; i < k->writers.n; i++)
		for (struct kept_record *r = k->writers.at[i]->first, *next; r; r = next) {
			const struct sw_rec_alloc *a = (const void *)r->data;
			next = r->next;
			if (a->h.kind != SW_REC_ALLOC || a->memory != SW_MEM_MAPPED || r->seq >= sw_rec_seq(&f->h) ||
			    a->address < f->address || a->address - f->address >= f->bytes)
				continue;
			remove_record(k, r);
			any = true;
		}
	if (!any)
		keep(k, w, &f->h, 0);
}

/* Takes an operation on graphs: what makes one stays until the graph is destroyed. */
static void take_graph(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec)
{
	const struct sw_rec_graph *g = (const void *)rec;
	switch ((enum sw_graph_op)g->op) {
	case SW_GRAPH_CREATE:
	case SW_GRAPH_CLONE:
	case SW_GRAPH_ADD_NODE:
		begins(k, w, rec, key_of(THING_GRAPH, g->graph));
		return;
	case SW_GRAPH_DESTROY:
		ends(k, w, rec, key_of(THING_GRAPH, g->graph));
		return;
	case SW_GRAPH_INSTANTIATE:
	case SW_GRAPH_EXEC_UPDATE:
		begins(k, w, rec, key_of(THING_EXEC, g->exec));
		return;
	case SW_GRAPH_EXEC_DESTROY:
		ends(k, w, rec, key_of(THING_EXEC, g->exec));
		return;
	default:
		return;
	}
}

/* Takes an operation on contexts: the last one that is current counts, of a thread. */
static void take_context(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec)
{
	const struct sw_rec_context_op *c = (const void *)rec;
	switch ((enum sw_context_op)c->op) {
	case SW_CONTEXT_CREATE:
	case SW_CONTEXT_DESTROY: /* ends memory, streams and more that others made */
		keep(k, w, rec, 0);
		return;
	case SW_CONTEXT_CURRENT:
		if (w->current)
			remove_record(k, w->current);
		w->current = keep(k, w, rec, 0);
		return;
	default:
		replaces(k, w, rec, key_of(THING_PRIMARY, c->handle ^ (uint64_t)c->op << 60));
	}
}

/* Takes an annotation of the program: what it says stays as long as it holds. */
static void take_annotation(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec)
{
	const struct sw_rec_annotation *a = (const void *)rec;
	switch ((enum sw_annotation)a->op) {
	case SW_NOTE_BLOCK_BEGIN:
		begins(k, w, rec, key_of(THING_BLOCK, a->address));
		return;
	case SW_NOTE_BLOCK_END:
		ends(k, w, rec, key_of(THING_BLOCK, a->address));
		return;
	case SW_NOTE_TENSOR_BEGIN:
		begins(k, w, rec, key_of(THING_TENSOR, a->address));
		return;
	case SW_NOTE_TENSOR_END:
		ends(k, w, rec, key_of(THING_TENSOR, a->address));
		return;
	case SW_NOTE_IGNORE:
		begins(k, w, rec, key_of(THING_IGNORED, a->address));
		return;
	case SW_NOTE_JUDGE:
		ends(k, w, rec, key_of(THING_IGNORED, a->address));
		return;
	default:
		return;
	}
}

/* Takes an NVTX range: those that are open stay. */
static void take_range(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec)
{
	const struct sw_rec_range *r = (const void *)rec;
	switch ((enum sw_range_op)r->op) {
	case SW_RANGE_PUSH:
		*sw_vec_push(&w->ranges) = keep(k, w, rec, 0);
		return;
	case SW_RANGE_POP:
		for (size_t i = w->ranges.n; i-- > 0;) {
			struct kept_record *open = w->ranges.at[i];
			if (((const struct sw_rec_range *)(const void *)open->data)->domain != r->domain)
				continue;
			remove_record(k, open);
			memmove(&w->ranges.at[i], &w->ranges.at[i + 1], (--w->ranges.n - i) * sizeof *w->ranges.at);
			return;
		}
		return;
	case SW_RANGE_START:
		begins(k, w, rec, key_of(THING_RANGE, r->id));
		return;
	case SW_RANGE_END:
		ends(k, w, rec, key_of(THING_RANGE, r->id));
		return;
	}
}

/* Takes a call of a library: the last one of each function stays, until its handle is destroyed. */
static void take_library(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec)
{
	const struct sw_rec_library *l = (const void *)rec;
	const uint64_t bytes = rec->words * 8u - sizeof *l, words = l->words * 8ull;
	if (l->op == SW_LIBRARY_GONE)
		ends(k, w, rec, key_of(THING_LIBRARY, l->handle));
	if (l->op != SW_LIBRARY_DONE || words + l->name_bytes > bytes)
		return;
	/* The last call of each function counts: it sets the stream of the handle, or its workspace. */
	const uint64_t name = sw_hash_bytes(SW_FNV_START, (const char *)(l + 1) + words, l->name_bytes);
	for (struct kept_record *r = sw_map_ptr(&k->things, key_of(THING_LIBRARY, l->handle)), *same; r; r = same) {
		const struct sw_rec_library *old = (const void *)r->data;
		same = r->same;
		if (!r->ends && old->name_bytes == l->name_bytes && r->seq < sw_rec_seq(rec) &&
		    sw_hash_bytes(SW_FNV_START, (const char *)(old + 1) + old->words * 8ull, old->name_bytes) == name)
			remove_record(k, r);
	}
	keep(k, w, rec, key_of(THING_LIBRARY, l->handle));
}

/* Takes a record of a thing that begins, changes or ends; false: a hot call, which is dropped. */
static bool take_lifecycle(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec)
{
	const void *r = rec;
	const struct sw_rec_free *f = r;
	const struct sw_rec_capture *c = r;
	switch (rec->kind) {
	case SW_REC_ALLOC:
		begins_anew(k, w, rec, key_of(THING_MEMORY, ((const struct sw_rec_alloc *)r)->address));
		return true;
	case SW_REC_FREE:
		if (f->memory == SW_MEM_MAPPED)
			unmap(k, w, f);
		else
			ends(k, w, rec, key_of(THING_MEMORY, f->address));
		return true;
	case SW_REC_STREAM_CREATE:
		begins_anew(k, w, rec, key_of(THING_STREAM, ((const struct sw_rec_stream *)r)->stream));
		return true;
	case SW_REC_STREAM_DESTROY:
		ends(k, w, rec, key_of(THING_STREAM, ((const struct sw_rec_stream *)r)->stream));
		return true;
	case SW_REC_EVENT_CREATE:
		begins_anew(k, w, rec, key_of(THING_EVENT, ((const struct sw_rec_event *)r)->event));
		return true;
	case SW_REC_EVENT_DESTROY:
		ends(k, w, rec, key_of(THING_EVENT, ((const struct sw_rec_event *)r)->event));
		return true;
	case SW_REC_CONTEXT_OP:
		take_context(k, w, rec);
		return true;
	case SW_REC_CODE_LOAD:
		begins_anew(k, w, rec, key_of(THING_CODE, ((const struct sw_rec_code *)r)->handle));
		return true;
	case SW_REC_CODE_UNLOAD:
		ends(k, w, rec, key_of(THING_CODE, ((const struct sw_rec_code *)r)->handle));
		return true;
	case SW_REC_CODE_TOUCH:
		first_only(k, w, rec, key_of(THING_KERNEL, ((const struct sw_rec_code *)r)->handle));
		return true;
	case SW_REC_CAPTURE:
		if (c->op == SW_CAPTURE_END)
			ends(k, w, rec, key_of(THING_CAPTURE, c->stream));
		else
			begins(k, w, rec, key_of(THING_CAPTURE, c->stream));
		return true;
	case SW_REC_GRAPH:
		take_graph(k, w, rec);
		return true;
	case SW_REC_OBJECT:
		replaces(k, w, rec, key_of(THING_OBJECT, ((const struct sw_rec_object *)r)->handle));
		return true;
	case SW_REC_OTHER:
		first_only(k, w, rec,
			   key_of(THING_CALL, sw_hash_words(((const struct sw_rec_other *)r)->args,
							    sizeof((const struct sw_rec_other *)r)->args) ^
						      rec->api));
		return true;
	case SW_REC_UNCLASSIFIED:
		first_only(k, w, rec, key_of(THING_CALL, rec->api));
		return true;
	case SW_REC_ANNOTATION:
		take_annotation(k, w, rec);
		return true;
	case SW_REC_RANGE:
		take_range(k, w, rec);
		return true;
	case SW_REC_LIBRARY:
		take_library(k, w, rec);
		return true;
	case SW_REC_COLLECTIVE:
		if (((const struct sw_rec_collective *)r)->op != SW_COLLECTIVE_COMMUNICATOR)
			return false;
		keep(k, w, rec, 0);
		return true;
	default:
		return false;
	}
}

/* Keeps the END of a call whose BEGIN was kept. */
static void take_end(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec)
{
	struct kept_record *begin = sw_map_ptr(&k->begins, ((const struct sw_rec_end *)(const void *)rec)->begin_seq);
	if (begin && !begin->end)
		begin->end = keep(k, w, rec, 0);
}

/* Decides for one record of a chunk that is dropped what of it stays. */
static void take(struct sw_kept *k, struct kept_writer *w, const struct sw_rec *rec)
{
	const uint64_t seq = sw_rec_seq(rec);
	if (!k->first_ticks)
		k->first_ticks = rec->ticks;
	if (seq > k->last_seq)
		k->last_seq = seq;
	if (rec->kind == SW_REC_LAUNCH)
		sw_dictionary_take(&k->unused, &w->blocks, rec);
	if (rec->kind < SW_REC_LAUNCH) {
		take_description(k, w, rec);
		return;
	}
	if (rec->flags & SW_RF_END) {
		take_end(k, w, rec);
		return;
	}
	const bool failed = !(rec->flags & SW_RF_PENDING) && rec->status;
	if (!(failed && rec->kind != SW_REC_CAPTURE) && take_lifecycle(k, w, rec))
		return;
	const struct sw_rec_calls *calls = sw_record_calls(rec);
	if (sw_kind_is_operation(rec->kind))
		k->dropped += calls ? calls->calls : 1;
}

/* Is the record of a known kind and long enough for it? */
static bool is_sound(const struct sw_rec *rec)
{
	const size_t least = sw_kind_bytes(rec);
	return least && rec->words * 8u >= least;
}

void sw_kept_drop(struct sw_kept *k, uint32_t writer, const void *records, uint32_t bytes)
{
	struct kept_writer *w = writer_of(k, writer);
	const struct sw_rec *rec;
	for (uint32_t at = 0; (rec = sw_window_record(records, at, bytes)); at += rec->words * 8u)
		if (is_sound(rec))
			take(k, w, rec);
}

uint64_t sw_kept_bytes(const struct sw_kept *k)
{
	return k->bytes;
}

void sw_kept_free(struct sw_kept *k)
{
	for (size_t i = 0; k && i < k->writers.n; i++) {
		struct kept_writer *w = k->writers.at[i];
		for (struct kept_record *r = w->first, *next; r; r = next) {
			next = r->next;
			free(r);
		}
		struct sw_map_slot slot;
		for (size_t s = 0; (s = sw_map_next(&w->blocks.params, s, &slot));)
			free((void *)(uintptr_t)slot.value);
		sw_map_free(&w->blocks.params);
		sw_map_free(&w->stacks);
		sw_map_free(&w->codes);
		sw_map_free(&w->written);
		free(w->ranges.at);
		free(w);
	}
	if (!k)
		return;
	free(k->writers.at);
	sw_map_free(&k->by_id);
	sw_map_free(&k->things);
	sw_map_free(&k->begins);
	free(k);
}

/* ---- the new trace ----------------------------------------------------------------------------------------------- */

static bool is_written(const struct kept_writer *w, uint32_t id)
{
	return !id || sw_map_get(&w->written, id % SW_FORMAT_LIVE_IDS) == id;
}

static void note_written(struct kept_writer *w, uint32_t id)
{
	if (id)
		*sw_map_put(&w->written, id % SW_FORMAT_LIVE_IDS) = id;
}

/* Writes a launch of the window.  A short one may refer to others that were dropped: then it says all itself. */
static void put_launch(struct sw_chunk_output *o, struct kept_writer *w, const struct sw_rec *rec)
{
	struct sw_rec_launch whole;
	const struct sw_rec_launch_again *again = (const void *)rec;
	const bool is_short = sw_launch_is_short(rec);
	if (!is_short)
		memcpy(&whole, rec, sizeof whole);
	else if (!sw_launch_expand(&w->blocks, rec, &whole))
		return; /* as a reader would find it */
	const uint32_t base = sw_launch_base(rec);
	const bool defines = !is_short && whole.flags & (SW_LAUNCH_INLINE | SW_LAUNCH_CHANGED) && is_written(w, base);
	const struct sw_param_block *block = whole.params ? sw_writer_params(&w->blocks, whole.params) : NULL;
	if (defines ||
	    (is_short ? is_written(w, again->like) && is_written(w, base ? base : whole.params)
		      : is_written(w, whole.params)) ||
	    (!block && !is_short)) {
		sw_chunk_output_record(o, rec);
	} else {
		const uint32_t bytes = block ? block->bytes : 0, rounded = (uint32_t)sizeof whole + ((bytes + 7) & ~7u);
		unsigned char *to = sw_chunk_output_room(o, rounded, sw_rec_seq(rec));
		memset(to, 0, rounded);
		whole.h.words = (uint16_t)(rounded / 8);
		whole.launch = is_short ? again->like : whole.launch;
		whole.flags &= (uint16_t) ~(SW_LAUNCH_INLINE | SW_LAUNCH_CHANGED);
		whole.flags |= block ? SW_LAUNCH_INLINE : 0;
		whole.param_bytes = (uint16_t)bytes;
		memcpy(to, &whole, sizeof whole);
		if (block)
			memcpy(to + sizeof whole, block->data, bytes);
	}
	note_written(w, is_short ? again->like : whole.launch);
	note_written(w, whole.params);
}

/* Orders chunks by writer, those of one by their place in it. */
static int by_writer(const void *a, const void *b)
{
	const struct sw_window_chunk *x = a, *y = b;
	if (x->writer != y->writer)
		return x->writer < y->writer ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Takes the records of a window's chunk up to the cut as if they were dropped.  Returns where the rest begins. */
static uint32_t take_front(struct sw_kept *k, struct kept_writer *w, const unsigned char *records, uint32_t bytes,
			   uint64_t cut)
{
	uint32_t end = 0;
	const struct sw_rec *rec;
	for (uint32_t at = 0; (rec = sw_window_record(records, at, bytes)); at += rec->words * 8u)
		if (sw_rec_seq(rec) && sw_rec_seq(rec) <= cut)
			end = at + rec->words * 8u;
	for (uint32_t at = 0; at < end && (rec = sw_window_record(records, at, end)); at += rec->words * 8u)
		if (is_sound(rec))
			take(k, w, rec);
	return end;
}

/* Writes what is kept of a writer, then its chunks in the window, up to the number `end`. */
static void put_writer(struct sw_kept *k, struct sw_chunk_output *o, struct kept_writer *w,
		       const struct sw_window *window, const uint32_t *fronts, uint64_t end, unsigned char *scratch,
		       uint32_t room)
{
	uint32_t bytes;
	const struct sw_rec *rec;
	for (const struct kept_record *r = w->first; r; r = r->next)
		sw_chunk_output_record(o, (const void *)r->data);
	for (size_t i = 0; i < window->chunks; i++) {
		if (window->chunk[i].writer != w->id ||
		    !window->read(window->arg, window->chunk[i].place, scratch, &bytes, room))
			continue;
		for (uint32_t at = fronts[i]; (rec = sw_window_record(scratch, at, bytes)); at += rec->words * 8u) {
			if (sw_rec_seq(rec) > end)
				break;
			if (rec->kind != SW_REC_LAUNCH || rec->flags & SW_RF_END || !is_sound(rec)) {
				sw_chunk_output_record(o, rec);
				continue;
			}
			sw_dictionary_take(&k->unused, &w->blocks, rec);
			put_launch(o, w, rec);
		}
	}
	sw_chunk_output_flush(o);
}

int sw_kept_write(struct sw_kept *k, const struct sw_file_header *header, struct sw_window *window, const char *notice,
		  int fd)
{
	const uint32_t room = header->chunk_bytes - (uint32_t)sizeof(struct sw_chunk_header);
	const uint64_t cut = k->last_seq;
	unsigned char *scratch = sw_alloc(header->chunk_bytes);
	uint32_t *fronts = sw_calloc(window->chunks + 1, sizeof *fronts), bytes;
	struct sw_chunk_output o;
	if (window->chunks)
		qsort(window->chunk, window->chunks, sizeof *window->chunk, by_writer);
	for (size_t i = 0; i < window->chunks; i++) {
		struct kept_writer *w = writer_of(k, window->chunk[i].writer);
		if (window->read(window->arg, window->chunk[i].place, scratch, &bytes, room))
			fronts[i] = take_front(k, w, scratch, bytes, cut);
	}
	const uint64_t end = sw_window_end_number(window, cut, scratch, room);
	sw_chunk_output_begin(&o, fd, header);
	for (size_t i = 0; i < k->writers.n; i++) {
		sw_chunk_output_writer(&o, k->writers.at[i]->id);
		if (i == 0 && cut)
			sw_chunk_output_cut(&o, cut, k->dropped, k->first_ticks);
		if (i == 0 && notice)
			sw_chunk_output_notice(&o, notice, k->first_ticks);
		put_writer(k, &o, k->writers.at[i], window, fronts, end, scratch, room);
	}
	free(scratch);
	free(fronts);
	return sw_chunk_output_end(&o);
}
