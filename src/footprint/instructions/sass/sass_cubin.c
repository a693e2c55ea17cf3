/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a cubin that the reader needs in addition to kernels: sections, symbols, relocations, attributes.
   Untrusted input. */
#include <elf.h>
#include <stdlib.h>

#include "footprint/instructions/sass/sass.h"
#include "image/formats.h"
#include "image/image.h"

/* Attributes of .nv.info.<kernel>. */
#define INFO_PARAM_BANK	  0x0a /* u32 symbol, u16 offset of the parameters in bank 0, u16 bytes */
#define INFO_JUMP_TARGETS 0x34 /* u32 offset of the jump, u16, u16, u32 n, n x u32 offsets */

/* The header of a section; all zero where there is no such section. */
static Elf64_Shdr section_header(const struct sw_sass_cubin *c, uint32_t section)
{
	Elf64_Shdr s = {0};
	if (section < c->sections && sw_bytes_hold(c->all, c->table + (uint64_t)section * sizeof s, sizeof s))
		memcpy(&s, c->all.at + c->table + (uint64_t)section * sizeof s, sizeof s);
	return s;
}

struct sw_bytes sw_sass_cubin_content(const struct sw_sass_cubin *c, uint32_t section)
{
	Elf64_Shdr s = section_header(c, section);
	if (!section || s.sh_type == SHT_NOBITS)
		return (struct sw_bytes){0};
	return sw_bytes_of(c->all, s.sh_offset, s.sh_size);
}

/* The name of a section; "" where it has none. */
static const char *name_of(const struct sw_sass_cubin *c, uint32_t section)
{
	const char *name = sw_bytes_string(c->names, section_header(c, section).sh_name);
	return name ? name : "";
}

const char *sw_sass_cubin_symbol(const struct sw_sass_cubin *c, uint64_t index, uint32_t *section, uint64_t *value,
				 uint64_t *bytes)
{
	struct sw_bytes table = sw_sass_cubin_content(c, c->symtab);
	Elf64_Sym symbol;
	if (index > UINT32_MAX || !sw_bytes_hold(table, index * sizeof symbol, sizeof symbol))
		return NULL;
	memcpy(&symbol, table.at + index * sizeof symbol, sizeof symbol);
	*section = symbol.st_shndx < c->sections ? symbol.st_shndx : 0;
	*value = symbol.st_value;
	*bytes = symbol.st_size;
	return sw_bytes_string(sw_sass_cubin_content(c, section_header(c, c->symtab).sh_link), symbol.st_name);
}

/* The kernel that is looked for. */
struct layout {
	struct sw_sass_cubin *cubin;
	const char *kernel;
	bool found;
};
/* Takes the parameters of the kernel that is looked for; a callback of sw_cubin_walk_named(). */
static int take_layout(void *arg, const struct sw_cubin_kernel *k)
{
	struct layout *l = arg;
	if (strcmp(k->name, l->kernel))
		return 0;
	l->found = true;
	l->cubin->params = k->params;
	l->cubin->param_bytes = k->param_bytes;
	l->cubin->param = sw_calloc(k->params + 1, sizeof *k->param);
	if (k->params)
		memcpy(l->cubin->param, k->param, k->params * sizeof *k->param);
	return 1;
}

/* Notes a section that is a bank of constants: ".nv.constant2.<kernel>" belongs to the section that it names in
   sh_info, ".nv.constant3" to all. */
static void take_bank(struct sw_sass_cubin *c, uint32_t i, const char *name)
{
	static const char prefix[] = ".nv.constant";
	if (strncmp(name, prefix, sizeof prefix - 1))
		return;
	char *end;
	unsigned long bank = strtoul(name + sizeof prefix - 1, &end, 10);
	if (bank < sizeof c->bank / sizeof *c->bank && (!*end || section_header(c, i).sh_info == c->code))
		c->bank[bank] = i;
}

/* The kind of value that a relocation of this number puts into an instruction.  Seen with nvcc 13.0, linked and
   unlinked; calls on sm_80, and from sm_90 on. */
static enum sw_sass_relocation_kind kind_of(uint32_t type)
{
	switch (type) {
	case 0x38:
		return SW_RELOCATION_LOW;
	case 0x39:
		return SW_RELOCATION_HIGH;
	case 0x3a:
	case 0x4b:
		return SW_RELOCATION_CALL;
	default:
		return SW_RELOCATION_OTHER;
	}
}

/* Notes the relocations of the kernel's code.  Those without an addend field have the addend in the instruction's
   immediate; only 0 was met there. */
static void take_relocations(struct sw_sass_cubin *c, uint32_t section, bool addends)
{
	struct sw_bytes table = sw_sass_cubin_content(c, section), code = sw_sass_cubin_content(c, c->code);
	size_t size = addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	for (uint64_t at = 0; sw_bytes_hold(table, at, size); at += size) {
		Elf64_Rela r = {0};
		memcpy(&r, table.at + at, size);
		struct sw_sass_relocation *new = sw_vec_push(&c->relocation);
		*new = (struct sw_sass_relocation){.kind = kind_of((uint32_t)ELF64_R_TYPE(r.r_info)),
						   .symbol = (uint32_t)ELF64_R_SYM(r.r_info),
						   .addend = r.r_addend};
		if (!addends && new->kind != SW_RELOCATION_CALL && sw_u32(code, r.r_offset + 4))
			new->kind = SW_RELOCATION_OTHER;
		*sw_map_put(&c->relocated, r.r_offset / 16 * 16) = c->relocation.n;
	}
}

/* Finds the sections that belong to the kernel: code, constants, attributes, relocations. */
static void find_sections(struct sw_sass_cubin *c, const char *kernel)
{
	for (uint32_t i = 1; i < c->sections; i++) {
		const char *name = name_of(c, i);
		if (!strncmp(name, ".text.", 6) && !strcmp(name + 6, kernel))
			c->code = i;
		else if (section_header(c, i).sh_type == SHT_SYMTAB)
			c->symtab = i;
	}
	for (uint32_t i = 1; i < c->sections; i++) {
		const char *name = name_of(c, i);
		Elf64_Shdr s = section_header(c, i);
		bool relocates = s.sh_type == SHT_RELA || s.sh_type == SHT_REL;
		c->tile |= s.sh_type == SW_ELF_EMBEDDED_HOST; /* before 13.3 the kernel does not say its language */
		take_bank(c, i, name);
		if (relocates && s.sh_info == c->code)
			take_relocations(c, i, s.sh_type == SHT_RELA);
		if (s.sh_info == c->code && !strncmp(name, ".nv.info.", 9))
			c->info = i;
		else if (relocates && !strcmp(name, s.sh_type == SHT_RELA ? ".rela.nv.constant4" : ".rel.nv.constant4"))
			c->bank4_rela[s.sh_type == SHT_REL] = i;
	}
}

void sw_sass_cubin_symbols(struct sw_sass_cubin *c)
{
	if (c->has_symbols)
		return;
	c->has_symbols = true;
	struct sw_bytes table = sw_sass_cubin_content(c, c->symtab);
	for (uint64_t i = 0; (i + 1) * sizeof(Elf64_Sym) <= table.n; i++) {
		Elf64_Sym symbol;
		uint32_t section;
		uint64_t at, bytes;
		memcpy(&symbol, table.at + i * sizeof symbol, sizeof symbol);
		const char *name = sw_sass_cubin_symbol(c, i, &section, &at, &bytes);
		if (!name || !section)
			continue;
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
			*sw_vec_push(&c->function) = (struct sw_sass_function){name, section, at, bytes};
		else if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT)
			*sw_vec_push(&c->variable) =
				(struct sw_sass_variable){name, section, at, bytes, section == c->bank[3]};
	}
}

/* Reads from the kernel's attributes where parameters begin in bank 0, and whether it was made of Tile IR. */
static void read_info(struct sw_sass_cubin *c)
{
	struct sw_bytes info = sw_sass_cubin_content(c, c->info);
	for (uint64_t at = 0; sw_bytes_hold(info, at, 4);) {
		bool sized = sw_u8(info, at) == SW_NVINFO_SIZED;
		uint16_t n = sized ? sw_u16(info, at + 2) : 0;
		if (sized && sw_u8(info, at + 1) == INFO_PARAM_BANK && n >= 8) {
			c->param_base = sw_u16(info, at + 8);
			c->param_bytes = sw_u16(info, at + 10);
		}
		if (sized && sw_u8(info, at + 1) == SW_NVINFO_LANGUAGE && n >= 4)
			c->tile |= sw_u32(info, at + 4) == SW_LANGUAGE_TILEIR;
		at += 4u + n;
	}
}

struct sw_bytes sw_sass_cubin_targets(const struct sw_sass_cubin *c, uint64_t offset, uint32_t *n)
{
	struct sw_bytes info = sw_sass_cubin_content(c, c->info);
	*n = 0;
	for (uint64_t at = 0; sw_bytes_hold(info, at, 4);) {
		bool sized = sw_u8(info, at) == SW_NVINFO_SIZED;
		uint16_t bytes = sized ? sw_u16(info, at + 2) : 0;
		struct sw_bytes data = sw_bytes_of(info, at + 4, bytes);
		uint64_t all = sw_u8(info, at + 1) == INFO_JUMP_TARGETS ? data.n : 0;
		for (uint64_t p = 0; p + 12 <= all;) { /* several jumps may share one attribute */
			uint32_t count = sw_u32(data, p + 8);
			struct sw_bytes list = sw_bytes_of(data, p + 12, 4ull * count);
			if (sw_u32(data, p) == offset && list.n) {
				*n = count;
				return list;
			}
			p += 12 + 4ull * count;
		}
		at += 4u + bytes;
	}
	return (struct sw_bytes){0};
}

bool sw_sass_cubin_address(const struct sw_sass_cubin *c, uint64_t offset, uint64_t *symbol, int64_t *addend)
{
	for (unsigned plain = 0; plain < 2; plain++) {
		struct sw_bytes table = sw_sass_cubin_content(c, c->bank4_rela[plain]);
		size_t size = plain ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
		for (uint64_t at = 0; sw_bytes_hold(table, at, size); at += size) {
			Elf64_Rela r = {0};
			memcpy(&r, table.at + at, size);
			if (r.r_offset != offset)
				continue;
			*symbol = ELF64_R_SYM(r.r_info);
			*addend = plain ? (int64_t)sw_u64(sw_sass_cubin_content(c, c->bank[4]), offset) : r.r_addend;
			return true;
		}
	}
	return false;
}

int sw_sass_cubin_open(struct sw_sass_cubin *c, const void *bytes, size_t size, const char *kernel,
		       struct sw_error *error)
{
	*c = (struct sw_sass_cubin){.all = {bytes, size}};
	struct layout layout = {c, kernel, false};
	int rc = sw_cubin_walk_named(bytes, size, kernel, &c->arch, take_layout, &layout, error);
	if (rc < 0)
		return rc;
	if (!layout.found)
		return sw_fail(error, SW_E_FORMAT, "cubin: there is no kernel %.200s in it", kernel);
	Elf64_Ehdr h;
	memcpy(&h, bytes, sizeof h); /* sw_cubin_walk has checked header and table */
	c->table = h.e_shoff;
	c->sections = 1;
	Elf64_Shdr first = section_header(c, 0);
	c->sections = h.e_shnum ? h.e_shnum : (uint32_t)first.sh_size;
	c->names = sw_sass_cubin_content(c, h.e_shstrndx == SHN_XINDEX ? first.sh_link : h.e_shstrndx);
	find_sections(c, kernel);
	read_info(c);
	if (c->arch < 75 || c->arch >= 130) {
		sw_sass_cubin_close(c);
		return sw_fail(error, SW_E_UNSUPPORTED, "cubin: machine code of sm_%u can't be read", c->arch);
	}
	/* CUDA Programming Guide, "Writing Tile Kernels": it is launched with blocks of one thread.  Its code runs in
	   as many as the compiler chose, and numbers them: what it says of threads is not true of the launch. */
	if (c->tile) {
		sw_sass_cubin_close(c);
		return sw_fail(error, SW_E_UNSUPPORTED, "cubin: %.200s is a tile kernel (Tile IR), which isn't read",
			       kernel);
	}
	return 0;
}

void sw_sass_cubin_close(struct sw_sass_cubin *c)
{
	free(c->param);
	free(c->function.at);
	free(c->variable.at);
	free(c->relocation.at);
	sw_map_free(&c->relocated);
	*c = (struct sw_sass_cubin){0};
}
