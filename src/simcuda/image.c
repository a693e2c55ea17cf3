/* SPDX-License-Identifier: Apache-2.0 */
/* Reads kernels and variables of a code image.  The bytes come from the program: every read is bounded. */
#include "simcuda/module.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/bytes.h"
#include "image/image.h"

void *sw_sim_image_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f)
		return NULL;
	char *bytes = NULL;
	long n = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
	if (n > 0 && !fseek(f, 0, SEEK_SET)) {
		bytes = sw_calloc((size_t)n + 1, 1);
		if (fread(bytes, 1, (size_t)n, f) != (size_t)n) {
			free(bytes);
			bytes = NULL;
		}
	}
	fclose(f);
	return bytes;
}

static int add_kernel(void *arg, const struct sw_cubin_kernel *kernel)
{
	sw_sim_module_kernel(arg, kernel->name, kernel->params, kernel->param, kernel->param_bytes);
	return 0;
}

static Elf64_Shdr section(struct sw_bytes cubin, const Elf64_Ehdr *h, uint32_t index)
{
	Elf64_Shdr s = {0};
	uint64_t at = h->e_shoff + (uint64_t)index * sizeof s;
	if (index < h->e_shnum && sw_bytes_hold(cubin, at, sizeof s))
		memcpy(&s, cubin.at + at, sizeof s);
	return s;
}

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

/* __device__ and __managed__ variables are objects in .nv.global*, __constant__ ones in .nv.constant3. */
static void add_variables(struct sw_sim_module *m, struct sw_bytes cubin)
{
	Elf64_Ehdr h;
	if (!sw_bytes_hold(cubin, 0, sizeof h))
		return;
	memcpy(&h, cubin.at, sizeof h);
	Elf64_Shdr names = section(cubin, &h, h.e_shstrndx);
	for (uint32_t i = 0; i < h.e_shnum; i++) {
		Elf64_Shdr table = section(cubin, &h, i), strings = section(cubin, &h, table.sh_link);
		struct sw_bytes symbols = sw_bytes_of(cubin, table.sh_offset, table.sh_size);
		for (uint64_t at = 0; table.sh_type == SHT_SYMTAB && sw_bytes_hold(symbols, at, sizeof(Elf64_Sym));
		     at += sizeof(Elf64_Sym)) {
			Elf64_Sym symbol;
			memcpy(&symbol, symbols.at + at, sizeof symbol);
			Elf64_Shdr home = section(cubin, &h, symbol.st_shndx);
			const char *where = sw_bytes_string(sw_bytes_of(cubin, names.sh_offset, names.sh_size), home.sh_name);
			const char *name =
				sw_bytes_string(sw_bytes_of(cubin, strings.sh_offset, strings.sh_size), symbol.st_name);
			if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || !name || !where ||
			    (strncmp(where, ".nv.global", 10) && strcmp(where, ".nv.constant3")))
				continue;
			struct sw_bytes content = {0};
			if (home.sh_type == SHT_PROGBITS)
				content = sw_bytes_of(sw_bytes_of(cubin, home.sh_offset, home.sh_size), symbol.st_value,
						      symbol.st_size);
			add_variable(m, name, symbol.st_size, content);
		}
	}
}

static int add_entry(void *arg, const struct sw_fatbin_entry *entry)
{
	void *content;
	size_t bytes;
	if (entry->kind != SW_IMAGE_ELF || sw_fatbin_extract(entry, &content, &bytes, NULL))
		return 0;
	add_variables(arg, (struct sw_bytes){content, bytes});
	free(content);
	return 0;
}

/* Bytes of a cubin as its headers say: its tables stand behind everything else. */
static size_t cubin_bytes(const void *image)
{
	Elf64_Ehdr h;
	memcpy(&h, image, sizeof h);
	uint64_t sections = h.e_shoff + (uint64_t)h.e_shnum * sizeof(Elf64_Shdr),
		 segments = h.e_phoff + (uint64_t)h.e_phnum * sizeof(Elf64_Phdr), end = sections > segments ? sections : segments;
	return end < SW_IMAGE_MAX_BYTES ? end : 0;
}

bool sw_sim_image_read(struct sw_sim_module *m, const void *image)
{
	uint64_t target = sw_fatbin_wrapper_target(image);
	const void *bytes = target ? (const void *)(uintptr_t)target : image;
	struct sw_error error;
	size_t size = sw_fatbin_bytes(bytes, SW_IMAGE_MAX_BYTES);
	if (size) {
		sw_fatbin_walk(bytes, size, add_entry, m, NULL);
	} else if (!memcmp(bytes, ELFMAG, SELFMAG)) {
		size = cubin_bytes(bytes);
		add_variables(m, (struct sw_bytes){bytes, size});
	} else {
		size = strnlen(bytes, SW_IMAGE_MAX_BYTES);
	}
	/* Any architecture will do: nothing is executed. */
	if (!sw_image_kernels(bytes, size, 0, add_kernel, m, &error))
		return true;
	fprintf(stderr, "syncwatch: simulated CUDA: %s: parameters of its kernels are unknown\n", error.text);
	return false;
}
