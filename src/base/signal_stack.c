/* SPDX-License-Identifier: Apache-2.0 */
#include "base/signal_stack.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>

#define LEAST 65536 /* libgcc's unwinder alone takes some 10 KB */

/* A handler for SIGSEGV needs it where the fault is an overflow of the stack. */
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

/* The kernel must not use it any more when it is freed. */
void sw_signal_stack_end(void *stack)
{
	const stack_t none = {.ss_flags = SS_DISABLE};
	if (stack)
		sigaltstack(&none, NULL);
	free(stack);
}
