/* SPDX-License-Identifier: Apache-2.0 */
/* --max-memory and --max-time: no input makes the command use more memory or time than these allow.  Without
   --max-memory it takes memory as suits it: in large steps and pages (sw_memory_use_large_pages()). */
#ifndef SW_TOOLS_BUDGET_H
#define SW_TOOLS_BUDGET_H

#include "command.h"

/* Limits the command from now on, as the options say: memory beyond what is in use already, and time.  Reaching one
   ends the command with a line and SW_EXIT_MEMORY; files that it was writing do not appear.  SW_EXIT_OK, or a status
   after one line. */
int sw_budget_start(const struct sw_options *options);

#endif
