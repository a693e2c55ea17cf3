/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of units: decompressed when asked for, held while used, then until others need the room. */
#include <errno.h>
#include <stdlib.h>

#include "footprint/kernel/store/containers.h"
#include "footprint/kernel/store/sparse_copy.h"

/* Data that decompresses to so many times its size is mostly zeros: packed code, in which all but a few kernels are
 * blank.
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

/* The memory that it was decompressed into goes back to `spare`. */
static void empty_content(struct sw_content *c, struct sw_spare_memory *spare)
{
	if (c->module)
		sw_ptx_module_close(c->module);
	if (c->mapped)
		sw_sparse_free(c->owned, c->mapped);
	else if (c->owned)
		sw_spare_give(spare, c->owned, c->room);
	*c = (struct sw_content){0};
}

void sw_content_free(struct sw_content *c)
{
	struct sw_spare_memory spare = {0};
	empty_content(c, &spare);
	sw_spare_drop(&spare);
}

static void make_room(struct sw_contents *cs)
{
	while (cs->held > cs->limit && cs->oldest) {
		struct sw_content *c = cs->oldest;
		unlink_content(cs, c);
		cs->held -= c->cost;
		empty_content(c, &cs->spare);
	}
}

static bool is_sparse(const struct sw_fatbin_entry *e)
{
	return e->compressed && e->kind == SW_IMAGE_ELF && e->bytes >= SPARSE_LEAST &&
	       e->bytes / SPARSE_RATIO > e->stored_bytes;
}

static void *take_memory(struct sw_contents *cs, const struct sw_fatbin_entry *e, size_t *room, struct sw_error *error)
{
	if (sw_fatbin_check(e, error))
		return NULL;
	pthread_mutex_lock(&cs->monitor->lock);
	void *memory = sw_spare_take(&cs->spare, e->bytes + 1, room);
	pthread_mutex_unlock(&cs->monitor->lock);
	if (!memory)
		sw_fail(error, -ENOMEM, "fatbin: offset %zu: no memory for %zu bytes", e->offset, e->bytes);
	return memory;
}

static int extract_content(struct sw_contents *cs, struct sw_unit *u, struct sw_error *error)
{
	struct sw_content *c = &u->content;
	bool sparse = is_sparse(&u->entry);
	size_t room;
	void *memory = take_memory(cs, &u->entry, &room, error);
	if (!memory)
		return error->code;
	int rc = sw_fatbin_extract_into(&u->entry, memory, &c->n, error);
	if (!rc && !sparse) {
		c->owned = memory;
		c->room = room;
		return 0;
	}
	if (!rc)
		c->owned = sw_sparse_copy(memory, c->n, &c->mapped, &c->filled);
	pthread_mutex_lock(&cs->monitor->lock);
	sw_spare_give(&cs->spare, memory, room);
	pthread_mutex_unlock(&cs->monitor->lock);
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
		rc = extract_content(cs, u, error);
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
	return (c->mapped ? c->filled : c->owned ? c->room : 0) + (c->module ? c->n * SW_MODULE_COST : 0);
}

/* The lock is held, and again on return. */
static void load_content(struct sw_contents *cs, struct sw_unit *u, bool parsed)
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

static bool content_is_there(const struct sw_unit *u, bool parsed)
{
	return u->content.load == SW_LOAD_DONE && (!parsed || u->entry.kind != SW_IMAGE_PTX || u->content.module);
}

/* The last user has released the content. A load that failed is not tried again, and needs no room. */
static void retire_content(struct sw_contents *cs, struct sw_content *c)
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
	while (c->load != SW_LOAD_FAILED && !content_is_there(u, parsed))
		if (c->load == SW_LOAD_GOING)
			pthread_cond_wait(&cs->monitor->changed, &cs->monitor->lock);
		else
			load_content(cs, u, parsed);
	bool failed = c->load == SW_LOAD_FAILED;
	if (failed && !--c->users)
		retire_content(cs, c);
	make_room(cs);
	pthread_mutex_unlock(&cs->monitor->lock);
	return failed ? NULL : c;
}

void sw_contents_give(struct sw_contents *cs, struct sw_unit *u)
{
	pthread_mutex_lock(&cs->monitor->lock);
	if (!--u->content.users)
		retire_content(cs, &u->content);
	pthread_mutex_unlock(&cs->monitor->lock);
}

void sw_contents_drop_spare(struct sw_contents *cs)
{
	pthread_mutex_lock(&cs->monitor->lock);
	sw_spare_drop(&cs->spare);
	pthread_mutex_unlock(&cs->monitor->lock);
}
