/* SPDX-License-Identifier: Apache-2.0 */
/* Why a run shows no call of CUDA at all. */
#ifndef SW_TOOLS_RUN_NOTHING_SEEN_H
#define SW_TOOLS_RUN_NOTHING_SEEN_H

#include <stdbool.h>

/* The likely reason why no process used CUDA, in a sentence that follows a colon.  simulated: the run was on the
   simulated CUDA. */
const char *sw_nothing_seen(bool simulated);

#endif
