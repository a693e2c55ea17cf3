/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Says why, and ends the process: the command can do nothing without memory. */
void sw_out_of_memory(size_t bytes)
{
	struct rlimit limit;
	const bool rationed = !getrlimit(RLIMIT_DATA, &limit) && limit.rlim_cur != RLIM_INFINITY;
	fprintf(stderr, "syncwatch: out of memory (%zu bytes wanted%s); the trace is untouched\n", bytes,
		rationed ? ", and --max-memory or ulimit -d allows no more" : "");
	exit(SW_EXIT_MEMORY);
}

/* ---- large pages ------------------------------------------------------------------------------------------------ */

#define LARGE_PAGE ((size_t)2 << 20)
/* The heap grows and shrinks by at least so much; blocks of this size and more lie outside of it.  malloc takes no
   higher threshold (mallopt(3), M_MMAP_THRESHOLD). */
#define HEAP_STEP (16 * LARGE_PAGE)

/* Up to here large pages were asked for; 0: not started. */
static _Atomic uintptr_t heap_end;

/* Is there a limit on this kind of memory?  Then none is taken in advance. */
static bool is_rationed(int resource)
{
	struct rlimit limit;
	return getrlimit(resource, &limit) || limit.rlim_cur != RLIM_INFINITY;
}

/* Makes malloc() get and return its memory in large steps, on which the kernel can put large pages. */
void sw_memory_use_large_pages(void)
{
	if (is_rationed(RLIMIT_DATA) || is_rationed(RLIMIT_AS))
		return;
	mallopt(M_MMAP_THRESHOLD, HEAP_STEP);
	mallopt(M_TOP_PAD, HEAP_STEP);
	mallopt(M_TRIM_THRESHOLD, 2 * HEAP_STEP);
	heap_end = (uintptr_t)sbrk(0);
}

/* Asks the kernel for large pages in a range.  Where the system does not grant it, pages stay small, and nobody sees
   that. */
static void ask_huge_pages(uintptr_t from, uintptr_t to)
{
	int saved = errno;
	if (from < to)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
	errno = saved;
}

/* After a block was allocated: asks for large pages in the part by which the heap grew since, and in the block if
   it is large. */
static void ask_for_large_pages(void *block, size_t bytes)
{
	const uintptr_t asked = heap_end, end = asked ? (uintptr_t)sbrk(0) : 0;
	if (end != asked) {
		ask_huge_pages(asked, end);
		heap_end = end;
	}
	if (asked && bytes >= HEAP_STEP) {
		const uintptr_t at = (uintptr_t)block, last = at + bytes;
		ask_huge_pages(at + (-at & (LARGE_PAGE - 1)), last & ~(LARGE_PAGE - 1));
	}
}

/* ---- allocation ------------------------------------------------------------------------------------------------- */

/* Ends the process if an allocation failed. */
static void *check_allocation(void *got, size_t bytes)
{
	if (!got && bytes)
		sw_out_of_memory(bytes);
	ask_for_large_pages(got, bytes);
	return got;
}

/* count * bytes, or SIZE_MAX, which no allocation grants. */
static size_t saturating_product(size_t count, size_t bytes)
{
	size_t all;
	return __builtin_mul_overflow(count, bytes, &all) ? SIZE_MAX : all;
}

void *sw_alloc(size_t bytes)
{
	return check_allocation(malloc(bytes), bytes);
}

/* Zeroed memory for an array; out of memory ends the process. */
void *sw_calloc(size_t count, size_t bytes)
{
	return check_allocation(calloc(count, bytes), saturating_product(count, bytes));
}

/* As realloc() for an array; out of memory ends the process. */
void *sw_realloc(void *old, size_t count, size_t bytes)
{
	return check_allocation(reallocarray(old, count, bytes), saturating_product(count, bytes));
}

char *sw_strdup(const char *text)
{
	return sw_strndup(text, strlen(text));
}

char *sw_strndup(const char *text, size_t bytes)
{
	char *copy = sw_alloc(bytes + 1);
	memcpy(copy, text, bytes);
	copy[bytes] = 0;
	return copy;
}

/* A stream into memory that grows; only one thread may use it, since it is not locked. */
FILE *sw_memory_stream(char **text, size_t *bytes)
{
	FILE *stream = check_allocation(open_memstream(text, bytes), sizeof(FILE));
	__fsetlocking(stream, FSETLOCKING_BYCALLER); /* of the thread that asked for it */
	return stream;
}

/* The text is malloc'ed; out of memory ends the process. */
char *sw_format(const char *format, ...)
{
	char *text = NULL;
	va_list ap;
	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	return check_allocation(text, 1);
}

/* Doubles the room, at least to `count`; returns the memory that replaces `old`. */
void *sw_vec_grow(void *old, size_t *room, size_t count, size_t bytes)
{
	size_t more = *room ? *room * 2 : 8;
	if (more < count)
		more = count;
	*room = more;
	return sw_realloc(old, more, bytes);
}

struct sw_arena_block {
	struct sw_arena_block *next;
	size_t used, room;
	_Alignas(16) unsigned char data[];
};

/* Zeroed memory that sw_arena_free() returns as a whole, from blocks of 64 KiB. */
void *sw_arena_alloc(struct sw_arena *arena, size_t bytes)
{
	struct sw_arena_block *b = arena->head;
	bytes = (bytes + 15) & ~(size_t)15;
	if (!b || b->room - b->used < bytes) {
		size_t room = bytes > 65536 - sizeof *b ? bytes : 65536 - sizeof *b;
		b = sw_alloc(sizeof *b + room);
		b->room = room;
		b->used = 0;
		b->next = arena->head;
		arena->head = b;
	}
	void *got = b->data + b->used;
	b->used += bytes;
	arena->bytes += bytes;
	return memset(got, 0, bytes);
}

char *sw_arena_strndup(struct sw_arena *arena, const char *text, size_t bytes)
{
	char *copy = sw_arena_alloc(arena, bytes + 1);
	memcpy(copy, text, bytes);
	return copy;
}

void sw_arena_free(struct sw_arena *arena)
{
	while (arena->head) {
		struct sw_arena_block *next = arena->head->next;
		free(arena->head);
		arena->head = next;
	}
	arena->bytes = 0;
}
