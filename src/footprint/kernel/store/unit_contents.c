/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of units: decompressed when asked for, held while used, then until others need the room. */
#include "footprint/kernel/store/containers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"

/*
 * Memory that code is decompressed into, kept in pieces for what is decompressed next, whatever its size: its pages are
 * there already.  To have fresh ones from the system takes longer than to decompress into them (doc/performance.md,
 * "Judging").
 *
 * Not thread-safe: callers hold a lock.
 */

/* Smaller requests are not worth a piece. */
#define SMALL	   (SW_SPARE_PIECE / 2)
#define SMALL_UNIT ((size_t)64 << 10)

/* Fresh memory from the system; NULL: none can be had. */
static void *map_memory(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

/* Fresh pieces, in large pages where the system gives these to who asks ("madvise" in
   /sys/kernel/mm/transparent_hugepage/enabled): they begin where their size divides the address. */
static char *map_pieces(size_t bytes)
{
	char *at = map_memory(bytes + SW_SPARE_PIECE);
	if (!at)
		return NULL;
	size_t before = -(uintptr_t)at % SW_SPARE_PIECE;
	if (before)
		munmap(at, before);
	at += before;
	munmap(at + bytes, SW_SPARE_PIECE - before);
	madvise(at, bytes, MADV_HUGEPAGE);
	return at;
}

void *sw_spare_take(struct sw_spare_memory *m, size_t wanted, size_t *bytes)
{
	size_t unit = wanted < SMALL ? SMALL_UNIT : SW_SPARE_PIECE;
	if (wanted > SIZE_MAX / 2)
		return NULL;
	*bytes = (wanted + unit - 1) / unit * unit;
	if (unit == SMALL_UNIT)
		return map_memory(*bytes);
	char *at = map_pieces(*bytes);
	/* The pages move, their addresses change: a few microseconds for a piece. */
	for (size_t done = 0; at && done < *bytes && m->n; done += SW_SPARE_PIECE) {
		void *moved = mremap(m->piece[--m->n], SW_SPARE_PIECE, SW_SPARE_PIECE, MREMAP_MAYMOVE | MREMAP_FIXED,
				     at + done);
		if (moved == MAP_FAILED)
			munmap(m->piece[m->n], SW_SPARE_PIECE);
		else
			m->used_again++;
	}
	return at;
}

void sw_spare_give(struct sw_spare_memory *m, void *at, size_t bytes)
{
	char *rest = at;
	while (bytes >= SW_SPARE_PIECE && m->n < SW_MAX_SPARES) {
		m->piece[m->n++] = rest;
		rest += SW_SPARE_PIECE;
		bytes -= SW_SPARE_PIECE;
	}
	if (bytes)
		munmap(rest, bytes);
}

void sw_spare_drop(struct sw_spare_memory *m)
{
	while (m->n)
		munmap(m->piece[--m->n], SW_SPARE_PIECE);
}

/* Bytes that are looked at and copied at once: a page of most machines.  Larger pages cost memory, nothing else. */
#define PIECE 4096u

/* Are all n bytes zero? */
static bool is_zero(const unsigned char *at, size_t n)
{
	uint64_t any = 0;
	while (n >= 64 && !any) {
		uint64_t word[8];
		memcpy(word, at, sizeof word);
		any = word[0] | word[1] | word[2] | word[3] | word[4] | word[5] | word[6] | word[7];
		at += sizeof word;
		n -= sizeof word;
	}
	for (; n && !any; n--)
		any = *at++;
	return !any;
}

void *sw_sparse_copy(const void *bytes, size_t n, size_t *mapped, size_t *filled)
{
	const unsigned char *from = bytes;
	size_t room = n / PIECE * PIECE + PIECE;
	unsigned char *copy = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		sw_out_of_memory(room);
	*mapped = room;
	*filled = 0;
	for (size_t at = 0; at < n; at += PIECE) {
		size_t piece = n - at < PIECE ? n - at : PIECE;
		if (is_zero(from + at, piece))
			continue;
		memcpy(copy + at, from + at, piece);
		*filled += PIECE;
	}
	return copy;
}

void sw_sparse_free(void *copy, size_t mapped)
{
	munmap(copy, mapped);
}

/* Data that decompresses to so many times its size is mostly zeros: packed code, in which all but a few kernels are
 * blank.
 */
#define SPARSE_RATIO 64u
#define SPARSE_LEAST (256u << 10)

/* A module's tables are larger than its text. */
#define SW_MODULE_COST 8

/* Takes a content out of the list of those without users. */
static void unlink_content(struct sw_contents *cs, struct sw_content *c)
{
	*(c->newer ? &c->newer->older : &cs->newest) = c->older;
	*(c->older ? &c->older->newer : &cs->oldest) = c->newer;
	c->newer = c->older = NULL;
}

/* Frees what a content holds; the memory that it was decompressed into goes back to `spare`. */
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

/* Frees contents without users, those unused for longest first, until the rest is within the limit. */
static void make_room(struct sw_contents *cs)
{
	while (cs->held > cs->limit && cs->oldest) {
		struct sw_content *c = cs->oldest;
		unlink_content(cs, c);
		cs->held -= c->cost;
		empty_content(c, &cs->spare);
	}
}

/* Will the entry's content mostly be zeros? */
static bool is_sparse(const struct sw_fatbin_entry *e)
{
	return e->compressed && e->kind == SW_IMAGE_ELF && e->bytes >= SPARSE_LEAST &&
	       e->bytes / SPARSE_RATIO > e->stored_bytes;
}

/* Memory that the entry can be decompressed into; NULL with error filled. */
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

/* Decompresses an entry; one of mostly zeros into memory that takes no room for these. */
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

/* Reads the content of a unit, and parses PTX if `parsed`.  Without the lock: the content is GOING, no other thread
   writes it.  What was read before stays as it is. */
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

/* The memory that a unit's content takes, in bytes. */
static size_t cost_of(const struct sw_unit *u)
{
	const struct sw_content *c = &u->content;
	return (c->mapped ? c->filled : c->owned ? c->room : 0) + (c->module ? c->n * SW_MODULE_COST : 0);
}

/* Loads the content of a unit.  The lock is held, given up meanwhile, and held again on return. */
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

/* Is the content loaded, and parsed if that is wanted? */
static bool content_is_there(const struct sw_unit *u, bool parsed)
{
	return u->content.load == SW_LOAD_DONE && (!parsed || u->entry.kind != SW_IMAGE_PTX || u->content.module);
}

/* When the last user has released the content: keeps it for another, within bounds.  A load that failed is not tried
   again, and needs no room. */
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
