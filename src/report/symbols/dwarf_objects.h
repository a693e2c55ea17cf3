/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols and lines of one mapped file, through elfutils' libdw.  Without libdw nothing is ever found.
 *
 * What is read comes from files that a trace names, and libdw was not written for hostile ones: only the process of
 * symbol_worker.c calls this.
 */
#ifndef SW_REPORT_SYMBOLS_DWARF_OBJECTS_H
#define SW_REPORT_SYMBOLS_DWARF_OBJECTS_H

#include "report/symbols/debug_objects.h"

struct sw_dwarf_object;

/* Opens the file of a module as it was mapped: a regular one of bounded size.  Never NULL; *state says why there may be
   nothing in it. */
struct sw_dwarf_object *sw_dwarf_open(const struct sw_trace_module *module, enum sw_object_state *state);

/* Calls back from the innermost inlined function to the real one; `address` is one inside the calling instruction. */
void sw_dwarf_places(struct sw_dwarf_object *object, uint64_t address,
		     void (*each)(void *arg, const struct sw_object_place *place), void *arg);

#endif
