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
#include <stdint.h>

#include "reader/reader.h"

struct sw_debug_object;

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

/* Processor seconds that one question may take, and memory (tests ask for less). */
void sw_object_limits(unsigned seconds, uint64_t bytes);

#endif
