/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a `syncwatch run` that goes on (run/control.h). */
#ifndef SW_TOOLS_RUN_CTL_H
#define SW_TOOLS_RUN_CTL_H

#include <stddef.h>

/* Asks a run; `process`: the number of the run, or of a process that it watches.  An exit status; *answer is malloc'ed
   text, unchanged where nobody answered and a line said so. */
int sw_ctl_ask(const char *process, char *const *words, size_t n, char **answer);

#endif
