/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the command and its libraries (never for the preload object).
 *
 * Running out of memory ends the command: one line on stderr, exit status SW_EXIT_MEMORY.  The trace is untouched, so
 * nothing is lost.
 */
#ifndef SW_BASE_MEMORY_H
#define SW_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SW_EXIT_MEMORY 5

/* Says so in one line and ends the process with SW_EXIT_MEMORY. */
_Noreturn void sw_out_of_memory(size_t bytes_wanted);
/* From here on memory is in pages of 2 MB where the system gives these to who asks ("madvise" or "always" in
   /sys/kernel/mm/transparent_hugepage/enabled), unless RLIMIT_DATA or RLIMIT_AS rations it: judging walks through some
   hundred megabytes in no order.  Before other threads are started. */
void sw_memory_use_large_pages(void);
/* Never return NULL for a size above 0.  Free with free(). */
void *sw_alloc(size_t bytes) __attribute__((malloc));
void *sw_calloc(size_t count, size_t bytes) __attribute__((malloc));
void *sw_realloc(void *old, size_t count, size_t bytes);
char *sw_strdup(const char *text) __attribute__((malloc));
char *sw_strndup(const char *text, size_t bytes) __attribute__((malloc));
char *sw_format(const char *format, ...) __attribute__((malloc, format(printf, 1, 2)));
/* A stream into memory: open_memstream(), which never fails here. */
FILE *sw_memory_stream(char **text, size_t *bytes);

/*
 * Growable array: struct { T *at; size_t n, room; }.
 *
 *     SW_VEC(struct foo) foos = {0};
 *     *sw_vec_push(&foos) = (struct foo){...};
 *     free(foos.at);
 */
#define SW_VEC(T)                                                                                                      \
	struct {                                                                                                       \
		T *at;                                                                                                 \
		size_t n, room;                                                                                        \
	}
#define sw_vec_reserve(v, count)                                                                                       \
	((v)->room >= (size_t)(count)                                                                                  \
		 ? (void)0                                                                                             \
		 : (void)((v)->at = sw_vec_grow((v)->at, &(v)->room, (size_t)(count), sizeof *(v)->at)))
#define sw_vec_push(v) (sw_vec_reserve(v, (v)->n + 1), &(v)->at[(v)->n++])
void *sw_vec_grow(void *old, size_t *room, size_t count, size_t bytes);

/*
 * Arena: many small objects that end together.  Zeroed memory, aligned to 16 bytes.  Zero-initialise; sw_arena_free()
 * frees everything and leaves an empty arena.
 */
struct sw_arena {
	struct sw_arena_block *head;
	size_t bytes; /* allocated from it so far */
};
void *sw_arena_alloc(struct sw_arena *arena, size_t bytes);
char *sw_arena_strndup(struct sw_arena *arena, const char *text, size_t bytes);
void sw_arena_free(struct sw_arena *arena);

#endif
