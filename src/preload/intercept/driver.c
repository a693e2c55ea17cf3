/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/platform/seldom.h"

#include "preload/intercept/driver.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "api/names.h"
#include "base/arch.h"
#include "base/hash.h"
#include "preload/intercept/identity_table.h"
#include "preload/intercept/requesters.h"
#include "preload/intercept/trampoline.h"
#include "preload/intercept/wrappers.h"
#include "preload/platform/loaded_object.h"
#include "preload/platform/sys.h"
#include "preload/recorder/recorder.h"

static bool dlsym_is_ours(const void *address);

#define DRIVER "libcuda.so.1"
/* The real driver and the simulated one both have this function; what merely wraps a few others has not. */
#define MARK "cuInit"
/* A driver that only simulates a GPU says so by exporting this name. */
#define SIMULATION_MARK "syncwatch_simulated_cuda"

void *sw_driver_real[SW_ID_COUNT];
void *sw_driver_own[SW_ID_COUNT];

/* Real pointer -> entry point, of one object; grows once after it is published, by what the driver itself says. */
#define PLACES 2048u
#define ASKING 1u
#define ASKED  2u
static_assert(PLACES > 2 * SW_ID_COUNT, "at most half full");
struct identity {
	struct identity *next;
	struct sw_loaded_object object;
	uint32_t functions; /* of the table, that it exports */
	uint32_t asked;	    /* 0, ASKING, ASKED */
	struct {
		const void *real;
		uint16_t id;
	} at[PLACES];
};
/* The newest first.  Each is of an object that stays loaded. */
static struct identity *known;
/* This thread looks through a driver, which may ask us on the way: it gets what it would get without us. */
static __thread bool looking;

/* The entry point that a pointer of this driver stands for; 0: unknown.  Readers take no lock: a place's id is stored
   before its pointer. */
static uint16_t identity_find(const struct identity *identity, const void *real)
{
	for (uint64_t i = sw_hash_u64((uintptr_t)real);; i++) {
		const uint32_t place = i & (PLACES - 1);
		const void *held = __atomic_load_n(&identity->at[place].real, __ATOMIC_ACQUIRE);

		if (held == real || !held)
			return identity->at[place].id;
	}
}

/* Adds a pointer that is not in the table. */
static void identity_add(struct identity *identity, const void *real, uint16_t id)
{
	uint64_t i = sw_hash_u64((uintptr_t)real);

	while (identity->at[i & (PLACES - 1)].real)
		i++;
	identity->at[i & (PLACES - 1)].id = id;
	__atomic_store_n(&identity->at[i & (PLACES - 1)].real, real, __ATOMIC_RELEASE);
}

/* Which calls are hot, that is recorded in windows only: the others create, destroy or describe what a window refers
 * to. */

#define IS(text, word)		(__builtin_strcmp(text, word) == 0)
#define HOT_PASS(...)		0
#define HOT_LAUNCH(...)		1
#define HOT_COPY(...)		1
#define HOT_SET(...)		1
#define HOT_SYNC(...)		1
#define HOT_QUERY(...)		1
#define HOT_HOST(...)		1
#define HOT_MEMOP(...)		1
#define HOT_ALLOC(...)		0
#define HOT_FREE(...)		0
#define HOT_STREAM(...)		0
#define HOT_CAPTURE(...)	0
#define HOT_CONFIG(...)		0
#define HOT_POOL(...)		0
#define HOT_EXTERNAL(...)	0
#define HOT_OBJECT(...)		0
#define HOT_EVENT(record, fill) (IS(record, "EVENT_RECORD") || IS(record, "STREAM_WAIT"))
#define HOT_GRAPH(record, fill) IS(record, "GRAPH_LAUNCH")
/* Questions about a kernel: they may load it, but so may its first launch. */
#define HOT_CODE(record, fill) IS(record, "CODE_TOUCH")
/* Which context is current is asked for, not remembered. */
#define HOT_CONTEXT(record, fill) (__builtin_strncmp(fill, "(CURRENT", sizeof "(CURRENT" - 1) == 0)

const uint16_t sw_driver_since[SW_ID_COUNT] = {
#define SW_CU_SYMBOL(symbol, name, runtime, version, cls, thread, form, where, record, fill, sig)                      \
	[SW_ID_##symbol] = (version) | (HOT_##cls(#record, #fill) ? SW_DRIVER_HOT : 0),
#define SW_CU_WAY(symbol, name, version) [SW_ID_##symbol] = version,
#include "api/cuda.def"
};

/* Is the entry point recorded in windows only? */
bool sw_calls_hot(uint16_t id)
{
	return id < SW_ID_COUNT && sw_driver_hot(id);
}

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

/*
 * One pointer may have two names (a driver may alias versions that are equal): they do the same, so the first name in
 * the table stands for both, but one that is recorded goes before one that passes through.
 */
static void identity_build(struct identity *identity)
{
	identity->functions = 0;
	for (int recorded = 1; recorded >= 0; recorded--) {
		for (uint16_t id = 1; id < SW_ID_COUNT; id++) {
			const void *real = (sw_wrapper(id) != NULL) == recorded
						   ? sw_object_function(&identity->object, sw_api_symbol(id))
						   : NULL;

			identity->functions += real != NULL;
			if (real && !identity_find(identity, real))
				identity_add(identity, real, id);
		}
	}
}

/*
 * The pointers that the driver itself returns for each name, version and default stream, once one of them is none that
 * it exports: a library that wraps the driver and counts calls is not asked 400 times for nothing.
 */
static void identity_ask(struct identity *identity)
{
	__typeof__(&cuGetProcAddress_v2) ask =
		(__typeof__(ask))sw_object_function(&identity->object, "cuGetProcAddress_v2");

	uint32_t asked = 0;

	if (!__atomic_compare_exchange_n(&identity->asked, &asked, ASKING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		/* Another thread is about to know it. */
		for (int i = 0; i < 10 && asked == ASKING && !looking; i++) {
			sw_sys_wait(&identity->asked, ASKING, &(struct timespec){.tv_nsec = 1000000});
			asked = __atomic_load_n(&identity->asked, __ATOMIC_ACQUIRE);
		}
		return;
	}
	looking = true;
	for (uint16_t id = 1; ask && id < SW_ID_COUNT; id++) {
		CUdriverProcAddressQueryResult answer;
		char name[80];
		bool per_thread;
		void *real = NULL;

		const unsigned version = sw_driver_since[id] & ~SW_DRIVER_HOT;

		if (!version || !document_name(sw_api_symbol(id), name, sizeof name, &per_thread))
			continue;
		if (ask(name, &real, (int)version,
			per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_LEGACY_STREAM,
			&answer) != CUDA_SUCCESS)
			continue;
		if (real && sw_object_has(&identity->object, real) && !identity_find(identity, real))
			identity_add(identity, real, id);
	}
	looking = false;
	__atomic_store_n(&identity->asked, ASKED, __ATOMIC_RELEASE);
}

/* Would the program's linker, without us, bind the symbol to this object? */
static bool is_linked(const struct sw_loaded_object *object, const char *symbol)
{
	const void *linked = sw_dlsym_call(RTLD_NEXT, symbol);

	return linked && sw_object_has(object, linked);
}

/*
 * The wrappers call the newest driver, unless it stands behind one that they call: the second stage of a driver, or the
 * driver behind a library that wraps it and that the program would reach first.
 */
static void use_driver(const struct identity *identity, bool behind)
{
	const bool linked = is_linked(&identity->object, MARK);
	const struct identity *other = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
	/* A wrapper of a driver exports no more than it. */
	const bool asked_instead = !other || !behind || identity->functions >= other->functions;

	for (uint16_t id = 1; id < SW_ID_COUNT; id++) {
		const char *symbol = sw_api_symbol(id);
		void *real = sw_object_function(&identity->object, symbol), *next;
		void *now = __atomic_load_n(&sw_driver_real[id], __ATOMIC_ACQUIRE);

		if (real && (!sw_driver_own[id] || asked_instead))
			__atomic_store_n(&sw_driver_own[id], real, __ATOMIC_RELEASE);
		if (now && (!real || now == real || behind))
			continue;
		next = now || behind || !real ? sw_dlsym_call(RTLD_NEXT, symbol) : NULL;
		if (now && !linked && next == now)
			continue;
		if (!now && next && behind)
			real = next;
		__atomic_store_n(&sw_driver_real[id], real ? real : next, __ATOMIC_RELEASE);
	}
}

/* The table of the driver whose object holds the address; NULL: none that is known. */
static struct identity *identity_at(const void *address)
{
	struct identity *identity = __atomic_load_n(&known, __ATOMIC_ACQUIRE);

	while (identity && !sw_object_has(&identity->object, address))
		identity = identity->next;
	return identity;
}

/* For dl_iterate_phdr(): 1 if `object` is met before this library, 2 if this library is. */
static int find_first(struct dl_phdr_info *info, size_t size, void *with)
{
	const struct sw_loaded_object *object = with;
	struct sw_loaded_object met;

	(void)size;
	sw_object_read(&met, info);
	return met.start == object->start ? 1 : sw_object_has(&met, &known) ? 2 : 0;
}

/* Was the object loaded before us, among those that the program was started with, so that its calls reach us? */
static bool stands_before_us(const struct sw_loaded_object *object)
{
	return dl_iterate_phdr(find_first, (void *)object) == 1;
}

/* Looks through the object of a pointer that may be a driver's, and if it is one keeps it loaded and makes its table.
   NULL: no driver.  `behind`: it was found behind a library that wraps the driver.  A driver older than our table lacks
   some names; the program must not find these failures in dlerror(). */
static struct identity *identity_look(const void *real, bool behind)
{
	struct identity *fresh = NULL;
	struct sw_loaded_object object;

	if (!sw_object_of(real, &object) || !object.path[0] || !sw_object_function(&object, MARK) ||
	    stands_before_us(&object))
		return NULL;
	looking = true;
	/* Keeps the driver loaded from here on: its pointers are in our tables. */
	if (dlopen(object.path, RTLD_LAZY | RTLD_NOLOAD))
		fresh = sw_table_memory(sizeof *fresh);
	if (fresh) {
		fresh->object = object;
		identity_build(fresh);
		use_driver(fresh, behind);
		fresh->next = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
		while (!__atomic_compare_exchange_n(&known, &fresh->next, fresh, false, __ATOMIC_ACQ_REL,
						    __ATOMIC_ACQUIRE))
			;
	}
	looking = false;
	dlerror();
	return fresh;
}

/* For dl_iterate_phdr(): finds a driver in another object than the one that holds *with; replaces *with by its function
   MARK. */
static int find_other(struct dl_phdr_info *info, size_t size, void *with)
{
	const void **mark = with;
	struct sw_loaded_object object;
	const void *found;

	(void)size;
	sw_object_read(&object, info);
	found = sw_object_function(&object, MARK);
	if (found && !sw_object_has(&object, *mark)) {
		*mark = found;
		return 1;
	}
	return 0;
}

/* Looks for the driver behind a library that wraps it: our questions are for the driver itself, if it is loaded. */
static void look_behind(const struct identity *identity)
{
	const void *mark = (const void *)identity->object.start;

	if (dl_iterate_phdr(find_other, &mark) == 1 && !identity_at(mark))
		identity_look(mark, true);
}

/* The table for the driver that `real` belongs to, made at its first pointer; NULL when the pointer belongs to
   something else. */
static struct identity *identity_of(const void *real, bool behind)
{
	struct identity *identity = identity_at(real);

	if (!identity) {
		identity = identity_look(real, behind);
		if (identity && !behind && is_linked(&identity->object, MARK))
			look_behind(identity);
	}
	return identity;
}

/* Finds the real function of an entry point: the one after us in the link order, else in a driver that the program
   loaded itself; makes it known to all threads. */
static void *resolve_entry(uint32_t id)
{
	void *real, *handle, *none = NULL;

	real = sw_dlsym_call(RTLD_NEXT, sw_api_symbol(id));
	if (!real) {
		handle = dlopen(DRIVER, RTLD_LAZY | RTLD_NOLOAD);
		real = handle ? sw_dlsym_call(handle, sw_api_symbol(id)) : NULL;
		if (handle)
			dlclose(handle);
	}
	if (real)
		identity_of(real, false);
	if (real &&
	    !__atomic_compare_exchange_n(&sw_driver_real[id], &none, real, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		real = none;
	return real;
}

/* Finds the real function of an entry point, with signals blocked: a handler that jumps out of libc or the loader would
   leave their locks taken. */
void *sw_driver_resolve(uint32_t id)
{
	const int saved = errno;
	uint64_t mask;
	void *real;

	if (__atomic_load_n(&known, __ATOMIC_ACQUIRE))
		return sw_driver_real[id]; /* the driver was looked through: it has no such function */
	mask = sw_sys_block_signals();
	real = resolve_entry(id);
	dlerror(); /* the program must not find an error of ours */
	sw_sys_set_signals(mask);
	errno = saved;
	return real;
}

/* The wrapper calls `function` from now on; returns the driver's function that it called before. */
void *sw_driver_replace(uint32_t id, void *function)
{
	return sw_driver_real[id] ? __atomic_exchange_n(&sw_driver_real[id], function, __ATOMIC_ACQ_REL) : NULL;
}

/* Is this the simulated driver, which exports a symbol that the real one lacks? */
bool sw_driver_simulated(void)
{
	const uint64_t mask = sw_sys_block_signals();
	bool simulated = false;

	for (const struct identity *i = __atomic_load_n(&known, __ATOMIC_ACQUIRE); i && !simulated; i = i->next) {
		void *handle = dlopen(i->object.path, RTLD_LAZY | RTLD_NOLOAD);

		simulated = handle && sw_dlsym_call(handle, SIMULATION_MARK);
		if (handle)
			dlclose(handle);
	}
	dlerror();
	sw_sys_set_signals(mask);
	return simulated;
}

/* Is this an entry point that the table lists as passing through?  Nothing needs to be recorded of it. */
static bool is_harmless(const char *name)
{
	const size_t id = sw_api_find(name);

	return id && !sw_wrapper((uint16_t)id);
}

/* Would a call of our wrapper, or of the program, come back to the object that asks? */
static bool comes_back(uint32_t id, const void *caller)
{
	struct sw_loaded_object asker;
	const void *real = id ? __atomic_load_n(&sw_driver_real[id], __ATOMIC_ACQUIRE) : NULL;

	if (!real && id && !__atomic_load_n(&known, __ATOMIC_ACQUIRE)) {
		real = sw_dlsym_call(RTLD_NEXT, sw_api_symbol(id));
		dlerror();
	}
	return real && sw_object_of(caller, &asker) && sw_object_has(&asker, real);
}

/* Does the caller get what it would get without us?  A driver, a profiler, and whoever our wrapper of `name` calls: it
   would call itself.  With signals blocked. */
static bool driver_asks(const char *name, const void *caller)
{
	return looking || sw_requester_is_tool(caller) || identity_at(caller) ||
	       comes_back((uint32_t)sw_api_find(name), caller);
}

/* A look-up by another caller than ours found `real`. Called with signals blocked. */
static void driver_meet(const void *real)
{
	if (!looking && real && !dlsym_is_ours(real))
		identity_of(real, true);
}

/* Finds a function that the driver exports and the table of entry points lacks: it is newer than the table. */
void *sw_driver_unknown(const char *name)
{
	for (struct identity *i = __atomic_load_n(&known, __ATOMIC_ACQUIRE); i; i = i->next) {
		void *real = sw_object_function(&i->object, name);

		if (real && !identity_find(i, real))
			return real;
	}
	return NULL;
}

/* sw_driver_exchange(), called with signals blocked. */
static void *exchange_function(const char *name, void *real, const void *caller, const void *from)
{
	struct identity *identity;
	struct sw_loaded_object answering;
	uint16_t id;

	if (sw_requester_is_tool(caller) || identity_at(caller))
		return real;
	identity = identity_of(real, from && sw_object_of(from, &answering) && !sw_object_has(&answering, real));
	if (!identity)
		return real;
	id = identity_find(identity, real);
	if (!id) {
		identity_ask(identity);
		id = identity_find(identity, real);
	}
	if (comes_back(id, caller))
		return real;
	sw_requester_count(caller);
	sw_intercepted();
	if (!id && !is_harmless(name))
		return sw_trampoline(name, real);
	return sw_wrapper(id) ? sw_wrapper(id) : real;
}

/* The answer to a request for a function of the driver, mostly our wrapper.  Signals are blocked meanwhile, as a
   handler that calls dlsym() would find the tables half changed. */
void *sw_driver_exchange(const char *name, void *real, const void *caller, const void *from)
{
	const int saved = errno;
	uint64_t mask;
	void *answer;

	if (!real || looking || dlsym_is_ours(real))
		return real;
	mask = sw_sys_block_signals();
	answer = exchange_function(name, real, caller, from);
	sw_sys_set_signals(mask);
	errno = saved;
	return answer;
}

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

void *sw_dlsym_real, *sw_dlsym_next;

/* Stands for dlsym() where libc has none that we know. */
static void *no_dlsym(void *handle, const char *name)
{
	(void)handle;
	(void)name;
	return NULL;
}

/* Finds libc's own dlsym, by its version, so that it is not ours; GLIBC_2.34 is where it moved from libdl into libc.
   dlvsym is none of our exports and on no path of ours.  Returns the next dlsym, which may be that of another library
   that wraps it: the program's look-ups go through that, ours do not. */
__attribute__((used)) void *sw_dlsym_find(void)
{
	const uint64_t mask = sw_sys_block_signals();
	void *(*real)(void *, const char *) = (__typeof__(real))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	void *next;

	if (!real)
		real = (__typeof__(real))dlvsym(RTLD_NEXT, "dlsym", SW_ARCH_OLDEST_LIBC);
	if (!real)
		real = no_dlsym;
	next = real(RTLD_NEXT, "dlsym");
	__atomic_store_n(&sw_dlsym_real, (void *)real, __ATOMIC_RELEASE);
	if (!next)
		next = (void *)real;
	__atomic_store_n(&sw_dlsym_next, next, __ATOMIC_RELEASE);
	sw_sys_set_signals(mask);
	return next;
}

/* The loader's dlsym, which is found at first use: ours stands before it. */
void *sw_dlsym_call(void *handle, const char *name)
{
	void *(*real)(void *, const char *) = (__typeof__(real))__atomic_load_n(&sw_dlsym_real, __ATOMIC_ACQUIRE);
	void *found;

	if (!real) {
		sw_dlsym_find();
		real = (__typeof__(real))sw_dlsym_real;
	}
	found = real(handle, name);
	/* Not a tail call: glibc takes the caller from the return address. */
	__asm__ volatile("" ::: "memory");
	return found;
}

/* Whether an address lies in this library. */
static bool dlsym_is_ours(const void *address)
{
	return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

/* `name` as the caller's own object and what it was loaded with see it, without us. */
static void *find_in_object(const struct sw_loaded_object *object, const char *name)
{
	void *handle = object->path[0] ? dlopen(object->path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *found = handle ? sw_dlsym_call(handle, name) : NULL;

	if (handle)
		dlclose(handle);
	return dlsym_is_ours(found) ? NULL : found;
}

/* Answers as the global scope would if this library were not in it.  A failure leaves the loader's error, as the
   program expects of its own look-up: the first one's was lost in the questions that followed. */
static void *find_without_us(const char *name, const struct sw_loaded_object *object)
{
	void *found = sw_dlsym_call(RTLD_NEXT, name);

	if (!found)
		found = find_in_object(object, name);
	return found ? found : sw_dlsym_call(RTLD_NEXT, name);
}

/* The program's look-up as it is without us, by whoever wraps dlsym behind us. */
static void *look_up(void *handle, const char *name)
{
	void *(*next)(void *, const char *) = (__typeof__(next))__atomic_load_n(&sw_dlsym_next, __ATOMIC_ACQUIRE);
	void *found = next(handle, name);

	__asm__ volatile("" ::: "memory"); /* no tail call */
	return found;
}

/* Answers the program's dlsym(): with our wrapper where the symbol is the driver's, else as libc would. value 0: the
   assembly jumps to the real dlsym, which then sees the program's own return address. */
static struct sw_dlsym_answer decide_answer(void *handle, const char *name, const void *caller)
{
	struct sw_loaded_object object = {0};
	void *found = NULL;
	uint64_t mask = sw_sys_block_signals();
	const bool asks = driver_asks(name, caller);
	struct sw_dlsym_answer answer = {NULL, 0};

	sw_sys_set_signals(mask);
	if (asks && (handle == RTLD_NEXT || handle == RTLD_DEFAULT))
		return answer;
	/* The program's own look-up, in which signals are its own affair. */
	if (handle != RTLD_NEXT) {
		found = look_up(handle, name);
		if (!dlsym_is_ours(found) && (found || handle != RTLD_DEFAULT)) {
			mask = sw_sys_block_signals();
			if (asks)
				driver_meet(found);
			answer = (struct sw_dlsym_answer){asks ? found : sw_driver_exchange(name, found, caller, NULL),
							  1};
			sw_sys_set_signals(mask);
			return answer;
		}
	}
	mask = sw_sys_block_signals();
	if (sw_object_of(caller, &object)) {
		if (handle == RTLD_NEXT) /* an interposer that looks up the next dlsym: its call is nested in ours */
			found = find_in_object(&object, name);
		if (handle != RTLD_NEXT || (uintptr_t)found - object.start >= object.end - object.start)
			answer = (struct sw_dlsym_answer){
				sw_driver_exchange(name, find_without_us(name, &object), caller, NULL), 1};
	}
	sw_sys_set_signals(mask);
	return answer;
}

/* Called from dlsym's stub (in assembly): the answer, or the function that must be asked with the caller's return
   address. */
__attribute__((used)) struct sw_dlsym_answer sw_dlsym_decide(void *handle, const char *name, const void *caller)
{
	const int saved = errno;
	struct sw_dlsym_answer answer;

	if (!__atomic_load_n(&sw_dlsym_next, __ATOMIC_ACQUIRE))
		sw_dlsym_find();
	answer = decide_answer(handle, name, caller);
	/* "dlerror(); p = dlsym(...); if (dlerror())": what we asked on the way may have failed where this did not. */
	if (answer.value)
		dlerror();
	errno = saved;
	return answer;
}
