/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks: interned by each writer, unique over all writers here. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "reader/dictionary.h"

static bool same(const struct sw_trace_stack *a, const struct sw_trace_stack *b)
{
	return a->depth == b->depth && a->skipped == b->skipped && a->python_depth == b->python_depth &&
	       a->python_cut == b->python_cut && a->python_waiting == b->python_waiting &&
	       !memcmp(a->ips, b->ips, a->depth * sizeof *a->ips) &&
	       (!a->python_depth || !memcmp(a->python, b->python, a->python_depth * sizeof *a->python));
}

/* The index of this content, which is copied if it is new. */
static uint32_t intern(struct sw_dictionary *d, uint64_t key, const struct sw_trace_stack *wanted)
{
	uint64_t *index;
	/* Different stacks with one hash take the keys that follow. */
	while (*(index = sw_map_put(&d->stack_hashes, key)) && !same(d->stacks.at[*index - 1], wanted))
		key++;
	if (!*index) {
		struct sw_trace_stack *s = sw_arena_alloc(&d->arena, sizeof *s);
		uint64_t *ips = sw_arena_alloc(&d->arena, wanted->depth * sizeof *ips);
		struct sw_trace_python_frame *python = sw_arena_alloc(&d->arena, wanted->python_depth * sizeof *python);
		*s = *wanted;
		s->ips = memcpy(ips, wanted->ips, wanted->depth * sizeof *ips);
		s->python = wanted->python_depth ? memcpy(python, wanted->python, wanted->python_depth * sizeof *python)
						 : NULL;
		*sw_vec_push(&d->stacks) = s;
		*index = d->stacks.n;
	}
	return (uint32_t)*index;
}

const char *sw_take_stack(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_stack *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	size_t bytes = (size_t)r->depth * sizeof(uint64_t);
	const void *ips = sw_tail_take(&t, bytes);
	if (!ips)
		return "the stack is deeper than the record is long";
	if (!r->id)
		return "stack 0 means none";
	const struct sw_trace_stack wanted = {.depth = r->depth, .skipped = r->skipped, .ips = ips, .seq = w->key};
	sw_writer_define_stack(w, r->id, intern(d, sw_hash_bytes(SW_FNV_START, ips, bytes) + r->skipped, &wanted));
	d->cut_stacks += r->flags & SW_STACK_CUT;
	return NULL;
}

/* ---- Python ------------------------------------------------------------------------------------------------------ */

const char *sw_take_python_code(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_python_code *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const char *file = sw_tail_take(&t, r->file_bytes);
	const char *function = file ? sw_tail_take(&t, r->function_bytes) : NULL;
	if (!function)
		return "file and function are longer than the record";
	if (!r->id)
		return "code 0 means none";
	file = sw_arena_strndup(&d->arena, file, r->file_bytes);
	function = sw_arena_strndup(&d->arena, function, r->function_bytes);
	uint64_t key = sw_hash_bytes(sw_hash_bytes(SW_FNV_START, file, strlen(file) + 1), function, strlen(function));
	uint64_t *index;
	while (*(index = sw_map_put(&d->code_hashes, key)) &&
	       (strcmp(d->codes.at[*index - 1]->file, file) != 0 ||
		strcmp(d->codes.at[*index - 1]->function, function) != 0))
		key++;
	if (!*index) {
		struct sw_trace_python_frame *code = sw_arena_alloc(&d->arena, sizeof *code);
		*code = (struct sw_trace_python_frame){.file = file, .function = function};
		*sw_vec_push(&d->codes) = code;
		*index = d->codes.n;
	}
	sw_writer_define_code(w, r->id, (uint32_t)*index);
	return NULL;
}

/* Frames whose code is not known (a chunk was damaged) have neither file nor function. */
static struct sw_trace_python_frame frame_of(const struct sw_dictionary *d, const struct sw_writer_cursor *w,
					     const struct sw_python_frame *recorded)
{
	struct sw_trace_python_frame frame = {.file = "", .function = ""};
	const uint32_t index = sw_writer_code(w, recorded->code);
	if (index) {
		frame.file = d->codes.at[index - 1]->file;
		frame.function = d->codes.at[index - 1]->function;
		frame.line = recorded->line & ~SW_PYTHON_ENTRY;
	}
	frame.entry = recorded->line & SW_PYTHON_ENTRY ? 1 : 0;
	return frame;
}

const char *sw_take_python_stack(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_python_stack *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const struct sw_python_frame *recorded = sw_tail_take(&t, (size_t)r->depth * sizeof *recorded);
	if (!recorded)
		return "the Python stack is deeper than the record is long";
	if (!r->id)
		return "stack 0 means none";
	/* Of a stack without native frames the order of modules is of no interest. */
	struct sw_trace_stack wanted = {.ips = (const uint64_t[1]){0}, .seq = w->key};
	const uint32_t native = r->native ? sw_writer_stack(w, r->native) : 0;
	if (native)
		wanted = *d->stacks.at[native - 1];
	if (wanted.python_depth)
		return "a Python stack within a Python stack";
	struct sw_trace_python_frame *frames = sw_alloc((r->depth + 1) * sizeof *frames);
	for (uint32_t i = 0; i < r->depth; i++)
		frames[i] = frame_of(d, w, &recorded[i]);
	wanted.python = frames;
	wanted.python_depth = r->depth;
	wanted.python_cut = r->flags & SW_PYTHON_CUT;
	wanted.python_waiting = r->flags & SW_PYTHON_WAITING;
	const uint64_t key =
		sw_hash_bytes(sw_hash_bytes(SW_FNV_START, &native, sizeof native), frames, r->depth * sizeof *frames);
	sw_writer_define_stack(w, r->id, intern(d, key, &wanted));
	free(frames);
	return NULL;
}
