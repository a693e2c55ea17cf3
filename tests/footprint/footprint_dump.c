/* SPDX-License-Identifier: Apache-2.0 */
/*
 * footprint_dump [-c] FILE [KERNEL]: footprints of the kernels in PTX, a cubin or a fatbin, as text; -c: the code as
 * well. For looking at what the analysis makes of a kernel; not installed.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dump.h"
#include "image/image.h"

static bool show_code;
static const char *wanted;

static void show(const char *kernel, struct sw_program *program, enum sw_code_source source, uint32_t arch)
{
	printf("== %s (%s sm_%u)\n", kernel, source == SW_SOURCE_PTX ? "PTX" : "machine code", arch);
	if (show_code)
		sw_program_print(program, stdout);
	struct sw_footprint *footprint = sw_footprint_build(program, source, arch);
	sw_dump_footprint(stdout, footprint);
	sw_footprint_free(footprint);
	sw_program_free(program);
}

struct image {
	const void *bytes;
	size_t size;
	struct sw_ptx_module *module; /* NULL: a cubin */
};

static int each_kernel(void *arg, const struct sw_cubin_kernel *kernel)
{
	const struct image *image = arg;
	struct sw_program program = {0};
	struct sw_error error = {0};
	uint32_t arch = 0;
	int rc;
	if (wanted && !strstr(kernel->name, wanted))
		return 0;
	if (image->module) {
		rc = sw_ptx_read(image->module, kernel->name, &program, &error);
		arch = sw_ptx_module_arch(image->module);
	} else {
		rc = sw_sass_read(image->bytes, image->size, kernel->name, &program, &arch, &error);
	}
	if (rc)
		printf("== %s: %s\n", kernel->name, error.text);
	else
		show(kernel->name, &program, image->module ? SW_SOURCE_PTX : SW_SOURCE_SASS, arch);
	return 0;
}

static void dump(enum sw_image_kind kind, const void *bytes, size_t size);

static int each_entry(void *arg, const struct sw_fatbin_entry *entry)
{
	void *bytes;
	size_t size;
	struct sw_error error;
	(void)arg;
	if (sw_fatbin_extract(entry, &bytes, &size, &error))
		return fprintf(stderr, "%s\n", error.text), 0;
	dump(entry->kind, bytes, size);
	free(bytes);
	return 0;
}

static void dump(enum sw_image_kind kind, const void *bytes, size_t size)
{
	struct image image = {bytes, size, NULL};
	struct sw_error error = {0};
	int rc = 0;
	if (kind == SW_IMAGE_PTX) {
		rc = sw_ptx_module_open(bytes, size, &image.module, &error);
		if (!rc)
			rc = sw_ptx_walk(bytes, size, each_kernel, &image, &error);
		sw_ptx_module_close(image.module);
	} else if (kind == SW_IMAGE_ELF) {
		rc = sw_cubin_walk(bytes, size, NULL, each_kernel, &image, &error);
	} else if (kind == SW_IMAGE_FATBIN) {
		rc = sw_fatbin_walk(bytes, size, each_entry, NULL, &error);
	}
	if (rc)
		fprintf(stderr, "%s\n", error.text);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "-c")) {
		show_code = true;
		argc--;
		argv++;
	}
	FILE *in = argc > 1 ? fopen(argv[1], "rb") : NULL;
	if (!in)
		return fprintf(stderr, "usage: footprint_dump [-c] FILE [KERNEL]\n"), 2;
	wanted = argc > 2 ? argv[2] : NULL;
	SW_VEC(char) file = {0};
	for (size_t got = 1; got; file.n += got) {
		sw_vec_reserve(&file, file.n + 65536);
		got = fread(file.at + file.n, 1, 65535, in);
	}
	file.at[file.n] = 0;
	fclose(in);
	dump(sw_image_kind_of(file.at, file.n), file.at, file.n);
	free(file.at);
	return 0;
}
