/* SPDX-License-Identifier: Apache-2.0 */
#include "base/signal_stack.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>

#define LEAST 65536 /* libgcc's unwinder alone takes some 10 KB */

/* Gives the thread a stack for signal handlers, which it needs where a fault is an overflow of its own. */
void *sw_signal_stack_begin(void)
{
#ifdef SW_BASE_SANITIZED
	return NULL;
#endif
	const size_t bytes = getauxval(AT_MINSIGSTKSZ) + LEAST;
	stack_t stack = {.ss_sp = malloc(bytes), .ss_size = bytes};
	if (stack.ss_sp && !sigaltstack(&stack, NULL))
		return stack.ss_sp;
	free(stack.ss_sp);
	return NULL;
}

/* Takes the thread's stack for signal handlers away, and only then frees it. */
void sw_signal_stack_end(void *stack)
{
	const stack_t none = {.ss_flags = SS_DISABLE};
	if (stack)
		sigaltstack(&none, NULL);
	free(stack);
}
