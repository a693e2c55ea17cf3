/* SPDX-License-Identifier: Apache-2.0 */
/* A code image of any bytes, reduced to some of its kernels: each of these is still there. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "fuzz.h"
#include "image/image.h"
#include "pack/reduce.h"

struct kernels {
	struct sw_map names; /* of kernels that count as launched */
	struct sw_map found; /* name, kind and architecture */
	uint32_t newest, arch;
	enum sw_image_kind kind;
	const struct sw_map *only; /* NULL: choose by name */
};

static int see_kernel(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct kernels *k = arg;
	uint64_t name = sw_reduce_name(kernel->name, strlen(kernel->name));
	if (k->only ? !sw_map_find(k->only, name) : name % 2)
		return 0;
	*sw_map_put(&k->names, name) = 1;
	*sw_map_put(&k->found, sw_hash_u64(name) + k->arch * 8u + k->kind) = 1;
	return 0;
}

static void see_unit(struct kernels *k, enum sw_image_kind kind, uint32_t arch, const void *bytes, size_t size)
{
	struct sw_error error;
	k->kind = kind;
	k->arch = arch;
	if (kind == SW_IMAGE_ELF)
		sw_cubin_walk(bytes, size, NULL, see_kernel, k, &error);
	else if (kind == SW_IMAGE_PTX)
		sw_ptx_walk(bytes, size, see_kernel, k, &error);
}

static int see_arch(void *arg, const struct sw_fatbin_entry *e)
{
	struct kernels *k = arg;
	if (e->kind == SW_IMAGE_ELF && e->arch > k->newest)
		k->newest = e->arch;
	return 0;
}

static int see_entry(void *arg, const struct sw_fatbin_entry *e)
{
	struct kernels *k = arg;
	struct sw_error error;
	void *content;
	size_t size;
	if ((e->kind == SW_IMAGE_ELF && e->arch != k->newest) || sw_fatbin_extract(e, &content, &size, &error))
		return 0;
	see_unit(k, e->kind, e->arch, content, size);
	free(content);
	return 0;
}

static void see_image(struct kernels *k, const void *image, size_t size)
{
	struct sw_error error;
	enum sw_image_kind kind = sw_image_kind_of(image, size);
	if (kind != SW_IMAGE_FATBIN) {
		see_unit(k, kind, 0, image, size);
		return;
	}
	sw_fatbin_walk(image, size, see_arch, k, &error);
	sw_fatbin_walk(image, size, see_entry, k, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kernels all = {0};
	struct sw_map_slot slot;
	size_t n;
	see_image(&all, data, size);
	void *reduced = sw_reduce_image(&(struct sw_reduce){.launched = &all.names, .level = 1}, data, size, &n);
	struct kernels left = {.only = &all.names};
	see_image(&left, reduced, n);
	for (size_t i = 0; (i = sw_map_next(&all.found, i, &slot));)
		if (!sw_map_find(&left.found, slot.key))
			abort();
	free(reduced);
	sw_map_free(&all.names);
	sw_map_free(&all.found);
	sw_map_free(&left.names);
	sw_map_free(&left.found);
	return 0;
}
