/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/libraries/library_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "detect/libraries/library_arguments.h"
#include "detect/libraries/library_operands.h"
#include "detect/model/model.h"

/* Calls that are distinguished by function, handle and workspace; later ones by function and handle, twice as many have
   no name. */
#define MAX_KINDS 65536u
/* Sets of operands: programs compute with the same again and again.  Those of later calls are not known. */
#define MAX_SETS 16384u

struct handle {
	uint32_t number;
	struct sw_library_setting works_in; /* what the program gave it */
	bool device_scalars;
	struct sw_library_plan plan;
};

struct sw_library_state {
	struct sw_map threads;	  /* thread -> struct sw_library_open, index 0: in no call */
	struct sw_map handles;	  /* library and handle -> struct handle */
	struct sw_map alike;	  /* function, handle and workspace -> index in judgement.library_calls + 1 */
	struct sw_map sets_alike; /* content -> number of a set */
	SW_VEC(struct sw_operand_set) sets;
	struct sw_arena arena; /* of sets */
	uint32_t numbers[SW_CUDA_LIBRARIES];
	uint32_t begun; /* calls */
};

struct sw_library_state *sw_library_new(void)
{
	return sw_calloc(1, sizeof(struct sw_library_state));
}

void sw_library_free(struct sw_library_state *library)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&library->threads, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	for (size_t i = 0; (i = sw_map_next(&library->handles, i, &slot));)
		free((void *)(uintptr_t)slot.value);
	sw_map_free(&library->threads);
	sw_map_free(&library->handles);
	sw_map_free(&library->alike);
	sw_map_free(&library->sets_alike);
	free(library->sets.at);
	sw_arena_free(&library->arena);
	free(library);
}

/* ---- a record's parts -------------------------------------------------------------------------------------------- */

struct parts {
	const struct sw_rec_library *rec;
	const uint64_t *word;
	const char *name; /* not terminated */
	uint32_t words, bytes;
};

/* False: a damaged record. */
static bool take_apart(const struct sw_record *r, struct parts *parts)
{
	const struct sw_rec_library *l = (const struct sw_rec_library *)(const void *)r->rec;
	const uint64_t room = l->h.words * 8u - sizeof *l;
	*parts = (struct parts){.rec = l, .word = (const uint64_t *)(l + 1), .words = l->words, .bytes = l->name_bytes};
	if (l->words > SW_LIBRARY_MAX_WORDS || l->words * sizeof(uint64_t) > room ||
	    l->name_bytes > room - l->words * sizeof(uint64_t))
		return false;
	parts->name = (const char *)(parts->word + l->words);
	return true;
}

static struct handle *handle_of(struct sw_model *m, enum sw_cuda_library library, uint64_t handle)
{
	if (!handle && library != SW_CUDA_CUFFT) /* whose plans are numbers from 0 */
		return NULL;
	const uint64_t key = sw_hash_u64(handle + (uint64_t)library * UINT64_C(0x9e3779b97f4a7c15));
	struct handle *known = sw_map_ptr(&m->library_calls->handles, key);
	if (known)
		return known;
	known = sw_calloc(1, sizeof *known);
	known->number = ++m->library_calls->numbers[library];
	sw_map_put_ptr(&m->library_calls->handles, key, known);
	return known;
}

static void forget(struct sw_model *m, enum sw_cuda_library library, uint64_t handle)
{
	const uint64_t key = sw_hash_u64(handle + (uint64_t)library * UINT64_C(0x9e3779b97f4a7c15));
	free(sw_map_ptr(&m->library_calls->handles, key));
	sw_map_delete(&m->library_calls->handles, key);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static uint32_t describe(struct sw_model *m, const struct parts *parts, enum sw_cuda_library library)
{
	const struct handle *handle =
		sw_library_makes(parts->name, parts->bytes) ? NULL : handle_of(m, library, parts->rec->handle);
	struct sw_library_call call = {
		.library = library,
		.handle = parts->rec->handle,
		.number = handle ? handle->number : 0,
	};
	struct sw_library_setting works_in;
	if (!sw_library_workspace_argument(parts->name, parts->bytes, parts->word, parts->words, &works_in) && handle)
		works_in = handle->works_in;
	if (m->j->library_calls.n < MAX_KINDS) {
		call.workspace = works_in.workspace;
		call.workspace_bytes = works_in.bytes;
	}
	const uint64_t words[] = {call.library, call.handle, call.number, call.workspace, call.workspace_bytes};
	const uint64_t key = sw_hash_bytes(sw_hash_words(words, sizeof words), parts->name, parts->bytes);
	const uint64_t *index = sw_map_find(&m->library_calls->alike, key);
	if (index)
		return (uint32_t)*index;
	if (m->j->library_calls.n >= 2 * MAX_KINDS)
		return 0;
	call.function = sw_model_name(m, parts->name, parts->bytes);
	*sw_vec_push(&m->j->library_calls) = call;
	*sw_map_put(&m->library_calls->alike, key) = m->j->library_calls.n;
	return (uint32_t)m->j->library_calls.n;
}

static struct sw_library_open *open_of(struct sw_model *m, uint32_t thread)
{
	struct sw_library_open *open = sw_map_ptr(&m->library_calls->threads, thread);
	if (!open) {
		open = sw_calloc(1, sizeof *open);
		sw_map_put_ptr(&m->library_calls->threads, thread, open);
	}
	return open;
}

static uint32_t keep_operands(struct sw_library_state *library, const struct sw_operands *operands)
{
	uint64_t key = operands->n;
	for (uint32_t i = 0; i < operands->n; i++) {
		const struct sw_range *range = &operands->at[i];
		const uint64_t words[] = {range->address, range->width,	 range->pitch, range->rows,
					  range->slice,	  range->slices, range->role};
		key = sw_hash_u64(key ^ sw_hash_words(words, sizeof words));
	}
	const uint64_t *number = sw_map_find(&library->sets_alike, key);
	if (number || !operands->n || library->sets.n >= MAX_SETS)
		return number ? (uint32_t)*number : 0;
	struct sw_range *at = sw_arena_alloc(&library->arena, operands->n * sizeof *at);
	memcpy(at, operands->at, operands->n * sizeof *at);
	*sw_vec_push(&library->sets) = (struct sw_operand_set){operands->n, at};
	*sw_map_put(&library->sets_alike, key) = library->sets.n;
	return (uint32_t)library->sets.n;
}

static void begin(struct sw_model *m, const struct sw_record *r, const struct parts *parts)
{
	struct sw_library_open *open = open_of(m, r->thread);
	const enum sw_cuda_library library = sw_library_by_name(parts->name, parts->bytes);
	open->index = describe(m, parts, library);
	const struct handle *handle =
		sw_library_makes(parts->name, parts->bytes) ? NULL : handle_of(m, library, parts->rec->handle);
	open->device_scalars = handle && handle->device_scalars;
	open->plan = handle ? handle->plan : (struct sw_library_plan){0};
	open->begin = r->seq;
	open->call = ++m->library_calls->begun;
	open->words = parts->words;
	open->allocations = 0;
	if (parts->words)
		memcpy(open->word, parts->word, parts->words * sizeof *parts->word);
	open->operands = 0;
	if (open->index) {
		const struct sw_operands operands =
			sw_library_operands(open, m->j->library_calls.at[open->index - 1].function);
		open->operands = keep_operands(m->library_calls, &operands);
	}
}

/* From an address to the end of its allocation; 0: there is none. */
static uint64_t rest_of_block(const struct sw_model *m, uint64_t address)
{
	uint64_t offset;
	const struct sw_block *block = sw_space_find(&m->space, address, &offset);
	return block ? block->bytes - offset : 0;
}

void sw_library_allocated(struct sw_model *m, uint32_t thread, uint64_t address, uint64_t bytes)
{
	struct sw_library_open *open =
		m->library_calls->threads.n ? sw_map_ptr(&m->library_calls->threads, thread) : NULL;
	if (open && open->index)
		open->made[open->allocations++ % SW_LIBRARY_MADE] = (struct sw_library_setting){address, bytes};
}

/*
 * The work area that a plan of cuFFT allocated for itself: its size is that of cufftGetSize(), which the recorder
 * called. cuFFT, "cufftSetStream()": "in order to overlap plans using single plan handle user needs to manage work area
 * buffers. Each concurrent plan execution needs it's exclusive work area."
 */
static struct sw_library_setting own_area(const struct sw_library_open *open, const struct parts *parts)
{
	const uint64_t bytes = parts->words ? parts->word[parts->words - 1] : 0;
	for (uint32_t i = 0; bytes && i < open->allocations && i < SW_LIBRARY_MADE; i++)
		if (open->made[i].bytes == bytes)
			return open->made[i];
	return (struct sw_library_setting){0};
}

/* cufftPlan1d(), 2d and 3d, and cufftMakePlan...: the size follows the plan, then the type, then the batch. */
static struct sw_library_plan plan_of(const struct parts *parts)
{
	static const char *const names[][2] = {{"cufftPlan1d", "cufftMakePlan1d"},
					       {"cufftPlan2d", "cufftMakePlan2d"},
					       {"cufftPlan3d", "cufftMakePlan3d"}};
	struct sw_library_plan plan = {.batch = 1};
	for (uint32_t rank = 1; rank <= 3; rank++) {
		if ((!sw_library_matches(names[rank - 1][0], parts->name, parts->bytes) &&
		     !sw_library_matches(names[rank - 1][1], parts->name, parts->bytes)) ||
		    parts->words < 4)
			continue;
		plan.rank = rank;
		for (uint32_t i = 0; i < rank; i++)
			plan.n[i] = (uint32_t)parts->word[1 + i];
		if (rank == 1)
			plan.batch = (uint32_t)parts->word[3];
	}
	return plan;
}

static void done(struct sw_model *m, const struct sw_record *r, const struct parts *parts)
{
	const enum sw_cuda_library library = sw_library_by_name(parts->name, parts->bytes);
	struct sw_library_setting setting;
	if (sw_library_makes(parts->name, parts->bytes))
		forget(m, library, parts->rec->handle);
	struct handle *handle = handle_of(m, library, parts->rec->handle);
	if (handle && sw_library_has_area(parts->name, parts->bytes)) {
		handle->works_in = own_area(open_of(m, r->thread), parts);
		handle->plan = plan_of(parts);
	}
	if (handle && parts->words > 1 && sw_library_matches("cublasSetPointerMode_v2", parts->name, parts->bytes))
		handle->device_scalars = parts->word[1] == 1; /* CUBLAS_POINTER_MODE_DEVICE */
	if (!handle || !sw_library_sets(parts->name, parts->bytes, parts->word, parts->words, &setting))
		return;
	handle->works_in = setting;
	if (setting.bytes == SW_LIBRARY_UNKNOWN)
		handle->works_in.bytes = rest_of_block(m, setting.workspace);
}

void sw_library_take(struct sw_model *m, const struct sw_record *r)
{
	struct parts parts;
	if (!take_apart(r, &parts))
		return;
	switch (parts.rec->op) {
	case SW_LIBRARY_BEGIN:
		begin(m, r, &parts);
		break;
	case SW_LIBRARY_RETURN:
		open_of(m, r->thread)->index = 0;
		break;
	case SW_LIBRARY_DONE:
		done(m, r, &parts);
		break;
	case SW_LIBRARY_GONE:
		forget(m, sw_library_by_name(parts.name, parts.bytes), parts.rec->handle);
		break;
	default: /* of a newer recorder */
		break;
	}
}

/* Calls may have returned, and workspaces may have been taken back. */
void sw_library_lost(struct sw_model *m)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&m->library_calls->threads, i, &slot));)
		((struct sw_library_open *)(uintptr_t)slot.value)->index = 0;
	for (size_t i = 0; (i = sw_map_next(&m->library_calls->handles, i, &slot));) {
		struct handle *handle = (void *)(uintptr_t)slot.value;
		*handle = (struct handle){.number = handle->number};
	}
}

const struct sw_library_open *sw_library_open_of(const struct sw_model *m, uint32_t thread)
{
	const struct sw_library_open *open =
		m->library_calls->threads.n ? sw_map_ptr(&m->library_calls->threads, thread) : NULL;
	return open && open->index ? open : NULL;
}

const struct sw_operand_set *sw_library_operand_set(const struct sw_model *m, uint32_t number)
{
	static const struct sw_operand_set none;
	return number && number <= m->library_calls->sets.n ? &m->library_calls->sets.at[number - 1] : &none;
}
