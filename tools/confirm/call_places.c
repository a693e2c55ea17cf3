/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a trace, as a plan names them. */
#include "confirm/trial.h"

#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "base/map.h"
#include "reader/kinds.h"

#define LEGACY 1u /* CU_STREAM_LEGACY */

struct search {
	sw_trials *trials;
	struct sw_map used; /* what has been launched: kernels, and calls that copy or set */
	struct sw_reader *reader;
	sw_wanted_calls wanted;
	SW_VEC(uint64_t) stacks; /* by index of the reader, 0: not hashed yet */
	struct sw_map makers;	 /* by address: the wanted call whose stack allocated it, and 1 */
	struct sw_map sources;	 /* of copies: wanted call, address and bytes, hashed */
};

/* The hash of a call stack that is the same in each run: by offsets in modules, which lie elsewhere each time. */
static uint64_t hash_stack(const struct sw_reader *reader, uint32_t index)
{
	const struct sw_trace_stack *stack = index ? sw_reader_stack(reader, index) : NULL;
	uint64_t hash = SW_FNV_START;
	for (uint32_t i = 0; stack && i < stack->depth; i++) {
		const struct sw_trace_module *module = sw_reader_module(reader, stack->ips[i], stack->seq);
		if (module)
			hash = sw_plan_frame(hash, stack->ips[i] - module->base);
	}
	return hash;
}

/* The hash of a record's call stack, made at the first question. */
static uint64_t stack_of(struct search *search, const struct sw_record *record)
{
	while (search->stacks.n <= record->stack)
		*sw_vec_push(&search->stacks) = 0;
	uint64_t *known = &search->stacks.at[record->stack];
	if (!*known)
		*known = hash_stack(search->reader, record->stack);
	return *known;
}

/* Does the recorder's companion, which holds the n-th call, count this record?  Every one of an operation but the ends
   of calls. */
static bool is_call(const struct sw_record *record)
{
	return record->rec->kind >= SW_REC_LAUNCH && !(record->rec->flags & SW_RF_END);
}

/* The number of the record's entry point in this version's table; 0: none. */
static uint32_t api_of(const struct search *search, const struct sw_record *record)
{
	const struct sw_trace_api *api = sw_reader_api(search->reader, record->rec->api);
	return api ? (uint32_t)sw_api_find(api->driver) : 0;
}

/* Reads the trace from its start and passes each call to `visit`. */
static int each_record(struct search *search, const char *trace,
		       void (*visit)(struct search *, const struct sw_record *), struct sw_error *error)
{
	struct sw_record record;
	int got = sw_reader_open(trace, &search->reader, error);
	if (got)
		return got;
	search->stacks.n = 0;
	while ((got = sw_reader_next(search->reader, &record, error)) > 0)
		if (is_call(&record))
			visit(search, &record);
	sw_reader_close(search->reader);
	return got;
}

/* Is the work on the legacy default stream? */
static bool is_legacy(const struct sw_rec *rec)
{
	uint64_t stream;
	if (!sw_kind_has(rec->kind, SW_KIND_DEVICE) || !sw_record_stream_of(rec, &stream))
		return false;
	return stream == LEGACY || (!stream && !(rec->flags & SW_RF_PER_THREAD));
}

/* Does the work need code that the program uses for the first time: a kernel of a context, or whatever a copy or a set
   needs? */
static bool is_first_use(struct search *search, const struct sw_rec *rec)
{
	if (!sw_kind_has(rec->kind, SW_KIND_DEVICE))
		return false;
	if (rec->kind == SW_REC_GRAPH_LAUNCH)
		return true;
	const uint64_t what =
		rec->kind == SW_REC_LAUNCH ? ((const struct sw_rec_launch *)(const void *)rec)->function : 0;
	uint64_t *uses =
		sw_map_put(&search->used, sw_hash_u64(sw_hash_u64(what ^ (uint64_t)rec->api << 32) ^ rec->ctx));
	return (*uses)++ == 0;
}

/* Notes, for the trials whose calls lie around it, that the call uses code for the first time: it may load it, which
   delays other streams. */
static void note_first_use(struct search *search, const struct sw_record *record)
{
	if (!is_first_use(search, record->rec))
		return;
	for (size_t i = 0; i < search->trials->n; i++) {
		struct sw_trial *trial = &search->trials->at[i];
		trial->first_use |= record->seq >= trial->earlier && record->seq <= trial->later;
	}
}

/* Does the call release memory at once, not in the order of a stream? */
static bool frees_at_once(const struct search *search, const struct sw_record *record)
{
	const struct sw_trace_api *api = sw_reader_api(search->reader, record->rec->api);
	return record->rec->kind == SW_REC_FREE && api && !strstr(api->driver, "Async");
}

/* First pass: notes thread, entry point and stack of the calls that are wanted. */
static void find_wanted(struct search *search, const struct sw_record *record)
{
	note_first_use(search, record);
	for (size_t i = 0; i < search->wanted.n; i++)
		if (search->wanted.at[i].seq == record->seq)
			*search->wanted.at[i].call = (struct sw_plan_call){.thread = record->thread,
									   .api = api_of(search, record),
									   .stack = stack_of(search, record),
									   .kind = record->rec->kind,
									   .legacy = is_legacy(record->rec),
									   .frees = frees_at_once(search, record)};
}

/* How much a call asks for: bytes of a copy, of an allocation. */
static uint64_t amount_of(const struct sw_rec *rec)
{
	const void *r = rec;
	switch (rec->kind) {
	case SW_REC_COPY:
		return ((const struct sw_rec_copy *)r)->bytes;
	case SW_REC_ALLOC:
		return ((const struct sw_rec_alloc *)r)->bytes;
	case SW_REC_CONFIG:
		return ((const struct sw_rec_config *)r)->value;
	default:
		return 0;
	}
}

/* Counts the host memory that a wanted call copies from, and how often it copies from the same. */
static void note_source(struct search *search, size_t wanted, const struct sw_rec_copy *c)
{
	struct sw_call_use *use = search->wanted.at[wanted].use;
	uint64_t *seen =
		sw_map_put(&search->sources, sw_hash_u64(c->src ^ sw_hash_u64(c->bytes ^ sw_hash_u64(wanted))));
	if (c->src_side != SW_SIDE_HOST || c->dst_side != SW_SIDE_DEVICE)
		return;
	use->copies++;
	use->sources += !*seen;
	*seen = 1;
}

/* Notes a call that has the stack of one that is wanted: the most that it asks for, and the source of a copy. */
static void note_use(struct search *search, size_t wanted, const struct sw_record *record)
{
	const void *r = record->rec;
	struct sw_call_use *use = search->wanted.at[wanted].use;
	const uint64_t amount = amount_of(record->rec);
	use->most = use->most < amount ? amount : use->most;
	if (record->rec->kind == SW_REC_COPY)
		note_source(search, wanted, r);
	else if (record->rec->kind == SW_REC_ALLOC && !record->rec->status)
		*sw_map_put(&search->makers, ((const struct sw_rec_alloc *)r)->address) = wanted + 1;
}

/* Notes where memory that the call allocated is freed. */
static void add_free(struct sw_call_use *use, uint32_t api, uint64_t stack)
{
	for (uint32_t i = 0; i < use->n_frees; i++)
		if (use->frees[i].api == api && use->frees[i].stack == stack)
			return;
	if (use->n_frees == SW_FREE_PLACES) {
		use->more_frees = true;
		return;
	}
	use->frees[use->n_frees].api = api;
	use->frees[use->n_frees++].stack = stack;
}

/* Notes where memory of a wanted allocation is freed, for all allocations of that place. */
static void note_free(struct search *search, const struct sw_record *record)
{
	const uint64_t address = ((const struct sw_rec_free *)(const void *)record->rec)->address;
	const uint64_t maker = sw_map_get(&search->makers, address);
	if (!maker)
		return;
	sw_map_delete(&search->makers, address);
	const struct sw_plan_call *made = search->wanted.at[maker - 1].call;
	for (size_t i = 0; i < search->wanted.n; i++) {
		const struct sw_wanted_call *wanted = &search->wanted.at[i];
		if (wanted->use && wanted->call->api == made->api && wanted->call->stack == made->stack)
			add_free(wanted->use, api_of(search, record), stack_of(search, record));
	}
}

/* Notes how much wanted calls and others of their places ask for, and what becomes of it. */
static void measure_uses(struct search *search, const struct sw_record *record)
{
	const uint16_t kind = record->rec->kind;
	if (kind == SW_REC_FREE) {
		note_free(search, record);
		return;
	}
	if (kind == SW_REC_ALLOC)
		sw_map_delete(&search->makers, ((const struct sw_rec_alloc *)(const void *)record->rec)->address);
	for (size_t i = 0; i < search->wanted.n && (amount_of(record->rec) || kind == SW_REC_COPY); i++) {
		const struct sw_wanted_call *wanted = &search->wanted.at[i];
		if (wanted->use && wanted->call->api == api_of(search, record) &&
		    wanted->call->stack == stack_of(search, record))
			note_use(search, i, record);
	}
}

/* Second pass: counts how often the call of a wanted call's place came before it on its thread. */
static void count_call(struct search *search, const struct sw_record *record)
{
	uint32_t api = 0;
	measure_uses(search, record);
	for (size_t i = 0; i < search->wanted.n; i++) {
		struct sw_plan_call *call = search->wanted.at[i].call;
		if (search->wanted.at[i].seq < record->seq || call->thread != record->thread)
			continue;
		api = api ? api : api_of(search, record);
		if (call->api == api && call->stack == stack_of(search, record))
			call->nth++;
	}
}

/* Finds how wanted calls are recognised in another run of the program. */
static int locate_calls(const sw_wanted_calls *wanted, sw_trials *trials, const char *trace, struct sw_error *error)
{
	struct search search = {.wanted = *wanted, .trials = trials};
	int got = each_record(&search, trace, find_wanted, error);
	if (!got)
		got = each_record(&search, trace, count_call, error);
	free(search.stacks.at);
	sw_map_free(&search.used);
	sw_map_free(&search.makers);
	sw_map_free(&search.sources);
	return got;
}

/* Finds how these calls are recognised in another run: by their stack, and how often it came before. */
int sw_calls_locate(const sw_wanted_calls *wanted, const char *trace, struct sw_error *error)
{
	sw_trials none = {0};
	return locate_calls(wanted, &none, trace, error);
}

/* Adds a call to those that are wanted; seq 0: none. */
static void want_call(sw_wanted_calls *wanted, uint64_t seq, struct sw_plan_call *call)
{
	if (seq)
		*sw_vec_push(wanted) = (struct sw_wanted_call){seq, call, NULL};
}

/* Finds how the calls of all trials are recognised in another run. */
int sw_trials_locate(sw_trials *trials, const char *trace, struct sw_error *error)
{
	sw_wanted_calls wanted = {0};
	for (size_t i = 0; i < trials->n; i++) {
		struct sw_trial *trial = &trials->at[i];
		want_call(&wanted, trial->earlier, &trial->earlier_call);
		want_call(&wanted, trial->later, &trial->later_call);
		want_call(&wanted, trial->after, &trial->after_call);
		want_call(&wanted, trial->before, &trial->before_call);
		want_call(&wanted, trial->buffer, &trial->buffer_call);
		want_call(&wanted, trial->earlier_node, &trial->node_call);
	}
	const int got = locate_calls(&wanted, trials, trace, error);
	free(wanted.at);
	return got;
}
