/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One merge by several processes, which mpirun or srun starts: each merges its share, then pairs put their partial
 * results together like the branches of a tree, in files of a folder that all of them see.
 */
#ifndef SW_TOOLS_MERGE_SPREAD_H
#define SW_TOOLS_MERGE_SPREAD_H

#include <stdbool.h>

#include "command.h"
#include "merge/merged.h"
#include "reader/ranks.h"

struct sw_spread {
	struct sw_rank own;
	const char *folder;
	char *job; /* in the names of the files: those of other jobs are left alone */
};

/* Finds the number of this process and of all, from the launcher.  SW_EXIT_OK, or a status after one line: there is
   none. */
int sw_spread_begin(struct sw_spread *spread, const char *folder);
/* Takes the results of others, or passes ours on: *report only in the process that holds all. */
int sw_spread_gather(const struct sw_spread *spread, struct sw_merged *merged, bool *report);
void sw_spread_end(struct sw_spread *spread);

#endif
