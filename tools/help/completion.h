/* SPDX-License-Identifier: Apache-2.0 */
/* Completions of the command line for shells, from the tables of commands, options and findings. */
#ifndef SW_TOOLS_HELP_COMPLETION_H
#define SW_TOOLS_HELP_COMPLETION_H

#include <stdbool.h>

/* Prints the script for "bash", "zsh" or "fish" on standard output; false: no such shell. */
bool sw_completion_print(const char *shell);

#endif
