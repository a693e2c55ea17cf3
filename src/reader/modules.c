/* SPDX-License-Identifier: Apache-2.0 */
/* Shared objects: what was mapped where, and when. */
#include <string.h>

#include "reader/dictionary.h"

static struct sw_trace_module *mapped_at(const struct sw_dictionary *d, uint64_t base)
{
	for (size_t i = d->modules.n; i-- > 0;)
		if (d->modules.at[i]->base == base && d->modules.at[i]->gone_seq == UINT64_MAX)
			return d->modules.at[i];
	return NULL;
}

const char *sw_take_module(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_module *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	const void *build_id = sw_tail_take(&t, (r->build_id_bytes + 7u) & ~7u);
	const void *path = build_id ? sw_tail_take(&t, r->path_bytes) : NULL;
	(void)w;
	if (!path)
		return "build id and path of the module are longer than the record";
	uint8_t *id = sw_arena_alloc(&d->arena, r->build_id_bytes);
	struct sw_trace_module *m = sw_arena_alloc(&d->arena, sizeof *m);
	memcpy(id, build_id, r->build_id_bytes);
	*m = (struct sw_trace_module){
		.base = r->base,
		.start = r->start,
		.end = r->end,
		.path = sw_arena_strndup(&d->arena, path, r->path_bytes),
		.build_id = id,
		.build_id_bytes = r->build_id_bytes,
		.mapped_seq = sw_rec_seq(rec),
		.gone_seq = UINT64_MAX,
		.cudart = (uint32_t)sw_map_get(&d->cudarts, r->base),
	};
	*sw_vec_push(&d->modules) = m;
	return NULL;
}

const char *sw_take_module_gone(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	struct sw_trace_module *m = mapped_at(d, ((const struct sw_rec_module *)(const void *)rec)->base);
	if (m)
		m->gone_seq = sw_rec_seq(rec) ? sw_rec_seq(rec) : w->key;
	sw_map_delete(&d->cudarts, ((const struct sw_rec_module *)(const void *)rec)->base);
	return NULL;
}

const char *sw_take_cudart(struct sw_dictionary *d, struct sw_writer_cursor *w, const struct sw_rec *rec)
{
	const struct sw_rec_cudart *r = (const void *)rec;
	struct sw_tail t = sw_tail_of(rec, sizeof *r);
	struct sw_trace_module *m = mapped_at(d, r->module_base);
	(void)w;
	if (!sw_tail_take(&t, r->path_bytes))
		return "the path is longer than the record";
	if (m)
		m->cudart = r->link;
	*sw_map_put(&d->cudarts, r->module_base) = r->link;
	return NULL;
}
