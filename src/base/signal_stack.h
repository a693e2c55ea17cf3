/* SPDX-License-Identifier: Apache-2.0 */
/* An alternate stack for signal handlers of a thread: without it, a stack overflow could not be reported. */
#ifndef SW_BASE_SIGNAL_STACK_H
#define SW_BASE_SIGNAL_STACK_H

/* gcc defines macros, clang has features. */
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SW_BASE_SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SW_BASE_SANITIZED 1
#endif

/* For the calling thread; NULL: it has none.  Under a sanitizer, which has its own, nothing happens. */
void *sw_signal_stack_begin(void);
/* Before the thread ends. */
void sw_signal_stack_end(void *stack);

#endif
