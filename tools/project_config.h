/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file .syncwatch of a project: options for every call of syncwatch below its folder, and suppressions.
 *
 *     # comment
 *     limit = 20
 *     suppress = ci/syncwatch.supp        relative to the folder of the file
 *     run.error-exitcode = 9              of one command
 *     all                                 an option without a value
 *     SW305 module=libtorch_cuda.so*      a suppression
 *
 * The command line overrides it.  It cannot name files to write, and one that belongs to another user is not used: a
 * folder that somebody else filled must not decide what syncwatch does.
 */
#ifndef SW_TOOLS_PROJECT_CONFIG_H
#define SW_TOOLS_PROJECT_CONFIG_H

#include "command.h"

/* Looks for it from the current folder upwards and adds what the command line left open; prints a line that names it.
   SW_EXIT_OK, or a status after one line. */
int sw_config_apply(struct sw_options *options, int command);

#endif
