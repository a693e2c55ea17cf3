/* SPDX-License-Identifier: Apache-2.0 */
/* Leaves of an image only the code that a report can use. */
#include "config.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "image/formats.h"
#include "image/image.h"
#include "image/ptx.h"
#include "pack/reduce.h"

/* A search for launched kernels in machine code or PTX. */
struct search {
	const struct sw_map *launched;
	struct sw_map found;
};

/* For each kernel: notes its name if it was launched. */
static int on_kernel_check(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct search *s = arg;
	const uint64_t name = sw_reduce_name(kernel->name, strlen(kernel->name));
	if (sw_map_get(s->launched, name))
		*sw_map_put(&s->found, name) = 1;
	return 0;
}

/* Adds to `found` which launched kernels the machine code or PTX holds. */
static void reduce_find(const struct sw_map *launched, enum sw_image_kind kind, const void *bytes, size_t size,
			struct sw_map *found)
{
	struct search s = {launched, *found};
	struct sw_error error;
	if (kind == SW_IMAGE_PTX)
		sw_ptx_walk(bytes, size, on_kernel_check, &s, &error);
	else
		sw_cubin_walk(bytes, size, NULL, on_kernel_check, &s, &error);
	*found = s.found;
}

/* Are all launched kernels of `before` in `after`, too?  Damaged images may hold a kernel within what looks like
   another one. */
static bool reduce_keeps(const struct sw_map *launched, enum sw_image_kind kind, const void *before, const void *after,
			 size_t size)
{
	struct sw_map was = {0}, is = {0};
	struct sw_map_slot slot;
	bool all = true;
	reduce_find(launched, kind, before, size, &was);
	reduce_find(launched, kind, after, size, &is);
	for (size_t i = 0; all && (i = sw_map_next(&was, i, &slot));)
		all = sw_map_find(&is, slot.key) != NULL;
	sw_map_free(&was);
	sw_map_free(&is);
	return all;
}

/* Machine code: the sections of other kernels, and what is there for debuggers, are filled with zeros. */

struct cubin {
	unsigned char *bytes;
	size_t size;
	Elf64_Ehdr head;
	const struct sw_map *launched;
	struct sw_map others; /* hash of name */
};

/* The header of a section; all zero where that cannot be read. */
static Elf64_Shdr section_at(const struct cubin *c, uint32_t index)
{
	Elf64_Shdr s = {0};
	uint64_t at = c->head.e_shoff + (uint64_t)index * sizeof s;
	if (index < c->head.e_shnum && at <= c->size && sizeof s <= c->size - at)
		memcpy(&s, c->bytes + at, sizeof s);
	return s;
}

/* The name of a section; "" where that cannot be read. */
static const char *name_of(const struct cubin *c, const Elf64_Shdr *s)
{
	Elf64_Shdr names = section_at(c, c->head.e_shstrndx);
	if (names.sh_offset > c->size || s->sh_name >= c->size - names.sh_offset)
		return "";
	const char *name = (const char *)c->bytes + names.sh_offset + s->sh_name;
	return memchr(name, 0, c->size - names.sh_offset - s->sh_name) ? name : "";
}

/* Fills the content of a section with zeros. */
static void blank_cubin(struct cubin *c, uint32_t index)
{
	Elf64_Shdr s = section_at(c, index);
	if (s.sh_type != SHT_NOBITS && s.sh_offset <= c->size && s.sh_size <= c->size - s.sh_offset)
		memset(c->bytes + s.sh_offset, 0, s.sh_size);
}

/* Is a section of this name there for debuggers and profilers only? */
static bool is_for_debuggers(const char *name)
{
	static const char *const prefixes[] = {".debug_",   ".nv_debug_",     ".rela.debug_", ".rel.debug_",
					       ".nv.merc.", ".rela.nv_debug", ".nv.capmerc",  ".note.nv.tkinfo"};
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* For each kernel: notes its name if it was not launched.  Functions that are not kernels stay, as a launched kernel
   may call them. */
static int on_kernel_cubin(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct cubin *c = arg;
	uint64_t name = sw_reduce_name(kernel->name, strlen(kernel->name));
	if (!sw_map_get(c->launched, name))
		*sw_map_put(&c->others, name) = 1;
	return 0;
}

/* Is it the code of a kernel that was not launched? */
static bool is_other(const struct cubin *c, const Elf64_Shdr *s)
{
	const char *name = name_of(c, s);
	return !strncmp(name, ".text.", 6) && sw_map_find(&c->others, sw_reduce_name(name + 6, strlen(name + 6)));
}

/* Fills the sections of other kernels, and those for debuggers, with zeros, in place.  A cubin that is damaged is
   left as it is. */
static void reduce_cubin(const struct sw_map *launched, unsigned char *bytes, size_t size)
{
	struct cubin c = {.bytes = bytes, .size = size, .launched = launched};
	struct sw_error error;
	/* Walked without complaint, its tables are within it. */
	if (size < sizeof c.head || sw_cubin_walk(bytes, size, NULL, on_kernel_cubin, &c, &error)) {
		sw_map_free(&c.others);
		return;
	}
	memcpy(&c.head, bytes, sizeof c.head);
	void *before = memcpy(sw_alloc(size), bytes, size);
	for (uint32_t i = 1; i < c.head.e_shnum; i++) {
		Elf64_Shdr s = section_at(&c, i), of;
		/* In code and tables of symbols sh_info is no section. */
		of = section_at(&c, s.sh_type == SHT_SYMTAB || s.sh_flags & SHF_EXECINSTR ? 0 : s.sh_info);
		if (is_for_debuggers(name_of(&c, &s)) || is_other(&c, &s) || (of.sh_size && is_other(&c, &of)))
			blank_cubin(&c, i);
	}
	/* Damaged tables, where a section of another kernel lies in that of a launched one, or in the tables. */
	if (!reduce_keeps(launched, SW_IMAGE_ELF, before, bytes, size))
		memcpy(bytes, before, size);
	free(before);
	sw_map_free(&c.others);
}

/* PTX: other kernels become blanks; newlines stay, since a report names lines. */

/* A kernel in PTX text. */
struct entry {
	char *from, *to;
	uint64_t name;
};

/* PTX text as it is being reduced. */
struct ptx {
	struct sw_ptx_lexer l;
	struct sw_map words; /* names -> how often they stand in the text */
	SW_VEC(struct entry) entries;
};

/* Moves on to the next word, and counts it if it is a name.  False: the text ends. */
static bool next_word(struct ptx *p)
{
	if (!sw_ptx_next(&p->l))
		return false;
	char first = *p->l.word;
	if (isalpha((unsigned char)first) || first == '_' || first == '$')
		++*sw_map_put(&p->words, sw_reduce_name(p->l.word, p->l.n));
	return true;
}

/* Passes over an entry: its name, its parameters and its body, if there is one.  The lexer stands on .entry.  False:
   the text ends before. */
static bool pass_entry(struct ptx *p, struct entry *e)
{
	size_t depth = 0;
	if (!next_word(p))
		return false;
	e->name = sw_reduce_name(p->l.word, p->l.n);
	while (next_word(p)) {
		char c = *p->l.word;
		depth += c == '{';
		if ((c == ';' && !depth) || (c == '}' && depth && !--depth)) {
			e->to = (char *)(uintptr_t)p->l.at;
			return true;
		}
	}
	return false;
}

/* Lists the kernels of the text.  False: the last one is not whole. */
static bool find_entries(struct ptx *p)
{
	const char *linkage = NULL;
	while (next_word(p)) {
		if (sw_ptx_is(&p->l, ".visible") || sw_ptx_is(&p->l, ".weak") || sw_ptx_is(&p->l, ".extern")) {
			linkage = p->l.word;
			continue;
		}
		if (sw_ptx_is(&p->l, ".entry")) {
			struct entry e = {.from = (char *)(uintptr_t)(linkage ? linkage : p->l.word)};
			if (!pass_entry(p, &e))
				return false;
			*sw_vec_push(&p->entries) = e;
		}
		linkage = NULL;
	}
	return true;
}

/* Turns the text of a kernel into blanks, but for its newlines. */
static void blank_ptx(const struct entry *e)
{
	for (char *at = e->from; at < e->to; at++)
		if (*at != '\n')
			*at = ' ';
}

/* Turns the kernels that were not launched into blanks, in place.  Damaged text is left as it is. */
static void reduce_ptx(const struct sw_map *launched, char *text, size_t bytes)
{
	struct ptx p = {.l = sw_ptx_lexer(text, bytes)};
	bool whole = find_entries(&p);
	char *before = memcpy(sw_alloc(bytes + 1), text, bytes);
	for (size_t i = 0; whole && i < p.entries.n; i++) {
		const struct entry *e = &p.entries.at[i];
		/* A kernel that another one names, to launch it, has to be known as one. */
		if (!sw_map_get(launched, e->name) && sw_map_get(&p.words, e->name) <= 1)
			blank_ptx(e);
	}
	/* Damaged text, where an entry begins inside of another's parameters. */
	if (!reduce_keeps(launched, SW_IMAGE_PTX, before, text, bytes))
		memcpy(text, before, bytes);
	free(before);
	free(p.entries.at);
	sw_map_free(&p.words);
}

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

/* Where it is no code only the reason counts, which the first bytes show. */
#define NO_CODE_BYTES 64u

/* Entries between which the analysis does not distinguish when it chooses. */
struct sort {
	uint32_t arch;
	enum sw_image_kind kind;
	uint64_t flags;
	struct sw_map found; /* launched kernels that an entry of this sort holds */
	uint32_t kept;
	bool any;
	struct sw_fatbin_entry first; /* without a launched kernel */
};

/* A fatbin that is being reduced. */
struct fatbin {
	const struct sw_reduce *what;
	const unsigned char *from;
	uint32_t newest; /* machine code */
	bool lto, tile;
	SW_VEC(struct sort) sorts;
	SW_VEC(unsigned char) out;
};

/* ---- writing entries --------------------------------------------------------------------------------------------- */

/* Appends bytes to the new fatbin, with zeros up to the next multiple of 8. */
static void append_bytes(struct fatbin *f, const void *bytes, size_t size)
{
	size_t padded = (size + 7) & ~(size_t)7;
	sw_vec_reserve(&f->out, f->out.n + padded);
	if (size)
		memcpy(f->out.at + f->out.n, bytes, size);
	memset(f->out.at + f->out.n + size, 0, padded - size);
	f->out.n += padded;
}

/* The content of an entry as it is stored, malloc'ed: compressed where that makes it smaller. */
static void *store_content(const struct fatbin *f, const void *bytes, size_t size, size_t *stored, bool *compressed)
{
#ifdef HAVE_ZSTD
	size_t room = ZSTD_compressBound(size);
	void *out = sw_alloc(room);
	*stored = ZSTD_compress(out, room, bytes, size, f->what->level);
	*compressed = !ZSTD_isError(*stored) && *stored < size;
	if (*compressed)
		return out;
	free(out);
#else
	(void)f;
#endif
	*compressed = false;
	*stored = size;
	return memcpy(sw_alloc(size + 1), bytes, size);
}

/* The size of an entry's header. */
static size_t header_bytes(const struct fatbin *f, const struct sw_fatbin_entry *e)
{
	return (size_t)((const unsigned char *)e->payload - f->from) - e->offset;
}

/* Fills the name in an entry's header with zeros: it is that of a source file, whose folder is private. */
static void forget_name(unsigned char *head, size_t header)
{
	uint32_t at, n;
	if (header < SW_ENTRY_NAME_BYTES + sizeof n)
		return;
	memcpy(&at, head + SW_ENTRY_NAME, sizeof at);
	memcpy(&n, head + SW_ENTRY_NAME_BYTES, sizeof n);
	if (at >= SW_FATBIN_ENTRY_BYTES && at <= header && n <= header - at)
		memset(head + at, 0, n);
}

/* Appends an entry with new content; its header is as before but for sizes, compression and name. */
static void put_entry(struct fatbin *f, const struct sw_fatbin_entry *e, const void *bytes, size_t size)
{
	size_t stored, header = header_bytes(f, e);
	bool compressed;
	void *payload = store_content(f, bytes, size, &stored, &compressed);
	uint64_t flags = (e->flags & ~(uint64_t)(SW_FATBIN_LZ4 | SW_FATBIN_ZSTD)) | (compressed ? SW_FATBIN_ZSTD : 0);
	uint64_t room = (stored + 7) & ~7ull, plain = compressed ? size : 0;
	uint32_t packed = compressed ? (uint32_t)stored : 0;
	/* In one piece: damaged headers end anywhere. */
	unsigned char *head = memcpy(sw_calloc(1, header + room), f->from + e->offset, header);
	memcpy(head + SW_ENTRY_PAYLOAD, &room, sizeof room);
	memcpy(head + SW_ENTRY_COMPRESSED, &packed, sizeof packed);
	memcpy(head + SW_ENTRY_FLAGS, &flags, sizeof flags);
	memcpy(head + SW_ENTRY_PLAIN, &plain, sizeof plain);
	forget_name(head, header);
	if (stored)
		memcpy(head + header, payload, stored);
	append_bytes(f, head, header + room);
	free(head);
	free(payload);
}

/* Appends an entry as it is, as it cannot be read: what is wrong with it is then reported there as here. */
static void put_unread(struct fatbin *f, const struct sw_fatbin_entry *e)
{
	uint64_t payload;
	memcpy(&payload, f->from + e->offset + 8, sizeof payload);
	append_bytes(f, f->from + e->offset, header_bytes(f, e) + (size_t)payload);
}

/* ---- which entries ----------------------------------------------------------------------------------------------- */

/* Is it code that the run's devices may run: machine code of their architecture, or PTX? */
static bool is_wanted(const struct fatbin *f, const struct sw_fatbin_entry *e)
{
	const struct sw_reduce *what = f->what;
	bool runs = !what->archs && e->arch == f->newest;
	if (e->kind == SW_IMAGE_PTX)
		return !what->no_ptx;
	for (size_t i = 0; i < what->archs; i++)
		runs |= e->arch / 10 == what->arch[i] / 10 && e->arch <= what->arch[i];
	return e->kind == SW_IMAGE_ELF && runs;
}

/* The sort that an entry belongs to, added if it is new. */
static struct sort *sort_of(struct fatbin *f, const struct sw_fatbin_entry *e)
{
	uint64_t flags = e->flags & ~(uint64_t)(SW_FATBIN_LZ4 | SW_FATBIN_ZSTD);
	for (size_t i = 0; i < f->sorts.n; i++) {
		struct sort *s = &f->sorts.at[i];
		if (s->kind == e->kind && s->arch == e->arch && s->flags == flags)
			return s;
	}
	struct sort *s = sw_vec_push(&f->sorts);
	*s = (struct sort){.kind = e->kind, .arch = e->arch, .flags = flags};
	return s;
}

/* Does the content hold launched kernels?  Notes them as found in this sort. */
static bool holds_launched(const struct fatbin *f, struct sort *sort, const void *bytes, size_t size)
{
	struct sw_map found = {0};
	struct sw_map_slot slot;
	reduce_find(f->what->launched, sort->kind, bytes, size, &found);
	for (size_t i = 0; (i = sw_map_next(&found, i, &slot));)
		*sw_map_put(&sort->found, slot.key) = 1;
	const bool any = found.n;
	sw_map_free(&found);
	return any;
}

/* Reduces the content of an entry in place and appends the entry. */
static void put_reduced(struct fatbin *f, const struct sw_fatbin_entry *e, void *content, size_t size)
{
	bool ptx = e->kind == SW_IMAGE_PTX;
	if (ptx)
		reduce_ptx(f->what->launched, content, size);
	else
		reduce_cubin(f->what->launched, content, size);
	put_entry(f, e, content, size + ptx); /* with its NUL */
}

/* For each entry: notes the newest architecture of machine code. */
static int look_at_entry(void *arg, const struct sw_fatbin_entry *e)
{
	struct fatbin *f = arg;
	if (e->kind == SW_IMAGE_ELF && e->arch > f->newest)
		f->newest = e->arch;
	return 0;
}

/* For each entry: appends it, reduced, if it is wanted and has launched kernels, until those of its sort are all
   there. */
static int take_entry(void *arg, const struct sw_fatbin_entry *e)
{
	struct fatbin *f = arg;
	struct sw_error error;
	void *content;
	size_t size;
	bool *told = e->kind == SW_IMAGE_LTOIR ? &f->lto : e->kind == SW_IMAGE_TILEIR ? &f->tile : NULL;
	if (told && !*told) {
		*told = true; /* that there is some says why machine code is missing */
		put_entry(f, e, "", 0);
	}
	if (!is_wanted(f, e))
		return 0;
	struct sort *s = sort_of(f, e);
	if (s->found.n == f->what->launched->n)
		return 0;
	if (sw_fatbin_extract(e, &content, &size, &error)) {
		s->kept++;
		put_unread(f, e);
		return 0;
	}
	if (holds_launched(f, s, content, size)) {
		s->kept++;
		put_reduced(f, e, content, size);
	} else if (!s->any) {
		s->any = true;
		s->first = *e;
	}
	free(content);
	return 0;
}

/* Appends the first entry of a sort of which none was kept: that there is code for an architecture must be known,
   launched kernels or not. */
static void stand_in(struct fatbin *f, const struct sort *s)
{
	struct sw_error error;
	void *content;
	size_t size;
	if (s->kept || !s->any || sw_fatbin_extract(&s->first, &content, &size, &error))
		return;
	put_reduced(f, &s->first, content, size);
	free(content);
}

/* Appends the header of a fatbin, whose size end_fatbin() fills in. */
static void begin_fatbin(struct fatbin *f)
{
	uint64_t header = SW_FATBIN_MAGIC | 1ull << 32 | (uint64_t)SW_FATBIN_HEADER_BYTES << 48, none = 0;
	append_bytes(f, &header, sizeof header);
	append_bytes(f, &none, sizeof none);
}

/* The finished fatbin, malloc'ed. */
static void *end_fatbin(struct fatbin *f, size_t *out_bytes)
{
	const uint64_t entries = f->out.n - SW_FATBIN_HEADER_BYTES;
	memcpy(f->out.at + 8, &entries, sizeof entries);
	*out_bytes = f->out.n;
	return f->out.at;
}

/* A new fatbin, malloc'ed, of the reduced entries that are needed. */
static void *reduce_fatbin(const struct sw_reduce *what, const void *bytes, size_t size, size_t *out_bytes)
{
	struct fatbin f = {.what = what, .from = bytes};
	struct sw_error error;
	begin_fatbin(&f);
	sw_fatbin_walk(bytes, size, look_at_entry, &f, &error);
	sw_fatbin_walk(bytes, size, take_entry, &f, &error);
	for (size_t i = 0; i < f.sorts.n; i++)
		stand_in(&f, &f.sorts.at[i]);
	for (size_t i = 0; i < f.sorts.n; i++)
		sw_map_free(&f.sorts.at[i].found);
	free(f.sorts.at);
	return end_fatbin(&f, out_bytes);
}

/* For the first kernel: ends the walk. */
static int leave_walk(void *arg, const struct sw_cubin_kernel *kernel)
{
	(void)arg, (void)kernel;
	return 1;
}

/* A fatbin, malloc'ed, of this cubin alone.  NULL: it is no cubin with a kernel. */
static void *wrap_cubin(const struct sw_reduce *what, const void *cubin, size_t bytes, size_t *out_bytes)
{
	unsigned char head[SW_FATBIN_ENTRY_BYTES] = {SW_FATBIN_ELF, 0, 1, 1};
	const uint32_t header = sizeof head;
	struct sw_fatbin_entry e = {.kind = SW_IMAGE_ELF, .flags = 1, .payload = head + sizeof head};
	struct fatbin f = {.what = what, .from = head};
	struct sw_error error;
	if (sw_cubin_walk(cubin, bytes, &e.arch, leave_walk, NULL, &error) < 0 || !e.arch)
		return NULL;
	memcpy(head + SW_ENTRY_HEADER, &header, sizeof header);
	memcpy(head + SW_ENTRY_ARCH, &e.arch, sizeof e.arch);
	begin_fatbin(&f);
	put_entry(&f, &e, cubin, bytes);
	return end_fatbin(&f, out_bytes);
}

void *sw_reduce_image(const struct sw_reduce *what, const void *image, size_t bytes, size_t *out_bytes)
{
	enum sw_image_kind kind = sw_image_kind_of(image, bytes);
	if (kind == SW_IMAGE_FATBIN)
		return reduce_fatbin(what, image, bytes, out_bytes);
	bool code = kind == SW_IMAGE_ELF || kind == SW_IMAGE_PTX;
	*out_bytes = code || bytes < NO_CODE_BYTES ? bytes : NO_CODE_BYTES;
	char *copy = memcpy(sw_alloc(*out_bytes + 1), image, *out_bytes);
	copy[*out_bytes] = 0;
	if (kind == SW_IMAGE_ELF)
		reduce_cubin(what->launched, (unsigned char *)copy, bytes);
	else if (kind == SW_IMAGE_PTX)
		reduce_ptx(what->launched, copy, bytes);
	void *wrapped = kind == SW_IMAGE_ELF && what->wrap ? wrap_cubin(what, copy, bytes, out_bytes) : NULL;
	if (wrapped)
		free(copy);
	return wrapped ? wrapped : copy;
}
