/* SPDX-License-Identifier: Apache-2.0 */
#include "fake.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct fake_code fake_ptx[FAKE_ARCHS], fake_sass[FAKE_ARCHS];
atomic_uint fake_modules;
void (*fake_reading)(const char *kernel);

void fake_reset(void)
{
	memset(fake_ptx, 0, sizeof fake_ptx);
	memset(fake_sass, 0, sizeof fake_sass);
	fake_reading = NULL;
}

/* ---- readers ----------------------------------------------------------------------------------------------------- */

struct sw_ptx_module {
	uint32_t arch;
};

int sw_ptx_module_open(const char *text, size_t bytes, struct sw_ptx_module **module, struct sw_error *error)
{
	const char *target = memmem(text, bytes, "sm_", 3);
	uint32_t arch = (uint32_t)strtoul(target + 3, NULL, 10);
	(void)error;
	*module = sw_calloc(1, sizeof **module);
	(*module)->arch = arch;
	fake_modules++;
	return 0;
}

void sw_ptx_module_close(struct sw_ptx_module *module)
{
	fake_modules--;
	free(module);
}

uint32_t sw_ptx_module_arch(const struct sw_ptx_module *module)
{
	return module->arch;
}

static int read_code(struct fake_code *code, const char *kernel, struct sw_program *program, struct sw_error *error)
{
	code->read++;
	if (fake_reading)
		fake_reading(kernel);
	if (code->broken)
		return sw_fail(error, SW_E_FORMAT, "broken as told");
	*program = (struct sw_program){.wild = code->unknown ? "wild as told" : NULL, .params = code->unknown};
	return 0;
}

int sw_ptx_read(const struct sw_ptx_module *module, const char *kernel, struct sw_program *program,
		struct sw_error *error)
{
	return read_code(&fake_ptx[module->arch], kernel, program, error);
}

int sw_sass_read(const void *cubin, size_t bytes, const char *kernel, struct sw_program *program, uint32_t *arch,
		 struct sw_error *error)
{
	(void)bytes;
	*arch = ((const unsigned char *)cubin)[49];
	return read_code(&fake_sass[*arch], kernel, program, error);
}

struct sw_footprint *sw_footprint_build(const struct sw_program *program, enum sw_code_source source, uint32_t arch)
{
	struct sw_footprint *f = sw_calloc(1, sizeof *f);
	*f = (struct sw_footprint){
		.source = source, .arch = arch, .wild = program->wild ? 1 : 0, .sites = program->params};
	f->roots = f->sites;
	f->strings = program->wild ? (uint32_t)strlen(program->wild) + 2 : 1;
	f->string = sw_arena_alloc(&f->arena, f->strings);
	if (program->wild)
		strcpy(f->string + 1, program->wild);
	f->site = sw_arena_alloc(&f->arena, (f->sites + 1) * sizeof *f->site);
	f->root = sw_arena_alloc(&f->arena, (f->roots + 1) * sizeof *f->root);
	for (uint32_t i = 0; i < f->sites; i++) {
		f->site[i] = (struct sw_access_site){
			.role = SW_TOUCH_READ, .address = SW_NO_TERM, .size = SW_NO_TERM, .root = i, .roots = 1};
		f->root[i] = (struct sw_root){.kind = SW_ROOT_UNKNOWN};
	}
	return f;
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

static size_t grow(struct fake_image *image, size_t bytes)
{
	size_t at = image->n;
	if (at + bytes > image->room) {
		image->room = 2 * (at + bytes);
		image->bytes = sw_realloc(image->bytes, image->room, 1);
	}
	memset(image->bytes + at, 0, bytes);
	image->n += bytes;
	return at;
}

static void append(struct fake_image *image, const void *data, size_t bytes)
{
	size_t at = grow(image, bytes);
	memcpy(image->bytes + at, data, bytes);
}

static size_t next_name(const char **kernels, char *name)
{
	size_t n = strcspn(*kernels, " ");
	memcpy(name, *kernels, n);
	name[n] = 0;
	*kernels += n + strspn(*kernels + n, " ");
	return n;
}

static void put_ptx(struct fake_image *image, uint32_t arch, const char *kernels)
{
	char name[256], *text = sw_format(".version 8.0\n.target sm_%u\n.address_size 64\n", arch);
	append(image, text, strlen(text));
	free(text);
	while (next_name(&kernels, name)) {
		text = sw_format(".visible .entry %s(.param .u64 p) { ret; }\n", name);
		append(image, text, strlen(text));
		free(text);
	}
}

/* Sections: none, names, symbols, then the kernels' code of 16 bytes each. */
static void put_elf(struct fake_image *image, uint32_t arch, const char *kernels)
{
	enum { MAX = 1024 };
	struct fake_image names = {0};
	static Elf64_Shdr section[MAX + 3];
	static Elf64_Sym symbol[MAX];
	char name[256];
	uint16_t n = 0;
	append(&names, "", 1);
	append(&names, ".names", 7);
	memset(section, 0, sizeof section);
	memset(symbol, 0, sizeof symbol);
	while (next_name(&kernels, name) && n < MAX) {
		section[n + 3] = (Elf64_Shdr){.sh_name = (Elf64_Word)names.n, .sh_type = SHT_PROGBITS, .sh_size = 16};
		symbol[n] = (Elf64_Sym){.st_info = STT_FUNC, .st_other = 0x10, .st_shndx = (uint16_t)(n + 3)};
		append(&names, ".text.", 6);
		append(&names, name, strlen(name) + 1);
		n++;
	}
	size_t symbols = sizeof(Elf64_Ehdr) + names.n, code = symbols + n * sizeof *symbol, table = code + n * 16;
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1, 51, 8},
			   .e_machine = 190,
			   .e_shoff = table,
			   .e_flags = arch << 8,
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = (uint16_t)(n + 3),
			   .e_shstrndx = 1};
	section[1] = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = sizeof head, .sh_size = names.n};
	section[2] = (Elf64_Shdr){.sh_type = SHT_SYMTAB, .sh_offset = symbols, .sh_size = n * sizeof *symbol};
	for (uint16_t i = 0; i < n; i++)
		section[i + 3].sh_offset = code + i * 16u;
	append(image, &head, sizeof head);
	append(image, names.bytes, names.n);
	append(image, symbol, n * sizeof *symbol);
	grow(image, n * 16);
	append(image, section, (size_t)(n + 3) * sizeof *section);
	free(names.bytes);
}

void fake_plain(struct fake_image *image, enum fake_kind kind, uint32_t arch, const char *kernels)
{
	static const unsigned char lto[16] = {0xed, 0x43, 0x4e, 0x7f}, tile[16] = "\x7fTileIR";
	if (kind == FAKE_PTX)
		put_ptx(image, arch, kernels);
	else if (kind == FAKE_ELF)
		put_elf(image, arch, kernels);
	else
		append(image, kind == FAKE_TILEIR ? tile : lto, sizeof lto);
}

static size_t block; /* offset of the block that entries are added to */

void fake_block(struct fake_image *image)
{
	static const unsigned char head[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16};
	block = image->n;
	append(image, head, sizeof head);
}

void fake_entry(struct fake_image *image, enum fake_kind kind, uint32_t arch, uint64_t flags, const char *kernels)
{
	size_t at = grow(image, 64), payload;
	uint32_t header = 64;
	fake_plain(image, kind, arch, kernels);
	grow(image, -image->n & 7);
	payload = image->n - at - 64;
	image->bytes[at] = (unsigned char)kind;
	memcpy(image->bytes + at + 4, &header, 4);
	memcpy(image->bytes + at + 8, &payload, 8);
	memcpy(image->bytes + at + 28, &arch, 4);
	memcpy(image->bytes + at + 40, &flags, 8);
	size_t claimed = image->n - block - 16;
	memcpy(image->bytes + block + 8, &claimed, 8);
}

void fake_free(struct fake_image *image)
{
	free(image->bytes);
	*image = (struct fake_image){0};
}

static const void *bytes_of(void *arg, size_t *size, struct sw_error *error)
{
	struct fake_image *image = arg;
	image->asked++;
	if (image->unavailable) {
		sw_fail(error, SW_E_UNSUPPORTED, "%s", image->unavailable);
		return NULL;
	}
	*size = image->n;
	return image->bytes;
}

struct sw_footprint_image fake_named(struct fake_image *image, uint64_t id, uint64_t hash)
{
	return (struct sw_footprint_image){.id = id, .hash = hash, .bytes = bytes_of, .arg = image};
}
