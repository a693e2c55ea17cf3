/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/pools/python_api.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* struct _typeobject of Include/cpython/object.h: the same in 3.9 to 3.14, but for builds without the lock. */
#define TYPE_NAME  24u
#define TYPE_SIZE  32u
#define TYPE_END   48u
#define TYPE_ALLOC 304u

#define FIRST_MINOR 9
#define LAST_MINOR  14

static bool is_known(const char *version)
{
	if (strncmp(version, "3.", 2) != 0 || strstr(version, "free-threading"))
		return false;
	const long minor = strtol(version + 2, NULL, 10);
	return minor >= FIRST_MINOR && minor <= LAST_MINOR;
}

static bool find(struct sw_python_api *api)
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
	if (!version || !is_known(version()))
		return false;
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		void *found = dlsym(RTLD_DEFAULT, wanted[i].name);
		if (!found)
			return false;
		memcpy(wanted[i].to, &found, sizeof found);
	}
	return true;
}

/* Each thread that comes here before it is done does it all, with the same result. */
const struct sw_python_api *sw_python_api(void)
{
	static struct sw_python_api api;
	static int state; /* 1: found, 2: not */
	int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
	if (!now) {
		now = find(&api) ? 1 : 2;
		__atomic_store_n(&state, now, __ATOMIC_RELEASE);
	}
	return now == 1 ? &api : NULL;
}

struct sw_python_slots sw_python_slots(void *type)
{
	char *at = type;
	return (struct sw_python_slots){(const char **)(void *)(at + TYPE_NAME), (ptrdiff_t *)(void *)(at + TYPE_SIZE),
					(void (**)(void *))(void *)(at + TYPE_END),
					(void *(**)(void *, ptrdiff_t))(void *)(at + TYPE_ALLOC)};
}

void *sw_python_module(const struct sw_python_api *api, const char *name)
{
	void *text = api->text(name), *module = text ? api->module(text) : NULL;
	if (text)
		api->drop(text);
	if (!module)
		api->clear();
	return module;
}

void *sw_python_attribute(const struct sw_python_api *api, void *object, const char *name)
{
	void *found = api->attribute(object, name);
	if (!found)
		api->clear();
	return found;
}

bool sw_python_number(const struct sw_python_api *api, void *object, const char *name, unsigned long long *value)
{
	void *number = sw_python_attribute(api, object, name);
	if (!number)
		return false;
	*value = api->number(number);
	const bool good = !api->error();
	api->clear();
	api->drop(number);
	return good;
}
