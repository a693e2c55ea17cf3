/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/instructions/ptx/ptx_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static uint32_t hash_of(const char *at, size_t n)
{
	return (uint32_t)sw_hash_u64(sw_hash_bytes(SW_FNV_START, at, n));
}

/* The slot that holds the name, or the free one where it belongs. */
static size_t slot_of(const struct sw_ptx_names *names, const char *at, size_t n, uint32_t hash)
{
	for (size_t i = hash & (names->slots - 1);; i = (i + 1) & (names->slots - 1)) {
		if (!names->slot[i])
			return i;
		const struct sw_ptx_name *name = &names->name.at[names->slot[i] - 1];
		if (name->hash == hash && name->n == n && !memcmp(name->at, at, n))
			return i;
	}
}

uint32_t sw_ptx_names_find(const struct sw_ptx_names *names, const char *at, size_t n)
{
	return names->slots ? names->slot[slot_of(names, at, n, hash_of(at, n))] - 1 : SW_PTX_NO_NAME;
}

static void grow_slots(struct sw_ptx_names *names)
{
	names->slots = names->slots ? names->slots * 2 : 64;
	free(names->slot);
	names->slot = sw_calloc(names->slots, sizeof *names->slot);
	for (size_t i = 0; i < names->name.n; i++) {
		const struct sw_ptx_name *name = &names->name.at[i];
		names->slot[slot_of(names, name->at, name->n, name->hash)] = (uint32_t)i + 1;
	}
}

uint32_t sw_ptx_names_add(struct sw_ptx_names *names, const char *at, size_t n)
{
	uint32_t hash = hash_of(at, n);
	if (names->name.n * 2 >= names->slots)
		grow_slots(names);
	size_t i = slot_of(names, at, n, hash);
	if (!names->slot[i]) {
		*sw_vec_push(&names->name) = (struct sw_ptx_name){at, (uint32_t)n, hash};
		names->slot[i] = (uint32_t)names->name.n;
	}
	return names->slot[i] - 1;
}

void sw_ptx_names_clear(struct sw_ptx_names *names)
{
	names->name.n = 0;
	if (names->slots)
		memset(names->slot, 0, names->slots * sizeof *names->slot);
}

void sw_ptx_names_free(struct sw_ptx_names *names)
{
	free(names->name.at);
	free(names->slot);
	*names = (struct sw_ptx_names){0};
}
