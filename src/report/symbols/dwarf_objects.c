/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and inlined functions of an object, by libdw. */
#include "config.h"

#include "report/symbols/debug_objects.h"

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

/* A file may nest without end. */
#define MOST_SCOPES	256u
#define MOST_NAMESPACES 32

/* Addresses of one function; a function may have several. */
struct function_range {
	Dwarf_Addr low, high;
	Dwarf_Off die;
};

/* A compilation unit that was asked for. */
struct unit {
	Dwarf_Off die;
	SW_VEC(struct function_range) functions; /* by address */
};

struct sw_dwarf_object {
	Dwfl_Module *module; /* NULL: nothing usable */
	SW_VEC(struct unit) units;
	struct sw_symbol_index index;
	bool indexed;
};

/* Bytes of a file that is examined: the largest libraries have 10 GB with debug information. */
#define OBJECT_MAX (64ll << 30)

/* Opens a regular file; -1: it is none, or too large.  A trace may name any path: opening a device has effects, and
   opening a pipe would block. */
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

/* Is the file the one that was mapped in the run?  True also where the run has no build id of it. */
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

/* The linkage name of a function in the debug information, else its plain name. */
static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) &&
	    !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		return dwarf_diename(die);
	return dwarf_formstring(&attribute);
}

/* Finds file and line where an inlined function was called; NULL and 0 unknown. */
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

/* Fills in file and line of the address. */
static void find_line(Dwarf_Die *unit, Dwarf_Addr address, struct sw_object_place *place)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	if (!line)
		return;
	place->file = dwarf_linesrc(line, NULL, NULL);
	dwarf_lineno(line, &place->line);
}

/* For qsort(): by address, then by place in the debug information. */
static int by_address(const void *x, const void *y)
{
	const struct function_range *a = x, *b = y;
	return a->low != b->low ? (a->low < b->low ? -1 : 1) : (a->die > b->die) - (a->die < b->die);
}

/* Appends the functions of a compilation unit, or of a namespace in it.  Clang's entries for the functions of a
   namespace are children of the namespace, GCC's are children of the unit; member functions are defined outside of
   their class by both.  depth: how many levels of nested namespaces are searched. */
static void list_functions(Dwarf_Die *die, struct unit *unit, int depth)
{
	Dwarf_Die child;
	for (int more = dwarf_child(die, &child); !more; more = dwarf_siblingof(&child, &child)) {
		Dwarf_Addr base, low, high;
		int tag = dwarf_tag(&child);
		if (tag == DW_TAG_namespace && depth)
			list_functions(&child, unit, depth - 1);
		for (ptrdiff_t at = 0;
		     tag == DW_TAG_subprogram && (at = dwarf_ranges(&child, at, &base, &low, &high)) > 0;)
			*sw_vec_push(&unit->functions) = (struct function_range){low, high, dwarf_dieoffset(&child)};
	}
}

/* The functions of a compilation unit, listed at the first question about it. */
static const struct unit *unit_known(struct sw_dwarf_object *object, Dwarf_Die *die)
{
	for (size_t i = 0; i < object->units.n; i++)
		if (object->units.at[i].die == dwarf_dieoffset(die))
			return &object->units.at[i];
	struct unit *unit = sw_vec_push(&object->units);
	*unit = (struct unit){.die = dwarf_dieoffset(die)};
	list_functions(die, unit, MOST_NAMESPACES);
	if (unit->functions.n)
		qsort(unit->functions.at, unit->functions.n, sizeof *unit->functions.at, by_address);
	return unit;
}

/* Finds the function that holds the address; false: none.  libdw walks through the whole unit for each (a tenth of a
   second for the twenty units of CuPy that a report names), so its functions are kept. */
static bool function_at(struct sw_dwarf_object *object, Dwarf_Die *die, Dwarf_Addr address, Dwarf_Die *function)
{
	const struct unit *unit = unit_known(object, die);
	size_t low = 0, high = unit->functions.n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (unit->functions.at[middle].low > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low && address < unit->functions.at[low - 1].high &&
	       dwarf_offdie(dwfl_module_getdwarf(object->module, &(Dwarf_Addr){0}), unit->functions.at[low - 1].die,
			    function);
}

/* The blocks and inlined functions in a function that hold the address, outermost first. */
static size_t scopes_at(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Die *scope)
{
	Dwarf_Die child;
	size_t n = 0;
	for (int more = dwarf_child(function, &child); !more && n < MOST_SCOPES;) {
		if (dwarf_haspc(&child, address) == 1) {
			scope[n++] = child;
			more = dwarf_child(&scope[n - 1], &child);
		} else {
			more = dwarf_siblingof(&child, &child);
		}
	}
	return n;
}

/* Calls back for the inlined functions around the address, innermost first; *place leaves as the call site in the real
   function. */
static void inlined_places(struct sw_dwarf_object *object, Dwarf_Die *unit, Dwarf_Addr address,
			   struct sw_object_place *place, void (*each)(void *arg, const struct sw_object_place *place),
			   void *arg)
{
	Dwarf_Die scope[MOST_SCOPES], function;
	size_t n = function_at(object, unit, address, &function) ? scopes_at(&function, address, scope) : 0;
	while (n--) {
		if (dwarf_tag(&scope[n]) != DW_TAG_inlined_subroutine)
			continue;
		place->symbol = die_name(&scope[n]);
		place->inlined = true;
		each(arg, place);
		call_site(unit, &scope[n], &place->file, &place->line);
	}
}

/* ---- names of functions ------------------------------------------------------------------------------------------ */

/* Is it a symbol that calls can return to?  Data is the larger half of the symbols of a C++ library. */
static bool is_code(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);
	return symbol->st_shndx != SHN_UNDEF && symbol->st_name &&
	       (type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC);
}

/* May the symbol be one of Arm's "$x" and "$d", which mark code and data within a section (AAELF64, 5.6), and name
   nothing? */
static bool may_be_mark(const GElf_Sym *symbol)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE && GELF_ST_BIND(symbol->st_info) == STB_LOCAL &&
	       symbol->st_size == 0;
}

/* Is the object code for AArch64? */
static bool is_of_arm(Dwfl_Module *module)
{
	GElf_Addr bias;
	GElf_Ehdr head;
	Elf *elf = dwfl_module_getelf(module, &bias);
	return elf && gelf_getehdr(elf, &head) && head.e_machine == EM_AARCH64;
}

/* How strong the symbol's name is: of several at one address the global one is shown. */
static enum sw_symbol_bind bind_of(const GElf_Sym *symbol)
{
	int bind = GELF_ST_BIND(symbol->st_info);
	return bind == STB_LOCAL ? SW_SYMBOL_LOCAL : bind == STB_WEAK ? SW_SYMBOL_WEAK : SW_SYMBOL_GLOBAL;
}

/* The table that libdw took its symbols from, as it lies in the file; NULL: its symbols come from several. */
static const Elf64_Sym *table_of(Elf *elf, int n)
{
	GElf_Shdr head;
	if (gelf_getclass(elf) != ELFCLASS64)
		return NULL;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		if (!gelf_getshdr(section, &head) || (head.sh_type != SHT_SYMTAB && head.sh_type != SHT_DYNSYM) ||
		    head.sh_size != (GElf_Xword)n * sizeof(Elf64_Sym))
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		if (data && data->d_size == head.sh_size)
			return data->d_buf;
	}
	return NULL;
}

/* Makes the index of an object's symbols.  All in one table, which is the rule, are read as they lie there; a call of
   libdw for each takes as long as what the index saves. */
static void index_symbols(struct sw_dwarf_object *object)
{
	int n = dwfl_module_getsymtab(object->module);
	GElf_Sym first, symbol;
	GElf_Addr address, bias = 0;
	Elf *elf = NULL;
	const Elf64_Sym *table = NULL;
	const bool of_arm = is_of_arm(object->module);
	object->indexed = true;
	if (n > 1 && dwfl_module_getsym_info(object->module, 1, &first, &address, NULL, &elf, &bias) && elf)
		table = table_of(elf, n);
	if (table && (table[1].st_value != first.st_value || table[1].st_name != first.st_name))
		table = NULL;
	for (int i = 1; i < n; i++) {
		if (table) {
			memcpy(&symbol, &table[i], sizeof symbol);
			address = symbol.st_value + bias;
		} else if (!dwfl_module_getsym_info(object->module, i, &symbol, &address, NULL, NULL, NULL)) {
			continue;
		}
		if (is_code(&symbol) && !(of_arm && may_be_mark(&symbol)))
			sw_symbol_index_add(&object->index, address, symbol.st_size, (uint32_t)i, bind_of(&symbol));
	}
	sw_symbol_index_finish(&object->index);
}

/* The name of the symbol that holds the address; NULL: none. */
static const char *symbol_at(struct sw_dwarf_object *object, uint64_t address)
{
	GElf_Sym symbol;
	GElf_Addr at;
	bool label;
	if (!object->indexed)
		index_symbols(object);
	int64_t number = sw_symbol_index_find(&object->index, address, &label);
	if (number >= 0)
		return dwfl_module_getsym_info(object->module, (int)number, &symbol, &at, NULL, NULL, NULL);
	/* Only libdw knows whether the label lies in the section of the address; few addresses come here. */
	return label ? dwfl_module_addrname(object->module, address) : NULL;
}

void sw_dwarf_places(struct sw_dwarf_object *object, uint64_t address, bool lines,
		     void (*each)(void *arg, const struct sw_object_place *place), void *arg)
{
	struct sw_object_place place = {0};
	Dwarf_Addr bias = 0;
	if (!object->module)
		return;
	Dwarf_Die *unit = lines ? unit_of(object->module, address, &bias) : NULL;
	if (unit) {
		find_line(unit, address - bias, &place);
		inlined_places(object, unit, address - bias, &place, each, arg);
	}
	place.symbol = symbol_at(object, address);
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

void sw_dwarf_places(struct sw_dwarf_object *object, uint64_t address, bool lines,
		     void (*each)(void *arg, const struct sw_object_place *place), void *arg)
{
	(void)object, (void)address, (void)lines, (void)each, (void)arg;
}
#endif
