/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the command writes: they appear whole or not at all, readable by their owner alone, as traces are: they
   hold command lines. */
#ifndef SW_TOOLS_OUTPUT_H
#define SW_TOOLS_OUTPUT_H

#include <stdio.h>

#include "base/error.h"

struct sw_output {
	FILE *file;
	char *path;
	char *temporary; /* NULL: written in place, as it is no ordinary file ("-", which is standard output; a pipe) */
};

/* Can the file be written?  Asked before a long run, and leaves no file.  0 or -errno with error filled. */
int sw_output_check(const char *path, struct sw_error *error);

/* Opens a file next to the path, which replaces it when it is closed without error.  0 or -errno with error filled. */
int sw_output_open(struct sw_output *output, const char *path, struct sw_error *error);
/* Flushes and renames.  On failure the temporary file is removed and an old file at the path is as it was. */
int sw_output_close(struct sw_output *output, struct sw_error *error);
/* Gives up: nothing is left. */
void sw_output_drop(struct sw_output *output);
/* Gives up whatever is open, from a signal handler: the process must end at once. */
void sw_output_drop_all(void);

#endif
