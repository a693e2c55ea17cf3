/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged images may hold a kernel within what looks like another one. */
#include "pack/reduce.h"

#include <string.h>

struct search {
	const struct sw_map *launched;
	struct sw_map found;
};

static int on_kernel(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct search *s = arg;
	const uint64_t name = sw_reduce_name(kernel->name, strlen(kernel->name));
	if (sw_map_get(s->launched, name))
		*sw_map_put(&s->found, name) = 1;
	return 0;
}

void sw_reduce_find(const struct sw_map *launched, enum sw_image_kind kind, const void *bytes, size_t size,
		    struct sw_map *found)
{
	struct search s = {launched, *found};
	struct sw_error error;
	if (kind == SW_IMAGE_PTX)
		sw_ptx_walk(bytes, size, on_kernel, &s, &error);
	else
		sw_cubin_walk(bytes, size, NULL, on_kernel, &s, &error);
	*found = s.found;
}

bool sw_reduce_keeps(const struct sw_map *launched, enum sw_image_kind kind, const void *before, const void *after,
		     size_t size)
{
	struct sw_map was = {0}, is = {0};
	struct sw_map_slot slot;
	bool all = true;
	sw_reduce_find(launched, kind, before, size, &was);
	sw_reduce_find(launched, kind, after, size, &is);
	for (size_t i = 0; all && (i = sw_map_next(&was, i, &slot));)
		all = sw_map_find(&is, slot.key) != NULL;
	sw_map_free(&was);
	sw_map_free(&is);
	return all;
}
