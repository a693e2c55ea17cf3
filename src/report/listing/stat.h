/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace covers: calls by entry point, kernels, bytes moved, losses, and what recording cost. */
#ifndef SW_REPORT_LISTING_STAT_H
#define SW_REPORT_LISTING_STAT_H

#include <stdio.h>

#include "reader/reader.h"

/* Reads the reader to its end.  0, or <0 with error filled; nothing is printed then. */
int sw_stat(FILE *out, struct sw_reader *reader, struct sw_error *error);

#endif
