/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols and lines of one mapped file.
 *
 * They are read in a process of its own with limits on memory and time (symbol_worker.c): a file that is damaged, or
 * made to harm, costs its own names and nothing else.  Not thread-safe.
 */
#ifndef SW_REPORT_SYMBOLS_DEBUG_OBJECTS_H
#define SW_REPORT_SYMBOLS_DEBUG_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "reader/reader.h"

struct sw_debug_object;
struct sw_dwarf_object;

enum sw_object_state { SW_OBJECT_USABLE, SW_OBJECT_MISSING, SW_OBJECT_CHANGED };

/* Opens the file of a module as it was mapped, which must outlive the object. Never NULL; *state says why there may be
   nothing in it. */
struct sw_debug_object *sw_object_open(const struct sw_trace_module *module, enum sw_object_state *state);
void sw_object_close(struct sw_debug_object *object);

/* Why reading the file was given up, "by signal 11"; NULL: it was not. */
const char *sw_object_trouble(const struct sw_debug_object *object);

/* One function at an address. Strings live until the callback returns. */
struct sw_object_place {
	const char *symbol; /* mangled; NULL */
	const char *file;   /* NULL */
	int line;
	bool inlined;
};

/* Calls back from the innermost inlined function to the real one; `address` is one inside the calling instruction. */
void sw_object_places(struct sw_debug_object *object, uint64_t address,
		      void (*each)(void *arg, const struct sw_object_place *place), void *arg);

/* Starts the process that reads while the caller does other work, before the caller has threads. */
void sw_object_ahead_begin(void);
/* Asks of a place without waiting.  The same question later (sw_object_places()) finds it answered.  Called before the
   first of several questions is asked, these take one turn of the process together. */
void sw_object_ahead(const struct sw_trace_module *module, uint64_t address);
/* Ends the process where nothing else uses it: no more is asked ahead.  Waits for nothing. */
void sw_object_ahead_end(void);

/* Sets how many seconds of the processor one question may take, and how much memory (tests ask for less). */
void sw_object_limits(unsigned seconds, uint64_t bytes);

/*
 * Symbols and lines of one mapped file, through elfutils' libdw.  Without libdw nothing is ever found.
 *
 * What is read comes from files that a trace names, and libdw was not written for hostile ones: only the process of
 * symbol_worker.c calls this.
 */

/* Opens the file of a module as it was mapped: a regular one of bounded size.  Never NULL; *state says why there may be
   nothing in it. */
struct sw_dwarf_object *sw_dwarf_open(const struct sw_trace_module *module, enum sw_object_state *state);

/* Calls back from the innermost inlined function to the real one; `address` is one inside the calling instruction.
   lines: false for symbols alone. */
void sw_dwarf_places(struct sw_dwarf_object *object, uint64_t address, bool lines,
		     void (*each)(void *arg, const struct sw_object_place *place), void *arg);

/*
 * Which symbol holds an address.  libdw looks at every symbol of a file for each address, 12 ms in a library of 46,000
 * symbols; this puts them into buckets once.  Few addresses are asked for: sorting all symbols took longer.
 *
 *     add, add, ... finish, find, find, ...
 */

enum sw_symbol_bind { SW_SYMBOL_LOCAL, SW_SYMBOL_WEAK, SW_SYMBOL_GLOBAL };

struct sw_index_symbol {
	uint64_t address;
	uint32_t bytes; /* 0 unknown: a label */
	uint32_t number : 30, bind : 2;
};

struct sw_symbol_bucket {
	size_t first;
	uint64_t end; /* the latest of its symbols and of those before: bounds how far back one must look */
	bool label;   /* a label lies there */
};

struct sw_symbol_index {
	SW_VEC(struct sw_index_symbol) symbols; /* by bucket */
	struct sw_symbol_bucket *bucket;	/* each begins where the one before ends */
	uint64_t low;				/* address of the first */
	unsigned shift;				/* its addresses, as a power of 2 */
};

/* Adds a symbol; number: the caller's name for it, below 2^30. */
void sw_symbol_index_add(struct sw_symbol_index *index, uint64_t address, uint64_t bytes, uint32_t number,
			 enum sw_symbol_bind bind);
void sw_symbol_index_finish(struct sw_symbol_index *index);
void sw_symbol_index_free(struct sw_symbol_index *index);

/*
 * The number of the symbol whose bytes hold the address: a global or weak one before a local one, the one that begins
 * nearest, the shortest of those, a global one before a weak one. -1: none does. *label, with -1
 * only: of the symbols that begin at or before the address, the one that reaches furthest has no size, so the address
 * may belong to it, and the caller must ask libdw.
 */
int64_t sw_symbol_index_find(const struct sw_symbol_index *index, uint64_t address, bool *label);

/* The process that reads symbols, and what it is asked: one question at a time over a socket. */

#define SW_WORKER_ANSWER_MAX (1u << 20) /* bytes of one answer: what is longer is left out */

/* A question: `number` says which object; a path follows the first time that a worker is asked of it. */
struct sw_worker_question {
	uint64_t address; /* 0: open only */
	uint64_t base;
	uint32_t number, path_bytes, build_id_bytes;
	uint32_t flags;
};
#define SW_WORKER_NO_LINES 1u /* symbols are enough */

/* An answer: `bytes` follow, places one after the other: struct sw_worker_place, symbol, file, each without a NUL. */
struct sw_worker_answer {
	uint32_t state; /* enum sw_object_state */
	uint32_t bytes;
};
struct sw_worker_place {
	uint32_t symbol_bytes, file_bytes; /* UINT32_MAX: NULL */
	int32_t line;
	uint32_t inlined;
};

/* Answers questions until the other side closes.  room: SW_WORKER_ANSWER_MAX bytes.  Never returns. */
_Noreturn void sw_worker_serve(int fd, unsigned seconds, uint64_t bytes, char *room);

/* Reads all of it; false: the other side has gone. */
int sw_worker_read(int fd, void *out, size_t bytes);
/* Writes all of it; false: the other side has gone. */
int sw_worker_write(int fd, const void *data, size_t bytes);

#endif
