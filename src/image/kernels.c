/* SPDX-License-Identifier: Apache-2.0 */
/* All kernels of an image, from the entries that a device would use. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/map.h"
#include "image/fatbin.h"

/* A walk over the kernels of an image. */
struct search {
	uint32_t arch; /* of the device, 0 any */
	int (*each)(void *arg, const struct sw_cubin_kernel *kernel);
	void *arg;
	struct sw_map seen; /* hashes of reported names */
	/* of the current block */
	enum sw_image_kind kind; /* ELF once a cubin fits, else PTX once there is one, else UNKNOWN */
	uint32_t best;
	struct sw_error *error;
};

/* Does a cubin of one architecture run on a device of another?  Within a major revision, from one minor to the same
   or later ones (CUDA C++ Programming Guide, "Binary Compatibility"). */
static bool runs_on(uint32_t cubin, uint32_t device)
{
	return !device || (cubin / 10 == device / 10 && cubin <= device);
}

/* For each entry of a block: notes in the search which kind and architecture of code the device would use so far. */
static int choose_arch(void *arg, const struct sw_fatbin_entry *e)
{
	struct search *s = arg;
	bool fits = e->kind == SW_IMAGE_ELF ? runs_on(e->arch, s->arch) : e->kind == SW_IMAGE_PTX;
	if (!fits || (s->kind == SW_IMAGE_ELF && e->kind == SW_IMAGE_PTX))
		return 0;
	if (s->kind != e->kind || e->arch > s->best)
		s->best = e->arch;
	s->kind = e->kind;
	return 0;
}

/* For each kernel: passes it on, unless one of its name was passed on before. */
static int visit_once(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct search *s = arg;
	uint64_t *seen = sw_map_put(&s->seen, sw_hash_bytes(SW_FNV_START, kernel->name, strlen(kernel->name)));
	return (*seen)++ ? 0 : s->each(s->arg, kernel);
}

/* Visits the kernels of a cubin or PTX.  <0: it is damaged, or of another kind. */
static int walk_plain(struct search *s, enum sw_image_kind kind, const void *image, size_t size)
{
	if (kind == SW_IMAGE_ELF)
		return sw_cubin_walk(image, size, NULL, visit_once, s, s->error);
	if (kind == SW_IMAGE_PTX)
		return sw_ptx_walk(image, size, visit_once, s, s->error);
	return sw_fail(s->error, SW_E_UNSUPPORTED, "image: %s",
		       kind == SW_IMAGE_LTOIR	 ? "LTO-IR is not read"
		       : kind == SW_IMAGE_TILEIR ? "Tile IR is not read"
						 : "neither fatbin, cubin nor PTX");
}

/* For each entry of a block: visits its kernels if it is of the chosen kind and architecture.  With -rdc or
   relocatable libraries several entries are: all are taken. */
static int visit_entry(void *arg, const struct sw_fatbin_entry *e)
{
	struct search *s = arg;
	void *content;
	size_t bytes;
	if (e->kind != s->kind || e->arch != s->best)
		return 0;
	int rc = sw_fatbin_extract(e, &content, &bytes, s->error);
	if (rc)
		return rc;
	rc = walk_plain(s, e->kind, content, bytes);
	free(content);
	return rc;
}

/* Visits the kernels of all blocks of a fatbin, in the code that the device would use of each. */
static int walk_fatbin(struct search *s, struct sw_bytes all)
{
	struct sw_fatbin_block block;
	size_t at = 0;
	int rc = 0;
	while (!rc && sw_fatbin_next_block(all, &at, &block)) {
		s->kind = SW_IMAGE_UNKNOWN;
		s->best = 0;
		/* Damage ends the first pass too early; the second pass reports it after the intact entries were
		   used. */
		sw_fatbin_walk_block(all, &block, choose_arch, s, NULL);
		rc = sw_fatbin_walk_block(all, &block, visit_entry, s, s->error);
	}
	return rc;
}

int sw_image_kernels(const void *image, size_t size, uint32_t arch,
		     int (*each)(void *arg, const struct sw_cubin_kernel *kernel), void *arg, struct sw_error *error)
{
	struct search s = {.arch = arch, .each = each, .arg = arg, .error = error};
	enum sw_image_kind kind = sw_image_kind_of(image, size);
	int rc = kind == SW_IMAGE_FATBIN ? walk_fatbin(&s, (struct sw_bytes){image, size})
					 : walk_plain(&s, kind, image, size);
	sw_map_free(&s.seen);
	return rc;
}
