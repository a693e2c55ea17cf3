/* SPDX-License-Identifier: Apache-2.0 */
/* A libcuda.so.1 that crashes at once: calibrate must say so and live. */
#include <signal.h>

int cuInit(unsigned flags);
int cuInit(unsigned flags)
{
	(void)flags;
	raise(SIGSEGV);
	return 0;
}
