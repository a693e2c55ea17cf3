/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "reader/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "reader/dictionary.h"
#include "syncwatch/format.h"

bool sw_expand_wanted(int fd)
{
	static const unsigned char magic[4] = {0x28, 0xb5, 0x2f, 0xfd}; /* RFC 8878, 3.1.1 */
	unsigned char first[4];
	return pread(fd, first, sizeof first, 0) == sizeof first && !memcmp(first, magic, sizeof magic);
}

#ifdef HAVE_ZSTD
#include <zstd.h>

/* A trace is seldom above 10 GB; a hostile frame expands without end. */
#define EXPANDED_MAX	 (256ull << 30)
#define SOURCE_CHUNK_MAX (64ull << 20) /* as in source.c */
#define CHUNKS_AHEAD	 64u	       /* prepared and not yet counted: a recorder has 32 at most */
#define ZEROS_MAX	 (512ull << 20)

struct stream {
	const char *path;
	int in, out;
	ZSTD_DStream *zstd;
	void *input, *output;
	size_t input_room, output_room;
	uint64_t taken, made;
	uint64_t zeros; /* at the end of what was made */
	uint64_t most;	/* bytes that a reader can use; 0: not known yet */
	struct sw_error *error;
};

/* Opens a file without a name in $TMPDIR, else /tmp; -1: error is filled. */
static int open_temporary(const char *path, struct sw_error *error)
{
	const char *folder = getenv("TMPDIR");
	if (!folder || !*folder)
		folder = "/tmp";
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	char *name = sw_format("%s/syncwatch-XXXXXX", folder); /* file systems without O_TMPFILE */
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	else
		sw_fail(error, -errno, "%s: cannot expand into %s: %s", path, folder, strerror(errno));
	free(name);
	return fd < 0 ? -1 : fd;
}

/* Once the trace's header came out: notes how many bytes it announces, since what follows is of no use to a reader. */
static void read_header(struct stream *s)
{
	struct sw_file_header h;
	s->most = s->made; /* no trace: what came out says so as well as the rest would */
	if (pread(s->out, &h, sizeof h, 0) != (ssize_t)sizeof h || memcmp(h.magic, SW_FORMAT_MAGIC, sizeof h.magic) ||
	    h.chunk_bytes > SOURCE_CHUNK_MAX || h.header_bytes > SOURCE_CHUNK_MAX)
		return;
	s->most = h.chunks > EXPANDED_MAX / 4096 ? EXPANDED_MAX
						 : h.header_bytes + (h.chunks + CHUNKS_AHEAD) * h.chunk_bytes;
}

/* Are all n bytes zero? */
static bool all_zero(const char *bytes, size_t n)
{
	return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

/* Appends the bytes to the expanded file. */
static int write_all(struct stream *s, const char *bytes, size_t n)
{
	while (n) {
		ssize_t written = pwrite(s->out, bytes, n, (off_t)s->made);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return sw_fail(s->error, -errno, "%s: cannot write what it expands to: %s", s->path,
				       strerror(errno));
		bytes += written;
		n -= (size_t)written;
		s->made += (uint64_t)written;
	}
	return 0;
}

/* Appends what was expanded.  Zeros stay a hole, and too many in a row end it: a recorder leaves far fewer. */
static int put_output(struct stream *s, size_t bytes)
{
	int rc = 0;
	if (all_zero(s->output, bytes)) {
		s->made += bytes;
		s->zeros += bytes;
	} else {
		rc = write_all(s, s->output, bytes);
		s->zeros = 0;
	}
	if (!rc && !s->most && s->made >= sizeof(struct sw_file_header))
		read_header(s);
	if (s->made > EXPANDED_MAX)
		return sw_fail(s->error, SW_E_FORMAT, "%s: expands to more than %llu GiB", s->path, EXPANDED_MAX >> 30);
	return rc;
}

/* Has all come out that a reader can use? */
static bool has_enough(const struct stream *s)
{
	return s->zeros > ZEROS_MAX || (s->most && s->made >= s->most);
}

/* Expands one piece of input; *left: zstd expects more before its frame ends. */
static int expand_piece(struct stream *s, size_t bytes, size_t *left)
{
	ZSTD_inBuffer in = {s->input, bytes, 0};
	ZSTD_outBuffer out;
	do {
		out = (ZSTD_outBuffer){s->output, s->output_room, 0};
		*left = ZSTD_decompressStream(s->zstd, &out, &in);
		if (ZSTD_isError(*left))
			return sw_fail(s->error, SW_E_FORMAT, "%s: offset %" PRIu64 ": damaged zstd frame: %s", s->path,
				       s->taken + in.pos, ZSTD_getErrorName(*left));
		int rc = put_output(s, out.pos);
		if (rc)
			return rc;
	} while (!has_enough(s) && (in.pos < in.size || out.pos == out.size));
	s->taken += bytes;
	return 0;
}

/* Decompresses a packed trace from where it stopped until there is enough for the reader, or no more; 0 or <0.  A frame
   that is cut short yields what was whole: the reader says where the trace ends. */
static int expand_frames(struct stream *s)
{
	for (size_t left = 0;;) {
		ssize_t n = pread(s->in, s->input, s->input_room, (off_t)s->taken);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sw_fail(s->error, -errno, "%s: offset %" PRIu64 ": cannot read: %s", s->path, s->taken,
				       strerror(errno));
		if (!n || has_enough(s))
			return 0;
		int rc = expand_piece(s, (size_t)n, &left);
		if (rc)
			return rc;
	}
}

int sw_expand(int fd, const char *path, struct sw_error *error)
{
	int out = open_temporary(path, error);
	if (out < 0)
		return out;
	struct stream s = {.path = path,
			   .in = fd,
			   .out = out,
			   .zstd = ZSTD_createDStream(),
			   .input_room = ZSTD_DStreamInSize(),
			   .output_room = ZSTD_DStreamOutSize(),
			   .error = error};
	s.input = sw_alloc(s.input_room);
	s.output = sw_alloc(s.output_room);
	int rc = s.zstd ? expand_frames(&s) : sw_fail(error, -ENOMEM, "%s: no memory to expand it", path);
	ZSTD_freeDStream(s.zstd);
	free(s.input);
	free(s.output);
	/* Zeros at the end were not written but skipped (put_output()): the file must still have their length. */
	if (!rc && ftruncate(out, (off_t)s.made))
		rc = sw_fail(error, -errno, "%s: cannot write what it expands to: %s", path, strerror(errno));
	if (!rc)
		return out;
	close(out);
	return rc;
}

#else

int sw_expand(int fd, const char *path, struct sw_error *error)
{
	(void)fd;
	return sw_fail(error, SW_E_UNSUPPORTED, "%s: compressed with zstd, which this syncwatch was built without",
		       path);
}

#endif

struct sw_packed_code {
	uint32_t state;
	uint64_t bytes, hash;
	const char *why;
	const unsigned char *data; /* once it is whole and its hash is right */
	unsigned char *owned;
	uint64_t have, room; /* bytes of owned */
};

/* Takes a PACK record: the version of syncwatch that packed the trace.  NULL, or what is wrong with it. */
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

/* After the code of an image was read: gives it to the image, if that was described before. */
static void note_image(struct sw_dictionary *d, uint32_t id)
{
	struct sw_image_entry *e = sw_map_ptr(&d->images, id);
	if (e)
		sw_image_found(d, e);
}

/* Takes a PACK_CODE record: the code of an image, as packed: whether it was there, why not, or that it is the same as
   an earlier one's.  NULL, or what is wrong with it. */
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

/* After all pieces of the packed code came: takes it if its hash is right. */
static void code_is_complete(struct sw_dictionary *d, uint32_t id, struct sw_packed_code *code)
{
	/* Other code than what was packed would give wrong certainties: better none. */
	if (sw_hash_words(code->owned, code->have) != code->hash)
		return;
	code->data = code->owned;
	sw_map_put_ptr(&d->packed.hashes, code->hash, code);
	note_image(d, id);
}

/* Takes a PACK_DATA record: a piece of packed code.  Room grows with what arrived, as a damaged size must not
   allocate.  NULL, or what is wrong with it. */
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

/* Key of an object by its path and build id. */
static uint64_t file_key(const char *path, const uint8_t *build_id, uint32_t bytes)
{
	return sw_hash_bytes(sw_hash_bytes(SW_FNV_START, path, strlen(path) + 1), build_id, bytes);
}

/* Takes a PACK_MODULE record: an object whose functions and lines were packed.  NULL, or what is wrong with it. */
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

/* Takes a PACK_FRAME record: function and line at an offset of a packed object; several, from the innermost on, where
   calls were inlined.  NULL, or what is wrong with it. */
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

/* The frames at an offset of the object, innermost first; NULL: none. */
const struct sw_trace_frame *sw_trace_names_at(const struct sw_trace_names *names, uint64_t offset)
{
	const struct place *place = sw_map_ptr(names->places, offset);
	return place ? place->first : NULL;
}

/* The packed functions and lines of the module, if it is the same object (path and build id); NULL: there are none. */
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

/* Takes a PACK_TABLE record: a table of measured waits for a GPU (syncwatch calibrate).  NULL, or what is wrong with
   it. */
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

/* The packed table of this GPU; NULL: none. */
const struct sw_trace_table *sw_packed_table(const struct sw_packed *packed, const char *gpu)
{
	for (size_t i = 0; i < packed->tables.n; i++)
		if (!strcmp(packed->tables.at[i]->gpu, gpu))
			return packed->tables.at[i];
	return NULL;
}

/* Frees what packed records hold outside of the arena. */
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
