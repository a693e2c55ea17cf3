/* SPDX-License-Identifier: Apache-2.0 */
/* What is called of the interpreter that the process has: functions of its stable interface, by name. */
#ifndef SW_PRELOAD_POOLS_PYTHON_API_H
#define SW_PRELOAD_POOLS_PYTHON_API_H

#include <stdbool.h>
#include <stddef.h>

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
const struct sw_python_api *sw_python_api(void);

/* The slots of a type object that are replaced. */
struct sw_python_slots {
	const char **name;
	ptrdiff_t *size; /* of an object */
	void (**end)(void *object);
	void *(**alloc)(void *type, ptrdiff_t items);
};
struct sw_python_slots sw_python_slots(void *type);

/* The rest is called with the lock of the interpreter, and leaves no error. */

/* A new reference to an imported module; NULL: it was not imported. */
void *sw_python_module(const struct sw_python_api *api, const char *name);
/* A new reference; NULL: there is none. */
void *sw_python_attribute(const struct sw_python_api *api, void *object, const char *name);
bool sw_python_number(const struct sw_python_api *api, void *object, const char *name, unsigned long long *value);

#endif
