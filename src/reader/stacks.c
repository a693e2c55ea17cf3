/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks: interned by each writer, unique over all writers here. */
#include <string.h>

#include "base/hash.h"
#include "reader/dictionary.h"

static bool same(const struct sw_trace_stack *a, uint32_t depth, uint32_t skipped, const void *ips)
{
	return a->depth == depth && a->skipped == skipped && !memcmp(a->ips, ips, depth * sizeof *a->ips);
}

const char *sw_take_stack(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_stack *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	size_t bytes = (size_t)r->depth * sizeof(uint64_t);
	const void *ips = sw_tail_take(&t, bytes);
	if (!ips)
		return "the stack is deeper than the record is long";
	if (!r->id)
		return "stack 0 means none";
	uint64_t key = sw_hash_bytes(SW_FNV_START, ips, bytes) + r->skipped, *index;
	/* Different stacks with one hash take the keys that follow. */
	while (*(index = sw_map_put(&d->stack_hashes, key)) &&
	       !same(d->stacks.at[*index - 1], r->depth, r->skipped, ips))
		key++;
	if (!*index) {
		struct sw_trace_stack *s = sw_arena_alloc(&d->arena, sizeof *s);
		uint64_t *copy = sw_arena_alloc(&d->arena, bytes);
		memcpy(copy, ips, bytes);
		*s = (struct sw_trace_stack){r->depth, r->skipped, copy, w->key};
		*sw_vec_push(&d->stacks) = s;
		*index = d->stacks.n;
	}
	sw_writer_define_stack(w, r->id, (uint32_t)*index);
	return NULL;
}
