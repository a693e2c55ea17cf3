/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "pack/records.h"

#include <stdlib.h>
#include <string.h>

void sw_pack_put_head(struct sw_pack_chunks *chunks, const char *version)
{
	struct sw_rec_pack *r = sw_pack_record(chunks, SW_REC_PACK, sizeof *r + strlen(version));
#ifndef HAVE_LIBDW
	r->flags = SW_PACK_NO_NAMES;
#endif
	r->version_bytes = (uint32_t)strlen(version);
	memcpy(r + 1, version, strlen(version));
}

static void complain(struct sw_pack_sums *sums, char *text)
{
	for (size_t i = 0; i < sums->unusable.n; i++)
		if (!strcmp(sums->unusable.at[i], text)) {
			free(text);
			return;
		}
	*sw_vec_push(&sums->unusable) = text;
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

static void put_data(struct sw_pack_chunks *chunks, uint32_t image, const struct sw_gathered_code *code)
{
	size_t most = (sw_pack_record_max(chunks) - sizeof(struct sw_rec_image_data)) & ~(size_t)7;
	for (size_t at = 0; at < code->n; at += most) {
		size_t bytes = code->n - at < most ? code->n - at : most;
		struct sw_rec_image_data *r = sw_pack_record(chunks, SW_REC_PACK_DATA, sizeof *r + bytes);
		r->id = image;
		r->bytes = (uint32_t)bytes;
		r->offset = at;
		memcpy(r + 1, (const char *)code->bytes + at, bytes);
	}
}

static void put_image(struct sw_pack_chunks *chunks, uint32_t image, struct sw_gathered_code *code)
{
	size_t why = code->why ? strlen(code->why) : 0;
	struct sw_rec_pack_code *r = sw_pack_record(chunks, SW_REC_PACK_CODE, sizeof *r + why);
	r->image = image;
	r->state = code->state;
	r->bytes = code->n;
	r->hash = code->hash;
	r->data = !code->bytes ? 0 : code->written ? 2 : 1;
	r->why_bytes = (uint32_t)why;
	if (why)
		memcpy(r + 1, code->why, why);
	if (r->data == 1)
		put_data(chunks, image, code);
	code->written = true;
}

void sw_pack_put_code(struct sw_pack_chunks *chunks, struct sw_gather *g, struct sw_pack_sums *sums)
{
	for (size_t i = 0; i < g->images.n; i++)
		if (g->images.at[i].code)
			put_image(chunks, g->images.at[i].id, g->images.at[i].code);
	for (size_t i = 0; i < g->all.n; i++) {
		sums->code_bytes += g->all.at[i]->n;
		if (g->all.at[i]->why)
			complain(sums, sw_strdup(g->all.at[i]->why));
	}
	sums->kernels = g->kernels;
}

/* ---- functions and lines ----------------------------------------------------------------------------------------- */

struct frame_out {
	struct sw_pack_chunks *chunks;
	uint64_t offset;
	uint32_t module;
};

static void put_place(void *arg, const struct sw_object_place *place)
{
	const struct frame_out *f = arg;
	size_t symbol = place->symbol ? strlen(place->symbol) : 0, file = place->file ? strlen(place->file) : 0;
	size_t room = sw_pack_record_max(f->chunks) - sizeof(struct sw_rec_pack_frame);
	/* Half a name is worse than none. */
	if (symbol > room)
		symbol = 0;
	if (file > room - symbol)
		file = 0;
	struct sw_rec_pack_frame *r = sw_pack_record(f->chunks, SW_REC_PACK_FRAME, sizeof *r + symbol + file);
	r->offset = f->offset;
	r->module = f->module;
	r->line = place->line > 0 ? (uint32_t)place->line : 0;
	r->flags = place->inlined ? SW_PACK_INLINED : 0;
	r->symbol_bytes = (uint32_t)symbol;
	r->file_bytes = (uint32_t)file;
	if (symbol)
		memcpy(r + 1, place->symbol, symbol);
	if (file)
		memcpy((char *)(r + 1) + symbol, place->file, file);
}

static enum sw_pack_state packed_state(enum sw_object_state state)
{
	return state == SW_OBJECT_USABLE    ? SW_PACKED_WHOLE
	       : state == SW_OBJECT_CHANGED ? SW_PACKED_CHANGED
					    : SW_PACKED_MISSING;
}

static void put_module(struct sw_pack_chunks *chunks, uint32_t number, const struct sw_named_file *file)
{
	size_t id = (file->build_id_bytes + 7u) & ~(size_t)7, path = strlen(file->path);
	struct sw_rec_pack_module *r;
	if (sizeof *r + id + path > sw_pack_record_max(chunks))
		return; /* of a trace with larger chunks than this one */
	r = sw_pack_record(chunks, SW_REC_PACK_MODULE, sizeof *r + id + path);
	r->module = number;
	r->state = packed_state(file->state);
	r->build_id_bytes = file->build_id_bytes;
	r->path_bytes = (uint32_t)path;
	if (file->build_id_bytes)
		memcpy(r + 1, file->build_id, file->build_id_bytes);
	memcpy((char *)(r + 1) + id, file->path, path);
}

static void complain_of(struct sw_pack_sums *sums, const struct sw_named_file *file)
{
	if (file->path[0] == '/' && file->state != SW_OBJECT_USABLE)
		complain(sums, sw_format("no names: %s %s", file->path,
					 file->state == SW_OBJECT_CHANGED ? "is not the file that was loaded"
									  : "is missing, or not readable"));
}

void sw_pack_put_frames(struct sw_pack_chunks *chunks, struct sw_gather *g, struct sw_pack_sums *sums)
{
	struct sw_map numbers = {0};
	for (size_t i = 0; i < g->frames.n; i++) {
		const struct sw_gathered_frame *frame = &g->frames.at[i];
		uint64_t *number = sw_map_put(&numbers, (uint64_t)(uintptr_t)frame->file);
		if (!*number) {
			*number = numbers.n;
			put_module(chunks, (uint32_t)*number, frame->file);
			complain_of(sums, frame->file);
		}
		struct frame_out out = {chunks, frame->offset, (uint32_t)*number};
		sw_module_names_at(&g->names, frame->module, frame->module->base + frame->offset, put_place, &out);
	}
	sums->frames = g->frames.n;
	sums->modules = numbers.n;
	sw_map_free(&numbers);
}
