/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/gather.h"

#include <stdlib.h>
#include <string.h>

#include "detect/kernels/kernel_code.h"

/* ---- the trace --------------------------------------------------------------------------------------------------- */

struct launched {
	uint32_t image;
	const char *name;
};
typedef SW_VEC(struct launched) launched_vec;

static struct sw_gathered_image *image_of(struct sw_gather *g, struct sw_map *index, uint32_t id, uint64_t t_ns)
{
	uint64_t *at = sw_map_put(index, id);
	if (!*at) {
		*sw_vec_push(&g->images) = (struct sw_gathered_image){.id = id, .t_ns = t_ns};
		*at = g->images.n;
	}
	return &g->images.at[*at - 1];
}

/* Images with the same content have the same code: so each of them needs what any of them launched. */
static void find_code(struct sw_gather *g, struct sw_map *codes, struct sw_gathered_image *image)
{
	const char *why;
	const struct sw_footprint_image *found = sw_codes_find(g->codes, image->id, image->t_ns, &why);
	if (!found)
		return;
	image->code = sw_map_ptr(codes, (uint64_t)(uintptr_t)found);
	if (image->code)
		return;
	image->code = sw_calloc(1, sizeof *image->code);
	image->code->image = found;
	*sw_vec_push(&g->all) = image->code;
	sw_map_put_ptr(codes, (uint64_t)(uintptr_t)found, image->code);
}

static void find_codes(struct sw_gather *g, const struct sw_map *index, const launched_vec *launched)
{
	struct sw_map codes = {0};
	for (size_t i = 0; i < g->images.n; i++)
		find_code(g, &codes, &g->images.at[i]);
	for (size_t i = 0; i < launched->n; i++) {
		const struct launched *l = &launched->at[i];
		struct sw_gathered_code *code = g->images.at[sw_map_get(index, l->image) - 1].code;
		if (code)
			*sw_map_put(&code->launched, sw_reduce_name(l->name, strlen(l->name))) = 1;
	}
	sw_map_free(&codes);
}

static void find_archs(struct sw_gather *g)
{
	const struct sw_trace_device *device;
	for (size_t i = 0; (device = sw_reader_device(g->reader, i)); i++) {
		uint32_t arch = device->major * 10 + device->minor;
		bool known = false;
		for (size_t k = 0; k < g->archs.n; k++)
			known |= g->archs.at[k] == arch;
		if (!known)
			*sw_vec_push(&g->archs) = arch;
	}
}

int sw_gather_open(struct sw_gather *g, const char *trace, struct sw_error *error)
{
	struct sw_map index = {0};
	launched_vec launched = {0};
	struct sw_record r;
	*g = (struct sw_gather){0};
	int rc = sw_reader_open(trace, &g->reader, error);
	if (rc)
		return rc;
	g->codes = sw_calloc(1, sizeof *g->codes);
	g->codes->reader = g->reader;
	g->names.reader = g->reader;
	while ((rc = sw_reader_next(g->reader, &r, error)) == 1) {
		/* Kernels are described when they are launched first, or put into a graph. */
		if (r.rec->kind != SW_REC_FUNCTION)
			continue;
		const struct sw_trace_function *f =
			sw_reader_function(g->reader, ((const struct sw_rec_function *)(const void *)r.rec)->id);
		if (!f || !f->image || !f->name[0])
			continue;
		image_of(g, &index, f->image, r.t_ns);
		*sw_vec_push(&launched) = (struct launched){f->image, f->name};
		g->kernels++;
	}
	find_codes(g, &index, &launched);
	find_archs(g);
	free(launched.at);
	sw_map_free(&index);
	return rc;
}

void sw_gather_close(struct sw_gather *g)
{
	for (size_t i = 0; i < g->all.n; i++) {
		sw_map_free(&g->all.at[i]->launched);
		free(g->all.at[i]->bytes);
		free(g->all.at[i]->why);
		free(g->all.at[i]);
	}
	free(g->all.at);
	free(g->images.at);
	free(g->frames.at);
	free(g->archs.at);
	sw_module_names_free(&g->names);
	if (!g->reader)
		return;
	sw_codes_free(g->codes);
	free(g->codes);
	sw_reader_close(g->reader);
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

void sw_gather_code(struct sw_gather *g, bool no_ptx, int level)
{
	for (size_t i = 0; i < g->all.n; i++) {
		struct sw_gathered_code *code = g->all.at[i];
		struct sw_reduce what = {&code->launched, g->archs.at, g->archs.n, no_ptx, level};
		struct sw_error error;
		size_t n;
		const void *bytes = code->image->bytes(code->image->arg, &n, &error);
		if (!bytes) {
			code->state = error.code == SW_E_FORMAT ? SW_PACKED_CHANGED : SW_PACKED_MISSING;
			code->why = sw_strdup(error.text);
			continue;
		}
		code->bytes = sw_reduce_image(&what, bytes, n, &code->n);
		code->hash = sw_hash_words(code->bytes, code->n);
	}
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* One file at one offset, whatever it was mapped as. */
static uint64_t frame_key(const struct sw_named_file *file, uint64_t offset)
{
	return sw_hash_u64(offset) ^ (uint64_t)(uintptr_t)file;
}

static void gather_frame(struct sw_gather *g, struct sw_map *known, uint64_t ip, uint64_t seq)
{
	const struct sw_trace_module *module = sw_reader_module(g->reader, ip, seq);
	if (!module)
		return;
	const struct sw_named_file *file = sw_module_names_file(&g->names, module);
	uint64_t offset = ip - module->base, key = frame_key(file, offset), *at;
	/* Different places with one hash take the keys that follow. */
	while (*(at = sw_map_put(known, key))) {
		const struct sw_gathered_frame *frame = &g->frames.at[*at - 1];
		if (frame->file == file && frame->offset == offset)
			return;
		key++;
	}
	*sw_vec_push(&g->frames) = (struct sw_gathered_frame){module, file, offset};
	*at = g->frames.n;
}

void sw_gather_frames(struct sw_gather *g)
{
	struct sw_map known = {0};
	const struct sw_trace_stack *stack;
	for (uint32_t i = 1; (stack = sw_reader_stack(g->reader, i)); i++)
		for (uint32_t k = 0; k < stack->depth; k++)
			gather_frame(g, &known, stack->ips[k], stack->seq);
	sw_map_free(&known);
}
