/* SPDX-License-Identifier: Apache-2.0 */
/* Include it first in files whose code runs seldom: they are compiled for size, which the object has little of. */
#ifndef SW_PRELOAD_SELDOM_H
#define SW_PRELOAD_SELDOM_H

#ifndef __clang__
#pragma GCC optimize("Os")
#endif

#endif
