/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/platform/loaded_object.h"

#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arch.h"

#define PAGE   sw_arch_page_bytes()
#define HIDDEN 0x8000u /* of a version: an old one, which names without a version do not mean */

struct search {
	uintptr_t address;
	struct sw_loaded_object *object;
};

/* Reads from the loader's list where an object lies: the range of its segments, its dynamic section, its path. */
void sw_object_read(struct sw_loaded_object *object, const struct dl_phdr_info *info)
{
	object->start = UINTPTR_MAX;
	object->end = object->dynamic = 0;
	object->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uintptr_t at = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_DYNAMIC)
			object->dynamic = at;
		if (segment->p_type != PT_LOAD)
			continue;
		object->start = at < object->start ? at : object->start;
		object->end = at + segment->p_memsz > object->end ? at + segment->p_memsz : object->end;
	}
	object->path[0] = '\0';
	if (info->dlpi_name)
		strncat(object->path, info->dlpi_name, sizeof object->path - 1);
}

/* For dl_iterate_phdr(): reads the object, and stops if it holds the address. */
static int search_object(struct dl_phdr_info *info, size_t size, void *with)
{
	struct search *search = with;

	(void)size;
	sw_object_read(search->object, info);
	return sw_object_has(search->object, (const void *)search->address);
}

/* Finds the loaded object that the address lies in, by the loader's list.  False: none. */
bool sw_object_of(const void *address, struct sw_loaded_object *object)
{
	struct search search = {(uintptr_t)address, object};

	return dl_iterate_phdr(search_object, &search) == 1;
}

/* ---- its symbols ------------------------------------------------------------------------------------------------- */

struct tables {
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *gnu, *sysv;
	const ElfW(Versym) * versions;
	const ElfW(Rela) * relocations[2];
	size_t relocation_bytes[2];
	size_t relative; /* so many of [1] come first and name no symbol */
};

/* Where an object's dynamic section says that its symbols, hash tables and relocations lie. */
static struct tables tables_of(const struct sw_loaded_object *object)
{
	struct tables t = {0};

	for (const ElfW(Dyn) *d = (const void *)object->dynamic; d && d->d_tag != DT_NULL; d++) {
		/* The loader makes most of them absolute. */
		const ElfW(Addr) address = d->d_un.d_ptr < object->base ? d->d_un.d_ptr + object->base : d->d_un.d_ptr;
		const void *at = (const void *)address;

		if (d->d_tag == DT_SYMTAB)
			t.symbols = at;
		else if (d->d_tag == DT_STRTAB)
			t.names = at;
		else if (d->d_tag == DT_GNU_HASH)
			t.gnu = at;
		else if (d->d_tag == DT_HASH)
			t.sysv = at;
		else if (d->d_tag == DT_VERSYM)
			t.versions = at;
		else if (d->d_tag == DT_JMPREL || d->d_tag == DT_RELA)
			t.relocations[d->d_tag == DT_RELA] = at;
		else if (d->d_tag == DT_PLTRELSZ || d->d_tag == DT_RELASZ)
			t.relocation_bytes[d->d_tag == DT_RELASZ] = d->d_un.d_val;
		else if (d->d_tag == DT_RELACOUNT)
			t.relative = d->d_un.d_val;
	}
	return t;
}

/* Is symbol `at` a function of this name that the object defines? */
static bool is_function(const struct tables *t, uint32_t at, const char *name)
{
	const ElfW(Sym) *symbol = &t->symbols[at];

	return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
	       !(t->versions && t->versions[at] & HIDDEN) && strcmp(t->names + symbol->st_name, name) == 0;
}

/* The symbol of a function by DT_GNU_HASH; 0: none. */
static uint32_t find_gnu(const struct tables *t, const char *name)
{
	const uint32_t buckets = t->gnu[0], first = t->gnu[1], *bucket = t->gnu + 4 + 2 * (size_t)t->gnu[2];
	uint32_t hash = 5381, at;

	for (const unsigned char *c = (const void *)name; *c; c++)
		hash = hash * 33 + *c;
	at = buckets ? bucket[hash % buckets] : 0;
	for (; at >= first && at; at++) {
		const uint32_t link = bucket[buckets + at - first];

		if ((link | 1) == (hash | 1) && is_function(t, at, name))
			return at;
		if (link & 1)
			break;
	}
	return 0;
}

/* The symbol of a function by DT_HASH; 0: none. */
static uint32_t find_sysv(const struct tables *t, const char *name)
{
	const uint32_t buckets = t->sysv[0];
	uint32_t hash = 0, at;

	for (const unsigned char *c = (const void *)name; *c; c++) {
		hash = (hash << 4) + *c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	at = buckets ? t->sysv[2 + hash % buckets] : 0;
	while (at && !is_function(t, at, name))
		at = t->sysv[2 + buckets + at];
	return at;
}

/* Looks the name up in the object's own hash table: dlsym() would search other objects, and may be replaced. */
void *sw_object_function(const struct sw_loaded_object *object, const char *name)
{
	const struct tables t = tables_of(object);
	uint32_t at = 0;

	if (t.symbols && t.names && (t.gnu || t.sysv))
		at = t.gnu ? find_gnu(&t, name) : find_sysv(&t, name);
	return at ? (void *)(object->base + t.symbols[at].st_value) : NULL;
}

/* Visits the slots through which an object uses functions and variables of others; they are filled by relocations of
   undefined symbols, in one table for calls and one for data. */
void sw_object_imports(const struct sw_loaded_object *object, void (*visit)(const char *name, void **slot, void *with),
		       void *with)
{
	const struct tables t = tables_of(object);

	for (int i = 0; i < 2 && t.symbols && t.names; i++) {
		const ElfW(Rela) *end = t.relocations[i] + t.relocation_bytes[i] / sizeof *end;
		const ElfW(Rela) *first = t.relocations[i] ? t.relocations[i] + (i ? t.relative : 0) : NULL;

		for (const ElfW(Rela) *r = first; r && r < end; r++) {
			const ElfW(Sym) *symbol = &t.symbols[ELF64_R_SYM(r->r_info)];
			const uint32_t type = ELF64_R_TYPE(r->r_info);

			if ((type == SW_ARCH_JUMP_SLOT || type == SW_ARCH_GLOB_DAT ||
			     (type == SW_ARCH_POINTER && r->r_addend == 0)) &&
			    symbol->st_shndx == SHN_UNDEF && symbol->st_name)
				visit(t.names + symbol->st_name, (void **)(object->base + r->r_offset), with);
		}
	}
}

struct protection {
	uintptr_t slot;
	bool fixed;
};

/* For dl_iterate_phdr(): does the slot lie in pages that the loader made read-only? */
static int find_protection(struct dl_phdr_info *info, size_t size, void *with)
{
	struct protection *p = with;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uintptr_t at = (info->dlpi_addr + segment->p_vaddr) & -(uintptr_t)PAGE;
		const uintptr_t end = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz) & -(uintptr_t)PAGE;

		if (segment->p_type == PT_GNU_RELRO && p->slot >= at && p->slot < end) {
			p->fixed = true;
			return 1;
		}
	}
	return 0;
}

/* Stores another address into such a slot.  In objects linked with "-z relro" slots can only be read: their page is
   opened for the store. */
bool sw_object_set_import(void **slot, void *function)
{
	struct protection p = {.slot = (uintptr_t)slot};
	void *page = (void *)((uintptr_t)slot & -(uintptr_t)PAGE);
	const int saved = errno;
	bool changed = true;

	dl_iterate_phdr(find_protection, &p);
	if (p.fixed)
		changed = mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0;
	if (changed)
		__atomic_store_n(slot, function, __ATOMIC_RELEASE);
	if (p.fixed && changed)
		mprotect(page, PAGE, PROT_READ);
	errno = saved;
	return changed;
}
