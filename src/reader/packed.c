/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/packed.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "reader/dictionary.h"
#include "reader/images.h"

struct sw_packed_code {
	uint32_t state;
	uint64_t bytes, hash;
	const char *why;
	const unsigned char *data; /* once it is whole and its hash is right */
	unsigned char *owned;
	uint64_t have, room; /* bytes of owned */
};

const char *sw_take_pack(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_pack *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const char *version = sw_tail_take(&t, r->version_bytes);
	(void)w;
	if (!version)
		return "the version is longer than the record";
	d->packed.version = sw_arena_strndup(&d->arena, version, r->version_bytes);
	return NULL;
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

/* Some images are described before the code is. */
static void note_image(struct sw_dictionary *d, uint32_t id)
{
	struct sw_image_entry *e = sw_map_ptr(&d->images, id);
	if (e)
		sw_image_found(d, e);
}

const char *sw_take_pack_code(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_pack_code *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const char *why = sw_tail_take(&t, r->why_bytes);
	(void)w;
	if (!why)
		return "the reason is longer than the record";
	if (sw_map_find(&d->packed.codes, r->image))
		return "the code of this image was described before";
	struct sw_packed_code *code = sw_arena_alloc(&d->arena, sizeof *code);
	*code = (struct sw_packed_code){.state = r->state, .bytes = r->bytes, .hash = r->hash};
	code->why = sw_arena_strndup(&d->arena, why, r->why_bytes);
	const struct sw_packed_code *twin = r->data == 2 ? sw_map_ptr(&d->packed.hashes, r->hash) : NULL;
	if (twin && twin->bytes == code->bytes)
		code->data = twin->data;
	sw_map_put_ptr(&d->packed.codes, r->image, code);
	note_image(d, r->image);
	return NULL;
}

static void code_is_complete(struct sw_dictionary *d, uint32_t id, struct sw_packed_code *code)
{
	/* Other code than what was packed would give wrong certainties: better none. */
	if (sw_hash_words(code->owned, code->have) != code->hash)
		return;
	code->data = code->owned;
	sw_map_put_ptr(&d->packed.hashes, code->hash, code);
	note_image(d, id);
}

/* Room grows with what arrived, as for IMAGE_DATA. */
const char *sw_take_pack_data(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_image_data *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *bytes = sw_tail_take(&t, r->bytes);
	struct sw_packed_code *code = sw_map_ptr(&d->packed.codes, r->id);
	(void)w;
	if (!bytes)
		return "the piece of code is longer than the record";
	if (!code || code->data)
		return code ? NULL : "a piece of code that was not described";
	if (r->offset != code->have || r->bytes > code->bytes - code->have)
		return "the piece of code does not follow the one before it";
	if (code->have + r->bytes > code->room) {
		uint64_t room = 2 * (code->have + r->bytes);
		code->room = room > code->bytes ? code->bytes : room;
		code->owned = sw_realloc(code->owned, 1, code->room);
	}
	if (r->bytes)
		memcpy(code->owned + code->have, bytes, r->bytes);
	code->have += r->bytes;
	if (code->have && code->have == code->bytes)
		code_is_complete(d, r->id, code);
	return NULL;
}

void sw_packed_find(const struct sw_packed *packed, struct sw_trace_image *image)
{
	const struct sw_packed_code *code = sw_map_ptr(&packed->codes, image->id);
	if (!code)
		return;
	image->code_why = code->why;
	image->code_state = code->state;
	if (code->data) {
		image->code = code->data;
		image->code_bytes = code->bytes;
		image->code_hash = code->hash;
	} else if (code->state == SW_PACKED_WHOLE) {
		image->code_why = "unreadable: the packed code is damaged";
	}
}

/* ---- functions and lines ----------------------------------------------------------------------------------------- */

struct place {
	struct sw_trace_frame *first, *last;
};

static uint64_t file_key(const char *path, const uint8_t *build_id, uint32_t bytes)
{
	return sw_hash_bytes(sw_hash_bytes(SW_FNV_START, path, strlen(path) + 1), build_id, bytes);
}

const char *sw_take_pack_module(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_pack_module *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *build_id = sw_tail_take(&t, ((size_t)r->build_id_bytes + 7) & ~(size_t)7);
	const char *path = build_id ? sw_tail_take(&t, r->path_bytes) : NULL;
	(void)w;
	if (!path)
		return "build id and path of the object are longer than the record";
	if (sw_map_find(&d->packed.modules, r->module))
		return "an object of this number was described before";
	struct sw_trace_names *names = sw_arena_alloc(&d->arena, sizeof *names);
	uint8_t *id = sw_arena_alloc(&d->arena, r->build_id_bytes);
	memcpy(id, build_id, r->build_id_bytes);
	*names = (struct sw_trace_names){
		.state = r->state,
		.path = sw_arena_strndup(&d->arena, path, r->path_bytes),
		.build_id = id,
		.build_id_bytes = r->build_id_bytes,
		.places = sw_arena_alloc(&d->arena, sizeof(struct sw_map)),
	};
	*names->places = (struct sw_map){0};
	sw_map_put_ptr(&d->packed.modules, r->module, names);
	sw_map_put_ptr(&d->packed.files, file_key(names->path, id, r->build_id_bytes), names);
	return NULL;
}

const char *sw_take_pack_frame(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_pack_frame *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const char *symbol = sw_tail_take(&t, r->symbol_bytes), *file = symbol ? sw_tail_take(&t, r->file_bytes) : NULL;
	struct sw_trace_names *names = sw_map_ptr(&d->packed.modules, r->module);
	(void)w;
	if (!file)
		return "symbol and file are longer than the record";
	if (!names)
		return "a frame of an object that was not described";
	struct sw_trace_frame *frame = sw_arena_alloc(&d->arena, sizeof *frame);
	*frame = (struct sw_trace_frame){
		.symbol = r->symbol_bytes ? sw_arena_strndup(&d->arena, symbol, r->symbol_bytes) : NULL,
		.file = r->file_bytes ? sw_arena_strndup(&d->arena, file, r->file_bytes) : NULL,
		.line = r->line > INT32_MAX ? 0 : r->line,
		.inlined = r->flags & SW_PACK_INLINED,
	};
	struct place *place = sw_map_ptr(names->places, r->offset);
	if (!place) {
		place = sw_arena_alloc(&d->arena, sizeof *place);
		*place = (struct place){0};
		sw_map_put_ptr(names->places, r->offset, place);
	}
	*(place->last ? &place->last->next : &place->first) = frame;
	place->last = frame;
	return NULL;
}

const struct sw_trace_frame *sw_trace_names_at(const struct sw_trace_names *names, uint64_t offset)
{
	const struct place *place = sw_map_ptr(names->places, offset);
	return place ? place->first : NULL;
}

const struct sw_trace_names *sw_packed_names(const struct sw_packed *packed, const struct sw_trace_module *module)
{
	const struct sw_trace_names *names =
		sw_map_ptr(&packed->files, file_key(module->path, module->build_id, module->build_id_bytes));
	uint32_t bytes = module->build_id_bytes;
	bool same = names && !strcmp(names->path, module->path) && names->build_id_bytes == bytes &&
		    (!bytes || !memcmp(names->build_id, module->build_id, bytes));
	return same ? names : NULL;
}

/* ---- tables of calibrate ----------------------------------------------------------------------------------------- */

/* One a kind of GPU: no machine has as many. */
#define MOST_TABLES 64u

const char *sw_take_pack_table(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_pack_table *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const char *gpu = sw_tail_take(&t, r->gpu_bytes), *path = gpu ? sw_tail_take(&t, r->path_bytes) : NULL;
	const char *text = path ? sw_tail_take(&t, r->text_bytes) : NULL;
	(void)w;
	if (!text)
		return "the table is longer than the record";
	if (d->packed.tables.n == MOST_TABLES)
		return "more tables than a machine can have";
	struct sw_trace_table *table = sw_arena_alloc(&d->arena, sizeof *table);
	*table = (struct sw_trace_table){sw_arena_strndup(&d->arena, gpu, r->gpu_bytes),
					 sw_arena_strndup(&d->arena, path, r->path_bytes),
					 sw_arena_strndup(&d->arena, text, r->text_bytes), r->text_bytes};
	*sw_vec_push(&d->packed.tables) = table;
	return NULL;
}

const struct sw_trace_table *sw_packed_table(const struct sw_packed *packed, const char *gpu)
{
	for (size_t i = 0; i < packed->tables.n; i++)
		if (!strcmp(packed->tables.at[i]->gpu, gpu))
			return packed->tables.at[i];
	return NULL;
}

void sw_packed_free(struct sw_packed *packed)
{
	free(packed->tables.at);
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&packed->codes, i, &slot));)
		free(((struct sw_packed_code *)(uintptr_t)slot.value)->owned);
	for (size_t i = 0; (i = sw_map_next(&packed->modules, i, &slot));)
		sw_map_free(((struct sw_trace_names *)(uintptr_t)slot.value)->places);
	sw_map_free(&packed->codes);
	sw_map_free(&packed->hashes);
	sw_map_free(&packed->modules);
	sw_map_free(&packed->files);
}
