/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/intercept/driver.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "api/names.h"
#include "base/hash.h"
#include "preload/intercept/dlsym.h"
#include "preload/recorder/recorder.h"
#include "preload/intercept/requesters.h"
#include "preload/intercept/identity_table.h"
#include "preload/intercept/trampoline.h"
#include "preload/intercept/wrappers.h"

#define DRIVER "libcuda.so.1"
/* The real driver and the simulated one both have this function; what merely wraps a few others has not. */
#define MARK "cuInit"
/* A driver that only simulates a GPU says so by exporting this name. */
#define SIMULATION_MARK "syncwatch_simulated_cuda"

void *sw_driver_real[SW_ID_COUNT];

/* Real pointer -> entry point.  Built in one go, then only read. */
#define PLACES 2048u
static_assert(PLACES > 2 * SW_ID_COUNT, "at most half full");
struct identity {
	struct sw_loaded_object object;
	void *handle;
	struct {
		const void *real;
		uint16_t id;
	} at[PLACES];
};
static struct identity *known;

static uint16_t identity_find(const struct identity *identity, const void *real)
{
	for (uint64_t i = sw_hash_u64((uintptr_t)real);; i++) {
		const uint32_t place = i & (PLACES - 1);

		if (identity->at[place].real == real || !identity->at[place].real)
			return identity->at[place].id;
	}
}

static void identity_add(struct identity *identity, const void *real, uint16_t id)
{
	uint64_t i = sw_hash_u64((uintptr_t)real);

	while (identity->at[i & (PLACES - 1)].real)
		i++;
	identity->at[i & (PLACES - 1)].real = real;
	identity->at[i & (PLACES - 1)].id = id;
}

/* The CUDA version in which cuGetProcAddress knows a recorded entry point; 0: it does not. */
static const uint16_t since[SW_ID_COUNT] = {
#define SW_CU_SYMBOL(symbol, name, runtime, version, ...) [SW_ID_##symbol] = version,
#define SW_CU_WAY(symbol, name, version)		  [SW_ID_##symbol] = version,
#include "api/cuda.def"
};

/* The documented name of a symbol, without the suffixes of its version and default stream. */
static bool document_name(const char *symbol, char *name, size_t room, bool *per_thread)
{
	size_t bytes = strlen(symbol);

	*per_thread =
		bytes > 5 && (strcmp(symbol + bytes - 5, "_ptsz") == 0 || strcmp(symbol + bytes - 5, "_ptds") == 0);
	if (*per_thread)
		bytes -= 5;
	if (bytes > 3 && symbol[bytes - 3] == '_' && symbol[bytes - 2] == 'v')
		bytes -= 3;
	if (bytes >= room)
		return false;
	memcpy(name, symbol, bytes);
	name[bytes] = '\0';
	return true;
}

static bool within(const struct sw_loaded_object *object, const void *address)
{
	return (uintptr_t)address - object->start < object->end - object->start;
}

/*
 * One pointer may have two names (a driver may alias versions that are equal): they do the same, so the first name in
 * the table stands for both, but one that is recorded goes before one that passes through.
 */
static struct identity *identity_build(const struct sw_loaded_object *object, void *handle)
{
	struct identity *identity = sw_table_memory(sizeof *identity);

	if (!identity)
		return NULL;
	identity->object = *object;
	identity->handle = handle;
	for (int recorded = 1; recorded >= 0; recorded--) {
		for (uint16_t id = 1; id < SW_ID_COUNT; id++) {
			void *real =
				(sw_wrapper(id) != NULL) == recorded ? sw_dlsym_call(handle, sw_api_symbol(id)) : NULL;

			if (!real || !within(object, real))
				continue;
			if (!identity_find(identity, real))
				identity_add(identity, real, id);
			__atomic_store_n(&sw_driver_real[id], real, __ATOMIC_RELEASE);
		}
	}
	return identity;
}

/*
 * The pointers that the driver itself returns for each name, version and default stream: if they differ from the
 * exported addresses, they are known too.
 */
static void identity_ask(struct identity *identity)
{
	__typeof__(&cuGetProcAddress_v2) ask =
		(__typeof__(ask))__atomic_load_n(&sw_driver_real[SW_ID_cuGetProcAddress_v2], __ATOMIC_ACQUIRE);

	for (uint16_t id = 1; ask && id < SW_ID_COUNT; id++) {
		CUdriverProcAddressQueryResult answer;
		char name[80];
		bool per_thread;
		void *real = NULL;

		if (!since[id] || !document_name(sw_api_symbol(id), name, sizeof name, &per_thread))
			continue;
		if (ask(name, &real, since[id],
			per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_LEGACY_STREAM,
			&answer) != CUDA_SUCCESS)
			continue;
		if (real && within(&identity->object, real) && !identity_find(identity, real))
			identity_add(identity, real, id);
	}
}

/* The first pointer of a driver, or of something else that has a name like it: looks through its object.  A driver
   older than the table lacks some names; the program must not find these failures in dlerror(). */
static const struct identity *identity_look(const void *real)
{
	struct identity *fresh;
	struct sw_loaded_object object;
	void *handle, *mark;

	if (!sw_object_of(real, &object) || !object.path[0])
		return NULL;
	/* Keeps the driver loaded from here on: its pointers are in our tables. */
	handle = dlopen(object.path, RTLD_LAZY | RTLD_NOLOAD);
	mark = handle ? sw_dlsym_call(handle, MARK) : NULL;
	if (!mark || !within(&object, mark)) {
		if (handle)
			dlclose(handle);
		dlerror();
		return NULL;
	}
	fresh = identity_build(&object, handle);
	if (fresh) {
		identity_ask(fresh);
		__atomic_store_n(&known, fresh, __ATOMIC_RELEASE);
	}
	dlerror();
	return fresh;
}

/* The table for the driver that `real` belongs to; NULL when it belongs to something else. */
static const struct identity *identity_of(const void *real)
{
	const struct identity *identity = __atomic_load_n(&known, __ATOMIC_ACQUIRE);

	return identity && within(&identity->object, real) ? identity : identity_look(real);
}

void *sw_driver_resolve(uint32_t id)
{
	const struct identity *identity = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
	const int saved = errno;
	void *real, *handle;

	if (identity)
		return sw_driver_real[id]; /* the driver was looked through: it has no such function */
	real = sw_dlsym_call(RTLD_NEXT, sw_api_symbol(id));
	if (!real) {
		handle = dlopen(DRIVER, RTLD_LAZY | RTLD_NOLOAD);
		real = handle ? sw_dlsym_call(handle, sw_api_symbol(id)) : NULL;
		if (handle)
			dlclose(handle);
	}
	if (real) {
		identity_of(real);
		__atomic_store_n(&sw_driver_real[id], real, __ATOMIC_RELEASE);
	}
	dlerror(); /* the program must not find an error of ours */
	errno = saved;
	return real;
}

void *sw_driver_replace(uint32_t id, void *function)
{
	return sw_driver_real[id] ? __atomic_exchange_n(&sw_driver_real[id], function, __ATOMIC_ACQ_REL) : NULL;
}

bool sw_driver_simulated(void)
{
	const struct identity *identity = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
	const bool simulated = identity && sw_dlsym_call(identity->handle, SIMULATION_MARK);

	dlerror();
	return simulated;
}

static bool harmless(const char *name)
{
	const size_t id = sw_api_find(name);

	return id && !sw_wrapper((uint16_t)id);
}

void *sw_driver_exchange(const char *name, void *real, const void *caller)
{
	const int saved = errno;
	const struct identity *identity;
	void *answer = real;
	uint16_t id;

	if (!real || sw_dlsym_is_ours(real))
		return real;
	identity = identity_of(real);
	if (identity && sw_requester_count(caller)) {
		sw_intercepted();
		id = identity_find(identity, real);
		if (!id && !harmless(name))
			answer = sw_trampoline(name, real);
		else if (sw_wrapper(id))
			answer = sw_wrapper(id);
	}
	errno = saved;
	return answer;
}
