/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is called of the interpreter that the process has: functions of its stable interface, by name.  Blocks of
 * CuPy's memory pool, as records.  The pool is compiled Cython that calls itself.  It depends on three slots of the
 * types of its objects (cupy/cuda/memory.pyx): a block is a PooledMemory, made through its type's tp_alloc and
 * filled; the MemoryPointer to it is made next, on the same thread, through tp_alloc of that type; and the block is
 * given back by the tp_dealloc of the first.  We replace these three slots.  A block that the program frees with
 * free() ends when the next one begins there.  Where `ptr` and `size` lie in a PooledMemory is found out from the
 * first one, whose attributes are read; a plain load after that.  The types are found while Python imports CuPy: it
 * looks up the "PyInit_" function of each of its modules, and holds the interpreter's lock while it does.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "preload/pools/pools.h"
#include "preload/recorder/companion.h"
#include "syncwatch/syncwatch.h"

struct sw_python_api {
	int (*holds_lock)(void);
	void *(*error)(void);
	void (*clear)(void);
	void *(*text)(const char *text);
	void *(*module)(void *name);
	void *(*attribute)(void *object, const char *name);
	void *(*item)(void *dict, const char *name); /* borrowed */
	unsigned long long (*number)(void *object);
	const char *(*capsule_name)(void *capsule);
	void *(*capsule)(void *capsule, const char *name);
	void (*drop)(void *object);
	void *(*generic_alloc)(void *type, ptrdiff_t items);
};

/* NULL: no interpreter, or none whose objects are laid out as those of a release build of CPython 3.9 to 3.14.  Any
   thread; always the same. */
static const struct sw_python_api *python_functions(void);

/* The slots of a type object that are replaced. */
struct sw_python_slots {
	const char **name;
	ptrdiff_t *size; /* of an object */
	void (**end)(void *object);
	void *(**alloc)(void *type, ptrdiff_t items);
};
static struct sw_python_slots slots_of(void *type);

/* The rest is called with the lock of the interpreter, and leaves no error. */

/* struct _typeobject of Include/cpython/object.h: the same in 3.9 to 3.14, but for builds without the lock. */
#define TYPE_NAME  24u
#define TYPE_SIZE  32u
#define TYPE_END   48u
#define TYPE_ALLOC 304u

#define FIRST_MINOR 9
#define LAST_MINOR  14

/* Is this a version of CPython whose type objects we know? */
static bool is_known_api(const char *version)
{
	if (strncmp(version, "3.", 2) != 0 || strstr(version, "free-threading"))
		return false;
	const long minor = strtol(version + 2, NULL, 10);
	return minor >= FIRST_MINOR && minor <= LAST_MINOR;
}

/* Finds the interpreter's functions.  False: no interpreter, or one is missing. */
static bool find_functions(struct sw_python_api *api)
{
	const char *(*version)(void) = (const char *(*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "Py_GetVersion");
	const struct {
		void *to;
		const char *name;
	} wanted[] = {
		{&api->holds_lock, "PyGILState_Check"},
		{&api->error, "PyErr_Occurred"},
		{&api->clear, "PyErr_Clear"},
		{&api->text, "PyUnicode_FromString"},
		{&api->module, "PyImport_GetModule"},
		{&api->attribute, "PyObject_GetAttrString"},
		{&api->item, "PyDict_GetItemString"},
		{&api->number, "PyLong_AsUnsignedLongLong"},
		{&api->capsule_name, "PyCapsule_GetName"},
		{&api->capsule, "PyCapsule_GetPointer"},
		{&api->drop, "Py_DecRef"},
		{&api->generic_alloc, "PyType_GenericAlloc"},
	};
	if (!version || !is_known_api(version()))
		return false;
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		void *found = dlsym(RTLD_DEFAULT, wanted[i].name);
		if (!found)
			return false;
		memcpy(wanted[i].to, &found, sizeof found);
	}
	return true;
}

/* The interpreter's functions that we need.  Each thread that comes here before they are known looks for them, with one
   result. */
static const struct sw_python_api *python_functions(void)
{
	static struct sw_python_api api;
	static int state; /* 1: found, 2: not */
	int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
	if (!now) {
		now = find_functions(&api) ? 1 : 2;
		__atomic_store_n(&state, now, __ATOMIC_RELEASE);
	}
	return now == 1 ? &api : NULL;
}

/* Where the slots lie in a type object. */
static struct sw_python_slots slots_of(void *type)
{
	char *at = type;
	return (struct sw_python_slots){(const char **)(void *)(at + TYPE_NAME), (ptrdiff_t *)(void *)(at + TYPE_SIZE),
					(void (**)(void *))(void *)(at + TYPE_END),
					(void *(**)(void *, ptrdiff_t))(void *)(at + TYPE_ALLOC)};
}

/* A new reference to an imported module; NULL: it was not imported. */
static void *python_module(const struct sw_python_api *api, const char *name)
{
	void *text = api->text(name), *module = text ? api->module(text) : NULL;
	if (text)
		api->drop(text);
	if (!module)
		api->clear();
	return module;
}

/* A new reference; NULL: there is none. */
static void *python_attribute(const struct sw_python_api *api, void *object, const char *name)
{
	void *found = api->attribute(object, name);
	if (!found)
		api->clear();
	return found;
}

/* Reads an attribute that is a number.  False: there is none. */
static bool python_number(const struct sw_python_api *api, void *object, const char *name, unsigned long long *value)
{
	void *number = python_attribute(api, object, name);
	if (!number)
		return false;
	*value = api->number(number);
	const bool good = !api->error();
	api->clear();
	api->drop(number);
	return good;
}

#define MODULE	"cupy.cuda.memory"
#define BLOCK	MODULE ".PooledMemory"
#define LARGEST 4096 /* of an object of that type */

enum state { WAITS, ATTACHED, REFUSED };

static struct {
	const struct sw_companion *recorder;
	sw_look_up *before;
	syncwatch_function *annotate;
	const struct sw_python_api *api;
	enum state state;
	void *(*alloc_block)(void *type, ptrdiff_t items), *(*alloc_pointer)(void *type, ptrdiff_t items);
	void (*block_ends)(void *block);
	ptrdiff_t size;		       /* of a PooledMemory */
	ptrdiff_t at_address, at_size; /* in it; 0: not known yet */
	intptr_t (*stream)(void);      /* the calling thread's current one; NULL: not known */
} cupy;

static __thread void *unfilled; /* a block that was made and has no bytes yet */

/* Reads 8 bytes of an object. */
static uint64_t read_word(const void *object, ptrdiff_t at)
{
	uint64_t value;
	memcpy(&value, (const char *)object + at, sizeof value);
	return value;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* The only word of the object with this value; 0: none, or several. */
static ptrdiff_t place_of(const void *object, uint64_t value)
{
	ptrdiff_t found = 0;
	for (ptrdiff_t at = 16; at + 8 <= cupy.size; at += 8)
		if (read_word(object, at) == value) {
			if (found)
				return 0;
			found = at;
		}
	return found;
}

/* Finds by a block of CuPy where its fields for address and size lie.  False: this one does not tell, the next may. */
static bool find_fields(void *block)
{
	unsigned long long address, size;
	if (!python_number(cupy.api, block, "ptr", &address) || !python_number(cupy.api, block, "size", &size) ||
	    !address || !size)
		return false;
	const ptrdiff_t at_address = place_of(block, address), at_size = place_of(block, size);
	if (!at_address || !at_size)
		return false;
	cupy.at_size = at_size;
	cupy.at_address = at_address;
	return true;
}

/* The calling thread's current stream, from whose arena the block comes. */
static void *own_stream(void)
{
	if (!cupy.stream)
		return SYNCWATCH_HOST;
	const intptr_t stream = cupy.stream();
	if (stream == -1) { /* it failed */
		cupy.api->clear();
		return SYNCWATCH_HOST;
	}
	return (void *)stream;
}

/* A block was handed out: records it with its address, size and stream. */
static void begin_block(void *block)
{
	if (!cupy.at_address && !find_fields(block))
		return;
	const uint64_t address = read_word(block, cupy.at_address), size = read_word(block, cupy.at_size);
	if (address && size)
		cupy.annotate(SW_POOL_ARRAY_BEGIN, (void *)address, size, own_stream(), 0, NULL);
}

/* tp_alloc of PooledMemory: a block is about to be filled. */
static void *alloc_block(void *type, ptrdiff_t items)
{
	void *block = cupy.alloc_block(type, items);
	unfilled = block;
	return block;
}

/* Pointers into a block that is there already are made here as well. */
static void *alloc_pointer(void *type, ptrdiff_t items)
{
	void *block = unfilled;
	const int saved = errno;
	unfilled = NULL;
	if (block && !cupy.api->error())
		begin_block(block);
	errno = saved;
	return cupy.alloc_pointer(type, items);
}

/* tp_dealloc of PooledMemory: the block is given back. */
static void block_ends(void *block)
{
	const int saved = errno;
	if (block == unfilled)
		unfilled = NULL;
	else if (cupy.at_address && read_word(block, cupy.at_address))
		cupy.annotate(SW_POOL_ARRAY_END, (void *)read_word(block, cupy.at_address), 0, SYNCWATCH_HOST, 0, NULL);
	errno = saved;
	cupy.block_ends(block);
}

/* ---- the types --------------------------------------------------------------------------------------------------- */

/* Types as they are known: allocated as any object is, which also says that the slots are where they should be. */
static bool is_known_cupy(const struct sw_python_slots *block, const struct sw_python_slots *pointer)
{
	return strcmp(*block->name, BLOCK) == 0 && *block->size > 16 && *block->size <= LARGEST && *block->end &&
	       *block->alloc == cupy.api->generic_alloc && *pointer->alloc == cupy.api->generic_alloc;
}

/* cdef intptr_t get_current_stream_ptr() of cupy/cuda/stream.pyx, as other modules of CuPy find it. */
static void find_stream(void)
{
	void *module = python_module(cupy.api, "cupy.cuda.stream");
	void *exports = module ? python_attribute(cupy.api, module, "__pyx_capi__") : NULL;
	void *capsule = exports ? cupy.api->item(exports, "get_current_stream_ptr") : NULL;
	const char *name = capsule ? cupy.api->capsule_name(capsule) : NULL;
	if (name && strcmp(name, "intptr_t (void)") == 0)
		cupy.stream = (intptr_t(*)(void))(uintptr_t)cupy.api->capsule(capsule, name);
	cupy.api->clear();
	if (exports)
		cupy.api->drop(exports);
	if (module)
		cupy.api->drop(module);
}

/* Puts our functions into the slots of both types. */
static enum state replace_slots(void *block_type, void *pointer_type)
{
	const struct sw_python_slots block = slots_of(block_type), pointer = slots_of(pointer_type);
	if (!is_known_cupy(&block, &pointer))
		return REFUSED;
	find_stream();
	cupy.size = *block.size;
	cupy.alloc_block = *block.alloc;
	cupy.alloc_pointer = *pointer.alloc;
	cupy.block_ends = *block.end;
	*block.end = block_ends;
	*pointer.alloc = alloc_pointer;
	*block.alloc = alloc_block;
	return ATTACHED;
}

/* The types exist before the module's own code runs, which imports the others: they stay to the end of the process. */
static void attach_types(void)
{
	if (!cupy.api->holds_lock() || cupy.api->error())
		return;
	void *module = python_module(cupy.api, MODULE);
	if (!module)
		return;
	void *block = python_attribute(cupy.api, module, "PooledMemory");
	void *pointer = python_attribute(cupy.api, module, "MemoryPointer");
	void *stream = python_module(cupy.api, "cupy.cuda.stream");
	if (block && pointer && stream)
		cupy.state = replace_slots(block, pointer);
	cupy.api->drop(stream);
	cupy.api->drop(block);
	cupy.api->drop(pointer);
	cupy.api->drop(module);
}

/* Sees the program's dlsym(): when Python loads a module of CuPy, looks whether the types are there. */
static struct sw_dlsym_answer look_up(void *handle, const char *name, const void *caller)
{
	if (cupy.state == REFUSED && cupy.recorder->recording()) {
		cupy.state = ATTACHED;
		cupy.recorder->notice("arrays: not recorded, the memory pool of this version of CuPy is not known");
	}
	if (cupy.state == WAITS && strncmp(name, "PyInit_", 7) == 0 && handle != RTLD_NEXT && handle != RTLD_DEFAULT) {
		const int saved = errno;
		void *found = cupy.recorder->look_ups.real(handle, name);
		Dl_info info;
		if (found && dladdr(found, &info) && info.dli_fname && strstr(info.dli_fname, "/cupy")) {
			cupy.api = python_functions();
			if (cupy.api)
				attach_types();
			dlerror();
		}
		errno = saved;
		return (struct sw_dlsym_answer){found, 1};
	}
	return cupy.before ? cupy.before(handle, name, caller) : (struct sw_dlsym_answer){NULL, 0};
}

/* Watches for CuPy's pool, if a recorder is loaded and its hook into dlsym() can be had. */
__attribute__((constructor)) static void start(void)
{
	const struct sw_companion *(*find)(uint32_t) =
		(__typeof__(find))(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_companion");
	cupy.recorder = find ? find(SW_COMPANION_VERSION) : NULL;
	cupy.annotate = (syncwatch_function *)(uintptr_t)dlsym(RTLD_DEFAULT, "syncwatch_annotate");
	if (cupy.recorder && cupy.recorder->look_ups.real && cupy.annotate)
		cupy.before = cupy.recorder->look_ups.set(look_up);
}
