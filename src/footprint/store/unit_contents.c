/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of units: decompressed when asked for, held while used, then until others need the room. */
#include <stdlib.h>

#include "footprint/store/code_units.h"
#include "footprint/store/sparse_copy.h"

/* What decompresses to so many times its size is mostly zeros: packed code, in which all but a few kernels are blank.
 */
#define SPARSE_RATIO 64u
#define SPARSE_LEAST (256u << 10)

/* A module's tables are larger than its text. */
#define SW_MODULE_COST 8

static void unlink_content(struct sw_contents *cs, struct sw_content *c)
{
	*(c->newer ? &c->newer->older : &cs->newest) = c->older;
	*(c->older ? &c->older->newer : &cs->oldest) = c->newer;
	c->newer = c->older = NULL;
}

void sw_content_free(struct sw_content *c)
{
	if (c->module)
		sw_ptx_module_close(c->module);
	if (c->mapped)
		sw_sparse_free(c->owned, c->mapped);
	else
		free(c->owned);
	*c = (struct sw_content){0};
}

static void make_room(struct sw_contents *cs)
{
	while (cs->held > cs->limit && cs->oldest) {
		struct sw_content *c = cs->oldest;
		unlink_content(cs, c);
		cs->held -= c->cost;
		sw_content_free(c);
	}
}

static bool is_sparse(const struct sw_fatbin_entry *e)
{
	return e->compressed && e->kind == SW_IMAGE_ELF && e->bytes >= SPARSE_LEAST && e->bytes <= SW_IMAGE_MAX_BYTES &&
	       e->bytes / SPARSE_RATIO > e->stored_bytes;
}

/* Memory that is decompressed into again and again, so that its pages are there already. */
static void *take_scratch(struct sw_contents *cs, size_t bytes, size_t *room)
{
	pthread_mutex_lock(&cs->monitor->lock);
	void *scratch = cs->scratch;
	*room = cs->scratch_bytes;
	cs->scratch = NULL;
	pthread_mutex_unlock(&cs->monitor->lock);
	if (scratch && *room >= bytes)
		return scratch;
	free(scratch);
	*room = bytes;
	return sw_alloc(bytes);
}

static void give_scratch(struct sw_contents *cs, void *scratch, size_t room)
{
	pthread_mutex_lock(&cs->monitor->lock);
	bool keep = !cs->scratch && room <= cs->limit;
	if (keep) {
		cs->scratch = scratch;
		cs->scratch_bytes = room;
	}
	pthread_mutex_unlock(&cs->monitor->lock);
	if (!keep)
		free(scratch);
}

static int extract_sparse(struct sw_contents *cs, struct sw_unit *u, struct sw_error *error)
{
	struct sw_content *c = &u->content;
	size_t room, n = 0;
	void *scratch = take_scratch(cs, u->entry.bytes + 1, &room);
	int rc = sw_fatbin_extract_into(&u->entry, scratch, &n, error);
	if (!rc) {
		c->owned = sw_sparse_copy(scratch, n, &c->mapped, &c->filled);
		c->n = n;
	}
	give_scratch(cs, scratch, room);
	return rc;
}

/* Without the lock: the content is GOING, no other thread writes it.  What was read before stays as it is. */
static int read_content(struct sw_contents *cs, struct sw_unit *u, bool parsed, struct sw_error *error)
{
	struct sw_content *c = &u->content;
	int rc = 0;
	if (!c->bytes && u->plain) {
		c->bytes = u->entry.payload;
		c->n = u->entry.bytes;
	} else if (!c->bytes) {
		rc = is_sparse(&u->entry) ? extract_sparse(cs, u, error)
					  : sw_fatbin_extract(&u->entry, &c->owned, &c->n, error);
		c->bytes = c->owned;
		if (u->image->was_read)
			u->image->was_read(u->image->arg, u->entry.payload, u->entry.stored_bytes);
	}
	if (!rc && parsed && u->entry.kind == SW_IMAGE_PTX && !c->module)
		rc = sw_ptx_module_open(c->bytes, c->n, &c->module, error);
	return rc;
}

static size_t cost_of(const struct sw_unit *u)
{
	const struct sw_content *c = &u->content;
	return (c->mapped ? c->filled : c->owned ? c->n : 0) + (c->module ? c->n * SW_MODULE_COST : 0);
}

/* The lock is held, and again on return. */
static void load(struct sw_contents *cs, struct sw_unit *u, bool parsed)
{
	struct sw_content *c = &u->content;
	struct sw_error error;
	c->load = SW_LOAD_GOING;
	pthread_mutex_unlock(&cs->monitor->lock);
	int rc = read_content(cs, u, parsed, &error);
	pthread_mutex_lock(&cs->monitor->lock);
	cs->held -= c->cost;
	c->cost = cost_of(u);
	cs->held += c->cost;
	c->load = rc ? SW_LOAD_FAILED : SW_LOAD_DONE;
	if (rc && !u->why)
		u->why = sw_strdup(error.text);
	pthread_cond_broadcast(&cs->monitor->changed);
}

static bool holds(const struct sw_unit *u, bool parsed)
{
	return u->content.load == SW_LOAD_DONE && (!parsed || u->entry.kind != SW_IMAGE_PTX || u->content.module);
}

/* It has no users any more.  What failed is not tried again, and needs no room. */
static void rest(struct sw_contents *cs, struct sw_content *c)
{
	if (c->load == SW_LOAD_FAILED) {
		cs->held -= c->cost;
		sw_content_free(c);
		c->load = SW_LOAD_FAILED;
		return;
	}
	c->older = cs->newest;
	*(cs->newest ? &cs->newest->newer : &cs->oldest) = c;
	cs->newest = c;
	make_room(cs);
}

const struct sw_content *sw_contents_take(struct sw_contents *cs, struct sw_unit *u, bool parsed)
{
	struct sw_content *c = &u->content;
	pthread_mutex_lock(&cs->monitor->lock);
	if (!c->users++ && c->load == SW_LOAD_DONE)
		unlink_content(cs, c);
	while (c->load != SW_LOAD_FAILED && !holds(u, parsed))
		if (c->load == SW_LOAD_GOING)
			pthread_cond_wait(&cs->monitor->changed, &cs->monitor->lock);
		else
			load(cs, u, parsed);
	bool failed = c->load == SW_LOAD_FAILED;
	if (failed && !--c->users)
		rest(cs, c);
	make_room(cs);
	pthread_mutex_unlock(&cs->monitor->lock);
	return failed ? NULL : c;
}

void sw_contents_give(struct sw_contents *cs, struct sw_unit *u)
{
	pthread_mutex_lock(&cs->monitor->lock);
	if (!--u->content.users)
		rest(cs, &u->content);
	pthread_mutex_unlock(&cs->monitor->lock);
}

void sw_contents_drop_scratch(struct sw_contents *cs)
{
	pthread_mutex_lock(&cs->monitor->lock);
	void *scratch = cs->scratch;
	cs->scratch = NULL;
	pthread_mutex_unlock(&cs->monitor->lock);
	free(scratch);
}
