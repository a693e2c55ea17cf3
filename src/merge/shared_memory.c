/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that processes share: who exported, opened and freed it, and uses of it that nothing orders.  Both are
   gathered from the traces, joined, and compared at the end. */
#include "merge/merged.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "detect/shared_use.h"
#include "merge/collectives.h"
#include "report/symbols/stack.h"

/* ---- one machine ------------------------------------------------------------------------------------------------- */

/* Are both of one machine?  IPC handles are of one, and so are its clocks. */
static bool one_machine(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	return *a->boot && strcmp(a->boot, b->boot) == 0;
}

/* Was the handle given to two allocations of the machine of this process?  Then it is unknown which one is meant. */
static bool is_ambiguous(const struct sw_shared_memory *shared, const struct sw_merged_rank *process, uint64_t handle)
{
	size_t exports = 0;
	for (size_t i = 0; i < shared->exports.n; i++)
		exports += shared->exports.at[i].hash == handle && one_machine(shared->exports.at[i].process, process);
	return exports > 1;
}

/* ---- moments ----------------------------------------------------------------------------------------------------- */

/* Each process converts ticks by a rate of its own.  Where both ran by the time stamp counter these are compared
   themselves; then what is left is how far the counters of two processors are apart (below a microsecond, or Linux
   would not use them). */
#define MONOTONIC_ERROR_NS 1000000u
#define TICKS_ERROR_NS	   2000u
/* A moment by the processor's counter on the other process's clock; false: one of them has not the counter's rate. */
static bool by_counter(const struct sw_merged_rank *of, const struct sw_merged_rank *on, uint64_t ns,
		       uint64_t *moment_ns)
{
	if (!of->tick_rate || !on->tick_rate || ns < of->start_monotonic_ns)
		return false;
	const unsigned __int128 since = ns - of->start_monotonic_ns;
	const __int128 ticks = (__int128)((since << 32) / of->tick_rate) + of->start_ticks - on->start_ticks;
	const __int128 moment =
		(__int128)on->start_monotonic_ns + ticks * (__int128)on->tick_rate / ((__int128)1 << 32);
	*moment_ns = moment > 0 ? (uint64_t)moment : 0;
	return true;
}

/* How far a moment by the counter is from the same by CLOCK_MONOTONIC. */
static uint64_t clock_disagreement(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	uint64_t ns;
	if (!by_counter(a, b, a->start_monotonic_ns, &ns))
		return 0;
	return ns > a->start_monotonic_ns ? ns - a->start_monotonic_ns : a->start_monotonic_ns - ns;
}

/* How far both conversions of ticks are from CLOCK_MONOTONIC at most. */
static uint64_t most_disagreement(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	const uint64_t one = clock_disagreement(a, b), other = clock_disagreement(b, a);
	return one > other ? one : other;
}

/* May moments be compared by the counter?  Counters of two processors may differ where Linux uses another clock. */
static bool by_ticks(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	return a->tick_rate && b->tick_rate && most_disagreement(a, b) < MONOTONIC_ERROR_NS;
}

/* How far two moments of two processes may be apart unseen: by the counter a fixed bound; else how far the two
   conversions of ticks were found apart, and a millisecond more. */
static uint64_t moment_error(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	const uint64_t apart_ns = most_disagreement(a, b);
	if (by_ticks(a, b))
		return TICKS_ERROR_NS;
	return (apart_ns < UINT64_MAX / 4 ? apart_ns : UINT64_MAX / 4) + MONOTONIC_ERROR_NS;
}

/* A moment of one process on the clock of another of the same machine; moment_error() says how well. */
static uint64_t moment(const struct sw_merged_rank *of, const struct sw_merged_rank *on, uint64_t ns)
{
	uint64_t moment_ns;
	return of != on && by_ticks(of, on) && by_counter(of, on, ns, &moment_ns) ? moment_ns : ns;
}

/* ---- uses: a report ---------------------------------------------------------------------------------------------- */

/* A time of the trace as CLOCK_MONOTONIC; 0 stays 0, which is never. */
static uint64_t monotonic_time(const struct sw_merged_rank *process, uint64_t t_ns)
{
	return t_ns ? process->start_monotonic_ns + t_ns : 0;
}

/* "cudaFree (demo.cu:28)"; the caller frees it. */
static char *call_text(struct sw_report *report, const struct sw_access *call)
{
	const struct sw_frame *frame = sw_place_of(&report->names, call, NULL);
	const char *name = sw_name_operation_brief(&report->names, call),
		   *place = sw_place_brief(&report->names, frame);
	return *place ? sw_format("%s (%s)", name, place) : sw_strdup(name);
}

/* Takes the uses of shared memory that the judgement of the report lists. */
static void uses_take(sw_merged_uses *uses, struct sw_merged_rank *process, struct sw_report *report)
{
	const struct sw_judgement *j = report->judgement;
	for (size_t i = 0; i < j->shared_uses.n; i++) {
		const struct sw_shared_use *u = &j->shared_uses.at[i];
		*sw_vec_push(uses) =
			(struct sw_merged_use){.process = process,
					       .handle = u->handle,
					       .lo = u->lo,
					       .hi = u->hi,
					       .call_ns = process->start_monotonic_ns + u->access.t_ns,
					       .learnt_ns = monotonic_time(process, u->learnt_ns),
					       .known_ns = monotonic_time(process, u->known_ns),
					       .signalled_ns = monotonic_time(process, u->signalled_ns),
					       .waited_ns = monotonic_time(process, u->waited_ns),
					       .signalled_more_ns = monotonic_time(process, u->signalled_more_ns),
					       .signalled_event = u->signalled_event,
					       .waited_event = u->waited_event,
					       .reads = u->reads,
					       .writes = u->writes,
					       .atomic = u->atomic,
					       .learning = u->learning,
					       .site = sw_place_hash(&report->names, &u->access),
					       .what = call_text(report, &u->access)};
	}
}

/* ---- uses: several ----------------------------------------------------------------------------------------------- */

/* Is one of the first n uses by this process? */
static bool has_process(const sw_merged_uses *uses, size_t n, const struct sw_merged_rank *process)
{
	for (size_t i = 0; i < n; i++)
		if (uses->at[i].process == process)
			return true;
	return false;
}

/* Moves uses to `to`; of a process that is in both, once. */
static void uses_join(sw_merged_uses *to, sw_merged_uses *from)
{
	const size_t n = to->n;
	const struct sw_merged_rank *last = NULL;
	bool there = false;
	for (size_t i = 0; i < from->n; i++) {
		there = from->at[i].process == last ? there : has_process(to, n, from->at[i].process);
		last = from->at[i].process;
		if (there)
			free(from->at[i].what);
		else
			*sw_vec_push(to) = from->at[i];
	}
	from->n = 0;
}

/* Order of uses: by process, then by time and by what they use. */
static int by_process(const void *a, const void *b)
{
	const struct sw_merged_use *x = a, *y = b;
	int by = sw_merged_by_number(x->process->index, y->process->index);
	by = by ? by : sw_merged_by_number(x->call_ns, y->call_ns);
	by = by ? by : sw_merged_by_number(x->handle, y->handle);
	by = by ? by : sw_merged_by_number(x->lo, y->lo);
	by = by ? by : sw_merged_by_number(x->hi, y->hi);
	return by ? by : sw_merged_by_number(x->writes, y->writes);
}

/* Sorts the uses, so that findings do not depend on the order in which traces were added. */
static void uses_sort(sw_merged_uses *uses)
{
	if (uses->n)
		qsort(uses->at, uses->n, sizeof *uses->at, by_process);
}

/* Frees the uses with their texts. */
static void uses_free(sw_merged_uses *uses)
{
	for (size_t i = 0; i < uses->n; i++)
		free(uses->at[i].what);
	free(uses->at);
	*uses = (sw_merged_uses){0};
}

/* ---- uses: pairs ------------------------------------------------------------------------------------------------- */

/* Do both use the same bytes on one machine, so that their order matters?  Reads alone do not conflict, nor do
   atomics. */
static bool share_bytes(const struct sw_merged_use *a, const struct sw_merged_use *b)
{
	return a->handle == b->handle && a->lo < b->hi && b->lo < a->hi && (a->writes || b->writes) &&
	       !(a->atomic && b->atomic) && *a->process->boot && strcmp(a->process->boot, b->process->boot) == 0;
}

/* Was the moment `ns` of the earlier process before the later one's call, or so soon after it that it may have been? */
static bool is_before(const struct sw_merged_use *earlier, uint64_t ns, const struct sw_merged_use *later)
{
	const struct sw_merged_rank *on = later->process;
	return ns && moment(earlier->process, on, ns) < later->call_ns + moment_error(earlier->process, on);
}

/* Can the later use not have waited for the earlier one?  Only an event may have signalled that, and the later
   process waited for none since it was recorded. */
static bool not_waited_for(const struct sw_merged_use *earlier, const struct sw_merged_use *later)
{
	const struct sw_merged_rank *on = later->process;
	return earlier->signalled_event &&
	       (!later->waited_ns || later->waited_ns + moment_error(earlier->process, on) <
					     moment(earlier->process, on, earlier->signalled_ns));
}

enum unordered { ORDERED, LIKELY_NOT, CERTAINLY_NOT };

/* How surely nothing orders the two uses; `earlier` was called first.  Nothing ordered its end before the
   call: no way of telling began before it.  Nothing did in between: the other process could not learn.  And the earlier
   one, once called, waited for no other process. */
static enum unordered how_unordered(const struct sw_merged_use *earlier, const struct sw_merged_use *later)
{
	const struct sw_merged_rank *on = later->process;
	const uint64_t error_ns = moment_error(earlier->process, on);
	const uint64_t called_ns = moment(earlier->process, on, earlier->call_ns);
	if (earlier->learning || later->learning || called_ns + error_ns >= later->call_ns ||
	    later->learnt_ns + error_ns >= called_ns || is_before(earlier, earlier->known_ns, later))
		return ORDERED;
	if (!is_before(earlier, earlier->signalled_ns, later))
		return CERTAINLY_NOT;
	/* A third process may have waited for the event, and signalled the second. */
	return not_waited_for(earlier, later) && !is_before(earlier, earlier->signalled_more_ns, later) ? LIKELY_NOT
													: ORDERED;
}

/* Does a third process wait for the event? */
static bool has_audience(const sw_merged_uses *uses, const struct sw_merged_use *earlier,
			 const struct sw_merged_use *later)
{
	for (size_t i = 0; i < uses->n; i++)
		if (uses->at[i].waited_event == earlier->signalled_event && uses->at[i].process != earlier->process &&
		    uses->at[i].process != later->process)
			return true;
	return false;
}

/* Writes "rank 1 reads what rank 0 writes, and nothing orders the two". */
static void put_title(FILE *out, const struct sw_merged_use *earlier, const struct sw_merged_use *later)
{
	sw_merged_name(out, later->process);
	fprintf(out, " %s what ", later->writes ? "writes" : "reads");
	sw_merged_name(out, earlier->process);
	fprintf(out, " %s, and nothing orders the two", earlier->writes ? "writes" : "reads");
}

/* Says what an event that the first process recorded failed to do, if it recorded one before the second one's call. */
static void put_event(FILE *out, const struct sw_merged_use *earlier, const struct sw_merged_use *later)
{
	const uint64_t signalled_ns = moment(earlier->process, later->process, earlier->signalled_ns);
	if (!earlier->signalled_event || signalled_ns > later->call_ns)
		return;
	if (earlier->signalled_event == later->waited_event)
		fprintf(out,
			"  event:         the second process waits for one %.3f ms before the first process "
			"records it: that waits for nothing\n",
			(double)(signalled_ns - later->waited_ns) / 1e6);
	else
		fputs("  event:         the first process records one after its work; the second does not wait "
		      "for it\n",
		      out);
}

/* Writes both calls, the bytes that they share, and what to do. */
static void put_text_use(FILE *out, const struct sw_merged_use *earlier, const struct sw_merged_use *later)
{
	const uint64_t lo = earlier->lo > later->lo ? earlier->lo : later->lo;
	const uint64_t hi = earlier->hi < later->hi ? earlier->hi : later->hi;
	const uint64_t called_ns = moment(earlier->process, later->process, earlier->call_ns);
	fputs("  first:         ", out);
	sw_merged_name(out, earlier->process);
	fprintf(out, " calls %s\n  then:          ", earlier->what);
	sw_merged_name(out, later->process);
	fprintf(out, " calls %s, %.3f ms later\n", later->what, (double)(later->call_ns - called_ns) / 1e6);
	fprintf(out, "  memory:        bytes %" PRIu64 " to %" PRIu64 " of an allocation that both know\n", lo, hi - 1);
	put_event(out, earlier, later);
	fputs("  fix:           tell the other process only when the work is done (cudaStreamSynchronize), or when an "
	      "event of\n                 both (cudaIpcGetEventHandle) is recorded after it, which the other's stream "
	      "waits for\n",
	      out);
}

/* SW505: reports a use that nothing orders after an earlier one of another process. */
static void report_pair(struct sw_merged *merged, const struct sw_merged_use *earlier,
			const struct sw_merged_use *later, bool certain)
{
	struct sw_between *b =
		sw_between_add(merged, 505, certain ? SW_ERROR : SW_WARNING, certain ? "certain" : "likely",
			       earlier->site ^ (later->site << 1 | later->site >> 63));
	size_t bytes;
	FILE *out = sw_memory_stream(&b->title, &bytes);
	put_title(out, earlier, later);
	fclose(out);
	out = sw_memory_stream(&b->text, &bytes);
	put_text_use(out, earlier, later);
	fclose(out);
	*sw_vec_push(&b->ranks) = earlier->process;
	*sw_vec_push(&b->ranks) = later->process;
}

/* Is it the first finding of this pair of processes and call sites?  Notes that there is one. */
static bool is_new(struct sw_map *reported, const struct sw_merged_use *earlier, const struct sw_merged_use *later)
{
	const uint64_t words[] = {earlier->process->index, later->process->index, earlier->site, later->site};
	uint64_t *known = sw_map_put(reported, sw_hash_words(words, sizeof words));
	return !(*known)++;
}

/* Reports the pair, unless it is ordered, may be, or was reported before. */
static void compare_uses(struct sw_merged *merged, struct sw_map *reported, const struct sw_merged_use *earlier,
			 const struct sw_merged_use *later)
{
	const enum unordered how = share_bytes(earlier, later) ? how_unordered(earlier, later) : ORDERED;
	if (how == ORDERED || is_ambiguous(&merged->shared, earlier->process, earlier->handle) ||
	    (how == LIKELY_NOT && has_audience(&merged->shared.uses, earlier, later)) ||
	    !is_new(reported, earlier, later))
		return;
	report_pair(merged, earlier, later, how == CERTAINLY_NOT);
}

/* Finds the pairs that nothing orders; the handles must be known to be of one allocation each. */
static void between_uses(struct sw_merged *merged)
{
	const sw_merged_uses *uses = &merged->shared.uses;
	struct sw_map reported = {0};
	uses_sort(&merged->shared.uses);
	for (size_t i = 0; i < uses->n; i++)
		for (size_t k = 0; k < uses->n; k++)
			if (uses->at[i].process != uses->at[k].process)
				compare_uses(merged, &reported, &uses->at[i], &uses->at[k]);
	sw_map_free(&reported);
}

/* ---- memory: one trace ------------------------------------------------------------------------------------------- */

/* Begins reading one trace; what it adds is found later by where the arrays ended before. */
void sw_shared_begin(struct sw_shared_pass *pass, struct sw_shared_memory *shared, struct sw_merged_rank *process,
		     struct sw_report *report)
{
	*pass = (struct sw_shared_pass){.shared = shared,
					.process = process,
					.report = report,
					.first_export = shared->exports.n,
					.first_import = shared->imports.n};
}

/* The allocation that a handle was asked for, which is of the whole of it, also where a pointer into it was given. */
static uint64_t allocation_of(const struct sw_shared_pass *pass, uint64_t address, uint64_t *bytes)
{
	struct sw_map_slot slot;
	const uint64_t *exact = sw_map_find(&pass->sizes, address);
	*bytes = exact ? *exact : 0;
	if (exact)
		return address;
	for (size_t i = 0; (i = sw_map_next(&pass->sizes, i, &slot));)
		if (address > slot.key && address - slot.key < slot.value) {
			*bytes = slot.value;
			return slot.key;
		}
	return address;
}

/* A handle was asked for: notes it once, however often the program asks for the same. */
static void take_export(struct sw_shared_pass *pass, const struct sw_rec_other *other)
{
	uint64_t bytes;
	const uint64_t address = allocation_of(pass, other->args[0], &bytes), hash = other->args[1];
	const uint64_t known = sw_map_get(&pass->exported, address);
	if (!hash || (known && pass->shared->exports.at[known - 1].hash == hash))
		return;
	*sw_vec_push(&pass->shared->exports) =
		(struct sw_shared_export){.process = pass->process, .hash = hash, .bytes = bytes};
	*sw_map_put(&pass->exported, address) = pass->shared->exports.n;
}

/* Notes the size of an allocation, and memory that was opened by a handle; opened again, it needs one close more. */
static void take_alloc(struct sw_shared_pass *pass, const struct sw_rec_alloc *alloc, uint64_t now)
{
	if (alloc->memory == SW_MEM_DEVICE)
		*sw_map_put(&pass->sizes, alloc->address) = alloc->bytes;
	if (alloc->memory != SW_MEM_IPC || alloc->owner || !alloc->extra)
		return; /* of a pool or an external memory: known by other handles */
	const uint64_t open = sw_map_get(&pass->opened, alloc->address);
	if (open && pass->shared->imports.at[open - 1].hash == alloc->extra) {
		pass->shared->imports.at[open - 1].opens++;
		return;
	}
	*sw_vec_push(&pass->shared->imports) =
		(struct sw_shared_import){.process = pass->process, .hash = alloc->extra, .opened_ns = now, .opens = 1};
	*sw_map_put(&pass->opened, alloc->address) = pass->shared->imports.n;
}

/* Notes when and where exported memory was freed, if it was (index 0: it was not exported).  `r`: the free, or the end
   of one that the driver waited in. */
static void export_freed(struct sw_shared_pass *pass, uint64_t index, const struct sw_record *r, uint64_t now)
{
	if (!index)
		return;
	const struct sw_access call = {.role = SW_FREE,
				       .kind = SW_REC_FREE,
				       .api = r->rec->api,
				       .flags = r->rec->flags,
				       .seq = r->seq,
				       .thread = r->thread,
				       .stack = r->stack,
				       .param = -1};
	struct sw_shared_export *e = &pass->shared->exports.at[index - 1];
	e->freed_ns = now;
	e->freed_at = call_text(pass->report, &call);
	e->freed_site = sw_place_hash(&pass->report->names, &call);
}

/* A free ends the export of its memory; a close, the last of them, ends the import. */
static void take_free(struct sw_shared_pass *pass, const struct sw_record *r, uint64_t now)
{
	const struct sw_rec_free *f = (const struct sw_rec_free *)(const void *)r->rec;
	if (r->rec->flags & SW_RF_END) {
		const struct sw_rec_end *end = (const struct sw_rec_end *)(const void *)r->rec;
		if (!r->failed)
			export_freed(pass, sw_map_get(&pass->freeing, end->begin_seq), r, now);
		sw_map_delete(&pass->freeing, end->begin_seq);
		return;
	}
	if (f->memory == SW_MEM_IPC) {
		const uint64_t index = sw_map_get(&pass->opened, f->address);
		if (!index || r->failed || --pass->shared->imports.at[index - 1].opens)
			return;
		pass->shared->imports.at[index - 1].closed_ns = now;
		sw_map_delete(&pass->opened, f->address);
		return;
	}
	const uint64_t index = sw_map_get(&pass->exported, f->address);
	if (r->failed)
		return;
	if (r->rec->flags & SW_RF_BEGIN && index)
		*sw_map_put(&pass->freeing, r->seq) = index;
	else
		export_freed(pass, index, r, now + r->dur_ns);
	sw_map_delete(&pass->exported, f->address);
	sw_map_delete(&pass->sizes, f->address);
}

/* Takes from a record what it says of shared memory: allocations, frees and handles that were asked for do. */
void sw_shared_take(struct sw_shared_pass *pass, const struct sw_reader *reader, const struct sw_record *r,
		    uint64_t now)
{
	switch (r->rec->kind) {
	case SW_REC_ALLOC:
		if (!(r->rec->flags & SW_RF_END) && !r->failed)
			take_alloc(pass, (const struct sw_rec_alloc *)(const void *)r->rec, now);
		break;
	case SW_REC_FREE:
		take_free(pass, r, now);
		break;
	case SW_REC_OTHER: {
		const struct sw_trace_api *api = sw_reader_api(reader, r->rec->api);
		if (api && !r->failed && strcmp(api->driver, "cuIpcGetMemHandle") == 0)
			take_export(pass, (const struct sw_rec_other *)(const void *)r->rec);
		break;
	}
	default:
		break;
	}
}

/* Notes when the process was last seen, and takes its uses from the judgement. */
void sw_shared_end(struct sw_shared_pass *pass, uint64_t last_ns)
{
	for (size_t i = pass->first_import; i < pass->shared->imports.n; i++)
		pass->shared->imports.at[i].last_ns = last_ns;
	uses_take(&pass->shared->uses, pass->process, pass->report);
	sw_map_free(&pass->sizes);
	sw_map_free(&pass->exported);
	sw_map_free(&pass->opened);
	sw_map_free(&pass->freeing);
}

/* ---- memory: several --------------------------------------------------------------------------------------------- */

/* Is it there already, from a result that was merged twice? */
static bool has_export(const struct sw_shared_memory *shared, const struct sw_shared_export *e)
{
	for (size_t i = 0; i < shared->exports.n; i++)
		if (shared->exports.at[i].process == e->process && shared->exports.at[i].hash == e->hash &&
		    shared->exports.at[i].freed_ns == e->freed_ns)
			return true;
	return false;
}

/* Is it there already, from a result that was merged twice? */
static bool has_import(const struct sw_shared_memory *shared, const struct sw_shared_import *e)
{
	for (size_t i = 0; i < shared->imports.n; i++)
		if (shared->imports.at[i].process == e->process && shared->imports.at[i].hash == e->hash &&
		    shared->imports.at[i].opened_ns == e->opened_ns)
			return true;
	return false;
}

/* Moves all to `to`, but for what is there already, whose texts are freed. */
void sw_shared_join(struct sw_shared_memory *to, struct sw_shared_memory *from)
{
	for (size_t i = 0; i < from->exports.n; i++) {
		if (has_export(to, &from->exports.at[i]))
			free(from->exports.at[i].freed_at);
		else
			*sw_vec_push(&to->exports) = from->exports.at[i];
	}
	from->exports.n = 0;
	for (size_t i = 0; i < from->imports.n; i++)
		if (!has_import(to, &from->imports.at[i]))
			*sw_vec_push(&to->imports) = from->imports.at[i];
	uses_join(&to->uses, &from->uses);
}

/* Lets another process stand for `old`, in exports, imports and uses. */
void sw_shared_rename(struct sw_shared_memory *shared, const struct sw_merged_rank *old, struct sw_merged_rank *new)
{
	for (size_t i = 0; i < shared->exports.n; i++)
		if (shared->exports.at[i].process == old)
			shared->exports.at[i].process = new;
	for (size_t i = 0; i < shared->imports.n; i++)
		if (shared->imports.at[i].process == old)
			shared->imports.at[i].process = new;
	for (size_t i = 0; i < shared->uses.n; i++)
		if (shared->uses.at[i].process == old)
			shared->uses.at[i].process = new;
}

/* Order of exports: by process, handle and end. */
static int by_export(const void *a, const void *b)
{
	const struct sw_shared_export *x = a, *y = b;
	int by = sw_merged_by_number(x->process->index, y->process->index);
	by = by ? by : sw_merged_by_number(x->hash, y->hash);
	return by ? by : sw_merged_by_number(x->freed_ns, y->freed_ns);
}

/* Order of imports: by process, handle and beginning. */
static int by_import(const void *a, const void *b)
{
	const struct sw_shared_import *x = a, *y = b;
	int by = sw_merged_by_number(x->process->index, y->process->index);
	by = by ? by : sw_merged_by_number(x->hash, y->hash);
	return by ? by : sw_merged_by_number(x->opened_ns, y->opened_ns);
}

/* Sorts all three arrays, so that findings do not depend on the order in which traces were added. */
static void sort_objects(struct sw_shared_memory *shared)
{
	if (shared->exports.n)
		qsort(shared->exports.at, shared->exports.n, sizeof *shared->exports.at, by_export);
	if (shared->imports.n)
		qsort(shared->imports.at, shared->imports.n, sizeof *shared->imports.at, by_import);
	uses_sort(&shared->uses);
}

void sw_shared_free(struct sw_shared_memory *shared)
{
	for (size_t i = 0; i < shared->exports.n; i++)
		free(shared->exports.at[i].freed_at);
	free(shared->exports.at);
	free(shared->imports.at);
	uses_free(&shared->uses);
	*shared = (struct sw_shared_memory){0};
}

/* ---- memory: findings -------------------------------------------------------------------------------------------- */

/* Did one process open what the other exported? */
static bool same_memory(const struct sw_shared_export *e, const struct sw_shared_import *i)
{
	return e->hash == i->hash && e->process != i->process && one_machine(e->process, i->process);
}

/* Freed too early for one that has it open. */
struct early {
	const struct sw_shared_export *freed;
	const struct sw_shared_import *open;
	uint64_t ns;			 /* until it was closed, or its process was last seen to use CUDA */
	const struct sw_merged_use *use; /* the first one after the free, NULL: none is known */
	uint64_t use_ns;		 /* after the free */
};

/* The first use by the process that has it open, after the free for certain: beyond what the clocks can be apart. */
static void find_use(const struct sw_shared_memory *shared, uint64_t freed_ns, struct early *early)
{
	const uint64_t since_ns = freed_ns + moment_error(early->freed->process, early->open->process);
	for (size_t i = 0; i < shared->uses.n; i++) {
		const struct sw_merged_use *u = &shared->uses.at[i];
		if (u->process != early->open->process || u->handle != early->open->hash || u->call_ns <= since_ns ||
		    u->call_ns < early->open->opened_ns ||
		    (early->open->closed_ns && u->call_ns > early->open->closed_ns))
			continue;
		if (!early->use || u->call_ns < early->use->call_ns) {
			early->use = u;
			early->use_ns = u->call_ns - freed_ns;
		}
	}
}

/* Was it freed while the other process had it open?  Fills `early`, with the first use after the free if there is
   one. */
static bool too_early(const struct sw_shared_memory *shared, const struct sw_shared_export *e,
		      const struct sw_shared_import *i, struct early *early)
{
	const uint64_t until_ns = i->closed_ns ? i->closed_ns : i->last_ns;
	const uint64_t freed_ns = moment(e->process, i->process, e->freed_ns);
	*early = (struct early){.freed = e, .open = i};
	if (!e->freed_ns || i->opened_ns >= freed_ns || until_ns <= freed_ns)
		return false;
	early->ns = until_ns - freed_ns;
	find_use(shared, freed_ns, early);
	return true;
}

/* Writes where it was freed, where it was used afterwards, and what to do. */
static void put_text_memory(FILE *out, const struct early *early)
{
	if (early->freed->freed_at) {
		fputs("  free:          ", out);
		sw_merged_name(out, early->freed->process);
		fprintf(out, " calls %s\n", early->freed->freed_at);
	}
	if (early->use) {
		fputs("  use:           ", out);
		sw_merged_name(out, early->open->process);
		fprintf(out, " calls %s, %.3f ms after the free had returned\n", early->use->what,
			(double)early->use_ns / 1e6);
	}
	fprintf(out,
		"  The free had returned %.3f ms before the other process %s.\n"
		"  fix:           free it when the other process has closed it (cudaIpcCloseMemHandle) and said so\n",
		(double)early->ns / 1e6,
		early->open->closed_ns ? "closed it" : "made its last call of CUDA; it never closed it");
}

/* SW504: reports that the exporter freed memory while another process still used it. */
static void report_early_free(struct sw_merged *merged, const struct early *early)
{
	const struct sw_merged_rank *by = early->freed->process, *other = early->open->process;
	const bool certain = early->use || early->ns > moment_error(by, other);
	const uint64_t sites = early->freed->freed_site ^ (early->use ? early->use->site : 0);
	struct sw_between *b =
		sw_between_add(merged, 504, certain ? SW_ERROR : SW_WARNING, certain ? "certain" : "likely",
			       sites ? sites : (uint64_t)by->rank << 32 | other->rank);
	size_t bytes;
	FILE *out = sw_memory_stream(&b->title, &bytes);
	sw_merged_name(out, by);
	fprintf(out, " frees %.1f MiB that ", (double)early->freed->bytes / 1048576);
	sw_merged_name(out, other);
	fputs(early->use ? " uses afterwards" : " has open", out);
	fclose(out);
	out = sw_memory_stream(&b->text, &bytes);
	put_text_memory(out, early);
	fclose(out);
	*sw_vec_push(&b->ranks) = early->freed->process;
	*sw_vec_push(&b->ranks) = early->open->process;
}

/* Finds memory that was freed too early: one finding for each pair of processes, if possible of memory that was used,
   as the others have the same cause. */
static void find_early(struct sw_merged *merged)
{
	const struct sw_shared_memory *shared = &merged->shared;
	SW_VEC(struct early) found = {0};
	struct sw_map by_pair = {0}; /* -> index + 1 */
	struct early early;
	for (size_t k = 0; k < shared->exports.n; k++)
		for (size_t n = 0; shared->exports.at[k].freed_ns && n < shared->imports.n; n++) {
			const struct sw_shared_export *e = &shared->exports.at[k];
			const struct sw_shared_import *i = &shared->imports.at[n];
			if (!same_memory(e, i) || is_ambiguous(shared, e->process, e->hash) ||
			    !too_early(shared, e, i, &early))
				continue;
			uint64_t *pair = sw_map_put(&by_pair, e->process->index << 32 | i->process->index);
			if (!*pair) {
				*sw_vec_push(&found) = early;
				*pair = found.n;
			} else if (early.use && !found.at[*pair - 1].use) {
				found.at[*pair - 1] = early;
			}
		}
	for (size_t i = 0; i < found.n; i++)
		report_early_free(merged, &found.at[i]);
	free(found.at);
	sw_map_free(&by_pair);
}

/* A gap that a count begins, if it is not 0; `one` is the whole text for a count of 1. */
static void add_count_gap(struct sw_merged *merged, size_t n, const char *one, const char *several)
{
	if (n)
		*sw_vec_push(&merged->gaps) = n == 1 ? sw_strdup(one) : sw_format("%zu %s", n, several);
}

/* Is the process here that exported what was opened? */
static bool has_exporter(const struct sw_shared_memory *shared, const struct sw_shared_import *i)
{
	for (size_t k = 0; k < shared->exports.n; k++)
		if (same_memory(&shared->exports.at[k], i))
			return true;
	return false;
}

/* Did a process here open any memory of this exporter? */
static bool is_opened(const struct sw_shared_memory *shared, const struct sw_merged_rank *exporter)
{
	for (size_t i = 0; i < shared->exports.n; i++)
		for (size_t k = 0; shared->exports.at[i].process == exporter && k < shared->imports.n; k++)
			if (same_memory(&shared->exports.at[i], &shared->imports.at[k]))
				return true;
	return false;
}

/* How many processes exported memory that none here opened.  Exports are sorted by process, so each is counted at its
   first one. */
size_t sw_shared_unopened(const struct sw_shared_memory *shared)
{
	const struct sw_merged_rank *last = NULL; /* they are sorted by process */
	size_t n = 0;
	for (size_t i = 0; i < shared->exports.n; i++) {
		const struct sw_merged_rank *exporter = shared->exports.at[i].process;
		n += exporter != last && !is_opened(shared, exporter);
		last = exporter;
	}
	return n;
}

/* Notes the uses that cannot be compared, and why. */
static void find_gaps(struct sw_merged *merged)
{
	const struct sw_shared_memory *shared = &merged->shared;
	size_t strangers = 0, ambiguous = 0;
	for (size_t i = 0; i < shared->imports.n; i++) {
		const struct sw_shared_import *import = &shared->imports.at[i];
		strangers += !has_exporter(shared, import);
		ambiguous += is_ambiguous(shared, import->process, import->hash);
	}
	add_count_gap(merged, strangers, "memory was opened that a process without a trace here exported",
		      "times memory was opened that a process without a trace here exported");
	add_count_gap(merged, ambiguous,
		      "memory was opened by a handle that two allocations had: its uses are not compared",
		      "times memory was opened by a handle that two allocations had: its uses are not compared");
}

/* Finds memory that was freed too early and uses that nothing orders.  Sorts first: findings are made in the order of
   exports and uses. */
void sw_between_shared(struct sw_merged *merged)
{
	sort_objects(&merged->shared);
	find_early(merged);
	between_uses(merged);
	find_gaps(merged);
}
