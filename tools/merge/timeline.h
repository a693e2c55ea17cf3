/* SPDX-License-Identifier: Apache-2.0 */
/* One timeline of all ranks, on the clock of the first rank's machine. */
#ifndef SW_TOOLS_MERGE_TIMELINE_H
#define SW_TOOLS_MERGE_TIMELINE_H

#include "command.h"
#include "merge/merged.h"

/* Draws each trace of what was merged, one after the other, to the file of --chrome.  SW_EXIT_OK, or a status after one
   line. */
int sw_merge_timeline(const struct sw_merged *merged, const struct sw_options *options);

#endif
