/* SPDX-License-Identifier: Apache-2.0 */
/* A program without a loader: nothing can be preloaded into it.  Without libc, too, of which not every machine has a
   static one: it only exits. */
#include <sys/syscall.h>

void _start(void);
void _start(void)
{
#if defined __x86_64__
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0));
#elif defined __aarch64__
	register long number __asm__("x8") = SYS_exit_group, status __asm__("x0") = 0;
	__asm__ volatile("svc 0" : : "r"(number), "r"(status));
#endif
	__builtin_unreachable();
}
