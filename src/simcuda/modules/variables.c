/* SPDX-License-Identifier: Apache-2.0 */
/* Module-level variables of cubins and PTX.  The bytes come from the program: every read is bounded. */
#include "simcuda/modules/module.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "image/bytes.h"
#include "image/image.h"
#include "image/ptx.h"

static void add_variable(struct sw_sim_module *m, const char *name, uint64_t size, struct sw_bytes value)
{
	if (!size || size > SW_IMAGE_MAX_BYTES || sw_sim_module_variable(m, name))
		return;
	struct sw_sim_variable *v = sw_vec_push(&m->variables);
	*v = (struct sw_sim_variable){.name = sw_strdup(name), .size = size};
	if (value.n == size) {
		v->bytes = sw_alloc(size);
		memcpy(v->bytes, value.at, size);
	}
}

/* ---- cubins ---- */

struct cubin {
	struct sw_bytes all;
	Elf64_Ehdr head;
};

static Elf64_Shdr section_header(const struct cubin *c, uint32_t index)
{
	Elf64_Shdr s = {0};
	uint64_t at = c->head.e_shoff + (uint64_t)index * sizeof s;
	if (index < c->head.e_shnum && sw_bytes_hold(c->all, at, sizeof s))
		memcpy(&s, c->all.at + at, sizeof s);
	return s;
}

static struct sw_bytes section_content(const struct cubin *c, const Elf64_Shdr *s)
{
	return s->sh_type == SHT_NOBITS ? (struct sw_bytes){0} : sw_bytes_of(c->all, s->sh_offset, s->sh_size);
}

/* __device__ and __managed__ variables are objects in .nv.global*, __constant__ ones in .nv.constant3. */
static void add_symbol(struct sw_sim_module *m, const struct cubin *c, const Elf64_Sym *symbol, struct sw_bytes strings)
{
	Elf64_Shdr names = section_header(c, c->head.e_shstrndx), home = section_header(c, symbol->st_shndx);
	const char *where = sw_bytes_string(section_content(c, &names), home.sh_name);
	const char *name = sw_bytes_string(strings, symbol->st_name);
	if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && name && where &&
	    (!strncmp(where, ".nv.global", 10) || !strcmp(where, ".nv.constant3")))
		add_variable(m, name, symbol->st_size,
			     sw_bytes_of(section_content(c, &home), symbol->st_value, symbol->st_size));
}

static void cubin_variables(struct sw_sim_module *m, struct sw_bytes all)
{
	struct cubin c = {.all = all};
	if (!sw_bytes_hold(all, 0, sizeof c.head))
		return;
	memcpy(&c.head, all.at, sizeof c.head);
	for (uint32_t i = 0; i < c.head.e_shnum; i++) {
		Elf64_Shdr table = section_header(&c, i), strings = section_header(&c, table.sh_link);
		struct sw_bytes symbols = section_content(&c, &table);
		for (uint64_t at = 0; table.sh_type == SHT_SYMTAB && sw_bytes_hold(symbols, at, sizeof(Elf64_Sym));
		     at += sizeof(Elf64_Sym)) {
			Elf64_Sym symbol;
			memcpy(&symbol, symbols.at + at, sizeof symbol);
			add_symbol(m, &c, &symbol, section_content(&c, &strings));
		}
	}
}

/* ---- PTX ---- */

/* Bytes of a fundamental type by its number of bits (".b8", ".f64"); 0 for other words. */
static uint64_t type_bytes(const struct sw_ptx_lexer *l)
{
	static const char *const types[] = {".b8",  ".u8",  ".s8",  ".b16", ".u16", ".s16", ".f16", ".b32",
					    ".u32", ".s32", ".f32", ".b64", ".u64", ".s64", ".f64", ".b128"};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (sw_ptx_is(l, types[i]))
			return strtoul(types[i] + 2, NULL, 10) / 8;
	return 0;
}

/* {.global | .const} [.align N] [.attribute(...)] type name {"[" count "]"} [= ...] ;  Initial values are left zero. */
static void ptx_variable(struct sw_sim_module *m, struct sw_ptx_lexer *l)
{
	char *name = NULL;
	uint64_t bytes = 0, number;
	bool skip = false;
	while (sw_ptx_next(l) && !sw_ptx_is(l, ";") && !sw_ptx_is(l, "=")) {
		uint64_t type = type_bytes(l);
		if (sw_ptx_is(l, "(") || sw_ptx_is(l, ")"))
			skip = sw_ptx_is(l, "(");
		else if (skip)
			continue;
		else if (type)
			bytes = type;
		else if (sw_ptx_is(l, ".align"))
			sw_ptx_next(l);
		else if (sw_ptx_number(l, SW_IMAGE_MAX_BYTES, &number))
			bytes = bytes * number < SW_IMAGE_MAX_BYTES ? bytes * number : 0;
		else if (*l->word != '.' && *l->word != '[' && *l->word != ']' && !name)
			name = sw_strndup(l->word, l->n);
	}
	if (name)
		add_variable(m, name, bytes, (struct sw_bytes){0});
	free(name);
}

static void ptx_variables(struct sw_sim_module *m, struct sw_bytes text)
{
	struct sw_ptx_lexer l = sw_ptx_lexer(text.at, text.n);
	for (unsigned depth = 0; sw_ptx_next(&l);) {
		if (sw_ptx_is(&l, "{"))
			depth++;
		else if (sw_ptx_is(&l, "}"))
			depth -= depth > 0;
		else if (!depth && (sw_ptx_is(&l, ".global") || sw_ptx_is(&l, ".const")))
			ptx_variable(m, &l);
	}
}

void sw_sim_image_variables(struct sw_sim_module *m, const void *image, size_t size)
{
	struct sw_bytes all = {image, size};
	enum sw_image_kind kind = sw_image_kind_of(image, size);
	if (kind == SW_IMAGE_ELF)
		cubin_variables(m, all);
	else if (kind == SW_IMAGE_PTX)
		ptx_variables(m, all);
}
