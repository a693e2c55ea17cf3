/* SPDX-License-Identifier: Apache-2.0 */
/* The report as a page (--html): one more pass over the trace, for the timelines around its findings. */
#ifndef SW_TOOLS_HTML_FILE_H
#define SW_TOOLS_HTML_FILE_H

#include "command.h"
#include "report/report.h"

/* Writes the file that --html names, if any.  SW_EXIT_OK, or a status after one line. */
int sw_html_file(const char *trace, const struct sw_options *options, struct sw_report *report);

#endif
