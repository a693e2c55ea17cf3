/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/store/code_units.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Flags of fatbin entries; established by experiment with nvcc 13.0. */
#define SW_FATBIN_EXACT	 0x100000u
#define SW_FATBIN_FAMILY 0x200000u

static enum sw_variant variant_of(uint64_t flags)
{
	return flags & SW_FATBIN_EXACT	  ? SW_VARIANT_EXACT
	       : flags & SW_FATBIN_FAMILY ? SW_VARIANT_FAMILY
					  : SW_VARIANT_NONE;
}

static uint32_t sort_of(struct sw_units *u, enum sw_image_kind kind, uint32_t arch, enum sw_variant variant)
{
	for (uint32_t i = 0; i < u->sort.n; i++) {
		const struct sw_sort *s = &u->sort.at[i];
		if (s->kind == kind && s->arch == arch && s->variant == variant)
			return i;
	}
	*sw_vec_push(&u->sort) = (struct sw_sort){.kind = kind, .arch = arch, .variant = variant};
	return (uint32_t)u->sort.n - 1;
}

static void note(struct sw_units *u, const char *why)
{
	if (!u->why)
		u->why = sw_strdup(why);
}

struct listing {
	struct sw_units *units;
	const struct sw_footprint_image *image;
};

static int add_entry(void *arg, const struct sw_fatbin_entry *e)
{
	struct listing *listing = arg;
	struct sw_units *u = listing->units;
	if (e->kind == SW_IMAGE_LTOIR)
		note(u, "LTO-IR"); /* the driver links it to machine code that is not accessible */
	if (e->kind != SW_IMAGE_ELF && e->kind != SW_IMAGE_PTX)
		return 0;
	uint32_t sort = sort_of(u, e->kind, e->arch, variant_of(e->flags));
	*sw_vec_push(&u->unit) = (struct sw_unit){.sort = sort, .entry = *e, .image = listing->image};
	return 0;
}

static int nothing(void *arg, const struct sw_cubin_kernel *kernel)
{
	(void)arg;
	(void)kernel;
	return 1;
}

/* PTX ISA, ".target": the architecture is a word of its own, "sm_90a". */
static uint32_t ptx_arch(const char *text, size_t n, enum sw_variant *variant)
{
	const char *at = memmem(text, n, ".target", 7), *end = text + n;
	uint32_t arch = 0;
	at = at ? memmem(at, (size_t)(end - at), "sm_", 3) : NULL;
	if (!at)
		return 0;
	for (at += 3; at < end && *at >= '0' && *at <= '9' && arch < 1000; at++)
		arch = arch * 10 + (uint32_t)(*at - '0');
	*variant = at < end && *at == 'a'   ? SW_VARIANT_EXACT
		   : at < end && *at == 'f' ? SW_VARIANT_FAMILY
					    : SW_VARIANT_NONE;
	return arch;
}

/* A cubin or PTX that was loaded by itself.  Which variant a cubin is does not matter: it was loaded. */
static void add_plain(struct sw_units *u, const struct sw_footprint_image *image, enum sw_image_kind kind,
		      const void *bytes, size_t n)
{
	enum sw_variant variant = SW_VARIANT_NONE;
	uint32_t arch = 0;
	if (kind == SW_IMAGE_ELF)
		sw_cubin_walk(bytes, n, &arch, nothing, NULL, NULL);
	else
		arch = ptx_arch(bytes, n, &variant);
	*sw_vec_push(&u->unit) = (struct sw_unit){.sort = sort_of(u, kind, arch, variant),
						  .entry = {.kind = kind, .arch = arch, .payload = bytes, .bytes = n},
						  .plain = true,
						  .image = image};
}

static bool list(struct sw_units *u, const struct sw_footprint_image *image)
{
	struct sw_error error = {.text = "no code image"};
	size_t n = 0;
	const void *bytes = image->bytes ? image->bytes(image->arg, &n, &error) : NULL;
	if (!bytes) {
		note(u, error.text);
		return false;
	}
	enum sw_image_kind kind = sw_image_kind_of(bytes, n);
	struct listing listing = {u, image};
	if (kind == SW_IMAGE_FATBIN && sw_fatbin_walk(bytes, n, add_entry, &listing, &error))
		note(u, error.text);
	else if (kind == SW_IMAGE_ELF || kind == SW_IMAGE_PTX)
		add_plain(u, image, kind, bytes, n);
	else if (kind != SW_IMAGE_FATBIN)
		note(u, kind == SW_IMAGE_LTOIR ? "LTO-IR" : "neither fatbin, cubin nor PTX");
	if (kind == SW_IMAGE_FATBIN && image->was_read)
		image->was_read(image->arg, bytes, n);
	return true;
}

bool sw_units_load(struct sw_units *u, const struct sw_footprint_image *image)
{
	struct sw_monitor *m = u->monitor;
	pthread_mutex_lock(&m->lock);
	if (u->load == SW_LOAD_NONE) {
		u->load = SW_LOAD_GOING;
		pthread_mutex_unlock(&m->lock);
		bool got = list(u, image);
		pthread_mutex_lock(&m->lock);
		u->load = got ? SW_LOAD_DONE : SW_LOAD_FAILED;
		pthread_cond_broadcast(&m->changed);
	}
	while (u->load == SW_LOAD_GOING)
		pthread_cond_wait(&m->changed, &m->lock);
	bool there = u->load == SW_LOAD_DONE;
	pthread_mutex_unlock(&m->lock);
	return there;
}

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

/* ---- which kernels are where ------------------------------------------------------------------------------------- */

struct names {
	SW_VEC(struct name {
		uint64_t hash;
		uint32_t code_bytes;
	})
	name;
};

static uint64_t hash_of(const char *name)
{
	return sw_hash_bytes(SW_FNV_START, name, strlen(name));
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
