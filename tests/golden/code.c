/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of a fatbin the entries stay that hold a kernel that was launched: the machine code for the GPU, and the PTX of the
 * same architecture (what the machine code was made from), or what the driver compiles if there is no machine code.  In
 * machine code the sections of all other kernels, and what is there for debuggers, are filled with zeros; what is left
 * is compressed again.
 */
#include "config.h"

#include "code.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/formats.h"
#include "image/image.h"

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

static uint64_t *launched(struct code *c, uint32_t image, const char *kernel)
{
	return sw_map_put(&c->launched, sw_hash_u64(sw_hash_bytes(SW_FNV_START, kernel, strlen(kernel)) ^ image));
}

struct search {
	struct code *code;
	uint32_t image;
	bool found;
};

static int on_kernel(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct search *s = arg;
	s->found |= *launched(s->code, s->image, kernel->name) != 0;
	return s->found;
}

/* ---- machine code ------------------------------------------------------------------------------------------------ */

struct cubin {
	unsigned char *bytes;
	size_t size;
	Elf64_Ehdr head;
};

static Elf64_Shdr section_at(const struct cubin *c, uint32_t index)
{
	Elf64_Shdr s = {0};
	if (index < c->head.e_shnum)
		memcpy(&s, c->bytes + c->head.e_shoff + (size_t)index * sizeof s, sizeof s);
	return s;
}

static const char *name_of(const struct cubin *c, const Elf64_Shdr *s)
{
	Elf64_Shdr names = section_at(c, c->head.e_shstrndx);
	bool there = names.sh_offset <= c->size && s->sh_name < c->size - names.sh_offset;
	const char *name = (const char *)c->bytes + names.sh_offset + s->sh_name;
	return there && memchr(name, 0, c->size - names.sh_offset - s->sh_name) ? name : "";
}

static void blank(struct cubin *c, uint32_t index)
{
	Elf64_Shdr s = section_at(c, index);
	if (s.sh_type != SHT_NOBITS && s.sh_offset <= c->size && s.sh_size <= c->size - s.sh_offset)
		memset(c->bytes + s.sh_offset, 0, s.sh_size);
}

static bool is_for_debuggers(const char *name)
{
	static const char *const prefixes[] = {".debug_",   ".nv_debug_",     ".rela.debug_", ".rel.debug_",
					       ".nv.merc.", ".rela.nv_debug", ".nv.capmerc",  ".note.nv.tkinfo"};
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* Code that other kernels need; functions that are not kernels stay, as a launched kernel may call them. */
struct entries {
	struct code *code;
	struct cubin *cubin;
	uint32_t image;
	struct sw_map others; /* hash of name */
};

static int on_other_kernel(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct entries *e = arg;
	if (!*launched(e->code, e->image, kernel->name))
		*sw_map_put(&e->others, sw_hash_bytes(SW_FNV_START, kernel->name, strlen(kernel->name))) = 1;
	return 0;
}

static bool is_other(const struct entries *e, const Elf64_Shdr *s)
{
	const char *name = name_of(e->cubin, s);
	return !strncmp(name, ".text.", 6) &&
	       sw_map_find(&e->others, sw_hash_bytes(SW_FNV_START, name + 6, strlen(name + 6)));
}

/* `bytes` was walked without complaint, so its tables are within it. */
static void keep_launched(struct code *code, uint32_t image, unsigned char *bytes, size_t size)
{
	struct cubin c = {.bytes = bytes, .size = size};
	struct entries e = {.code = code, .cubin = &c, .image = image};
	struct sw_error error;
	memcpy(&c.head, bytes, sizeof c.head);
	if (sw_cubin_walk(bytes, size, NULL, on_other_kernel, &e, &error))
		c.head.e_shnum = 0; /* left as it is */
	for (uint32_t i = 1; i < c.head.e_shnum; i++) {
		Elf64_Shdr s = section_at(&c, i), of;
		/* In code and tables of symbols sh_info is no section. */
		of = section_at(&c, s.sh_type == SHT_SYMTAB || s.sh_flags & SHF_EXECINSTR ? 0 : s.sh_info);
		if (is_for_debuggers(name_of(&c, &s)) || is_other(&e, &s) || (of.sh_size && is_other(&e, &of)))
			blank(&c, i);
	}
	sw_map_free(&e.others);
}

/* ---- fatbins ----------------------------------------------------------------------------------------------------- */

struct fatbin {
	struct code *code;
	const unsigned char *from;
	uint32_t image;
	uint32_t ptx_arch; /* of the PTX that is kept */
	bool machine;	   /* there is machine code for the GPU */
	SW_VEC(unsigned char) out;
};

static bool runs_here(const struct code *c, const struct sw_fatbin_entry *e)
{
	return e->kind == SW_IMAGE_ELF && e->arch / 10 == c->arch / 10 && e->arch <= c->arch;
}

static bool holds_launched(struct code *c, uint32_t image, enum sw_image_kind kind, const void *bytes, size_t size)
{
	struct search s = {c, image, false};
	struct sw_error error;
	if (kind == SW_IMAGE_ELF)
		sw_cubin_walk(bytes, size, NULL, on_kernel, &s, &error);
	else
		sw_ptx_walk(bytes, size, on_kernel, &s, &error);
	return s.found;
}

/* First time over the entries: which PTX. */
static int look(void *arg, const struct sw_fatbin_entry *e)
{
	struct fatbin *f = arg;
	f->machine |= runs_here(f->code, e);
	if (e->kind == SW_IMAGE_PTX && e->arch <= f->code->arch && e->arch > f->ptx_arch)
		f->ptx_arch = e->arch;
	return 0;
}

static void append(struct fatbin *f, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		*sw_vec_push(&f->out) = ((const unsigned char *)bytes)[i];
	while (f->out.n % 8)
		*sw_vec_push(&f->out) = 0;
}

/* The content as it is stored: compressed where we can.  malloc'ed. */
static void *store(const void *bytes, size_t size, size_t *stored, bool *compressed)
{
#ifdef HAVE_ZSTD
	size_t room = ZSTD_compressBound(size);
	void *out = sw_alloc(room);
	*stored = ZSTD_compress(out, room, bytes, size, 19);
	*compressed = !ZSTD_isError(*stored) && *stored < size;
	if (*compressed)
		return out;
	free(out);
#endif
	*compressed = false;
	*stored = size;
	return memcpy(sw_alloc(size + 1), bytes, size);
}

/* The name of an entry is that of a source file: where it lay is nobody's business. */
static void forget_name(unsigned char *head, size_t header)
{
	uint32_t at, n;
	if (header < 40)
		return;
	memcpy(&at, head + 32, sizeof at);
	memcpy(&n, head + 36, sizeof n);
	if (at >= 64 && at <= header && n <= header - at)
		memset(head + at, 0, n);
}

/* The entry's own header, with what is different now. */
static void put_entry(struct fatbin *f, const struct sw_fatbin_entry *e, const void *bytes, size_t size)
{
	size_t stored, header = (size_t)((const unsigned char *)e->payload - f->from) - e->offset;
	bool compressed;
	void *payload = store(bytes, size, &stored, &compressed);
	uint64_t flags = (e->flags & ~(uint64_t)(SW_FATBIN_LZ4 | SW_FATBIN_ZSTD)) | (compressed ? SW_FATBIN_ZSTD : 0);
	uint64_t room = (stored + 7) & ~7ull, plain = compressed ? size : 0;
	uint32_t packed = compressed ? (uint32_t)stored : 0;
	unsigned char *head = memcpy(sw_alloc(header), f->from + e->offset, header);
	memcpy(head + 8, &room, sizeof room);
	memcpy(head + 16, &packed, sizeof packed);
	memcpy(head + 40, &flags, sizeof flags);
	memcpy(head + 56, &plain, sizeof plain);
	forget_name(head, header);
	append(f, head, header);
	append(f, payload, stored);
	free(head);
	free(payload);
}

static int take(void *arg, const struct sw_fatbin_entry *e)
{
	struct fatbin *f = arg;
	struct sw_error error;
	void *content;
	size_t size;
	bool ptx = e->kind == SW_IMAGE_PTX && e->arch == f->ptx_arch && f->code->ptx &&
		   (e->arch == f->code->arch || !f->machine);
	if ((!ptx && !runs_here(f->code, e)) || sw_fatbin_extract(e, &content, &size, &error))
		return 0;
	if (holds_launched(f->code, f->image, e->kind, content, size)) {
		if (!ptx)
			keep_launched(f->code, f->image, content, size);
		put_entry(f, e, content, size + ptx); /* with its NUL */
	}
	free(content);
	return 0;
}

static void take_fatbin(struct code *c, uint32_t id, struct code_image *out, const void *bytes, size_t size)
{
	struct fatbin f = {.code = c, .from = bytes, .image = id};
	struct sw_error error;
	uint64_t header = SW_FATBIN_MAGIC | 1ull << 32 | (uint64_t)SW_FATBIN_HEADER_BYTES << 48, none = 0;
	append(&f, &header, sizeof header);
	append(&f, &none, sizeof none);
	sw_fatbin_walk(bytes, size, look, &f, &error);
	sw_fatbin_walk(bytes, size, take, &f, &error);
	uint64_t entries = f.out.n - SW_FATBIN_HEADER_BYTES;
	memcpy(f.out.at + 8, &entries, sizeof entries);
	*out = (struct code_image){SW_IMAGE_FATBIN, f.out.at, entries ? f.out.n : 0};
}

/* ---- a trace ----------------------------------------------------------------------------------------------------- */

static void take_image(struct code *c, uint32_t id)
{
	struct sw_error error;
	size_t size;
	struct code_image *image = sw_calloc(1, sizeof *image);
	const void *bytes = contents_of(&c->contents, id, &size, &error);
	*sw_vec_push(&c->all) = image;
	sw_map_put_ptr(&c->images, id, image);
	if (!bytes) {
		fprintf(stderr, "image %u: %s\n", id, error.text);
		return;
	}
	image->kind = sw_image_kind_of(bytes, size);
	if (image->kind == SW_IMAGE_FATBIN) {
		take_fatbin(c, id, image, bytes, size);
		return;
	}
	image->size = size;
	image->bytes = memcpy(sw_alloc(size + 1), bytes, size);
	if (image->kind == SW_IMAGE_ELF)
		keep_launched(c, id, image->bytes, size);
}

int code_open(struct code *code, const char *trace, bool ptx)
{
	struct sw_error error;
	struct sw_record r;
	SW_VEC(uint32_t) ids = {0};
	int rc;
	*code = (struct code){.ptx = ptx};
	if (sw_reader_open(trace, &code->reader, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	code->contents.reader = code->reader;
	while ((rc = sw_reader_next(code->reader, &r, &error)) > 0) {
		/* Kernels are described when they are launched first, or put into a graph. */
		if (r.rec->kind != SW_REC_FUNCTION)
			continue;
		const struct sw_trace_function *f =
			sw_reader_function(code->reader, ((const struct sw_rec_function *)(const void *)r.rec)->id);
		if (!f || !f->image)
			continue;
		*launched(code, f->image, f->name) = 1;
		if (!sw_map_find(&code->images, f->image)) {
			*sw_map_put(&code->images, f->image) = 0;
			*sw_vec_push(&ids) = f->image;
		}
	}
	const struct sw_trace_device *device = sw_reader_device(code->reader, 0);
	code->arch = device ? device->major * 10 + device->minor : 0;
	for (size_t i = 0; i < ids.n; i++)
		take_image(code, ids.at[i]);
	free(ids.at);
	if (rc < 0)
		fprintf(stderr, "%s\n", error.text);
	return rc < 0 ? -1 : 0;
}

const struct code_image *code_of(const struct code *code, uint32_t image)
{
	const struct code_image *found = sw_map_ptr(&code->images, image);
	return found && found->size ? found : NULL;
}

void code_close(struct code *code)
{
	for (size_t i = 0; i < code->all.n; i++) {
		free(code->all.at[i]->bytes);
		free(code->all.at[i]);
	}
	free(code->all.at);
	sw_map_free(&code->images);
	sw_map_free(&code->launched);
	contents_free(&code->contents);
	if (code->reader)
		sw_reader_close(code->reader);
}
