/* SPDX-License-Identifier: Apache-2.0 */
/* The list of facts that differ between the processors syncwatch runs on. Code that differs lies in files and blocks
   that are named for the processor; HACKING.md lists them. */
#ifndef SW_BASE_ARCH_H
#define SW_BASE_ARCH_H

/* The oldest version of glibc's symbols: functions that never changed have it. */
#if defined __x86_64__
#define SW_ARCH_NAME	    "x86_64"
#define SW_ARCH_OLDEST_LIBC "GLIBC_2.2.5"
#elif defined __aarch64__
#define SW_ARCH_NAME	    "aarch64"
#define SW_ARCH_OLDEST_LIBC "GLIBC_2.17"
#else
#error "syncwatch runs on x86-64 and aarch64"
#endif

#endif
