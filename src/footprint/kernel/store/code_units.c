/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/kernel/store/code_units.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

void sw_units_free(struct sw_units *u)
{
	for (size_t i = 0; i < u->unit.n; i++) {
		sw_content_free(&u->unit.at[i].content);
		free(u->unit.at[i].why);
	}
	for (size_t i = 0; i < u->sort.n; i++)
		sw_map_free(&u->sort.at[i].names);
	free(u->unit.at);
	free(u->sort.at);
	free(u->why);
}

struct names {
	SW_VEC(struct name {
		uint64_t hash;
		uint32_t code_bytes;
	})
	name;
};

static uint64_t hash_of(const char *name)
{
	return sw_hash_words(name, strlen(name));
}

static int add_name(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct names *names = arg;
	uint32_t bytes = kernel->code_bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)kernel->code_bytes;
	*sw_vec_push(&names->name) = (struct name){hash_of(kernel->name), bytes};
	return 0;
}

static void read_names(struct sw_units *u, struct sw_unit *unit, struct names *names)
{
	struct sw_error error;
	const struct sw_content *c = sw_contents_take(u->contents, unit, false);
	if (!c)
		return;
	/* Names before the damage count: the reader of the kernel itself decides whether its code is whole. */
	if (unit->entry.kind == SW_IMAGE_ELF ? sw_cubin_walk(c->bytes, c->n, NULL, add_name, names, &error)
					     : sw_ptx_walk(c->bytes, c->n, add_name, names, &error)) {
		pthread_mutex_lock(&u->monitor->lock);
		if (!unit->why)
			unit->why = sw_strdup(error.text);
		pthread_mutex_unlock(&u->monitor->lock);
	}
	/* Of PTX a kernel counts with its share of the text. */
	for (size_t i = 0; unit->entry.kind == SW_IMAGE_PTX && i < names->name.n; i++)
		names->name.at[i].code_bytes = (uint32_t)(c->n / names->name.n);
	sw_contents_give(u->contents, unit);
}

/* The lock is held, and again on return. */
static void read_next(struct sw_units *u, struct sw_sort *s, struct sw_unit *unit)
{
	struct names names = {0};
	s->reading++;
	pthread_mutex_unlock(&u->monitor->lock);
	read_names(u, unit, &names);
	pthread_mutex_lock(&u->monitor->lock);
	for (size_t i = 0; i < names.name.n; i++) {
		uint64_t *at = sw_map_put(&s->names, names.name.at[i].hash);
		if (!*at)
			*at = (uint64_t)names.name.at[i].code_bytes << 32 | (uint32_t)(unit - u->unit.at + 1);
	}
	if (!s->why)
		s->why = unit->why;
	s->reading--;
	free(names.name.at);
	pthread_cond_broadcast(&u->monitor->changed);
}

bool sw_units_find(struct sw_units *u, struct sw_sort *s, const char *kernel, struct sw_found *found)
{
	uint64_t hash = hash_of(kernel), at = 0;
	pthread_mutex_lock(&u->monitor->lock);
	while (!(at = sw_map_get(&s->names, hash))) {
		while (s->next < u->unit.n && &u->sort.at[u->unit.at[s->next].sort] != s)
			s->next++;
		if (s->next < u->unit.n)
			read_next(u, s, &u->unit.at[s->next++]);
		else if (s->reading)
			pthread_cond_wait(&u->monitor->changed, &u->monitor->lock);
		else
			break;
	}
	pthread_mutex_unlock(&u->monitor->lock);
	if (at)
		*found = (struct sw_found){&u->unit.at[(uint32_t)at - 1], (uint32_t)(at >> 32)};
	return at != 0;
}
