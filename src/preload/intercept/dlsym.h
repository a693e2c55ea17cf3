/* SPDX-License-Identifier: Apache-2.0 */
/* The preloaded dlsym: first of the three ways in (the others: cuGetProcAddress in procaddress.c, exported names). */
#ifndef SW_PRELOAD_INTERCEPT_DLSYM_H
#define SW_PRELOAD_INTERCEPT_DLSYM_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/recorder/companion.h"

/* The real dlsym, called on our own behalf (RTLD_NEXT: after this library), is sw_dlsym_call() of companion.h. */

/* Whether an address lies in this library. */
bool sw_dlsym_is_ours(const void *address);

/* For the assembly (entry.S). */
extern void *sw_dlsym_next;
void *sw_dlsym_find(void);
struct sw_dlsym_answer sw_dlsym_decide(void *handle, const char *name, const void *caller);

#endif
