/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_PRELOAD_AWKWARD_H
#define TESTS_PRELOAD_AWKWARD_H

extern long count; /* N of the command line */

/* The first call of CUDA of this process; it allocates what calls() uses. */
void first_call(void);
/* That many copies. */
void calls(long n);
/* So many calls fill several chunks of the trace. */
#define SEVERAL_CHUNKS 60000

/* threads.c */
void last_thread(void);
void last_thread_raw(void);
void last_is_another(void);
void last_thread_of_a_child(void);
void threads_counted(void);
void many_threads(void);
void late_destructors(void);
void all_keys_taken(void);
void many_handles(void);
void many_functions(void);

#endif
