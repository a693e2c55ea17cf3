/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of mapped files for fuzz targets, in place of report/symbols/debug_objects.c: made of path and address.  What
 * a hostile trace names is never opened, each run of an input is the same, and no process is started, which costs
 * 15 ms under AddressSanitizer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "report/symbols/debug_objects.h"

struct sw_debug_object {
	enum sw_object_state state;
};

struct sw_debug_object *sw_object_open(const struct sw_trace_module *module, enum sw_object_state *state)
{
	struct sw_debug_object *object = sw_alloc(sizeof *object);
	*state = object->state = (enum sw_object_state)(module->path[0] % 3);
	return object;
}

void sw_object_close(struct sw_debug_object *object)
{
	free(object);
}

void sw_object_ahead(const struct sw_trace_module *module, uint64_t address)
{
	(void)module;
	(void)address;
}

const char *sw_object_trouble(const struct sw_debug_object *object)
{
	(void)object;
	return NULL;
}

void sw_object_places(struct sw_debug_object *object, uint64_t address,
		      void (*each)(void *arg, const struct sw_object_place *place), void *arg)
{
	char symbol[32];
	snprintf(symbol, sizeof symbol, "_ZN1a%uf%uEv", 1 + (unsigned)(address % 4), (unsigned)(address % 97));
	if (object->state != SW_OBJECT_USABLE)
		return;
	if (address % 2)
		each(arg, &(struct sw_object_place){.symbol = symbol, .file = "a.h", .line = 1, .inlined = true});
	each(arg, &(struct sw_object_place){.symbol = address % 3 ? symbol : NULL,
					    .file = address % 5 ? "a.c" : NULL,
					    .line = (int)(address % 1000)});
}

void sw_object_limits(unsigned seconds, uint64_t bytes)
{
	(void)seconds;
	(void)bytes;
}
