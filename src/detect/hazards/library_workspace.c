/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/hazards/library_workspace.h"

#include <string.h>

#include "detect/memory/address_space.h"
#include "detect/memory/shadow.h"
#include "detect/model/model.h"
#include "reader/reader.h"

/* Starts of file names: the parts of one library (libcudnn_ops, libcudnn_graph; libcublas, libcublasLt) are one. */
static const char *const families[] = {"libcudnn", "libcublas",	 "libcusparse", "libcusolver", "libcufft", "libcurand",
				       "libnccl",  "libnvshmem", "libcutensor", "libnvjpeg",   "libnpp",   "libcufile"};
#define FAMILIES (sizeof families / sizeof *families)

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* The family of the library that made the call: of the innermost frame that is no CUDA runtime's; FAMILIES: none. */
static size_t family_of(const struct sw_model *m, const struct sw_access *access)
{
	const struct sw_trace_stack *stack = sw_reader_stack(m->reader, access->stack);
	for (uint32_t i = 0; stack && i < stack->depth; i++) {
		/* A return address: the call lies before it. */
		const struct sw_trace_module *module = sw_reader_module(m->reader, stack->ips[i] - 1, access->seq);
		const char *file = module ? file_of(module->path) : "";
		if (!strncmp(file, "libcudart", 9))
			continue;
		size_t f = 0;
		while (f < FAMILIES && strncmp(file, families[f], strlen(families[f])))
			f++;
		return f;
	}
	return FAMILIES;
}

bool sw_library_workspace(const struct sw_model *m, const struct sw_shadow_use *a, const struct sw_shadow_use *b)
{
	size_t family = family_of(m, &a->block->born);
	return family < FAMILIES && family_of(m, &a->access) == family && family_of(m, &b->access) == family;
}
