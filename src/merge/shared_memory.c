/* SPDX-License-Identifier: Apache-2.0 */
#include "merge/shared_memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "merge/between.h"
#include "merge/merged.h"

/* Two processes of a machine read one clock, but each converts ticks of the processor by a rate of its own. */
#define CLOCK_NS 1000000u

/* ---- one trace --------------------------------------------------------------------------------------------------- */

void sw_shared_begin(struct sw_shared_pass *pass, struct sw_shared_memory *shared, struct sw_merged_rank *process)
{
	*pass = (struct sw_shared_pass){.shared = shared,
					.process = process,
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

static void freed(struct sw_shared_pass *pass, uint64_t index, uint64_t now)
{
	if (index)
		pass->shared->exports.at[index - 1].freed_ns = now;
}

static void take_free(struct sw_shared_pass *pass, const struct sw_record *r, uint64_t now)
{
	const struct sw_rec_free *f = (const struct sw_rec_free *)(const void *)r->rec;
	if (r->rec->flags & SW_RF_END) {
		const struct sw_rec_end *end = (const struct sw_rec_end *)(const void *)r->rec;
		if (!r->failed)
			freed(pass, sw_map_get(&pass->freeing, end->begin_seq), now);
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
		freed(pass, index, now + r->dur_ns);
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
	sw_map_free(&pass->sizes);
	sw_map_free(&pass->exported);
	sw_map_free(&pass->opened);
	sw_map_free(&pass->freeing);
}

/* ---- several ----------------------------------------------------------------------------------------------------- */

static bool has_export(const struct sw_shared_memory *shared, const struct sw_shared_export *e)
{
	for (size_t i = 0; i < shared->exports.n; i++)
		if (shared->exports.at[i].process == e->process && shared->exports.at[i].hash == e->hash)
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

void sw_shared_join(struct sw_shared_memory *to, const struct sw_shared_memory *from)
{
	for (size_t i = 0; i < from->exports.n; i++)
		if (!has_export(to, &from->exports.at[i]))
			*sw_vec_push(&to->exports) = from->exports.at[i];
	for (size_t i = 0; i < from->imports.n; i++)
		if (!has_import(to, &from->imports.at[i]))
			*sw_vec_push(&to->imports) = from->imports.at[i];
}

void sw_shared_rename(struct sw_shared_memory *shared, const struct sw_merged_rank *old, struct sw_merged_rank *new)
{
	for (size_t i = 0; i < shared->exports.n; i++)
		if (shared->exports.at[i].process == old)
			shared->exports.at[i].process = new;
	for (size_t i = 0; i < shared->imports.n; i++)
		if (shared->imports.at[i].process == old)
			shared->imports.at[i].process = new;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_export(const void *a, const void *b)
{
	const struct sw_shared_export *x = a, *y = b;
	const int by = compare(x->process->index, y->process->index);
	return by ? by : compare(x->hash, y->hash);
}

static int by_import(const void *a, const void *b)
{
	const struct sw_shared_import *x = a, *y = b;
	int by = compare(x->process->index, y->process->index);
	by = by ? by : compare(x->hash, y->hash);
	return by ? by : compare(x->opened_ns, y->opened_ns);
}

void sw_shared_sort(struct sw_shared_memory *shared)
{
	if (shared->exports.n)
		qsort(shared->exports.at, shared->exports.n, sizeof *shared->exports.at, by_export);
	if (shared->imports.n)
		qsort(shared->imports.at, shared->imports.n, sizeof *shared->imports.at, by_import);
}

void sw_shared_free(struct sw_shared_memory *shared)
{
	free(shared->exports.at);
	free(shared->imports.at);
	*shared = (struct sw_shared_memory){0};
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

/* IPC handles are of one machine, and so are its clocks. */
static bool meet(const struct sw_shared_export *e, const struct sw_shared_import *i)
{
	return e->hash == i->hash && e->process != i->process && *e->process->boot &&
	       strcmp(e->process->boot, i->process->boot) == 0;
}

/* How long before the other process closed it, or was last seen to use CUDA with it open; 0: it was not. */
static uint64_t too_early(const struct sw_shared_export *e, const struct sw_shared_import *i)
{
	const uint64_t until = i->closed_ns ? i->closed_ns : i->last_ns;
	return e->freed_ns && i->opened_ns < e->freed_ns && until > e->freed_ns ? until - e->freed_ns : 0;
}

static void tell(struct sw_merged *merged, const struct sw_shared_export *e, const struct sw_shared_import *i,
		 uint64_t early_ns)
{
	const bool certain = early_ns > CLOCK_NS;
	struct sw_between *b =
		sw_between_add(merged, 504, certain ? SW_ERROR : SW_WARNING, certain ? "certain" : "likely",
			       (uint64_t)e->process->rank << 32 | i->process->rank);
	size_t bytes;
	FILE *out = sw_memory_stream(&b->title, &bytes);
	sw_merged_name(out, e->process);
	fprintf(out, " frees %.1f MiB that ", (double)e->bytes / 1048576);
	sw_merged_name(out, i->process);
	fputs(" has open", out);
	fclose(out);
	out = sw_memory_stream(&b->text, &bytes);
	fprintf(out,
		"  The free had returned %.3f ms before the other process %s.\n"
		"  fix:           free it when the other process has closed it (cudaIpcCloseMemHandle) and said so\n",
		(double)early_ns / 1e6, i->closed_ns ? "closed it" : "made its last call of CUDA; it never closed it");
	fclose(out);
	*sw_vec_push(&b->ranks) = e->process;
	*sw_vec_push(&b->ranks) = i->process;
}

/* One for each pair of processes: the others have the same cause. */
void sw_between_shared(struct sw_merged *merged)
{
	struct sw_shared_memory *shared = &merged->shared;
	struct sw_map told = {0};
	sw_shared_sort(shared);
	for (size_t k = 0; k < shared->exports.n; k++)
		for (size_t n = 0; shared->exports.at[k].freed_ns && n < shared->imports.n; n++) {
			const struct sw_shared_export *e = &shared->exports.at[k];
			const struct sw_shared_import *i = &shared->imports.at[n];
			const uint64_t early_ns = meet(e, i) ? too_early(e, i) : 0;
			uint64_t *pair =
				early_ns ? sw_map_put(&told, e->process->index << 32 | i->process->index) : NULL;
			if (!pair || *pair)
				continue;
			*pair = 1;
			tell(merged, e, i, early_ns);
		}
	sw_map_free(&told);
}
