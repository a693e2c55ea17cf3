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
	*e = (struct sw_image_entry){0};
	e->image = (struct sw_trace_image){
		.id = r->id,
		.kind = r->kind,
		.bytes = r->bytes,
		.hash = r->hash,
		.file_offset = r->file_offset,
		.handle = r->handle,
		.path = sw_arena_strndup(&d->arena, path, r->path_bytes),
	};
	struct sw_image_entry *twin = r->hash ? sw_map_ptr(&d->image_hashes, r->hash) : NULL;
	if (twin && twin->image.bytes == r->bytes)
		e->twin = twin;
	e->recorded = r->data == 1;
	sw_map_put_ptr(&d->images, r->id, e);
	sw_image_found(d, e);
	return NULL;
}

static bool content_is(uint64_t hash, const void *data, uint64_t bytes)
{
	return sw_hash_words(data, bytes) == hash || sw_hash_bytes(SW_FNV_START, data, bytes) == hash;
}

const char *sw_take_image_data(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_image_data *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	struct sw_image_entry *e = sw_map_ptr(&d->images, r->id);
	if (!sw_tail_take(&t, r->bytes))
		return "the piece of the image is longer than the record";
	if (!e)
		return "a piece of an image that was not described";
	if (e->twin || e->whole)
		return NULL;
	if (r->offset != e->have || r->bytes > e->image.bytes - e->have || (e->have && !e->piece.n))
		return "the piece of the image does not follow the one before it";
	if (r->bytes)
		*sw_vec_push(&e->piece) = (struct sw_image_piece){sw_writer_offset(w) + sizeof *r, r->bytes};
	e->have += r->bytes;
	e->whole = e->have && e->have == e->image.bytes;
	if (e->whole && e->image.hash)
		sw_map_put_ptr(&d->image_hashes, e->image.hash, e);
	return NULL;
}

static bool read_pieces(const struct sw_image_entry *e, const struct sw_source *source, unsigned char *to)
{
	for (size_t i = 0; i < e->piece.n; i++) {
		const struct sw_image_piece *piece = &e->piece.at[i];
		size_t got = 0;
		if (sw_source_read(source, piece->offset, to, piece->bytes, &got, NULL) || got < piece->bytes)
			return false;
		to += piece->bytes;
	}
	return true;
}

const void *sw_image_content(struct sw_image_entry *e, const struct sw_source *source)
{
	e = e->twin ? e->twin : e;
	if (e->read || !e->whole)
		return e->content;
	e->read = true;
	/* As much as arrived, not what the IMAGE record claims: a damaged trace cannot make the command allocate much.
	 */
	void *content = sw_alloc(e->have);
	/* What is not what was loaded: better no content than a wrong one. */
	if (read_pieces(e, source, content) && (!e->image.hash || content_is(e->image.hash, content, e->have)))
		e->content = content;
	else
		free(content);
	return e->content;
}

/* Counted as if the bytes were there: the image is known neither earlier nor later than it was before packing. */
const char *sw_take_pack_left_out(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_image_data *r = (const void *)rec;
	struct sw_image_entry *e = sw_map_ptr(&d->images, r->id);
	(void)w;
	if (!e)
		return "a piece of an image that was not described";
	if (e->piece.n || r->offset != e->have || r->bytes > e->image.bytes - e->have)
		return "the piece of the image does not follow the one before it";
	e->have += r->bytes;
	sw_image_found(d, e);
	return NULL;
}

static void free_images(struct sw_dictionary *d)
{
	struct sw_map_slot slot;
	for (size_t i = 0; (i = sw_map_next(&d->images, i, &slot));) {
		struct sw_image_entry *e = (void *)(uintptr_t)slot.value;
		free(e->piece.at);
		free(e->content);
	}
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
