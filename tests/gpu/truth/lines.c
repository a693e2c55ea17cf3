/* SPDX-License-Identifier: Apache-2.0 */
#include "lines.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t launches;

/* ---- how often a kernel was launched ----------------------------------------------------------------------------- */

struct counter {
	struct counter *next;
	unsigned tid, n;
	char name[];
};
static struct counter *counters[4096];

/* tid 0: all threads. */
static unsigned count(const char *name, unsigned tid)
{
	uint32_t hash = 2166136261u ^ tid;
	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	struct counter **list = &counters[hash % 4096], *at = *list;
	while (at && (at->tid != tid || strcmp(at->name, name) != 0))
		at = at->next;
	if (!at) {
		size_t bytes = strlen(name) + 1;
		at = calloc(1, sizeof *at + bytes);
		if (!at)
			return UINT32_MAX;
		memcpy(at->name, name, bytes);
		at->tid = tid;
		at->next = *list;
		*list = at;
	}
	return ++at->n;
}

unsigned lines_count(const struct launch *launch, unsigned *seen)
{
	*seen = count(launch->name, 0);
	return count(launch->name, launch->tid);
}

/* ---- from bits to rows ------------------------------------------------------------------------------------------- */

struct rows {
	char role;
	uint64_t start, end; /* the bytes in hand, 0: none */
	uint64_t address, width, pitch, rows;
};

static void rows_write(struct rows *r)
{
	if (r->rows)
		fprintf(out, "%c %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", r->role, r->address, r->width,
			r->pitch, r->rows);
	r->rows = 0;
}

/* Rows of one width and one pitch are one line: columns of a matrix would be thousands. */
static void rows_flush(struct rows *r)
{
	uint64_t width = r->end - r->start;
	if (!width)
		return;
	if (r->rows && width == r->width && (r->rows == 1 || r->start == r->address + r->rows * r->pitch)) {
		if (r->rows == 1)
			r->pitch = r->start - r->address;
		r->rows++;
	} else {
		rows_write(r);
		*r = (struct rows){.role = r->role, .address = r->start, .width = width, .pitch = width, .rows = 1};
	}
	r->start = r->end = 0;
}

static void rows_add(struct rows *r, uint64_t address, uint32_t mask)
{
	while (mask) {
		unsigned first = (unsigned)__builtin_ctz(mask);
		unsigned n = ~(mask >> first) ? (unsigned)__builtin_ctz(~(mask >> first)) : 32;
		uint64_t start = address + first;
		if (start != r->end) {
			rows_flush(r);
			r->start = start;
		}
		r->end = start + n;
		mask = first + n < 32 ? mask & ~0u << (first + n) : 0;
	}
}

static int by_sector(const void *x, const void *y)
{
	const struct observed_sector *a = x, *b = y;
	return a->sector < b->sector ? -1 : a->sector > b->sector;
}

static size_t compact(struct observed_sector *table, uint64_t places)
{
	size_t n = 0;
	for (uint64_t i = 0; i < places; i++)
		if (table[i].sector)
			table[n++] = table[i];
	return n;
}

void lines_launch(const struct launch *l, const struct observed *head, struct observed_sector *table)
{
	const char *state = !head ? "unwatched" : head->dropped ? "dropped" : "watched";
	pthread_mutex_lock(&lock);
	launches++;
	fprintf(out, "launch %u %u %u %u %u %u %u %u %s %s\n", l->number, l->tid, l->grid[0], l->grid[1], l->grid[2],
		l->block[0], l->block[1], l->block[2], state, l->name);
	if (head && head->used) {
		size_t n = compact(table, head->last + 1);
		qsort(table, n, sizeof *table, by_sector);
		for (int role = 0; role < OBSERVED_ROLES; role++) {
			struct rows rows = {.role = "rwac"[role]};
			for (size_t i = 0; i < n; i++)
				rows_add(&rows, table[i].sector * OBSERVED_SECTOR, table[i].mask[role]);
			rows_flush(&rows);
			rows_write(&rows);
		}
	}
	/* A program under test may crash: what was seen until then counts. */
	fflush(out);
	pthread_mutex_unlock(&lock);
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

void lines_note(const char *kind, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	pthread_mutex_lock(&lock);
	if (out) {
		fprintf(out, "%s ", kind);
		vfprintf(out, format, arguments);
		fputc('\n', out);
	}
	pthread_mutex_unlock(&lock);
	va_end(arguments);
}

static void finish(void)
{
	pthread_mutex_lock(&lock);
	fprintf(out, "end %" PRIu64 "\n", launches);
	fflush(out);
	pthread_mutex_unlock(&lock);
}

bool lines_open(const char *path)
{
	out = path ? fopen(path, "w") : NULL;
	if (out)
		atexit(finish);
	return out != NULL;
}
