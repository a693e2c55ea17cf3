/* SPDX-License-Identifier: Apache-2.0 */
/* A stack of its own for the signal handlers of a thread, without which a stack that is used up cannot be told of. */
#ifndef SW_BASE_SIGNAL_STACK_H
#define SW_BASE_SIGNAL_STACK_H

/* For the calling thread; NULL: it has none.  Under a sanitizer, which has its own, nothing happens. */
void *sw_signal_stack_begin(void);
/* Before the thread ends. */
void sw_signal_stack_end(void *stack);

#endif
