/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that had not returned when the program ended (a crash, a kill). */
#ifndef SW_REPORT_LISTING_IN_FLIGHT_H
#define SW_REPORT_LISTING_IN_FLIGHT_H

#include "report/report.h"

/*
 * Adds the calls that had not returned when the trace ends, if it does not end in order: reads the trace once more,
 * from its start.  0 or <0 with error filled; the report is whole without it.
 */
int sw_in_flight_find(struct sw_report *report, struct sw_error *error);

#endif
