/* SPDX-License-Identifier: Apache-2.0 */
/* A pager for long reports on a terminal, as git has one: $SYNCWATCH_PAGER, else $PAGER, else less, which prints what
   fits a screen and ends.  An empty variable or "cat": none. */
#ifndef SW_TOOLS_PAGER_H
#define SW_TOOLS_PAGER_H

#include "command.h"

/* Sends standard output to the pager from now on, where there is one. */
void sw_pager_start(const struct sw_options *options);
/* Waits until its user has left it.  SW_EXIT_OK, or a status after one line; a pager that was left early is no error.
 */
int sw_pager_finish(void);

#endif
