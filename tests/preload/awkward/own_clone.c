/* SPDX-License-Identifier: Apache-2.0 */
/* ThreadSanitizer's runtime, as far as threads are concerned: it stands before clone(), which it can only have called
   by threads that it knows, and keeps hundreds of kilobytes of static thread-local storage. */
#include <sched.h>
#include <stdlib.h>

static __thread volatile char state[800 << 10] __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void begin(void)
{
	state[0] = 1;
}

int clone(int (*body)(void *), void *stack, int flags, void *with, ...)
{
	(void)body;
	(void)stack;
	(void)flags;
	(void)with;
	abort();
}
