/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a code image: its container and kernels here, by src/image; its variables in variables.c. */
#include "simcuda/modules/module.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int add_entry(void *arg, const struct sw_fatbin_entry *entry)
{
	void *content;
	size_t bytes;
	if ((entry->kind != SW_IMAGE_ELF && entry->kind != SW_IMAGE_PTX) ||
	    sw_fatbin_extract(entry, &content, &bytes, NULL))
		return 0;
	sw_sim_image_variables(arg, content, bytes);
	free(content);
	return 0;
}

/* Size of a cubin according to its headers: its tables are after everything else. */
static size_t cubin_bytes(const void *image)
{
	Elf64_Ehdr h;
	memcpy(&h, image, sizeof h);
	uint64_t sections = h.e_shoff + (uint64_t)h.e_shnum * sizeof(Elf64_Shdr),
		 segments = h.e_phoff + (uint64_t)h.e_phnum * sizeof(Elf64_Phdr),
		 end = sections > segments ? sections : segments;
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
	} else {
		size = memcmp(bytes, ELFMAG, SELFMAG) ? strnlen(bytes, SW_IMAGE_MAX_BYTES) : cubin_bytes(bytes);
		sw_sim_image_variables(m, bytes, size);
	}
	/* Any architecture will do: nothing is executed. */
	if (!sw_image_kernels(bytes, size, 0, add_kernel, m, &error))
		return true;
	fprintf(stderr, "syncwatch: simulated CUDA: %s: parameters of its kernels are unknown\n", error.text);
	return false;
}
