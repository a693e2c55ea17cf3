/* SPDX-License-Identifier: Apache-2.0 */
/* Code that nearly every recorded call runs lies together: a program's own code leaves little of it in the first
   caches. */
#ifndef SW_PRELOAD_PLATFORM_OFTEN_H
#define SW_PRELOAD_PLATFORM_OFTEN_H

#define SW_OFTEN __attribute__((hot))

#endif
