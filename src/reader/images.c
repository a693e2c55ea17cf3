/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/images.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "reader/dictionary.h"

void sw_image_found(struct sw_dictionary *d, struct sw_image_entry *e)
{
	if (!e->recorded || e->have == e->image.bytes)
		sw_packed_find(&d->packed, &e->image);
}

const char *sw_take_image(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_image *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *path = sw_tail_take(&t, r->path_bytes);
	(void)w;
	if (!path)
		return "the path of the image is longer than the record";
	if (sw_map_find(&d->images, r->id))
		return "an image of this number was described before";
	struct sw_image_entry *e = sw_arena_alloc(&d->arena, sizeof *e);
	e->image = (struct sw_trace_image){
		.id = r->id,
		.kind = r->kind,
		.bytes = r->bytes,
		.hash = r->hash,
		.file_offset = r->file_offset,
		.handle = r->handle,
		.path = sw_arena_strndup(&d->arena, path, r->path_bytes),
	};
	const struct sw_image_entry *twin = r->hash ? sw_map_ptr(&d->image_hashes, r->hash) : NULL;
	if (twin && twin->image.bytes == r->bytes)
		e->image.data = twin->image.data;
	e->recorded = r->data == 1;
	sw_map_put_ptr(&d->images, r->id, e);
	sw_image_found(d, e);
	return NULL;
}

static bool content_is(uint64_t hash, const void *data, uint64_t bytes)
{
	return sw_hash_words(data, bytes) == hash || sw_hash_bytes(SW_FNV_START, data, bytes) == hash;
}

static void complete(struct sw_dictionary *d, struct sw_image_entry *e)
{
	struct sw_trace_image *image = &e->image;
	if (image->hash && !content_is(image->hash, e->data, e->have))
		return; /* not what was loaded: better no content than a wrong one */
	image->data = e->data;
	if (image->hash)
		sw_map_put_ptr(&d->image_hashes, image->hash, e);
}

/* Room grows with what arrived, not with what the IMAGE record claims: a damaged trace cannot make the command allocate
   much. */
const char *sw_take_image_data(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_image_data *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *bytes = sw_tail_take(&t, r->bytes);
	struct sw_image_entry *e = sw_map_ptr(&d->images, r->id);
	(void)w;
	if (!bytes)
		return "the piece of the image is longer than the record";
	if (!e)
		return "a piece of an image that was not described";
	if (e->image.data)
		return NULL;
	if (r->offset != e->have || r->bytes > e->image.bytes - e->have || (e->have && !e->data))
		return "the piece of the image does not follow the one before it";
	if (e->have + r->bytes > e->room) {
		e->room = 2 * (e->have + r->bytes);
		if (e->room > e->image.bytes)
			e->room = e->image.bytes;
		e->data = sw_realloc(e->data, 1, e->room);
	}
	if (r->bytes)
		memcpy(e->data + e->have, bytes, r->bytes);
	e->have += r->bytes;
	if (e->have && e->have == e->image.bytes)
		complete(d, e);
	return NULL;
}

/* Counted as if the bytes were there: the image is known neither earlier nor later than it was before packing. */
const char *sw_take_pack_left_out(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_image_data *r = (const void *)rec;
	struct sw_image_entry *e = sw_map_ptr(&d->images, r->id);
	(void)w;
	if (!e)
		return "a piece of an image that was not described";
	if (e->data || r->offset != e->have || r->bytes > e->image.bytes - e->have)
		return "the piece of the image does not follow the one before it";
	e->have += r->bytes;
	sw_image_found(d, e);
	return NULL;
}

static void free_images(struct sw_dictionary *d)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&d->images, i, &slot));)
		free(((struct sw_image_entry *)(uintptr_t)slot.value)->data);
	sw_map_free(&d->images);
}

void sw_dictionary_free(struct sw_dictionary *d)
{
	free_images(d);
	sw_packed_free(&d->packed);
	sw_map_free(&d->image_hashes);
	sw_map_free(&d->threads);
	sw_map_free(&d->tids);
	sw_map_free(&d->thread_names);
	sw_map_free(&d->functions);
	sw_map_free(&d->stack_hashes);
	sw_map_free(&d->code_hashes);
	free(d->codes.at);
	sw_map_free(&d->cudarts);
	free(d->apis.at);
	free(d->stacks.at);
	free(d->modules.at);
	free(d->devices.at);
	free(d->notices.at);
	free(d->calls.at);
	sw_arena_free(&d->arena);
}
