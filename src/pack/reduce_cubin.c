/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code: the sections of other kernels, and what is there for debuggers, are filled with zeros. */
#include "pack/reduce.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct cubin {
	unsigned char *bytes;
	size_t size;
	Elf64_Ehdr head;
	const struct sw_map *launched;
	struct sw_map others; /* hash of name */
};

static Elf64_Shdr section_at(const struct cubin *c, uint32_t index)
{
	Elf64_Shdr s = {0};
	uint64_t at = c->head.e_shoff + (uint64_t)index * sizeof s;
	if (index < c->head.e_shnum && at <= c->size && sizeof s <= c->size - at)
		memcpy(&s, c->bytes + at, sizeof s);
	return s;
}

static const char *name_of(const struct cubin *c, const Elf64_Shdr *s)
{
	Elf64_Shdr names = section_at(c, c->head.e_shstrndx);
	if (names.sh_offset > c->size || s->sh_name >= c->size - names.sh_offset)
		return "";
	const char *name = (const char *)c->bytes + names.sh_offset + s->sh_name;
	return memchr(name, 0, c->size - names.sh_offset - s->sh_name) ? name : "";
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

/* Functions that are not kernels stay, as a launched kernel may call them. */
static int on_kernel(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct cubin *c = arg;
	uint64_t name = sw_reduce_name(kernel->name, strlen(kernel->name));
	if (!sw_map_get(c->launched, name))
		*sw_map_put(&c->others, name) = 1;
	return 0;
}

static bool is_other(const struct cubin *c, const Elf64_Shdr *s)
{
	const char *name = name_of(c, s);
	return !strncmp(name, ".text.", 6) && sw_map_find(&c->others, sw_reduce_name(name + 6, strlen(name + 6)));
}

void sw_reduce_cubin(const struct sw_map *launched, unsigned char *bytes, size_t size)
{
	struct cubin c = {.bytes = bytes, .size = size, .launched = launched};
	struct sw_error error;
	/* Walked without complaint, its tables are within it. */
	if (size < sizeof c.head || sw_cubin_walk(bytes, size, NULL, on_kernel, &c, &error)) {
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
			blank(&c, i);
	}
	/* Damaged tables, where a section of another kernel lies in that of a launched one, or in the tables. */
	if (!sw_reduce_keeps(launched, SW_IMAGE_ELF, before, bytes, size))
		memcpy(bytes, before, size);
	free(before);
	sw_map_free(&c.others);
}
