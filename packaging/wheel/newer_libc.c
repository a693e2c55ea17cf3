/* SPDX-License-Identifier: Apache-2.0 */
/* Two names of glibc after 2.28 that Debian's libstdc++.a refers to, for the demo program of the wheel. */
#include <sys/random.h>

char __libc_single_threaded; /* 0: reference counts are atomic */

unsigned arc4random(void)
{
	unsigned value = 0;
	return getentropy(&value, sizeof value) ? 4 : value;
}
