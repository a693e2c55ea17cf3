/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/intercept/function_table.h"

#include <errno.h>
#include <string.h>

#include "preload/intercept/driver.h"
#include "preload/recorder/recorder.h"
#include "preload/intercept/hook_state.h"

/* "The maximum size of kernel parameters is 32,764 bytes" (CUDA C++ Programming Guide, 12.1 and newer). */
#define MAX_PARAMS	4096u
#define MAX_NAME	16384u
#define MAX_PARAM_BYTES 32764u

/* The two families of questions, of which a handle answers one. */
struct ask {
	CUresult (*param)(void *handle, size_t index, size_t *offset, size_t *bytes);
	CUresult (*name)(const char **name, void *handle);
	CUresult (*owner)(void **owner, void *handle);
	uint32_t flags; /* of the FUNCTION record */
};

/* The functions by which the driver answers about a CUkernel, a kernel of a library. */
static struct ask ask_kernel(void)
{
	return (struct ask){
		.param = (__typeof__(((struct ask *)0)->param))SW_REAL(cuKernelGetParamInfo),
		.name = (__typeof__(((struct ask *)0)->name))SW_REAL(cuKernelGetName),
		.owner = (__typeof__(((struct ask *)0)->owner))SW_REAL(cuKernelGetLibrary),
		.flags = SW_FUNCTION_KERNEL,
	};
}

/* The functions by which the driver answers about a CUfunction, a kernel of a module. */
static struct ask ask_function(void)
{
	return (struct ask){
		.param = (__typeof__(((struct ask *)0)->param))SW_REAL(cuFuncGetParamInfo),
		.name = (__typeof__(((struct ask *)0)->name))SW_REAL(cuFuncGetName),
		.owner = (__typeof__(((struct ask *)0)->owner))SW_REAL(cuFuncGetModule),
		.flags = 0,
	};
}

/* The kernel's mangled name; NULL: the driver does not know the handle, or is too old to say. */
static const char *function_name(const struct ask *ask, void *handle)
{
	const char *name = NULL;

	return ask->name && ask->name(&name, handle) == CUDA_SUCCESS ? name : NULL;
}

/* Parameters from index 0 up to the first that the driver refuses. */
static uint32_t count_params(const struct ask *ask, void *handle, bool *known)
{
	size_t offset, bytes;
	uint32_t n = 0;
	CUresult status = CUDA_SUCCESS;

	while (ask->param && n < MAX_PARAMS && (status = ask->param(handle, n, &offset, &bytes)) == CUDA_SUCCESS)
		n++;
	*known = ask->param && (n > 0 || status == CUDA_ERROR_INVALID_VALUE);
	return n;
}

/* Writes the FUNCTION record of a kernel: name, image and where each parameter lies in the block. */
static void function_describe(const struct sw_kernel_entry *function, uint64_t handle, uint32_t flags, const char *name)
{
	const size_t name_bytes = name ? strnlen(name, MAX_NAME) : 0;
	const size_t layout_bytes = function->params * sizeof *function->layout;
	struct sw_rec_function *r = sw_describe(SW_REC_FUNCTION, sizeof *r + layout_bytes + name_bytes, false);

	if (!r)
		return;
	r->id = function->id;
	r->image = (uint32_t)sw_table_get(&sw_state()->by_code, function->owner);
	r->handle = handle;
	r->flags = flags | (function->known ? 0 : SW_FUNCTION_NO_LAYOUT);
	r->params = (uint16_t)function->params;
	r->name_bytes = (uint16_t)name_bytes;
	memcpy(r + 1, function->layout, layout_bytes);
	if (name)
		memcpy((char *)(r + 1) + layout_bytes, name, name_bytes);
	sw_describe_done(r);
}

#define LOOKED_AT 8u /* free entries that are tried for their size */

/* An entry for so many parameters, zeroed. */
static struct sw_kernel_entry *entry_take(uint32_t params)
{
	struct sw_state *state = sw_state();
	const uint64_t mask = sw_state_lock(state);
	struct sw_kernel_entry *entry = NULL, **link = &state->free_entries;

	for (uint32_t i = 0; i < LOOKED_AT && *link && !entry; i++) {
		if ((*link)->room >= params) {
			entry = *link;
			*link = (struct sw_kernel_entry *)(uintptr_t)entry->owner;
		} else {
			link = (struct sw_kernel_entry **)(void *)&(*link)->owner;
		}
	}
	sw_state_unlock(state, mask);
	if (entry) {
		const uint16_t room = entry->room;

		memset(entry, 0, sizeof *entry + room * sizeof *entry->layout);
		entry->room = room;
		return entry;
	}
	entry = sw_table_memory(sizeof *entry + params * sizeof *entry->layout);
	if (entry)
		entry->room = (uint16_t)params;
	return entry;
}

/* Puts the entry of an unloaded function aside, to be used again when many more were unloaded: a launch that is under
   way on another thread, which would be a mistake of the program, still reads it.  Under the lock. */
static void entry_retire(struct sw_kernel_entry *entry)
{
	struct sw_state *state = sw_state();
	struct sw_kernel_entry **slot = &state->retired[state->retired_count++ % SW_STATE_RETIRED];

	if (*slot) {
		(*slot)->owner = (uint64_t)(uintptr_t)state->free_entries;
		state->free_entries = *slot;
	}
	*slot = entry;
}

/* Asks the driver for name and parameters of a kernel and describes it.  `library`: where the handle is known to be a
   CUkernel, else 0; the other kind is tried too.  NULL: the driver knows neither. */
static struct sw_kernel_entry *function_make(void *handle, uint64_t library)
{
	const bool kernel = library != 0;
	struct ask ask = kernel ? ask_kernel() : ask_function();
	struct sw_kernel_entry *function;
	const char *name = function_name(&ask, handle);
	void *owner = NULL;
	uint32_t params;
	bool known;

	params = count_params(&ask, handle, &known);
	if (!name && !known) {
		ask = kernel ? ask_function() : ask_kernel();
		name = function_name(&ask, handle);
		params = count_params(&ask, handle, &known);
	}
	if (!name && !known && ask.name)
		return NULL; /* neither kind knows it: the launch will fail, and the handle may be a good one later */
	function = entry_take(params);
	if (!function)
		return NULL;
	function->known = known;
	for (uint32_t i = 0; i < params; i++) {
		size_t offset = 0, bytes = 0;

		ask.param(handle, i, &offset, &bytes);
		if (offset > MAX_PARAM_BYTES || bytes > MAX_PARAM_BYTES - offset)
			break;
		function->gaps |= offset != function->bytes;
		function->layout[i] = (struct sw_param){(uint16_t)offset, (uint16_t)bytes};
		function->bytes = offset + bytes > function->bytes ? (uint32_t)(offset + bytes) : function->bytes;
		function->params = i + 1;
	}
	if (!kernel && ask.owner && ask.owner(&owner, handle) == CUDA_SUCCESS)
		function->owner = (uint64_t)(uintptr_t)owner;
	else
		function->owner = library;
	function->id = __atomic_add_fetch(&sw_state()->functions, 1, __ATOMIC_RELAXED);
	function_describe(function, (uint64_t)(uintptr_t)handle, ask.flags, name);
	return function;
}

/* A kernel's name, image and parameter layout, described in the trace at its first launch.  Known ones are found
   without a lock. */
const struct sw_kernel_entry *sw_function_meet(CUfunction handle)
{
	struct sw_state *state = sw_state();
	uint64_t mask;
	const uint64_t key = (uint64_t)(uintptr_t)handle;
	struct sw_kernel_entry *made = (struct sw_kernel_entry *)(uintptr_t)sw_table_get(&state->by_function, key);
	int saved;

	if (!handle || made)
		return made;
	/* Two threads may both describe it, under two ids; both ids say the same. */
	saved = errno;
	made = function_make(handle, sw_table_get(&state->kernels, key));
	errno = saved;
	if (made) {
		mask = sw_state_lock(state);
		sw_table_put(&state->by_function, key, (uint64_t)(uintptr_t)made);
		sw_state_unlock(state, mask);
	}
	return made;
}

/* Notes which library a kernel is of, and so which code it runs. */
void sw_function_is_kernel(CUkernel kernel, CUlibrary library)
{
	struct sw_state *state = sw_state();
	uint64_t mask;
	const uint64_t key = (uint64_t)(uintptr_t)kernel, owner = (uint64_t)(uintptr_t)library;

	if (!key || !owner || sw_table_get(&state->kernels, key) == owner)
		return;
	mask = sw_state_lock(state);
	sw_table_put(&state->kernels, key, owner);
	sw_state_unlock(state, mask);
}

/* The library that a CUkernel is of; 0: unknown. */
uint64_t sw_functions_library_of(CUkernel kernel)
{
	return sw_table_get(&sw_state()->kernels, (uint64_t)(uintptr_t)kernel);
}

/* Notes that a module's code is the library's image. */
void sw_functions_module_of(uint64_t module, uint64_t library)
{
	struct sw_state *state = sw_state();
	uint64_t mask;
	const uint64_t image = sw_table_get(&state->by_code, library);

	if (!module || !image || sw_table_get(&state->by_code, module) == image)
		return;
	mask = sw_state_lock(state);
	sw_table_put(&state->by_code, module, image);
	sw_state_unlock(state, mask);
}

/* For sw_table_sweep(): does the function go with this module or library?  Then its entry is retired. */
static bool retire_owned(uint64_t handle, uint64_t function, uint64_t code)
{
	const struct sw_table *by_code = &sw_state()->by_code;
	const uint64_t owner = ((const struct sw_kernel_entry *)(uintptr_t)function)->owner;
	const uint64_t image = sw_table_get(by_code, owner);

	(void)handle;
	/* A function of a module that the driver made of this library ends, too; one of unknown origin may be of this
	   library. */
	const bool is = owner == code || image == 0 || image == sw_table_get(by_code, code);

	if (is)
		entry_retire((struct sw_kernel_entry *)(uintptr_t)function);
	return is;
}

/* For sw_table_sweep(): does the handle stand for the image that is unloaded? */
static bool of_image(uint64_t handle, uint64_t image, uint64_t ended)
{
	(void)handle;
	return image == ended;
}

/* Number of kernels that were described, for the trace's totals. */
uint32_t sw_functions_known(void)
{
	const struct sw_state *state = __atomic_load_n(&sw_state_published, __ATOMIC_ACQUIRE);
	return state ? __atomic_load_n(&state->functions, __ATOMIC_RELAXED) : 0;
}

/* For sw_table_sweep(): is the kernel of the library that is unloaded? */
static bool in_library(uint64_t kernel, uint64_t library, uint64_t code)
{
	(void)kernel;
	return library == code;
}

/* Forgets all handles of code that is unloaded, since the driver may give them to new code. */
uint32_t sw_functions_unload(uint64_t code)
{
	struct sw_state *state = sw_state();
	uint64_t mask;
	const uint32_t image = (uint32_t)sw_table_get(&state->by_code, code);

	mask = sw_state_lock(state);
	sw_table_sweep(&state->by_function, retire_owned, code);
	sw_table_sweep(&state->kernels, in_library, code);
	/* A library's module ends with it. */
	sw_table_sweep(&state->by_code, of_image, image);
	sw_state_unlock(state, mask);
	return image;
}
