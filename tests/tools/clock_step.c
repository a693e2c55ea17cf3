/* SPDX-License-Identifier: Apache-2.0 */
/* The clock as a process sees it after somebody has set it back by an hour. */
#include <dlfcn.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *out)
{
	static int (*real)(clockid_t, struct timespec *);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	int rc = real(clock, out);
	if (clock == CLOCK_REALTIME)
		out->tv_sec -= 3600;
	return rc;
}
