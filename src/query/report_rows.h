/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a report: findings, their operations, their causes. */
#ifndef SW_QUERY_REPORT_ROWS_H
#define SW_QUERY_REPORT_ROWS_H

#include "query/rows.h"
#include "report/report.h"

void sw_report_rows(struct sw_rows *rows, struct sw_report *report);

#endif
