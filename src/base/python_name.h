/* SPDX-License-Identifier: Apache-2.0 */
/* Does a Python function have the name that a user gave it: --forbid and --capture python:MODULE.FUNC? */
#ifndef SW_BASE_PYTHON_NAME_H
#define SW_BASE_PYTHON_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Does the path of a source file end with these `n` components of a module's name? */
static inline bool sw_python_in_module(const char *file, const char *module, size_t n)
{
	size_t bytes = strlen(file);
	if (bytes > 3 && !strcmp(file + bytes - 3, ".py"))
		bytes -= 3;
	if (bytes > 9 && !strncmp(file + bytes - 9, "/__init__", 9))
		bytes -= 9;
	if (bytes < n || (bytes > n && file[bytes - n - 1] != '/'))
		return false;
	for (size_t i = 0; i < n; i++) {
		const char c = module[i] == '.' ? '/' : module[i];
		if (file[bytes - n + i] != c)
			return false;
	}
	return true;
}

static inline bool sw_python_is_function(const char *recorded, const char *function)
{
	const size_t have = strlen(recorded), want = strlen(function);
	return have >= want && !strcmp(recorded + have - want, function) &&
	       (have == want || recorded[have - want - 1] == '.');
}

/* "pkg.mod.Class.method": which part of it is the module is not written, and Python before 3.11 knows "method" only. */
static inline bool sw_python_is_named(const char *file, const char *recorded, const char *name)
{
	if (sw_python_is_function(recorded, name))
		return true;
	for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
		const bool bare = !strchr(recorded, '.');
		const char *function = bare ? strrchr(dot, '.') + 1 : dot + 1;
		if (sw_python_in_module(file, name, (size_t)(dot - name)) && sw_python_is_function(recorded, function))
			return true;
	}
	return false;
}

/* Names with __main__ match nothing: a module is found by its file, whatever it was imported as. */
static inline bool sw_python_names_main(const char *name)
{
	return !strncmp(name, "__main__.", strlen("__main__."));
}
#define SW_PYTHON_NO_MAIN "a function of the program itself is named by its file (train.step) or alone (step), not '%s'"

#endif
