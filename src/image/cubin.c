/* SPDX-License-Identifier: Apache-2.0 */
/* Reads cubins: kernels and the layout of their parameters. */
#include <elf.h>
#include <stdlib.h>

#include "base/memory.h"
#include "image/bytes.h"
#include "image/formats.h"
#include "image/image.h"

/* More parameters than the largest block (32764 bytes, CUDA C++ Programming Guide, "Function Parameters") can hold. */
#define PARAMS_MAX 32764

struct cubin {
	struct sw_bytes all;
	uint64_t sections; /* offset of the table */
	uint32_t n;	   /* sections */
	struct sw_bytes names;
	const char *only; /* the kernel that is asked for; NULL: all */
	uint32_t symbols; /* 0: none */
	struct section {
		bool kernel;
		uint32_t info; /* .nv.info section of a .text section, 0: none */
	} * section;
};

/* The header of a section; all zero where the index is too large. */
static Elf64_Shdr section_at(const struct cubin *c, uint32_t index)
{
	Elf64_Shdr s = {0};
	if (index < c->n)
		memcpy(&s, c->all.at + c->sections + (uint64_t)index * sizeof s, sizeof s);
	return s;
}

/* The bytes of a section; none where it has none or they go beyond the file. */
static struct sw_bytes section_content(const struct cubin *c, uint32_t index)
{
	Elf64_Shdr s = section_at(c, index);
	return s.sh_type == SHT_NOBITS ? (struct sw_bytes){0} : sw_bytes_of(c->all, s.sh_offset, s.sh_size);
}

/* The name of a section; "" where that cannot be read. */
static const char *section_name(const struct cubin *c, uint32_t index)
{
	const char *name = sw_bytes_string(c->names, section_at(c, index).sh_name);
	return name ? name : "";
}

/* Finds the table of sections of a cubin.  <0: it has none that fits.  c->section is to be freed. */
static int open_cubin(struct cubin *c, const void *bytes, size_t size, struct sw_error *error)
{
	Elf64_Ehdr h;
	*c = (struct cubin){.all = {bytes, size}};
	if (sw_image_kind_of(bytes, size) != SW_IMAGE_ELF)
		return sw_fail(error, SW_E_FORMAT, "cubin: offset 0: not an ELF file of the CUDA architecture");
	memcpy(&h, bytes, sizeof h);
	if (h.e_shentsize != sizeof(Elf64_Shdr) || !sw_bytes_hold(c->all, h.e_shoff, sizeof(Elf64_Shdr)))
		return sw_fail(error, SW_E_FORMAT, "cubin: offset %zu: no section table at %#llx",
			       offsetof(Elf64_Ehdr, e_shoff), (unsigned long long)h.e_shoff);
	c->sections = h.e_shoff;
	c->n = 1;
	/* ELF, "Section Header": more than 0xff00 sections are counted in the first one. */
	Elf64_Shdr first = section_at(c, 0);
	uint64_t n = h.e_shnum ? h.e_shnum : first.sh_size;
	if (!n || n > UINT32_MAX || !sw_bytes_hold(c->all, c->sections, n * sizeof(Elf64_Shdr)))
		return sw_fail(error, SW_E_FORMAT,
			       "cubin: offset %llu: the table of %llu sections does not fit into the file",
			       (unsigned long long)c->sections, (unsigned long long)n);
	c->n = (uint32_t)n;
	c->names = section_content(c, h.e_shstrndx == SHN_XINDEX ? first.sh_link : h.e_shstrndx);
	c->section = sw_calloc(n, sizeof *c->section);
	return 0;
}

/* Marks the .text sections of kernels, and notes the .nv.info section of each.  Static kernels have local symbols,
   so the CUDA entry bit decides, not the binding. */
static void find_kernels(struct cubin *c)
{
	for (uint32_t i = 1; i < c->n; i++) {
		Elf64_Shdr s = section_at(c, i);
		if (s.sh_type == SHT_SYMTAB)
			c->symbols = i;
		else if (s.sh_info < c->n && !strncmp(section_name(c, i), ".nv.info.", 9))
			c->section[s.sh_info].info = i;
	}
	struct sw_bytes symbols = c->symbols ? section_content(c, c->symbols) : (struct sw_bytes){0};
	for (uint64_t at = 0; sw_bytes_hold(symbols, at, sizeof(Elf64_Sym)); at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;
		memcpy(&symbol, symbols.at + at, sizeof symbol);
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_other & SW_CUDA_ENTRY &&
		    symbol.st_shndx < c->n)
			c->section[symbol.st_shndx].kernel = true;
	}
}

/* Where a kernel's parameters lie in its parameter block. */
struct layout {
	SW_VEC(struct sw_param) params;
	uint32_t bytes; /* of the block, 0 unknown */
};

/* Notes the place of one parameter; numbers that no kernel can have are ignored. */
static void put_param(struct layout *l, uint32_t ordinal, uint16_t offset, uint32_t bytes)
{
	if (ordinal >= PARAMS_MAX || bytes > UINT16_MAX)
		return;
	while (l->params.n <= ordinal)
		*sw_vec_push(&l->params) = (struct sw_param){0};
	l->params.at[ordinal] = (struct sw_param){offset, (uint16_t)bytes};
}

/* Reads the layout of a kernel's parameters from the attributes in its .nv.info section. */
static void read_layout(struct sw_bytes info, struct layout *l)
{
	l->params.n = 0;
	l->bytes = 0;
	for (uint64_t at = 0; sw_bytes_hold(info, at, 4);) {
		uint8_t form = sw_u8(info, at), attribute = sw_u8(info, at + 1);
		uint16_t value = sw_u16(info, at + 2);
		struct sw_bytes data = sw_bytes_of(info, at + 4, form == SW_NVINFO_SIZED ? value : 0);
		if (form == SW_NVINFO_SIZED && attribute == SW_NVINFO_PARAM && data.n >= 12)
			put_param(l, sw_u16(data, 4), sw_u16(data, 6), sw_u32(data, 8) >> 18);
		else if (form == SW_NVINFO_SIZED && attribute == SW_NVINFO_PARAM_LARGE && data.n >= 10)
			put_param(l, sw_u16(data, 4), sw_u16(data, 6), sw_u16(data, 8));
		else if (form != SW_NVINFO_SIZED && attribute == SW_NVINFO_PARAM_BYTES)
			l->bytes = value;
		at += 4 + (form == SW_NVINFO_SIZED ? value : 0);
	}
}

/* Is each parameter described?  One that no attribute describes (its number was skipped) leaves the whole layout
   unknown. */
static bool layout_whole(const struct layout *l)
{
	for (size_t i = 0; i < l->params.n; i++)
		if (!l->params.at[i].bytes)
			return false;
	return true;
}

/* Calls back for each kernel, or the one that is asked for.  <0: a kernel's code or layout is damaged. */
static int each_kernel(struct cubin *c, int (*each)(void *arg, const struct sw_cubin_kernel *kernel), void *arg,
		       struct sw_error *error)
{
	struct layout layout = {0};
	int rc = 0;
	for (uint32_t i = 1; i < c->n && !rc; i++) {
		const char *name = c->section[i].kernel ? section_name(c, i) : "";
		if (strncmp(name, ".text.", 6) || (c->only && strcmp(name + 6, c->only)))
			continue;
		struct sw_bytes code = section_content(c, i);
		Elf64_Shdr s = section_at(c, i);
		if (code.n != s.sh_size) {
			rc = sw_fail(error, SW_E_FORMAT,
				     "cubin: offset %llu: section %u of %llu bytes goes beyond the end",
				     (unsigned long long)s.sh_offset, i, (unsigned long long)s.sh_size);
			break;
		}
		read_layout(c->section[i].info ? section_content(c, c->section[i].info) : (struct sw_bytes){0},
			    &layout);
		if (!layout_whole(&layout)) {
			rc = sw_fail(error, SW_E_FORMAT, "cubin: offset %llu: a parameter of %.200s is not described",
				     (unsigned long long)section_at(c, c->section[i].info).sh_offset, name + 6);
			break;
		}
		rc = each(arg, &(struct sw_cubin_kernel){
				       .name = name + 6,
				       .params = (uint32_t)layout.params.n,
				       .param = layout.params.at,
				       .param_bytes = layout.bytes,
				       .code = code.at,
				       .code_bytes = code.n,
			       });
	}
	free(layout.params.at);
	return rc;
}

int sw_cubin_walk_named(const void *cubin, size_t size, const char *name, uint32_t *arch,
			int (*each)(void *arg, const struct sw_cubin_kernel *kernel), void *arg, struct sw_error *error)
{
	struct cubin c;
	int rc = open_cubin(&c, cubin, size, error);
	if (rc)
		return rc;
	c.only = name;
	if (arch) {
		uint32_t flags = sw_u32(c.all, offsetof(Elf64_Ehdr, e_flags));
		*arch = c.all.at[EI_ABIVERSION] >= SW_CUDA_ABI_ARCH_SHIFTED ? flags >> 8 & 0xff : flags & 0xff;
	}
	find_kernels(&c);
	rc = each_kernel(&c, each, arg, error);
	free(c.section);
	return rc;
}

int sw_cubin_walk(const void *cubin, size_t size, uint32_t *arch,
		  int (*each)(void *arg, const struct sw_cubin_kernel *kernel), void *arg, struct sw_error *error)
{
	return sw_cubin_walk_named(cubin, size, NULL, arch, each, arg, error);
}
