/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of SYNCWATCH_OPTIONS; the values are read through sw_preload_options() (recorder.h). */
#ifndef SW_PRELOAD_RECORDER_OPTIONS_H
#define SW_PRELOAD_RECORDER_OPTIONS_H

#include "preload/recorder/recorder.h"

#define SW_STACK_FRAMES 128u /* what `depth` can ask for at most */

/* Fills *out with the defaults, then with `text` (NULL: none). One warning line for each option that is not understood,
   which is then ignored. */
void sw_options_parse(struct sw_preload_options *out, const char *text);

/* Parses the environment's SYNCWATCH_OPTIONS for sw_preload_options(). */
void sw_options_start(void);

#endif
