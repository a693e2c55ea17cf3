/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real driver: where its functions are, and which pointer stands for which entry point.
 *
 * Everything here initialises itself on first use, without locks, on any thread, also before the library's constructor:
 * cudart caches every pointer that it gets, so a pointer that is passed through unchanged because of timing would hide
 * that function for the rest of the process.
 */
#ifndef SW_PRELOAD_INTERCEPT_DRIVER_H
#define SW_PRELOAD_INTERCEPT_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/ids.h"
#include "preload/intercept/cuda_types.h"
#include "preload/recorder/companion.h"

/* The functions that the wrappers call, by entry point; NULL until the driver was seen.  A library that wraps the
   driver and stands behind us is called in its place. */
extern void *sw_driver_real[SW_ID_COUNT] __attribute__((visibility("hidden")));
/* The driver's own, for our questions, of which nobody else shall know. */
extern void *sw_driver_own[SW_ID_COUNT] __attribute__((visibility("hidden")));

/* The real function of an exported symbol of ours: in the object that the program would have used without us, else
   in the driver that is loaded.  NULL: the process has no driver. */
void *sw_driver_resolve(uint32_t id);

/* The wrapper calls `function` from now on.  Returns what it called before; NULL: the driver has no such function. */
void *sw_driver_replace(uint32_t id, void *function);

static inline void *sw_driver_function(enum sw_api_id id)
{
	void *real = __atomic_load_n(&sw_driver_real[id], __ATOMIC_RELAXED);

	return __builtin_expect(real != NULL, 1) ? real : sw_driver_resolve(id);
}

/* Is the driver the simulated one? */
bool sw_driver_simulated(void);

/* The result of a function without a driver: that of the stub library, so that a program that probes finds no CUDA. */
#define SW_NO_DRIVER CUDA_ERROR_STUB_LIBRARY

static inline void *sw_driver_question(enum sw_api_id id)
{
	void *own = __atomic_load_n(&sw_driver_own[id], __ATOMIC_RELAXED);

	return own ? own : sw_driver_function(id);
}

/* The real function, typed, for our own questions to the driver; may be NULL. */
#define SW_REAL(symbol) ((__typeof__(&symbol))sw_driver_question(SW_ID_##symbol))

/*
 * The pointer for a caller that requested `name` and would have got `real`: our wrapper where the pointer is that of a
 * recorded entry point, a counting trampoline where the pointer is unknown and the name is not known to be harmless,
 * else the pointer itself.  `from`: the driver's function that returned it, NULL: dlsym.
 */
void *sw_driver_exchange(const char *name, void *real, const void *caller, const void *from);

/* The function that a driver exports under a name that the table lacks; NULL: none does. */
void *sw_driver_unknown(const char *name);
/* Looks for functions that the table lacks and loaded objects are linked with; cheap where none was loaded since. */
void sw_driver_find_references(void);

/* The CUDA version in which cuGetProcAddress knows an entry point, 0: it does not; HOT: it is recorded in windows only.
 */
#define SW_DRIVER_HOT 0x8000u
extern const uint16_t sw_driver_since[] __attribute__((visibility("hidden")));
static inline bool sw_driver_hot(uint16_t id)
{
	return sw_driver_since[id] & SW_DRIVER_HOT;
}

/* The preloaded dlsym: first of the three ways in (the others: cuGetProcAddress in requesters.c, exported names). */

/* The real dlsym, called on our own behalf (RTLD_NEXT: after this library), is sw_dlsym_call() of companion.h. */

/* For the assembly (entry_*.S). */
extern void *sw_dlsym_next;
void *sw_dlsym_find(void);
struct sw_dlsym_answer sw_dlsym_decide(void *handle, const char *name, const void *caller);

#endif
