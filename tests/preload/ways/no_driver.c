/* SPDX-License-Identifier: Apache-2.0 */
/* A weak reference finds our exported name where there is no driver; the call then fails as the stub library's would.
 */
#include <stdio.h>

extern int cuMemAlloc_v2(unsigned long long *, unsigned long) __attribute__((weak));
extern int cuLaunchKernel(void *, int, int, int, int, int, int, int, void *, void **, void **) __attribute__((weak));

int main(void)
{
	unsigned long long at = 0;

	if (!cuMemAlloc_v2 || !cuLaunchKernel)
		return puts("absent") < 0;
	printf("%d %d\n", cuMemAlloc_v2(&at, 10), cuLaunchKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
	return 0;
}
