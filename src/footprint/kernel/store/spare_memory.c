/* SPDX-License-Identifier: Apache-2.0 */
#include "footprint/kernel/store/spare_memory.h"

#include <sys/mman.h>

/* Smaller requests are not worth a piece. */
#define SMALL	   (SW_SPARE_PIECE / 2)
#define SMALL_UNIT ((size_t)64 << 10)

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
