/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the containers of an image, and finds the unit of code that holds a kernel (containers.h). */
#include "footprint/kernel/store/containers.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "image/fatbin.h"

/* ---- units */

/* Frees all that the units of a container hold. */
static void units_free(struct sw_units *u)
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

/* Names of kernels in a unit, as hashes. */
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

/* Notes a kernel, with the size of its code; a callback of sw_cubin_walk() and sw_ptx_walk(). */
static int add_name(void *arg, const struct sw_cubin_kernel *kernel)
{
	struct names *names = arg;
	uint32_t bytes = kernel->code_bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)kernel->code_bytes;
	*sw_vec_push(&names->name) = (struct name){hash_of(kernel->name), bytes};
	return 0;
}

/* Reads the names of the kernels in a unit. */
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
	/* A kernel of PTX counts with its share of the text. */
	for (size_t i = 0; unit->entry.kind == SW_IMAGE_PTX && i < names->name.n; i++)
		names->name.at[i].code_bytes = (uint32_t)(c->n / names->name.n);
	sw_contents_give(u->contents, unit);
}

/* Reads the names of the kernels in a unit into its sort.  The lock is held, given up meanwhile, and held again on
   return. */
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

/* ---- the containers of an image */

/* Flags of fatbin entries; established by experiment with nvcc 13.0. */
#define SW_FATBIN_EXACT	 0x100000u
#define SW_FATBIN_FAMILY 0x200000u

/* For which devices an entry's code runs, by its flags. */
static enum sw_variant variant_of(uint64_t flags)
{
	return flags & SW_FATBIN_EXACT	  ? SW_VARIANT_EXACT
	       : flags & SW_FATBIN_FAMILY ? SW_VARIANT_FAMILY
					  : SW_VARIANT_NONE;
}

/* The index of the sort (kind, architecture, variant), which is added if there is none yet. */
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

/* Notes why something of the container cannot be used; the first reason stays. */
static void note_why(struct sw_units *u, const char *why)
{
	if (!u->why)
		u->why = sw_strdup(why);
}

struct listing {
	struct sw_units *units;
	const struct sw_footprint_image *image;
};

/* Notes an entry of a fatbin as a unit; a callback of sw_fatbin_walk_block(). */
static int add_entry(void *arg, const struct sw_fatbin_entry *e)
{
	struct listing *listing = arg;
	struct sw_units *u = listing->units;
	if (e->kind == SW_IMAGE_LTOIR)
		note_why(u, "LTO-IR"); /* the driver links it to machine code that is not accessible */
	if (e->kind == SW_IMAGE_TILEIR)
		note_why(u, "Tile IR");
	if (e->kind != SW_IMAGE_ELF && e->kind != SW_IMAGE_PTX)
		return 0;
	uint32_t sort = sort_of(u, e->kind, e->arch, variant_of(e->flags));
	*sw_vec_push(&u->unit) = (struct sw_unit){.sort = sort, .entry = *e, .image = listing->image};
	return 0;
}

/* Ends the walk at the first kernel: only the architecture is asked for. */
static int ignore_kernel(void *arg, const struct sw_cubin_kernel *kernel)
{
	(void)arg;
	(void)kernel;
	return 1;
}

/* The architecture that PTX is for, and its variant; 0: not found.  PTX ISA, ".target": the architecture is a word
   of its own, "sm_90a". */
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
		sw_cubin_walk(bytes, n, &arch, ignore_kernel, NULL, NULL);
	else
		arch = ptx_arch(bytes, n, &variant);
	*sw_vec_push(&u->unit) = (struct sw_unit){.sort = sort_of(u, kind, arch, variant),
						  .entry = {.kind = kind, .arch = arch, .payload = bytes, .bytes = n},
						  .plain = true,
						  .image = image};
}

/* Reads the fatbin at *at, which is moved to its end; NULL: there are no more. */
static struct sw_units *next_of_fatbin(struct sw_containers *c, size_t *at)
{
	struct sw_bytes all = {c->bytes, c->n};
	struct sw_fatbin_block block;
	struct sw_error error;
	if (c->damaged || !sw_fatbin_next_block(all, at, &block))
		return NULL;
	struct sw_units *u = sw_calloc(1, sizeof *u);
	struct listing listing = {u, c->image};
	/* The units before the damage count. */
	c->damaged = sw_fatbin_walk_block(all, &block, add_entry, &listing, &error);
	if (c->damaged)
		note_why(u, error.text);
	if (c->image->was_read)
		c->image->was_read(c->image->arg, all.at + block.offset, block.bytes);
	return u;
}

/* Reads the next container of an image; one that is no fatbin has a single container.  NULL: there are no more. */
static struct sw_units *next_units(struct sw_containers *c)
{
	enum sw_image_kind kind = sw_image_kind_of(c->bytes, c->n);
	struct sw_units *u = NULL;
	if (kind == SW_IMAGE_FATBIN)
		u = next_of_fatbin(c, &c->at);
	if (u || c->container.n)
		return u;
	u = sw_calloc(1, sizeof *u);
	if (kind == SW_IMAGE_ELF || kind == SW_IMAGE_PTX)
		add_plain(u, c->image, kind, c->bytes, c->n);
	else
		note_why(u, kind == SW_IMAGE_LTOIR    ? "LTO-IR"
			    : kind == SW_IMAGE_TILEIR ? "Tile IR"
			    : kind == SW_IMAGE_FATBIN ? "fatbin: offset 0: no fatbin header"
						      : "neither fatbin, cubin nor PTX");
	return u;
}

bool sw_containers_load(struct sw_containers *c, const struct sw_footprint_image *image)
{
	struct sw_monitor *m = c->monitor;
	pthread_mutex_lock(&m->lock);
	if (c->load == SW_LOAD_NONE) {
		struct sw_error error = {.text = "no code image"};
		c->load = SW_LOAD_GOING;
		c->image = image;
		pthread_mutex_unlock(&m->lock);
		c->bytes = image->bytes ? image->bytes(image->arg, &c->n, &error) : NULL;
		if (!c->bytes)
			c->why = sw_strdup(error.text);
		pthread_mutex_lock(&m->lock);
		c->load = c->bytes ? SW_LOAD_DONE : SW_LOAD_FAILED;
		pthread_cond_broadcast(&m->changed);
	}
	while (c->load == SW_LOAD_GOING)
		pthread_cond_wait(&m->changed, &m->lock);
	bool there = c->load == SW_LOAD_DONE;
	pthread_mutex_unlock(&m->lock);
	return there;
}

struct sw_units *sw_containers_get(struct sw_containers *c, size_t index)
{
	struct sw_monitor *m = c->monitor;
	pthread_mutex_lock(&m->lock);
	while (index >= c->container.n && !c->ended) {
		if (c->listing) {
			pthread_cond_wait(&m->changed, &m->lock);
			continue;
		}
		c->listing = true;
		pthread_mutex_unlock(&m->lock);
		struct sw_units *u = next_units(c);
		pthread_mutex_lock(&m->lock);
		if (u) {
			u->monitor = m;
			u->contents = c->contents;
			*sw_vec_push(&c->container) = u;
		}
		c->ended = !u;
		c->listing = false;
		pthread_cond_broadcast(&m->changed);
	}
	struct sw_units *found = index < c->container.n ? c->container.at[index] : NULL;
	pthread_mutex_unlock(&m->lock);
	return found;
}

void sw_containers_free(struct sw_containers *c)
{
	for (size_t i = 0; i < c->container.n; i++) {
		units_free(c->container.at[i]);
		free(c->container.at[i]);
	}
	free(c->container.at);
	free(c->why);
}
