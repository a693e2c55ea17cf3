/* SPDX-License-Identifier: Apache-2.0 */
/* Timelines and graphs of a trace: one more pass over it for each file. */
#ifndef SW_TOOLS_DRAW_H
#define SW_TOOLS_DRAW_H

#include <stdio.h>

#include "command.h"
#include "report/report.h"

/*
 * Writes the files that --chrome, --perfetto and --dot name, if any.  `report`: of an earlier pass, to draw around
 * its hazards or some of its findings; NULL makes one when the options need it.  SW_EXIT_OK, or a status after one
 * line.
 */
int sw_draw(const char *trace, const struct sw_options *options, struct sw_report *report);

/* Writes a timeline as one of several in a file. */
struct sw_chrome_part;
int sw_draw_part(FILE *out, const char *trace, const struct sw_options *options, struct sw_chrome_part *part);

#endif
