/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that Python cannot measure: compiled with -Isrc -Iinclude, called with ctypes. */
#include <dlfcn.h>
#include <time.h>

#include "preload/recorder/companion.h"

/* ---- nanoseconds of a call, the shortest of several rounds
 * ----------------------------------------------------------- */

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

double loop(int (*call)(void *, void *), void *event, void *stream, int calls, int rounds)
{
	double best = 1e30;
	for (int r = 0; r < rounds; r++) {
		const double begun = now();
		for (int i = 0; i < calls; i++)
			call(event, stream);
		const double took = (now() - begun) / calls;
		best = took < best ? took : best;
	}
	return best;
}

/* ---- the recorder with and without Python lines, in one process
 * ------------------------------------------------------ */

/* Turns recording on as the recorder's start does, and off.  No call may be under way. */
int lines(int on)
{
	const struct sw_companion *(*recorder)(uint32_t) = dlsym(RTLD_DEFAULT, "syncwatch_companion");
	void *object = dlopen("libsyncwatch-python.so", RTLD_LAZY | RTLD_NOLOAD);
	void (*start)(const struct sw_companion *) = object ? dlsym(object, "syncwatch_python_start") : NULL;
	if (!recorder || !start)
		return 0;
	if (on)
		start(recorder(SW_COMPANION_VERSION));
	else
		recorder(SW_COMPANION_VERSION)->stacks(NULL);
	return 1;
}
