/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "pack/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/trusted_file.h"
#include "detect/behaviour/behaviour.h"
#include "detect/kernels/kernel_code.h"
#include "pack/stream.h"

/* ---- the trace --------------------------------------------------------------------------------------------------- */

/* A kernel that was launched, and the image that it is in. */
struct launched {
	uint32_t image;
	const char *name;
};
typedef SW_VEC(struct launched) launched_vec;

/* The gathered image with this number, added if it is new.  index: numbers -> index + 1 in g->images. */
static struct sw_gathered_image *image_of(struct sw_gather *g, struct sw_map *index, uint32_t id, uint64_t t_ns)
{
	uint64_t *at = sw_map_put(index, id);
	if (!*at) {
		*sw_vec_push(&g->images) = (struct sw_gathered_image){.id = id, .t_ns = t_ns};
		*at = g->images.n;
	}
	return &g->images.at[*at - 1];
}

/* Finds where an image has its code.  Images with the same content share one, as each of them needs what any of them
   launched.  codes: code of an image -> what was gathered of it. */
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

/* Finds the code of all images, and notes which kernels of each were launched. */
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

/* Lists the architectures of the trace's devices, each once. */
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

/* Makes a gathering from this reader that has nothing yet. */
static void begin_gathering(struct sw_gather *g, struct sw_reader *reader)
{
	*g = (struct sw_gather){.reader = reader, .codes = sw_calloc(1, sizeof *g->codes), .names.reader = reader};
	g->codes->reader = reader;
}

int sw_gather_open(struct sw_gather *g, const char *trace, struct sw_error *error)
{
	struct sw_map index = {0};
	launched_vec launched = {0};
	struct sw_record r;
	struct sw_reader *reader;
	*g = (struct sw_gather){0};
	int rc = sw_reader_open(trace, &reader, error);
	if (rc)
		return rc;
	begin_gathering(g, reader);
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

/* Frees what was gathered; the reader stays open. */
static void end_gathering(struct sw_gather *g)
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
	if (g->codes)
		sw_codes_free(g->codes);
	free(g->codes);
}

void sw_gather_close(struct sw_gather *g)
{
	end_gathering(g);
	if (g->reader)
		sw_reader_close(g->reader);
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

void sw_gather_code(struct sw_gather *g, bool no_ptx, int level)
{
	for (size_t i = 0; i < g->all.n; i++) {
		struct sw_gathered_code *code = g->all.at[i];
		struct sw_reduce what = {&code->launched, g->archs.at, g->archs.n, no_ptx, g->wrap, level};
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

/* A key for one place in a file, whatever the file was mapped as. */
static uint64_t frame_key(const struct sw_named_file *file, uint64_t offset)
{
	return sw_hash_u64(offset) ^ (uint64_t)(uintptr_t)file;
}

/* Adds a return address to g->frames if it lies in a file, and its place there is new.  known: frame_key() -> index
   + 1 in g->frames. */
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

/* Lists in g->frames the return addresses of all stacks of the trace. */
static void gather_frames(struct sw_gather *g)
{
	struct sw_map known = {0};
	const struct sw_trace_stack *stack;
	for (uint32_t i = 1; (stack = sw_reader_stack(g->reader, i)); i++)
		for (uint32_t k = 0; k < stack->depth; k++)
			gather_frame(g, &known, stack->ips[k], stack->seq);
	sw_map_free(&known);
}

/* Gathered code and names, as records. */

/* Writes the record that begins a packing: by which version, and whether names were looked up. */
static void pack_put_head(struct sw_pack_chunks *chunks, const char *version)
{
	struct sw_rec_pack *r = sw_pack_record(chunks, SW_REC_PACK, sizeof *r + strlen(version));
#ifndef HAVE_LIBDW
	r->flags = SW_PACK_NO_NAMES;
#endif
	r->version_bytes = (uint32_t)strlen(version);
	memcpy(r + 1, version, strlen(version));
}

/* Adds a line, which it takes over, to what is missing from the pack, unless it is there. */
static void add_complaint(struct sw_pack_sums *sums, char *text)
{
	for (size_t i = 0; i < sums->unusable.n; i++)
		if (!strcmp(sums->unusable.at[i], text)) {
			free(text);
			return;
		}
	*sw_vec_push(&sums->unusable) = text;
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

/* Writes the bytes of an image's code, in as many records as they take. */
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

/* Writes the state of an image's code, and the code itself with the first image that has it. */
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

/* Writes the code of all images, and counts it. */
static void pack_put_code(struct sw_pack_chunks *chunks, struct sw_gather *g, struct sw_pack_sums *sums)
{
	for (size_t i = 0; i < g->images.n; i++)
		if (g->images.at[i].code)
			put_image(chunks, g->images.at[i].id, g->images.at[i].code);
	for (size_t i = 0; i < g->all.n; i++) {
		sums->code_bytes += g->all.at[i]->n;
		if (g->all.at[i]->why)
			add_complaint(sums, sw_strdup(g->all.at[i]->why));
	}
	sums->kernels = g->kernels;
}

/* ---- functions and lines ----------------------------------------------------------------------------------------- */

/* The return address whose functions put_place() writes. */
struct frame_out {
	struct sw_pack_chunks *chunks;
	uint64_t offset;
	uint32_t module;
};

/* Writes a function that a return address lies in, with file and line; for inlined functions there are several. */
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

/* The state of an object file, as records have it. */
static enum sw_pack_state packed_state(enum sw_object_state state)
{
	return state == SW_OBJECT_USABLE    ? SW_PACKED_WHOLE
	       : state == SW_OBJECT_CHANGED ? SW_PACKED_CHANGED
					    : SW_PACKED_MISSING;
}

/* Writes the path and build id of an object file, to which the records of its frames refer by number. */
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

/* Says in the sums that names are missing because of this object file, where that is so. */
static void complain_of(struct sw_pack_sums *sums, const struct sw_named_file *file)
{
	if (file->path[0] == '/' && file->state != SW_OBJECT_USABLE)
		add_complaint(sums, sw_format("no names: %s %s", file->path,
					      file->state == SW_OBJECT_CHANGED ? "is not the file that was loaded"
									       : "is missing, or not readable"));
}

/* Writes the object files of all stacks, and the functions of each return address, and counts both. */
static void pack_put_frames(struct sw_pack_chunks *chunks, struct sw_gather *g, struct sw_pack_sums *sums)
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

/* ---- tables of calibrate ----------------------------------------------------------------------------------------- */

/* Writes a table of calibrate: which calls wait was measured on the machine that recorded, and a report elsewhere
   must not lack that. */
static void put_table(struct sw_pack_chunks *chunks, const struct sw_trace_table *table)
{
	const size_t gpu = strlen(table->gpu), path = strlen(table->path);
	struct sw_rec_pack_table *r;
	if (sizeof *r + gpu + path + table->bytes > sw_pack_record_max(chunks))
		return; /* far from what calibrate writes */
	r = sw_pack_record(chunks, SW_REC_PACK_TABLE, sizeof *r + gpu + path + table->bytes);
	r->gpu_bytes = (uint32_t)gpu;
	r->path_bytes = (uint32_t)path;
	r->text_bytes = (uint32_t)table->bytes;
	char *at = memcpy(r + 1, table->gpu, gpu);
	memcpy(at + gpu, table->path, path);
	memcpy(at + gpu + path, table->text, table->bytes);
}

/* Writes the table of calibrate that this machine has for a GPU and driver, if there is one. */
static void put_stored(struct sw_pack_chunks *chunks, const char *gpu, uint32_t driver)
{
	char *path = sw_behaviour_path(gpu, driver);
	FILE *file = path ? sw_trusted_stream(path, (uid_t)-1, NULL) : NULL;
	char *text = sw_alloc(SW_REC_MAX_BYTES);
	if (file)
		put_table(chunks, &(struct sw_trace_table){gpu, path, text, fread(text, 1, SW_REC_MAX_BYTES, file)});
	if (file)
		fclose(file);
	free(text);
	free(path);
}

/* Is no earlier device of the trace called the same? */
static bool is_first(const struct sw_reader *reader, size_t index)
{
	const char *name = sw_reader_device(reader, index)->name;
	for (size_t i = 0; i < index; i++)
		if (!strcmp(sw_reader_device(reader, i)->name, name))
			return false;
	return *name;
}

/* Writes the tables of calibrate that a report would use here, one for each name of a GPU: those in the trace if it
   was packed before, else this machine's. */
static void pack_put_tables(struct sw_pack_chunks *chunks, const struct sw_reader *reader)
{
	const struct sw_trace_device *device;
	for (size_t i = 0; (device = sw_reader_device(reader, i)); i++) {
		const struct sw_trace_table *packed = sw_reader_table(reader, device->name);
		if (!is_first(reader, i))
			continue;
		if (packed)
			put_table(chunks, packed);
		else if (!sw_reader_packer(reader))
			put_stored(chunks, device->name, sw_reader_header(reader)->cuda_driver_version);
	}
}

/* Level at which images are compressed before they go into the trace: they are held like that, and expanded when they
   are read. */
#define CODE_LEVEL 9

/* Writes the header page, with the number of chunks that the pack has, and what a newer version may have put after
   it. */
static int put_header(const struct sw_pack_copy *copy, const struct sw_pack_chunks *chunks,
		      struct sw_pack_stream *stream, struct sw_error *error)
{
	const struct sw_source *source = copy->source;
	unsigned char *page = sw_calloc(1, source->header.header_bytes);
	size_t got;
	int rc = sw_source_read(source, 0, page, source->header.header_bytes, &got, error);
	struct sw_file_header *h = (void *)page;
	/* A file that lacks chunks keeps lacking them. */
	uint64_t lost = h->chunks > copy->numbers ? h->chunks - copy->numbers : 0;
	const uint64_t kept = chunks->n + copy->chunks;
	h->chunks = lost <= UINT64_MAX - kept ? kept + lost : UINT64_MAX;
	if (h->major == SW_FORMAT_MAJOR && h->minor < SW_FORMAT_MINOR)
		h->minor = SW_FORMAT_MINOR;
	if (!rc)
		rc = sw_pack_stream_put(stream, page, source->header.header_bytes, error);
	free(page);
	return rc;
}

/* Writes the whole file: header, chunks of the packing, chunks of the trace. */
static int write_all(struct sw_pack_copy *copy, const struct sw_pack_chunks *chunks, struct sw_pack_stream *stream,
		     struct sw_error *error)
{
	int rc = put_header(copy, chunks, stream, error);
	/* First, so that a file that was cut short is so at its end. */
	for (size_t i = 0; !rc && i < chunks->n; i++)
		rc = sw_pack_stream_put(stream, chunks->at + i * chunks->chunk_bytes, chunks->chunk_bytes, error);
	if (!rc)
		rc = sw_pack_copy_run(copy, stream, error);
	return rc ? rc : sw_pack_stream_end(stream, error);
}

/* Writes the packed trace from what was gathered. */
static int pack_gathered(struct sw_gather *gather, const struct sw_pack_options *options, FILE *out,
			 struct sw_pack_sums *sums, struct sw_error *error)
{
	const struct sw_source *source = sw_reader_source(gather->reader);
	struct sw_pack_copy copy;
	struct sw_pack_stream stream;
	int rc = sw_pack_copy_open(&copy, source, error);
	if (rc) {
		sw_pack_copy_free(&copy);
		return rc;
	}
	struct sw_pack_chunks chunks = {
		.chunk_bytes = source->header.chunk_bytes, .writer = copy.writer, .ticks = source->header.start_ticks};
	sw_gather_code(gather, false, CODE_LEVEL);
	gather_frames(gather);
	pack_put_head(&chunks, options->version);
	pack_put_tables(&chunks, gather->reader);
	pack_put_code(&chunks, gather, sums);
	pack_put_frames(&chunks, gather, sums);
	sw_pack_chunks_close(&chunks);
	rc = sw_pack_stream_open(&stream, out, options->compress, error);
	if (!rc)
		rc = write_all(&copy, &chunks, &stream, error);
	sw_pack_stream_free(&stream);
	sw_pack_chunks_free(&chunks);
	sw_pack_copy_free(&copy);
	return rc;
}

/* Gathers the kernels whose code lies in the store of images alone. */
static void gather_stored(struct sw_gather *g)
{
	struct sw_map index = {0};
	launched_vec launched = {0};
	const struct sw_trace_function *f;
	for (size_t at = 0; (f = sw_reader_next_function(g->reader, &at));) {
		const struct sw_trace_image *image = f->image ? sw_reader_image(g->reader, f->image) : NULL;
		if (!image || !image->hash || !image->path[0] || image->code || !f->name[0])
			continue;
		image_of(g, &index, f->image, 0);
		*sw_vec_push(&launched) = (struct launched){f->image, f->name};
	}
	find_codes(g, &index, &launched);
	find_archs(g);
	free(launched.at);
	sw_map_free(&index);
}

/* Writes chunks behind the `number` chunks of a trace; then its header says that they are there. */
static int append_chunks(const struct sw_pack_chunks *chunks, uint64_t number, const struct sw_file_header *header,
			 const char *trace, struct sw_error *error)
{
	const uint64_t all = number + chunks->n, at = header->header_bytes + number * header->chunk_bytes;
	const size_t bytes = chunks->n * chunks->chunk_bytes;
	const int fd = open(trace, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return sw_fail(error, -errno, "cannot open '%s': %s", trace, strerror(errno));
	const bool written = pwrite(fd, chunks->at, bytes, (off_t)at) == (ssize_t)bytes &&
			     pwrite(fd, &all, sizeof all, offsetof(struct sw_file_header, chunks)) == sizeof all;
	if (!written)
		sw_fail(error, -EIO, "cannot write '%s': %s", trace, strerror(errno));
	close(fd);
	return written ? 0 : -EIO;
}

int sw_pack_append_stored(struct sw_reader *reader, const char *trace, struct sw_error *error)
{
	struct sw_pack_sums sums = {0};
	struct sw_pack_copy copy;
	struct sw_gather gather;
	struct sw_source file; /* as it is now: a reader that followed the program has what it was */
	int rc = sw_source_open(&file, trace, error);
	if (rc)
		return rc;
	begin_gathering(&gather, reader);
	gather.wrap = true;
	gather_stored(&gather);
	rc = sw_pack_copy_open(&copy, &file, error);
	struct sw_pack_chunks chunks = {
		.chunk_bytes = file.header.chunk_bytes, .writer = copy.writer, .ticks = file.header.start_ticks};
	if (!rc) {
		sw_gather_code(&gather, false, CODE_LEVEL);
		pack_put_code(&chunks, &gather, &sums);
		sw_pack_chunks_close(&chunks);
	}
	if (!rc && chunks.n)
		rc = append_chunks(&chunks, copy.numbers, &file.header, trace, error);
	if (!rc && sums.unusable.n)
		rc = sw_fail(error, -ENOENT, "%s", sums.unusable.at[0]);
	sw_pack_chunks_free(&chunks);
	sw_pack_copy_free(&copy);
	sw_pack_sums_free(&sums);
	end_gathering(&gather);
	sw_source_close(&file);
	return rc;
}

int sw_pack(const char *trace, const struct sw_pack_options *options, FILE *out, struct sw_pack_sums *sums,
	    struct sw_error *error)
{
	struct sw_gather gather;
	*sums = (struct sw_pack_sums){0};
	int rc = sw_gather_open(&gather, trace, error);
	if (!rc)
		rc = pack_gathered(&gather, options, out, sums, error);
	sw_gather_close(&gather);
	return rc;
}

void sw_pack_sums_free(struct sw_pack_sums *sums)
{
	for (size_t i = 0; i < sums->unusable.n; i++)
		free(sums->unusable.at[i]);
	free(sums->unusable.at);
}
