/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions and lines of the objects that a program had mapped: from the packed trace, or from the files on this
 * machine.
 *
 * A file is opened once, wherever and however often it was mapped.  Strings live as long as the struct.  Not
 * thread-safe.
 */
#ifndef SW_REPORT_SYMBOLS_MODULE_NAMES_H
#define SW_REPORT_SYMBOLS_MODULE_NAMES_H

#include "base/map.h"
#include "base/memory.h"
#include "report/symbols/debug_objects.h"
#include "report/symbols/symbols.h"

struct sw_module_names {
	const struct sw_reader *reader;
	struct sw_map modules; /* struct sw_trace_module -> struct sw_named_file */
	struct sw_map files;   /* hash of path and build id -> struct sw_named_file */
	SW_VEC(struct sw_named_file *) all;
};

/* Where the names of a module come from. */
struct sw_named_file {
	const char *path;
	const uint8_t *build_id;
	uint32_t build_id_bytes;
	const struct sw_trace_names *packed; /* NULL: not packed */
	struct sw_debug_object *object;	     /* NULL: not opened, as what was packed is whole */
	uint64_t base;			     /* that the object was opened for */
	enum sw_object_state state;
};

void sw_module_names_free(struct sw_module_names *names);

/* The file of a module, opened at the first call for it; never NULL. */
const struct sw_named_file *sw_module_names_file(struct sw_module_names *names, const struct sw_trace_module *module);

/* Calls back from the innermost inlined function to the real one; `ip` is a return address in the module. */
void sw_module_names_at(struct sw_module_names *names, const struct sw_trace_module *module, uint64_t ip,
			void (*each)(void *arg, const struct sw_object_place *place), void *arg);

/* Python frames among native ones. */

typedef SW_VEC(struct sw_frame) sw_frame_vec;

/*
 * Puts the Python frames of a stack in the place of the interpreter's evaluation loops that ran them.  Where those are
 * not found the frames follow the native ones.  False: the stack has no Python frames.
 */
bool sw_python_frames_join(const struct sw_reader *reader, const struct sw_trace_stack *stack, sw_frame_vec *frames);

#endif
