/* SPDX-License-Identifier: Apache-2.0 */
/* cuGetProcAddress: by name, version and flag, as the driver hands its entry points out. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simcuda/proc.h"

/* Only addresses are needed here; the prototypes differ, so they are declared as objects. */
#define SW_SIM_ENTRY(symbol, name, since)	      extern const char symbol[];
#define SW_SIM_TWIN(symbol, name, since, suffix, ...) extern const char symbol[], symbol##suffix[];
#include "simcuda/driver.def"

static const struct entry {
	const char *name;
	int version;
	const char *address, *per_thread;
} entries[] = {
#define SW_SIM_ENTRY(symbol, name, since)	      {name, since, symbol, NULL},
#define SW_SIM_TWIN(symbol, name, since, suffix, ...) {name, since, symbol, symbol##suffix},
#include "simcuda/driver.def"
};

/* The newest version of the name that is not newer than asked for. */
enum sw_sim_proc sw_sim_proc_find(const char *name, int version, bool per_thread, void **out)
{
	enum sw_sim_proc result = SW_SIM_PROC_UNKNOWN;
	const struct entry *best = NULL;
	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
		if (strcmp(entries[i].name, name))
			continue;
		result = SW_SIM_PROC_NEWER;
		if (entries[i].version <= version && (!best || best->version < entries[i].version))
			best = &entries[i];
	}
	if (!best)
		return result;
	*out = (void *)(uintptr_t)(per_thread && best->per_thread ? best->per_thread : best->address);
	return SW_SIM_PROC_FOUND;
}
