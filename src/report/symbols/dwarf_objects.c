/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "report/symbols/dwarf_objects.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#ifdef HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

struct sw_dwarf_object {
	Dwfl_Module *module; /* NULL: nothing usable */
};

#define OBJECT_MAX                                                                                                     \
	(64ll << 30) /* bytes of a file that is looked into: the largest libraries have 10 GB with debug information   \
		      */

/* A trace names any path: opening a device does something, and nobody waits for the other end of a pipe. */
static int open_regular(const char *path)
{
	struct stat s;
	if (stat(path, &s) || !S_ISREG(s.st_mode))
		return -1;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && (fstat(fd, &s) || !S_ISREG(s.st_mode) || s.st_size > OBJECT_MAX)) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool same_build_id(Dwfl_Module *module, const struct sw_trace_module *recorded)
{
	const unsigned char *bits;
	GElf_Addr address;
	if (recorded->build_id_bytes == 0)
		return true;
	int bytes = dwfl_module_build_id(module, &bits, &address);
	return bytes == (int)recorded->build_id_bytes && memcmp(bits, recorded->build_id, (size_t)bytes) == 0;
}

struct sw_dwarf_object *sw_dwarf_open(const struct sw_trace_module *recorded, enum sw_object_state *state)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	struct sw_dwarf_object *object = sw_calloc(1, sizeof *object);
	/* A report must not talk to the network, nor wait for it: no debuginfod. */
	unsetenv("DEBUGINFOD_URLS");
	*state = SW_OBJECT_MISSING;
	const int fd = open_regular(recorded->path);
	Dwfl *dwfl = fd >= 0 ? dwfl_begin(&callbacks) : NULL;
	if (!dwfl)
		return object;
	dwfl_report_begin(dwfl);
	/* Owns the descriptor from here on. */
	Dwfl_Module *module = dwfl_report_elf(dwfl, recorded->path, recorded->path, fd, recorded->base, true);
	dwfl_report_end(dwfl, NULL, NULL);
	if (!module)
		return object;
	*state = same_build_id(module, recorded) ? SW_OBJECT_USABLE : SW_OBJECT_CHANGED;
	if (*state == SW_OBJECT_USABLE)
		object->module = module;
	return object;
}

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) &&
	    !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		return dwarf_diename(die);
	return dwarf_formstring(&attribute);
}

/* Where an inlined function was called. */
static void call_site(Dwarf_Die *unit, Dwarf_Die *inlined, const char **file, int *line)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	Dwarf_Files *files;
	size_t n;
	*file = NULL;
	*line = 0;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &number) == 0 &&
	    dwarf_getsrcfiles(unit, &files, &n) == 0 && number < n)
		*file = dwarf_filesrc(files, number, NULL, NULL);
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &number) == 0)
		*line = (int)number;
}

/*
 * The compilation unit of an address.  Clang leaves out the index (.debug_aranges) that libdw relies on: then each unit
 * is asked for its ranges.
 */
static Dwarf_Die *unit_of(Dwfl_Module *module, uint64_t address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);
	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, bias)))
		if (dwarf_haspc(unit, address - *bias) == 1)
			return unit;
	return NULL;
}

static void find_line(Dwarf_Die *unit, Dwarf_Addr address, struct sw_object_place *place)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	if (!line)
		return;
	place->file = dwarf_linesrc(line, NULL, NULL);
	dwarf_lineno(line, &place->line);
}

/* Inlined functions around the address, innermost first; *place leaves as the call site in the real function. */
static void inlined_places(Dwarf_Die *unit, Dwarf_Addr address, struct sw_object_place *place,
			   void (*each)(void *arg, const struct sw_object_place *place), void *arg)
{
	Dwarf_Die *scopes = NULL;
	int n = dwarf_getscopes(unit, address, &scopes);
	for (int i = 0; i < n; i++) {
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			break;
		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			continue;
		place->symbol = die_name(&scopes[i]);
		place->inlined = true;
		each(arg, place);
		call_site(unit, &scopes[i], &place->file, &place->line);
	}
	free(scopes);
}

void sw_dwarf_places(struct sw_dwarf_object *object, uint64_t address,
		     void (*each)(void *arg, const struct sw_object_place *place), void *arg)
{
	struct sw_object_place place = {0};
	Dwarf_Addr bias = 0;
	if (!object->module)
		return;
	Dwarf_Die *unit = unit_of(object->module, address, &bias);
	if (unit) {
		find_line(unit, address - bias, &place);
		inlined_places(unit, address - bias, &place, each, arg);
	}
	place.symbol = dwfl_module_addrname(object->module, address);
	place.inlined = false;
	each(arg, &place);
}

#else

struct sw_dwarf_object {
	char nothing;
};

struct sw_dwarf_object *sw_dwarf_open(const struct sw_trace_module *recorded, enum sw_object_state *state)
{
	(void)recorded;
	*state = SW_OBJECT_USABLE;
	return sw_calloc(1, sizeof(struct sw_dwarf_object));
}

void sw_dwarf_places(struct sw_dwarf_object *object, uint64_t address,
		     void (*each)(void *arg, const struct sw_object_place *place), void *arg)
{
	(void)object, (void)address, (void)each, (void)arg;
}
#endif
