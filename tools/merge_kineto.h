/* SPDX-License-Identifier: Apache-2.0 */
/* export --merge-kineto: a trace of torch.profiler with our streams, hazards and waits in it. */
#ifndef SW_TOOLS_MERGE_KINETO_H
#define SW_TOOLS_MERGE_KINETO_H

#include "command.h"

/* Writes --chrome.  SW_EXIT_OK and one line of what was done, or a status after one line. */
int sw_merge_kineto(const char *trace, const struct sw_options *options);

#endif
