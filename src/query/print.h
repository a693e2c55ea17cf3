/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of an answer as a table, as CSV (RFC 4180, lines end with LF) or as JSON (an array of objects). */
#ifndef SW_QUERY_PRINT_H
#define SW_QUERY_PRINT_H

#include <sqlite3.h>

#include "query/query.h"

struct sw_printer;

struct sw_printer *sw_printer_new(const struct sw_query_sink *sinks, size_t n, sqlite3_stmt *statement);
void sw_printer_row(struct sw_printer *printer, sqlite3_stmt *statement);
/* Prints what is left and frees. */
void sw_printer_end(struct sw_printer *printer);

#endif
