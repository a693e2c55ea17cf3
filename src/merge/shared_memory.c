/* SPDX-License-Identifier: Apache-2.0 */
#include "merge/shared_memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "merge/between.h"
#include "merge/merged.h"
#include "report/symbols/places.h"

/* ---- one trace --------------------------------------------------------------------------------------------------- */

void sw_shared_begin(struct sw_shared_pass *pass, struct sw_shared_memory *shared, struct sw_merged_rank *process,
		     struct sw_report *report)
{
	*pass = (struct sw_shared_pass){.shared = shared,
					.process = process,
					.report = report,
					.first_export = shared->exports.n,
					.first_import = shared->imports.n};
}

/* The handle is of the whole allocation, also where a pointer into it was asked for. */
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

/* `r`: the free, or the end of one that the driver waited in. */
static void freed(struct sw_shared_pass *pass, uint64_t index, const struct sw_record *r, uint64_t now)
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
	e->freed_at = sw_merged_call_text(pass->report, &call);
	e->freed_site = sw_place_hash(&pass->report->names, &call);
}

static void take_free(struct sw_shared_pass *pass, const struct sw_record *r, uint64_t now)
{
	const struct sw_rec_free *f = (const struct sw_rec_free *)(const void *)r->rec;
	if (r->rec->flags & SW_RF_END) {
		const struct sw_rec_end *end = (const struct sw_rec_end *)(const void *)r->rec;
		if (!r->failed)
			freed(pass, sw_map_get(&pass->freeing, end->begin_seq), r, now);
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
		freed(pass, index, r, now + r->dur_ns);
	sw_map_delete(&pass->exported, f->address);
	sw_map_delete(&pass->sizes, f->address);
}

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

void sw_shared_end(struct sw_shared_pass *pass, uint64_t last_ns)
{
	for (size_t i = pass->first_import; i < pass->shared->imports.n; i++)
		pass->shared->imports.at[i].last_ns = last_ns;
	sw_merged_uses_take(&pass->shared->uses, pass->process, pass->report);
	sw_map_free(&pass->sizes);
	sw_map_free(&pass->exported);
	sw_map_free(&pass->opened);
	sw_map_free(&pass->freeing);
}

/* ---- several ----------------------------------------------------------------------------------------------------- */

static bool has_export(const struct sw_shared_memory *shared, const struct sw_shared_export *e)
{
	for (size_t i = 0; i < shared->exports.n; i++)
		if (shared->exports.at[i].process == e->process && shared->exports.at[i].hash == e->hash &&
		    shared->exports.at[i].freed_ns == e->freed_ns)
			return true;
	return false;
}

static bool has_import(const struct sw_shared_memory *shared, const struct sw_shared_import *e)
{
	for (size_t i = 0; i < shared->imports.n; i++)
		if (shared->imports.at[i].process == e->process && shared->imports.at[i].hash == e->hash &&
		    shared->imports.at[i].opened_ns == e->opened_ns)
			return true;
	return false;
}

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
	sw_merged_uses_join(&to->uses, &from->uses);
}

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

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_export(const void *a, const void *b)
{
	const struct sw_shared_export *x = a, *y = b;
	int by = compare(x->process->index, y->process->index);
	by = by ? by : compare(x->hash, y->hash);
	return by ? by : compare(x->freed_ns, y->freed_ns);
}

static int by_import(const void *a, const void *b)
{
	const struct sw_shared_import *x = a, *y = b;
	int by = compare(x->process->index, y->process->index);
	by = by ? by : compare(x->hash, y->hash);
	return by ? by : compare(x->opened_ns, y->opened_ns);
}

static void sort_objects(struct sw_shared_memory *shared)
{
	if (shared->exports.n)
		qsort(shared->exports.at, shared->exports.n, sizeof *shared->exports.at, by_export);
	if (shared->imports.n)
		qsort(shared->imports.at, shared->imports.n, sizeof *shared->imports.at, by_import);
	sw_merged_uses_sort(&shared->uses);
}

void sw_shared_free(struct sw_shared_memory *shared)
{
	for (size_t i = 0; i < shared->exports.n; i++)
		free(shared->exports.at[i].freed_at);
	free(shared->exports.at);
	free(shared->imports.at);
	sw_merged_uses_free(&shared->uses);
	*shared = (struct sw_shared_memory){0};
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

/* IPC handles are of one machine, and so are its clocks. */
static bool one_machine(const struct sw_merged_rank *a, const struct sw_merged_rank *b)
{
	return *a->boot && strcmp(a->boot, b->boot) == 0;
}

bool sw_shared_ambiguous(const struct sw_shared_memory *shared, const struct sw_merged_rank *process, uint64_t handle)
{
	size_t exports = 0;
	for (size_t i = 0; i < shared->exports.n; i++)
		exports += shared->exports.at[i].hash == handle && one_machine(shared->exports.at[i].process, process);
	return exports > 1;
}

static bool meet(const struct sw_shared_export *e, const struct sw_shared_import *i)
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

static void find_use(const struct sw_shared_memory *shared, uint64_t freed_ns, struct early *early)
{
	const uint64_t since_ns = freed_ns + sw_shared_moment_error(early->freed->process, early->open->process);
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

/* False: it was not. */
static bool too_early(const struct sw_shared_memory *shared, const struct sw_shared_export *e,
		      const struct sw_shared_import *i, struct early *early)
{
	const uint64_t until_ns = i->closed_ns ? i->closed_ns : i->last_ns;
	const uint64_t freed_ns = sw_shared_moment(e->process, i->process, e->freed_ns);
	*early = (struct early){.freed = e, .open = i};
	if (!e->freed_ns || i->opened_ns >= freed_ns || until_ns <= freed_ns)
		return false;
	early->ns = until_ns - freed_ns;
	find_use(shared, freed_ns, early);
	return true;
}

static void put_text(FILE *out, const struct early *early)
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

static void report_early_free(struct sw_merged *merged, const struct early *early)
{
	const struct sw_merged_rank *by = early->freed->process, *other = early->open->process;
	const bool certain = early->use || early->ns > sw_shared_moment_error(by, other);
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
	put_text(out, early);
	fclose(out);
	*sw_vec_push(&b->ranks) = early->freed->process;
	*sw_vec_push(&b->ranks) = early->open->process;
}

/* One finding for each pair of processes, if possible of memory that was used: the others have the same cause. */
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
			if (!meet(e, i) || sw_shared_ambiguous(shared, e->process, e->hash) ||
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

static void gap(struct sw_merged *merged, size_t n, const char *one, const char *several)
{
	if (n)
		*sw_vec_push(&merged->gaps) = n == 1 ? sw_strdup(one) : sw_format("%zu %s", n, several);
}

static bool has_exporter(const struct sw_shared_memory *shared, const struct sw_shared_import *i)
{
	for (size_t k = 0; k < shared->exports.n; k++)
		if (meet(&shared->exports.at[k], i))
			return true;
	return false;
}

static bool is_opened(const struct sw_shared_memory *shared, const struct sw_merged_rank *exporter)
{
	for (size_t i = 0; i < shared->exports.n; i++)
		for (size_t k = 0; shared->exports.at[i].process == exporter && k < shared->imports.n; k++)
			if (meet(&shared->exports.at[i], &shared->imports.at[k]))
				return true;
	return false;
}

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

/* What cannot be compared, and why. */
static void find_gaps(struct sw_merged *merged)
{
	const struct sw_shared_memory *shared = &merged->shared;
	size_t strangers = 0, ambiguous = 0;
	for (size_t i = 0; i < shared->imports.n; i++) {
		const struct sw_shared_import *import = &shared->imports.at[i];
		strangers += !has_exporter(shared, import);
		ambiguous += sw_shared_ambiguous(shared, import->process, import->hash);
	}
	gap(merged, strangers, "memory was opened that a process without a trace here exported",
	    "times memory was opened that a process without a trace here exported");
	gap(merged, ambiguous, "memory was opened by a handle that two allocations had: its uses are not compared",
	    "times memory was opened by a handle that two allocations had: its uses are not compared");
}

void sw_between_shared(struct sw_merged *merged)
{
	sort_objects(&merged->shared);
	find_early(merged);
	sw_between_uses(merged);
	find_gaps(merged);
}
