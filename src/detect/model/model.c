/* SPDX-License-Identifier: Apache-2.0 */
/* Small numbers for threads, names that are kept once. */
#include "detect/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct sw_name_store {
	struct sw_map threads; /* thread -> sw_model_thread() and 1 */
	struct sw_map names;   /* hash of a name -> where it is kept */
};

struct sw_name_store *sw_name_store_new(void)
{
	return sw_calloc(1, sizeof(struct sw_name_store));
}

void sw_name_store_free(struct sw_name_store *names)
{
	sw_map_free(&names->threads);
	sw_map_free(&names->names);
	free(names);
}

uint32_t sw_model_thread(struct sw_model *m, uint32_t thread)
{
	uint64_t *number = sw_map_put(&m->names->threads, thread);
	if (!*number)
		*number = m->names->threads.n;
	return (uint32_t)*number - 1;
}

void sw_model_pass_time(struct sw_model *m, uint64_t t_ns)
{
	const uint64_t since = m->open_since > m->first_ns ? m->open_since : m->first_ns;
	if (!m->paused && m->any && t_ns > since)
		m->open_ns += t_ns - since;
	m->open_since = t_ns;
}

const char *sw_model_name(struct sw_model *m, const char *name, size_t bytes)
{
	uint64_t hash = sw_hash_bytes(SW_FNV_START, name, bytes);
	const char *known = sw_map_ptr(&m->names->names, hash);
	if (known && !strncmp(known, name, bytes) && !known[bytes])
		return known;
	known = sw_arena_strndup(m->arena, name, bytes);
	sw_map_put_ptr(&m->names->names, hash, (void *)(uintptr_t)known);
	return known;
}
