/* SPDX-License-Identifier: Apache-2.0 */
#include "run/window.h"

#include <stdlib.h>

#include "base/memory.h"

const struct sw_rec *sw_window_record(const unsigned char *records, uint32_t at, uint32_t bytes)
{
	const struct sw_rec *rec = (const void *)(records + at);
	if (bytes - at < sizeof *rec || rec->kind == SW_REC_PAD || rec->words < sizeof *rec / 8 ||
	    rec->words * 8u > bytes - at)
		return NULL;
	return rec;
}

struct numbers {
	uint64_t first, last; /* those of the window */
	unsigned char *seen;  /* a bit each */
};

/* A number that is taken and has no record yet is close to the last one. */
#define IN_FLIGHT_MOST 65536u

/* The first number near the end of the window that no record has, last + 1: there is none. */
static uint64_t first_missing(const struct numbers *n)
{
	uint64_t from = n->last - n->first > IN_FLIGHT_MOST ? n->last - IN_FLIGHT_MOST : n->first;
	while (from <= n->last && n->seen[(from - n->first) / 8] >> ((from - n->first) % 8) & 1)
		from++;
	return from;
}

/* Notes that a record has this number. */
static void see_number(struct numbers *n, uint64_t seq)
{
	if (seq >= n->first && seq <= n->last)
		n->seen[(seq - n->first) / 8] |= (unsigned char)(1u << ((seq - n->first) % 8));
}

/* Notes the numbers of all records of a chunk from byte `from` on, and the highest one in *last. */
static void each_number(const unsigned char *records, uint32_t from, uint32_t bytes, struct numbers *n, uint64_t *last)
{
	const struct sw_rec *rec;
	for (uint32_t at = from; (rec = sw_window_record(records, at, bytes)); at += rec->words * 8u) {
		if (n)
			see_number(n, sw_rec_seq(rec));
		if (last && sw_rec_seq(rec) > *last)
			*last = sw_rec_seq(rec);
	}
}

uint64_t sw_window_end_number(const struct sw_window *window, uint64_t after, unsigned char *scratch, uint32_t room)
{
	struct numbers n = {.first = after + 1};
	uint32_t bytes;
	for (size_t i = 0; i < window->chunks; i++)
		if (window->read(window->arg, window->chunk[i].place, scratch, &bytes, room))
			each_number(scratch, 0, bytes, NULL, &n.last);
	if (!window->running || n.last <= after || n.last - after > UINT32_MAX)
		return UINT64_MAX;
	n.seen = sw_calloc((n.last - after) / 8 + 1, 1);
	for (size_t i = 0; i < window->chunks; i++)
		if (window->read(window->arg, window->chunk[i].place, scratch, &bytes, room))
			each_number(scratch, 0, bytes, &n, NULL);
	const uint64_t end = first_missing(&n) - 1;
	free(n.seen);
	return end;
}
